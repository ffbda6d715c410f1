"""Replicas at work: one thread each, meeting where they need something of each other.

A meeting never waits for somebody who does not come. It fails when a replica has raised, when one has finished while
others wait, and when all wait but not for the same thing.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch


class Stopped(BaseException):
    """Ends a replica because of what happened in another; `except Exception` in a network lets it pass."""


class Team:
    """Where the replicas of one forward pass meet."""

    def __init__(self, devices: Sequence[torch.device]) -> None:
        self.devices = tuple(devices)
        self._condition = threading.Condition()
        # Of those who wait: what for, and what they have brought.
        self._waiting: dict[int, tuple[str, Any]] = {}
        self._finished: set[int] = set()
        self._meetings = 0
        self._results: Sequence[Any] = ()
        self._stopped = False
        self._complaint: str | None = None
        self._over = False

    def place(self, rank: int) -> str:
        """How a replica is called in messages."""
        return f"replica {rank} on {self.devices[rank]}"

    def meet(self, rank: int, purpose: str, value: Any, compute: Callable[[list[Any]], Sequence[Any]]) -> Any:
        """Waits until all are here; the last to come has `compute` make each one's result from all values, in order.

        ValueError, naming the purpose, where another replica is somewhere else or has finished.
        """
        with self._condition:
            if self._over:
                raise NotImplementedError(
                    f"{purpose}: {self.place(rank)} has been run outside of the forward pass, as activation"
                    " checkpointing does; there the others are not present"
                )
            meeting = self._meetings
            self._waiting[rank] = purpose, value
            self._look_around()
            if len(self._waiting) == len(self.devices) and not self._stopped and self._complaint is None:
                values = [self._waiting[r][1] for r in range(len(self.devices))]
                self._results = compute(values)
                self._waiting.clear()
                self._meetings += 1
                self._condition.notify_all()
            while self._meetings == meeting:
                if self._stopped:
                    raise Stopped
                if self._complaint is not None:
                    raise ValueError(self._complaint)
                self._condition.wait()
            return self._results[rank]

    def _look_around(self) -> None:
        """Notices that a meeting cannot take place any more."""
        if self._complaint is not None or not self._waiting:
            return
        rank = min(self._waiting)
        purpose = self._waiting[rank][0]
        other = {r: p for r, (p, _) in self._waiting.items() if p != purpose}
        if self._finished:
            where = f"{self.place(min(self._finished))} has finished without it"
        elif len(self._waiting) == len(self.devices) and other:
            where = f"{self.place(min(other))} has come to {other[min(other)]}"
        else:
            return
        self._complaint = (
            f"{purpose}: expected every replica to run it in the same order, but while {self.place(rank)} waits there,"
            f" {where}"
        )
        self._condition.notify_all()

    def finish(self, rank: int) -> None:
        """A replica has run to its end."""
        with self._condition:
            self._finished.add(rank)
            self._look_around()

    def stop(self) -> None:
        """Ends all who wait, or will."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    def end(self) -> None:
        """The forward pass is over."""
        with self._condition:
            self._over = True


class _CallerState:
    """What torch and Python keep per thread, as the caller has it."""

    def __init__(self, devices: Sequence[torch.device]) -> None:
        self.grad = torch.is_grad_enabled()
        self.inference = torch.is_inference_mode_enabled()
        self.autocast = [
            (kind, torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind))
            for kind in sorted({"cpu", *(d.type for d in devices)} - {"meta"})
        ]
        self.autocast_cache = torch.is_autocast_cache_enabled()
        self.default_device = torch.get_default_device()
        self.streams = {d: torch.accelerator.current_stream(d) for d in devices if _is_accelerator(d)}

    @contextlib.contextmanager
    def entered(self, device: torch.device) -> Any:
        """Has the current thread compute on `device` in the state of the caller."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.inference_mode(self.inference))
            stack.enter_context(torch.set_grad_enabled(self.grad))
            for kind, dtype, enabled in self.autocast:
                stack.enter_context(
                    torch.autocast(kind, dtype=dtype, enabled=enabled, cache_enabled=self.autocast_cache)
                )
            if self.default_device.type != "cpu":
                stack.enter_context(self.default_device)
            for stream in self.streams.values():
                torch.accelerator.set_stream(stream)
            if device in self.streams:
                stack.enter_context(torch.accelerator.device_index(device.index))
            yield


def _is_accelerator(device: torch.device) -> bool:
    accelerator = torch.accelerator.current_accelerator()
    return accelerator is not None and accelerator.type == device.type


@contextlib.contextmanager
def _shared_cores(devices: Sequence[torch.device]) -> Any:
    """Divides torch's threads among the replicas that compute on the CPU; a new thread takes the number it finds."""
    threads, replicas = torch.get_num_threads(), sum(d.type == "cpu" for d in devices)
    share = max(1, threads // max(1, replicas))
    if share != threads:
        torch.set_num_threads(share)
    try:
        yield
    finally:
        if share != threads:
            torch.set_num_threads(threads)


def run_together(team: Team, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Runs each job in a thread of its own, on its device of the team; returns what they return.

    The threads have the caller's grad and inference mode, autocast, default device, streams and context variables. The
    exception of a job stops the others and is raised here, with its traceback: where several raise, that of the first.
    A single job is run by the caller.
    """
    devices = team.devices
    state = _CallerState(devices)
    results: dict[int, Any] = {}
    errors: dict[int, BaseException] = {}

    def work(rank: int) -> None:
        try:
            with state.entered(devices[rank]):
                torch.get_num_threads()  # takes over the number of threads, for OpenMP too
                results[rank] = jobs[rank]()
            team.finish(rank)
        except Stopped:
            pass
        except BaseException as error:
            errors[rank] = error
            team.stop()

    try:
        if len(jobs) == 1:
            work(0)
        else:
            with _shared_cores(devices):
                _in_threads(team, work)
    finally:
        team.end()
    if errors:
        rank = min(errors)
        error = errors.pop(rank)
        if hasattr(error, "add_note"):  # Python 3.11
            error.add_note(f"in {team.place(rank)}")
        try:
            raise error
        finally:
            del error  # its traceback holds this frame
    return [results[rank] for rank in range(len(jobs))]


def _in_threads(team: Team, work: Callable[[int], None]) -> None:
    threads = [
        threading.Thread(
            target=contextvars.copy_context().run, args=(work, rank), name=f"thnn {team.place(rank)}"
        )
        for rank in range(len(team.devices))
    ]
    started: list[threading.Thread] = []
    try:
        for thread in threads:
            thread.start()
            started.append(thread)
        for thread in threads:
            thread.join()
    except BaseException:  # Ctrl-C, no more threads to be had
        team.stop()
        for thread in started:
            thread.join()
        raise
