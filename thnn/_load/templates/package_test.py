"""Tests of the installed package: `python -m pytest test_NAME.py`."""

import PACKAGE


def test_case() -> None:
    assert PACKAGE.MODULE.check()
    assert PACKAGE.NAMEFunction is PACKAGE.MODULE.NAMEFunction
