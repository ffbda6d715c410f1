"""``thnn.profile``: the time of each function of thnn in a step of a model."""

from __future__ import annotations

import functools
import inspect
import math
import operator
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from cffi import FFI
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from thnn._binding.extension import ffi
from thnn._binding.library import DTYPES, THNN
from thnn._binding.observer import observed
from thnn._header import Argument
from thnn._header.registry import functions
from thnn._multiply_adds import DENSE
from thnn._roofline import copy_seconds, peak_flops
from thnn._table import aligned, html_table


class FunctionTime(NamedTuple):
    """The calls of one C function in one step.

    ``seconds`` is the time inside of the calls, ``bytes`` the size of their tensors, each counted once per call, and
    ``fraction`` the fraction of the roofline: the least possible time divided by ``seconds``. ``roofline`` is the
    limit that prevails, 'copy' or 'FMA'. ``algorithms`` has the number of calls in which each algorithm of convolution
    ran, such as 'Winograd' or 'direct', the most frequent first: a call may use several for its parts, and functions
    without a choice have none.
    """

    name: str
    calls: int
    seconds: float
    bytes: int
    fraction: float
    roofline: str
    algorithms: Mapping[str, int]


class Profile(NamedTuple):
    """The times of one step of a model; ``print(profile)`` shows them as a table, ``profile.plot()`` as a chart.

    ``functions`` has the C functions of thnn, the slowest first, ``seconds`` is the time of the whole step, and
    ``outside`` the time that the thread of the step was outside of the functions of thnn: Python, autograd, memory,
    operations of torch, and waiting for other threads.
    """

    functions: tuple[FunctionTime, ...]
    seconds: float
    outside: float

    def __str__(self) -> str:
        lines = aligned([_HEADERS, *self._rows()], _NUMBERS)
        if not self.functions:
            lines.append(_NO_FUNCTION)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        table = html_table(_HEADERS, self._rows(), _NUMBERS)
        return table if self.functions else f"{table}<p>{_NO_FUNCTION}</p>"

    def _rows(self) -> list[list[str]]:
        def times(name: str, calls: str, seconds: float) -> list[str]:
            share = f"{seconds / self.seconds:.1%}" if self.seconds else ""
            return [name, calls, f"{seconds * 1e3:.3f}", share]

        rows = []
        for f in self.functions:
            used = ", ".join(f"{name} {count}" for name, count in f.algorithms.items())
            row = times(f.name, str(f.calls), f.seconds)
            rows.append([*row, f"{f.bytes / 1e6:.2f}", f"{f.fraction:.2f}", f.roofline, used])
        rows.append([*times("outside of thnn", "", self.outside), "", "", "", ""])
        calls = sum(f.calls for f in self.functions)
        size = sum(f.bytes for f in self.functions)
        rows.append([*times("total", str(calls), self.seconds), f"{size / 1e6:.2f}", "", "", ""])
        return rows

    def plot(self, axes: Any = None) -> Any:
        """Draws a bar per function, the slowest on top, and one for the time outside of thnn: milliseconds of the step,
        of which the dark part is the time that the roofline allows at best.

        `axes` is an Axes of matplotlib; None: of a new figure. Returns the Axes. Needs matplotlib.
        """
        if axes is None:
            import matplotlib.pyplot as plt

            size = (8, 1.2 + 0.3 * len(self.functions))
            axes = plt.subplots(figsize=size, layout="constrained")[1]
        names = [*(f.name for f in self.functions), "outside of thnn"]
        times = [1e3 * t for t in (*(f.seconds for f in self.functions), self.outside)]
        least = [1e3 * f.seconds * min(f.fraction, 1) for f in self.functions]
        axes.barh(names, times, color="#56b4e9", label="time")
        axes.barh(names[:-1], least, color="#0072b2", label="least time by the roofline")
        axes.invert_yaxis()
        axes.set_xlabel(f"milliseconds of a step of {1e3 * self.seconds:.1f}")
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
        return axes


_HEADERS = ("function", "calls", "ms", "share", "MB", "fraction", "roofline", "algorithms")
_NUMBERS = range(1, 6)  # columns
_NO_FUNCTION = "no function of thnn ran: thnn.convert(model) puts layers of thnn into a model of torch"


