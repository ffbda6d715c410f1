"""The operations of torch that thnn computes, as they are spelled in a graph of torch.fx."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, fx

import thnn.nn.functional as ours
from thnn._rewrite.recurrent import gru, gru_cell, lstm, lstm_cell
from thnn._torch import builtin_pad


class Counterpart(NamedTuple):
    """A function of thnn that takes the arguments of an operation of torch, and `keywords`."""

    function: Callable[..., Any]
    keywords: Mapping[str, Any] = {}


def softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """torch.softmax, whose third argument is another one than that of torch.nn.functional.softmax."""
    output: Tensor = ours.softmax(input, dim, dtype=dtype)
    return output


def log_softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """torch.log_softmax."""
    output: Tensor = ours.log_softmax(input, dim, dtype=dtype)
    return output


# Functions of torch with the arguments of the function of torch.nn.functional of the same name.
_ALIASES = (
    "relu", "sigmoid", "tanh", "prelu", "hardshrink", "threshold", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "avg_pool1d", "max_pool1d", "max_pool2d", "max_pool3d",
    "adaptive_avg_pool1d", "layer_norm", "group_norm", "rms_norm", "celu",
    "selu",
)  # fmt: skip
_IN_PLACE = {"inplace": True}

FUNCTIONS: dict[Any, Counterpart] = {
    getattr(F, name): Counterpart(getattr(ours, name)) for name in ours.__all__
}
FUNCTIONS |= {getattr(torch, name): Counterpart(getattr(ours, name)) for name in _ALIASES}
FUNCTIONS |= {
    getattr(F, f"{name}_"): Counterpart(getattr(ours, name), _IN_PLACE)
    for name in ("relu", "leaky_relu", "elu", "celu", "selu", "hardtanh", "threshold")
}
FUNCTIONS |= {
    torch.softmax: Counterpart(softmax),
    torch.log_softmax: Counterpart(log_softmax),
    torch.lstm_cell: Counterpart(lstm_cell),
    torch.gru_cell: Counterpart(gru_cell),
    torch.lstm: Counterpart(lstm),
    torch.gru: Counterpart(gru),
}
if builtin_pad is not None:
    FUNCTIONS[builtin_pad] = Counterpart(ours.pad)

METHODS: dict[str, Counterpart] = {
    **{name: Counterpart(getattr(ours, name)) for name in ("relu", "sigmoid", "tanh", "prelu", "hardshrink")},
    "relu_": Counterpart(ours.relu, _IN_PLACE),
    "softmax": Counterpart(softmax),
    "log_softmax": Counterpart(log_softmax),
}


def counterpart(node: fx.Node) -> Counterpart | None:
    """The function of thnn for a node of a graph; None if there is none."""
    if node.op == "call_function":
        return FUNCTIONS.get(node.target)
    return METHODS.get(str(node.target)) if node.op == "call_method" else None
