"""The steps of LSTM and GRU over a sequence as operators of torch.library, for compiled code.

`thnn::recurrent_steps` and its gradient compute all steps in one call, by the same functions as the node of
`_sequence.py`: calls of an operator per step would take half as long again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from thnn._torch import definitions, functorch_active, is_exporting, marked_constant
from thnn.nn import _sequence
from thnn.nn._sequence import Cell, Inputs, States

_NAME = "thnn::recurrent_steps"
# The fields of `Inputs` as arguments of an operator, in torch's language.
_INPUTS = (
    "Tensor data, Tensor weight_ih, Tensor weight_hh, Tensor? bias_ih, Tensor? bias_hh, Tensor[] initial,"
    " SymInt[] sizes, bool reverse"
)
_CELLS: dict[str, Cell] = {"LSTM": _sequence.LSTM_CELL, "GRU": _sequence.GRU_CELL}


@marked_constant
def usable() -> bool:
    """True outside of torch.func's transforms, which the operators do not support; defines the operators then."""
    if functorch_active():
        return False
    _define()
    return True


def run_steps(cell: Cell, inputs: Inputs) -> tuple[Tensor, States]:
    """The hidden states of all steps, in the order of the rows of `data`, and the final states."""
    if not torch.compiler.is_compiling():
        return _sequence.run_eagerly(cell, inputs)
    if is_exporting() or not inputs.have_one_type() or not usable():
        return _sequence.recorded(cell, inputs)
    name = "LSTM" if cell is _sequence.LSTM_CELL else "GRU"
    output, *rest = torch.ops.thnn.recurrent_steps(name, inputs.needs_gradient(), *inputs)
    return output, tuple(rest[: len(inputs.initial)])


def _results(states: States, final: States, storage: Tensor | None) -> list[Tensor]:
    """The results of the operator: the hidden states, the final states and, for the gradient, the other states and the
    storage."""
    kept = [] if storage is None else [*states[1:], storage]
    return [states[0], *final, *kept]


def _forward(name: str, keeps_storage: bool, *values: Any) -> list[Tensor]:
    inputs = Inputs(*values)
    states, storage = _sequence.forward(_CELLS[name], inputs, keeps_storage)
    return _results(states, _sequence.final_states(states, inputs), storage)


def _fake_forward(name: str, keeps_storage: bool, *values: Any) -> list[Tensor]:
    inputs = Inputs(*values)
    rows, width = inputs.data.shape[0], inputs.weight_hh.shape[1]
    states = tuple(inputs.data.new_empty((rows, width)) for _ in inputs.initial)
    storage = inputs.data.new_empty((rows, _CELLS[name].storage * width)) if keeps_storage else None
    return _results(states, tuple(i.new_empty(i.shape) for i in inputs.initial), storage)


def _gradients(
    name: str,
    outer: Sequence[Tensor | None],
    states: Sequence[Tensor],
    storage: Tensor,
    with_data: bool,
    with_parameters: bool,
    *values: Any,
) -> list[Tensor]:
    """The gradients w.r.t. data and the parameters (if wanted) and the initial states; `outer` are the gradients w.r.t.
    the hidden states and the final states."""
    *found, carried = _sequence.gradients(
        _CELLS[name],
        Inputs(*values),
        tuple(states),
        storage,
        outer[0],
        outer[1:],
        with_data,
        with_parameters,
    )
    present = [g for g in found if g is not None]
    # The results of an operator may not share memory.
    return [*(g.clone() if any(g is h for h in present[:i]) else g for i, g in enumerate(present)), *carried]


def _fake_gradients(
    name: str,
    outer: Sequence[Tensor | None],
    states: Sequence[Tensor],
    storage: Tensor,
    with_data: bool,
    with_parameters: bool,
    *values: Any,
) -> list[Tensor]:
    inputs = Inputs(*values)
    wanted = (with_data, *(with_parameters,) * 4)
    written = [torch.empty_like(t) for t, w in zip(inputs[:5], wanted) if w and t is not None]
    return [*written, *(i.new_empty(i.shape) for i in inputs.initial)]


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: list[Tensor]) -> None:
    name, keeps_storage, *tensors, initial, sizes, reverse = inputs
    count = len(initial)
    ctx.settings = name, sizes, reverse, count
    kept = (output[0], *output[1 + count :]) if keeps_storage else ()
    ctx.save_for_backward(*tensors, *initial, *kept)


def _backward(ctx: Any, outer: Sequence[Tensor | None]) -> tuple[Any, ...]:
    name, sizes, reverse, count = ctx.settings
    *tensors, storage = ctx.saved_tensors
    given, initial, states = tensors[:5], tensors[5 : 5 + count], tensors[5 + count :]
    needs = ctx.needs_input_grad[2:7]
    # create_graph=True, with a backend of torch.compile that calls operators directly.
    if torch.is_grad_enabled():
        inputs = _sequence._inputs((*given, *initial), sizes, reverse)
        needs = (*needs, *(t.requires_grad for t in initial))
        results = _sequence.differentiable_gradients(_CELLS[name], inputs, needs, outer[: 1 + count])
        return None, None, *results[:5], results[5:], None, None
    wanted = (needs[0], *(any(needs[1:]),) * 4)
    found = torch.ops.thnn.recurrent_steps_gradients(
        name, outer[: 1 + count], states, storage, *wanted[:2], *given, initial, sizes, reverse
    )
    remaining = iter(found)
    gradients = [next(remaining) if w and t is not None else None for w, t in zip(wanted, given)]
    return None, None, *gradients, list(remaining), None, None


@cache
def _define() -> torch.library.Library:
    """Defines the operators, at the first compilation that uses them, for as long as the result exists."""
    with definitions("thnn") as library:
        _define_in(library)
    return library


def _define_in(library: torch.library.Library) -> None:
    library.define(f"recurrent_steps(str cell, bool keeps_storage, {_INPUTS}) -> Tensor[]")
    library.define(
        "recurrent_steps_gradients(str cell, Tensor?[] outer, Tensor[] states, Tensor storage, bool with_data,"
        f" bool with_parameters, {_INPUTS}) -> Tensor[]"
    )
    for name, function, fake in (
        (_NAME, _forward, _fake_forward),
        (f"{_NAME}_gradients", _gradients, _fake_gradients),
    ):
        library.impl(name.removeprefix("thnn::"), function, "CompositeExplicitAutograd")
        torch.library.register_fake(name, fake, lib=library)
    torch.library.register_autograd(_NAME, _backward, setup_context=_setup_context, lib=library)