def profile(
    model: nn.Module,
    *inputs: Any,
    loss: Callable[[Any], Tensor] | None = None,
    backward: bool = True,
    runs: int = 5,
) -> Profile:
    """Measures which C functions of thnn take how much of the time of a model, and their fractions of the roofline.

    A step is ``model(*inputs)``, the loss of its result, and the gradients of the loss w.r.t. all parameters and inputs
    that require a gradient. The fastest of several steps counts. ``print(thnn.profile(model, input))`` shows a table
    with a row per function: calls, time in milliseconds, share of the step, megabytes of its tensors, and the fraction
    of the roofline. The roofline is the time of a memory copy that moves as many bytes or, for convolutions and Linear,
    the time of their multiply-adds at the machine's peak, if that is longer. For convolutions and Linear the row names
    the algorithms that ran. Two rows follow: the time outside of the functions, and the total.

    Arguments:
        model: torch.nn.Module on the CPU with layers of thnn, such as a model after ``thnn.convert``; computed in its
            current mode
        inputs: the arguments of the model
        loss: function from the result of the model to a tensor of one element; None: the sum of all elements of
            the tensors in the result that require a gradient; the result is a tensor or nested sequences and mappings
        backward: False: forward only, in no_grad mode, without the loss
        runs: int: number of steps that are measured, after one that is not

    Returns a `Profile`. Afterwards, also after an exception, the buffers of the model (running statistics) and the
    state of torch's random generator are the same as before; gradients are not stored in ``.grad``. Copies and the peak
    rate are measured once per number of threads of torch, within a second. Calls by threads that the model starts
    count, too, so that shares may exceed 100 %; calls by threads that were there before do not.

    Errors: TypeError for a model that is not a module, a loss that does not take only the result, and runs that is not
    an integer; ValueError for runs below 1, and for a loss of several elements or without a gradient; RuntimeError
    inside of another profile; the errors of the model.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"profile: model: expected a torch.nn.Module, got {type(model).__name__}")
    try:
        runs = operator.index(runs)
    except TypeError:
        raise TypeError(f"profile: runs: expected an integer, got {type(runs).__name__}") from None
    if runs < 1:
        raise ValueError(f"profile: runs: expected at least 1, got {runs}")
    if backward and loss is not None:
        _check_loss(loss)
    best = step = _Step()

    def observe(*call: Any) -> None:
        step.observe(*call)

    # The observer first: if it is refused, since another profile is running, that profile's buffers must not be
    # restored.
    with observed(observe), _state_kept(model):
        for run in range(-1, runs):
            step = _Step()
            _taken_algorithms()  # of earlier calls
            start = time.perf_counter()
            _compute(model, inputs, loss, backward)
            step.seconds = time.perf_counter() - start - step.observing
            if run <= 0 or step.seconds < best.seconds:
                best = step
    return Profile(best.functions(), best.seconds, best.seconds - best.inside)


def _check_loss(loss: Callable[[Any], Tensor]) -> None:
    if not callable(loss):
        raise TypeError(f"profile: loss: expected a function, got {type(loss).__name__}")
    try:
        signature = inspect.signature(loss.forward if isinstance(loss, nn.Module) else loss)
    except ValueError:  # a C function may have no signature
        return
    try:
        signature.bind(None)
    except TypeError as error:
        raise TypeError(
            f"profile: loss: expected a function of only the model's output, such as"
            f" lambda output: F.cross_entropy(output, target), got one with another signature: {error}"
        ) from None


def _compute(
    model: nn.Module, inputs: Sequence[Any], loss: Callable[[Any], Tensor] | None, backward: bool
) -> None:
    with torch.set_grad_enabled(backward):
        result = model(*inputs)
        if not backward:
            return
        value = _sum(result) if loss is None else loss(result)
        wanted = [t for t in (*model.parameters(), *_tensors(inputs)) if t.requires_grad]
        if not wanted or not isinstance(value, Tensor) or not value.requires_grad:
            raise ValueError(
                "profile: the loss depends on no parameter and no input that requires a gradient; backward=False"
                " measures only the forward"
            )
        if value.numel() != 1:
            raise ValueError(
                f"profile: loss: expected a tensor of one element, got shape {tuple(value.shape)}"
            )
        torch.autograd.grad(value, wanted, allow_unused=True)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _tensors(entry)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for entry in value:
            yield from _tensors(entry)


def _sum(result: Any) -> Any:
    return sum(t.sum() for t in _tensors(result) if t.requires_grad)


@contextmanager
def _state_kept(model: nn.Module) -> Iterator[None]:
    buffers = [
        (module, name, buffer, None if is_lazy(buffer) else buffer.detach().clone())
        for module in model.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None
    ]
    random = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(random)
        with torch.no_grad():
            for module, name, buffer, value in buffers:
                if value is not None:
                    if buffer.shape != value.shape:
                        buffer.resize_(value.shape)
                    buffer.copy_(value)
                    module._buffers[name] = buffer


# Calls


class _Call(NamedTuple):
    seconds: float
    bytes: int
    multiply_adds: int
    is_double: bool
    algorithms: tuple[str, ...]


class _Step:
    """The calls of one step, by the thread that makes it and by threads that begin after it."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.others = {t.ident for t in threading.enumerate()} - {self.thread}
        self.seconds = 0.0
        # In the thread of the step: seconds that the observer took, and seconds in calls.
        self.observing = 0.0
        self.inside = 0.0
        self.calls: dict[str, list[_Call]] = {}
        self.repeated: dict[str, float] = {}  # seconds of calls that returned a report and were repeated

    def observe(self, name: str, seconds: float, report: int, values: tuple[Any, ...]) -> None:
        start = time.perf_counter()
        thread = threading.get_ident()
        if thread in self.others:
            return
        if report:
            self.repeated[name] = self.repeated.get(name, 0.0) + seconds
        else:
            self.calls.setdefault(name, []).append(_Call(seconds, *_work(name, values), _taken_algorithms()))
        if thread == self.thread:
            self.inside += seconds
            self.observing += time.perf_counter() - start

    def functions(self) -> tuple[FunctionTime, ...]:
        found = []
        for name, calls in self.calls.items():
            seconds = sum(c.seconds for c in calls) + self.repeated.get(name, 0.0)
            least = {"copy": 0.0, "FMA": 0.0}
            for call in calls:
                copy = copy_seconds(call.bytes)
                peak = peak_flops(torch.float64 if call.is_double else torch.float32)
                products = 2 * call.multiply_adds / peak
                least["FMA" if products > copy else "copy"] += max(copy, products)
            fraction = sum(least.values()) / seconds if seconds else math.nan
            size = sum(c.bytes for c in calls)
            used = Counter(algorithm for call in calls for algorithm in call.algorithms)
            roofline = max(least, key=lambda k: least[k])
            found.append(
                FunctionTime(name, len(calls), seconds, size, fraction, roofline, dict(used.most_common()))
            )
        return tuple(sorted(found, key=lambda f: -f.seconds))


