"""The private names of torch that thnn uses, each with its public fallback.

thnn uses a private name where torch has no public equivalent, or where the public one costs more per call than a small
kernel. One rule holds for all: where a torch lacks the name, a call takes longer, or a feature is missing that the
name's line states; thnn can be imported, and no number is wrong. Other files of the package take private names from
here.

`NAMES` has every name with the consequence of its absence, `missing_names` the names that this torch lacks, which
``python -m thnn info`` prints. The environment variable THNN_WITHOUT, names with commas between them, hides names that
torch has: for tests, and to find the name that causes a fault.

Two kinds of names are not in NAMES. Attributes of functions that instruct torch.compile
(``_torchdynamo_inline``, ``_torchdynamo_disable``, ``_dynamo_marked_constant``) are set; a torch that does not read
them breaks graphs at calls of thnn. And these attributes of objects, which are older than torch 1.0 unless a version
stands with them, are read where they are needed:

======================================================  ==============================  ===============================
attribute                                               used by                         without it: AttributeError in
======================================================  ==============================  ===============================
``Module._parameters``, ``_buffers``, ``_modules``,     `nn`, `graph`, `parallel`,      layers, graphs, replicas and
hooks, ``_load_from_state_dict``                        `_profile`                      profiles
``Module._replicate_for_data_parallel`` (1.1)           `parallel._replicas`            thnn.parallel
``_ConvNd._reversed_padding_repeated_twice`` (1.5)      `nn.convolution`                padding_mode
``_ConvTransposeNd._output_padding``                    `nn.convolution`                output_size
``FractionalMaxPool2d._random_samples``, ``..3d..``     `nn.pooling`                    fractional pooling
``_NormBase._check_input_dim``                          `nn.sync_batch_normalization`   convert_sync_batchnorm
``fx.Tracer._autowrap_search`` (1.8)                    `graph.tracing`                 forks of thnn.batch_norm
``SymInt.node`` (2.0)                                   `_operators.shapes`             symbolic sizes
``Tensor._version``                                     `graph.example`, `nn`,          forks, replicas and fused
                                                        `parallel`                      layers
``Tensor._base``                                        `_derivatives.rule`,            in-place calls in a graph,
                                                        `compat`                        legacy functions
``Function._backward_cls``                              `compat`                        names of nodes of 2017
``ProcessGroup._get_backend`` (2.0)                     `nn.SyncBatchNorm`              synchronization
======================================================  ==============================  ===============================

`testing` uses torch._neg_view and torch._subclasses, for checks.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import torch
from torch import Tensor
from torch.autograd import forward_ad as _forward_ad

_F = TypeVar("_F", bound=Callable[..., Any])

_HIDDEN: Final = frozenset(os.environ.get("THNN_WITHOUT", "").replace(" ", "").split(","))
#: "module:name" or "library.so:symbol" -> the consequence of its absence.
NAMES: Final[dict[str, str]] = {}


def _find(name: str) -> Any:
    """The object with a name of NAMES; None if torch lacks it or THNN_WITHOUT hides it."""
    module, _, path = name.partition(":")
    if name in _HIDDEN:
        return None
    if module.endswith(".so"):
        return _address(module, path) or None
    try:
        found: Any = importlib.import_module(module)
    except ImportError:
        return None
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _address(library: str, name: str) -> int:
    """Address of a symbol in a loaded torch library, or 0."""
    path = Path(torch.__file__).parent / "lib" / library
    try:
        function = getattr(ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD | os.RTLD_NOW), name)
    except (OSError, AttributeError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _private(name: str, without: str, fallback: Any = None) -> Any:
    """The object with a name, or the fallback; adds the name to NAMES with the consequence of its absence."""
    NAMES[name] = without
    found = _find(name)
    return fallback if found is None else found


def _later(name: str, without: str) -> Callable[[], Any]:
    """A function that returns the object with a name, None if torch lacks it. It imports the module."""
    NAMES[name] = without
    return lambda: _find(name)


def missing_names() -> dict[str, str]:
    """The names that this torch lacks, with the consequences."""
    return {name: without for name, without in NAMES.items() if _find(name) is None}


# torch.utils.checkpoint

_ends: Any = _private(
    "torch.utils.checkpoint:_StopRecomputationError",
    "a recomputation of a checkpoint with batch normalization as its last layer is not counted in num_batches_tracked",
)
#: The exceptions with which torch ends the recomputation of a checkpoint once the last tensor is saved.
recomputation_ends: tuple[type[Exception], ...] = () if _ends is None else (_ends,)

# torch.compile

_compiler = "torch._C._dynamo.eval_frame"
_without = "calls of type2backend take 0.3 microseconds more"
_set_strategy: Any = _private(f"{_compiler}:set_code_exec_strategy", _without)
_strategy: Any = _private(f"{_compiler}:_FrameExecStrategy", _without)
_skip: Any = _private(f"{_compiler}:_FrameAction.SKIP", _without)
# In place of these three, before they existed.
_set_callback: Any = None
_skip_code: Any = None
if _set_strategy is None or _strategy is None or _skip is None:
    _without = "thnn imports torch's compiler, which takes a second, and calls of type2backend take 4 microseconds more"
    _set_callback = _private(f"{_compiler}:set_eval_frame", _without)
    _skip_code = _private(f"{_compiler}:skip_code", _without)


def dynamo_disable(function: _F) -> _F:
    """Makes torch.compile break the graph at a call of `function` and trace neither it nor its callees.

    Without this, torch.compile warns about every C function and compiles the surrounding code once per layer.
    torch.compiler.disable does the same, but adds four microseconds to a call and takes a second to import: it is used
    if torch lacks the private names.
    """
    if _set_strategy is not None and _strategy is not None and _skip is not None:
        disabled = function
        _set_strategy(function.__code__, _strategy(_skip, _skip))
    elif _set_callback is not None and _skip_code is not None:
        disabled = _without_callback(function)
        _skip_code(disabled.__code__)
    else:
        return torch.compiler.disable(function)
    disabled._torchdynamo_disable = True  # type: ignore[attr-defined]
    disabled._torchdynamo_disable_msg = "it calls C functions of thnn"  # type: ignore[attr-defined]
    return disabled


def _without_callback(function: _F) -> _F:
    """`function` called without torch.compile's callback, which would trace its callees."""

    @functools.wraps(function)
    def disabled(*args: Any, **keywords: Any) -> Any:
        callback = _set_callback(None)
        try:
            return function(*args, **keywords)
        finally:
            _set_callback(callback)

    return cast(_F, disabled)


