"""Every private name of torch that thnn uses, with the consequence of its absence.

thnn uses a private name where torch has no public equivalent, or where the public one costs more per call than a small
kernel. Other files of the package import private names from here, so that only this file has to be checked with a new
version of torch. `_binding.arguments` imports torch._subclasses itself, on the slow route, because that import is slow;
`_operators.calls` and `_operators.flops` read the level of forward mode and the stack of dispatch modes themselves,
`_cuda` uses torch._C.DisableTorchFunctionSubclass, and `testing` names of its own.

Private attributes of objects cannot be imported. thnn uses these:

======================================================  ==============================  ===============================
attribute                                               used by                         without it
======================================================  ==============================  ===============================
``Function._backward_cls``                              `_functions.base`, `compat`     classes cannot be created
``Module._parameters``, ``_buffers``, ``_modules``,     `nn`, `graph`, `parallel`,      layers cannot be called
hooks, ``_load_from_state_dict``                        `_profile`
``Module._compiled_call_impl``                          `graph.mode_views`              no effect
``Module._replicate_for_data_parallel``                 `parallel._replicas`            modules cannot be replicated
``_ConvNd._reversed_padding_repeated_twice``            `nn.convolution`                no other padding_mode
``_ConvTransposeNd._output_padding``                    `nn.convolution`                no output_size
``FractionalMaxPool2d._random_samples``, ``..3d..``     `nn.pooling`                    no fractional pooling
``_NormBase._check_input_dim``                          `nn.sync_batch_normalization`   no conversion of layers
``fx.Tracer._autowrap_search``                          `graph.tracing`                 no thnn.batch_norm in a fork
``SymInt.node``                                         `_operators.shapes`             no symbolic sizes
``Tensor._version``                                     `graph.example`, `parallel`     forks and replicas unavailable
``Tensor._is_zerotensor``                               `_binding.arguments`            AttributeError for tensors
                                                                                        without memory
``Tensor._base``, ``Tensor._is_view``                   `_functions.derivatives`,       no in-place calls in a graph,
                                                        `compat`                        no legacy functions
======================================================  ==============================  ===============================
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.autograd import forward_ad as _forward_ad

_F = TypeVar("_F", bound=Callable[..., Any])

# torch.utils.checkpoint

#: The exceptions by which torch ends a recomputation of a checkpoint as soon as the last tensor is saved. Without the
#: private name, running statistics of options that torch lacks, and num_batches_tracked, count such a recomputation not
#: at all, if batch normalization is the last layer of the checkpoint.
recomputation_ends: tuple[type[Exception], ...]
try:
    from torch.utils.checkpoint import _StopRecomputationError

    recomputation_ends = (_StopRecomputationError,)
except ImportError:
    recomputation_ends = ()

# torch.compile

try:
    from torch._C._dynamo import eval_frame as _eval_frame

    _set_strategy: Any = _eval_frame.set_code_exec_strategy
    _SKIP: Any = _eval_frame._FrameExecStrategy(_eval_frame._FrameAction.SKIP, _eval_frame._FrameAction.SKIP)
except (ImportError, AttributeError):
    _set_strategy = None


def dynamo_disable(function: _F) -> _F:
    """Makes torch.compile break the graph at a call of `function` and trace neither it nor its callees.

    Without this, torch.compile warns about every C function and compiles the surrounding code once per layer.
    torch.compiler.disable does the same, but wraps the function and takes a second to import: it is used if torch lacks
    the private names.
    """
    if _set_strategy is None:
        return torch.compiler.disable(function)
    function._torchdynamo_disable = True  # type: ignore[attr-defined]
    function._torchdynamo_disable_msg = "it calls C functions of thnn"  # type: ignore[attr-defined]
    _set_strategy(function.__code__, _SKIP)
    return function


def traced_as(function: Any, traced: Any) -> None:
    """Makes torch.compile trace another function in place of `function`.

    Without the private attribute it traces `function` itself. No class methods, for which torch 2.15 raises an error.
    """
    function._torchdynamo_inline = traced


# torch.compile takes its value for a constant.
is_dynamo_compiling: Callable[[], bool] = torch.compiler.is_dynamo_compiling


def marked_constant(function: _F) -> _F:
    """Makes torch.compile call a function while it traces, and take its result for a constant.

    torch.compiler.assume_constant_result sets the same attribute, but imports the compiler.
    """
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function


def is_decomposing() -> bool:
    """True while a tracer replaces activations by elementary operations, as that of inductor does and that of aot_eager
    does not. Without the private names: False, and inductor fuses no function of thnn."""
    tracing = sys.modules.get("torch.fx.experimental.proxy_tensor")
    mode = getattr(tracing, "get_proxy_mode", lambda: None)()
    # Before torch 2.13 the table is a global variable.
    table = getattr(mode, "decomposition_table", None) or getattr(tracing, "CURRENT_DECOMPOSITION_TABLE", ())
    return mode is not None and torch.ops.aten.threshold.default in table


def without_modes() -> Any:
    """A context manager that suspends all dispatch modes. Without the private name: no fake tensors."""
    from torch.utils._python_dispatch import _disable_current_modes

    return _disable_current_modes()


# torch.library


@contextmanager
def definitions(namespace: str) -> Iterator[torch.library.Library]:
    """A library of torch, for definitions of operators. If they fail none of them remains, and they can be repeated;
    without the private method, once the library is collected as garbage."""
    library = torch.library.Library(namespace, "FRAGMENT")
    try:
        yield library
    except BaseException:
        getattr(library, "_destroy", lambda: None)()
        raise


# Autograd

# torch.autograd.graph.increment_version minus its check for a single tensor. Fallback: the public function.
increment_version: Callable[[Any], None] = getattr(
    torch._C, "_increment_version", torch.autograd.graph.increment_version
)

# Function.apply minus its handling of torch.func. Fallback: None, with which callers use the slower Function.apply.
node_apply: Any = torch._C._FunctionBase.__dict__.get("apply")


def exchange_api() -> Any:
    """The capsule of torch's DLPack C exchange API. None before torch 2.11: thnn then takes DLPack capsules of tensors,
    which cost 0.2 microseconds per tensor more."""
    return getattr(Tensor, "__dlpack_c_exchange_api__", None)


def allocation_functions() -> tuple[int, ...]:
    """The addresses of the C functions with which the binding allocates small tensors; 0 for those that torch lacks.

    The first three belong to libtorch's stable C interface. The last one, THPVariable_Wrap(const at::TensorBase&), is
    private; a change of its arguments would change its name. Fallback: torch.empty_strided and torch.empty_like, which
    take twice the time.
    """
    return (
        _address("libtorch_cpu.so", "aoti_torch_empty_strided"),
        _address("libtorch_cpu.so", "aoti_torch_get_data_ptr"),
        _address("libtorch_cpu.so", "aoti_torch_delete_tensor_object"),
        _address("libtorch_python.so", "_Z16THPVariable_WrapRKN2at10TensorBaseE"),
    )


def context_functions() -> tuple[int, ...]:
    """The addresses of the functions by which the binding does what `in_transform` and torch.is_grad_enabled do, in the
    order of lib/binding/context.c; 0 for those that torch lacks.

    All are private; a change of their arguments would change their names. Fallback: the functions in Python, which take
    0.2 microseconds more per call.
    """
    return (
        _address("libtorch_cpu.so", "_ZN2at9functorch20getDynamicLayerStackEv"),
        _address("libtorch_cpu.so", "_ZN5torch3jit6tracer15getTracingStateEv"),
        _address("libc10.so", "_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv"),
        _address("libc10.so", "_ZN3c108GradMode10is_enabledEv"),
    )


def forward_mode_names() -> dict[str, Any]:
    """The names of torch.autograd.forward_ad, where `in_transform` reads the level of forward mode."""
    return vars(_forward_ad)


def _address(library: str, name: str) -> int:
    """The address of a function in a library of torch that is loaded; 0 if there is none."""
    path = Path(torch.__file__).parent / "lib" / library
    try:
        function = getattr(ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD | os.RTLD_NOW), name)
    except (OSError, AttributeError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def named_script(name: str, function: Any) -> Any:
    """A function of TorchScript with a qualified name, by which a trace that was saved finds it. Without the private
    name: the function, and torch.jit.load refuses the trace."""
    create = getattr(torch._C, "_create_function_from_graph", None)
    return function if create is None else create(f"__torch__.{name}", function.graph)


functorch_active: Callable[[], bool] = torch._C._are_functorch_transforms_active
is_tracing: Callable[[], bool] = torch._C._is_tracing
# True for the gradients of torch.autograd.grad(is_grads_batched=True). Fallback: False.
is_batched: Callable[[Tensor], bool] = getattr(
    torch._C._functorch, "is_legacy_batchedtensor", lambda tensor: False
)


# The number of active dispatch modes. Without it thnn cannot be imported, for the reason in `in_transform`.
_dispatch_modes: Callable[[], int] = torch._C._len_torch_dispatch_stack


def in_onnx_export() -> bool:
    """True inside torch.onnx.export, of either kind."""
    return not torch.compiler.is_dynamo_compiling() and torch.onnx.is_in_onnx_export()


def is_functionalizing() -> bool:
    """True if the innermost transform of torch.func is functionalize. Without the private names: torch raises its own
    error there."""
    try:
        return torch._C._functorch.peek_interpreter_stack().key().name == "Functionalize"
    except AttributeError:
        return False


def transforms() -> list[str]:
    """The active transforms of torch.func, from the outermost: "Jvp", "Grad", "Vmap", "Functionalize". Without the
    private name thnn cannot be imported: torch would silently take outer tangents of forward mode for zero."""
    return [i.key().name for i in _interpreters() or ()]


# True for a tensor with a batch of torch.vmap. Fallback: False, and forward mode over vmap is an error of torch.
in_vmap: Callable[[Tensor], bool] = getattr(torch._C._functorch, "is_batchedtensor", lambda tensor: False)
_interpreters: Callable[[], Any] = torch._C._functorch.get_interpreter_stack


def has_tangent(tensor: Tensor) -> bool:
    """True for a tensor that has a tangent of forward mode, or may have one: torch.vmap hides it."""
    if torch.compiler.is_compiling() or _forward_ad._current_level < 0 or not tensor.is_floating_point():
        return False
    return in_vmap(tensor) or _forward_ad.unpack_dual(tensor).tangent is not None


def below_forward_level(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of mappings and sequences of tensors below forward mode, the innermost transform: the transforms
    outside of it compute the function.

    torch calls the jvp of an autograd function with forward mode switched off for all levels.
    """
    from torch._C._functorch import _unwrap_for_grad, _wrap_for_grad
    from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter
    from torch.utils._pytree import tree_map_only

    interpreter: Any = retrieve_current_functorch_interpreter()
    level = interpreter.level()
    inner = tree_map_only(Tensor, lambda t: _unwrap_for_grad(t, level), arguments)
    with torch.enable_grad(), _forward_ad._set_fwd_grad_enabled(True), interpreter.lower():
        results = function(*inner)
    return tree_map_only(Tensor, lambda t: _wrap_for_grad(t, level), results)


