"""The functions that are checked and timed: the package's, or those of a header that thnn.load has compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import torch

from thnn._binding.backend import type2backend
from thnn._binding.device import device_types
from thnn._classes import function_classes
from thnn._functions.base import FunctionBase
from thnn._header import Module
from thnn._header.registry import modules


class Functions(Protocol):
    """Modules by name, their classes and backends."""

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
    def reversed_tasks(self) -> Functions | None:
        """The same functions, whose parallel loops run from the last task to the first, if they can be compiled so."""


def find_device(name: str) -> torch.device:
    """The device cpu, or cuda where there is a GPU. Raises ValueError for any other."""
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


class PackageFunctions:
    """The functions of the package, called on a device.

    Raises ValueError for a device that the package cannot compute on.
    """

    reversed_tasks = None

    def __init__(self, device: str = "cpu") -> None:
        if _device(device).type == "cuda" and "cuda" not in device_types():
            raise ValueError("device: expected cpu, got cuda: this thnn was built without the CUDA library")
        self.device = find_device(device)

    @property
    def modules(self) -> Mapping[str, Module]:
        return modules()

    @property
    def function_classes(self) -> Mapping[str, type[FunctionBase]]:
        return function_classes

    @property
    def type2backend(self) -> Mapping[Any, Any]:
        return type2backend


PACKAGE = PackageFunctions()
