"""What the header says, as Python documentation; used by the classes at run time and by the stub emitter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from thnn._header import Argument, Module

# Scalars that callers have always been allowed to leave out.
DEFAULTS: Mapping[str, Any] = {
    "inplace": False,
    "ceil_mode": False,
    "count_include_pad": True,
    "sizeAverage": True,
    "ignore_index": -100,
}


OPTIONS: Mapping[str, str] = {
    "return_indices": "return_indices: bool, default False: return (output, indices)",
}


def docstring(
    module: Module, inputs: Sequence[str], scalars: Sequence[str], options: Sequence[str] = ()
) -> str:
    """Shapes, formula, arguments and errors, from the comments of the header."""
    forward = module.forward
    assert forward is not None
    name = module.name + "Function"
    running = [a.name for a in forward.running]
    lines = [
        forward.doc.strip(),
        "",
        "Calls:",
        f"    {name}({', '.join([*running, *scalars])})({', '.join(n for n in inputs if n not in running)})",
        f"    {name}.apply({', '.join([*inputs, *scalars])})",
        "",
        "Arguments:",
    ]
    named = [a for a in forward.arguments if a.name in (*inputs, *scalars)]
    lines += ["    " + describe(argument) for argument in named]
    lines += ["    " + OPTIONS[option] for option in options]
    for function in module.backwards:
        if function.doc:
            lines += ["", function.doc.strip()]
    return "\n".join(lines)


_PYTHON_TYPES = {
    "THTensor*": "Tensor (float32 or float64)",
    "THAccrealTensor*": "Tensor (float64)",
    "THIndexTensor*": "Tensor (int64)",
    "THIntegerTensor*": "Tensor (int32)",
    "bool": "bool",
    "int": "int",
    "int64_t": "int",
    "THIndex_t": "int",
    "long": "int",
}


def describe(argument: Argument) -> str:
    """One line for an argument of a function."""
    kind = _PYTHON_TYPES.get(argument.type, "float")
    optional = " or None" if argument.is_optional else ""
    default = f", default {DEFAULTS[argument.name]}" if argument.name in DEFAULTS else ""
    doc = f": {argument.doc}" if argument.doc else ""
    return f"{argument.name}: {kind}{optional}{default}{doc}"
