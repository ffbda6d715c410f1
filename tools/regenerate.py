"""Updates everything that is derived from generic/THNN.h: generated files, then the compiled library.

`regenerate(root)` writes only files that change. The generated C is written before the library is compiled;
generated Python, documentation and libraries are replaced together after it. While the compiler runs, and after an
error or a `kill -9` during it, the generated Python matches the library, and the package can be imported. Only a
`kill -9` in the moment of the replacement can leave some files old and others new. Where the CUDA library is wanted
(cuda.py) it is built last.
"""

from __future__ import annotations

import difflib
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from thnn._emit import c as emit_c
from thnn._emit import check_supported
from thnn._emit import python as emit_python
from thnn._header import Function, digest, parse_header

from . import cuda, emit_docs
from .build import BuildError, Progress, changed_libraries, compile_libraries, lock, replace_together

__all__ = ["BuildError", "generate", "regenerate", "stale"]

HEADER = "generic/THNN.h"
GENERATED = ("lib/THNN/generated", "thnn/_generated", "docs/functions")


def generate(root: Path) -> dict[Path, str | None]:
    """The generated files of a source tree, as path -> text; None for existing files that are no longer generated.

    Raises HeaderError for a header that C or Python cannot use.
    """
    return _emit(root, _parse(root))


def stale(files: Mapping[Path, str | None]) -> dict[Path, str]:
    """The files on disk that differ from `files`, each with its first differing lines."""
    found = {}
    for path, text in files.items():
        if text is None:
            found[path] = "is no longer generated"
        elif not path.exists():
            found[path] = "is missing"
        elif (old := path.read_bytes()) != text.encode():
            lines = old.decode("utf-8", "replace").splitlines()
            diff = difflib.unified_diff(lines, text.splitlines(), "committed", "expected", lineterm="", n=0)
            found[path] = "differs:\n" + "\n".join("    " + line for line in list(diff)[2:8])
    return found


def regenerate(root: Path, report: Callable[[str], None] = print) -> None:
    """Rewrites stale files and rebuilds; on any exception or signal before the CUDA library is built, the tree is
    restored."""
    progress = Progress()
    directory, package = root / "build" / "cmake", root / "thnn"
    wants_cuda = cuda.is_wanted()
    left_over = package / "libTHCUNN.so"  # made by `make cuda` before this change of the sources
    with lock(root), _signals_are_exceptions():
        progress.show(f"reading {HEADER}")
        functions = _parse(root)
        files = _emit(root, functions)
        new = {path: files[path] for path in stale(files)}
        for_compiler = {path: text for path, text in new.items() if path.is_relative_to(root / "lib")}
        before = {path: path.read_text(encoding="utf-8") if path.exists() else None for path in for_compiler}
        may_lack_kernels = bool(for_compiler) or not (package / "libTHNN.so").exists()
        names = [f.name for f in functions] if may_lack_kernels else []
        try:
            replace_together(for_compiler)
            compile_libraries(root, directory, functions=names, progress=progress)
            libraries = changed_libraries(directory, package)
            deleted = [left_over] if libraries and not wants_cuda and left_over.exists() else []
            others = {p: t for p, t in new.items() if p not in for_compiler}
            replace_together({**others, **libraries, **dict.fromkeys(deleted)})
        except BaseException:
            replace_together(before)
            raise
        finally:
            progress.clear()
    for path in deleted:
        report(f"deleted {path.relative_to(root)}; THNN_CUDA=1 builds it again")
    for path in (*new, *libraries):
        report(f"{'deleted' if files.get(path, '') is None else 'wrote'} {path.relative_to(root)}")
    if wants_cuda:
        report(f"built {cuda.build_library(root, package).relative_to(root)}")
    elif not new and not libraries:
        report("the generated files and the libraries were up to date")


def _parse(root: Path) -> list[Function]:
    """The functions of the header, family by family."""
    path = root / HEADER
    functions = parse_header(path)
    check_supported(path, functions, has_families=True)
    families = list(dict.fromkeys(f.family for f in functions))
    return sorted(functions, key=lambda f: families.index(f.family))


def _emit(root: Path, functions: list[Function]) -> dict[Path, str | None]:
    texts = {
        "lib/THNN/generated/functions.inc": emit_c.emit_functions(functions, digest(functions)),
        **_in(
            "lib/THNN/generated/modules",
            {f"{n}.h": t for n, t in emit_c.emit_declarations(functions).items()},
        ),
        **_in("thnn/_generated", emit_python.emit_python(functions)),
        **_in("docs/functions", emit_docs.emit_docs(functions, (root / HEADER).read_text(encoding="utf-8"))),
    }
    files: dict[Path, str | None] = {root / name: text for name, text in texts.items()}
    for folder in GENERATED:
        for path in sorted((root / folder).rglob("*")):
            is_ours = path.suffix in (".c", ".h", ".inc", ".py", ".pyi", ".md") and not path.name.startswith(
                "."
            )
            if is_ours and path.is_file():
                files.setdefault(path, None)
    return files


def _in(folder: str, texts: Mapping[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in texts.items()}


@contextmanager
def _signals_are_exceptions() -> Iterator[None]:
    """Signals that end the program raise an exception once, and are then ignored while the tree is restored."""
    handled = [
        n for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT) if signal.getsignal(n) is not signal.SIG_IGN
    ]
    before = {number: signal.getsignal(number) for number in handled}

    def end(number: int, _: object) -> None:
        for other in handled:
            signal.signal(other, signal.SIG_IGN)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    for number in handled:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
