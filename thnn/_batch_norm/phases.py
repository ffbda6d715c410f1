"""The phases of batch normalization on any device: what `BatchNormalization_statistics` and its companions in THNN.h
compute, by them where the library has kernels (the CPU, float32 and float64), by torch operations elsewhere.

Statistics are one tensor of 2C + 1 numbers of float64: mean [C], centred sum of squares [C], number of values per
channel. Nothing here is recorded by autograd; callers are autograd nodes, or hold no_grad.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from thnn._binding.call import call, invoke
from thnn._binding.library import ANY, DOUBLE, THNN
from thnn._header.registry import modules
from thnn._torch import assert_async, increment_version

_phases = {
    phase: THNN.bind(function) for phase, function in modules()["BatchNormalization"].functions.items()
}


def _has_kernels(tensor: Tensor) -> bool:
    return tensor.device.type == "cpu" and tensor.dtype in (torch.float32, torch.float64)


def _call(phase: str, flags: int, arguments: tuple[Any, ...]) -> None:
    """Calls a phase whose outputs have been allocated."""
    bound = _phases[phase]
    if report := call(bound.address, flags, id(arguments)):
        invoke(bound, flags, arguments, report)


def _channels(vector: Tensor, like: Tensor) -> Tensor:
    """A vector over the channels, shaped so that it broadcasts over `like`."""
    return vector.reshape([1, -1] + [1] * (like.dim() - 2))


def _dims(input: Tensor) -> list[int]:
    return [d for d in range(input.dim()) if d != 1]


def _wide(tensor: Tensor) -> Tensor:
    """In a type that sums can be made in."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def statistics_dtype(input: Tensor) -> torch.dtype:
    """The element type of a mean or an inverse deviation that normalizes `input`."""
    return torch.float32 if input.dtype in (torch.float16, torch.bfloat16) else input.dtype


def statistics(input: Tensor) -> Tensor:
    """Mean, centred sum of squares and number of values per channel of `input` (N, C, ...): (2C + 1), float64."""
    C = input.shape[1]
    if _has_kernels(input):
        result = input.new_empty(2 * C + 1, dtype=torch.float64)
        _call("statistics", ANY, (input, result))
        return result
    count = math.prod(input.shape[:1] + input.shape[2:])
    result = torch.zeros(2 * C + 1, dtype=torch.float64, device=input.device)
    if count:
        variance, mean = torch.var_mean(_wide(input), _dims(input), correction=0)
        result[:C] = mean
        result[C:-1] = variance.double() * count
        result[-1] = count
    return result


def merge_statistics(parts: Tensor) -> Tensor:
    """Statistics of the union of parts (K, 2C + 1), joined in their order (Chan, Golub and LeVeque): (2C + 1)."""
    if _has_kernels(parts):
        merged = torch.empty_like(parts[0])
        _call("mergeStatistics", DOUBLE, (parts, merged))
        return merged
    C = parts.shape[1] // 2
    merged = torch.zeros_like(parts[0])
    for part in parts:
        count = merged[-1] + part[-1]
        share = part[-1] / count.clamp(min=1)
        difference = part[:C] - merged[:C]
        merged = torch.cat(
            [
                merged[:C] + difference * share,
                merged[C:-1] + part[C:-1] + difference.square() * (merged[-1] * share),
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
    """Mean and inverse deviation (C) to normalize with; running statistics are moved towards the batch.

    ValueError where there is at most one value per channel; nothing is written then. (On other devices than the CPU the
    device stops.)
    """
    C = statistics.shape[0] // 2
    running = [t for t in (running_mean, running_var) if t is not None]
    if _has_kernels(statistics) and all(t.dtype is dtype for t in running):
        saved = statistics.new_empty(C, dtype=dtype), statistics.new_empty(C, dtype=dtype)
        arguments = (statistics, *saved, running_mean, running_var, momentum, eps, unbiased)
        _call("saveStatistics", ANY, arguments)
        increment_version(running)
        return saved
    mean, squares, count = statistics[:C], statistics[C:-1], statistics[-1]
    if count.device.type != "cpu":
        # The host does not wait for the numbers: the device stops.
        assert_async(count > 1, "expected more than 1 value per channel when training")
    elif count <= 1:
        raise ValueError(
            f"expected more than 1 value per channel when training, got {count:.0f}: one value has no variance"
        )
    variance = squares / count
    inverse = (variance + eps).rsqrt()
    inverse = torch.where(variance + eps > 0, inverse, torch.where(inverse.isnan(), inverse, 0))
    if running_mean is not None:
        running_mean.copy_(momentum * mean + (1 - momentum) * running_mean)
    if running_var is not None:
        of_batch = squares / (count - 1) if unbiased else variance
        running_var.copy_(momentum * of_batch + (1 - momentum) * running_var)
    return mean.to(dtype), inverse.to(dtype)


def normalize(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, inverse: Tensor, relu: bool
) -> Tensor:
    """(input - mean) * inverse * weight + bias, cut off below 0 if relu."""
    if _has_kernels(input):
        output = torch.empty_like(input)
        _call("normalize", ANY, (input, output, weight, bias, mean, inverse, relu))
        return output
    output = _affine(_wide(input), weight, bias, mean, inverse)
    if relu:
        output = output.relu()
    return output.to(input.dtype)


def _affine(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, inverse: Tensor
) -> Tensor:
    scale = inverse if weight is None else inverse * weight
    output = (input - _channels(mean, input)) * _channels(scale, input)
    return output if bias is None else output + _channels(bias, input)


def _masked(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    inverse: Tensor,
    relu: bool,
) -> Tensor:
    gradOutput = _wide(gradOutput)
    if not relu:
        return gradOutput
    return torch.where(_affine(_wide(input), weight, bias, mean, inverse) <= 0, 0, gradOutput)


def grad_sums(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    inverse: Tensor,
    relu: bool,
) -> Tensor:
    """sum(g), then sum(g * (input - mean)), per channel: (2C), float64. g is gradOutput where relu let it through."""
    if _has_kernels(input):
        sums = input.new_empty(2 * input.shape[1], dtype=torch.float64)
        _call("gradSums", ANY, (input, gradOutput, weight, bias, mean, inverse, sums, relu))
        return sums
    g = _masked(input, gradOutput, weight, bias, mean, inverse, relu)
    dims = _dims(input)
    product = g * (_wide(input) - _channels(mean, input))
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
    relu: bool,
) -> Tensor:
    """Gradient by the input, given the sums over the whole batch of `count` values per channel.

    Where sums is None, mean and inverse are constants.
    """
    if _has_kernels(input):
        gradInput = torch.empty_like(input)
        _call(
            "gradInput",
            ANY,
            (input, gradOutput, gradInput, weight, bias, mean, inverse, sums, count, relu),
        )
        return gradInput
    g = _masked(input, gradOutput, weight, bias, mean, inverse, relu)
    if sums is not None:
        total, product = (sums / count).chunk(2)
        centred = _wide(input) - _channels(mean, input)
        g = (
            g
            - _channels(total.to(g.dtype), g)
            - centred * _channels(product.to(g.dtype) * inverse.square(), g)
        )
    scale = inverse if weight is None else inverse * weight
    return (g * _channels(scale, g)).to(input.dtype)
