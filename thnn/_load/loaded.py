"""``thnn.load``: the functions of a custom header, as differentiable classes and backends."""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from thnn._binding.backend import Backends
from thnn._binding.device import EMULATION, device_library
from thnn._binding.library import Library
from thnn._classes import Registry
from thnn._derivatives.rule import Reference
from thnn._emit.python import emit_stubs
from thnn._functions.base import FunctionBase
from thnn._functions.generate import _make_function_class, _make_function_class_criterion
from thnn._header import Function, Module, digest, group_modules
from thnn._load.cache import cache_folder, keep_text, unusable
from thnn._load.compiling import build, compile_into, digest_of_sources, is_edited
from thnn._load.cuda import open_cuda_library
from thnn._load.parsing import parse
from thnn._load.recipe import Recipe, find_compiler, find_sources, hashes
from thnn._load.sanitizing import check_sanitized
from thnn._spelling import did_you_mean

if TYPE_CHECKING:
    from thnn.testing.cases.model import Case

Path_ = str | os.PathLike[str]


def _make(
    name: str, library: Library, references: Mapping[str, Reference], module: Module
) -> type[FunctionBase]:
    """The class of a module of a loaded header with this name."""
    make = _make_function_class_criterion if module.is_criterion else _make_function_class
    cls = make(module, library=library, reference=references.get(module.name))
    cls.__module__ = name
    cls.__reduce__ = _reduce  # type: ignore[method-assign, assignment]
    return cls


def _reduce(function: FunctionBase) -> tuple[Any, ...]:
    """`__reduce__` of the objects: a pickle refers to the class by its name in the package."""
    cls = type(function)
    if getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is not cls:
        raise TypeError(
            f"{cls.__name__}: cannot be pickled, since no module that another process could import has this class of"
            " thnn.load; make a package of the header (python -m thnn new NAME --package)"
        )
    return FunctionBase.__reduce__(function)


