"""Lookup tables."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import classes, given, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def _lookup(input: Tensor, weight: Tensor, scaleGradByFreq: bool = False, paddingValue: int = -1) -> Tensor:
    padding = paddingValue if 0 <= paddingValue < len(weight) else None
    return F.embedding(input, weight, padding, scale_grad_by_freq=scaleGradByFreq)


def _sample(
    name: str, *shape: int, rows: int, columns: int, small: bool = True, **settings: Any
) -> SampleInput:
    arguments = {"input": classes(*shape, count=rows), "weight": normal(rows, columns), **settings}
    return SampleInput(name, arguments, differentiable=small)


_ROW_BYTES = 4 * 256

LOOKUP_TABLE = Case(
    module="LookupTable",
    reference=_lookup,
    any_size={"weight": (0, 1), "gradWeight": (0,)},
    samples=(
        _sample("batch", 4, 5, rows=6, columns=7),
        _sample("batchless", 9, rows=4, columns=3),
        _sample("three dimensions", 2, 3, 4, rows=5, columns=2),
        _sample("one index", rows=5, columns=3),
        _sample("padding", 3, 6, rows=4, columns=3, paddingValue=2, small=False),
        _sample("by frequency", 3, 6, rows=4, columns=5, scaleGradByFreq=True, small=False),
        _sample(
            "by frequency, padding", 20, rows=3, columns=2, scaleGradByFreq=True, paddingValue=0, small=False
        ),
        _sample("one row", 5, rows=1, columns=4),
        _sample("one column", 5, 2, rows=7, columns=1),
        _sample("sizes 1", 1, 1, rows=1, columns=1),
        _sample("no columns", 3, rows=4, columns=0),
        _sample("duplicates", 1000, rows=3, columns=37, small=False),
        _sample("wide rows", 50, 3, rows=29, columns=531, small=False),
        _sample("several chunks", 70001, rows=211, columns=5, small=False, scaleGradByFreq=True),
        _sample("long table", 5000, rows=140000, columns=2, small=False, scaleGradByFreq=True),
        SampleInput(
            "not finite",
            {"input": classes(6, count=2), "weight": given([[math.nan, 1.0], [math.inf, -math.inf]])},
            differentiable=False,
        ),
        _sample("empty", 0, 5, rows=6, columns=4),
        SampleInput("empty table", {"input": classes(0, count=1), "weight": normal(0, 3)}),
    ),
    error_inputs=(
        ErrorInput(
            "row below 0", {"input": given([0, -1], torch.int64)}, IndexError, "input.*-1 at position 1"
        ),
        ErrorInput("row beyond the table", {"input": given([[0, 6]], torch.int64)}, IndexError, "input"),
        ErrorInput("huge row", {"input": given([2**62], torch.int64)}, IndexError, "input"),
        ErrorInput("a vector", {"weight": normal(6)}, ValueError, "weight"),
        ErrorInput("a volume", {"weight": normal(6, 7, 1)}, ValueError, "weight"),
        ErrorInput(
            "row beyond the table",
            {"input": given([[6] * 5] * 4, torch.int64)},
            IndexError,
            "input",
            "accGradParameters",
        ),
        ErrorInput("a vector", {"gradWeight": normal(6)}, ValueError, "gradWeight", "accGradParameters"),
        ErrorInput(
            "other columns", {"gradOutput": normal(4, 5, 6)}, ValueError, "gradOutput", "accGradParameters"
        ),
        ErrorInput(
            "rows of another batch",
            {"gradOutput": normal(5, 3, 7)},
            ValueError,
            "gradOutput",
            "accGradParameters",
        ),
    ),
    rows=(
        Row(
            "LookupTable 10000x256 (64,50)",
            _sample("row", 64, 50, rows=10000, columns=256),
            ratio=1.3,
            fraction=0.5,
            # The gradient is zeroed, and the rows in the batch (2,740 of 3,200 differ) are read and written.
            bytes_moved={
                "fwd": 2.0 * 3200 * _ROW_BYTES,
                "fb": (3 * 3200 + 10000 + 2 * 2740) * float(_ROW_BYTES),
            },
        ),
    ),
)


def _renorm(idx: Tensor, weight: Tensor, maxNorm: float, normType: float) -> dict[str, Tensor]:
    norms = weight.norm(normType, 1) if weight.numel() else weight.new_zeros(len(weight))
    named = torch.zeros(len(weight), dtype=torch.bool).index_fill(0, idx.flatten(), True)
    factor = torch.where(named & (norms > maxNorm), maxNorm / (norms + 1e-7), 1.0)
    return {"weight": weight * factor.unsqueeze(1)}


def _renorm_sample(
    name: str, *shape: int, rows: int, columns: int, max_norm: float = 1.5, p: float = 2.0, small: bool = True
) -> SampleInput:
    arguments = {"idx": classes(*shape, count=rows), "weight": normal(rows, columns)}
    return SampleInput(name, {**arguments, "maxNorm": max_norm, "normType": p}, differentiable=small)


LOOKUP_TABLE_RENORM = Case(
    module="LookupTable",
    phase="renorm",
    reference=_renorm,
    any_size={"weight": (0, 1)},
    samples=(
        _renorm_sample("p 2", 5, rows=6, columns=4),
        _renorm_sample("p 1", 4, 2, rows=6, columns=4, p=1.0),
        _renorm_sample("p 0.5", 4, rows=5, columns=3, p=0.5),
        _renorm_sample("p 3", 4, rows=5, columns=3, p=3.0, max_norm=0.5),
        _renorm_sample("largest", 4, rows=5, columns=3, p=math.inf, max_norm=0.5),
        _renorm_sample("norm 0", 4, rows=5, columns=3, max_norm=0.0),
        _renorm_sample("sizes 1", 1, rows=1, columns=1, max_norm=0.1),
        _renorm_sample("many rows", 3000, rows=2000, columns=17, small=False),
        _renorm_sample("empty", 0, rows=5, columns=3),
    ),
    error_inputs=(
        ErrorInput("row beyond the table", {"idx": given([6], torch.int64)}, IndexError, "idx"),
        ErrorInput("row below 0", {"idx": given([0, -6], torch.int64)}, IndexError, "idx"),
        ErrorInput("a vector", {"weight": normal(6)}, ValueError, "weight"),
        ErrorInput("exponent 0", {"normType": 0.0}, ValueError, "normType"),
        ErrorInput("exponent NaN", {"normType": math.nan}, ValueError, "normType"),
        ErrorInput("norm below 0", {"maxNorm": -1.0}, ValueError, "maxNorm"),
    ),
)


def _bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    mode: int = 0,
    scaleGradByFreq: bool = False,
    paddingValue: int = -1,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Bag by bag, since torch's function does not take NaN and, if no gradient is required, does not return the rows of
    maxima."""
    if offsets is None:
        bags = [*input]
    else:
        ends = [*offsets.tolist()[1:], len(input)]
        bags = [input[begin:end] for begin, end in zip(offsets.tolist(), ends)]
    columns, outputs, positions = weight.shape[1], [], []
    count = torch.bincount(input.flatten(), minlength=len(weight))
    bags = [bag[bag != paddingValue] for bag in bags]
    for bag in bags:
        rows = weight[bag]
        if scaleGradByFreq:  # the value of `rows`, with the gradient divided by the counts
            rows = rows.detach() + (rows - rows.detach()) / count[bag].unsqueeze(1)
        index = torch.full((columns,), -1)
        if mode == 2 and len(bag):
            largest, position = rows.max(0)
            index = bag[position]
            outputs.append(largest)
        elif mode == 1 and len(bag):
            outputs.append(rows.mean(0))
        else:
            outputs.append(rows.sum(0))
        positions.append(index)
    output = torch.stack(outputs) if outputs else weight.sum() * weight.new_zeros(0, columns)
    sizes = torch.tensor([len(bag) for bag in bags], dtype=torch.int64)
    indices = (
        torch.stack(positions) if positions and mode == 2 else torch.zeros(0, columns, dtype=torch.int64)
    )
    return output, {"bagSize": sizes, "maxIndices": indices}


