"""Checks which tensors a call writes, and calls with tensors that share memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._header import Function
from thnn.testing.case_runner import (
    TIGHT,
    CaseRunner,
    Failed,
    Snapshot,
    accumulates,
    compare,
    in_place,
    poison,
    same_bits,
    written,
)
from thnn.testing.cases import dtype_of
from thnn.testing.cases.model import Case, SampleInput
from thnn.testing.error_inputs import ERRORS


def check_contract(case: Case, sample: SampleInput) -> None:
    """Overwriting, buffers, accumulation, read-only arguments, in-place calls and shared memory."""
    runner = CaseRunner(case, sample)
    everything = runner.run()
    expected = runner.defined(everything)

    def stale(key: str, value: Tensor) -> Tensor:
        return value if accumulates(key) else poison(everything[key].shape, value)

    def wrong_size(key: str, value: Tensor) -> Tensor:
        return value if accumulates(key) else poison((2, 1, 3), value)

    same_bits(runner, " into outputs full of NaN", runner.run(output=stale), expected)
    # A loss may have one dimension or none.
    got = {k: v.reshape(expected[k].shape) for k, v in runner.run(output=wrong_size).items() if k in expected}
    same_bits(runner, " into outputs of another size", got, expected)

    made: dict[str, Any] = {}
    for function in runner.functions:
        mine = {k.split(".")[1]: v for k, v in expected.items() if k.startswith(function.phase + ".")}
        for check in (_check_untouched, _check_accumulation, _check_in_place, _check_shared_memory):
            check(runner, function, made, mine)
        if function is runner.forward:
            made = runner.made(everything)


def _same_results(
    runner: CaseRunner, function: Function, how: str, row: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    phase = function.phase
    got = {f"{phase}.{n}": row[n] for n in mine}
    same_bits(runner, how, got, {f"{phase}.{n}": t for n, t in mine.items()})


def _check_untouched(
    runner: CaseRunner, function: Function, made: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    """Tensors that are only read do not change, nor do buffers, unless the function has requested a size."""
    row = runner.row(function, made)
    buffers = [a for a in function.arguments if a.role == "buffer"]
    for a in buffers:
        row[a.name] = poison((5,), torch.empty(0, dtype=dtype_of(a, runner.dtype)))
    changed = written(function, row)
    before = {n: Snapshot(v) for n, v in row.items() if isinstance(v, Tensor) and n not in changed}
    runner.call(function, row)
    requested = [a.name for a in buffers if row[a.name].shape != (5,)]
    for name, snapshot in before.items():
        if name == (in_place(function, row) or ("", ""))[1] or name in requested:
            continue
        if difference := snapshot.difference(row[name]):
            raise Failed(f"{function.name}: {name} is read only, but {difference}")
    _same_results(runner, function, "", row, mine)


def _check_accumulation(
    runner: CaseRunner, function: Function, made: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    """Gradients of parameters are added, with the factor `scale`."""
    row = runner.row(function, made)
    if "scale" not in row or row.get("weightDecay"):
        return
    row["scale"] = -0.5
    generator = torch.Generator().manual_seed(3)
    before = {}
    for a in function.tensors("gradParameter"):
        if row[a.name] is not None:
            before[a.name] = torch.randn(row[a.name].shape, generator=generator, dtype=runner.dtype)
            row[a.name] = before[a.name].clone()
    runner.call(function, row)
    # A gradient that the call resizes is overwritten.
    before = {n: t for n, t in before.items() if row[n].shape == t.shape}
    for n, t in before.items():
        compare(f"{function.name} with scale -0.5: {n}", row[n], t - 0.5 * mine[n], TIGHT)


def _check_in_place(
    runner: CaseRunner, function: Function, made: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    """With the in-place flag, input and output share the memory that holds the result."""
    pair = in_place(function, runner.values)
    if pair is None:
        return
    source, result = pair
    for is_same_tensor in (False, True):
        row = runner.row(function, made)
        if is_same_tensor:
            row[result] = row[source]
        address = row[source].data_ptr()
        runner.call(function, row)
        if row[source].data_ptr() != address:
            raise Failed(f"{function.name} in place: {source} has moved")
        if row[result].data_ptr() != address:
            raise Failed(f"{function.name} in place: {result} does not share the memory of {source}")
        _same_results(runner, function, " in place", row, mine)


def _check_shared_memory(
    runner: CaseRunner, function: Function, made: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    """An output that shares memory with an argument that is read is refused, or the result is right."""
    plain = runner.row(function, made)
    outputs = [a.name for a in function.tensors("output", "gradInput", "saved") if a.name in mine]
    for out in outputs:
        for other, tensor in plain.items():
            if not isinstance(tensor, Tensor) or other == out or not tensor.numel():
                continue
            if tensor.dtype is not mine[out].dtype or tensor.shape != mine[out].shape:
                continue
            for place in ("in", "one element before", "one element after"):
                row = runner.row(function, made)
                if place == "in":
                    row[out] = row[other]
                else:
                    row[out], row[other] = overlapping(tensor, tensor.shape, place == "one element before")
                where = f"{function.name} with {out} {place} the memory of {other}"
                before = Snapshot(row[other])
                try:
                    runner.call(function, row)
                except ERRORS as error:
                    if difference := before.difference(row[other]):
                        raise Failed(f"{where}: refused, but {difference}") from error
                    if not str(error).startswith(f"{function.name}: "):
                        raise Failed(f"{where}: the error does not name the function: {error}") from error
                    continue
                compare(f"{where}: {out}", row[out], mine[out], TIGHT)

    # An accumulated gradient is read and written, so it may share memory with no other argument.
    sums = [a.name for a in function.tensors("gradParameter") if a.name in mine]
    for out in sums:
        for other in ("input", "gradOutput", *sums):
            tensor = plain.get(other)
            if (
                tensor is None
                or other == out
                or not tensor.numel()
                or not mine[out].numel()
                or tensor.dtype != mine[out].dtype
            ):
                continue
            row = runner.row(function, made)
            memory = tensor.new_zeros(max(tensor.numel(), mine[out].numel()))
            row[other] = memory[: tensor.numel()].view(tensor.shape).copy_(tensor)
            row[out] = memory[: mine[out].numel()].view(mine[out].shape)
            where = f"{function.name} with {out} in the memory of {other}"
            before = Snapshot(memory)
            try:
                runner.call(function, row)
            except ValueError as error:
                if difference := before.difference(memory):
                    raise Failed(f"{where}: refused, but {difference}") from error
                if not str(error).startswith((f"{function.name}: {out}: ", f"{function.name}: {other}: ")):
                    raise Failed(f"{where}: the error does not name the argument: {error}") from error
            else:
                raise Failed(f"{where}: was accepted")


def overlapping(tensor: Tensor, shape: Sequence[int], before: bool) -> tuple[Tensor, Tensor]:
    """(view, copy): a copy of `tensor`, and a view of this shape in the same memory that begins one element before the
    copy if `before`, otherwise one element after it."""
    view_size, copy_size = math.prod(shape), tensor.numel()
    memory = tensor.new_zeros(max(view_size, copy_size) + 1)
    view = memory[not before :][:view_size].view(tuple(shape))
    copy = memory[before:][:copy_size].view(tensor.shape)
    copy.copy_(tensor)
    return view, copy


def check_overlap(case: Case, sample: SampleInput, dtype: torch.dtype = torch.float64) -> None:
    """Outputs that overlap an argument, and begin one element before or after it, are refused, or the result is
    right. Their sizes may differ."""
    runner = CaseRunner(case, sample, dtype)
    made: dict[str, Any] = {}
    for function in runner.functions:
        plain = runner.row(function, made)
        runner.call(function, plain)
        outputs = [a.name for a in function.tensors("output", "gradInput") if a in function.written]
        pairs = [
            (out, other)
            for out in outputs
            for other, tensor in runner.row(function, made).items()
            if other not in outputs
            and all(isinstance(plain[n], Tensor) and plain[n].numel() for n in (out, other))
            and plain[out].dtype == plain[other].dtype
        ]
        for out, other in pairs:
            for before in (True, False):
                row = runner.row(function, made)
                row[out], row[other] = overlapping(row[other], plain[out].shape, before)
                side = "before" if before else "after"
                where = f"{function.name} with {out} one element {side} the memory of {other}"
                try:
                    runner.call(function, row)
                except ERRORS as error:
                    if not str(error).startswith(f"{function.name}: "):
                        raise Failed(f"{where}: the error does not name the function: {error}") from error
                    continue
                # The order of a sum may differ: GPU kernels choose it by the alignment of the input.
                tolerance = 256 * torch.finfo(runner.dtype).eps
                compare(f"{where}: accepted, but {out}", row[out], plain[out], tolerance)
        if function is runner.forward:
            made = {n: plain[n] for n in written(function, plain)}
