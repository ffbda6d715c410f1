"""The functions of a program whose results nothing can differentiate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst
from libcst import matchers as m

from thnn.compat._upgrade.values import Values, keyword, literal, method_of

#: Names of methods that differentiate or that often do.
_DIFFERENTIATING = {"backward", "fit", "grad", "optimize", "step", "train"}

#: What a gradient, or a tensor that has one, may leave a function by.
_WAYS_OUT = (
    m.FunctionDef()
    | m.ClassDef()
    | m.Lambda()
    | m.Yield()
    | m.Global()
    | m.Nonlocal()
    | m.Arg(keyword=m.Name("requires_grad"))
    | m.Attribute(attr=m.Name("requires_grad") | m.Name("grad"))
    | m.AssignTarget(m.Attribute() | m.Subscript())
    | m.AugAssign(target=m.Attribute() | m.Subscript())
    | m.Call(func=m.Attribute(attr=m.OneOf(*map(m.Name, ("append", "extend", "insert", "put", "update")))))
)


def _calls(node: cst.CSTNode) -> Iterator[Any]:
    yield from m.findall(node, m.Call())


def functions_without_gradients(module: cst.Module, values: Values, variable: str) -> set[cst.CSTNode]:
    """The functions that make a volatile Variable and that nothing computed in them leaves, with the calls of
    `variable` in them.

    Such a function calls no function of the program that differentiates, returns no value and stores none. With
    gradients or without them it does the same, except that a volatile Variable made it compute without them.
    """
    functions: list[Any] = list(m.findall(module, m.FunctionDef()))
    called = {f: {method_of(call) for call in _calls(f.body)} for f in functions}
    differentiating, before = set(_DIFFERENTIATING), 0
    while len(differentiating) > before:
        before = len(differentiating)
        differentiating |= {f.name.value for f in functions if called[f] & differentiating}
    found: set[cst.CSTNode] = set()
    for function in functions:
        made = [call for call in _calls(function.body) if values.name(call.func) == variable]
        volatile = [v.value for call in made if (v := keyword(call, "volatile")) is not None]
        if (
            any(literal(v) == "True" for v in volatile)
            and all(literal(v) in ("True", "False") for v in volatile)
            and values.is_torch(function)
            and not called[function] & differentiating
            and not m.findall(function.body, _WAYS_OUT)
            and not any(_returns_value(r) for r in m.findall(function.body, m.Return()))
        ):
            found.update([function, *made])
    return found


def _returns_value(statement: Any) -> bool:
    return statement.value is not None and literal(statement.value) is None
