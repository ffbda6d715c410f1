"""Calls of functions on another device, for checks that look at memory on the CPU.

Checks prepare tensors, take snapshots of them, and compare results on the CPU. A call on another device copies the
memory of all tensors there, with gaps between elements and with overlaps of tensors, calls, and copies the memory back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor


def _is_copied(value: Any) -> bool:
    return isinstance(value, Tensor) and value.layout is torch.strided and value.device.type == "cpu"


def _same_view(a: Tensor, b: Tensor) -> bool:
    return (a.shape, a.stride(), a.storage_offset()) == (b.shape, b.stride(), b.storage_offset())


def call_on_device(call: Callable[..., None], values: Sequence[Any], device: torch.device) -> None:
    """`call(*values)` with the tensors on the CPU among the values replaced by copies on `device`.

    If the call resizes tensors, or makes them share memory, the tensors on the CPU have these sizes and share memory
    afterwards, too. Raises the exceptions of the call, also those that the device reports late (`is_late`); tensors
    have the values of the failed call then.
    """
    storages: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}
    tensors: dict[int, Tensor] = {}

    def copied(tensor: Tensor) -> Tensor:
        if id(tensor) not in tensors:
            storage = tensor.untyped_storage()
            _, there = storages.setdefault(storage._cdata, (storage, _copy(storage, device)))
            made = torch.empty(0, dtype=tensor.dtype, device=device)
            made.set_(there, tensor.storage_offset(), tensor.shape, tensor.stride())
            tensors[id(tensor)] = torch._neg_view(made) if tensor.is_neg() else made
        return tensors[id(tensor)]

    try:
        call(*(copied(v) if _is_copied(v) else v for v in values))
        if device.type == "cuda":
            torch.cuda.synchronize(device)
            try:
                _raise_late_error(device)
            except Exception as error:
                error.is_late = True  # type: ignore[attr-defined]
                raise
    finally:
        here = {there._cdata: storage for storage, there in storages.values()}
        for storage, there in storages.values():
            storage.copy_(there)
        for value in values:
            if _is_copied(value) and id(value) in tensors:  # not after an error of the copying
                result = tensors[id(value)]
                memory = result.untyped_storage()
                if memory._cdata not in here:
                    here[memory._cdata] = _copy(memory, torch.device("cpu"))
                known = here[memory._cdata]
                if known._cdata != value.untyped_storage()._cdata or not _same_view(value, result):
                    with torch.no_grad():
                        value.set_(known, result.storage_offset(), result.shape, result.stride())


def is_late(error: Exception) -> bool:
    """True for an exception of `call_on_device` that the device has reported after the call."""
    return getattr(error, "is_late", False)


def _copy(storage: torch.UntypedStorage, device: torch.device) -> torch.UntypedStorage:
    made = torch.UntypedStorage(storage.nbytes(), device=device)
    made.copy_(storage)
    return made


def _raise_late_error(device: torch.device) -> None:
    """Raises the error of a bad element, such as a class number out of range, that a kernel has found."""
    from thnn._binding.backend import type2backend

    empty = torch.empty(0, device=device)
    type2backend[empty].Abs_updateOutput(0, empty, empty)