class LoadedModule(Registry):
    """The functions of a header that `load` compiled: a class per module as an attribute, ``XFunction``.

    `modules` and `functions` are the model of the header by name, `function_classes` the classes by name,
    `type2backend` the C functions by tensor type, `header` and `sources` the files, `library` the path of the library,
    and `source` the C code. After an edit they still describe this build; call `load` again for the new code.
    """

    def __init__(
        self,
        name: str,
        header: Path,
        sources: Sequence[Path],
        functions: Sequence[Function],
        library: Library,
        references: Mapping[str, Reference],
        recipe: Recipe | None = None,
    ) -> None:
        self.__name__ = name
        self.header, self.sources = header, tuple(sources)
        by_name = {f.name: f for f in functions}
        make = functools.partial(_make, name, library, references)
        super().__init__(by_name, group_modules(functions), library, Backends(library, by_name), make)
        self.library = library.path
        self._recipe, self._references = recipe, references
        # Read now: the files may be edited later.
        texts = [p.read_text(encoding="utf-8", errors="replace") for p in (header, *self.sources)]
        self.source = "\n".join(f"/* {p} */\n{text}" for p, text in zip((header, *self.sources), texts))
        # Exported programs name operators, and find them only in a library built from the same sources.
        stem = re.sub(r"[^0-9A-Za-z_]", "_", name)
        library.operator_namespace = f"thnn_{stem}_{digest_of_sources(library)}"

    def __getattr__(self, name: str) -> type[FunctionBase]:
        if name.startswith("_") or "function_classes" not in self.__dict__:
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        if name not in self.function_classes:
            hint = did_you_mean(f"{name.removesuffix('Function')}Function", self.function_classes)
            raise AttributeError(f"{self!r} has no attribute {name!r}{hint}")
        cls = self.function_classes[name]
        self.__dict__[name] = cls
        return cls

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.function_classes})

    def __repr__(self) -> str:
        return f"<thnn.load {self.__dict__.get('__name__')!r}: {', '.join(self.__dict__.get('modules', ()))}>"

    def __copy__(self) -> LoadedModule:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} cannot be pickled or copied deeply; call thnn.load again instead")

    def stubs(self, path: Path_) -> Path:
        """Writes a stub file (.pyi) with the signatures of the classes for type checkers; returns its path."""
        target = Path(path)
        banner = f'"""Generated by thnn.load from {self.header.name}."""\n'
        target.write_text(emit_stubs([*self.functions.values()], banner), encoding="utf-8")
        return target

    @property
    def case_file(self) -> Path:
        """The file of cases beside the header. Raises ValueError for functions that were loaded from text."""
        if self._recipe is not None and self._recipe.shown:
            raise ValueError(
                f"{self!r} was loaded from text, which has no file of cases: to check it, write the header and the"
                " kernel to files, too"
            )
        return self.header.with_name(f"{self.header.stem}_case.py")

    def cases(self) -> Mapping[str, Case]:
        """The cases in the file <header>_case.py beside the header, by the name of their module or function.

        Raises ValueError if there is no such file, as for functions that were loaded from text.
        """
        from thnn.testing.cases import cases_of

        return cases_of(self)

    @property
    def has_reversed_tasks(self) -> bool:
        return self._recipe is not None

    @functools.cached_property
    def reversed_tasks(self) -> LoadedModule:
        assert self._recipe is not None
        recipe, functions = replace(self._recipe, reversed_tasks=True), [*self.functions.values()]
        path = build(recipe, functions, compile_into)
        if path is None:
            raise ValueError(f"{self.header} or a kernel file was edited; call thnn.load again")
        return LoadedModule(self.__name__, self.header, (), functions, Library(path), self._references)

    def check(self, modules: Sequence[str] = (), sanitize: bool = False, device: str = "cpu") -> bool:
        """Checks the functions against their cases as ``python -m thnn check`` does, and prints the results.

        Checks values, gradients (against finite differences), layouts, meta tensors, overlapping memory, threads, large
        and special numbers and wrong arguments of the named modules, or of all. `sanitize`: the functions run in a
        separate process, compiled with AddressSanitizer and UndefinedBehaviorSanitizer, also with tensors that end or
        begin at a page without access and with meta tensors. `device`: cpu or, without `sanitize`, cuda. Returns
        whether everything passed. Raises ValueError without a file of cases, for an unknown module and for a missing
        device, and the errors of a first call with a CUDA tensor (`load`).
        """
        if unknown := [n for n in modules if n not in self.modules]:
            raise ValueError(f"{self!r} has no module {unknown[0]!r}")
        if sanitize:
            if device != "cpu":
                raise ValueError(f"{self!r}: device: expected cpu with sanitize, got {device}")

            _existing(self.header, "header")
            if self._recipe is None:
                raise ValueError(f"{self!r}: sanitize needs the kernel files, which only thnn.load compiles")
            self.cases()  # raises its errors in this process
            return check_sanitized(self._recipe, modules)
        from thnn.testing.check import main

        return main(modules, registry=self, device=device) == 0

    def bench(self, rounds: int = 15, device: str = "cpu") -> None:
        """Times the benchmark rows of the cases against torch on a device, cpu or cuda, and prints them.

        Raises ValueError without a file of cases and for a missing device; a first call with a CUDA tensor may raise
        the errors of `load`.
        """
        from thnn.testing.bench import bench_loaded

        bench_loaded(self, rounds, device)


