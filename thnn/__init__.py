"""thnn: neural-network functions declared in one C header, THNN.h, as differentiable PyTorch functions.

    import torch, thnn

    x = torch.randn(8, 3, 32, 32, requires_grad=True)
    w = torch.randn(16, 3, 3, 3, requires_grad=True)
    y = thnn.SpatialConvolutionMMFunction.apply(x, w, None, 3, 3, 1, 1, 1, 1)
    y = thnn.ThresholdFunction(0, 0)(y)
    y.sum().backward()

The package has

- one class for nearly every module of the header (``thnn.function_classes``), and the C functions themselves by tensor
  type (``thnn.type2backend``);
- layers (``thnn.nn``), and ``thnn.convert``, which puts them into a torch model;
- batch normalization as an operator that updates estimates (``thnn.batch_norm``) and across processes
  (``thnn.SyncBatchNormalizationFunction``);
- nets that fork into training and inference (``thnn.graph``), and data parallelism (``thnn.parallel``);
- the modules that legacy PyTorch code imports (``thnn.compat``);
- a parser of headers (``thnn.parse_header``), and ``thnn.load``, which compiles the functions of a custom header.

``python -m thnn`` lists the commands.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from thnn._names import HOMES, SUBPACKAGES, hint
from thnn._version import __version__

if TYPE_CHECKING:
    from thnn import compat, graph, nn, parallel
    from thnn._batch_norm.operator import BatchNormOutput, batch_norm
    from thnn._batch_norm.sync import SyncBatchNormalizationFunction
    from thnn._binding.backend import type2backend
    from thnn._binding.library import cpu_capability
    from thnn._classes import function_classes, register_operators
    from thnn._convert import convert, revert
    from thnn._freeze import freeze
    from thnn._generated.functions import *  # noqa: F403
    from thnn._header import Argument, Function, HeaderError, Location, Module, parse_header
    from thnn._header.registry import THNN_H_PATH, functions, modules
    from thnn._load.loaded import LoadedModule, build_library, load, open_library
    from thnn._load.recipe import CompileError
    from thnn._memory import keep_freed_memory
    from thnn._profile import profile

    # For type checkers; at run time `__getattr__` lists the public names.
    __all__ = [
        "THNN_H_PATH",
        "Argument",
        "BatchNormOutput",
        "CompileError",
        "Function",
        "HeaderError",
        "LoadedModule",
        "Location",
        "Module",
        "SyncBatchNormalizationFunction",
        "__version__",
        "batch_norm",
        "build_library",
        "compat",
        "convert",
        "cpu_capability",
        "freeze",
        "function_classes",
        "functions",
        "graph",
        "keep_freed_memory",
        "load",
        "modules",
        "nn",
        "open_library",
        "parallel",
        "parse_header",
        "profile",
        "register_operators",
        "revert",
        "type2backend",
    ]


def _refuse_other_interpreters() -> None:
    """Raises ImportError in a sub-interpreter of Python, where the import of torch fails or ends the process."""
    try:
        interpreters = import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    except ImportError:  # this Python has only one
        return
    if interpreters.get_current() != interpreters.get_main():
        raise ImportError(
            "thnn: expected the main interpreter of Python, got a sub-interpreter, which PyTorch does not support"
        )


_refuse_other_interpreters()


def _public() -> list[str]:
    """The names that `from thnn import *` imports: no subpackages, and no names so general that they would shadow
    others."""
    shadowing = {"Argument", "Function", "HeaderError", "Location", "Module", *SUBPACKAGES}
    classes = import_module("thnn._classes").function_classes
    return sorted({"__version__", *classes, *HOMES} - shadowing)


if not TYPE_CHECKING:  # a type checker knows the names above, and reports unknown ones

    def __getattr__(name: str) -> Any:
        home = HOMES.get(name)
        if name == "__all__":
            return _public()
        if home is not None:
            value = getattr(import_module(home), name)
        elif name in SUBPACKAGES:
            value = import_module(f"thnn.{name}")
        elif name.endswith("Function") and name in (
            classes := import_module("thnn._classes").function_classes
        ):
            value = classes[name]
        else:
            raise AttributeError(f"module 'thnn' has no attribute {name!r}{hint(name)}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    dunder = [name for name in globals() if name.startswith("__")]
    return sorted({*dunder, *_public(), *HOMES, *SUBPACKAGES})
