"""``type2backend``: the C functions by tensor type, as PyTorch had them until 0.4.

    backend = thnn.type2backend[x.type()]
    backend.Threshold_updateOutput(backend.library_state, x, y, 0, 0, False)

A backend has one method per function of THNN.h. The method takes the library state (any value is accepted, such as
0 or None) and the arguments in header order, where a zero-dimensional tensor may stand for a number, and writes the
given tensors: outputs of another size are resized, outputs of the right size keep their storage and strides; with
`inplace` the output shares the storage of the input afterwards. Errors are TypeError, ValueError, IndexError,
NotImplementedError or, on a CUDA device, RuntimeError. A call that raises an error has changed no tensor, unless a
CUDA device found the error.
"""

from __future__ import annotations

import contextlib
import inspect
import operator
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from thnn._binding.call import flag, invoke
from thnn._binding.context import TRANSFORM, read_context
from thnn._binding.device import has_device_library
from thnn._binding.library import (
    ANY,
    BFLOAT16,
    DEVICE,
    DOUBLE,
    FLOAT,
    HALF,
    HOST,
    THNN,
    BoundFunction,
    Library,
    Source,
    bind,
)
from thnn._header import Function
from thnn._header.registry import functions
from thnn._header.roles import overwritten_in_place
from thnn._spelling import did_you_mean
from thnn._torch import dynamo_disable, increment_version, recorder


