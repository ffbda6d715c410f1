"""``thnn.freeze``: a copy of a model for inference only."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable
from typing import Any, NoReturn

import torch
from torch import Tensor, fx, nn

import thnn.nn.functional as ours
from thnn._convert import convert, revert
from thnn._rewrite.nested import same
from thnn._rewrite.report import Layer, Report
from thnn._rewrite.rewriting import rewrite
from thnn.graph.folding import folded_parameters, pairs, why_apart
from thnn.graph.in_place import Proxy
from thnn.graph.mode_views import has_hooks
from thnn.graph.tracing import functions_as_nodes

# Layers whose forward calls one function without parameters: the graph has the function, which neighbours may join.
_INLINE = {
    nn.AlphaDropout, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.ELU, nn.Flatten, nn.Hardtanh, nn.Identity,
    nn.LeakyReLU, nn.ReLU, nn.ReLU6, nn.Sigmoid, nn.Softmax, nn.Tanh,
}  # fmt: skip


def freeze(model: nn.Module, *example: Any) -> Frozen:
    """A copy of a model for inference: batch normalization is folded into the convolution or Linear before it, thnn
    computes what it can, activations overwrite results that nothing else reads, and autograd is off.

    The copy has its own weights: changes of the model do not reach it. It takes tensors of other sizes than the
    example, such as another batch, unless the model's forward makes numbers of sizes; a folded layer takes as many
    dimensions as with the example. ``print(frozen.report)`` tells what was done, and what was not, with the reason.

    Arguments:
        model: torch.nn.Module in evaluation mode whose forward torch.fx can trace; layers of thnn.nn are welcome
        example: the arguments of the model

    Returns a `Frozen`. Results differ from the model's by rounding, since weights are multiplied by the factors of
    batch normalization (computed in at least float32).

    Errors: TypeError for a model that is not a module; ValueError for a model or layer in training mode, for a forward
    that torch.fx cannot trace, or whose trace computes something else on the example, such as a forward that draws
    random numbers, changes buffers, or tests an argument for None, and without an example; the errors of the model for
    the example.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"freeze: model: expected a torch.nn.Module, got {type(model).__name__}")
    if not example:
        raise ValueError("freeze: example: expected the arguments of the model, got none")
    for name, module in model.named_modules():
        if module.training:
            raise ValueError(
                f"freeze: {name or type(model).__name__}: expected a model in evaluation mode, got one in training"
                " mode; call model.eval()"
            )
    own = copy.deepcopy(model)
    revert(own)
    with torch.no_grad():
        given = _copied(example)
        expected = own(*given), given
        root = _traced(own)
        for _ in range(2):  # the first run may change a tensor that the forward makes in each call
            given = _copied(example)
            try:
                found = _Examples(root).run(*given), given
            except Exception as error:  # the model computes the example
                _cannot_trace(model, error)
            if not same(found, expected):
                _cannot_trace(model, ValueError("its trace computes something else on the example"))
        folded, apart = _fold(root)
    root.requires_grad_(False)
    layers = convert(root)
    calls = rewrite(root.graph, layers=dict(root.named_modules()))
    _check_dims(root, folded.values())
    for node in root.graph.nodes:
        node.meta.clear()
    root.recompile()
    left = tuple(e for e in layers.left if e.kind != type(root).__name__)
    return Frozen(
        root,
        Report(
            layers.replaced + calls.replaced,
            (*folded, *layers.fused, *calls.fused),
            left + calls.left,
            (*apart, *layers.apart, *calls.apart),
        ),
    )


class Frozen(nn.Module):
    """A model for inference, which ``thnn.freeze`` returns.

    It computes without autograd and has neither parameters to train nor a training mode. ``report`` tells what was
    done. It can be moved with ``to`` and pickled, ``torch.save(frozen, path)``, and restored by
    ``torch.load(path, weights_only=False)`` with the same version of thnn.
    """

    def __init__(self, module: nn.Module, report: Report) -> None:
        super().__init__()
        self.module, self.report = module, report
        super().train(False)

    def forward(self, *inputs: Any, **keywords: Any) -> Any:
        with torch.no_grad():
            return self.module(*inputs, **keywords)

    def train(self, mode: bool = True) -> Frozen:
        """Raises ValueError for the training mode, which a frozen model does not have."""
        if mode:
            raise ValueError("train: a frozen model is for inference; train the model that was frozen")
        return self

    def __reduce__(self) -> Any:
        # torch.fx would pickle a graph as Python code, and trace thnn's functions when it is loaded.
        module: Any = self.module
        members = {n.target: _member(module, n.target) for n in module.graph.nodes if n.op in _MEMBERS}
        graph = fx.Graph()  # without the module that owns it
        graph.output(graph.graph_copy(module.graph, {}))
        return _restored, (graph, members, self.report)


