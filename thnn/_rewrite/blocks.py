"""Modules whose forward calls functions of torch: the same modules with a forward that calls thnn's.

The forward is traced by torch.fx, in training and in evaluation, and rewritten. A module keeps its parameters, children
and hooks; its class becomes a subclass of its class with the new forward. Children are called as before, so that each
keeps its mode and its hooks.
"""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx, nn

import thnn.nn.functional as ours
from thnn._rewrite.classes import subclass
from thnn._rewrite.example import Example, copied
from thnn._rewrite.nested import same
from thnn._rewrite.report import Report
from thnn._rewrite.rewriting import rewrite
from thnn.graph.branch import path_in_model, set_caller_grad_enabled
from thnn.graph.tracing import assign_buffer, trace
from thnn.nn.batch_normalization import fused_hardtanh, fused_relu, fused_relu6

# These functions pass on what batch normalization has rectified.
_FUSED = {ours.relu: fused_relu, ours.relu6: fused_relu6, ours.hardtanh: fused_hardtanh}


class Code(NamedTuple):
    """The source of a forward, and the objects that it names, modules by their names."""

    source: str
    names: dict[str, Any]
    modules: dict[str, str]

    def function(self) -> Callable[..., Any]:
        namespace = {**self.names, **{k: importlib.import_module(m) for k, m in self.modules.items()}}
        exec(compile(self.source, "<thnn block>", "exec"), namespace)
        function: Callable[..., Any] = namespace["forward"]
        return function


def rewritten(
    block: nn.Module, name: str, fuse: bool, reason: Callable[..., str], example: Example | None
) -> Report:
    """Gives a module a forward that calls thnn, and returns what was replaced in it; nothing changes if nothing is
    replaced.

    Arguments:
        block: a module with a forward of Python
        name: its name in the model
        fuse, reason: as for `rewrite`
        example: a copy of the block, and the arguments of a call

    Errors: ValueError with the reason why it cannot be traced.
    """
    graphs = [_traced(block, training) for training in (True, False)]
    if example is not None:
        try:
            call = inspect.signature(block.forward).bind(*example.arguments, **example.keywords)
            found = []
            for graph in graphs:
                with torch.random.fork_rng([]):
                    found.append(_Values(example.module, graph).run(*copied(call.args)))
        except Exception as error:
            raise ValueError(f"its trace does not run on the example: {error}") from error
        with torch.random.fork_rng([]):
            expected = example.module.forward(*copied(call.args))
        if not same(found[not example.module.training], expected):
            raise ValueError("its trace computes something else on the example")
    layers = {str(node.target): block.get_submodule(str(node.target)) for node in _calls(graphs)}
    train, infer = (rewrite(graph, layers=layers, place=name, fuse=fuse, reason=reason) for graph in graphs)
    # Most calls are in both.
    report = Report(*(tuple(dict.fromkeys((*a, *b))) for a, b in zip(train, infer)))
    if report.replaced or report.fused:
        block.__class__ = _class(type(block), *map(_code, graphs))
    return report


def _traced(block: nn.Module, training: bool) -> fx.Graph:
    arguments = inspect.signature(block.forward).parameters.values()
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(p.kind in variadic or p.default is not p.empty for p in arguments):
        raise ValueError("its forward has optional arguments, which may change what it computes")
    graph = trace(block, len(arguments), training=training, inline=False).graph
    # The trace names the arguments of a new root; a caller may name those of the forward.
    placeholders = (node for node in graph.nodes if node.op == "placeholder")
    for node, argument in zip(placeholders, arguments):
        node.target = argument.name
    for node in graph.nodes:
        if node.target is assign_buffer:
            raise ValueError("its forward assigns a buffer")
        if node.target is set_caller_grad_enabled:
            raise ValueError("its forward changes the grad mode")
        if node.op == "call_module":
            node.target = path_in_model(node.target)
        elif node.op == "get_attr":
            node.target = path = path_in_model(node.target)
            if not isinstance(_attribute(block, path), Tensor):
                raise ValueError("its forward makes tensors of constants")
    return graph


class _Values(fx.Interpreter):
    """A run of a graph that keeps the value of each node, as Dynamo does."""

    def __init__(self, module: nn.Module, graph: fx.Graph) -> None:
        super().__init__(module, graph=graph)

    def run_node(self, n: fx.Node) -> Any:
        n.meta["example_value"] = value = super().run_node(n)
        return value


def _attribute(block: nn.Module, path: str) -> Any:
    value: Any = block
    for name in path.split("."):
        value = getattr(value, name, None)
    return value


def _calls(graphs: list[fx.Graph]) -> list[fx.Node]:
    return [node for graph in graphs for node in graph.nodes if node.op == "call_module"]


def _code(graph: fx.Graph) -> Code:
    for node in graph.nodes:
        source = node.args[0] if node.args else None
        if node.target in _FUSED and isinstance(source, fx.Node) and source.op == "call_module":
            node.target = _FUSED[node.target]
    generated = graph.python_code("self")
    modules = {k: v.__name__ for k, v in generated.globals.items() if isinstance(v, types.ModuleType)}
    names = {k: v for k, v in generated.globals.items() if k not in modules}
    return Code(generated.src, names, modules)


def _class(original: type[nn.Module], *codes: Code) -> type[nn.Module]:
    train, infer = (code.function() for code in codes)

    def forward(self: Any, *args: Any, **keywords: Any) -> Any:
        return (train if self.training else infer)(self, *args, **keywords)

    is_one = codes[0].source == codes[1].source
    return subclass(original, (), {"forward": train if is_one else forward}, _class, (original, *codes))
