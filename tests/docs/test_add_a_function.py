"""Executes docs/add-a-function.md in a copy of the tree, then checks that errors in the new kernel are found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from built_tree import BuiltTree
from new_process import Program
from pages import blocks, commands, same

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "add-a-function.md").read_text()


def run(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(tree),
        "CMAKE_BUILD_TYPE": "None",  # of the emulation: not optimized
        "THNN_CPU_CAPABILITY": "",
    }
    # The standard error of a long build has lines of progress, which the page leaves out.
    if command[0] == "python":
        return Program(*command[1:], cwd=tree, **environment).wait(600)
    return subprocess.run(
        command, cwd=tree, env={**os.environ, **environment}, text=True, capture_output=True
    )


@pytest.fixture(scope="module")
def tree(built_tree: BuiltTree) -> Path:
    """The built copy of the sources, to which the files of the page are added."""
    tree = built_tree.root
    built = run(tree, "python", "-m", "thnn", "regenerate")
    assert built.returncode == 0, built.stderr
    for before, _, text in blocks(PAGE):
        if path := re.fullmatch(r"Append to `(.+)`:", before):
            with (tree / path[1]).open("a") as file:
                file.write(text)
        elif path := re.fullmatch(r"Write `(.+)`:", before):
            assert not (tree / path[1]).exists()
            (tree / path[1]).write_text(text)
    return tree


def test_the_page(tree: Path) -> None:
    ran = []
    for before, language, text in blocks(PAGE):
        if language == "console":
            for command, expected in commands(text):
                result = run(tree, *command.split())
                assert result.returncode == 0, result.stdout + result.stderr
                assert same(expected, result.stdout), result.stdout
                ran.append(command)
        elif language == "python" and not before.startswith("Write"):
            result = run(tree, "python", "-c", text)
            assert result.returncode == 0, result.stderr
            assert result.stdout == "torch.Size([8, 3, 32, 32]) torch.Size([3]) torch.Size([3])\n"
            ran.append("python")
    assert ran == [
        "python -m thnn regenerate",
        "python -m thnn check ScaleShift",
        "python",
        "python -m tools.cuda --emulation -- -DTHCUNN_KERNELS=generic/normalization/ScaleShift.cu",
        "env THNN_CUDA_EMULATE=1 python -m thnn check ScaleShift",
    ]


def test_the_kernel_is_formatted() -> None:
    program = Path(sys.executable).parent / "clang-format"
    if not program.exists():
        pytest.skip("needs clang-format")
    kernels = [("c", text) for _, language, text in blocks(PAGE) if language == "c" and "#include" in text]
    kernels += [("cu", text) for _, language, text in blocks(PAGE) if language == "cuda"]
    assert len(kernels) == 2
    for suffix, kernel in kernels:
        path = ROOT / "generic" / "normalization" / f"ScaleShift.{suffix}"
        command = [program, f"--assume-filename={path}"]
        assert subprocess.run(command, input=kernel, text=True, stdout=subprocess.PIPE).stdout == kernel


def test_check_finds_a_broken_kernel(tree: Path) -> None:
    """The changed kernel is compiled; tests/load/test_check.py has the mistakes that the checks find."""
    kernel = tree / "generic/normalization/ScaleShift.c"
    right = kernel.read_text()
    assert right.count("x * w + b") == 1
    kernel.write_text(right.replace("x * w + b", "x * w - b"))
    assert run(tree, "python", "-m", "thnn", "regenerate").returncode == 0
    found = run(tree, "python", "-m", "thnn", "check", "ScaleShift")
    kernel.write_text(right)
    assert found.returncode == 1
    assert re.search(r"^ScaleShift +reference .*FAILED", found.stdout, re.MULTILINE), found.stdout


def test_regenerate_refuses_and_keeps_the_old_build(tree: Path) -> None:
    assert run(tree, "python", "-m", "thnn", "regenerate").returncode == 0
    kernel = tree / "generic/normalization/ScaleShift.c"
    kernel.write_text(kernel.read_text() + "this is no C\n")
    refused = run(tree, "python", "-m", "thnn", "regenerate")
    assert refused.returncode == 1
    assert "ScaleShift.c" in refused.stderr
    assert run(tree, "python", "-c", "import thnn; print(thnn.ScaleShiftFunction)").returncode == 0
