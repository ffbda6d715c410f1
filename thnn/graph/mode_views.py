"""Views of modules with a fixed mode.

A view shares the ``__dict__`` of its module: it always has the module's parameters, buffers, hooks and settings. Its
class, derived from the module's class, fixes `training` and replaces submodules by their views.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from torch import nn

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def has_hooks(module: nn.Module) -> bool:
    """Whether a module has hooks, or a forward that was assigned to the object."""
    return any(map(module.__dict__.get, (*HOOKS, "forward")))


def depends_on_mode(module: nn.Module) -> bool:
    """Whether a method of the class of a module reads `training`."""
    return any(
        isinstance(member, FunctionType) and "training" in member.__code__.co_names
        for cls in type(module).__mro__
        if cls is not nn.Module and issubclass(cls, nn.Module)
        for member in vars(cls).values()
    )


class FixedAttribute:
    """A class attribute that the __dict__ of an instance cannot shadow."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.value

    def __set__(self, instance: Any, value: Any) -> None:
        """Ignores the assignment: the mode of a view is fixed."""


class ModeViews:
    """The views of a module and its submodules in one mode.

    While `assign` is set, an assignment to an attribute of a view calls `assign` instead.
    """

    def __init__(self, training: bool) -> None:
        self.training = training
        self.assign: Callable[[nn.Module, str, Any], None] | None = None
        self._views: dict[int, nn.Module] = {}
        self._classes: dict[type, Any] = {}  # classes of views of modules without submodules

    def of(self, module: nn.Module) -> nn.Module:
        """The view of a module, always the same object; for a view, the view itself."""
        if getattr(type(module), "_views", None) is self:
            return module
        view = self._views.get(id(module))
        # Another module may have the address of a freed one, and the class of a module may change.
        if (
            view is None
            or view.__dict__ is not module.__dict__
            or type(view).__bases__[0] is not type(module)
        ):
            view = self._views[id(module)] = self.create(module, {})
        return view

    def create(self, module: nn.Module, members: dict[str, Any]) -> nn.Module:
        """A new view of a module, whose class has `members` in addition."""
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
            "training": FixedAttribute(self.training),
            "_compiled_call_impl": FixedAttribute(None),  # the compiled call has the mode of the module
        }
        count = len(namespace)
        namespace |= members
        if module._modules:
            namespace |= {"_modules": property(children), "__getattr__": get}
        # Plain attributes that hold modules or their methods, which may change at any time.
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
