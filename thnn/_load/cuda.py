"""The kernels of a header for CUDA tensors, compiled by nvcc into a separate library.

The library for the CPU has the checks. The library for CUDA has a table of the same functions
(lib/THCUNN/function_table.cu), each of which runs the checks, then the kernel. It is compiled when a function first
gets a CUDA tensor, so that users who compute on the CPU do not wait for nvcc, which takes seconds.

With THNN_CUDA_EMULATE=1, the C++ compiler compiles the same files for the CPU (lib/THCUNN/emulation), when the header
is loaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from thnn._binding.device import EMULATION
from thnn._binding.library import Library, MissingCall
from thnn._header import Function, group_modules
from thnn._load.compiling import build, readable, run_compilers, write_declarations
from thnn._load.prototypes import check_tensor_types
from thnn._load.recipe import (
    SYSTEM,
    CompileError,
    Compiler,
    Recipe,
    first_compiler,
    flags_of_kinds,
    hashes,
    identity,
    included_files,
    installed_headers,
    kernel_headers,
    library_path,
    other_candidates,
    run_compiler,
)
from thnn._nvcc import find_nvcc

TYPES = ("FLOAT", "DOUBLE", "HALF", "BFLOAT16")
_WARNINGS = ("-Wno-unknown-pragmas", "-Wno-unused-parameter", "-Wno-missing-field-initializers")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_SIGNATURE = re.compile(r"^THCUNN_Float(\w+)\((.*)\) [Tw]\b", re.MULTILINE)


@dataclass(frozen=True)
class CudaRecipe:
    """Everything that determines the CUDA library of a header, or its emulation."""

    host: Recipe
    host_library: Path  # checks the arguments
    kernels: tuple[Path, ...]
    compiler: Compiler
    architectures: tuple[str, ...]  # such as "90", for compute capability 9.0; none in emulation

    @property
    def header(self) -> Path:
        return self.host.header

    @property
    def header_hash(self) -> str:
        return self.host.header_hash

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.header, *self.kernels)

    @property
    def name(self) -> str:
        return f"{self.host.name}-{'cuda' if self.architectures else 'emulation'}"

    @property
    def sanitize(self) -> bool:
        return self.host.sanitize

    def with_names(self, text: str) -> str:
        return self.host.with_names(text)

    def other_candidates(self, included: Sequence[Path]) -> list[Path]:
        return other_candidates((*self.files, *included), _headers(), self.host.cuda_cflags)

    def flags(self) -> list[str]:
        """The flags of the compiler, including the caller's."""
        own = self.host.cuda_cflags
        if self.architectures:
            codes = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in self.architectures]
            # -O1 is for the code of the host; kernels are optimized by default.
            given = ",".join(("-fPIC", "-fvisibility=hidden", *_WARNINGS))
            return ["-std=c++17", "--extended-lambda", "-O1", *codes, f"-Xcompiler={given}", *own]
        flags = ["-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-pipe", "-Wall", "-Wextra", *_WARNINGS]
        if not self.compiler.is_clang:
            flags += ["-Wno-subobject-linkage", "-ftrack-macro-expansion=0"]
        if self.sanitize:
            flags += ["-g", "-fno-omit-frame-pointer"]
            flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
        # The caller's flags are meant for nvcc; a C++ compiler takes only these kinds, too.
        return [*flags, "-O1", "-DTHCUNN_EMULATE", *flags_of_kinds(own, ("-D", "-U", "-I"))]

    def parts(self) -> dict[str, str]:
        version = run_compiler([*self.compiler.command, "--version"]).stdout if self.architectures else ""
        return {
            **hashes([*self.kernels, self.host_library]),
            str(self.header): self.header_hash,
            "the flags": repr((self.flags(), self.files)),
            "the compiler": repr((self.compiler.command, identity([self.compiler.path]), version)),
            "the headers of thnn": identity(_headers()),
        }


def _folder() -> Path:
    """The folder lib/THCUNN."""
    return kernel_headers()[0].with_name("THCUNN")