def recorder() -> str | None:
    """The public name of the active recorder, which would miss the call of a C function; None if there is none."""
    if is_tracing():
        return "torch.jit.trace"
    for i in range(_dispatch_modes()):
        if type(torch._C._get_dispatch_stack_at(i)).__name__ == "ProxyTorchDispatchMode":
            return "make_fx or torch.export"
    return None


def is_output_of_several(tensor: Tensor) -> bool:
    """True for a view that an operation with several outputs made (unbind, split): autograd allows no in-place changes.

    Without the private names: autograd raises the error, but after the tensor was overwritten.
    """
    # The call below raises an exception for other tensors, which takes ten times as long as a small kernel.
    if not tensor._is_view():
        return False
    try:
        return torch._C._autograd._get_creation_meta(tensor).name == "MULTI_OUTPUT_NODE"
    except (AttributeError, RuntimeError):
        return False


def in_transform() -> bool:
    """True inside torch.func transforms, forward-mode differentiation, torch.jit.trace and dispatch modes.

    None of them sees a call of a C function. Without the private names thnn cannot be imported: otherwise it
    would silently return wrong numbers.
    """
    return functorch_active() or _forward_ad._current_level >= 0 or is_tracing() or _dispatch_modes() > 0


# The function that torch.no_grad and torch.set_grad_enabled call, which a TorchFunctionMode intercepts. Without it:
# torch.fx bakes the mode at tracing time into a branch of a fork.
set_grad_enabled: Any = getattr(torch._C, "_set_grad_enabled", None)

