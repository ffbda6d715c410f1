"""LSTM and GRU over a sequence in one direction, as one autograd node.

Sequences are sorted by length, longest first, so that the sequences that have ended are the last rows of the states; no
later step reads them. The reverse direction begins each sequence at its own last step, with the initial state.

One node for all steps, rather than three per step, computes the gradients w.r.t. the weights in one product over all
steps, and leaves out the sums of gradients, the copies of the steps and most of autograd's work. On the CPU, one C
function computes all steps of a long sequence: it packs the weights once. Otherwise each step calls Linear and the
cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from thnn._binding.call import invoke
from thnn._binding.library import ANY, THNN, BoundFunction
from thnn._classes import function_classes
from thnn._derivatives.recomputation import recomputed_gradients
from thnn._functions import recurrent as _recurrent
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
_lstm_steps, _lstm_grad_steps, _gru_steps, _gru_grad_steps = (
    THNN.bind(modules()[module].functions[phase])
    for module in ("LSTMFused", "GRUFused")
    for phase in ("steps", "gradSteps")
)


class Inputs(NamedTuple):
    """The inputs of one direction of a layer, for G gates, N sequences, I features of the input and H of the states."""

    data: Tensor  # (rows, I): rows of later steps below
    weight_ih: Tensor  # (G * H, I)
    weight_hh: Tensor  # (G * H, H)
    bias_ih: Tensor | None  # (G * H)
    bias_hh: Tensor | None  # (G * H)
    initial: States  # (N, H) each
    sizes: Sequence[int]  # rows of each step: the number of sequences that have it, as in a PackedSequence
    reverse: bool

    def tensors(self) -> tuple[Tensor, ...]:
        biases = [b for b in (self.bias_ih, self.bias_hh) if b is not None]
        return (self.data, self.weight_ih, self.weight_hh, *biases, *self.initial)

    def have_one_type(self) -> bool:
        return all([t.dtype == self.data.dtype for t in self.tensors()])  # noqa: C419 (torch 2.6 traces no generators)

    def sizes_tensor(self) -> Tensor:
        """The sizes for the C functions, on the CPU regardless of torch's default device."""
        return torch.tensor(self.sizes, device="cpu")

    def needs_gradient(self) -> bool:
        return torch.is_grad_enabled() and any([t.requires_grad for t in self.tensors()])  # noqa: C419

    def order(self) -> list[int]:
        """The steps in the order of their computation."""
        return list(range(len(self.sizes)))[:: -1 if self.reverse else 1]


class Cell(Protocol):
    """The functions of one step, and of all steps.

    `gates` and `hidden` are (n, G * H) for G gates: products of the input and of the hidden state with the weights;
    states and their gradients are (n, H); the tensor `storage`, (n, self.storage * H), passes values from forward to
    backward. All steps have `rows` rows instead of n.
    """

    storage: int
    # True if one tensor is the gradient w.r.t. both `gates` and `hidden`: the cell reads only their sum.
    adds_gates: bool
    # The C function of all steps.
    all_forward: BoundFunction

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
        """Writes the gradients w.r.t. the states before the step to `results`, without the part that passes through the
        product of the hidden state with the weight (an LSTM writes only the gradient w.r.t. the cell state, since its
        gradient w.r.t. the hidden state only passes through that product), and the gradients w.r.t. `gates` and
        `hidden` to `byGates`."""

    def all_backward(
        self,
        inputs: Inputs,
        after: States,
        storage: Tensor,
        byOutput: Tensor | None,
        carried: States,
        byGates: States,
    ) -> None:
        """Writes the gradients w.r.t. the gates of all steps to `byGates`. `carried` is dL/dstate: in, for the final
        states; out, for the initial states."""


