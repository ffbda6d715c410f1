"""ThreadSanitizer watches a call of every kernel: each CUDA thread is a thread to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from thnn._header.registry import modules

ROOT = Path(__file__).resolve().parent.parent.parent

PROGRAM = """
import sys
from thnn.testing.cases import cases
from thnn.testing.checks.values import check_float32
for name, case in cases().items():
    if case.module in sys.argv[1:]:
        print(name, file=sys.stderr, flush=True)
        check_float32(case, case.samples[0])
"""


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A copy of the package whose emulation is instrumented, built once for all workers."""
    folder = ROOT / "build" / "races"
    from tools.build import lock
    from tools.cuda import build_library

    folder.mkdir(parents=True, exist_ok=True)
    with lock(folder):  # one worker copies at a time
        target = folder / "thnn"
        if not (target / "copied").exists() or worker_id in ("master", "gw0"):
            shutil.copytree(
                ROOT / "thnn", target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
            )
            shutil.copytree(ROOT / "generic", folder / "generic", dirs_exist_ok=True)
            (target / "copied").touch()
        build_library(
            ROOT, target, emulation=True, settings=["-DTHCUNN_SANITIZE=thread"], directory=folder / "cmake"
        )
    return folder


@pytest.mark.parametrize("module", modules())
def test_no_races(package: Path, module: str) -> None:
    runtime = subprocess.run(
        ["g++", "-print-file-name=libtsan.so"], capture_output=True, text=True, check=True
    )
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, module],
        cwd=package,
        env={
            **os.environ,
            "LD_PRELOAD": runtime.stdout.strip(),
            "TSAN_OPTIONS": "halt_on_error=1",
            "OMP_NUM_THREADS": "1",  # ThreadSanitizer does not know the barriers of torch's own threads
            "THNN_CUDA_EMULATE": "1",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
