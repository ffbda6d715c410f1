"""Calls of C functions with torch tensors.

A call has two routes. The fast route passes the tuple of its arguments, or of the objects from which its plan takes
them, to a function that `bind` made: the binding reads the tuple, and its tensors through torch's DLPack C exchange
API. The function returns 0 after success, otherwise a report, which is passed to `invoke`. `invoke` repeats the call
as often as needed, by the slow route: before each repetition it grants the request of the report. It resizes outputs,
converts numbers of other types, draws the random number of a call, and fills views of tensors that the exchange API
cannot pass (meta tensors; all tensors if torch lacks the API). If the arguments are wrong it raises an exception.

The classes call functions that `results_of` made: on the fast route the binding also allocates the results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import torch

from thnn._binding.arguments import (
    FIXED_DTYPES,
    NARROW_DTYPES,
    NO_BATCHED_GRADIENTS,
    REAL_DTYPES,
    address_of,
    check_tensors,
    convert_scalar,
    device_library_without,
    draw,
)
from thnn._binding.extension import ffi, lib
from thnn._binding.library import (
    ALLOCATE,
    ANY,
    DTYPES,
    META,
    MULTIPLIED,
    SCALED,
    THNN,
    TYPE_MASK,
    VIEWS,
    WHOLE,
    BoundFunction,
    Source,
    bind,
)
from thnn._header import Argument, Function
from thnn._header.roles import overwritten_in_place
from thnn._plan import CallPlan
from thnn._plan import Source as PlannedSource
from thnn._torch import is_batched

_EXCEPTIONS: Final = {
    lib.THNN_TYPE_ERROR: TypeError,
    lib.THNN_VALUE_ERROR: ValueError,
    lib.THNN_INDEX_ERROR: IndexError,
    lib.THNN_NOT_IMPLEMENTED: NotImplementedError,
    lib.THNN_RUNTIME_ERROR: RuntimeError,
}
_TYPES: Final = {dtype: t for t, dtype in DTYPES.items()}


def invoke(bound: BoundFunction, flags: int, values: Sequence[Any], report: int = 0) -> list[Any]:
    """Calls a function with the values of its arguments without the state, until it succeeds or an argument is wrong.

    A tensor is allocated for each value ALLOCATE, and outputs of another size are resized. `report` is the result
    of a call by the fast route; after 0, `invoke` begins with such a call. Returns the values, with ALLOCATE
    replaced by the tensors. Raises TypeError, ValueError, IndexError, NotImplementedError or RuntimeError; every
    tensor is left unchanged, except by errors that a CUDA device finds.
    """
    return _invoke(bound, flags, values, _take(report))


def _written(function: Function, values: Sequence[Any]) -> list[Argument]:
    """The tensors that a call with these values writes."""
    given = {a.name: value for a, value in zip(function.after_state, values)}
    overwritten = overwritten_in_place(function.name, given.keys())
    kept = overwritten if overwritten and not given["inplace"] else None
    return [a for a in function.written if a.name != kept]


def _invoke(
    bound: BoundFunction, flags: int, values: Sequence[Any], state: Any, new: Collection[int] = ()
) -> list[Any]:
    """`new`: the positions of outputs to which nobody else refers; the positions of ALLOCATE are added to them."""
    arguments = bound.function.after_state
    values = list(values)
    new = {*new, *(i for i, value in enumerate(values) if value is ALLOCATE)}
    if len(values) != len(arguments):
        raise TypeError(
            f"{bound.name}: expected {len(arguments)} arguments after the state, got {len(values)}"
        )
    given: dict[int, torch.Tensor] = {}
    as_views = False
    without = None  # the CUDA library, if it lacks the function
    while True:
        if state is not None:
            if state.status == lib.THNN_RESIZE:
                given.update(_resize(bound, flags, arguments, values, state))
            elif state.status == lib.THNN_UNPACK and not as_views:
                for position, argument in enumerate(arguments):
                    if not argument.is_tensor:
                        values[position] = convert_scalar(bound.function, argument, values[position])
                # Autograd may pass a gradient with the negative bit set (the imaginary part of a conjugate).
                written = _written(bound.function, values)
                for position, argument in enumerate(arguments):
                    value = values[position]
                    if isinstance(value, torch.Tensor) and value.is_neg() and argument not in written:
                        values[position] = value.resolve_neg()
                flags |= VIEWS | META if check_tensors(bound, flags, arguments, values) else VIEWS
                if not flags & META:
                    without = device_library_without(bound, values)
                if without is not None:
                    flags |= META  # only checks arguments and determines the sizes of outputs
                as_views = True
            elif state.status == lib.THNN_DRAW:
                for position, argument in enumerate(arguments):
                    if argument.role == "generator":
                        values[position] = draw(bound.function, argument, values[position])
                flags |= VIEWS
                as_views = True
            elif state.status == lib.THNN_UNPACK:  # after all checks
                raise TypeError(
                    f"{bound.function.name}: expected a tensor of floating-point numbers among the arguments, which"
                    " would tell the type of the results; got none"
                )
            elif state.status != lib.THNN_ALLOCATE:
                message = ffi.string(state.message).decode(errors="replace")
                raise _EXCEPTIONS.get(state.status, TypeError)(message)
        passed = tuple(values)
        if as_views:
            views = [_view(v) if isinstance(v, torch.Tensor) else v for v in values]
            passed = tuple(int(ffi.cast("uintptr_t", v)) if isinstance(v, ffi.CData) else v for v in views)
        state = _take(bound.caller(flags)(passed))
        if state is None:
            if without is not None and without.compute_missing is not None:
                without.compute_missing([(bound.name, values, new)])
            if given:
                with torch.no_grad():
                    for position, tensor in given.items():
                        values[position] = tensor.set_(values[position])
            return values


def results_of(
    bound: BoundFunction, letters: str, sources: Sequence[Source] | None = None, scaled: bool = False
) -> Callable[[tuple[Any, ...]], Any]:
    """The C function as a Python function of a tuple, which returns its results.

    The tuple has the arguments without the state or, with `sources`, the objects from which they come. `letters` has a
    letter per argument. 'g': a result, ALLOCATE or a tensor that the function writes. 'e', 'z', 's': a result, a new
    tensor, which the tensor in the place of the argument determines: empty like it, zeros like it, or without
    dimensions, of its type. '.': no result. The function returns the result, or a tuple of several.

    With `scaled`, one more argument follows: the gradient w.r.t. a loss, a tensor of one element, by which the result
    is multiplied. Raises the errors of `invoke`.
    """
    flags = ANY
    if scaled:  # a kernel of another library need not read the factor
        flags |= SCALED if bound.library is THNN else MULTIPLIED
    positions = [i for i, letter in enumerate(letters) if letter != "."]

    def repeat(arguments: tuple[Any, ...], report: int) -> Any:
        state = _take(report)
        values = list(arguments)
        gradient = values.pop() if scaled else None
        for i in positions:
            values[i] = new_result(bound.function.after_state[i], letters[i], values[i])
        if gradient is not None:
            _check_not_batched(gradient)
        values = _invoke(bound, ANY, values, state, [i for i in positions if letters[i] != "g"])
        if gradient is not None:
            values[positions[0]].mul_(gradient)
        return values[positions[0]] if len(positions) == 1 else tuple(values[i] for i in positions)

    return bind(bound.address, flags, letters, repeat, sources)


def planned(
    bound: BoundFunction, plan: CallPlan, variables: Sequence[str], factor: str | None = None
) -> Callable[[tuple[Any, ...]], Any]:
    """The C function as a Python function of the tuple of these variables, as `results_of` makes it. `factor`: the
    variable by which the result is multiplied."""
    rows = [plan.sources[a.name] for a in bound.function.after_state]
    if factor is not None:
        rows.append(PlannedSource(variable=factor))
    sources = []
    for row in rows:
        position = -1 if row.variable is None else variables.index(row.variable)
        constant = ALLOCATE if row.letter == "g" else row.constant
        sources.append(Source(position, WHOLE if row.dimension is None else row.dimension, constant))
    return results_of(bound, plan.letters, sources, scaled=factor is not None)


def new_result(argument: Argument, letter: str, like: Any) -> Any:
    """The result with a letter of `results_of`, for the tensor that determines it; ALLOCATE where the C function
    requests its size."""
    # Mixed results are float32 even if the tensors that determine them are not.
    is_wider = letter in "es" and argument.is_mixed and getattr(like, "dtype", None) in NARROW_DTYPES
    return (_WIDER_ALLOCATIONS if is_wider else _ALLOCATIONS)[letter](like)


def _check_not_batched(gradient: torch.Tensor) -> None:
    if is_batched(gradient):
        raise NotImplementedError(NO_BATCHED_GRADIENTS)


def _allocation(allocate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`allocate`, with the result ALLOCATE instead of an exception: `invoke` then reports the error."""

    def attempt(like: Any) -> Any:
        if like is None or like is ALLOCATE:
            return like
        try:
            return allocate(like)
        except (TypeError, AttributeError, RuntimeError, ValueError):
            return ALLOCATE

    return attempt


_ALLOCATIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "g": lambda given: given,
    "e": _allocation(torch.empty_like),
    "z": lambda like: None if like is None else torch.zeros_like(like),
    "s": _allocation(lambda like: like.new_empty(())),
}
_WIDER_ALLOCATIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "e": lambda like: ALLOCATE,  # the function requests its size
    "s": _allocation(lambda like: like.new_empty((), dtype=torch.float32)),
}


def _take(report: int) -> Any:
    """The state to which a report points, freed with the returned object; None for the report 0."""
    return ffi.gc(ffi.cast("THNNState *", report), _release) if report else None


def _release(state: Any) -> None:
    lib.thnn_release(int(ffi.cast("uintptr_t", state)))


def run(bound: BoundFunction, **values: Any) -> dict[str, Any]:
    """Calls a C function with arguments by name; returns all values by name, including allocated outputs."""
    arguments = bound.function.after_state
    row = []
    for argument in arguments:
        if argument.name in values:
            row.append(values[argument.name])
        elif argument.role == "buffer" or argument.is_optional:
            row.append(None)
        elif argument.role in ("output", "saved", "gradInput"):
            row.append(ALLOCATE)
        else:
            row.append(backward_scalar(argument, values, values["gradOutput"]))
    return dict(zip((a.name for a in arguments), invoke(bound, ANY, row)))


