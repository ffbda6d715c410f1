"""Builds what pyproject.toml cannot describe: the C library and its binding, with CMake, and headers for C users."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from tools import cuda  # noqa: E402
from tools.build import IS_FREE_THREADED, build  # noqa: E402

# Files that are installed in thnn/include, at the same relative paths as in the source tree. C programs include
# <THNN/THNN.h> (`cc -I .../thnn/include/lib program.c .../thnn/libTHNN.so`). thnn.load compiles kernels with the
# headers of the runtime and of the element-wise loops, the tables of functions, and the emulation of CUDA.
HEADERS = (
    "generic/THNN.h",
    "generic/pointwise.h",
    "lib/THNN/THNN.h",
    "lib/THNN/runtime/function_table.c",
    "lib/THNN/runtime/*.h",
    "lib/THNN/simd/*.h",
    "lib/THNN/elementwise/*.h",
    "lib/THCUNN/function_table.cu",
    "lib/THCUNN/runtime/*",
    "lib/THCUNN/simd/*.h",
    "lib/THCUNN/elementwise/*.h",
    "lib/THCUNN/emulation/cuda.*",
    "lib/THCUNN/emulation/narrow_types.h",
    "lib/THCUNN/emulation/observer.h",
)


class BuildLibrary(build_ext):
    """Builds with CMake instead of the compiler of setuptools; CMAKE_ARGS in the environment adds arguments."""

    def run(self) -> None:
        settings = shlex.split(os.environ.get("CMAKE_ARGS", ""))
        # An editable install uses the source tree as it is; a copy of the headers beside the library would go stale.
        package = ROOT / "thnn" if self.inplace else Path(self.build_lib) / "thnn"
        build(ROOT, package, settings)
        if cuda.is_wanted():
            cuda.build_library(ROOT, package)
        if self.inplace:
            return
        for header in (path for pattern in HEADERS for path in ROOT.glob(pattern)):
            target = package / "include" / header.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(header, target)


setup(
    # One wheel for every Python from 3.10 on, except the free-threaded ones.
    ext_modules=[Extension("thnn._C", sources=[], py_limited_api=not IS_FREE_THREADED)],
    options={} if IS_FREE_THREADED else {"bdist_wheel": {"py_limited_api": "cp310"}},
    cmdclass={"build_ext": BuildLibrary},
)
