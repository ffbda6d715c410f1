"""The class of each module of a header that has one, by name, with the other functions of the header."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from thnn._batch_norm.addition import BatchNormalizationAddFunction
from thnn._batch_norm.function import BatchNormalizationFunction, BatchNormalizationReLUFunction
from thnn._binding.backend import Backends, type2backend
from thnn._binding.library import THNN, Library
from thnn._functions.base import FunctionBase
from thnn._functions.generate import _make_function_class, _make_function_class_criterion
from thnn._functions.recurrent import GRUFusedFunction, LSTMFusedFunction
from thnn._header import Function, Module
from thnn._header.registry import functions, modules
from thnn._operators.calls import define
from thnn._spelling import nearest


class FunctionClasses(Mapping[str, "type[FunctionBase]"]):
    """Name -> class for every module that has a class; a class is created at the first access."""

    def __init__(self, modules: Mapping[str, Module], make: Callable[[Module], type[FunctionBase]]) -> None:
        self._modules = {f"{name}Function": m for name, m in modules.items() if m.forward is not None}
        self._make = make
        self._classes: dict[str, type[FunctionBase]] = {}

    def __getitem__(self, name: str) -> type[FunctionBase]:
        cls = self._classes.get(name)
        if cls is None and name not in self:
            near = nearest(f"{name}Function", self._modules, 0.7)
            raise KeyError(f"no class {name!r}" + (f"; did you mean {near!r}?" if near else ""))
        if cls is None:
            cls = self._classes.setdefault(name, self._make(self._modules[name]))
        return cls

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __repr__(self) -> str:
        return f"function_classes({', '.join(self)})"


class Registry:
    """The functions of a header in a library: of the package, or those that `thnn.load` compiled.

    `modules` and `functions` are the model of the header by name, `function_classes` the classes by name, and
    `type2backend` the C functions by tensor type.
    """

    def __init__(
        self,
        functions: Mapping[str, Function],
        modules: Mapping[str, Module],
        library: Library,
        type2backend: Backends,
        make: Callable[[Module], type[FunctionBase]],
    ) -> None:
        self.functions, self.modules = functions, modules
        self._library = library
        self.type2backend = type2backend
        self.function_classes = FunctionClasses(modules, make)

    @property
    def case_file(self) -> Path | None:
        """The Python file with the cases of the functions; None for the package, which has a table of cases."""
        return None

    @property
    def has_reversed_tasks(self) -> bool:
        """True if there are `reversed_tasks`: for functions that thnn.load has compiled."""
        return False

    @property
    def reversed_tasks(self) -> Registry:
        """The same functions, whose parallel loops run from the last task to the first, compiled now."""
        raise NotImplementedError


_HAND_WRITTEN: dict[str, type[FunctionBase]] = {
    cls.module.name: cls
    for cls in (
        BatchNormalizationFunction,
        BatchNormalizationReLUFunction,
        BatchNormalizationAddFunction,
        LSTMFusedFunction,
        GRUFusedFunction,
    )
}


def _make(module: Module) -> type[FunctionBase]:
    if module.name in _HAND_WRITTEN:
        return _HAND_WRITTEN[module.name]
    return (_make_function_class_criterion if module.is_criterion else _make_function_class)(module)


PACKAGE = Registry(functions(), modules(), THNN, type2backend, _make)
function_classes = PACKAGE.function_classes


def register_operators(loaded: Registry | None = None) -> None:
    """Defines the operators ``torch.ops.thnn.X`` of all functions, in about a tenth of a second, or of a module that
    `thnn.load` or `thnn.open_library` returned.

    A class defines its operator at its first use. Programs that ``torch.export.save`` or ``torch.jit.save`` wrote
    contain operators, but no classes: call this before loading one. ``torch.jit.script`` compiles calls of the
    operators, too.
    """
    for cls in (PACKAGE if loaded is None else loaded).function_classes.values():
        define(cls)