_MEMBERS = ("call_module", "get_attr")


def _member(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name)
    return module


def _restored(graph: fx.Graph, members: dict[str, Any], report: Report) -> Frozen:
    return Frozen(fx.GraphModule(members, graph), report)


# Tracing


class _Tracer(fx.Tracer):
    def __init__(self) -> None:
        super().__init__(autowrap_modules=(ours,))

    def proxy(self, node: fx.Node) -> fx.Proxy:
        return Proxy(node, self)

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        if has_hooks(m):
            return True
        home = type(m).__module__
        is_layer = home.startswith(("torch.nn.", "thnn.nn.")) and not isinstance(m, nn.Sequential)
        return is_layer and type(m) not in _INLINE


def _traced(model: nn.Module) -> fx.GraphModule:
    if _Tracer().is_leaf_module(model, ""):
        model = nn.Sequential(model)
    tracer = _Tracer()
    try:
        with functions_as_nodes(tracer):
            graph = tracer.trace(model)
    except Exception as error:  # whatever the forward does with a value that stands for a tensor
        _cannot_trace(model, error)
    return fx.GraphModule(model, graph, type(model).__name__)


def _cannot_trace(model: nn.Module, error: Exception) -> NoReturn:
    message = " ".join(str(error).split())
    raise ValueError(f"freeze: model: torch.fx cannot trace {type(model).__name__}: {message}") from error


class _Examples(fx.Interpreter):
    """Computes the graph and keeps the result of each node, by which `rewrite` tells what thnn can compute."""

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        n.meta["example_value"] = value
        return value


def _copied(value: Any) -> Any:
    """A copy whose tensors are leaves."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if type(value) in (tuple, list):
        return type(value)(map(_copied, value))
    if type(value) is dict:
        return {key: _copied(v) for key, v in value.items()}
    return copy.deepcopy(value)


# Folding


def _fold(root: fx.GraphModule) -> tuple[dict[Layer, fx.Node], list[Layer]]:
    """Folds batch normalization into the layer before it, in place; the layers that were folded, with the calls of the
    layers before them, and those that were not, with the reason."""
    uses = Counter(n.target for n in root.graph.nodes if n.op == "call_module")
    read = {id(_member(root, n.target)) for n in root.graph.nodes if n.op == "get_attr"}
    folded, apart = {}, []
    for node, source in pairs(root.graph, lambda node: root.get_submodule(str(node.target))):
        before: Any = root.get_submodule(str(source.target))
        normalization: Any = root.get_submodule(str(node.target))
        if not all(type(m).__module__.startswith("torch.nn.modules.") for m in (before, normalization)):
            continue  # such as a parametrized layer, whose weight cannot be assigned
        entry = Layer(str(node.target), type(normalization).__name__)
        reason = why_apart(source, before, normalization, source.meta["example_value"].dim())
        if not reason and uses[source.target] > 1:
            reason = f"{source.target} is called more than once"
        if not reason and (id(before.weight) in read or id(before.bias) in read):
            reason = f"the forward reads a parameter of {source.target}"
        if reason:
            apart.append(entry._replace(remark=reason))
            continue
        weight, bias = folded_parameters(
            before, normalization, normalization.running_mean, normalization.running_var
        )
        before.weight, before.bias = nn.Parameter(weight, False), nn.Parameter(bias, False)
        node.replace_all_uses_with(source)
        root.graph.erase_node(node)
        folded[entry._replace(remark=f"into {type(before).__name__} {source.target}")] = source
    root.delete_all_unused_submodules()
    root.recompile()
    return folded, apart


def _check_dims(root: fx.GraphModule, sources: Iterable[fx.Node]) -> None:
    """Makes folded layers refuse inputs with other dimensions, of which batch normalization would take another one as
    the channels."""
    for source in sources:
        input = source.all_input_nodes[0]  # before those of an output_size
        dims = root.get_submodule(str(source.target)).get_parameter("weight").dim()
        with root.graph.inserting_before(source):
            checked = root.graph.call_function(with_dims, (input, dims, str(source.target)))
        source.replace_input_with(input, checked)


def with_dims(input: Tensor, dims: int, layer: str) -> Tensor:
    if input.dim() != dims:
        raise ValueError(
            f"{layer}: input: expected {dims} dimensions, as in the example of freeze, since the batch normalization"
            f" after the layer is folded into it, got shape {tuple(input.shape)}"
        )
    return input
