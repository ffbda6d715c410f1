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


def _without_substitute(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A getter of which an AttributeError is an error: nn.Module would look for the attribute elsewhere."""

    def get(view: Any) -> Any:
        try:
            return function(view)
        except AttributeError as error:
            raise ValueError(f"folded batch normalization: {error}; fork the model again") from error

    return get


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

        def weight(_: Any) -> Tensor:
            return fold_weight(module, second, first.weight)

        def bias(_: Any) -> Tensor:
            return fold_bias(second, first.bias, first.weight.dtype)

        def parameters(view: Any) -> dict[str, Any]:
            return {**view.__dict__["_parameters"], "weight": view.weight, "bias": view.bias}

        def forward(view: Any, input: Tensor) -> Tensor:
            if (
                input.dim() != dims
                or second.running_mean is None
                or second.running_var is None
                or has_hooks(module)
                or has_hooks(normalization)
            ):
                return second(first(input))
            output = super(type(view), view).forward(input)  # type: ignore[misc]
            return output.relu_() if getattr(second, "activation", None) == "relu" else output

        members: dict[str, Any] = {"weight": weight, "bias": bias, "_parameters": parameters}
        members = {name: property(_without_substitute(f)) for name, f in members.items()}
        # `first` has the hooks.
        return self._make(module, {**members, **dict.fromkeys(_HOOKS, _Constant({})), "forward": forward})

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


def _factor(normalization: nn.Module) -> Tensor:
    """What batch normalization multiplies each channel by in inference; in float32 at least."""
    n: Any = normalization
    variance = n.running_var
    wide = torch.promote_types(variance.dtype, torch.float32)
    factor = (variance.to(wide) + n.eps).rsqrt()
    return factor if n.weight is None else factor * n.weight.to(wide)


def fold_weight(module: nn.Module, normalization: nn.Module, weight: Tensor) -> Tensor:
    """The weight of a convolution or Linear, times the factor of each output channel."""
    factor = _factor(normalization)
    groups = getattr(module, "groups", 1)
    if getattr(module, "transposed", False):  # (inputs, outputs / groups, ...)
        shape = (groups, 1, -1) + (1,) * (weight.dim() - 2)
        split = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
        return (split * factor.reshape(shape)).to(weight.dtype).reshape(weight.shape)
    return (weight * factor.reshape(-1, *(1,) * (weight.dim() - 1))).to(weight.dtype)


def fold_bias(normalization: nn.Module, bias: Tensor | None, dtype: torch.dtype) -> Tensor:
    """The bias of a convolution or Linear and the batch normalization after it."""
    n: Any = normalization
    factor = _factor(normalization)
    mean = n.running_mean.to(factor.dtype)
    shifted = (-mean if bias is None else bias - mean) * factor
    if n.bias is not None:
        shifted = shifted + n.bias
    return shifted.to(dtype)
