"""The table of cases: for each module of THNN.h what it is compared with, on what, and what it must refuse.

A case is a `Case` in any file of this package: adding one is all it takes. See thnn/cases/model.py for its parts.
"""

from __future__ import annotations

import pkgutil
import zlib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import torch

from thnn._documentation import DEFAULTS
from thnn._registry import modules
from thnn.cases.model import Case, Sample


@cache
def cases() -> Mapping[str, Case]:
    """Every case by the name of its module, in the order of the header."""
    found: dict[str, Case] = {}
    for file in pkgutil.iter_modules(__path__):
        for value in vars(import_module(f"{__name__}.{file.name}")).values():
            if isinstance(value, Case) and found.setdefault(value.module, value) is not value:
                raise ValueError(f"two cases for {value.module}, one of them in thnn/cases/{file.name}.py")
    strangers = found.keys() - modules().keys()
    if strangers:
        raise ValueError(f"cases for modules that THNN.h does not have: {', '.join(sorted(strangers))}")
    return {name: found[name] for name in modules() if name in found}


def arguments(module: str, sample: Sample, dtype: torch.dtype = torch.float64) -> dict[str, Any]:
    """The arguments of the forward that a caller gives, by name: tensors made, what is omitted filled in."""
    forward = modules()[module].forward
    assert forward is not None
    unknown = sample.arguments.keys() - {a.name for a in forward.arguments}
    if unknown:
        raise ValueError(f"{module}, sample {sample.name!r}: no argument {', '.join(sorted(unknown))}")
    made: dict[str, Any] = {}
    for argument in forward.arguments:
        name = argument.name
        if argument.role not in ("input", "target", "parameter", "scalar"):
            continue
        if name in sample.arguments:
            # Seeded by name, so that an argument does not change when another one does.
            seed = zlib.crc32(f"{module} {sample.name} {name}".encode())
            made[name] = make(sample.arguments[name], dtype, seed)
        elif argument.is_optional:
            made[name] = None
        else:
            made[name] = DEFAULTS[name]
    return made


def make(value: Any, dtype: torch.dtype, seed: int = 0) -> Any:
    """The tensor of a maker, its float64 turned into `dtype`; anything else as it is."""
    if not callable(value):
        return value
    made = value(torch.Generator().manual_seed(seed))
    return made.to(dtype) if isinstance(made, torch.Tensor) and made.dtype is torch.float64 else made
