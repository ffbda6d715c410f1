"""Gradients of pooling as torch operations. The package describes their arguments and results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._derivatives.formulas.model import Formula, LinearIn
from thnn._torch import in_transform


def _scatter(gradOutput: Tensor, input: Tensor, positions: Tensor, dims: int) -> dict[str, Tensor]:
    """gradOutput added at positions in the last `dims` dimensions of the input; negative ones are skipped."""
    size = math.prod(input.shape[-dims:])
    flat = positions.flatten(-dims)
    if not in_transform() and flat.numel() and int(flat.max()) >= size:
        raise IndexError(f"indices: expected positions below {size}, got {int(flat.max())}")
    source = gradOutput.flatten(-dims).masked_fill(flat < 0, 0)
    planes = gradOutput.new_zeros((*input.shape[:-dims], size))
    return {"gradInput": planes.scatter_add(-1, flat.clamp(min=0), source).reshape(input.shape)}


def _at_positions(needs: Any, gradOutput: Tensor, input: Tensor, indices: Tensor) -> dict[str, Tensor]:
    return _scatter(gradOutput, input, indices, 2)


def _at_volume_positions(needs: Any, gradOutput: Tensor, input: Tensor, indices: Tensor) -> dict[str, Tensor]:
    return _scatter(gradOutput, input, indices, 3)


def _at_frames(needs: Any, gradOutput: Tensor, input: Tensor, indices: Tensor, dW: int) -> dict[str, Tensor]:
    frames = indices + torch.arange(indices.shape[-2], device=indices.device)[:, None] * dW
    return {"gradInput": torch.zeros_like(input).scatter_add(-2, frames, gradOutput)}


def _unpacked(
    indices: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int] = (1, 1, 1),
) -> Tensor:
    """The positions, in volumes of size `size`, of kernel elements given as packed bytes; -1 stays -1."""
    positions = torch.zeros_like(indices)
    for axis in range(3):
        start = torch.arange(indices.shape[axis - 3], device=indices.device) * stride[axis] - padding[axis]
        start = start.reshape([-1 if axis == d else 1 for d in range(3)])
        at = start + (indices >> 8 * axis & 255) * dilation[axis]
        if not in_transform() and bool(((at < 0) | (at >= size[axis])).logical_and(indices != -1).any()):
            raise IndexError("indices: expected elements of windows in the volume")
        positions = positions * size[axis] + at
    return positions.masked_fill(indices < 0, -1)


def _at_elements(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    indices: Tensor,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
) -> dict[str, Tensor]:
    positions = _unpacked(indices, input.shape[-3:], (dT, dH, dW), (pT, pH, pW))
    return _scatter(gradOutput, input, positions, 3)


def _at_dilated_elements(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    indices: Tensor,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
    dilationT: int,
    dilationW: int,
    dilationH: int,
) -> dict[str, Tensor]:
    dilation = (dilationT, dilationH, dilationW)
    positions = _unpacked(indices, input.shape[-3:], (dT, dH, dW), (pT, pH, pW), dilation)
    return _scatter(gradOutput, input, positions, 3)


def _take(gradOutput: Tensor, positions: Tensor, dims: int) -> dict[str, Tensor]:
    taken = gradOutput.flatten(-dims).gather(-1, positions.flatten(-dims))
    return {"gradInput": taken.reshape(positions.shape)}


def _from_positions(needs: Any, gradOutput: Tensor, indices: Tensor) -> dict[str, Tensor]:
    return _take(gradOutput, indices, 2)


def _from_elements(
    needs: Any,
    gradOutput: Tensor,
    indices: Tensor,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
) -> dict[str, Tensor]:
    return _take(gradOutput, _unpacked(indices, gradOutput.shape[-3:], (dT, dH, dW), (pT, pH, pW)), 3)


def _feature_lp_pooling(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    output: Tensor,
    power: float,
    width: int,
    stride: int,
    batchMode: bool,
) -> dict[str, Tensor]:
    dim = 1 if batchMode else 0
    ratio = input.unfold(dim, width, stride) / output.masked_fill(output == 0, 1).unsqueeze(-1)
    terms = gradOutput.masked_fill(output == 0, 0).unsqueeze(-1) * ratio ** (power - 1)
    starts = torch.arange(output.shape[dim], device=output.device) * stride
    features = starts[:, None] + torch.arange(width, device=output.device)
    terms = terms.movedim(-1, dim + 1).flatten(dim, dim + 1)
    return {"gradInput": torch.zeros_like(input).index_add(dim, features.flatten(), terms)}


LINEAR_IN: Mapping[str, LinearIn] = dict.fromkeys(
    ("SpatialMaxUnpooling", "VolumetricMaxUnpooling"), lambda values: "input"
)

FORMULAS: Mapping[str, Formula] = {
    "SpatialMaxPooling": _at_positions,
    "SpatialDilatedMaxPooling": _at_positions,
    "SpatialAdaptiveMaxPooling": _at_positions,
    "SpatialFractionalMaxPooling": _at_positions,
    "VolumetricFractionalMaxPooling": _at_volume_positions,
    "TemporalMaxPooling": _at_frames,
    "VolumetricMaxPooling": _at_elements,
    "VolumetricDilatedMaxPooling": _at_dilated_elements,
    "SpatialMaxUnpooling": _from_positions,
    "VolumetricMaxUnpooling": _from_elements,
    "FeatureLPPooling": _feature_lp_pooling,
}
