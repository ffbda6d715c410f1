"""Criteria: the loss of an input and a target, a tensor of one element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import classes, constant, given, normal, uniform, whole
from thnn.testing.cases.model import Case, ErrorInput, Maker, Row, SampleInput

_SHAPES = {
    "matrix": (4, 5),
    "vector": (7,),
    "without dimensions": (),
    "one element": (1,),
    "images": (2, 3, 4, 3),
    "volumes": (2, 1, 3, 2, 2),
    "sizes 1": (1, 1, 3, 1),
}


def _reduced(losses: Tensor, sizeAverage: bool) -> Tensor:
    return losses.mean() if sizeAverage else losses.sum()


def _samples(input: Callable[..., Maker], target: Callable[..., Maker]) -> tuple[SampleInput, ...]:
    def sample(name: str, *shape: int, small: bool = True, **scalars: Any) -> SampleInput:
        return SampleInput(
            name, {"input": input(*shape), "target": target(*shape), **scalars}, differentiable=small
        )

    return (
        *(sample(name, *shape) for name, shape in _SHAPES.items()),
        sample("sum", 4, 5, sizeAverage=False),
        sample("empty sum", 0, 3, sizeAverage=False),
        sample("empty", 0, 3),
        sample("many elements", 3, 70, 91, small=False),
        sample("sum of many elements", 20011, sizeAverage=False, small=False),
    )


def _row(name: str, input: Maker, target: Maker, goals: dict[str, float]) -> Row:
    size = 4.0 * 2**20
    return Row(
        f"{name} 1M",
        SampleInput("row", {"input": input, "target": target}),
        bytes_moved={"fwd": 2 * size, "fb": 5 * size},
        **goals,  # type: ignore[arg-type]
    )


_ERROR_INPUTS = (
    ErrorInput("target of another size", {"target": uniform(5, 5)}, ValueError, "target"),
    ErrorInput("target a row", {"target": uniform(5)}, ValueError, "target"),
    ErrorInput("target empty", {"target": uniform(0)}, ValueError, "target"),
    ErrorInput(
        "target of another size", {"target": uniform(5, 5)}, ValueError, "target", phase="updateGradInput"
    ),
)
_DISTANCE_GOALS = {"ratio": 1.1, "fraction": 0.6}


def _mse(input: Tensor, target: Tensor, sizeAverage: bool = True) -> Tensor:
    return _reduced((input - target).square(), sizeAverage)


_NEAR_OVERFLOW = {"input": given([3e38, -3e38, 1.0, 0.0]), "target": constant(4, value=0.0)}

MSE_CRITERION = Case(
    module="MSECriterion",
    reference=_mse,
    baseline=lambda input, target, sizeAverage=True: F.mse_loss(input, target),
    samples=(*_samples(normal, normal), SampleInput("near overflow", _NEAR_OVERFLOW, differentiable=False)),
    error_inputs=_ERROR_INPUTS,
    rows=(_row("MSECriterion", normal(2**20), normal(2**20), _DISTANCE_GOALS),),
)


def _abs(input: Tensor, target: Tensor, sizeAverage: bool = True) -> Tensor:
    return _reduced(torch.where(input >= target, input - target, target - input), sizeAverage)


ABS_CRITERION = Case(
    module="AbsCriterion",
    reference=_abs,
    baseline=lambda input, target, sizeAverage=True: F.l1_loss(input, target),
    samples=(
        *_samples(normal, normal),
        SampleInput(
            "input is target", {"input": constant(3, value=2.0), "target": constant(3, value=2.0)}, False
        ),
    ),
    error_inputs=_ERROR_INPUTS,
    rows=(_row("AbsCriterion", normal(2**20), normal(2**20), _DISTANCE_GOALS),),
)


def _smooth_l1(input: Tensor, target: Tensor, sizeAverage: bool = True) -> Tensor:
    difference = input - target
    size = difference.abs()
    return _reduced(torch.where(size < 1, 0.5 * difference.square(), size - 0.5), sizeAverage)


_ONE_APART = {"input": given([1.0, 2.0, -1.0, 0.5]), "target": given([0.0, 1.0, 0.0, -0.5])}

SMOOTH_L1_CRITERION = Case(
    module="SmoothL1Criterion",
    reference=_smooth_l1,
    baseline=lambda input, target, sizeAverage=True: F.smooth_l1_loss(input, target),
    samples=(
        *_samples(lambda *shape: normal(*shape, scale=2), normal),
        SampleInput("one apart", _ONE_APART, differentiable=False),
    ),
    error_inputs=_ERROR_INPUTS,
    rows=(_row("SmoothL1Criterion", normal(2**20), normal(2**20), _DISTANCE_GOALS),),
)


def _with_slope(value: Tensor, input: Tensor, slope: Tensor) -> Tensor:
    """`value`, with `slope` as its derivative w.r.t. `input`."""
    return value.detach() + (slope.detach() * (input - input.detach())).sum()


def _bce(input: Tensor, target: Tensor, sizeAverage: bool = True, weights: Tensor | None = None) -> Tensor:
    # Clamped logarithms have a gradient of 0 where they are clamped; BCECriterion's gradient is large there.
    losses = -(target * input.log().clamp(min=-100) + (1 - target) * (-input).log1p().clamp(min=-100))
    slope = (input - target) / (input * (1 - input)).clamp(min=1e-12)
    if weights is not None:
        losses, slope = losses * weights.reshape(input.shape), slope * weights.reshape(input.shape)
    return _with_slope(_reduced(losses, sizeAverage), input, slope / input.numel() if sizeAverage else slope)


def _probabilities(*shape: int) -> Maker:
    return uniform(*shape, low=0.05, high=0.95)


def _somewhere(value: float) -> Maker:
    """Probabilities, one of which is `value`."""

    def maker(generator: torch.Generator) -> Tensor:
        input = _probabilities(4, 5)(generator)
        input[2, 3] = value
        return input

    return maker


_SURE = {
    "input": given([0.0, 0.0, 1.0, 1.0, 1e-30, 0.5, -0.0, -0.0]),
    "target": given([0.0, 1.0, 0.0, 1.0, 0.5, 0.25, 0.0, 1.0]),
}

BCE_CRITERION = Case(
    module="BCECriterion",
    reference=_bce,
    baseline=lambda input, target, sizeAverage=True, weights=None: F.binary_cross_entropy(
        input, target, weights
    ),
    samples=(
        SampleInput(
            "weights",
            {"input": _probabilities(4, 5), "target": _probabilities(4, 5), "weights": normal(4, 5)},
        ),
        *_samples(_probabilities, _probabilities),
        SampleInput(
            "weights of another shape",
            {"input": _probabilities(4, 5), "target": _probabilities(4, 5), "weights": normal(20)},
        ),
        SampleInput("0 and 1", _SURE, differentiable=False),
        SampleInput(
            "many weights",
            {"input": _probabilities(20011), "target": uniform(20011), "weights": normal(20011)},
            differentiable=False,
        ),
    ),
    error_inputs=(
        *_ERROR_INPUTS,
        *(
            ErrorInput(f"input {value}", {"input": _somewhere(value)}, ValueError, "input", on_cuda=False)
            for value in (math.nan, -1e-6, 1.0000001, math.inf, -math.inf)
        ),
        ErrorInput("weights of another size", {"weights": normal(4, 6)}, ValueError, "weights"),
        ErrorInput("one weight", {"weights": normal(1)}, ValueError, "weights"),
    ),
    rows=(_row("BCECriterion", _probabilities(2**20), uniform(2**20), {"ratio": 8}),),
)


def _kl_div(input: Tensor, target: Tensor, sizeAverage: bool = True) -> Tensor:
    is_zero = target <= 0
    losses = target * (target.masked_fill(is_zero, 1).log() - input.masked_fill(is_zero, 0))
    return _reduced(losses.masked_fill(is_zero, 0), sizeAverage)


_NOT_PROBABILITIES = {"input": given([-math.inf, -1.0, -2.0, -3.0]), "target": given([0.0, 0.5, -1.0, 1e-30])}
_WIDE_GOALS = {"ratio": 5, "fraction": 0.5}

DIST_KL_DIV_CRITERION = Case(
    module="DistKLDivCriterion",
    reference=_kl_div,
    baseline=lambda input, target, sizeAverage=True: F.kl_div(input, target, reduction="mean"),
    samples=(
        *_samples(lambda *shape: uniform(*shape, low=-8, high=-4), _probabilities),
        SampleInput("targets at or below 0", _NOT_PROBABILITIES, differentiable=False),
    ),
    error_inputs=_ERROR_INPUTS,
    rows=(_row("DistKLDivCriterion", normal(2**20), uniform(2**20), _WIDE_GOALS),),
)


def _signs(*shape: int) -> Maker:
    """-1 and 1."""

    def maker(generator: torch.Generator) -> Tensor:
        return torch.randint(2, shape, generator=generator).to(torch.float64) * 2 - 1

    return maker


def _margin(input: Tensor, target: Tensor, sizeAverage: bool = True, margin: float = 1) -> Tensor:
    product = input * target
    return _reduced((margin - product).masked_fill(product >= margin, 0), sizeAverage)


_OTHER_MARGIN = {"input": normal(4, 5), "target": _signs(4, 5), "margin": 0.25}
_AT_MARGIN = {"input": given([1.0, -1.0, 2.0, math.nan]), "target": given([1.0, -1.0, 1.0, 1.0])}

MARGIN_CRITERION = Case(
    module="MarginCriterion",
    reference=_margin,
    baseline=lambda input, target, sizeAverage=True, margin=1: F.relu(margin - input * target).mean(),
    samples=(
        *_samples(normal, _signs),
        SampleInput("other margin", _OTHER_MARGIN),
        SampleInput("at the margin", _AT_MARGIN, differentiable=False),
    ),
    error_inputs=_ERROR_INPUTS,
    rows=(_row("MarginCriterion", normal(2**20), _signs(2**20), _WIDE_GOALS),),
)


def _soft_margin(input: Tensor, target: Tensor, sizeAverage: bool = True) -> Tensor:
    product = input * target
    return _reduced(torch.logaddexp(-product, torch.zeros_like(product)), sizeAverage)


_LARGE = {"input": given([800.0, -800.0, 1e30, -1e30, 0.0]), "target": given([1.0, 1.0, 1.0, 1.0, -1.0])}

SOFT_MARGIN_CRITERION = Case(
    module="SoftMarginCriterion",
    reference=_soft_margin,
    baseline=lambda input, target, sizeAverage=True: F.soft_margin_loss(input, target),
    samples=(*_samples(normal, _signs), SampleInput("large", _LARGE, differentiable=False)),
    error_inputs=_ERROR_INPUTS,
    rows=(_row("SoftMarginCriterion", normal(2**20), _signs(2**20), _WIDE_GOALS),),
)


def _bce_with_logits(
    input: Tensor, target: Tensor, sizeAverage: bool = True, weights: Tensor | None = None
) -> Tensor:
    losses = torch.logaddexp(input, torch.zeros_like(input)) - input * target
    return _reduced(losses if weights is None else losses * weights.reshape(input.shape), sizeAverage)


_FAR = {"input": given([800.0, -800.0, 100.0, -100.0, 0.0]), "target": given([1.0, 0.0, 0.0, 1.0, 0.5])}

BCE_WITH_LOGITS_CRITERION = Case(
    module="BCEWithLogitsCriterion",
    reference=_bce_with_logits,
    baseline=lambda input, target, sizeAverage=True, weights=None: F.binary_cross_entropy_with_logits(
        input, target, weights
    ),
    samples=(
        SampleInput(
            "weights",
            {"input": normal(4, 5), "target": _probabilities(4, 5), "weights": normal(4, 5)},
        ),
        *_samples(lambda *shape: normal(*shape, scale=3), _probabilities),
        SampleInput(
            "weights of another shape",
            {"input": normal(4, 5), "target": _probabilities(4, 5), "weights": normal(20)},
        ),
        SampleInput("far from 0", _FAR, differentiable=False),
    ),
    error_inputs=(
        *_ERROR_INPUTS,
        ErrorInput("weights of another size", {"weights": normal(4, 6)}, ValueError, "weights"),
    ),
    rows=(_row("BCEWithLogitsCriterion", normal(2**20), uniform(2**20), _WIDE_GOALS),),
)


def _huber(input: Tensor, target: Tensor, sizeAverage: bool = True, delta: float = 1) -> Tensor:
    difference = input - target
    size = difference.abs()
    losses = torch.where(size <= delta, 0.5 * difference.square(), delta * (size - 0.5 * delta))
    return _reduced(losses, sizeAverage)


_WIDE_DELTA = {"input": normal(4, 5, scale=3), "target": normal(4, 5), "delta": 2.5}

HUBER_CRITERION = Case(
    module="HuberCriterion",
    reference=_huber,
    baseline=lambda input, target, sizeAverage=True, delta=1: F.huber_loss(input, target, delta=delta),
    samples=(
        *_samples(lambda *shape: normal(*shape, scale=2), normal),
        SampleInput("wide", _WIDE_DELTA),
        SampleInput("narrow", {**_WIDE_DELTA, "delta": 0.125, "sizeAverage": False}),
        SampleInput("delta apart", _ONE_APART, differentiable=False),
    ),
    error_inputs=(
        *_ERROR_INPUTS,
        *(
            ErrorInput(f"delta {delta}", {"delta": delta}, ValueError, "delta", phase=phase)
            for delta in (0.0, -1.0, math.nan)
            for phase in ("updateOutput", "updateGradInput")
        ),
    ),
    rows=(_row("HuberCriterion", normal(2**20), normal(2**20), _DISTANCE_GOALS),),
)


def _counts(*shape: int) -> Maker:
    return whole(*shape, high=6)


POISSON_NLL_CRITERION = Case(
    module="PoissonNLLCriterion",
    reference=lambda input, target, sizeAverage=True: _reduced(input.exp() - target * input, sizeAverage),
    baseline=lambda input, target, sizeAverage=True: F.poisson_nll_loss(input, target),
    samples=_samples(normal, _counts),
    error_inputs=_ERROR_INPUTS,
    rows=(_row("PoissonNLLCriterion", normal(2**20), _counts(2**20), _WIDE_GOALS),),
)


def _poisson_rate_nll(input: Tensor, target: Tensor, sizeAverage: bool = True, eps: float = 1e-8) -> Tensor:
    return _reduced(input - target * (input + eps).log(), sizeAverage)


_RATES_OF_0 = {"input": given([0.0, 0.0, 1e-3]), "target": given([0.0, 1.0, 2.0]), "eps": 1e-4}

POISSON_RATE_NLL_CRITERION = Case(
    module="PoissonRateNLLCriterion",
    reference=_poisson_rate_nll,
    baseline=lambda input, target, sizeAverage=True, eps=1e-8: F.poisson_nll_loss(
        input, target, log_input=False, eps=eps
    ),
    samples=(
        *_samples(lambda *shape: uniform(*shape, low=0.2, high=5), _counts),
        SampleInput("rates of 0", _RATES_OF_0, differentiable=False),
    ),
    error_inputs=_ERROR_INPUTS,
    rows=(_row("PoissonRateNLLCriterion", uniform(2**20, low=0.2, high=5), _counts(2**20), _WIDE_GOALS),),
)


def _margin_ranking(input: Tensor, target: Tensor, sizeAverage: bool = True, margin: float = 0) -> Tensor:
    product = input * target
    return _reduced((margin - product).masked_fill(product > margin, 0), sizeAverage)


MARGIN_RANKING_CRITERION = Case(
    module="MarginRankingCriterion",
    reference=_margin_ranking,
    samples=(
        *_samples(normal, _signs),
        SampleInput("other margin", _OTHER_MARGIN),
        SampleInput("at the margin", {**_AT_MARGIN, "margin": 1.0}, differentiable=False),
    ),
    error_inputs=_ERROR_INPUTS,
    rows=(_row("MarginRankingCriterion", normal(2**20), _signs(2**20), _WIDE_GOALS),),
)


def _hinge_embedding(input: Tensor, target: Tensor, sizeAverage: bool = True, margin: float = 1) -> Tensor:
    similar = input.masked_fill(target == -1, 0)
    other = (margin - input).masked_fill((target == 1) | (input > margin), 0)
    return _reduced(similar + other, sizeAverage)


HINGE_EMBEDDING_CRITERION = Case(
    module="HingeEmbeddingCriterion",
    reference=_hinge_embedding,
    baseline=lambda input, target, sizeAverage=True, margin=1: F.hinge_embedding_loss(input, target, margin),
    samples=(
        *_samples(normal, _signs),
        SampleInput("other margin", _OTHER_MARGIN),
        SampleInput("other targets", {"input": normal(4, 5), "target": whole(4, 5)}),
        SampleInput("at the margin", {**_AT_MARGIN, "target": given([-1.0, -1.0, 1.0, 0.0])}, False),
    ),
    error_inputs=_ERROR_INPUTS,
    rows=(_row("HingeEmbeddingCriterion", normal(2**20), _signs(2**20), _WIDE_GOALS),),
)


def _without_target(sample: SampleInput) -> SampleInput:
    return SampleInput(sample.name, {"input": sample.arguments["input"]}, sample.differentiable)


L1_COST = Case(
    module="L1Cost",
    reference=lambda input: input.abs().sum(),
    samples=(
        *(_without_target(s) for s in _samples(normal, normal) if "sizeAverage" not in s.arguments),
        SampleInput("zeros", {"input": given([0.0, -0.0, 1.0, -2.0])}, differentiable=False),
    ),
    rows=(
        Row(
            "L1Cost 1M",
            SampleInput("row", {"input": normal(2**20)}),
            ratio=0.95,
            bytes_moved={"fwd": 4.0 * 2**20, "fb": 12.0 * 2**20},
        ),
    ),
)


def _class_nll(
    input: Tensor,
    target: Tensor,
    sizeAverage: bool = True,
    ignore_index: int = -100,
    weights: Tensor | None = None,
) -> tuple[Tensor, dict[str, Tensor]]:
    rows, targets = input.reshape(-1, input.shape[-1]), target.reshape(-1)
    counted = targets != ignore_index
    known = targets.where(counted, 0)
    weight = input.new_ones(input.shape[-1]) if weights is None else weights
    weight = weight[known] * counted
    total = weight.sum()
    losses = -(weight * rows.gather(1, known[:, None]).squeeze(1)) if len(rows) else rows.sum(1)
    output = losses.sum()
    if sizeAverage and total != 0:
        output = output / total
    if not total > 0:
        output = _with_slope(output, input, torch.zeros_like(input))
    return output, {"total_weight": total}


def _nll(
    name: str,
    *,
    weights: Maker | None = None,
    target: Maker | None = None,
    small: bool = True,
    **scalars: Any,
) -> SampleInput:
    return SampleInput(
        name,
        {"input": normal(6, 5), "target": target or classes(6, count=5), "weights": weights, **scalars},
        differentiable=small,
    )


_TARGETS = [2, 0, 4, 1, 1, 3]


def _targets(last: int) -> Maker:
    return given([*_TARGETS[:-1], last], torch.int64)


CLASS_NLL_CRITERION = Case(
    module="ClassNLLCriterion",
    reference=_class_nll,
    baseline=lambda input, target, sizeAverage=True, ignore_index=-100, weights=None: F.nll_loss(
        input, target, weights
    ),
    samples=(
        _nll("weights", weights=uniform(5, low=0.5, high=2)),
        _nll("batch"),
        _nll("sum", sizeAverage=False),
        _nll("sum of weights", weights=uniform(5, low=0.5, high=2), sizeAverage=False),
        _nll("ignored class", target=given(_TARGETS, torch.int64), ignore_index=1),
        _nll("ignored targets", target=_targets(-100), weights=uniform(5)),
        _nll("all ignored", target=given([-100] * 6, torch.int64)),
        _nll("all ignored, sum", target=given([-100] * 6, torch.int64), sizeAverage=False),
        _nll("largest ignore_index", target=_targets(2**63 - 1), ignore_index=2**63 - 1),
        _nll("weights 0", weights=constant(5)),
        _nll("weights below 0", weights=constant(5, value=-1.0), small=False),
        SampleInput("vector", {"input": normal(5), "target": classes(1, count=5)}),
        SampleInput(
            "vector with weights", {"input": normal(5), "target": classes(1, count=5), "weights": uniform(5)}
        ),
        SampleInput("vector, sum", {"input": normal(5), "target": classes(1, count=5), "sizeAverage": False}),
        SampleInput("vector, target without dimensions", {"input": normal(5), "target": classes(count=5)}),
        SampleInput("vector, ignored", {"input": normal(5), "target": given([-100], torch.int64)}),
        SampleInput("batch of one", {"input": normal(1, 5), "target": classes(1, count=5)}),
        SampleInput("one class", {"input": normal(4, 1), "target": classes(4, count=1)}),
        SampleInput("empty", {"input": normal(0, 5), "target": classes(0, count=5)}),
        SampleInput(
            "many rows", {"input": normal(4001, 9), "target": classes(4001, count=9)}, differentiable=False
        ),
        SampleInput(
            "many classes",
            {"input": normal(37, 1003), "target": classes(37, count=1003)},
            differentiable=False,
        ),
    ),
    error_inputs=(
        *(
            ErrorInput(f"target {value}", {"target": _targets(value)}, IndexError, "target", phase=phase)
            for phase in ("updateOutput", "updateGradInput")
            for value in (5, -1, -101, 2**31, 2**32, 2**63 - 1, -(2**63))
        ),
        ErrorInput("-100 when another is ignored", {"target": _targets(-100), "ignore_index": 1}, IndexError),
        ErrorInput("three dimensions", {"input": normal(2, 3, 5)}, ValueError, "input"),
        ErrorInput("no dimensions", {"input": normal()}, ValueError, "input"),
        ErrorInput("target a matrix", {"target": classes(6, 1, count=5)}, ValueError, "target"),
        ErrorInput("target of another size", {"target": classes(5, count=5)}, ValueError, "target"),
        ErrorInput("several targets of a vector", {"input": normal(5)}, ValueError, "target"),
        ErrorInput("weights a matrix", {"weights": uniform(1, 5)}, ValueError, "weights"),
        ErrorInput("one weight", {"weights": uniform(1)}, ValueError, "weights"),
        ErrorInput("no classes", {"input": normal(6, 0), "weights": None}, (IndexError, ValueError)),
        ErrorInput(
            "two total_weights", {"total_weight": normal(2)}, ValueError, "total_weight", "updateGradInput"
        ),
    ),
    rows=(
        Row(
            "ClassNLLCriterion (256,1000)",
            SampleInput("row", {"input": normal(256, 1000), "target": classes(256, count=1000)}),
            bytes_moved={"fwd": 256.0 * 12, "fb": 256.0 * 20 + 4 * 256 * 1000},
        ),
    ),
)
