"""Generates C from the header model: libTHNN's table of functions, and the declarations that kernel files
include."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from thnn._header import Argument, Function, HeaderError, group_modules
from thnn._header.model import NUMBER_TYPES

BANNER = "/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */\n"

# C type of an argument -> its letter in the table, the type of its parameter, and its value in THNNValue v[i]
# (lib/THNN/runtime/function_table.h).
_SCALARS = {
    "int": ("i", "int", "(int)v[{}].integer"),
    "int64_t": ("l", "int64_t", "v[{}].integer"),
    "THIndex_t": ("l", "int64_t", "v[{}].integer"),
    "long": ("l", "long", "v[{}].integer"),
    "bool": ("b", "bool", "v[{}].integer"),
    "accreal": ("d", "double", "v[{}].number"),
    "double": ("d", "double", "v[{}].number"),
    "THGenerator*": ("g", "THGenerator *", "(THGenerator *)&v[{}].generator"),
}
_TENSORS = {"THTensor*": "R", "THAccrealTensor*": "A", "THIndexTensor*": "L", "THIntegerTensor*": "I"}


def check_supported(functions: Sequence[Function]) -> None:
    """Raises HeaderError at the first argument that the binding cannot pass."""
    for function in functions:
        for argument in function.arguments:
            if argument.type not in (*_SCALARS, *_TENSORS, "THNNState*"):
                expected = ", ".join(NUMBER_TYPES)
                raise HeaderError(
                    argument.location,
                    f"{function.name}: {argument.name}: {argument.type} cannot be passed by the binding;"
                    f" expected {expected}",
                )
            if argument.is_tensor and argument.variable != argument.name:
                raise HeaderError(argument.location, f"no tensor can be called {argument.name!r} in Python")


def emit_declarations(functions: Sequence[Function]) -> dict[str, str]:
    """lib/THNN/generated/modules/<Module>.h: for kernel files, the declarations of only their module."""
    return {
        name: "".join(_declarations(name, module.functions.values()))
        for name, module in group_modules(functions).items()
    }


def _declarations(name: str, functions: Iterable[Function]) -> Iterator[str]:
    guard = f"THNN_MODULES_{name.upper()}_H"
    yield BANNER
    functions = list(functions)
    yield f'#ifndef {guard}\n#define {guard}\n\n#include "runtime/kernel.h"\n'
    if any(a.role == "generator" for f in functions for a in f.arguments):
        yield '#include "runtime/generator.h"\n'
    yield "\n"
    for function in functions:
        yield f"void THNN_({function.name})({_parameters(function, 'accreal')});\n"
    yield "\n#endif\n"


def _parameters(function: Function, accreal: str = "double") -> str:
    return ", ".join(_declarator(a, accreal) for a in function.arguments)


def _declarator(argument: Argument, accreal: str) -> str:
    if argument.type.endswith("*"):
        return f"{argument.type[:-1]} *{argument.name}"
    c_type = accreal if argument.type == "accreal" else _SCALARS[argument.type][1]
    return f"{c_type} {argument.name}"


def emit_functions(functions: Sequence[Function], digest: str) -> str:
    """lib/THNN/generated/functions.inc: a line per function, from which function_table.c makes symbols and table."""
    return "".join(_functions(functions, digest))


def _functions(functions: Sequence[Function], digest: str) -> Iterator[str]:
    yield BANNER
    yield "/* runtime/function_table.c explains the fields. */\n"
    yield f'#undef THNN_HEADER_DIGEST\n#define THNN_HEADER_DIGEST "{digest}"\n'
    for function in functions:
        given = function.after_state
        has_state = len(given) < len(function.arguments)
        values = ["state"] if has_state else []
        for i, argument in enumerate(given):
            values.append(f"v[{i}].tensor" if argument.is_tensor else _SCALARS[argument.type][2].format(i))
        names = ", ".join(a.name for a in function.arguments)
        yield (
            f"{'THNN_FUNCTION' if has_state else 'THNN_STATELESS_FUNCTION'}({function.name},"
            f' "{"".join(map(_letters, given))}", {len(given)}, {sum(a.is_tensor for a in given)},'
            f" ({_parameters(function)}), ({names}), ({', '.join(values)}))\n"
        )


def _letters(argument: Argument) -> str:
    if not argument.is_tensor:
        return _SCALARS[argument.type][0]
    mark = "*" if argument.role == "buffer" else "?" if argument.is_optional else ""
    return ("M" if argument.is_mixed else _TENSORS[argument.type]) + mark
