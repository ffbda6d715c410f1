"""fork: a torch module as two callables, one for training and one for inference, by torch.fx."""

from __future__ import annotations

import keyword
import linecache
import re
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx, nn
from torch.overrides import TorchFunctionMode

from thnn._torch import BatchNormBase, ConvBase, set_grad_enabled
from thnn.graph.views import Views, has_hooks

_ROOT = "module"  # what the model is called in generated code
_LIBRARIES = (str(Path(torch.__file__).parent), str(Path(__file__).parent.parent), "<thnn ", "<string>")
_CONVOLUTIONS = (ConvBase, nn.Linear)
_NORMALIZATIONS = BatchNormBase
_number = count()
_caller = threading.local()
_tracing = threading.RLock()  # torch.fx patches nn.Module: two tracers would undo each other's patches

# Without a tensor of the model among their arguments they would be computed while tracing, once and for all.
_RANDOM = {
    torch.rand, torch.randn, torch.randint, torch.randperm, torch.normal, torch.bernoulli, torch.multinomial,
    torch.empty,  # to be filled
}  # fmt: skip


class _Mode(NamedTuple):
    """How a function is told that it trains."""

    position: int
    name: str
    in_inference: bool
    # The running mean; a call without one has statistics of the batch only, in inference too.
    mean_position: int = -1
    mean_name: str = ""


_BY_KEYWORD = 99


def _modes() -> dict[Any, _Mode]:
    import thnn

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
        table[thnn.function_classes[name]] = _Mode(5, "train", False, 3, "running_mean")
    table[thnn.batch_norm] = _Mode(_BY_KEYWORD, "is_infer", True)
    return table


class Branch:
    """One branch of a fork: a callable with the arguments that the model was traced with.

    Attributes:
        graph: torch.fx.Graph: what it runs; names of modules begin with 'module.', the model
        code: str: the Python source that was made of it
        training: bool: which branch it is
    """

    def __init__(self, graph: fx.Graph, root: Any, module: nn.Module, training: bool) -> None:
        self.graph = graph
        self.training = training
        self._root = root
        # What is called, with its class: a layer that has been made another one since is not what was traced.
        model = SimpleNamespace(**{_ROOT: module})
        targets = dict.fromkeys(str(node.target) for node in graph.nodes if node.op == "call_module")
        self._layers = [(layer, type(layer)) for layer in (_attribute(model, name) for name in targets)]
        self._compile()

    def _compile(self) -> None:
        # A module is found by one name, not by a path that each call would walk.
        targets = {n: n.target for n in self.graph.nodes if n.op in ("call_module", "get_attr")}
        short: dict[str, str] = {}
        for k, (node, target) in enumerate(targets.items()):
            path, _, name = target.rpartition(".") if node.op == "get_attr" else (target, "", "")
            if path:
                alias = short.setdefault(path, f"m{len(short)}_{_identifier(path.rpartition('.')[2])}")
                owner = _attribute(self._root, path)
                setattr(self._root, alias, owner)
                node.target = f"{alias}.{name}" if name else alias
                if name and (name != _identifier(name) or keyword.iskeyword(name)):
                    # It cannot be written in source.
                    node.target = f"{alias}_{_identifier(name)}_{k}"
                    setattr(type(self._root), node.target, property(partial(_get, owner, name)))
        source = self.graph.python_code("self")
        for node, target in targets.items():
            node.target = target
        self.code = source.src
        filename = f"<thnn fork {next(_number)}>"
        linecache.cache[filename] = (len(self.code), None, self.code.splitlines(True), filename)
        namespace = dict(source.globals)
        exec(compile(self.code, filename, "exec"), namespace)
        self._function: Callable[..., Any] = namespace["forward"]
        self._switches = any(node.target is _set_grad_enabled for node in self.graph.nodes)

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        for layer, cls in self._layers:
            if type(layer) is not cls:
                raise ValueError(
                    f"Branch: the model has changed: a {cls.__name__} is a {type(layer).__name__} now; fork it again"
                )
        if not self._switches:
            return self._function(self._root, *inputs, **keywords)
        # A model that leaves torch.no_grad() goes back to what the caller has, not to what was on when it was traced.
        outside, _caller.gradients = getattr(_caller, "gradients", True), torch.is_grad_enabled()
        try:
            return self._function(self._root, *inputs, **keywords)
        finally:
            torch.set_grad_enabled(_caller.gradients)
            _caller.gradients = outside

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a Branch cannot be pickled or copied: do that with the model, and fork that")

    def __repr__(self) -> str:
        return f"Branch(training={self.training}, {len(self.graph.nodes)} nodes)"


