"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import FunctionBase

class BatchNormalizationFunction(FunctionBase):
    """BatchNormalization: each channel of a batch normalized to mean 0 and variance 1, then scaled by weight and
    shifted by bias.

      output = (input - mean) / sqrt(variance + eps) * weight + bias

    Shapes: input (N, C) or (N, C, ...), any number of trailing dimensions; weight, bias, running_mean, running_var,
    save_mean, save_std (C). n is the number of values per channel.
    Training: mean and variance (biased) of the batch; save_mean = mean, save_std = 1 / sqrt(variance + eps), that is the
    inverse deviation; running_mean = momentum * mean + (1 - momentum) * running_mean, and running_var likewise with the
    unbiased variance, which is variance * n / (n - 1). Evaluation: running_mean and running_var instead; save_mean
    and save_std are resized like any output, but no value is written to them.
    If variance and eps are both 0 the inverse deviation is 0.
    Errors: ValueError for fewer than 2 dimensions, sizes that do not fit, a negative eps, and in training for fewer
    than 2 values per channel, an empty batch included (the running statistics stay as they were); TypeError where the
    statistics that the mode needs are None.
    Source: Ioffe and Szegedy 2015, algorithm 1; variance by shifted sums, never E[x^2] - E[x]^2.
    The functions statistics, saveStatistics and normalize, below, are its stages.

    Calls:
        BatchNormalizationFunction(running_mean, running_var, train, momentum, eps)(input, weight, bias)
        BatchNormalizationFunction.apply(input, weight, bias, running_mean, running_var, train, momentum, eps)

    Arguments:
        input: Tensor (real): input (N, C, ...)
        weight: Tensor (real, or float32 where real is float16 or bfloat16) or None: scale (C), 1 where None
        bias: Tensor (real, or float32 where real is float16 or bfloat16) or None: shift (C), 0 where None
        running_mean: Tensor (real, or float32 where real is float16 or bfloat16) or None: running mean (C), None to keep none
        running_var: Tensor (real, or float32 where real is float16 or bfloat16) or None: running variance (C), None to keep none
        train: bool: training: statistics of the batch; evaluation: running statistics
        momentum: float: factor of the batch in the running statistics
        eps: float: added to the variance

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of BatchNormalization, each optional; gradWeight and gradBias accumulate. With inv the inverse
    deviation and xc = input - mean (saved in training, running in evaluation):
      gradWeight += scale * inv * sum(gradOutput * xc);  gradBias += scale * sum(gradOutput)
      training:   gradInput = (gradOutput - mean(gradOutput) - xc * inv^2 * sum(gradOutput * xc) / n) * inv * weight
      evaluation: gradInput = gradOutput * inv * weight
    The functions gradSums and gradInput, below, are its stages.
    """
    def __init__(self, running_mean: Tensor | None, running_var: Tensor | None, train: bool, momentum: float, eps: float) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., running_mean: Tensor | None = ..., running_var: Tensor | None = ..., train: bool = ..., momentum: float = ..., eps: float = ...) -> Tensor: ...

class BatchNormalizationReLUFunction(FunctionBase):
    """BatchNormalizationReLU: batch normalization followed by max(0, .) or, with a limit, by min(limit, max(0, .)), with no
    more memory traffic than batch normalization. With limit 6 this is batch normalization and ReLU6.

      output = min(limit, max(0, (input - mean) / sqrt(variance + eps) * weight + bias))

    Shapes, arguments and errors as in BatchNormalization; also ValueError for a limit that is not above 0. NaN stays
    NaN. Source: BatchNormalization, then torch.nn.ReLU or, with limit 6, torch.nn.ReLU6.

    Calls:
        BatchNormalizationReLUFunction(running_mean, running_var, train, momentum, eps, limit)(input, weight, bias)
        BatchNormalizationReLUFunction.apply(input, weight, bias, running_mean, running_var, train, momentum, eps, limit)

    Arguments:
        input: Tensor (real): input (N, C, ...)
        weight: Tensor (real, or float32 where real is float16 or bfloat16) or None: scale (C), 1 where None
        bias: Tensor (real, or float32 where real is float16 or bfloat16) or None: shift (C), 0 where None
        running_mean: Tensor (real, or float32 where real is float16 or bfloat16) or None: running mean (C), None to keep none
        running_var: Tensor (real, or float32 where real is float16 or bfloat16) or None: running variance (C), None to keep none
        train: bool: training: statistics of the batch; evaluation: running statistics
        momentum: float: factor of the batch in the running statistics
        eps: float: added to the variance
        limit: float, default inf: largest output; inf for none

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of BatchNormalizationReLU, each optional: BatchNormalization's gradients for gradOutput where output is
    above 0 and below a finite limit (or NaN), and 0 elsewhere. This mask is recomputed from input, not saved.
    """
    def __init__(self, running_mean: Tensor | None, running_var: Tensor | None, train: bool, momentum: float, eps: float, limit: float = ...) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., running_mean: Tensor | None = ..., running_var: Tensor | None = ..., train: bool = ..., momentum: float = ..., eps: float = ..., limit: float = ...) -> Tensor: ...

