"""The geometry of every function for tensors without memory: of 2**31 to 2**62 elements, or whose outputs would have
more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from thnn._header import Function
from thnn.testing.case_runner import CaseRunner, written
from thnn.testing.cases import cases
from thnn.testing.cases.model import Case
from thnn.testing.error_inputs import ERRORS

# In all dimensions of one size, and in those of two sizes. torch has no tensor of 2**63 elements.
SIZES = (2**31, 2**40, 2**62)
PAIR = (2**31, 2**31)


def calls(runner: CaseRunner) -> Iterator[tuple[Function, dict[str, Any]]]:
    """The arguments of calls of each function, on torch's meta device."""
    made: dict[str, Any] = {}
    for function in runner.functions:
        row = runner.row(function, made)
        tensors = {n: t for n, t in row.items() if isinstance(t, Tensor)}
        sizes = sorted({s for t in tensors.values() for s in t.shape if s})
        changes = [{old: new} for old in sizes for new in SIZES]
        changes += [{a: PAIR[0], b: PAIR[1]} for a in sizes for b in sizes if a < b]
        changed = written(function, row)
        for change in changes:
            large = {n: enlarged(t, change, n in changed) for n, t in tensors.items()}
            if all(t is not None for t in large.values()):
                yield function, row | large
        if function is runner.forward:
            row = runner.row(function)
            runner.call(function, row)
            made = {n: row[n] for n in written(function, row)}


def enlarged(tensor: Tensor, sizes: dict[int, int], is_written: bool) -> Tensor | None:
    """A tensor of other sizes; None if torch has no such tensor. One that is only read is one element, expanded."""
    shape = [sizes.get(size, size) for size in tensor.shape]
    try:
        if is_written:
            return torch.empty(shape, dtype=tensor.dtype, device="meta")
        return torch.empty((1,) * len(shape), dtype=tensor.dtype, device="meta").expand(shape)
    except RuntimeError as error:
        assert "overflow" in str(error)  # noqa: PT017
        return None


def is_computed(runner: CaseRunner, function: Function, row: dict[str, Any]) -> bool:
    try:
        runner.call(function, row)
    except ERRORS as error:
        assert str(error).startswith(f"{function.name}: ")  # noqa: PT017
        return False
    shapes = {n: tuple(row[n].shape) for n in written(function, row)}
    assert all(size >= 0 for shape in shapes.values() for size in shape), shapes
    return True


@pytest.mark.parametrize("case", cases().values(), ids=lambda case: case.name)
def test_large_sizes_are_computed_or_refused(case: Case) -> None:
    runner = CaseRunner(case, case.samples[0])
    results = [is_computed(runner, function, row) for function, row in calls(runner)]
    assert results
