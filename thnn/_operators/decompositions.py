"""Forwards as torch operations, for tracers that decompose activations, above all inductor's, which fuses the
operations with their neighbours.

Only functions of a few instructions per element: they spend their time on reading and writing memory, which a fused
loop saves. Backwards stay with the C functions, since the code that inductor generates from their formulas is slower. A
class that is written by hand has its decomposition in the attribute `_decomposition`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor


def _threshold(input: Tensor, threshold: float, val: float) -> Tensor:
    return input.masked_fill(input <= threshold, val)


def _hard_tanh(input: Tensor, min_val: float, max_val: float) -> Tensor:
    return input.clamp(min_val, max_val)


def _leaky_relu(input: Tensor, negval: float) -> Tensor:
    return torch.where(input > 0, input, input * negval)


# By the names of modules of THNN.h; a function returns None for calls that it leaves to the operator.
DECOMPOSITIONS: Mapping[str, Callable[..., Any]] = {
    "Abs": torch.abs,
    "HardTanh": _hard_tanh,
    "LeakyReLU": _leaky_relu,
    "Square": torch.square,
    "Threshold": _threshold,
}
