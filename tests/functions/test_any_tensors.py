"""Tensors of any sizes, strides and values, and integers of any size, in place of the arguments of a sample: each
function computes or refuses them, with an error that names the function. `make fuzz` runs it under AddressSanitizer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import thnn
from thnn._header import Function
from thnn.testing.case_runner import CaseRunner, written
from thnn.testing.cases import cases
from thnn.testing.cases.model import Case
from thnn.testing.error_inputs import ERRORS

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
integers = st.one_of(st.integers(-3, 12), st.sampled_from([-(2**31), 2**31 - 1]))
indices = st.sampled_from([-(2**63), -(2**31), -1, 0, 1, 2, 3, 2**31, 2**32 + 1, 2**63 - 1])


@st.composite
def tensors(draw: st.DrawFn, like: Tensor) -> Tensor:
    """A tensor of the type of another one, often of similar sizes, with any strides within its memory."""
    shape = list(like.shape)
    for _ in range(draw(st.integers(0, 2))):
        change = draw(st.sampled_from(["size", "more", "less", "order"]))
        place = draw(st.integers(0, max(0, len(shape) - 1)))
        if change == "more" and len(shape) < 6:
            shape.insert(place, draw(st.integers(0, 3)))
        elif shape and change == "less":
            del shape[place]
        elif shape and change == "size":
            shape[place] = draw(st.integers(0, 9))
        else:
            shape = draw(st.permutations(shape))
    strides = list(torch.empty(shape, device="meta").stride())
    if shape and draw(st.booleans()):
        strides[draw(st.integers(0, len(shape) - 1))] = draw(st.integers(0, 7))
    extent = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides) if size)
    memory = (
        torch.randn(extent).to(like.dtype)
        if like.is_floating_point()
        else torch.ones(extent, dtype=like.dtype)
    )
    if not like.is_floating_point() and draw(st.booleans()):
        limits = torch.iinfo(like.dtype)
        memory[draw(st.integers(0, extent - 1))] = max(limits.min, min(limits.max, draw(indices)))
    elif like.is_floating_point() and draw(st.booleans()):
        memory[draw(st.integers(0, extent - 1))] = draw(
            st.sampled_from([0.0, -1.0, 7.0, 1e4, float("nan"), float("inf")])
        )
    return memory.as_strided(shape, strides)


def is_long(function: Function, row: dict[str, Any]) -> bool:
    """True if a call would compute more than a test should, or if no tensor could hold its results."""
    meta = {n: v.to("meta") if isinstance(v, Tensor) else v for n, v in row.items()}
    method = getattr(thnn.type2backend["THNNBackend"], function.name)
    try:
        method(*([0] if any(a.role == "state" for a in function.arguments) else []), *meta.values())
    except ERRORS:
        return False
    shapes = [v for v in meta.values() if isinstance(v, Tensor)]
    numbers = [abs(v) for v in row.values() if isinstance(v, int)]
    return max((v.numel() for v in shapes), default=0) > 10**6 or max(numbers, default=0) > 2**20


@pytest.mark.parametrize("case", cases().values(), ids=lambda case: case.name)
@given(data=st.data())
@settings(max_examples=10)
def test_any_tensors_are_taken_or_refused(case: Case, data: st.DataObject) -> None:
    runner = CaseRunner(
        case, data.draw(st.sampled_from(case.samples[:4])), data.draw(st.sampled_from(DTYPES))
    )
    made: dict[str, Any] = {}
    function = data.draw(st.sampled_from(runner.functions))
    if function is not runner.forward:
        row = runner.row(runner.forward)
        runner.call(runner.forward, row)
        made = {n: row[n] for n in written(runner.forward, row)}
    row = runner.row(function, made)
    names = [n for n, v in row.items() if isinstance(v, (Tensor, int)) and not isinstance(v, bool)]
    for name in (
        data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)) if names else []
    ):
        row[name] = data.draw(tensors(row[name]) if isinstance(row[name], Tensor) else integers)
    if is_long(function, row):
        return
    try:
        runner.call(function, row)
    except ERRORS as error:
        assert str(error).startswith(f"{function.name}: ")  # noqa: PT017
