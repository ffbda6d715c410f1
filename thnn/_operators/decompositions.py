"""Forwards as torch operations, for torch.compile with inductor, which fuses them with their neighbours.

Only functions of a few instructions per element: their time is that of reading and writing memory, which a fused loop
saves. Backwards stay with the C functions: a decomposed gradient makes inductor keep masks of the forward, which takes
longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor


def _threshold(input: Tensor, threshold: float, val: float) -> Tensor:
    return input.masked_fill(input <= threshold, val)


def _hard_tanh(input: Tensor, min_val: float, max_val: float) -> Tensor:
    return input.clamp(min_val, max_val)


def _leaky_relu(input: Tensor, negval: float) -> Tensor:
    return torch.where(input > 0, input, input * negval)


# By the names of modules of THNN.h.
DECOMPOSITIONS: Mapping[str, Callable[..., Tensor]] = {
    "Abs": torch.abs,
    "HardTanh": _hard_tanh,
    "LeakyReLU": _leaky_relu,
    "Square": torch.square,
    "Threshold": _threshold,
}