class Fork:
    """A module in two branches; `fork` makes it.

    Attributes:
        train: Branch: the model as in training: batches are normalized by their own statistics, which running
            statistics follow, and dropout drops
        infer: Branch: the model as in evaluation; it changes no buffer
        module: torch.nn.Module: the model
        fold: bool: whether `infer` has batch normalization folded
        sizes: dict: name of a node of `infer` -> size and type of its result for the example
    """

    def __init__(self, module: nn.Module, example_input: Any, fold: bool = False) -> None:
        inputs = example_input if isinstance(example_input, (tuple, list)) else (example_input,)
        if not isinstance(module, nn.Module):
            raise TypeError(f"fork: module: expected a torch.nn.Module, got {type(module).__name__}")
        for value in inputs:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"fork: example_input: expected a tensor or a tuple of tensors, got {type(value).__name__}"
                )
        if not isinstance(fold, bool):
            raise TypeError(f"fork: fold: expected True or False, got {fold!r}")
        self.module = module
        self.fold = fold
        self._inputs = tuple(torch.empty_like(v, device="meta") for v in inputs)
        self.train = trace(module, len(inputs), training=True)
        self.infer = trace(module, len(inputs), training=False)
        self.sizes = _try(self.infer, module, inputs)
        if fold:
            _fold(self.infer, self.sizes)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a Fork cannot be pickled or copied: do that with its module, and fork that")

    def __repr__(self) -> str:
        return f"Fork({type(self.module).__name__}, fold={self.fold})"


def fork(module: nn.Module, example_input: Any, fold: bool = False) -> Fork:
    """The branches of a model for training and for inference, over the very parameters and buffers of the model.

    The model is traced once for each branch, by torch.fx, with the answer of that branch wherever it asks whether it is
    training; its own mode flags, and those of all modules in it, are neither changed nor obeyed, and stay free for
    other uses. What the branches share is state: parameters, buffers, settings such as `momentum`, hooks. So an
    optimizer step, ``load_state_dict``, ``to`` or a new ``requires_grad`` is seen by both at once.

    What inference is: modules as in evaluation. Functional batch normalization uses the running statistics and
    functional dropout does nothing, also where the call says ``training=True`` itself. A buffer that the model changes
    in evaluation stays as it is: the branch changes a copy that lasts one call.

    Arguments:
        module: torch.nn.Module: the model. Layers of torch.nn and thnn.nn, and modules with hooks, are called as they
            are; everything else is traced
        example_input: tensor, or tuple of tensors: arguments of forward. Any further ones keep their defaults. It goes
            once through the branch for inference and once through the model, to compare them, without leaving a trace
        fold: bool: fold each layer of batch normalization in inference into the convolution or Linear before it, where
            nothing else uses what that computes. The folded weights are computed from the parameters at each call

    Returns a `Fork`, with the callables ``.train`` and ``.infer``.

    Errors: ValueError for a model that cannot be traced (control flow that depends on values, attributes set while
    running), with file and line of the offending statement; for one that computes something else than was traced, since
    it decides by the type of a value, say, or by chance; for an example that the model does not take, with the
    layer. TypeError for arguments of other types.
    """
    return Fork(module, example_input, fold)


# Tracing.


