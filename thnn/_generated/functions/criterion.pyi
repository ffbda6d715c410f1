"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import Criterion, FunctionBase

class ClassNLLCriterionFunction(Criterion):
    """ClassNLLCriterion: negative log-likelihood of the target classes, the sum of -weights[t] * input[n, t] over the
    targets t = target[n] that are not ignore_index. If sizeAverage the loss is divided by total_weight, the sum of
    the weights[t], unless total_weight is 0.

    Shapes: input (N, C) or (C), log-probabilities; target (N) or (1), or without dimensions, classes 0 <= t < C;
    weights (C) or None for 1 each; output and total_weight one element.
    Errors: IndexError for a target that is neither a class nor ignore_index; ValueError for sizes that do not fit.
    Source: Torch7 nn.ClassNLLCriterion.

    Calls:
        ClassNLLCriterionFunction(sizeAverage, ignore_index)(input, target, weights)
        ClassNLLCriterionFunction.apply(input, target, weights, sizeAverage, ignore_index)

    Arguments:
        input: Tensor (real): log-probabilities (N, C) or (C)
        target: Tensor (int64): classes (N) or (1)
        sizeAverage: bool, default True: divide by total_weight
        weights: Tensor (real) or None: one value per class (C)
        ignore_index: int, default -100: targets of this value are ignored

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of ClassNLLCriterion w.r.t. its input: -weights[t] at each target t, divided by total_weight if sizeAverage,
    which gives -1 for an input (C); 0 elsewhere and for ignored targets; 0 everywhere if total_weight is not above 0.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor, weights: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, weights: Tensor | None = ..., sizeAverage: bool = ..., ignore_index: int = ...) -> Tensor: ...

class MSECriterionFunction(Criterion):
    """MSECriterion: sum of (input - target)^2, divided by the number of elements if sizeAverage.

    Shapes: input and target with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ. Source: Torch7 nn.MSECriterion.

    Calls:
        MSECriterionFunction(sizeAverage)(input, target)
        MSECriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): with as many elements as input
        sizeAverage: bool, default True: divide by the number of elements

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of MSECriterion w.r.t. its input: 2 * (input - target), divided by the number of elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...

class SmoothL1CriterionFunction(Criterion):
    """SmoothL1Criterion: sum of 0.5 * d^2 where |d| < 1 and |d| - 0.5 elsewhere, d = input - target, divided by the
    number of elements if sizeAverage.

    Shapes: input and target with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ.
    Source: Girshick 2015 (Huber's loss).

    Calls:
        SmoothL1CriterionFunction(sizeAverage)(input, target)
        SmoothL1CriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): with as many elements as input
        sizeAverage: bool, default True: divide by the number of elements

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SmoothL1Criterion w.r.t. its input: d clamped to [-1, 1], divided by the number of elements if
    sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...

class BCECriterionFunction(Criterion):
    """BCECriterion: binary cross entropy, the sum of -weights * (target * log(input) + (1 - target) * log(1 - input))
    with each logarithm at least -100, divided by the number of elements (not by the sum of the weights) if
    sizeAverage.

    Shapes: input, target and weights with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ and for an input outside [0, 1], NaN included.
    Source: Torch7 nn.BCECriterion; torch.nn.BCELoss for the bound of the logarithms.

    Calls:
        BCECriterionFunction(sizeAverage)(input, target, weights)
        BCECriterionFunction.apply(input, target, weights, sizeAverage)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): with as many elements as input
        sizeAverage: bool, default True: divide by the number of elements
        weights: Tensor (real) or None: factor of each element, as many as input has

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of BCECriterion w.r.t. its input: weights * (input - target) / max(input * (1 - input), 1e-12), divided by
    the number of elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor, weights: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, weights: Tensor | None = ..., sizeAverage: bool = ...) -> Tensor: ...

