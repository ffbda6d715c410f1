"""LSTMCell, GRUCell, LSTM and GRU."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from thnn._binding.arguments import product_in_autocast, to_bool
from thnn._classes import function_classes
from thnn.nn import _sequence
from thnn.nn._layer import layer_doc, layer_forward
from thnn.nn._sequence import Cell, Inputs, States
from thnn.nn._sequence_operators import run_steps

_linear = function_classes["LinearFunction"].apply
_lstm = function_classes["LSTMFusedFunction"].apply
_gru = function_classes["GRUFusedFunction"].apply


# Cells

_CELL = "input (N, input_size) or (input_size), {states} (N, hidden_size) or (hidden_size), results likewise"


class LSTMCell(torch.nn.LSTMCell):
    __doc__ = layer_doc(
        "LSTMCell",
        "One step of a long short-term memory",
        _CELL.format(states="hidden and cell state"),
        "LinearFunction and LSTMFusedFunction",
    )

    @layer_forward
    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        _check_cell(self, input, hx, 2)
        if hx is None:
            zeros = input.new_zeros((*input.shape[:-1], self.hidden_size))
            hx = (zeros, zeros)
        gates = _linear(input, self.weight_ih), _linear(hx[0], self.weight_hh)
        hidden, cell = _lstm(*gates, self.bias_ih, self.bias_hh, hx[1])
        return hidden, cell


class GRUCell(torch.nn.GRUCell):
    __doc__ = layer_doc(
        "GRUCell",
        "One step of a gated recurrent unit",
        _CELL.format(states="hidden state"),
        "LinearFunction and GRUFusedFunction",
    )

    @layer_forward
    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        _check_cell(self, input, None if hx is None else (hx,), 1)
        if hx is None:
            hx = input.new_zeros((*input.shape[:-1], self.hidden_size))
        gates = _linear(input, self.weight_ih), _linear(hx, self.weight_hh)
        hidden: Tensor = _gru(*gates, self.bias_ih, self.bias_hh, hx)
        return hidden


def _check_cell(
    layer: torch.nn.RNNCellBase, input: Tensor, states: Sequence[Tensor] | None, count: int
) -> None:
    if input.dim() not in (1, 2) or input.shape[-1] != layer.input_size:
        raise ValueError(
            f"input: expected 2 dimensions (N, {layer.input_size}) or 1, got shape {tuple(input.shape)}"
        )
    if states is None:
        return
    _check_states(states, count)
    expected = (*input.shape[:-1], layer.hidden_size)
    for state in states:
        _check_state(state, expected, input)


def _check_states(states: Any, count: int) -> None:
    """Raises TypeError unless the states are tensors, `count` of them."""
    if isinstance(states, (tuple, list)) and len(states) == count:
        for state in states:
            if not isinstance(state, Tensor):
                break
        else:
            return
    got = states[0] if count == 1 else states
    expected = "a tensor" if count == 1 else "a pair of tensors"
    raise TypeError(f"hx: expected {expected}, got {type(got).__name__}")


def _check_state(state: Tensor, size: tuple[int, ...], input: Tensor) -> None:
    """Raises ValueError for a state of another size, TypeError for one that cannot be computed with the input."""
    if state.shape != size:
        raise ValueError(f"hx: expected {size}, got {tuple(state.shape)}")
    if state.dtype != input.dtype and not torch.is_autocast_enabled(input.device.type):
        raise TypeError(f"hx: expected {input.dtype}, the type of input, got {state.dtype}")
    if state.device != input.device:
        raise TypeError(f"hx: expected a tensor on {input.device}, the device of input, got {state.device}")
    if state.layout is not torch.strided:
        raise TypeError(f"hx: expected a dense tensor, got {state.layout}")


# Sequences


def _check_batch_sizes(sizes: Sequence[Any], rows: int) -> None:
    """Raises TypeError or ValueError unless the numbers fit a PackedSequence with data of `rows` rows."""
    if not all(isinstance(size, int) for size in sizes):
        raise TypeError("input: batch_sizes: expected integers, got numbers of another type")
    for step, (before, size) in enumerate(itertools.pairwise(sizes), start=1):
        if size > before:
            raise ValueError(
                f"input: batch_sizes: expected at most the {before} sequences of the step before in step {step}, got"
                f" {size}"
            )
    if sizes[-1] < 0:
        raise ValueError(f"input: batch_sizes: expected no negative number, got {sizes[-1]}")
    if sum(sizes) != rows:
        raise ValueError(f"input: batch_sizes: expected a sum of {rows}, the rows of data, got {sum(sizes)}")


class _Recurrent(torch.nn.RNNBase):
    """Forward of LSTM and GRU over a sequence."""

    @property  # torch 2.6 exports no class attribute that is an object
    def _cell(self) -> Cell:
        raise NotImplementedError

    def _initial(self, hx: Any, batch: int, input: Tensor, is_batched: bool) -> States:
        """The states given, (layers * directions, batch, hidden_size) each, or zeros."""
        directions = 2 if self.bidirectional else 1
        expected = (self.num_layers * directions, batch, self.hidden_size)
        count = 2 if self.mode == "LSTM" else 1
        if hx is None:
            return (input.new_zeros(expected),) * count
        states = hx if count == 2 else (hx,)
        _check_states(states, count)
        shape = expected if is_batched else (expected[0], expected[2])
        for state in states:
            _check_state(state, shape, input)
        return tuple(states) if is_batched else tuple(s.unsqueeze(1) for s in states)

    def _forward(self, input: Any, hx: Any) -> tuple[Any, States]:
        if self.proj_size:
            raise ValueError(f"proj_size: expected 0, since the cell has no projection; got {self.proj_size}")
        to_bool("bidirectional", self.bidirectional)
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        if input.dim() not in (2, 3) or input.shape[-1] != self.input_size:
            axes = "N, L" if self.batch_first else "L, N"
            raise ValueError(
                f"input: expected 3 dimensions ({axes}, {self.input_size}) or 2 (L, {self.input_size}), got"
                f" shape {tuple(input.shape)}"
            )
        is_batched = input.dim() == 3
        rows = input if is_batched else input.unsqueeze(1)
        if is_batched and self.batch_first:
            rows = rows.transpose(0, 1)
        length, batch = rows.shape[:2]
        if length == 0:
            raise ValueError("input: expected at least one step, got a sequence of length 0")
        try:
            sizes = [batch] * length
        except MemoryError:
            raise ValueError(
                f"input: expected fewer steps, got {length}, whose sizes cannot be allocated"
            ) from None
        states = self._initial(hx, batch, input, is_batched)
        data, states = self._layers(rows.flatten(0, 1), sizes, states)
        output = data.unflatten(0, (length, batch))
        if not is_batched:
            return output.squeeze(1), tuple(s.squeeze(1) for s in states)
        return output.transpose(0, 1) if self.batch_first else output, states

    def _packed(self, input: PackedSequence, hx: Any) -> tuple[PackedSequence, States]:
        data, batch_sizes, sorted_indices, unsorted_indices = input
        if data.dim() != 2 or data.shape[-1] != self.input_size:
            raise ValueError(f"input: expected {self.input_size} features, got {tuple(data.shape)}")
        sizes = batch_sizes.tolist()
        if not sizes:
            raise ValueError("input: expected at least one step, got an empty PackedSequence")
        if not torch.compiler.is_compiling():
            _check_batch_sizes(sizes, len(data))
        if hx is not None and torch.compiler.is_compiling():
            # The number of sequences is data, unknown to compiled code. This check at run time lets it compare the
            # sizes of the states.
            first = hx[0] if isinstance(hx, (tuple, list)) else hx
            torch._check(first.shape[1] == sizes[0])
        states = self._initial(hx, sizes[0], data, True)
        if hx is not None and sorted_indices is not None:
            states = tuple(s.index_select(1, sorted_indices) for s in states)
        data, states = self._layers(data, sizes, states)
        if unsorted_indices is not None:
            states = tuple(s.index_select(1, unsorted_indices) for s in states)
        return PackedSequence(data, batch_sizes, sorted_indices, unsorted_indices), states

    def _layers(self, data: Tensor, batch_sizes: Sequence[int], initial: States) -> tuple[Tensor, States]:
        directions = 2 if self.bidirectional else 1
        final: list[States] = []
        weights = self.all_weights
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                index = layer * directions + direction
                weight_ih, weight_hh, *biases = weights[index]
                bias_ih, bias_hh = biases or (None, None)
                states = tuple(s[index] for s in initial)
                inputs = Inputs(
                    data, weight_ih, weight_hh, bias_ih, bias_hh, states, batch_sizes, direction == 1
                )
                output, states = run_steps(self._cell, inputs)
                outputs.append(output)
                final.append(states)
            data = outputs[0] if directions == 1 else torch.cat(outputs, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                data = F.dropout(data, self.dropout, True)
        results = data, *(torch.stack(s) for s in zip(*final))
        if self.mode == "LSTM":  # autocast of torch promises nothing for GRU
            results = tuple(map(product_in_autocast, results))
        return results[0], results[1:]


_SEQUENCE = """input (L, N, input_size), with batch_first (N, L, input_size), (L, input_size) or a PackedSequence;
    output likewise with hidden_size per direction; {states}
    (num_layers * directions, N, hidden_size)"""
_REMARKS = "A proj_size is a ValueError. Dropout between layers is torch's. On CUDA torch computes the layer."


def _on_gpu(input: Any) -> bool:
    """True if cuDNN computes all steps in one call, where the kernels of thnn would compute each step in several."""
    data = input.data if isinstance(input, PackedSequence) else input
    return isinstance(data, Tensor) and data.is_cuda


class LSTM(_Recurrent, torch.nn.LSTM):
    __doc__ = layer_doc(
        "LSTM",
        "Long short-term memory over sequences",
        _SEQUENCE.format(states="hidden and cell state"),
        "LinearFunction and LSTMFusedFunction",
        remarks=_REMARKS,
    )

    @property
    def _cell(self) -> Cell:
        return _sequence.LSTM_CELL

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.proj_size:
            raise ValueError(
                f"LSTM: proj_size: expected 0, since the cell has no projection; got {self.proj_size}"
            )

    @staticmethod
    def _unsupported(layer: torch.nn.Module) -> str:
        """Why thnn.convert() leaves a layer of torch, or ''."""
        return "has proj_size" if getattr(layer, "proj_size", 0) else ""

    @layer_forward
    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> Any:
        if _on_gpu(input):
            return super().forward(input, hx)
        return self._forward(input, hx)


class GRU(_Recurrent, torch.nn.GRU):
    __doc__ = layer_doc(
        "GRU",
        "Gated recurrent unit over sequences",
        _SEQUENCE.format(states="hidden state"),
        "LinearFunction and GRUFusedFunction",
        remarks=_REMARKS,
    )

    @property
    def _cell(self) -> Cell:
        return _sequence.GRU_CELL

    @layer_forward
    def forward(self, input: Any, hx: Tensor | None = None) -> Any:
        if _on_gpu(input):
            return super().forward(input, hx)
        output, states = self._forward(input, hx)
        return output, states[0]
