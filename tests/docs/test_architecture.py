"""docs/architecture.md: the files of thnn/ import as its list of rooms says, without cycles."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text()


def files() -> dict[str, Path]:
    """The files of the package by the names of their modules; templates are files of another package."""
    found = {}
    for path in (ROOT / "thnn").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if "templates" not in parts:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


FILES = files()


def imports(module: str) -> set[str]:
    """The modules of thnn that a module imports at any place, also for type checkers."""
    found = set()
    for node in ast.walk(ast.parse(FILES[module].read_text())):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = module if FILES[module].name == "__init__.py" else module.rpartition(".")[0]
            start = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            home = ".".join([*start, *([node.module] if node.module else [])])
            found |= {f"{home}.{a.name}" if f"{home}.{a.name}" in FILES else home for a in node.names}
    return (found & FILES.keys()) - {module, "thnn"}


def room_of(module: str) -> str:
    parts = module.split(".")
    room = parts[1] if len(parts) > 1 else "__init__"
    return "_header" if room == "_generated" else room  # the model of the installed header


def test_no_circle() -> None:
    graph = {module: imports(module) for module in FILES}
    assert len(graph) > 200
    assert sum(map(len, graph.values())) > 500
    TopologicalSorter(graph).prepare()  # CycleError names the files


def test_rooms() -> None:
    block = re.search(r"^```text\n(_spelling _table\n.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert block is not None
    floor = {room: k for k, line in enumerate(block[1].splitlines()) for room in line.split()}
    assert floor.keys() == {room_of(module) for module in FILES}
    for module in FILES:
        for other in imports(module):
            here, there = room_of(module), room_of(other)
            assert here == there or floor[there] < floor[here], f"{module} imports {other}"
