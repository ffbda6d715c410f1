"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import FunctionBase

class LookupTableFunction(FunctionBase):
    """LookupTable: rows of a table, an embedding.

      output[i,d] = weight[input[i],d]

    Shapes: input (...) of row numbers from 0; weight (rows, D); output (..., D).
    Errors: IndexError for a row number outside of the table, ValueError for a weight that is no matrix. Source:
    Torch7 nn.LookupTable, torch.nn.Embedding; the library of 2017 had the gradient only.

    Calls:
        LookupTableFunction(scaleGradByFreq, paddingValue)(input, weight)
        LookupTableFunction.apply(input, weight, scaleGradByFreq, paddingValue)

    Arguments:
        input: Tensor (int64): row numbers (...)
        weight: Tensor (float32 or float64): the table (rows, D)
        scaleGradByFreq: bool, default False: of the backward
        paddingValue: int, default -1: of the backward

    Gradient of LookupTable by its table, accumulated: gradWeight[input[i],d] += scale * gradOutput[i,d] for each i with
    input[i] != paddingValue, divided by the number of occurrences of input[i] in input if scaleGradByFreq.

    Shapes: gradOutput (..., D) or (n, D), with n the number of indices; gradWeight (rows, D).
    """
    def __init__(self, scaleGradByFreq: bool = ..., paddingValue: int = ...) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, scaleGradByFreq: bool = ..., paddingValue: int = ...) -> Tensor: ...
