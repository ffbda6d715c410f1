"""A compiled library, opened by path, whose functions are looked up by name.

`THNN` is the library of the package. Other libraries that export a table of functions
(lib/THNN/runtime/function_table.h) can be opened in the same process.
"""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import torch

from thnn._binding.extension import PACKAGE, ffi, lib
from thnn._generated import DIGEST
from thnn._header import Function, Module
from thnn._torch import ALLOCATION, addresses, exchange_api

_T = TypeVar("_T")

# Flags of a call (lib/binding/binding.h).
FLOAT, DOUBLE = lib.THNN_TYPE_FLOAT, lib.THNN_TYPE_DOUBLE
HALF, BFLOAT16 = lib.THNN_TYPE_HALF, lib.THNN_TYPE_BFLOAT16
TYPE_MASK, ANY = lib.THNN_CALL_TYPE, lib.THNN_CALL_ANY
VIEWS, META = lib.THNN_CALL_VIEWS, lib.THNN_CALL_META
SCALED, MULTIPLIED = lib.THNN_CALL_SCALED, lib.THNN_CALL_MULTIPLIED
HOST, DEVICE = lib.THNN_CALL_HOST, lib.THNN_CALL_DEVICE

# The element types, by THNNType (lib/THNN/runtime/tensor.h).
DTYPES: Final[Mapping[int, torch.dtype]] = {
    FLOAT: torch.float32,
    DOUBLE: torch.float64,
    HALF: torch.float16,
    BFLOAT16: torch.bfloat16,
    lib.THNN_TYPE_INDEX: torch.int64,
    lib.THNN_TYPE_INTEGER: torch.int32,
}

# Placeholder for a tensor that the call allocates.
ALLOCATE: Final[Any] = type("Allocate", (), {"__repr__": lambda self: "ALLOCATE"})()

# A call of a function that a device library lacks: its name, the arguments, and the positions of the arguments that the
# call has allocated, which have no values yet: new gradients of parameters are written, others are added to.
MissingCall = tuple[str, Sequence[Any], Collection[int]]

#: The dimension of a source that is an object, not one of its sizes.
WHOLE: Final = lib.THNN_WHOLE


class Source(NamedTuple):
    """The origin of an argument: the object at a position of the caller's tuple, or its size in a dimension.
    Position -1: the constant."""

    position: int = -1
    dimension: int = WHOLE
    constant: Any = None


class BoundFunction(NamedTuple):
    """A function of the header in a library."""

    function: Function
    library: Library
    address: int

    @property
    def name(self) -> str:
        return self.function.name

    def caller(self, flags: int) -> Callable[[tuple[Any, ...]], int]:
        """The C function as a Python function of the tuple of its arguments without the state.

        It returns 0 after success, otherwise a report for `invoke`.
        """
        return _caller(self.address, flags)


@functools.cache
def _caller(address: int, flags: int) -> Callable[[tuple[Any, ...]], int]:
    return bind(address, flags)


def bind(
    address: int,
    flags: int,
    results: str = "",
    repeat: Callable[[tuple[Any, ...], int], Any] | None = None,
    sources: Sequence[Source] | None = None,
) -> Callable[[tuple[Any, ...]], Any]:
    """The Python function of a C function (lib/binding/binding.h). `sources` tell where its arguments come from."""
    # cffi cannot return a Python object: thnn_bind appends the function to the list at this address, which in
    # CPython is the id.
    made: list[Callable[[tuple[Any, ...]], Any]] = []
    letters = ffi.new("char[]", results.encode())
    binding = ffi.new("THNNBinding *", {"function": address, "flags": flags, "results": letters})
    binding.repeat = 0 if repeat is None else id(repeat)
    if sources is not None:
        constants = tuple(s.constant for s in sources)
        numbers = ffi.new("int16_t[]", [n for s in sources for n in (s.position, s.dimension)])
        binding.constants, binding.sources = id(constants), numbers
    if not lib.thnn_bind(binding, id(made)):
        raise MemoryError
    return made[0]


