"""The importer of the modules of PyTorch 0.1 to 0.4, which creates them and raises the errors for names they lack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from thnn.compat._contents import CONTENTS, Contents


class _Importer(MetaPathFinder, Loader):
    """Creates the modules, and raises the errors for names that they lack.

    Every module is a package without a path, so that Python asks the importer for each name that a program imports from
    it and that it lacks. The importer then raises an error with a hint.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in CONTENTS:
            return ModuleSpec(fullname, self, origin="thnn.compat", is_package=True)
        parent, _, name = fullname.rpartition(".")
        if parent in CONTENTS:
            from thnn.compat._hints import hint  # imports all layers

            # If the exception had its attribute `name`, `from parent import name` would replace it by one without the
            # hint.
            raise ModuleNotFoundError(f"cannot import {name!r} from {parent}{hint(parent, name)}")
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        """None, for the module that Python makes."""

    def exec_module(self, module: ModuleType) -> None:
        """Gives the module its attributes, which are made when they are read."""
        name = module.__name__
        contents = CONTENTS[name]
        module.__doc__ = f"{contents.doc} Served by thnn.compat."
        module.__dict__["__getattr__"] = _getattr(module, contents)
        module.__dict__["__dir__"] = _dir(module, contents)


def _getattr(module: ModuleType, contents: Contents) -> Callable[[str], Any]:
    def __getattr__(name: str) -> Any:  # noqa: N807
        if name == "__all__":
            return [n for n in contents.names() if not n.startswith("_")]
        module_name = module.__name__
        # Python and torch ask every module for names such as __file__, also while they import thnn.
        if name.startswith("__"):
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        try:
            value = contents.find(name)
        except KeyError:
            from thnn.compat._hints import hint

            raise AttributeError(
                f"module {module_name!r} has no attribute {name!r}{hint(module_name, name)}"
            ) from None
        setattr(module, name, value)
        return value

    return __getattr__


def _dir(module: ModuleType, contents: Contents) -> Callable[[], Iterable[str]]:
    return lambda: sorted({*module.__dict__, *contents.names()})


FINDER = _Importer()
