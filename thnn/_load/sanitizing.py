"""Loaded functions under AddressSanitizer and UndefinedBehaviorSanitizer, in a separate process.

The functions run with the samples of their cases,

- on memory of torch's allocator, where the sanitizer finds accesses outside of an allocation;
- on memory that begins or ends at a page without access, where any access beyond it ends the process, also one by
  libTHNN.so, which is not compiled with the sanitizer;
- with meta tensors, which have no memory.

The process runs `sanitized_process.py`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from thnn._binding.device import EMULATION
from thnn._load.compiling import build, compile_into
from thnn._load.cuda import compile_cuda, cuda_recipe
from thnn._load.parsing import parse
from thnn._load.recipe import Recipe

# The process announces each call before it makes it, so that the last line of this kind names the function that
# crashed.
CALL = "call of "
_ERROR = re.compile(r"(?:ERROR: AddressSanitizer: |runtime error: )([^\n]*)")
_FRAME = re.compile(r"^ *#\d+ 0x\w+ in \S+ (\S.*?:\d+)(?::\d+)?$", re.MULTILINE)


def check_sanitized(recipe: Recipe, modules: Sequence[str]) -> bool:
    """Runs the functions and prints where they crash; returns True if they do not crash.

    Raises NotImplementedError for clang, whose sanitizer cannot be preloaded in this way, and ValueError without cases.
    """
    if recipe.compiler.is_clang:
        raise NotImplementedError("check(sanitize=True) needs gcc: set CC=gcc")
    library = None
    while library is None:  # again if a file is edited meanwhile
        functions, header_hash = parse(recipe.header)
        recipe = replace(recipe, header_hash=header_hash, sanitize=True)
        library = build(recipe, functions, compile_into)
        device = cuda_recipe(recipe, library) if EMULATION and library is not None else None
        emulation = None if device is None else build(device, functions, compile_cuda)
        if device is not None and emulation is None:
            library = None
    preloaded = [_file_of(recipe, name) for name in ("libasan.so", "libstdc++.so")]
    environment = {
        **os.environ,
        "LD_PRELOAD": " ".join(preloaded),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]),
    }
    command = [
        sys.executable,
        "-m",
        f"{__package__}.sanitized_process",
        str(recipe.header),
        str(library),
        json.dumps(list(modules)),
    ]
    command += [] if emulation is None else [str(emulation)]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", errors="replace")
    calls = [line for line in done.stdout.splitlines() if line.startswith(CALL)]
    if done.returncode == 0:
        print(f"{recipe.name}: {len(calls)} calls under AddressSanitizer, no error")
        return True
    if not calls:
        raise ValueError(
            f"{recipe.name}: the functions did not run under AddressSanitizer:\n{done.stderr.strip()}"
        )
    what = _ERROR.search(done.stderr)
    text = what[1] if what else _last_line(done.stderr) or f"the process ended with status {done.returncode}"
    if "null pointer" in text or "unknown address 0x0000000000" in text:
        text += " (is a size request missing, or THNN_RETURN_IF_META(state)?)"
    own = {str(path) for path in recipe.files}
    places = [place for place in _FRAME.findall(done.stderr) if place.rpartition(":")[0] in own]
    print(done.stderr.rstrip(), file=sys.stderr, flush=True)  # long: the line to read comes last
    print(f"{calls[-1].removeprefix(CALL)}: {text}{f', at {places[0]}' if places else ''}")
    return False


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


def _file_of(recipe: Recipe, name: str) -> str:
    command = [*recipe.compiler.command, f"-print-file-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