class Library:
    """A compiled library: its device type and its functions.

    Raises ImportError for a file that is no such library, and ValueError for an environment variable (such as
    THNN_CPU_CAPABILITY) with a value that the library cannot use.
    """

    def __init__(self, path: Path) -> None:
        reason = ffi.new("char[]", 1024)
        self._table = lib.thnn_open(os.fsencode(path), reason, 1024)
        if self._table == ffi.NULL:
            raise ImportError(_text(reason))
        self.path = path
        self.device = {lib.THNN_DEVICE_CPU: "cpu", lib.THNN_DEVICE_CUDA: "cuda"}[self._table.device]
        self.digest = _text(self._table.digest)
        self.operator_namespace = "thnn"  # of torch.ops; thnn.load gives its libraries others
        self._addresses: dict[str, int] = {}
        self.missing: set[str] = set()  # functions of the table that the library cannot compute
        # Of a library for the CPU: opens the library for another device (device.py).
        self.open_device_library: Callable[[], Library | None] | None = None
        self.opened_device_library: tuple[Library | None] | None = None  # its result
        # Of a library for another device: computes its missing functions.
        self.compute_missing: Callable[[Sequence[MissingCall]], None] | None = None
        for i in range(self._table.count):
            entry = self._table.functions + i
            name = _text(entry.name)
            self._addresses[name] = int(ffi.cast("uintptr_t", entry))
            if not lib.thnn_hasEntry(entry):
                self.missing.add(name)
        error = self._table.environmentError()
        if error != ffi.NULL:
            raise ValueError(_text(error))

    @property
    def capability(self) -> str:
        """The instruction set in use."""
        return _text(self._table.capability())

    def compute_for(self, host: Library, others: Callable[[Sequence[MissingCall]], None]) -> None:
        """Makes this library compute the calls of functions of `host` with tensors on the device of this library.

        `others` computes calls of functions that this library lacks, after the checks: one call, or all of a backward.
        """
        if not lib.thnn_setDeviceLibrary(host._table, self._table, id(others)):
            raise ImportError(f"{self.path.name} was built from another header than {host.path.name}")
        self.compute_missing = others

    def bind(self, function: Function) -> BoundFunction:
        """The function in this library; raises NotImplementedError where the library lacks it."""
        address = self._addresses.get(function.name)
        if address is None:
            raise NotImplementedError(f"{self.path.name} has no function {function.name}")
        return BoundFunction(function, self, address)

    def fact(self, table: Mapping[str, _T], module: Module) -> _T | None:
        """The entry of a module in a table about the package's modules; None for a module of a custom header, which may
        have the name of one of these."""
        return table.get(module.name) if self is THNN else None

    def __repr__(self) -> str:
        return f"<{self.path.name}: {len(self._addresses)} functions, {self.device}, {self.capability}>"


def _text(characters: Any) -> str:
    return str(ffi.string(characters).decode(errors="replace"))


# The ways of a tensor to C (lib/binding/binding.h), from the slowest.
BY_VIEWS, BY_CAPSULES, BY_API = lib.THNN_EXCHANGE_VIEWS, lib.THNN_EXCHANGE_CAPSULES, lib.THNN_EXCHANGE_API


def connect(most: int = BY_API) -> int:
    """Chooses the way of tensors to C: the fastest one that this torch has, and none faster than `most`. Returns it.

    BY_API: torch's DLPack C exchange API; BY_CAPSULES: DLPack capsules; BY_VIEWS: views that Python fills.
    """
    api = exchange_api() if most == BY_API else None
    dlpack: Any = torch.utils.dlpack
    to_dlpack = dlpack.to_dlpack if most >= BY_CAPSULES else None
    others = torch.get_num_threads, ALLOCATE, torch.Generator
    return int(lib.thnn_connect(*(0 if o is None else id(o) for o in (api, to_dlpack, *others))))


def connect_allocation(enable: bool = True) -> bool:
    """Makes the binding allocate small tensors by libtorch's C functions; with ``enable=False`` by Python functions.

    Returns whether the C functions are in use; False if torch lacks one of them.
    """
    options = [{"dtype": DTYPES[t], "device": torch.device("cpu")} for t in range(lib.THNN_TYPE_OTHER)]
    objects = (
        torch.Tensor, torch.nn.Parameter, torch.Tensor.is_neg, torch.empty_like, torch.zeros_like,
        torch.empty_strided, *options,
    )  # fmt: skip
    found = addresses(ALLOCATION) if enable else (0,) * len(ALLOCATION)
    if not lib.thnn_connectAllocation(id(objects), *found):
        raise ImportError("the binding was built from another source; run: python -m thnn regenerate")
    return all(found)


def cpu_capability() -> str:
    """The instruction set in use: 'default', 'avx2', 'avx512', 'avx512_bf16' or 'amx_bf16'."""
    return THNN.capability


def cpu_name() -> str:
    """The name of the processor, with its family and model numbers, which distinguish CPU generations."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
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


THNN: Final = Library(PACKAGE / "libTHNN.so")
if THNN.digest != DIGEST:
    raise ImportError(
        f"{THNN.path} was built from another THNN.h than the model in {PACKAGE}: python -m thnn regenerate"
    )
#: True if the processor multiplies bfloat16 (docs/half-types.md).
MULTIPLIES_BFLOAT16: Final = THNN.capability in ("avx512_bf16", "amx_bf16")
connect()
connect_allocation()
