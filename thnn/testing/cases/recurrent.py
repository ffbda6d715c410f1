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


# All steps of sequences. Rows of later steps are below; sizes[l] sequences have step l.


def _steps_in_order(sizes: Tensor, reverse: bool) -> list[slice]:
    """The rows of each step, in the order of computation."""
    ends = sizes.cumsum(0).tolist()
    return [slice(end - n, end) for end, n in zip(ends, sizes.tolist())][:: -1 if reverse else 1]


def _lstm_steps(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    hx: Tensor,
    cell: Tensor,
    sizes: Tensor,
    reverse: bool,
    bias1: Tensor | None = None,
    bias2: Tensor | None = None,
) -> dict[str, Tensor]:
    H = hx.shape[1]
    output, outputCell, gates = (input.new_zeros(len(input), n * H) for n in (1, 1, 4))
    hx, cell = hx.clone(), cell.clone()
    for rows in _steps_in_order(sizes, reverse):
        n = rows.stop - rows.start
        hx[:n], cell[:n], gates[rows] = _lstm_cell(
            input[rows] @ weight1.t(), hx[:n] @ weight2.t(), cell[:n], bias1, bias2
        )
        output[rows], outputCell[rows] = hx[:n], cell[:n]
    return {"output": output, "outputCell": outputCell, "gates": gates}


def _lstm_grad_steps(
    storage: Tensor,
    weight2: Tensor,
    cell: Tensor,
    outputCell: Tensor,
    sizes: Tensor,
    gradHx: Tensor,
    gradCell: Tensor,
    reverse: bool,
    gradOutput: Tensor | None = None,
) -> dict[str, Tensor]:
    gradHx, gradCell, gradInGates = gradHx.clone(), gradCell.clone(), torch.zeros_like(storage)
    steps = _steps_in_order(sizes, reverse)
    # The cell states before each step, which begin with the initial ones.
    current, before = cell.clone(), []
    for rows in steps:
        n = rows.stop - rows.start
        before.append(current[:n].clone())
        current[:n] = outputCell[rows]
    for rows, old in reversed(list(zip(steps, before))):
        n = rows.stop - rows.start
        i, f, g, o = storage[rows].chunk(4, 1)
        byHidden = gradHx[:n] + (0 if gradOutput is None else gradOutput[rows])
        t = outputCell[rows].tanh()
        byCell = byHidden * o * (1 - t**2) + gradCell[:n]
        byGates = [byCell * g, byCell * old, byCell * i, byHidden * t]
        slopes = [i * (1 - i), f * (1 - f), 1 - g**2, o * (1 - o)]
        gradInGates[rows] = torch.cat([b * s for b, s in zip(byGates, slopes)], 1)
        gradHx[:n], gradCell[:n] = gradInGates[rows] @ weight2, byCell * f
    return {"gradInGates": gradInGates, "gradHx": gradHx, "gradCell": gradCell}


def _gru_steps(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    hx: Tensor,
    sizes: Tensor,
    reverse: bool,
    bias1: Tensor | None = None,
    bias2: Tensor | None = None,
) -> dict[str, Tensor]:
    H = hx.shape[1]
    output, gates = input.new_zeros(len(input), H), input.new_zeros(len(input), 5 * H)
    hx = hx.clone()
    for rows in _steps_in_order(sizes, reverse):
        old = hx[: rows.stop - rows.start].clone()
        output[rows], r, z, new, part = _gru_parts(
            input[rows] @ weight1.t(), old @ weight2.t(), old, bias1, bias2
        )
        gates[rows] = torch.cat([r, z, new, old, part], 1)
        hx[: len(old)] = output[rows]
    return {"output": output, "gates": gates}


