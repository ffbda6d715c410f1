"""The modules of PyTorch 0.1 to 0.4: their names, their contents, and the importer that creates them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_CLASSES = "thnn.compat._classes"
_UTILS = "thnn.compat._utils"
_BACKEND = "thnn._binding.backend"


@dataclass(frozen=True)
class Contents:
    """The names of one module."""

    doc: str
    #: Name -> 'module:attribute', imported when it is read; 'module:function(argument)' is called.
    objects: dict[str, str] = field(default_factory=dict)
    #: Pairs of 'module:function': the first returns names that follow from the header, the second the object with
    #: such a name.
    listed: tuple[tuple[str, str], ...] = ()

    def names(self) -> list[str]:
        """Every name."""
        return [*self.objects, *(name for listing, _ in self.listed for name in _load(listing)())]

    def find(self, name: str) -> Any:
        """The object with a name; KeyError if there is none."""
        if name in self.objects:
            return _load(self.objects[name])
        for listing, find in self.listed:
            if name in _load(listing)():
                return _load(find)(name)
        raise KeyError(name)


def _load(place: str) -> Any:
    module, _, attribute = place.partition(":")
    attribute, call, argument = attribute.removesuffix(")").partition("(")
    value = getattr(import_module(module), attribute)
    if call:
        return value(argument) if argument else value()
    return value


_GENERATED = (
    (f"{_CLASSES}:names", f"{_CLASSES}:class_of"),
    (f"{_CLASSES}:backward_names", f"{_CLASSES}:backward_class_of"),
)

CONTENTS = {
    "torch._thnn": Contents(
        "The backends of thnn by tensor type.",
        {name: f"{_BACKEND}:{name}" for name in ("Backend", "Backends", "type2backend")},
    ),
    "torch._thnn._THNN": Contents(
        "The functions of THNN.h by element type and name: FloatTanh_updateOutput.",
        listed=((f"{_UTILS}:compiled_names", f"{_UTILS}:compiled"),),
    ),
    "torch._thnn.utils": Contents(
        "The header, and backends made of a compiled module.",
        {
            **{
                name: f"{_UTILS}:{name}"
                for name in ("Argument", "Function", "THNNBackendBase", "load_backend", "parse_header")
            },
            "THNN_H_PATH": "thnn._header.registry:THNN_H_PATH",
            "_unpickle_backend": f"{_BACKEND}:_unpickle_backend",
        },
    ),
    "torch.nn._functions": Contents("Function classes."),
    "torch.nn._functions.batchnorm": Contents(
        "Batch normalization.", {"BatchNorm": f"{_CLASSES}:class_of(BatchNorm)"}
    ),
    "torch.nn._functions.dropout": Contents(
        "Dropout of torch.", {name: f"{_CLASSES}:{name}" for name in ("Dropout", "FeatureDropout")}
    ),
    "torch.nn._functions.linear": Contents(
        "The product with a matrix.", {"Linear": f"{_CLASSES}:class_of(Linear)"}
    ),
    "torch.nn._functions.padding": Contents(
        "Padding of torch.", {"ConstantPadNd": f"{_CLASSES}:ConstantPadNd"}
    ),
    "torch.nn._functions.thnn": Contents(
        "One class per module of THNN.h that has a class.",
        {"_all_functions": f"{_CLASSES}:all_functions()"},
        _GENERATED,
    ),
    "torch.nn._functions.thnn.auto": Contents(
        "One class per module of THNN.h that has a class, and the functions that make classes.",
        {
            "_all_functions": f"{_CLASSES}:all_functions()",
            "function_by_name": f"{_CLASSES}:function_by_name()",
            "function_list": f"{_CLASSES}:function_list()",
            "_generate_function_classes": f"{_CLASSES}:_generate_function_classes",
            "_make_function_class": f"{_CLASSES}:_make_function_class",
            "_make_function_class_criterion": f"{_CLASSES}:_make_function_class_criterion",
            "parse_header": f"{_UTILS}:parse_header",
            "THNN_H_PATH": "thnn._header.registry:THNN_H_PATH",
            "type2backend": f"{_BACKEND}:type2backend",
        },
        _GENERATED,
    ),
    "torch.nn._functions.thnn.rnnFusedPointwise": Contents(
        "Fused recurrent cells.", listed=((f"{_CLASSES}:fused_names", f"{_CLASSES}:class_of"),)
    ),
    "torch.nn.backends.backend": Contents(
        "Function classes by name.", {"FunctionBackend": "thnn.compat._function_backend:FunctionBackend"}
    ),
    "torch.nn.backends.thnn": Contents(
        "The function classes of thnn by name.",
        {
            name: f"thnn.compat._function_backend:{name}"
            for name in ("THNNFunctionBackend", "_get_thnn_function_backend", "backend")
        },
    ),
}

#: The modules, parents first.
NAMES = tuple(CONTENTS)
#: Packages that torch has, which the modules are put into.
TORCH_PACKAGES = ("torch.nn.backends",)


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
            raise ModuleNotFoundError(f"cannot import {name!r} from {parent}{hint(parent, name, CONTENTS)}")
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
        try:
            value = contents.find(name)
        except KeyError:
            from thnn.compat._hints import hint

            module_name = module.__name__
            raise AttributeError(
                f"module {module_name!r} has no attribute {name!r}{hint(module_name, name, CONTENTS)}"
            ) from None
        setattr(module, name, value)
        return value

    return __getattr__


def _dir(module: ModuleType, contents: Contents) -> Callable[[], Iterable[str]]:
    return lambda: sorted({*module.__dict__, *contents.names()})


FINDER = _Importer()
