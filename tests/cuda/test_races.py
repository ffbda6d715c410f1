"""ThreadSanitizer watches calls of every module: each CUDA thread is a thread for it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from thnn._header.registry import modules
from tools.cuda import instrumented_package

ROOT = Path(__file__).resolve().parent.parent.parent

# One process for all modules, since importing torch takes longer than the calls of most modules.
PROGRAM = """
import sys
import traceback
from thnn.testing.cases import cases
from thnn.testing.checks.values import check_float32

def routes(case):
    # At most four samples that differ in a scalar, since scalars often choose the kernel.
    found = {}
    for sample in case.samples:
        scalars = {n: v for n, v in sample.arguments.items() if isinstance(v, (bool, int, float))}
        found.setdefault(repr(sorted(scalars.items())), sample)
    return list(found.values())[:4]


for name, case in cases().items():
    print("start", case.module, file=sys.stderr, flush=True)
    try:
        for sample in routes(case):
            check_float32(case, sample)
    except Exception:
        traceback.print_exc()
    else:
        print("end", name, file=sys.stderr, flush=True)
print("start", "exit", file=sys.stderr, flush=True)
"""


@pytest.fixture(scope="module")
def package() -> Path:
    """A copy of the package whose emulation is instrumented."""
    return instrumented_package(ROOT)


@pytest.fixture(scope="module")
def reports(package: Path) -> dict[str, str]:
    """The output of the process during the calls of each module, and at its exit."""
    runtime = subprocess.run(
        ["g++", "-print-file-name=libtsan.so"], capture_output=True, text=True, check=True
    )
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=package,
        env={
            **os.environ,
            "LD_PRELOAD": runtime.stdout.strip(),
            "OMP_NUM_THREADS": "1",  # ThreadSanitizer does not know the barriers of torch's own threads
            "THNN_CUDA_EMULATE": "1",
        },
        capture_output=True,
        text=True,
    )
    parts = re.split(r"^start (\w+)\n", done.stderr, flags=re.MULTILINE)
    found: dict[str, str] = {}
    for module, text in zip(parts[1::2], parts[2::2]):
        found[module] = found.get(module, "") + text
    return found


@pytest.mark.parametrize("module", modules())
def test_no_races(reports: dict[str, str], module: str) -> None:
    assert module in reports, "the process ended before"
    assert re.fullmatch(r"(end \w+\n)+", reports[module]), reports[module][:3000]
