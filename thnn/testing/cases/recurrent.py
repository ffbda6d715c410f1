"""Recurrent cells."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from thnn.testing.cases.makers import given, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def _or_zero(bias: Tensor | None) -> Tensor | float:
    return 0.0 if bias is None else bias


def _lstm_cell(
    input: Tensor, hidden: Tensor, cell: Tensor, bias1: Tensor | None = None, bias2: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The output, the cell state and the activated gates."""
    gates = input + _or_zero(bias1) + (hidden + _or_zero(bias2))
    i, f, g, o = gates.chunk(4, -1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    new = f * cell + i * g
    return o * new.tanh(), new, torch.cat([i, f, g, o], -1)


def _lstm(
    input: Tensor, hidden: Tensor, cell: Tensor, bias1: Tensor | None = None, bias2: Tensor | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    output, outputCell, gates = _lstm_cell(input, hidden, cell, bias1, bias2)
    return output, {"outputCell": outputCell, "hidden": gates}


def _lstm_arithmetic(input: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = (input + hidden).chunk(4, 1)
    new = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return o.sigmoid() * new.tanh(), new


def _gru_parts(
    input: Tensor, hidden: Tensor, hx: Tensor, bias1: Tensor | None = None, bias2: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    r, z, n = (input + _or_zero(bias1)).chunk(3, -1)
    rh, zh, nh = (hidden + _or_zero(bias2)).chunk(3, -1)
    r, z = (r + rh).sigmoid(), (z + zh).sigmoid()
    new = (n + r * nh).tanh()
    return new + z * (hx - new), r, z, new, nh


def _gru(
    input: Tensor, hidden: Tensor, hx: Tensor, bias1: Tensor | None = None, bias2: Tensor | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    output, r, z, new, nh = _gru_parts(input, hidden, hx, bias1, bias2)
    return output, {"storage": torch.cat([r, z, new, hx, nh], -1)}


def _gru_arithmetic(input: Tensor, hidden: Tensor, hx: Tensor) -> Tensor:
    return _gru_parts(input, hidden, hx)[0]


def _samples(gates: int, state: str) -> tuple[SampleInput, ...]:
    def sample(
        name: str,
        *batch: int,
        columns: int,
        bias1: bool = True,
        bias2: bool = True,
        rows: tuple[int, ...] = (),
        scale: float = 1.0,
        small: bool = True,
    ) -> SampleInput:
        arguments: dict[str, Any] = {
            "input": normal(*batch, gates * columns, scale=scale),
            "hidden": normal(*batch, gates * columns, scale=scale),
            "bias1": normal(*rows, gates * columns) if bias1 else None,
            "bias2": normal(*rows, gates * columns) if bias2 else None,
            state: normal(*batch, columns),
        }
        return SampleInput(name, arguments, differentiable=small)

    extremes = [-1e30, -200.0, 0.0, 200.0, 1e30, float("inf"), float("-inf"), float("nan")]
    return (
        sample("batch", 3, columns=4),
        sample("batchless", columns=5),
        sample("no biases", 2, columns=3, bias1=False, bias2=False),
        sample("one bias", 2, columns=3, bias1=False),
        sample("biases as rows", 3, columns=3, rows=(1,)),
        sample("one sample", 1, columns=6),
        sample("sizes 1", 1, columns=1),
        sample("saturated", 5, columns=7, scale=30.0),
        sample("whole tiles", 3, columns=512, small=False),
        sample("tiles and a rest", 5, columns=531, small=False),
        sample("many rows", 1031, columns=16, small=False),
        SampleInput(
            "not finite",
            {
                "input": given([[x] * gates for x in extremes]),
                "hidden": given([[0.5] * gates for _ in extremes]),
                state: given([[0.25] for _ in extremes]),
            },
            differentiable=False,
        ),
        sample("no columns", 3, columns=0),
        sample("empty", 0, columns=4),
    )


def _error_inputs(gates: int, state: str) -> tuple[ErrorInput, ...]:
    wide = gates * 4
    return (
        ErrorInput("state a volume", {state: normal(1, 3, 4)}, ValueError, state),
        ErrorInput("state a number", {state: given(1.0)}, ValueError, state),
        ErrorInput("a gate less", {"input": normal(3, wide - 4)}, ValueError, "input"),
        ErrorInput("input of one sample", {"input": normal(wide)}, ValueError, "input"),
        ErrorInput("hidden of another batch", {"hidden": normal(2, wide)}, ValueError, "hidden"),
        ErrorInput("bias of one gate", {"bias1": normal(4)}, ValueError, "bias1"),
        ErrorInput(
            "bias per sample",
            {"bias2": normal(3, wide)},
            ValueError,
            rf"bias2: expected \({wide}\) or \(1, {wide}\), {gates} times the columns of {state}",
        ),
        ErrorInput("bias a number", {"bias2": given(1.0)}, ValueError, "bias2"),
        ErrorInput("bias a volume", {"bias2": normal(1, 1, wide)}, ValueError, "bias2"),
    )


def _row(name: str, gates: int, state: str, forward: int, both: int) -> Row:
    """`forward` and `both`: least numbers of elements moved per element of the state."""
    arguments = {
        "input": normal(256, gates * 1024),
        "hidden": normal(256, gates * 1024),
        state: normal(256, 1024),
    }
    elements = 4.0 * 256 * 1024
    return Row(
        f"{name} cell (256,1024)",
        SampleInput("row", arguments),
        ratio=3,
        fraction=0.4,
        bytes_moved={"fwd": forward * elements, "fb": both * elements},
    )


LSTM = Case(
    module="LSTMFused",
    reference=_lstm,
    baseline=_lstm_arithmetic,
    samples=_samples(4, "cell"),
    error_inputs=(
        *_error_inputs(4, "cell"),
        ErrorInput(
            "gradient of another batch", {"gradOutput": normal(4, 4)}, ValueError, phase="updateGradInput"
        ),
        ErrorInput("cell of another batch", {"cy": normal(4, 4)}, ValueError, "cy", "updateGradInput"),
    ),
    # Forward: gates, gates and cell in, output and cell out; with a graph, the activated gates out. Backward: gates,
    # two cells and two gradients in, gradients of the gates and of the cell out.
    rows=(_row("LSTM", 4, "cell", 11, 15 + 13),),
)


def _lstm_by_name(**arguments: Tensor) -> dict[str, Tensor]:
    output, outputCell, gates = _lstm_cell(**arguments)
    return {"output": output, "outputCell": outputCell, "gates": gates}


LSTM_CELL = Case(
    module="LSTMFused",
    phase="cell",
    reference=_lstm_by_name,
    samples=_samples(4, "cell"),
    error_inputs=_error_inputs(4, "cell"),
)

GRU = Case(
    module="GRUFused",
    reference=_gru,
    baseline=_gru_arithmetic,
    samples=_samples(3, "hx"),
    error_inputs=(
        *_error_inputs(3, "hx"),
        ErrorInput(
            "gradient of another batch", {"gradOutput": normal(4, 4)}, ValueError, phase="updateGradInput"
        ),
        ErrorInput(
            "storage of four blocks", {"storage": normal(3, 16)}, ValueError, "storage", "updateGradInput"
        ),
    ),
    # Forward: gates, gates and state in, output out; with a graph, storage out. Backward: storage and gradient in,
    # gradients of two times the gates and of the state out.
    rows=(_row("GRU", 3, "hx", 8, 13 + 13),),
)
