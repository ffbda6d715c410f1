"""Tracing of a module by torch.fx into one branch, without a change of its mode flags."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx, nn
from torch.overrides import TorchFunctionMode

from thnn._batch_norm.operator import batch_norm
from thnn._classes import function_classes
from thnn._functions.base import FunctionBase
from thnn._torch import BatchNormBase, set_grad_enabled
from thnn.graph.branch import NOT_USER_CODE, ROOT, Branch, set_caller_grad_enabled
from thnn.graph.in_place import Proxy
from thnn.graph.mode_views import ModeViews, has_hooks

_tracing = threading.RLock()  # torch.fx patches nn.Module: concurrent tracers would undo each other's patches

# Functions that a model may call without passing a tensor: torch.fx would then evaluate them once, while tracing.
_RANDOM = {
    torch.rand, torch.randn, torch.randint, torch.randperm, torch.normal, torch.bernoulli, torch.multinomial,
    torch.empty,  # the model may fill it with random numbers
}  # fmt: skip


class _Mode(NamedTuple):
    """The argument by which a function distinguishes training from inference."""

    position: int
    name: str
    in_inference: bool
    # The argument with the running mean; calls without one use batch statistics even in inference.
    mean_position: int = -1
    mean_name: str = ""


# A position beyond all positional arguments.
_BY_KEYWORD = 99


def _modes() -> dict[Any, _Mode]:
    dropouts = ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout")
    table: dict[Any, _Mode] = {getattr(nn.functional, n): _Mode(2, "training", False) for n in dropouts}
    for name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"):
        table[getattr(torch, name)] = table[getattr(torch, f"{name}_")] = _Mode(2, "train", False)
    table[torch.native_dropout] = _Mode(2, "train", False)
    table[nn.functional.rrelu] = table[torch.rrelu] = table[torch.rrelu_] = _Mode(3, "training", False)
    table[nn.functional.batch_norm] = _Mode(5, "training", False, 1, "running_mean")
    for function in (torch.batch_norm, torch.native_batch_norm):
        table[function] = _Mode(5, "training", False, 3, "running_mean")
    for name in ("BatchNormalizationFunction", "BatchNormalizationReLUFunction"):
        table[function_classes[name]] = _Mode(5, "train", False, 3, "running_mean")
    table[function_classes["BatchNormalizationAddFunction"]] = _Mode(6, "train", False, 4, "running_mean")
    table[function_classes["RReLUFunction"]] = _Mode(3, "train", False)
    table[batch_norm] = _Mode(_BY_KEYWORD, "is_infer", True)
    return table


def _state_of_torch() -> tuple[bool, ...]:
    """The modes that a forward may enter and a trace does not record."""
    return (
        torch.is_autocast_enabled("cpu"),
        torch.is_autocast_enabled("cuda"),
        torch.is_inference_mode_enabled(),
    )


def _user_line() -> str:
    """The line of the user's code that is running, as a traceback prints it."""
    for frame, line in traceback.walk_stack(None):
        code = frame.f_code
        if not code.co_filename.startswith(NOT_USER_CODE):
            return traceback.format_list([(code.co_filename, line, code.co_name, None)])[0]
    return ""


