"""Criteria: any sizes, strides and types; targets of any values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import check, dtypes, layouts, shapes

import thnn
from thnn.testing.cases.makers import classes, normal, uniform
from thnn.testing.cases.model import Maker


def probabilities(*shape: int) -> Maker:
    return uniform(*shape, low=0.02, high=0.98)


DISTANCES: dict[str, tuple[Callable[..., Maker], Callable[..., Maker]]] = {
    "MSECriterion": (normal, normal),
    "AbsCriterion": (normal, normal),
    "SmoothL1Criterion": (functools.partial(normal, scale=2.0), normal),
    "BCECriterion": (probabilities, uniform),
}


@pytest.mark.parametrize("module", DISTANCES)
@given(
    shape=shapes(0, 5, st.integers(0, 9)),
    sizeAverage=st.booleans(),
    weights=st.booleans(),
    dtype=dtypes,
    enter=layouts,
)
def test_distances(
    module: str, shape: tuple[int, ...], sizeAverage: bool, weights: bool, dtype: torch.dtype, enter: Any
) -> None:
    input, target = DISTANCES[module]
    arguments = {"input": input(*shape), "target": target(*shape), "sizeAverage": sizeAverage}
    if module == "BCECriterion" and weights:
        arguments["weights"] = uniform(*shape)
    check(module, arguments, dtype, enter)


@given(
    rows=st.one_of(st.none(), st.integers(0, 50)),
    count=st.integers(1, 20),
    ignored=st.integers(-2, 22),
    sizeAverage=st.booleans(),
    weights=st.booleans(),
    dtype=dtypes,
    enter=layouts,
)
def test_class_nll(
    rows: int | None,
    count: int,
    ignored: int,
    sizeAverage: bool,
    weights: bool,
    dtype: torch.dtype,
    enter: Any,
) -> None:
    arguments = {
        "input": normal(count) if rows is None else normal(rows, count),
        "target": classes(1 if rows is None else rows, count=count),
        "ignore_index": ignored,
        "sizeAverage": sizeAverage,
        "weights": uniform(count, low=0.1) if weights else None,
    }
    check("ClassNLLCriterion", arguments, dtype, enter)


@given(
    targets=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 6), min_size=1, max_size=9),
    ignored=st.integers(-2, 6),
)
@settings(max_examples=100)
def test_targets_are_classes_or_refused(targets: list[int], ignored: int) -> None:
    target = torch.tensor(targets)
    fits = all(0 <= t < 5 or t == ignored for t in targets)
    input = torch.randn(len(targets), 5)
    if fits:
        assert thnn.ClassNLLCriterionFunction.apply(input, target, None, True, ignored).isfinite()
    else:
        with pytest.raises(IndexError, match="ClassNLLCriterion_updateOutput: target: "):
            thnn.ClassNLLCriterionFunction.apply(input, target, None, True, ignored)
