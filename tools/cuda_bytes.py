"""The memory traffic of the CUDA library's functions, counted without a GPU: ``python -m tools.cuda_bytes [PATTERN]``.

The emulation (tools/cuda.py), compiled for ThreadSanitizer and run with lib/THCUNN/emulation/traffic.cpp in place of
ThreadSanitizer's runtime, counts the sectors of 32 bytes of tensors and temporary memory that kernels access. For float
and half, in bytes per element of the largest tensor of the call, the command prints

- must: once each sector of a tensor that the call reads before writing to it, and once each sector that it writes;
- reads, writes: the sums over the launches of the call of the sectors that a launch reads, each once, and of the
  sectors that it writes, each once: the traffic of the GPU's memory if a cache holds the data of a launch, and nothing
  from one launch to the next;
- factor: reads and writes, divided by must;
- requests: the sectors that all instructions of warps access, divided by must: the traffic of the first cache.

The calls are the first rows of the benchmark with fewer images, and samples of the table of cases where there is no
row. The last lines are the table of docs/cuda.md. A function whose factor exceeds LIMIT and that is not in REASONS is
an error; ``--check`` prints only such functions.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .build import BuildError
from .cuda import instrumented_package

if TYPE_CHECKING:
    from torch import Tensor

    from thnn.testing.cases.model import Case, SampleInput

ROOT = Path(__file__).resolve().parent.parent

TYPES = ("float32", "float16")
ELEMENTS = 1 << 17  # limit for the first tensor of a call, where fewer images and channels achieve it
SECTOR = 32
LIMIT = 1.05  # largest factor of a function without a reason


class Reason(NamedTuple):
    """Functions that move more than they must."""

    functions: str  # names for the table in the document
    pattern: str  # matches their names
    text: str


REASONS = (
    Reason(
        "gradients of maxima whose indices number the inputs",
        r"(Spatial\w*|VolumetricFractional)MaxPooling_updateGradInput",
        "One launch finds the planes with an index outside of its window, and another one adds gradients.",
    ),
    Reason(
        "grid samplers: updateGradInput",
        r"\w+GridSamplerBilinear_updateGradInput",
        "Positions are sorted by cell, so that one thread adds the gradients of a pixel from the cells around it; "
        "gradOutput is read for the gradient of the grid and again for that of the input.",
    ),
    Reason(
        "connection tables: accGradParameters",
        r"Spatial(Full)?ConvolutionMap_accGradParameters",
        "The terms of a filter are divided among blocks, whose partial results are written and read.",
    ),
    Reason(
        "normalization of groups and rows: backward",
        r"(Group|Layer|RMS)Normalization_backward",
        "The sums of the gradients of weight and bias, over columns, read input and gradOutput once more than the sums "
        "over rows.",
    ),
    Reason(
        "batch normalization with an addition: backward",
        r"BatchNormalizationAdd_backward",
        "A launch writes the gradient of the residual, and the sums read it back.",
    ),
    Reason(
        "criteria with two gradients",
        r"(GaussianNLL|CosineEmbedding)Criterion_backward",
        "The gradients of GaussianNLLCriterion have a launch each, which reads the three inputs; those of "
        "CosineEmbeddingCriterion read the rows again after the sums over them.",
    ),
    Reason(
        "tables and sparse layers",
        r"(LookupTable|LookupTableBag|IndexLinear|SparseLinear)_\w+",
        "Entries are sorted by row, in passes over pairs of a key and a position, so that one thread adds the terms "
        "of an element. The share of the passes falls with the length of the rows.",
    ),
)


class Traffic(NamedTuple):
    """The traffic of a call, in sectors."""

    function: str
    dtype: str
    elements: int  # number of elements of the largest tensor
    must_read: int
    must_write: int
    reads: int
    writes: int
    requests: int
    launches: int

    @property
    def must(self) -> int:
        return self.must_read + self.must_write

    @property
    def factor(self) -> float:
        return (self.reads + self.writes) / self.must


# --- counting, in a process with libtraffic.so ------------------------------------------------------------------------


def _sample(case: Case) -> SampleInput:
    from thnn.testing.cases.makers import given, normal
    from thnn.testing.cases.model import SampleInput

    if case.name.endswith("ConvolutionMap"):  # the row would take minutes
        table = given([(i % 8, i // 2) for i in range(16)])
        scalars = {"nInputPlane": 8, "nOutputPlane": 8, "dW": 1, "dH": 1}
        tensors = {
            "input": normal(1, 8, 96, 96),
            "weight": normal(16, 3, 3),
            "bias": normal(8),
            "connTable": table,
        }
        return SampleInput("traffic", {**tensors, **scalars})
    if case.name == "SpatialConvolutionLocal":  # likewise
        return next(s for s in case.samples if s.name == "many channels")
    if case.module == "SparseLinear":
        return _sparse_sample(case)
    if case.rows:
        return case.rows[0].sample
    from thnn.testing.cases import arguments

    return max(case.samples, key=lambda s: sum(t.numel() for t in _tensors(arguments(case, s)).values()))


def _sparse_sample(case: Case) -> SampleInput:
    """A sample of SparseLinear with 32 entries for each of 128 samples, in rows (sample, column, value) or, in the
    legacy form, (samples, 32, 2)."""
    import torch

    from thnn.testing.cases.makers import normal
    from thnn.testing.cases.model import SampleInput

    def entries(generator: torch.Generator) -> Tensor:
        columns = (
            torch.randint(1, 4097, (128, 32), generator=generator).to(torch.float16).double()
        )  # whole numbers
        pairs = torch.stack([columns, torch.rand(128, 32, generator=generator) + 1.0], 2)
        rows = torch.arange(1.0, 129.0)[:, None, None].expand(128, 32, 1)
        return pairs if "legacy" in case.name else torch.cat([rows, pairs], 2).reshape(-1, 3)

    weight, bias = normal(64, 4096), normal(64)
    makers = {"weight": weight, "gradWeight": weight, "bias": bias, "gradBias": bias}
    makers |= {
        "input": entries,
        "lastInput": entries,
        "output": normal(128, 64),
        "gradOutput": normal(128, 64),
    }
    given = case.samples[0].arguments
    return SampleInput("traffic", {n: makers.get(n, v) for n, v in given.items()})


def _tensors(values: Mapping[str, Any]) -> dict[str, Tensor]:
    from torch import Tensor

    return {name: v for name, v in values.items() if isinstance(v, Tensor)}


def _smaller(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with as few images and channels as ELEMENTS requires. Images are removed from all tensors that have
    as many as the first one, channels only if all tensors have as many images and channels as the first one."""
    tensors = _tensors(values)
    first = next(iter(tensors.values()))
    made = dict(values)
    for dim in (0, 1):
        if first.dim() <= dim:
            break
        size = first.shape[dim]
        like = [n for n, t in tensors.items() if t.shape[: dim + 1] == first.shape[: dim + 1]]
        if dim == 1 and (len(like) < len(tensors) or first.dim() == 2):
            break
        kept = size
        while kept % 2 == 0 and kept * first.numel() // size > ELEMENTS:
            kept //= 2
        made |= {n: made[n].narrow(dim, 0, kept) for n in like}
        tensors = _tensors(made)
        first = next(iter(tensors.values()))
    return made


