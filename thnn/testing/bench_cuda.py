"""``python -m thnn bench --device cuda``: the rows of the table of cases on a GPU, thnn and torch in one run.

The calls take turns, as on the CPU; each block of calls ends when the GPU has finished. A row states the ratio of
torch's time to thnn's and, if it is bound by memory, the fraction of the bandwidth of a copy of as many bytes, measured
in turn with it. The goal of such a row is GOAL of that bandwidth.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import torch

from thnn.testing.bench import Call, compare_results, judge
from thnn.testing.cases.model import Case, Row
from thnn.testing.registry import Installed
from thnn.testing.timing import CONTIGUOUS, Measurement, take_turns

GOAL = 0.85  # of the copy's bandwidth


def measure(case: Case, row: Row, device: torch.device, rounds: int) -> list[Measurement]:
    """Times a row in each of its phases, contiguous, on a device."""
    synchronize: Callable[[], Any] = (
        functools.partial(torch.cuda.synchronize, device) if device.type == "cuda" else lambda: None
    )
    calls = {f"{name} {CONTIGUOUS}": Call(case, row, name, CONTIGUOUS, device) for name in ("torch", "thnn")}
    compare_results(row, calls)
    found = []
    for phase in row.phases:
        timed: dict[str, Callable[[], Any]] = {
            n: c.forward if phase == "fwd" else c.forward_backward for n, c in calls.items()
        }
        moved = row.bytes_moved.get(phase)
        if moved is not None:
            source = torch.empty(int(moved) // 2, dtype=torch.uint8, device=device)
            timed["copy"] = functools.partial(torch.empty_like(source).copy_, source)
        with torch.set_grad_enabled(phase != "fwd"):
            timings = take_turns(timed, rounds, synchronize)
        copied = timings.pop("copy").best if moved is not None else None
        measurement = judge(row, phase, timings, copied)
        measurement.met, measurement.goals = None, []
        if copied is not None:
            assert measurement.fraction is not None
            measurement.met = measurement.fraction >= GOAL
            measurement.goals = [f"{measurement.fraction:.2f} of the bandwidth of a copy, goal {GOAL}"]
        found.append(measurement)
    return found


def rows(registry: Installed, pattern: re.Pattern[str]) -> list[tuple[Case, Row]]:
    return [(c, r) for c in registry.cases().values() for r in c.rows if pattern.search(r.name)]
