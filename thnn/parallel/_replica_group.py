"""The replicas of one forward pass: a thread for each, and the rendezvous in synchronized layers.

A rendezvous never waits for a replica that cannot arrive. It fails if a replica has raised an exception, if one replica
has finished while others wait, and if the replicas wait with different tags.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch


class Aborted(BaseException):
    """Ends a replica because another one failed; not an Exception, so that networks do not catch it by accident."""


class ReplicaGroup:
    """The replicas of one forward pass, by rank."""

    def __init__(self, devices: Sequence[torch.device]) -> None:
        self.devices = tuple(devices)
        self._condition = threading.Condition()
        self._waiting: dict[int, tuple[str, Any]] = {}  # rank -> tag and value
        self._finished: set[int] = set()
        self._rendezvous_count = 0
        self._results: Sequence[Any] = ()
        self._is_aborted = False
        self._mismatch: str | None = None
        self._is_closed = False

    def describe(self, rank: int) -> str:
        """The name of a replica in messages."""
        return f"replica {rank} on {self.devices[rank]}"

    def rendezvous(
        self, rank: int, tag: str, value: Any, compute: Callable[[list[Any]], Sequence[Any]]
    ) -> Any:
        """Waits until all replicas have arrived; returns the result for this replica.

        The last replica to arrive calls `compute` with the values in order of rank, which returns one result per
        replica. Raises ValueError with the tag if another replica waits at another tag or has finished.
        """
        with self._condition:
            if self._is_closed:
                raise NotImplementedError(
                    f"{tag}: {self.describe(rank)} ran outside of the forward pass, as in activation checkpointing,"
                    " where the other replicas are absent"
                )
            current = self._rendezvous_count
            self._waiting[rank] = tag, value
            self._detect_mismatch()
            if len(self._waiting) == len(self.devices) and not self._is_aborted and self._mismatch is None:
                values = [self._waiting[r][1] for r in range(len(self.devices))]
                self._results = compute(values)
                self._waiting.clear()
                self._rendezvous_count += 1
                self._condition.notify_all()
            while self._rendezvous_count == current:
                if self._is_aborted:
                    raise Aborted
                if self._mismatch is not None:
                    raise ValueError(self._mismatch)
                self._condition.wait()
            return self._results[rank]

    def _detect_mismatch(self) -> None:
        """Wakes the waiting replicas with an error if their rendezvous cannot complete."""
        if self._mismatch is not None or not self._waiting:
            return
        rank = min(self._waiting)
        tag = self._waiting[rank][0]
        other = {r: t for r, (t, _) in self._waiting.items() if t != tag}
        if self._finished:
            cause = f"{self.describe(min(self._finished))} has finished without it"
        elif len(self._waiting) == len(self.devices) and other:
            cause = f"{self.describe(min(other))} is in {other[min(other)]}"
        else:
            return
        self._mismatch = (
            f"{tag}: expected all replicas to run the same layers in the same order, but while"
            f" {self.describe(rank)} waits here, {cause}"
        )
        self._condition.notify_all()

    def finish(self, rank: int) -> None:
        """Records that a replica has returned."""
        with self._condition:
            self._finished.add(rank)
            self._detect_mismatch()

    def abort(self) -> None:
        """Ends all replicas that wait, now or later."""
        with self._condition:
            self._is_aborted = True
            self._condition.notify_all()

    def close(self) -> None:
        """Ends the forward pass; a later rendezvous is an error."""
        with self._condition:
            self._is_closed = True


class _CallerState:
    """The per-thread state of torch in the thread that creates the object."""

    def __init__(self, devices: Sequence[torch.device]) -> None:
        self.grad = torch.is_grad_enabled()
        self.inference = torch.is_inference_mode_enabled()
        self.autocast = [
            (kind, torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind))
            for kind in sorted({"cpu", *(d.type for d in devices)} - {"meta"})
        ]
        self.autocast_cache = torch.is_autocast_cache_enabled()
        self.default_device = torch.empty(0).device  # torch.get_default_device of 2.6 ignores `with device`
        self.streams = {d: torch.accelerator.current_stream(d) for d in devices if _is_accelerator(d)}

    @contextlib.contextmanager
    def applied(self, device: torch.device) -> Any:
        """Applies the state to the current thread, with `device` as the current one."""
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
    # Before torch 2.7 current_accelerator() raises an error where there is none.
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return accelerator is not None and accelerator.type == device.type


def run_replicas(group: ReplicaGroup, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Runs each job in a separate thread, on its device of the group; returns their results.

    The threads have the caller's grad and inference mode, autocast, default device, streams and context variables. The
    exception of a job aborts the others and is raised here, with its traceback; if several raise, the one of the lowest
    rank. A single job runs in the thread of the caller.
    """
    devices = group.devices
    state = _CallerState(devices)
    results: dict[int, Any] = {}
    errors: dict[int, BaseException] = {}

    def work(rank: int) -> None:
        try:
            with state.applied(devices[rank]):
                results[rank] = jobs[rank]()
            group.finish(rank)
        except Aborted:
            pass
        except BaseException as error:
            errors[rank] = error
            group.abort()

    try:
        if len(jobs) == 1:
            work(0)
        else:
            _run_in_threads(group, work)
    finally:
        group.close()
    if errors:
        rank = min(errors)
        error = errors.pop(rank)
        if hasattr(error, "add_note"):  # Python 3.11
            error.add_note(f"in {group.describe(rank)}")
        try:
            raise error
        finally:
            del error  # its traceback refers to this frame
    return [results[rank] for rank in range(len(jobs))]


def _run_in_threads(group: ReplicaGroup, work: Callable[[int], None]) -> None:
    ready, go = threading.Semaphore(0), threading.Event()

    def start(rank: int) -> None:
        torch.get_num_threads()  # sets the number of threads of this thread, also for OpenMP, to the process's
        ready.release()
        go.wait()
        work(rank)

    threads = [
        threading.Thread(
            target=contextvars.copy_context().run, args=(start, rank), name=f"thnn {group.describe(rank)}"
        )
        for rank in range(len(group.devices))
    ]
    started: list[threading.Thread] = []
    try:
        with _divided_threads(group.devices):
            for thread in threads:
                thread.start()
                started.append(thread)
            for _ in started:
                ready.acquire()
        go.set()
        for thread in threads:
            thread.join()
    except BaseException:  # KeyboardInterrupt, or no more threads available
        group.abort()
        go.set()
        for thread in started:
            thread.join()
        raise


_thread_count_lock = threading.Lock()


@contextlib.contextmanager
def _divided_threads(devices: Sequence[torch.device]) -> Any:
    """Divides torch's number of threads by the number of replicas on the CPU, for the threads that start inside.

    A thread keeps the number that the process has when the thread first uses torch. So the process's number is lowered
    only while the threads start, by one forward pass at a time. If it were lowered for a whole forward pass,
    overlapping passes would restore each other's lowered number.
    """
    replicas = sum(d.type == "cpu" for d in devices)
    with _thread_count_lock:
        threads = torch.get_num_threads()
        divided = max(1, threads // max(1, replicas))
        if divided == threads:
            yield
            return
        torch.set_num_threads(divided)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
