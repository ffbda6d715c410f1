"""Gradients of recurrent cells as torch operations. The package describes their arguments and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from thnn._derivatives.formulas.model import Formula


def _or_zero(tensor: Tensor | None) -> Tensor | float:
    return 0.0 if tensor is None else tensor


def _lstm(
    needs: Any,
    gradOutput: Tensor | None,
    gradOutputCell: Tensor | None,
    gradStorage: Tensor | None,
    storage: Tensor,
    cell: Tensor,
    outputCell: Tensor,
) -> dict[str, Tensor]:
    """`storage` has the gates after sigmoid and tanh. It is an output of the class's autograd node, so it may have an
    incoming gradient, gradStorage."""
    i, f, g, o = storage.chunk(4, -1)
    by_i, by_f, by_g, by_o = gradStorage.chunk(4, -1) if gradStorage is not None else [0.0] * 4
    y, t = _or_zero(gradOutput), outputCell.tanh()
    c = y * o * (1 - t * t) + _or_zero(gradOutputCell)
    gates = (
        (c * g + by_i) * i * (1 - i),
        (c * cell + by_f) * f * (1 - f),
        (c * i + by_g) * (1 - g * g),
        (y * t + by_o) * o * (1 - o),
    )
    return {"gradInGates": torch.cat(gates, -1), "gradInputCx": c * f}


def _gru(
    needs: Any, gradOutput: Tensor | None, gradStorage: Tensor | None, storage: Tensor
) -> dict[str, Tensor]:
    """`storage` is an output of the class's autograd node, so it may have an incoming gradient, gradStorage."""
    r, z, new, old, part = storage.chunk(5, -1)
    by_r, by_z, by_new, by_old, by_part = gradStorage.chunk(5, -1) if gradStorage is not None else [0.0] * 5
    y = _or_zero(gradOutput)
    n = (y * (1 - z) + by_new) * (1 - new * new)
    reset, update = (n * part + by_r) * r * (1 - r), (y * (old - new) + by_z) * z * (1 - z)
    return {
        "gradInInput": torch.cat([reset, update, n], -1),
        "gradInHidden": torch.cat([reset, update, n * r + by_part], -1),
        "gradInputHx": y * z + by_old,
    }


FORMULAS: Mapping[str, Formula] = {
    "LSTMFused": _lstm,
    "GRUFused": _gru,
}
