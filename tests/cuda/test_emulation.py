"""The emulation finds the defects of broken kernels, and none in correct ones."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = [Path(__file__).with_name("broken_kernels.cu"), ROOT / "lib/THCUNN/emulation/cuda.cpp"]
COMPILER = ["g++", "-std=gnu++17", "-g", "-O1", "-DTHCUNN_EMULATE", "-Wno-subobject-linkage"]
INCLUDES = [f"-I{ROOT / 'lib/THCUNN'}", f"-I{ROOT / 'lib/THNN'}"]

CORRECT = {
    "sumByAtomics": "0 0 512",
    "reverseInBlock": "63 32 0",
    "reverseInWarp": "31 0 0",
    "writeInside": "1 1 0",
    "treeSum": "64 0 0",
}
RACES = [
    "sumWithoutAtomics",
    "reverseInBlock without barrier",
    "reverseInWarp without barrier",
    "shuffleForBarrier",
    "treeSum without barrier",
]
MESSAGES = {
    "divergentBarrier": "threads have ended that others wait for in __syncthreads",
    "absentLane": "deadlock: lanes or threads that others wait for never arrive",
    "tooManyThreads": "no GPU launches (1, 1, 1) blocks of 2048 threads",
    "tooManyBlocks": "no GPU launches (1, 65536, 1) blocks of 32 threads",
}


def _compile(folder: Path, kind: str) -> Path:
    program = folder / kind
    objects = []
    for source in SOURCES:
        options = []
        if kind == "thread":
            options.append("-DTHCUNN_EMULATION_RACES")
            options += ["-fsanitize=thread"] if source.suffix == ".cu" else []
        elif kind == "address":
            options.append("-fsanitize=address,undefined")
        objects.append(folder / f"{kind}_{source.stem}.o")
        command = [*COMPILER, *options, *INCLUDES, "-x", "c++", "-c", str(source), "-o", str(objects[-1])]
        subprocess.run(command, check=True)
    flag = {"thread": ["-fsanitize=thread"], "address": ["-fsanitize=address,undefined"]}.get(kind, [])
    subprocess.run(["g++", *flag, *map(str, objects), "-o", str(program)], check=True)
    return program


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("broken")
    return {kind: _compile(folder, kind) for kind in ("plain", "address", "thread")}


def _run(program: Path, kernel: str, order: str = "forward") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "THCUNN_EMULATION_ORDER": order, "ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run([program, kernel], capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("kernel", CORRECT)
def test_correct_kernels_have_no_findings(programs: dict[str, Path], kernel: str) -> None:
    for order in ("forward", "reverse", "3"):
        assert _run(programs["plain"], kernel, order).stdout.strip() == CORRECT[kernel], order
    for kind in ("address", "thread"):
        done = _run(programs[kind], kernel)
        assert done.returncode == 0, done.stderr
        assert "Sanitizer" not in done.stderr


@pytest.mark.parametrize("kernel", RACES)
def test_thread_sanitizer_finds_races(programs: dict[str, Path], kernel: str) -> None:
    done = _run(programs["thread"], kernel)
    assert "ThreadSanitizer: data race" in done.stderr
    assert done.returncode != 0


def test_orders_of_threads_show_a_race(programs: dict[str, Path]) -> None:
    results = {
        _run(programs["plain"], "treeSum without barrier", o).stdout for o in ("forward", "reverse", "3")
    }
    assert len(results) > 1


def test_accesses_outside_of_shared_memory(programs: dict[str, Path]) -> None:
    assert "out of bounds" in _run(programs["address"], "writeBehind").stderr
    assert "nan" in _run(programs["plain"], "readUnset").stdout


@pytest.mark.parametrize("kernel", MESSAGES)
def test_kernels_that_a_gpu_would_not_run(programs: dict[str, Path], kernel: str) -> None:
    done = _run(programs["plain"], kernel)
    assert done.returncode != 0
    assert MESSAGES[kernel] in done.stderr
