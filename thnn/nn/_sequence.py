"""The steps of LSTM and GRU over a sequence, as one autograd node.

Sequences are sorted by length, longest first, so that the sequences that have ended are the last rows of the states; no
later step reads them. The reverse direction begins each sequence at its own last step, with the initial state.

In sequences of 16 steps or more the weight is copied once, into a layout that the products of the steps read without
packing it.

One node for all steps, rather than two per step, computes the gradient by weight_hh in one product over all steps, and
leaves out the sums of gradients, the copies of the steps and most of autograd's work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from thnn._binding.call import invoke
from thnn._binding.library import ANY, THNN, BoundFunction
from thnn._functions import recurrent as _recurrent
from thnn._functions.classes import function_classes
from thnn._header.registry import modules
from thnn._torch import in_transform

# The states of a layer: the hidden state and, in an LSTM, the cell state.
States = tuple[Tensor, ...]

_apply_linear = function_classes["LinearFunction"].apply
_apply_lstm = function_classes["LSTMFusedFunction"].apply
_apply_gru = function_classes["GRUFusedFunction"].apply
_linear_forward, _linear_grad_input, _linear_grad_parameters = (
    THNN.bind(modules()["Linear"].functions[phase])
    for phase in ("updateOutput", "updateGradInput", "accGradParameters")
)


class Inputs(NamedTuple):
    """The inputs of all steps of one direction of a layer, for G gates, N sequences and H hidden features."""

    gates: Tensor  # (rows, G * H): products of the input with weight_ih, rows of later steps below
    weight: Tensor  # (G * H, H)
    bias: Tensor | None  # (G * H)
    initial: States  # (N, H) each
    sizes: Sequence[int]  # rows of each step: the number of sequences that have it, as in a PackedSequence
    reverse: bool

    def tensors(self) -> tuple[Tensor, ...]:
        parameters = (self.weight,) if self.bias is None else (self.weight, self.bias)
        return (self.gates, *parameters, *self.initial)

    def needs_gradient(self) -> bool:
        return torch.is_grad_enabled() and any(t.requires_grad for t in self.tensors())

    def order(self) -> list[int]:
        """The steps in the order of their computation."""
        return list(range(len(self.sizes)))[:: -1 if self.reverse else 1]


class Cell(Protocol):
    """The functions of one step.

    `gates` and `hidden` are (n, G * H) for G gates: products of the input and of the hidden state with the weights;
    states and their gradients are (n, H); the tensor `storage`, (n, self.storage * H), passes values from forward to
    backward.
    """

    storage: int

    def step(self, gates: Tensor, hidden: Tensor, states: States) -> States:
        """The next states, recorded by autograd."""

    def forward(self, gates: Tensor, hidden: Tensor, before: States, after: States, storage: Tensor) -> None:
        """Writes the next states and the storage."""

    def backward(
        self,
        gradients: States,
        before: States,
        after: States,
        storage: Tensor,
        results: States,
        byGates: States,
    ) -> None:
        """Writes to `results` the gradients by the states before the step, without the part that passes through the
        product of the hidden state with the weight (an LSTM writes only the gradient by the cell state, since its
        gradient by the hidden state passes through that product alone), and to `byGates` the gradients by `gates` and
        by `hidden`, which are one tensor in an LSTM."""


class LSTMCell:
    storage = 4

    def step(self, gates: Tensor, hidden: Tensor, states: States) -> States:
        result: States = _apply_lstm(gates, hidden, None, None, states[1])
        return result

    def forward(self, gates: Tensor, hidden: Tensor, before: States, after: States, storage: Tensor) -> None:
        arguments = (gates, hidden, None, None, before[1], *after, storage)
        _call(_recurrent._lstm_forward, _recurrent._call_lstm_forward, arguments)

    def backward(
        self,
        gradients: States,
        before: States,
        after: States,
        storage: Tensor,
        results: States,
        byGates: States,
    ) -> None:
        arguments = (storage, byGates[0], before[1], after[1], *gradients, results[1])
        _call(_recurrent._lstm_backward, _recurrent._call_lstm_backward, arguments)


class GRUCell:
    storage = 5

    def step(self, gates: Tensor, hidden: Tensor, states: States) -> States:
        return (_apply_gru(gates, hidden, None, None, states[0]),)

    def forward(self, gates: Tensor, hidden: Tensor, before: States, after: States, storage: Tensor) -> None:
        arguments = (gates, hidden, None, None, before[0], after[0], storage)
        _call(_recurrent._gru_forward, _recurrent._call_gru_forward, arguments)

    def backward(
        self,
        gradients: States,
        before: States,
        after: States,
        storage: Tensor,
        results: States,
        byGates: States,
    ) -> None:
        arguments = (*byGates, gradients[0], results[0], storage)
        _call(_recurrent._gru_backward, _recurrent._call_gru_backward, arguments)


LSTM_CELL, GRU_CELL = LSTMCell(), GRUCell()


def run_steps(cell: Cell, inputs: Inputs) -> tuple[Tensor, States]:
    """The hidden states of all steps, in the order of the rows of `gates`, and the final states."""
    tensors = inputs.tensors()
    has_one_type = all(t.dtype == inputs.gates.dtype for t in tensors)
    if torch.compiler.is_compiling():
        from thnn.nn import _sequence_operators as operators

        if has_one_type and not torch.compiler.is_exporting() and operators.usable():
            return operators.run_steps(cell, inputs)
        return _recorded(cell, inputs)
    if in_transform() or not has_one_type or any(type(t) not in _PLAIN or t.is_meta for t in tensors):
        return _recorded(cell, inputs)
    if inputs.needs_gradient():
        gates, weight, bias, initial, sizes, reverse = inputs
        output, *final = _Steps.apply(cell, tuple(sizes), reverse, gates, weight, bias, *initial)
    else:
        states, _ = forward(cell, inputs, False)
        output, final = states[0], final_states(states, inputs)
    return output, tuple(final)


# Tensors of other classes or, under autocast, of different element types are left to _recorded().
_PLAIN = (Tensor, torch.nn.Parameter)


def _call(
    function: BoundFunction, call: Callable[[tuple[Any, ...]], int], arguments: tuple[Any, ...]
) -> None:
    if report := call(arguments):
        invoke(function, ANY, arguments, report)


def _before(steps: Sequence[States], inputs: Inputs) -> Iterator[States]:
    """The states before each step, in the order of computation. A generator: the caller computes a step into `steps`
    after it has received the states before that step."""
    initial, sizes, order = inputs.initial, inputs.sizes, inputs.order()
    current = sizes[order[0]]
    states = initial if current == sizes[0] else tuple(i[:current] for i in initial)
    for step in order:
        size = sizes[step]
        if size < current:
            states = tuple(s[:size] for s in states)
        elif size > current:
            states = tuple(torch.cat([s, i[current:size]]) for s, i in zip(states, initial))
        yield states
        states, current = steps[step], size


def _split(tensors: Sequence[Tensor], sizes: Sequence[int]) -> list[States]:
    """The rows of each step."""
    return list(zip(*(t.split(list(sizes)) for t in tensors)))


# The number of steps from which on a copy of the weight saves more time than it takes.
_STEPS_OF_A_COPY = 16


def _spread(matrix: Tensor) -> Tensor:
    """A copy whose rows are an odd number of cache lines apart, so that they fill all cache sets evenly: gemm() in
    lib/THNN/gemm reads it in place."""
    rows, columns = matrix.shape
    line = 64 // matrix.element_size()
    pitch = (-(-columns // line) | 1) * line
    return matrix.new_empty((rows, pitch))[:, :columns].copy_(matrix)


def forward(cell: Cell, inputs: Inputs, keeps_storage: bool) -> tuple[States, Tensor]:
    """The states after each step, (rows, H) each, and the storage of all steps or of the last one."""
    gates, weight, bias, initial, sizes, _ = inputs
    rows, width = len(gates), weight.shape[1]
    states = tuple(gates.new_empty((rows, width)) for _ in initial)
    storage = gates.new_empty((rows if keeps_storage else sizes[0], cell.storage * width))
    products = gates.new_empty((sizes[0], len(weight)))
    if len(sizes) >= _STEPS_OF_A_COPY:
        weight = _spread(weight.t()).t()
    after, parts = _split(states, sizes), gates.split(list(sizes))
    stored = storage.split(list(sizes)) if keeps_storage else [storage[:size] for size in sizes]
    for step, before in zip(inputs.order(), _before(after, inputs)):
        hidden = products if sizes[step] == sizes[0] else products[: sizes[step]]
        _call(_linear_forward, _linear_forward.caller(ANY), (before[0], hidden, weight, bias, None))
        cell.forward(parts[step], hidden, before, after[step], stored[step])
    return states, storage


def final_states(states: States, inputs: Inputs) -> States:
    """The states of each sequence after its last step, (N, H) each."""
    sizes, reverse = inputs.sizes, inputs.reverse
    if reverse or sizes[0] == sizes[-1]:
        last = slice(0, sizes[0]) if reverse else slice(len(states[0]) - sizes[0], None)
        return tuple(s[last].clone() for s in states)
    final = tuple(i.new_empty(i.shape) for i in inputs.initial)
    row = 0
    for size, following in zip(sizes, (*sizes[1:], 0)):
        if following < size:
            for target, source in zip(final, states):
                target[following:size] = source[row + following : row + size]
        row += size
    return final


def gradients(
    cell: Cell,
    inputs: Inputs,
    states: States,
    storage: Tensor,
    byOutput: Tensor | None,
    byFinal: Sequence[Tensor | None],
    with_parameters: bool,
) -> tuple[Tensor, Tensor | None, Tensor | None, list[Tensor]]:
    """The gradients by the gates, the weight, the bias and the initial states, from those by the hidden states of all
    steps and by the final states, and from the results of `forward`. None by absent parameters, and without
    `with_parameters`."""
    gates, weight, bias, initial, sizes, _ = inputs
    order = inputs.order()
    after = _split(states, sizes)
    before = dict(zip(order, _before(after, inputs)))
    # Gradients by the states after the current step; rows of ended sequences have the gradients by final states.
    carried = [
        i.new_zeros(i.shape) if g is None else g.contiguous().clone() for i, g in zip(initial, byFinal)
    ]
    spare = [torch.empty_like(c) for c in carried]
    byGates = torch.empty_like(gates)
    byHidden = byGates if cell is LSTM_CELL else torch.empty_like(gates)
    parts = _split((byGates, byHidden, storage), sizes)
    layout = _spread(weight) if len(sizes) >= _STEPS_OF_A_COPY else weight
    outer = None if byOutput is None else byOutput.split(list(sizes))
    for step in reversed(order):
        n = sizes[step]
        whole = n == sizes[0]
        current, results = ([t if whole else t[:n] for t in ts] for ts in (carried, spare))
        grads = current if outer is None else [outer[step] + current[0], *current[1:]]
        byGates_n, byHidden_n, storage_n = parts[step]
        cell.backward(
            tuple(grads), before[step], after[step], storage_n, tuple(results), (byGates_n, byHidden_n)
        )
        arguments = (before[step][0], byHidden_n, current[0], layout)
        _call(_linear_grad_input, _linear_grad_input.caller(ANY), arguments)
        if cell is LSTM_CELL:
            if whole:
                carried[1], spare[1] = spare[1], carried[1]
            else:
                current[1].copy_(results[1])
        else:
            current[0].add_(results[0])
    byWeight = byBias = None
    if with_parameters:
        hidden = torch.cat([before[step][0] for step in range(len(sizes))])
        byWeight = torch.zeros_like(weight)
        byBias = None if bias is None else torch.zeros_like(bias)
        call = (hidden, byHidden, None, weight, bias, byWeight, byBias, None, 1.0)
        _call(_linear_grad_parameters, _linear_grad_parameters.caller(ANY), call)
    return byGates, byWeight, byBias, carried


def _recorded(cell: Cell, inputs: Inputs) -> tuple[Tensor, States]:
    """run_steps() with the nodes of each step: for second derivatives, and for tensors that are not plain."""
    gates, weight, bias, initial, sizes, reverse = inputs
    outputs: list[Tensor] = []
    ended: list[States] = []
    order, parts = inputs.order(), gates.split(list(sizes))
    states = tuple(s[: sizes[order[0]]] for s in initial)
    for step in order:
        current, size = states[0].shape[0], sizes[step]  # not len(), which is no symbol in torch.export
        if size < current:
            ended.append(tuple(s[size:] for s in states))
            states = tuple(s[:size] for s in states)
        elif size > current:
            states = tuple(torch.cat([s, i[current:size]]) for s, i in zip(states, initial))
        states = cell.step(parts[step], _apply_linear(states[0], weight, bias), states)
        outputs.append(states[0])
    if ended:
        states = tuple(torch.cat(tensors) for tensors in zip(states, *reversed(ended)))
    return torch.cat(outputs[::-1] if reverse else outputs), states


class _Steps(torch.autograd.Function):
    """The node of all steps. Its results are the hidden states of all steps and the final states."""

    @staticmethod
    def forward(
        ctx: Any,
        cell: Cell,
        sizes: tuple[int, ...],
        reverse: bool,
        gates: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        *initial: Tensor,
    ) -> tuple[Tensor, ...]:
        inputs = Inputs(gates, weight, bias, initial, sizes, reverse)
        states, storage = forward(cell, inputs, True)
        ctx.cell, ctx.sizes, ctx.reverse, ctx.count = cell, sizes, reverse, len(initial)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(gates, weight, bias, storage, *initial, *states)
        return states[0], *final_states(states, inputs)

    @staticmethod
    def backward(ctx: Any, byOutput: Tensor | None, *byFinal: Tensor | None) -> tuple[Any, ...]:
        gates, weight, bias, storage, *states = ctx.saved_tensors
        initial, states = tuple(states[: ctx.count]), states[ctx.count :]
        inputs = Inputs(gates, weight, bias, initial, ctx.sizes, ctx.reverse)
        if torch.is_grad_enabled():
            return _differentiable(ctx, inputs, byOutput, byFinal)
        with_parameters = ctx.needs_input_grad[4] or ctx.needs_input_grad[5]
        byGates, byWeight, byBias, carried = gradients(
            ctx.cell, inputs, tuple(states), storage, byOutput, byFinal, with_parameters
        )
        return None, None, None, byGates, byWeight, byBias, *carried


def _differentiable(
    ctx: Any, inputs: Inputs, byOutput: Tensor | None, byFinal: Sequence[Tensor | None]
) -> tuple[Any, ...]:
    """The gradients with a graph: the steps again, one by one, and their gradients."""
    output, final = _recorded(ctx.cell, inputs)
    results = [(r, g) for r, g in zip((output, *final), (byOutput, *byFinal)) if g is not None]
    tensors = (inputs.gates, inputs.weight, inputs.bias, *inputs.initial)
    needed = [t for t, needs in zip(tensors, ctx.needs_input_grad[3:]) if needs and t is not None]
    gradients = iter(
        torch.autograd.grad(
            [r for r, _ in results], needed, [g for _, g in results], create_graph=True, allow_unused=True
        )
    )
    return None, None, None, *(next(gradients) if needs else None for needs in ctx.needs_input_grad[3:])
