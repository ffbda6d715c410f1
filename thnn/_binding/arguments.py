"""Arguments of a C function: conversion of scalars, checks of tensors, and errors that name function and argument."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch

from thnn._binding.device import EMULATION, device_library, device_types
from thnn._binding.extension import lib
from thnn._binding.library import (
    ALLOCATE,
    BFLOAT16,
    DEVICE,
    DOUBLE,
    DTYPES,
    FLOAT,
    HALF,
    HOST,
    MULTIPLIES_BFLOAT16,
    TYPE_MASK,
    BoundFunction,
    Library,
)
from thnn._header import Argument, Function
from thnn._torch import is_batched, is_fake, is_zero_tensor, recording_mode

MAX_DIM: Final = lib.THNN_MAX_DIM
REAL_DTYPES: Final = {t: DTYPES[t] for t in range(lib.THNN_REAL_TYPES)}
#: The element types of `real` tensors, on the CPU and on CUDA devices.
ELEMENT_DTYPES: Final = tuple(REAL_DTYPES.values())
#: Their names in errors.
EXPECTED_DTYPES: Final = f"{', '.join(map(str, ELEMENT_DTYPES[:-1]))} or {ELEMENT_DTYPES[-1]}"
#: Those that are computed in float32.
NARROW_DTYPES: Final = ELEMENT_DTYPES[2:]
FIXED_DTYPES: Final = {
    "THAccrealTensor*": torch.float64,
    "THIndexTensor*": torch.int64,
    "THIntegerTensor*": torch.int32,
}
NO_BATCHED_GRADIENTS: Final = (
    "batched gradients (is_grads_batched) are not supported: docs/torch.md#what-does-not-work"
)
#: The C types of numbers that need not be integers.
REAL_NUMBERS: Final = ("accreal", "real", "double", "float")


def check_generator(function: Function, argument: Argument, value: Any) -> None:
    """Raises TypeError unless the value is None, for torch's default generator, or a generator of the CPU."""
    if value is None or (isinstance(value, torch.Generator) and value.device.type == "cpu"):
        return
    got = f"one of {value.device}" if isinstance(value, torch.Generator) else describe(value)
    raise TypeError(
        f"{function.name}: {argument.name}: expected a torch.Generator of the CPU or None, got {got}"
    )


def draw(function: Function, argument: Argument, generator: torch.Generator | None) -> int:
    """The one random number that a call takes from its generator."""
    check_generator(function, argument, generator)
    return int(torch.empty((), dtype=torch.int64, device="cpu").random_(generator=generator).item())


def _kind(argument: Argument) -> str:
    """The type of a scalar argument in the words of Python."""
    if argument.type in REAL_NUMBERS:
        return "a number"
    return "a bool" if argument.type == "bool" else "an integer"


def convert_scalar(function: Function, argument: Argument, value: Any) -> Any:
    """The value converted to the C type of the argument; raises TypeError or ValueError if it is not
    convertible."""
    if argument.role == "generator":
        check_generator(function, argument, value)
        return value
    if isinstance(value, torch.Tensor):
        raise TypeError(f"{function.name}: {argument.name}: expected {_kind(argument)}, got a tensor")
    try:
        return _converted(function, argument, value)
    except (TypeError, ValueError):
        raise
    except Exception as error:  # a conversion method of the value, such as __index__, may raise anything
        raise TypeError(
            f"{function.name}: {argument.name}: {type(value).__name__} cannot be converted: {type(error).__name__}"
        ) from error


def _converted(function: Function, argument: Argument, value: Any) -> Any:
    if argument.type in REAL_NUMBERS:
        try:
            if not hasattr(value, "__float__") and not hasattr(value, "__index__"):
                raise TypeError
            return float(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"{function.name}: {argument.name}: expected {_kind(argument)}, got {describe(value)}"
            ) from None
        except OverflowError:
            raise ValueError(f"{function.name}: {argument.name}: {describe(value)} is out of range") from None
    if argument.type == "bool":
        return to_bool(f"{function.name}: {argument.name}", value)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{function.name}: {argument.name}: expected {_kind(argument)}, got {describe(value)}"
        ) from None
    bits = 31 if argument.type == "int" else 63
    if not -(1 << bits) <= number < 1 << bits:
        raise ValueError(
            f"{function.name}: {argument.name}: {describe(number)} does not fit in {bits + 1} bits"
        )
    return number