class AbsCriterionFunction(Criterion):
    """AbsCriterion: sum of |input - target|, divided by the number of elements if sizeAverage.

    Shapes: input and target with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ. Source: Torch7 nn.AbsCriterion.

    Calls:
        AbsCriterionFunction(sizeAverage)(input, target)
        AbsCriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): with as many elements as input
        sizeAverage: bool, default True: divide by the number of elements

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of AbsCriterion w.r.t. its input: 1 where input >= target, else -1, divided by the number of elements if
    sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...

class DistKLDivCriterionFunction(Criterion):
    """DistKLDivCriterion: Kullback-Leibler divergence, the sum of target * (log(target) - input) over the elements with
    target > 0, divided by the number of elements if sizeAverage.

    Shapes: input and target with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ. Source: Torch7 nn.DistKLDivCriterion.

    Calls:
        DistKLDivCriterionFunction(sizeAverage)(input, target)
        DistKLDivCriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (real): log-probabilities, any shape
        target: Tensor (real): probabilities, as many as input has
        sizeAverage: bool, default True: divide by the number of elements

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of DistKLDivCriterion w.r.t. its input: -target where target > 0, else 0, divided by the number of elements
    if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...

class L1CostFunction(Criterion):
    """L1Cost: sum of |input|, a penalty without a target. Any shape; output one element. Source: Torch7 nn.L1Cost.

    Calls:
        L1CostFunction()(input)
        L1CostFunction.apply(input)

    Arguments:
        input: Tensor (real): input, any shape

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of L1Cost w.r.t. its input: the sign of input, 0 for 0.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class MarginCriterionFunction(Criterion):
    """MarginCriterion: hinge loss, the sum of max(0, margin - input * target), divided by the number of elements if
    sizeAverage.

    Shapes: input and target with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ. Source: Torch7 nn.MarginCriterion.

    Calls:
        MarginCriterionFunction(sizeAverage, margin)(input, target)
        MarginCriterionFunction.apply(input, target, sizeAverage, margin)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): -1 or 1, as many as input has
        sizeAverage: bool, default True: divide by the number of elements
        margin: float, default 1.0: products above it cost nothing

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of MarginCriterion w.r.t. its input: -target where input * target < margin, else 0, divided by the number of
    elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ..., margin: float = ...) -> Tensor: ...

class SoftMarginCriterionFunction(Criterion):
    """SoftMarginCriterion: logistic loss, the sum of log(1 + exp(-input * target)), without overflow, divided by the
    number of elements if sizeAverage.

    Shapes: input and target with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ. Source: Torch7 nn.SoftMarginCriterion.

    Calls:
        SoftMarginCriterionFunction(sizeAverage)(input, target)
        SoftMarginCriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): -1 or 1, as many as input has
        sizeAverage: bool, default True: divide by the number of elements

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SoftMarginCriterion w.r.t. its input: -target / (1 + exp(input * target)), divided by the number of
    elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...

class SpatialClassNLLCriterionFunction(Criterion):
    """SpatialClassNLLCriterion: ClassNLLCriterion of every pixel, the sum of -weights[t] * input[n,t,h,w] over the
    targets t = target[n,h,w] that are not ignore_index. If sizeAverage it is divided by total_weight, the sum of their
    weights, unless that is 0.

    Shapes: input (N, C, H, W), log-probabilities; target (N, H, W), classes 0 <= t < C; weights (C) or None for 1
    each; output and total_weight one element.
    Errors: IndexError for a target that is neither a class nor ignore_index; ValueError for sizes that do not fit.
    Source: Torch7 nn.SpatialClassNLLCriterion.

    Calls:
        SpatialClassNLLCriterionFunction(sizeAverage, ignore_index)(input, target, weights)
        SpatialClassNLLCriterionFunction.apply(input, target, weights, sizeAverage, ignore_index)

    Arguments:
        input: Tensor (real): log-probabilities (N, C, H, W)
        target: Tensor (int64): classes (N, H, W)
        sizeAverage: bool, default True: divide by total_weight
        weights: Tensor (real) or None: one per class (C)
        ignore_index: int, default -100: targets of this value are ignored

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialClassNLLCriterion w.r.t. its input: -weights[t] at the targets, divided by total_weight if
    sizeAverage, 0 elsewhere, and 0 everywhere if total_weight is not above 0.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor, weights: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, weights: Tensor | None = ..., sizeAverage: bool = ..., ignore_index: int = ...) -> Tensor: ...

