"""The compilers that thnn.load finds: asked what they are, not judged by their names; the Python package ziglang."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.autograd import gradcheck

import thnn
from thnn._load.recipe import find_compiler

Write = Callable[..., Path]


def script(path: Path, command: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{command}\n")
    path.chmod(0o755)
    return path


def loads(header: Path) -> bool:
    """Kernels compute right results, and no OpenMP runtime but torch's is loaded."""
    before = openmp()
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    return gradcheck(thnn.load(header).CubeFunction(1.5), x) and openmp() == before


def openmp() -> set[str]:
    """The OpenMP libraries of this process."""
    paths = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()}
    return {p for p in paths if Path(p).name.startswith(("libgomp", "libomp", "libiomp"))}


@pytest.mark.parametrize(("name", "real"), [("clang-19", "gcc"), ("gcc-14", "clang")])
def test_compilers_under_another_name(
    write: Write, tmp_path: Path, name: str, real: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each refuses flags that only the other one knows."""
    if shutil.which(real) is None:
        pytest.skip(f"there is no {real}")
    monkeypatch.setenv("CC", str(script(tmp_path / "bin" / name, f'exec {real} -Werror "$@"')))
    assert find_compiler().is_clang is (real == "clang")
    assert loads(write())


def test_a_compiler_without_room(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler blames a line of the kernel for a full disk."""
    message = "swish.c:1:1: fatal error: closing dependency file: No space left on device"
    compile_nothing = f'case "$*" in *" -c "*) echo "{message}" >&2; exit 1; esac; exec gcc "$@"'
    monkeypatch.setenv("CC", str(script(tmp_path / "bin" / "gcc", compile_nothing)))
    with pytest.raises(ValueError, match=r"cannot be used \(No space left on device\); set THNN_CACHE"):
        thnn.load(write())


def test_the_compiler_of_a_python_package(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is used if there is no other compiler; its program, not Python, determines whether it has changed."""
    package = tmp_path / "packages" / "ziglang"
    zig = script(package / "zig", 'test "$1" = cc && shift && exec cc "$@"')
    (package / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "ziglang", raising=False)
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.delenv("CC", raising=False)
    assert find_compiler().path != zig
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_compiler().command == (str(zig), "cc")
    header = write()
    first = thnn.load(header)
    assert loads(header)
    script(zig, 'shift; exec cc -DOTHER "$@"')
    assert thnn.load(header, verbose=True).library != first.library


def test_ziglang(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("the Python package ziglang is not installed")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_compiler().is_clang
    assert loads(write())


def test_a_program_that_cannot_be_run(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    monkeypatch.setenv("CC", str(program))
    with pytest.raises(thnn.CompileError, match=f"{program} cannot be run: Exec format error"):
        thnn.load(write())
