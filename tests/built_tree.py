"""A copy of the source tree with a wheel built from it, shared by the tests that build.

The copy has only some families of functions, so that it compiles in a quarter of the time: its tests are of the build,
the wheel and the commands, not of kernels.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = ("activation", "recurrent", "normalization")  # thnn/_functions needs recurrent
# The folders of lib/THNN that they need.
CORES = ("batch_norm", "elementwise", "gemm", "generated", "runtime", "simd")


class BuiltTree(NamedTuple):
    """A copy of the sources, the wheel that was built from it, and the Python files that the package had then."""

    root: Path
    wheel: Path
    python_files: frozenset[str]


def _keep_families(root: Path) -> None:
    """Removes all other families, with their kernels, cores and cases, from a copy of the sources."""
    sys.path.insert(0, str(ROOT))
    from tools import build, regenerate

    header = root / "generic" / "THNN.h"
    first, *sections = re.split(r"(?=/\* -+\n   \[FAMILY )", header.read_text(encoding="utf-8"))
    family = {re.search(r"\[FAMILY (\w+)\]", text)[1]: text for text in sections}
    header.write_text(first + "".join(family[name] for name in FAMILIES), encoding="utf-8")
    removed = [root / "generic" / name for name in family if name not in FAMILIES]
    removed += [p for p in (root / "lib" / "THNN").iterdir() if p.is_dir() and p.name not in CORES]
    for folder in removed:
        shutil.rmtree(folder)
    for path in (root / "thnn" / "testing" / "cases").iterdir():
        if " Case(" in path.read_text(encoding="utf-8"):
            path.unlink()
    build.replace_together(regenerate.generate(root))


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
    _keep_families(root)
    package = (p for p in (root / "thnn").rglob("*.py*") if p.suffix in (".py", ".pyi"))
    python_files = frozenset(str(p.relative_to(root)) for p in package)
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
    return BuiltTree(root, wheel, python_files)
