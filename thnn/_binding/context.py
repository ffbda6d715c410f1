"""The context of a call of a function class: the machinery of torch that has to see it (lib/binding/context.h)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from thnn._binding.extension import lib
from thnn._torch import CONTEXT, addresses, forward_mode_names, in_transform

PLAIN, GRADIENT = lib.THNN_CONTEXT_PLAIN, lib.THNN_CONTEXT_GRADIENT
TRANSFORM, CONSTANT = lib.THNN_CONTEXT_TRANSFORM, lib.THNN_CONTEXT_CONSTANT


_names = forward_mode_names()


def _context() -> int:
    return TRANSFORM if in_transform() else GRADIENT if torch.is_grad_enabled() else PLAIN


def connect_context(enable: bool = True) -> bool:
    """Makes the binding read the context by libtorch's C functions; with ``enable=False`` by a Python function.

    Returns whether the C functions are in use; False if torch lacks one of them.
    """
    found = [address if enable else 0 for address in addresses(CONTEXT)]
    if not lib.thnn_connectContext(found, len(found), id(_names), id(_context)):
        raise ImportError("the binding was built from another source; run: python -m thnn regenerate")
    return all(found)


def make_context_of_call(tensors: int, constants: Sequence[int]) -> Callable[[tuple[Any, ...]], int]:
    """A function that returns the context of a call from the tuple of its arguments, which begins with that number of
    tensors; `constants` are the positions of tensors without a gradient.

    GRADIENT means that autograd is enabled and a tensor requires a gradient, CONSTANT that one at `constants` does. If
    an object is no tensor the context is PLAIN, since the C function reports the error.
    """
    made: list[Callable[[tuple[Any, ...]], int]] = []
    if not lib.thnn_makeContextOfCall(tensors, sum(1 << i for i in constants), id(made)):
        raise MemoryError
    return made[0]


def _make_functions() -> tuple[Callable[[], int], Callable[[torch.Tensor], bool]]:
    made: list[Any] = []
    if not lib.thnn_makeContextFunctions(id(made)):
        raise MemoryError
    return made[0], made[1]


#: `read_context` returns the context of the current thread; GRADIENT means that autograd is enabled. `increment` adds 1
#: to an int64 tensor of one element on the CPU, without its version counter; it returns False, without an effect, for
#: another tensor and inside a transform.
read_context, increment = _make_functions()
connect_context()
