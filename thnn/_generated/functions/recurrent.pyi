"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import Criterion, FunctionBase

class LSTMFusedFunction(Criterion):
    """LSTMFused: the arithmetic of a long short-term memory cell after its two linear layers. With the four blocks i, f, g
    and o of H columns of input + bias1 + hidden + bias2:

      outputCell = sigmoid(f) * cell + sigmoid(i) * tanh(g)
      output     = sigmoid(o) * tanh(outputCell)

    hidden is overwritten with (sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)), which the backward takes as storage. The
    Python class LSTMFusedFunction does not modify its argument hidden, and returns (output, outputCell).
    Shapes: input and hidden (N, 4H) or (4H); bias1 and bias2 (4H), (1, 4H) or None; cell, output and outputCell
    (N, H) or (H).
    Errors: ValueError for sizes that do not fit. Source: torch.nn.LSTMCell; the original THNN had it for CUDA only.

    Calls:
        LSTMFusedFunction()(input, hidden, bias1, bias2, cell)
        LSTMFusedFunction.apply(input, hidden, bias1, bias2, cell)

    Arguments:
        input: Tensor (real): gates of the input (N, 4H)
        hidden: Tensor (real): gates of the hidden state (N, 4H)
        bias1: Tensor (real) or None: bias of input (4H)
        bias2: Tensor (real) or None: bias of hidden (4H)
        cell: Tensor (real): cell state (N, H)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of LSTMFused w.r.t. its gates and its cell state. The gradient w.r.t. the gates is also the gradient w.r.t.
    input and w.r.t. hidden and, summed over the batch, w.r.t. each bias.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, hidden: Tensor, bias1: Tensor | None = ..., bias2: Tensor | None = ..., cell: Tensor = ...) -> tuple[Tensor, Tensor]: ...
    @classmethod
    def apply(cls, input: Tensor, hidden: Tensor, bias1: Tensor | None = ..., bias2: Tensor | None = ..., cell: Tensor = ...) -> tuple[Tensor, Tensor]: ...

class GRUFusedFunction(FunctionBase):
    """GRUFused: the arithmetic of a gated recurrent unit after its two linear layers. With the three blocks r, z and n of H
    columns of input + bias1, and rh, zh and nh of hidden + bias2:

      new    = tanh(n + sigmoid(r + rh) * nh)
      output = new + sigmoid(z + zh) * (hx - new)

    storage is (sigmoid(r + rh), sigmoid(z + zh), new, hx, nh), for the backward.
    Shapes: input and hidden (N, 3H) or (3H); bias1 and bias2 (3H), (1, 3H) or None; hx and output (N, H) or (H); storage
    (N, 5H) or (5H), or (N * 5H) if it comes with that size.
    Errors: ValueError for sizes that do not fit. Source: torch.nn.GRUCell; the original THNN had it for CUDA only.

    Calls:
        GRUFusedFunction()(input, hidden, bias1, bias2, hx)
        GRUFusedFunction.apply(input, hidden, bias1, bias2, hx)

    Arguments:
        input: Tensor (real): gates of the input (N, 3H)
        hidden: Tensor (real): gates of the hidden state (N, 3H)
        bias1: Tensor (real) or None: bias of input (3H)
        bias2: Tensor (real) or None: bias of hidden (3H)
        hx: Tensor (real): hidden state (N, H)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of GRUFused w.r.t. the gates of the input, the gates of the hidden state (and, summed over the batch, their
    biases), and the hidden state.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor, hidden: Tensor, bias1: Tensor | None = ..., bias2: Tensor | None = ..., hx: Tensor = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, hidden: Tensor, bias1: Tensor | None = ..., bias2: Tensor | None = ..., hx: Tensor = ...) -> Tensor: ...
