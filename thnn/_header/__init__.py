"""The header: what it declares, and what each argument is for."""

from .model import Argument, Function, HeaderError, Location, Module, group_modules
from .parser import parse_header, parse_header_text
from .roles import BACKWARD_SCALARS, BackwardScalar, Role

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
