"""From a recipe to a library in the cache.

Every kernel file is compiled once per element type, as in the package, with the user's header and the runtime's headers
included before it; so the compiler checks the prototypes of the kernels, and its messages have the user's files and
lines. The table of functions is the package's (lib/THNN/runtime/function_table.c), filled with the header's functions.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeVar

from thnn._binding.library import Library
from thnn._emit.c import emit_functions
from thnn._header import Function, digest, group_modules
from thnn._load.cache import (
    TEMPORARY,
    cache_file,
    cache_folder,
    check_cache_folder,
    make_cache_folder,
    mark_used,
    open_file,
    put,
    read,
    trim,
    unusable,
)
from thnn._load.prototypes import check_tensor_types
from thnn._load.recipe import (
    KEEPS_ROUNDING,
    SYSTEM,
    CompileError,
    Recipe,
    flags_of_kinds,
    hashes,
    included_files,
    installed_headers,
    kernel_headers,
    key_of,
    library_path,
    run_compiler,
)

# Standard headers, which take most of the compile time: precompiled once per compiler and set of flags.
_STANDARD_HEADERS = """\
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
"""

# Included before the header and after it, by flags of the compiler, which take any path. TH_GENERIC_FILE: a header of
# 2017 declares its functions only if it is defined.
_BEFORE_HEADER = """\
#include "runtime/kernel.h"
#include "runtime/generator.h"
#define TH_API
#define TH_GENERIC_FILE "header"
"""
_AFTER_HEADER = "#undef TH_GENERIC_FILE\n#undef TH_API\n"

# Included after them, if tasks run in the reversed order.
_REVERSED_TASKS = """\
#include "runtime/parallel.h"
#undef THNN_PARALLEL_FOR
#define THNN_PARALLEL_FOR(i, tasks, work) for (int64_t i = ((void)(work), (tasks)) - 1; i >= 0; i--)
"""

# Read by `digest_of_sources`.
_SOURCES = '__attribute__((visibility("default"))) const char *const thnn_sources = "{}";\n'

# The suffix that the table of functions expects in a library with one variant per kernel.
_ARCH = "default"
_SYMBOL = re.compile(rf"THNN_(?:Float|Double)(\w+?)_{_ARCH}\b|THCUNN_(?:Float|Double|Half|BFloat16)(\w+)")
_UNDEFINED = re.compile(rf"undefined (?:reference to|symbol:?) [`'\"]?THNN_(?:Float|Double)(\w+?)_{_ARCH}\b")
# The numbers come from the object files that `compile_into` names. GNU ld and gold break lines at different places.
_OBJECT = r"/(\d+)_(?:float|double)\.o:"
_MULTIPLE = re.compile(rf"{_OBJECT}(?:.*\n)??.*multiple definition of [`'](\w+)'(?:.*\n)??.*?{_OBJECT}")
_FULL_DISK = os.strerror(errno.ENOSPC)
_building = threading.Lock()


def _renew_lock() -> None:
    global _building  # noqa: PLW0603
    _building = threading.Lock()


# A thread that held the lock does not exist in a forked child.
os.register_at_fork(after_in_child=_renew_lock)


class LibraryRecipe(Protocol):
    """Everything that determines a library: a `Recipe`, or a `CudaRecipe` (cuda.py)."""

    @property
    def header(self) -> Path: ...
    @property
    def header_hash(self) -> str: ...
    @property
    def files(self) -> tuple[Path, ...]: ...
    @property
    def name(self) -> str: ...
    @property
    def sanitize(self) -> bool: ...
    def parts(self) -> dict[str, str]:
        """The dependencies of the library, keyed by the words that explain a rebuild."""

    def with_names(self, text: str) -> str:
        """Compiler output with the file names that users know."""

    def other_candidates(self, included: Sequence[Path]) -> list[Path]:
        """The files that would replace included files, or be included in addition, if they existed."""


R = TypeVar("R", bound=LibraryRecipe)
# Compiles a library in an empty folder; returns its path, and the files that the kernel files include.
Compile = Callable[[R, Sequence[Function], Path, bool], tuple[Path, list[Path]]]


def build(
    recipe: R, functions: Sequence[Function], compile_into: Compile[R], verbose: bool = False
) -> Path | None:
    """The library of a recipe, from the cache or compiled; None if a file was edited meanwhile. Raises CompileError.

    Processes and threads may build the same library at once: each compiles in a separate folder and renames the
    finished file, which never changes afterwards. The entry of the cache, a JSON file written last, has the hashes of
    the library, of the files that the compiler included, and of those that it would find in other folders: '' for a
    file that is not there.
    """
    check_cache_folder()
    with _building:
        parts = recipe.parts()
        entry = cache_file(recipe.name, key_of(parts), ".json")
        # Files and flags of the last compilation of this header, for `_reason`.
        record = cache_file(recipe.name, key_of({"header": str(recipe.header)}), ".json")
        mark_used(record)
        found = _of_entry(entry, recipe, functions)
        if found is not None:
            _say(verbose, f"{recipe.name}: {found} is up to date")
            return found
        make_cache_folder()
        _say(verbose, f"{recipe.name}: compiling, since {_reason(record, parts)}")
        try:
            with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=cache_folder()) as temporary:
                work = Path(temporary)
                started, begun = work.stat().st_ctime_ns, time.perf_counter()
                try:
                    output, files = compile_into(recipe, functions, work, verbose)
                except CompileError as error:
                    if is_edited(recipe, [], started):
                        return None
                    if _FULL_DISK in error.output:  # the compiler blames a line of the kernel
                        raise OSError(errno.ENOSPC, _FULL_DISK) from None
                    raise CompileError(recipe.with_names(error.output)) from None
                _say(verbose, f"{recipe.name}: compiled in {time.perf_counter() - begun:.1f} s")
                others = recipe.other_candidates(files)
                included = hashes([*files, *others])
                present = [path for path in others if path.is_file()]
                if recipe.parts() != parts or is_edited(recipe, [*files, *present], started):
                    return None
                target = cache_file(recipe.name, key_of(parts | included), ".so")
                text = {"library": target.name, "hash": hashes([output])[str(output)], "included": included}
                put(output, target)
                for path, content in ((record, parts | included), (entry, text)):
                    (work / "entry").write_text(json.dumps(content), encoding="utf-8")
                    put(work / "entry", path)
        except OSError as error:  # a full disk
            raise unusable(cache_folder(), error.strerror or str(error)) from error
        trim()
        return target


def _of_entry(entry: Path, recipe: LibraryRecipe, functions: Sequence[Function]) -> Path | None:
    """The library of an entry of the cache; None if there is none, it is damaged, or an included file changed."""
    mark_used(entry)
    try:
        kept = json.loads(read(entry))
        library, included = entry.with_name(kept["library"]), kept["included"]
        mark_used(library)
        if sha256(read(library)).hexdigest() != kept["hash"] or hashes(map(Path, included)) != included:
            return None
        # Only a process that runs under the sanitizer can open a library with it.
        is_right = recipe.sanitize or Library(library).digest == digest(functions)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, ImportError):
        return None
    return library if is_right else None


def is_edited(recipe: LibraryRecipe, included: Sequence[Path], started: int) -> bool:
    """True if a file was edited since the time `started`, or the header since it was parsed."""
    now = time.time_ns()  # a file system's clock may be ahead; later times do not count
    try:
        times = [path.stat().st_ctime_ns for path in (*recipe.files, *included)]
    except OSError:
        return True
    if any(started < changed <= now for changed in times):
        return True
    return hashes([recipe.header])[str(recipe.header)] != recipe.header_hash


def _say(verbose: bool, text: str) -> None:
    if verbose:
        print(f"thnn.load: {text}", file=sys.stderr, flush=True)


def _reason(record: Path, parts: Mapping[str, str]) -> str:
    """Why a library has to be compiled: the parts and included files that have changed since its last compilation."""
    try:
        before = json.loads(read(record))
        now = {**parts, **hashes(Path(name) for name in before if name not in parts)}
        changed = [name for name in now if now[name] != before.get(name)]
    except (OSError, ValueError, TypeError, AttributeError):  # there is none, or it is damaged
        return "it has not been compiled before"
    return f"{', '.join(changed)} changed" if changed else "the cache was emptied"


def compile_into(
    recipe: Recipe, functions: Sequence[Function], work: Path, verbose: bool = False
) -> tuple[Path, list[Path]]:
    """Compiles a library in the empty folder `work`; returns its path, and the files that the kernel files include.

    Raises CompileError.
    """
    core, _ = kernel_headers()
    forced = write_declarations(recipe.header, functions, work)
    if recipe.reversed_tasks:
        (work / "reversed_tasks.h").write_text(_REVERSED_TASKS, encoding="utf-8")
        forced += ["-include", str(work / "reversed_tasks.h")]
    compiler = [*recipe.compiler.command, *recipe.flags()]
    folders = [f"-I{path}" for path in (work, *recipe.include_folders())]
    first = _precompiled(recipe, verbose)
    commands, objects = [], []
    for number, source in enumerate(recipe.sources):
        for real in ("FLOAT", "DOUBLE"):
            objects.append(work / f"{number}_{real.lower()}.o")
            defines = [f"-DTHNN_REAL_IS_{real}", f"-DTHNN_ARCH={_ARCH}"]
            given = [*first, *forced, "-MD", *defines, *folders, *recipe.cflags]
            given += [KEEPS_ROUNDING] if recipe.cflags else []
            commands.append([*compiler, *given, "-c", str(source), "-o", str(objects[-1])])
    objects.append(work / "table.o")
    table = [str(core / "runtime" / "function_table.c"), "-o", str(objects[-1])]
    commands.append([*compiler, "-O1", *folders, "-c", *table])
    run_compilers(commands, verbose)
    if not all(path.exists() for path in objects):
        raise CompileError(
            f"{' '.join(compiler)} ended without an error, but made no object file: is it a C compiler?"
        )

    known = (*recipe.files, *installed_headers())
    included = included_files(work, known, (*SYSTEM, str(_precompiled_header(recipe))))
    check_tensor_types(functions, (*recipe.sources, *included))
    sources, output = work / "sources.c", work / "library.so"
    sources.write_text(_SOURCES.format(_digest_of_sources(recipe, included)), encoding="utf-8")
    # The path of libTHNN.so is not recorded: libTHNN.so is opened first, and a package may be used on another machine.
    link = [*recipe.compiler.link_command, *recipe.flags(), "-shared", str(sources)]
    link += [*map(str, objects), str(library_path())]
    # Calls within the library must not reach functions of the same names in another library. The process defines the
    # sanitizer's functions.
    link += ["-Wl,-Bsymbolic", *([] if recipe.sanitize else ["-Wl,--no-undefined"]), "-lm", *recipe.ldflags]
    linked = run_compiler([*link, "-o", str(output)])
    if linked.returncode:
        told = _repeated(recipe, linked.stdout) or _missing(recipe, functions, linked.stdout)
        raise CompileError(told or readable(linked.stdout))
    if not _is_shared_library(output):
        raise CompileError(f"{' '.join(compiler)} ended without an error, but made no shared library")
    return output, included


def _is_shared_library(path: Path) -> bool:
    """True for an ELF file of type ET_DYN."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        start = file.read(18)
    return start[:4] == b"\x7fELF" and int.from_bytes(start[16:18], sys.byteorder) == 3


