"""Writes the C source of the binding `thnn._C` with cffi: python emit_binding.py lib/binding OUTPUT. Run by CMake."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cffi import FFI


def main(binding: str, output: str) -> None:
    cdef = (Path(binding) / "cdef.h").read_text(encoding="utf-8")
    ffi = FFI()
    ffi.cdef(re.sub(r"/\*.*?\*/", "", cdef, flags=re.DOTALL))
    headers = ("binding.h", "context.h", "plan.h")
    ffi.set_source("thnn._C", "".join(f'#include "binding/{header}"\n' for header in headers))
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
