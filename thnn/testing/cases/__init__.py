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
from typing import Any

import torch

from thnn._binding.arguments import FIXED_DTYPES, NARROW_DTYPES
from thnn._binding.device import device_library, device_types
from thnn._classes import PACKAGE, Registry
from thnn._header import Argument, Function
from thnn._header.registry import modules
from thnn.testing.cases.model import Case, SampleInput


def cases_of(registry: Registry, device: str = "cpu") -> Mapping[str, Case]:
    """The cases of the functions of a registry by the name of their module or function, to be called on a device: cpu,
    or cuda, for which nvcc compiles loaded functions now.

    Raises ValueError without a file of cases, and the errors of `find_device`.
    """
    where = find_device(registry, device)
    found = cases() if registry.case_file is None else _cases_of_file(registry.case_file, registry)
    return found if where.type == "cpu" else {n: replace(case, device=where) for n, case in found.items()}


def find_device(registry: Registry, name: str) -> torch.device:
    """The device cpu, or cuda where there is a GPU and the functions of the registry have kernels for it.

    Raises ValueError for any other, and the errors of a first call with a CUDA tensor (`thnn.load`).
    """
    expected = f"device: expected cpu or cuda, got {name}"
    try:
        device = torch.device(name)
    except RuntimeError:  # torch knows no such device
        raise ValueError(expected) from None
    if device.type not in ("cpu", "cuda"):
        raise ValueError(expected)
    if device.type == "cuda":
        if registry is PACKAGE and "cuda" not in device_types():
            raise ValueError("device: expected cpu, got cuda: this thnn was built without the CUDA library")
        if not torch.cuda.is_available():
            raise ValueError("device: expected cpu, got cuda: torch finds no GPU")
        if device_library(registry._library) is None:
            raise ValueError(f"device: expected cpu, got cuda: {registry!r} has no kernels for CUDA")
    return device


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


def _cases_of_file(path: Path, registry: Registry) -> dict[str, Case]:
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
