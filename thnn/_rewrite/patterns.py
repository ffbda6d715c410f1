"""Neighbours in a graph that are joined, after thnn's functions have taken the place of torch's.

`PATTERNS` lists the patterns in the order in which they are tried for each node. A pattern gets a node and `Calls`, and
returns None if the node is another operation, otherwise a `Joined` that tells what it did, or why it did nothing. It
may erase the node. A new pattern is a function here, its line in `PATTERNS`, and a test that it fires and one for each
of its reasons.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn

import thnn.nn
import thnn.nn.functional as ours
from thnn._classes import function_classes
from thnn._plan import OUTPUT_FOR_INPUT
from thnn._rewrite.readers import changes_mode, name_of, writes_to
from thnn._rewrite.trial import example_of
from thnn.graph.in_place import IN_PLACE
from thnn.graph.mode_views import has_hooks

_batch_normalization_relu = function_classes["BatchNormalizationReLUFunction"]
_batch_normalization_add = function_classes["BatchNormalizationAddFunction"]


class Joined(NamedTuple):
    """The change of a pattern to `first` and the node after it or, if it is not `done`, the reason why not."""

    first: fx.Node
    remark: str
    done: bool = True


class Calls:
    """The calls of thnn in a graph, by functions and by layers. `layers` are the modules that the graph calls, by the
    targets of its nodes."""

    def __init__(self, layers: Mapping[str, nn.Module]) -> None:
        self.layers = layers

    def layer(self, node: fx.Node) -> nn.Module | None:
        return self.layers.get(str(node.target)) if node.op == "call_module" else None

    def function(self, node: Any) -> Any:
        """The function of thnn.nn.functional that a node calls, also by a layer; other functions as they are."""
        if not isinstance(node, fx.Node):
            return None
        if node.op == "call_module":
            return _FUNCTIONS_OF_LAYERS.get(type(self.layer(node)))
        return node.target if node.op == "call_function" else None

    def arguments(self, node: fx.Node) -> dict[str, Any]:
        """The arguments of a function that Python defines, by name, with defaults."""
        target: Any = node.target
        bound = inspect.signature(target).bind(*node.args, **node.kwargs)
        bound.apply_defaults()
        return bound.arguments

    def why_shared(self, node: fx.Node, reader: fx.Node) -> str:
        """Why a reader of a node may not change its result; '' if nothing else reads it."""
        layer = self.layer(node)
        if layer is not None and has_hooks(layer):
            return "it has a hook, which reads its result"
        others = [name_of(user) for user in node.users if user is not reader]
        if others:
            return f"its result is also read by {', '.join(others)}"
        # Traces of torch.fx, which may lack values, have no such calls.
        between = node.next if example_of(node) is not None else reader
        while between is not reader:
            if changes_mode(between):
                return f"{name_of(between)} comes between it and {name_of(reader)}"
            between = between.next
        return ""


_FUNCTIONS_OF_LAYERS: dict[type, Any] = {
    **{getattr(thnn.nn, f"Conv{n}d"): getattr(ours, f"conv{n}d") for n in (1, 2, 3)},
    **{getattr(thnn.nn, f"ConvTranspose{n}d"): getattr(ours, f"conv_transpose{n}d") for n in (1, 2, 3)},
    thnn.nn.Linear: ours.linear,
}
# The results of these functions are new tensors, and their backward does not read them.
_NEW_TENSORS = {ours.batch_norm, *_FUNCTIONS_OF_LAYERS.values()}


def unused(calls: Calls, node: fx.Node) -> Joined | None:
    """Dropout in evaluation or with probability 0, and a flatten of one dimension, return their input."""
    target = node.target
    if target in _DROPOUTS:
        arguments = calls.arguments(node)
        if arguments["training"] is not False and arguments["p"] != 0:
            return None
        source = arguments["input"]
    elif target in (torch.flatten, "flatten"):
        source = node.args[0] if node.args else None
        values = [example_of(n) for n in (node, source) if isinstance(n, fx.Node)]
        ranks = [value.dim() for value in values if isinstance(value, Tensor)]
        if len(ranks) != 2 or ranks[0] != ranks[1] or ranks[0] == 0:  # flatten of a number makes a vector
            return None
    else:
        return None
    if not isinstance(source, fx.Node):
        return None
    node.replace_all_uses_with(source)
    node.graph.erase_node(node)
    return Joined(node, "returns its input here: left out")


_SUMS_IN_PLACE = (operator.iadd, IN_PLACE["iadd"], "add_")
SUMS = (operator.add, torch.add, "add", *_SUMS_IN_PLACE)
_DROPOUTS = {
    getattr(F, name)
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
}


def batch_normalization_add(calls: Calls, node: fx.Node) -> Joined | None:
    """The sum of a result of batch normalization and of another tensor, its residual: one function computes both."""
    if node.target not in SUMS or not any(calls.function(n) is ours.batch_norm for n in node.all_input_nodes):
        return None
    # Batch normalization that is computed last stays in its place, where the residual exists.
    later = {n: i for i, n in enumerate(node.graph.nodes)}
    source = max(
        (n for n in node.all_input_nodes if calls.function(n) is ours.batch_norm), key=later.__getitem__
    )
    if why := _why_no_residual(calls, source, node):
        return Joined(source, why, False)
    (residual,) = (n for n in node.all_input_nodes if n is not source)
    source.args, source.kwargs = (), {**calls.arguments(source), "residual": residual}
    source.target = batch_norm_add
    source.meta |= {k: v for k, v in node.meta.items() if k == "example_value"}
    node.replace_all_uses_with(source)
    node.graph.erase_node(node)
    return Joined(source, "with the sum")


def _why_no_residual(calls: Calls, source: fx.Node, node: fx.Node) -> str:
    """Why batch normalization, `source`, cannot compute the sum, `node`; '' if it can."""
    summands = node.all_input_nodes
    if len(summands) != 2 or len(node.args) != 2 or node.kwargs:
        return f"{name_of(node)} is not a sum of two tensors"
    if reason := calls.why_shared(source, node):
        return reason
    between = source.next
    while between is not node:
        # It could be the residual, or overwrite it.
        if between.op not in ("placeholder", "get_attr"):
            return f"{name_of(between)} comes between it and {name_of(node)}"
        between = between.next
    values = [example_of(n) for n in summands]
    if not all(isinstance(value, Tensor) for value in values):
        return f"the tensors of {name_of(node)} are not known"
    a, b = values
    if a.shape != b.shape or a.dtype != b.dtype or a.device != b.device:
        return f"the tensors of {name_of(node)} have different sizes, types or devices"
    if node.target in _SUMS_IN_PLACE and (residual := node.args[0]) is not source:
        # The function does not overwrite it.
        is_new = calls.function(residual) in _NEW_TENSORS
        if not is_new or calls.why_shared(residual, node):  # type: ignore[arg-type]
            return f"{name_of(node)} overwrites the residual"
    return ""


def batch_normalization_relu(calls: Calls, node: fx.Node) -> Joined | None:
    """relu, relu6 or hardtanh from 0 of the result of batch normalization, or of its sum with a residual: one function
    computes them."""
    rectifier = calls.function(node)
    if rectifier not in (ours.relu, ours.relu6, ours.hardtanh):
        return None
    arguments = calls.arguments(node)
    source = arguments["input"]
    function = calls.function(source)
    if function is ours.batch_norm or (function is batch_norm_add and source.kwargs.get("limit") is None):
        limit = _limit(rectifier, arguments)
        if limit is None:
            return Joined(source, f"the bounds of {name_of(node)} are not 0 and a number", False)
        if reason := calls.why_shared(source, node):
            return Joined(source, reason, False)
        source.args, source.kwargs = (), {**calls.arguments(source), "limit": limit}
        if function is ours.batch_norm:
            source.target = batch_norm_relu
        source.meta |= {k: v for k, v in node.meta.items() if k == "example_value"}
        node.replace_all_uses_with(source)
        node.graph.erase_node(node)
        return Joined(source, f"with {'' if function is ours.batch_norm else 'the sum and '}{name_of(node)}")
    return None


def _limit(rectifier: Callable[..., Any], arguments: Mapping[str, Any]) -> float | None:
    """The limit of min(max(input, 0), limit); None if the function is another one."""
    if rectifier is ours.relu:
        return math.inf
    if rectifier is ours.relu6:
        return 6.0
    low, high = arguments["min_val"], arguments["max_val"]
    # NaN and symbols do not compare.
    return (
        float(high) if type(low) in (int, float) and type(high) in (int, float) and low == 0 < high else None
    )


def batch_norm_relu(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    limit: float,
) -> Tensor:
    """min(max(batch_norm(input), 0), limit)."""
    output: Tensor = _batch_normalization_relu.apply(
        input, weight, bias, running_mean, running_var, training, momentum, eps, limit
    )
    return output


def batch_norm_add(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    residual: Tensor,
    limit: float | None = None,
) -> Tensor:
    """batch_norm(input) + residual, with a limit min(max(0, .), limit) of it."""
    relu = limit is not None
    output: Tensor = _batch_normalization_add.apply(
        input,
        residual,
        weight,
        bias,
        running_mean,
        running_var,
        training,
        momentum,
        eps,
        relu,
        limit or math.inf,
    )
    return output


def activation_in_place(calls: Calls, node: fx.Node) -> Joined | None:
    """An activation whose gradient follows from its result overwrites the result of a convolution, of linear or of
    batch normalization, which nothing else reads."""
    activation = calls.function(node)
    if activation not in _OVERWRITE:
        return None
    arguments = calls.arguments(node)
    source = arguments["input"]
    function = calls.function(source)
    if function not in _NEW_TENSORS or arguments["inplace"]:
        return None
    if reason := calls.why_shared(source, node):
        return Joined(source, reason, False)
    module, names = _OVERWRITE[activation]
    values = {name: arguments[value] if isinstance(value, str) else value for name, value in names.items()}
    if not all(type(v) in (int, float) for v in values.values()) or not OUTPUT_FOR_INPUT[module].holds(
        values
    ):
        return Joined(source, f"the gradient of {name_of(node)} needs the input", False)
    # torch's relu keeps its result, too; for the others, a program may overwrite the result.
    if activation is not ours.relu and (writer := _possible_writer(calls, node)):
        return Joined(source, f"{writer} may overwrite the result of {name_of(node)}", False)
    if function is ours.linear and not _is_matrix(source):
        return Joined(source, "the result of linear may be a view", False)
    node.kwargs = {**node.kwargs, "inplace": True}
    node.args = tuple(node.args[: list(arguments).index("inplace")])
    return Joined(source, f"overwritten by {name_of(node)}")


# Activation -> the module in THNN.h, and its scalars: numbers, or the names of arguments.
_OVERWRITE: dict[Any, tuple[str, dict[str, Any]]] = {
    ours.relu: ("Threshold", {"threshold": 0, "val": 0}),
    ours.leaky_relu: ("LeakyReLU", {"negval": "negative_slope"}),
    ours.elu: ("ELU", {"alpha": "alpha"}),
    ours.celu: ("CELU", {"alpha": "alpha"}),
    ours.selu: ("SELU", {}),
}


def _is_matrix(node: fx.Node) -> bool:
    """True for a result of linear that is not a view of one."""
    return isinstance(value := example_of(node), Tensor) and value.dim() <= 2


def _possible_writer(calls: Calls, node: fx.Node) -> str:
    """The name of a reader of a node that may write to it or to a view of it, also outside of the graph; '' if there is
    none."""
    for user in node.users:
        if calls.function(user) not in _ONLY_READ or writes_to(user, node):
            return name_of(user)
    return ""


_ONLY_READ = {*_NEW_TENSORS, *(getattr(ours, name) for name in ours.__all__), operator.add, torch.cat}

PATTERNS: tuple[Callable[[Calls, fx.Node], Joined | None], ...] = (
    unused,
    batch_normalization_add,
    batch_normalization_relu,
    activation_in_place,
)
