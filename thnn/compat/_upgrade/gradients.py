"""The functions of a program whose results nothing can differentiate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst
from libcst import matchers as m

from thnn.compat._upgrade.values import Values, has_no_gradient, keyword, literal, method_of

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
)
#: Methods that store their arguments.
_STORING = {"append", "extend", "insert", "put", "update"}


def _calls(node: cst.CSTNode) -> Iterator[Any]:
    yield from m.findall(node, m.Call())


def functions_without_gradients(module: cst.Module, values: Values, variable: str) -> set[cst.CSTNode]:
    """The functions that make a volatile Variable and that nothing computed in them leaves, with the calls of
    `variable` in them.

    Such a function calls no function of the program that differentiates, and returns and stores only numbers and data.
    With gradients or without them it does the same, except that a volatile Variable made it compute without them.
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
            and all(has_no_gradient(values, value) for value in _leaving(function.body))
        ):
            found.update([function, *made])
    return found


def _leaving(body: cst.CSTNode) -> Iterator[Any]:
    """The values that a function returns or stores outside of its names."""
    for node in m.findall(body, m.Return() | m.Assign() | m.AnnAssign() | m.AugAssign() | m.Call()):
        if isinstance(node, cst.Call):
            if method_of(node) in _STORING:
                yield from (a.value for a in node.args)
        elif isinstance(node, cst.Return):
            if node.value is not None:
                yield node.value
        elif m.findall(node, m.AssignTarget(m.Attribute() | m.Subscript())) or not isinstance(
            getattr(node, "target", cst.Name("x")), cst.Name
        ):
            yield node.value  # type: ignore[attr-defined]