def write_declarations(header: Path, functions: Sequence[Function], work: Path) -> list[str]:
    """Writes the files that kernel files and the table include; returns the flags that include the header."""
    before, after = work / "before_header.h", work / "after_header.h"
    before.write_text(_BEFORE_HEADER, encoding="utf-8")
    after.write_text(_AFTER_HEADER, encoding="utf-8")
    (work / "modules").mkdir()
    # Kernel files of the package include the declarations of their module; here they have been included already.
    for name in group_modules(functions):
        (work / "modules" / f"{name}.h").write_text('#include "runtime/kernel.h"\n', encoding="utf-8")
    (work / "functions.inc").write_text(emit_functions(functions, digest(functions)), encoding="utf-8")
    return [flag for path in (before, header, after) for flag in ("-include", str(path))]


def run_compilers(commands: Sequence[Sequence[str]], verbose: bool) -> None:
    """Runs the commands in parallel. Raises CompileError with the output of the first one that fails."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(run_compiler, commands))
    for result in done:
        if verbose and result.stdout:
            print(readable(result.stdout), end="", file=sys.stderr)
        if result.returncode:
            silent = f"{result.args[0]} ended with status {result.returncode} and printed nothing"
            raise CompileError(readable(result.stdout) or silent)


def _digest_of_sources(recipe: Recipe, included: Iterable[Path]) -> str:
    """A digest of everything that distinguishes two libraries for a program, the same on every machine.

    It covers the texts of the header, the kernel files and the files that they include, and the caller's macros, but
    not paths or other flags.
    """
    sources = (*recipe.sources, *recipe.cuda_sources)
    texts = [recipe.header_hash, *hashes(sources).values(), *sorted(hashes(included).values())]
    macros = flags_of_kinds(recipe.cflags, ("-D", "-U"))
    return sha256(repr((texts, macros)).encode()).hexdigest()[:8]


def digest_of_sources(library: Library) -> str:
    """The digest that was compiled into a library. Raises ImportError for a library without one."""
    try:
        text = ctypes.c_char_p.in_dll(ctypes.CDLL(str(library.path)), "thnn_sources")
    except ValueError:
        raise ImportError(f"{library.path} was built by another version of thnn; build it again") from None
    return (text.value or b"").decode()


def readable(output: str) -> str:
    """The output of the compiler, with the names of functions as the header spells them."""
    return _SYMBOL.sub(r"THNN_(\1\2)", output)


def _repeated(recipe: Recipe, output: str) -> str:
    """The message for functions with several definitions, '' if the linker reported something else."""
    lines = []
    for second, symbol, first in _MULTIPLE.findall(output):
        name, files = readable(symbol), (recipe.sources[int(first)], recipe.sources[int(second)])
        if first == second:
            lines.append(
                f"{name}: defined twice, since {files[0]} is compiled for float and for double; make it static"
            )
        else:
            lines.append(
                f"{name}: both {files[0]} and {files[1]} define it; remove one, or give sources=[...]"
            )
    return "\n".join(dict.fromkeys(lines))


def _missing(recipe: Recipe, functions: Iterable[Function], output: str) -> str:
    """The message for functions that no kernel file defines, '' if the linker reported something else."""
    names = dict.fromkeys(_UNDEFINED.findall(output))
    declared = {f.name: f for f in functions}
    files = " or ".join(path.name for path in recipe.sources)
    lines = []
    for name in names:
        if name in declared:
            lines.append(
                f"{name}: declared at {declared[name].location}, and no kernel file ({files}) defines THNN_({name})"
            )
        else:
            lines.append(
                f"THNN_({name}): used by a kernel, but neither defined in {files} nor available outside of libTHNN.so"
            )
    return "\n".join(lines)


def _precompiled_header(recipe: Recipe) -> Path:
    """The path of a file in the cache that includes the standard headers; its precompiled form lies beside it."""
    key = key_of(recipe.toolchain() | {"flags": repr(recipe.flags())})
    return cache_file("headers", key, ".h")


def _precompiled(recipe: Recipe, verbose: bool) -> list[str]:
    """The flags that include the precompiled standard headers, which are compiled at the first call."""
    if recipe.compiler.is_clang or recipe.cflags or recipe.sanitize:
        return []
    make_cache_folder()
    header = _precompiled_header(recipe)
    compiled, size = header.with_suffix(".h.gch"), header.with_suffix(".size")
    mark_used(compiled)
    try:
        with open_file(compiled) as file:
            length = os.fstat(file.fileno()).st_size
        is_whole = read(header) == _STANDARD_HEADERS.encode() and int(read(size)) == length
    except (OSError, ValueError):
        is_whole = False
    if not is_whole:
        _say(verbose, "precompiling the standard headers, once for all libraries")
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=header.parent) as work:
            text, result, told = (Path(work, f"headers{s}") for s in (".h", ".h.gch", ".size"))
            text.write_text(_STANDARD_HEADERS, encoding="utf-8")
            command = [*recipe.compiler.command, *recipe.flags(), "-x", "c-header"]
            if run_compiler([*command, str(text), "-o", str(result)]).returncode or not result.exists():
                return []  # the kernel files include the same headers, whose errors their compilation reports
            told.write_text(str(result.stat().st_size), encoding="utf-8")
            for made, target in ((text, header), (result, compiled), (told, size)):
                put(made, target)
    return ["-include", str(header)]
