"""``torch.nn._functions.rnn``: recurrent cells as functions, and functions that run a cell over a sequence.

A hidden state is a tensor (B, H), for LSTMCell a pair of them. Weights are (w_ih, w_hh) or (w_ih, w_hh, b_ih, b_hh).
torch computes the cells; thnn.nn.LSTMCell and GRUCell are thnn's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

_RNN = "torch.nn._functions.rnn"

#: Runs a cell over a sequence: (input, hidden, weights of the cell) -> (last hidden, outputs).
Run = Callable[[Tensor, Any, Sequence[Tensor]], tuple[Any, Tensor]]


def RNNReLUCell(
    input: Tensor,
    hidden: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """relu(w_ih input + b_ih + w_hh hidden + b_hh)."""
    return torch.rnn_relu_cell(input, hidden, w_ih, w_hh, b_ih, b_hh)


def RNNTanhCell(
    input: Tensor,
    hidden: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """tanh(w_ih input + b_ih + w_hh hidden + b_hh)."""
    return torch.rnn_tanh_cell(input, hidden, w_ih, w_hh, b_ih, b_hh)


def LSTMCell(
    input: Tensor,
    hidden: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The hidden state and cell state after a step of torch.nn.LSTMCell."""
    return torch.lstm_cell(input, list(hidden), w_ih, w_hh, b_ih, b_hh)


