"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import FunctionBase

class LookupTableFunction(FunctionBase):
    """LookupTable: rows of a table, an embedding.

      output[i,d] = weight[input[i],d]

    The autograd class has a gradient w.r.t. weight only. LookupTable_renorm, called before it, limits the norms of the
    rows in use. Shapes: input (...) of row numbers from 0; weight (rows, D); output (..., D).
    Errors: IndexError for a row number outside of the table, ValueError for a weight that is not a matrix. Source:
    Torch7 nn.LookupTable, torch.nn.Embedding; the original THNN had only the gradient.

    Calls:
        LookupTableFunction(scaleGradByFreq, paddingValue)(input, weight)
        LookupTableFunction.apply(input, weight, scaleGradByFreq, paddingValue)

    Arguments:
        input: Tensor (int64): row numbers (...)
        weight: Tensor (real): the table (rows, D)
        scaleGradByFreq: bool, default False: read by the backward only
        paddingValue: int, default -1: read by the backward only

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of LookupTable w.r.t. its table, accumulated: gradWeight[input[i],d] += scale * gradOutput[i,d] for each i
    with input[i] != paddingValue, divided by the number of occurrences of input[i] in input if scaleGradByFreq.

    Shapes: gradOutput (..., D) or (n, D), with n the number of indices; gradWeight (rows, D).
    """
    def __init__(self, scaleGradByFreq: bool = ..., paddingValue: int = ...) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, scaleGradByFreq: bool = ..., paddingValue: int = ...) -> Tensor: ...

class LookupTableBagFunction(FunctionBase):
    """LookupTableBag: the sum, mean or maximum of the rows of a table that each bag of row numbers names.

      output[b,d] = sum, mean or maximum of weight[input[i],d] over the i in bag b with input[i] != paddingValue

    Bag b holds input[offsets[b]] to input[offsets[b+1] - 1]; the last bag extends to the end of input. Without offsets,
    bag b is row b of input. A bag without rows gives 0. NaN counts as larger than any number. The first of equal maxima
    gets the gradient. Shapes: input (n) with offsets (B), or input (B, L) without; weight (rows, D); output (B, D).
    Errors: IndexError for a row number outside of the table, offsets that decrease, exceed n or begin with a number
    other than 0; ValueError for an unknown mode, scaleGradByFreq with mode 2, sizes that do not fit. Source:
    torch.nn.EmbeddingBag.

    Calls:
        LookupTableBagFunction(mode, scaleGradByFreq, paddingValue)(input, offsets, weight)
        LookupTableBagFunction.apply(input, offsets, weight, mode, scaleGradByFreq, paddingValue)

    Arguments:
        input: Tensor (int64): row numbers (n), or (B, L) without offsets
        offsets: Tensor (int64) or None: position in input of each bag's first row number (B)
        weight: Tensor (real): the table (rows, D)
        mode: int, default 0: 0 sum, 1 mean, 2 maximum
        scaleGradByFreq: bool, default False: read by the backward only
        paddingValue: int, default -1: row number that bags leave out; -1 for none

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of LookupTableBag w.r.t. its table, accumulated: for each i in bag b with input[i] != paddingValue,
    gradWeight[input[i],d] += scale * gradOutput[b,d], divided by bagSize[b] for a mean and by the number of
    occurrences of input[i] in input if scaleGradByFreq; for a maximum
    gradWeight[maxIndices[b,d],d] += scale * gradOutput[b,d].
    """
    def __init__(self, mode: int = ..., scaleGradByFreq: bool = ..., paddingValue: int = ...) -> None: ...
    def __call__(self, input: Tensor, offsets: Tensor | None = ..., weight: Tensor = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, offsets: Tensor | None = ..., weight: Tensor = ..., mode: int = ..., scaleGradByFreq: bool = ..., paddingValue: int = ...) -> Tensor: ...
