"""Observation of all calls of C functions, for `thnn.profile`.

The binding calls an observer after each call only while one is set: without one, a call costs nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from thnn._binding.extension import lib

# Called with the name of the C function, the seconds of the call, its report (0 after success) and its arguments
# without the state.
Observer = Callable[[str, float, int, tuple[Any, ...]], None]


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Calls the observer after each call of a C function, by any thread, until the end of the `with` block.

    Exceptions of the observer are printed and ignored. Raises RuntimeError if another observer is set.
    """
    if not lib.thnn_observe(id(observer)):
        raise RuntimeError("calls are observed already: another profile is running")
    try:
        yield
    finally:
        lib.thnn_observe(0)
