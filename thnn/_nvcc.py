"""The search for nvcc and other programs of CUDA's toolkit.

The build of the package uses this module, hence it imports neither torch nor the library.
"""

from __future__ import annotations

import os
import shutil
import site
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path


def find_programs(name: str) -> Iterator[str]:
    """The paths of a program in CUDA_HOME, on PATH, in /usr/local/cuda, and in NVIDIA's Python packages."""
    home = os.environ.get("CUDA_HOME")
    for folder in (f"{home}/bin" if home else "", None, "/usr/local/cuda/bin"):
        found = shutil.which(name, path=folder)  # path="" finds nothing, path=None searches PATH
        if found:
            yield found
    for packages in site.getsitepackages():
        yield from map(str, Path(packages).glob(f"nvidia/cu*/bin/{name}"))


def find_nvcc(architectures: Collection[str] = ()) -> Path | None:
    """The first nvcc that knows all of the architectures, such as "90"; None if there is none."""
    return next((Path(c) for c in find_programs("nvcc") if _knows(c, architectures)), None)


def _knows(compiler: str, architectures: Collection[str]) -> bool:
    if not architectures:
        return True
    known = subprocess.run([compiler, "--list-gpu-arch"], capture_output=True, text=True).stdout.split()
    return all(f"compute_{number}" in known for number in architectures)
