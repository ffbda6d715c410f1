"""A separate cache and separate files for the tests of thnn.load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cube import HEADER, KERNEL


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THNN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a header and its kernel file; returns the path of the header."""

    def files(header: str = HEADER, kernel: str | None = KERNEL, name: str = "Cube") -> Path:
        path = tmp_path / f"{name}.h"
        path.write_text(header)
        if kernel is not None:
            path.with_suffix(".c").write_text(kernel)
        return path

    return files
