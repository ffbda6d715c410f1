"""``torch._thnn.utils``: the header as mutable objects, and backends made of a compiled module."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from thnn._binding.backend import MissingFunction, _unpickle_backend, type2backend
from thnn._header import Function as HeaderFunction
from thnn._header import parse_header as parse_model
from thnn._header.registry import THNN_H_PATH, functions

_UTILS = "torch._thnn.utils"

#: Prefix of the functions of the compiled library -> backend, as in THNN_FloatTanh_updateOutput.
PREFIXES = {"Float": "THNNFloatBackend", "Double": "THNNDoubleBackend"}


class Argument:
    """An argument of a `Function`."""

    __module__ = _UTILS

    def __init__(self, _type: str, name: str, is_optional: bool = False) -> None:
        self.type = _type
        self.name = name
        self.is_optional = is_optional

    def __repr__(self) -> str:
        return f"{self.type} {self.name}"


class Function:
    """A function of a header: its name and its arguments, the state first."""

    __module__ = _UTILS

    def __init__(self, name: str) -> None:
        self.name = name
        self.arguments: list[Argument] = []

    def add_argument(self, argument: Argument) -> None:
        """Appends an argument."""
        self.arguments.append(argument)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.arguments))})"


def parse_header(path: str | os.PathLike[str]) -> list[Function]:
    """The functions that a header declares; thnn.HeaderError where it is not understood."""
    model = functions().values() if os.fspath(path) == THNN_H_PATH else parse_model(path)
    found = []
    for function in model:
        copy = Function(function.name)
        for argument in function.arguments:
            copy.add_argument(Argument(argument.type, argument.name, argument.is_optional))
        found.append(copy)
    return found


def declared(function: Function) -> HeaderFunction:
    """The function of the installed header with this name and these arguments; ValueError if there is none."""
    model = functions().get(function.name)
    if model is None:
        raise ValueError(f"THNN.h has no function {function.name!r}")
    if [a.name for a in function.arguments] != [a.name for a in model.arguments]:
        raise ValueError(f"{function!r} differs from THNN.h, which has {model!r}")
    return model


class THNNBackendBase:
    """A backend of functions that were registered. The backends of ``type2backend`` have a different class."""

    __module__ = _UTILS

    library_state = 0

    def __init__(self) -> None:
        self.methods: dict[str, Callable[..., Any]] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = None if name.startswith("__") or name == "methods" else self.methods.get(name)
        if method is None:
            raise MissingFunction(f"{type(self).__name__} has no function {name!r}")
        return method

    def register_method(self, name: str, function: Callable[..., Any]) -> None:
        """Adds a function."""
        self.methods[name] = function

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.methods})

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle_backend, (type(self).__name__,)


def load_backend(
    t: str, lib: Any, generic_functions: Iterable[Function], mixins: tuple[type, ...] = ()
) -> THNNBackendBase:
    """A backend of the functions that `lib`, a module, has with the prefix `t`: 'Float', 'Double'."""
    backend: THNNBackendBase = type(f"THNN{t}Backend", (*mixins, THNNBackendBase), {"__module__": _UTILS})()
    for function in generic_functions:
        backend.register_method(function.name, getattr(lib, t + function.name))
    return backend


for _function in (parse_header, load_backend):
    _function.__module__ = _UTILS


def compiled_names() -> dict[str, tuple[str, str]]:
    """``torch._thnn._THNN``: name -> (backend, function)."""
    return {prefix + name: (key, name) for prefix, key in PREFIXES.items() for name in functions()}


def compiled(name: str) -> Callable[..., Any]:
    """A function of ``torch._thnn._THNN`` by its name; KeyError if there is none."""
    backend, function = compiled_names()[name]
    return getattr(type2backend[backend], function)