def traced_as(function: Any, traced: Any) -> None:
    """Makes torch.compile trace another function in place of `function`.

    Without the private attribute it traces `function` itself. Not for class methods, for which torch 2.15 raises an
    error.
    """
    function._torchdynamo_inline = traced


# torch.compile takes the value of a function with this attribute for a constant.
is_dynamo_compiling: Callable[[], bool] = _private(
    "torch.compiler:is_dynamo_compiling", "torch.compile breaks graphs at calls of thnn", lambda: False
)

_RELEASE = tuple(int(n) for n in torch.__version__.split(".")[:2])
# torch.export. Before 2.13, torch.compile takes torch.compiler.is_exporting() for a constant, True: exporting is
# then known only where torch.compile does not trace, as it does for strict export.
_exporting: Callable[[], bool] | None = _private(
    "torch.compiler:is_exporting",
    "programs of strict torch.export call operators of thnn for the steps of LSTM and GRU",
)
is_exporting: Callable[[], bool] = (
    _exporting
    if _exporting is not None and _RELEASE >= (2, 13)
    else lambda: torch.compiler.is_compiling() and not is_dynamo_compiling()
)

#: Whether torch.compile traces attributes that are set on results.
traces_attributes: Final = _RELEASE >= (2, 9)


def marked_constant(function: _F) -> _F:
    """Makes torch.compile call a function while it traces, and take its result for a constant.

    torch.compiler.assume_constant_result sets the same attribute, but imports the compiler.
    """
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function


# Tracers and dispatch modes