class MultiMarginCriterionFunction(Criterion):
    """MultiMarginCriterion: hinge loss of the target class against every other class, the sum over n and j != t of
    weights[t] * max(0, margin - input[n,t] + input[n,j])^p / C with t = target[n], divided by N if sizeAverage.

    Shapes: input (N, C) or (C); target (N) or (1), or without dimensions, classes 0 <= t < C; weights (C) or None for
    1 each; output one element.
    Errors: IndexError for a target that is not a class; ValueError for a p other than 1 and 2 and for sizes that do not
    fit. Source: Torch7 nn.MultiMarginCriterion.

    Calls:
        MultiMarginCriterionFunction(sizeAverage, p, margin)(input, target, weights)
        MultiMarginCriterionFunction.apply(input, target, weights, sizeAverage, p, margin)

    Arguments:
        input: Tensor (real): scores (N, C) or (C)
        target: Tensor (int64): classes (N) or (1)
        sizeAverage: bool, default True: divide by N
        p: int, default 1: exponent, 1 or 2
        weights: Tensor (real) or None: one per class (C)
        margin: float, default 1.0: least difference that costs nothing

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of MultiMarginCriterion w.r.t. its input: with z = margin - input[n,t] + input[n,j] and the slope k =
    weights[t] * p * z^(p-1) / C where z > 0, else 0, it is k for every class j != t and minus the sum of these for t,
    divided by N if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor, weights: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, weights: Tensor | None = ..., sizeAverage: bool = ..., p: int = ..., margin: float = ...) -> Tensor: ...

class MultiLabelMarginCriterionFunction(Criterion):
    """MultiLabelMarginCriterion: hinge loss of the classes of each row against the other classes, the sum over n, over
    the classes t of row n and over all other classes j, of max(0, 1 - input[n,t] + input[n,j]) / C,
    divided by N if sizeAverage. A row of target has class numbers up to the first -1; a class listed twice counts
    twice.

    Shapes: input and target (N, C) or (C); output one element.
    Errors: IndexError for a number before the first -1 that is not a class; ValueError for sizes that do not fit.
    Source: Torch7 nn.MultiLabelMarginCriterion.

    Calls:
        MultiLabelMarginCriterionFunction(sizeAverage)(input, target)
        MultiLabelMarginCriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (real): scores (N, C) or (C)
        target: Tensor (int64): sized as input: classes, then -1
        sizeAverage: bool, default True: divide by N

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of MultiLabelMarginCriterion w.r.t. its input: every positive term adds 1 / C for its j and subtracts it for
    its t, divided by N if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...

class BCEWithLogitsCriterionFunction(Criterion):
    """BCEWithLogitsCriterion: BCECriterion of sigmoid(input), without its rounding: the sum of
    weights * (max(input, 0) - input * target + log(1 + exp(-|input|))), divided by the number of elements (not by the
    sum of the weights) if sizeAverage.

    Shapes: input, target and weights with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ. Added after 2017. Source: torch.nn.BCEWithLogitsLoss.

    Calls:
        BCEWithLogitsCriterionFunction(sizeAverage)(input, target, weights)
        BCEWithLogitsCriterionFunction.apply(input, target, weights, sizeAverage)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): with as many elements as input
        sizeAverage: bool, default True: divide by the number of elements
        weights: Tensor (real) or None: factor of each element, as many as input has

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of BCEWithLogitsCriterion w.r.t. its input: weights * (sigmoid(input) - target), divided by the number of
    elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor, weights: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, weights: Tensor | None = ..., sizeAverage: bool = ...) -> Tensor: ...

class HuberCriterionFunction(Criterion):
    """HuberCriterion: sum of 0.5 * d^2 where |d| <= delta and delta * (|d| - 0.5 * delta) elsewhere, d = input - target,
    divided by the number of elements if sizeAverage.

    Shapes: input and target with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ and for a delta that is not above 0. Added after 2017. Source:
    Huber 1964; torch.nn.HuberLoss.

    Calls:
        HuberCriterionFunction(sizeAverage, delta)(input, target)
        HuberCriterionFunction.apply(input, target, sizeAverage, delta)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): with as many elements as input
        sizeAverage: bool, default True: divide by the number of elements
        delta: float, default 1.0: |d| from which the loss is linear, above 0

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of HuberCriterion w.r.t. its input: d clamped to [-delta, delta], divided by the number of elements if
    sizeAverage. Errors: as the forward.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ..., delta: float = ...) -> Tensor: ...

