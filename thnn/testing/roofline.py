"""The rooflines of this machine: the peak rate of fused multiply-adds, and the rate of copying memory.

libroofline.so, beside this file, has the loops, which use the instruction set and the threads of the kernels.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch
from cffi import FFI
from torch import Tensor

from thnn._binding.library import cpu_capability

_ffi: Final = FFI()
_ffi.cdef(
    """
    double roofline_flops(const char *instructionSet, bool isDouble, double seconds);
    bool roofline_copy(const char *instructionSet, uintptr_t to, uintptr_t from, int64_t bytes, bool nonTemporal);
    """
)


@functools.cache
def _library() -> Any:
    return _ffi.dlopen(str(Path(__file__).with_name("libroofline.so")))


@functools.cache
def _instruction_set() -> Any:
    return _ffi.new("char[]", cpu_capability().encode())


@functools.cache
def peak_flops(dtype: torch.dtype) -> float:
    """Operations per second; a fused multiply-add is two. Measured once per element type, for 0.3 seconds."""
    return float(_library().roofline_flops(_instruction_set(), dtype == torch.float64, 0.3))


def copier(destination: Tensor, source: Tensor, stream: bool) -> Callable[[], None]:
    """A call that copies a contiguous tensor of whole cache lines, with non-temporal stores if `stream`."""
    copy, instruction_set, size = _library().roofline_copy, _instruction_set(), source.nbytes

    def call() -> None:
        copy(instruction_set, destination.data_ptr(), source.data_ptr(), size, stream)

    return call
