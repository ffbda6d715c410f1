"""Gradients of criteria as torch operations. The package describes their arguments and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from thnn._derivatives.formulas.model import Formula


def _norm(input: Tensor, sizeAverage: bool) -> float:
    """The factor of the loss: 1 / number of elements if sizeAverage."""
    return 1 / max(input.numel(), 1) if sizeAverage else 1


def _mse(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    difference = input - target.reshape(input.shape)
    return {"gradInput": gradOutput * difference * (2 * _norm(input, sizeAverage))}


def _abs(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    sign = (input >= target.reshape(input.shape)).to(input.dtype) * 2 - 1
    return {"gradInput": gradOutput * sign * _norm(input, sizeAverage)}


def _smooth_l1(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    slope = (input - target.reshape(input.shape)).clamp(-1, 1)
    return {"gradInput": gradOutput * slope * _norm(input, sizeAverage)}


def _bce(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool, weights: Tensor | None
) -> dict[str, Tensor]:
    slope = (input - target.reshape(input.shape)) / (input * (1 - input)).clamp(min=1e-12)
    if weights is not None:
        slope = slope * weights.reshape(input.shape)
    return {"gradInput": gradOutput * slope * _norm(input, sizeAverage)}


def _bce_with_logits(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool, weights: Tensor | None
) -> dict[str, Tensor]:
    slope = torch.sigmoid(input) - target.reshape(input.shape)
    if weights is not None:
        slope = slope * weights.reshape(input.shape)
    return {"gradInput": gradOutput * slope * _norm(input, sizeAverage)}


def _huber(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool, delta: float
) -> dict[str, Tensor]:
    slope = (input - target.reshape(input.shape)).clamp(-delta, delta)
    return {"gradInput": gradOutput * slope * _norm(input, sizeAverage)}


def _poisson_nll(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    slope = input.exp() - target.reshape(input.shape)
    return {"gradInput": gradOutput * slope * _norm(input, sizeAverage)}


def _poisson_rate_nll(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool, eps: float
) -> dict[str, Tensor]:
    slope = 1 - target.reshape(input.shape) / (input + eps)
    return {"gradInput": gradOutput * slope * _norm(input, sizeAverage)}


def _gaussian_nll(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, var: Tensor, sizeAverage: bool, eps: float
) -> dict[str, Tensor]:
    difference = input - target.reshape(input.shape)
    # The bound counts as a constant where it applies, but the gradient does not become 0 there.
    bounded = var + (var.clamp(min=eps) - var).detach()
    of_input = bounded.reshape(input.shape)
    squares = (difference * difference).reshape(var.shape)
    factor = gradOutput * _norm(input, sizeAverage)
    return {
        "gradInput": factor * difference / of_input,
        "gradVar": factor * (0.5 / bounded) * (1 - squares / bounded),
    }


def _cosine_embedding(
    needs: Any,
    gradOutput: Tensor,
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    sizeAverage: bool,
    margin: float,
) -> dict[str, Tensor]:
    length1, length2 = ((x * x).sum(1) + 1e-12 for x in (input1, input2))
    length = (length1 * length2).sqrt()
    cosine = (input1 * input2).sum(1) / length
    costs_nothing = (target != 1) & ((target != -1) | (cosine < margin))
    slope = torch.where(target == 1, -1.0, 1.0).to(input1.dtype).masked_fill(costs_nothing, 0)
    factor = gradOutput * slope / (max(len(input1), 1) if sizeAverage else 1)
    other = (factor / length).unsqueeze(1)
    same1, same2 = ((factor * cosine / n).unsqueeze(1) for n in (length1, length2))
    return {"gradInput1": other * input2 - same1 * input1, "gradInput2": other * input1 - same2 * input2}


def _pairwise_distance(
    needs: Any, gradOutput: Tensor, x1: Tensor, x2: Tensor, output: Tensor, p: int, eps: float
) -> dict[str, Tensor]:
    difference = x1 - x2 + eps
    if p == 1:
        slope = difference.sign() * gradOutput.unsqueeze(1)
    else:
        is_zero = output == 0
        factor = (gradOutput / output.masked_fill(is_zero, 1)).masked_fill(is_zero, 0)
        slope = difference * factor.unsqueeze(1)
    return {"gradX1": slope, "gradX2": -slope}


def _l1_cost(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    return {"gradInput": gradOutput * input.sign()}


def _soft_margin(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    target = target.reshape(input.shape)
    slope = -target * torch.sigmoid(-input * target)
    return {"gradInput": gradOutput * slope * _norm(input, sizeAverage)}


def _multi_margin(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    target: Tensor,
    sizeAverage: bool,
    p: int,
    weights: Tensor | None,
    margin: float,
) -> dict[str, Tensor]:
    rows, targets = input.reshape(-1, input.shape[-1]), target.reshape(-1, 1)
    terms = margin - rows.gather(1, targets) + rows
    slope = terms if p == 2 else torch.ones_like(terms)
    slope = (slope * (p / rows.shape[1])).masked_fill(terms <= 0, 0).scatter(1, targets, 0)
    if weights is not None:
        slope = slope * weights[targets]
    slope = slope.scatter_add(1, targets, -slope.sum(1, keepdim=True))
    share = 1 / max(len(rows), 1) if sizeAverage else 1
    return {"gradInput": gradOutput * slope.reshape(input.shape) * share}


FORMULAS: Mapping[str, Formula] = {
    "MSECriterion": _mse,
    "AbsCriterion": _abs,
    "SmoothL1Criterion": _smooth_l1,
    "BCECriterion": _bce,
    "BCEWithLogitsCriterion": _bce_with_logits,
    "HuberCriterion": _huber,
    "PoissonNLLCriterion": _poisson_nll,
    "PoissonRateNLLCriterion": _poisson_rate_nll,
    "GaussianNLLCriterion": _gaussian_nll,
    "CosineEmbeddingCriterion": _cosine_embedding,
    "PairwiseDistance": _pairwise_distance,
    "L1Cost": _l1_cost,
    "SoftMarginCriterion": _soft_margin,
    "MultiMarginCriterion": _multi_margin,
}
