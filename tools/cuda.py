"""Builds the CUDA library, or its emulation on the CPU: ``python -m tools.cuda [--emulation]``.

The CUDA library is compiled by the nvcc of CUDA_HOME, PATH or /usr/local/cuda, otherwise by the nvcc of NVIDIA's Python
packages (pip install 'cuda-toolkit[nvcc,cccl]==13.0.*').
"""

from __future__ import annotations

import argparse
import ctypes.util
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from thnn._nvcc import find_nvcc

from .build import BuildError, Progress, cmake_build, configure, lock, replace_together

TOOLKIT = "cuda-toolkit[nvcc,cccl]==13.0.*"

# CMake's notation: binaries for all GPUs that nvcc 13.0 knows, except Jetson's (87, 110), and PTX for later ones.
ARCHITECTURES = "75-real;80-real;86-real;89-real;90-real;100-real;120"


def is_wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """True if a build of the package builds the CUDA library: THNN_CUDA=1, or a driver and no THNN_CUDA=0.

    Raises BuildError for another value of THNN_CUDA.
    """
    value = environment.get("THNN_CUDA", "")
    if value not in ("", "0", "1"):
        raise BuildError(f"THNN_CUDA: expected 0 or 1, got {value!r}")
    return value == "1" or (value == "" and ctypes.util.find_library("cuda") is not None)


def nvcc() -> Path | None:
    """The compiler, or None: the first one that knows all ARCHITECTURES, as nvcc 12.8 and later do."""
    return find_nvcc(re.findall(r"\d+", ARCHITECTURES))


def build_library(
    root: Path,
    package: Path,
    emulation: bool = False,
    settings: Sequence[str] = (),
    directory: Path | None = None,
) -> Path:
    """Compiles the library for the libTHNN.so in `package` and puts it next to it; returns its path.

    Raises BuildError if there is no compiler, or with the compiler's output.
    """
    name = "libTHCUNN_emulation.so" if emulation else "libTHCUNN.so"
    directory = directory or root / "build" / ("emulation" if emulation else "cuda")
    arguments = [f"-DTHNN_LIBRARY={package.resolve() / 'libTHNN.so'}", *settings]
    if emulation:
        arguments.append("-DTHCUNN_EMULATION=ON")
    else:
        compiler = nvcc()
        if compiler is None:
            raise BuildError(
                f"the CUDA library needs nvcc 12.8 or later: pip install '{TOOLKIT}'; THNN_CUDA=0 builds without it"
            )
        # NVIDIA's packages have the folder lib, where nvcc looks for lib64.
        arguments += [
            f"-DCMAKE_CUDA_COMPILER={compiler}",
            f"-DCMAKE_CUDA_FLAGS=-L{compiler.parent.parent / 'lib'}",
        ]
        if not any(s.startswith("-DCMAKE_CUDA_ARCHITECTURES=") for s in settings):
            arguments.append(f"-DCMAKE_CUDA_ARCHITECTURES={ARCHITECTURES}")
    progress = Progress()
    try:
        with lock(root):
            cmake = configure(root / "lib" / "THCUNN", directory, arguments, progress)
            cmake_build(cmake, directory, progress)
            target = package / name
            if not target.exists() or target.read_bytes() != (directory / name).read_bytes():
                replace_together({target: directory / name})
    finally:
        progress.clear()
    return target


def _copy_changed(source: str, target: str) -> None:
    """Copies a file unless the target has its size and time; other processes may have the old one open."""
    new, path = Path(source).stat(), Path(target)
    if path.exists():
        old = path.stat()
        if (old.st_size, old.st_mtime_ns) == (new.st_size, new.st_mtime_ns):
            return
        path.unlink()
    shutil.copy2(source, target)


def instrumented_package(root: Path) -> Path:
    """A folder with cmake/libtraffic.so and a copy of the package, whose emulation, of float and half, is compiled for
    ThreadSanitizer.

    Python imports that package if it runs in the folder; the process has to preload either ThreadSanitizer's runtime
    or libtraffic.so. Raises BuildError.
    """
    folder = root / "build" / "races"
    folder.mkdir(parents=True, exist_ok=True)
    with lock(folder):  # one process copies at a time
        ignored = shutil.ignore_patterns("__pycache__", "libTHCUNN*.so")
        for name in ("thnn", "generic"):
            shutil.copytree(
                root / name, folder / name, dirs_exist_ok=True, ignore=ignored, copy_function=_copy_changed
            )
        settings = ["-DTHCUNN_SANITIZE=thread", "-DTHCUNN_TYPES=FLOAT;HALF"]
        build_library(root, folder / "thnn", emulation=True, settings=settings, directory=folder / "cmake")
    return folder


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(prog="python -m tools.cuda", description=__doc__)
    parser.add_argument("--emulation", action="store_true", help="build the emulation on the CPU, for tests")
    parser.add_argument("settings", nargs="*", metavar="-- -DNAME=VALUE", help="further arguments of CMake")
    options = parser.parse_args()
    try:
        print(build_library(root, root / "thnn", options.emulation, options.settings))
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
