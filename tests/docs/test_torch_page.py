"""The code of docs/torch.md runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

PAGE = Path(__file__).parents[2] / "docs" / "torch.md"


@pytest.mark.filterwarnings("ignore")
def test_code() -> None:
    torch.compiler.reset()
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, "docs/torch.md", "exec"), names)
    assert names["hessian"].shape == (4, 3, 4, 3)  # type: ignore[attr-defined]
    assert names["per_sample"].shape == (2, 4, 3)  # type: ignore[attr-defined]
