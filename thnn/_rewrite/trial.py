"""Why thnn cannot compute a call in a graph: the types of its tensors, or the error of the call with meta tensors.

A function of thnn checks its arguments and finds the sizes of its results with meta tensors, without computing. So its
own checks decide, and no list of its limits is kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.node import map_aggregate

from thnn._binding.arguments import ELEMENT_DTYPES, not_dense
from thnn._binding.device import device_types
from thnn._rewrite.nested import leaves, tensors

_UNKNOWN = "has sizes that depend on data"


class _UnknownNumber(Exception):
    pass


def reason_of_tensor(tensor: Tensor) -> str:
    """Why thnn does not compute with a tensor; '' if it does."""
    if kind := not_dense(tensor):
        return f"gets {kind}"
    if tensor.is_quantized or tensor.is_complex():
        return f"has {tensor.dtype}"
    if tensor.device.type not in device_types():
        return f"on {tensor.device}"
    if tensor.is_floating_point() and tensor.dtype not in ELEMENT_DTYPES:
        return f"has {tensor.dtype}"
    return ""


def example_of(node: fx.Node) -> Any:
    """The value of a node that Dynamo has found while tracing; None where there is none."""
    return node.meta.get("example_value")


def reason_to_leave(
    node: fx.Node, function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
) -> str:
    """Why thnn's function cannot compute a node of a graph of Dynamo; '' if it can."""
    if not all("example_value" in n.meta for n in (node, *node.all_input_nodes)):
        return "the types of its tensors are not known"
    values, result = fx.node.map_arg((tuple(args), dict(keywords)), example_of), example_of(node)
    for tensor in tensors((values, result)):
        if reason := reason_of_tensor(tensor):
            return reason
    try:
        given, given_keywords = map_aggregate(values, _without_memory)
        expected = [_form(value) for value in leaves(result)]
    except _UnknownNumber:
        return _UNKNOWN
    try:
        found = [_form(value) for value in leaves(function(*given, **given_keywords))]
    except (TypeError, ValueError, IndexError, NotImplementedError, RuntimeError) as error:
        message = " ".join(str(error).split())
        # torch does not know the type of autocast for meta tensors.
        return "torch.autocast casts its tensors" if "autocast" in message else message
    return (
        "" if found == expected else f"would return {_spelled(found)}, and torch returns {_spelled(expected)}"
    )


def _without_memory(value: Any) -> Any:
    """A meta tensor like an example, or the number that stands for a symbol."""
    if not isinstance(value, Tensor):
        return _number(value)
    sizes, strides = (tuple(map(_number, numbers)) for numbers in (value.shape, value.stride()))
    meta = torch.empty_strided(sizes, strides, dtype=value.dtype, device="meta")
    if value.requires_grad:
        meta.requires_grad_()
        if not value.is_leaf:
            with torch.enable_grad():
                meta = meta.clone()
    return meta


def _number(value: Any) -> Any:
    if not isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return value
    hint = getattr(value.node, "hint", None)
    if hint is None:
        raise _UnknownNumber
    return hint


def _form(value: Any) -> Any:
    return (tuple(map(_number, value.shape)), value.dtype) if isinstance(value, Tensor) else value


def _spelled(forms: Sequence[Any]) -> str:
    return ", ".join(f"{form[1]} of {form[0]}" if isinstance(form, tuple) else str(form) for form in forms)
