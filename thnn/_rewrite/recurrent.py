"""The functions of torch that nn.LSTM, nn.GRU and their cells call, computed by thnn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._classes import function_classes
from thnn.nn import _sequence
from thnn.nn.recurrent import _Recurrent

_linear = function_classes["LinearFunction"].apply
_lstm = function_classes["LSTMFusedFunction"].apply
_gru = function_classes["GRUFusedFunction"].apply


def lstm_cell(
    input: Tensor,
    hx: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """torch.lstm_cell: the states after one step, (N, hidden_size) each."""
    hidden, cell = _lstm(_linear(input, w_ih), _linear(hx[0], w_hh), b_ih, b_hh, hx[1])
    return hidden, cell


def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """torch.gru_cell: the state after one step, (N, hidden_size)."""
    hidden: Tensor = _gru(_linear(input, w_ih), _linear(hx, w_hh), b_ih, b_hh, hx)
    return hidden


def lstm(input: Tensor, hx: Any, params: Any, *settings: Any) -> tuple[Tensor, ...]:
    """torch.lstm of a batch: the output, and the final hidden and cell state. TypeError for packed sequences,
    ValueError for weights of a projection."""
    if input.is_cuda:
        found: tuple[Tensor, ...] = torch.lstm(input, hx, params, *settings)
        return found
    if isinstance(hx, Tensor):
        raise TypeError("lstm: hx: expected the states of a batch, got the sizes of a packed sequence")
    call = _Call("LSTM", _sequence.LSTM_CELL, input, tuple(hx), params, *settings)
    output, states = call._forward(input, tuple(hx))
    return output, *states


def gru(input: Tensor, hx: Any, params: Any, *settings: Any) -> tuple[Tensor, ...]:
    """torch.gru of a batch: the output, and the final state. TypeError for packed sequences."""
    if input.is_cuda:
        found: tuple[Tensor, ...] = torch.gru(input, hx, params, *settings)
        return found
    if isinstance(params, Tensor):
        raise TypeError("gru: params: expected the weights, got the state of a packed sequence")
    call = _Call("GRU", _sequence.GRU_CELL, input, (hx,), params, *settings)
    output, states = call._forward(input, hx)
    return output, *states


class _Call:
    """The attributes that the forwards of LSTM and GRU in thnn.nn read, from the arguments of torch's function."""

    proj_size = 0
    _forward: Any = _Recurrent._forward
    _initial: Any = _Recurrent._initial
    _layers: Any = _Recurrent._layers

    def __init__(
        self,
        mode: str,
        cell: _sequence.Cell,
        input: Tensor,
        states: Sequence[Tensor],
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> None:
        count = 4 if has_biases else 2
        if len(params) != count * num_layers * (2 if bidirectional else 1):
            raise ValueError(
                f"{mode.lower()}: params: expected {count} for each layer and direction, got {len(params)}; the cell"
                " has no projection"
            )
        self.mode, self._cell = mode, cell
        self.all_weights = [params[k : k + count] for k in range(0, len(params), count)]
        self.input_size, self.hidden_size = input.shape[-1], states[0].shape[-1]
        self.num_layers, self.bidirectional, self.batch_first = num_layers, bidirectional, batch_first
        self.dropout, self.training = dropout, train
