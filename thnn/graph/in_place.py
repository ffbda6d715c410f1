"""Changes in place, such as ``x += y``, in a trace of torch.fx, which would record ``x = x + y``: another name of the
same tensor, a view of it, or the caller would keep the old values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from torch import fx

_NAMES = (
    "iadd", "iand", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior", "ipow", "irshift", "isub", "itruediv",
    "ixor",
)  # fmt: skip


class InPlace:
    """A function of `operator`. For the function itself torch.fx would write ``x += y``, which also changes the
    variable of a number that is read later."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.__module__ = __name__

    def __call__(self, value: Any, other: Any) -> Any:
        return getattr(operator, self.__name__)(value, other)


IN_PLACE = {name: InPlace(name) for name in _NAMES}


class Proxy(fx.Proxy):
    """A value of a trace, with the operators that change it in place."""

    def __getattr__(self, k: str) -> fx.proxy.Attribute:
        return _Attribute(self, k)


class _Attribute(fx.proxy.Attribute):
    """An attribute of a value, such as ``x.T``."""

    def __getattr__(self, k: str) -> fx.proxy.Attribute:
        return _Attribute(self, k)


def _method(function: InPlace) -> Callable[[fx.Proxy, Any], Any]:
    def method(self: fx.Proxy, other: Any) -> Any:
        if self.node.op == "get_attr":  # the tracer keeps what a forward assigns to a buffer
            return NotImplemented
        return self.tracer.create_proxy("call_function", function, (self, other), {})

    return method


for _name, _function in IN_PLACE.items():
    for _class in (Proxy, _Attribute):
        setattr(_class, f"__{_name}__", _method(_function))
