"""The compiled library as Python sees it: loading, calling, and saying what went wrong.

A call has two routes. The fast one passes the id of the tuple of its arguments, ``lib.Tanh_updateOutput(ANY,
id(arguments))``; the glue looks into it, and inside the tensors through torch's DLPack C exchange API. Everything else
comes here: outputs that want another size, arguments that are refused, numbers of other types, and tensors that the
exchange does not take although thnn does (meta tensors, a torch without the API), for which Python fills the views.
"""

from __future__ import annotations

import math
import operator
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch

_PACKAGE = Path(__file__).resolve().parent.parent
try:
    from thnn import _C
except ImportError as error:
    if list(_PACKAGE.glob("_C*.so")):
        raise
    raise ImportError(
        f"{_PACKAGE} has no library: in a source tree `make setup` builds it; an installed thnn is found "
        f"from every other directory ({error})"
    ) from error
from thnn._generated.model import DIGEST
from thnn._header import Argument, Function
from thnn._header.roles import BACKWARD_SCALARS

ffi: Final = _C.ffi
lib: Final = _C.lib
_message, _request, _request_count = lib.thnn_message, lib.thnn_request, lib.thnn_request_count

# Flags of a call; see lib/THNN/python/exchange.h.
FLOAT, DOUBLE, ANY, TYPE_MASK, VIEWS, META = 0, 1, 2, 3, 4, 8

# What stands for a tensor that the call is to allocate.
ALLOCATE: Final[Any] = type("Allocate", (), {"__repr__": lambda self: "ALLOCATE"})()

_OK, _RESIZE, _UNPACK = 0, 1, 6
_EXCEPTIONS: Final = {2: TypeError, 3: ValueError, 4: IndexError, 5: NotImplementedError}

_TYPE_CODES: Final = {torch.float32: 0, torch.float64: 1, torch.int64: 2, torch.int32: 3}
_REAL_DTYPES: Final = {FLOAT: torch.float32, DOUBLE: torch.float64}
FIXED_DTYPES: Final = {
    "THAccrealTensor*": torch.float64,
    "THIndexTensor*": torch.int64,
    "THIntegerTensor*": torch.int32,
}
_MAX_DIM: Final = 64


def open_exchange(enable: bool = True) -> bool:
    """Opens the fast route through torch's DLPack C exchange API, or closes it; returns whether it is open."""
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None) if enable else None
    return bool(
        lib.thnn_open_exchange(0 if capsule is None else id(capsule), id(torch.get_num_threads), id(ALLOCATE))
    )


def cpu_capability() -> str:
    """The instruction set in use: 'default', 'avx2' or 'avx512'."""
    return str(ffi.string(lib.THNN_capabilityName()).decode())


