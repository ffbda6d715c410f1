"""GroupNorm, InstanceNorm1d to InstanceNorm3d, LayerNorm, RMSNorm, LocalResponseNorm."""

from __future__ import annotations

import warnings
from typing import ClassVar

import torch
from torch import Tensor

from thnn._torch import InstanceNormBase
from thnn.nn._errors import wrong_count
from thnn.nn._layer import layer_doc, layer_forward
from thnn.nn.functional.normalization import (
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
)


class GroupNorm(torch.nn.GroupNorm):
    __doc__ = layer_doc(
        "GroupNorm",
        "Normalization of each group of channels of each sample",
        "input and output (N, C, ...); weight and bias (C)",
        "GroupNormalizationFunction",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


def _instance_norm_doc(name: str, shapes: str) -> str:
    return layer_doc(
        name,
        "Normalization of each channel of each sample",
        f"input {shapes}; output the same; weight, bias, running_mean, running_var (C)",
        "GroupNormalizationFunction, with running statistics BatchNormalizationFunction",
        remarks="The running statistics are updated by the means of the statistics of the samples.\n",
    )


class _InstanceNorm(InstanceNormBase):
    """Base class of the layers. A subclass defines the number of dimensions of a sample, `_sample_dims`."""

    _sample_dims: ClassVar[int]

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        dims = self._sample_dims
        if input.dim() not in (dims, dims + 1):
            raise ValueError(
                f"input: expected {dims} dimensions or, with a batch, {dims + 1}, got {input.dim()}"
            )
        channel = input.dim() - dims
        if input.shape[channel] != self.num_features:
            if self.affine:
                raise wrong_count(self, "channels", "num_features", self.num_features, input, channel)
            warnings.warn(
                f"InstanceNorm: {input.shape[channel]} channels are not num_features, {self.num_features}, which is"
                " unused without affine",
                stacklevel=2,
            )
        output = instance_norm(
            input if channel else input.unsqueeze(0),
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return output if channel else output.squeeze(0)


class InstanceNorm1d(_InstanceNorm, torch.nn.InstanceNorm1d):
    __doc__ = _instance_norm_doc("InstanceNorm1d", "(N, C, L) or (C, L)")
    _sample_dims = 2


class InstanceNorm2d(_InstanceNorm, torch.nn.InstanceNorm2d):
    __doc__ = _instance_norm_doc("InstanceNorm2d", "(N, C, H, W) or (C, H, W)")
    _sample_dims = 3


class InstanceNorm3d(_InstanceNorm, torch.nn.InstanceNorm3d):
    __doc__ = _instance_norm_doc("InstanceNorm3d", "(N, C, D, H, W) or (C, D, H, W)")
    _sample_dims = 4


class LayerNorm(torch.nn.LayerNorm):
    __doc__ = layer_doc(
        "LayerNorm",
        "Normalization of each row of the last dimensions",
        "input and output (..., *normalized_shape); weight and bias (*normalized_shape)",
        "LayerNormalizationFunction",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(torch.nn.RMSNorm):
    __doc__ = layer_doc(
        "RMSNorm",
        "Each row of the last dimensions divided by its root mean square",
        "input and output (..., *normalized_shape); weight (*normalized_shape)",
        "RMSNormalizationFunction",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return rms_norm(input, self.normalized_shape, self.weight, self.eps)


class LocalResponseNorm(torch.nn.LocalResponseNorm):
    __doc__ = layer_doc(
        "LocalResponseNorm",
        "input / (k + alpha * mean of the squares of size neighbouring channels)^beta",
        "input and output (N, C, ...)",
        "SpatialCrossMapLRNFunction",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return local_response_norm(input, self.size, self.alpha, self.beta, self.k)
