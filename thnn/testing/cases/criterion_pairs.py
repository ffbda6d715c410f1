"""Criteria of several inputs: GaussianNLLCriterion, CosineEmbeddingCriterion, PairwiseDistance."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import given, normal, uniform
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def _gaussian_nll(
    input: Tensor, target: Tensor, var: Tensor, sizeAverage: bool = True, eps: float = 1e-6
) -> Tensor:
    bounded = var + (var.clamp(min=eps) - var).detach()
    difference = input - target.reshape(input.shape)
    losses = 0.5 * (bounded.log().reshape(input.shape) + difference.square() / bounded.reshape(input.shape))
    return losses.mean() if sizeAverage else losses.sum()


def _variances(name: str, *shape: int, small: bool = True, **scalars: Any) -> SampleInput:
    return SampleInput(
        name,
        {
            "input": normal(*shape),
            "target": normal(*shape),
            "var": uniform(*shape, low=0.3, high=2),
            **scalars,
        },
        differentiable=small,
    )


_SMALL_VARIANCES = {
    "input": given([1.0, -2.0, 0.5]),
    "target": given([0.5, -2.0, 0.25]),
    "var": given([0.0, 1e-9, 0.125]),
    "eps": 0.0625,
}

GAUSSIAN_NLL_CRITERION = Case(
    module="GaussianNLLCriterion",
    reference=_gaussian_nll,
    baseline=lambda input, target, var, sizeAverage=True, eps=1e-6: F.gaussian_nll_loss(
        input, target, var, eps=eps
    ),
    samples=(
        _variances("matrix", 4, 5),
        _variances("images", 2, 3, 4, 3),
        _variances("without dimensions"),
        _variances("one element", 1),
        _variances("sum", 4, 5, sizeAverage=False),
        _variances("empty sum", 0, 3, sizeAverage=False),
        _variances("empty", 0, 3),
        _variances("many elements", 3, 70, 91, small=False),
        SampleInput("small variances", _SMALL_VARIANCES, differentiable=False),
    ),
    error_inputs=(
        ErrorInput("target of another size", {"target": normal(5, 5)}, ValueError, "target"),
        ErrorInput("variances of another size", {"var": uniform(5)}, ValueError, "var"),
        ErrorInput("variances of another size", {"var": uniform(5, 5)}, ValueError, "var", phase="backward"),
        ErrorInput("a variance below 0", {"var": given([[1.0, -0.5]])}, ValueError, "var"),
        ErrorInput(
            "variances below 0", {"var": uniform(4, 5, low=-2, high=-1)}, ValueError, "var", on_cuda=False
        ),
    ),
    rows=(
        Row(
            "GaussianNLLCriterion 1M",
            _variances("row", 2**20),
            ratio=5,
            bytes_moved={"fwd": 12.0 * 2**20, "fb": 32.0 * 2**20},
        ),
    ),
)


def _signs(*shape: int) -> Any:
    """-1, 0 and 1."""

    def maker(generator: torch.Generator) -> Tensor:
        return torch.randint(3, shape, generator=generator).to(torch.float64) - 1

    return maker


def _cosine_embedding(
    input1: Tensor, input2: Tensor, target: Tensor, sizeAverage: bool = True, margin: float = 0
) -> Tensor:
    lengths = (input1.square().sum(1) + 1e-12) * (input2.square().sum(1) + 1e-12)
    cosine = (input1 * input2).sum(1) / lengths.sqrt()
    above = (cosine - margin).masked_fill(cosine < margin, 0)
    losses = torch.where(target == 1, 1 - cosine, above.masked_fill(target != -1, 0))
    return losses.mean() if sizeAverage else losses.sum()


def _pairs(
    name: str, rows: int, columns: int, names: str = "input1 input2", small: bool = True, **others: Any
) -> SampleInput:
    inputs = {n: normal(rows, columns) for n in names.split()}
    return SampleInput(name, {**inputs, **others}, differentiable=small)


def _row_errors(first: str, second: str) -> tuple[ErrorInput, ...]:
    return (
        ErrorInput("a vector", {first: normal(5)}, ValueError, first),
        ErrorInput("other rows", {second: normal(5, 5)}, ValueError, second),
        ErrorInput("other columns", {second: normal(4, 3)}, ValueError, second, phase="backward"),
    )


COSINE_EMBEDDING_CRITERION = Case(
    module="CosineEmbeddingCriterion",
    reference=_cosine_embedding,
    baseline=lambda input1, input2, target, sizeAverage=True, margin=0: F.cosine_embedding_loss(
        input1, input2, target, margin
    ),
    samples=(
        _pairs("pairs", 4, 5, target=_signs(4)),
        _pairs("sum", 6, 3, target=_signs(6), sizeAverage=False),
        _pairs("margin", 7, 4, target=_signs(7), margin=-0.25),
        _pairs("one pair", 1, 3, target=_signs(1)),
        _pairs("no columns", 3, 0, target=_signs(3)),
        _pairs("empty", 0, 3, target=_signs(0)),
        _pairs("empty sum", 0, 3, target=_signs(0), sizeAverage=False),
        _pairs("long rows", 3, 1030, target=_signs(3), small=False),
        _pairs("many pairs", 2500, 9, target=_signs(2500), small=False),
    ),
    error_inputs=(
        *_row_errors("input1", "input2"),
        ErrorInput("a target too few", {"target": _signs(3)}, ValueError, "target"),
        ErrorInput("a target of two dimensions", {"target": _signs(4, 1)}, ValueError, "target"),
    ),
    rows=(
        Row(
            "CosineEmbeddingCriterion (1024,512)",
            _pairs("row", 1024, 512, target=_signs(1024)),
            ratio=3,
            bytes_moved={"fwd": 8.0 * 1024 * 512, "fb": 24.0 * 1024 * 512},
        ),
    ),
)


def _pairwise_distance(x1: Tensor, x2: Tensor, p: int = 2, eps: float = 1e-6) -> Tensor:
    difference = x1 - x2 + eps
    if p == 1:
        return difference.abs().sum(1)
    squares = difference.square().sum(1)
    is_zero = squares == 0
    return squares.masked_fill(is_zero, 1).sqrt().masked_fill(is_zero, 0)


_SAME_ROWS = {
    "x1": given([[1.0, 2.0], [0.5, 1.0]]),
    "x2": given([[1.0, 2.0], [0.5, 2.0]]),
    "eps": 0.0,
}

PAIRWISE_DISTANCE = Case(
    module="PairwiseDistance",
    reference=_pairwise_distance,
    baseline=lambda x1, x2, p=2, eps=1e-6: F.pairwise_distance(x1, x2, p, eps),
    samples=(
        _pairs("pairs", 4, 5, "x1 x2"),
        _pairs("magnitudes", 4, 5, "x1 x2", p=1),
        _pairs("apart", 3, 4, "x1 x2", eps=0.5),
        _pairs("one pair", 1, 3, "x1 x2"),
        _pairs("one column", 3, 1, "x1 x2"),
        _pairs("no columns", 3, 0, "x1 x2", small=False),
        _pairs("empty", 0, 3, "x1 x2"),
        SampleInput("equal rows", _SAME_ROWS, differentiable=False),
        SampleInput("equal rows, magnitudes", {**_SAME_ROWS, "p": 1}, differentiable=False),
        SampleInput(
            "not finite",
            {
                "x1": given([[-math.inf, 1.0], [math.inf, 1.0]]),
                "x2": given([[1.0, 1.0], [1.0, -math.inf]]),
                "p": 1,
            },
            differentiable=False,
        ),
        _pairs("long rows", 3, 1030, "x1 x2", small=False),
        _pairs("many pairs", 2500, 9, "x1 x2", p=1, small=False),
    ),
    error_inputs=(
        *_row_errors("x1", "x2"),
        ErrorInput("p 3", {"p": 3}, ValueError, "p"),
        ErrorInput("p 0", {"p": 0}, ValueError, "p", phase="backward"),
    ),
    rows=(
        Row(
            "PairwiseDistance (1024,512)",
            _pairs("row", 1024, 512, "x1 x2"),
            ratio=2,
            bytes_moved={"fwd": 8.0 * 1024 * 512, "fb": 24.0 * 1024 * 512},
        ),
    ),
)
