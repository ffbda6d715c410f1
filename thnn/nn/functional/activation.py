"""Activations: the functions of ``torch.nn.functional`` of the same names, computed by thnn.

Inputs have any shape. They are float32, float64, float16 or bfloat16. Errors: TypeError for
other types, ValueError for settings.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn._binding.arguments import describe, product_in_autocast
from thnn._classes import function_classes

_celu = function_classes["CELUFunction"]
_elu = function_classes["ELUFunction"]
_gated_linear = function_classes["GatedLinearFunction"]
_gelu = function_classes["GELUFunction"]
_gelu_tanh = function_classes["GELUTanhFunction"]
_hard_shrink = function_classes["HardShrinkFunction"]
_hard_sigmoid = function_classes["HardSigmoidFunction"]
_hard_swish = function_classes["HardSwishFunction"]
_hard_tanh = function_classes["HardTanhFunction"]
_leaky_relu = function_classes["LeakyReLUFunction"]
_log_sigmoid = function_classes["LogSigmoidFunction"]
_log_soft_max = function_classes["LogSoftMaxFunction"]
_mish = function_classes["MishFunction"]
_prelu = function_classes["PReLUFunction"]
_rrelu = function_classes["RReLUFunction"]
_selu = function_classes["SELUFunction"]
_sigmoid = function_classes["SigmoidFunction"]
_silu = function_classes["SiLUFunction"]
_soft_max = function_classes["SoftMaxFunction"]
_soft_plus = function_classes["SoftPlusFunction"]
_soft_shrink = function_classes["SoftShrinkFunction"]
_soft_sign = function_classes["SoftSignFunction"]
_tanh = function_classes["TanhFunction"]
_tanh_shrink = function_classes["TanhShrinkFunction"]
_threshold = function_classes["ThresholdFunction"]


def _may_be_overwritten_again(input: Tensor) -> bool:
    """True if torch would save a copy of the input of hardtanh or threshold in place, so that the caller may overwrite
    the output before the backward, or of silu, mish, hardswish or hardsigmoid, whose gradient is a function of the
    input. thnn saves the output itself, as torch does for the other activations."""
    return torch.is_grad_enabled() and isinstance(input, Tensor) and input.requires_grad and not input.is_leaf


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`input` where it exceeds `threshold`, else `value`; in place computed by torch with a gradient, for which
    it saves a copy, and if `value` exceeds `threshold`."""
    if inplace and (_may_be_overwritten_again(input) or value > threshold):
        return F.threshold(input, threshold, value, True)
    output: Tensor = _threshold.apply(input, threshold, value, inplace)
    return output


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0)."""
    output: Tensor = _threshold.apply(input, 0.0, 0.0, inplace)
    return output


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`input` where it is positive, else negative_slope * input."""
    output: Tensor = _leaky_relu.apply(input, negative_slope, inplace)
    return output


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(input, 0), 6)."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """min(max(input, min_val), max_val); in place with a gradient computed by torch, which saves a copy."""
    if inplace and _may_be_overwritten_again(input):
        return F.hardtanh(input, min_val, max_val, True)
    output: Tensor = _hard_tanh.apply(input, min_val, max_val, inplace)
    return output


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where it is positive, else alpha * (exp(input) - 1); with a negative `alpha` computed by torch."""
    if alpha < 0:
        return F.elu(input, alpha, inplace)
    output: Tensor = _elu.apply(input, alpha, inplace)
    return output


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where it is positive, else alpha * (exp(input / alpha) - 1); with a negative `alpha` computed by
    torch."""
    if alpha < 0:
        return F.celu(input, alpha, inplace)
    output: Tensor = _celu.apply(input, alpha, inplace)
    return output


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """1.0507 * elu(input, 1.6733), with the constants of Klambauer et al. 2017, which keep mean 0 and variance 1."""
    output: Tensor = _selu.apply(input, inplace)
    return output


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """input * P(input), P being the distribution function of the standard normal distribution; with
    approximate='tanh' 0.5 * input * (1 + tanh(sqrt(2 / pi) * (input + 0.044715 * input^3))) (Hendrycks and Gimpel
    2016)."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate: expected 'none' or 'tanh', got {approximate!r}")
    output: Tensor = (_gelu_tanh if approximate == "tanh" else _gelu).apply(input)
    return output


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input * sigmoid(input); in place with a gradient computed by torch, which saves a copy."""
    if inplace and _may_be_overwritten_again(input):
        return F.silu(input, True)
    output: Tensor = _silu.apply(input, inplace)
    return output


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(log(1 + exp(input))); in place with a gradient computed by torch, which saves a copy."""
    if inplace and _may_be_overwritten_again(input):
        return F.mish(input, True)
    output: Tensor = _mish.apply(input, inplace)
    return output


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * min(max(input + 3, 0), 6) / 6; in place with a gradient computed by torch, which saves a copy."""
    if inplace and _may_be_overwritten_again(input):
        return F.hardswish(input, True)
    output: Tensor = _hard_swish.apply(input, inplace)
    return output


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(input + 3, 0), 6) / 6; in place with a gradient computed by torch, which saves a copy."""
    if inplace and _may_be_overwritten_again(input):
        return F.hardsigmoid(input, True)
    output: Tensor = _hard_sigmoid.apply(input, inplace)
    return output


