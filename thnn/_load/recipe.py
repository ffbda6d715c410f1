"""The inputs of a compilation (files, flags, compiler), and the key of its library in the cache."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from thnn._header import Function, group_modules

_PACKAGE = Path(__file__).resolve().parent.parent
# Folders of the system, whose headers belong to the compiler.
SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/lib64/")
_DEPENDENCY = re.compile(r"(?:\\.|[^\s\\])+")
# File names in the directives of a text: in #include, in a macro that #include may use, in a condition.
_NAME = re.compile(
    r"""(?:^[ \t]*\#[ \t]*(?:include\w*|import|define[ \t]+\w+)|\b__has_include\w*[ \t]*\()"""
    r"""[ \t]*[<"]([^<>"\0\n]+)[>"]""",
    re.MULTILINE,
)
# Environment variables that tell the compiler where files are.
_INCLUDE_SEARCH = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
_SEARCH = (*_INCLUDE_SEARCH, "LIBRARY_PATH")


class CompileError(ValueError):
    """The compiler or the linker failed, or there is none.

    The text has the last lines of the compiler's output; `output` is all of it.
    """

    __module__ = "thnn"  # as tracebacks name it

    _LINES = 60

    def __init__(self, output: str) -> None:
        lines = output.rstrip().split("\n")
        omitted = len(lines) - self._LINES
        if omitted > 0:
            lines = [f"({omitted} lines omitted)", *lines[omitted:]]
        super().__init__("\n".join(lines))
        self.output = output


def kernel_headers() -> tuple[Path, Path]:
    """The folders with the headers that kernels include: inside an installed package, or in the source tree."""
    root = _PACKAGE / "include"
    if not root.exists():
        root = _PACKAGE.parent
    return root / "lib" / "THNN", root / "generic"


def library_path() -> Path:
    """The path of libTHNN.so, which every library is linked to."""
    return _PACKAGE / "libTHNN.so"


# With these, gcc links code that makes the whole process flush subnormal numbers to 0 when the library is opened.
_FLUSHING = frozenset({"-ffast-math", "-Ofast", "-funsafe-math-optimizations"})


@dataclass(frozen=True)
class Compiler:
    """A compiler of C, C++ or CUDA: the command, and the program that determines it."""

    command: tuple[str, ...]
    path: Path

    @property
    def link_command(self) -> tuple[str, ...]:
        return tuple(word for word in self.command if word not in _FLUSHING)

    @property
    def is_clang(self) -> bool:
        """True for clang and the compilers made from it, under any name."""
        return _is_clang(self.command, identity([self.path]))


@cache
def _is_clang(command: tuple[str, ...], program: str) -> bool:
    """Asks a compiler for its macros; `program` is its identity."""
    macros = run_compiler([*command, "-dM", "-E", "-x", "c", os.devnull])
    return "#define __clang__ " in macros.stdout


def first_compiler(commands: Iterable[Sequence[str]]) -> Compiler | None:
    """The first of the commands whose program is on PATH; a launcher such as ccache may precede the program."""
    for command in commands:
        has_launcher = len(command) > 1 and Path(command[0]).name in ("ccache", "sccache")
        found = shutil.which(command[has_launcher])
        if found is not None:
            return Compiler(tuple(command), Path(found).resolve())
    return None


def find_compiler() -> Compiler:
    """$CC if it is set, otherwise the first of cc, gcc and clang on PATH, otherwise the compiler of the Python package
    ziglang. Raises CompileError if there is none."""
    chosen = os.environ.get("CC", "").split()
    compiler = first_compiler([chosen] if chosen else [["cc"], ["gcc"], ["clang"], *_packaged()])
    if any("++" in Path(word).name for word in chosen[:2] if word[0] != "-"):
        raise CompileError(
            f"thnn.load needs a C compiler, and CC={' '.join(chosen)} compiles C++: set CC to gcc or clang"
        )
    if compiler is not None:
        return compiler
    wanted = (
        f"CC={' '.join(chosen)} names no program" if chosen else "there is none of cc, gcc and clang on PATH"
    )
    raise CompileError(
        f"thnn.load needs a C compiler, and {wanted}: install gcc or clang (apt install gcc, dnf install gcc), or "
        "pip install 'thnn[compiler]', or set CC"
    )


def _packaged() -> list[list[str]]:
    """The command of clang in the Python package ziglang, if it is installed. It is the program that python -m ziglang
    runs, so that its identity changes with an update of the package."""
    found = importlib.util.find_spec("ziglang")
    return [] if found is None or found.origin is None else [[str(Path(found.origin).with_name("zig")), "cc"]]


