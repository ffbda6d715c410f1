"""``python -m thnn doctor``: what this machine lacks for thnn, and the command that installs it.

The command also runs before anything is installed, and with a Python that is too old: functions import what they
examine. ``python -m thnn info`` describes what is in use, and needs the library.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thnn._load.recipe import Compiler

_ROOT = Path(__file__).resolve().parent.parent
_IS_TOO_OLD = sys.version_info < (3, 10)
_PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"

# The commands that install packages.
_INSTALL = {
    "apt": "sudo apt-get install",
    "dnf": "sudo dnf install",
    "conda": "conda install --channel conda-forge",
    "macos": "xcode-select",
}
_PACKAGES = {
    "venv": {"apt": f"{_PYTHON}-venv"},  # elsewhere part of Python's own package
    "Python headers": {"apt": f"{_PYTHON}-dev", "dnf": "python3-devel"},
    "make": {"apt": "make", "dnf": "make", "conda": "make", "macos": "--install"},
    "C compiler": {"apt": "gcc libc6-dev", "dnf": "gcc", "conda": "gcc", "macos": "--install"},
    "C++ compiler": {"apt": "g++", "dnf": "gcc-c++", "conda": "gxx", "macos": "--install"},
    "OpenMP": {"apt": "gcc", "dnf": "gcc", "conda": "gcc"},
}


class Missing(Exception):
    """A fault of the machine, and the command that fixes it, or ""."""

    def __init__(self, fault: str, command: str = "") -> None:
        super().__init__(fault)
        self.fault = fault
        self.command = command


class Need(NamedTuple):
    """A requirement, what needs it, and the function that describes it or raises Missing."""

    name: str
    user: str
    find: Callable[[], str]


def package_manager() -> str:
    """apt, dnf, conda or macos, whichever installs the packages of this Python; "" on another system."""
    if Path(sys.base_prefix, "conda-meta").is_dir():
        return "conda"
    if sys.platform == "darwin":
        return "macos"
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        return ""
    names = {system["ID"], *system.get("ID_LIKE", "").split()}
    return "apt" if "debian" in names else "dnf" if names & {"fedora", "rhel"} else ""


def _missing(name: str, fault: str) -> Missing:
    """The error for an entry of _PACKAGES."""
    manager = package_manager()
    package = _PACKAGES[name].get(manager)
    return Missing(fault, f"{_INSTALL[manager]} {package}" if package else "")


def _by_pip(fault: str, requirement: str) -> Missing:
    """The error for a package of PyPI; `make setup` installs all of them in a source tree without an environment."""
    has_environment = sys.prefix != sys.base_prefix or not (_ROOT / "Makefile").exists()
    return Missing(
        fault, f"{sys.executable} -m pip install {requirement}" if has_environment else "make setup"
    )


def _python() -> str:
    found = f"{platform.python_version()}, {sys.executable}"
    if _IS_TOO_OLD:
        raise Missing(f"{found} is older than 3.10", "make setup PYTHON=a later one, such as python3.12")
    return found


def _venv() -> str:
    if importlib.util.find_spec("ensurepip") is None:
        raise _missing("venv", "there is no module ensurepip")
    return "modules venv and ensurepip"


def _python_headers() -> str:
    path = Path(sysconfig.get_path("include"), "Python.h")
    if not path.exists():
        raise _missing("Python headers", f"there is no {path}")
    return str(path)


def _make() -> str:
    found = shutil.which("make")
    if found is None:
        raise _missing("make", "not on PATH")
    return found


def _compile(command: Sequence[str], language: str, program: str, *libraries: str) -> str:
    """Makes a program with the compiler `command`; returns the first error of the compiler, or ""."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["-x", language, "-", "-o", f"{folder}/program", *libraries]
        done = subprocess.run([*command, *arguments], input=program, text=True, capture_output=True)
    lines = done.stderr.splitlines()
    errors = [line for line in lines if "error" in line] or lines or [f"exit status {done.returncode}"]
    return errors[0] if done.returncode else ""


def _version(command: Sequence[str]) -> str:
    text = subprocess.run([*command, "--version"], text=True, capture_output=True).stdout
    return f"{' '.join(command)}: {text.splitlines()[0] if text else 'of an unknown version'}"


def _compiler() -> Compiler | None:
    from thnn._load.recipe import CompileError, find_compiler

    try:
        return find_compiler()
    except CompileError:
        return None


def _c_compiler() -> str:
    compiler = _compiler()
    if compiler is None:
        chosen = os.environ.get("CC")
        fault = f"CC={chosen} is not a C compiler" if chosen else "none of cc, gcc and clang on PATH"
        raise _missing("C compiler", fault)
    if error := _compile(compiler.command, "c", "#include <stdlib.h>\nint main(void) { return abs(0); }"):
        raise _missing("C compiler", error)
    return _version(compiler.command)


