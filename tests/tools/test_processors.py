"""The C files compile for other processors and systems than those of the tests (docs/processors.md)."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = (
    *("-fsyntax-only", "-std=gnu11", "-DTHNN_ARCH=default", "-DTHNN_REAL_IS_FLOAT", "-Wno-unknown-pragmas"),
    *("-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types"),
    *(f"-I{ROOT / folder}" for folder in ("lib/THNN", "lib/THNN/generated", "generic", "lib")),
)


def portable_branches() -> list[str]:
    # The headers of SSE2 include others, which a file on x86-64 then has without including them.
    return ["gcc", "-fopenmp", "-U__SSE2__", "-Werror=discarded-qualifiers"]


def aarch64() -> list[str]:
    if shutil.which("aarch64-linux-gnu-gcc") is None:
        pytest.skip("needs aarch64-linux-gnu-gcc (apt install gcc-aarch64-linux-gnu)")
    return ["aarch64-linux-gnu-gcc", "-fopenmp", "-Werror=discarded-qualifiers"]


def macos() -> list[str]:
    """The clang of zig, which comes with the headers of macOS."""
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        pytest.skip("needs zig (pip install ziglang)")
    zig = Path(package.origin).parent
    headers = (zig / "lib" / "include", zig / "lib" / "libc" / "include" / "any-darwin-any")
    target = ["-target", "arm64-apple-macos11", "-nostdinc", *(f"-isystem{path}" for path in headers)]
    return [str(zig / "zig"), "clang", *target, "-Xclang", "-fopenmp"]


@pytest.mark.parametrize("compiler", [portable_branches, aarch64, macos])
def test_c_files_compile(compiler: Callable[[], list[str]]) -> None:
    files = [*ROOT.glob("generic/*/*.c"), *ROOT.glob("lib/THNN/*/*.c"), *ROOT.glob("lib/roofline/*.c")]
    assert len(files) > 100
    done = subprocess.run([*compiler(), *FLAGS, *map(str, files)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
