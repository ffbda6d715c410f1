"""``torch.nn.backends``: the registry of function classes that old layers refer to, also from pickles."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

from thnn._binding.backend import MissingFunction
from thnn.compat import _classes
from thnn.compat._contents import REGISTERED, WRITTEN_CLASSES, load
from thnn.compat._hints import hint

_THNN = "torch.nn.backends.thnn"
_CLASSES = "torch.nn._functions.thnn"


class FunctionBackend:
    """Function classes by name, as attributes."""

    __module__ = "torch.nn.backends.backend"

    function_classes: dict[str, Any]

    def __init__(self) -> None:
        self.function_classes = {}

    def __getattr__(self, name: str) -> Any:
        # copy and pickle ask objects without attributes for special methods.
        if name.startswith("__") or name == "function_classes":
            raise AttributeError(name)
        found = self.function_classes.get(name)
        if found is None:
            raise MissingFunction(
                f"{type(self).__name__} has no function class {name!r}{hint(_CLASSES, name)}"
            )
        return found

    def register_function(self, name: str, function_class: Any) -> None:
        """Adds a class; RuntimeError if the name is taken."""
        if name in self.function_classes:
            raise RuntimeError(f"{type(self).__name__} already has a function class {name!r}")
        self.function_classes[name] = function_class

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.function_classes})


class THNNFunctionBackend(FunctionBackend):
    """The classes of thnn and those that were registered. There is one object, which copies and pickles refer to."""

    __module__ = _THNN

    def __init__(self) -> None:
        pass  # function_classes is filled when it is first read

    @cached_property
    def function_classes(self) -> dict[str, Any]:  # type: ignore[override]
        """Every class by name."""
        written = {**WRITTEN_CLASSES, **REGISTERED}
        classes = {name: _classes.class_of(name) for name in _classes.names()}
        first = {n: _classes.class_of_0_1_1(f"{m}Function") for n, m in _classes.REGISTERED_0_1_1.items()}
        return {**first, **classes, **{name: load(place) for name, place in written.items()}}

    def __copy__(self) -> THNNFunctionBackend:
        return self

    def __deepcopy__(self, memo: Any) -> THNNFunctionBackend:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # torch has a function of this name as well, so that the pickle can be written and read without `install`.
        return import_module(_THNN)._get_thnn_function_backend, ()


backend = THNNFunctionBackend()


def _get_thnn_function_backend() -> THNNFunctionBackend:
    """The function backend. Modules that PyTorch pickled until 0.4 call it."""
    return backend


_get_thnn_function_backend.__module__ = _THNN