def GRUCell(
    input: Tensor,
    hidden: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """The hidden state after a step of torch.nn.GRUCell."""
    return torch.gru_cell(input, hidden, w_ih, w_hh, b_ih, b_hh)


def _output(hidden: Any) -> Tensor:
    output: Tensor = hidden[0] if isinstance(hidden, (tuple, list)) else hidden
    return output


def _rows(hidden: Any, start: int, end: int) -> Any:
    """Rows of a hidden state."""
    if isinstance(hidden, (tuple, list)):
        return tuple(h[start:end] for h in hidden)
    return hidden[start:end]


def _joined(parts: Sequence[Any]) -> Any:
    """Rows of hidden states, one below the other."""
    if isinstance(parts[0], (tuple, list)):
        return tuple(torch.cat(states) for states in zip(*parts))
    return torch.cat(list(parts))


def Recurrent(inner: Callable[..., Any], reverse: bool = False) -> Run:
    """Runs the cell `inner` over a sequence (T, B, ...), with `reverse` from its end."""

    def forward(input: Tensor, hidden: Any, weight: Sequence[Tensor]) -> tuple[Any, Tensor]:
        outputs = []
        for step in reversed(input.unbind()) if reverse else input.unbind():
            hidden = inner(step, hidden, *weight)
            outputs.append(_output(hidden))
        return hidden, torch.stack(outputs[::-1] if reverse else outputs)

    return forward


def VariableRecurrent(batch_sizes: Sequence[int], inner: Callable[..., Any]) -> Run:
    """Runs the cell `inner` over packed sequences, step t of which has batch_sizes[t] rows, longest first."""

    def forward(input: Tensor, hidden: Any, weight: Sequence[Tensor]) -> tuple[Any, Tensor]:
        outputs: list[Tensor] = []
        ended: list[Any] = []
        count = len(_output(hidden))
        for step in input.split([int(size) for size in batch_sizes]):
            if len(step) < count:
                ended.append(_rows(hidden, len(step), count))
                hidden, count = _rows(hidden, 0, len(step)), len(step)
            hidden = inner(step, hidden, *weight)
            outputs.append(_output(hidden))
        return _joined([hidden, *ended[::-1]]), torch.cat(outputs)

    return forward


def VariableRecurrentReverse(batch_sizes: Sequence[int], inner: Callable[..., Any]) -> Run:
    """The same as `VariableRecurrent` from the end of each sequence."""

    def forward(input: Tensor, hidden: Any, weight: Sequence[Tensor]) -> tuple[Any, Tensor]:
        first = hidden
        sizes = [int(size) for size in batch_sizes]
        hidden, count = _rows(first, 0, sizes[-1]), sizes[-1]
        outputs: list[Tensor] = []
        for size, end in zip(sizes[::-1], list(accumulate(sizes))[::-1]):
            if size > count:
                hidden, count = _joined([hidden, _rows(first, count, size)]), size
            hidden = inner(input[end - size : end], hidden, *weight)
            outputs.append(_output(hidden))
        return hidden, torch.cat(outputs[::-1])

    return forward


def variable_recurrent_factory(batch_sizes: Sequence[int]) -> Callable[..., Run]:
    """A function (inner, reverse=False) that has the arguments of `Recurrent`, for packed sequences."""

    def factory(inner: Callable[..., Any], reverse: bool = False) -> Run:
        return (VariableRecurrentReverse if reverse else VariableRecurrent)(batch_sizes, inner)

    return factory


def StackedRNN(
    inners: Sequence[Run], num_layers: int, lstm: bool = False, dropout: float = 0, train: bool = True
) -> Callable[..., tuple[Any, Tensor]]:
    """Runs `num_layers` layers of the directions `inners`, with dropout between the layers.

    The result is called with (input, hidden, weight), where `hidden` and `weight` have an entry for each layer and
    direction, and returns (last hidden states, output of the last layer). With `lstm` hidden is the pair of all
    hidden states and all cell states.
    """

    def forward(input: Tensor, hidden: Any, weight: Sequence[Sequence[Tensor]]) -> tuple[Any, Tensor]:
        if len(weight) != num_layers * len(inners):
            raise ValueError(
                f"StackedRNN: weight: expected {num_layers * len(inners)} lists of weights, got {len(weight)}"
            )
        states = iter(list(zip(*hidden)) if lstm else hidden)
        weights, last = iter(weight), []
        for layer in range(num_layers):
            if layer:
                input = F.dropout(input, dropout, train)
            outputs = []
            for inner in inners:
                state, output = inner(input, next(states), next(weights))
                last.append(state)
                outputs.append(output)
            input = torch.cat(outputs, -1)
        return (tuple(map(torch.stack, zip(*last))) if lstm else torch.stack(last)), input

    return forward


_MODES: dict[str, Any] = {
    "RNN_RELU": torch.rnn_relu,
    "RNN_TANH": torch.rnn_tanh,
    "LSTM": torch.lstm,
    "GRU": torch.gru,
}


def RNN(
    mode: str,
    input_size: int,
    hidden_size: int,
    num_layers: int = 1,
    batch_first: bool = False,
    dropout: float = 0,
    train: bool = True,
    bidirectional: bool = False,
    batch_sizes: Sequence[int] | None = None,
    dropout_state: Any = None,
    flat_weight: Any = None,
) -> Callable[..., tuple[Tensor, Any]]:
    """A recurrent network, computed by torch: 'RNN_RELU', 'RNN_TANH', 'LSTM' or 'GRU'.

    The result is called with (input, weight, hidden), where `weight` has a list of weights for each layer and
    direction, and returns (output, last hidden states). `batch_sizes` are those of packed sequences. The last two
    arguments were for cuDNN and are ignored.
    """
    if mode not in _MODES:
        raise ValueError(f"RNN: mode: expected one of {tuple(_MODES)}, got {mode!r}")

    def forward(input: Tensor, weight: Sequence[Sequence[Tensor]], hidden: Any) -> tuple[Tensor, Any]:
        flat = [w for weights in weight for w in weights]
        state = list(hidden) if mode == "LSTM" else hidden
        settings = (len(weight[0]) == 4, num_layers, dropout, train, bidirectional)
        if batch_sizes is None:
            output, *last = _MODES[mode](input, state, flat, *settings, batch_first)
        else:
            output, *last = _MODES[mode](input, torch.as_tensor(batch_sizes), state, flat, *settings)
        return output, tuple(last) if mode == "LSTM" else last[0]

    return forward


#: The networks of cells and of cuDNN, between which torch chooses by itself.
AutogradRNN = CudnnRNN = RNN

for _function in (
    *(RNNReLUCell, RNNTanhCell, LSTMCell, GRUCell),
    *(Recurrent, VariableRecurrent, VariableRecurrentReverse, variable_recurrent_factory, StackedRNN),
    RNN,
):
    _function.__module__ = _RNN
