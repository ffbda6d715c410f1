"""Generates Python from the header model: the model itself, so that importing needs no parsing, and type stubs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import fields

from thnn._functions.documentation import docstring
from thnn._header import Argument, Function, HeaderError, Module, group_modules, literal

BANNER = '"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""\n'

#: Attributes of a backend, which a function of the same name would hide.
RESERVED_FUNCTIONS = frozenset({"library_state", "register_method"})
#: Names of generated files that do not belong to a family.
RESERVED_FAMILIES = frozenset({"functions", "index"})


def check_families(functions: Sequence[Function]) -> None:
    """Raises HeaderError at the first function without a family, or with one that no file can be named after."""
    for function in functions:
        if not function.family:
            raise HeaderError(
                function.location, f"{function.name} belongs to no family: begin one with [FAMILY name]"
            )
        if function.family in RESERVED_FAMILIES:
            raise HeaderError(function.location, f"no family can be called {function.family!r}")


def check_supported(functions: Sequence[Function]) -> None:
    """Raises HeaderError at the first function or argument whose name cannot be used in Python."""
    for function in functions:
        if function.name in RESERVED_FUNCTIONS:
            raise HeaderError(
                function.location,
                f"no function can be called {function.name!r}, which is an attribute of backends",
            )
        if function.name.startswith("_") or not function.phase:
            raise HeaderError(
                function.location, f"no function can be called {function.name!r}: expected <Module>_<phase>"
            )
        _check_arguments(function)


def _check_arguments(function: Function) -> None:
    seen: set[str] = set()
    for argument in function.arguments:
        name = argument.variable
        if argument.name == "gradOutput" and argument.role != "gradOutput":
            raise HeaderError(argument.location, "only the gradient of the output can be called 'gradOutput'")
        if name in seen:
            raise HeaderError(argument.location, f"two arguments are called {name!r} in Python")
        seen.add(name)


def emit_python(functions: Sequence[Function]) -> dict[str, str]:
    """The files of thnn/_generated: a model and stubs per family, and the packages that collect them."""
    families = list(dict.fromkeys(f.family for f in functions))
    by_family = {name: [f for f in functions if f.family == name] for name in families}
    return {
        "__init__.py": _collection(families),
        "functions/__init__.pyi": BANNER + "".join(f"from .{name} import *\n" for name in families),
        **{f"{name}.py": "".join(_model(members)) for name, members in by_family.items()},
        **{f"functions/{name}.pyi": emit_stubs(members) for name, members in by_family.items()},
    }


def _collection(families: Sequence[str]) -> str:
    lines = [
        BANNER,
        "from thnn._header.model import Function, digest",
        "",
        *(f"from . import {name}" for name in sorted(families)),
        "",
        "#: The functions in the order of the header.",
        "FUNCTIONS: tuple[Function, ...] = (",
        *(f"    *{name}.FUNCTIONS," for name in families),
        ")",
        "DIGEST = digest(FUNCTIONS)",
        "",
    ]
    return "\n".join(lines)


def _model(functions: Sequence[Function]) -> Iterator[str]:
    has_sizes = any(a.size for f in functions for a in f.arguments)
    yield BANNER
    yield f"from thnn._header.model import Argument, Function{', Size' if has_sizes else ''}\n\n"
    yield "A, F = Argument, Function\n\nFUNCTIONS: tuple[Function, ...] = (\n"
    for f in functions:
        yield f"    F({f.name!r}, (\n"
        for a in f.arguments:
            yield f"        A({a.type!r}, {a.name!r}, {a.role!r}{''.join(_options(a))}),\n"
        derivative = f", {f.derivative!r}" if f.derivative else ""
        yield f"    ), {f.doc!r}, {f.family!r}{derivative}),\n"
    yield ")\n"


def _options(argument: Argument) -> Iterator[str]:
    """The fields of an argument that differ from their defaults, except its location."""
    for field in fields(argument)[3:]:
        value = getattr(argument, field.name)
        if field.name != "location" and (value, type(value)) != (field.default, type(field.default)):
            yield f", {field.name}={literal(value)}"


_TYPES = {"bool": "bool", "int": "int", "int64_t": "int", "long": "int", "THIndex_t": "int"}


def emit_stubs(functions: Sequence[Function], banner: str = BANNER) -> str:
    """A stub file: the class of each module with its signatures and docstring."""
    modules = [m for m in group_modules(functions).values() if m.forward is not None]
    bases = sorted({_base(m) for m in modules})
    has_generator = any(a.role == "generator" for f in functions for a in f.arguments)
    return "".join(
        [
            banner,
            "# ruff: noqa: N803, E501, D\n",
            "from typing import Any\n\n",
            f"from torch import {'Generator, ' if has_generator else ''}Tensor\n\n",
            f"from thnn._functions.base import {', '.join(bases)}\n" if bases else "",
            *(part for module in modules for part in _stub(module)),
        ]
    )


def _base(module: Module) -> str:
    return "Criterion" if module.is_criterion else "FunctionBase"


def _stub(module: Module) -> Iterator[str]:
    forward = module.forward
    assert forward is not None
    tensors = forward.tensors("input", "target", "parameter")
    returns_indices = any(a.name == "indices" for a in forward.tensors("saved"))
    seen_default = False
    called, scalars = [], []
    for a in tensors:
        seen_default |= a.is_optional
        kind = "Tensor | None" if a.is_optional else "Tensor"
        called.append(f"{a.name}: {kind}" + (" = ..." if seen_default else ""))
    # Python requires a default for every argument after one that has a default.
    applied = list(called)
    for a in forward.scalars:
        kind = _TYPES.get(a.type, "float")
        has_default = a.default is not None
        scalars.append(f"{a.variable}: {kind}" + (" = ..." if has_default else ""))
        seen_default |= has_default
        applied.append(f"{a.variable}: {kind}" + (" = ..." if seen_default else ""))
    options = [a.name for a in forward.arguments if a.role == "generator"]
    scalars += [f"{name}: Generator | None = ..." for name in options]
    applied += [f"{name}: Generator | None = ..." for name in options]
    if returns_indices:
        scalars.append("*, return_indices: bool = ...")
        applied.append("return_indices: bool = ...")
    # Running statistics are settings of an object and have no default.
    count = len(called) - len(forward.running)
    called, running = called[:count], [text.removesuffix(" = ...") for text in called[count:]]
    scalars = [*running, *scalars]
    if module.is_criterion:
        scalars = ["*target_and_scalars: Any", "weight: Tensor | None = ...", "**keywords: Any"]
    outputs = len(forward.tensors("output"))
    result = (
        "Any"
        if returns_indices
        else "Tensor"
        if outputs == 1
        else f"tuple[{', '.join(['Tensor'] * outputs)}]"
    )
    options += ["return_indices"] if returns_indices else []
    text = docstring(module, [a.name for a in tensors], [a.name for a in forward.scalars], options)
    yield f"\nclass {module.name}Function({_base(module)}):\n"
    yield textwrap.indent(f'"""{_escaped(text)}\n"""\n', "    ", lambda line: bool(line.strip()))
    yield f"    def __init__(self{''.join(f', {s}' for s in scalars)}) -> None: ...\n"
    yield f"    def __call__(self, {', '.join(called)}) -> {result}: ...\n"
    yield f"    @classmethod\n    def apply(cls, {', '.join(applied)}) -> {result}: ...\n"


def _escaped(text: str) -> str:
    """The text escaped for a string literal in triple quotes."""
    return re.sub(r'\\|"(?="")', r"\\\g<0>", text)
