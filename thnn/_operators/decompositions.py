"""Forwards as torch operations, for tracers that decompose activations, above all inductor's, which fuses the
operations with their neighbours.

Only functions of a few instructions per element: their time is that of reading and writing memory, which a fused loop
saves. Backwards stay with the C functions, since code that inductor makes of their formulas is slower.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from thnn._batch_norm import activation, stages


def _threshold(input: Tensor, threshold: float, val: float) -> Tensor:
    return input.masked_fill(input <= threshold, val)


def _hard_tanh(input: Tensor, min_val: float, max_val: float) -> Tensor:
    return input.clamp(min_val, max_val)


def _leaky_relu(input: Tensor, negval: float) -> Tensor:
    return torch.where(input > 0, input, input * negval)


def _batch_normalization(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    train: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...] | None:
    """The results in evaluation: the output, and empty tensors in place of the statistics of the batch and of the
    updated ones."""
    if train:
        return None
    dtype = stages.statistics_dtype(input)
    inverse = stages.inverse_deviation(running_var.to(dtype), eps)
    output = stages.affine(input.to(dtype), weight, bias, running_mean, inverse).to(input.dtype)
    return output, *(input.new_empty(0) for _ in range(4))


def _batch_normalization_relu(*values: Any) -> tuple[Tensor, ...] | None:
    *others, limit = values
    results = _batch_normalization(*others)
    return None if results is None else (activation.rectified(results[0], limit), *results[1:])


# By the names of modules of THNN.h; a function returns None for calls that it leaves to the operator.
DECOMPOSITIONS: Mapping[str, Callable[..., Any]] = {
    "Abs": torch.abs,
    "BatchNormalization": _batch_normalization,
    "BatchNormalizationReLU": _batch_normalization_relu,
    "HardTanh": _hard_tanh,
    "LeakyReLU": _leaky_relu,
    "Square": torch.square,
    "Threshold": _threshold,
}

# Modules whose gradient is the same function of the output as of the input, as in-place calls require, with the
# condition on their scalars. Traced code keeps the output for it, which the next function often keeps as well, and
# the memory of the input serves for other tensors.
FROM_OUTPUT: Mapping[str, Callable[..., bool]] = {
    "HardTanh": lambda min_val, max_val: True,
    "LeakyReLU": lambda negval: negval >= 0,
    "Threshold": lambda threshold, val: val <= threshold,
}
