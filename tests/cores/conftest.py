"""The library of the reference cores."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from thnn._binding.library import Library

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "cmake"


@pytest.fixture(scope="session")
def reference() -> Library:
    if not (BUILD / "CMakeCache.txt").exists():
        pytest.skip("needs the source tree, built by `make setup`")
    cmake = shutil.which("cmake", path=str(Path(sys.executable).parent)) or "cmake"
    # `pip install .` configures the build with a CMake that it removes afterwards.
    for arguments in ([str(BUILD)], ["--build", str(BUILD), "--target", "THNN_reference"]):
        built = subprocess.run([cmake, *arguments], capture_output=True, text=True)
        assert built.returncode == 0, built.stdout + built.stderr
    with mock.patch.dict(os.environ, THNN_CPU_CAPABILITY=""):  # it has no instruction sets to choose from
        return Library(BUILD / "libTHNN_reference.so")
