"""The functions that are checked and timed: those of the package, or of a header that thnn.load has compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import torch

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
    @property
    def device(self) -> torch.device:
        """The device on which the functions are called."""

    @property
    def reversed_tasks(self) -> Registry | None:
        """The same functions, whose parallel loops run from the last task to the first, if they can be compiled so."""

    def cases(self) -> Mapping[str, Case]: ...


def find_device(name: str) -> torch.device:
    """The device cpu, or cuda where there is a GPU. Raises ValueError for another one."""
    device = _device(name)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: expected cpu, got cuda: torch finds no GPU")
    return device


def _device(name: str) -> torch.device:
    expected = f"device: expected cpu or cuda, got {name}"
    try:
        device = torch.device(name)
    except RuntimeError:  # torch knows no such device
        raise ValueError(expected) from None
    if device.type not in ("cpu", "cuda"):
        raise ValueError(expected)
    return device


class OnDevice:
    """The functions of another registry, called on a device."""

    reversed_tasks = None

    def __init__(self, registry: Registry, device: torch.device) -> None:
        self.modules, self.function_classes = registry.modules, registry.function_classes
        self.type2backend, self.device = registry.type2backend, device
        self._registry = registry

    def cases(self) -> Mapping[str, Case]:
        return {name: replace(case, registry=self) for name, case in self._registry.cases().items()}


class Installed:
    """The functions of the package, called on a device.

    Raises ValueError for a device that the package cannot compute on.
    """

    reversed_tasks = None

    def __init__(self, device: str = "cpu") -> None:
        if _device(device).type == "cuda":
            from thnn._binding.device import device_types

            if "cuda" not in device_types():
                raise ValueError(
                    "device: expected cpu, got cuda: this thnn was built without the CUDA library"
                )
        self.device = find_device(device)

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

        found = cases()
        if self.device.type == "cpu":
            return found
        return {name: replace(case, registry=self) for name, case in found.items()}


INSTALLED = Installed()
