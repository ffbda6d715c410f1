"""Times thnn.load: ``python -m tools.bench_load`` prints a line per quantity, with its goal.

It measures

- the time from an edit of a kernel to a gradient in the running Python;
- thnn.load and a gradient with the library in the cache, also in a new process after the imports of torch and thnn;
- how much longer a call of a loaded class takes than a call of an installed one;
- the compilation for CUDA, by nvcc for the GPU of the machine (without one, for compute capability 9.0) and by the C++
  compiler for the emulation.

Exit status 1 if a goal is missed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from thnn._classes import function_classes
from thnn._load.cuda import CudaRecipe, compile_cuda, cuda_kernels, find_cxx, gpu_architectures
from thnn._load.loaded import LoadedModule, load
from thnn._load.recipe import Compiler
from thnn._nvcc import find_nvcc
from thnn.testing.timing import take_turns

_ROUNDS = 7

# The same function as the module Tanh of the package, so that calls of the two differ only in the library.
_HEADER = """\
TH_API void THNN_(Same_updateOutput)(
    THNNState *state,
    THTensor *input,
    THTensor *output);     // [OUT] [LIKE input]
TH_API void THNN_(Same_updateGradInput)(
    THNNState *state,
    THTensor *input,       // [OPTIONAL]
    THTensor *gradOutput,
    THTensor *gradInput,   // [OUT] [LIKE gradOutput]
    THTensor *output);
"""
_KERNEL = """\
#include "pointwise.h"
#define EDIT {edit}
POINTWISE(Same, (), FROM_OUTPUT, th_tanh(x) + EDIT, g * (1 - y * y))
"""
_PROCESS = """
import time, torch, thnn
thnn.TanhFunction
start = time.perf_counter()
x = torch.ones(4, requires_grad=True)
thnn.load({header!r}).SameFunction.apply(x).sum().backward()
print(time.perf_counter() - start)
"""


@contextmanager
def _temporary_cache() -> Iterator[Path]:
    before = os.environ.get("THNN_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["THNN_CACHE"] = str(Path(folder, "cache"))
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ["THNN_CACHE"]
            else:
                os.environ["THNN_CACHE"] = before


def _gradient(header: Path) -> None:
    x = torch.ones(4, requires_grad=True)
    load(header).SameFunction.apply(x).sum().backward()


def _best(call: Callable[[int], None]) -> float:
    """The shortest of several runs in seconds; each run gets its number."""
    seconds = []
    for turn in range(_ROUNDS):
        start = time.perf_counter()
        call(turn)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _compile_cuda(
    own: LoadedModule, compiler: Compiler, architectures: tuple[str, ...]
) -> tuple[float, float]:
    """The seconds that a compilation of four element types takes, and its CPU seconds."""
    assert own._recipe is not None
    recipe = CudaRecipe(own._recipe, own.library, tuple(cuda_kernels(own._recipe)), compiler, architectures)
    with tempfile.TemporaryDirectory() as work:
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        compile_cuda(recipe, [*own.functions.values()], Path(work))
        elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Prints the times; returns the exit status."""
    missed = False

    def line(what: str, value: float, goal: float | None, unit: str) -> None:
        nonlocal missed
        missed |= goal is not None and value > goal
        verdict = "" if goal is None else f"   {'met' if value <= goal else 'MISSED'} (goal {goal:g} {unit})"
        print(f"{what:<52}{value:8.2f} {unit}{verdict}", flush=True)

    with _temporary_cache() as folder:
        header, kernel = folder / "Same.h", folder / "Same.c"
        header.write_text(_HEADER)

        def edited(turn: int) -> None:
            kernel.write_text(_KERNEL.format(edit=turn))
            _gradient(header)

        start = time.perf_counter()
        edited(-1)
        line("first header, with the precompiled header", time.perf_counter() - start, None, "s")
        line("edit of a kernel to a gradient", _best(edited), 1.0, "s")
        line("from the cache to a gradient", 1e3 * _best(lambda _: _gradient(header)), 10.0, "ms")
        program = [sys.executable, "-c", _PROCESS.format(header=str(header))]
        root = str(Path(__file__).parents[1])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}

        def in_a_new_process(_: int) -> float:
            return float(subprocess.run(program, env=environment, capture_output=True, check=True).stdout)

        best = min(in_a_new_process(turn) for turn in range(_ROUNDS))
        line("in a new process, beyond importing torch and thnn", 1e3 * best, 60.0, "ms")

        x = torch.randn(16)
        installed, loaded = function_classes["TanhFunction"].apply, load(header).SameFunction.apply
        with torch.no_grad():
            calls = {"installed": lambda: installed(x), "loaded": lambda: loaded(x)}
            timings = take_turns(calls, 15)
        line("call of an installed class, 16 floats", 1e6 * timings["installed"].best, None, "µs")
        more = 1e6 * (timings["loaded"].best - timings["installed"].best)
        line("call of a loaded class beyond that", more, 0.6, "µs")

        compilers: dict[str, tuple[Compiler, tuple[str, ...]]] = {"for the emulation": (find_cxx(), ())}
        if (nvcc := find_nvcc()) is not None:
            found = Compiler((str(nvcc),), nvcc.resolve())
            compilers["for CUDA by nvcc"] = found, gpu_architectures() or ("90",)
        for what, (compiler, architectures) in compilers.items():
            elapsed, processor = min(_compile_cuda(load(header), compiler, architectures) for _ in range(2))
            line(f"compilation {what}, {os.cpu_count()} CPUs", elapsed, None, "s")
            line("  CPU time of that", processor, None, "s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
