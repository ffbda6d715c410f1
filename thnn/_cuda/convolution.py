"""Convolutions and transposed convolutions in one to three dimensions.

All modules have the same three functions, which read the geometry from the names of their arguments. A module
determines how its weight is viewed as filters (groups, O, I, kernel...); torch's weight is the same with the first two
dimensions merged. In the filters of a transposed convolution, O and I change places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

Settings = Mapping[str, Any]
_AXES = "THW"


def _unmerged(weight: torch.Tensor, settings: Settings) -> torch.Tensor:
    """The weight; if it has two dimensions, with the kernel separated from the second one."""
    if weight.ndim > 2:
        return weight
    return weight.unflatten(1, (-1, *(settings["k" + axis] for axis in _AXES if "k" + axis in settings)))


def _filters(weight: torch.Tensor, settings: Settings) -> torch.Tensor:
    """The filters of a weight (O, I, kernel...); all dimensions but the first may be merged."""
    return _unmerged(weight, settings).unflatten(0, (settings.get("groups", 1), -1))


def _depthwise_filters(weight: torch.Tensor, settings: Settings) -> torch.Tensor:
    """The filters of a weight (M, I, kH, kW), M per input channel; all dimensions but the first may be merged."""
    return _unmerged(weight, settings).transpose(0, 1).unsqueeze(2)


def _row_filters(weight: torch.Tensor, settings: Settings) -> torch.Tensor:
    """The filters of a weight (I, 1, kW): one per input channel."""
    return weight.unsqueeze(1)


def _frame_filters(weight: torch.Tensor, settings: Settings) -> torch.Tensor:
    """The filters of a weight (O, kW * I), whose rows have time before channels."""
    return weight.unflatten(1, (settings["kW"], -1)).transpose(1, 2).unsqueeze(0)


class Module(NamedTuple):
    filters: Callable[[torch.Tensor, Settings], torch.Tensor] = _filters
    is_transposed: bool = False
    frames_first: bool = False  # images are (N, T, I), unless an argument featFirst is true

    def images(self, tensor: torch.Tensor, ndim: int, settings: Settings) -> torch.Tensor:
        """The tensor in torch's layout of images: a batch, of `ndim` dimensions, with channels before positions."""
        if self.frames_first and not settings.get("featFirst", False):
            tensor = tensor.transpose(-1, -2)
        return tensor if tensor.ndim == ndim else tensor.unsqueeze(0)

    def result(self, images: torch.Tensor, ndim: int, settings: Settings) -> torch.Tensor:
        """The inverse of `images`."""
        if self.frames_first and not settings.get("featFirst", False):
            images = images.transpose(-1, -2)
        return images if images.ndim == ndim else images.squeeze(0)

    def geometry(self, filters: torch.Tensor, settings: Settings) -> tuple[Any, ...]:
        """The arguments of torch's operators from `stride` to `groups`."""
        axes = _AXES[3 - filters.ndim :]

        def of(default: int, *prefixes: str) -> list[int]:
            return [
                int(next((settings[p + a] for p in prefixes if p + a in settings), default)) for a in axes
            ]

        stride, padding, dilation = of(1, "d"), of(0, "pad", "p"), of(1, "dilation")
        return stride, padding, dilation, self.is_transposed, of(0, "adj", "a"), len(filters)

    def updateOutput(
        self, input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, **settings: Any
    ) -> torch.Tensor:
        filters = self.filters(weight, settings)
        images = torch.ops.aten.convolution(
            self.images(input, filters.ndim - 1, settings),
            filters.flatten(0, 1),
            None if bias is None else bias.t().flatten(),
            *self.geometry(filters, settings),
        )
        return self.result(images, input.ndim, settings)

    def updateGradInput(
        self, input: torch.Tensor, gradOutput: torch.Tensor, weight: torch.Tensor, **settings: Any
    ) -> torch.Tensor:
        images, _, _ = self._backward(
            input, gradOutput, self.filters(weight, settings), (True, False, False), settings
        )
        return self.result(images, input.ndim, settings)

    def accGradParameters(
        self,
        input: torch.Tensor,
        gradOutput: torch.Tensor,
        gradWeight: torch.Tensor,
        gradBias: torch.Tensor | None,
        scale: float,
        **settings: Any,
    ) -> None:
        filters = self.filters(gradWeight, settings)
        mask = (False, True, gradBias is not None)
        _, weights, biases = self._backward(input, gradOutput, filters, mask, settings)
        filters.add_(weights.unflatten(0, filters.shape[:2]), alpha=scale)
        if gradBias is not None:
            by_group = gradBias.t()  # transposes (M, I) of depthwise filters; one dimension stays as it is
            by_group.add_(biases.view(by_group.shape), alpha=scale)

    def _backward(
        self,
        input: torch.Tensor,
        gradOutput: torch.Tensor,
        filters: torch.Tensor,
        mask: tuple[bool, bool, bool],
        settings: Settings,
    ) -> Any:
        ndim = filters.ndim - 1
        gradients = self.images(gradOutput, ndim, settings)
        return torch.ops.aten.convolution_backward(
            gradients,
            self.images(input, ndim, settings),
            filters.flatten(0, 1),
            [gradients.shape[1]],
            *self.geometry(filters, settings),
            mask,
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
    "SpatialDepthWiseConvolution": Module(_depthwise_filters),
    "TemporalConvolution": Module(_frame_filters, frames_first=True),
    "TemporalRowConvolution": Module(_row_filters, frames_first=True),
}

FUNCTIONS: dict[str, Callable[..., torch.Tensor | None]] = {
    f"{name}_{phase}": getattr(module, phase)
    for name, module in _MODULES.items()
    for phase in ("updateOutput", "updateGradInput", "accGradParameters")
}
