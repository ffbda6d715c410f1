"""The CUDA library, and its emulation on the CPU.

The CUDA library (lib/THCUNN) has the functions of THNN.h for CUDA tensors of float32, float64, float16 and
bfloat16. It is opened when the first CUDA tensor comes. From then on the binding sends calls with CUDA tensors to
it; `thnn._cuda` computes the functions that it lacks.

THNN_CUDA_EMULATE=1 opens the emulation instead, which takes the calls of all tensors on the CPU: the kernels for
CUDA run where there is no GPU. It is made for tests, and slow.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Sequence
from typing import Any

from thnn._binding.extension import PACKAGE
from thnn._binding.library import THNN, Library

EMULATION = os.environ.get("THNN_CUDA_EMULATE", "") not in ("", "0")


def _compute_by_torch(name: str, values: Sequence[Any], new: Collection[int]) -> None:
    from thnn._cuda import compute_by_torch  # when a function is called that needs it

    compute_by_torch(name, values, new)


@functools.cache
def device_library() -> Library | None:
    """The CUDA library, or the emulation; None if the package was built without it.

    Raises ImportError if it cannot be opened, or if the emulation is wanted and was not built.
    """
    path = PACKAGE / ("libTHCUNN_emulation.so" if EMULATION else "libTHCUNN.so")
    if not path.exists():
        if EMULATION:
            raise ImportError(
                f"THNN_CUDA_EMULATE is set, and there is no {path}; build it by: make emulation"
            )
        return None
    library = Library(path)
    library.compute_for(THNN, _compute_by_torch)
    return library


def device_types() -> tuple[str, ...]:
    """The types of the devices on which the functions of THNN.h can compute: 'cpu', 'cuda'."""
    library = device_library()
    return ("cpu",) if library is None or library.device == "cpu" else ("cpu", "cuda")


if EMULATION:
    device_library()
