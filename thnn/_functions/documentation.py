"""Docstrings from the comments of the header, for the classes at run time and for their stubs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from thnn._header import Argument, Module

OPTIONS: Mapping[str, str] = {
    "return_indices": "return_indices: bool, default False: return (output, indices)",
    "generator": "generator: torch.Generator or None, default None: torch's default generator",
}


#: The element types of tensors that `describe` calls real.
REAL = (
    "real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as"
    " real."
)


def docstring(
    module: Module, inputs: Sequence[str], scalars: Sequence[str], options: Sequence[str] = ()
) -> str:
    """Formula, shapes, calls, arguments and errors of a module's class."""
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
    lines += ["", REAL]
    for function in module.backwards:
        if function.doc:
            lines += ["", function.doc.strip()]
    return "\n".join(lines)


def summary(module: Module) -> str:
    """The first sentence of a module's comment, without the name of the module or function at its beginning."""
    name, doc = next(((f.name, f.doc) for f in module.functions.values() if f.doc), ("", ""))
    text = doc.removeprefix(f"{module.name}: ").removeprefix(f"{name}: ")
    sentence = re.split(r"(?<=\.)\s|\n\n", text, maxsplit=1)[0]
    return " ".join(sentence.split())


_PYTHON_TYPES = {
    "THTensor*": "Tensor (real)",
    "THAccrealTensor*": "Tensor (float64)",
    "THIndexTensor*": "Tensor (int64)",
    "THIntegerTensor*": "Tensor (int32)",
    "bool": "bool",
    "int": "int",
    "int64_t": "int",
    "THIndex_t": "int",
    "long": "int",
    "THGenerator*": "torch.Generator or None",
}


def describe(argument: Argument) -> str:
    """Name, type, default and meaning of an argument, as one line."""
    kind = _PYTHON_TYPES.get(argument.type, "float")
    if argument.is_mixed:
        kind = "Tensor (real, or float32 where real is float16 or bfloat16)"
    optional = " or None" if argument.is_optional else ""
    default = f", default {argument.default}" if argument.default is not None else ""
    doc = f": {argument.doc}" if argument.doc else ""
    return f"{argument.name}: {kind}{optional}{default}{doc}"