def _torch_bag(input: Tensor, offsets: Tensor, weight: Tensor, mode: int = 0) -> Tensor:
    return F.embedding_bag(input, weight, offsets, mode=("sum", "mean", "max")[mode])


def _bag_sample(
    name: str,
    *shape: int,
    rows: int,
    columns: int,
    offsets: list[int] | None = None,
    small: bool = True,
    **settings: Any,
) -> SampleInput:
    arguments: dict[str, Any] = {
        "input": classes(*shape, count=rows),
        "weight": normal(rows, columns),
        **settings,
    }
    arguments["offsets"] = None if offsets is None else given(offsets, torch.int64)
    return SampleInput(name, arguments, differentiable=small)


_OFFSETS = [0, 2, 2, 7]


def _bag_row(mode: int, name: str) -> Row:
    sample = _bag_sample("row", 3200, rows=10000, columns=256, offsets=[*range(0, 3200, 50)], mode=mode)
    return Row(f"LookupTableBag {name} 10000x256 (64 x 50)", sample)


LOOKUP_TABLE_BAG = Case(
    module="LookupTableBag",
    reference=_bag,
    baseline=_torch_bag,
    any_size={"weight": (0, 1), "gradWeight": (0, 1)},
    samples=(
        _bag_sample("sum", 9, rows=6, columns=5, offsets=_OFFSETS),
        _bag_sample("mean", 9, rows=6, columns=5, offsets=_OFFSETS, mode=1),
        _bag_sample("max", 9, rows=6, columns=5, offsets=_OFFSETS, mode=2),
        _bag_sample("sum of a matrix", 3, 4, rows=6, columns=5),
        _bag_sample("mean of a matrix", 3, 4, rows=6, columns=5, mode=1),
        _bag_sample("max of a matrix", 3, 4, rows=6, columns=5, mode=2),
        _bag_sample("padding, sum", 9, rows=3, columns=5, offsets=_OFFSETS, paddingValue=1),
        _bag_sample("padding, mean", 9, rows=3, columns=5, offsets=_OFFSETS, mode=1, paddingValue=1),
        _bag_sample("padding, max", 9, rows=3, columns=5, offsets=_OFFSETS, mode=2, paddingValue=1),
        _bag_sample(
            "by frequency", 9, rows=3, columns=5, offsets=_OFFSETS, scaleGradByFreq=True, small=False
        ),
        _bag_sample(
            "mean by frequency",
            9,
            rows=3,
            columns=5,
            offsets=_OFFSETS,
            mode=1,
            scaleGradByFreq=True,
            small=False,
        ),
        _bag_sample("one bag", 7, rows=6, columns=3, offsets=[0], mode=1),
        _bag_sample("empty bags", 3, rows=6, columns=3, offsets=[0, 0, 0, 3, 3], mode=2),
        _bag_sample("empty bags, mean", 3, rows=6, columns=3, offsets=[0, 0, 0, 3, 3], mode=1),
        _bag_sample("sizes 1", 1, 1, rows=1, columns=1),
        _bag_sample(
            "many", 40000, rows=300, columns=19, offsets=[*range(0, 40000, 700)], mode=1, small=False
        ),
        _bag_sample(
            "many maxima", 4000, rows=300, columns=19, offsets=[*range(0, 4000, 70)], mode=2, small=False
        ),
        _bag_sample("long bags", 3000, rows=50, columns=24, offsets=[0, 2900], mode=1, small=False),
        SampleInput(
            "long bags with equal maxima",
            {
                "input": classes(900, count=5),
                "weight": given([[0.0, math.nan], [3.0, 1.0], [3.0, math.nan], [-1.0, math.inf], [3.0, 2.0]]),
                "offsets": given([0, 50, 300], torch.int64),
                "mode": 2,
            },
            differentiable=False,
        ),
        SampleInput(
            "not finite",
            {
                "input": given([[0, 1], [2, 0], [1, 1]], torch.int64),
                "weight": given([[1.0, 2.0], [math.nan, math.inf], [0.0, -math.inf]]),
                "mode": 2,
            },
            differentiable=False,
        ),
        _bag_sample("no columns", 3, 2, rows=4, columns=0),
        _bag_sample("empty", 0, rows=6, columns=5, offsets=[0, 0]),
        _bag_sample("no bags", 0, rows=6, columns=5, offsets=[]),
        _bag_sample("bags of nothing", 3, 0, rows=6, columns=5),
    ),
    error_inputs=(
        ErrorInput("row below 0", {"input": given([-1] * 9, torch.int64)}, IndexError, "input"),
        ErrorInput("row beyond the table", {"input": given([6] * 9, torch.int64)}, IndexError, "input"),
        ErrorInput(
            "first offset above 0", {"offsets": given([1, 2, 2, 7], torch.int64)}, IndexError, "offsets"
        ),
        ErrorInput("offsets decrease", {"offsets": given([0, 3, 2, 7], torch.int64)}, IndexError, "offsets"),
        ErrorInput(
            "offset beyond input", {"offsets": given([0, 2, 2, 10], torch.int64)}, IndexError, "offsets"
        ),
        ErrorInput("no offsets", {"offsets": given([], torch.int64)}, ValueError, "offsets"),
        ErrorInput("offsets a matrix", {"offsets": given([_OFFSETS], torch.int64)}, ValueError, "offsets"),
        ErrorInput("input a matrix", {"input": given([[0, 1]], torch.int64)}, ValueError, "input"),
        ErrorInput("input a vector", {"offsets": None}, ValueError, "input"),
        ErrorInput("mode 3", {"mode": 3}, ValueError, "mode"),
        ErrorInput("mode below 0", {"mode": -1}, ValueError, "mode"),
        ErrorInput("max by frequency", {"mode": 2, "scaleGradByFreq": True}, ValueError, "scaleGradByFreq"),
        ErrorInput("weight a vector", {"weight": normal(6)}, ValueError, "weight"),
        ErrorInput(
            "sizes of one bag",
            {"bagSize": given([1], torch.int64)},
            ValueError,
            "bagSize",
            "accGradParameters",
        ),
        ErrorInput(
            "sizes of other bags",
            {"bagSize": given([9, 9, 9, 9], torch.int64)},
            IndexError,
            "bagSize",
            "accGradParameters",
        ),
        ErrorInput(
            "rows beyond the table",
            {"maxIndices": given([[6] * 5] * 4, torch.int64)},
            IndexError,
            "maxIndices",
            "accGradParameters",
            of=2,
        ),
    ),
    rows=(_bag_row(0, "sum"), _bag_row(2, "max")),
)
