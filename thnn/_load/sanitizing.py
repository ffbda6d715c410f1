"""Loaded functions under AddressSanitizer and UndefinedBehaviorSanitizer, in a process of their own.

The functions run with the samples of their cases,

- on memory of torch's allocator, where the sanitizer finds accesses beside an allocation;
- on memory that begins or ends at a page without access, where any access beyond it ends the process, also one by
  libTHNN.so, which is not compiled with the sanitizer;
- with meta tensors, which have no memory.

The process announces each call before it makes it, so that the last announcement tells which function crashed.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from thnn._binding.device import EMULATION, device_library
from thnn._binding.library import Library
from thnn._header import Function
from thnn._load.compiling import build, compile_into
from thnn._load.cuda import compile_cuda, cuda_recipe, set_device_library
from thnn._load.loaded import LoadedModule
from thnn._load.parsing import parse
from thnn._load.recipe import Recipe, find_compiler
from thnn.testing.case_runner import CaseRunner
from thnn.testing.cases.model import Case

_CALL = "call of "
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
    command = [sys.executable, "-m", __name__, str(recipe.header), str(library), json.dumps(list(modules))]
    command += [] if emulation is None else [str(emulation)]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", errors="replace")
    calls = [line for line in done.stdout.splitlines() if line.startswith(_CALL)]
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
    print(f"{calls[-1].removeprefix(_CALL)}: {text}{f', at {places[0]}' if places else ''}")
    return False


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


def _file_of(recipe: Recipe, name: str) -> str:
    command = [*recipe.compiler.command, f"-print-file-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


# --- in the process of its own ------------------------------------------------------------------------------

_PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)


def guarded(tensor: Tensor, at_end: bool) -> Tensor:
    """A copy with the same strides, in memory between two pages without access: at its end or at its beginning;
    zeros for an expanded tensor, whose elements share memory."""
    if tensor.numel() == 0:
        return tensor
    extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    count = extent * tensor.element_size()
    pages = -(-count // _PAGE)
    memory = mmap.mmap(-1, (pages + 2) * _PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (start, start + (pages + 1) * _PAGE):
        if _libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(_PAGE), 0):
            raise OSError(ctypes.get_errno(), "mprotect")
    offset = (1 + pages) * _PAGE - count if at_end else _PAGE
    flat = torch.frombuffer(memory, dtype=tensor.dtype, count=extent, offset=offset)
    copy = flat.as_strided(tensor.shape, tensor.stride())
    if not any(size > 1 and stride == 0 for size, stride in zip(tensor.shape, tensor.stride())):
        copy.copy_(tensor)
    return copy


class _AnnouncingRunner(CaseRunner):
    """Announces each call. Unless `at_end` is None, the tensors are guarded: at the end of their memory, or, if it is
    False, at its beginning."""

    at_end: bool | None = None

    def row(self, *args: Any, **keywords: Any) -> dict[str, Any]:
        row = super().row(*args, **keywords)
        if self.at_end is None:
            return row
        return {k: guarded(v, self.at_end) if isinstance(v, Tensor) else v for k, v in row.items()}

    def call(self, function: Function, row: Mapping[str, Any] | Sequence[Any]) -> None:
        memory = {None: "", True: ", tensors before a guard page", False: ", tensors behind a guard page"}
        text = memory[self.at_end]
        values = [v for v in (row.values() if isinstance(row, Mapping) else row) if isinstance(v, Tensor)]
        if any(v.is_meta for v in values):
            text = ", meta tensors, for which the function has to end at THNN_RETURN_IF_META(state)"
        elif any(v.numel() > 1 and not any(v.stride()) for v in values):
            text = ", gradOutput of one number, expanded: its strides are 0"
        kind = str(self.dtype).removeprefix("torch.")
        print(f"{_CALL}{function.name}, sample {self.sample.name!r} in {kind}{text}", flush=True)
        super().call(function, row)


def _expanded(name: str, tensor: Tensor) -> Tensor:
    """A gradOutput as that of a sum, whose elements share one address."""
    if name != "gradOutput" or tensor.numel() == 0:
        return tensor
    return tensor.flatten()[:1].clone().expand(tensor.shape)


def _run(case: Case) -> None:
    dtypes = [torch.float32, torch.float64]
    if (torch.float16, "cpu") in case.registry.type2backend:  # in emulation
        dtypes += [torch.float16, torch.bfloat16]
    samples = [(s, dtype) for s in case.samples for dtype in dtypes]
    samples += [(row.sample, getattr(torch, row.dtype)) for row in case.rows[:1]]
    for sample, dtype in samples:
        runner = _AnnouncingRunner(case, sample, dtype)
        sizes = {key: tensor.shape for key, tensor in runner.run().items()}

        def sized(key: str, value: Tensor, sizes: Mapping[str, torch.Size] = sizes) -> Tensor:
            return value if value.numel() else value.new_zeros(sizes[key])

        for runner.at_end in (True, False):
            runner.run(output=sized)
        runner.at_end = None
        runner.run(_expanded)
        runner.run(lambda _, value: value.to("meta"), lambda _, value: value.to("meta"))


def main(header: str, library: str, modules: str, emulation: str | None = None) -> None:
    """The command of the separate process: runs all samples, and announces each call on standard output."""
    path, opened = Path(header), Library(Path(library))
    if emulation is not None:
        opened.open_device_library = lambda: set_device_library(opened, Path(emulation), ())
    compiler = find_compiler()
    functions, header_hash = parse(path)
    recipe = Recipe(path, header_hash, (), path.stem, compiler)
    loaded = LoadedModule(path.stem, path, (), functions, opened, {}, recipe)
    device_library(opened)
    names = json.loads(modules)
    for case in loaded.cases().values():
        if not names or case.module in names:
            _run(case)


if __name__ == "__main__":
    main(*sys.argv[1:])
