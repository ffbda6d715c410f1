"""The functions that are checked and timed: those of the package, or of a header that thnn.load has compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from thnn._functions.base import FunctionBase
from thnn._header import Module

if TYPE_CHECKING:
    from thnn.testing.cases.model import Case


class Registry(Protocol):
    """Modules by name, their classes and backends, and their cases; `thnn._load.loaded.LoadedModule` is one."""

    @property
    def modules(self) -> Mapping[str, Module]: ...
    @property
    def function_classes(self) -> Mapping[str, type[FunctionBase]]: ...
    @property
    def type2backend(self) -> Mapping[Any, Any]: ...
    def cases(self) -> Mapping[str, Case]: ...


class _Installed:
    """The functions of the package."""

    @property
    def modules(self) -> Mapping[str, Module]:
        from thnn._header.registry import modules

        return modules()

    @property
    def function_classes(self) -> Mapping[str, type[FunctionBase]]:
        from thnn._functions.classes import function_classes

        return function_classes

    @property
    def type2backend(self) -> Mapping[Any, Any]:
        from thnn._binding.backend import type2backend

        return type2backend

    def cases(self) -> Mapping[str, Case]:
        from thnn.testing.cases import cases

        return cases()


INSTALLED = _Installed()