_UNKNOWN_CONTEXT = "every call takes the way of a call inside a transform of torch, which is slower"
_proxy_mode = _later(
    "torch.fx.experimental.proxy_tensor:get_proxy_mode",
    "inductor fuses no function of thnn; type2backend raises NotImplementedError inside any dispatch mode",
)
# The number of active dispatch modes.
_dispatch_modes: Callable[[], int] = _private(
    "torch._C:_len_torch_dispatch_stack", _UNKNOWN_CONTEXT, lambda: 1
)
_mode_stack: Callable[[], list[Any]] = _private(
    "torch.utils._python_dispatch:_get_current_dispatch_mode_stack",
    "an active FlopCounterMode does not count a function at its first use",
    list,
)
# A context manager that suspends all dispatch modes.
without_modes: Callable[[], Any] = _private(
    "torch.utils._python_dispatch:_disable_current_modes", "no fake tensors", contextlib.nullcontext
)
is_tracing: Callable[[], bool] = _private(
    "torch._C:_is_tracing",
    "torch.jit.is_tracing takes its place",
    torch.jit.is_tracing,  # type: ignore[attr-defined]
)
_fake_tensor = _later("torch._subclasses.fake_tensor:FakeTensor", "no fake tensors outside of a mode")


def dispatch_modes() -> list[Any]:
    """The active dispatch modes."""
    return _mode_stack()


def is_fake(tensor: Tensor) -> bool:
    """True for a fake tensor, which has no memory."""
    fake = _fake_tensor()
    return fake is not None and isinstance(tensor, fake)


def recording_mode() -> Any:
    """The dispatch mode of make_fx or torch.export; None without one. Where it is not known: True in any dispatch
    mode."""
    if "torch.fx.experimental.proxy_tensor" not in sys.modules:
        return None
    mode = _proxy_mode()
    return mode() if mode is not None else (_dispatch_modes() > 0 or None)


def is_decomposing() -> bool:
    """True while a tracer replaces activations by elementary operations (inductor's tracer does; aot_eager's does
    not)."""
    mode = recording_mode()
    # Before torch 2.13 the table is a global variable.
    tracing = sys.modules.get("torch.fx.experimental.proxy_tensor")
    table: Any = getattr(mode, "decomposition_table", None)
    table = table or getattr(tracing, "CURRENT_DECOMPOSITION_TABLE", ())
    return mode is not None and torch.ops.aten.threshold.default in table


def recorder() -> str | None:
    """The public name of the active tracer that records operators, which would miss a call of a C function; None if
    there is none."""
    if is_tracing():
        return "torch.jit.trace"
    return "make_fx or torch.export" if _dispatch_modes() > 0 and recording_mode() is not None else None


def named_script(name: str, function: Any) -> Any:
    """A TorchScript function with a qualified name, by which a saved trace finds it."""
    return function if _create_function is None else _create_function(f"__torch__.{name}", function.graph)


_create_function: Any = _private(
    "torch._C:_create_function_from_graph", "torch.jit.load refuses traces whose sizes are not constants"
)
_in_onnx_export: Callable[[], bool] = _private(
    "torch.onnx:is_in_onnx_export", "no torch.onnx.export of layers", lambda: False
)


def in_onnx_export() -> bool:
    """True inside torch.onnx.export, of either kind."""
    return not is_dynamo_compiling() and _in_onnx_export()


# Graphs of torch.compile, which name the function that torch.nn.functional.pad calls.
builtin_pad: Any = _private("torch._C._nn:pad", "the backend of torch.compile leaves padding to torch")

# torch.library

_destroy: Callable[[torch.library.Library], None] = _private(
    "torch.library:Library._destroy",
    "operators whose definition failed remain until garbage is collected",
    id,
)


@contextmanager
def definitions(namespace: str) -> Iterator[torch.library.Library]:
    """A library of torch, for definitions of operators. If a definition fails, none remains, so that they can be
    repeated."""
    library = torch.library.Library(namespace, "FRAGMENT")
    try:
        yield library
    except BaseException:
        _destroy(library)
        raise


