"""Collectives of synchronized batch normalization: each member contributes a vector and receives the vectors of all
members.

A `Communicator` has a ``size`` and ``all_gather(local, tag)``, a collective on vectors of float64.
`ProcessGroupCommunicator` implements it between the processes of a torch.distributed group.
"""

from __future__ import annotations

import time
import traceback
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError  # another class in Python 3.10
from contextlib import nullcontext, suppress
from datetime import timedelta
from hashlib import blake2b
from statistics import mode
from threading import Thread
from typing import Any, NamedTuple, Protocol, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch.profiler import record_function

from thnn._torch import assert_async, backend_of, is_profiling, set_timeout_of, store_client_of, timeout_of

_T = TypeVar("_T")

# A message begins with the checksum of its tag, one number.
_HEADER = 1
# Seconds without news from other processes after which the diagnosis of a failure ends. The diagnosis reserves this
# much of the timeout, but no more than a fraction of it. A silent store is abandoned after the same time.
_GRACE = 1.0
_GRACE_FRACTION = 0.25


class Tag(NamedTuple):
    """Identifies a collective; the tags of all members must be equal."""

    layer: str
    operation: str
    payload: str

    def __str__(self) -> str:
        return f"{self.layer}, {self.operation}, {self.payload}"

    def checksum(self) -> int:
        """52 bits of a digest: float64 represents integers of up to 53 bits exactly."""
        return int.from_bytes(blake2b(str(self).encode(), digest_size=8).digest(), "big") >> 12


def payload_of(input: Tensor) -> str:
    """The properties of an input (N, C, ...) that all members must share, for a Tag."""
    return f"{input.shape[1]} channels of {input.dtype}"


class Communicator(Protocol):
    """The object through which the members of a group exchange vectors."""

    size: int

    def all_gather(self, local: Tensor, tag: Tag) -> Tensor:
        """The vectors (n) of all members as (size, n), in the order of ranks."""

    def announce_error(self, layer: str, arguments: Iterable[Any], error: Exception) -> None:
        """Replaces the ``all_gather`` of a forward that failed before it, so that the other members fail too."""


def check_process_group(process_group: Any) -> None:
    """Raises TypeError unless the argument is a process group, None, or the result of new_group() for non-members."""
    if process_group is None or (
        dist.is_available()
        and (
            isinstance(process_group, dist.ProcessGroup) or process_group is dist.GroupMember.NON_GROUP_MEMBER
        )
    ):
        return
    raise TypeError(
        "SyncBatchNormalization: process_group: expected a process group of torch.distributed or None,"
        f" got {type(process_group).__name__}"
    )


def communicator_of(process_group: Any) -> ProcessGroupCommunicator | None:
    """The communicator of a process group (None: of all processes).

    Returns None if there is no other member: without ``torch.distributed.init_process_group``, in a group of one, and
    in processes outside of the group.
    """
    if process_group is None:
        process_group = dist.group.WORLD if dist.is_available() else None
        if process_group is None:
            return None
    else:
        check_process_group(process_group)
        if process_group is dist.GroupMember.NON_GROUP_MEMBER:
            return None
    if process_group.size() == 1:
        return None
    communicator = _communicators.get(process_group)
    if communicator is None:
        communicator = _communicators.setdefault(process_group, ProcessGroupCommunicator(process_group))
    return communicator


_communicators: weakref.WeakKeyDictionary[Any, ProcessGroupCommunicator] = weakref.WeakKeyDictionary()