def _method(bound: BoundFunction, flags: int) -> Callable[..., None]:
    """The backend method of a C function."""
    function = bound.function
    arguments = function.after_state
    first = len(function.arguments) - len(arguments)  # 1 where the function has a state
    names = [a.variable for a in arguments]
    state = ["library_state" if "state" in names else "state"] * first
    signature = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in (*state, *names)]
    )
    arity = first + len(names)
    call = bind(bound.address, flags, sources=[Source(first + k) for k in range(len(names))])
    source, result = overwritten_in_place(function.name, set(names)), _result(function)
    # `inplace` of other functions, and of accGradParameters, is a number like any other.
    shares = source in names and result in names
    inplace_at, source_at, result_at = (
        first + names.index(n) if shares and n is not None else -1 for n in ("inplace", source, result)
    )
    written = [a for a in arguments if a in function.written and not (shares and a.name == source)]
    written_of = _getter([first + arguments.index(a) for a in written], arity)
    are_given = not any(a.is_optional for a in written)

    def method(*args: Any, **keywords: Any) -> None:
        if keywords or len(args) != arity:
            args = _all_arguments(function, signature, args, keywords)
        if shares and args[inplace_at] is not False:
            args = in_place(args)
        if read_context() == TRANSFORM:
            _refuse_recorder(bound)
        report = call(args)
        if report:
            invoke(bound, flags, _numbers(bound, args[first:]), report)
        if shares and args[inplace_at]:
            output, overwritten = args[result_at], args[source_at]
            if output is not overwritten:
                _share(output, overwritten)
            increment_version((overwritten,))
        changed = written_of(args)
        increment_version(changed if are_given else [t for t in changed if t is not None])

    def in_place(args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments with True or False for `inplace`, after the checks of a call in place."""
        inplace = args[inplace_at]
        if inplace is not True:
            inplace = flag(function, "inplace", _number(inplace))
            args = (*args[:inplace_at], inplace, *args[inplace_at + 1 :])
        if inplace and args[result_at] is not args[source_at]:
            _check_shareable(bound, result, args[result_at])
        return args

    method.__name__ = method.__qualname__ = function.name
    method.__signature__ = signature  # type: ignore[attr-defined]
    method.__doc__ = f"{function!r}\n\n{function.doc}"
    method.__module__ = "thnn"
    return dynamo_disable(method)


def _getter(positions: Sequence[int], count: int) -> Callable[[tuple[Any, ...]], Sequence[Any]]:
    """A function of a tuple that returns the objects at some positions of it."""
    if len(positions) > 1:
        return operator.itemgetter(*positions)
    first = positions[0] if positions else count
    return operator.itemgetter(slice(first, first + 1))


def _result(function: Function) -> str:
    return "output" if function.phase == "updateOutput" else "gradInput"


def _all_arguments(
    function: Function, signature: inspect.Signature, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> tuple[Any, ...]:
    try:
        return tuple(signature.bind(*args, **keywords).arguments.values())
    except TypeError as error:
        raise TypeError(f"{function.name}: {error}; it takes ({', '.join(signature.parameters)})") from None


def _refuse_recorder(bound: BoundFunction) -> None:
    """Raises NotImplementedError inside a recorder, which would see the tensors, but not what is written to them."""
    if (name := recorder()) is not None:
        raise NotImplementedError(
            f"{bound.name}: cannot be recorded by {name}; {bound.function.module}Function can"
        )


def _number(value: Any) -> Any:
    """The value; of a zero-dimensional tensor its element.

    Until PyTorch 0.3 indexing and reductions returned numbers, which programs of that time pass on. The classes refuse
    such tensors, since a backward would read them again.
    """
    if not isinstance(value, torch.Tensor) or value.ndim or value.requires_grad or value.is_meta:
        return value
    return value.item()


def _numbers(bound: BoundFunction, values: tuple[Any, ...]) -> tuple[Any, ...]:
    arguments = [a for a in bound.function.arguments if a.role != "state"]
    return tuple(v if a.is_tensor else _number(v) for a, v in zip(arguments, values))


def _check_shareable(bound: BoundFunction, name: str, output: torch.Tensor) -> None:
    if isinstance(output, torch.Tensor) and output.is_inference() and not torch.is_inference_mode_enabled():
        raise ValueError(
            f"{bound.name}: {name}: inference tensors cannot be changed outside of inference mode"
        )


def _share(output: torch.Tensor, source: torch.Tensor) -> None:
    with torch.no_grad():
        output.set_(source)  # type: ignore[call-overload]


class MissingFunction(AttributeError, NotImplementedError):
    """A function that no backend has. It is an AttributeError for hasattr() and for getattr() with a default, and a
    NotImplementedError because code for PyTorch 0.4 catches that."""


class Backend:
    """The functions of THNN.h for one element type, or for the type of the first tensor (``THNNBackend``)."""

    library_state = 0

    def __init__(
        self,
        name: str,
        flags: int,
        library: Library = THNN,
        declared: Mapping[str, Function] | None = None,
    ) -> None:
        self.name = name
        self.library = library
        self._functions = functions() if declared is None else declared
        self._flags = flags
        self.methods: dict[str, Callable[..., Any]] = {}

    def register_method(self, name: str, method: Callable[..., Any]) -> None:
        """Adds a method, as the compiled extensions of PyTorch 0.4 did to their backends."""
        self.methods[name] = method
        self.__dict__.pop(name, None)

    @dynamo_disable
    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        method = self.methods.get(name)
        if method is None:
            function = self._functions.get(name)
            if function is None:
                hint = did_you_mean(name, self._functions) or "; dir() of the backend lists all functions"
                raise MissingFunction(f"{self.name} has no function {name!r}{hint}")
            method = self.methods[name] = _method(self.library.bind(function), self._flags)
        # Later accesses find the method in the instance and do not call __getattr__.
        self.__dict__[name] = method
        return method

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._functions, *self.methods})

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self._functions)} functions>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.library is not THNN:
            raise TypeError(f"backends of {self.library.path.name} cannot be pickled")
        return _unpickle_backend, (self.name,)


def _unpickle_backend(name: str) -> Backend:
    return type2backend[name]


_NAMES = {
    "THNNFloatBackend": FLOAT | HOST,
    "THNNDoubleBackend": DOUBLE | HOST,
    "THNNHalfBackend": HALF | HOST,
    "THNNBFloat16Backend": BFLOAT16 | HOST,
    "THNNBackend": ANY,
}
# The backends of the CUDA library.
_CUDA_NAMES = {
    "THCUNNFloatBackend": FLOAT | DEVICE,
    "THCUNNDoubleBackend": DOUBLE | DEVICE,
    "THCUNNHalfBackend": HALF | DEVICE,
    "THCUNNBFloat16Backend": BFLOAT16 | DEVICE,
}
_DTYPES = {
    "cpu": {
        torch.float32: "THNNFloatBackend",
        torch.float64: "THNNDoubleBackend",
        torch.float16: "THNNHalfBackend",
        torch.bfloat16: "THNNBFloat16Backend",
    },
    "cuda": {
        torch.float32: "THCUNNFloatBackend",
        torch.float64: "THCUNNDoubleBackend",
        torch.float16: "THCUNNHalfBackend",
        torch.bfloat16: "THCUNNBFloat16Backend",
    },
}
_LEGACY: dict[Any, tuple[torch.dtype, str]] = {
    "torch.FloatTensor": (torch.float32, "cpu"),
    "torch.DoubleTensor": (torch.float64, "cpu"),
    "torch.HalfTensor": (torch.float16, "cpu"),
    "torch.BFloat16Tensor": (torch.bfloat16, "cpu"),
    torch.FloatTensor: (torch.float32, "cpu"),
    torch.DoubleTensor: (torch.float64, "cpu"),
    torch.HalfTensor: (torch.float16, "cpu"),
    torch.BFloat16Tensor: (torch.bfloat16, "cpu"),
    "torch.cuda.FloatTensor": (torch.float32, "cuda"),
    "torch.cuda.DoubleTensor": (torch.float64, "cuda"),
    "torch.cuda.HalfTensor": (torch.float16, "cuda"),
    "torch.cuda.BFloat16Tensor": (torch.bfloat16, "cuda"),
}


class Backends(Mapping[Any, Backend]):
    """Backends by key and by attribute, created at the first access.

    Keys: 'torch.FloatTensor', 'torch.DoubleTensor', 'torch.HalfTensor', 'torch.BFloat16Tensor'; the classes of these
    names; 'THNNFloatBackend' and its companions; torch.float32, torch.float64, torch.float16, torch.bfloat16; (dtype,
    device type) pairs; a tensor, for its type; torch.Tensor (which ``type(x)`` returns in current torch) or a
    subclass, and 'THNNBackend', for a backend that takes the element type and the device from its first tensor
    argument. Iteration lists the names of the backends.

    If the package has the CUDA library: 'torch.cuda.FloatTensor', 'torch.cuda.DoubleTensor', 'torch.cuda.HalfTensor',
    'torch.cuda.BFloat16Tensor', 'THCUNNFloatBackend' and its companions, (torch.float16, 'cuda').
    """

    def __init__(self, library: Library = THNN, declared: Mapping[str, Function] | None = None) -> None:
        self.backends: dict[str, Backend] = {}
        self._library, self._declared = library, declared
        self._lock = threading.Lock()

    @dynamo_disable
    def __getitem__(self, key: Any) -> Backend:
        name = self._name(key)
        backend = self.backends.get(name)
        if backend is None:
            with self._lock:
                backend = self.backends.setdefault(
                    name, Backend(name, self._names()[name], self._library, self._declared)
                )
        return backend

    def _name(self, key: Any) -> str:
        original = key
        device = "cpu"
        if isinstance(key, torch.Tensor):
            key, device = key.dtype, key.device.type
        elif isinstance(key, tuple) and len(key) == 2:
            try:
                key, device = key[0], torch.device(key[1]).type
            except (RuntimeError, TypeError, ValueError):
                device = "no device"
        if device == "meta":
            device = "cpu"
        if device == "cpu":
            if isinstance(key, str) and key in self._names():
                return key
            with contextlib.suppress(TypeError, ValueError):  # not hashable
                key, device = _LEGACY.get(key, (key, device))
            if isinstance(key, type) and issubclass(key, torch.Tensor):
                return "THNNBackend"
        if isinstance(key, torch.dtype):
            name = _DTYPES.get(device, {}).get(key)
            if name is not None and name in self._names():
                return name
        raise NotImplementedError(
            f"no backend for {original if not isinstance(original, torch.Tensor) else (key, device)!r}; there are"
            " float32, float64, float16 and bfloat16 on the CPU, such as 'torch.FloatTensor'"
            + (", and on CUDA, such as 'torch.cuda.FloatTensor'" if self._has_device() else "")
        )

    def _has_device(self) -> bool:
        return has_device_library(self._library)

    def _names(self) -> Mapping[str, int]:
        """The names of the backends, and the flags of their calls."""
        return {**_NAMES, **_CUDA_NAMES} if self._has_device() else _NAMES

    def __getattr__(self, name: str) -> Backend:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __contains__(self, key: object) -> bool:
        try:
            self._name(key)
        except NotImplementedError:
            return False
        return True

    def __iter__(self) -> Iterator[Any]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._names()})

    def __reduce__(self) -> str:
        if self._library is not THNN:
            raise TypeError(f"backends of {self._library.path.name} cannot be pickled")
        return "type2backend"

    def __repr__(self) -> str:
        return f"type2backend({', '.join(self._names())})"


type2backend = Backends()