def load(
    header: Path_,
    sources: Sequence[Path_] | Path_ | None = None,
    name: str | None = None,
    extra_cflags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    verbose: bool = False,
    references: Mapping[str, Reference] | None = None,
    extra_cuda_cflags: Sequence[str] = (),
    source: str | None = None,
) -> LoadedModule:
    """Compiles the kernels of a header, and returns an object with a differentiable class per module.

    `sources` are the kernel files, by default <header>.c and <Module>.c beside the header, and <header>.cu and
    <Module>.cu for CUDA. The C files are compiled by $CC, cc, gcc or clang for this CPU, unless the cache (THNN_CACHE,
    otherwise ~/.cache/thnn) has the library already; after an edit another call compiles the new code, and objects of
    the old code go on working. `extra_cflags` and `extra_ldflags` are added to the compiler's and linker's commands,
    and `verbose` prints why something is compiled and the compiler's warnings. `references` maps modules to the same
    functions in torch operations, called with the arguments of updateOutput by name; second derivatives come from the
    reference.

    CUDA tensors are computed by the .cu files, and by C files that consist only of lines of pointwise.h. nvcc compiles
    them for the GPUs of the machine, with `extra_cuda_cflags`, at the first call with a CUDA tensor. That call raises
    CompileError with nvcc's output, ValueError if a file was edited after `load`, and NotImplementedError without nvcc
    or kernels for CUDA. With THNN_CUDA_EMULATE=1, `load` compiles these kernels for the CPU, where they compute in
    place of the C files.

    With `source`, the text of a kernel file in C, `header` is the text of a header. Errors call them <header> and
    <source>. The returned object is then named after the first module, otherwise after the header's file.

    Raises HeaderError (a ValueError) for an error in the header, CompileError (a ValueError) with the compiler's
    output, ValueError for a file that is missing or cannot be read, a reference that has no module, or a cache
    (THNN_CACHE) that cannot be written, TypeError for an argument of another type.
    """
    path = None
    while path is None:  # again if a file is edited meanwhile
        recipe, functions = _recipe(
            header, sources, name, extra_cflags, extra_ldflags, cuda_cflags=extra_cuda_cflags, text=source
        )
        known = _checked(references, recipe.with_names(recipe.header.name), functions)
        path = build(recipe, functions, compile_into, verbose)
    library = Library(path)
    library.open_device_library = functools.partial(open_cuda_library, library, recipe, functions, verbose)
    if EMULATION:
        device_library(library)  # now, since calls would succeed without it and never open it
    files = (*recipe.sources, *recipe.cuda_sources)
    return LoadedModule(recipe.name, recipe.header, files, functions, library, known, recipe)


def build_library(
    header: Path_,
    output: Path_,
    sources: Sequence[Path_] | Path_ | None = None,
    march: str = "native",
    extra_cflags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
) -> Path:
    """Compiles the kernels of a header into the file `output`, for a package; returns its path.

    `march` is the instruction set, native or a portable one such as x86-64-v3. Raises like `load`.
    """
    target = Path(output).absolute()
    _check_encodable("thnn.build_library: output", str(target))
    if not target.parent.is_dir():
        raise ValueError(f"thnn.build_library: output: there is no folder {target.parent}")
    while True:
        recipe, functions = _recipe(header, sources, None, extra_cflags, extra_ldflags, march)
        try:
            with tempfile.TemporaryDirectory(prefix=".build-", dir=target.parent) as work:
                started = Path(work).stat().st_ctime_ns
                compiled, included = compile_into(recipe, functions, Path(work))
                if not is_edited(recipe, included, started):
                    compiled.replace(target)
                    return target
        except OSError as error:  # a full disk, a folder in the place of the file
            raise ValueError(
                f"thnn.build_library: output: {target} cannot be written ({error.strerror})"
            ) from error


def open_library(
    header: Path_, library: Path_, name: str | None = None, references: Mapping[str, Reference] | None = None
) -> LoadedModule:
    """The functions of a library that `build_library` compiled from the header; nothing is compiled for the CPU.

    The kernels for CUDA tensors beside the header are compiled as by `load`, when the first CUDA tensor comes. Raises
    HeaderError for an error in the header, ImportError for a file that is not a library of these declarations,
    ValueError for a path that cannot be encoded.
    """
    path = _existing(header, "header")
    _check_encodable("thnn.open_library: library", os.fspath(library))
    functions, _ = parse(path)
    known = _checked(references, path.name, functions)
    opened = Library(Path(library).absolute())
    if opened.digest != digest(functions):
        raise ImportError(f"{opened.path} was built from another header than {path}")

    def open_device_library() -> Library | None:
        recipe, _ = _recipe(path, None, None, (), ())
        return open_cuda_library(opened, recipe, functions, verbose=False)

    opened.open_device_library = open_device_library
    if EMULATION:
        device_library(opened)
    return LoadedModule(name or path.stem, path, (), functions, opened, known)


