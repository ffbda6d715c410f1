"""``thnn.convert`` and ``thnn.revert``: make thnn compute the layers of a torch model, and undo it."""

from __future__ import annotations

import dis
import inspect
from collections import Counter
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.nn.utils.parametrize import is_parametrized

import thnn.nn
from thnn._batch_norm.activation import Activation
from thnn._binding.device import device_types
from thnn._table import aligned
from thnn.graph.branch import Branch, path_in_model
from thnn.graph.mode_views import has_hooks
from thnn.graph.tracing import trace
from thnn.nn.batch_normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d, FusedReLU, FusedReLU6

_DTYPES = {
    "cpu": (torch.float32, torch.float64),
    "cuda": (torch.float32, torch.float64, torch.float16, torch.bfloat16),
}
# SyncBatchNorm has a counterpart that computes with other processes: thnn.nn.convert_sync_batchnorm() converts it.
_COUNTERPARTS = {
    getattr(nn, name): getattr(thnn.nn, name)
    for name in thnn.nn.__all__
    if name != "SyncBatchNorm" and isinstance(getattr(nn, name, None), type)
}
# Containers and wrappers compute nothing, so a report leaves them out.
_CONTAINER_FORWARDS = (nn.Module.forward, nn.Sequential.forward, nn.Identity.forward)
_WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel)
# The names of instructions that compute, in code of Python 3.10 or later.
_OPERATORS = ("BINARY_", "INPLACE_", "UNARY_", "COMPARE_")
# Parametrization gives a layer a new class.
_PARAMETRIZED = "parametrized"
# Activation that batch normalization may include -> the layer, and the one that replaces it after a fusion.
_RECTIFIERS: dict[Activation, tuple[type[nn.Module], type[nn.Module]]] = {
    "relu": (thnn.nn.ReLU, FusedReLU),
    "relu6": (thnn.nn.ReLU6, FusedReLU6),
}
_FUSED = {fused: layer for layer, fused in _RECTIFIERS.values()}
_ORIGINALS = {ours: theirs for theirs, ours in _COUNTERPARTS.items()}
_ORIGINALS |= {fused: _ORIGINALS[layer] for fused, layer in _FUSED.items()}


class Layer(NamedTuple):
    """A layer in a report: its name in the model, the name of its class, and a remark."""

    name: str
    kind: str
    remark: str = ""


class Report(NamedTuple):
    """The changes that ``convert`` or ``revert`` made; ``print(report)`` shows them as a table.

    ``replaced`` has the layers that changed their class, ``fused`` the layers of batch normalization that include the
    ReLU or ReLU6 of the remark, ``left`` the layers that could not be converted (or reverted), with the reason, and the
    modules whose forward computes something besides its layers. The table has one line for all entries of ``left`` of
    one class and reason.
    """

    replaced: tuple[Layer, ...]
    fused: tuple[Layer, ...]
    left: tuple[Layer, ...]

    def __str__(self) -> str:
        return _table(replaced=self.replaced, fused=self.fused, left=self.left)


class RevertReport(Report):
    """The changes that ``revert`` made: the layers in ``replaced`` have torch's class again, and none is ``fused``."""

    def __str__(self) -> str:
        return _table(reverted=self.replaced, left=self.left)


def _table(**sections: tuple[Layer, ...]) -> str:
    rows = [
        (title, *layer)
        for title, layers in sections.items()
        for layer in (_joined(layers) if title == "left" else layers)
    ]
    counts = ", ".join(f"{len(layers)} {title}" for title, layers in sections.items())
    return "\n".join([*aligned(rows), counts])


def _joined(layers: tuple[Layer, ...]) -> Iterator[Layer]:
    """One entry for all layers of one class with one remark."""
    names: dict[tuple[str, str], list[str]] = {}
    for layer in layers:
        names.setdefault((layer.kind, layer.remark), []).append(layer.name)
    for (kind, remark), (first, *others) in names.items():
        yield Layer(f"{first} and {len(others)} more" if others else first, kind, remark)


