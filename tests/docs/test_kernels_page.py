"""docs/kernels.md lists the macros and functions of the headers that kernels use, with their numbers of arguments."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HEADERS = (
    "elementwise/map.h",
    "elementwise/operands.h",
    "runtime/check.h",
    "runtime/generator.h",
    "runtime/kernel.h",
    "runtime/parallel.h",
    "runtime/pieces.h",
    "runtime/state.h",
    "runtime/tensor.h",
)
# The binding calls the first of them; the others are parts of the macros.
NOT_FOR_KERNELS = {
    "THNN_lastState",
    "THNNState_begin",
    "THNN_fillZeros",
    "THNN_",
    "THNN_PRAGMA",
    "TH_CONCAT",
    "TH_CONCAT_4",
    "mapIsBuffered",
    "thnn_elementsFrom",
    "thnn_mapLoad",
    "thnn_mapLoadBuffered",
    "thnn_mapLoadChunk",
    "thnn_mapStep",
    "thnn_mapCopyElements",
    "thnn_mapStoreBuffered",
    "thnn_memoryOrder",
    "thnn_piecesBegin",
    "thnn_pieceLoad",
    "thnn_pieceStore",
    "thnn_piecesEnd",
    "thnn_floatView",
    "thnn_floatCopy",
}


def arguments(text: str) -> tuple[int, bool]:
    """The number of named arguments, and whether further ones may follow."""
    names = [name.strip() for name in text.split(",")]
    return len([name for name in names if name != "..."]), "..." in names


def declared() -> dict[str, tuple[int, bool]]:
    found: dict[str, tuple[int, bool]] = {}
    for header in HEADERS:
        text = (ROOT / "lib" / "THNN" / header).read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).replace("\\\n", "")
        macros = re.findall(r"^#define (\w+)\(([^)]*)\)", text, re.MULTILINE)
        function = r"^ *(?:static inline )?(?:const )?\w+ \*?(\w+)\(([^()]*)\)\s*[;{_]"
        functions = re.findall(function, text, re.MULTILINE)
        found |= {name: arguments(names) for name, names in (*macros, *functions)}
    return {name: n for name, n in found.items() if name not in NOT_FOR_KERNELS and not name.endswith("_")}


def test_the_tables_are_complete() -> None:
    page = (ROOT / "docs" / "kernels.md").read_text()
    section = page.split("## Macros and functions\n")[1].split("\n## ")[0]
    cells = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    listed = {
        name: arguments(names)
        for cell in cells
        for name, names in re.findall(r"`(\w+)\(([^`]*)\)[^`)]*`", cell)
    }
    expected = declared()
    assert {"THNN_CHECK_SAME_SIZE", "THNN_SUM2", "THNNTensor_numel", "thnn_threads"} <= expected.keys()
    assert listed.keys() == expected.keys()
    for name, (number, further) in expected.items():
        # The page names the first of further arguments, too.
        assert listed[name][0] == number or (further and listed[name][0] > number), name
