"""``thnn.convert`` and ``thnn.revert``: make thnn compute the layers of a torch model, and undo it."""

from __future__ import annotations

import dis
import inspect
from collections import Counter
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

import torch
from torch import fx, nn
from torch.nn.parameter import is_lazy
from torch.nn.utils.parametrize import is_parametrized

import thnn.nn
from thnn._batch_norm.activation import Activation
from thnn._binding.arguments import ELEMENT_DTYPES
from thnn._binding.device import device_types
from thnn._rewrite.blocks import rewritten
from thnn._rewrite.classes import original_of, subclass
from thnn._rewrite.example import Example, examples, seconds
from thnn._rewrite.patterns import SUMS
from thnn._rewrite.readers import name_of
from thnn._rewrite.report import Layer, Report
from thnn._rewrite.trial import reason_to_leave
from thnn.graph import tracing
from thnn.graph.branch import Branch, path_in_model
from thnn.graph.mode_views import has_hooks
from thnn.nn import functional
from thnn.nn.batch_normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    FusedReLU,
    FusedReLU6,
    fused_hardtanh,
    fused_relu,
)

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
# The class of the last layer of nn.MultiheadAttention, which reads its parameters and does not call it.
_ATTENTION_OUTPUT = type(nn.MultiheadAttention(1, 1, device="meta").out_proj)
# Parametrization gives a layer a new class.
_PARAMETRIZED = "parametrized"
# Activation that batch normalization may include -> the layer, and the one that replaces it after a fusion.
_RECTIFIERS: dict[Activation, tuple[type[nn.Module], type[nn.Module]]] = {
    "relu": (thnn.nn.ReLU, FusedReLU),
    "relu6": (thnn.nn.ReLU6, FusedReLU6),
}
_NORMALIZATIONS = (BatchNorm1d, BatchNorm2d, BatchNorm3d)
_FUSED = {fused: layer for layer, fused in _RECTIFIERS.values()}
_ORIGINALS = {ours: theirs for theirs, ours in _COUNTERPARTS.items()}
_ORIGINALS |= {fused: _ORIGINALS[layer] for fused, layer in _FUSED.items()}


class RevertReport(Report):
    """The changes that ``revert`` made: the layers in ``replaced`` have torch's class again, and none is ``fused``."""

    def _sections(self) -> dict[str, tuple[Layer, ...]]:
        return {"reverted": self.replaced, "left": self.left}