class _Tracer(fx.Tracer):
    proxy_buffer_attributes = True

    def __init__(
        self, views: ModeViews, only: str | None = None, functions: Sequence[Callable[..., Any]] = ()
    ) -> None:
        super().__init__(autowrap_functions=(batch_norm, *functions))
        self.only = only  # the only module that is not called as a whole; None: see is_leaf_module
        self._state = _state_of_torch()
        package = sys.modules["thnn"]
        package.batch_norm  # noqa: B018 (torch.fx patches names that a module has, and this one comes at its first use)
        self._autowrap_search.append(package)
        self.views = views
        self._thread = threading.get_ident()  # the patches of torch.fx affect other threads, too
        # id of a buffer -> the node that reads it, and the last value that was assigned to it.
        self._assigned: dict[int, tuple[fx.Proxy, fx.Proxy]] = {}

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        if self.only is not None:
            return module_qualified_name != self.only
        if has_hooks(m) or isinstance(m, BatchNormBase):
            return True
        home = getattr(type(m).forward, "__module__", None) or ""
        return home.startswith(("torch.nn.", "thnn.nn.")) and not isinstance(m, nn.Sequential)

    def proxy(self, node: fx.Node) -> fx.Proxy:
        return Proxy(node, self)

    def create_node(self, *args: Any, **kwargs: Any) -> fx.Node:
        if self.only is not None and _state_of_torch() != self._state:
            raise ValueError("it enters torch.autocast or torch.inference_mode")
        node = super().create_node(*args, **kwargs)
        # torch's record_stack_traces would import torch's compiler, which takes a second.
        node.stack_trace = node.stack_trace or _user_line()
        return node

    def call_module(self, m: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        if threading.get_ident() != self._thread:
            return forward(*args, **kwargs)
        view = self.views.of(m)
        if view is not m:  # not called as an attribute of its parent, but from a list, for example
            forward = view.forward
        return super().call_module(view, forward, args, kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        if threading.get_ident() != self._thread:
            return attr_val
        if id(attr_val) in self._assigned:
            return self._assigned[id(attr_val)][1]
        return super().getattr(attr, attr_val, parameter_proxy_cache)

    def assign(self, view: nn.Module, name: str, value: Any) -> None:
        """Records ``self.buffer = value`` in a forward: later reads in the call return the value, and in training the
        buffer is set after the call. Raises ValueError for other attributes.
        """
        buffer = view._buffers.get(name)
        if buffer is None or not isinstance(value, fx.Proxy):
            raise ValueError(f"it assigns self.{name}; a branch supports assignment to buffers only")
        old = self._assigned.get(id(buffer))
        self._assigned[id(buffer)] = (getattr(view, name) if old is None else old[0]), value

    def keep_assigned(self) -> None:
        """Writes the assigned values to the buffers at the end of the graph."""
        output = next(n for n in self.graph.nodes if n.op == "output")
        with self.graph.inserting_before(output):
            for buffer, value in self._assigned.values():
                self.graph.call_function(assign_buffer, (buffer.node, value.node))


def assign_buffer(buffer: Tensor, value: Tensor) -> None:
    if buffer.shape != value.shape:
        raise ValueError(
            f"expected a value of size {tuple(buffer.shape)} for a buffer, got {tuple(value.shape)}"
        )
    with torch.no_grad():
        buffer.copy_(value)


class _RecordingMode(TorchFunctionMode):
    """Records random functions and changes of the grad mode as nodes."""

    def __init__(self, tracer: fx.Tracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is set_grad_enabled:
            self.tracer.create_proxy("call_function", set_caller_grad_enabled, args, {})
        elif func in _RANDOM:
            return self.tracer.create_proxy("call_function", func, args, kwargs or {})
        return func(*args, **(kwargs or {}))


@contextmanager
def functions_as_nodes(tracer: fx.Tracer) -> Iterator[None]:
    """Records calls of autograd functions as nodes; torch.fx would trace their forward. It replaces the attribute
    `apply` of classes, so traced code must not keep a bound `apply`."""
    with ExitStack() as stack:
        classes: list[Any] = [torch.autograd.Function, FunctionBase]
        for cls in classes:
            classes.extend(cls.__subclasses__())
        for cls in classes:
            if "apply" not in vars(cls):
                continue
            original = vars(cls)["apply"]

            def apply(cls: Any, /, *args: Any, _original: Any = original, **keywords: Any) -> Any:
                if any(isinstance(v, fx.Proxy) for v in (*args, *keywords.values())):
                    return tracer.create_proxy("call_function", _Applied(cls), args, keywords)
                return _original.__get__(None, cls)(*args, **keywords)

            stack.callback(setattr, cls, "apply", original)
            setattr(cls, "apply", classmethod(apply))  # noqa: B010
        yield


class _Applied:
    """`cls.apply`, looked up in each call; `cls` identifies the node."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.__name__ = cls.__name__
        self.__module__ = cls.__module__

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.cls.apply(*args, **keywords)


def trace(
    module: nn.Module,
    arity: int,
    *,
    training: bool,
    inline: bool = True,
    functions: Sequence[Callable[..., Any]] = (),
) -> Branch:
    """Traces one branch of a model with `arity` arguments. Errors: the same as `fork`, except for the example.

    With `inline=False` the graph calls the children of the model, and calls with an explicit mode keep it. The graph
    calls those of `functions` that are globals of a forward; it has the operations of others.
    """
    for name, part in module.named_modules():
        if isinstance(part, torch.jit.ScriptModule):
            raise ValueError(f"fork: {name or type(module).__name__}: TorchScript cannot be traced")
    for name, parameter in module.named_parameters():
        if nn.parameter.is_lazy(parameter):
            raise ValueError(f"fork: {name} is not initialized; run the model once before")
    for name, buffer in module.named_buffers():
        if buffer.is_inference():
            raise ValueError(
                f"fork: buffer {name!r} is an inference tensor, whose changes cannot be detected"
            )
    views = ModeViews(training)
    names = [f"input_{k}" for k in range(arity)] if arity != 1 else ["input"]
    # A new root, since torch.fx stores constants in the root.
    defined: dict[str, Any] = {}
    arguments = ", ".join(names)
    exec(f"def forward(self, {arguments}): return self.{ROOT}({arguments})", defined)
    root = type("Root", (nn.Module,), {"forward": defined["forward"]})()
    root.add_module(ROOT, views.of(module))
    tracer = _Tracer(views, None if inline else ROOT, functions)
    views.assign = tracer.assign
    try:
        with _tracing, torch.enable_grad(), functions_as_nodes(tracer), _RecordingMode(tracer):
            graph = tracer.trace(root)
    except Exception as error:
        place, statement = _place(error)
        raise ValueError(
            f"fork: {place}{type(module).__name__} cannot be traced{statement}: {error}"
        ) from error
    finally:
        views.assign = None
    if training:
        tracer.keep_assigned()
    elif inline:
        _set_inference(graph)
    for node in graph.nodes:
        node.meta.pop("is_wrapped", None)  # with it, torch.fx would patch the function for the generated code
    constants = {k: v for k, v in root.__dict__.items() if isinstance(v, Tensor)}
    namespace = type("Root", (SimpleNamespace,), {})
    return Branch(graph, namespace(**{ROOT: views.of(module)}, **constants), module, training)


def _place(error: BaseException) -> tuple[str, str]:
    """File and line of the user's last statement in a traceback, and the statement."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(NOT_USER_CODE):
            return f"{frame.filename}:{frame.lineno}: ", f" at `{frame.line}`"
    return "", ""


def _set_inference(graph: fx.Graph) -> None:
    """Sets all calls to inference, including those with an explicit training=True."""

    def argument(node: fx.Node, position: int, name: str) -> Any:
        return node.args[position] if position < len(node.args) else node.kwargs.get(name)

    modes = _modes()
    for node in graph.nodes:
        target = node.target.cls if isinstance(node.target, _Applied) else node.target
        mode = modes.get(target) if node.op == "call_function" else None
        if mode is None or (mode.mean_name and argument(node, mode.mean_position, mode.mean_name) is None):
            continue
        if argument(node, mode.position, mode.name) is not mode.in_inference:
            node.meta["explicit mode"] = True
        if mode.position < len(node.args):
            node.update_arg(mode.position, mode.in_inference)
        else:
            node.update_kwarg(mode.name, mode.in_inference)