# Autograd

# torch.autograd.graph.increment_version minus its check for a single tensor.
increment_version: Callable[[Any], None] = _private(
    "torch._C:_increment_version",
    "0.1 microseconds per in-place call",
    torch.autograd.graph.increment_version,
)

# Function.apply minus its handling of torch.func, and None without it.
node_apply: Any = vars(
    _private("torch._C:_FunctionBase", "a call with a gradient takes a microsecond more", object)
).get("apply")

# The class of the `ctx` that a node's backward gets, a base class for thnn's.
has_backward_class: Final[bool] = (
    _private("torch.autograd:Function._backward_cls", "a backward takes 0.2 microseconds more") is not None
)

# Tensors that a context saves, of which save_for_backward sets this attribute.
saves_by_attribute: Final[bool] = (
    _private("torch._C:_FunctionBase.to_save", "a call with a gradient takes 0.1 microseconds more")
    is not None
)

_creation_meta: Any = _private(
    "torch._C._autograd:_get_creation_meta",
    "an in-place call of any view that requires a gradient is an error",
)


def is_output_of_several(tensor: Tensor) -> bool:
    """True for a view that an operation with several outputs made (unbind, split): autograd forbids in-place changes,
    but raises its error only after the tensor was overwritten."""
    # The call below raises an exception for other tensors, which takes ten times as long as a small kernel.
    if tensor._base is None:
        return False
    if _creation_meta is None:
        return True
    try:
        return bool(_creation_meta(tensor).name == "MULTI_OUTPUT_NODE")
    except RuntimeError:
        return False


# The function that torch.no_grad and torch.set_grad_enabled call, which a TorchFunctionMode intercepts.
set_grad_enabled: Any = _private(
    "torch._C:_set_grad_enabled", "torch.fx bakes the mode at tracing time into a branch of a fork"
)

# torch.func and forward mode

functorch_active: Callable[[], bool] = _private(
    "torch._C:_are_functorch_transforms_active", _UNKNOWN_CONTEXT, lambda: True
)
# True for the gradients of torch.autograd.grad(is_grads_batched=True).
is_batched: Callable[[Tensor], bool] = _private(
    "torch._C._functorch:is_legacy_batchedtensor",
    "the error of is_grads_batched is one about memory",
    lambda tensor: False,
)
# True for a tensor with a batch of torch.vmap.
in_vmap: Callable[[Tensor], bool] = _private(
    "torch._C._functorch:is_batchedtensor",
    "forward mode over torch.vmap is an error of torch",
    lambda tensor: False,
)
_unwrap_if_dead: Any = _private(
    "torch._C._functorch:unwrap_if_dead", "second derivatives of convolutions take 10 microseconds more"
)
_interpreters: Any = _private(
    "torch._C._functorch:get_interpreter_stack", "no forward mode inside torch.func"
)
_NESTED = "no forward mode over forward mode"
_unwrap: Any = _private("torch._C._functorch:_unwrap_for_grad", _NESTED)
_wrap: Any = _private("torch._C._functorch:_wrap_for_grad", _NESTED)
_set_forward_mode: Any = _private("torch.autograd.forward_ad:_set_fwd_grad_enabled", _NESTED)
_interpreter = _later("torch._functorch.pyfunctorch:retrieve_current_functorch_interpreter", _NESTED)
_has_level = _private("torch.autograd.forward_ad:_current_level", _UNKNOWN_CONTEXT) is not None


def forward_mode_names() -> dict[str, Any]:
    """The names of torch.autograd.forward_ad, where C reads the level of forward mode."""
    return vars(_forward_ad) if _has_level else {}


def forward_level() -> int:
    """The level of forward mode, -1 outside of it; 0 where it is not known."""
    return _forward_ad._current_level if _has_level else 0


def in_transform() -> bool:
    """True inside torch.func transforms, forward-mode differentiation, torch.jit.trace and dispatch modes, and where it
    is not known. None of them sees a call of a C function."""
    return functorch_active() or forward_level() >= 0 or is_tracing() or _dispatch_modes() > 0