def _cxx_compiler() -> str:
    from thnn._load.recipe import first_compiler

    compiler = first_compiler([["c++"], ["g++"], ["clang++"]])
    if compiler is None:
        raise _missing("C++ compiler", "none of c++, g++ and clang++ on PATH")
    program = "#include <vector>\nint main() { return std::vector<int>().size(); }"
    if error := _compile(compiler.command, "c++", program):
        raise _missing("C++ compiler", error)
    return _version(compiler.command)


def _openmp() -> str:
    if sys.platform == "darwin":
        return "libomp, which torch brings"
    compiler = _compiler()
    if compiler is None:
        raise Missing("there is no C compiler")
    # Without <omp.h>, which the library does not include either.
    program = "int omp_in_parallel(void);\nint main(void) { return omp_in_parallel(); }"
    if error := _compile(compiler.command, "c", program, "-lgomp"):
        raise _missing("OpenMP", error)
    return f"libgomp, for {' '.join(compiler.command)}"


def _cmake() -> str:
    found = shutil.which("cmake", path=str(Path(sys.executable).parent)) or shutil.which("cmake")
    if found is None:
        raise _by_pip("not beside Python and not on PATH", "cmake ninja")
    return found


def _package(name: str) -> str:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        raise _by_pip("not installed", name) from None
    try:
        import_module(name)
    except Exception as error:  # of any kind
        raise Missing(f"{version} cannot be imported: {type(error).__name__}: {error}") from None
    return version


def _torch() -> str:
    version = _package("torch")
    import torch

    return f"{version}, the build for {f'CUDA {torch.version.cuda}' if torch.version.cuda else 'CPUs'}"


def _library() -> str:
    if absent := [name for name in ("torch", "cffi") if importlib.util.find_spec(name) is None]:
        raise Missing(f"it needs {' and '.join(absent)}")
    try:
        from thnn._binding.library import THNN, cpu_capability
    except Exception as error:  # of any kind
        in_tree = (_ROOT / "tools" / "regenerate.py").exists()
        command = f"{sys.executable} -m thnn regenerate" if in_tree else ""
        raise Missing(f"{type(error).__name__}: {error}", command) from None
    return f"{THNN.path}, {cpu_capability()}"


def _cache() -> str:
    from thnn._load.cache import cache_folder, make_cache_folder

    try:
        make_cache_folder()
    except ValueError as error:
        raise Missing(str(error), "export THNN_CACHE=FOLDER") from None
    return str(cache_folder())


def _cuda() -> str:
    if ctypes.util.find_library("cuda") is None:
        return "there is no driver of an NVIDIA GPU, and no need for nvcc"
    _package("torch")
    import torch

    from thnn._binding.device import device_library
    from thnn._nvcc import find_nvcc

    if torch.version.cuda is None:
        version = torch.__version__.partition("+")[0]
        raise _by_pip("torch is the build for CPUs", f"--force-reinstall --no-deps torch=={version}")
    nvcc = find_nvcc()
    if nvcc is None:
        raise _by_pip("there is no nvcc", f"'cuda-toolkit[nvcc,cccl]=={torch.version.cuda}.*'")
    library = device_library()
    if library is None:
        raise Missing("thnn was built without CUDA", f"THNN_CUDA=1 {sys.executable} -m thnn regenerate")
    return f"{library.path}, {nvcc}"


FOR_BUILD: tuple[Need, ...] = (
    Need("Python", "thnn", _python),
    Need("venv", "make setup", _venv),
    Need("Python headers", "a build", _python_headers),
    Need("C compiler", "a build and thnn.load", _c_compiler),
    Need("OpenMP", "a build", _openmp),
    Need("make", "make setup", _make),
)
FOR_USE: tuple[Need, ...] = (
    Need("torch", "thnn", _torch),
    Need("cffi", "thnn", lambda: _package("cffi")),
    Need("pycparser", "thnn", lambda: _package("pycparser")),
    Need("library", "thnn", _library),
)
FOR_MORE: tuple[Need, ...] = (
    Need("cache", "thnn.load", _cache),
    Need("C++ compiler", "torch.compile and make test", _cxx_compiler),
    Need("cmake", "a build", _cmake),
    Need("CUDA", "tensors on the GPU", _cuda),
)


def doctor(for_build: bool) -> int:
    """Prints what is there and what is missing, with the command that installs it.

    `for_build`: only what a build in a source tree needs and pip does not install. Returns 1 if something is
    missing without which `import thnn`, or the build, fails; otherwise 0.
    """
    required = FOR_BUILD if for_build else (FOR_BUILD[0], *FOR_USE)
    others = () if for_build else (*FOR_BUILD[1:], *FOR_MORE)
    if _IS_TOO_OLD:  # the other checks need a newer Python
        required, others = FOR_BUILD[:1], ()
    are_met = [_report(need) for need in required]
    for need in others:
        _report(need)
    return 0 if all(are_met) else 1


def _report(need: Need) -> bool:
    """Prints a line about a need, or two; True if it is met."""
    try:
        print(f"{need.name:<14}  {need.find()}")
    except Missing as missing:
        print(f"{need.name:<14}  MISSING, for {need.user}: {missing.fault}")
        if missing.command:
            print(f"{'':<14}  $ {missing.command}")
        return False
    return True
