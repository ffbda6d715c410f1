"""The readers of a value in a graph, and what they do to it."""

from __future__ import annotations

import inspect
import operator
from typing import Any

from torch import fx

from thnn.graph.in_place import IN_PLACE

# Functions, methods and attributes whose result may be a view of their first argument, or this argument itself.
VIEWS = {
    *("H", "T", "_get_data_attr", "adjoint", "alias", "align_to", "as_strided", "as_tensor", "atleast_1d"),
    *("atleast_2d", "atleast_3d", "bfloat16", "broadcast_to", "chunk", "conj", "contiguous", "cpu", "cuda"),
    *("detach", "diagonal", "double", "dropout", "dsplit", "expand", "expand_as", "flatten", "float", "getattr"),
    *("getitem", "half", "hsplit", "identity", "imag", "linalg_diagonal", "mH", "mT", "matrix_H", "moveaxis"),
    *("movedim", "narrow", "numpy_T", "permute", "pin_memory", "positive", "ravel", "real", "refine_names"),
    *("rename", "reshape", "reshape_as", "resolve_conj", "resolve_neg", "select", "slice", "split"),
    *("split_with_sizes", "squeeze", "swapaxes", "swapdims", "t", "tensor_split", "to", "transpose", "type"),
    *("type_as", "unbind", "unflatten", "unfold", "unsafe_chunk", "unsqueeze", "view", "view_as"),
    *("view_as_complex", "view_as_real", "vsplit"),
}  # fmt: skip
_WRITING_OPERATORS = {
    function for name, function in vars(operator).items() if name.startswith("i") and f"__{name}__" in vars(operator)
} | {operator.setitem, *IN_PLACE.values()}  # fmt: skip


def name_of(node: fx.Node) -> str:
    """The name of the function that a node calls."""
    return "the caller" if node.op == "output" else str(getattr(node.target, "__name__", node.target))


def overwriter(node: fx.Node) -> str:
    """The name of a call that writes to the result of a node, or to a view of it; '' if there is none in the graph."""
    for user in node.users:
        if writes_to(user, node):
            return name_of(user)
        if name_of(user) in VIEWS and (name := overwriter(user)):
            return name
    return ""


def writes_to(user: fx.Node, node: fx.Node) -> bool:
    """True if a reader of a value writes to it."""
    if user.op not in ("call_function", "call_method") or not user.args or user.args[0] is not node:
        return user.kwargs.get("out") is node
    name = name_of(user)
    if (name.endswith("_") and not name.endswith("__")) or user.target in _WRITING_OPERATORS:
        return True
    return argument(user, "inplace") is True


def changes_mode(node: fx.Node) -> bool:
    """True for a call in a graph of Dynamo that may change how the calls after it compute: it has no result, since it
    enters or leaves no_grad, autocast or a transform."""
    return node.op == "call_function" and node.meta.get("example_value") is None


def argument(node: fx.Node, name: str) -> Any:
    """The value of an argument of a call, None if there is no such argument, or if its position is not known."""
    if name in node.kwargs or node.op != "call_function":
        return node.kwargs.get(name)
    try:
        bound = inspect.signature(node.target).bind(*node.args, **node.kwargs)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # a function of C++ without a signature
        return None
    return bound.arguments.get(name)
