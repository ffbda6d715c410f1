"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import Criterion

class ClassNLLCriterionFunction(Criterion):
    """ClassNLLCriterion: negative log-likelihood of the target classes, the sum of -weights[t] * input[n, t] over the targets
    t = target[n] that are not ignore_index. If sizeAverage the loss is divided by total_weight, the sum of the weights[t],
    unless total_weight is 0.

    Shapes: input (N, C) or (C), log-probabilities; target (N) or (1), or without dimensions, classes 0 <= t < C;
    weights (C) or None for 1 each; output and total_weight one element.
    Errors: IndexError for a target that is neither a class nor ignore_index; ValueError for sizes that do not fit.
    Source: Torch7 nn.ClassNLLCriterion.

    Calls:
        ClassNLLCriterionFunction(sizeAverage, ignore_index)(input, target, weights)
        ClassNLLCriterionFunction.apply(input, target, weights, sizeAverage, ignore_index)

    Arguments:
        input: Tensor (float32 or float64): log-probabilities (N, C) or (C)
        target: Tensor (int64): classes (N) or (1)
        sizeAverage: bool, default True: divide by total_weight
        weights: Tensor (float32 or float64) or None: one value per class (C)
        ignore_index: int, default -100: targets of this value are ignored

    Gradient of ClassNLLCriterion by its input: -weights[t] at each target t, divided by total_weight if sizeAverage
    (for an input (C) that quotient is -1); 0 elsewhere and for ignored targets; 0 everywhere if total_weight is not
    above 0.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor, weights: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, weights: Tensor | None = ..., sizeAverage: bool = ..., ignore_index: int = ...) -> Tensor: ...

class MSECriterionFunction(Criterion):
    """MSECriterion: sum of (input - target)^2, divided by the number of elements if sizeAverage.

    Shapes: input and target of one size; output one element. Errors: ValueError for sizes that differ.

    Calls:
        MSECriterionFunction(sizeAverage)(input, target)
        MSECriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (float32 or float64): input, any shape
        target: Tensor (float32 or float64): sized as input
        sizeAverage: bool, default True: divide by the number of elements

    Gradient of MSECriterion by its input: 2 * (input - target), divided by the number of elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...

class SmoothL1CriterionFunction(Criterion):
    """SmoothL1Criterion: sum of 0.5 * d^2 where |d| < 1 and |d| - 0.5 elsewhere, d = input - target, divided by the number of
    elements if sizeAverage.

    Shapes: input and target of one size; output one element. Errors: ValueError for sizes that differ.
    Source: Girshick 2015 (Huber's loss).

    Calls:
        SmoothL1CriterionFunction(sizeAverage)(input, target)
        SmoothL1CriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (float32 or float64): input, any shape
        target: Tensor (float32 or float64): sized as input
        sizeAverage: bool, default True: divide by the number of elements

    Gradient of SmoothL1Criterion by its input: d clamped to [-1, 1], divided by the number of elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...

class BCECriterionFunction(Criterion):
    """BCECriterion: binary cross entropy, the sum of -weights * (target * log(input) + (1 - target) * log(1 - input)) with each
    logarithm at least -100, divided by the number of elements (not by the sum of the weights) if sizeAverage.

    Shapes: input and target of one size; weights with as many elements as input; output one element.
    Errors: ValueError for sizes that differ and for an input outside [0, 1], NaN included.

    Calls:
        BCECriterionFunction(sizeAverage)(input, target, weights)
        BCECriterionFunction.apply(input, target, weights, sizeAverage)

    Arguments:
        input: Tensor (float32 or float64): input, any shape
        target: Tensor (float32 or float64): sized as input
        sizeAverage: bool, default True: divide by the number of elements
        weights: Tensor (float32 or float64) or None: factor of each element, as many as input has

    Gradient of BCECriterion by its input: weights * (input - target) / max(input * (1 - input), 1e-12), divided by the number of
    elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor, weights: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, weights: Tensor | None = ..., sizeAverage: bool = ...) -> Tensor: ...

class AbsCriterionFunction(Criterion):
    """AbsCriterion: sum of |input - target|, divided by the number of elements if sizeAverage.

    Shapes: input and target of one size; output one element. Errors: ValueError for sizes that differ.

    Calls:
        AbsCriterionFunction(sizeAverage)(input, target)
        AbsCriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (float32 or float64): input, any shape
        target: Tensor (float32 or float64): sized as input
        sizeAverage: bool, default True: divide by the number of elements

    Gradient of AbsCriterion by its input: 1 where input >= target, else -1, divided by the number of elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...
