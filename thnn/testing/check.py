"""``python -m thnn check``: every function against its entry in the table of cases.

A check is a function of a case and one of its samples that raises `Failed` with what was called, what came and what
was expected. `plan` lists them; the test suite runs the same list (tests/test_cases.py).
"""

from __future__ import annotations

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

from thnn._functions.classes import function_classes
from thnn._header import Function
from thnn._header.registry import modules
from thnn.testing.case_runner import (
    LAYOUTS,
    TIGHT,
    Enter,
    Failed,
    Snapshot,
    Trial,
    as_it_is,
    bits,
    channels_last,
    compare,
    compare_all,
    in_place,
    largest_of,
    lay_out,
    same_bits,
    twin,
    written,
)
from thnn.testing.cases import cases
from thnn.testing.cases.model import Case, Sample
from thnn.testing.error_inputs import ERRORS, check_arity, check_refusal, check_wrong_argument


@dataclass(frozen=True)
class Check:
    """Something to be run: one kind of check on one sample of a module."""

    module: str
    check: str
    sample: str
    run: Callable[[], None]

    def __str__(self) -> str:
        return f"{self.module}: {self.check}: {self.sample}"


@dataclass(frozen=True)
class Result:
    """What came of a check."""

    module: str
    check: str
    sample: str
    ok: bool
    seconds: float
    message: str = ""


# --- the checks ---------------------------------------------------------------------------------------------


def check_reference(case: Case, sample: Sample) -> None:
    """Backend and class in float64 against the reference."""
    trial = Trial(case, sample)
    compare_all(trial, "", trial.run(), trial.expected(), TIGHT)
    if not trial.has_class:
        return

    output, _, gradients = trial.reference
    leaves = trial.leaves()
    got = trial.apply(leaves)
    name = trial.cls.__name__
    compare(f"{name}.apply", got, output, TIGHT)
    if not leaves:
        return
    # A criterion multiplies with the gradient that comes in.
    factor = torch.tensor(-1.5, dtype=got.dtype) if trial.module.is_criterion else trial.gradOutput
    found = torch.autograd.grad(got, list(leaves.values()), factor.reshape(got.shape), allow_unused=True)
    for gradient, (leaf, value) in zip(trial.gradients, zip(leaves, found)):
        if value is None:
            raise Failed(f"{name}: backward gave no gradient by {leaf}")
        expected = gradients[gradient] * (factor if trial.module.is_criterion else 1)
        compare(f"{name}: gradient by {leaf}", value, expected, TIGHT)

    # Reusable, called with tensors, and without a graph: always the same.
    tensors = trial.cls._names[: trial.cls._call_count]
    values = {k: v.clone() if isinstance(v, Tensor) else v for k, v in trial.values.items()}
    function = trial.cls(**{k: v for k, v in values.items() if k not in tensors})
    for _ in range(2):
        again = function(*(values[n].clone() if values[n] is not None else None for n in tensors))
        if not torch.equal(bits(again), bits(got)):
            raise Failed(f"{function!r}: another result than {name}.apply")


def check_float32(case: Case, sample: Sample) -> None:
    """float32 against the reference in float64, on the same values."""
    trial = Trial(case, sample, torch.float32)
    expected = trial.expected()
    for key, tensor in expected.items():
        if tensor.is_floating_point():
            # What float32 cannot hold is infinite in it, and the lowest float64 its own lowest.
            lowest = tensor == torch.finfo(torch.float64).min
            expected[key] = tensor.to(torch.float32).to(torch.float64)
            expected[key][lowest] = torch.finfo(torch.float32).min
    compare_all(trial, " in float32", trial.run(), expected, case.tolerance)


def check_gradients(case: Case, sample: Sample) -> None:
    """First derivatives of the class against finite differences."""
    trial = Trial(case, sample)
    leaves = trial.leaves()
    _gradcheck(
        trial.cls.__name__,
        lambda *tensors: trial.apply(dict(zip(leaves, tensors))),
        leaves,
    )


def check_second_gradients(case: Case, sample: Sample) -> None:
    """Derivatives of the gradients against finite differences."""
    trial = Trial(case, sample)
    leaves = trial.leaves()
    factor = trial.factor(trial.reference[0]).requires_grad_()
    names = [*leaves, "gradOutput"]

    def gradients(*tensors: Tensor) -> tuple[Tensor, ...]:
        inputs = [t if t.requires_grad else t.detach().requires_grad_() for t in tensors[:-1]]
        output = trial.apply(dict(zip(leaves, inputs)))
        return torch.autograd.grad(output, inputs, tensors[-1].reshape(output.shape), create_graph=True)

    _gradcheck(f"gradients of {trial.cls.__name__}", gradients, dict(zip(names, [*leaves.values(), factor])))