def run_compiler(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs a compiler; its errors are in the output. Raises CompileError for a program that cannot be run."""
    environment = {**os.environ, "LC_ALL": "C"}
    environment.pop("LD_PRELOAD", None)  # a sanitizer that is preloaded would also check the compiler
    try:
        return subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:  # a script without #!
        raise CompileError(f"{command[0]} cannot be run: {error.strerror}") from None


def flags_of_kinds(flags: Iterable[str], kinds: tuple[str, ...]) -> list[str]:
    """The flags that begin with one of `kinds`, such as -D; if the operand is the next flag, both."""
    rest, found = iter(flags), []
    for flag in rest:
        if flag.startswith(kinds):
            found += [flag, *(islice(rest, 1) if flag in kinds else ())]
    return found


def operands(flags: Iterable[str], kinds: tuple[str, ...]) -> Iterator[str]:
    """The operands of the flags of these kinds: both of -I x and of -Ix it is x."""
    rest = iter(flags)
    for flag in rest:
        for kind in kinds:
            if flag.startswith(kind):
                yield from islice(rest, 1) if flag == kind else [flag.removeprefix(kind)]


def find_sources(header: Path, functions: Sequence[Function]) -> list[Path]:
    """The kernel files beside a header: <header>.c, <Module>.c, and with .cu. Raises ValueError if there is none."""
    names = dict.fromkeys([header.stem, *group_modules(functions)])
    beside = dict.fromkeys([header, header.resolve()])  # a link, then the file that it leads to
    files = ([p for s in (".c", ".cu") for n in names if (p := h.with_name(n + s)).exists()] for h in beside)
    found = next(filter(None, files), [])
    if not found:
        wanted = ", ".join(f"{name}.c" for name in names)
        raise ValueError(f"{header}: there is no kernel file beside it ({wanted}); give sources=[...]")
    return found


# After the flags of the caller: with -ffast-math the exponential of simd/vector_math.h would lose most of its digits.
KEEPS_ROUNDING = "-fno-associative-math"


@dataclass(frozen=True)
class Recipe:
    """Everything that determines a library."""

    header: Path
    header_hash: str  # hash of the text that was parsed
    sources: tuple[Path, ...]  # C files
    name: str
    compiler: Compiler
    cflags: tuple[str, ...] = ()  # the caller's
    ldflags: tuple[str, ...] = ()
    march: str = "native"
    sanitize: bool = False
    reversed_tasks: bool = (
        False  # for `check`: parallel loops run on one thread, from the last task to the first
    )
    # For the library for CUDA tensors (cuda.py). They determine this library, too, since the binding has one library
    # for CUDA tensors for each library for the CPU: after an edit of a CUDA source both are new.
    cuda_sources: tuple[Path, ...] = ()
    cuda_cflags: tuple[str, ...] = ()
    loaded_hashes: tuple[tuple[str, str], ...] = ()  # hashes of `files` when the recipe was made
    shown: tuple[tuple[Path, str], ...] = ()  # the names in errors of files that users do not know

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the library as users know them."""
        return (self.header, *self.sources, *self.cuda_sources)

    def with_names(self, text: str) -> str:
        """Compiler output with the file names that users know."""
        for path, name in self.shown:
            text = text.replace(str(path), name).replace(path.name, name)
        return text

    def other_candidates(self, included: Sequence[Path]) -> list[Path]:
        return other_candidates((*self.files, *included), installed_headers(), self.cflags)

    def flags(self) -> list[str]:
        """The flags of the compiler; flags that change numbers are the same as for the package's kernels
        (CMakeLists.txt)."""
        # Parallel loops of clang would run in a second OpenMP pool beside torch's, so it leaves them sequential. Errors
        # are reported at the line of POINTWISE, not inside the expansions of its macros.
        if self.compiler.is_clang:
            return [*self.common_flags(), "-fopenmp-simd", "-fmacro-backtrace-limit=1"]
        return [*self.common_flags(), "-fopenmp", "-ftrack-macro-expansion=0"]

    def common_flags(self) -> list[str]:
        """The flags of both compilers."""
        flags = ["-std=gnu11", "-fPIC", "-fvisibility=hidden", "-pipe", "-Wall", "-Wextra"]
        flags += ["-Wno-unknown-pragmas", "-Werror=implicit-function-declaration"]
        flags += ["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", f"-march={self.march}"]
        flags.append(KEEPS_ROUNDING)
        if self.march == "native" and " avx512f " in _cpu():
            flags.append("-mprefer-vector-width=512")
        if self.sanitize:
            flags += ["-O1", "-g", "-fno-omit-frame-pointer"]
            flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
        else:
            flags.append("-O3")
        return flags

    def include_folders(self) -> list[Path]:
        return [self.header.parent, *kernel_headers()]

    def toolchain(self) -> dict[str, str]:
        """The part of `parts` that also determines the precompiled headers."""
        return {
            "the CPU": _cpu(),
            "the compiler": repr((self.compiler.command, identity([self.compiler.path]))),
        }

    def parts(self) -> dict[str, str]:
        """The dependencies of the library, keyed by the words that explain a rebuild: a digest of each.

        The files that the sources include are missing: only the compiler knows them (`included_files`).
        """
        search = [os.environ.get(name, "") for name in _SEARCH]
        if self.cflags or self.ldflags or any(search):
            search.append(str(Path.cwd()))  # where relative paths among them begin
        # The compiler, which tells the rest of the flags, is asked for a compilation only.
        return {
            **hashes([*self.sources, *self.cuda_sources]),
            str(self.header): self.header_hash,
            "the flags": repr(
                (
                    self.common_flags(),
                    self.reversed_tasks,
                    self.cflags,
                    self.ldflags,
                    self.files,
                    self.name,
                    search,
                )
            )
            + repr(self.cuda_cflags),
            **self.toolchain(),
            "libTHNN.so": identity([library_path()]),
            "the headers of thnn": identity(installed_headers()),
        }


def key_of(parts: Mapping[str, str]) -> str:
    return hashlib.sha256(repr(sorted(parts.items())).encode()).hexdigest()[:20]


def hashes(paths: Iterable[Path]) -> dict[str, str]:
    """The SHA-256 of each file by its path; '' for a file that cannot be read."""

    def of(path: Path) -> str:
        try:
            return hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            return ""

    return {str(path): of(path) for path in paths}


def included_files(work: Path, known: Iterable[Path], folders: Sequence[str]) -> list[Path]:
    """The files that kernel files include, from the compiler's lists (-MD) in the folder `work`.

    Leaves out the files `known` and the files below `folders`, which other parts of the key cover.
    """
    own = set(known)
    found: dict[Path, None] = {}
    for listing in sorted(work.glob("*.d")):
        text = re.split(r"\.o\s*:", os.fsdecode(listing.read_bytes()).replace("\\\n", " "), maxsplit=1)[-1]
        for name in _DEPENDENCY.findall(text):
            path = Path(os.path.normpath(Path.cwd() / re.sub(r"\\([\s#:])", r"\1", name).replace("$$", "$")))
            if not str(path).startswith((*folders, f"{work}/")) and path not in own:
                found[path] = None
    return [p for p in found if p.is_file()]


def other_candidates(own: Sequence[Path], headers: Iterable[Path], flags: Sequence[str]) -> list[Path]:
    """The files that the compiler would include in place of others, or in addition, if they existed.

    These are all names in the directives of the files `own` and of thnn's `headers`, in every folder in which the
    compiler searches, except thnn's and the system's. Names that macros put together are missing. `flags` are
    the caller's flags.
    """
    names = dict.fromkeys(operands(flags, ("-include", "-imacros")))
    for path in (*own, *headers):
        with suppress(OSError):
            text = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
            names.update(dict.fromkeys(_NAME.findall(text)))
    searched = [*operands(flags, ("-I", "-iquote", "-isystem", "-idirafter"))]
    for variable in _INCLUDE_SEARCH:
        if folders := os.environ.get(variable):
            searched += folders.split(os.pathsep)
    places = dict.fromkeys(
        [*(path.parent for path in own), *(Path(folder).absolute() for folder in searched)]
    )
    left_out = (*SYSTEM, *(f"{folder}/" for folder in (kernel_headers()[0].parent, kernel_headers()[1])))
    found = dict.fromkeys(os.path.normpath(place / name) for place in places for name in names)
    return [path for path in map(Path, found) if path not in own and not str(path).startswith(left_out)]


def installed_headers() -> list[Path]:
    core, generic = kernel_headers()
    folders = [core / name for name in ("runtime", "simd", "elementwise")]
    headers = [path for folder in folders for path in sorted(folder.glob("*.h"))]
    return [*headers, core / "runtime" / "function_table.c", generic / "pointwise.h"]


def identity(paths: Iterable[Path]) -> str:
    """Path, size and time of each file: reading the files or asking the compiler for its version would take longer."""
    return repr([(str(p), (s := p.stat()).st_size, s.st_mtime_ns) for p in paths])


@cache
def _cpu() -> str:
    """The instruction sets that the CPU has, which -march=native uses."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    wanted = ("model name", "flags", "Features", "CPU part")
    return "\n".join(dict.fromkeys(line + " " for line in lines if line.startswith(wanted)))
