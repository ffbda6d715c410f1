"""The table of cases: for each module of THNN.h a reference, sample inputs, error inputs and rows of the benchmark.

Any `Case` in a file of this package is in the table. `model.py` defines `Case` and its parts.
"""

from __future__ import annotations

import importlib.util
import pkgutil
import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import torch

from thnn._binding.arguments import FIXED_DTYPES, NARROW_DTYPES
from thnn._header import Argument, Function
from thnn._header.registry import modules
from thnn.testing.cases.model import Case, SampleInput
from thnn.testing.registry import Functions, PackageFunctions


class Registry(Functions, Protocol):
    """Functions with their cases; `thnn._load.loaded.LoadedModule` is one."""

    def cases(self) -> Mapping[str, Case]: ...


class OnDevice:
    """The functions of another registry, called on a device."""

    reversed_tasks = None

    def __init__(self, registry: Registry, device: torch.device) -> None:
        self.modules, self.function_classes = registry.modules, registry.function_classes
        self.type2backend, self.device = registry.type2backend, device
        self._registry = registry

    def cases(self) -> Mapping[str, Case]:
        return {name: replace(case, registry=self) for name, case in self._registry.cases().items()}


class Installed(PackageFunctions):
    """The functions of the package with the table of cases."""

    def cases(self) -> Mapping[str, Case]:
        found = cases()
        if self.device.type == "cpu":
            return found
        return {name: replace(case, registry=self) for name, case in found.items()}


@cache
def cases() -> Mapping[str, Case]:
    """Every case by the name of its module or single function, in the order of the header."""
    found: dict[str, Case] = {}
    for file in pkgutil.iter_modules(__path__):
        for value in vars(import_module(f"{__name__}.{file.name}")).values():
            if isinstance(value, Case) and found.setdefault(value.name, value) is not value:
                raise ValueError(
                    f"two cases for {value.name}, one of them in thnn/testing/cases/{file.name}.py"
                )
    names = [
        n for m in modules().values() for n in (*([m.name] if m.forward else []), *(f.name for f in m.others))
    ]
    unknown = found.keys() - {*names}
    if unknown:
        raise ValueError(
            f"cases of functions that the library does not have: {', '.join(sorted(unknown))}; after their declaration "
            "in THNN.h, `python -m thnn regenerate` builds them"
        )
    return {name: found[name] for name in names if name in found}


def cases_of_file(path: Path, registry: Registry) -> dict[str, Case]:
    """The cases in a Python file, by the name of their module or single function.

    Raises ValueError if there is no such file, or for a case of a function that the registry does not have.
    """
    if not path.is_file():
        raise ValueError(
            f"there is no file of cases {path}, with the reference and the samples of each function;"
            " `python -m thnn new` writes one for another function, to begin from"
        )
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    file = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(file)
    found = {}
    for case in vars(file).values():
        if isinstance(case, Case):
            module = registry.modules.get(case.module)
            if module is None or (case.phase or "updateOutput") not in module.functions:
                raise ValueError(f"{path}: a case of {case.name}, which the header does not declare")
            found[case.name] = replace(case, registry=registry)
    return found


def function_of(case: Case) -> Function:
    """The function whose arguments the case names: the forward, or the single function of the case."""
    return case.registry.modules[case.module].functions[case.phase or "updateOutput"]


def arguments(case: Case, sample: SampleInput, dtype: torch.dtype = torch.float64) -> dict[str, Any]:
    """The arguments of a sample by name: tensors created by their makers, omitted scalars at their defaults."""
    function = function_of(case)
    unknown = sample.arguments.keys() - {a.name for a in function.arguments}
    if unknown:
        raise ValueError(f"{case.name}, sample {sample.name!r}: no argument {', '.join(sorted(unknown))}")
    made: dict[str, Any] = {}
    for argument in function.arguments:
        name = argument.name
        if argument.role in ("state", "buffer", "gradParameter") or (
            argument in function.written and not argument.is_modified
        ):
            continue
        if name in sample.arguments:
            # A seed per argument, so that its values do not depend on other arguments.
            seed = zlib.crc32(f"{case.name} {sample.name} {name}".encode())
            made[name] = make(sample.arguments[name], dtype_of(argument, dtype), seed)
        elif argument.is_optional:
            made[name] = None
        else:
            made[name] = argument.default
    return made


def dtype_of(argument: Argument, real: torch.dtype) -> torch.dtype:
    """The element type of a tensor argument in a call whose THTensor arguments are of type `real`: float32 for a mixed
    argument of a call of float16 or bfloat16."""
    if argument.is_mixed and real in NARROW_DTYPES:
        return torch.float32
    return FIXED_DTYPES.get(argument.type, real)


def make(value: Any, dtype: torch.dtype, seed: int = 0) -> Any:
    """The tensor of a maker, cast to `dtype` if it is float64; any other value unchanged."""
    if not callable(value):
        return value
    made = value(torch.Generator().manual_seed(seed))
    return made.to(dtype) if isinstance(made, torch.Tensor) and made.dtype is torch.float64 else made


INSTALLED = Installed()
