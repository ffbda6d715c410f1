"""The functions and modules of the installed header."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from thnn._header import Function, Module, group_modules

_PACKAGE = Path(__file__).resolve().parent.parent


def _header() -> Path:
    """The path of THNN.h: inside an installed package, beside the package in a source tree."""
    installed = _PACKAGE / "include" / "generic" / "THNN.h"
    source = _PACKAGE.parent / "generic" / "THNN.h"
    return installed if installed.exists() else source


THNN_H_PATH = str(_header())


@cache
def functions() -> Mapping[str, Function]:
    """Every function of the header by name, from the generated model."""
    from thnn._generated import FUNCTIONS

    return {f.name: f for f in FUNCTIONS}


@cache
def modules() -> Mapping[str, Module]:
    """The modules by name."""
    return group_modules(functions().values())