def _gru_grad_steps(
    storage: Tensor,
    weight2: Tensor,
    sizes: Tensor,
    gradHx: Tensor,
    reverse: bool,
    gradOutput: Tensor | None = None,
) -> dict[str, Tensor]:
    gradHx, blocks = gradHx.clone(), storage.chunk(5, 1)
    gradInInput, gradInHidden = (storage.new_zeros(len(storage), 3 * gradHx.shape[1]) for _ in range(2))
    for rows in reversed(_steps_in_order(sizes, reverse)):
        n = rows.stop - rows.start
        r, z, new, old, part = (b[rows] for b in blocks)
        byHidden = gradHx[:n] + (0 if gradOutput is None else gradOutput[rows])
        byUpdate = byHidden * (old - new) * z * (1 - z)
        byNew = byHidden * (1 - z) * (1 - new**2)
        byReset = byNew * part * r * (1 - r)
        gradInInput[rows] = torch.cat([byReset, byUpdate, byNew], 1)
        gradInHidden[rows] = torch.cat([byReset, byUpdate, byNew * r], 1)
        gradHx[:n] = gradInHidden[rows] @ weight2 + byHidden * z
    return {"gradInInput": gradInInput, "gradInHidden": gradInHidden, "gradHx": gradHx}


# Name, sizes of the steps, features of the input and of the states.
_SEQUENCES: tuple[tuple[str, tuple[int, ...], int, int], ...] = (
    ("falling", (4, 3, 3, 2), 5, 6),
    ("equal", (3, 3), 2, 4),
    ("one sequence", (1, 1, 1), 3, 5),
    ("one step", (3,), 3, 4),
    ("sizes 1", (1,), 1, 1),
    ("several panels and micro-tiles", (31, 31, 30, 14, 1), 9, 71),
    ("several K-blocks", (2, 2), 300, 261),
    ("many steps", (3,) * 47, 4, 16),
    ("no input features", (2, 2), 0, 3),
    ("no columns", (2, 1), 3, 0),
    ("empty", (0, 0), 3, 4),
)


def _sequence_samples(gates: int, states: tuple[str, ...]) -> tuple[SampleInput, ...]:
    def sample(
        name: str, sizes: tuple[int, ...], inputs: int, H: int, reverse: bool, bias: bool = True
    ) -> SampleInput:
        arguments: dict[str, Any] = {
            "input": normal(sum(sizes), inputs),
            "weight1": normal(gates * H, inputs, scale=max(inputs, 1) ** -0.5),
            "weight2": normal(gates * H, H, scale=max(H, 1) ** -0.5),
            **{f"bias{i}": normal(gates * H) if bias else None for i in (1, 2)},
            **{state: normal(sizes[0], H) for state in states},
            "sizes": given(sizes, torch.int64),
            "reverse": reverse,
        }
        return SampleInput(name, arguments, differentiable=sum(sizes) * H < 100)

    return (
        *(sample(*sequence, reverse=False) for sequence in _SEQUENCES),
        *(
            sample(f"{name}, reverse", sizes, inputs, H, reverse=True)
            for name, sizes, inputs, H in _SEQUENCES
            if H > 1
        ),
        sample("no biases", (3, 2), 3, 4, reverse=False, bias=False),
    )


def _sequence_gradient_samples(gates: int, stored: int, cells: bool) -> tuple[SampleInput, ...]:
    def sample(name: str, sizes: tuple[int, ...], H: int, reverse: bool, output: bool = True) -> SampleInput:
        n, rows = sizes[0], sum(sizes)
        arguments: dict[str, Any] = {
            "storage": normal(rows, stored * H, scale=0.4),
            "weight2": normal(gates * H, H, scale=max(H, 1) ** -0.5),
            "sizes": given(sizes, torch.int64),
            "gradOutput": normal(rows, H) if output else None,
            "gradHx": normal(n, H),
            "reverse": reverse,
        }
        if cells:
            arguments |= {"cell": normal(n, H), "outputCell": normal(rows, H), "gradCell": normal(n, H)}
        return SampleInput(name, arguments, differentiable=rows * H < 100)

    return (
        *(sample(name, sizes, H, False) for name, sizes, _, H in _SEQUENCES if H != 1),
        *(sample(f"{name}, reverse", sizes, H, True) for name, sizes, _, H in _SEQUENCES if H > 1),
        sample("no gradient of the output", (3, 2), 4, False, output=False),
    )


