"""Convolutions and transposed convolutions in one to three dimensions.

All modules have the same three functions, which read the geometry from the names of their arguments. A module
determines how its weight is viewed as the filters of torch's operators, (O, I / groups, kernel...).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

Scalars = tuple[tuple[str, ...], tuple[Any, ...]]  # names and values
Tensors = tuple[Any, ...]
_AXES = "THW"
_convolution_backward = torch.ops.aten.convolution_backward.default


class Geometry(NamedTuple):
    """The settings of a module, in torch's terms."""

    dims: int  # of an image, without channels and batch
    kernel: tuple[int, ...]  # of the axes that have an argument
    stride: list[int]
    padding: list[int]
    dilation: list[int]
    adjustment: list[int]  # torch's output_padding
    groups: int
    channels_first: bool  # False: images are (N, T, I)


def _filters(weight: torch.Tensor, geometry: Geometry) -> torch.Tensor:
    """The filters of a weight (O, I, kernel...); all dimensions but the first may be merged."""
    return weight if weight.ndim > 2 else weight.unflatten(1, (-1, *geometry.kernel))


def _weight(filters: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The inverse of `_filters`; `weight` has the size of the result."""
    return filters.reshape(weight.shape)


def _depthwise_filters(weight: torch.Tensor, geometry: Geometry) -> torch.Tensor:
    """The filters of a weight (M, I, kH, kW), M per input channel; all dimensions but the first may be merged."""
    return _filters(weight, geometry).transpose(0, 1).flatten(0, 1).unsqueeze(1)


def _depthwise_weight(filters: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return filters.unflatten(0, (-1, len(weight))).transpose(0, 1).reshape(weight.shape)


def _frame_filters(weight: torch.Tensor, geometry: Geometry) -> torch.Tensor:
    """The filters of a weight (O, kW * I), whose rows have time before channels."""
    return weight.unflatten(1, (geometry.kernel[0], -1)).transpose(1, 2)


def _frame_weight(filters: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return filters.transpose(1, 2).flatten(1)


class Module(NamedTuple):
    filters: Callable[[torch.Tensor, Geometry], torch.Tensor] = _filters
    weight: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = _weight  # the inverse of `filters`
    is_transposed: bool = False
    frames_first: bool = False  # images are (N, T, I), unless an argument featFirst is true
    is_depthwise: bool = False  # a group per input channel

    def images(self, tensor: torch.Tensor, geometry: Geometry) -> torch.Tensor:
        """The tensor in torch's layout of images: a batch with channels before positions."""
        if not geometry.channels_first:
            tensor = tensor.transpose(-1, -2)
        return tensor if tensor.ndim == geometry.dims + 2 else tensor.unsqueeze(0)

    def result(self, images: torch.Tensor, like: torch.Tensor, geometry: Geometry) -> torch.Tensor:
        """The inverse of `images`; `like` has as many dimensions as the result."""
        if not geometry.channels_first:
            images = images.transpose(-1, -2)
        return images if images.ndim == like.ndim else images.squeeze(0)

    def updateOutput(
        self,
        input: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        scalars: Scalars,
    ) -> tuple[torch.Tensor]:
        geometry = _geometry(self, weight.ndim, scalars)
        images = self.images(input, geometry)
        images = torch.convolution(
            images,
            self.filters(weight, geometry),
            bias if bias is None or bias.ndim == 1 else bias.t().flatten(),
            *self._settings(geometry, images),
        )
        return (self.result(images, input, geometry),)

    def updateGradInput(
        self, input: torch.Tensor, gradOutput: torch.Tensor, weight: torch.Tensor, scalars: Scalars
    ) -> tuple[torch.Tensor | None, ...]:
        return self._gradients(input, gradOutput, weight, None, (True, False, False), scalars)[:1]

    def accGradParameters(
        self,
        input: torch.Tensor,
        gradOutput: torch.Tensor,
        gradWeight: torch.Tensor,
        gradBias: torch.Tensor | None,
        scalars: Scalars,
    ) -> tuple[torch.Tensor | None, ...]:
        mask = (False, True, gradBias is not None)
        # torch reads the size of the filters, not their values.
        return self._gradients(input, gradOutput, gradWeight, gradBias, mask, scalars)[1:]

    def gradients(
        self, for_input: Tensors, for_parameters: Tensors, scalars: Scalars
    ) -> tuple[tuple[torch.Tensor | None, ...], ...]:
        """updateGradInput and accGradParameters, of their tensors, by one operator."""
        input, gradOutput, weight = for_input
        gradBias = for_parameters[-1]
        mask = (True, True, gradBias is not None)
        results = self._gradients(input, gradOutput, weight, gradBias, mask, scalars)
        return results[:1], results[1:]

    def _settings(self, geometry: Geometry, images: torch.Tensor) -> tuple[Any, ...]:
        """The arguments of torch's operators from `stride` to `groups`; `images` is the input in torch's layout."""
        groups = images.shape[1] if self.is_depthwise else geometry.groups
        stride, padding, dilation = geometry.stride, geometry.padding, geometry.dilation
        return (stride, padding, dilation, self.is_transposed, geometry.adjustment, groups)

    def _gradients(
        self,
        input: torch.Tensor,
        gradOutput: torch.Tensor,
        weight: torch.Tensor,
        gradBias: torch.Tensor | None,
        mask: tuple[bool, bool, bool],
        scalars: Scalars,
    ) -> tuple[torch.Tensor | None, ...]:
        """The gradients of input, weight and bias where `mask` is true, otherwise None."""
        geometry = _geometry(self, weight.ndim, scalars)
        images, gradients = self.images(input, geometry), self.images(gradOutput, geometry)
        images, filters, biases = _convolution_backward(
            gradients,
            images,
            self.filters(weight, geometry),
            [gradients.shape[1]],
            *self._settings(geometry, images),
            mask,
        )
        if gradBias is not None and gradBias.ndim == 2:  # (M, I) of depthwise filters
            biases = biases.view(gradBias.shape[::-1]).t()
        return (
            self.result(images, input, geometry) if mask[0] else None,
            self.weight(filters, weight) if mask[1] else None,
            biases,
        )


@functools.lru_cache(maxsize=4096)
def _geometry(module: Module, weight_ndim: int, scalars: Scalars) -> Geometry:
    """The geometry of a call, from its scalars. A weight of two dimensions has the kernel in its second one."""
    settings = dict(zip(*scalars))
    axes = [a for a in _AXES if "k" + a in settings] if weight_ndim == 2 else _AXES[5 - weight_ndim :]

    def of(default: int, *prefixes: str) -> list[int]:
        return [int(next((settings[p + a] for p in prefixes if p + a in settings), default)) for a in axes]

    return Geometry(
        len(axes),
        tuple(int(settings["k" + a]) for a in axes if "k" + a in settings),
        of(1, "d"),
        of(0, "pad", "p"),
        of(1, "dilation"),
        of(0, "adj", "a"),
        int(settings.get("groups", 1)),
        not module.frames_first or bool(settings.get("featFirst", False)),
    )


_MODULES = {
    **dict.fromkeys(
        (
            "Convolution",
            "SpatialConvolutionMM",
            "SpatialDilatedConvolution",
            "VolumetricConvolution",
            "VolumetricConvolutionMM",
            "VolumetricDilatedConvolution",
        ),
        Module(),
    ),
    **dict.fromkeys(
        (
            "FullConvolution",
            "SpatialFullConvolution",
            "SpatialFullDilatedConvolution",
            "VolumetricFullConvolution",
            "VolumetricFullDilatedConvolution",
        ),
        Module(is_transposed=True),
    ),
    "SpatialDepthWiseConvolution": Module(_depthwise_filters, _depthwise_weight, is_depthwise=True),
    "TemporalConvolution": Module(_frame_filters, _frame_weight, frames_first=True),
    "TemporalRowConvolution": Module(frames_first=True, is_depthwise=True),
}

FUNCTIONS: dict[str, Callable[..., tuple[torch.Tensor | None, ...] | None]] = {
    f"{name}_{phase}": getattr(module, phase)
    for name, module in _MODULES.items()
    for phase in ("updateOutput", "updateGradInput", "accGradParameters")
}

# Functions of the calls of one backward, by the names of these.
JOINT: dict[tuple[str, ...], Callable[..., tuple[tuple[torch.Tensor | None, ...], ...]]] = {
    (f"{name}_updateGradInput", f"{name}_accGradParameters"): module.gradients
    for name, module in _MODULES.items()
}
