"""Linear layers of sparse rows: IndexLinear and SparseLinear, which have no class."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Generator, Tensor

from thnn.testing.cases.makers import classes, given, normal
from thnn.testing.cases.model import Case, ErrorInput, Maker, SampleInput

# --- IndexLinear ----------------------------------------------------------------------------------------------


def _samples_of(sizes: Tensor) -> Tensor:
    """The sample of each key."""
    return torch.arange(len(sizes)).repeat_interleave(sizes)


def _index_output(
    keys: Tensor,
    keysOffset: int,
    values: Tensor,
    sizes: Tensor,
    cumSumSizes: Tensor,
    weight: Tensor,
    bias: Tensor,
    train: int,
) -> dict[str, Tensor]:
    rows, weight = keys + keysOffset, weight.clone()
    normalizing = weight.shape[1] != len(bias)
    used = values.clone()
    if normalizing:
        for i, (row, value) in enumerate(zip(rows.tolist(), values.tolist())):
            w = weight[row]
            if train and abs(value) > w[0]:
                w[0], w[1] = abs(value), 1 / abs(value)
            if train:
                w[2] = 1
            used[i] = (value * w[1] if abs(value) <= w[0] else (1 if value > 0 else -1)) + w[3]
    terms = used.unsqueeze(1) * weight[rows, -len(bias) :] if len(bias) else values.new_zeros(len(keys), 0)
    output = bias.expand(len(sizes), -1).index_add(0, _samples_of(sizes), terms)
    made = {"output": output, **({"weight": weight} if train else {})}
    return {**made, "normalizedValues": used} if normalizing else made


def _index_gradients(
    keys: Tensor,
    keysOffset: int,
    values: Tensor,
    sizes: Tensor,
    cumSumSizes: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    bias: Tensor,
    weightDecay: float,
    scale: float,
) -> dict[str, Tensor]:
    rows = scale * gradOutput[_samples_of(sizes)]
    gradWeight = rows * values.unsqueeze(1)
    if weight.shape[1] != len(bias):
        gradWeight = torch.cat([rows, gradWeight], 1)
    return {"gradWeight": gradWeight, "gradBias": scale * gradOutput.sum(0)}


def _step(
    weight: Tensor, rows: Sequence[int], sums: Tensor, gradients: Tensor, decay: float, rate: float
) -> Tensor:
    weight = weight.clone()
    outputs = gradients.shape[1]
    for row, sum, gradient in zip(rows, sums, gradients):
        w = weight[row]
        factor = 1.0
        if len(w) != outputs:
            factor = w[2].item()
            w[3] -= rate * factor * (sum * w[4:]).sum()
            w = w[4:]
        w -= factor * (decay * w + rate * gradient)
    return weight


def _index_update(
    gradWeight: Tensor,
    gradBias: Tensor,
    weight: Tensor,
    bias: Tensor,
    runningKeys: Tensor,
    cumSumSizes: Tensor,
    keysOffset: int,
    weightDecay: float,
    learningRate: float,
) -> dict[str, Tensor]:
    rows, outputs = (runningKeys + keysOffset).tolist(), len(bias)
    sums, gradients = gradWeight[:, :outputs], gradWeight[:, gradWeight.shape[1] - outputs :]
    return {
        "weight": _step(weight, rows, sums, gradients, weightDecay, learningRate),
        "bias": bias - learningRate * gradBias,
    }


def _index_acc_update(
    keys: Tensor,
    keysOffset: int,
    values: Tensor,
    sizes: Tensor,
    cumSumSizes: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    bias: Tensor,
    weightDecay: float,
    scale: float,
) -> dict[str, Tensor]:
    sums = gradOutput[_samples_of(sizes)]
    gradients = sums * values.unsqueeze(1)
    return {
        "weight": _step(weight, (keys + keysOffset).tolist(), sums, gradients, weightDecay, scale),
        "bias": bias - scale * gradOutput.sum(0),
    }


def _table(keys: int, outputs: int, normalizing: bool) -> Maker:
    """A table whose normalizing columns fit together."""

    def maker(generator: Generator) -> Tensor:
        weight = torch.randn(keys, outputs, generator=generator, dtype=torch.float64)
        if not normalizing:
            return weight
        largest = torch.rand(keys, 1, generator=generator, dtype=torch.float64) + 0.5
        rate = torch.rand(keys, 1, generator=generator, dtype=torch.float64)
        shift = torch.randn(keys, 1, generator=generator, dtype=torch.float64)
        return torch.cat([largest, 1 / largest, rate, shift, weight], 1)

    return maker


def _keys(count: int, keys: int, offset: int) -> Maker:
    row_numbers = classes(count, count=max(keys, 1))
    return lambda generator: row_numbers(generator) - offset


def _index_samples(made: Callable[..., dict[str, Any]]) -> tuple[SampleInput, ...]:
    def sample(
        name: str,
        sizes: Sequence[int],
        keys: int = 6,
        outputs: int = 4,
        normalizing: bool = False,
        offset: int = 0,
        small: bool = True,
        **scalars: Any,
    ) -> SampleInput:
        arguments = made(list(sizes), keys, outputs, normalizing, offset, scalars)
        return SampleInput(name, arguments, differentiable=small)

    return (
        sample("plain", (2, 3, 4)),
        sample("normalizing", (2, 3, 4), normalizing=True),
        sample("normalizing, evaluation", (2, 3, 4), normalizing=True, train=0),
        sample("offset", (2, 3, 4), offset=-2),
        sample("some empty rows", (0, 3, 0, 5, 0), offset=3),
        sample("one output", (2, 3, 3), outputs=1),
        sample("one output, normalizing", (2, 3, 3), outputs=1, normalizing=True),
        sample("one sample", (7,), normalizing=True),
        sample("sizes 1", (1,), keys=2, outputs=1),
        sample("duplicates", (40, 300, 90), keys=3, outputs=5, normalizing=True, small=False),
        sample("many outputs", [9] * 5, outputs=70, normalizing=True, small=False),
        sample("long rows", (700, 300), keys=200, outputs=37, small=False),
        sample("many", [5] * 300, keys=700, outputs=37, small=False),
        sample("no outputs", (2, 1), outputs=0),
        sample("no outputs, normalizing", (2, 1), outputs=0, normalizing=True),
        sample("empty", ()),
        sample("empty, normalizing", (), normalizing=True),
        sample("empty rows", (0, 0)),
    )


def _rows(sizes: list[int], keys: int, offset: int) -> dict[str, Any]:
    total = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return {
        "keys": _keys(sum(sizes), keys, offset),
        "keysOffset": offset,
        "values": normal(sum(sizes)),
        "sizes": given(sizes, torch.int64),
        "cumSumSizes": given(total, torch.int64),
    }


def _of_output(
    sizes: list[int], keys: int, outputs: int, normalizing: bool, offset: int, scalars: dict[str, Any]
) -> dict[str, Any]:
    table = {"weight": _table(keys, outputs, normalizing), "bias": normal(outputs)}
    return {**_rows(sizes, keys, offset), **table, "train": scalars.get("train", 1)}


def _of_gradients(
    sizes: list[int], keys: int, outputs: int, normalizing: bool, offset: int, scalars: dict[str, Any]
) -> dict[str, Any]:
    arguments = _of_output(sizes, keys, outputs, normalizing, offset, scalars)
    del arguments["train"]
    return {**arguments, "gradOutput": normal(len(sizes), outputs), "weightDecay": 0.0, "scale": 1.0}


def _of_acc_update(*made: Any) -> dict[str, Any]:
    return {**_of_gradients(*made), "weightDecay": 0.25, "scale": 0.5}


def _of_update(
    sizes: list[int], keys: int, outputs: int, normalizing: bool, offset: int, scalars: dict[str, Any]
) -> dict[str, Any]:
    count = sum(sizes)
    return {
        "gradWeight": normal(count, outputs * (2 if normalizing else 1)),
        "gradBias": normal(outputs),
        "weight": _table(keys, outputs, normalizing),
        "bias": normal(outputs),
        "runningKeys": _keys(count, keys, offset),
        "cumSumSizes": given([*itertools.accumulate(sizes)] if count else [0, 0], torch.int64),
        "keysOffset": offset,
        "weightDecay": 0.01,
        "learningRate": 0.05,
    }


def _index_error_inputs(keys: str) -> tuple[ErrorInput, ...]:
    shared = (
        ErrorInput("key below 0", {keys: given([-1] * 9, torch.int64)}, IndexError, keys),
        ErrorInput("key beyond the table", {keys: given([6] * 9, torch.int64)}, IndexError, keys),
        ErrorInput("key beyond by its offset", {"keysOffset": 6}, IndexError, keys),
        ErrorInput("huge offset", {"keysOffset": -(2**63)}, ValueError, "keysOffset"),
        ErrorInput("keys a matrix", {keys: given([[1] * 9], torch.int64)}, ValueError, keys),
        ErrorInput("bias a matrix", {"bias": normal(1, 4)}, ValueError, "bias"),
        ErrorInput("weight of other outputs", {"weight": normal(6, 5)}, ValueError, "weight"),
    )
    if keys != "keys":
        return shared
    return (
        *shared,
        ErrorInput("a value less", {"values": normal(8)}, ValueError, "values"),
        ErrorInput("size below 0", {"sizes": given([-1, 6, 4], torch.int64)}, IndexError, "sizes"),
        ErrorInput("sizes too small", {"sizes": given([2, 3, 3], torch.int64)}, IndexError),
        ErrorInput("sizes too large", {"sizes": given([2, 3, 5], torch.int64)}, IndexError, "sizes"),
        ErrorInput("other sums", {"cumSumSizes": given([2, 6, 9], torch.int64)}, IndexError, "cumSumSizes"),
        ErrorInput("fewer sums", {"cumSumSizes": given([2, 9], torch.int64)}, ValueError, "cumSumSizes"),
        ErrorInput(
            "no samples", {"sizes": given([], torch.int64), "cumSumSizes": given([], torch.int64)}, ValueError
        ),
    )


_ANY_TABLE = {"weight": (0,), "gradWeight": (0, 1)}

INDEX_LINEAR_UPDATE_OUTPUT = Case(
    module="IndexLinear",
    phase="updateOutput",
    reference=_index_output,
    # Wrong arguments replace arguments of the first sample, which writes to weight.
    samples=tuple(sorted(_index_samples(_of_output), key=lambda sample: sample.name != "normalizing")),
    error_inputs=_index_error_inputs("keys"),
    any_size=_ANY_TABLE,
)

INDEX_LINEAR_ACC_GRAD_PARAMETERS = Case(
    module="IndexLinear",
    phase="accGradParameters",
    reference=_index_gradients,
    samples=_index_samples(_of_gradients),
    error_inputs=_index_error_inputs("keys"),
    any_size=_ANY_TABLE,
)

INDEX_LINEAR_ACC_UPDATE_GRAD_PARAMETERS = Case(
    module="IndexLinear",
    phase="accUpdateGradParameters",
    reference=_index_acc_update,
    samples=_index_samples(_of_acc_update),
    error_inputs=_index_error_inputs("keys"),
    any_size=_ANY_TABLE,
    tolerance=1e-4,  # a few hundred steps on one row
)

INDEX_LINEAR_UPDATE_PARAMETERS = Case(
    module="IndexLinear",
    phase="updateParameters",
    reference=_index_update,
    samples=_index_samples(_of_update),
    error_inputs=(
        *_index_error_inputs("runningKeys"),
        ErrorInput("gradients of fewer keys", {"gradWeight": normal(8, 4)}, ValueError, "gradWeight"),
        ErrorInput(
            "gradients of a normalizing table", {"gradWeight": normal(9, 8)}, ValueError, "gradWeight"
        ),
    ),
    any_size={"weight": (0,)},
    tolerance=1e-4,
)

# --- SparseLinear ---------------------------------------------------------------------------------------------


def _dense(input: Tensor, samples: int, columns: int) -> Tensor:
    """The matrix of the entries of either form."""
    if input.dim() == 3:
        sample = torch.arange(len(input)).repeat_interleave(input.shape[1])
        column, value = input.flatten(0, 1).unbind(1)
    else:
        sample, column, value = (input[:, i] for i in range(3))
        sample = sample.long() - 1
    matrix = input.new_zeros(samples, columns)
    return matrix.index_put((sample.long(), column.long() - 1), value, accumulate=True)


def _sparse_output(
    input: Tensor, output: Tensor | None = None, *, weight: Tensor, bias: Tensor
) -> dict[str, Tensor]:
    samples = len(input) if output is None else len(output)
    return {"output": _dense(input, samples, weight.shape[1]) @ weight.t() + bias}


def _sparse_gradients(
    input: Tensor, gradOutput: Tensor, weight: Tensor, bias: Tensor, weightDecay: float, scale: float
) -> dict[str, Tensor]:
    dense = _dense(input, len(gradOutput), weight.shape[1])
    return {
        "gradWeight": scale * (gradOutput.t() @ dense) + weightDecay * weight,
        "gradBias": scale * gradOutput.sum(0),
    }


def _columns(lastInput: Tensor, count: int) -> Tensor:
    """Whether each column has an entry with a value other than 0."""
    column, value = lastInput.flatten(0, -2)[:, -2:].unbind(1)
    return torch.zeros(count).index_add(0, column.long() - 1, (value != 0).float()) > 0


def _sparse_zero(gradWeight: Tensor, gradBias: Tensor, lastInput: Tensor) -> dict[str, Tensor]:
    named = _columns(lastInput, gradWeight.shape[1])
    return {"gradWeight": gradWeight.masked_fill(named, 0), "gradBias": torch.zeros_like(gradBias)}


def _sparse_update(
    weight: Tensor, bias: Tensor, gradWeight: Tensor, gradBias: Tensor, lastInput: Tensor, learningRate: float
) -> dict[str, Tensor]:
    named = _columns(lastInput, weight.shape[1])
    return {"weight": weight - learningRate * gradWeight * named, "bias": bias - learningRate * gradBias}


def _entries(count: int, samples: int, columns: int) -> Maker:
    """Rows (sample, column, value), some with value 0, in any order."""

    def maker(generator: Generator) -> Tensor:
        sample = torch.randint(1, max(samples, 1) + 1, (count,), generator=generator)
        column = torch.randint(1, max(columns, 1) + 1, (count,), generator=generator)
        value = torch.randn(count, generator=generator, dtype=torch.float64)
        value[torch.rand(count, generator=generator) < 0.25] = 0
        return torch.stack([sample, column, value], 1)

    return maker


def _pairs(count: int, samples: int, columns: int) -> Maker:
    """Pairs (column, value) of each sample."""
    entries = _entries(count * samples, samples, columns)
    return lambda generator: entries(generator)[:, 1:].reshape(samples, count, 2)


def _sparse_samples(phase: str, legacy: bool) -> tuple[SampleInput, ...]:
    def sample(
        name: str, count: int, samples: int, columns: int, outputs: int, small: bool = True
    ) -> SampleInput:
        entries = (_pairs if legacy else _entries)(count, samples, columns)
        arguments: dict[str, Any] = {
            "weight": normal(outputs, columns),
            "bias": normal(outputs),
            "lastInput" if phase in ("zero", "update") else "input": entries,
        }
        if phase == "output" and not legacy:
            arguments["output"] = normal(samples, outputs)
        if phase == "gradients":
            arguments |= {"gradOutput": normal(samples, outputs), "weightDecay": 0.0, "scale": 1.0}
            if name == "weight decay":
                arguments["weightDecay"] = 0.25
        if phase in ("zero", "update"):
            arguments |= {"gradWeight": normal(outputs, columns), "gradBias": normal(outputs)}
        if phase == "zero":
            del arguments["weight"], arguments["bias"]
        if phase == "update":
            arguments["learningRate"] = 0.25
        return SampleInput(name, arguments, differentiable=small)

    return (
        sample("a few entries", 7, 3, 6, 4),
        sample("duplicates", 40, 3, 2, 5),
        sample("one sample", 6, 1, 9, 3),
        sample("one output", 6, 4, 5, 1),
        sample("sizes 1", 1, 1, 1, 1),
        sample("weight decay", 7, 3, 6, 4),
        sample("many", 900, 41, 130, 37, small=False),
        sample("many columns", 300, 7, 1000, 3, small=False),
        sample("no entries", 0, 3, 5, 4),
        sample("empty", 0, 0, 5, 4),
    )


def _sparse_error_inputs(phase: str, legacy: bool) -> tuple[ErrorInput, ...]:
    name = "lastInput" if phase in ("zero", "update") else "input"
    changes: list[tuple[str, Any, type[Exception]]] = []
    for text, number in (("0", 0.0), ("beyond the matrix", 7.0), ("NaN", float("nan")), ("huge", 1e300)):
        entry = [[[number, 1.0]]] * 3 if legacy else [[1.0, number, 1.0]]
        changes.append((f"column {text}", given(entry), IndexError))
    changes.append(("a vector", normal(3), ValueError))
    changes.append(("entries of four numbers", normal(3, 2, 4) if legacy else normal(5, 4), ValueError))
    changes.append(("the other form", normal(5, 3) if legacy else normal(3, 2, 2), ValueError))
    if name == "input" and not legacy:
        changes.append(("sample 0", given([[0.0, 1.0, 1.0]]), IndexError))
        changes.append(("sample beyond the batch", given([[4.0, 1.0, 1.0]]), IndexError))
    return tuple(ErrorInput(text, {name: maker}, error, name) for text, maker, error in changes)


def _sparse_case(phase: str, kind: str, legacy: bool, reference: Callable[..., Any], **settings: Any) -> Case:
    return Case(
        module="SparseLinear",
        phase="legacy" + phase[0].upper() + phase[1:] if legacy else phase,
        reference=reference,
        samples=_sparse_samples(kind, legacy),
        error_inputs=_sparse_error_inputs(kind, legacy),
        **settings,
    )


_ANY_COLUMNS: dict[str, Any] = {"any_size": {"weight": (1,), "gradWeight": (1,), "output": (0,)}}

SPARSE_LINEAR_UPDATE_OUTPUT = _sparse_case("updateOutput", "output", False, _sparse_output, **_ANY_COLUMNS)
SPARSE_LINEAR_ACC_GRAD_PARAMETERS = _sparse_case(
    "accGradParameters", "gradients", False, _sparse_gradients, any_size={"gradOutput": (0,)}
)
SPARSE_LINEAR_ZERO_GRAD_PARAMETERS = _sparse_case(
    "zeroGradParameters", "zero", False, _sparse_zero, **_ANY_COLUMNS
)
SPARSE_LINEAR_UPDATE_PARAMETERS = _sparse_case("updateParameters", "update", False, _sparse_update)
SPARSE_LINEAR_LEGACY_UPDATE_OUTPUT = _sparse_case(
    "updateOutput", "output", True, _sparse_output, **_ANY_COLUMNS
)
SPARSE_LINEAR_LEGACY_ACC_GRAD_PARAMETERS = _sparse_case(
    "accGradParameters", "gradients", True, _sparse_gradients
)
SPARSE_LINEAR_LEGACY_ZERO_GRAD_PARAMETERS = _sparse_case(
    "zeroGradParameters", "zero", True, _sparse_zero, **_ANY_COLUMNS
)
SPARSE_LINEAR_LEGACY_UPDATE_PARAMETERS = _sparse_case("updateParameters", "update", True, _sparse_update)