def convert(
    model: nn.Module,
    example: Any = None,
    *,
    fuse: bool = True,
    trace: bool = False,
    only_faster: bool = False,
) -> Report:
    """Converts, in place, every layer of a torch model for which ``thnn.nn`` has a counterpart: thnn then computes it.

    A layer keeps its parameters, buffers, hooks, flags and settings; its class becomes the one of ``thnn.nn`` of
    the same name. A layer of a subclass that overrides nothing but the constructor and adds methods gets a subclass of
    both classes; layers of other subclasses are left alone, since they may compute something else. A layer of batch
    normalization each of whose results only one nn.ReLU or nn.ReLU6 layer uses is fused with it, unless one of them has
    hooks: it computes the activation, too, and the other layer returns its input. This requires that torch.fx can trace
    the model in both modes, and that its forward has no optional arguments, no ``*args`` and no ``**kwargs``.

    Fusion assumes that the model is called as a whole, by its forward, as the trace saw it. The result of a fused layer
    is also rectified when something else reads it: a slice of a Sequential, another method of the model, a branch that
    a changed attribute selects, a hook that is added later, a layer that replaces the nn.ReLU, bounds of an nn.ReLU6
    that are changed later. Convert such models with ``fuse=False``. A second conversion, after a change of the model,
    determines the fused layers again.

    Arguments:
        model: torch.nn.Module, which may be a layer. Its parameters are of float32, float64, float16 or bfloat16,
            on the CPU or, if the package has the CUDA library, on a GPU. A model of other types is left alone
        example: an argument of the model, or a tuple of its arguments, for ``trace`` and ``only_faster``. A copy of the
            model runs on it in the mode of the model
        fuse: False: leave batch normalization and activations apart
        trace: True: also give the modules of the model whose forward calls functions of torch, such as F.relu, a
            forward that calls thnn's. torch.fx traces it: what its Python code decides must depend on `training` and on
            attributes that do not change. With an example, a call that thnn cannot compute stays torch's; without,
            it raises an error when the model runs
        only_faster: True: leave the layers that thnn does not compute faster than torch on the example, forward and,
            where gradients are enabled, backward. Times are in the report, of each layer by itself, before fusion

    Returns a `Report` of what changed. ``revert`` undoes the conversion.

    Errors: TypeError for an object that is not a module, and for only_faster without an example. The model's own errors
    on the example. After an error nothing has changed.
    """
    _check_module("convert", model)
    if only_faster and example is None:
        raise TypeError("convert: example: expected the input of the model for only_faster, got None")
    replaced: list[Layer] = []
    joined: list[Layer] = []
    left: list[Layer] = []
    apart: list[Layer] = []
    other_types = _reason_of_types(model)
    modules = [*_layers(model)]
    targets = {path: _target(layer, other_types) for path, layer in modules}
    blocks = {
        path: layer for path, layer in modules if trace and targets[path][0] is None and _is_block(layer)
    }
    candidates = {p: target for p, (target, reason) in targets.items() if target is not None and not reason}
    wanted = [*(candidates if only_faster else ()), *blocks]
    called = examples(model, example, wanted) if wanted and example is not None else {}
    timed = {p: _timed(called.get(p), target) for p, target in candidates.items()} if only_faster else {}
    for path, layer in modules:
        target, reason = targets[path]
        name, kind = path or type(model).__name__, type(layer).__name__
        slower, time = timed.get(path, ("", ""))
        reason = reason or slower
        if target is not None and not reason:
            layer.__class__ = target
            replaced.append(Layer(name, kind, time))
        elif target is not None or reason:
            left.append(Layer(name, kind, reason))
        elif _computes(layer) and path not in blocks:
            left.append(Layer(name, kind, _why_unknown(layer)))
    for path, block in blocks.items():
        name, kind = path or type(model).__name__, type(block).__name__
        if other_types:
            left.append(Layer(name, kind, other_types))
            continue
        try:
            changes = rewritten(block, name, fuse, _reason_with_example, called.get(path))
        except ValueError as error:
            left.append(Layer(name, kind, f"{_why_unknown(block)}: {error}"))
            continue
        replaced += changes.replaced
        joined += changes.fused
        left += changes.left
        apart += changes.apart
    before = _unfuse(model)
    if fuse:
        fused, separate = _fuse(model)
        joined += [f for f in fused if f not in before]
        apart += separate
    return Report(tuple(replaced), tuple(joined), tuple(left), tuple(apart))


def revert(model: nn.Module) -> Report:
    """Makes torch compute every layer of ``thnn.nn`` in a model, in place: the reverse of ``convert``.

    A SyncBatchNorm is left alone; thnn.nn.revert_sync_batchnorm() restores the class of a converted one.

    A layer with an option that torch's layer lacks (batch normalization with ``first_batch``, say) is left alone.

    Returns a `Report`. Errors: TypeError for an object that is not a module.
    """
    _check_module("revert", model)
    replaced, left = [], []
    for path, layer in _layers(model):
        name = path or type(model).__name__
        original = original_of(type(layer)) or _ORIGINALS.get(type(layer))
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
    """The modules, each with its first path; parametrizations of parametrized modules are left out."""
    inner: set[int] = set()
    for name, module in model.named_modules():
        if id(module) in inner:
            continue
        if is_parametrized(module):
            inner.update(map(id, module.parametrizations.modules()))
        yield name, module


def _computes(module: nn.Module) -> bool:
    """True if a module from outside thnn computes something itself: its forward does more than call children."""
    forward = type(module).forward
    is_ours = type(module).__module__.startswith("thnn.") or original_of(type(module)) is not None
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


# Methods that a subclass of a layer may override without a change of what the layer computes.
_HARMLESS = {
    *(
        "__init__",
        "__module__",
        "__doc__",
        "__qualname__",
        "__annotations__",
        "__constants__",
        "__parameters__",
    ),
    *(
        "__firstlineno__",
        "__static_attributes__",
        "__annotate_func__",
        "__annotations_cache__",
        "__orig_bases__",
    ),
    *("__repr__", "_get_name", "extra_repr", "reset_parameters"),
}


