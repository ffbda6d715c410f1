"""The search for nvcc. The build of the package uses this module, hence it imports neither torch nor the library."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
from collections.abc import Collection
from pathlib import Path


def find_nvcc(architectures: Collection[str] = ()) -> Path | None:
    """The first nvcc that knows all of the architectures, such as "90"; None if there is none.

    It is looked for in CUDA_HOME, on PATH, in /usr/local/cuda, and in NVIDIA's Python packages.
    """
    home = os.environ.get("CUDA_HOME")
    candidates = [shutil.which("nvcc", path=f"{home}/bin") if home else None, shutil.which("nvcc")]
    candidates.append(shutil.which("nvcc", path="/usr/local/cuda/bin"))
    candidates += [str(p) for s in site.getsitepackages() for p in Path(s).glob("nvidia/cu*/bin/nvcc")]
    return next((Path(c) for c in candidates if c and _knows(c, architectures)), None)


def _knows(compiler: str, architectures: Collection[str]) -> bool:
    if not architectures:
        return True
    known = subprocess.run([compiler, "--list-gpu-arch"], capture_output=True, text=True).stdout.split()
    return all(f"compute_{number}" in known for number in architectures)
