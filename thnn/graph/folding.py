"""Folding of batch normalization into the convolution or Linear before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from thnn._batch_norm import activation, stages
from thnn._batch_norm import running_statistics as _statistics
from thnn._torch import BatchNormBase, ConvBase, ConvTransposeBase
from thnn.graph.branch import Branch, attribute
from thnn.graph.mode_views import HOOKS, FixedAttribute, ModeViews, has_hooks

_AFFINE_LAYERS = (ConvBase, nn.Linear)
_HOMES = ("torch.nn.modules.", "thnn.nn.")


def fold_branch(branch: Branch, sizes: dict[str, tuple[tuple[int, ...], torch.dtype]]) -> None:
    """Replaces each pair of a convolution or Linear and its batch normalization by one folded module."""
    graph, root = branch.graph, branch._root
    views = type(root.module)._views
    for node, before in pairs(graph, lambda node: attribute(root, str(node.target))):
        input = _input(before)
        if input is None or before.name not in sizes:
            continue
        normalization, module = attribute(root, str(node.target)), attribute(root, str(before.target))
        dims = len(sizes[before.name][0])
        if why_apart(before, module, normalization, dims):
            continue
        view = folded_view(views, module, normalization, dims)
        name = f"folded_{len(vars(root))}"
        setattr(root, name, view)
        with graph.inserting_after(node):
            folded = graph.call_module(name, (input,))
        folded.meta["folded"] = (before, node)
        folded.stack_trace = before.stack_trace
        sizes[folded.name] = sizes[node.name]
        node.replace_all_uses_with(folded)
        graph.erase_node(node)
        graph.erase_node(before)
    branch._compile()


def pairs(graph: fx.Graph, layer_of: Callable[[fx.Node], nn.Module]) -> list[tuple[fx.Node, fx.Node]]:
    """The calls of batch normalization, each with the call of a convolution or Linear before it. The forwards of both
    layers are those of torch or thnn."""
    found = []
    for node in graph.nodes:
        before = _input(node) if node.op == "call_module" else None
        if before is None or before.op != "call_module":
            continue
        normalization, module = layer_of(node), layer_of(before)
        if (
            isinstance(normalization, BatchNormBase)
            and isinstance(module, _AFFINE_LAYERS)
            and all(type(m).forward.__module__.startswith(_HOMES) for m in (normalization, module))
        ):
            found.append((node, before))
    return found


def why_apart(before: fx.Node, module: Any, normalization: Any, dims: int) -> str:
    """Why batch normalization cannot be folded into the layer that `before` calls, whose result has `dims` dimensions;
    '' if it can."""
    if has_hooks(module) or has_hooks(normalization):
        return "has a hook, or the layer before it has"
    if len(before.users) > 1:
        return f"the result of {before.target} is read elsewhere, too"
    if normalization.running_mean is None or normalization.running_var is None:
        return "it has no running statistics"
    # Dimension 1 is normalized, which is not the one of the features or channels.
    if dims != 2 + len(getattr(module, "kernel_size", ())):
        samples = "more than one dimension" if isinstance(module, nn.Linear) else "no dimension"
        return f"{before.target} gets {samples} of samples"
    return ""


def _input(node: fx.Node) -> fx.Node | None:
    """The single argument of a layer, by position or keyword; None for other calls."""
    arguments = [*node.args, *node.kwargs.values()]
    one = arguments[0] if len(arguments) == 1 and {*node.kwargs} <= {"input"} else None
    return one if isinstance(one, fx.Node) else None


def folded_view(views: ModeViews, module: nn.Module, normalization: nn.Module, dims: int) -> nn.Module:
    """A view of a convolution or Linear with the batch normalization after it folded into its weight and bias.

    Weight and bias are computed in each call, so that changes of parameters take effect. The two layers run one after
    the other for inputs with another number of dimensions than `dims`, and if there are hooks or no running statistics.
    """
    first: Any = views.of(module)
    second: Any = views.of(normalization)

    def forward(view: Any, input: Tensor) -> Tensor:
        mean, variance = _read(second, "_buffers", "running_mean"), _read(second, "_buffers", "running_var")
        if (
            input.dim() != dims
            or mean is None
            or variance is None
            or has_hooks(module)
            or has_hooks(normalization)
        ):
            return second(first(input))
        weight, bias = folded_parameters(first, second, mean, variance)
        # A new module in each call, since other threads may run the view.
        once: Any = object.__new__(type(view))
        parameters = {"weight": weight, "bias": bias}
        object.__setattr__(once, "__dict__", {**module.__dict__, "_parameters": parameters})
        output = super(type(view), once).forward(input)
        limit = activation.limit_of(getattr(second, "activation", None))
        return output if limit is None else activation.rectified(output, limit, inplace=True)

    def parameter(name: str) -> property:  # also overrides the property of a parametrization
        return property(lambda view: view.__dict__["_parameters"][name])

    # Layers with hooks run as `first` and `second`, which have them.
    hooks = dict.fromkeys(HOOKS, FixedAttribute({}))
    return views.create(
        module, {"weight": parameter("weight"), "bias": parameter("bias"), **hooks, "forward": forward}
    )


def _read(layer: Any, kind: str, name: str) -> Any:
    """layer.name, read from `_parameters` or `_buffers`: nn.Module.__getattr__ takes as long as a small operation."""
    members = layer.__dict__[kind]
    return members[name] if name in members else getattr(layer, name)  # a parametrized layer has properties


def folded_parameters(
    module: Any, normalization: Any, running_mean: Tensor, running_var: Tensor
) -> tuple[Tensor, Tensor]:
    """Weight and bias of a convolution or Linear that includes the batch normalization after it.

        weight * scale / sqrt(running_var + eps), (bias - running_mean) * scale / sqrt(running_var + eps) + shift

    Computed in at least float32, with as few operations as possible, since they run in each call.
    """
    weight, bias = _read(module, "_parameters", "weight"), _read(module, "_parameters", "bias")
    scale, shift = _read(normalization, "_parameters", "weight"), _read(normalization, "_parameters", "bias")
    upcast = stages.statistics_dtype(running_var)
    # As in the layer itself, a negative eps, which may have been assigned, is an error.
    eps = _statistics.not_negative(type(normalization).__name__, "eps", normalization.eps)
    # If variance + eps is 0 (eps = 0), the factor of thnn's layers is 0 and torch's is infinite.
    is_zero_possible = eps == 0 and type(normalization).__module__.startswith("thnn.nn.")
    variance = _to(upcast, running_var)
    factor = stages.inverse_deviation(variance, eps) if is_zero_possible else (variance + eps).rsqrt()
    if scale is not None:
        factor = factor * _to(upcast, scale)
    mean = _to(upcast, running_mean)
    shifted = -mean if bias is None else bias - mean
    shifted = shifted * factor if shift is None else torch.addcmul(_to(upcast, shift), shifted, factor)
    if isinstance(module, ConvTransposeBase):  # weight (inputs, outputs / groups, ...)
        groups = module.groups
        split = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
        scaled = (split * factor.reshape(groups, 1, -1, *(1,) * (weight.dim() - 2))).reshape(weight.shape)
    else:
        scaled = weight * factor.reshape(-1, *(1,) * (weight.dim() - 1))
    return _to(weight.dtype, scaled), _to(weight.dtype, shifted)


def _to(dtype: torch.dtype, tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype is dtype else tensor.to(dtype)
