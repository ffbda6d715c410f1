"""The fixture of tests that run inside ``with thnn.compat:``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import thnn


@pytest.fixture
def compat() -> Iterator[None]:
    """The modules of 2017, installed for one test."""
    with thnn.compat:
        yield