class LSTMCell:
    storage, adds_gates, all_forward = 4, True, _lstm_steps

    def step(self, gates: Tensor, hidden: Tensor, states: States) -> States:
        result: States = _apply_lstm(gates, hidden, None, None, states[1])
        return result

    def forward(self, gates: Tensor, hidden: Tensor, before: States, after: States, storage: Tensor) -> None:
        arguments = (gates, hidden, None, None, before[1], *after, storage)
        _call(_recurrent._lstm_forward, arguments)

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
        _call(_recurrent._lstm_backward, arguments)

    def all_backward(
        self,
        inputs: Inputs,
        after: States,
        storage: Tensor,
        byOutput: Tensor | None,
        carried: States,
        byGates: States,
    ) -> None:
        sizes = inputs.sizes_tensor()
        arguments = (storage, inputs.weight_hh, inputs.initial[1], after[1], sizes, byOutput)
        _call(_lstm_grad_steps, (*arguments, byGates[0], *carried, None, inputs.reverse))


class GRUCell:
    storage, adds_gates, all_forward = 5, False, _gru_steps

    def step(self, gates: Tensor, hidden: Tensor, states: States) -> States:
        return (_apply_gru(gates, hidden, None, None, states[0]),)

    def forward(self, gates: Tensor, hidden: Tensor, before: States, after: States, storage: Tensor) -> None:
        arguments = (gates, hidden, None, None, before[0], after[0], storage)
        _call(_recurrent._gru_forward, arguments)

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
        _call(_recurrent._gru_backward, arguments)

    def all_backward(
        self,
        inputs: Inputs,
        after: States,
        storage: Tensor,
        byOutput: Tensor | None,
        carried: States,
        byGates: States,
    ) -> None:
        arguments = (storage, inputs.weight_hh, inputs.sizes_tensor(), byOutput)
        _call(_gru_grad_steps, (*arguments, *byGates, *carried, None, inputs.reverse))


LSTM_CELL, GRU_CELL = LSTMCell(), GRUCell()


def run_eagerly(cell: Cell, inputs: Inputs) -> tuple[Tensor, States]:
    """`run_steps` of `_sequence_operators.py` where nothing is compiled."""
    if (
        in_transform()
        or not inputs.have_one_type()
        or any(type(t) not in _PLAIN or t.is_meta for t in inputs.tensors())
    ):
        return recorded(cell, inputs)
    if inputs.needs_gradient():
        output, *final = _Steps.apply(cell, tuple(inputs.sizes), inputs.reverse, *inputs[:5], *inputs.initial)
    else:
        states, _ = forward(cell, inputs, False)
        output, final = states[0], final_states(states, inputs)
    return output, tuple(final)


# recorded() handles tensors of other classes and, under autocast, of different element types.
_PLAIN = (Tensor, torch.nn.Parameter)


def _call(function: BoundFunction, arguments: tuple[Any, ...]) -> None:
    if report := function.caller(ANY)(arguments):
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


# From this number of steps on, packing the weights once saves more time than it takes.
_STEPS_OF_ONE_CALL = 8


def _in_one_call(inputs: Inputs) -> bool:
    """True if one C function computes all steps."""
    return inputs.data.device.type == "cpu" and len(inputs.sizes) >= _STEPS_OF_ONE_CALL


def _biases(cell: Cell, inputs: Inputs) -> tuple[Tensor | None, Tensor | None]:
    """The biases of the products of the input and the hidden state, for one call per step: a cell that reads the sum of
    both products has one bias, which is added once for all steps."""
    bias_ih, bias_hh = inputs.bias_ih, inputs.bias_hh
    if not cell.adds_gates or bias_ih is None or bias_hh is None:
        return bias_ih, bias_hh
    return bias_ih + bias_hh, None


