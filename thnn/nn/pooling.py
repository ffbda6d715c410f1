"""Layers of pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._binding.arguments import describe
from thnn.nn._layer import layer_doc, layer_forward
from thnn.nn.functional import pooling as F

_WHAT = {"1": "sequences", "2": "images", "3": "volumes"}
_AXES = {"1": ("L", "oL"), "2": ("H, W", "oH, oW"), "3": ("D, H, W", "oD, oH, oW")}


def _doc(name: str, what: str, function: str, *, remarks: str = "", errors: str = "") -> str:
    axes, pooled = _AXES[name[-2]]
    if "Unpool" in name:
        axes, pooled = pooled, axes
    shapes = f"input (N, C, {axes}) or (C, {axes}), output likewise with {pooled} in place of {axes}"
    return layer_doc(name, f"{what} {_WHAT[name[-2]]}", shapes, function, remarks=remarks, errors=errors)


# Maxima


class _MaxPool(torch.nn.Module):
    kernel_size: Any
    stride: Any
    padding: Any
    dilation: Any
    ceil_mode: bool
    return_indices: bool

    def _max_pool(self, function: Any, input: Tensor) -> Any:
        return function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


class MaxPool1d(_MaxPool, torch.nn.MaxPool1d):
    __doc__ = _doc(
        "MaxPool1d",
        "Maxima of windows of",
        "SpatialMaxPoolingFunction and SpatialDilatedMaxPoolingFunction",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Any:
        return self._max_pool(F.max_pool1d, input)


class MaxPool2d(_MaxPool, torch.nn.MaxPool2d):
    __doc__ = _doc(
        "MaxPool2d",
        "Maxima of windows of",
        "SpatialMaxPoolingFunction and SpatialDilatedMaxPoolingFunction",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Any:
        return self._max_pool(F.max_pool2d, input)


class MaxPool3d(_MaxPool, torch.nn.MaxPool3d):
    __doc__ = _doc(
        "MaxPool3d",
        "Maxima of windows of",
        "VolumetricDilatedMaxPoolingFunction",
        remarks="A kernel has at most 256 elements along an axis.",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Any:
        return self._max_pool(F.max_pool3d, input)


# Averages


class AvgPool1d(torch.nn.AvgPool1d):
    __doc__ = _doc("AvgPool1d", "Means of windows of", "SpatialAveragePoolingFunction")

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )


class AvgPool2d(torch.nn.AvgPool2d):
    __doc__ = _doc("AvgPool2d", "Means of windows of", "SpatialAveragePoolingFunction")

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d(torch.nn.AvgPool3d):
    __doc__ = _doc(
        "AvgPool3d",
        "Means of windows of",
        "VolumetricAveragePoolingFunction",
        remarks="A kernel larger than the input is an error, whatever the padding.",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AdaptiveAvgPool1d(torch.nn.AdaptiveAvgPool1d):
    __doc__ = _doc(
        "AdaptiveAvgPool1d", "Means of output_size regions of", "SpatialAdaptiveAveragePoolingFunction"
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(torch.nn.AdaptiveAvgPool2d):
    __doc__ = _doc(
        "AdaptiveAvgPool2d", "Means of output_size regions of", "SpatialAdaptiveAveragePoolingFunction"
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(torch.nn.AdaptiveAvgPool3d):
    __doc__ = _doc(
        "AdaptiveAvgPool3d", "Means of output_size regions of", "VolumetricAdaptiveAveragePoolingFunction"
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool1d(torch.nn.AdaptiveMaxPool1d):
    __doc__ = _doc(
        "AdaptiveMaxPool1d", "Maxima of output_size regions of", "SpatialAdaptiveMaxPoolingFunction"
    )

    @layer_forward
    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(torch.nn.AdaptiveMaxPool2d):
    __doc__ = _doc(
        "AdaptiveMaxPool2d", "Maxima of output_size regions of", "SpatialAdaptiveMaxPoolingFunction"
    )

    @layer_forward
    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


# Fractional

_FRACTIONAL = "output_size + kernel_size has to be at most the size of the input along each axis."


class FractionalMaxPool2d(torch.nn.FractionalMaxPool2d):
    _random_samples: Tensor | None
    __doc__ = _doc(
        "FractionalMaxPool2d",
        "Maxima of windows at pseudo-random positions of",
        "SpatialFractionalMaxPoolingFunction",
        remarks=_FRACTIONAL,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool2d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool3d(torch.nn.FractionalMaxPool3d):
    _random_samples: Tensor | None
    __doc__ = _doc(
        "FractionalMaxPool3d",
        "Maxima of windows at pseudo-random positions of",
        "VolumetricFractionalMaxPoolingFunction",
        remarks=_FRACTIONAL,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool3d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


# Powers


def _exponent(norm_type: Any) -> float:
    """The number that torch's layers make of `norm_type`."""
    try:
        return float(norm_type)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise TypeError(f"norm_type: expected a number, got {describe(norm_type)}") from None


_POWERS = "(sum of input^norm_type)^(1 / norm_type) over windows of"


class LPPool1d(torch.nn.LPPool1d):
    __doc__ = _doc("LPPool1d", _POWERS, "SpatialAveragePoolingFunction of powers")

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(input, _exponent(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(torch.nn.LPPool2d):
    __doc__ = _doc("LPPool2d", _POWERS, "SpatialAveragePoolingFunction of powers")

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(input, _exponent(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(torch.nn.LPPool3d):
    __doc__ = _doc("LPPool3d", _POWERS, "VolumetricAveragePoolingFunction of powers")

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(input, _exponent(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


# Unpooling

_UNPOOL_ERRORS = "IndexError for an index outside of the output, "


def _unpool_doc(name: str) -> str:
    return _doc(
        name,
        "The maxima of a max pooling at their positions, and 0 elsewhere, in",
        "SpatialMaxUnpoolingFunction",
        remarks="indices: int64, with the size of the input, as the max pooling returned them.",
        errors=_UNPOOL_ERRORS,
    )


class MaxUnpool1d(torch.nn.MaxUnpool1d):
    __doc__ = _unpool_doc("MaxUnpool1d")

    @layer_forward
    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(torch.nn.MaxUnpool2d):
    __doc__ = _unpool_doc("MaxUnpool2d")

    @layer_forward
    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(torch.nn.MaxUnpool3d):
    __doc__ = _unpool_doc("MaxUnpool3d")

    @layer_forward
    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)
