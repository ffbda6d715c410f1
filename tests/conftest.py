"""Settings and fixtures of all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

# Tests run in several processes: a thread that spins while it waits would take the core from another process. The
# OpenMP runtime reads this when torch loads it, and processes that tests start inherit it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
from hypothesis import HealthCheck, settings

# The same examples in every run.
settings.register_profile(
    "thnn",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("thnn")

# Files with thousands of independent tests, which run in several processes. The tests of any other file share fixtures,
# so they run in one process.
_SPREAD = {"test_cases.py", "test_numerics.py", "test_properties.py"}


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    for item in items:
        name = Path(str(item.fspath)).name
        if name not in _SPREAD:
            item.add_marker(pytest.mark.xdist_group(name))


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    """Restores the number of threads, which a test may change."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
