"""What batch normalizations that work together tell each other: sums over the parts of one batch.

An exchange has a ``size`` and ``gather(local, place)``, which takes a vector of float64 from each member and gives all
of them, in the order of ranks, to each. ``ProcessExchange`` is the one between the processes of a group.
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

# The first number of a message says where its sender is.
_HEADER = 1
# Seconds to wait for word from others when an exchange has failed: for the last one, in general, and in all.
_LAST_GRACE, _GRACE, _LONGEST_GRACE = 0.5, 1.0, 10.0
# The part of a short timeout that is left for that.
_GRACE_PART = 0.25


class Place(NamedTuple):
    """Where a member is when it exchanges; all have to be at the same place."""

    layer: str
    phase: str
    what: str

    def __str__(self) -> str:
        return f"{self.layer}, {self.phase}, {self.what}"


def values(tensor: Tensor) -> str:
    """What of a tensor has to be the same everywhere, for a Place."""
    return f"{tensor.shape[1]} channels of {tensor.dtype}"


class Exchange(Protocol):
    """How the members of a group share sums."""

    size: int

    def gather(self, local: Tensor, place: Place) -> Tensor:
        """The vectors (n) of all members as (size, n), in the order of ranks."""

    def refuse(self, layer: str, arguments: Iterable[Any], error: Exception) -> None:
        """Instead of a ``gather``: has the others fail, too."""


def check_process_group(process_group: Any) -> None:
    """TypeError for what is no group of torch.distributed, None, or what new_group() gives to those outside."""
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


def exchange_of(process_group: Any) -> ProcessExchange | None:
    """The exchange between the processes of a group (None: of all); None where there is nobody to exchange with.

    That is so without ``torch.distributed.init_process_group``, in a group of one, and outside of the group.
    """
    if process_group is None:
        process_group = dist.group.WORLD if dist.is_available() else None
        if process_group is None:
            return None
    else:
        check_process_group(process_group)
        if process_group is dist.GroupMember.NON_GROUP_MEMBER:
            return None
    return None if process_group.size() == 1 else _exchange_between(process_group)


def _exchange_between(process_group: Any) -> ProcessExchange:
    exchange = _exchanges.get(process_group)
    if exchange is None:
        exchange = _exchanges.setdefault(process_group, ProcessExchange(process_group))
    return exchange


_exchanges: weakref.WeakKeyDictionary[Any, ProcessExchange] = weakref.WeakKeyDictionary()


class ProcessExchange:
    """Between the processes of a torch.distributed group: one all_gather for each ``gather``.

    gloo takes what arrives for what it waits for: a message of another length ends the process or leaves numbers that
    were never sent, and a process that is elsewhere may be waiting in a collective of somebody else's. Therefore

    - all messages of a group have one length, that of the longest so far. A longer one is agreed upon through the
      group's store before it is sent, which happens once for the widest layer of a net;
    - a message begins with the place of its sender, and is refused where that is not the place of the receiver;
    - on gloo the messages have connections of their own.
    """

    def __init__(self, group: Any) -> None:
        self.size: int = group.size()
        self._rank: int = group.rank()
        self._ranks = dist.get_process_group_ranks(group)  # as the user counts them
        self._group = weakref.ref(group)
        self._channels: dict[str, Any] = {}
        self._store = dist.PrefixStore("thnn", group.get_group_store())  # type: ignore[attr-defined]
        self._length = 0
        self._exchanges = 0

    def gather(self, local: Tensor, place: Place) -> Tensor:
        """The vectors (n) of all processes as (size, n), in the order of ranks.

        Raises ValueError where another process is elsewhere or its channels or element type differ, RuntimeError
        where one has not come within the group's timeout, or is gone. Both say which, where that can be known.
        """
        timeout = self._timeout(local.device)
        # Who is missing is to be said within the timeout of the group.
        grace = min(_GRACE, _GRACE_PART * timeout)
        deadline = time.monotonic() + timeout - 0.2 * grace
        timeout -= grace
        self._exchanges += 1
        needed = _HEADER + local.numel()
        try:
            if needed > self._length:
                self._enlarge(needed, place, timeout)
            # What is not used is sent all the same, so it should not be what happens to be in memory.
            message = local.new_zeros(self._length)
            message[0] = zlib.crc32(str(place).encode())
            message[_HEADER:needed] = local
            received = local.new_empty(self.size, self._length)
            dist.all_gather(list(received.unbind()), message, self._channel(local.device, timeout))
        except RuntimeError as error:
            raise RuntimeError(self._failure(place, deadline, error)) from error
        self._compare(received[:, 0], place)
        return received[:, _HEADER:needed]

    def refuse(self, layer: str, arguments: Iterable[Any], error: Exception) -> None:
        """Takes part in the exchange of a forward that does not take these `arguments`: the others are told why."""
        tensors = [t for t in arguments if isinstance(t, Tensor) and t.dim()]
        # The others send numbers for as many channels as they have; here most arguments have as many.
        channels = mode([t.shape[min(t.dim(), 2) - 1] for t in tensors] or [0])
        device = tensors[0].device if tensors else torch.device("cpu")
        with suppress(ValueError, RuntimeError):
            nothing = torch.zeros(2 * channels + 1, dtype=torch.float64, device=device)
            self.gather(nothing, Place(layer, "forward", f"where it fails: {type(error).__name__}: {error}"))

    def _backend(self, device: torch.device) -> Any:
        group = self._group()
        assert group is not None
        return group._get_backend(device)

    def _timeout(self, device: torch.device) -> float:
        """That of the group, in seconds."""
        options = getattr(self._backend(device), "options", None)
        timeout: timedelta = getattr(options, "_timeout", dist.constants.default_pg_timeout)
        return timeout.total_seconds()

    def _channel(self, device: torch.device, timeout: float) -> Any:
        """The group to send messages through."""
        channel = self._channels.get(device.type)
        if channel is None:
            # Other backends order what is sent through them on the device, where a second group could block the first.
            gloo = getattr(dist, "ProcessGroupGloo", None)
            if gloo is None or not isinstance(self._backend(device), gloo):
                return self._group()
            store = dist.PrefixStore(device.type, self._store)  # type: ignore[attr-defined]
            channel = gloo(store, self._rank, self.size, timedelta(seconds=timeout))
            self._channels[device.type] = channel
        return channel

    def _enlarge(self, length: int, place: Place, timeout: float) -> None:
        """Agrees with all others upon longer messages."""
        keys = self._say(place)
        self._store.wait(keys, timedelta(seconds=timeout))
        for rank, theirs in zip(self._ranks, self._store.multi_get(keys)):
            if theirs.decode() != str(place):
                raise ValueError(f"{place}: rank {rank} is in {theirs.decode()}")
        self._length = length

    def _say(self, place: Place) -> list[str]:
        """Puts into the store where this process is; returns the keys under which all do so, by rank."""
        keys = [f"{self._exchanges}/{rank}" for rank in range(self.size)]
        self._store.set(keys[self._rank], str(place))
        return keys

    def _compare(self, headers: Tensor, place: Place) -> None:
        """Refuses messages from other places."""
        if headers.device.type != "cpu":
            # The host does not wait for the numbers: the device stops.
            torch._assert_async(
                (headers == headers[self._rank]).all(), f"{place}: another process is elsewhere"
            )
            return
        numbers = headers.tolist()
        strangers = {rank for rank, number in enumerate(numbers) if number != numbers[self._rank]}
        if strangers:
            said = self._places(place, strangers, time.monotonic() + _GRACE)
            rank = min(said, default=min(strangers))
            raise ValueError(f"{place}: rank {self._ranks[rank]} is in {said.get(rank, 'another place')}")

    def _failure(self, place: Place, deadline: float, error: RuntimeError) -> str:
        """Who is to blame for an exchange that has failed: who was in it says so."""
        others = {*range(self.size)} - {self._rank}
        try:
            said = self._places(place, others, deadline)
        except RuntimeError:
            return f"{place}: the exchange failed, and so did asking which process is missing: {error}"
        for rank in sorted(said):
            if said[rank] != str(place):
                return f"{place}: rank {self._ranks[rank]} is in {said[rank]}"
        silent = [str(self._ranks[rank]) for rank in sorted(others - said.keys())]
        if silent:
            return f"{place}: {'ranks' if len(silent) > 1 else 'rank'} {', '.join(silent)} did not take part: {error}"
        return f"{place}: the exchange failed: {error}"

    def _places(self, place: Place, others: set[int], deadline: float) -> dict[int, str]:
        """Where other processes say that they are, through the store; this one says it too."""
        keys = self._say(place)
        said: dict[int, str] = {}
        start = time.monotonic()
        deadline = min(deadline, start + _LONGEST_GRACE)
        last = min(deadline, start + _LAST_GRACE)
        while len(said) < len(others):
            for rank in others - said.keys():
                if self._store.check([keys[rank]]):
                    said[rank] = self._store.get(keys[rank]).decode()
            # Somebody has to be missing: the last one need not be waited for.
            if time.monotonic() > (last if len(said) == len(others) - 1 else deadline):
                break
            time.sleep(0.01)
        return said