def softsign(input: Tensor) -> Tensor:
    """input / (1 + |input|)."""
    output: Tensor = _soft_sign.apply(input)
    return output


def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input)."""
    output: Tensor = _tanh_shrink.apply(input)
    return output


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """`input` where it is outside of [-lambd, lambd], else 0."""
    output: Tensor = _hard_shrink.apply(input, lambd)
    return output


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """`input` moved towards 0 by `lambd`, and 0 in [-lambd, lambd]."""
    if not 0 <= lambd < math.inf:
        raise ValueError(f"lambd: expected at least 0 and a finite number, got {lambd}")
    output: Tensor = _soft_shrink.apply(input, lambd)
    return output


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * input)) / beta, and `input` where beta * input exceeds `threshold`."""
    output: Tensor = _soft_plus.apply(input, beta, threshold)
    return output


def logsigmoid(input: Tensor) -> Tensor:
    """log(1 / (1 + exp(-input)))."""
    output: Tensor = _log_sigmoid.apply(input)
    return output


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input` where it is positive, else weight * input, with one weight or one for each channel (dimension 1)."""
    if weight.numel() == 0:
        if input.dim() > 1 and input.shape[1] == 0:
            return torch.prelu(input, weight)  # 0 channels mean one weight for all to the C function
        raise ValueError("weight: expected one number, or one for each channel, got an empty tensor")
    channels = 0 if weight.numel() == 1 else weight.numel()
    if channels and input.dim() < 2:
        raise ValueError(f"weight: expected one number for an input without channels, got {channels}")
    return product_in_autocast(_prelu.apply(input, weight.reshape(-1), channels))


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """`input` where it is positive, else slope * input, with a slope for each element.

    In training slopes are uniform random numbers from lower to upper, by torch's default generator; otherwise each is
    (lower + upper) / 2.
    """
    output: Tensor = _rrelu.apply(input, lower, upper, training, inplace)
    return output


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a * sigmoid(b) for the two halves a and b of `input` along `dim`."""
    if not -input.dim() <= dim < input.dim():
        raise IndexError(f"dim: expected -{input.dim()} <= dim < {input.dim()}, got {dim}")
    output: Tensor = _gated_linear.apply(input, dim % input.dim())
    return output


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input))."""
    output: Tensor = _sigmoid.apply(input)
    return output


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    output: Tensor = _tanh.apply(input)
    return output


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch.dtype | None = None
) -> Tensor:
    """exp(input) / its sum along `dim`."""
    return along(_soft_max.apply, input, dim, dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch.dtype | None = None
) -> Tensor:
    """exp(-input) / its sum along `dim`."""
    return along(_soft_max.apply, -input, dim, dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch.dtype | None = None
) -> Tensor:
    """input - log of the sum of exp(input) along `dim`."""
    return along(_log_soft_max.apply, input, dim, dtype)


def along(function: Any, input: Tensor, dim: int | None, dtype: torch.dtype | None = None) -> Tensor:
    """A soft-max of THNN.h, which chooses the dimension by the number of dimensions, along `dim`."""
    if dtype is not None:
        if not isinstance(dtype, torch.dtype):
            raise TypeError(f"dtype: expected a torch.dtype or None, got {describe(dtype)}")
        input = input.to(dtype)
    if dim is None:
        # The choice of torch 0.3, which torch still makes, with a warning: 0 for 0, 1 and 3 dimensions, else 1.
        dim = 0 if input.dim() in (0, 1, 3) else 1
    elif type(dim) is not int:
        dim = operator.index(dim)
    dims = max(input.dim(), 1)
    if not -dims <= dim < dims:
        raise IndexError(f"dim: expected -{dims} <= dim < {dims}, got {dim}")
    dim %= dims
    output: Tensor
    if (input.dim(), dim) in ((1, 0), (2, 1), (3, 0), (4, 1)):
        output = function(input)
        return output
    if input.dim() < 2:
        output = function(input.reshape(-1)).reshape(input.shape)
        return output
    # As images (N, C, L, 1), whose channels are the elements along dim. No number of elements is computed here: a trace
    # would keep it for inputs of all sizes.
    images = input.flatten(0, dim - 1) if dim > 0 else input.unsqueeze(0)
    images = images.flatten(2) if dim + 1 < dims else images.unsqueeze(-1)
    output = function(images.unsqueeze(-1)).reshape(input.shape)
    return output