def backward_scalar(argument: Argument, values: Mapping[str, Any], gradOutput: torch.Tensor) -> Any:
    """The value of a scalar that only a backward function takes: a size of the input or the output, or its
    default."""
    size = argument.size
    if size is None:
        return argument.default
    return (gradOutput if size.tensor == "output" else values[size.tensor]).shape[size.dimension]


def flag(function: Function, name: str, value: Any) -> bool:
    """The value of a bool argument that Python code reads, converted by the rules for C arguments."""
    argument = function.argument(name)
    assert argument is not None
    return bool(convert_scalar(function, argument, value))


def _view(tensor: torch.Tensor) -> Any:
    view = ffi.new("THNNTensor *")
    view.data = ffi.cast("void *", address_of(tensor))
    view.type = _TYPES[tensor.dtype]
    if tensor.is_cuda:
        view.device, view.deviceIndex = lib.THNN_DEVICE_CUDA, tensor.device.index
    view.ndim = tensor.ndim
    for d, (size, stride) in enumerate(zip(tensor.shape, tensor.stride())):
        view.size[d] = size
        view.stride[d] = stride
    return view


_FORMATS: Final = {
    (lib.THNN_CHANNELS_LAST, 4): torch.channels_last,
    (lib.THNN_CHANNELS_LAST, 5): torch.channels_last_3d,
}


