"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import FunctionBase

class ThresholdFunction(FunctionBase):
    """Threshold: output = val where input <= threshold, else input. Any shape. With threshold and val 0 this is ReLU.
    NaN is not at or below the threshold: it stays NaN.
    Errors: ValueError if inplace and val > threshold, where the backward could no longer tell the two cases apart.
    Source: Torch7 nn.Threshold.

    Calls:
        ThresholdFunction(threshold, val, inplace)(input)
        ThresholdFunction.apply(input, threshold, val, inplace)

    Arguments:
        input: Tensor (float32 or float64): input, any shape; overwritten if inplace
        threshold: float: values above it are kept
        val: float: replaces the other values
        inplace: bool, default False: write the result into input

    Gradient of Threshold by its input: 0 where input <= threshold, else gradOutput.
    """
    def __init__(self, threshold: float, val: float, inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, threshold: float, val: float, inplace: bool = ...) -> Tensor: ...

class LeakyReLUFunction(FunctionBase):
    """LeakyReLU: output = input where input > 0, else negval * input. Any shape.
    Source: Maas, Hannun and Ng 2013.

    Calls:
        LeakyReLUFunction(negval, inplace)(input)
        LeakyReLUFunction.apply(input, negval, inplace)

    Arguments:
        input: Tensor (float32 or float64): input, any shape; overwritten if inplace
        negval: float: slope where input is not positive
        inplace: bool, default False: write the result into input

    Gradient of LeakyReLU by its input: gradOutput where input > 0, else negval * gradOutput.
    """
    def __init__(self, negval: float, inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, negval: float, inplace: bool = ...) -> Tensor: ...

class SigmoidFunction(FunctionBase):
    """Sigmoid: output = 1 / (1 + exp(-input)). Any shape.

    Calls:
        SigmoidFunction()(input)
        SigmoidFunction.apply(input)

    Arguments:
        input: Tensor (float32 or float64): input, any shape

    Gradient of Sigmoid by its input: gradOutput * output * (1 - output).
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class TanhFunction(FunctionBase):
    """Tanh: output = tanh(input). Any shape.

    Calls:
        TanhFunction()(input)
        TanhFunction.apply(input)

    Arguments:
        input: Tensor (float32 or float64): input, any shape

    Gradient of Tanh by its input: gradOutput * (1 - output^2).
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class SoftMaxFunction(FunctionBase):
    """SoftMax: output = exp(input) / sum over channels of exp(input), computed after subtracting the maximum.

    Shapes: input (C), (N, C), (C, H, W) or (N, C, H, W). Errors: ValueError for other dimensions.
    Source: Torch7 nn.SoftMax.

    Calls:
        SoftMaxFunction()(input)
        SoftMaxFunction.apply(input)

    Arguments:
        input: Tensor (float32 or float64): input (C), (N, C), (C, H, W) or (N, C, H, W)

    Gradient of SoftMax by its input: output * (gradOutput - sum over channels of gradOutput * output).
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class LogSoftMaxFunction(FunctionBase):
    """LogSoftMax: output = input - log(sum over channels of exp(input)), the logarithm of SoftMax.

    Shapes: input (C), (N, C), (C, H, W) or (N, C, H, W). Errors: ValueError for other dimensions.
    Source: Torch7 nn.LogSoftMax.

    Calls:
        LogSoftMaxFunction()(input)
        LogSoftMaxFunction.apply(input)

    Arguments:
        input: Tensor (float32 or float64): input (C), (N, C), (C, H, W) or (N, C, H, W)

    Gradient of LogSoftMax by its input: gradOutput - exp(output) * sum over channels of gradOutput.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...
