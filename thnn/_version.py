"""The version: the text of the file VERSION in a source tree, otherwise the metadata of the installed package."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).resolve().parent.parent / "VERSION"


def _version() -> str:
    if _FILE.exists():
        return _FILE.read_text().strip()
    from importlib.metadata import version

    return version("thnn")


__version__ = _version()
