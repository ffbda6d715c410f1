"""Integers that no kernel computes with: the ends of their range, 0 and -1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from thnn._header import Argument, Function
from thnn.testing.case_runner import CaseRunner, Failed, clone_with_strides, written
from thnn.testing.cases.model import Case, SampleInput
from thnn.testing.error_inputs import ERRORS

_ENDS = {"int": (-(2**31), 2**31 - 1), "long": (-(2**63), 2**63 - 1), "int64_t": (-(2**63), 2**63 - 1)}


def extreme_calls(runner: CaseRunner) -> Iterator[tuple[Function, str, int, dict[str, Any]]]:
    """The arguments of a call of each function for each integer argument and each extreme number in its place:
    (function, argument, number, arguments by name)."""
    made: dict[str, Any] = {}
    for function in runner.functions:
        for argument in function.arguments:
            for number in _numbers(argument):
                yield function, argument.name, number, {**runner.row(function, made), argument.name: number}
        if function is runner.forward:
            row = runner.row(function)
            runner.call(function, row)
            made = {n: row[n] for n in written(function, row)}


def _numbers(argument: Argument) -> tuple[int, ...]:
    ends = _ENDS.get(argument.type, ()) if argument.role == "scalar" else ()
    return (*ends, 0, -1) if ends else ()


def on_meta(row: dict[str, Any]) -> dict[str, Any]:
    """The same arguments with meta tensors, which have no memory."""
    return {n: clone_with_strides(v.to("meta")) if isinstance(v, Tensor) else v for n, v in row.items()}


def check_numbers(case: Case, sample: SampleInput) -> None:
    """An extreme number in place of an integer argument is refused, with an error that names the function, or computed:
    with meta tensors, and for 0 and -1 with memory, which gives the shapes of the meta tensors."""
    runner = CaseRunner(case, sample)
    for function, name, number, row in extreme_calls(runner):
        where = f"{function.name} with {name} {number}"
        meta = on_meta(row)
        refused = _refusal(runner, function, meta, where)
        if number not in (0, -1) or _elements(meta) > _MANY:
            continue
        if refused and not _refusal(runner, function, row, where):
            raise Failed(f"{where}: refused with meta tensors ({refused}), but computed with others")
        if not refused and not _refusal(runner, function, row, where):
            for n in written(function, row):
                if meta[n].shape != row[n].shape:
                    shapes = f"{tuple(meta[n].shape)} with meta tensors, {tuple(row[n].shape)} with others"
                    raise Failed(f"{where}: {n} has shape {shapes}")


_MANY = 10**6  # elements, more than a check should compute


def _elements(row: dict[str, Any]) -> int:
    return max((v.numel() for v in row.values() if isinstance(v, Tensor)), default=0)


def _refusal(runner: CaseRunner, function: Function, row: dict[str, Any], where: str) -> str:
    """The text of the error of a call; '' if it succeeds."""
    try:
        runner.call(function, row)
    except ERRORS as error:
        if not str(error).startswith(f"{function.name}: "):
            raise Failed(f"{where}: the error does not name the function: {error}") from error
        return str(error)
    except (MemoryError, RuntimeError) as error:
        # torch's own error for a size that no tensor can have
        raise Failed(
            f"{where}: expected an error of the kernel, got {type(error).__name__}: {error}"
        ) from error
    return ""
