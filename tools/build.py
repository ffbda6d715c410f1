"""Compiles the library and its binding with CMake, and replaces files so that all of them change or none."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

# The binding uses Python's limited API: one serves every Python from 3.10 on. Free-threaded Pythons lack that API: each
# version of them needs another binding.
IS_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
BINDING = "_C" + (sysconfig.get_config_var("EXT_SUFFIX") if IS_FREE_THREADED else ".abi3.so")
LIBRARIES = ("libTHNN.so", BINDING, "libroofline.so")

# The objects that are compiled first: one variant of the kernel files of generic/ suffices to find missing kernels.
_FIRST_OBJECTS = re.compile(r"^(\S+/kernels_float_default\.dir/generic/\S+\.o):", re.MULTILINE)
_KERNEL = re.compile(r" T _?THNN_Float(\w+)_default$", re.MULTILINE)
_UNDEFINED = re.compile(r"undefined reference to `THNN_(?:Float|Double)(\w+_\w+)_(?:default|avx2|avx512)'")
_NINJA_STATUS = re.compile(r"\[(\d+/\d+)\] (?:Building C object (?:\S*/)?(\w+)\.dir/(\S+)\.(?:o|gch)$)?")
_INTERVAL = 3  # seconds between lines; with the compilation of one file, less than five


class BuildError(Exception):
    """CMake or the compiler failed; the text is their output."""


class Progress:
    """Shows the current step on the last line of a terminal. If standard error is no terminal, it gets the steps of a
    long build, one every few seconds."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._printed = time.monotonic()

    def show(self, step: str) -> None:
        if self._is_terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{step[:width]}", end="", file=sys.stderr, flush=True)
        elif sys.stderr is not None and step and (now := time.monotonic()) - self._printed >= _INTERVAL:
            self._printed = now
            print(step, file=sys.stderr, flush=True)

    def clear(self) -> None:
        self.show("")


@contextmanager
def lock(root: Path) -> Iterator[None]:
    """Holds a lock on a source tree during a build; a second process waits for the first."""
    (root / "build").mkdir(parents=True, exist_ok=True)
    with (root / "build" / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another build of this tree", file=sys.stderr)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build(
    root: Path, output: Path, cmake_arguments: Sequence[str] = (), directory: Path | None = None
) -> list[str]:
    """Compiles the library and copies it into `output`; returns the names of the files that changed."""
    directory = directory or root / "build" / "cmake"
    progress = Progress()
    with lock(root):
        compile_libraries(root, directory, cmake_arguments, progress=progress)
        changed = changed_libraries(directory, output)
        replace_together(changed)
    return [path.name for path in changed]


def compile_libraries(
    root: Path,
    directory: Path,
    cmake_arguments: Sequence[str] = (),
    functions: Iterable[str] = (),
    progress: Progress | None = None,
) -> None:
    """Brings the libraries in `directory` up to date; a missing kernel of one of `functions` is reported early."""
    progress = progress or Progress()
    try:
        cmake = configure(root, directory, cmake_arguments, progress)
        command = [cmake, "--build", str(directory), "--parallel", str(os.cpu_count() or 1)]
        _check_kernels(directory, command, functions, progress)
        _run(command, progress)
    finally:
        progress.clear()


def configure(
    root: Path, directory: Path, cmake_arguments: Sequence[str] = (), progress: Progress | None = None
) -> str:
    """Runs CMake's configure step in `directory` unless it has been run; returns the path of cmake."""
    root = root.resolve()
    progress = progress or Progress()
    cmake, ninja = _tool("cmake"), _tool("ninja")
    if cmake is None:
        raise BuildError("cmake is not installed (pip install cmake)")
    generator = "Ninja" if ninja else "Unix Makefiles"
    settings = [
        f"-DPython3_EXECUTABLE={sys.executable}",
        f"-DTHNN_BINDING_NAME={BINDING}",
        *([f"-DCMAKE_MAKE_PROGRAM={ninja}"] if ninja else []),
    ]
    command = [cmake, "-G", generator, "-S", str(root), "-B", str(directory), *settings, *cmake_arguments]
    configured, cache = directory / "configured", directory / "CMakeCache.txt"
    if cache.exists():
        # The build reruns CMake if a CMake file changes. CMake rejects a build directory that was configured for
        # another source directory or generator.
        if _read(configured) == "\n".join(command):
            return cmake
        known = {f"CMAKE_HOME_DIRECTORY:INTERNAL={root}", f"CMAKE_GENERATOR:INTERNAL={generator}"}
        if not known <= set(_read(cache).splitlines()):
            shutil.rmtree(directory)
    directory.mkdir(parents=True, exist_ok=True)
    configured.unlink(missing_ok=True)
    progress.show("configuring with CMake")
    _run(command, progress)
    configured.write_text("\n".join(command), encoding="utf-8")
    return cmake


