"""Numbers of threads, and the floating-point mode of the calling thread."""

from __future__ import annotations

from dataclasses import replace

import torch

from thnn.testing.case_runner import (
    CaseRunner,
    Failed,
    same_bits,
)
from thnn.testing.cases.model import Case, SampleInput


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


def check_order(case: Case, sample: SampleInput, *dtypes: torch.dtype) -> None:
    """Results are the same, to the bit, if tasks run from the last to the first: no task depends on another."""
    reversed_case = replace(case, registry=case.registry.reversed_tasks)
    for dtype in dtypes or (torch.float32, torch.float64):
        runner = CaseRunner(case, sample, dtype)
        got = CaseRunner(reversed_case, sample, dtype).run()
        same_bits(runner, " with tasks in reversed order", got, runner.defined(runner.run()))


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
