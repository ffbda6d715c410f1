"""Calls that must fail: the error inputs of a case, and wrong arguments that follow from the header.

Such a call raises TypeError, ValueError, IndexError or NotImplementedError, names function and argument, and changes no
tensor. CUDA kernels find bad indices, such as class numbers out of range, while they compute: for these the CUDA
library raises an IndexError with a general text, and outputs may have changed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._header import Argument, Function
from thnn._header.roles import BACKWARD_PHASES, Role
from thnn.testing.case_runner import CaseRunner, Failed, Snapshot, written
from thnn.testing.cases import dtype_of, make
from thnn.testing.cases.model import Case, ErrorInput
from thnn.testing.device_calls import is_late

_INTEGERS = ("int", "int64_t", "long", "THIndex_t")
ERRORS = (TypeError, ValueError, IndexError, NotImplementedError)
Errors = type[Exception] | tuple[type[Exception], ...]


def _types(errors: Errors) -> tuple[type[Exception], ...]:
    return errors if isinstance(errors, tuple) else (errors,)


def _after_forward(runner: CaseRunner, function: Function) -> dict[str, Any]:
    """The arguments of a call, with the results of the forward."""
    made: dict[str, Any] = {}
    if function is not runner.forward:
        row = runner.row(runner.forward)
        runner.call(runner.forward, row)
        made = {n: row[n] for n in written(runner.forward, row)}
    return runner.row(function, made)


def _check_raises(
    runner: CaseRunner, function: Function, change: Mapping[str, Any], errors: Errors, message: str, what: str
) -> None:
    """Calls with some arguments replaced: the call must raise, name the argument, and change no tensor. Outputs are
    empty, of a wrong size, and on the CPU also of the size that a right call gives them: a kernel of another device has
    written some of them when it finds a wrong number."""
    right = _after_forward(runner, function)
    runner.call(function, right)
    for size in ("empty", "wrong") if runner.is_on_device else ("empty", "wrong", "right"):
        row = _after_forward(runner, function)
        if size != "empty":
            for a in function.tensors("output", "saved", "gradInput"):
                if a in function.written and not a.is_modified and row[a.name] is not None:
                    shape = right[a.name].shape if size == "right" else (3,)
                    row[a.name] = row[a.name].new_full(shape, 7)
        row.update(change)
        _must_raise(runner, function, list(row.values()), row, errors, message, what)


def _must_raise(
    runner: CaseRunner,
    function: Function,
    values: Sequence[Any],
    row: Mapping[str, Any],
    errors: Errors,
    message: str,
    what: str,
) -> None:
    where = f"{function.name} with {what}"
    before = {n: Snapshot(v) for n, v in row.items() if isinstance(v, Tensor) and v.layout is torch.strided}
    expected = " or ".join(e.__name__ for e in _types(errors))
    try:
        runner.call(function, values)
    except Exception as raised:
        text = str(raised)
        if runner.is_on_device and isinstance(raised, IndexError):
            if not re.search(_place(function), text):
                raise Failed(f"{where}: the text names no argument: {text}") from raised
            return
        if not isinstance(raised, errors):
            raise Failed(f"{where}: expected {expected}, got {type(raised).__name__}: {text}") from raised
        if not re.search(message, text):
            raise Failed(f"{where}: the text does not match {message!r}: {text}") from raised
        if is_late(raised):
            return
    else:
        raise Failed(f"{where}: expected {expected}, but the call succeeded")
    for name, snapshot in before.items():
        if difference := snapshot.difference(row[name]):
            raise Failed(f"{where}: failed, but {name} has changed: {difference}")


def _place(function: Function, argument: Argument | None = None) -> str:
    """A pattern for the beginning of an error: the function, and `argument` or any of its arguments."""
    names = argument.name if argument else "|".join(a.name for a in function.arguments)
    return rf"^{function.name}: ({names}): "


def check_error_input(case: Case, error_input: ErrorInput) -> None:
    """An error input of the case raises its exception."""
    runner = CaseRunner(case, case.samples[error_input.of])
    if runner.is_on_device and not error_input.on_cuda:
        return
    function = runner.module.functions[case.phase or error_input.phase]
    change = {n: make(v, runner.dtype) for n, v in error_input.arguments.items()}
    message = f"^(?=.*({error_input.message})){_place(function)[1:]}"
    _check_raises(runner, function, change, error_input.error, message, error_input.name)
    if function is runner.forward and runner.has_class:
        given = {k: v.clone() if isinstance(v, Tensor) else v for k, v in runner.values.items()}
        given.update({k: v for k, v in change.items() if k in given})
        accepted = _types(error_input.error) + ((IndexError,) if runner.is_on_device else ())
        try:
            with torch.no_grad():
                runner.cls.apply(**given)
        except accepted:
            pass
        except Exception as raised:
            text = f"got {type(raised).__name__}: {raised}"
            raise Failed(f"{runner.cls.__name__} with {error_input.name}: {text}") from raised
        else:
            raise Failed(f"{runner.cls.__name__} with {error_input.name}: was accepted")


def _wrong_tensors(
    a: Argument, value: Tensor, others: int, is_written: bool
) -> Iterator[tuple[str, Any, Errors]]:
    """Values that no tensor argument may have: name, value and expected exceptions."""
    other = torch.int32 if a.type == "THIndexTensor*" else torch.float16
    yield "float16" if other is torch.float16 else "int32", value.to(other), TypeError
    yield "bool", value.to(torch.bool), TypeError
    if a.type == "THIndexTensor*":
        yield "float64", value.to(torch.float64), TypeError
    else:
        yield "int64", torch.zeros(value.shape, dtype=torch.int64), TypeError
        yield "complex", value.to(torch.complex128), TypeError
        if is_written:
            yield "a negative view", torch.conj(torch.complex(value, value)).imag, TypeError
        # The backend is for float64, so float32 is a wrong type as well.
        yield "float32", value.to(torch.float32), TypeError
    if others:
        yield "a meta tensor", value.to("meta"), TypeError
    yield "sparse", value.to_sparse() if value.dim() else value.reshape(1).to_sparse(), TypeError
    yield "a number", 1.0, TypeError
    yield "a string", "tensor", TypeError
    yield "a list", [1.0, 2.0], TypeError
    yield "numpy", value.numpy(), TypeError
    yield "the class", torch.Tensor, TypeError


_WRONG_NUMBERS: Mapping[str, tuple[tuple[str, Any, type[Exception]], ...]] = {
    "bool": (
        ("2", 2, ValueError),
        ("-1", -1, ValueError),
        ("a float", 1.0, TypeError),
        ("a string", "True", TypeError),
        ("None", None, TypeError),
        ("a list", [], TypeError),
        ("a float tensor", torch.tensor(1.0), TypeError),
    ),
    "THGenerator*": (
        ("a number", 5, TypeError),
        ("a string", "0.5", TypeError),
        ("a tensor", torch.tensor(2), TypeError),
    ),
    "float": (
        ("None", None, TypeError),
        ("a string", "0.5", TypeError),
        ("bytes", b"1", TypeError),
        ("a list", [0.5], TypeError),
        ("complex", 1 + 1j, TypeError),
        ("beyond any float", 10**400, ValueError),
    ),
    "int": (
        ("a float", 2.0, TypeError),
        ("NaN", math.nan, TypeError),
        ("infinity", math.inf, TypeError),
        ("None", None, TypeError),
        ("a string", "2", TypeError),
        ("a tuple", (2, 2), TypeError),
        ("a float tensor", torch.tensor(2.5), TypeError),
        ("2**63", 2**63, ValueError),
        ("-2**63 - 1", -(2**63) - 1, ValueError),
        ("beyond any integer", 10**400, ValueError),
    ),
}


def check_wrong_argument(case: Case, function: Function, argument: Argument) -> None:
    """Values of a wrong type or size for one argument, derived from the header."""
    runner = CaseRunner(case, case.samples[0])
    this, any_argument = _place(function, argument), _place(function)
    if not argument.is_tensor:
        kind = (
            argument.type
            if argument.type in _WRONG_NUMBERS
            else "int"
            if argument.type in _INTEGERS
            else "float"
        )
        wrong = _WRONG_NUMBERS[kind]
        if argument.type == "int":
            wrong = (*wrong, ("2**31", 2**31, ValueError), ("-2**31 - 1", -(2**31) - 1, ValueError))
        for what, value, error in wrong:
            _check_raises(runner, function, {argument.name: value}, error, this, f"{argument.name} {what}")
        return

    filled = _filled_row(runner, function)
    value = filled[argument.name]
    others = sum(isinstance(v, Tensor) for n, v in filled.items() if n != argument.name)
    is_written = argument.name in written(function, filled)
    for what, wrong_value, errors in _wrong_tensors(argument, value, others, is_written):
        # If the types or devices of two arguments differ, the error may name either argument.
        message = any_argument if what in ("float32", "a meta tensor") else this
        _check_raises(
            runner, function, {argument.name: wrong_value}, errors, message, f"{argument.name} {what}"
        )
    if not argument.is_optional and argument.role != "buffer":
        _check_raises(runner, function, {argument.name: None}, TypeError, this, f"{argument.name} None")
    if is_written and value.numel() > 1:
        overlapping = value.new_full((1,) * value.dim(), 1.0).expand(value.shape)
        change = {argument.name: overlapping}
        _check_raises(runner, function, change, ValueError, any_argument, f"{argument.name} expanded")
    has_free = function is runner.forward or argument.role in ("gradParameter", "gradOutput")
    free = case.any_size.get(argument.name, ()) if has_free else ()
    for what, resized in _wrong_sizes(function, argument, value, free):
        change = {argument.name: resized}
        _check_raises(
            runner, function, change, (ValueError, IndexError), any_argument, f"{argument.name} {what}"
        )


def _filled_row(runner: CaseRunner, function: Function) -> dict[str, Any]:
    """The arguments after a call: outputs have their sizes; tensors that were None have one element."""
    row = _after_forward(runner, function)
    runner.call(function, row)
    for a in function.tensors():
        if row[a.name] is None:
            row[a.name] = torch.zeros(1, dtype=dtype_of(a, runner.dtype))
    return row


def _wrong_sizes(
    function: Function, argument: Argument, value: Tensor, free: Sequence[int]
) -> Iterator[tuple[str, Tensor]]:
    """Tensors of wrong sizes: larger by 1 in a dimension that is not in `free`, or with one more dimension."""
    if argument.role == "input" and argument.is_optional:
        return  # unused (Sigmoid, Tanh), or covered by error inputs of the case (sums of batch normalization)
    if argument.role == "input":
        others: list[Role] = ["gradOutput", "target"]
        if function.phase in BACKWARD_PHASES:
            others.append("saved")
        fixed = [a for a in function.tensors(*others) if not a.is_optional]
        dims = [0] if function.phase != "updateOutput" and fixed else []
    elif argument.role == "gradInput" or (
        argument in function.written and argument.role in ("output", "saved")
    ):
        dims = []  # the call resizes it
    else:
        dims = list(range(value.dim())) if argument.role != "buffer" else []
        if argument.role == "gradOutput" and not function.tensors("input", "output", "saved"):
            dims = []  # no other argument determines its size
    for dim in dims:
        if dim in free:
            continue
        size = [s + (d == dim) for d, s in enumerate(value.shape)]
        yield f"with size {tuple(size)}", torch.zeros(size, dtype=value.dtype)
    if not set(dims) <= set(free) and argument.role != "input":
        size = [2, *value.shape]
        yield f"with size {tuple(size)}", torch.zeros(size, dtype=value.dtype)


def check_arity(case: Case, function: Function) -> None:
    """One argument too few or too many."""
    runner = CaseRunner(case, case.samples[0])
    row = _filled_row(runner, function)
    for what, values in (
        ("an argument missing", [*row.values()][:-1]),
        ("an argument too many", [*row.values(), 1]),
    ):
        _must_raise(runner, function, values, row, TypeError, function.name, what)
