"""Criteria of class numbers: SpatialClassNLLCriterion, MultiMarginCriterion, MultiLabelMarginCriterion."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from thnn.testing.cases.criterion import CLASS_NLL_CRITERION
from thnn.testing.cases.makers import classes, constant, given, normal, uniform
from thnn.testing.cases.model import Case, ErrorInput, Maker, Row, SampleInput


def _spatial_nll(
    input: Tensor,
    target: Tensor,
    sizeAverage: bool = True,
    ignore_index: int = -100,
    weights: Tensor | None = None,
) -> Any:
    rows = input.movedim(1, -1).reshape(-1, input.shape[1])
    return CLASS_NLL_CRITERION.reference(rows, target.reshape(-1), sizeAverage, ignore_index, weights)


def _pixels(name: str, *shape: int, small: bool = True, **arguments: Any) -> SampleInput:
    target = classes(shape[0], *shape[2:], count=shape[1])
    return SampleInput(name, {"input": normal(*shape), "target": target, **arguments}, differentiable=small)


def _pixels_with(*values: int) -> Maker:
    """Classes 0 to 2 of (2, 4, 5) pixels, some of which have the given values."""

    def maker(generator: Generator) -> Tensor:
        target = classes(2, 4, 5, count=3)(generator)
        for k, value in enumerate(values):
            target[k % 2, k % 4, (3 * k + 2) % 5] = value
        return target

    return maker


SPATIAL_CLASS_NLL_CRITERION = Case(
    module="SpatialClassNLLCriterion",
    reference=_spatial_nll,
    baseline=lambda input, target, sizeAverage=True, ignore_index=-100, weights=None: F.nll_loss(
        # torch's backward needs a contiguous input.
        input.contiguous(),
        target,
        weights,
    ),
    samples=(
        _pixels("weights", 2, 3, 4, 5, weights=uniform(3, low=0.5, high=2)),
        _pixels("images", 2, 3, 4, 5),
        _pixels("sum", 2, 3, 4, 5, sizeAverage=False),
        _pixels("ignored class", 2, 3, 4, 5, ignore_index=1),
        _pixels("ignored pixels", 2, 3, 4, 5, target=_pixels_with(-100, -100, -100), weights=uniform(3)),
        _pixels("all ignored", 2, 3, 4, 5, target=given([[[-100] * 5] * 4] * 2, torch.int64)),
        _pixels("weights 0", 2, 3, 4, 5, weights=constant(3)),
        _pixels("weights below 0", 2, 3, 4, 5, weights=constant(3, value=-1.0), small=False),
        _pixels("one class", 2, 1, 4, 5),
        _pixels("sizes 1", 1, 3, 1, 1),
        _pixels("empty", 0, 3, 2, 2),
        _pixels("many pixels", 2, 5, 61, 53, small=False),
        _pixels("wide rows", 1, 3, 3, 1301, small=False),
        _pixels("many classes", 1, 300, 7, 9, small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(
                f"target {value}", {"target": _pixels_with(0, value)}, IndexError, "target", phase=phase
            )
            for phase in ("updateOutput", "updateGradInput")
            for value in (3, -1, 2**31, 2**32, 2**63 - 1, -(2**63))
        ),
        ErrorInput("three dimensions", {"input": normal(3, 4, 5)}, ValueError, "input"),
        ErrorInput("target of another size", {"target": classes(2, 4, 6, count=3)}, ValueError, "target"),
        ErrorInput("a target with channels", {"target": classes(2, 1, 4, 5, count=3)}, ValueError, "target"),
        ErrorInput("weights a matrix", {"weights": uniform(1, 3)}, ValueError, "weights"),
        ErrorInput(
            "two total_weights", {"total_weight": normal(2)}, ValueError, "total_weight", "updateGradInput"
        ),
    ),
    rows=(
        Row(
            "SpatialClassNLLCriterion (8,21,256,256)",
            SampleInput("row", {"input": normal(8, 21, 256, 256), "target": classes(8, 256, 256, count=21)}),
            ratio=3,
            fraction=0.5,
            bytes_moved={"fwd": 8.0 * 256 * 256 * 12, "fb": 8.0 * 256 * 256 * (20 + 4 * 21)},
        ),
    ),
)


def _multi_margin(
    input: Tensor,
    target: Tensor,
    sizeAverage: bool = True,
    p: int = 1,
    weights: Tensor | None = None,
    margin: float = 1,
) -> Tensor:
    rows, targets = input.reshape(-1, input.shape[-1]), target.reshape(-1)
    terms = margin - rows.gather(1, targets[:, None]) + rows
    terms = terms.masked_fill(terms <= 0, 0).pow(p)
    if weights is not None:
        terms = terms * weights[targets][:, None]
    is_target = torch.nn.functional.one_hot(targets, rows.shape[1]).bool() if len(rows) else terms.bool()
    losses = terms.masked_fill(is_target, 0).sum(1) / rows.shape[1]
    return losses.mean() if sizeAverage else losses.sum()


def _multi(name: str, *shape: int, small: bool = True, **arguments: Any) -> SampleInput:
    target = classes(shape[0] if len(shape) == 2 else 1, count=shape[-1])
    return SampleInput(name, {"input": normal(*shape), "target": target, **arguments}, differentiable=small)


MULTI_MARGIN_CRITERION = Case(
    module="MultiMarginCriterion",
    reference=_multi_margin,
    baseline=lambda input, target, sizeAverage=True, p=1, weights=None, margin=1: F.multi_margin_loss(
        input, target, p, margin, weights
    ),
    samples=(
        _multi("weights", 4, 5, weights=uniform(5, low=0.5, high=2)),
        _multi("batch", 4, 5),
        _multi("sum", 4, 5, sizeAverage=False),
        _multi("squares", 4, 5, p=2, margin=0.75),
        _multi("squares with weights", 4, 5, p=2, weights=uniform(5), sizeAverage=False),
        _multi("margin below 0", 4, 5, margin=-0.5),
        _multi("vector", 7),
        _multi("vector with weights", 7, weights=uniform(7), p=2),
        SampleInput("vector, target without dimensions", {"input": normal(5), "target": classes(count=5)}),
        _multi("one class", 3, 1),
        _multi("sizes 1", 1, 5),
        _multi("empty", 0, 5),
        _multi("empty sum", 0, 5, sizeAverage=False),
        _multi("many classes", 37, 1003, small=False),
        _multi("many rows", 2500, 9, p=2, small=False),
        SampleInput(
            "not finite",
            {
                "input": given([[math.nan, 1.0, 0.0], [-math.inf, 1.0, 0.0], [1.0, 0.5, 0.0]]),
                "target": given([1, 2, 0], torch.int64),
            },
            differentiable=False,
        ),
    ),
    error_inputs=(
        *(
            ErrorInput(
                f"target {value}",
                {"target": given([0, 1, value, 2], torch.int64)},
                IndexError,
                "target",
                phase,
            )
            for phase in ("updateOutput", "updateGradInput")
            for value in (5, -1, 2**32, 2**63 - 1, -(2**63))
        ),
        ErrorInput("p 3", {"p": 3}, ValueError, "p"),
        ErrorInput("p 0", {"p": 0}, ValueError, "p", phase="updateGradInput"),
        ErrorInput("three dimensions", {"input": normal(2, 3, 5)}, ValueError, "input"),
        ErrorInput("no dimensions", {"input": normal()}, ValueError, "input"),
        ErrorInput("target a matrix", {"target": classes(4, 1, count=5)}, ValueError, "target"),
        ErrorInput("several targets of a vector", {"input": normal(5)}, ValueError, "target"),
        ErrorInput("weights a matrix", {"weights": uniform(1, 5)}, ValueError, "weights"),
        ErrorInput("one weight", {"weights": uniform(1)}, ValueError, "weights"),
    ),
    rows=(
        Row(
            "MultiMarginCriterion (1024,1000)",
            SampleInput("row", {"input": normal(1024, 1000), "target": classes(1024, count=1000)}),
            ratio=8,
            fraction=0.3,
            bytes_moved={"fwd": 4.0 * 1024 * 1000, "fb": 12.0 * 1024 * 1000},
        ),
    ),
)


def _multi_label(input: Tensor, target: Tensor, sizeAverage: bool = True) -> tuple[Tensor, dict[str, Tensor]]:
    rows, targets = input.reshape(-1, input.shape[-1]), target.reshape(-1, input.shape[-1])
    mask = torch.zeros_like(rows)
    losses = rows.masked_fill(mask == 0, 0).sum()  # 0, with a gradient
    for n, (row, listed) in enumerate(zip(rows, targets.tolist())):
        labels = listed[: listed.index(-1)] if -1 in listed else listed
        mask[n, labels] = 1
        others = row[mask[n] == 0]
        for label in labels:
            terms = 1 - row[label] + others
            losses = losses + terms.masked_fill(terms <= 0, 0).sum() / len(row)
    return losses / len(rows) if sizeAverage else losses, {"isTarget": mask.reshape(input.shape)}


def _labels(*shape: int, most: int = 3) -> Maker:
    """Rows of up to `most` classes, then -1, which ends the list, then any classes."""

    def maker(generator: Generator) -> Tensor:
        target = classes(*shape, count=shape[-1])(generator)
        ends = torch.randint(most + 1, (*shape[:-1], 1), generator=generator)
        return target.masked_fill(torch.arange(shape[-1]) == ends, -1)

    return maker


def _label_sample(name: str, *shape: int, most: int = 3, small: bool = True, **scalars: Any) -> SampleInput:
    arguments = {"input": normal(*shape), "target": _labels(*shape, most=most), **scalars}
    return SampleInput(name, arguments, differentiable=small)


def _label_error(name: str, label: int, phase: str) -> ErrorInput:
    target = [[0, 1, -1, -1, 9], [2, label, -1, 0, 0], [-1, 7, 7, 7, 7], [3, 3, 3, 3, -1]]
    return ErrorInput(name, {"target": given(target, torch.int64)}, IndexError, "target", phase)


MULTI_LABEL_MARGIN_CRITERION = Case(
    module="MultiLabelMarginCriterion",
    reference=_multi_label,
    baseline=lambda input, target, sizeAverage=True: F.multilabel_margin_loss(input, target),
    samples=(
        _label_sample("batch", 4, 5),
        _label_sample("sum", 4, 5, sizeAverage=False),
        _label_sample("vector", 7),
        _label_sample("sizes 1", 1, 5),
        _label_sample("one class", 3, 1, most=1),
        _label_sample("no labels", 3, 5, most=0),
        SampleInput(
            "twice and behind the end",
            {
                "input": normal(3, 4),
                "target": given([[1, 1, -1, 99], [0, 1, 2, 3], [-1, -5, 77, 2**40]], torch.int64),
            },
        ),
        SampleInput(
            "targets of -infinity and NaN",
            {
                "input": given(
                    [[-math.inf, 1.0, 0.5, 2.0], [0.0, -math.inf, 3.0, -math.inf], [math.nan, 1.0, 2.0, 0.5]]
                ),
                "target": given([[0, 2, -1, 0], [3, 2, 1, 0], [0, 1, -1, 0]], torch.int64),
            },
            differentiable=False,
        ),
        SampleInput(
            "NaN in a row of targets alone",
            {
                "input": given([[math.nan, 1.0], [0.5, 1.0]]),
                "target": given([[1, 0], [0, -1]], torch.int64),
            },
            differentiable=False,
        ),
        _label_sample("empty", 0, 5),
        _label_sample("empty sum", 0, 5, sizeAverage=False),
        _label_sample("many classes", 5, 4999, most=20, small=False),
        _label_sample("many rows", 1500, 9, small=False),
    ),
    error_inputs=(
        *(
            _label_error(f"label {label}", label, phase)
            for phase in ("updateOutput", "updateGradInput")
            for label in (5, -2, 2**32, 2**63 - 1, -(2**63))
        ),
        ErrorInput("three dimensions", {"input": normal(2, 3, 5)}, ValueError, "input"),
        ErrorInput("no dimensions", {"input": normal()}, ValueError, "input"),
        ErrorInput("a class per row", {"target": classes(4, count=5)}, ValueError, "target"),
    ),
    rows=(
        Row(
            "MultiLabelMarginCriterion (1024,1000)",
            SampleInput("row", {"input": normal(1024, 1000), "target": _labels(1024, 1000, most=10)}),
            ratio=8,
            fraction=0.3,
            # The targets are read up to the first -1.
            bytes_moved={"fwd": 8.0 * 1024 * 1000, "fb": 20.0 * 1024 * 1000},
        ),
    ),
)
