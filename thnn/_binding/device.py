"""The CUDA library, and its emulation on the CPU.

The CUDA library (lib/THCUNN) has the functions of THNN.h for CUDA tensors of float32, float64, float16 and
bfloat16. It is opened when it is first needed: by a CUDA tensor, by an access to `type2backend`, or by a check of
arguments on the slow route. From then on the binding sends calls with CUDA tensors to it; `thnn._cuda` computes the
functions that it lacks. A library of thnn.load has a CUDA library of its own, which is compiled when the first CUDA
tensor comes (thnn/_load/cuda.py).

THNN_CUDA_EMULATE=1 opens the emulation instead, which takes the calls of all tensors on the CPU: the kernels for
CUDA run where there is no GPU. It is made for tests, and slow. Where the emulation of the package is not built, as in
an installed package, only loaded libraries are emulated.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence

import torch

from thnn._binding.extension import PACKAGE
from thnn._binding.library import THNN, Library, MissingCall

EMULATION = os.environ.get("THNN_CUDA_EMULATE", "") not in ("", "0")


@functools.cache
def _by_torch() -> Callable[[Sequence[MissingCall]], None]:
    from thnn._cuda import compute_by_torch  # imported when a function needs it

    return compute_by_torch


def _compute_by_torch(calls: Sequence[MissingCall]) -> None:
    _by_torch()(calls)


def _open_installed() -> Library | None:
    path = PACKAGE / ("libTHCUNN_emulation.so" if EMULATION else "libTHCUNN.so")
    if not path.exists():
        return None
    library = Library(path)
    library.compute_for(THNN, _compute_by_torch)
    return library


THNN.open_device_library = _open_installed


def device_library(library: Library = THNN) -> Library | None:
    """The CUDA library for a library, or the emulation; None if there is none.

    The first call opens it, and compiles it for a library of thnn.load. Raises ImportError if it cannot be opened, and
    the errors of `thnn._load.cuda.open_cuda_library`.
    """
    if library.opened_device_library is None:
        open_device_library = library.open_device_library
        library.opened_device_library = (None if open_device_library is None else open_device_library(),)
    return library.opened_device_library[0]


def has_device_library(library: Library) -> bool:
    """True if a library has a CUDA library or an emulation, perhaps one that is not compiled yet."""
    if library is THNN or EMULATION or library.opened_device_library is not None:
        return device_library(library) is not None
    return library.open_device_library is not None and torch.version.cuda is not None


def device_types(library: Library = THNN) -> tuple[str, ...]:
    """The types of the devices on which the functions of a library can compute: 'cpu', 'cuda'."""
    return ("cpu", "cuda") if not EMULATION and has_device_library(library) else ("cpu",)


if EMULATION:
    device_library()