def _recipe(
    header: Path_,
    sources: Sequence[Path_] | Path_ | None,
    name: str | None,
    cflags: Sequence[str],
    ldflags: Sequence[str],
    march: str = "native",
    cuda_cflags: Sequence[str] = (),
    text: str | None = None,
) -> tuple[Recipe, list[Function]]:
    shown: tuple[tuple[Path, str], ...] = ()
    if text is not None:
        path, kernel = _of_text(header, text, sources)
        sources, shown = kernel, ((path, "<header>"), (kernel, "<source>"))
    else:
        path = _existing(header, "header")
    if name is not None and not isinstance(name, str):
        raise TypeError(f"thnn.load: name: expected a string, got {name!r}")
    given = {"extra_cflags": cflags, "extra_ldflags": ldflags, "extra_cuda_cflags": cuda_cflags}
    for argument, flags in given.items():
        if not isinstance(flags, Sequence) or not all(isinstance(flag, str) for flag in flags):
            raise TypeError(f"thnn.load: {argument}: expected a sequence of strings, got {flags!r}")
        if isinstance(flags, str):
            raise TypeError(f"thnn.load: {argument}: expected a sequence of flags, got the string {flags!r}")
        if any("\0" in flag for flag in flags):
            raise ValueError(f"thnn.load: {argument}: expected flags without NUL, got {flags!r}")
        for flag in flags:
            _check_encodable(f"thnn.load: {argument}", flag)
    functions, header_hash = parse(path, shown[0][1] if shown else None)
    if sources is None:
        files = find_sources(path, functions)
    elif isinstance(sources, (str, os.PathLike)):
        files = [_existing(sources, "sources")]
    elif isinstance(sources, Sequence):
        files = [_existing(s, "sources") for s in sources]
    else:
        raise TypeError(f"thnn.load: sources: expected a path or a sequence of paths, got {sources!r}")
    if not files:
        raise ValueError("thnn.load: sources: expected a kernel file or more, got none")
    for file in files:
        if [f.resolve() for f in files].count(file.resolve()) > 1:
            raise ValueError(f"thnn.load: sources: expected each file once, got {file} twice")
        if file.suffix not in (".c", ".cu"):
            raise ValueError(f"{file}: expected a C file (.c) or a CUDA source (.cu)")
    own = tuple(file for file in files if file.suffix == ".c")
    cuda = tuple(file for file in files if file.suffix == ".cu")
    if not own:
        raise ValueError(
            f"{cuda[0]}: expected a C file, too, which checks the arguments (docs/own-functions.md#cuda): write"
            f" {cuda[0].with_suffix('.c').name}"
        )
    stem = name if name is not None else functions[0].module if shown else path.stem
    if not stem.isidentifier():
        raise ValueError(f"thnn.load: name: expected an identifier, got {stem!r}")
    compiler = find_compiler()
    recipe = Recipe(path, header_hash, own, stem, compiler, tuple(cflags), tuple(ldflags), march)
    loaded = tuple(hashes([path, *own, *cuda]).items())
    recipe = replace(recipe, cuda_sources=cuda, cuda_cflags=tuple(cuda_cflags), shown=shown)
    return replace(recipe, loaded_hashes=loaded), functions


