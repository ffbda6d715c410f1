"""Kernels in C for the operators of C functions, for tensors on the CPU (lib/binding/operators.h).

Compiled code calls operators, and a kernel in Python costs each call several microseconds. The kernel in C makes the
same call of the C function; calls with an error, and a few others (operators.h), it leaves to the kernel in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from thnn._binding.device import EMULATION
from thnn._binding.extension import lib
from thnn._binding.library import THNN, BoundFunction
from thnn._functions.generate import Source
from thnn._header import Argument

_LETTERS = {"Tensor": "T", "Tensor?": "O", "SymInt": "i", "bool": "b", "float": "d"}
# The kinds of sources, by the letters of `Source`.
_LIKE = {"e": lib.THNN_SOURCE_EMPTY, "z": lib.THNN_SOURCE_ZEROS, "s": lib.THNN_SOURCE_SCALAR}


def implement(
    namespace: str,
    bound: BoundFunction,
    arguments: Sequence[str],
    sources: Mapping[str, Source],
    results: Sequence[str],
    kernel: Callable[..., Any],
    scaled: bool = False,
) -> bool:
    """Registers a kernel in C for the operator of a C function if that is possible.

    `arguments` are those of the operator, with their types in torch's language, and `sources` those of the C function.
    `results` names arguments of the C function: new tensors, and running statistics, of which the operator returns
    changed copies. `scaled`: the result is multiplied by the first argument. `kernel` is the kernel in Python.

    The kernel remains in Python if the function draws random numbers, since a generator belongs to Python; in the
    emulation of CUDA, which computes some functions by torch; if this torch lacks a function of
    `_torch.operator_functions`; and for operators beyond the number of kernels in operators.c.
    """
    types = {name: _LETTERS.get(t, "") for t, name in (argument.split(" ") for argument in arguments)}
    if EMULATION or not all(types.values()):
        return False
    function = bound.function
    positions = {name: k for k, name in enumerate(types)}
    places = [next(k for k, a in enumerate(function.after_state) if a.name == name) for name in results]
    scaling = lib.THNN_SCALING_NONE
    if scaled:  # a kernel of another library need not read the factor
        scaling = lib.THNN_SCALING_FUNCTION if bound.library is THNN else lib.THNN_SCALING_KERNEL
    return bool(
        lib.thnn_implementOperator(
            namespace.encode(),
            function.name.encode(),
            bound.address,
            "".join(types.values()).encode(),
            [_entry(a, sources[a.name], positions, a in function.running) for a in function.after_state],
            places,
            len(places),
            scaling,
            id(kernel),
        )
    )


def _entry(
    argument: Argument, source: Source, positions: Mapping[str, int], is_running: bool
) -> tuple[int, int, int, int, float]:
    """The members of a THNNSource."""
    # Optional results are those of the training, which alone changes the running statistics.
    train = positions.get("train", -1)
    if source.letter == "g":
        return lib.THNN_SOURCE_REQUESTED, 0, 0, train if argument.is_optional else -1, 0.0
    if source.variable == "inplace":
        return lib.THNN_SOURCE_NUMBER, 0, 0, -1, 0.0  # operators change none of their arguments
    if source.variable is None:
        return (
            (lib.THNN_SOURCE_NONE, 0, 0, -1, 0.0)
            if argument.is_tensor
            else (lib.THNN_SOURCE_NUMBER, 0, 0, -1, float(source.constant))
        )
    index = positions[source.variable]
    if source.letter != ".":
        return _LIKE[source.letter], index, 0, -1, 0.0
    if source.dimension is not None:
        return lib.THNN_SOURCE_SIZE, index, source.dimension, -1, 0.0
    return (
        (lib.THNN_SOURCE_CLONE, index, 0, train, 0.0)
        if is_running
        else (lib.THNN_SOURCE_GIVEN, index, 0, -1, 0.0)
    )