# Layers: base classes whose public names cover one number of dimensions each. Without them: no thnn.nn.

BatchNormBase = torch.nn.modules.batchnorm._BatchNorm
ConvBase = torch.nn.modules.conv._ConvNd
ConvTransposeBase = torch.nn.modules.conv._ConvTransposeNd


def assert_async(condition: Tensor, message: str) -> None:
    """Stops an accelerator where `condition` (one bool) is false, without synchronizing with the host.

    Without the private name the host waits for the value; RuntimeError if it is false.
    """
    private = getattr(torch, "_assert_async", None)
    if private is not None:
        private(condition, message)
    elif not condition:
        raise RuntimeError(message)


# torch.distributed, imported by its callers only


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
    """Whether torch's profiler records. Without the private name: its record has no names of layers for collectives."""
    return getattr(torch.autograd.profiler, "_is_profiler_enabled", False)


def set_timeout_of(gloo: Any, timeout: timedelta) -> None:
    """Sets the timeout of the next collectives of a group of gloo. Without the private name: it does not change."""
    if hasattr(gloo, "_set_default_timeout"):
        gloo._set_default_timeout(timeout)


def store_client_of(process_group: Any) -> Any:
    """A separate client of the key-value store of a process group.

    The store object that torch keeps is one client for all groups: a call that waits on it blocks every other call.
    Without ``Store.clone`` that client is returned, and threads with groups of their own can block each other.
    """
    store = process_group.get_group_store()
    return store.clone() if hasattr(store, "clone") else store