def _headers() -> list[Path]:
    folders = [_folder() / name for name in ("runtime", "simd", "elementwise", "emulation")]
    own = [path for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
    return [*installed_headers(), _folder() / "function_table.cu", *own]


def cuda_kernels(recipe: Recipe) -> list[Path]:
    """The files that are compiled for CUDA: the CUDA sources, and C files with functions of pointwise.h only."""
    stems = {path.stem for path in recipe.cuda_sources}
    found = [p for p in recipe.sources if p.stem not in stems and _has_lines_only(p)]
    return [*recipe.cuda_sources, *found]


def _has_lines_only(source: Path) -> bool:
    text = _COMMENT.sub("", source.read_text(encoding="utf-8", errors="replace"))
    return '"pointwise.h"' in text and "THNN_(" not in text


def open_cuda_library(
    host: Library, recipe: Recipe, functions: Sequence[Function], verbose: bool
) -> Library | None:
    """The CUDA library of a loaded header, from the cache or compiled; from now on it computes CUDA tensors.

    With THNN_CUDA_EMULATE: the emulation, or None if the header has no kernels to emulate. Raises CompileError,
    ValueError if a file was edited since the header was loaded, and, except in emulation, NotImplementedError without
    nvcc or kernels for CUDA.
    """
    _check_unchanged(recipe)  # even without nvcc
    own = cuda_recipe(recipe, host.path)
    if own is None:
        return None
    while True:  # again if a file that the kernels include is edited meanwhile
        _check_unchanged(recipe)
        path = build(own, functions, compile_cuda, verbose)
        if path is not None:
            break
    return set_device_library(host, path, own.kernels)


def set_device_library(host: Library, path: Path, kernels: Sequence[Path]) -> Library:
    """Opens the CUDA library of a library; a function that it lacks raises NotImplementedError."""
    library = Library(path)
    names = ", ".join(p.name for p in kernels)

    def refuse(calls: Sequence[MissingCall]) -> None:
        name = calls[0][0]
        raise NotImplementedError(
            f"{name}: none of the kernel files for CUDA ({names}) defines THNN_({name})"
        )

    library.compute_for(host, refuse)
    return library


def _check_unchanged(recipe: Recipe) -> None:
    now = {**hashes(recipe.files)}
    for path, loaded in recipe.loaded_hashes:
        if now[path] != loaded:
            raise ValueError(f"{path} was edited after thnn.load compiled it; call thnn.load again")


def cuda_recipe(recipe: Recipe, host_library: Path) -> CudaRecipe | None:
    """The recipe of the CUDA library for the GPUs of this machine, or of the emulation.

    None if the header has no kernels to emulate. Raises NotImplementedError without nvcc or kernels for CUDA.
    """
    kernels = tuple(cuda_kernels(recipe))
    if EMULATION:
        return CudaRecipe(recipe, host_library, kernels, find_cxx(), ()) if kernels else None
    if not kernels:
        wanted = ", ".join(path.with_suffix(".cu").name for path in recipe.sources)
        raise NotImplementedError(
            f"{recipe.header}: there are no kernels for CUDA tensors; write them beside the C file ({wanted})"
        )
    architectures = gpu_architectures()
    nvcc = find_nvcc(architectures)
    if nvcc is None:
        raise NotImplementedError(
            f"{recipe.header}: the kernels for CUDA tensors need an nvcc for compute capability"
            f" {' and '.join(architectures)}, and none was found in CUDA_HOME, on PATH, in /usr/local/cuda and in"
            " NVIDIA's Python packages: install the CUDA toolkit, or"
            f" pip install 'cuda-toolkit[nvcc,cccl]=={torch.version.cuda}.*'"
        )
    compiler = Compiler((str(nvcc),), nvcc.resolve())
    return CudaRecipe(recipe, host_library, kernels, compiler, architectures)


def gpu_architectures() -> tuple[str, ...]:
    """The compute capabilities of the GPUs that torch finds."""
    devices = {torch.cuda.get_device_capability(i) for i in range(torch.cuda.device_count())}
    return tuple(f"{major}{minor}" for major, minor in sorted(devices))


def find_cxx() -> Compiler:
    """$CXX if it is set, otherwise the first of c++, g++ and clang++ on PATH. Raises CompileError if there is none."""
    chosen = os.environ.get("CXX", "").split()
    compiler = first_compiler([chosen] if chosen else [["c++"], ["g++"], ["clang++"]])
    if compiler is None:
        raise CompileError(
            "THNN_CUDA_EMULATE needs a C++ compiler: install g++ (apt install g++), or set CXX"
        )
    return compiler


def compile_cuda(
    recipe: CudaRecipe, functions: Sequence[Function], work: Path, verbose: bool = False
) -> tuple[Path, list[Path]]:
    """Compiles the library in the empty folder `work`; returns its path, and the files that the kernels include.

    Raises CompileError.
    """
    forced = write_declarations(recipe.header, functions, work)
    thnn, generic = kernel_headers()
    folders = [f"-I{path}" for path in (work, recipe.header.parent, _folder(), thnn, generic)]
    language = "cu" if recipe.architectures else "c++"
    compiler = [*recipe.compiler.command, *recipe.flags(), *folders, "-x", language]
    commands, objects = [], []
    for number, source in enumerate(recipe.kernels):
        for real in TYPES:
            stem = work / f"{number}_{real.lower()}"
            objects.append(stem.with_suffix(".o"))
            dependencies = ["-MMD", "-MF", str(stem.with_suffix(".d"))]
            given = [*forced, *dependencies, f"-DTHNN_REAL_IS_{real}", "-c", str(source)]
            commands.append([*compiler, *given, "-o", str(objects[-1])])
    # The files without kernels: the table of functions, the state of a call, and the emulation.
    table = [
        "function_table.cu",
        "runtime/call.cu",
        *([] if recipe.architectures else ["emulation/cuda.cpp"]),
    ]
    (work / "table.cu").write_text("".join(f'#include "{name}"\n' for name in table), encoding="utf-8")
    commands.append([*compiler, "-c", str(work / "table.cu"), "-o", str(work / "table.o")])
    try:
        run_compilers(commands, verbose)
    except CompileError as error:
        if "calling a __host__ function" not in error.output:
            raise
        advice = "Functions that lines of pointwise.h call begin with THNN_ELEMENT, other functions with __device__."
        raise CompileError(f"{error.output.rstrip()}\n{advice}") from None
    if missing := _missing(recipe, functions, objects, work / "table.o"):
        raise CompileError(missing)

    toolkit = recipe.compiler.path.parent.parent
    # The version of nvcc stands for the headers of its toolkit, which is /usr/local/cuda where nvcc is a script in
    # /usr/local/bin.
    folders = [*SYSTEM, "/usr/local/cuda", *(f"{toolkit}/{name}/" for name in ("targets", "include"))]
    included = included_files(work, (*recipe.files, *_headers()), folders)
    check_tensor_types(functions, (*recipe.kernels, *included))
    output = work / "library.so"
    options = ["-Bsymbolic", *([] if recipe.sanitize else ["--no-undefined"])]
    link = [
        *recipe.compiler.link_command,
        *recipe.flags(),
        "-shared",
        *map(str, objects),
        str(work / "table.o"),
    ]
    if recipe.architectures:
        # NVIDIA's Python packages have the folder lib, where nvcc looks for lib64.
        link += [f"-Xlinker={','.join(options)}", f"-L{toolkit}/lib"]
    else:
        link += [f"-Wl,{','.join(options)}"]
    linked = run_compiler([*link, str(recipe.host_library), str(library_path()), "-o", str(output)])
    if linked.returncode:
        raise CompileError(readable(linked.stdout))
    return output, included


def _missing(recipe: CudaRecipe, functions: Sequence[Function], objects: Sequence[Path], table: Path) -> str:
    """The message for functions without a kernel, '' if there are none. A module may also have no CUDA kernel at
    all."""
    wanted = _arguments("--undefined-only", [table])  # weak references
    defined = _arguments("--defined-only", objects)
    modules = group_modules(functions).values()
    begun = [m for m in modules if any(f.name in defined for f in m.functions.values())] or modules
    names = " or ".join(path.name for path in recipe.kernels)
    lines = []
    for f in (f for module in begun for f in module.functions.values()):
        if f.name not in defined:
            lines.append(
                f"{f.name}: declared at {f.location}, and no kernel file for CUDA ({names}) defines THNN_({f.name})"
            )
        elif defined[f.name] != wanted[f.name]:
            lines.append(
                f"{_place(recipe, f.name)}: THNN_({f.name}) has the arguments ({defined[f.name]}), but is declared at"
                f" {f.location} with ({wanted[f.name]})"
            )
    return "\n".join(lines)


def _arguments(option: str, objects: Sequence[Path]) -> dict[str, str]:
    """The argument types of the functions for float in object files, as C++ spells them, by name."""
    command = ["nm", option, "--demangle", "--portability", *map(str, objects)]
    found = _SIGNATURE.findall(run_compiler(command).stdout)
    return {name: arguments.replace("THNNTensor", "THTensor") for name, arguments in found}


def _place(recipe: CudaRecipe, name: str) -> str:
    """File and line of the definition of a function."""
    for path in recipe.kernels:
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if f"THNN_({name})" in line:
                return f"{path}:{number}"
    return " or ".join(map(str, recipe.kernels))
