"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import FunctionBase

class LinearFunction(FunctionBase):
    """Linear: output = input * weight^T + bias.

    Shapes: input (N, I) or (I); weight (O, I); bias (O) or None; output (N, O) or (O).
    Errors: ValueError for other dimensions or sizes. Source: Torch7 nn.Linear.

    Calls:
        LinearFunction()(input, weight, bias)
        LinearFunction.apply(input, weight, bias)

    Arguments:
        input: Tensor (real): input (N, I) or (I)
        weight: Tensor (real): matrix (O, I)
        bias: Tensor (real) or None: vector (O)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Linear w.r.t. its input: gradInput = gradOutput * weight.

    Gradients of Linear w.r.t. its parameters, accumulated: gradWeight += scale * gradOutput^T * input and, where bias
    is given, gradBias += scale * the sum of gradOutput over N.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
