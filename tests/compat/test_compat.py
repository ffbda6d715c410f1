"""thnn.compat: installing and removing the modules of 2017, and their contents."""

from __future__ import annotations

import copy
import importlib
import importlib.util
import inspect
import io
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.backends.thnn  # which torch may not have imported
import torch.nn.functional as F
from new_process import python
from torch import nn

import thnn
from thnn import _torch
from thnn.compat import _classes
from thnn.compat._contents import CONTENTS, NAMES, WRITTEN_CLASSES
from thnn.compat._modules import FINDER

HEADER_2017 = Path(__file__).resolve().parent.parent / "data" / "thnn_2017.h"
AUTO = "torch.nn._functions.thnn.auto"
MODULES_WITH_CLASS = [name for name, module in thnn.modules().items() if module.forward is not None]


def snapshot() -> dict[str, Any]:
    """Everything of torch and of the import system that compat may change."""
    entries: dict[str, Any] = {"meta_path": list(sys.meta_path)}
    for name in ("torch.nn.backends", *NAMES):
        parent, _, child = name.rpartition(".")
        entries[name] = sys.modules.get(name)
        package = sys.modules.get(parent)
        entries[f"{name} in its parent"] = package and package.__dict__.get(child)
    for package_name in ("torch", "torch.nn", "torch.nn.backends", "torch.autograd"):
        entries[f"names of {package_name}"] = set(vars(importlib.import_module(package_name)))
    entries["names of torch.nn.functional"] = set(vars(F))
    entries["methods of Function"] = dict(vars(torch.autograd.Function))
    entries["methods of Module"] = dict(vars(nn.Module))
    return entries