def cpu_name() -> str:
    """The processor, with the family and model that tell generations apart."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    name = fields.get("model name", platform.machine())
    if {"cpu family", "model"} <= fields.keys():
        return f"{name} (family {fields['cpu family']}, model {fields['model']})"
    return name


if ffi.string(lib.thnn_digest).decode() != DIGEST:
    raise ImportError(
        f"the library {_C.__file__} was built from another THNN.h than the model in {_PACKAGE}: "
        "python -m thnn regenerate"
    )
_error = lib.THNN_environmentError()
if _error != ffi.NULL:
    raise ValueError(ffi.string(_error).decode())
del _error
open_exchange()


def invoke(function: Function, flags: int, values: Sequence[Any]) -> list[Any]:
    """Calls a function with the values of its arguments but the state, whatever it takes.

    Tensors given as ALLOCATE are allocated, tensors of another size are resized. Returns the values, with the
    allocated tensors in their places.
    """
    arguments = function.arguments[1:] if function.arguments[0].role == "state" else function.arguments
    values = list(values)
    if len(values) != len(arguments):
        raise TypeError(
            f"{function.name}: expected {len(arguments)} arguments after the state, got {len(values)}"
        )
    for position, argument in enumerate(arguments):
        if not argument.is_tensor:
            values[position] = _scalar(function, argument, values[position])
    call: Callable[..., int] = getattr(lib, function.name)
    as_views = False
    given: dict[int, torch.Tensor] = {}
    while True:
        if as_views:
            views = [_view(v) if isinstance(v, torch.Tensor) else v for v in values]
            passed = tuple(_address_of(v) if isinstance(v, ffi.CData) else v for v in views)
        else:
            passed = tuple(values)
        status = call(flags, id(passed))
        if status == _OK:
            with torch.no_grad():
                for position, tensor in given.items():
                    values[position] = tensor.set_(values[position])
            return values
        if status == _RESIZE:
            given.update(_resize(function, flags, arguments, values))
        elif status == _UNPACK and not as_views:
            meta = _check_tensors(function, flags, arguments, values)
            flags |= VIEWS | META if meta else VIEWS
            as_views = True
        else:
            message = ffi.string(_message()).decode(errors="replace")
            raise _EXCEPTIONS.get(status, TypeError)(message)


def run(function: Function, **values: Any) -> dict[str, Any]:
    """Calls a C function with arguments by name; returns all values by name, allocated outputs among them."""
    arguments = [a for a in function.arguments if a.role != "state"]
    row = []
    for argument in arguments:
        if argument.name in values:
            row.append(values[argument.name])
        elif argument.role == "buffer" or argument.is_optional:
            row.append(None)
        elif argument.role in ("output", "saved", "gradInput"):
            row.append(ALLOCATE)
        else:
            row.append(backward_scalar(argument.name, values, values["gradOutput"]))
    return dict(zip((a.name for a in arguments), invoke(function, ANY, row)))


def backward_scalar(name: str, values: Mapping[str, Any], gradOutput: torch.Tensor) -> Any:
    """A scalar that only a backward takes: a size of the input or the output, or its default."""
    known = BACKWARD_SCALARS[name]
    if known.tensor is None or known.dim is None:
        return known.default
    return (gradOutput if known.tensor == "output" else values[known.tensor]).shape[known.dim]


def _scalar(function: Function, argument: Argument, value: Any) -> Any:
    """The value as the C type of the argument; TypeError or ValueError when it does not fit."""
    if isinstance(value, torch.Tensor):
        raise TypeError(f"{function.name}: {argument.name}: expected {argument.type}, got a tensor")
    try:
        return _converted(function, argument, value)
    except (TypeError, ValueError):
        raise
    except Exception as error:  # of code that belongs to the value
        raise TypeError(
            f"{function.name}: {argument.name}: {type(value).__name__} cannot be converted: {type(error).__name__}"
        ) from error


def flag(function: Function, name: str, value: Any) -> bool:
    """A flag that Python itself acts upon, as the C function would take it."""
    argument = function.argument(name)
    assert argument is not None
    return bool(_scalar(function, argument, value))


def _converted(function: Function, argument: Argument, value: Any) -> Any:
    if argument.type in ("accreal", "real", "double", "float"):
        try:
            if not hasattr(value, "__float__") and not hasattr(value, "__index__"):
                raise TypeError
            return float(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"{function.name}: {argument.name}: expected a number, got {_describe(value)}"
            ) from None
        except OverflowError:
            raise ValueError(
                f"{function.name}: {argument.name}: {_describe(value)} is out of range"
            ) from None
    try:
        number = operator.index(value)
    except TypeError:
        expected = "a bool" if argument.type == "bool" else "an integer"
        raise TypeError(
            f"{function.name}: {argument.name}: expected {expected}, got {_describe(value)}"
        ) from None
    if argument.type == "bool":
        if number not in (0, 1):
            raise ValueError(
                f"{function.name}: {argument.name}: expected True or False, got {_describe(number)}"
            )
        return bool(number)
    bits = 31 if argument.type == "int" else 63
    if not -(1 << bits) <= number < 1 << bits:
        raise ValueError(
            f"{function.name}: {argument.name}: {_describe(number)} does not fit in {bits + 1} bits"
        )
    return number


def _describe(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # too large an int, or code of the value's own
        return f"an object of type {type(value).__name__}"
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def _check_tensors(
    function: Function, flags: int, arguments: Sequence[Argument], values: Sequence[Any]
) -> bool:
    """Says why tensors are refused; returns whether they are meta (or fake) tensors when they are fine."""
    # Here, where something is out of the ordinary already: it takes long to import.
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.fx.experimental.proxy_tensor import get_proxy_mode

    real = _REAL_DTYPES.get(flags & TYPE_MASK)
    first = None
    meta: bool | None = None
    for argument, value in zip(arguments, values):
        if not argument.is_tensor or value is ALLOCATE:
            continue
        where = f"{function.name}: {argument.name}: "
        if value is None:
            if argument.is_optional or argument.role == "buffer":
                continue
            raise TypeError(where + "expected a tensor, got None")
        if not isinstance(value, torch.Tensor):
            raise TypeError(where + f"expected a tensor, got {_describe(value)}")
        if value.layout is not torch.strided or value.is_nested:
            kind = "a nested one" if value.is_nested else f"layout {value.layout}"
            raise TypeError(where + f"expected a dense tensor, got {kind}")
        if value.device.type not in ("cpu", "meta"):
            raise TypeError(where + f"expected a CPU tensor, got one on {value.device}")
        has_no_memory = value.device.type == "meta" or isinstance(value, FakeTensor)
        if meta is None:
            meta = has_no_memory
        elif meta != has_no_memory:
            raise TypeError(where + "meta (or fake) tensors and others cannot be mixed")
        if not has_no_memory and value.numel() != 0 and _address(value) == 0:
            raise TypeError(where + "has no memory of its own: inside a transform of torch.func, or freed")
        if argument.type in FIXED_DTYPES:
            expected = FIXED_DTYPES[argument.type]
            if value.dtype is not expected:
                raise TypeError(where + f"expected {expected}, got {value.dtype}")
        elif real is None and value.dtype in (torch.float32, torch.float64):
            real, first = value.dtype, argument.name
        elif value.dtype is not real:
            if real is None:
                raise TypeError(where + f"expected torch.float32 or torch.float64, got {value.dtype}")
            source = f", the type of {first}" if first else f" for the {backend_name(flags)}"
            raise TypeError(where + f"expected {real}{source}, got {value.dtype}")
        if value.is_neg():
            raise TypeError(where + "is a negative view; call resolve_neg() first")
        if value.ndim > _MAX_DIM:
            raise ValueError(where + f"expected at most {_MAX_DIM} dimensions, got {value.ndim}")
    if meta and get_proxy_mode() is not None:
        # It would record the allocation of the output and nothing else.
        raise NotImplementedError(f"{function.name}: cannot be recorded by torch.export")
    return bool(meta)


def backend_name(flags: int) -> str:
    return {FLOAT: "THNNFloatBackend", DOUBLE: "THNNDoubleBackend"}.get(flags & TYPE_MASK, "THNNBackend")


def _address(tensor: torch.Tensor) -> int:
    if tensor.is_meta:
        return 0
    try:
        return tensor.data_ptr()
    except (RuntimeError, ValueError):
        return 0


def _address_of(view: Any) -> int:
    return int(ffi.cast("uintptr_t", view))


def _view(tensor: torch.Tensor) -> Any:
    view = ffi.new("THNNTensor *")
    view.data = ffi.cast("void *", _address(tensor))
    view.type = _TYPE_CODES.get(tensor.dtype, 4)
    view.ndim = tensor.ndim
    for d, (size, stride) in enumerate(zip(tensor.shape, tensor.stride())):
        view.size[d] = size
        view.stride[d] = stride
    return view


_FORMATS: Final = {
    (0, 4): torch.contiguous_format,
    (1, 4): torch.channels_last,
    (1, 5): torch.channels_last_3d,
}


def _resize(
    function: Function, flags: int, arguments: Sequence[Argument], values: list[Any]
) -> dict[int, torch.Tensor]:
    """Puts tensors of the sizes that the last call asked for in the places of its outputs.

    Returns the outputs that were given, by position: they take over what stands in for them when the call has been
    made, since it may still be refused for what the tensors hold.
    """
    template = next(v for v in values if isinstance(v, torch.Tensor))
    real = next(
        (v.dtype for a, v in zip(arguments, values) if a.type == "THTensor*" and isinstance(v, torch.Tensor)),
        _REAL_DTYPES.get(flags & TYPE_MASK),
    )
    given = {}
    out = ffi.new("int64_t[]", 4 + _MAX_DIM)
    for i in range(_request_count()):
        _request(i, out)
        # Positions count from the state.
        position, like, layout, ndim = out[0] - 1, out[1] - 1, out[2], out[3]
        size = ffi.unpack(out + 4, ndim)
        memory_format = _FORMATS.get((layout, ndim), torch.contiguous_format)
        value, argument = values[position], arguments[position]
        for other, same in zip(arguments, values):
            if other is not argument and same is value and value is not ALLOCATE:
                raise ValueError(f"{function.name}: {argument.name}: must not share memory with {other.name}")
        try:
            if value is not ALLOCATE:
                given[position] = value
                values[position] = _resized(value, size, memory_format)
            elif like >= 0:
                values[position] = torch.empty_like(values[like])
            else:
                dtype = FIXED_DTYPES.get(argument.type, real)
                values[position] = torch.empty(
                    size, dtype=dtype, device=template.device, memory_format=memory_format
                )
        except (RuntimeError, ValueError) as error:
            raise ValueError(
                f"{function.name}: {argument.name}: needs size {tuple(size)}, which cannot be had:"
                f" {str(error).splitlines()[0]}"
            ) from None
    return given


def _resized(tensor: torch.Tensor, size: Sequence[int], memory_format: torch.memory_format) -> torch.Tensor:
    """What `tensor` would be after resize_: in its own memory as long as there is room."""
    if tensor.is_inference() and not torch.is_inference_mode_enabled():
        raise RuntimeError("inference tensors cannot be changed outside of inference mode")
    strides = torch.empty(size, device="meta", memory_format=memory_format).stride()
    storage, offset = tensor.untyped_storage(), tensor.storage_offset()
    if (math.prod(size) + offset) * tensor.element_size() <= storage.nbytes():
        return tensor.new_empty(0).set_(storage, offset, size, strides)
    if not storage.resizable():
        raise RuntimeError("its memory belongs to somebody else")
    return torch.empty_strided(size, strides, dtype=tensor.dtype, device=tensor.device)