def forward(cell: Cell, inputs: Inputs, keeps_storage: bool) -> tuple[States, Tensor | None]:
    """The states after each step, (rows, H) each, and the storage of all steps, None without `keeps_storage`."""
    data, weight, sizes = inputs.data, inputs.weight_hh, inputs.sizes
    rows, (columns, width) = len(data), weight.shape
    states = tuple(data.new_empty((rows, width)) for _ in inputs.initial)
    storage = data.new_empty((rows, cell.storage * width)) if keeps_storage else None
    if _in_one_call(inputs):
        arguments = (*inputs[:5], *inputs.initial, inputs.sizes_tensor(), *states, storage)
        _call(cell.all_forward, (*arguments, None, inputs.reverse))
        return states, storage
    bias_ih, bias_hh = _biases(cell, inputs)
    gates, products = data.new_empty((rows, columns)), data.new_empty((sizes[0], columns))
    _call(_linear_forward, (data, gates, inputs.weight_ih, bias_ih, None))
    after, parts = _split(states, sizes), gates.split(list(sizes))
    if storage is None:
        spare = data.new_empty((sizes[0], cell.storage * width))
        stored: Sequence[Tensor] = [spare[:size] for size in sizes]
    else:
        stored = storage.split(list(sizes))
    for step, before in zip(inputs.order(), _before(after, inputs)):
        hidden = products if sizes[step] == sizes[0] else products[: sizes[step]]
        _call(_linear_forward, (before[0], hidden, weight, bias_hh, None))
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


class Gradients(NamedTuple):
    """Gradients w.r.t. the tensors of `Inputs`; None for absent and unwanted ones."""

    data: Tensor | None
    weight_ih: Tensor | None
    weight_hh: Tensor | None
    bias_ih: Tensor | None
    bias_hh: Tensor | None
    initial: list[Tensor]


def gradients(
    cell: Cell,
    inputs: Inputs,
    states: States,
    storage: Tensor,
    byOutput: Tensor | None,
    byFinal: Sequence[Tensor | None],
    with_data: bool,
    with_parameters: bool,
) -> Gradients:
    """The gradients w.r.t. the initial states, and w.r.t. data and the parameters if wanted. Computed from the
    gradients w.r.t. the hidden states of all steps and the final states, and from the results of `forward`."""
    data, weight_ih, weight_hh, bias_ih, bias_hh, initial, *_ = inputs
    # dL/dstate after the current step; rows of ended sequences hold dL/dstate of their final states.
    carried = [
        i.new_zeros(i.shape) if g is None else g.contiguous().clone() for i, g in zip(initial, byFinal)
    ]
    byGates = data.new_empty((len(data), len(weight_hh)))
    byHidden = byGates if cell.adds_gates else torch.empty_like(byGates)
    if _in_one_call(inputs):
        cell.all_backward(inputs, states, storage, byOutput, tuple(carried), (byGates, byHidden))
    else:
        _step_gradients(cell, inputs, states, storage, byOutput, carried, (byGates, byHidden))
    byData = byWeight_ih = byWeight_hh = byBias_ih = byBias_hh = None
    if with_data:
        byData = torch.empty_like(data)
        _call(_linear_grad_input, (data, byGates, byData, weight_ih))
    if with_parameters:
        byWeight_ih, byBias_ih = _by_parameters(data, byGates, weight_ih, bias_ih)
        hidden, bias = _hidden_before(states, inputs), None if cell.adds_gates else bias_hh
        byWeight_hh, byBias_hh = _by_parameters(hidden, byHidden, weight_hh, bias)
        if cell.adds_gates and byBias_ih is not None:
            byBias_hh = byBias_ih.clone()  # equal, but a caller may change one of them in place
    return Gradients(byData, byWeight_ih, byWeight_hh, byBias_ih, byBias_hh, carried)


