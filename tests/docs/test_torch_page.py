"""The code of docs/torch.md runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from pages import printed

PAGE = Path(__file__).parents[2] / "docs" / "torch.md"


@pytest.mark.filterwarnings("ignore")
def test_code(capsys: pytest.CaptureFixture[str]) -> None:
    torch.compiler.reset()
    text = PAGE.read_text(encoding="utf-8")
    program = "".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    names: dict[str, object] = {}
    exec(compile(program, "docs/torch.md", "exec"), names)
    assert capsys.readouterr().out.splitlines() == printed(program)
    assert names["hessian"].shape == (4, 3, 4, 3)  # type: ignore[attr-defined]
    assert names["per_sample"].shape == (2, 4, 3)  # type: ignore[attr-defined]