def convert(model: nn.Module, *, fuse: bool = True) -> Report:
    """Converts, in place, every layer of a torch model for which ``thnn.nn`` has a counterpart: thnn then computes it.

    A layer keeps its parameters, buffers, hooks, flags and settings; its class becomes the one of ``thnn.nn`` of
    the same name. Subclasses of torch's layers are left alone, since they may compute something else. A layer of batch
    normalization each of whose results only one nn.ReLU or nn.ReLU6 layer uses is fused with it, unless one of them has
    hooks: it computes the activation, too, and the other layer returns its input. This requires that torch.fx can trace
    the model in both modes, and that its forward has no optional arguments, no ``*args`` and no ``**kwargs``.

    Fusion assumes that the model is called as a whole, by its forward, as the trace saw it. The result of a fused layer
    is also rectified when something else reads it: a slice of a Sequential, another method of the model, a branch that
    a changed attribute selects, a hook that is added later, a layer that replaces the nn.ReLU, bounds of an nn.ReLU6
    that are changed later. Convert such models with ``fuse=False``. A second conversion, after a change of the model,
    determines the fused layers again.

    Arguments:
        model: torch.nn.Module, which may be a layer. Its parameters are on the CPU, of float32 or float64, or, if the
            package has the CUDA library, on a GPU, of these types, float16 or bfloat16. A model of other types is left
            alone. A change of type after the conversion, such as ``model.bfloat16()`` on the CPU, makes the forward
            raise a TypeError: call ``revert`` before
        fuse: False: leave batch normalization and activations apart

    Returns a `Report` of what changed. ``revert`` undoes the conversion.

    Errors: TypeError for an object that is not a module.
    """
    _check_module("convert", model)
    replaced, left = [], []
    other_types = _reason_of_types(model)
    for name, layer in _layers(model):
        target = _COUNTERPARTS.get(type(layer))
        if target is not None and not (reason := _reason_to_leave(layer, target, other_types)):
            layer.__class__ = target
            replaced.append(Layer(name, type(layer).__name__))
        elif target is not None:
            left.append(Layer(name, type(layer).__name__, reason))
        elif _computes(layer):
            left.append(Layer(name, type(layer).__name__, _why_unknown(layer)))
    before = _unfuse(model)
    fused = _fuse(model) if fuse else []
    return Report(tuple(replaced), tuple(f for f in fused if f not in before), tuple(left))


def revert(model: nn.Module) -> Report:
    """Makes torch compute every layer of ``thnn.nn`` in a model, in place: the reverse of ``convert``.

    A SyncBatchNorm is left alone; thnn.nn.revert_sync_batchnorm() restores the class of a converted one.

    A layer with an option that torch's layer lacks (batch normalization with ``first_batch``, say) is left alone.

    Returns a `Report`. Errors: TypeError for an object that is not a module.
    """
    _check_module("revert", model)
    replaced, left = [], []
    for name, layer in _layers(model):
        original = _ORIGINALS.get(type(layer))
        if original is None:
            if is_parametrized(layer) and type(layer).__base__ in _ORIGINALS:
                left.append(Layer(name, type(layer).__name__, _PARAMETRIZED))
            continue
        kind = original.__name__  # a FusedReLU is known as a ReLU
        if isinstance(layer, BatchNorm1d | BatchNorm2d | BatchNorm3d):
            if reason := layer._options_beyond_torch():
                left.append(Layer(name, kind, reason))
                continue
            layer._remove_options()
        layer.__class__ = original
        replaced.append(Layer(name, kind))
    return RevertReport(tuple(replaced), (), tuple(left))


def _check_module(function: str, model: Any) -> None:
    if not isinstance(model, nn.Module):
        raise TypeError(f"{function}: model: expected a torch.nn.Module, got {type(model).__name__}")