def _of_text(header: object, source: object, sources: object) -> tuple[Path, Path]:
    """The texts of a header and a kernel file as files in the cache."""
    if sources is not None:
        raise ValueError(
            "thnn.load: expected one of source, the text of a kernel file, and sources, got both"
        )
    for argument, value in (("header", header), ("source", source)):
        if not isinstance(value, str):
            raise TypeError(f"thnn.load: {argument}: expected a text, as source is given, got {value!r}")
        if any("\ud800" <= c <= "\udfff" for c in value):
            raise ValueError(f"thnn.load: {argument}: the text has characters that UTF-8 does not have")
    assert isinstance(header, str) and isinstance(source, str)
    try:
        return keep_text(header, source)
    except OSError as error:  # a full disk
        raise unusable(cache_folder(), error.strerror or str(error)) from error


def _check_encodable(name: str, text: str) -> None:
    """Raises ValueError for a text with characters that neither a file nor a flag can have."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise ValueError(f"{name}: {text!r} has characters that UTF-8 does not have") from None


def _existing(path: Path_, argument: str) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise TypeError(f"thnn.load: {argument}: expected a path (str or Path), got {path!r}")
    try:
        found = Path(path).absolute()
    except OSError as error:  # a relative path where the working directory was removed
        raise ValueError(f"thnn.load: {argument}: {os.fspath(path)!r}: {error.strerror}") from None
    try:
        str(found).encode()
    except UnicodeEncodeError:
        raise ValueError(f"thnn.load: {argument}: the path {str(found)!r} is not UTF-8") from None
    if "\n" in str(found) or "\0" in str(found):
        is_text = argument == "header" and "\n" in str(found)
        hint = "; a header as text needs the text of its kernel, source, too" if is_text else ""
        raise ValueError(f"thnn.load: {argument}: the path {str(path)[:80]!r} has a line break or NUL{hint}")
    is_wrong = argument == "header" and found.suffix in (".c", ".cu")
    try:
        is_file = found.is_file()
    except OSError as error:  # a path that is too long
        raise ValueError(f"thnn.load: {argument}: {error.strerror}: {found}") from None
    if is_wrong or not is_file:
        wrong = f"expected a header, got {found}" if is_wrong else f"there is no file {found}"
        if found.is_dir():
            wrong = f"expected a file, got the folder {found}"
        header = found.parent / f"{found.stem}.h"
        hint = f"; did you mean {header.name}?" if argument == "header" and header.is_file() else ""
        raise ValueError(f"thnn.load: {argument}: {wrong}{hint}")
    return found


def _checked(
    references: Mapping[str, Reference] | None, header: str, functions: Sequence[Function]
) -> Mapping[str, Reference]:
    modules = group_modules(functions)
    references = {} if references is None else references
    if not isinstance(references, Mapping):
        raise TypeError(
            f"thnn.load: references: expected a mapping of modules to functions, got {references!r}"
        )
    for name in references:
        if not callable(references[name]):
            raise TypeError(f"thnn.load: references: {name}: expected a function, got {references[name]!r}")
        module = modules.get(name)
        forward = None if module is None else module.forward
        if forward is None:
            raise ValueError(f"thnn.load: references: {header} has no module {name!r} that has a class")
        if any(a.role == "generator" for a in forward.arguments):
            raise ValueError(
                f"thnn.load: references: {name} draws random numbers, which no reference can repeat"
            )
        if len(forward.tensors("output")) > 1:
            raise ValueError(f"thnn.load: references: {name} has several outputs, expected one")
        _check_signature(name, references[name], forward)
    return references


def _check_signature(name: str, reference: Reference, forward: Function) -> None:
    given = [a.name for a in forward.tensors("input", "target", "parameter")]
    given += [a.variable for a in forward.scalars]
    try:
        signature = inspect.signature(reference)
    except Exception:  # C functions such as torch.tanh have no signature, and objects may fail to give theirs
        return
    try:
        signature.bind(**dict.fromkeys(given))
    except TypeError as error:
        raise TypeError(
            f"thnn.load: references: {name}: expected a function of {', '.join(given)}, got one of {signature}: {error}"
        ) from None
