"""PACKAGE: the functions of NAME.h, compiled when the package was installed."""

from pathlib import Path

import thnn

_FOLDER = Path(__file__).resolve().parent
MODULE = thnn.open_library(_FOLDER / "NAME.h", _FOLDER / "libPACKAGE.so", __name__)
NAMEFunction = MODULE.NAMEFunction
