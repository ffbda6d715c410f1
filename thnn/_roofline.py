"""The rooflines of this machine: the peak rate of fused multiply-adds, and the rate of copying memory. Also the time
that a cache line takes between two cores.

libroofline.so, beside this file, has the loops, which use the instruction set and the threads of the kernels.
"""

from __future__ import annotations

import functools
import math
import time
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
    double roofline_exchange(int64_t passes);
    """
)


@functools.cache
def _library() -> Any:
    return _ffi.dlopen(str(Path(__file__).with_name("libroofline.so")))


@functools.cache
def _instruction_set() -> Any:
    name = cpu_capability()
    return _ffi.new("char[]", ("avx512" if name.endswith("_bf16") else name).encode())


def peak_flops(dtype: torch.dtype) -> float:
    """Operations per second; a fused multiply-add is two. Measured once per element type and number of threads, for 0.3
    seconds."""
    return _peak_flops(dtype == torch.float64, torch.get_num_threads())


@functools.cache
def _peak_flops(is_double: bool, threads: int) -> float:
    return float(_library().roofline_flops(_instruction_set(), is_double, 0.3))


def copier(destination: Tensor, source: Tensor, stream: bool) -> Callable[[], None]:
    """A call that copies a contiguous tensor of whole cache lines, with non-temporal stores if `stream`."""
    copy, instruction_set, size = _library().roofline_copy, _instruction_set(), source.nbytes

    def call() -> None:
        copy(instruction_set, destination.data_ptr(), source.data_ptr(), size, stream)

    return call


def exchange_seconds() -> float:
    """The time that a cache line takes from one core to another; 0 with one thread or CPU. It shows whether the cores
    share a last-level cache: a hypervisor may move the CPUs of a virtual machine at any time."""
    return min(float(_library().roofline_exchange(700)) for _ in range(3))


# Only copies of these sizes are measured, since smaller ones measure the start of the threads; the times of smaller and
# larger copies are in proportion.
_LEAST_COPY, _LARGEST_COPY = 1 << 23, 1 << 27
_COPY_SECONDS = 0.01


def copy_seconds(size: float) -> float:
    """The time of a copy that moves `size` bytes, half of them read and half of them written, at the rate of a copy of
    about that size. Measured once per power of two and number of threads."""
    measured = 1 << max(1, round(size) - 1).bit_length()
    measured = min(max(measured, _LEAST_COPY), _LARGEST_COPY)
    return size * _copy_seconds_per_byte(measured, torch.get_num_threads())


@functools.cache
def _copy_seconds_per_byte(size: int, threads: int) -> float:
    # torch allocates memory at addresses that are multiples of 64.
    source, destination = (torch.ones(size // 2, dtype=torch.int8) for _ in range(2))
    best = math.inf
    for stream in (False, True):
        call = copier(destination, source, stream)
        call()
        end = time.perf_counter() + _COPY_SECONDS
        while (start := time.perf_counter()) < end:
            call()
            best = min(best, time.perf_counter() - start)
    return best / size
