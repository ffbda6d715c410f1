"""The class of each module of the header that has one, by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Protocol

from thnn._batch_norm.function import BatchNormalizationFunction, BatchNormalizationReLUFunction
from thnn._functions.base import FunctionBase
from thnn._functions.generate import _make_function_class, _make_function_class_criterion
from thnn._functions.recurrent import GRUFusedFunction, LSTMFusedFunction
from thnn._header import Module
from thnn._header.registry import modules
from thnn._operators.calls import define


class FunctionClasses(Mapping[str, "type[FunctionBase]"]):
    """Name -> class for every module of the header that has a class; a class is created at the first access."""

    def __init__(self) -> None:
        self._classes: dict[str, type[FunctionBase]] = {}

    @property
    def _names(self) -> dict[str, str]:
        return {name + "Function": name for name, m in modules().items() if m.forward is not None}

    def __getitem__(self, name: str) -> type[FunctionBase]:
        cls = self._classes.get(name)
        if cls is None and name not in self:
            near = difflib.get_close_matches(f"{name}Function", self._names, 1, 0.7)
            raise KeyError(f"no class {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        if cls is None:
            cls = self._classes.setdefault(name, _make(modules()[self._names[name]]))
        return cls

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __repr__(self) -> str:
        return f"function_classes({', '.join(self)})"


_HAND_WRITTEN: dict[str, type[FunctionBase]] = {
    cls.module.name: cls
    for cls in (
        BatchNormalizationFunction,
        BatchNormalizationReLUFunction,
        LSTMFusedFunction,
        GRUFusedFunction,
    )
}


def _make(module: Module) -> type[FunctionBase]:
    if module.name in _HAND_WRITTEN:
        return _HAND_WRITTEN[module.name]
    return (_make_function_class_criterion if module.is_criterion else _make_function_class)(module)


function_classes = FunctionClasses()


class Loaded(Protocol):
    """A library that was loaded, with its classes by name."""

    @property
    def function_classes(self) -> Mapping[str, type[FunctionBase]]: ...


def register_operators(loaded: Loaded | None = None) -> None:
    """Defines the operators ``torch.ops.thnn.X`` of all functions, in about a tenth of a second, or of a module that
    `thnn.load` or `thnn.open_library` returned.

    A class defines its operator at its first use. Programs that ``torch.export.save`` or ``torch.jit.save`` wrote
    contain operators, but no classes: call this before loading one. ``torch.jit.script`` compiles calls of the
    operators, too.
    """
    for cls in (function_classes if loaded is None else loaded.function_classes).values():
        define(cls)
