"""``thnn.keep_freed_memory``: the process keeps the memory of freed tensors instead of returning it to the system."""

from __future__ import annotations

import ctypes

# Parameters of mallopt() in glibc's <malloc.h>.
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4


def keep_freed_memory() -> None:
    """Makes the C library keep freed memory in the process, for all tensors on the CPU, torch's included.

    By default glibc maps each large block separately, and returns it to the system when it is freed (the limit adapts
    between 128 KiB and 32 MiB); the next tensor of that size begins with a page fault per 4 KiB. After this call,
    later tensors use freed memory, though only after some steps, since an aligned block fits only into a larger free
    block. The process then keeps its largest size, plus the losses by fragmentation, until it ends. The call cannot be
    undone and has no effect on results; a second call changes nothing. Call it before the first step.

    Raises:
        NotImplementedError: the C library has no ``mallopt`` or refuses the parameters, as outside of glibc.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None or not (mallopt(_M_MMAP_MAX, 0) and mallopt(_M_TRIM_THRESHOLD, -1)):
        raise NotImplementedError(
            "keep_freed_memory: expected a C library with mallopt(), M_MMAP_MAX and M_TRIM_THRESHOLD (glibc)"
        )
