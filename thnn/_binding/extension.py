"""The compiled binding, `thnn._C`, or an error that says how to get it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parent.parent

try:
    from thnn import _C
except ImportError as error:
    if list(PACKAGE.glob("_C*.so")):
        raise
    raise ImportError(
        f"{PACKAGE} has no compiled binding: in a source tree `make setup` builds it; to import an installed thnn, "
        f"change to another directory ({error})"
    ) from error

ffi: Final = _C.ffi
lib: Final = _C.lib