@dynamo_disable  # torch.compile meets it where a graph breaks, as at backward()
def call_node(node: type[torch.autograd.Function], *values: Any) -> Any:
    """node.apply(*values), outside of torch.func minus its reading of the signature, which takes as long as ten small
    kernels."""
    if functorch_active() or node_apply is None or _unwrap_if_dead is None:
        return node.apply(*values)
    # A saved tensor may belong to a transform that has ended.
    return node_apply.__get__(None, node)(
        *[_unwrap_if_dead(v) if isinstance(v, Tensor) else v for v in values]
    )


def transforms() -> list[str] | None:
    """The active transforms of torch.func, from the outermost: "Jvp", "Grad", "Vmap", "Functionalize". None where they
    are not known."""
    return None if _interpreters is None else [i.key().name for i in _interpreters() or ()]


def is_functionalizing() -> bool:
    """True if the innermost transform of torch.func is functionalize. Where it is not known, torch raises an error."""
    return (transforms() or [""])[-1] == "Functionalize"


def has_tangent(tensor: Tensor) -> bool:
    """True for a tensor that has a tangent of forward mode, or may have one: torch.vmap hides it."""
    if torch.compiler.is_compiling() or forward_level() < 0 or not tensor.is_floating_point():
        return False
    return in_vmap(tensor) or _forward_ad.unpack_dual(tensor).tangent is not None


