"""The pass over a graph: thnn's functions in place of torch's, then the patterns."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from torch import fx, nn

import thnn.nn.functional as ours
from thnn._rewrite.counterparts import counterpart
from thnn._rewrite.nested import tensors
from thnn._rewrite.patterns import PATTERNS, Calls, Joined
from thnn._rewrite.readers import overwriter
from thnn._rewrite.report import Layer, Report
from thnn._rewrite.trial import example_of, reason_to_leave

UNKNOWN = "thnn has no such function"
# The backward of these functions reads their results, and the backward of torch's does not: a program may overwrite
# the results.
_SAVE_RESULTS = (ours.elu, ours.celu, ours.selu, ours.softplus, ours.local_response_norm)


def rewrite(
    graph: fx.Graph,
    *,
    layers: Mapping[str, nn.Module] | None = None,
    place: str = "",
    fuse: bool = True,
    reason: Callable[..., str] = reason_to_leave,
) -> Report:
    """Makes a graph call thnn where it can, in place, and returns what was done.

    Arguments:
        graph: with the functions of torch that a program calls, not those of ATen
        layers: the modules that the graph calls, by the targets of its nodes
        place: the name of the module that the graph computes, for names in the report
        fuse: False: without the patterns
        reason: tells why thnn's function cannot compute a node, by `reason_to_leave` from the values that Dynamo found
    """
    entries = {node: _entry(node, place) for node in graph.nodes if node.op.startswith("call_")}
    replaced: set[fx.Node] = set()
    reasons: dict[fx.Node, str] = {}
    for node in list(graph.nodes):
        if (found := counterpart(node)) is not None:
            keywords = {**node.kwargs, **found.keywords}
            if found.function in _SAVE_RESULTS and (writer := overwriter(node)):
                reasons[node] = f"{writer} overwrites its result, which the backward of thnn's function reads"
            elif why := reason(node, found.function, node.args, keywords):
                reasons[node] = why
            else:
                node.op, node.target, node.kwargs = "call_function", found.function, keywords
                replaced.add(node)
        elif node.op == "call_module" and layers is None:
            reasons[node] = "Dynamo keeps it as a module"
        elif _computes(node, with_values=layers is None):
            reasons[node] = UNKNOWN
    joined = _join(graph, Calls(layers or {})) if fuse else []
    remain = set(graph.nodes)
    fused = {j.first: j.remark for j in joined if j.done}  # the last remark tells all
    return Report(
        tuple(entries[n] for n in entries if n in replaced & remain - set(fused)),
        tuple(entries[first]._replace(remark=remark) for first, remark in fused.items()),
        tuple(entries[n]._replace(remark=why) for n, why in reasons.items() if n in remain),
        tuple(entries[j.first]._replace(remark=j.remark) for j in joined if not j.done),
    )


def _join(graph: fx.Graph, calls: Calls) -> list[Joined]:
    found = []
    for node in list(graph.nodes):
        for pattern in PATTERNS:
            if (joined := pattern(calls, node)) is not None:
                found.append(joined)
                break
    return found


def _computes(node: fx.Node, with_values: bool) -> bool:
    """True for a call of torch that computes or moves tensors; not for a choice of a result, a number, and, where the
    graph has values, a call without one, such as the begin of no_grad."""
    if node.op not in ("call_function", "call_method") or node.target is operator.getitem:
        return False
    if getattr(node.target, "__module__", None) == "torch._ops.thnn":
        return False
    example = example_of(node)
    return bool(tensors(example)) or (example is None and not with_values)


def _entry(node: fx.Node, place: str) -> Layer:
    """The name of the module that a node belongs to, and of its function."""
    target: Any = node.target
    kind = target if isinstance(target, str) else getattr(target, "__name__", str(target))
    stack = node.meta.get("nn_module_stack")
    if stack and not place:
        # layers.0 of torch.fx; of Dynamo L['self'].layers.0, with torch 2.6 L['self']._modules['layers']._modules['0'].
        place, _ = [*stack.values()][-1]
        if place.startswith("L["):
            parts = re.findall(r"_modules\['([^']*)'\]|\.(?!_modules\[)(\w+)", place)
            place = ".".join(a or b for a, b in parts)
    return Layer(place or "-", kind)
