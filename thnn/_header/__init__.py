"""The header: what it declares, and what each argument is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .model import Argument, Function, HeaderError, Location, Module, group_modules
from .roles import BACKWARD_SCALARS, BackwardScalar, Role

if TYPE_CHECKING:
    from .parser import parse_header, parse_header_text

__all__ = [
    "BACKWARD_SCALARS",
    "Argument",
    "BackwardScalar",
    "Function",
    "HeaderError",
    "Location",
    "Module",
    "Role",
    "group_modules",
    "parse_header",
    "parse_header_text",
]


def __getattr__(name: str) -> Any:
    # The parser brings pycparser, which only those need who parse.
    if name in ("parse_header", "parse_header_text"):
        from . import parser

        return getattr(parser, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