def _gradcheck(what: str, function: Callable[..., Any], leaves: Mapping[str, Tensor]) -> None:
    tensors = list(leaves.values())
    if not any(t.numel() for t in tensors):
        return
    try:
        torch.autograd.gradcheck(function, tensors, check_undefined_grad=False)
    except GradcheckError as error:
        raise Failed(f"{what}: {_worst_derivative(function, leaves)}") from error


def _worst_derivative(function: Callable[..., Any], leaves: Mapping[str, Tensor], step: float = 1e-6) -> str:
    """Says where the derivative of a random combination of the results is furthest from finite differences."""

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


def check_layouts(case: Case, sample: Sample) -> None:
    """What is read, in every layout: each tensor by itself and all at once."""
    trial = Trial(case, sample)
    everything = trial.run()
    expected = trial.defined(everything)

    forward = trial.made(everything)
    names: dict[str, Tensor] = {}
    changed: set[str] = set()  # the elements of these must not share an address
    for function in trial.functions:
        row = trial.row(function, {} if function is trial.forward else forward)
        names.update({n: v for n, v in row.items() if isinstance(v, Tensor)})
        changed.update(written(function, row))
    for name, tensor in names.items():
        if not sample.differentiable:
            continue  # too large to go through one by one
        for kind, (_, fits) in LAYOUTS.items():
            if fits(tensor):
                got = trial.run(functools.partial(_only, name, kind))
                compare_all(trial, f" with {name} {kind}", got, expected, TIGHT)
        for dim in range(tensor.dim()):
            if tensor.shape[dim] < 2 or name in changed:
                continue
            first = functools.partial(_first_everywhere, name, dim)
            plain = trial.run(functools.partial(_contiguous_first, name, dim))
            got = trial.run(first)
            for key, result in expected.items():
                # Results may cancel out when the values are alike: the errors are those of results that do not.
                where = f"{case.module}_{key.replace('.', ': ')} with {name} expanded in dimension {dim}"
                compare(where, got[key], plain[key], TIGHT, largest_of(result))
    for kind, (_, fits) in LAYOUTS.items():
        if any(fits(t) for t in names.values()):
            got = trial.run(functools.partial(_all, kind))
            compare_all(trial, f" with all tensors {kind}", got, expected, TIGHT)


def _first_everywhere(name: str, dim: int, n: str, tensor: Tensor) -> Tensor:
    return tensor.narrow(dim, 0, 1).expand(tensor.shape) if n == name and tensor.shape[dim] > 1 else tensor


def _contiguous_first(name: str, dim: int, n: str, tensor: Tensor) -> Tensor:
    return _first_everywhere(name, dim, n, tensor).contiguous()


def check_output_layouts(case: Case, sample: Sample) -> None:
    """Outputs of the right size keep their memory and strides; those made by a class follow a channels-last input."""
    trial = Trial(case, sample)
    everything = trial.run()
    expected = trial.defined(everything)
    shared = {f"{f.phase}.{pair[1]}" for f in trial.functions if (pair := in_place(f, trial.values))}
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

        got = trial.run(output=output)
        compare_all(trial, f" into {kind} outputs", got, expected, TIGHT)
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
                raise Failed(f"{where}: something was written between its elements")
    if not trial.has_class:
        return
    input = trial.values["input"]
    if input.dim() not in (4, 5) or in_place(trial.forward, trial.values):
        return
    if channels_last(input).is_contiguous():
        return  # with one plane or one pixel it is both
    leaves = {n: (channels_last(t) if t.dim() == input.dim() else t) for n, t in trial.leaves().items()}
    leaves = {n: t.detach().requires_grad_() for n, t in leaves.items()}
    result = trial.apply(leaves)
    memory_format = torch.channels_last if input.dim() == 4 else torch.channels_last_3d
    made = {"output": result} if result.dim() == input.dim() else {}
    factor = torch.ones_like(result)
    made["gradient by input"] = torch.autograd.grad(result, leaves["input"], factor)[0]
    for name, tensor in made.items():
        if tensor.numel() and not tensor.is_contiguous(memory_format=memory_format):
            raise Failed(
                f"{trial.cls.__name__}: {name} of channels-last input {tuple(input.shape)}"
                f" has strides {tensor.stride()}"
            )


