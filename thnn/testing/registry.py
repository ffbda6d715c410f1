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

    def cases(self) -> Mapping[str, Case]: ...


class Installed:
    """The functions of the package, called on a device.

    Raises ValueError for a device that the package cannot compute on.
    """

    def __init__(self, device: str = "cpu") -> None:
        self.device = torch.device(device)
        if self.device.type == "cuda":
            from thnn._binding.device import device_types

            if "cuda" not in device_types():
                raise ValueError(
                    "device: expected cpu, got cuda: this thnn was built without the CUDA library"
                )
            if not torch.cuda.is_available():
                raise ValueError("device: expected cpu, got cuda: torch finds no GPU")
        elif self.device.type != "cpu":
            raise ValueError(f"device: expected cpu or cuda, got {device}")

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
