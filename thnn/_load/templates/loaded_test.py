"""Tests of NAME: `python -m pytest test_NAME.py`."""

from pathlib import Path

import thnn

LOADED = thnn.load(Path(__file__).with_name("NAME.h"))


def test_case() -> None:
    assert LOADED.check()
