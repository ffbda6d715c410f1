"""Writes the C source of the binding `thnn._C` with cffi: python emit_binding.py CDEF OUTPUT.

Run by CMake at build time, so that the committed part of the binding is only what thnn itself decides:
lib/binding/generated/cdef.h (what Python sees) and glue.c (what it calls).
"""

from __future__ import annotations

import sys
from pathlib import Path

from cffi import FFI


def main(cdef: str, output: str) -> None:
    ffi = FFI()
    ffi.cdef(Path(cdef).read_text())
    ffi.set_source("thnn._C", '#include "binding/dlpack.c"\n#include "binding/generated/glue.c"\n')
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