def check_meta(case: Case, sample: Sample) -> None:
    """Meta tensors give the shapes, types and strides that real ones give."""
    trial = Trial(case, sample)
    ways: Mapping[str, Enter] = {
        "contiguous": as_it_is,
        "channels-last": functools.partial(_all, "channels-last"),
    }
    for layout, enter in ways.items():
        if layout == "channels-last" and not any(
            isinstance(v, Tensor) and v.dim() in (4, 5) for v in trial.values.values()
        ):
            continue
        real = trial.run(enter)
        meta = trial.run(
            lambda n, t, enter=enter: twin(enter(n, t).to("meta")) if not t.is_meta else t,  # type: ignore[misc]
            lambda k, t: t.to("meta"),
        )
        for key, tensor in real.items():
            _same_form(f"{case.module}_{key.replace('.', ': ')}, {layout}", meta[key], tensor)
        if not trial.has_class:
            continue
        with torch.no_grad():
            given = {k: enter(k, v).clone() if isinstance(v, Tensor) else v for k, v in trial.values.items()}
            away = {k: twin(v.to("meta")) if isinstance(v, Tensor) else v for k, v in given.items()}
            _same_form(
                f"{trial.cls.__name__}.apply, {layout}", trial.cls.apply(**away), trial.cls.apply(**given)
            )


def _same_form(what: str, meta: Tensor, real: Tensor) -> None:
    for name, got, expected in (
        ("device", meta.device.type, "meta"),
        ("shape", tuple(meta.shape), tuple(real.shape)),
        ("type", meta.dtype, real.dtype),
        ("strides", meta.stride(), real.stride()),
    ):
        if got != expected:
            raise Failed(f"{what}: {name} of the meta result is {got}, of the real one {expected}")


def check_contract(case: Case, sample: Sample) -> None:
    """Stale content, buffers, accumulation, what must not change, and sharing memory."""
    trial = Trial(case, sample)
    everything = trial.run()
    expected = trial.defined(everything)

    def stale(key: str, value: Tensor) -> Tensor:
        return value if _accumulates(key) else _rubbish(everything[key].shape, value)

    def wrong_size(key: str, value: Tensor) -> Tensor:
        return value if _accumulates(key) else _rubbish((2, 1, 3), value)

    same_bits(trial, " into outputs full of NaN", trial.run(output=stale), expected)
    # Of one element: with a dimension or without.
    got = {k: v.reshape(expected[k].shape) for k, v in trial.run(output=wrong_size).items() if k in expected}
    same_bits(trial, " into outputs of another size", got, expected)

    made: dict[str, Any] = {}
    for function in trial.functions:
        mine = {k.split(".")[1]: v for k, v in expected.items() if k.startswith(function.phase + ".")}
        for check in (_check_untouched, _check_accumulation, _check_in_place, _check_shared_memory):
            check(trial, function, made, mine)
        if function is trial.forward:
            made = trial.made(everything)


def _accumulates(key: str) -> bool:
    name = key.split(".")[1]
    return name.startswith("grad") and name != "gradInput"


def _rubbish(size: Sequence[int], like: Tensor) -> Tensor:
    return torch.full(tuple(size), math.nan if like.is_floating_point() else -(2**62), dtype=like.dtype)


