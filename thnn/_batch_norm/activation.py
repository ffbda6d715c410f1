"""The activation that can be fused with batch normalization: relu, min(max(0, .), limit).

In this package `limit` is infinity for the usual relu, and None without an activation.
"""

from __future__ import annotations

import math
from typing import Final, Literal

import torch.nn.functional as F
from torch import Tensor

Activation = Literal["relu", "relu6"]
_LIMITS: Final[dict[str | None, float | None]] = {None: None, "relu": math.inf, "relu6": 6.0}
ACTIVATIONS: Final = tuple(_LIMITS)


def limit_of(activation: str | None) -> float | None:
    """The limit of an activation; ValueError for an unknown one."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"BatchNormalization: activation: expected one of {ACTIVATIONS}, got {activation!r}")
    return _LIMITS[activation]


def rectified(input: Tensor, limit: float, inplace: bool = False) -> Tensor:
    """min(max(input, 0), limit) as a torch operation; NaN stays NaN."""
    return F.relu(input, inplace) if limit == math.inf else F.hardtanh(input, 0.0, limit, inplace)


def is_cut(output: Tensor, limit: float) -> Tensor:
    """True for elements with gradient 0, at or beyond a bound of relu; `output` is either the input of relu or its
    output.

    NaN passes its gradient, and so does an infinite element without a limit.
    """
    return output <= 0 if limit == math.inf else (output <= 0) | (output >= limit)
