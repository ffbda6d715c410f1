"""The backend "thnn" of torch.compile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import fx

from thnn._rewrite.readers import name_of
from thnn._rewrite.report import Report
from thnn._rewrite.rewriting import rewrite


def backend(
    module: fx.GraphModule, inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """``torch.compile(model, backend="thnn")``: the graph of Dynamo with thnn's functions in place of torch's.

    The functions are the differentiable ones that eager code calls, so that training works, and nothing is generated or
    compiled. An operation that thnn does not compute, or not with these types and settings, stays torch's.

    Arguments:
        module: what Dynamo traced, before AOTAutograd: the functions of torch that the model calls, with the parameters
            as inputs, and the values with which it traced them
        inputs: not read
        options: {"report": function}, which gets a Report of each graph, such as `print` or the `append` of a list

    Errors: ValueError for another option, TypeError for a report that cannot be called; torch.compile wraps them.
    """
    report = _option(options or {})
    for graph_module in (module, *_checkpointed(module)):
        changes = rewrite(graph_module.graph)
        graph_module.recompile()
        if report is not None:
            report(changes)
    return module.forward


def _checkpointed(module: fx.GraphModule) -> list[fx.GraphModule]:
    """The graphs of the functions that torch.utils.checkpoint calls: they run as they are, and once more in the
    backward. The graphs of other operators of higher order are for torch's transforms."""
    found = []
    for node in module.graph.nodes:
        if "checkpoint" in name_of(node) and node.op == "call_function":
            body = getattr(module, str(node.args[0].target), None)
            if isinstance(body, fx.GraphModule):
                found += [body, *_checkpointed(body)]
    return found


def _option(options: Mapping[str, Any]) -> Callable[[Report], Any] | None:
    for name in options:
        if name != "report":
            raise ValueError(f"backend 'thnn': options: expected 'report', got {name!r}")
    report = options.get("report")
    if report is not None and not callable(report):
        raise TypeError(f"backend 'thnn': options: report: expected a function, got {type(report).__name__}")
    return report
