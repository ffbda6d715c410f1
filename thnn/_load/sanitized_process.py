"""The process in which `sanitizing.py` runs loaded functions with the samples of their cases."""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from thnn._binding.device import device_library
from thnn._binding.library import Library
from thnn._header import Function
from thnn._load.cuda import set_device_library
from thnn._load.loaded import LoadedModule
from thnn._load.parsing import parse
from thnn._load.recipe import Recipe, find_compiler
from thnn._load.sanitizing import CALL
from thnn.testing.case_runner import CaseRunner, computes_on_device
from thnn.testing.cases.model import Case
from thnn.testing.checks.numbers import extreme_calls, on_meta
from thnn.testing.error_inputs import ERRORS

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
    change = ""  # of an argument

    def row(self, *args: Any, **keywords: Any) -> dict[str, Any]:
        row = super().row(*args, **keywords)
        if self.at_end is None:
            return row
        return {k: guarded(v, self.at_end) if isinstance(v, Tensor) else v for k, v in row.items()}

    def call(self, function: Function, row: Mapping[str, Any] | Sequence[Any]) -> None:
        memory = {
            None: self.change,
            True: ", tensors before a guard page",
            False: ", tensors behind a guard page",
        }
        text = memory[self.at_end]
        values = [v for v in (row.values() if isinstance(row, Mapping) else row) if isinstance(v, Tensor)]
        if any(v.is_meta for v in values) and not self.change:
            text = ", meta tensors, for which the function has to end at THNN_RETURN_IF_META(state)"
        elif any(v.numel() > 1 and not any(v.stride()) for v in values):
            text = ", gradOutput of one number, expanded: its strides are 0"
        kind = str(self.dtype).removeprefix("torch.")
        print(f"{CALL}{function.name}, sample {self.sample.name!r} in {kind}{text}", flush=True)
        super().call(function, row)


def _expanded(name: str, tensor: Tensor) -> Tensor:
    """A gradOutput as from the backward of a sum, whose elements share one address."""
    if name != "gradOutput" or tensor.numel() == 0:
        return tensor
    return tensor.flatten()[:1].clone().expand(tensor.shape)


def _run(case: Case) -> None:
    dtypes = [torch.float32, torch.float64]
    if computes_on_device(case):  # on the CPU, the kernel of a half type is the one of float32
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
        if sample is case.samples[0]:
            for function, name, number, row in extreme_calls(runner):
                runner.change = f", meta tensors, {name} {number}"
                with contextlib.suppress(*ERRORS):
                    runner.call(function, on_meta(row))
                runner.change = ""


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