def _size_errors(last: int) -> tuple[ErrorInput, ...]:
    def error(name: str, sizes: tuple[int, ...], message: str) -> ErrorInput:
        return ErrorInput(name, {"sizes": given(sizes, torch.int64)}, ValueError, f"sizes: {message}")

    return (
        error(
            "fewer sequences in the first step",
            (3, 3, 3, 3),
            "expected (4 sequences in the first step, got 3|falling)",
        ),
        error(
            "a step with more sequences",
            (4, 3, 4, 1),
            "expected (at most the 3 sequences .* in step 2|falling)",
        ),
        error("a size below 0", (4, 4, 4, -1), "expected (.* in step 3, and at least 0, got -1|falling)"),
        error(
            "another sum",
            (4, 3, 3, 1),
            f"expected .* the sum {last}.* got|expected the sum {last}, .* got 11",
        ),
        ErrorInput(
            "no steps", {"sizes": given([], torch.int64)}, ValueError, "sizes: expected at least one step"
        ),
        ErrorInput(
            "sizes a matrix", {"sizes": given([[4], [3], [3], [2]], torch.int64)}, ValueError, "sizes"
        ),
    )


def _sequence_errors(gates: int) -> tuple[ErrorInput, ...]:
    return (
        *_size_errors(12),
        ErrorInput("one sample", {"input": normal(5)}, ValueError, "input"),
        ErrorInput("input of other features", {"input": normal(12, 4)}, ValueError, "weight1"),
        ErrorInput("a gate less", {"weight1": normal((gates - 1) * 6, 5)}, ValueError, "weight1"),
        ErrorInput("weight of other states", {"weight2": normal(gates * 6, 5)}, ValueError, "weight2"),
        ErrorInput("bias of one gate", {"bias1": normal(6)}, ValueError, "bias1"),
        ErrorInput("bias per sequence", {"bias2": normal(4, gates * 6)}, ValueError, "bias2"),
        ErrorInput("state of one sequence", {"hx": normal(6)}, ValueError, "hx"),
    )


def _sequence_gradient_errors(gates: int, stored: int) -> tuple[ErrorInput, ...]:
    return (
        *_size_errors(12),
        ErrorInput("a block less", {"storage": normal(12, (stored - 1) * 6)}, ValueError, "storage"),
        ErrorInput("weight of other states", {"weight2": normal(gates * 6, 5)}, ValueError, "weight2"),
        ErrorInput("gradient of other steps", {"gradOutput": normal(11, 6)}, ValueError, "gradOutput"),
        ErrorInput("gradient of one sequence", {"gradHx": normal(6)}, ValueError, "gradHx"),
    )


LSTM_STEPS = Case(
    module="LSTMFused",
    phase="steps",
    reference=_lstm_steps,
    samples=_sequence_samples(4, ("hx", "cell")),
    error_inputs=(
        *_sequence_errors(4),
        ErrorInput("cell of other sequences", {"cell": normal(3, 6)}, ValueError, "cell"),
    ),
)

LSTM_GRAD_STEPS = Case(
    module="LSTMFused",
    phase="gradSteps",
    reference=_lstm_grad_steps,
    samples=_sequence_gradient_samples(4, 4, cells=True),
    error_inputs=(
        *_sequence_gradient_errors(4, 4),
        ErrorInput("cells of other steps", {"outputCell": normal(11, 6)}, ValueError, "outputCell"),
        ErrorInput("cell of other sequences", {"cell": normal(3, 6)}, ValueError, "cell"),
        ErrorInput("gradient of other sequences", {"gradCell": normal(3, 6)}, ValueError, "gradCell"),
    ),
)

GRU_STEPS = Case(
    module="GRUFused",
    phase="steps",
    reference=_gru_steps,
    samples=_sequence_samples(3, ("hx",)),
    error_inputs=_sequence_errors(3),
)

GRU_GRAD_STEPS = Case(
    module="GRUFused",
    phase="gradSteps",
    reference=_gru_grad_steps,
    samples=_sequence_gradient_samples(3, 5, cells=False),
    error_inputs=_sequence_gradient_errors(3, 5),
)
