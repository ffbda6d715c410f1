"""The rows of ``python -m thnn bench`` for synchronized batch normalization.

In a group of one process, synchronized batch normalization is timed against plain batch normalization. In a group
of two processes of one thread each, connected by gloo, it is timed against the local computation with an
all_gather of messages of the same size after the forward and after the backward. Run as a program, this module is
one of the two processes.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from thnn._batch_norm.communicator import Tag, communicator_of
from thnn._batch_norm.function import BatchNormalizationFunction
from thnn._batch_norm.sync import SyncBatchNormalizationFunction, synchronized
from thnn.testing.timing import CHANNELS_LAST, CONTIGUOUS, Measurement, Timing, in_layout, take_turns

_SHAPES = ((32, 64, 56, 56), (8, 256, 14, 14))
_ROWS = {
    f"SyncBatchNormalization {processes} {str(shape).replace(' ', '')}": (processes, shape)
    for processes in ("one process", "two processes")
    for shape in _SHAPES
}
# Goals: largest time relative to plain batch normalization, and relative to the local computation and two
# collectives.
_ONE_PROCESS, _TWO_PROCESSES = 1.05, 1.2
_BLOCK_SECONDS = 0.1
_WARM_UP_CALLS = 10


_Tensors = tuple[list[Tensor], list[Tensor], Tensor]


def _tensors(shape: tuple[int, ...], layout: str) -> _Tensors:
    """Input, weight and bias; running statistics; gradOutput. All compared calls share them, since the address of a
    tensor influences the time."""
    generator = torch.Generator().manual_seed(0)
    C = shape[1]
    input, gradient = (in_layout(torch.randn(shape, generator=generator), layout) for _ in range(2))
    differentiable = [t.requires_grad_() for t in (input, torch.ones(C), torch.zeros(C))]
    return differentiable, [torch.zeros(C), torch.ones(C)], gradient


class _Call:
    """Forward and backward of a batch normalization."""

    def __init__(self, tensors: _Tensors, apply: Callable[..., Tensor]) -> None:
        self.differentiable, self.running, self.gradient = tensors
        self.apply = apply

    def forward(self) -> Tensor:
        return self.apply(*self.differentiable, *self.running)

    def backward(self, output: Tensor) -> tuple[Tensor, ...]:
        return torch.autograd.grad(output, self.differentiable, self.gradient)

    def __call__(self) -> None:
        self.backward(self.forward())


def matching(pattern: re.Pattern[str]) -> list[str]:
    """The names of the rows that the pattern matches."""
    return [name for name in _ROWS if pattern.search(name)]


def measure(name: str, rounds: int) -> Measurement:
    """Times forward + backward of a row and compares the time with the goal."""
    processes, shape = _ROWS[name]
    two = processes == "two processes"
    goal = _TWO_PROCESSES if two else _ONE_PROCESS
    timings = _two_processes(shape, rounds) if two else _one_process(shape, rounds)
    found = Measurement(name, "fb", timings, met=True)
    ratios = []
    for layout in (CONTIGUOUS, CHANNELS_LAST):
        other = f"{'local + collectives' if two else 'plain'} {layout}"
        base, ours = timings[other], timings[f"thnn {layout}"]
        if ours.blocks:  # the median ratio of blocks that ran one after the other
            ratios.append(statistics.median(b / o for b, o in zip(base.blocks, ours.blocks)))
        else:
            ratios.append(base.best / ours.best)
        found.goals.append(f"{1 / ratios[-1]:.2f} of at most {goal:g} times {other}")
        found.met = found.met and ratios[-1] * goal >= 1
    found.other_ratio, found.other_channels_last_ratio = ratios
    return found


def _one_process(shape: tuple[int, ...], rounds: int) -> dict[str, Timing]:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)  # type: ignore[attr-defined]
    try:
        calls = {}
        for layout in (CONTIGUOUS, CHANNELS_LAST):
            tensors = _tensors(shape, layout)
            for name, cls in (
                ("plain", BatchNormalizationFunction),
                ("thnn", SyncBatchNormalizationFunction),
            ):

                def apply(*given: Tensor, cls: Any = cls) -> Tensor:
                    return cls.apply(*given, True, 0.1, 1e-5)

                calls[f"{name} {layout}"] = _Call(tensors, apply)
        return take_turns(calls, rounds)
    finally:
        dist.destroy_process_group()


def _two_processes(shape: tuple[int, ...], rounds: int) -> dict[str, Timing]:
    # With OMP_PROC_BIND both processes would bind their only thread to the first core.
    environment = {k: v for k, v in os.environ.items() if k != "OMP_PROC_BIND"}
    environment.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "thnn.testing.bench_sync", directory, json.dumps(shape), str(rounds)]
        processes = [subprocess.Popen([*command, str(rank)], env=environment) for rank in range(2)]
        try:
            _wait(processes, 300)
        finally:
            for process in processes:
                process.kill()
                process.wait()
        found = json.loads((Path(directory) / "timings").read_text())
    return {name: Timing(*seconds) for name, seconds in found.items()}


def _wait(processes: Sequence[subprocess.Popen[bytes]], seconds: float) -> None:
    """Waits until all processes end. Raises ValueError as soon as one fails, and after `seconds`."""
    end = time.monotonic() + seconds
    while not any(codes := [process.poll() for process in processes]) and None in codes:
        if time.monotonic() > end:
            raise ValueError(f"SyncBatchNormalization: the benchmark has not ended after {seconds:g} s")
        time.sleep(0.1)
    if any(codes):
        raise ValueError("SyncBatchNormalization: a process of the benchmark failed")


class _Alone:
    """A communicator for a group of two processes that does not communicate."""

    size = 2

    def all_gather(self, local: Tensor, tag: Tag) -> Tensor:
        return torch.stack((local, local))


def _process(directory: str, shape: tuple[int, ...], rounds: int, rank: int) -> None:
    torch.set_num_threads(1)
    # The scheduler tends to put processes that wake each other on one core, which would serialize them.
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    dist.init_process_group("gloo", f"file://{directory}/store", rank=rank, world_size=2)
    communicator = communicator_of(None)
    assert communicator is not None
    message = torch.zeros(2 * shape[1] + 2, dtype=torch.float64)
    received = torch.zeros(2, message.numel(), dtype=torch.float64)
    calls: dict[str, Callable[[], Any]] = {}
    for layout in (CONTIGUOUS, CHANNELS_LAST):
        tensors = _tensors(shape, layout)

        def apply(
            x: Tensor, w: Tensor, b: Tensor, mean: Tensor, var: Tensor, by: Any = communicator
        ) -> Tensor:
            return synchronized(x, w, b, mean, var, 0.1, 1e-5, by)

        together, alone = _Call(tensors, apply), _Call(tensors, partial(apply, by=_Alone()))

        def parts(alone: _Call = alone) -> None:
            output = alone.forward()
            dist.all_gather(list(received.unbind()), message)
            alone.backward(output)
            dist.all_gather(list(received.unbind()), message)

        calls[f"thnn {layout}"] = together
        calls[f"local + collectives {layout}"] = parts
    # Not take_turns, since both processes have to make the same calls at the same time.
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    # Warm-up calls let the allocator cache memory of each size.
    counts = dict.fromkeys(calls, _WARM_UP_CALLS)
    for turn in range(-2, rounds):  # turns -2 and -1 warm up; turn -1 also determines the calls per block
        for name, call in calls.items():
            dist.barrier()
            start = time.perf_counter()
            for _ in range(counts[name]):
                call()
            elapsed = (time.perf_counter() - start) / counts[name]
            if turn == -1:
                count = torch.tensor(max(1, int(_BLOCK_SECONDS / elapsed)))
                dist.broadcast(count, 0)
                counts[name] = int(count)
            elif turn >= 0:
                seconds[name].append(elapsed)
    if rank == 0:
        found = {name: (min(s), sorted(s)[len(s) // 2]) for name, s in seconds.items()}
        (Path(directory) / "timings").write_text(json.dumps(found))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    _process(sys.argv[1], tuple(json.loads(sys.argv[2])), int(sys.argv[3]), int(sys.argv[4]))
