"""Legacy code for PyTorch 0.1 to 0.4: the modules that it imports, served by thnn.

    import thnn

    thnn.compat.install()
    from torch._thnn import type2backend
    from torch.nn._functions.thnn.auto import Threshold

`install` puts ``torch._thnn``, ``torch.nn._functions``, ``torch.nn.functions`` (its name until 0.1.5),
``torch.nn.backends.thnn`` and ``torch.nn.backends.backend`` into ``sys.modules``, sets
``torch.nn.functional._functions`` and ``torch.nn.Module._backend``, and lets subclasses of
``torch.autograd.Function`` with a non-static forward be called; `uninstall` restores ``sys.modules`` and torch. ``with
thnn.compat:`` does both. Nothing else in torch changes, and without a call nothing changes at all. docs/migration.md
lists the old names and calls.
"""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from importlib import import_module
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from thnn.compat._contents import NAMES, TORCH_PACKAGES
from thnn.compat._modules import FINDER

if TYPE_CHECKING:
    from thnn.compat._upgrade.findings import Upgraded

__all__ = ["install", "uninstall", "upgrade"]

_ABSENT: Any = object()


class _State:
    """Why the modules are installed: a call of `install` (`by_call`), and `depth` open ``with``
    statements."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.by_call = False
        self.depth = 0
        self.undo = ExitStack()

    @property
    def in_use(self) -> bool:
        return self.by_call or self.depth > 0

    def add(self) -> None:
        """Imports the modules of 2017 in place of torch's modules with the same names, and lets legacy functions be
        called."""
        with ExitStack() as undo:
            for name in (*TORCH_PACKAGES, *NAMES):
                parent, _, child = name.rpartition(".")
                package = import_module(parent)
                attribute = package.__dict__.get(child, _ABSENT)
                undo.callback(_restore, name, sys.modules.get(name, _ABSENT), package, attribute)
                if name in NAMES:
                    if FINDER not in sys.meta_path:
                        sys.meta_path.insert(0, FINDER)
                        undo.callback(_remove_finder)
                    sys.modules.pop(name, None)
                import_module(name)
            functional, layers = import_module("torch.nn.functional"), import_module("torch.nn")
            _set(undo, functional, "_functions", sys.modules["torch.nn._functions"])
            _set(undo, layers.Module, "_backend", _ModuleBackend())
            import_module("thnn.compat._legacy_functions").let_be_called(undo)  # imports torch
            self.undo = undo.pop_all()

    def remove(self) -> None:
        """Restores sys.modules, torch and sys.meta_path."""
        self.undo.close()


class _ModuleBackend:
    """``torch.nn.Module._backend``, read of a module or of the class. A module may have another one as attribute."""

    def __get__(self, module: Any, owner: type) -> Any:
        # Here, since it imports all layers.
        return import_module("thnn.compat._function_backend").backend


def _set(undo: ExitStack, owner: Any, name: str, value: Any) -> None:
    """Sets an attribute that torch does not have, until `undo` is closed."""
    setattr(owner, name, value)
    undo.callback(delattr, owner, name)


def _remove_finder() -> None:
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not FINDER]


def _restore(name: str, module: Any, package: ModuleType, attribute: Any) -> None:
    """Restores the entry of sys.modules and the attribute of the parent."""
    if module is _ABSENT:
        sys.modules.pop(name, None)
    else:
        sys.modules[name] = module
    child = name.rpartition(".")[2]
    if attribute is not _ABSENT:
        setattr(package, child, attribute)
    elif child in package.__dict__:
        delattr(package, child)


_state = _State()


def install() -> None:
    """Makes the imports of PyTorch 0.1 to 0.4 work, until `uninstall`. A second call has no effect."""
    with _state.lock:
        if not _state.in_use:
            _state.add()
        _state.by_call = True


def uninstall() -> None:
    """Restores what `install` changed; inside ``with thnn.compat:`` at the end of that block.

    Without a preceding `install` it has no effect. Objects imported in the meantime keep working.
    """
    with _state.lock:
        if _state.by_call:
            _state.by_call = False
            if not _state.in_use:
                _state.remove()


def upgrade(text: str) -> Upgraded:
    """The lines of a program for PyTorch 0.1 to 0.3 that need a change on today's torch, and the mended program.

    `text` is the program, Python 3. The result has `findings`, one for each change and each note, with line, old and
    new expression and reason, and `text`, with the changes made: those that certainly compute what the program
    computed then. All else is a note, and stays as it is. str() of the result lists the findings. Raises TypeError if
    text is not a string, ValueError with the line if it is not Python 3, and NotImplementedError without the package
    libcst (``pip install 'thnn[upgrade]'``).
    """
    result: Upgraded = import_module("thnn.compat._upgrade").upgrade(text)
    return result


def __dir__() -> list[str]:
    return __all__


class _Compat(ModuleType):
    """The type of this module, for ``with thnn.compat:``."""

    def __enter__(self) -> _Compat:
        with _state.lock:
            if not _state.in_use:
                _state.add()
            _state.depth += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with _state.lock:
            _state.depth = max(_state.depth - 1, 0)
            if not _state.in_use:
                _state.remove()


sys.modules[__name__].__class__ = _Compat