class _Tracer(fx.Tracer):
    proxy_buffer_attributes = True
    record_stack_traces = True

    def __init__(self, views: Views) -> None:
        import thnn

        super().__init__(autowrap_functions=(thnn.batch_norm,))
        self._autowrap_search.append(thnn)
        self.views = views
        self._thread = threading.get_ident()  # other threads come here, too, and are to be let alone
        # Buffer, by identity -> the node that reads it, and what it was assigned last.
        self._assigned: dict[int, tuple[fx.Proxy, fx.Proxy]] = {}

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        if has_hooks(m) or isinstance(m, _NORMALIZATIONS):
            return True
        home = getattr(type(m).forward, "__module__", None) or ""
        return home.startswith(("torch.nn.", "thnn.nn.")) and not isinstance(m, nn.Sequential)

    def call_module(self, m: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        if threading.get_ident() != self._thread:
            return forward(*args, **kwargs)
        view = self.views.of(m)
        if view is not m:  # reached past its parent
            forward = view.forward
        return super().call_module(view, forward, args, kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        if threading.get_ident() != self._thread:
            return attr_val
        if id(attr_val) in self._assigned:
            return self._assigned[id(attr_val)][1]
        return super().getattr(attr, attr_val, parameter_proxy_cache)

    def assign(self, view: nn.Module, name: str, value: Any) -> None:
        """``self.buffer = value`` in a forward: whoever reads it later in the call reads the value; in training the
        buffer has it after the call. No other attribute outlives a call."""
        buffer = view._buffers.get(name)
        if buffer is None or not isinstance(value, fx.Proxy):
            raise ValueError(f"it sets self.{name}; of attributes, a branch keeps buffers only")
        old = self._assigned.get(id(buffer))
        self._assigned[id(buffer)] = (getattr(view, name) if old is None else old[0]), value

    def keep_assigned(self) -> None:
        """Has the buffers take their values at the end of the graph."""
        output = next(n for n in self.graph.nodes if n.op == "output")
        with self.graph.inserting_before(output):
            for buffer, value in self._assigned.values():
                self.graph.call_function(_assign, (buffer.node, value.node))


def _assign(buffer: Tensor, value: Tensor) -> None:
    if buffer.shape != value.shape:
        raise ValueError(
            f"a buffer of size {tuple(buffer.shape)} was assigned a value of size {tuple(value.shape)}"
        )
    with torch.no_grad():
        buffer.copy_(value)


class _Nodes(TorchFunctionMode):
    """Makes nodes of drawing random numbers and of switching gradients off and on."""

    def __init__(self, tracer: fx.Tracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is set_grad_enabled:
            self.tracer.create_proxy("call_function", _set_grad_enabled, args, {})
        elif func in _RANDOM:
            return self.tracer.create_proxy("call_function", func, args, kwargs or {})
        return func(*args, **(kwargs or {}))


@contextmanager
def _functions_as_nodes(tracer: fx.Tracer) -> Iterator[None]:
    """Makes a node of each call of an autograd function; torch.fx would run into its forward."""
    with ExitStack() as stack:
        classes: list[Any] = [torch.autograd.Function]
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
    """`cls.apply`, found anew at each call and told by its class."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.__name__ = cls.__name__
        self.__module__ = cls.__module__

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.cls.apply(*args, **keywords)


def _set_grad_enabled(mode: bool) -> None:
    torch.set_grad_enabled(mode and getattr(_caller, "gradients", True))


def trace(module: nn.Module, arity: int, *, training: bool) -> Branch:
    """One branch of a model that takes `arity` arguments. Errors: those of `fork`, the example aside."""
    for name, part in module.named_modules():
        if isinstance(part, torch.jit.ScriptModule):
            raise ValueError(f"fork: {name or type(module).__name__}: TorchScript cannot be traced")
    for name, parameter in module.named_parameters():
        if nn.parameter.is_lazy(parameter):
            raise ValueError(f"fork: {name} is not initialized; run the model once first")
    for name, buffer in module.named_buffers():
        if buffer.is_inference():
            raise ValueError(
                f"fork: buffer {name!r} is an inference tensor, whose changes cannot be followed"
            )
    views = Views(training)
    names = [f"input_{k}" for k in range(arity)] if arity != 1 else ["input"]
    # The root is ours: torch.fx keeps constants in it.
    defined: dict[str, Any] = {}
    arguments = ", ".join(names)
    exec(f"def forward(self, {arguments}): return self.{_ROOT}({arguments})", defined)
    root = type("Root", (nn.Module,), {"forward": defined["forward"]})()
    root.add_module(_ROOT, views.of(module))
    tracer = _Tracer(views)
    views.assign = tracer.assign
    try:
        with _tracing, torch.enable_grad(), _functions_as_nodes(tracer), _Nodes(tracer):
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
    else:
        _use_estimates(graph)
    for node in graph.nodes:
        node.meta.pop("is_wrapped", None)  # generated code would tell torch.fx to patch it
    constants = {k: v for k, v in root.__dict__.items() if isinstance(v, Tensor)}
    namespace = type("Root", (SimpleNamespace,), {})
    return Branch(graph, namespace(**{_ROOT: views.of(module)}, **constants), module, training)


def _place(error: BaseException) -> tuple[str, str]:
    """File and line of the last statement that is the user's, and the statement."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_LIBRARIES):
            return f"{frame.filename}:{frame.lineno}: ", f" at `{frame.line}`"
    return "", ""


def _use_estimates(graph: fx.Graph) -> None:
    """Inference also where a call says itself that it trains."""

    def argument(node: fx.Node, position: int, name: str) -> Any:
        return node.args[position] if position < len(node.args) else node.kwargs.get(name)

    modes = _modes()
    for node in graph.nodes:
        target = node.target.cls if isinstance(node.target, _Applied) else node.target
        mode = modes.get(target) if node.op == "call_function" else None
        if mode is None or (mode.mean_name and argument(node, mode.mean_position, mode.mean_name) is None):
            continue
        if argument(node, mode.position, mode.name) is not mode.in_inference:
            node.meta["says otherwise"] = True
        if mode.position < len(node.args):
            node.update_arg(mode.position, mode.in_inference)
        else:
            node.update_kwarg(mode.name, mode.in_inference)


# The example.


def _try(
    branch: Branch, module: nn.Module, inputs: Sequence[Any]
) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
    """Runs the branch for inference, node by node, and compares it with the model; has it spare the buffers that it
    would change."""
    buffers = dict(module.named_buffers())
    before = {n: b.detach().clone() for n, b in buffers.items()}
    sizes = {}
    changed: dict[str, str] = {}
    devices = sorted({v.get_device() for v in inputs if v.is_cuda})
    values: dict[fx.Node, Any] = {}
    output: Any = None
    waiting = (v.clone() for v in inputs)
    with torch.random.fork_rng(devices), torch.no_grad():
        for node in branch.graph.nodes:
            versions = {n: b._version for n, b in buffers.items()}
            args = fx.node.map_arg(node.args, values.__getitem__)
            kwargs = fx.node.map_arg(node.kwargs, values.__getitem__)
            try:
                if node.op == "placeholder":
                    values[node] = next(waiting)
                elif node.op == "get_attr":
                    values[node] = _attribute(branch._root, node.target)
                elif node.op == "output":
                    output = values[node] = args[0]
                elif node.op == "call_method":
                    values[node] = getattr(args[0], node.target)(*args[1:], **kwargs)
                else:
                    function = (
                        _attribute(branch._root, node.target) if node.op == "call_module" else node.target
                    )
                    values[node] = function(*args, **kwargs)
            except Exception as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"fork: example_input: {_describe(node)}: {error}") from error
            if isinstance(values[node], Tensor):
                sizes[node.name] = tuple(values[node].shape), values[node].dtype
            for name, buffer in buffers.items():
                if buffer._version != versions[name]:
                    changed[name] = _describe(node)
                    if node.op == "call_module":
                        buffer.copy_(before[name])
                        raise ValueError(f"fork: {changed[name]} changes buffer {name!r} in evaluation")
        for name, buffer in buffers.items():
            if not _equal(buffer, before[name]):  # torch does not count all writes
                changed.setdefault(name, "the model")
                buffer.copy_(before[name])
    if not any("says otherwise" in node.meta for node in branch.graph.nodes):
        _compare(branch, module, inputs, devices, output)
        for name, buffer in buffers.items():
            if not _equal(buffer, before[name]):
                buffer.copy_(before[name])
    if changed:
        read = [n for n in branch.graph.nodes if n.op == "get_attr"]
        spared = {n.target.removeprefix(_ROOT + ".") for n in read}
        for name, place in changed.items():
            if name not in spared:
                raise ValueError(f"fork: {place} changes buffer {name!r} in evaluation")
        for node in read:
            if node.target.removeprefix(_ROOT + ".") in changed:
                with branch.graph.inserting_after(node):
                    copy = branch.graph.call_method("clone", (node,))
                node.replace_all_uses_with(copy, lambda user, copy=copy: user is not copy)
        branch._compile()
    return sizes


def _compare(
    branch: Branch, module: nn.Module, inputs: Sequence[Any], devices: Sequence[int], output: Any
) -> None:
    """Whether the model itself gives what the branch gives: tracing does not see all that a forward decides by."""
    kept = [(m, dict(m._buffers)) for m in module.modules()]
    try:
        with torch.random.fork_rng(devices), torch.no_grad():
            expected = branch._root.module(*(v.clone() for v in inputs))
    except Exception as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"fork: example_input: {type(module).__name__}: {error}") from error
    finally:
        for part, given in kept:
            part._buffers.update(given)
    if _differ(output, expected):
        code = getattr(type(module).forward, "__code__", None)
        place = f"{code.co_filename}:{code.co_firstlineno}: " if code is not None else ""
        raise ValueError(
            f"fork: {place}{type(module).__name__} cannot be traced: for the example its forward computes something"
            " else than was traced; it decides by what tracing does not see, such as isinstance(x, torch.Tensor)"
        )


def _differ(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return not _equal(a, b, 1e-3)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) != len(b) or any(map(_differ, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() != b.keys() or any(_differ(a[key], b[key]) for key in a)
    return type(a) is not type(b) or (isinstance(a, (bool, int, float, str)) and a == a and a != b)


def _equal(a: Tensor, b: Tensor, tolerance: float = 0.0) -> bool:
    """Whether two tensors have the same size, type and, as far as that can be told, values; NaN equals NaN."""
    if a.shape != b.shape or a.dtype is not b.dtype:
        return False
    if a.is_meta or a.layout is not torch.strided or a.is_quantized:
        return True
    return torch.allclose(a.detach(), b.detach(), rtol=tolerance, atol=tolerance, equal_nan=True)


def _attribute(root: Any, path: str) -> Any:
    for name in path.split("."):
        root = getattr(root, name)
    return root


def _get(owner: Any, name: str, _: Any) -> Any:
    return getattr(owner, name)


def _identifier(text: str) -> str:
    """What of a text can be in a name of Python."""
    return re.sub(r"[^0-9A-Za-z_]", "_", text)


def node_name(node: fx.Node) -> str:
    """What a node is called in messages and pictures."""
    if node.op in ("call_module", "get_attr"):
        return str(node.target).removeprefix(_ROOT).removeprefix(".") or _ROOT
    if node.op == "call_function":
        return str(getattr(node.target, "__name__", node.target)).removesuffix("Function").removeprefix("_")
    return str(node.target)


def _describe(node: fx.Node) -> str:
    """A layer by its name; a function with the user's statement that it comes from."""
    name = node_name(node)
    if node.op == "call_module":
        return f"layer {name!r}"
    lines = [line.strip() for line in (node.stack_trace or "").splitlines()]
    for place, statement in reversed(list(pairwise(lines))):
        if place.startswith('File "'):
            file, _, rest = place.removeprefix('File "').partition('", line ')
            if not file.startswith(_LIBRARIES):
                return f"{file}:{rest.split(',')[0]}: {name} at `{statement}`"
    return name


# Folding.


def _fold(branch: Branch, sizes: dict[str, tuple[tuple[int, ...], torch.dtype]]) -> None:
    """Has convolutions and Linears do the batch normalization after them."""
    graph, root = branch.graph, branch._root
    views = type(root.module)._views
    for node in list(graph.nodes):
        if node.op != "call_module":
            continue
        before = _input(node)
        if before is None or before.op != "call_module" or len(before.users) != 1:
            continue
        input = _input(before)
        if input is None:
            continue
        normalization, module = _attribute(root, node.target), _attribute(root, str(before.target))
        if not _foldable(module, normalization) or before.name not in sizes:
            continue
        dims = len(sizes[before.name][0])
        if isinstance(module, nn.Linear) and dims != 2:
            continue  # its features are not what is normalized
        original = views.folded(module, normalization, dims)
        name = f"folded_{len(vars(root))}"
        setattr(root, name, original)
        with graph.inserting_after(node):
            folded = graph.call_module(name, (input,))
        folded.meta["folded"] = (before, node)
        folded.stack_trace = before.stack_trace
        sizes[folded.name] = sizes[node.name]
        node.replace_all_uses_with(folded)
        graph.erase_node(node)
        graph.erase_node(before)
    branch._compile()


def _input(node: fx.Node) -> fx.Node | None:
    """The one argument of a layer, by position or keyword."""
    arguments = [*node.args, *node.kwargs.values()]
    one = arguments[0] if len(arguments) == 1 and {*node.kwargs} <= {"input"} else None
    return one if isinstance(one, fx.Node) else None


def _foldable(module: nn.Module, normalization: nn.Module) -> bool:
    plain = ("torch.nn.modules.", "thnn.nn.")
    return (
        isinstance(module, _CONVOLUTIONS)
        and isinstance(normalization, _NORMALIZATIONS)
        and type(module).forward.__module__.startswith(plain)
        and type(normalization).forward.__module__.startswith(plain)
        and normalization.running_mean is not None
        and normalization.running_var is not None
        and not has_hooks(module)
        and not has_hooks(normalization)
    )