def _ranges(values: Mapping[str, Any]) -> list[tuple[int, int]]:
    """The addresses and sizes of the tensors' memory; tensors that share memory have one range."""
    merged: list[tuple[int, int]] = []
    for tensor in sorted(_tensors(values).values(), key=lambda t: t.untyped_storage().data_ptr()):
        memory = tensor.untyped_storage()
        if memory.nbytes() and (memory.data_ptr(), memory.nbytes()) not in merged:
            merged.append((memory.data_ptr(), memory.nbytes()))
    return merged


def count(pattern: re.Pattern[str]) -> Iterator[Traffic]:
    """The traffic of the functions whose names match, for each element type, in a process with libtraffic.so."""
    import torch

    from thnn._cuda.functions import FUNCTIONS
    from thnn.testing.case_runner import CaseRunner, written
    from thnn.testing.cases import arguments, cases
    from thnn.testing.cases.model import SampleInput

    counter = ctypes.CDLL(None)
    for case in cases().values():
        names = [f.name for f in case.registry.modules[case.module].functions.values()]
        names = names if case.phase is None else [case.name]
        if names[0] in FUNCTIONS or not any(pattern.search(n) for n in names):
            continue
        values = _smaller(arguments(case, _sample(case)))
        makers = {
            n: (lambda generator, t=v: t.clone()) if isinstance(v, torch.Tensor) else v
            for n, v in values.items()
        }
        for dtype in TYPES:
            runner = CaseRunner(case, SampleInput("traffic", makers), getattr(torch, dtype))
            made: dict[str, Any] = {}
            for function in runner.functions:
                row = runner.row(function, made)
                runner.call(function, row)  # allocates the outputs
                runner.reseed()
                ranges = _ranges(row)
                addresses, sizes = zip(*ranges)
                counter.trafficBegin(
                    len(ranges),
                    (ctypes.c_void_p * len(ranges))(*addresses),
                    (ctypes.c_size_t * len(ranges))(*sizes),
                )
                runner.call(function, row)
                counts = (ctypes.c_int64 * 6)()
                counter.trafficEnd(counts)
                if pattern.search(function.name):
                    largest = max(t.numel() for t in _tensors(row).values())
                    yield Traffic(function.name, dtype, largest, *counts)
                if function is runner.forward:
                    made = {n: row[n] for n in written(function, row)}
                    outputs = [a.name for a in function.tensors("output") if row.get(a.name) is not None]
                    runner.factors = {n: runner.factor(row[n], n).to(row[n].dtype) for n in outputs}


