"""Gradients of normalization as torch operations. The package describes their arguments and results."""

from __future__ import annotations

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


FORMULAS: Mapping[str, Formula] = {
    "SpatialCrossMapLRN": _lrn,
}
