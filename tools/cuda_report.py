"""A static report of the CUDA library's kernels, for where there is no GPU: ``python -m tools.cuda_report FOLDER``.

It reads the machine code in the folder of the build, of one GPU architecture (sm_90), with NVIDIA's cuobjdump (pip
install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm). For each kernel and element type it lists the registers, the warps
that one multiprocessor can hold, the instructions and the widest load from global memory. It fails for a kernel that

- uses local memory, where registers spill and arrays with computed indices lie, unless SPILLS lists it;
- computes in double, unless its elements are double, its function is in DOUBLE_SUMS, or it is in DOUBLE_KERNELS;
- loads packed elements by less than 128 bits;
- takes 60 instructions or more for a strided element, besides the mathematics (measured on the functions of LIGHT).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import NamedTuple

TYPES = ("Float", "Double", "Half", "BFloat16")
THREADS = 256  # threads per block, in lib/THCUNN/runtime/loops.h
MORE_THREADS = {"sortTileKernel": 1024}  # lib/THCUNN/segment_sum/sort.h

# Functions whose signature has sums of float64 (THAccrealTensor), which processes exchange.
DOUBLE_SUMS = re.compile(
    r"BatchNormalization_(statistics|mergeStatistics|saveStatistics|gradSums|gradInput)$"
)

# Positions of an interpolation, which must equal the CPU's; a thread computes one per index of an axis.
DOUBLE_KERNELS = {"fillTablesKernel"}

# Functions of one to three instructions.
LIGHT = re.compile(r"(Abs|Square|Threshold)_")

# Kernels with a few registers too many, by function, namespace or file, and name: the most instructions that access
# local memory.
SPILLS = {
    ("average_pooling", "eachKernel"): 2,
    ("MultiLabelMarginCriterion", "reduceKernel"): 6,
    ("MultiLabelMarginCriterion", "reduceWarpsKernel"): 4,
    ("channels", "reduceAndApplyKernel"): 3,
    ("channels", "softMaxKernel"): 16,
    ("max_pooling", "reduceKernel"): 2,
    ("region_pooling", "eachKernel"): 2,
}


class Kernel(NamedTuple):
    """A kernel for one element type."""

    function: str  # from THNN.h; otherwise the namespace or the file of the kernel
    kernel: str
    type: str
    registers: int
    warps: int  # resident on a multiprocessor, at most 64
    instructions: int
    widest_load: int  # bits
    local: int  # instructions that access local memory
    doubles: int  # instructions of double arithmetic


def _tool(name: str) -> str:
    places = [str(p) for p in Path(sys.prefix).glob("lib/python*/site-packages/nvidia/cu*/bin")]
    found = shutil.which(name) or shutil.which(name, path=":".join(places))
    if found is None:
        sys.exit(f"{name} is not installed: pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm")
    return found


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def occupancy(registers: int, shared: int, threads: int) -> int:
    """The warps that a multiprocessor of compute capability 9.0 can hold: 65,536 registers, 228 KiB of shared memory,
    where each block takes 1 KiB besides its arrays, 64 warps, 32 blocks."""
    warps = ceil(threads / 32)
    per_warp = ceil(registers * 32 / 256) * 256
    by_registers = 65536 // per_warp // 4 * 4 // warps if per_warp else 32
    by_shared = 233472 // max(1024, ceil((shared + 1024) / 128) * 128)
    return min(32, 64 // warps, by_registers, by_shared) * warps


def kernels(folder: Path) -> Iterator[Kernel]:
    """The kernels of all object files in the folder where tools/cuda.py has built the library."""
    for name in TYPES:
        for path in sorted((folder / "CMakeFiles" / f"kernels_{name.lower()}.dir").rglob("*.o")):
            yield from _kernels_of(path, name)


def _kernels_of(path: Path, element: str) -> Iterator[Kernel]:
    usage = {
        m[1]: {key: int(value) for key, value in re.findall(r"([A-Z]+):(\d+)", m[2])}
        for m in re.finditer(
            r"Function (\S+):\n\s*(.*)", _output(_tool("cuobjdump"), "-res-usage", str(path))
        )
    }
    if not usage:
        return
    names = _output("c++filt", *usage).splitlines()
    demangled = dict(zip(usage, (n.replace("(anonymous namespace)::", "") for n in names)))
    for part in _output(_tool("cuobjdump"), "-sass", str(path)).split("Function : ")[1:]:
        symbol = part.split("\n", 1)[0].strip()
        caller = re.search(rf"THCUNN_{element}(\w+)", demangled[symbol])
        code = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)", part)
        loads = [op for op in code if re.match(r"LDG\b", op)]
        kernel = re.split(r"[<(]", demangled[symbol].removeprefix("void "))[0].split("::")[-1]
        threads = MORE_THREADS.get(kernel, THREADS)
        yield Kernel(
            function=caller[1] if caller else path.name.split(".")[0],
            kernel=kernel,
            type=element,
            registers=usage[symbol]["REG"],
            warps=occupancy(usage[symbol]["REG"], usage[symbol].get("SHARED", 0), threads),
            instructions=len(code) - code.count("NOP"),
            widest_load=max((_bits(op) for op in loads), default=0),
            local=sum(op.startswith(("LDL", "STL")) for op in code),
            doubles=sum(bool(re.match(r"D(ADD|MUL|FMA|SETP|MNMX)\b", op)) for op in code),
        )


def _bits(load: str) -> int:
    width = re.search(r"\.(U8|S8|U16|S16|64|128)\b", load)
    return {"U8": 8, "S8": 8, "U16": 16, "S16": 16}.get(width[1], 0) or int(width[1]) if width else 32


def report(folder: Path) -> tuple[list[str], list[str]]:
    """The lines of the report, one per kernel with a value per element type, and the lines of errors."""
    rows: dict[tuple[str, str], dict[str, list[Kernel]]] = defaultdict(lambda: defaultdict(list))
    errors = []
    for k in kernels(folder):
        rows[k.function, k.kernel][k.type].append(k)
        where = f"{k.function}, {k.kernel}, {k.type}"
        if k.local > SPILLS.get((k.function, k.kernel), 0):
            errors.append(f"{where}: {k.local} instructions access local memory")
        exempt = DOUBLE_SUMS.search(k.function) or k.kernel in DOUBLE_KERNELS
        if k.doubles and k.type != "Double" and not exempt:
            errors.append(f"{where}: {k.doubles} instructions compute in double")
        if k.kernel.startswith("packed") and k.widest_load < 128:
            errors.append(f"{where}: the widest load has {k.widest_load} bits")
        if k.kernel == "stridedMapKernel" and LIGHT.match(k.function) and k.instructions >= 60:
            errors.append(f"{where}: {k.instructions} instructions for a strided element")
    lines = []
    for (function, kernel), by_type in sorted(rows.items()):
        columns: list[list[str]] = [[], [], [], []]
        for index in range(max(map(len, by_type.values()))):
            columns = [[], [], [], []]
            for name in TYPES:
                found = sorted(by_type[name])[index : index + 1]
                figures = [(f.registers, f.warps, f.instructions, f.widest_load) for f in found]
                for column, value in zip(columns, figures[0] if figures else "----"):
                    column.append(str(value))
            lines.append("\t".join([function, kernel, *(" ".join(c) for c in columns)]))
    return lines, errors


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.cuda_report", description=__doc__)
    parser.add_argument("folder", type=Path, help="where tools.cuda has built the library: build/cuda")
    parser.add_argument("--quiet", action="store_true", help="print only what breaks a rule")
    options = parser.parse_args()

    lines, errors = report(options.folder)
    if not options.quiet:
        print("function\tkernel\tregisters\twarps held (at most 64)\tinstructions\twidest load (bits)")
        print("\n".join(lines))
    print("\n".join(errors) or f"{len(lines)} kernels keep the rules")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
