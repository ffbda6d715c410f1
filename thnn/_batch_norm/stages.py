"""The stages of batch normalization on any device.

Each function computes as the C function of the same name (`BatchNormalization_statistics`, ...; see THNN.h). It calls
that function for tensors of the element types on the CPU or a CUDA device, and torch operations for all other tensors.

Statistics are one tensor (2C + 1) of float64: mean [C], centred sum of squares [C], number of values per channel [1].
Inputs are (N, C, ...), vectors (C). `limit` is the limit of the relu that follows (thnn/_batch_norm/activation.py).
Autograd records none of these functions: the callers are autograd nodes or use no_grad.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from thnn._batch_norm.activation import is_cut, rectified
from thnn._binding.arguments import ELEMENT_DTYPES, NARROW_DTYPES
from thnn._binding.call import invoke
from thnn._binding.device import device_types
from thnn._binding.library import ANY, DOUBLE, THNN
from thnn._header.registry import modules
from thnn._torch import assert_async, increment_version

_stages = {
    stage: THNN.bind(function) for stage, function in modules()["BatchNormalization"].functions.items()
}


def _has_kernels(tensor: Tensor) -> bool:
    device = tensor.device
    # The CUDA library is opened for CUDA tensors only.
    return tensor.dtype in ELEMENT_DTYPES and (device.type == "cpu" or device.type in device_types())


@cache
def _caller(stage: str, flags: int) -> Callable[[tuple[Any, ...]], int]:
    return _stages[stage].caller(flags)


def _call(stage: str, flags: int, arguments: tuple[Any, ...]) -> None:
    """Calls the C function of a stage; the caller has allocated the outputs among the arguments."""
    if report := _caller(stage, flags)(arguments):
        invoke(_stages[stage], flags, arguments, report)


def _rectification(limit: float | None) -> tuple[bool, float]:
    """The arguments relu and limit of a C function."""
    return (False, math.inf) if limit is None else (True, limit)


def _channels(vector: Tensor, like: Tensor) -> Tensor:
    """A vector (C) reshaped to (1, C, 1, ...), which broadcasts over `like`."""
    return vector.reshape([1, -1] + [1] * (like.dim() - 2))


def _dims(input: Tensor) -> list[int]:
    return [d for d in range(input.dim()) if d != 1]


def _upcast(tensor: Tensor) -> Tensor:
    """The tensor in float32 if it is float16 or bfloat16."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def statistics_dtype(input: Tensor) -> torch.dtype:
    """The element type of mean and inverse deviation: the input's, but float32 for float16 and bfloat16."""
    return torch.float32 if input.dtype in (torch.float16, torch.bfloat16) else input.dtype


def statistics(input: Tensor) -> Tensor:
    """The statistics (2C + 1) of an input."""
    C = input.shape[1]
    if _has_kernels(input):
        result = input.new_empty(2 * C + 1, dtype=torch.float64)
        _call("statistics", ANY, (input, result))
        return result
    count = math.prod(input.shape[:1] + input.shape[2:])
    result = input.new_zeros(2 * C + 1, dtype=torch.float64)
    if count:
        variance, mean = torch.var_mean(_upcast(input), _dims(input), correction=0)
        result[:C] = mean
        result[C:-1] = variance.double() * count
        result[-1] = count
    return result


def merge_statistics(parts: Tensor) -> Tensor:
    """The statistics (2C + 1) of the union of K parts with statistics (K, 2C + 1), merged in their order.

    Source: Chan, Golub and LeVeque 1979.
    """
    if _has_kernels(parts):
        merged = torch.empty_like(parts[0])
        _call("mergeStatistics", DOUBLE, (parts, merged))
        return merged
    C = parts.shape[1] // 2
    merged = torch.zeros_like(parts[0])
    for part in parts:
        count = merged[-1] + part[-1]
        fraction = part[-1] / count.clamp(min=1)
        difference = part[:C] - merged[:C]
        merged = torch.cat(
            [
                merged[:C] + difference * fraction,
                merged[C:-1] + part[C:-1] + difference.square() * (merged[-1] * fraction),
                count[None],
            ]
        )
    return merged