def to_bool(name: str, value: Any) -> bool:
    """The value of a bool argument, which may also be an integer 0 or 1; raises TypeError or ValueError for others."""
    if value is True or value is False:
        return value
    try:
        if isinstance(value, torch.Tensor):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected a bool, got {describe(value)}") from None
    if number not in (0, 1):
        raise ValueError(f"{name}: expected True or False, got {describe(number)}")
    return bool(number)


def describe(value: Any) -> str:
    """The type and the text of a value for error messages."""
    try:
        text = repr(value)
    except Exception:  # an int with too many digits to print, or a __repr__ that raises
        return f"an object of type {type(value).__name__}"
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def check_tensors(
    bound: BoundFunction, flags: int, arguments: Sequence[Argument], values: Sequence[Any]
) -> bool:
    """Raises an error for a tensor that the call cannot take; returns whether the tensors are meta or fake
    tensors."""
    function = bound.function
    allowed = _allowed_devices(bound, flags)
    device: torch.device | None = None
    holder = ""  # the first argument that is a tensor
    real = REAL_DTYPES.get(flags & TYPE_MASK)
    # Names of arguments: `first` determines `real`; `mixed` is float32, which need not be the type of the others.
    first = mixed = None
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
            raise TypeError(where + f"expected a tensor, got {describe(value)}")
        if kind := not_dense(value):
            raise TypeError(where + f"expected a dense tensor, got {kind}")
        has_no_memory = value.device.type == "meta" or is_fake(value)
        if value.device.type not in (*allowed, "meta") and not (
            has_no_memory and value.device.type == "cuda" and "cpu" in allowed and not flags & HOST
        ):
            raise TypeError(
                where + f"expected a {' or '.join(map(str.upper, allowed))} tensor, got one on {value.device}"
            )
        if device is None:
            device, holder = value.device, argument.name
        elif device != value.device:
            raise TypeError(where + _other_device(device, holder, value))
        if meta is None:
            meta = has_no_memory
        elif meta != has_no_memory:
            kinds = ("a fake one", "a tensor with memory")
            raise TypeError(where + f"expected {kinds[not meta]}, as {holder}, got {kinds[meta]}")
        if is_batched(value):
            raise NotImplementedError(where + NO_BATCHED_GRADIENTS)
        if not has_no_memory and value.numel() != 0 and address_of(value) == 0:
            if type(value) not in (torch.Tensor, torch.nn.Parameter):
                raise TypeError(
                    where + f"{type(value).__name__} is a tensor subclass without memory of its own"
                )
            if is_zero_tensor(value):
                raise TypeError(where + "is a zero tensor, which has no memory; pass its clone()")
            raise TypeError(where + "has no memory: it is inside a transform of torch.func, or was freed")
        if argument.type in FIXED_DTYPES:
            expected = FIXED_DTYPES[argument.type]
            if value.dtype is not expected:
                raise TypeError(where + f"expected {expected}, got {value.dtype}")
        elif argument.is_mixed and value.dtype is torch.float32 and (real is None or real in NARROW_DTYPES):
            mixed = argument.name
        elif real is None and value.dtype in ELEMENT_DTYPES and not (mixed and value.dtype is torch.float64):
            real, first = value.dtype, argument.name
        elif value.dtype is not real:
            if real is None and mixed:
                real, first = torch.float32, mixed
            if real is None:
                raise TypeError(where + f"expected {EXPECTED_DTYPES}, got {value.dtype}")
            source = f", the type of {first}" if first else f" for the {backend_name(flags)}"
            raise TypeError(where + f"expected {real}{source}, got {value.dtype}")
        if value.is_neg():
            raise TypeError(where + "is a negative view; call resolve_neg() first")
        if value.ndim > MAX_DIM:
            raise ValueError(where + f"expected at most {MAX_DIM} dimensions, got {value.ndim}")
    if not meta and device is not None and device.type == "cuda":
        device_library(bound.library)  # opens it
    if meta and recording_mode() is not None:
        # torch.export would record the allocation of the output and nothing else.
        raise NotImplementedError(f"{function.name}: cannot be recorded by torch.export")
    return bool(meta)


