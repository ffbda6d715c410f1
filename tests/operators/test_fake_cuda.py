"""Fake CUDA tensors: sizes, types and devices of results, errors, and what torch.compile records, without a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.utils.cpp_extension import include_paths, library_paths

import thnn

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("guard") / "cuda_guard.so"
    paths = [*(f"-I{path}" for path in include_paths()), *(f"-L{path}" for path in library_paths())]
    command = ["g++", "-std=c++20", "-shared", "-fPIC", str(HERE / "cuda_guard.cpp"), "-o", str(library)]
    subprocess.run([*command, *paths, "-lc10"], check=True)
    return library


@pytest.mark.skipif(
    torch.version.cuda is not None and not torch.cuda.is_available(),
    reason="needs a torch built without CUDA, or a GPU: others ask the missing driver",
)
def test_fake_cuda_tensors(guard: Path) -> None:
    # In a process of its own, since the guard cannot be removed again.
    environment = {**os.environ, "PYTHONPATH": str(Path(thnn.__file__).parent.parent)}
    environment.pop("THNN_CUDA_EMULATE", None)
    command = [sys.executable, str(HERE / "fake_cuda.py"), str(guard)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
