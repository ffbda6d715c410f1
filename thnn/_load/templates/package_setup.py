"""Compiles the kernels when the package is built.

They are compiled for the CPU of the build. For a wheel to publish, set THNN_MARCH to an instruction set that the CPUs
of all users have: THNN_MARCH=x86-64-v3 pip wheel --no-deps --no-build-isolation .
"""

import os
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

SOURCE = Path(__file__).resolve().parent / "src" / "PACKAGE"


class BuildLibrary(build_ext):
    def run(self) -> None:
        import thnn

        folder = SOURCE if self.inplace else Path(self.build_lib) / "PACKAGE"
        folder.mkdir(parents=True, exist_ok=True)
        march = os.environ.get("THNN_MARCH", "native")
        thnn.build_library(SOURCE / "NAME.h", folder / "libPACKAGE.so", march=march)


class Wheel(bdist_wheel):
    """One wheel for every Python, free-threaded ones too: the library does not depend on Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


setup(
    ext_modules=[Extension("PACKAGE.library", sources=[])],
    cmdclass={"bdist_wheel": Wheel, "build_ext": BuildLibrary},
)