def save_statistics(
    statistics: Tensor,
    dtype: torch.dtype,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
    unbiased: bool,
) -> tuple[Tensor, Tensor]:
    """Mean and inverse deviation (C) of a batch with the given statistics; updates the running statistics.

    Raises ValueError, with nothing written, if there is at most one value per channel. Where the CUDA library computes,
    a later call of thnn raises it instead; otherwise an accelerator stops.
    """
    C = statistics.shape[0] // 2
    running = [t for t in (running_mean, running_var) if t is not None]
    kinds = {dtype, *(t.dtype for t in running)}
    is_mixed = dtype is torch.float32 and kinds - {dtype} in ({narrow} for narrow in NARROW_DTYPES)
    if _has_kernels(statistics) and (len(kinds) == 1 or is_mixed):
        saved = statistics.new_empty(C, dtype=dtype), statistics.new_empty(C, dtype=dtype)
        arguments = (statistics, *saved, running_mean, running_var, momentum, eps, unbiased)
        _call("saveStatistics", ANY, arguments)
        increment_version(running)
        return saved
    mean, squares, count = statistics[:C], statistics[C:-1], statistics[-1]
    if count.device.type != "cpu":
        # Without waiting for the device.
        assert_async(count > 1, "expected more than 1 value per channel when training")
    elif count <= 1:
        raise ValueError(
            f"expected more than 1 value per channel when training, got {count:.0f}: one value has no variance"
        )
    variance = squares / count
    inverse = inverse_deviation(variance, eps)
    if running_mean is not None:
        running_mean.copy_(momentum * mean + (1 - momentum) * running_mean)
    if running_var is not None:
        of_batch = squares / (count - 1) if unbiased else variance
        running_var.copy_(momentum * of_batch + (1 - momentum) * running_var)
    return mean.to(dtype), inverse.to(dtype)


def inverse_deviation(variance: Tensor, eps: float) -> Tensor:
    """1 / sqrt(variance + eps), and 0 where variance + eps is 0. Differentiable; the derivative there is 0."""
    shifted = variance + eps
    is_zero = shifted == 0
    return shifted.masked_fill(is_zero, 1).rsqrt().masked_fill(is_zero, 0)


def normalize(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    inverse: Tensor,
    limit: float | None,
    output: Tensor | None = None,
) -> Tensor:
    """(input - mean) * inverse * weight + bias and, with a limit, relu of it; written to `output` if given."""
    if output is None:
        output = torch.empty_like(input)
    if _has_kernels(input):
        _call("normalize", ANY, (input, output, weight, bias, mean, inverse, *_rectification(limit)))
        return output
    result = affine(_upcast(input), weight, bias, mean, inverse)
    return output.copy_(result if limit is None else rectified(result, limit))


def affine(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, inverse: Tensor
) -> Tensor:
    """(input - mean) * inverse * weight + bias as torch operations."""
    scale = inverse if weight is None else inverse * weight
    output = (input - _channels(mean, input)) * _channels(scale, input)
    return output if bias is None else output + _channels(bias, input)


def _grad_by_relu_input(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    inverse: Tensor,
    limit: float | None,
) -> Tensor:
    """The gradient w.r.t. the input of relu; without relu gradOutput."""
    gradOutput = _upcast(gradOutput)
    if limit is None:
        return gradOutput
    return torch.where(is_cut(affine(_upcast(input), weight, bias, mean, inverse), limit), 0, gradOutput)


def grad_sums(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    inverse: Tensor,
    limit: float | None,
) -> Tensor:
    """sum(g) and sum(g * (input - mean)) per channel, (2C) of float64; g is the gradient w.r.t. the input of relu."""
    if _has_kernels(input):
        sums = input.new_empty(2 * input.shape[1], dtype=torch.float64)
        arguments = (input, gradOutput, weight, bias, mean, inverse, sums, *_rectification(limit))
        _call("gradSums", ANY, arguments)
        return sums
    g = _grad_by_relu_input(input, gradOutput, weight, bias, mean, inverse, limit)
    dims = _dims(input)
    product = g * (_upcast(input) - _channels(mean, input))
    return torch.cat([g.sum(dims, dtype=torch.float64), product.sum(dims, dtype=torch.float64)])


def grad_input(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    inverse: Tensor,
    sums: Tensor | None,
    count: float,
    limit: float | None,
) -> Tensor:
    """dL/dinput, from the grad_sums of the whole batch with `count` values per channel.

    Without sums, mean and inverse deviation are constants.
    """
    if _has_kernels(input):
        gradInput = torch.empty_like(input)
        vectors = weight, bias, mean, inverse, sums
        _call("gradInput", ANY, (input, gradOutput, gradInput, *vectors, count, *_rectification(limit)))
        return gradInput
    g = _grad_by_relu_input(input, gradOutput, weight, bias, mean, inverse, limit)
    if sums is not None:
        total, product = (sums / count).chunk(2)
        centred = _upcast(input) - _channels(mean, input)
        g = (
            g
            - _channels(total.to(g.dtype), g)
            - centred * _channels(product.to(g.dtype) * inverse.square(), g)
        )
    scale = inverse if weight is None else inverse * weight
    return (g * _channels(scale, g)).to(input.dtype)
