"""A copy of the source tree with a wheel built from it, shared by the tests that build."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class BuiltTree(NamedTuple):
    """A copy of the sources, and the wheel that was built from it."""

    root: Path
    wheel: Path


def build_copy(root: Path, poison: Path, target: Path) -> BuiltTree:
    """Copies the sources into `root` and builds a wheel of them in `target`.

    Importing torch is an error during the build: `poison` holds a module of that name. The wheel is for the default
    instruction set and not optimized, which takes half the time of a Release build.
    """
    for name in ("generic", "lib", "tools", "thnn", "docs"):
        shutil.copytree(
            ROOT / name, root / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.so", "__pycache__")
        )
    for name in (
        "CMakeLists.txt",
        "LICENSE",
        "MANIFEST.in",
        "README.md",
        "VERSION",
        "pyproject.toml",
        "setup.py",
    ):
        shutil.copy(ROOT / name, root)
    # Files that must not be in the wheel; a careless pattern would include them.
    (root / "thnn" / "libTHNN.so").write_text("an old build")
    (poison / "torch.py").write_text("raise ImportError('torch was imported while building')\n")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
            *("--wheel-dir", target, root),
        ],
        cwd=target,
        env={
            **os.environ,
            "PYTHONPATH": str(poison),
            "CMAKE_ARGS": "-DTHNN_X86_VARIANTS=OFF -DCMAKE_BUILD_TYPE=None",
        },
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = target.iterdir()
    return BuiltTree(root, wheel)
