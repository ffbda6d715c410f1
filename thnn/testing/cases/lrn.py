"""Local response normalization."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import constant, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def _sum_over_channels(values: Tensor, before: int, after: int) -> Tensor:
    """For each channel, the sum over it, `before` channels before it and `after` channels after it."""
    channels = values.shape[-3]
    windows = [(max(c - before, 0), min(c + after + 1, channels)) for c in range(channels)]
    sums = [values.narrow(-3, first, end - first).sum(-3) for first, end in windows]
    return torch.stack(sums, -3) if sums else values


def _lrn(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> tuple[Tensor, dict[str, Tensor]]:
    # The mean divides by `size` even where channels are missing.
    scales = k + alpha / size * _sum_over_channels(input * input, size // 2, (size - 1) // 2)
    return input * scales**-beta, {"scales": scales}


def _sample(
    name: str,
    *shape: int,
    size: int = 5,
    alpha: float = 0.75,
    beta: float = 0.75,
    k: float = 1.5,
    small: bool = True,
) -> SampleInput:
    arguments = {"input": normal(*shape), "size": size, "alpha": alpha, "beta": beta, "k": k}
    return SampleInput(name, arguments, differentiable=small)


_ERROR_INPUTS = (
    ErrorInput("a matrix", {"input": normal(3, 4)}, ValueError, "input"),
    ErrorInput("five dimensions", {"input": normal(1, 2, 3, 4, 5)}, ValueError, "input"),
    ErrorInput("size 0", {"size": 0}, ValueError, "size"),
    ErrorInput("size below 0", {"size": -(2**31)}, ValueError, "size"),
    ErrorInput("size 0", {"size": 0}, ValueError, "size", "updateGradInput"),
    ErrorInput("scales of one image", {"scales": normal(6, 3, 4)}, ValueError, "scales", "updateGradInput"),
)
_BYTES = 4.0 * 16 * 64 * 55 * 55

SPATIAL_CROSS_MAP_LRN = Case(
    module="SpatialCrossMapLRN",
    reference=_lrn,
    baseline=F.local_response_norm,
    samples=(
        _sample("batch", 2, 6, 3, 4),
        _sample("batchless", 7, 2, 3),
        _sample("even window", 2, 7, 2, 3, size=4),
        _sample("window of 1", 2, 3, 2, 2, size=1),
        _sample("window of 2", 1, 4, 2, 2, size=2, beta=0.5),
        _sample("window above the channels", 2, 4, 2, 3, size=11),
        _sample("huge window", 1, 3, 2, 2, size=2**31 - 1),
        _sample("one channel", 3, 1, 2, 5),
        _sample("exponent 0", 1, 3, 2, 2, beta=0.0),
        _sample("exponent below 0", 1, 3, 2, 2, beta=-1.25),
        _sample("sizes 1", 1, 1, 1, 1),
        _sample("many channels", 2, 131, 3, 5, small=False),
        _sample("many positions", 2, 5, 37, 61, small=False),
        SampleInput(
            "zeros",
            {"input": constant(1, 3, 2, 2), "size": 3, "alpha": 1.0, "beta": 0.75, "k": 0.0},
            differentiable=False,
        ),
        _sample("empty", 0, 3, 4, 5),
    ),
    error_inputs=_ERROR_INPUTS,
    rows=(
        Row(
            "SpatialCrossMapLRN 5 (16,64,55,55)",
            _sample("row", 16, 64, 55, 55, alpha=1e-4, k=1.0),
            bytes_moved={"fwd": 2 * _BYTES, "fb": 8 * _BYTES},
        ),
    ),
)
