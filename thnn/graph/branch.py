"""A branch of a fork: a traced graph as a callable, and the names of its nodes in messages."""

from __future__ import annotations

import keyword
import linecache
import re
import threading
import weakref
from collections.abc import Callable
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import torch
from torch import fx, nn

ROOT = "module"  # the name of the model in generated code
# Prefixes of the names of files that are not the user's code.
NOT_USER_CODE = (str(Path(torch.__file__).parent), str(Path(__file__).parent.parent), "<thnn ", "<string>")
_number = count()
_caller = threading.local()


def _public_name(cls: type) -> str:
    """The package, such as torch.nn, and the name."""
    return ".".join([*cls.__module__.split(".")[:2], cls.__qualname__])


class Branch:
    """One branch of a fork: a callable with the arguments that were traced.

    Attributes:
        graph: torch.fx.Graph: the traced graph; names of modules begin with 'module.', the model
        code: str: the Python source generated from it
        training: bool: True in the branch for training
    """

    def __init__(self, graph: fx.Graph, root: Any, module: nn.Module, training: bool) -> None:
        self.graph = graph
        self.training = training
        self._root = root
        # The called layers with their classes, and the modules on the paths to layers and parameters, each with the
        # `_modules` that contains it: if one of them changes, the trace is no longer valid.
        self._layers: list[tuple[nn.Module, type]] = []
        self._path: dict[str, tuple[dict[str, Any], str, nn.Module]] = {}
        for node in graph.nodes:
            if node.op == "call_module":
                layer = self._keep_path(module, path_in_model(node.target))
                self._layers.append((layer, type(layer)))
            elif node.op == "get_attr":
                self._keep_path(module, path_in_model(node.target).rpartition(".")[0])
        self._compile()

    def _keep_path(self, module: nn.Module, path: str) -> nn.Module:
        """The module at a path; adds the modules along it to `_path`."""
        here = ""
        for name in filter(None, path.split(".")):
            here = f"{here}.{name}".removeprefix(".")
            children, module = module._modules, module._modules[name]  # type: ignore[assignment]
            self._path[here] = children, name, module
        return module

    def _compile(self) -> None:
        # Each module gets one name, which is faster to look up than its path.
        targets = {n: n.target for n in self.graph.nodes if n.op in ("call_module", "get_attr")}
        short: dict[str, str] = {}
        for k, (node, target) in enumerate(targets.items()):
            path, _, name = target.rpartition(".") if node.op == "get_attr" else (target, "", "")
            if path:
                alias = short.setdefault(path, f"m{len(short)}_{_identifier(path.rpartition('.')[2])}")
                owner = attribute(self._root, path)
                setattr(self._root, alias, owner)
                node.target = f"{alias}.{name}" if name else alias
                if name and (name != _identifier(name) or keyword.iskeyword(name)):
                    # The name is not a Python identifier, so a property returns the attribute.
                    node.target = f"{alias}_{_identifier(name)}_{k}"
                    setattr(type(self._root), node.target, property(partial(_get, owner, name)))
        source = self.graph.python_code("self")
        for node, target in targets.items():
            node.target = target
        self.code = source.src
        filename = f"<thnn fork {next(_number)}>"
        # Lines for tracebacks, until the branch is freed.
        linecache.cache[filename] = (len(self.code), None, self.code.splitlines(True), filename)
        weakref.finalize(self, linecache.cache.pop, filename, None).atexit = False
        namespace = dict(source.globals)
        exec(compile(self.code, filename, "exec"), namespace)
        self._function: Callable[..., Any] = namespace["forward"]
        self._sets_grad_mode = any(node.target is set_caller_grad_enabled for node in self.graph.nodes)

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        for path, (children, name, module) in self._path.items():
            if children.get(name) is not module:
                raise ValueError(
                    f"Branch: the model has changed: {path!r} is another module now; fork it again"
                )
        for layer, cls in self._layers:
            if type(layer) is not cls:
                raise ValueError(
                    f"Branch: the model has changed: a {_public_name(cls)} is a {_public_name(type(layer))} now;"
                    " fork it again"
                )
        if not self._sets_grad_mode:
            return self._function(self._root, *inputs, **keywords)
        # At the end of torch.no_grad() the model restores the caller's grad mode, not the one during tracing.
        outside, _caller.gradients = getattr(_caller, "gradients", True), torch.is_grad_enabled()
        try:
            return self._function(self._root, *inputs, **keywords)
        finally:
            torch.set_grad_enabled(_caller.gradients)
            _caller.gradients = outside

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a Branch cannot be pickled or copied; pickle or copy the model, and fork it again")

    def __repr__(self) -> str:
        return f"Branch(training={self.training}, {len(self.graph.nodes)} nodes)"


def set_caller_grad_enabled(mode: bool) -> None:
    """torch.set_grad_enabled in a branch: True restores the grad mode of the caller."""
    torch.set_grad_enabled(mode and getattr(_caller, "gradients", True))


def attribute(root: Any, path: str) -> Any:
    for name in path.split("."):
        root = getattr(root, name)
    return root


def _get(owner: Any, name: str, _: Any) -> Any:
    return getattr(owner, name)


def _identifier(text: str) -> str:
    """The text with '_' in place of each character that a Python identifier cannot contain."""
    return re.sub(r"[^0-9A-Za-z_]", "_", text)


def path_in_model(target: Any) -> str:
    """The path of a layer or parameter in the model, from the target of a node."""
    return str(target).removeprefix(ROOT).removeprefix(".")


def node_name(node: fx.Node) -> str:
    """The name of a node in messages and pictures."""
    if node.op in ("call_module", "get_attr"):
        return path_in_model(node.target) or ROOT
    if node.op == "call_function":
        return str(getattr(node.target, "__name__", node.target)).removesuffix("Function").removeprefix("_")
    return str(node.target)


def describe_node(node: fx.Node) -> str:
    """The name of a layer; the name of a function with the user's statement that calls it."""
    name = node_name(node)
    if node.op == "call_module":
        return f"layer {name!r}"
    lines = [line.strip() for line in (node.stack_trace or "").splitlines()]
    for place, statement in reversed(list(pairwise(lines))):
        if place.startswith('File "'):
            file, _, rest = place.removeprefix('File "').partition('", line ')
            if not file.startswith(NOT_USER_CODE):
                return f"{file}:{rest.split(',')[0]}: {name} at `{statement}`"
    return name