def cmake_build(cmake: str, directory: Path, progress: Progress) -> None:
    """Builds the default target of a configured directory."""
    _run([cmake, "--build", str(directory), "--parallel", str(os.cpu_count() or 1)], progress)


def changed_libraries(directory: Path, output: Path) -> dict[Path, Path]:
    """The libraries that differ from those in `output`, as target -> source."""
    pairs = {output / name: directory / name for name in LIBRARIES}
    return {
        old: new for old, new in pairs.items() if not old.exists() or old.read_bytes() != new.read_bytes()
    }


def replace_together(contents: Mapping[Path, str | Path | None]) -> None:
    """Gives files new contents, all or none: a text, the content of another file, or None to delete the file.

    Everything is on the disk before the first file is replaced. Processes that have a library mapped keep the old one.
    """
    begun: list[Path] = []
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            new, old = _beside(path)
            old.unlink(missing_ok=True)
            if isinstance(content, Path):
                _copy(content, new)
            elif content is not None:
                new.write_text(content, encoding="utf-8")
            if path.exists():
                _copy(path, old)
        for path, content in contents.items():
            begun.append(path)
            if content is None:
                path.unlink(missing_ok=True)
            else:
                _beside(path)[0].replace(path)
    except BaseException:
        for path in begun:
            old = _beside(path)[1]
            if old.exists():
                old.replace(path)
            else:
                path.unlink(missing_ok=True)
        raise
    finally:
        for path in contents:
            for leftover in _beside(path):
                with suppress(OSError):
                    leftover.unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    shutil.copymode(source, target)


def _beside(path: Path) -> tuple[Path, Path]:
    """The paths of the temporary files with the new and the old content while a file is being replaced."""
    return path.with_name(f".{path.name}.new"), path.with_name(f".{path.name}.old")


def _check_kernels(
    directory: Path, command: Sequence[str], functions: Iterable[str], progress: Progress
) -> None:
    """Raises BuildError with the functions that no kernel file defines, after compiling one variant of those files."""
    ninja, nm, names = _tool("ninja"), _tool("nm"), set(functions)
    if ninja is None or nm is None or not names:
        return
    _run([*command, "--target", "build.ninja"], progress)  # finds new kernel files
    objects = _FIRST_OBJECTS.findall(_run([ninja, "-C", str(directory), "-t", "targets", "all"], progress))
    if not objects:
        return
    _run([*command, "--target", *objects], progress)
    symbols = _run([nm, "-g", "--defined-only", *(str(directory / name) for name in objects)], progress)
    if missing := names - {*_KERNEL.findall(symbols)}:
        raise BuildError(_without_kernels(missing))


def _without_kernels(names: Iterable[str]) -> str:
    return "\n".join(
        f"{name}: declared in THNN.h, and no file of generic/ defines THNN_({name})" for name in sorted(names)
    )


def _tool(name: str) -> str | None:
    """The path of a program: from a package of this Python if it is there, otherwise from PATH."""
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return shutil.which(name, path=os.pathsep.join(places))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _run(command: Sequence[str], progress: Progress) -> str:
    """Runs a command, shows what ninja is compiling, and returns the output; raises BuildError if the command fails."""
    lines: list[str] = []
    with subprocess.Popen(
        command,
        env={**os.environ, "NINJA_STATUS": "[%f/%t] "},
        encoding="utf-8",
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                status = _NINJA_STATUS.match(line)
                if status is None:
                    lines.append(line)
                elif status[2]:
                    progress.show(f"compiling {status[1]}: {status[3]} ({status[2]})")
                else:
                    progress.show(f"building {line.strip()}")
        except BaseException:
            process.terminate()
            raise
    output = "".join(lines)
    if process.returncode != 0:
        missing = set(_UNDEFINED.findall(output))
        raise BuildError(_without_kernels(missing) if missing else output.strip())
    return output