def _same_results(
    trial: Trial, function: Function, how: str, row: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    phase = function.phase
    got = {f"{phase}.{n}": row[n] for n in mine}
    same_bits(trial, how, got, {f"{phase}.{n}": t for n, t in mine.items()})


def _check_untouched(
    trial: Trial, function: Function, made: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    """Buffers are left alone, and so is everything that is only read."""
    row = trial.row(function, made)
    for a in function.arguments:
        if a.role == "buffer":
            row[a.name] = torch.full((5,), math.nan, dtype=trial.dtype)
    changed = written(function, row)
    before = {n: Snapshot(v) for n, v in row.items() if isinstance(v, Tensor) and n not in changed}
    trial.call(function, row)
    for name, snapshot in before.items():
        if name == (in_place(function, row) or ("", ""))[1]:
            continue
        if difference := snapshot.difference(row[name]):
            raise Failed(f"{function.name}: {name} was only to be read, but {difference}")
    _same_results(trial, function, "", row, mine)


def _check_accumulation(
    trial: Trial, function: Function, made: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    """Gradients of parameters are added, with the factor `scale`."""
    row = trial.row(function, made)
    if "scale" not in row:
        return
    row["scale"] = -0.5
    generator = torch.Generator().manual_seed(3)
    before = {}
    for a in function.tensors("gradParameter"):
        if row[a.name] is not None:
            before[a.name] = torch.randn(row[a.name].shape, generator=generator, dtype=trial.dtype)
            row[a.name] = before[a.name].clone()
    trial.call(function, row)
    for n, t in before.items():
        compare(f"{function.name} with scale -0.5: {n}", row[n], t - 0.5 * mine[n], TIGHT)


def _check_in_place(
    trial: Trial, function: Function, made: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    """With the in-place flag the result is in the memory of the input, and so is the output."""
    pair = in_place(function, trial.values)
    if pair is None:
        return
    source, result = pair
    for very_same in (False, True):
        row = trial.row(function, made)
        if very_same:
            row[result] = row[source]
        address = row[source].data_ptr()
        trial.call(function, row)
        if row[source].data_ptr() != address:
            raise Failed(f"{function.name} in place: {source} has moved")
        if row[result].data_ptr() != address:
            raise Failed(f"{function.name} in place: {result} does not share the memory of {source}")
        _same_results(trial, function, " in place", row, mine)


def _check_shared_memory(
    trial: Trial, function: Function, made: Mapping[str, Any], mine: Mapping[str, Tensor]
) -> None:
    """An output may be in memory that is read: then it is refused, or the result is right all the same."""
    plain = trial.row(function, made)
    outputs = [a.name for a in function.tensors("output", "gradInput", "saved") if a.name in mine]
    for out in outputs:
        for other, tensor in plain.items():
            if not isinstance(tensor, Tensor) or other == out or not tensor.numel():
                continue
            if tensor.dtype is not mine[out].dtype or tensor.shape != mine[out].shape:
                continue
            for partly in (False, True):
                row = trial.row(function, made)
                if partly:
                    memory = tensor.new_zeros(tensor.numel() + 1)
                    row[other] = memory[1:].view(tensor.shape).copy_(tensor)
                    row[out] = memory[:-1].view(tensor.shape)
                else:
                    row[out] = row[other]
                where = f"{function.name} with {out} {'partly ' if partly else ''}in the memory of {other}"
                before = Snapshot(row[other])
                try:
                    trial.call(function, row)
                except ERRORS as error:
                    if difference := before.difference(row[other]):
                        raise Failed(f"{where}: refused, but {difference}") from error
                    if not str(error).startswith(f"{function.name}: "):
                        raise Failed(f"{where}: the error does not name the function: {error}") from error
                    continue
                compare(f"{where}: {out}", row[out], mine[out], TIGHT)

    # What is added to has its content already: it may share memory with nothing that is read, nor with its like.
    sums = [a.name for a in function.tensors("gradParameter") if a.name in mine]
    for out in sums:
        for other in ("input", "gradOutput", *sums):
            tensor = plain[other]
            if other == out or not tensor.numel() or not mine[out].numel():
                continue
            row = trial.row(function, made)
            memory = tensor.new_zeros(max(tensor.numel(), mine[out].numel()))
            row[other] = memory[: tensor.numel()].view(tensor.shape).copy_(tensor)
            row[out] = memory[: mine[out].numel()].view(mine[out].shape)
            where = f"{function.name} with {out} in the memory of {other}"
            before = Snapshot(memory)
            try:
                trial.call(function, row)
            except ValueError as error:
                if difference := before.difference(memory):
                    raise Failed(f"{where}: refused, but {difference}") from error
                if not str(error).startswith((f"{function.name}: {out}: ", f"{function.name}: {other}: ")):
                    raise Failed(f"{where}: the error does not name it: {error}") from error
            else:
                raise Failed(f"{where}: was taken")


def check_threads(case: Case, sample: Sample, *dtypes: torch.dtype) -> None:
    """The same bits from 1, 2 and 5 threads, and from run to run."""
    threads = torch.get_num_threads()
    for dtype in dtypes or (torch.float32, torch.float64):
        trial = Trial(case, sample, dtype)
        try:
            torch.set_num_threads(1)
            expected = trial.defined(trial.run())
            for count in (2, 5, 2):
                torch.set_num_threads(count)
                same_bits(trial, f" with {count} threads instead of 1", trial.run(), expected)
        finally:
            torch.set_num_threads(threads)


def float_mode() -> tuple[float, ...]:
    """What arithmetic gives that depends on the floating-point mode: subnormals and rounding."""
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


def check_mode(case: Case, sample: Sample) -> None:
    """Rounding and subnormals are afterwards as before."""
    before = float_mode()
    Trial(case, sample).run()
    if float_mode() != before:
        raise Failed(f"{case.module} left another floating-point mode: {before} became {float_mode()}")


# --- running ------------------------------------------------------------------------------------------------

CHECKS: Mapping[str, Callable[[Case, Sample], None]] = {
    "reference": check_reference,
    "float32": check_float32,
    "gradients": check_gradients,
    "second gradients": check_second_gradients,
    "layouts": check_layouts,
    "output layouts": check_output_layouts,
    "meta": check_meta,
    "contract": check_contract,
    "threads": check_threads,
    "mode": check_mode,
}
_NEED_DERIVATIVES = ("gradients", "second gradients")


def plan(names: Sequence[str] = ()) -> Iterator[Check]:
    """All checks of the named modules, or of all modules."""
    for module in modules().values():
        if names and module.name not in names:
            continue
        if module.forward is not None:
            yield from _plan(module.name, (module.forward, *module.backwards))
        for function in module.others:
            yield from _plan(function.name, (function,))


def _has_second_derivatives(case: Case) -> bool:
    return case.phase is None and function_classes[f"{case.module}Function"].has_second_derivatives


def _plan(name: str, functions: Sequence[Function]) -> Iterator[Check]:
    """The checks of a case, which is for these functions."""
    case = cases().get(name)
    if case is None:
        yield Check(name, "case", "", functools.partial(_no_case, name))
    else:
        for check, function in CHECKS.items():
            for sample in case.samples:
                if check == "second gradients" and not _has_second_derivatives(case):
                    continue
                if check not in _NEED_DERIVATIVES or (sample.differentiable and case.phase is None):
                    yield Check(name, check, sample.name, functools.partial(function, case, sample))
            if check == "threads":
                # The samples are too small to be split as large tensors are.
                for row in case.rows[:1]:
                    run = functools.partial(check_threads, case, row.sample, getattr(torch, row.dtype))
                    yield Check(name, check, row.name, run)
        for refusal in case.refusals:
            where = f"{case.phase or refusal.phase}, {refusal.name}"
            yield Check(name, "refusals", where, functools.partial(check_refusal, case, refusal))
        for c_function in functions:
            run = functools.partial(check_arity, case, c_function)
            yield Check(name, "refusals", f"{c_function.phase}, arity", run)
            for a in c_function.arguments:
                if a.role != "state":
                    run = functools.partial(check_wrong_argument, case, c_function, a)
                    yield Check(name, "refusals", f"{c_function.phase}, {a.name}", run)


def _no_case(name: str) -> None:
    raise Failed(f"{name} has no entry in the table of cases (thnn/cases)")


def run_checks(names: Sequence[str], report: Callable[[Result], None]) -> list[Result]:
    """Runs the checks of the named modules (all, if none is named), reports each result, returns the failures."""
    failures = []
    for check in plan(names):
        start = time.perf_counter()
        message = ""
        try:
            check.run()
        except Failed as failure:
            message = str(failure)
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
        seconds = time.perf_counter() - start
        result = Result(check.module, check.check, check.sample, not message, seconds, message)
        report(result)
        if message:
            failures.append(result)
    return failures


def main(names: Sequence[str], as_json: bool = False) -> int:
    """The command: one line per kind of check, and the failures; exit status 1 when there are any."""
    results: list[Result] = []
    shown: list[tuple[str, str]] = []

    def line() -> None:
        module, check = shown[-1]
        group = [r for r in results if (r.module, r.check) == (module, check)]
        failed = [r for r in group if not r.ok]
        seconds = sum(r.seconds for r in group)
        verdict = f"{len(failed)} FAILED" if failed else "ok"
        print(f"{module:<36}{check:<18}{len(group):>4}  {verdict:<12}{seconds:6.2f} s", flush=True)
        for r in failed:
            print(f"    {r.sample}: {r.message}", flush=True)

    def report(result: Result) -> None:
        if not as_json and shown and shown[-1] != (result.module, result.check):
            line()
        if not shown or shown[-1] != (result.module, result.check):
            shown.append((result.module, result.check))
        results.append(result)

    failures = run_checks(names, report)
    if as_json:
        json.dump([asdict(r) for r in results], sys.stdout, indent=1)
        print()
    elif results:
        line()
        print(f"{len(results)} checks, {len(failures)} failed")
    return 1 if failures else 0
