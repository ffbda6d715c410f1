"""The steps of LSTM and GRU over a sequence as operators of torch.library, for code that torch.compile makes.

`thnn::recurrent_steps` and its gradient compute all steps in one call, by the same functions as the node of
`_sequence.py`: the operators of single steps would take half as long again as their functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from thnn._torch import functorch_active, marked_constant
from thnn.nn import _sequence
from thnn.nn._sequence import Cell, States

_NAME = "thnn::recurrent_steps"
_STEPS = "Tensor gates, Tensor weight, Tensor? bias, Tensor[] initial, SymInt[] sizes, bool reverse"
_CELLS: dict[str, Cell] = {"LSTM": _sequence.LSTM_CELL, "GRU": _sequence.GRU_CELL}


@marked_constant
def usable() -> bool:
    """True outside of torch.func's transforms, of which the operators know none; then they are defined."""
    if functorch_active():
        return False
    _define()
    return True


def run_steps(
    cell: Cell,
    gates: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    initial: States,
    sizes: Sequence[int],
    reverse: bool,
) -> tuple[Tensor, States]:
    """`_sequence.run_steps` by the operator."""
    tensors = (gates, weight, *initial) if bias is None else (gates, weight, bias, *initial)
    keeps_storage = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
    name = "LSTM" if cell is _sequence.LSTM_CELL else "GRU"
    output, *rest = torch.ops.thnn.recurrent_steps(
        name, gates, weight, bias, initial, sizes, reverse, keeps_storage
    )
    return output, tuple(rest[: len(initial)])


def _results(states: States, final: States, storage: Tensor, keeps_storage: bool) -> list[Tensor]:
    """The results of the operator: the hidden states, the final states, the other states and the storage; without the
    storage, no other states either."""
    kept = [*states[1:], storage] if keeps_storage else []
    return [states[0], *final, *kept]


def _forward(
    name: str,
    gates: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    initial: States,
    sizes: Sequence[int],
    reverse: bool,
    keeps_storage: bool,
) -> list[Tensor]:
    states, storage = _sequence.forward(
        _CELLS[name], gates, weight, bias, tuple(initial), sizes, reverse, keeps_storage
    )
    return _results(states, _sequence.final_states(states, initial, sizes, reverse), storage, keeps_storage)


def _fake_forward(
    name: str,
    gates: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    initial: States,
    sizes: Sequence[int],
    reverse: bool,
    keeps_storage: bool,
) -> list[Tensor]:
    rows, width = gates.shape[0], weight.shape[1]
    states = tuple(gates.new_empty((rows, width)) for _ in initial)
    storage = gates.new_empty((rows, _CELLS[name].storage * width))
    return _results(states, tuple(torch.empty_like(i) for i in initial), storage, keeps_storage)


def _gradients(
    name: str,
    outer: Sequence[Tensor | None],
    gates: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    initial: States,
    sizes: Sequence[int],
    reverse: bool,
    states: States,
    storage: Tensor,
    with_parameters: bool,
) -> list[Tensor]:
    byGates, byWeight, byBias, carried = _sequence.gradients(
        _CELLS[name], gates, weight, bias, tuple(initial), sizes, reverse, tuple(states), storage,
        outer[0], outer[1:], with_parameters,
    )  # fmt: skip
    return [byGates, *(g for g in (byWeight, byBias) if g is not None), *carried]


def _fake_gradients(
    name: str,
    outer: Sequence[Tensor | None],
    gates: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    initial: States,
    sizes: Sequence[int],
    reverse: bool,
    states: States,
    storage: Tensor,
    with_parameters: bool,
) -> list[Tensor]:
    parameters = [weight, *([] if bias is None else [bias])] if with_parameters else []
    return [torch.empty_like(t) for t in (gates, *parameters, *initial)]


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: list[Tensor]) -> None:
    name, gates, weight, bias, initial, sizes, reverse, keeps_storage = inputs
    count = len(initial)
    ctx.settings = name, sizes, reverse, count
    states = (output[0], *output[1 + count : -1]) if keeps_storage else ()
    ctx.save_for_backward(gates, weight, bias, *initial, *states, output[-1])


def _backward(ctx: Any, outer: Sequence[Tensor | None]) -> tuple[Any, ...]:
    name, sizes, reverse, count = ctx.settings
    gates, weight, bias, *tensors = ctx.saved_tensors
    initial, states, storage = tensors[:count], tensors[count:-1], tensors[-1]
    with_parameters = ctx.needs_input_grad[2] or ctx.needs_input_grad[3]
    byGates, *found = torch.ops.thnn.recurrent_steps_gradients(
        name,
        outer[: 1 + count],
        gates,
        weight,
        bias,
        initial,
        sizes,
        reverse,
        states,
        storage,
        with_parameters,
    )
    parameters = found[:-count]
    byWeight = parameters[0] if parameters else None
    byBias = parameters[1] if len(parameters) > 1 else None
    return None, byGates, byWeight, byBias, found[-count:], None, None, None


@cache
def _define() -> None:
    """Defines the operators, at the first compilation that uses them."""
    library = torch.library.Library("thnn", "FRAGMENT")
    library.define(f"recurrent_steps(str cell, {_STEPS}, bool keeps_storage) -> Tensor[]")
    library.define(
        f"recurrent_steps_gradients(str cell, Tensor?[] outer, {_STEPS}, Tensor[] states, Tensor storage,"
        " bool with_parameters) -> Tensor[]"
    )
    for name, function, fake in (
        (_NAME, _forward, _fake_forward),
        (f"{_NAME}_gradients", _gradients, _fake_gradients),
    ):
        library.impl(name, function, "CompositeExplicitAutograd")
        torch.library.register_fake(name, fake, lib=library)
    torch.library.register_autograd(_NAME, _backward, setup_context=_setup_context, lib=library)
    _kept.append(library)


_kept: list[Any] = []  # a library of torch removes its definitions when it is deleted
