"""The steps of LSTM and GRU over a sequence as operators of torch.library, for code that torch.compile makes.

`thnn::recurrent_steps` and its gradient compute all steps in one call, by the same functions as the node of
`_sequence.py`: calls of an operator per step would take half as long again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from thnn._torch import functorch_active, marked_constant
from thnn.nn import _sequence
from thnn.nn._sequence import Cell, Inputs, States

_NAME = "thnn::recurrent_steps"
# The fields of `Inputs` as arguments of an operator, in torch's language.
_INPUTS = "Tensor gates, Tensor weight, Tensor? bias, Tensor[] initial, SymInt[] sizes, bool reverse"
_CELLS: dict[str, Cell] = {"LSTM": _sequence.LSTM_CELL, "GRU": _sequence.GRU_CELL}


@marked_constant
def usable() -> bool:
    """True outside of torch.func's transforms, of which the operators know none; then they are defined."""
    if functorch_active():
        return False
    _define()
    return True


def run_steps(cell: Cell, inputs: Inputs) -> tuple[Tensor, States]:
    """`_sequence.run_steps` by the operator."""
    name = "LSTM" if cell is _sequence.LSTM_CELL else "GRU"
    output, *rest = torch.ops.thnn.recurrent_steps(name, inputs.needs_gradient(), *inputs)
    return output, tuple(rest[: len(inputs.initial)])


def _results(states: States, final: States, storage: Tensor, keeps_storage: bool) -> list[Tensor]:
    """The results of the operator: the hidden states, the final states and, for the gradient, the other states and the
    storage."""
    kept = [*states[1:], storage] if keeps_storage else []
    return [states[0], *final, *kept]


def _forward(name: str, keeps_storage: bool, *values: Any) -> list[Tensor]:
    inputs = Inputs(*values)
    states, storage = _sequence.forward(_CELLS[name], inputs, keeps_storage)
    return _results(states, _sequence.final_states(states, inputs), storage, keeps_storage)


def _fake_forward(name: str, keeps_storage: bool, *values: Any) -> list[Tensor]:
    inputs = Inputs(*values)
    rows, width = inputs.gates.shape[0], inputs.weight.shape[1]
    states = tuple(inputs.gates.new_empty((rows, width)) for _ in inputs.initial)
    storage = inputs.gates.new_empty((rows, _CELLS[name].storage * width))
    return _results(states, tuple(i.new_empty(i.shape) for i in inputs.initial), storage, keeps_storage)


def _gradients(
    name: str,
    outer: Sequence[Tensor | None],
    states: Sequence[Tensor],
    storage: Tensor,
    with_parameters: bool,
    *values: Any,
) -> list[Tensor]:
    """The gradients by the gates, the parameters (if wanted) and the initial states; `outer` are those by the hidden
    states and by the final states."""
    byGates, byWeight, byBias, carried = _sequence.gradients(
        _CELLS[name], Inputs(*values), tuple(states), storage, outer[0], outer[1:], with_parameters
    )
    return [byGates, *(g for g in (byWeight, byBias) if g is not None), *carried]


def _fake_gradients(
    name: str,
    outer: Sequence[Tensor | None],
    states: Sequence[Tensor],
    storage: Tensor,
    with_parameters: bool,
    *values: Any,
) -> list[Tensor]:
    inputs = Inputs(*values)
    parameters = [t for t in (inputs.weight, inputs.bias) if t is not None and with_parameters]
    written = [torch.empty_like(t) for t in (inputs.gates, *parameters)]
    return [*written, *(i.new_empty(i.shape) for i in inputs.initial)]


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: list[Tensor]) -> None:
    name, keeps_storage, gates, weight, bias, initial, sizes, reverse = inputs
    count = len(initial)
    ctx.settings = name, sizes, reverse, count
    kept = (output[0], *output[1 + count :]) if keeps_storage else ()
    ctx.save_for_backward(gates, weight, bias, *initial, *kept)


def _backward(ctx: Any, outer: Sequence[Tensor | None]) -> tuple[Any, ...]:
    name, sizes, reverse, count = ctx.settings
    gates, weight, bias, *tensors = ctx.saved_tensors
    initial, states, storage = tensors[:count], tensors[count:-1], tensors[-1]
    with_parameters = ctx.needs_input_grad[3] or ctx.needs_input_grad[4]
    inputs = Inputs(gates, weight, bias, initial, sizes, reverse)
    byGates, *found = torch.ops.thnn.recurrent_steps_gradients(
        name, outer[: 1 + count], states, storage, with_parameters, *inputs
    )
    byWeight, byBias = (*found[:-count], None, None)[:2]
    return None, None, byGates, byWeight, byBias, found[-count:], None, None


@cache
def _define() -> torch.library.Library:
    """Defines the operators, at the first compilation that uses them, for as long as the result exists."""
    library = torch.library.Library("thnn", "FRAGMENT")
    library.define(f"recurrent_steps(str cell, bool keeps_storage, {_INPUTS}) -> Tensor[]")
    library.define(
        "recurrent_steps_gradients(str cell, Tensor?[] outer, Tensor[] states, Tensor storage, bool with_parameters,"
        f" {_INPUTS}) -> Tensor[]"
    )
    for name, function, fake in (
        (_NAME, _forward, _fake_forward),
        (f"{_NAME}_gradients", _gradients, _fake_gradients),
    ):
        library.impl(name.removeprefix("thnn::"), function, "CompositeExplicitAutograd")
        torch.library.register_fake(name, fake, lib=library)
    torch.library.register_autograd(_NAME, _backward, setup_context=_setup_context, lib=library)
    return library
