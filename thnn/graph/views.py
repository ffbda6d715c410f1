"""Views of modules: the same state in another mode.

A view of a module has the module's own ``__dict__``, so that parameters, buffers, hooks and settings are those of the
module at any time, but a class that pins `training`, and the views of its children for the children.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import torch
from torch import Tensor, nn

from thnn._batch_norm import statistics as _statistics

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def has_hooks(module: nn.Module) -> bool:
    """Whether calling a module does more, or something else, than the forward of its class."""
    return any(map(module.__dict__.get, (*_HOOKS, "forward")))


def depends_on_mode(module: nn.Module) -> bool:
    """Whether the class of a module asks for `training`."""
    return any(
        isinstance(member, FunctionType) and "training" in member.__code__.co_names
        for cls in type(module).__mro__
        if cls is not nn.Module and issubclass(cls, nn.Module)
        for member in vars(cls).values()
    )


class _Constant:
    """A class attribute that instances cannot shadow, whatever is in their __dict__."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.value

    def __set__(self, instance: Any, value: Any) -> None:
        """Ignored: a view does not change its mode."""


class Views:
    """The views of a module and of all that is in it, in one mode.

    While `assign` is set it is told of each attribute that a view is given; the module gets none then.
    """

    def __init__(self, training: bool) -> None:
        self.training = training
        self.assign: Callable[[nn.Module, str, Any], None] | None = None
        self._views: dict[int, nn.Module] = {}
        self._classes: dict[type, Any] = {}  # of modules that hold no others

    def of(self, module: nn.Module) -> nn.Module:
        """The view of a module; always the same one. That of a view is itself."""
        if getattr(type(module), "_views", None) is self:
            return module
        view = self._views.get(id(module))
        if view is None:
            view = self._views[id(module)] = self._make(module, {})
        return view

    def folded(self, module: nn.Module, normalization: nn.Module, dims: int) -> nn.Module:
        """A view of a convolution or Linear that has the batch normalization after it in its weight and bias.

        They are computed anew at each call, so that any change of what they are made of is seen. An input of another
        number of dimensions than `dims` takes the two layers one after the other, as does any when there are hooks or
        no running statistics any more.
        """
        first: Any = self.of(module)
        second = self.of(normalization)

        def forward(view: Any, input: Tensor) -> Tensor:
            if (
                input.dim() != dims
                or second.running_mean is None
                or second.running_var is None
                or has_hooks(module)
                or has_hooks(normalization)
            ):
                return second(first(input))
            weight, bias = fold(module, second, first.weight, first.bias)
            # A module for this one call: others may be under way in other threads.
            once: Any = object.__new__(type(view))
            parameters = {**module._parameters, "weight": weight, "bias": bias}
            object.__setattr__(once, "__dict__", {**module.__dict__, "_parameters": parameters})
            output = super(type(view), once).forward(input)  # type: ignore[misc]
            return output.relu_() if getattr(second, "activation", None) == "relu" else output

        def parameter(name: str) -> property:  # also where a parametrization has made it a property
            return property(lambda view: view.__dict__["_parameters"][name])

        # `first` has the hooks.
        hooks = dict.fromkeys(_HOOKS, _Constant({}))
        return self._make(
            module, {"weight": parameter("weight"), "bias": parameter("bias"), **hooks, "forward": forward}
        )

    def _make(self, module: nn.Module, members: dict[str, Any]) -> nn.Module:
        views, cls = self, type(module)

        def children(view: Any) -> dict[str, Any]:
            return {k: m if m is None else views.of(m) for k, m in view.__dict__["_modules"].items()}

        def get(view: Any, name: str) -> Any:
            value = super(view_class, view).__getattr__(name)  # type: ignore[misc]
            return views.of(value) if isinstance(value, nn.Module) else value

        def set_(view: Any, name: str, value: Any) -> None:
            if views.assign is not None:
                views.assign(view, name, value)
            else:
                super(view_class, view).__setattr__(name, value)

        namespace: dict[str, Any] = {
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "__doc__": cls.__doc__,
            "__setattr__": set_,
            "_views": self,
            "training": _Constant(self.training),
            "_compiled_call_impl": _Constant(None),  # what module.compile() made obeys the module
        }
        count = len(namespace)
        namespace |= members
        if module._modules:
            namespace |= {"_modules": property(children), "__getattr__": get}
        # Plain attributes with modules or their methods in them: each time as they are then.
        for name, value in module.__dict__.items():
            if name not in namespace and not name.startswith("_") and self._holds_module(value):
                namespace[name] = property(partial(self._attribute, name))
        plain = len(namespace) == count
        view_class: Any = self._classes.get(cls) if plain else None
        if view_class is None:
            view_class = type(cls)(cls.__name__, (cls,), namespace)  # type: ignore[misc]
        if plain:
            self._classes[cls] = view_class
        view = object.__new__(view_class)
        object.__setattr__(view, "__dict__", module.__dict__)
        return view

    def _attribute(self, name: str, view: nn.Module) -> Any:
        return self._substitute(view.__dict__[name])

    def _holds_module(self, value: Any) -> bool:
        if type(value) in (list, tuple, dict):
            return any(map(self._holds_module, value.values() if type(value) is dict else value))
        return isinstance(value.__self__ if isinstance(value, MethodType) else value, nn.Module)

    def _substitute(self, value: Any) -> Any:
        if isinstance(value, nn.Module):
            return self.of(value)
        if isinstance(value, MethodType) and isinstance(value.__self__, nn.Module):
            return MethodType(value.__func__, self.of(value.__self__))
        if type(value) in (list, tuple):
            return type(value)(self._substitute(v) for v in value)
        if type(value) is dict:
            return {k: self._substitute(v) for k, v in value.items()}
        return value


def fold(
    module: nn.Module, normalization: nn.Module, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Weight and bias of a convolution or Linear that does the batch normalization after it, too.

    Made in float32 at least, of as few operations as will do: they run at each call.
    """
    n: Any = normalization
    variance, scale, shift = n.running_var, n.weight, n.bias
    wide = torch.promote_types(variance.dtype, torch.float32)
    # As the layer itself does, which an eps below 0 may have been assigned to.
    eps = _statistics.not_negative(type(normalization).__name__, "eps", n.eps)
    factor = (_to(wide, variance) + eps).rsqrt()
    if scale is not None:
        factor = factor * _to(wide, scale)
    mean = _to(wide, n.running_mean)
    shifted = -mean if bias is None else bias - mean
    shifted = shifted * factor if shift is None else torch.addcmul(_to(wide, shift), shifted, factor)
    groups = getattr(module, "groups", 1)
    if getattr(module, "transposed", False):  # (inputs, outputs / groups, ...)
        split = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
        scaled = (split * factor.reshape(groups, 1, -1, *(1,) * (weight.dim() - 2))).reshape(weight.shape)
    else:
        scaled = weight * factor.reshape(-1, *(1,) * (weight.dim() - 1))
    return _to(weight.dtype, scaled), _to(weight.dtype, shifted)


def _to(dtype: torch.dtype, tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype is dtype else tensor.to(dtype)