@functools.cache
def _library() -> Any:
    declarations = FFI()
    declarations.cdef("const char *THNN_takeAlgorithms(void);")
    return declarations, declarations.dlopen(str(THNN.path))


def _taken_algorithms() -> tuple[str, ...]:
    """The algorithms of convolution that the thread has run since the last call of this function."""
    declarations, library = _library()
    text: bytes = declarations.string(library.THNN_takeAlgorithms())
    return tuple(text.decode().split(",")) if text else ()


def _work(name: str, values: tuple[Any, ...]) -> tuple[int, int, bool]:
    """Bytes of the tensors of a call, its multiply-adds if they are its limit, and whether it computes in float64."""
    shapes: dict[str, Sequence[int]] = {}
    size, is_double = 0, False
    for argument, value in zip(_arguments(name, len(values)), values):
        if isinstance(value, Tensor):
            shape, strides, dtype = value.shape, value.stride(), value.dtype
        elif argument is not None and argument.is_tensor and isinstance(value, int):
            view = ffi.cast("THNNTensor *", value)
            shape, strides = ffi.unpack(view.size, view.ndim), ffi.unpack(view.stride, view.ndim)
            dtype = DTYPES[view.type]
        else:
            continue
        if argument is not None:
            shapes[argument.name] = shape
        is_double = is_double or dtype == torch.float64
        # Dimensions of stride 0, of an expanded tensor, share their memory.
        size += dtype.itemsize * math.prod(s for s, stride in zip(shape, strides) if stride)
    return size, _multiply_adds(name, shapes), is_double


@functools.cache
def _arguments(name: str, count: int) -> Sequence[Argument | None]:
    """The arguments without the state; None for each argument of a function that THNN.h does not declare."""
    function = functions().get(name)
    if function is None:
        return (None,) * count
    return function.after_state


def _multiply_adds(name: str, shapes: Mapping[str, Sequence[int]]) -> int:
    """The number of multiply-adds of a call; 0 if it is only compared with a copy.

    In a function of all steps of a recurrent layer, each row is multiplied by the weights.
    """
    if name.endswith(("_steps", "_gradSteps")):
        rows = shapes.get("output" if name.endswith("_steps") else "storage", (0,))[0]
        return rows * sum(math.prod(shapes[w]) for w in ("weight1", "weight2") if w in shapes)
    count = DENSE.get(name.rpartition("_")[0])
    weight = shapes.get("weight", shapes.get("gradWeight"))
    if count is None or weight is None:
        return 0
    return count(shapes.get("input", (0,)), weight, shapes.get("output", shapes.get("gradOutput", (0,))))