def _by_parameters(
    input: Tensor, gradOutput: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    byWeight = torch.zeros_like(weight)
    byBias = None if bias is None else torch.zeros_like(bias)
    _call(_linear_grad_parameters, (input, gradOutput, None, weight, bias, byWeight, byBias, None, 1.0))
    return byWeight, byBias


def _hidden_before(states: States, inputs: Inputs) -> Tensor:
    """The hidden states before each step, in the rows of the step."""
    (output, *_), (initial, *_), sizes = states, inputs.initial, inputs.sizes
    if sizes[0] == sizes[-1]:
        parts = (output[sizes[0] :], initial) if inputs.reverse else (initial, output[: -sizes[0]])
        return torch.cat(parts)
    before = dict(zip(inputs.order(), _before(_split(states, sizes), inputs)))
    return torch.cat([before[step][0] for step in range(len(sizes))])


def _step_gradients(
    cell: Cell,
    inputs: Inputs,
    states: States,
    storage: Tensor,
    byOutput: Tensor | None,
    carried: list[Tensor],
    byGates: States,
) -> None:
    """`Cell.all_backward` by two calls per step."""
    sizes, order = inputs.sizes, inputs.order()
    after = _split(states, sizes)
    before = dict(zip(order, _before(after, inputs)))
    spare = [torch.empty_like(c) for c in carried]
    parts = _split((*byGates, storage), sizes)
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
        _call(_linear_grad_input, (before[step][0], byHidden_n, current[0], inputs.weight_hh))
        if cell is LSTM_CELL:
            if whole:
                carried[1], spare[1] = spare[1], carried[1]
            else:
                current[1].copy_(results[1])
        else:
            current[0].add_(results[0])


def recorded(cell: Cell, inputs: Inputs) -> tuple[Tensor, States]:
    """`run_steps` with the nodes of each step: for second derivatives, and for tensors that are not plain."""
    weight, initial, sizes, reverse = inputs.weight_hh, inputs.initial, inputs.sizes, inputs.reverse
    bias_ih, bias = _biases(cell, inputs)
    gates = _apply_linear(inputs.data, inputs.weight_ih, bias_ih)
    outputs: list[Tensor] = []
    ended: list[States] = []
    order, parts = inputs.order(), gates.split(list(sizes))
    states = tuple(s[: sizes[order[0]]] for s in initial)
    for step in order:
        current, size = states[0].shape[0], sizes[step]  # not len(), which is not symbolic in torch.export
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
        ctx: Any, cell: Cell, sizes: tuple[int, ...], reverse: bool, *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        inputs = _inputs(tensors, sizes, reverse)
        states, storage = forward(cell, inputs, True)
        ctx.cell, ctx.sizes, ctx.reverse, ctx.count = cell, sizes, reverse, len(tensors)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors, storage, *states)
        return states[0], *final_states(states, inputs)

    @staticmethod
    def backward(ctx: Any, byOutput: Tensor | None, *byFinal: Tensor | None) -> tuple[Any, ...]:
        tensors = ctx.saved_tensors
        inputs = _inputs(tensors[: ctx.count], ctx.sizes, ctx.reverse)
        storage, *states = tensors[ctx.count :]
        needs = ctx.needs_input_grad[3:]
        if torch.is_grad_enabled():
            outer = (byOutput, *byFinal)
            return None, None, None, *differentiable_gradients(ctx.cell, inputs, needs, outer)
        *found, carried = gradients(
            ctx.cell, inputs, tuple(states), storage, byOutput, byFinal, needs[0], any(needs[1:5])
        )
        return None, None, None, *found, *carried


def _inputs(tensors: Sequence[Tensor], sizes: Sequence[int], reverse: bool) -> Inputs:
    data, weight_ih, weight_hh, bias_ih, bias_hh, *initial = tensors
    return Inputs(data, weight_ih, weight_hh, bias_ih, bias_hh, tuple(initial), sizes, reverse)


def differentiable_gradients(
    cell: Cell, inputs: Inputs, needs: Sequence[bool], outer: Sequence[Tensor | None]
) -> list[Tensor | None]:
    """The gradients w.r.t. the first five fields of `inputs` and the initial states, with a graph: the steps again, one
    by one, and their gradients. `outer` are the gradients w.r.t. the hidden states and the final states."""

    def outputs(*tensors: Tensor) -> tuple[Tensor, ...]:
        output, final = recorded(cell, _inputs(tensors, inputs.sizes, inputs.reverse))
        return output, *final

    return recomputed_gradients(outputs, (*inputs[:5], *inputs.initial), needs, outer)