def _resize(
    bound: BoundFunction, flags: int, arguments: Sequence[Argument], values: list[Any], state: Any
) -> dict[int, torch.Tensor]:
    """Replaces outputs and buffers in the values by tensors of the requested sizes.

    Returns the replaced outputs by position. They take over the memory of their replacements only after the call
    has succeeded, since checks of the tensors' elements may still fail.
    """
    template = next(v for v in values if isinstance(v, torch.Tensor))
    given_dtypes = [
        v.dtype for a, v in zip(arguments, values) if a.type == "THTensor*" and isinstance(v, torch.Tensor)
    ]
    # Narrow types first, since a float32 tensor may be a mixed argument in a call of a narrow type.
    given_dtypes.sort(key=lambda dtype: dtype not in NARROW_DTYPES)
    real = next(iter(given_dtypes), REAL_DTYPES.get(flags & TYPE_MASK))
    given = {}
    for i in range(state.requestCount):
        request = state.requests[i]
        # `request.argument` and `request.like` count the state as position 0; `values` has no state.
        position, like = request.argument - 1, request.like - 1
        size = ffi.unpack(request.size, request.ndim)
        memory_format = _FORMATS.get((request.layout, request.ndim), torch.contiguous_format)
        value, argument = values[position], arguments[position]
        is_given = isinstance(value, torch.Tensor)
        for other, same in zip(arguments, values) if is_given else ():
            if other is not argument and same is value:
                raise ValueError(f"{bound.name}: {argument.name}: must not share memory with {other.name}")
        try:
            if is_given:
                given[position] = value
                values[position] = _resized(value, size, memory_format)
                continue
            dtype = FIXED_DTYPES.get(argument.type, real)
            if argument.is_mixed and dtype in NARROW_DTYPES:
                dtype = torch.float32
            if like >= 0 and values[like].dtype is dtype:
                values[position] = torch.empty_like(values[like])
            else:
                values[position] = _new(template, size, dtype, memory_format)
        except (RuntimeError, ValueError) as error:
            raise ValueError(
                f"{bound.name}: {argument.name}: needs size {tuple(size)}, which cannot be allocated:"
                f" {str(error).splitlines()[0]}"
            ) from None
    return given


def _new(
    template: torch.Tensor, size: Sequence[int], dtype: torch.dtype | None, memory_format: torch.memory_format
) -> torch.Tensor:
    """A new tensor on the device of the template and of its class: a fake tensor for a fake template."""
    if memory_format is torch.contiguous_format:
        return template.new_empty(size, dtype=dtype)
    if type(template) in (torch.Tensor, torch.nn.Parameter):  # new_empty takes no memory format
        return torch.empty(size, dtype=dtype, device=template.device, memory_format=memory_format)
    strides = torch.empty(size, device="meta", memory_format=memory_format).stride()
    return template.new_empty_strided(size, strides, dtype=dtype)


def _resized(tensor: torch.Tensor, size: Sequence[int], memory_format: torch.memory_format) -> torch.Tensor:
    """A tensor like `tensor` after resize_: a view of its memory if that is large enough, otherwise new memory."""
    if tensor.is_inference() and not torch.is_inference_mode_enabled():
        raise RuntimeError("inference tensors cannot be changed outside of inference mode")
    strides = torch.empty(size, device="meta", memory_format=memory_format).stride()
    storage, offset = tensor.untyped_storage(), tensor.storage_offset()
    if (math.prod(size) + offset) * tensor.element_size() <= storage.nbytes():
        return tensor.new_empty(0).set_(storage, offset, size, strides)
    if not storage.resizable():
        raise RuntimeError("torch does not own its memory, so it cannot be resized")
    return torch.empty_strided(size, strides, dtype=tensor.dtype, device=tensor.device)
