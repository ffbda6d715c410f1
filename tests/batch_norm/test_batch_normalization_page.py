"""The code of docs/batch-normalization.md runs and prints what its comments say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "batch-normalization.md").read_text()
BLOCKS = [
    pytest.param(block, id=f"{heading} {k}" if k else heading)
    for heading, text in re.findall(r"^##+ ([^\n]+)\n(.*?)(?=^##+ |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    for k, block in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
]


def test_every_block_is_found() -> None:
    assert len(BLOCKS) == PAGE.count("```python\n")
    assert len(BLOCKS) >= 5


@pytest.mark.parametrize("block", BLOCKS)
def test_block(block: str) -> None:
    """A comment after a print, or on separate lines at the end, is the expected output."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, "docs/batch-normalization.md", "exec"), {"__name__": "__main__"})
    expected = re.findall(r"^ *print\(.*\)  # (.*)$", block, re.MULTILINE)
    expected += re.findall(r"^# (.*)$", re.search(r"(^# .*\n)*\Z", block, re.MULTILINE)[0], re.MULTILINE)
    assert printed.getvalue().splitlines() == expected