class PoissonNLLCriterionFunction(Criterion):
    """PoissonNLLCriterion: negative log-likelihood of counts with a Poisson distribution, given the logarithm of its rate,
    without the logarithm of the factorial: the sum of exp(input) - target * input, divided by the number of elements if
    sizeAverage.

    Shapes: input and target with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ. Added after 2017. Source: torch.nn.PoissonNLLLoss.

    Calls:
        PoissonNLLCriterionFunction(sizeAverage)(input, target)
        PoissonNLLCriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): with as many elements as input
        sizeAverage: bool, default True: divide by the number of elements

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of PoissonNLLCriterion w.r.t. its input: exp(input) - target, divided by the number of elements if
    sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...

class PoissonRateNLLCriterionFunction(Criterion):
    """PoissonRateNLLCriterion: PoissonNLLCriterion, given the rate: the sum of input - target * log(input + eps), divided
    by the number of elements if sizeAverage.

    Shapes: input and target with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ. Added after 2017. Source:
    torch.nn.PoissonNLLLoss(log_input=False).

    Calls:
        PoissonRateNLLCriterionFunction(sizeAverage, eps)(input, target)
        PoissonRateNLLCriterionFunction.apply(input, target, sizeAverage, eps)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): with as many elements as input
        sizeAverage: bool, default True: divide by the number of elements
        eps: float, default 1e-08: keeps the logarithm of a rate of 0 finite

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of PoissonRateNLLCriterion w.r.t. its input: 1 - target / (input + eps), divided by the number of elements
    if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ..., eps: float = ...) -> Tensor: ...

class MarginRankingCriterionFunction(Criterion):
    """MarginRankingCriterion: sum of max(0, margin - target * input), where input is the difference of two scores and
    target is 1 if the first one should be larger, else -1; divided by the number of elements if sizeAverage.

    Shapes: input and target with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ. Added after 2017. Source: torch.nn.MarginRankingLoss.

    Calls:
        MarginRankingCriterionFunction(sizeAverage, margin)(input, target)
        MarginRankingCriterionFunction.apply(input, target, sizeAverage, margin)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): with as many elements as input
        sizeAverage: bool, default True: divide by the number of elements
        margin: float, default 0.0: no loss where target * input is above it

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of MarginRankingCriterion w.r.t. its input: -target where target * input <= margin (in MarginCriterion:
    below margin), else 0, divided by the number of elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ..., margin: float = ...) -> Tensor: ...

class HingeEmbeddingCriterionFunction(Criterion):
    """HingeEmbeddingCriterion: sum of input where target is 1 and of max(0, margin - input) where target is -1, and of both
    for any other target, divided by the number of elements if sizeAverage.

    Shapes: input and target with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ. Added after 2017. Source: torch.nn.HingeEmbeddingLoss.

    Calls:
        HingeEmbeddingCriterionFunction(sizeAverage, margin)(input, target)
        HingeEmbeddingCriterionFunction.apply(input, target, sizeAverage, margin)

    Arguments:
        input: Tensor (real): input, any shape
        target: Tensor (real): with as many elements as input
        sizeAverage: bool, default True: divide by the number of elements
        margin: float, default 1.0: no loss for target -1 where input is above it

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of HingeEmbeddingCriterion w.r.t. its input: 1 where target is 1; -1 where target is -1 and input <= margin,
    else 0; the sum of both for any other target. Divided by the number of elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ..., margin: float = ...) -> Tensor: ...

