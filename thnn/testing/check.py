"""``python -m thnn check``: every function against its entry in the table of cases.

`plan` lists the checks of `checks/` for all modules and samples; the test suite runs the same list
(tests/functions/test_cases.py).
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import torch

from thnn._binding.device import EMULATION, device_library
from thnn._classes import PACKAGE, Registry
from thnn._header import Function
from thnn.testing.case_runner import CaseRunner, Failed, computes_on_device
from thnn.testing.cases import arguments, cases_of
from thnn.testing.cases.model import Case, SampleInput
from thnn.testing.checks.layouts import check_layouts, check_meta, check_output_layouts
from thnn.testing.checks.memory import check_contract, check_overlap
from thnn.testing.checks.numbers import check_numbers
from thnn.testing.checks.threads import check_mode, check_order, check_threads
from thnn.testing.checks.values import (
    check_bfloat16,
    check_float16,
    check_float32,
    check_gradients,
    check_large,
    check_nonfinite,
    check_reference,
    check_second_gradients,
    check_widened,
)
from thnn.testing.error_inputs import ERRORS, check_arity, check_error_input, check_wrong_argument


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


CHECKS: Mapping[str, Callable[[Case, SampleInput], None]] = {
    "reference": check_reference,
    "float32": check_float32,
    "float16": check_float16,
    "bfloat16": check_bfloat16,
    "gradients": check_gradients,
    "second gradients": check_second_gradients,
    "layouts": check_layouts,
    "output layouts": check_output_layouts,
    "meta": check_meta,
    "contract": check_contract,
    "threads": check_threads,
    "order": check_order,
    "overlap": check_overlap,
    "mode": check_mode,
    "widened": check_widened,
    "nonfinite": check_nonfinite,
    "numbers": check_numbers,
}
_NEED_CPU = ("widened", "nonfinite", "numbers")
_NEED_DERIVATIVES = ("gradients", "second gradients")
# These also run on the first benchmark row, since small tensors are neither split into tasks nor read in place.
_NEED_LARGE: Mapping[str, Callable[..., None]] = {
    "reference": check_large,
    "threads": check_threads,
    "order": check_order,
    "overlap": check_overlap,
}


def plan(names: Sequence[str] = (), registry: Registry = PACKAGE, device: str = "cpu") -> Iterator[Check]:
    """All checks of the named modules, or of all modules, on a device.

    Raises the errors of `cases_of`, and ValueError if the functions of the package are to run in emulation, which was
    not built.
    """
    if EMULATION and registry is PACKAGE and device_library() is None:
        raise ValueError(
            "THNN_CUDA_EMULATE is set, and the emulation is not built; build it by: make emulate"
        )
    cases = cases_of(registry, device)
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
        is_on_device = computes_on_device(case)
        for check, function in CHECKS.items():
            if check == "threads" and EMULATION and case.registry is PACKAGE:
                continue  # the emulation has one thread, and torch computes the functions that it lacks
            if check == "order" and (is_on_device or not case.registry.has_reversed_tasks):
                continue
            if check in _NEED_CPU and is_on_device:
                continue
            for sample in case.samples:
                if check in _NEED_CPU and not sample.differentiable:
                    continue  # too large to repeat the calls for each argument
                if check == "numbers" and sample is not case.samples[0]:
                    continue  # the first sample has all arguments
                if check == "float16" and not is_on_device and not sample.differentiable:
                    continue  # on the CPU float16 and bfloat16 differ in their conversions only
                if check == "second gradients" and not _has_second_derivatives(case):
                    continue
                if check not in _NEED_DERIVATIVES or (sample.differentiable and case.phase is None):
                    yield Check(name, check, sample.name, functools.partial(function, case, sample))
            if check in _NEED_LARGE and not (check == "reference" and is_on_device):
                for row in case.rows[:1]:
                    dtypes = [torch.float64 if check == "reference" else getattr(torch, row.dtype)]
                    if check == "threads" and torch.float64 not in dtypes:
                        dtypes.append(torch.float64)  # float32 rounds the order of a sum of doubles away
                    for k, dtype in enumerate(dtypes):
                        large = functools.partial(_on_part_of_batch, _NEED_LARGE[check])
                        run = functools.partial(large, case, row.sample, dtype)
                        yield Check(name, check, row.name + " in float64" * k, run)
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


def _on_part_of_batch(
    run: Callable[[Case, SampleInput, torch.dtype], None], case: Case, sample: SampleInput, dtype: torch.dtype
) -> None:
    """Runs a check on the first part of a batch."""
    run(case, _part_of_batch(case, sample, dtype), dtype)


@functools.lru_cache(maxsize=4)
def _part_of_batch(case: Case, sample: SampleInput, dtype: torch.dtype) -> SampleInput:
    """The first part of a batch, of about 250,000 numbers, which is still split into tasks; the whole batch if the
    functions refuse the part, since tensors outside of the batch have its size, too."""
    values = arguments(case, sample, dtype)
    tensors = {n: t for n, t in values.items() if isinstance(t, torch.Tensor) and t.dim()}
    size = next(iter(tensors.values())).shape[0]
    parts = max(t.numel() for t in tensors.values()) >> 18
    if parts > 1 and size > 2:
        count = max(2, size // parts)
        values.update({n: t[:count] for n, t in tensors.items() if t.shape[0] == size})
        part = replace(sample, arguments=values)
        runner = CaseRunner(case, part, dtype)
        try:
            runner.call(runner.forward, runner.row(runner.forward))
        except ERRORS:
            return sample
        return part
    return sample


def _no_case(name: str) -> None:
    raise Failed(
        f"{name} has no case in thnn/testing/cases, or in <header>_case.py beside a custom header, where each"
        " module has one, a variable of any name; `python -m thnn new NAME` writes a module with a case as an example"
    )


@contextlib.contextmanager
def exact_torch() -> Iterator[None]:
    """Asks torch, which computes convolutions on a GPU, for float32 products instead of TF32, and for deterministic
    algorithms instead of atomics."""
    with torch.backends.cudnn.flags(enabled=True, deterministic=True, benchmark=False, allow_tf32=False):
        yield


def run_check(check: Check) -> Result:
    """Runs a check; an exception becomes the message of the result."""
    start = time.perf_counter()
    message = ""
    try:
        with exact_torch():
            # The name of the check is the file name of this code, which faulthandler prints if a kernel crashes.
            exec(compile("run()", f"<{check}>", "exec"), {"run": check.run})
    except Failed as failure:
        message = str(failure)
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - start
    return Result(check.module, check.check, check.sample, not message, seconds, message)


def main(
    names: Sequence[str], as_json: bool = False, registry: Registry = PACKAGE, device: str = "cpu"
) -> int:
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

    for check in plan(names, registry, device):
        report(run_check(check))
    failures = [r for r in results if not r.ok]
    if as_json:
        json.dump([asdict(r) for r in results], sys.stdout, indent=1)
        print()
    elif results:
        line()
        print(f"{len(results)} checks, {len(failures)} failed")
    return 1 if failures else 0
