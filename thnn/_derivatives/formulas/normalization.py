"""Gradients of normalization as torch operations. The package describes their arguments and results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from thnn._derivatives.formulas.model import Formula


def _sum_over_channels(values: Tensor, before: int, after: int) -> Tensor:
    """For each channel, the sum over it, `before` channels before it and `after` channels after it."""
    channels = values.shape[-3]
    before, after = min(before, channels), min(after, channels)
    padded = torch.nn.functional.pad(values, (0, 0, 0, 0, before, after))
    return padded.unfold(-3, before + after + 1, 1).sum(-1) if channels else values


def _lrn(
    needs: Any, gradOutput: Tensor, input: Tensor, size: int, alpha: float, beta: float, k: float
) -> dict[str, Tensor]:
    before, after = size // 2, (size - 1) // 2
    scales = k + alpha / size * _sum_over_channels(input * input, before, after)
    through = _sum_over_channels(gradOutput * input * scales ** (-beta - 1), after, before)
    return {"gradInput": gradOutput * scales**-beta - 2 * alpha * beta / size * input * through}


def _normalized(rows: Tensor, centre: Tensor | None, eps: float) -> tuple[Tensor, Tensor]:
    """The rows (..., D), centred unless `centre` is None and divided by their deviation, and the inverse deviation.

    `centre` is the mean (...) of the forward, a constant: subtracted first, it avoids cancellation.
    """
    if centre is not None:
        rows = rows - centre.unsqueeze(-1)
        rows = rows - rows.mean(-1, keepdim=True)
    total = rows.square().mean(-1, keepdim=True) + eps
    is_zero = total == 0
    inverse = total.masked_fill(is_zero, 1).rsqrt().masked_fill(is_zero, 0)
    return rows * inverse, inverse


def _row_gradient(g: Tensor, normalized: Tensor, inverse: Tensor, centred: bool) -> Tensor:
    """The gradient w.r.t. the rows from the gradient w.r.t. the normalized rows."""
    if centred:
        g = g - g.mean(-1, keepdim=True)
    return (g - normalized * (g * normalized).mean(-1, keepdim=True)) * inverse


def _group_normalization(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    weight: Tensor | None,
    save_mean: Tensor,
    numGroups: int,
    eps: float,
) -> dict[str, Tensor]:
    samples, channels, *sizes = input.shape
    positions = math.prod(sizes)
    by_group = (samples, numGroups, channels // numGroups * positions)
    by_channel = (samples, channels, positions)
    normalized, inverse = _normalized(input.to(save_mean.dtype).reshape(by_group), save_mean, eps)
    g = gradOutput.to(save_mean.dtype).reshape(by_channel)
    scaled = g if weight is None else g * weight.reshape(1, channels, 1)
    gradInput = _row_gradient(scaled.reshape(by_group), normalized, inverse, centred=True)
    found = {"gradInput": gradInput.reshape(input.shape).to(input.dtype)}
    if needs[2]:
        found["gradBias"] = g.sum((0, 2))
    if weight is not None:
        found["gradWeight"] = (g * normalized.reshape(by_channel)).sum((0, 2)).to(weight.dtype)
    return found


def _gradients_of_rows(
    gradOutput: Tensor, input: Tensor, weight: Tensor | None, centre: Tensor | None, dims: int, eps: float
) -> dict[str, Tensor]:
    """gradInput, gradWeight and, unless `centre` is None, gradBias."""
    dtype = torch.float64 if input.dtype == torch.float64 else torch.float32
    outer, inner = input.shape[: input.dim() - dims], input.shape[input.dim() - dims :]
    shape = (math.prod(outer), math.prod(inner))
    normalized, inverse = _normalized(input.to(dtype).reshape(shape), centre, eps)
    g = gradOutput.to(dtype).reshape(shape)
    scaled = g if weight is None else g * weight.reshape(shape[1])
    gradInput = _row_gradient(scaled, normalized, inverse, centred=centre is not None)
    found = {"gradInput": gradInput.reshape(input.shape).to(input.dtype)}
    if centre is not None:
        found["gradBias"] = g.sum(0).reshape(inner)
    if weight is not None:
        found["gradWeight"] = (g * normalized).sum(0).reshape(inner).to(weight.dtype)
    return found


def _layer_normalization(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    weight: Tensor | None,
    save_mean: Tensor,
    dims: int,
    eps: float,
) -> dict[str, Tensor]:
    found = _gradients_of_rows(gradOutput, input, weight, save_mean, dims, eps)
    if not needs[2]:
        del found["gradBias"]
    return found


def _rms_normalization(
    needs: Any, gradOutput: Tensor, input: Tensor, weight: Tensor | None, dims: int, eps: float
) -> dict[str, Tensor]:
    return _gradients_of_rows(gradOutput, input, weight, None, dims, eps)


FORMULAS: Mapping[str, Formula] = {
    "GroupNormalization": _group_normalization,
    "LayerNormalization": _layer_normalization,
    "RMSNormalization": _rms_normalization,
    "SpatialCrossMapLRN": _lrn,
}