def _target(layer: nn.Module, other_types: str) -> tuple[type[nn.Module] | None, str]:
    """The class of a layer after a conversion, and why it cannot be converted, or ''; no class for modules that thnn
    does not have."""
    if "forward" in layer.__dict__:
        return None, "its forward was assigned to the object"
    cls = type(layer)
    base = next((c for c in cls.__mro__ if c in _COUNTERPARTS), None)
    if base is None or original_of(cls) is not None or cls.__module__.startswith("thnn."):
        return None, ""
    target = _COUNTERPARTS[base]
    if is_parametrized(layer):
        return None, _PARAMETRIZED
    if cls is _ATTENTION_OUTPUT:
        return None, "nn.MultiheadAttention computes with its parameters"
    if cls is not base:
        inherits = cls.__mro__[: cls.__mro__.index(base)]
        changed = sorted({n for c in inherits for n in vars(c) if hasattr(base, n)} - _HARMLESS)
        if changed:
            return None, f"a subclass of nn.{base.__name__} with another {', '.join(changed)}"
        target = _subclass(cls, target)
    return target, _reason_to_leave(layer, _COUNTERPARTS[base], other_types)


def _subclass(cls: type[nn.Module], target: type[nn.Module]) -> type[nn.Module]:
    return subclass(cls, (target,), {}, _subclass, (cls, target))


def _is_block(module: nn.Module) -> bool:
    """True for a module from outside torch whose forward calls functions."""
    return _computes(module) and not (
        type(module).__module__.startswith("torch.")
        or is_parametrized(module)
        or isinstance(module, torch.jit.ScriptModule)
    )


def _timed(example: Example | None, target: type[nn.Module]) -> tuple[str, str]:
    """Why a layer should not become one of the class `target`, or '', and otherwise its times."""
    if example is None:
        return "the model does not call it on the example", ""
    try:
        theirs, ours = seconds(example, (type(example.module), target))
    except (TypeError, ValueError, IndexError, NotImplementedError) as error:
        return " ".join(str(error).split()), ""
    times = f"{ours * 1e3:.3g} ms, torch {theirs * 1e3:.3g} ms"
    return ("", times) if ours < theirs else (f"slower: {times}", "")


def _reason_with_example(node: fx.Node, *call: Any) -> str:
    return reason_to_leave(node, *call) if "example_value" in node.meta else ""


def _why_unknown(layer: nn.Module) -> str:
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
    found = {p.dtype for p in model.parameters() if p.dtype.is_floating_point}
    if not found or any(dtype in ELEMENT_DTYPES for dtype in found):
        return ""
    return f"in a model of {', '.join(sorted(map(str, found)))}"


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
        if tensor.is_floating_point() and tensor.dtype not in ELEMENT_DTYPES:
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


def _fuse(model: nn.Module) -> tuple[list[Layer], list[Layer]]:
    """Fuses layers of batch normalization; returns them, and those whose activation stays apart, with the reasons."""
    normalizations = {
        id(m): (path, m)
        for path, m in model.named_modules()
        if type(m) in _NORMALIZATIONS and m.activation is None
    }
    if not normalizations:
        return [], []
    followers = _followers(model)
    fused, apart = [], []
    for key, (path, layer) in normalizations.items():
        name, kind = path or type(model).__name__, type(layer).__name__
        rectifiers, reason = followers.get(key, _Followed({}))
        activations = {activation for activation, _ in rectifiers.values()}
        if not reason and len(activations) > 1:
            reason = f"its results go to {' and '.join(rectifiers)}"
        if reason:
            apart.append(Layer(name, kind, reason))
            continue
        if not activations:
            continue
        (activation,) = activations
        for _, rectifier in rectifiers.values():
            if rectifier is not None:
                rectifier.__class__ = _RECTIFIERS[activation][1]
        remark = f"with {_RECTIFIERS[activation][0].__name__} {', '.join(rectifiers)}"
        fused.append(Layer(name, kind, remark))
        layer._fuse(activation, fused[-1])
    return fused, apart


def _activation(layer: nn.Module | None) -> Activation | None:
    """The activation that a layer computes, if batch normalization may include it."""
    found = next((a for a, kinds in _RECTIFIERS.items() if type(layer) in kinds), None)
    # The bounds of a ReLU6 are attributes, which may have been changed.
    if isinstance(layer, nn.ReLU6) and (layer.min_val, layer.max_val) != (0, 6):
        return None
    return found


