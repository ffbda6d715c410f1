"""The functions and modules of the installed header."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from thnn._header import Function, Module, group_modules
from thnn._spelling import nearest

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


def pattern_of(text: str) -> re.Pattern[str]:
    """The names that a command was asked for. The full name of a module selects only that module; any other text is a
    regular expression that is searched for, ignoring case. Raises ValueError for a text that is neither."""
    if text in modules():
        return re.compile(f"^{text}$")
    try:
        return re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from None


def modules_named(texts: Sequence[str]) -> list[str]:
    """The names of the modules that match one of the texts. Raises ValueError for a text that matches none."""
    found: set[str] = set()
    for text in texts:
        pattern = pattern_of(text)
        matching = {name for name in modules() if pattern.search(name)}
        if not matching:
            raise ValueError(f"no module matches {text!r}; {hint(text)}")
        found |= matching
    return [name for name in modules() if name in found]


def hint(text: str) -> str:
    """A hint for a text that matches nothing: a header of that name, or the module with the closest name."""
    meant = header_called(text) or nearest(text, modules(), ignore_case=True)
    question = f"did you mean {meant}? " if meant else ""
    return f"{question}python -m thnn list shows all modules"


def header_called(text: str) -> str:
    """The path of the header that a text without its suffix names; '' if there is no such file."""
    header = f"{text}.h"
    try:
        return header if Path(header).is_file() else ""
    except OSError:  # such as a text that is too long for a path
        return ""
