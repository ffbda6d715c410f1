"""Collectives of synchronized batch normalization: each member contributes a vector and receives those of all members.

A `Communicator` has a ``size`` and ``all_gather(local, tag)``, a collective on vectors of float64.
`ProcessGroupCommunicator` implements it between the processes of a torch.distributed group.
"""

from __future__ import annotations

import time
import weakref
import zlib
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from statistics import mode
from typing import Any, NamedTuple, Protocol

import torch
import torch.distributed as dist
from torch import Tensor

from thnn._torch import assert_async, backend_of, store_client_of, timeout_of

# A message begins with one number, the checksum of its tag.
_HEADER = 1
# Seconds to wait for announcements after a failed collective:
_GRACE_FOR_LAST = 0.5  # when all other processes but one have announced
_GRACE = 1.0  # after unequal tags; also the most that is reserved in the timeout
_MAX_GRACE = 10.0  # upper limit in every case
# Largest fraction of the timeout that is reserved for waiting.
_GRACE_FRACTION = 0.25


class Tag(NamedTuple):
    """Identifies a collective; the tags of all members must be equal."""

    layer: str
    operation: str
    payload: str

    def __str__(self) -> str:
        return f"{self.layer}, {self.operation}, {self.payload}"


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

    - all messages of a group have one length, that of the longest so far. The processes agree on a longer one through
      the group's store before it is sent, once for each layer of a net that is wider than all before it;
    - a message begins with a checksum of its tag; a receiver with another tag raises an error;
    - on gloo the messages have separate connections, and are in the memory of the host: tensors of other devices are
      copied there and back.

    Each communicator has a separate client of the store. Threads with different groups therefore never wait for each
    other; threads must not share a group, as everywhere in torch.distributed.
    """

    def __init__(self, group: Any) -> None:
        self.size: int = group.size()
        self._rank: int = group.rank()
        self._global_ranks = dist.get_process_group_ranks(group)
        self._group = weakref.ref(group)
        self._gloo: Any = None  # the group of gloo that transfers messages
        self._store = dist.PrefixStore("thnn", store_client_of(group))  # type: ignore[attr-defined]
        self._length = 0
        self._collectives = 0

    def all_gather(self, local: Tensor, tag: Tag) -> Tensor:
        """The vectors (n) of all processes as (size, n), in the order of ranks; float64 on the device of `local`.

        Raises ValueError if another process has another tag, RuntimeError if a process is gone or does not arrive
        within the timeout of the group. The message names that process if it can be determined.
        """
        timeout = self._timeout(local.device)
        # The diagnosis of a failure has to fit into the timeout, too.
        grace = min(_GRACE, _GRACE_FRACTION * timeout)
        deadline = time.monotonic() + timeout - 0.2 * grace
        timeout -= grace
        self._collectives += 1
        needed = _HEADER + local.numel()
        try:
            if needed > self._length:
                self._agree_on_length(needed, tag, timeout)
            # Zeros, since the unused part is sent as well and must not disclose memory.
            transport, device = self._transport(local.device, timeout)
            message = local.new_zeros(self._length, device=device)
            message[0] = zlib.crc32(str(tag).encode())
            message[_HEADER:needed] = local
            received = message.new_empty(self.size, self._length)
            dist.all_gather(list(received.unbind()), message, transport)
        except RuntimeError as error:
            raise RuntimeError(self._diagnose(tag, deadline, error)) from error
        self._check_tags(received[:, 0], tag)
        return received[:, _HEADER:needed].to(local.device)

    def announce_error(self, layer: str, arguments: Iterable[Any], error: Exception) -> None:
        """Takes part in the collective of a forward that rejected `arguments`, with a tag that contains the error."""
        tensors = [t for t in arguments if isinstance(t, Tensor) and t.dim()]
        # The message should be as long as those of the other processes, whose length follows from the number of
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

    def _transport(self, device: torch.device, timeout: float) -> tuple[Any, torch.device]:
        """The group that transfers the messages of tensors on a device, and the device of the messages."""
        group = self._group_of_process()
        # Other backends order messages on the device, where a second group could block the first.
        gloo = getattr(dist, "ProcessGroupGloo", None)
        if gloo is None or not isinstance(backend_of(group, device), gloo):
            return group, device
        if self._gloo is None:
            store = dist.PrefixStore("gloo", self._store)  # type: ignore[attr-defined]
            self._gloo = gloo(store, self._rank, self.size, timedelta(seconds=timeout))
        return self._gloo, torch.device("cpu")

    def _agree_on_length(self, length: int, tag: Tag, timeout: float) -> None:
        """Sets the length of messages in all processes; raises ValueError if their tags differ."""
        keys = self._announce(tag)
        self._store.wait(keys, timedelta(seconds=timeout))
        for rank, announced in zip(self._global_ranks, self._store.multi_get(keys)):
            if announced.decode() != str(tag):
                raise ValueError(f"{tag}: rank {rank} is in {announced.decode()}")
        self._length = length

    def _announce(self, tag: Tag) -> list[str]:
        """Writes the tag of this process to the store; returns the keys of all processes, by rank."""
        keys = [f"{self._collectives}/{rank}" for rank in range(self.size)]
        self._store.set(keys[self._rank], str(tag))
        return keys

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
            announced = self._announcements(tag, differing, time.monotonic() + _GRACE)
            rank = min(announced, default=min(differing))
            other = announced.get(rank, "another collective")
            raise ValueError(f"{tag}: rank {self._global_ranks[rank]} is in {other}")

    def _diagnose(self, tag: Tag, deadline: float, error: RuntimeError) -> str:
        """The message for a failed collective: the process that is elsewhere or absent, as far as announced."""
        others = {*range(self.size)} - {self._rank}
        try:
            announced = self._announcements(tag, others, deadline)
        except RuntimeError:
            return f"{tag}: all_gather failed, and so did the search for the missing process: {error}"
        for rank in sorted(announced):
            if announced[rank] != str(tag):
                return f"{tag}: rank {self._global_ranks[rank]} is in {announced[rank]}"
        absent = [str(self._global_ranks[rank]) for rank in sorted(others - announced.keys())]
        if absent:
            return f"{tag}: {'ranks' if len(absent) > 1 else 'rank'} {', '.join(absent)} did not take part: {error}"
        return f"{tag}: all_gather failed: {error}"

    def _announcements(self, tag: Tag, others: set[int], deadline: float) -> dict[int, str]:
        """The tags that other processes announce until `deadline`, by rank; announces that of this process first."""
        keys = self._announce(tag)
        announced: dict[int, str] = {}
        start = time.monotonic()
        deadline = min(deadline, start + _MAX_GRACE)
        last = min(deadline, start + _GRACE_FOR_LAST)
        while len(announced) < len(others):
            for rank in others - announced.keys():
                if self._store.check([keys[rank]]):
                    announced[rank] = self._store.get(keys[rank]).decode()
            # At least one process is the cause of the failure: if one is left, it probably is the cause.
            if time.monotonic() > (last if len(announced) == len(others) - 1 else deadline):
                break
            time.sleep(0.01)
        return announced