class ProcessGroupCommunicator:
    """A communicator between the processes of a torch.distributed group: one dist.all_gather per ``all_gather``.

    gloo does not verify that a received message is the expected one: a message of another length ends the process or
    leaves garbage, and a process that runs other code may be in a collective of the application. Therefore

    - all messages of a group have the length of the longest one so far. The processes agree on a longer one through
      the group's store before it is sent, once for each layer of a net that is wider than all before it;
    - a message begins with a checksum of its tag; a receiver with another tag raises an error;
    - on gloo the messages have separate connections, and are in host memory: tensors of other devices are copied there
      and back.

    After a failure each process closes these connections. gloo sends messages around a ring, in which only the
    neighbours of a process notice that it is gone; the closed connections tell the others.

    Each communicator has a separate client of the store. Threads with different groups therefore never wait for each
    other; threads must not share a group, as everywhere in torch.distributed.
    """

    def __init__(self, group: Any) -> None:
        self.size: int = group.size()
        self._rank: int = group.rank()
        self._global_ranks = dist.get_process_group_ranks(group)
        self._group = weakref.ref(group)
        self._client: Any = None  # of the group's store
        self._gloo: Any = None  # the group of gloo that transfers messages
        self._length = 0
        self._collectives = 0
        self._failure = ""  # the message of the first failure

    def all_gather(self, local: Tensor, tag: Tag) -> Tensor:
        """The vectors (n) of all processes as (size, n), in the order of ranks; float64 on the device of `local`.

        Raises ValueError if another process has another tag, RuntimeError if a process is gone or does not arrive
        within the timeout of the group. The message names that process if it can be determined.
        """
        if self._failure:
            raise RuntimeError(f"{tag}: an earlier collective of the group failed: {self._failure}")
        timeout = self._timeout(local.device)
        # The timeout includes the diagnosis of a failure.
        grace = min(_GRACE, _GRACE_FRACTION * timeout)
        limit = time.monotonic() + timeout - grace
        deadline = limit + 0.8 * grace
        self._collectives += 1
        needed = _HEADER + local.numel()
        try:
            if needed > self._length:
                _by(limit, lambda: self._agree_on_length(tag, limit))
                self._length = needed
            received = self._exchange(local, tag, limit)
        except RuntimeError as error:
            # gloo's group closes its connections when nothing refers to it, and the frames of the traceback do.
            traceback.clear_frames(error.__traceback__)
            self._gloo = None
            self._failure = self._diagnose(tag, deadline, error)
            raise RuntimeError(self._failure) from error
        self._check_tags(received[:, 0], tag)
        return received[:, _HEADER:needed].to(local.device)

    def announce_error(self, layer: str, arguments: Iterable[Any], error: Exception) -> None:
        """Takes part in the collective of a forward that rejected `arguments`, with a tag that contains the error."""
        tensors = [t for t in arguments if isinstance(t, Tensor) and t.dim()]
        # The message should be as long as in the other processes, where its length follows from the number of
        # channels. A wrong argument may have another number of channels; most arguments have the right one.
        channels = mode([t.shape[min(t.dim(), 2) - 1] for t in tensors] or [0])
        device = tensors[0].device if tensors else torch.device("cpu")
        with suppress(ValueError, RuntimeError):
            message = torch.zeros(2 * channels + 1, dtype=torch.float64, device=device)
            self.all_gather(message, Tag(layer, "forward", f"which failed: {type(error).__name__}: {error}"))

    def _group_of_process(self) -> Any:
        group = self._group()
        assert group is not None
        return group

    def _timeout(self, device: torch.device) -> float:
        """The timeout of the group in seconds."""
        return timeout_of(self._group_of_process(), device)

    def _exchange(self, local: Tensor, tag: Tag, limit: float) -> Tensor:
        """The messages of all processes (size, length)."""
        transport, device = self._transport(local.device, limit)
        # Zeros, since the unused part is sent as well and must not leak memory contents.
        message = local.new_zeros(self._length, device=device)
        message[0] = tag.checksum()
        message[_HEADER : _HEADER + local.numel()] = local
        received = message.new_empty(self.size, self._length)
        # record_function() takes several microseconds even without a profiler.
        with record_function(str(tag)) if is_profiling() else nullcontext():
            dist.all_gather(list(received.unbind()), message, transport)
        return received

    def _transport(self, device: torch.device, limit: float) -> tuple[Any, torch.device]:
        """The group that transfers the messages of tensors on a device, and the device of the messages."""
        group = self._group_of_process()
        # Other backends order messages on the device, where a second group could block the first.
        gloo = getattr(dist, "ProcessGroupGloo", None)
        if gloo is None or not isinstance(backend_of(group, device), gloo):
            return group, device
        if self._gloo is None:

            def connect() -> Any:
                store = dist.PrefixStore("gloo", self._store())  # type: ignore[attr-defined]
                return gloo(store, self._rank, self.size, _until(limit))

            self._gloo = _by(limit, connect)
        set_timeout_of(self._gloo, _until(limit))
        return self._gloo, torch.device("cpu")

    def _store(self) -> Any:
        """The store of the group. If its host hangs, every call blocks forever: call it through `_by`."""
        if self._client is None:
            client = store_client_of(self._group_of_process())
            self._client = dist.PrefixStore("thnn", client)  # type: ignore[attr-defined]
        return self._client

    def _agree_on_length(self, tag: Tag, limit: float) -> None:
        """Waits until all processes are in a collective with the same tag; raises ValueError if their tags differ."""
        self._announce(tag)
        keys = self._keys()
        self._store().wait(keys, _until(limit))
        for rank, announced in zip(self._global_ranks, self._store().multi_get(keys)):
            if announced.decode() != str(tag):
                raise ValueError(f"{tag}: rank {rank} is in {announced.decode()}")

    def _keys(self) -> list[str]:
        """The keys of the tags of all processes in the store, by rank."""
        return [f"{self._collectives}/{rank}" for rank in range(self.size)]

    def _announce(self, tag: Tag) -> None:
        """Writes the tag of this process to the store."""
        self._store().set(self._keys()[self._rank], str(tag))

    def _check_tags(self, checksums: Tensor, tag: Tag) -> None:
        """Raises ValueError if the tags of the received messages differ."""
        if checksums.device.type != "cpu":
            # Without waiting for the device.
            assert_async(
                (checksums == checksums[self._rank]).all(), f"{tag}: another process is in another collective"
            )
            return
        numbers = checksums.tolist()
        differing = {rank for rank, number in enumerate(numbers) if number != numbers[self._rank]}
        if differing:
            deadline = time.monotonic() + _GRACE

            def answers() -> dict[int, str]:
                self._announce(tag)
                return self._answers(tag, differing, deadline)

            answered: dict[int, str] = {}
            with suppress(RuntimeError):
                answered = _by(deadline, answers)
            rank = min(answered, default=min(differing))
            other = answered.get(rank) or "another collective"
            raise ValueError(f"{tag}: rank {self._global_ranks[rank]} is in {other}")

    def _diagnose(self, tag: Tag, deadline: float, error: Exception) -> str:
        """The message for a failed collective: the process that is elsewhere or silent, as far as the store knows."""
        others = {*range(self.size)} - {self._rank}

        def answers() -> dict[int, str]:
            self._announce(tag)
            self._store().set(f"failed/{self._rank}", "")
            return self._answers(tag, others, deadline)

        try:
            answered = _by(deadline, answers)
        except RuntimeError:
            return (
                f"{tag}: rank {self._global_ranks[self._rank]} waited for the other ranks, and the store of the group,"
                f" usually in rank 0, does not answer: {error}"
            )
        for rank in sorted(answered):
            if answered[rank] not in ("", str(tag)):
                return f"{tag}: rank {self._global_ranks[rank]} is in {answered[rank]}"
        if silent := others - answered.keys():
            return f"{tag}: {self._named(silent)} not answered: {error}"
        if elsewhere := {rank for rank in others if not answered[rank]}:
            return f"{tag}: {self._named(elsewhere)} failed in another collective: {error}"
        return f"{tag}: all_gather failed in all ranks: {error}"

    def _named(self, ranks: set[int]) -> str:
        """The subject of a sentence in the perfect tense."""
        names = ", ".join(str(self._global_ranks[rank]) for rank in sorted(ranks))
        return f"ranks {names} have" if len(ranks) > 1 else f"rank {names} has"

    def _answers(self, tag: Tag, ranks: set[int], deadline: float) -> dict[int, str]:
        """The tags of other processes that have failed in this collective or are in another one; "" if they have failed
        in the one before or after. Ends at `deadline`, or earlier if there is no news.
        """
        store, keys = self._store(), self._keys()
        answered: dict[int, str] = {}
        news = time.monotonic()
        while True:
            for rank in ranks - answered.keys():
                # The order matters: a process writes its tag first.
                failed = store.check([f"failed/{rank}"])
                announced = store.get(keys[rank]).decode() if store.check([keys[rank]]) else ""
                if failed or announced not in ("", str(tag)):
                    answered[rank] = announced
                    news = time.monotonic()
            if len(answered) == len(ranks) or time.monotonic() > min(deadline, news + _GRACE):
                return answered
            time.sleep(0.01)


def _by(deadline: float, function: Callable[[], _T]) -> _T:
    """The result of a call of the store, which times out at `deadline`; RuntimeError if it hangs all the same."""
    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except Exception as error:
            future.set_exception(error)

    # If the store is silent, this thread never ends; as a daemon it does not keep the process alive.
    Thread(target=run, daemon=True).start()
    try:
        # Also if this process was suspended (SIGSTOP) past the deadline.
        return future.result(max(0.0, deadline - time.monotonic()) + _GRACE)
    except FutureTimeoutError:
        raise RuntimeError("timed out") from None


def _until(limit: float) -> timedelta:
    """The time from now to `limit`; never 0, which some waits take for no limit."""
    return timedelta(seconds=max(0.01, limit - time.monotonic()))
