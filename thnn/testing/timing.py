"""Timing of calls that take turns, and the measurement of a benchmark row."""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

_BLOCK_SECONDS = 0.02
# Warm-up calls let the allocator cache memory of each size.
_WARM_UP_SECONDS = 0.15
# The same on a GPU, where the warm-up waits for each call.
_DEVICE_WARM_UP_SECONDS = 0.03

CONTIGUOUS, CHANNELS_LAST = "contiguous", "channels-last"


@dataclass
class Timing:
    """Seconds per call."""

    best: float
    median: float
    blocks: list[float] = field(default_factory=list)  # seconds per call of each block, in the order of time


@dataclass
class Measurement:
    """The times of one benchmark row in one phase ('fwd' or 'fb'), and their comparison with the goals."""

    row: str
    phase: str
    timings: dict[str, Timing] = field(default_factory=dict)  # 'torch contiguous' and so on
    ratio: float | None = None  # torch default layout / thnn contiguous
    best_ratio: float | None = None  # torch's better layout / thnn contiguous
    channels_last_ratio: float | None = None
    other_ratio: float | None = None  # Row.other / thnn, contiguous
    other_channels_last_ratio: float | None = None
    compile_ratio: float | None = None  # torch.compile / thnn's better layout
    fraction: float | None = None  # of the roofline, thnn contiguous
    torch_fraction: float | None = None
    roofline: str = ""
    exchange_ns: float | None = None  # of a cache line between two cores, after the row
    goals: list[str] = field(default_factory=list)
    met: bool | None = None


def in_layout(tensor: Tensor, layout: str) -> Tensor:
    if layout == CHANNELS_LAST and tensor.dim() in (4, 5) and tensor.is_floating_point():
        memory_format = torch.channels_last if tensor.dim() == 4 else torch.channels_last_3d
        return tensor.contiguous(memory_format=memory_format)
    return tensor.contiguous()


def _warmed_up(call: Callable[[], Any], warm_up: float = _WARM_UP_SECONDS) -> float:
    """Seconds of one call after a warm-up."""
    end = time.perf_counter() + warm_up
    call()
    while time.perf_counter() < end:
        call()
    start = time.perf_counter()
    call()
    return max(time.perf_counter() - start, 1e-7)


def alternate(calls: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, Timing]:
    """Seconds per call; the calls take turns call by call. This reveals differences of a few percent, which are smaller
    than the variation between blocks that other load and memory addresses cause."""
    repeats = rounds
    for call in calls.values():
        repeats = max(repeats, int(rounds * _BLOCK_SECONDS / _warmed_up(call)))
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls.items())
    for _ in range(repeats):
        order.reverse()  # each call finds the cache contents of itself and of the others equally often
        for name, call in order:
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: Timing(min(s), statistics.median(s), s) for name, s in seconds.items()}


def take_turns(
    calls: Mapping[str, Callable[[], Any]], rounds: int, synchronize: Callable[[], Any] | None = None
) -> dict[str, Timing]:
    """Seconds per call; the calls take turns in blocks. `synchronize` waits for a device at both ends of a block."""
    warm_up = _WARM_UP_SECONDS if synchronize is None else _DEVICE_WARM_UP_SECONDS
    synchronize = synchronize or (lambda: None)

    def waiting(call: Callable[[], Any]) -> None:
        call()
        synchronize()

    counts = {
        name: max(1, int(_BLOCK_SECONDS / _warmed_up(functools.partial(waiting, call), warm_up)))
        for name, call in calls.items()
    }
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls.items())
    for turn in range(rounds):
        # A different call begins each round; untimed repetitions replace the cache contents of the call before.
        first = turn % len(order)
        for name, call in order[first:] + order[:first]:
            repeat = range(counts[name])
            for _ in range(counts[name] // 4 + 1):
                call()
            synchronize()
            start = time.perf_counter()
            for _ in repeat:
                call()
            synchronize()
            seconds[name].append((time.perf_counter() - start) / counts[name])
    return {name: Timing(min(s), statistics.median(s), s) for name, s in seconds.items()}
