"""From the header model to source text: the C that a library is built from, the generated model, and type stubs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from thnn._emit import c, python
from thnn._header import Function, HeaderError


def check_supported(path: Path, functions: Sequence[Function], has_families: bool) -> None:
    """Raises HeaderError, with the line of the header at `path`, for a declaration that C or Python cannot use.

    `has_families`: each function has to belong to a family.
    """
    try:
        if has_families:
            python.check_families(functions)
        python.check_supported(functions)
        c.check_supported(functions)
    except HeaderError as error:
        line = path.read_text(encoding="utf-8").splitlines()[error.location.line - 1]
        raise HeaderError(error.location, error.message, line) from None