def _layers(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The modules, each with its first name; parametrizations of parametrized modules are left out."""
    inner: set[int] = set()
    for name, module in model.named_modules():
        if id(module) in inner:
            continue
        if is_parametrized(module):
            inner.update(map(id, module.parametrizations.modules()))
        yield name or type(model).__name__, module


def _computes(module: nn.Module) -> bool:
    """True if a module from outside thnn computes something itself: its forward does more than call children."""
    forward = type(module).forward
    is_ours = type(module).__module__.startswith("thnn.")
    if is_ours or forward in _CONTAINER_FORWARDS or isinstance(module, _WRAPPERS):
        return False
    code = getattr(forward, "__code__", None)
    if not module._modules or code is None or any(isinstance(c, CodeType) for c in code.co_consts):
        return True
    if not {*code.co_names} <= {*module._modules}:
        return True
    return any(
        instruction.opname.startswith(_OPERATORS) and instruction.opname != "BINARY_SUBSCR"
        for instruction in dis.get_instructions(code)
    )


def _why_unknown(layer: nn.Module) -> str:
    if is_parametrized(layer):
        return _PARAMETRIZED
    for base in type(layer).__mro__[1:]:
        if base in _COUNTERPARTS:
            return f"a subclass of nn.{base.__name__}"
    if type(layer) is nn.SyncBatchNorm:
        return "thnn.nn.convert_sync_batchnorm() converts it"
    if type(layer).__module__.startswith("torch.nn."):
        return "thnn has no such layer"
    if layer._modules:
        return "its layers are converted, the functions that its forward calls are not"
    return "not a layer of torch.nn"


def _reason_of_types(model: nn.Module) -> str:
    """Why layers without floating-point tensors cannot be converted: their inputs will probably have the type of the
    model's parameters, and thnn takes none of these types. '' if it takes one, or if there are no parameters."""
    found = {(p.device.type, p.dtype) for p in model.parameters() if p.dtype.is_floating_point}
    if not found or any(dtype in _DTYPES.get(device, (dtype,)) for device, dtype in found):
        return ""
    return f"in a model of {', '.join(sorted({str(dtype) for _, dtype in found}))}"


def _reason_to_leave(layer: nn.Module, target: type[nn.Module], other_types: str) -> str:
    """Why a layer cannot be converted, or ''."""
    tensors = (*layer.parameters(recurse=False), *layer.buffers(recurse=False))
    if other_types and not any(t.dtype.is_floating_point for t in tensors):
        return other_types
    for tensor in tensors:
        if is_lazy(tensor):
            return "not initialized"
        if tensor.device.type not in device_types():
            return f"on {tensor.device}"
        if tensor.is_floating_point() and tensor.dtype not in _DTYPES[tensor.device.type]:
            return f"has {tensor.dtype}"
    unsupported = getattr(target, "_unsupported", None)
    return "" if unsupported is None else str(unsupported(layer))


# Fusion of batch normalization and ReLU or ReLU6


def _unfuse(model: nn.Module) -> list[Layer]:
    """Separates fused layers; returns their lines in the report, as `_fuse` had returned them."""
    before: list[Layer] = []
    for layer in model.modules():
        if isinstance(layer, BatchNorm1d | BatchNorm2d | BatchNorm3d) and "_fused" in layer.__dict__:
            before.append(layer._separate())
        elif type(layer) in _FUSED:
            layer.__class__ = _FUSED[type(layer)]
    return before


def _fuse(model: nn.Module) -> list[Layer]:
    normalizations = {
        id(m): (name, m)
        for name, m in model.named_modules()
        if type(m) in (BatchNorm1d, BatchNorm2d, BatchNorm3d) and m.activation is None
    }
    if not normalizations or not any(map(_activation, model.modules())):
        return []
    followers = _followers(model)
    fused = []
    for key, (name, layer) in normalizations.items():
        rectifiers = followers.get(key, {})
        activation, *others = {_activation(r) for r in rectifiers.values()} or {None}
        if activation is None or others or has_hooks(layer):
            continue
        kind, fused_kind = _RECTIFIERS[activation]
        for rectifier in rectifiers.values():
            rectifier.__class__ = fused_kind
        remark = f"with {kind.__name__} {', '.join(rectifiers)}"
        fused.append(Layer(name, type(layer).__name__, remark))
        layer._fuse(activation, fused[-1])
    return fused


def _activation(layer: nn.Module) -> Activation | None:
    """The activation that a layer computes, if batch normalization may include it."""
    found = next((a for a, kinds in _RECTIFIERS.items() if type(layer) in kinds), None)
    # The bounds of a ReLU6 are attributes, which may have been changed.
    if isinstance(layer, nn.ReLU6) and (layer.min_val, layer.max_val) != (0, 6):
        return None
    return found


def _followers(module: nn.Module, prefix: str = "") -> dict[int, dict[str, nn.Module]]:
    """id of a layer -> ReLU and ReLU6 layers by name, for each layer whose results only one such layer uses, in both
    modes.

    Empty if the module cannot be traced, or has optional or variadic arguments, which may make it use other results.
    """
    if type(module).forward is nn.Module.forward:
        # A container without a forward, such as nn.ModuleList: each child is a model.
        found: dict[int, dict[str, nn.Module]] = {}
        children: Counter[int] = Counter()  # that contain a layer, by its id
        for name, child in module.named_children():
            children.update(id(layer) for layer in child.modules())
            found.update(_followers(child, f"{prefix}{name}."))
        # A layer below two children may be used differently in each.
        return {key: layers for key, layers in found.items() if children[key] == 1}
    arguments = inspect.signature(module.forward).parameters.values()
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(p.kind in variadic or p.default is not p.empty for p in arguments):
        return {}
    try:
        branches = [trace(module, len(arguments), training=training) for training in (True, False)]
    except ValueError:
        return {}
    train, infer = (_followers_in(module, branch, prefix) for branch in branches)
    return {key: layers for key, layers in train.items() if infer.get(key, {}).keys() == layers.keys()}


def _followers_in(module: nn.Module, branch: Branch, prefix: str) -> dict[int, dict[str, nn.Module]]:
    found: dict[int, dict[str, nn.Module]] = {}
    refused: set[int] = set()
    for node in branch.graph.nodes:
        if node.op != "call_module":
            continue
        layer = _module_at(module, node.target)
        layers: dict[str, nn.Module] = {}
        for user in node.users:
            follower = _module_at(module, user.target) if user.op == "call_module" else None
            if follower is None or _activation(follower) is None or has_hooks(follower):
                refused.add(id(layer))
            else:
                layers[prefix + path_in_model(user.target)] = follower
        if len(node.users) != 1:  # users would share one tensor, which may change in place
            refused.add(id(layer))
        found.setdefault(id(layer), {}).update(layers)
    return {key: layers for key, layers in found.items() if key not in refused}


def _module_at(module: nn.Module, target: str) -> nn.Module:
    return module.get_submodule(path_in_model(target))