def _count_elsewhere(pattern: str) -> list[Traffic]:
    """The traffic of the functions whose names match, counted in a new process, with the instrumented package."""
    folder = instrumented_package(ROOT)
    program = "import sys; from tools.cuda_bytes import print_counts; print_counts(sys.argv[1])"
    environment = {
        "PYTHONPATH": str(ROOT),
        "LD_PRELOAD": str(folder / "cmake/libtraffic.so"),
        "THNN_CUDA_EMULATE": "1",
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", program, pattern],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise BuildError("the process that counts has failed")
    return [Traffic(*json.loads(line)) for line in done.stdout.splitlines()]


def print_counts(pattern: str) -> None:
    """Prints the traffic of each function as a line of JSON."""
    for traffic in count(re.compile(pattern)):
        print(json.dumps(traffic), flush=True)


# --- the report -------------------------------------------------------------------------------------------------------

HEAD = (
    "# bytes per element of the largest tensor; two values are those of float, half",
    "function\tmust read\tmust write\treads\twrites\tfactor\trequests\tlaunches",
)


def _by_function(counts: list[Traffic]) -> dict[str, list[Traffic]]:
    found: dict[str, list[Traffic]] = {}
    for traffic in counts:
        found.setdefault(traffic.function, []).append(traffic)
    return found


def lines_of(counts: list[Traffic]) -> list[str]:
    """A line per function."""
    lines = []
    for name, types in _by_function(counts).items():
        columns = [
            *(
                [f"{getattr(t, field) * SECTOR / t.elements:.2f}" for t in types]
                for field in ("must_read", "must_write", "reads", "writes")
            ),
            [f"{t.factor:.2f}" for t in types],
            [f"{t.requests / t.must:.2f}" for t in types],
            [str(t.launches) for t in types],
        ]
        lines.append("\t".join([name, *(" ".join(c) for c in columns)]))
    return lines


def errors_of(counts: list[Traffic]) -> list[str]:
    """A line per function that moves more than it must and is not in REASONS."""
    return [
        f"{t.function}, {t.dtype}: moves {t.factor:.2f} times what it must"
        for t in counts
        if t.factor > LIMIT and not any(re.fullmatch(r.pattern, t.function) for r in REASONS)
    ]


def table_of(counts: list[Traffic]) -> str:
    """The table of the document: functions that move more than they must."""
    found = _by_function(counts)
    rows = ["| functions | factor for float, half | reason |", "|---|---|---|"]
    for reason in REASONS:
        factors = [[t.factor for t in found.pop(f)] for f in [*found] if re.fullmatch(reason.pattern, f)]
        columns = [(min(c), max(c)) for c in zip(*factors)]
        text = ", ".join(
            f"{a:.2f}" if f"{a:.2f}" == f"{b:.2f}" else f"{a:.2f} to {b:.2f}" for a, b in columns
        )
        rows.append(f"| {reason.functions} | {text} | {reason.text} |")
    most = max((t.factor for types in found.values() for t in types), default=1.0)
    rows.append(f"| the other {len(found)} functions | at most {most:.2f} | |")
    return "\n".join(rows) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.cuda_bytes", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("pattern", nargs="?", default="", help="regular expression: only these functions")
    parser.add_argument(
        "--check", action="store_true", help="print only functions that move more than they must"
    )
    options = parser.parse_args()
    try:
        counts = _count_elsewhere(options.pattern)
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if not options.check:
        print("\n".join([*HEAD, *lines_of(counts)]), table_of(counts), sep="\n\n")
    errors = errors_of(counts)
    if errors or options.check:
        print(
            "\n".join(errors)
            or f"{len(_by_function(counts))} functions move what they must, or have a reason"
        )
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