@pytest.mark.slow
def test_import_changes_nothing() -> None:
    code = (
        "import sys\n"
        "def check():\n"
        "    names = ('torch._thnn', 'torch.nn._functions', 'torch.nn.backends')\n"
        "    assert not [n for n in sys.modules if n.startswith(names)]\n"
        "    assert not any('thnn' in type(f).__module__ for f in sys.meta_path)\n"
        "import thnn, thnn.compat\n"
        "check()\n"
        "thnn.compat.install()\n"  # also where nothing has imported torch yet
        "import torch._thnn, torch.nn.backends.thnn\n"
        "thnn.compat.uninstall()\n"
        "check()\n"
        "assert not hasattr(torch, '_thnn') and not {'_functions', 'backends'} & {*vars(torch.nn)}\n"
        # torch._dynamo, which an older torch imports for torch.compiler.disable, asks for the layers.
        "assert 'thnn._binding.library' not in sys.modules or 'torch._dynamo' in sys.modules\n"
        "thnn.compat.install()\n"  # and at exit
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr


def test_install_is_idempotent_and_uninstall_restores() -> None:
    import torch.nn.backends.thnn as torchs_own

    before = snapshot()
    thnn.compat.uninstall()  # without an installation
    assert snapshot() == before
    thnn.compat.install()
    first = snapshot()
    assert first["torch._thnn"] is torch._thnn
    assert first["torch.nn.backends.thnn"] is torch.nn.backends.thnn is not torchs_own
    thnn.compat.install()
    assert snapshot() == first
    thnn.compat.uninstall()
    assert snapshot() == before
    assert sys.modules["torch.nn.backends.thnn"] is torchs_own
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'torch\._thnn'"):
        importlib.import_module("torch._thnn")
    thnn.compat.install()  # again
    assert torch._thnn.type2backend is thnn.type2backend
    thnn.compat.uninstall()
    assert snapshot() == before


def test_first_use_on_a_torch_that_imports_its_compiler() -> None:
    """While thnn is imported, torch asks the modules that are already installed for names such as __file__."""
    names = [name for name in _torch.NAMES if name.startswith("torch._C._dynamo.eval_frame:")]
    code = "import torch, thnn; thnn.compat.install(); from torch._thnn import type2backend"
    python("-W", "ignore", "-c", code, THNN_WITHOUT=",".join(names))


def test_nested_use_counts() -> None:
    before = snapshot()
    with thnn.compat as outer:
        assert outer is thnn.compat
        installed = snapshot()
        with thnn.compat:
            assert snapshot() == installed
        assert snapshot() == installed
        thnn.compat.install()
        thnn.compat.uninstall()
        assert snapshot() == installed
        thnn.compat.install()
    assert snapshot() == installed  # by the call
    thnn.compat.uninstall()
    assert snapshot() == before


def test_exceptions_restore(monkeypatch: pytest.MonkeyPatch) -> None:
    before = snapshot()

    def program() -> None:
        with thnn.compat:
            from torch.nn._functions.thnn import auto

            assert auto.Threshold
            sys.modules["torch._thnn"] = sys  # a program that replaces a module
            raise KeyError

    with pytest.raises(KeyError):
        program()
    assert snapshot() == before

    def fails(name: str) -> Any:
        if name == NAMES[-1]:
            raise MemoryError
        return importlib.import_module(name)

    monkeypatch.setattr(thnn.compat, "import_module", fails)
    for use in (thnn.compat.install, thnn.compat.__enter__):
        with pytest.raises(MemoryError):
            use()
        assert snapshot() == before


@pytest.mark.usefixtures("compat")
@pytest.mark.parametrize("name", NAMES)
def test_modules_are_modules(name: str) -> None:
    module = importlib.import_module(name)
    assert inspect.ismodule(module)
    assert module.__name__ == name
    assert module.__spec__ is importlib.util.find_spec(name)
    assert module.__spec__.loader is FINDER
    assert module.__spec__.parent == module.__package__ == name
    assert not hasattr(module, "__file__")
    assert module.__doc__
    assert repr(module) == f"<module {name!r} (thnn.compat)>"
    names = set(dir(module))
    assert names >= set(CONTENTS[name].names())
    objects = {n: getattr(module, n) for n in names}
    scope: dict[str, Any] = {}
    exec(f"from {name} import *", scope)
    public = {n for n in CONTENTS[name].names() if not n.startswith("_")}
    assert public <= scope.keys()
    assert importlib.reload(module) is module
    assert all(getattr(module, n) is objects[n] for n in public)
    for value in (objects[n] for n in public):
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__
            if value.__module__.startswith("torch."):
                assert getattr(sys.modules[value.__module__], value.__name__) is value


@pytest.mark.usefixtures("compat")
@pytest.mark.parametrize("module", MODULES_WITH_CLASS)
def test_every_module_has_a_class(module: str) -> None:
    from torch.nn._functions import thnn as package
    from torch.nn._functions.thnn import auto
    from torch.nn.backends.thnn import backend

    cls = getattr(auto, _classes.RENAMED.get(module, module))
    if cls.__name__ not in WRITTEN_CLASSES:
        assert getattr(package, cls.__name__) is cls
        assert getattr(backend, cls.__name__) is cls
        assert backend.function_classes[cls.__name__] is cls
    assert cls in auto._all_functions
    assert pickle.loads(pickle.dumps(cls)) is cls
    if not module.endswith("Fused"):
        assert issubclass(cls, thnn.function_classes[f"{module}Function"])
        backward = getattr(auto, f"{cls.__name__}Backward")
        assert [*cls] == [cls, backward]
        assert pickle.loads(pickle.dumps(backward)) is backward


MISSING = {
    "import torch.nn._functions.thnn.auto_double_backwards": "classes of torch.nn._functions.thnn.auto",
    "from torch.nn._functions.thnn.auto import MaxPool2d": "use .*torch.nn.MaxPool2d",
    "from torch.nn._functions.thnn.auto import MSECriterion": "its name here is MSELoss",
    "from torch.nn._functions.thnn.auto import TanhFunction": "use thnn.TanhFunction, or Tanh",
    "from torch.nn._functions.thnn.auto import Thresold": "did you mean Threshold",
    "from torch.nn._functions.thnn.auto import IndexLinear": "form no class.*type2backend",
    "from torch._thnn.utils import THCUNN_H_PATH": "type2backend..torch.cuda.FloatTensor",
    "from torch._thnn import THNNCudaBackendStateMixin": "type2backend..torch.cuda.FloatTensor",
    "from torch.nn.backends.thnn import frobnicate": "dir.. of torch.nn.backends.thnn lists its names",
}


@pytest.mark.usefixtures("compat")
@pytest.mark.parametrize("statement", MISSING)
def test_missing_imports_say_what_to_use(statement: str) -> None:
    with pytest.raises(ImportError, match=MISSING[statement]):
        exec(statement)


@pytest.mark.usefixtures("compat")
def test_missing_attributes_say_what_to_use(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.nn._functions.thnn import auto
    from torch.nn.backends.thnn import backend

    with pytest.raises(AttributeError, match=r"'MaxPool2d'; use .*torch\.nn\.MaxPool2d"):
        _ = auto.MaxPool2d
    assert not hasattr(auto, "MaxPool2d")
    for error in (AttributeError, NotImplementedError):
        with pytest.raises(error, match=r"class 'relu'; use torch\.nn\.functional\.relu"):
            _ = backend.relu
    with pytest.raises(NotImplementedError, match="float32, float64, float16 and bfloat16 on the CPU"):
        _ = torch._thnn.type2backend["torch.IntTensor"]
    # A module that the header does not have.
    monkeypatch.setitem(_classes.RENAMED, "SpatialFrobnication", "Frob2d")
    with pytest.raises(AttributeError, match="thnn has no SpatialFrobnication"):
        _ = auto.Frob2d


@pytest.mark.usefixtures("compat")
def test_backends_by_every_key() -> None:
    from torch._thnn import Backend, Backends, type2backend

    assert isinstance(type2backend, Backends)
    x = torch.randn(3)
    for key in ("torch.FloatTensor", torch.FloatTensor, "THNNFloatBackend", x.type()):
        assert type2backend[key] is type2backend.THNNFloatBackend
    assert type2backend[x.double().type()] is type2backend[torch.DoubleTensor]
    for backend in (type2backend[x.type()], type2backend[type(x)], torch._thnn.type2backend[type(x.data)]):
        assert isinstance(backend, Backend)
        output = x.new()
        backend.Tanh_updateOutput(backend.library_state, x, output)
        torch.testing.assert_close(output, x.tanh())
        assert pickle.loads(pickle.dumps(backend)) is backend


@pytest.mark.usefixtures("compat")
def test_header_as_objects() -> None:
    from torch._thnn.utils import THNN_H_PATH, Argument, Function, parse_header
    from torch.nn._functions.thnn.auto import function_by_name, function_list

    found = parse_header(THNN_H_PATH)
    assert THNN_H_PATH == thnn.THNN_H_PATH
    assert [f.name for f in found] == [f.name for f in function_list] == [*thnn.functions()]
    for function in found:
        model = thnn.functions()[function.name]
        assert isinstance(function, Function)
        assert repr(function_by_name[function.name]) == repr(function) == repr(model)
        assert [(a.type, a.name, a.is_optional) for a in function.arguments] == [
            (a.type, a.name, a.is_optional) for a in model.arguments
        ]
    assert len(parse_header(str(HEADER_2017))) == 191
    by_hand = Function("Tanh_updateOutput")
    by_hand.arguments.append(Argument("THTensor*", "input", False))
    assert repr(pickle.loads(pickle.dumps(by_hand))) == "Tanh_updateOutput(THTensor* input)"


@pytest.mark.usefixtures("compat")
def test_classes_are_made_as_in_auto() -> None:
    from torch._thnn.utils import Function
    from torch.nn._functions.thnn.auto import (
        _generate_function_classes,
        _make_function_class,
        _make_function_class_criterion,
        function_by_name,
    )

    def made_of(module: str) -> list[Any]:
        phases = ("updateOutput", "updateGradInput", "accGradParameters")
        return [function_by_name.get(f"{module}_{phase}") for phase in phases]

    x = torch.randn(2, 3, 5, 5, dtype=torch.float64, requires_grad=True)
    w = torch.randn(4, 3, 3, 3, dtype=torch.float64, requires_grad=True)
    b = torch.randn(4, dtype=torch.float64, requires_grad=True)
    cls, backward = _make_function_class("Convolve", *made_of("SpatialConvolutionMM"))
    y = cls(3, 3, 1, 1, 1, 1)(x, w, b)
    assert type(y.grad_fn) is backward
    assert backward.__name__ == "ConvolveBackward"
    assert cls.__name__ == "Convolve"
    torch.testing.assert_close(y, F.conv2d(x, w, b, padding=1))
    assert torch.autograd.gradcheck(lambda *t: cls.apply(*t, 3, 3, 1, 1, 1, 1), (x, w, b))

    loss = _make_function_class_criterion("Distance", *made_of("MSECriterion"))
    torch.testing.assert_close(loss(True)(x, x.detach() * 2), F.mse_loss(x, x * 2))

    scope: dict[str, Any] = {}
    _generate_function_classes(scope)
    assert scope.keys() == {*_classes.names(), *_classes.backward_names()}
    with pytest.raises(ValueError, match="no function 'Frob_updateOutput'"):
        _make_function_class("Frob", Function("Frob_updateOutput"))
    with pytest.raises(ValueError, match=r"differs from THNN\.h"):
        _make_function_class("Tanh", Function("Tanh_updateOutput"))
    with pytest.raises(ValueError, match="functions of one module expected, got Tanh, Sigmoid"):
        _make_function_class("Tanh", function_by_name["Tanh_updateOutput"], made_of("Sigmoid")[1])


@pytest.mark.usefixtures("compat")
def test_backends_are_loaded_from_a_compiled_module() -> None:
    from torch._thnn.utils import THNN_H_PATH, THNNBackendBase, load_backend, parse_header

    class Mixin:
        extra = 1

    library = importlib.import_module("torch._thnn._THNN")
    backend: Any = load_backend(
        "Double", importlib.import_module("torch._thnn._THNN"), parse_header(THNN_H_PATH), (Mixin,)
    )
    assert isinstance(backend, THNNBackendBase)
    assert backend.extra == 1
    assert backend.methods.keys() == thnn.functions().keys() <= set(dir(backend))
    x, y = torch.randn(3, dtype=torch.float64), torch.empty(0, dtype=torch.float64)
    backend.Tanh_updateOutput(backend.library_state, x, y)
    torch.testing.assert_close(y, x.tanh())
    assert pickle.loads(pickle.dumps(backend)) is thnn.type2backend["THNNDoubleBackend"]
    with pytest.raises(NotImplementedError, match="THNNDoubleBackend has no function 'Frob'"):
        _ = backend.Frob
    with pytest.raises(TypeError):
        library.FloatTanh_updateOutput(0, x, y)


@pytest.mark.usefixtures("compat")
def test_function_backend() -> None:
    from torch.nn.backends.backend import FunctionBackend
    from torch.nn.backends.thnn import THNNFunctionBackend, _get_thnn_function_backend, backend

    assert isinstance(backend, THNNFunctionBackend)
    assert isinstance(backend, FunctionBackend)
    assert _get_thnn_function_backend() is backend
    assert copy.copy(backend) is copy.deepcopy(backend) is pickle.loads(pickle.dumps(backend)) is backend
    x, w = torch.randn(2, 3), torch.randn(4, 3)
    torch.testing.assert_close(backend.Linear()(x, w), x.mm(w.t()))
    assert {"Linear", "BatchNorm", "Threshold", "Dropout"} <= set(dir(backend))
    own = FunctionBackend()
    own.register_function("Linear", backend.Linear)
    assert own.Linear is backend.Linear
    assert copy.deepcopy(own).Linear is pickle.loads(pickle.dumps(own)).Linear is backend.Linear
    for registry in (own, backend):
        with pytest.raises(RuntimeError, match="already has a function class 'Linear'"):
            registry.register_function("Linear", backend.Linear)
    backend.register_function("Frob", int)
    try:
        assert backend.Frob is int
    finally:
        del backend.function_classes["Frob"]


def opcodes_of_a_module(backend: bytes) -> bytes:
    """A pickle of torch.nn.Tanh as PyTorch 0.3 wrote it: protocol 2, with the function backend in its state."""

    def text(word: str) -> bytes:
        return b"X" + len(word).to_bytes(4, "little") + word.encode()

    state = b"".join(
        text(f"_{name}") + b"ccollections\nOrderedDict\n)R"
        for name in (
            "parameters",
            "buffers",
            "backward_hooks",
            "forward_hooks",
            "forward_pre_hooks",
            "modules",
        )
    )
    return (
        b"\x80\x02ctorch.nn.modules.activation\nTanh\n)\x81}("
        + text("_backend") + backend + state + text("training") + b"\x88ub."
    )  # fmt: skip


@pytest.mark.parametrize("slopes", [1, 3])
def test_prelu_counts_its_slopes(slopes: int) -> None:
    x, weight = torch.randn(2, 3, 4), torch.rand(slopes)
    expected = torch.nn.functional.prelu(x, weight)
    with thnn.compat:
        from torch.nn._functions.thnn import PReLU

        assert torch.equal(PReLU.apply(x, weight), expected)
        assert torch.equal(PReLU()(x, weight), expected)


def test_pickled_modules_load() -> None:
    data = opcodes_of_a_module(b"ctorch.nn.backends.thnn\n_get_thnn_function_backend\n)R")
    x = torch.randn(3)
    assert pickle.loads(data)._backend is None  # by torch's own function
    with thnn.compat:
        module = pickle.loads(data)
        assert module._backend is torch.nn.backends.thnn.backend
        torch.testing.assert_close(module(x), x.tanh())
        again = io.BytesIO()
        torch.save(nn.Sequential(module, nn.Linear(3, 2)), again)
        again.seek(0)
        assert torch.load(again, weights_only=False)[0]._backend is module._backend
        assert copy.deepcopy(module)._backend is module._backend
    # Written without the modules, too: the name is one that torch has.
    assert b"_get_thnn_function_backend" in pickle.dumps(module)
    assert copy.deepcopy(module)._backend is module._backend


def test_pickled_backends_load() -> None:
    state = b"ctorch._thnn.utils\n_unpickle_backend\nX\x10\x00\x00\x00THNNFloatBackend\x85R"
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(opcodes_of_a_module(state))
    with thnn.compat:
        module = pickle.loads(opcodes_of_a_module(state))
        assert module._backend is thnn.type2backend["torch.FloatTensor"]
        # An object of a class, and a class by its name.
        function = pickle.loads(pickle.dumps(torch.nn._functions.thnn.auto.Threshold(0.5, 0)))
        torch.testing.assert_close(function(torch.ones(2)), torch.ones(2))
        assert pickle.loads(b"ctorch.nn._functions.thnn.auto\nSoftmax\n.").__module__ == AUTO
