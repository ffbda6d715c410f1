"""``python -m thnn check``: every function against its entry in the table of cases.

A check is a function of a case and one of its samples. It raises `Failed` with the call, the result and the expected
result. `plan` lists all checks; the test suite runs the same list (tests/functions/test_cases.py).
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError

from thnn._header import Function
from thnn.testing.case_runner import (
    LAYOUTS,
    TIGHT,
    CaseRunner,
    Enter,
    Failed,
    Snapshot,
    as_it_is,
    bits,
    channels_last,
    clone_with_strides,
    compare,
    compare_all,
    in_place,
    largest_of,
    lay_out,
    outputs_of,
    same_bits,
    written,
)
from thnn.testing.cases import dtype_of
from thnn.testing.cases.model import Case, SampleInput
from thnn.testing.error_inputs import ERRORS, check_arity, check_error_input, check_wrong_argument
from thnn.testing.registry import INSTALLED, Registry


@dataclass(frozen=True)
class Check:
    """One kind of check on one sample of a module."""

    module: str
    check: str
    sample: str
    run: Callable[[], None]

    def __str__(self) -> str:
        return f"{self.module}: {self.check}: {self.sample}"


@dataclass(frozen=True)
class Result:
    """The outcome of a check."""

    module: str
    check: str
    sample: str
    ok: bool
    seconds: float
    message: str = ""


# --- the checks ---------------------------------------------------------------------------------------------


def check_reference(case: Case, sample: SampleInput) -> None:
    """Backend and class in float64 against the reference."""
    runner = CaseRunner(case, sample)
    compare_all(runner, "", runner.run(), runner.expected(), TIGHT)
    if not runner.has_class:
        return

    outputs, _, gradients = runner.reference
    leaves = runner.leaves()
    got = outputs_of(runner.apply(leaves))
    name = runner.cls.__name__
    for output, (key, expected) in zip(got, outputs.items()):
        compare(f"{name}.apply: {key}", output, expected, TIGHT)
    if not leaves:
        return
    # The class of a criterion multiplies gradInput by the incoming gradient.
    factor = -1.5 if runner.module.is_criterion else 1.0
    factors = [f.reshape(t.shape) * factor for f, t in zip(runner.factors.values(), got)]
    found = torch.autograd.grad(got, list(leaves.values()), factors, allow_unused=True)
    for leaf, value in zip(leaves, found):
        if value is None:
            raise Failed(f"{name}: backward gave no gradient by {leaf}")
        compare(f"{name}: gradient by {leaf}", value, gradients[leaf] * factor, TIGHT)

    # An object of the class can be called repeatedly, and gives the same result if no tensor requires a gradient.
    tensors = runner.cls._names[: runner.cls._call_tensor_count]
    values = {k: v.clone() if isinstance(v, Tensor) else v for k, v in runner.values.items()}
    function = runner.cls(**{k: v for k, v in values.items() if k not in tensors})
    for _ in range(2):
        runner.reseed()
        again = outputs_of(function(*(values[n].clone() if values[n] is not None else None for n in tensors)))
        if not all(torch.equal(bits(a), bits(b)) for a, b in zip(again, got)):
            raise Failed(f"{function!r}: its result differs from that of {name}.apply")


def check_float32(case: Case, sample: SampleInput) -> None:
    """float32 against the reference in float64, on the same values."""
    runner = CaseRunner(case, sample, torch.float32)
    expected = runner.expected()
    for key, tensor in expected.items():
        if tensor.is_floating_point():
            # Values beyond the range of float32 become infinite, except the lowest float64, of empty windows.
            lowest = tensor == torch.finfo(torch.float64).min
            expected[key] = tensor.to(torch.float32).to(torch.float64)
            expected[key][lowest] = torch.finfo(torch.float32).min
    compare_all(runner, " in float32", runner.run(), expected, case.tolerance)


def check_gradients(case: Case, sample: SampleInput) -> None:
    """First derivatives of the class against finite differences."""
    runner = CaseRunner(case, sample)
    leaves = runner.leaves()
    _gradcheck(
        runner.cls.__name__,
        lambda *tensors: runner.apply(dict(zip(leaves, tensors))),
        leaves,
    )


# Elements above which finite differences by each of them would take longer than all other checks of the sample.
_MANY = 100


def check_second_gradients(case: Case, sample: SampleInput) -> None:
    """Derivatives of the gradients against finite differences; for large tensors a random combination of them."""
    runner = CaseRunner(case, sample)
    leaves = runner.leaves()
    factors = {f"gradient by {n}": t.clone().requires_grad_() for n, t in runner.factors.items()}

    def gradients(*tensors: Tensor) -> tuple[Tensor, ...]:
        inputs = [t if t.requires_grad else t.detach().requires_grad_() for t in tensors[: len(leaves)]]
        outputs = outputs_of(runner.apply(dict(zip(leaves, inputs))))
        by_output = [f.reshape(t.shape) for f, t in zip(tensors[len(leaves) :], outputs)]
        return torch.autograd.grad(outputs, inputs, by_output, create_graph=True)

    count = sum(t.numel() for t in leaves.values())
    _gradcheck(f"gradients of {runner.cls.__name__}", gradients, leaves | factors, fast=count > _MANY)


def _gradcheck(
    what: str, function: Callable[..., Any], leaves: Mapping[str, Tensor], fast: bool = False
) -> None:
    tensors = list(leaves.values())
    if not any(t.numel() for t in tensors):
        return
    try:
        torch.autograd.gradcheck(function, tensors, check_undefined_grad=False, fast_mode=fast)
    except GradcheckError as error:
        raise Failed(f"{what}: {_worst_derivative(function, leaves)}") from error


def _worst_derivative(function: Callable[..., Any], leaves: Mapping[str, Tensor], step: float = 1e-6) -> str:
    """The element whose derivative, of a random combination of the results, is furthest from finite differences."""

    def combined(*tensors: Tensor) -> Tensor:
        results = function(*tensors)
        results = results if isinstance(results, tuple) else (results,)
        generator = torch.Generator().manual_seed(1)
        parts = [(r * torch.rand(r.shape, generator=generator, dtype=r.dtype)).sum() for r in results]
        return torch.stack(parts).sum()

    tensors = list(leaves.values())
    total = combined(*tensors)
    analytic = (
        torch.autograd.grad(total, tensors, allow_unused=True)
        if total.requires_grad
        else [None] * len(tensors)
    )
    worst, text = -1.0, ""
    for k, (name, leaf) in enumerate(leaves.items()):
        for i in range(leaf.numel()):
            sides = []
            for sign in (step, -step):
                moved = leaf.detach().clone()
                moved.view(-1)[i] += sign
                sides.append(
                    combined(*(moved.requires_grad_() if j == k else t for j, t in enumerate(tensors))).item()
                )
            numeric = (sides[0] - sides[1]) / (2 * step)
            slope = analytic[k]
            exact = 0.0 if slope is None else slope.reshape(-1)[i].item()
            if not abs(numeric - exact) <= worst:
                worst = abs(numeric - exact)
                index = ", ".join(str(int(j)) for j in torch.unravel_index(torch.tensor(i), leaf.shape))
                text = f"by {name}[{index}]: numeric {numeric:.9g}, analytic {exact:.9g}"
    return text


def _only(name: str, kind: str, n: str, tensor: Tensor) -> Tensor:
    return lay_out(kind, tensor) if n == name else tensor


def _all(kind: str, n: str, tensor: Tensor) -> Tensor:
    return lay_out(kind, tensor)


def check_layouts(case: Case, sample: SampleInput) -> None:
    """Tensors that are read, in every layout: first one tensor at a time in that layout, then all tensors."""
    runner = CaseRunner(case, sample)
    everything = runner.run()
    expected = runner.defined(everything)

    forward = runner.made(everything)
    names: dict[str, Tensor] = {}
    changed: set[str] = set()  # written tensors, whose elements must not share an address
    for function in runner.functions:
        row = runner.row(function, {} if function is runner.forward else forward)
        names.update({n: v for n, v in row.items() if isinstance(v, Tensor)})
        changed.update(written(function, row))
    for name, tensor in names.items():
        if not sample.differentiable:
            continue  # too large to repeat the calls for each tensor
        for kind, (_, fits) in LAYOUTS.items():
            if fits(tensor):
                got = runner.run(functools.partial(_only, name, kind))
                compare_all(runner, f" with {name} {kind}", got, expected, TIGHT)
        for dim in range(tensor.dim()):
            if tensor.shape[dim] < 2 or name in changed:
                continue
            first = functools.partial(_first_everywhere, name, dim)
            try:
                plain = runner.run(functools.partial(_contiguous_first, name, dim))
            except ERRORS:
                continue  # sizes, offsets: repeated values contradict other arguments
            got = runner.run(first)
            for key, result in expected.items():
                # Repeated values may cancel to 0, so errors are relative to the results of the original values.
                where = f"{case.module}_{key.replace('.', ': ')} with {name} expanded in dimension {dim}"
                compare(where, got[key], plain[key], TIGHT, largest_of(result))
    for kind, (_, fits) in LAYOUTS.items():
        if any(fits(t) for t in names.values()):
            got = runner.run(functools.partial(_all, kind))
            compare_all(runner, f" with all tensors {kind}", got, expected, TIGHT)


def _first_everywhere(name: str, dim: int, n: str, tensor: Tensor) -> Tensor:
    return tensor.narrow(dim, 0, 1).expand(tensor.shape) if n == name and tensor.shape[dim] > 1 else tensor


def _contiguous_first(name: str, dim: int, n: str, tensor: Tensor) -> Tensor:
    return _first_everywhere(name, dim, n, tensor).contiguous()


def check_output_layouts(case: Case, sample: SampleInput) -> None:
    """Outputs of the right size keep their memory and strides; classes return channels-last for channels-last input."""
    runner = CaseRunner(case, sample)
    everything = runner.run()
    expected = runner.defined(everything)
    shared = {f"{f.phase}.{pair[1]}" for f in runner.functions if (pair := in_place(f, runner.values))}
    for kind, (_, fits) in LAYOUTS.items():
        if not any(fits(t) for t in everything.values()):
            continue
        given: dict[str, Tensor] = {}
        whole: dict[str, Tensor] = {}

        def output(
            key: str, value: Tensor, kind: str = kind, given: Any = given, whole: Any = whole
        ) -> Tensor:
            size = everything[key].shape
            stale = torch.full(size, math.nan if value.is_floating_point() else -99, dtype=value.dtype)
            if key.startswith("acc") or key.split(".")[1] in ("gradWeight", "gradBias"):
                stale = torch.zeros_like(stale)
            given[key] = lay_out(kind, stale)
            whole[key] = given[key].new_empty(0).set_(given[key].untyped_storage())
            return given[key]

        got = runner.run(output=output)
        compare_all(runner, f" into {kind} outputs", got, expected, TIGHT)
        for key, tensor in given.items():
            if key in shared:
                continue
            phase, name = key.split(".")
            where = f"{case.module}_{phase}: {name}, {kind}"
            now = got[key]
            kept = now.stride() == lay_out(kind, torch.zeros(now.shape)).stride()
            if not kept or now.untyped_storage().data_ptr() != whole[key].data_ptr():
                raise Failed(f"{where}: had the right size, but did not keep its memory and strides")
            rest = whole[key].clone()
            rest.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).fill_(0)
            clean = rest.isnan() if rest.is_floating_point() else rest == -99
            outside = torch.ones_like(rest, dtype=torch.bool)
            outside.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).fill_(False)
            if tensor.numel() and not bool(clean[outside].all()):
                raise Failed(f"{where}: memory between its elements was written")
    if not runner.has_class:
        return
    input = runner.values["input"]
    if input.dim() not in (4, 5) or in_place(runner.forward, runner.values):
        return
    if channels_last(input).is_contiguous():
        return  # one channel or one pixel: contiguous and channels-last are the same layout
    leaves = {n: (channels_last(t) if t.dim() == input.dim() else t) for n, t in runner.leaves().items()}
    leaves = {n: t.detach().requires_grad_() for n, t in leaves.items()}
    result = outputs_of(runner.apply(leaves))[0]
    memory_format = torch.channels_last if input.dim() == 4 else torch.channels_last_3d
    made = {"output": result} if result.dim() == input.dim() else {}
    factor = torch.ones_like(result)
    made["gradient by input"] = torch.autograd.grad(result, leaves["input"], factor)[0]
    for name, tensor in made.items():
        if tensor.numel() and not tensor.is_contiguous(memory_format=memory_format):
            raise Failed(
                f"{runner.cls.__name__}: {name} of channels-last input {tuple(input.shape)}"
                f" has strides {tensor.stride()}"
            )


def check_meta(case: Case, sample: SampleInput) -> None:
    """Calls with meta tensors give the shapes, types and strides of calls with real tensors."""
    runner = CaseRunner(case, sample)
    ways: Mapping[str, Enter] = {
        "contiguous": as_it_is,
        "channels-last": functools.partial(_all, "channels-last"),
    }
    for layout, enter in ways.items():
        if layout == "channels-last" and not any(
            isinstance(v, Tensor) and v.dim() in (4, 5) for v in runner.values.values()
        ):
            continue
        real = runner.run(enter)
        meta = runner.run(
            lambda n, t, enter=enter: clone_with_strides(enter(n, t).to("meta")) if not t.is_meta else t,  # type: ignore[misc]
            lambda k, t: t.to("meta"),
        )
        for key, tensor in real.items():
            _same_form(f"{case.module}_{key.replace('.', ': ')}, {layout}", meta[key], tensor)
        if not runner.has_class:
            continue
        with torch.no_grad():
            given = {k: enter(k, v).clone() if isinstance(v, Tensor) else v for k, v in runner.values.items()}
            away = {
                k: clone_with_strides(v.to("meta")) if isinstance(v, Tensor) else v for k, v in given.items()
            }
            for a, b in zip(*(outputs_of(runner.cls.apply(**v)) for v in (away, given))):
                _same_form(f"{runner.cls.__name__}.apply, {layout}", a, b)


def _same_form(what: str, meta: Tensor, real: Tensor) -> None:
    for name, got, expected in (
        ("device", meta.device.type, "meta"),
        ("shape", tuple(meta.shape), tuple(real.shape)),
        ("type", meta.dtype, real.dtype),
        ("strides", meta.stride(), real.stride()),
    ):
        if got != expected:
            raise Failed(f"{what}: {name} of the meta result is {got}, of the real one {expected}")


def check_contract(case: Case, sample: SampleInput) -> None:
    """Overwriting, buffers, accumulation, read-only arguments, in-place calls and shared memory."""
    runner = CaseRunner(case, sample)
    everything = runner.run()
    expected = runner.defined(everything)

    def stale(key: str, value: Tensor) -> Tensor:
        return value if _accumulates(key) else _poison(everything[key].shape, value)

    def wrong_size(key: str, value: Tensor) -> Tensor:
        return value if _accumulates(key) else _poison((2, 1, 3), value)

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


def _accumulates(key: str) -> bool:
    name = key.split(".")[1]
    return name.startswith("grad") and name != "gradInput"


def _poison(size: Sequence[int], like: Tensor) -> Tensor:
    return torch.full(tuple(size), math.nan if like.is_floating_point() else -(2**30), dtype=like.dtype)


def _same_results(
    runner: CaseRunner, function: Function, how: str, row: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    phase = function.phase
    got = {f"{phase}.{n}": row[n] for n in mine}
    same_bits(runner, how, got, {f"{phase}.{n}": t for n, t in mine.items()})


def _check_untouched(
    runner: CaseRunner, function: Function, made: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    """Buffers and tensors that are only read do not change."""
    row = runner.row(function, made)
    for a in function.arguments:
        if a.role == "buffer":
            row[a.name] = _poison((5,), torch.empty(0, dtype=dtype_of(a, runner.dtype)))
    changed = written(function, row)
    before = {n: Snapshot(v) for n, v in row.items() if isinstance(v, Tensor) and n not in changed}
    runner.call(function, row)
    for name, snapshot in before.items():
        if name == (in_place(function, row) or ("", ""))[1]:
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
    for very_same in (False, True):
        row = runner.row(function, made)
        if very_same:
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
                    row[out], row[other] = overlapping(tensor, place == "one element before")
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


def check_threads(case: Case, sample: SampleInput, *dtypes: torch.dtype) -> None:
    """Results are the same, to the bit, with 1, 2 and 5 threads and in repeated runs."""
    threads = torch.get_num_threads()
    for dtype in dtypes or (torch.float32, torch.float64):
        runner = CaseRunner(case, sample, dtype)
        try:
            torch.set_num_threads(1)
            expected = runner.defined(runner.run())
            for count in (2, 5, 2):
                torch.set_num_threads(count)
                same_bits(runner, f" with {count} threads instead of 1", runner.run(), expected)
        finally:
            torch.set_num_threads(threads)


def overlapping(tensor: Tensor, before: bool) -> tuple[Tensor, Tensor]:
    """A copy of `tensor`, preceded by a view of the same memory and size that begins one element before it if `before`,
    otherwise one element after it."""
    memory = tensor.new_zeros(tensor.numel() + 1)
    low, high = memory[:-1].view(tensor.shape), memory[1:].view(tensor.shape)
    (high if before else low).copy_(tensor)
    return (low, high) if before else (high, low)


def check_overlap(case: Case, sample: SampleInput, dtype: torch.dtype = torch.float64) -> None:
    """Outputs that overlap an argument by all but one element are refused, or the result is right."""
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
            and (plain[out].dtype, plain[out].shape) == (plain[other].dtype, plain[other].shape)
        ]
        for out, other in pairs:
            for before in (True, False):
                row = runner.row(function, made)
                row[out], row[other] = overlapping(row[other], before)
                side = "before" if before else "after"
                where = f"{function.name} with {out} one element {side} the memory of {other}"
                try:
                    runner.call(function, row)
                except ERRORS as error:
                    if not str(error).startswith(f"{function.name}: "):
                        raise Failed(f"{where}: the error does not name the function: {error}") from error
                    continue
                if not torch.equal(bits(row[out]), bits(plain[out])):
                    raise Failed(f"{where}: accepted, but the result is wrong")
        if function is runner.forward:
            made = {n: plain[n] for n in written(function, plain)}


def float_mode() -> tuple[float, ...]:
    """Results that depend on the floating-point mode: on flushing of subnormals, and on rounding."""
    least, third = torch.tensor([5e-324, 1.0, 1.0], dtype=torch.float64), torch.tensor([1.0, 3.0, -3.0])
    tiny = torch.tensor([1e-45, 1e-40])
    half = float.fromhex("0x1.8p-53")
    return (
        *(least * torch.tensor([1.0, 1.0 + half, 1.0 - half], dtype=torch.float64)).tolist(),
        *(torch.ones(3) / third).tolist(),
        *(tiny + tiny).tolist(),
        float("5e-324") * float("1.0"),
        float("1.0") + half,
        float("-1.0") - half,
    )


def check_mode(case: Case, sample: SampleInput) -> None:
    """A call leaves the floating-point mode unchanged."""
    before = float_mode()
    CaseRunner(case, sample).run()
    if float_mode() != before:
        raise Failed(f"{case.module} left another floating-point mode: {before} became {float_mode()}")


# --- running ------------------------------------------------------------------------------------------------

CHECKS: Mapping[str, Callable[[Case, SampleInput], None]] = {
    "reference": check_reference,
    "float32": check_float32,
    "gradients": check_gradients,
    "second gradients": check_second_gradients,
    "layouts": check_layouts,
    "output layouts": check_output_layouts,
    "meta": check_meta,
    "contract": check_contract,
    "threads": check_threads,
    "overlap": check_overlap,
    "mode": check_mode,
}
_NEED_DERIVATIVES = ("gradients", "second gradients")
# Checks that also run on the first benchmark row, since small tensors are neither split into tasks nor read in place.
_NEED_LARGE: Mapping[str, Callable[[Case, SampleInput, torch.dtype], None]] = {
    "threads": check_threads,
    "overlap": check_overlap,
}


def plan(names: Sequence[str] = (), registry: Registry = INSTALLED) -> Iterator[Check]:
    """All checks of the named modules, or of all modules."""
    cases = registry.cases()
    for module in registry.modules.values():
        if names and module.name not in names:
            continue
        if module.forward is not None:
            yield from _plan(module.name, cases.get(module.name), (module.forward, *module.backwards))
        for function in module.others:
            yield from _plan(function.name, cases.get(function.name), (function,))


def _has_second_derivatives(case: Case) -> bool:
    classes = case.registry.function_classes
    return case.phase is None and classes[f"{case.module}Function"].has_second_derivatives


def _plan(name: str, case: Case | None, functions: Sequence[Function]) -> Iterator[Check]:
    """The checks of the case of these functions."""
    if case is None:
        yield Check(name, "case", "", functools.partial(_no_case, name))
    else:
        for check, function in CHECKS.items():
            for sample in case.samples:
                if check == "second gradients" and not _has_second_derivatives(case):
                    continue
                if check not in _NEED_DERIVATIVES or (sample.differentiable and case.phase is None):
                    yield Check(name, check, sample.name, functools.partial(function, case, sample))
            if check in _NEED_LARGE:
                for row in case.rows[:1]:
                    run = functools.partial(_NEED_LARGE[check], case, row.sample, getattr(torch, row.dtype))
                    yield Check(name, check, row.name, run)
        for error_input in case.error_inputs:
            where = f"{case.phase or error_input.phase}, {error_input.name}"
            yield Check(name, "error inputs", where, functools.partial(check_error_input, case, error_input))
        for c_function in functions:
            run = functools.partial(check_arity, case, c_function)
            yield Check(name, "error inputs", f"{c_function.phase}, arity", run)
            for a in c_function.arguments:
                if a.role != "state":
                    run = functools.partial(check_wrong_argument, case, c_function, a)
                    yield Check(name, "error inputs", f"{c_function.phase}, {a.name}", run)


def _no_case(name: str) -> None:
    raise Failed(
        f"{name} has no case in thnn/testing/cases, or in <header>_case.py beside a header of one's own"
    )


def run_check(check: Check) -> Result:
    """Runs a check; an exception becomes the message of the result."""
    start = time.perf_counter()
    message = ""
    try:
        # The name of the check is the file name of this code, which faulthandler prints if a kernel crashes.
        exec(compile("run()", f"<{check}>", "exec"), {"run": check.run})
    except Failed as failure:
        message = str(failure)
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - start
    return Result(check.module, check.check, check.sample, not message, seconds, message)


def main(names: Sequence[str], as_json: bool = False, registry: Registry = INSTALLED) -> int:
    """Runs the command: prints a line per kind of check, and the failures. Exit status 1 if there are failures."""
    with contextlib.suppress(AttributeError, OSError):  # if there is no standard error
        faulthandler.enable()
    results: list[Result] = []
    shown: list[tuple[str, str]] = []

    def line() -> None:
        module, check = shown[-1]
        group = [r for r in results if (r.module, r.check) == (module, check)]
        failed = [r for r in group if not r.ok]
        seconds = sum(r.seconds for r in group)
        verdict = f"{len(failed)} FAILED" if failed else "ok"
        print(f"{module:<36}{check:<18}{len(group):>4}  {verdict:<12}{seconds:6.2f} s", flush=True)
        by_message: dict[str, list[str]] = {}
        for r in failed:
            by_message.setdefault(r.message, []).append(r.sample)
        for message, samples in by_message.items():
            more = f" (and {len(samples) - 1} more)" if len(samples) > 1 else ""
            print(f"    {samples[0]}{more}: {message}", flush=True)

    def report(result: Result) -> None:
        if not as_json and shown and shown[-1] != (result.module, result.check):
            line()
        if not shown or shown[-1] != (result.module, result.check):
            shown.append((result.module, result.check))
        results.append(result)

    for check in plan(names, registry):
        report(run_check(check))
    failures = [r for r in results if not r.ok]
    if as_json:
        json.dump([asdict(r) for r in results], sys.stdout, indent=1)
        print()
    elif results:
        line()
        print(f"{len(results)} checks, {len(failures)} failed")
    return 1 if failures else 0