def not_dense(tensor: torch.Tensor) -> str:
    """The name of a kind of tensor that has no elements at strides in memory; '' for other kinds."""
    if tensor.is_nested:
        return "a nested one"
    return "" if tensor.layout is torch.strided else f"layout {tensor.layout}"


def _other_device(device: torch.device, holder: str, value: torch.Tensor) -> str:
    return f"expected a tensor on {device}, the device of {holder}, got one on {value.device}"


def check_one_device(name: str, values: Mapping[str, Any]) -> None:
    """Raises TypeError if the tensors among the arguments of a function are on several devices."""
    tensors = {n: v for n, v in values.items() if isinstance(v, torch.Tensor)}
    holder = next(iter(tensors))
    device = tensors[holder].device
    for argument, value in tensors.items():
        if value.device != device:
            raise TypeError(f"{name}: {argument}: {_other_device(device, holder, value)}")


def _allowed_devices(bound: BoundFunction, flags: int) -> Sequence[str]:
    if flags & DEVICE and not EMULATION:
        return ("cuda",)
    return ("cpu",) if flags & HOST else device_types(bound.library)


def device_library_without(bound: BoundFunction, values: Sequence[Any]) -> Library | None:
    """The CUDA library if the tensors are on its device and the library lacks the function, otherwise None."""
    device = "cpu" if EMULATION else "cuda"
    if not any(isinstance(v, torch.Tensor) and v.device.type == device for v in values):
        return None
    library = device_library(bound.library)
    return library if library is not None and bound.name in library.missing else None


def backend_name(flags: int) -> str:
    name = {FLOAT: "Float", DOUBLE: "Double", HALF: "Half", BFLOAT16: "BFloat16"}.get(flags & TYPE_MASK, "")
    return f"{'THCUNN' if flags & DEVICE else 'THNN'}{name}Backend"


def address_of(tensor: torch.Tensor) -> int:
    # Before torch 2.7 the address of a fake tensor is a warning.
    if tensor.is_meta or (type(tensor) not in (torch.Tensor, torch.nn.Parameter) and is_fake(tensor)):
        return 0
    try:
        return tensor.data_ptr()
    except (RuntimeError, ValueError):
        return 0


def cast_for_autocast(tensors: Sequence[Any]) -> tuple[Any, ...] | None:
    """The arguments with float16 and bfloat16 tensors cast to float32; None outside of autocast or without such
    tensors.

    The rule of ``torch.amp.custom_fwd(cast_inputs=torch.float32)``.
    """
    is_cast = [
        isinstance(t, torch.Tensor)
        and t.dtype in (torch.float16, torch.bfloat16)
        and torch.is_autocast_enabled(t.device.type)
        for t in tensors
    ]
    if not any(is_cast):
        return None
    return tuple(t.float() if cast else t for t, cast in zip(tensors, is_cast))


def in_float32(*tensors: Any) -> tuple[Any, ...]:
    """The arguments; inside torch.autocast, where it promises a result of float32, those of half types in float32."""
    return cast_for_autocast(tensors) or tensors


def multiplicands(*tensors: Any) -> tuple[Any, ...]:
    """The arguments of a convolution or Linear on the CPU, inside torch.autocast for bfloat16 cast to it where the
    processor multiplies bfloat16 faster than float32. A call with float64 is not cast.

    Elsewhere products are computed in float32 for every type, so that casts would only lose digits.
    """
    if (
        not torch.is_autocast_enabled("cpu")
        or torch.get_autocast_dtype("cpu") is not torch.bfloat16
        or not MULTIPLIES_BFLOAT16
    ):
        return tensors
    narrow = (torch.float32, torch.float16, torch.bfloat16)
    if not all(
        t is None or (isinstance(t, torch.Tensor) and t.is_cpu and t.dtype in narrow) for t in tensors
    ):
        return tensors
    return tuple(None if t is None else t.to(torch.bfloat16) for t in tensors)


def product_in_autocast(output: torch.Tensor) -> torch.Tensor:
    """The result of a convolution, Linear, LSTM or PReLU on the CPU, inside torch.autocast cast to the type that
    autocast promises for it, unless it is float64.
    """
    if not torch.is_autocast_enabled("cpu") or not output.is_cpu or output.dtype is torch.float64:
        return output
    return output.to(torch.get_autocast_dtype("cpu"))
