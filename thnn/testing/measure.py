"""The measurement of a row of the benchmark on the CPU: its calls, which compute the same, take turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from thnn import _roofline as roofline
from thnn.testing.cases import arguments, function_of
from thnn.testing.cases.model import Case, Row
from thnn.testing.timing import CHANNELS_LAST, CONTIGUOUS, Measurement, Timing, in_layout, take_turns

# The implementation `Row.other`, which uses thnn's functions; the others are 'torch' and 'thnn'. For a row in a half
# type it is thnn in float32.
OTHER = "other"


def _copies(working_set: float) -> dict[str, Callable[[], None]]:
    """Copies that move `working_set` bytes, half of them read and half of them written."""
    half = max(64, int(working_set / 2) // 64 * 64)
    # torch allocates memory at addresses that are multiples of 64.
    source, destination = (torch.ones(half, dtype=torch.int8) for _ in range(2))

    return {name: roofline.copier(destination, source, name == "streaming copy") for name in _COPIES}


_COPIES = ("copy", "streaming copy")


def _arguments(case: Case, row: Row) -> dict[str, Any]:
    """The arguments of a row by their names in Python; all tensors have its type, as those of a model have."""
    dtype = getattr(torch, row.dtype)
    spelled = {a.name: a.variable for a in function_of(case).arguments}
    return {
        spelled[n]: v.to(dtype) if isinstance(v, Tensor) and v.is_floating_point() else v
        for n, v in arguments(case, row.sample).items()
    }


class Call:
    """One implementation of a row in one layout: a function and its arguments."""

    def __init__(
        self,
        case: Case,
        row: Row,
        library: str,
        layout: str,
        device: torch.device | None = None,
    ) -> None:
        self.module = case.registry.modules[case.module]
        self.arguments = {
            k: in_layout(v, layout).to(device or "cpu") if isinstance(v, Tensor) else v
            for k, v in _arguments(case, row).items()
        }
        cls = case.registry.function_classes[case.module + "Function"]
        differentiable = [n for n in cls._names[: cls._tensor_count] if n not in cls._constants]
        self.wanted = [
            self.arguments[n].requires_grad_()
            for n in differentiable
            if isinstance(self.arguments.get(n), Tensor)
        ]
        if library != "thnn":
            baseline = row.other if library == OTHER else case.baseline or case.reference
            assert baseline is not None
            given = self.arguments
            if baseline is not case.reference:  # whose own defaults are those of the row
                given = {n: v for n, v in given.items() if n in row.sample.arguments}
            self.function: Callable[[], Any] = lambda: baseline(**given)
        else:
            ordered = cls._bind((), self.arguments)
            apply = cls.apply
            self.function = lambda: apply(*ordered)
        generator = torch.Generator().manual_seed(1)
        self.gradients = [
            in_layout(torch.randn(output.shape, generator=generator).to(output), layout)
            for output in self.outputs()
        ]

    def outputs(self) -> tuple[Tensor, ...]:
        result = self.function()
        if not isinstance(result, tuple):
            return (result,)
        # A reference returns other results in a dictionary.
        return result[:1] if isinstance(result[-1], dict) else result

    def forward(self) -> None:
        self.function()

    def forward_backward(self) -> tuple[Tensor, ...]:
        return torch.autograd.grad(self.outputs(), self.wanted, self.gradients)


def compare_results(row: Row, implementations: Mapping[str, Call]) -> None:
    """Raises ValueError when thnn and torch do not compute the same."""
    if row.random:
        return
    # Among millions of elements, a few are so close to a kink that rounding decides their gradients, which enter sums.
    tolerance = {"float32": 1e-2, "float64": 1e-9}.get(row.dtype, 0.1)
    (_, expected), *others = [(n, (*v.outputs(), *v.forward_backward())) for n, v in implementations.items()]
    for name, values in others:
        for position, (value, reference) in enumerate(zip(values, expected)):
            errors = (value - reference.to(value.device)).abs()
            error = errors.max().item() if value.numel() else 0.0
            scale = reference.abs().max().item() if reference.numel() else 0.0
            wrong = (~(errors <= tolerance * max(scale, 1e-6))).sum().item()
            if wrong > 1e-5 * value.numel():
                raise ValueError(
                    f"{row.name}: {name} differs from torch in result {position} by {error:g} of {scale:g}"
                )


def _differentiable(call: Call) -> bool:
    """False if torch refuses the layout, as it does in the gradient of `nll_loss` of channels-last images."""
    try:
        call.forward_backward()
    except RuntimeError:
        return False
    return True


def in_type(row: Row, dtype: str) -> Row:
    """The row with tensors of a half type, without goals and rooflines, which are those of its own type."""
    return replace(
        row, dtype=dtype, bytes_moved={}, flops={}, ratio=None, fraction=None, best=None, channels_last=None,
        other=None, against_other=None,
    )  # fmt: skip


def measure(case: Case, row: Row, rounds: int, dtype: str | None = None) -> list[Measurement]:
    """Times a row in each of its phases; with `dtype`, a half type, in this type against torch in the type and against
    thnn in float32. Without a time of torch where torch lacks the type."""
    own, row = row, row if dtype is None else in_type(row, dtype)
    has_layouts = any(isinstance(v, Tensor) and v.dim() in (4, 5) for v in _arguments(case, row).values())
    layouts = (CONTIGUOUS, CHANNELS_LAST) if has_layouts else (CONTIGUOUS,)
    implementations: dict[str, Call] = {}
    for layout in layouts:
        try:
            implementations[f"torch {layout}"] = Call(case, row, "torch", layout)
        except RuntimeError:
            if dtype is None:
                raise
        implementations[f"thnn {layout}"] = Call(case, row, "thnn", layout)
        if row.other is not None or dtype is not None:
            implementations[f"{OTHER} {layout}"] = Call(case, own, OTHER if dtype is None else "thnn", layout)
    for name in [
        n for n, call in implementations.items() if n.startswith("torch") and not _differentiable(call)
    ]:
        if dtype is None and CHANNELS_LAST not in name:
            continue  # an error
        del implementations[name]
    # `Row.other` may compute less than the row.
    compare_results(row, {n: v for n, v in implementations.items() if not n.startswith(OTHER)})
    found = []
    for phase in row.phases:
        calls = {n: v.forward if phase == "fwd" else v.forward_backward for n, v in implementations.items()}
        if phase in row.bytes_moved:
            # Bandwidth depends on the other load of the machine, so the copy is timed together with the row.
            calls |= _copies(row.bytes_moved[phase])
        with torch.set_grad_enabled(phase != "fwd"):
            timings = take_turns(calls, rounds)
        copied = [timings.pop(name).best for name in _COPIES if name in timings]
        found.append(judge(row, phase, timings, min(copied, default=None)))
    return found


# Goals that are also met if the row reaches its fraction of the roofline.
_OR_FRACTION = ("torch", "torch's better layout")


def judge(row: Row, phase: str, timings: dict[str, Timing], copied: float | None = None) -> Measurement:
    m = Measurement(row.name, phase, timings)
    best = {name: t.best for name, t in timings.items()}
    ours = best[f"thnn {CONTIGUOUS}"]
    theirs = best.get(f"torch {CONTIGUOUS}")
    if theirs is not None:
        m.ratio = theirs / ours
        m.best_ratio = min(theirs, best.get(f"torch {CHANNELS_LAST}", theirs)) / ours
    if f"torch {CHANNELS_LAST}" in best:
        m.channels_last_ratio = best[f"torch {CHANNELS_LAST}"] / best[f"thnn {CHANNELS_LAST}"]
    if f"{OTHER} {CONTIGUOUS}" in best:
        m.other_ratio = best[f"{OTHER} {CONTIGUOUS}"] / ours
    if f"{OTHER} {CHANNELS_LAST}" in best:
        m.other_channels_last_ratio = best[f"{OTHER} {CHANNELS_LAST}"] / best[f"thnn {CHANNELS_LAST}"]
    least = None
    if phase in row.flops:
        least = row.flops[phase] / roofline.peak_flops(getattr(torch, row.dtype))
        m.roofline = "FMA peak"
    elif copied is not None:
        least = copied
        m.roofline = f"{row.bytes_moved[phase] / copied / 1e9:.0f} GB/s"
    if least is not None and theirs is not None:
        m.fraction, m.torch_fraction = least / ours, least / theirs
    if phase == row.judged:
        m.met = True
        for value, goal, what in (
            (m.ratio, row.ratio, "torch"),
            (m.best_ratio, row.best, "torch's better layout"),
            (m.channels_last_ratio, row.channels_last, "torch channels-last"),
            (m.other_ratio, row.against_other, "thnn's alternative"),
            (m.other_channels_last_ratio, row.against_other, "thnn's alternative, channels-last"),
        ):
            if goal is None or value is None:
                continue
            text = f"{value:.2f} of {goal:g} against {what}"
            reached = value >= goal
            if row.fraction is not None and m.fraction is not None and what in _OR_FRACTION:
                text += f" or {m.fraction:.2f} of {row.fraction:g} of the roofline"
                reached = reached or m.fraction >= row.fraction
            m.goals.append(text)
            m.met = m.met and reached
        if not m.goals:
            m.met = None
    return m
