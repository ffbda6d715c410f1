"""All steps of recurrent layers, step by step.

The layers of thnn.nn do not call them for CUDA tensors: they call Linear and the kernels of the cells for each step,
and do not read the sizes of the steps from the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from thnn._cuda.convolution import Scalars
from thnn._cuda.linear import linear, plain


def _order(
    name: str, sizes: Tensor, sequences: int, rows: int, scalars: Scalars
) -> Iterator[tuple[int, int]]:
    """The first row and the number of sequences of each step, in the order of computation."""
    counts = sizes.tolist()
    falling = all(0 <= n <= before for n, before in zip(counts, (sequences, *counts)))
    if counts[0] != sequences or not falling or sum(counts) != rows:
        raise ValueError(
            f"{name}: sizes: expected falling sizes from {sequences} on, of the sum {rows}, got {counts}"
        )
    firsts = [0]
    for count in counts:
        firsts.append(firsts[-1] + count)
    return iter(list(zip(firsts, counts))[:: -1 if dict(zip(*scalars))["reverse"] else 1])


def _lstm_steps(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    bias1: Tensor | None,
    bias2: Tensor | None,
    hx: Tensor,
    cell: Tensor,
    sizes: Tensor,
    output: Tensor,
    outputCell: Tensor,
    gates: Tensor | None,
    scalars: Scalars,
) -> None:
    products = linear(input, weight1, bias1)
    hidden, current = hx.clone(), cell.clone()
    for first, n in _order("LSTMFused_steps", sizes, len(hx), len(input), scalars):
        rows = slice(first, first + n)
        sums = products[rows] + linear(hidden[:n], weight2, bias2)
        i, f, g, o = sums.chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        current[:n] = f * current[:n] + i * g
        hidden[:n] = o * current[:n].tanh()
        output[rows], outputCell[rows] = hidden[:n], current[:n]
        if gates is not None:
            gates[rows] = torch.cat([i, f, g, o], 1)


def _lstm_grad_steps(
    storage: Tensor,
    weight2: Tensor,
    cell: Tensor,
    outputCell: Tensor,
    sizes: Tensor,
    gradOutput: Tensor | None,
    gradInGates: Tensor,
    gradHx: Tensor,
    gradCell: Tensor,
    scalars: Scalars,
) -> None:
    steps = list(_order("LSTMFused_gradSteps", sizes, len(gradHx), len(storage), scalars))
    for step in reversed(range(len(steps))):
        first, n = steps[step]
        rows = slice(first, first + n)
        earlier, count = steps[step - 1] if step else (0, 0)
        count = min(count, n)
        before = torch.cat([outputCell[earlier : earlier + count], cell[count:n]])
        i, f, g, o = storage[rows].chunk(4, 1)
        byHidden = gradHx[:n] if gradOutput is None else gradHx[:n] + gradOutput[rows]
        t = outputCell[rows].tanh()
        byCell = byHidden * o * (1 - t * t) + gradCell[:n]
        gates = (
            byCell * g * i * (1 - i),
            byCell * before * f * (1 - f),
            byCell * i * (1 - g * g),
            byHidden * t * o * (1 - o),
        )
        gradInGates[rows] = torch.cat(gates, 1)
        gradHx[:n] = plain(gradInGates[rows]) @ plain(weight2)
        gradCell[:n] = byCell * f


def _gru_steps(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    bias1: Tensor | None,
    bias2: Tensor | None,
    hx: Tensor,
    sizes: Tensor,
    output: Tensor,
    gates: Tensor | None,
    scalars: Scalars,
) -> None:
    products = linear(input, weight1, bias1)
    hidden = hx.clone()
    for first, n in _order("GRUFused_steps", sizes, len(hx), len(input), scalars):
        rows, old = slice(first, first + n), hidden[:n].clone()
        r, z, x = products[rows].chunk(3, 1)
        rh, zh, part = linear(old, weight2, bias2).chunk(3, 1)
        r, z = (r + rh).sigmoid(), (z + zh).sigmoid()
        new = (x + r * part).tanh()
        hidden[:n] = new + z * (old - new)
        output[rows] = hidden[:n]
        if gates is not None:
            gates[rows] = torch.cat([r, z, new, old, part], 1)


def _gru_grad_steps(
    storage: Tensor,
    weight2: Tensor,
    sizes: Tensor,
    gradOutput: Tensor | None,
    gradInInput: Tensor,
    gradInHidden: Tensor,
    gradHx: Tensor,
    scalars: Scalars,
) -> None:
    for first, n in reversed(list(_order("GRUFused_gradSteps", sizes, len(gradHx), len(storage), scalars))):
        rows = slice(first, first + n)
        r, z, new, old, part = storage[rows].chunk(5, 1)
        byHidden = gradHx[:n] if gradOutput is None else gradHx[:n] + gradOutput[rows]
        byUpdate = byHidden * (old - new) * z * (1 - z)
        byNew = byHidden * (1 - z) * (1 - new * new)
        byReset = byNew * part * r * (1 - r)
        gradInInput[rows] = torch.cat([byReset, byUpdate, byNew], 1)
        gradInHidden[rows] = torch.cat([byReset, byUpdate, byNew * r], 1)
        gradHx[:n] = plain(gradInHidden[rows]) @ plain(weight2) + byHidden * z


FUNCTIONS: dict[str, Callable[..., tuple[Tensor | None, ...] | None]] = {
    "LSTMFused_steps": _lstm_steps,
    "LSTMFused_gradSteps": _lstm_grad_steps,
    "GRUFused_steps": _gru_steps,
    "GRUFused_gradSteps": _gru_grad_steps,
}
