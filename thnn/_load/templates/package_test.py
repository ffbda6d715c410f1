"""Tests of the installed package: `python -m pytest test_NAME.py`."""

try:
    from PACKAGE import MODULE, NAMEFunction
except ImportError as error:
    raise ImportError(
        "PACKAGE is not installed; run pip install --no-build-isolation . beside pyproject.toml"
    ) from error


def test_case() -> None:
    assert MODULE.check()
    assert NAMEFunction is MODULE.NAMEFunction