class GaussianNLLCriterionFunction(Criterion):
    """GaussianNLLCriterion: negative log-likelihood of a target with a normal distribution, given its mean and its
    variance, without the constant log(2 * pi) / 2: the sum of (log(v) + (input - target)^2 / v) / 2 with v =
    max(var, eps), divided by the number of elements if sizeAverage.

    Shapes: input, target and var with the same number of elements, paired in row-major order; output one element.
    Errors: ValueError for numbers of elements that differ and for a variance below 0. Added after 2017. Source: Nix
    and Weigend 1994; torch.nn.GaussianNLLLoss.

    Calls:
        GaussianNLLCriterionFunction(sizeAverage, eps)(input, target, var)
        GaussianNLLCriterionFunction.apply(input, target, var, sizeAverage, eps)

    Arguments:
        input: Tensor (real): means, any shape
        target: Tensor (real): with as many elements as input
        var: Tensor (real): variances, as many as input has elements
        sizeAverage: bool, default True: divide by the number of elements
        eps: float, default 1e-06: least variance

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of GaussianNLLCriterion: gradInput = (input - target) / v; gradVar = 0.5 / v * (1 - (input - target)^2
    / v), also where var is below eps; both divided by the number of elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, var: Tensor, sizeAverage: bool = ..., eps: float = ...) -> Tensor: ...

class CosineEmbeddingCriterionFunction(Criterion):
    """CosineEmbeddingCriterion: the sum over pairs of rows of 1 - c where target is 1 and of max(0, c - margin) where
    target is -1, divided by the number of pairs if sizeAverage; c is the cosine of the rows, input1 . input2 /
    sqrt((|input1|^2 + 1e-12) * (|input2|^2 + 1e-12)). Other targets cost nothing.

    Shapes: input1 and input2 (N, D), target (N), output one element.
    Errors: ValueError for sizes that do not fit. Added after 2017. Source: Torch7 nn.CosineEmbeddingCriterion;
    torch.nn.CosineEmbeddingLoss.

    Calls:
        CosineEmbeddingCriterionFunction(sizeAverage, margin)(input1, input2, target)
        CosineEmbeddingCriterionFunction.apply(input1, input2, target, sizeAverage, margin)

    Arguments:
        input1: Tensor (real): rows (N, D)
        input2: Tensor (real): rows (N, D)
        target: Tensor (real): 1 or -1 for each pair (N)
        sizeAverage: bool, default True: divide by the number of pairs
        margin: float, default 0.0: no loss for target -1 where the cosine is below it

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of CosineEmbeddingCriterion: for target 1 minus, and for target -1 and c >= margin, the gradient of c,
    which is input2 / sqrt(...) - c * input1 / (|input1|^2 + 1e-12) w.r.t. input1; else 0. Divided by the number of
    pairs if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input1: Tensor, input2: Tensor, target: Tensor, sizeAverage: bool = ..., margin: float = ...) -> Tensor: ...

class PairwiseDistanceFunction(FunctionBase):
    """PairwiseDistance: the distance of each pair of rows, the p-norm of x1 - x2 + eps.

    Shapes: x1 and x2 (N, D), output (N).
    Errors: ValueError for sizes that do not fit and for another p than 1 and 2. Added after 2017. Source: Torch7
    nn.PairwiseDistance; torch.nn.PairwiseDistance.

    Calls:
        PairwiseDistanceFunction(p, eps)(x1, x2)
        PairwiseDistanceFunction.apply(x1, x2, p, eps)

    Arguments:
        x1: Tensor (real): rows (N, D)
        x2: Tensor (real): rows (N, D)
        p: int, default 2: the norm: 1, a sum of magnitudes, or 2, the Euclidean norm
        eps: float, default 1e-06: added to each difference

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of PairwiseDistance: with d = x1 - x2 + eps, gradX1 = gradOutput * d / output, and 0 where
    output is 0, for p 2, gradOutput * sign(d) for p 1; gradX2 = -gradX1.
    """
    def __init__(self, p: int = ..., eps: float = ...) -> None: ...
    def __call__(self, x1: Tensor, x2: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, x1: Tensor, x2: Tensor, p: int = ..., eps: float = ...) -> Tensor: ...
