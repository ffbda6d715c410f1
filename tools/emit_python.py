"""From the header model to Python: the model itself, so that importing needs no parsing, and type stubs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from thnn._header import Function, group_modules

BANNER = '"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""\n'


def emit_model(functions: Sequence[Function], digest: str) -> str:
    """thnn/_generated/model.py: FUNCTIONS, equal to what parse_header gives, and the digest of the header."""
    return "".join(_model(functions, digest))


def _model(functions: Sequence[Function], digest: str) -> Iterator[str]:
    yield "# fmt: off\n" + BANNER
    yield "from thnn._header.model import Argument, Function, Location\n\n"
    yield f'DIGEST = "{digest}"\n\n'
    yield 'A, F, L = Argument, Function, Location\nH = "THNN.h"\n\nFUNCTIONS: tuple[Function, ...] = (\n'
    for f in functions:
        yield f"    F({f.name!r}, (\n"
        for a in f.arguments:
            extra = "".join(
                f", {k}={v!r}"
                for k, v in (("like", a.like), ("is_modified", a.is_modified), ("doc", a.doc))
                if v
            )
            place = f"L(H, {a.location.line}, {a.location.column})"
            yield f"        A({a.type!r}, {a.name!r}, {a.is_optional!r}, {a.role!r}, {place}{extra}),\n"
        yield f"    ), {f.doc!r}, L(H, {f.location.line}, {f.location.column})),\n"
    yield ")\n"


_TYPES = {"bool": "bool", "int": "int", "int64_t": "int", "long": "int", "THIndex_t": "int"}


def emit_stubs(functions: Sequence[Function]) -> str:
    """thnn/_generated/functions.pyi: every class with its real signatures and docstring."""
    return "".join(_stubs(functions))


def _stubs(functions: Sequence[Function]) -> Iterator[str]:
    # Imported here: the defaults and docstrings are those of the classes at run time.
    from thnn._functions.documentation import DEFAULTS, docstring

    yield BANNER
    yield "# ruff: noqa: N803, E501, D\n"
    yield "from typing import Any\n\nfrom torch import Tensor\n\n"
    yield "from thnn._functions.base import Criterion, FunctionBase\n"
    for name, module in group_modules(functions).items():
        forward = module.forward
        if forward is None:
            continue
        tensors = forward.tensors("input", "target", "parameter")
        returns_indices = any(a.name == "indices" for a in forward.tensors("saved"))
        seen_default = False
        spelled, scalars = [], []
        for a in tensors:
            seen_default |= a.is_optional
            kind = "Tensor | None" if a.is_optional else "Tensor"
            spelled.append(f"{a.name}: {kind}" + (" = ..." if seen_default else ""))
        # After a tensor that may be left out, Python wants a default for every argument.
        applied = list(spelled)
        for a in forward.scalars:
            kind = _TYPES.get(a.type, "float")
            scalars.append(f"{a.variable}: {kind}" + (" = ..." if a.name in DEFAULTS else ""))
            seen_default |= a.name in DEFAULTS
            applied.append(f"{a.variable}: {kind}" + (" = ..." if seen_default else ""))
        if returns_indices:
            scalars.append("*, return_indices: bool = ...")
            applied.append("return_indices: bool = ...")
        # Running statistics are settings of an object, required ones.
        count = len(spelled) - len(forward.running)
        called, running = spelled[:count], [text.removesuffix(" = ...") for text in spelled[count:]]
        scalars = [*running, *scalars]
        if module.is_criterion:
            scalars = ["*target_and_scalars: Any", "weight: Tensor | None = ...", "**keywords: Any"]
        result = "Any" if returns_indices else "Tensor"
        base = "Criterion" if module.is_criterion else "FunctionBase"
        options = ["return_indices"] if returns_indices else []
        text = docstring(module, [a.name for a in tensors], [a.name for a in forward.scalars], options)
        yield f"\nclass {name}Function({base}):\n"
        yield textwrap.indent(f'"""{text}\n"""\n', "    ", lambda line: bool(line.strip()))
        yield (
            f"    def __init__(self, {', '.join(scalars)}) -> None: ...\n"
            if scalars
            else "    def __init__(self) -> None: ...\n"
        )
        yield f"    def __call__(self, {', '.join(called)}) -> {result}: ...\n"
        yield f"    @classmethod\n    def apply(cls, {', '.join(applied)}) -> {result}: ...\n"
