"""The header: the functions that it declares, and the role of each argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .model import Argument, Function, HeaderError, Location, Module, Size, digest, group_modules, literal
from .roles import Role

if TYPE_CHECKING:
    from .parser import parse_header, parse_header_text

__all__ = [
    "Argument",
    "Function",
    "HeaderError",
    "Location",
    "Module",
    "Role",
    "Size",
    "digest",
    "group_modules",
    "literal",
    "parse_header",
    "parse_header_text",
]


def __getattr__(name: str) -> Any:
    # Imported at the first access, since the generated model needs no parser.
    if name in ("parse_header", "parse_header_text"):
        from . import parser

        return getattr(parser, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
