"""Brings everything that follows from generic/THNN.h up to date: generated files, then the compiled library.

`regenerate(root)` writes only what changed. When anything fails, the header included, the generated files are put
back and the library that was there stays: a build goes to build/cmake and is moved into place when it is complete.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

HEADER = "generic/THNN.h"
LIBRARIES = ("libTHNN.so", "_C.abi3.so")


class BuildError(Exception):
    """The compiler (or CMake) refused; the text is what it printed."""


def generate(root: Path) -> dict[Path, str]:
    """The generated files of a source tree, as path -> text. Raises HeaderError for a header it cannot use."""
    from thnn._header import parse_header

    from . import emit_c, emit_docs, emit_python

    path = root / HEADER
    functions = parse_header(str(path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    emit_c.check_supported(functions)
    return {
        root / "lib/THNN/generated/functions.inc": emit_c.emit_functions(functions, digest),
        **{
            root / f"lib/THNN/generated/modules/{name}.h": text
            for name, text in emit_c.emit_declarations(functions).items()
        },
        root / "thnn/_generated/model.py": emit_python.emit_model(functions, digest),
        root / "thnn/_generated/functions.pyi": emit_python.emit_stubs(functions),
        root / "docs/functions.md": emit_docs.emit_catalogue(functions),
    }


def stale(files: Mapping[Path, str]) -> dict[Path, str]:
    """Which of the files differ from what they should be, each with its first differing lines."""
    found = {}
    for path, text in files.items():
        if not path.exists():
            found[path] = "is missing"
        elif (old := path.read_text()) != text:
            diff = difflib.unified_diff(
                old.splitlines(), text.splitlines(), "committed", "expected", lineterm="", n=0
            )
            found[path] = "differs:\n" + "\n".join("    " + line for line in list(diff)[2:8])
    return found


def configure(root: Path, directory: Path, cmake_arguments: Sequence[str] = ()) -> str:
    """Prepares `directory` for building with CMake; returns the cmake to build with."""
    root = root.resolve()
    cmake, ninja = _tool("cmake"), _tool("ninja")
    if cmake is None:
        raise BuildError("cmake is not installed (pip install cmake)")
    generator = "Ninja" if ninja else "Unix Makefiles"
    cache = directory / "CMakeCache.txt"
    known = {f"CMAKE_HOME_DIRECTORY:INTERNAL={root}", f"CMAKE_GENERATOR:INTERNAL={generator}"}
    if cache.exists() and not known <= set(cache.read_text().splitlines()):
        # The tree was copied or moved, or ninja came or went: CMake refuses to go on with such a directory.
        shutil.rmtree(directory)
    directory.mkdir(parents=True, exist_ok=True)
    settings = [
        f"-DPython3_EXECUTABLE={sys.executable}",
        *([f"-DCMAKE_MAKE_PROGRAM={ninja}"] if ninja else []),
    ]
    _run([cmake, "-G", generator, "-S", str(root), "-B", str(directory), *settings, *cmake_arguments])
    return cmake


def build(
    root: Path, output: Path, cmake_arguments: Sequence[str] = (), directory: Path | None = None
) -> list[str]:
    """Compiles the library and moves it into `output`; returns the names of the files that changed."""
    directory = directory or root / "build" / "cmake"
    cmake = configure(root, directory, cmake_arguments)
    _run([cmake, "--build", str(directory), "--parallel", str(os.cpu_count() or 1)])
    output.mkdir(parents=True, exist_ok=True)
    changed = []
    for name in LIBRARIES:
        new, old = directory / name, output / name
        if old.exists() and old.read_bytes() == new.read_bytes():
            continue
        # A process that has the old file mapped keeps it: renaming gives the name to a new one.
        shutil.copy2(new, old.with_suffix(".new"))
        old.with_suffix(".new").replace(old)
        changed.append(name)
    return changed


def _tool(name: str) -> str | None:
    """The program that came with this Python's packages, or else the system's."""
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return shutil.which(name, path=os.pathsep.join(places))


def _run(command: list[str]) -> None:
    result = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if result.returncode != 0:
        raise BuildError(_without_kernels(result.stdout) or result.stdout)


def _without_kernels(output: str) -> str:
    """What the linker missed, in the words of the header: empty where it missed nothing."""
    names = sorted(
        set(
            re.findall(r"undefined reference to `THNN_(?:Float|Double)(\w+)_(?:default|avx2|avx512)'", output)
        )
    )
    return "".join(
        f"{name}: declared in THNN.h, and no file of generic/ defines THNN_({name})\n" for name in names
    )


@contextmanager
def _signals_are_exceptions() -> Iterator[None]:
    """Who ends the program, as `timeout` or a closed terminal, does not leave it half-way."""

    def end(number: int, _: object) -> NoReturn:
        sys.exit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def regenerate(root: Path, report: Callable[[str], None] = print) -> None:
    """Rewrites what is stale and rebuilds; on any exception or signal the tree is left as it was."""
    files = generate(root)
    old = {path: path.read_text() if path.exists() else None for path in files}
    changed = [path for path, text in files.items() if old[path] != text]
    try:
        with _signals_are_exceptions():
            for path in changed:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(files[path])
            libraries = build(root, root / "thnn")
    except BaseException:
        for path in changed:
            text = old[path]
            if text is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(text)
        raise
    for name in [str(path.relative_to(root)) for path in changed] + [f"thnn/{name}" for name in libraries]:
        report(f"wrote {name}")
    if not changed and not libraries:
        report("everything is up to date")
