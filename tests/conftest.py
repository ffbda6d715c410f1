"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import HealthCheck, settings

# The same examples everywhere and always: a failure here is one that everybody sees.
settings.register_profile(
    "thnn",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("thnn")


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    """A test may set the number of threads."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