def below_forward_level(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of mappings and sequences of tensors below forward mode, the innermost transform, so that only
    the outer transforms see the call.

    torch calls the jvp of an autograd function with forward mode switched off for all levels. Raises
    NotImplementedError if torch lacks a name.
    """
    from torch.utils._pytree import tree_map_only

    current = _interpreter()
    if None in (_unwrap, _wrap, _set_forward_mode, current):
        raise NotImplementedError(
            f"forward mode over forward mode does not work with torch {torch.__version__}"
        )
    interpreter: Any = current()
    level = interpreter.level()
    inner = tree_map_only(Tensor, lambda t: _unwrap(t, level), arguments)
    with torch.enable_grad(), _set_forward_mode(True), interpreter.lower():
        results = function(*inner)
    return tree_map_only(Tensor, lambda t: _wrap(t, level), results)


# Tensors and their memory

_EXCHANGE = "torch:Tensor.__dlpack_c_exchange_api__"
_API: Any = _private(
    _EXCHANGE, "DLPack capsules take its place, 0.2 microseconds per tensor, but not for CUDA tensors"
)
_is_zerotensor: Callable[[Tensor], bool] = _private(
    "torch:Tensor._is_zerotensor", "the error for a zero tensor tells another reason", lambda tensor: False
)
# A context manager that hides torch operations from tensor subclasses.
without_torch_function: Callable[[], Any] = _private(
    "torch._C:DisableTorchFunctionSubclass", "subclasses of CUDA tensors see operations inside of functions",
    contextlib.nullcontext,
)  # fmt: skip


def exchange_api() -> Any:
    """The capsule of torch's DLPack C exchange API; None before torch 2.11."""
    return _API


def is_zero_tensor(tensor: Tensor) -> bool:
    """True for a tensor of zeros without memory, which autograd makes."""
    return _is_zerotensor(tensor)


# The C functions with which the binding allocates small tensors. The first three belong to libtorch's stable C
# interface. The last one, THPVariable_Wrap(const at::TensorBase&), is private; a change of its arguments would change
# its name.
ALLOCATION: Final = (
    "libtorch_cpu.so:aoti_torch_empty_strided",
    "libtorch_cpu.so:aoti_torch_get_data_ptr",
    "libtorch_cpu.so:aoti_torch_delete_tensor_object",
    "libtorch_python.so:_Z16THPVariable_WrapRKN2at10TensorBaseE",
)
# The C functions that replace `in_transform` and torch.is_grad_enabled in the binding, in the order of
# lib/binding/context.c. All are private; a change of their arguments would change their names.
CONTEXT: Final = (
    "libtorch_cpu.so:_ZN2at9functorch20getDynamicLayerStackEv",
    "libtorch_cpu.so:_ZN5torch3jit6tracer15getTracingStateEv",
    "libc10.so:_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv",
    "libc10.so:_ZN3c108GradMode10is_enabledEv",
)
NAMES.update(dict.fromkeys(ALLOCATION, "torch.empty_strided takes its place, 0.5 microseconds per result"))
NAMES.update(dict.fromkeys(CONTEXT, "functions of Python take its place, 0.3 microseconds per call"))


def addresses(names: tuple[str, ...]) -> tuple[int, ...]:
    """The addresses of C functions, ALLOCATION or CONTEXT; 0 for those that torch lacks."""
    return tuple(_find(name) or 0 for name in names)


# Layers: private base classes; torch exports only the subclasses for one number of dimensions each.

if TYPE_CHECKING:
    BatchNormBase = torch.nn.modules.batchnorm._BatchNorm
    ConvBase = torch.nn.modules.conv._ConvNd
    InstanceNormBase = torch.nn.modules.instancenorm._InstanceNorm
    ConvTransposeBase = torch.nn.modules.conv._ConvTransposeNd
else:
    (BatchNormBase,) = torch.nn.BatchNorm2d.__bases__
    (ConvBase,) = torch.nn.Conv2d.__bases__
    (ConvTransposeBase,) = torch.nn.ConvTranspose2d.__bases__
    (InstanceNormBase,) = torch.nn.InstanceNorm2d.__bases__

_assert_async: Any = _private(
    "torch:_assert_async", "the host waits for an accelerator to check a class number"
)


def assert_async(condition: Tensor, message: str) -> None:
    """Stops an accelerator where `condition` (one bool) is false, without synchronizing with the host.

    Without the private name the host waits for the value; RuntimeError if it is false.
    """
    if _assert_async is not None:
        _assert_async(condition, message)
    elif not condition:
        raise RuntimeError(message)


# torch.distributed, which only its callers import


def use_numbers_of_each_call(operator: Any) -> None:
    """Puts the numbers of a call into the key of DTensor's cache of shardings.

    Before 2.9, an operator whose tensors DTensor redistributes got the numbers of the first call with this sharding;
    before 2.13, another mode of batch normalization was an error.
    """
    if _RELEASE < (2, 13):
        from torch.distributed.tensor import DTensor

        infos = DTensor._op_dispatcher.sharding_propagator.op_to_schema_info
        infos[operator] = dataclasses.replace(infos[operator], static_argnum=0)


def backend_of(process_group: Any, device: torch.device) -> Any:
    """The backend of a process group for a device. Without the private name: no SyncBatchNorm."""
    return process_group._get_backend(device)


def timeout_of(process_group: Any, device: torch.device) -> float:
    """The timeout of a process group in seconds. Without the private names: torch's default, 30 minutes for gloo."""
    from torch.distributed import constants

    options = getattr(backend_of(process_group, device), "options", None)
    timeout: timedelta = getattr(options, "_timeout", constants.default_pg_timeout)
    return timeout.total_seconds()


def is_profiling() -> bool:
    """True while torch's profiler records. Without the private name, its record does not show the layers of
    collectives."""
    return getattr(torch.autograd.profiler, "_is_profiler_enabled", False)


def set_timeout_of(gloo: Any, timeout: timedelta) -> None:
    """Sets the timeout of the next collectives of a group of gloo. Without the private name: it does not change."""
    if hasattr(gloo, "_set_default_timeout"):
        gloo._set_default_timeout(timeout)


def store_client_of(process_group: Any) -> Any:
    """A separate client of the key-value store of a process group.

    The store object that torch keeps is one client for all groups: a call that waits on it blocks every other call.
    Without ``Store.clone`` that client is returned, and threads with different groups can block each other. Before
    torch 2.7 a group does not tell its store.
    """
    if hasattr(process_group, "get_group_store"):
        store = process_group.get_group_store()
    else:
        store = torch.distributed.distributed_c10d._get_process_group_store(process_group)
    return store.clone() if hasattr(store, "clone") else store
