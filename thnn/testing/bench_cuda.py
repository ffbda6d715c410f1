"""``python -m thnn bench --device cuda``: the rows of the table of cases on a GPU, thnn and torch in one run.

A row is timed twice. `torch contiguous` and `thnn contiguous` are GPU times: calls are captured in a CUDA graph, and
replays of the graphs take turns with replays of a copy of as many bytes as the row must move. The ratio and the
fraction of the copy's bandwidth are taken from replays; the goal of a row that is bound by memory is GOAL of that
bandwidth. `torch call` and `thnn call` are calls from Python, which take the longer of GPU time and host time. If one
of the functions cannot be captured, because it waits for the GPU, the row has only the times of calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from thnn.testing.cases.model import Case, Row
from thnn.testing.measure import Call, compare_results, judge
from thnn.testing.timing import CONTIGUOUS, Measurement, Timing, take_turns

GOAL = 0.85  # of the copy's bandwidth
# Calls per graph: launching a graph takes the host longer than a short kernel takes the GPU.
_CAPTURED_CALLS = 8


def _captured(call: Callable[[], Any], device: torch.device) -> Callable[[], Any]:
    """A function that replays _CAPTURED_CALLS calls. Raises RuntimeError if the call cannot be captured."""
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):  # the first calls allocate, and choose algorithms
        for _ in range(2):
            call()
    torch.cuda.current_stream(device).wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(_CAPTURED_CALLS):
            call()
    replay: Callable[[], Any] = graph.replay
    return replay


def _replayed(calls: dict[str, Callable[[], Any]], device: torch.device, rounds: int) -> dict[str, Timing]:
    """Seconds per call, of the GPU. Raises RuntimeError if a call cannot be captured."""
    timings = take_turns(
        {name: _captured(call, device) for name, call in calls.items()},
        rounds,
        functools.partial(torch.cuda.synchronize, device),
    )
    return {
        name: Timing(
            t.best / _CAPTURED_CALLS, t.median / _CAPTURED_CALLS, [b / _CAPTURED_CALLS for b in t.blocks]
        )
        for name, t in timings.items()
    }


def measure(case: Case, row: Row, rounds: int) -> list[Measurement]:
    """Times a row in each of its phases, contiguous, on the GPU of the case."""
    device = case.device
    row = replace(row, flops={})  # rows that are bound by arithmetic are computed by torch on both sides
    implementations = {name: Call(case, row, name, CONTIGUOUS, device) for name in ("torch", "thnn")}
    # With torch on the CPU: on a GPU (torch 2.11) its multilabel_margin_loss loses gradients of some labels.
    compare_results(
        row, {"torch on the CPU": Call(case, row, "torch", CONTIGUOUS), "thnn": implementations["thnn"]}
    )
    found = []
    for phase in row.phases:
        calls: dict[str, Callable[[], Any]] = {
            n: c.forward if phase == "fwd" else c.forward_backward for n, c in implementations.items()
        }
        copies: dict[str, Callable[[], Any]] = {}
        moved = row.bytes_moved.get(phase)
        if moved is not None:
            source = torch.empty(int(moved) // 2, dtype=torch.uint8, device=device)
            copies["copy"] = functools.partial(torch.empty_like(source).copy_, source)
        with torch.set_grad_enabled(phase != "fwd"):
            called = take_turns(calls | copies, rounds, functools.partial(torch.cuda.synchronize, device))
            try:
                timed = _replayed(calls | copies, device, rounds)
                timings = {f"{n} {CONTIGUOUS}": timed[n] for n in calls} | {
                    f"{n} call": called[n] for n in calls
                }
            except RuntimeError:
                torch.cuda.synchronize(device)
                timed = called
                timings = {f"{n} {CONTIGUOUS}": called[n] for n in calls}
        copied = timed["copy"].best if copies else None
        measurement = judge(row, phase, timings, copied)
        measurement.met, measurement.goals = None, []
        if copied is not None:
            assert measurement.fraction is not None
            measurement.met = measurement.fraction >= GOAL
            measurement.goals = [f"{measurement.fraction:.2f} of the bandwidth of a copy, goal {GOAL}"]
        found.append(measurement)
    return found
