"""docs/own-functions.md: its files are written, its programs and commands run, and they print what the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from new_process import python
from pages import blocks, commands, printed, same

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "own-functions.md").read_text()


def run(folder: Path, *command: str) -> str:
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "THNN_CACHE": str(folder / "cache"),
    }
    if command[0] == "python":
        return python(*command[1:], cwd=folder, timeout=600, **environment)
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_page(tmp_path: Path) -> None:
    program, ran = "", 0
    for before, language, text in blocks(PAGE):
        if path := re.fullmatch(r".*Write `(.+)`:", before):
            (tmp_path / path[1]).write_text(text)
        elif language == "python":
            program += text
        else:
            assert language == "console"
            for command, expected in commands(text):
                got = run(tmp_path, *command.split())
                assert same(expected, got), got
                ran += 1
    shown = printed(program)
    assert len(shown) == program.count("print(") == 6
    assert run(tmp_path, "python", "-c", program).splitlines() == shown
    assert ran == 7
    assert list(tmp_path.glob("swish-*-py3-none-linux_*.whl"))


def test_the_templates_are_the_examples() -> None:
    templates = ROOT / "thnn" / "_load" / "templates"
    pointwise = (templates / "pointwise.c").read_text().replace("NAME", "Swish")
    assert re.sub(r"/\*.*?\*/\n", "", pointwise) in PAGE
    assert (templates / "window.cu").read_text().replace("NAME", "Smooth") in PAGE
    page = (ROOT / "docs" / "add-a-function.md").read_text()
    layer = (templates / "layer.cu").read_text().replace("NAME", "ScaleShift")
    # Lines are broken according to the name.
    assert "".join(layer.split()) in "".join(page.replace('#include "modules/ScaleShift.h"\n', "").split())
