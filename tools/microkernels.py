"""Reports on the innermost loops of the micro-kernels for aarch64, which `python -m tools.aarch64` compiles.

It prints the numbers of fused multiply-adds, of loads, and of vectors that are spilled to the stack or reloaded. The
exit status is 1 if there are spills: the accumulators then exceed the registers.
"""

from __future__ import annotations

import re
import subprocess
import sys
from typing import NamedTuple

from .aarch64 import HERE
from .build import BuildError

SOURCES = ("gemm/microkernel.c", "convolution/winograd_kernels.c")
_FUNCTION = re.compile(r"^[0-9a-f]+ <(\w+)>:\n((?:.+\n)+)", re.MULTILINE)
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)[ \t]*(.*)$", re.MULTILINE)
_BRANCH = re.compile(r"(?:b|b\.\w+|cbn?z|tbn?z)$")
_VECTOR_ON_STACK = re.compile(r"[qdsv]\d.*\[sp")


class Loop(NamedTuple):
    multiply_adds: int
    loads: int
    spills: int


def innermost_loops(code: str) -> list[Loop]:
    """The loops in a disassembled function that contain no other loop."""
    instructions = [(int(at, 16), name, operands) for at, name, operands in _INSTRUCTION.findall(code)]
    number = {at: i for i, (at, _, _) in enumerate(instructions)}
    loops: list[tuple[int, int]] = []
    for end, (_, name, operands) in enumerate(instructions):
        if _BRANCH.match(name) and (target := re.search(r"([0-9a-f]+) <", operands)):
            begin = number.get(int(target[1], 16), end + 1)
            if begin <= end and not any(begin <= b for b, _ in loops):
                loops.append((begin, end))
    return [_count(instructions[begin : end + 1]) for begin, end in loops]


def _count(instructions: list[tuple[int, str, str]]) -> Loop:
    names = [name for _, name, _ in instructions]
    return Loop(
        names.count("fmla"),
        sum(name.startswith("ld") for name in names),
        sum(_VECTOR_ON_STACK.match(operands) is not None for _, _, operands in instructions),
    )


def main() -> int:
    spilled = False
    print("type    function                fmla  loads  spills")
    for real in ("float", "double"):
        for source in SOURCES:
            path = HERE / f"cmake/CMakeFiles/loops_{real}_default.dir/lib/THNN/{source}.o"
            command = ["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", str(path)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise BuildError(done.stderr)
            for name, code in _FUNCTION.findall(done.stdout):
                loop = max(innermost_loops(code), default=Loop(0, 0, 0))
                if loop.multiply_adds:
                    print(f"{real:6}  {name:22}  {loop.multiply_adds:4}  {loop.loads:5}  {loop.spills:6}")
                    spilled |= loop.spills > 0
    return int(spilled)


if __name__ == "__main__":
    sys.exit(main())