class BatchNormalizationAddFunction(FunctionBase):
    """BatchNormalizationAdd: batch normalization, plus a residual, followed by min(limit, max(0, .)) if relu.

      y = (input - mean) / sqrt(variance + eps) * weight + bias + residual
      output = min(limit, max(0, y)) where relu, else y

    NaN stays NaN. In training a large input is read for its statistics; then input and residual are read and output is
    written: 4 tensors pass through memory, where three functions move 8, or 7 where relu overwrites the sum.
    Shapes: residual and output sized as input; all others as in BatchNormalization.
    Errors: as in BatchNormalization; also ValueError for a limit that is not above 0.
    Source: BatchNormalization, then an addition and torch.nn.ReLU or, with limit 6, torch.nn.ReLU6; He et al. 2015, the end
    of a block. Added after 2017.

    Calls:
        BatchNormalizationAddFunction(running_mean, running_var, train, momentum, eps, relu, limit)(input, residual, weight, bias)
        BatchNormalizationAddFunction.apply(input, residual, weight, bias, running_mean, running_var, train, momentum, eps, relu, limit)

    Arguments:
        input: Tensor (real): input (N, C, ...)
        residual: Tensor (real): added to the normalized input, sized as input
        weight: Tensor (real, or float32 where real is float16 or bfloat16) or None: scale (C), 1 where None
        bias: Tensor (real, or float32 where real is float16 or bfloat16) or None: shift (C), 0 where None
        running_mean: Tensor (real, or float32 where real is float16 or bfloat16) or None: running mean (C), None to keep none
        running_var: Tensor (real, or float32 where real is float16 or bfloat16) or None: running variance (C), None to keep none
        train: bool: training: statistics of the batch; evaluation: running statistics
        momentum: float: factor of the batch in the running statistics
        eps: float: added to the variance
        relu: bool, default True: apply min(limit, max(0, .))
        limit: float, default inf: largest output of relu; inf for none

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of BatchNormalizationAdd. gradResidual is gradOutput or, with relu, gradOutput where output is above 0 and
    below a finite limit (or NaN), and 0 elsewhere; in half types an output that was rounded to the limit is at the limit.
    All others are optional: the gradients of BatchNormalization with gradResidual in place of gradOutput, which is why
    gradResidual is always computed. The residual is not read. A large output, gradOutput and input are read and
    gradResidual is written for the sums, then gradResidual and input are read and gradInput is written: 7 tensors pass
    through memory, where separate functions move 8.
    """
    def __init__(self, running_mean: Tensor | None, running_var: Tensor | None, train: bool, momentum: float, eps: float, relu: bool = ..., limit: float = ...) -> None: ...
    def __call__(self, input: Tensor, residual: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, residual: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., running_mean: Tensor | None = ..., running_var: Tensor | None = ..., train: bool = ..., momentum: float = ..., eps: float = ..., relu: bool = ..., limit: float = ...) -> Tensor: ...

class GroupNormalizationFunction(FunctionBase):
    """GroupNormalization: each group of channels of each sample normalized to mean 0 and variance 1, then scaled by weight
    and shifted by bias, which have one number per channel.

      output = (input - mean) / sqrt(variance + eps) * weight + bias

    Shapes: input (N, C) or (N, C, ...), any number of trailing dimensions; weight, bias (C); save_mean, save_std
    (N, numGroups). Channel c belongs to group c / (C / numGroups), rounded down. mean and variance (biased) are those of the
    C / numGroups channels and all positions of a group; save_mean = mean, save_std = 1 / sqrt(variance + eps), the inverse
    deviation, 0 if variance and eps are both 0. numGroups = C is instance normalization.
    Errors: ValueError for fewer than 2 dimensions, a numGroups that does not divide C, sizes that do not fit, a negative eps.
    Source: Wu and He 2018; Ulyanov, Vedaldi and Lempitsky 2016 for instance normalization. Later than the THNN of
    2017.

    Calls:
        GroupNormalizationFunction(numGroups, eps)(input, weight, bias)
        GroupNormalizationFunction.apply(input, weight, bias, numGroups, eps)

    Arguments:
        input: Tensor (real): input (N, C, ...)
        weight: Tensor (real, or float32 where real is float16 or bfloat16) or None: scale (C), 1 where None
        bias: Tensor (real, or float32 where real is float16 or bfloat16) or None: shift (C), 0 where None
        numGroups: int: number of groups of channels
        eps: float, default 1e-05: added to the variance

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of GroupNormalization, each optional; gradWeight and gradBias accumulate. With g = gradOutput * weight,
    inv the inverse deviation, xc = input - mean, and means over each group of a sample:
      gradInput = (g - mean(g) - xc * inv^2 * mean(g * xc)) * inv
      gradWeight += scale * sum(gradOutput * xc * inv);  gradBias += scale * sum(gradOutput), over each channel
    """
    def __init__(self, numGroups: int, eps: float = ...) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., numGroups: int = ..., eps: float = ...) -> Tensor: ...

