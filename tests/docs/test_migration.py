"""docs/migration.md: its code blocks run, and its tables name every module of 2017 that is served."""

from __future__ import annotations

import re
from pathlib import Path

from new_process import python
from pages import printed

from thnn.compat._contents import NAMES

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "migration.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_every_block_is_python() -> None:
    assert len(BLOCKS) == PAGE.count("```") // 2 == 8


def test_blocks(tmp_path: Path) -> None:
    program = "".join(BLOCKS)
    shown = printed(program)
    assert len(shown) == program.count("print(")
    assert python("-c", program, cwd=tmp_path).splitlines() == shown


def test_every_module_is_in_the_tables() -> None:
    for name in NAMES:
        # The modules below torch.nn.functions have the contents of those below torch.nn._functions.
        parent, _, child = name.replace("torch.nn.functions.", "torch.nn._functions.").rpartition(".")
        assert f"{parent}.{child}" in PAGE or f".{child}." in PAGE, name
