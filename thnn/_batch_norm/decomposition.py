"""Batch normalization in evaluation as torch operations, for tracers that decompose it."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from thnn._batch_norm import activation, stages


def batch_normalization(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    train: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...] | None:
    """The results in evaluation: the output, and empty tensors in place of the batch statistics and the updated
    statistics; None in training."""
    if train:
        return None
    dtype = stages.statistics_dtype(input)
    inverse = stages.inverse_deviation(running_var.to(dtype), eps)
    output = stages.affine(input.to(dtype), weight, bias, running_mean, inverse).to(input.dtype)
    return output, *(input.new_empty(0) for _ in range(4))


def batch_normalization_relu(*values: Any) -> tuple[Tensor, ...] | None:
    *others, limit = values
    results = batch_normalization(*others)
    return None if results is None else (activation.rectified(results[0], limit), *results[1:])


def batch_normalization_add(input: Tensor, residual: Tensor, *values: Any) -> tuple[Tensor, ...] | None:
    *others, relu, limit = values
    results = batch_normalization(input, *others)
    if results is None:
        return None
    output = results[0] + residual
    return activation.rectified(output, limit) if relu else output, *results[1:]