class LayerNormalizationFunction(FunctionBase):
    """LayerNormalization: each row of the last `dims` dimensions normalized to mean 0 and variance 1, then scaled by weight
    and shifted by bias, which have one number per element of a row.

      output = (input - mean) / sqrt(variance + eps) * weight + bias

    Shapes: input (..., S), where S are `dims` sizes; weight, bias (S); save_mean, save_std (rows), where rows is the
    product of the other sizes of input. mean and variance (biased) are those of a row; save_mean = mean, save_std = 1 /
    sqrt(variance + eps), the inverse deviation, 0 if variance and eps are both 0.
    Errors: ValueError for dims below 1 or above the dimensions of input, sizes that do not fit, a negative eps.
    Source: Ba, Kiros and Hinton 2016. Later than the THNN of 2017.

    Calls:
        LayerNormalizationFunction(dims, eps)(input, weight, bias)
        LayerNormalizationFunction.apply(input, weight, bias, dims, eps)

    Arguments:
        input: Tensor (real): input (..., S)
        weight: Tensor (real, or float32 where real is float16 or bfloat16) or None: scale (S), 1 where None
        bias: Tensor (real, or float32 where real is float16 or bfloat16) or None: shift (S), 0 where None
        dims: int, default 1: number of dimensions of a row
        eps: float, default 1e-05: added to the variance

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of LayerNormalization, each optional; gradWeight and gradBias accumulate. With g = gradOutput * weight, inv
    the inverse deviation, xc = input - mean, and means over each row:
      gradInput = (g - mean(g) - xc * inv^2 * mean(g * xc)) * inv
      gradWeight += scale * sum(gradOutput * xc * inv);  gradBias += scale * sum(gradOutput), over all rows
    """
    def __init__(self, dims: int = ..., eps: float = ...) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., dims: int = ..., eps: float = ...) -> Tensor: ...

class RMSNormalizationFunction(FunctionBase):
    """RMSNormalization: each row of the last `dims` dimensions divided by its root mean square, then scaled by weight, which
    has one number per element of a row.

      output = input / sqrt(mean(input^2) + eps) * weight

    Shapes: input (..., S), where S are `dims` sizes; weight (S); save_std (rows), where rows is the product of the other
    sizes of input: save_std = 1 / sqrt(mean(input^2) + eps), 0 if mean and eps are both 0.
    Errors: ValueError for dims below 1 or above the dimensions of input, sizes that do not fit, a negative eps.
    Source: Zhang and Sennrich 2019. Later than the THNN of 2017.

    Calls:
        RMSNormalizationFunction(dims, eps)(input, weight)
        RMSNormalizationFunction.apply(input, weight, dims, eps)

    Arguments:
        input: Tensor (real): input (..., S)
        weight: Tensor (real, or float32 where real is float16 or bfloat16) or None: scale (S), 1 where None
        dims: int, default 1: number of dimensions of a row
        eps: float, default 1e-05: added to the mean square

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of RMSNormalization, each optional; gradWeight accumulates. With g = gradOutput * weight, inv the inverse
    root mean square, and means over each row:
      gradInput = (g - input * inv^2 * mean(g * input)) * inv
      gradWeight += scale * sum(gradOutput * input * inv), over all rows
    """
    def __init__(self, dims: int = ..., eps: float = ...) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor | None = ..., dims: int = ..., eps: float = ...) -> Tensor: ...

class SpatialCrossMapLRNFunction(FunctionBase):
    """SpatialCrossMapLRN: local response normalization, each element divided by
    (k + alpha * the mean square of the elements at its position in neighbouring channels)^beta.

      output[n,c,y,x] = input[n,c,y,x] * scales[n,c,y,x]^-beta
      scales[n,c,y,x] = k + alpha / size * sum over c - size / 2 <= j <= c + (size - 1) / 2 of input[n,j,y,x]^2

    where the sum is over the channels that exist, and the halves are rounded down.
    Shapes: input, output and scales (N, C, H, W) or (C, H, W).
    Errors: ValueError for other numbers of dimensions, a size below 1. Source: Torch7 nn.SpatialCrossMapLRN,
    torch.nn.LocalResponseNorm; the original THNN had it for CUDA only.

    Calls:
        SpatialCrossMapLRNFunction(size, alpha, beta, k)(input)
        SpatialCrossMapLRNFunction.apply(input, size, alpha, beta, k)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        size: int: channels of a window
        alpha: float, default 0.0001: factor of the mean of the window's squares
        beta: float, default 0.75: exponent
        k: float, default 1.0: constant term of scales

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialCrossMapLRN w.r.t. its input: gradOutput * scales^-beta
    - 2 * alpha * beta / size * input * the sum of gradOutput * output / scales
    over the windows that the channel is in.
    """
    def __init__(self, size: int, alpha: float = ..., beta: float = ..., k: float = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, size: int, alpha: float = ..., beta: float = ..., k: float = ...) -> Tensor: ...
