"""The memory traffic of kernels: the counts of known kernels, and the rule that the library's functions keep."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
KERNELS = Path(__file__).with_name("traffic_kernels.cu")
EMULATION = ROOT / "lib/THCUNN/emulation"

# For 4,096 floats, which are 512 sectors: the sectors that the call must read and write, those that launches read and
# write, those that warps request, and the launches.
COUNTS = {
    "copy": (512, 512, 512, 512, 1024, 1),
    "copyTwice": (512, 512, 1024, 1024, 2048, 2),
    "copyPacks": (512, 512, 512, 512, 1024, 1),
    "copyThroughScratch": (512, 512, 1024, 1024, 2048, 2),
    "addReversed": (512, 512, 512, 512, 1536, 1),
    "addReversedScratch": (0, 512, 512, 512, 1536, 1),
    "accumulate": (1024, 512, 1024, 512, 1536, 1),
    "takeEighth": (512, 64, 512, 64, 576, 1),
    "broadcast": (1, 512, 1, 512, 640, 1),
    "narrow": (512, 256, 512, 256, 768, 1),
    "reverseBlocks": (512, 512, 512, 512, 1024, 1),
    "countPositive": (513, 1, 513, 1, 640, 1),
    "copyBesideOther": (512, 512, 512, 512, 1024, 1),
    "fill": (0, 512, 0, 512, 512, 1),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traffic")
    objects = []
    for source in (KERNELS, EMULATION / "cuda.cpp", EMULATION / "traffic.cpp"):
        options = ["-fsanitize=thread", "-fno-tree-sra"] if source == KERNELS else []
        defines = ["-DTHCUNN_EMULATE", "-DTHCUNN_EMULATION_RACES"]
        includes = [f"-I{ROOT / 'lib/THCUNN'}", f"-I{ROOT / 'lib/THNN'}"]
        objects.append(str(folder / f"{source.stem}.o"))
        command = [
            "g++",
            "-std=gnu++17",
            "-O2",
            *options,
            *defines,
            *includes,
            "-x",
            "c++",
            "-c",
            str(source),
        ]
        subprocess.run([*command, "-o", objects[-1]], check=True)
    subprocess.run(["g++", *objects, "-o", str(folder / "program")], check=True)
    return folder / "program"


@pytest.mark.parametrize("kernel", COUNTS)
def test_counts_of_known_kernels(program: Path, kernel: str) -> None:
    done = subprocess.run([program, kernel], capture_output=True, text=True, check=True)
    assert tuple(map(int, done.stdout.split())) == COUNTS[kernel]


def test_functions_move_what_they_must() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.cuda_bytes", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