class _Followed(NamedTuple):
    """The readers of the results of a layer of batch normalization in one mode, or in both."""

    # The name of a rectifier -> its activation, and its layer, None for a function.
    rectifiers: dict[str, tuple[Activation, nn.Module | None]]
    reason: str = ""  # why the rectifiers cannot be fused with the layer, or why they are not known


def _followers(module: nn.Module, prefix: str = "") -> dict[int, _Followed]:
    """id of a layer of batch normalization -> its readers, the same in both modes."""
    if type(module).forward is nn.Module.forward:
        # A container without a forward, such as nn.ModuleList: each child is a model.
        found: dict[int, _Followed] = {}
        children: Counter[int] = Counter()  # that contain a layer, by its id
        for name, child in module.named_children():
            children.update(id(layer) for layer in child.modules())
            found.update(_followers(child, f"{prefix}{name}."))
        # A layer below two children may be used differently in each.
        shared = _Followed({}, "two models contain it")
        return {key: followed if children[key] == 1 else shared for key, followed in found.items()}
    arguments = inspect.signature(module.forward).parameters.values()
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    try:
        if any(p.kind in variadic or p.default is not p.empty for p in arguments):
            raise ValueError(f"the forward of {type(module).__name__} has optional arguments")
        functions = [getattr(functional, name) for name in functional.__all__]
        branches = [
            tracing.trace(module, len(arguments), training=t, functions=functions) for t in (True, False)
        ]
    except ValueError as error:
        if not any(map(_activation, module.modules())):
            return {}
        unknown = _Followed({}, str(error).removeprefix("fork: "))
        return {id(layer): unknown for layer in module.modules() if type(layer) in _NORMALIZATIONS}
    train, infer = (_followers_in(module, branch, prefix) for branch in branches)
    differ = _Followed({}, "in evaluation it is not read as in training")
    return {key: followed if followed == infer.get(key) else differ for key, followed in train.items()}


def _followers_in(module: nn.Module, branch: Branch, prefix: str) -> dict[int, _Followed]:
    rectifiers: dict[int, dict[str, tuple[Activation, nn.Module | None]]] = {}
    others: dict[int, list[str]] = {}
    reasons: dict[int, str] = {}
    for node in branch.graph.nodes:
        layer = _module_at(module, node)
        if not isinstance(layer, _NORMALIZATIONS) or type(layer) not in _NORMALIZATIONS:
            continue
        key = id(layer)
        found = rectifiers.setdefault(key, {})
        before = len(found)
        for user in node.users:
            name, activation, rectifier = _reader(module, user, prefix)
            if activation is None:
                others.setdefault(key, []).append(name)
                if user.target in SUMS and any(_reader(module, u, prefix)[1] for u in user.users):
                    reasons.setdefault(
                        key, "only the backend of torch.compile fuses it with a sum and a ReLU"
                    )
            elif has_hooks(layer) or (rectifier is not None and has_hooks(rectifier)):
                reasons[key] = f"{'it' if has_hooks(layer) else name} has hooks"
            else:
                found[name] = activation, rectifier
        if len(found) > before + 1:
            reasons[key] = "several layers read one result, which may change in place"
    for key, found in rectifiers.items():
        if found and key in others:
            reasons[key] = f"its result is also read by {', '.join(others[key])}"
    return {key: _Followed(found, reasons.get(key, "")) for key, found in rectifiers.items()}


def _reader(module: nn.Module, user: fx.Node, prefix: str) -> tuple[str, Activation | None, nn.Module | None]:
    """The name of a reader, and the activation and the layer if it is a rectifier; no layer for a function."""
    rectifier = _module_at(module, user)
    if rectifier is not None:
        return prefix + path_in_model(user.target), _activation(rectifier), rectifier
    if user.target is fused_relu:
        return "relu", "relu", None
    if user.target is fused_hardtanh and user.args[1:3] == (0, 6):
        return "relu6", "relu6", None
    return name_of(user), None, None


def _module_at(module: nn.Module, node: fx.Node) -> nn.Module | None:
    return module.get_submodule(path_in_model(node.target)) if node.op == "call_module" else None
