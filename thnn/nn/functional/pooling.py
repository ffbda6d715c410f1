"""Pooling: the functions of ``torch.nn.functional`` of the same names, computed by thnn.

Sequences (N, C, L) are images of height 1. Inputs are float32, float64, float16 or bfloat16.
Errors: TypeError for other types, ValueError for wrong dimensions and settings, IndexError for indices outside of the
output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._binding.arguments import EXPECTED_DTYPES, describe, in_float32, to_bool
from thnn._classes import function_classes
from thnn.nn.functional._per_axis import Size, check_output_sizes, per_axis, scaled

OutputSize = int | None | Sequence[int | None]


_average2d = function_classes["SpatialAveragePoolingFunction"]
_average3d = function_classes["VolumetricAveragePoolingFunction"]
_max2d = function_classes["SpatialMaxPoolingFunction"]
_dilated_max2d = function_classes["SpatialDilatedMaxPoolingFunction"]
_dilated_max3d = function_classes["VolumetricDilatedMaxPoolingFunction"]
_adaptive_average2d = function_classes["SpatialAdaptiveAveragePoolingFunction"]
_adaptive_average3d = function_classes["VolumetricAdaptiveAveragePoolingFunction"]
_adaptive_max2d = function_classes["SpatialAdaptiveMaxPoolingFunction"]
_fractional_max2d = function_classes["SpatialFractionalMaxPoolingFunction"]
_fractional_max3d = function_classes["VolumetricFractionalMaxPoolingFunction"]
_unpool2d = function_classes["SpatialMaxUnpoolingFunction"]


def _strides(stride: Size | None, kernel: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of windows; None and [] are the sizes of the kernel."""
    if stride is None or (isinstance(stride, Sequence) and not stride):
        return kernel
    return per_axis("stride", stride, len(kernel))


def _check_dims(input: Tensor, dims: int) -> None:
    if input.dim() not in (dims + 1, dims + 2):
        raise ValueError(
            f"input: expected {dims + 2} dimensions, or {dims + 1} without the batch, got shape {tuple(input.shape)}"
        )


def _check_floating_point(input: Tensor) -> None:
    if not input.is_floating_point():
        raise TypeError(f"input: expected {EXPECTED_DTYPES}, got {input.dtype}")


def _without_windows_beyond_input(
    pooled: Tensor,
    input: Tensor,
    kernel: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    ceil_mode: bool,
) -> Tensor:
    """`pooled` without windows that begin beyond the end of the input; THNN keeps such windows if ceil_mode is set and
    there is no padding. No window does so if the stride is at most the size of the kernel."""
    if ceil_mode and not any(paddings):
        for axis, size, stride in zip(range(-len(strides), 0), kernel, strides):
            if stride > size:
                count = -(-input.shape[axis] // stride)
                if pooled.shape[axis] > count:
                    pooled = pooled.narrow(axis, 0, count)
    return pooled


# Maxima


def _may_lie_in_padding(input: Tensor, paddings: Sequence[int], dilations: Sequence[int]) -> bool:
    """True if a window may have no element of the input: one element lies before the input, and the next one after."""
    axes = zip(range(-len(paddings), 0), paddings, dilations)
    return any(padding > 0 and dilation > 1 and input.shape[a] < dilation for a, padding, dilation in axes)


def _with_infinity(result: tuple[Tensor, Tensor], return_indices: bool) -> Any:
    """The maxima with -infinity, as in torch, for windows without an element: THNN gives the lowest finite number."""
    output, indices = result
    output = output.masked_fill(indices < 0, -math.inf)
    return (output, indices) if return_indices else output


def max_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest value of each window of a sequence (N, C, L) or (C, L); see torch.nn.functional.max_pool1d."""
    _check_dims(input, 1)
    kernel, padding, dilation = (
        per_axis(name, value, 1)
        for name, value in (("kernel_size", kernel_size), ("padding", padding), ("dilation", dilation))
    )
    result = max_pool2d(
        input.unsqueeze(-2),
        (1, *kernel),
        (1, *_strides(stride, kernel)),
        (0, *padding),
        (1, *dilation),
        ceil_mode,
        return_indices,
    )
    return tuple(t.squeeze(-2) for t in result) if return_indices else result.squeeze(-2)


def max_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest value of each window of an image (N, C, H, W) or (C, H, W); see torch.nn.functional.max_pool2d.

    With return_indices also h * W + w of each maximum.
    """
    _check_dims(input, 2)
    kH, kW = kernel = per_axis("kernel_size", kernel_size, 2)
    dH, dW = strides = _strides(stride, kernel)
    padH, padW = paddings = per_axis("padding", padding, 2)
    dilationH, dilationW = dilations = per_axis("dilation", dilation, 2)
    if dilationH == dilationW == 1:
        result = _max2d.apply(input, kW, kH, dW, dH, padW, padH, ceil_mode, return_indices)
    else:
        return_indices = to_bool("return_indices", return_indices)
        may_be_empty = _may_lie_in_padding(input, paddings, dilations)
        result = _dilated_max2d.apply(
            input, kW, kH, dW, dH, padW, padH, dilationW, dilationH, ceil_mode, return_indices or may_be_empty
        )
        if may_be_empty:
            result = _with_infinity(result, return_indices)
    if not return_indices:
        return _without_windows_beyond_input(result, input, kernel, strides, paddings, ceil_mode)
    return tuple(
        _without_windows_beyond_input(t, input, kernel, strides, paddings, ceil_mode) for t in result
    )


def max_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest value of each window of a volume (N, C, D, H, W) or (C, D, H, W).

    See torch.nn.functional.max_pool3d. With return_indices also (d * H + h) * W + w of each maximum. A kernel has at
    most 256 elements along an axis.
    """
    _check_dims(input, 3)
    kT, kH, kW = kernel = per_axis("kernel_size", kernel_size, 3)
    dT, dH, dW = strides = _strides(stride, kernel)
    pT, pH, pW = paddings = per_axis("padding", padding, 3)
    dilationT, dilationH, dilationW = dilations = per_axis("dilation", dilation, 3)
    return_indices = to_bool("return_indices", return_indices)
    may_be_empty = _may_lie_in_padding(input, paddings, dilations)
    result = _dilated_max3d.apply(
        input, kT, kW, kH, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, ceil_mode,
        return_indices=return_indices or may_be_empty,
    )  # fmt: skip
    if may_be_empty:
        result = _with_infinity(result, return_indices)
    if not return_indices:
        return _without_windows_beyond_input(result, input, kernel, strides, paddings, ceil_mode)
    output, packed = (
        _without_windows_beyond_input(t, input, kernel, strides, paddings, ceil_mode) for t in result
    )
    position = 0
    for axis, (size, start) in enumerate(zip(input.shape[-3:], _starts(output, strides, paddings))):
        position = position * size + start + (packed >> 8 * axis & 255) * dilations[axis]
    return output, torch.where(packed < 0, packed, position)


def _starts(pooled: Tensor, strides: Sequence[int], paddings: Sequence[int]) -> list[Tensor]:
    """Per axis of volumes the coordinate at which each window starts, shaped to broadcast."""
    starts = []
    for axis, (stride, padding) in enumerate(zip(strides, paddings)):
        shape = [1, 1, 1]
        shape[axis] = -1
        windows = torch.arange(pooled.shape[axis - 3], device=pooled.device)
        starts.append((windows * stride - padding).reshape(shape))
    return starts


# Averages


def avg_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of a sequence (N, C, L) or (C, L); see torch.nn.functional.avg_pool1d."""
    _check_dims(input, 1)
    kernel, padding = per_axis("kernel_size", kernel_size, 1), per_axis("padding", padding, 1)
    strides = _strides(stride, kernel)
    output = avg_pool2d(
        input.unsqueeze(-2), (1, *kernel), (1, *strides), (0, *padding), ceil_mode, count_include_pad
    )
    return output.squeeze(-2)


def avg_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of an image (N, C, H, W) or (C, H, W); see torch.nn.functional.avg_pool2d.

    divisor_override divides the sums in place of the number of elements.
    """
    _check_dims(input, 2)
    kH, kW = kernel = per_axis("kernel_size", kernel_size, 2)
    dH, dW = strides = _strides(stride, kernel)
    padH, padW = paddings = per_axis("padding", padding, 2)
    if divisor_override is not None:
        to_bool("count_include_pad", count_include_pad)  # raises the error for another type
        count_include_pad = True
    output: Tensor = _average2d.apply(input, kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad)
    output = _without_windows_beyond_input(output, input, kernel, strides, paddings, ceil_mode)
    return _overridden(output, input, kernel, strides, paddings, divisor_override)


def avg_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of a volume (N, C, D, H, W) or (C, D, H, W); see torch.nn.functional.avg_pool3d.

    divisor_override divides the sums in place of the number of elements.
    """
    _check_dims(input, 3)
    kT, kH, kW = kernel = per_axis("kernel_size", kernel_size, 3)
    dT, dH, dW = strides = _strides(stride, kernel)
    pT, pH, pW = paddings = per_axis("padding", padding, 3)
    if divisor_override is not None:
        to_bool("count_include_pad", count_include_pad)  # raises the error for another type
        count_include_pad = True
    output: Tensor = _average3d.apply(input, kT, kW, kH, dT, dW, dH, pT, pW, pH, ceil_mode, count_include_pad)
    output = _without_windows_beyond_input(output, input, kernel, strides, paddings, ceil_mode)
    return _overridden(output, input, kernel, strides, paddings, divisor_override)


def _overridden(
    output: Tensor,
    input: Tensor,
    kernel: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    divisor: Any,
) -> Tensor:
    """Averages that count padding, multiplied by the numbers of elements of their windows and divided by `divisor`."""
    if divisor is None:
        return output
    if isinstance(divisor, Tensor) or not hasattr(divisor, "__index__"):
        raise TypeError(f"divisor_override: expected an integer, got {describe(divisor)}")
    if divisor == 0 or not -(2**63) <= divisor < 2**63:
        raise ValueError(f"divisor_override: expected an integer of 64 bits other than 0, got {divisor}")
    for axis in range(-len(kernel), 0):
        windows = torch.arange(output.shape[axis], device=output.device)
        start = windows * strides[axis] - paddings[axis]
        # ceil_mode may place the end of the last window beyond the padding.
        count = kernel[axis] - (start + kernel[axis] - input.shape[axis] - paddings[axis]).clamp(min=0)
        output = output * count.to(output.dtype).reshape([-1] + [1] * (-axis - 1))
    return output / divisor


# Adaptive


def _sizes(name: str, value: OutputSize, input: Tensor, dims: int) -> tuple[int, ...]:
    """Output sizes; None is the size of the input."""
    given = per_axis(name, value, dims)
    return tuple(input.shape[d - dims] if size is None else size for d, size in enumerate(given))


def adaptive_avg_pool1d(input: Tensor, output_size: OutputSize) -> Tensor:
    """The means of `output_size` adaptive regions of a sequence (N, C, L) or (C, L)."""
    _check_dims(input, 1)
    (size,) = _sizes("output_size", output_size, input, 1)
    output: Tensor = _adaptive_average2d.apply(input.unsqueeze(-2), size, 1)
    return output.squeeze(-2)


def adaptive_avg_pool2d(input: Tensor, output_size: OutputSize) -> Tensor:
    """The means of (oH, oW) adaptive regions of an image (N, C, H, W) or (C, H, W)."""
    _check_dims(input, 2)
    height, width = _sizes("output_size", output_size, input, 2)
    output: Tensor = _adaptive_average2d.apply(input, width, height)
    return output


def adaptive_avg_pool3d(input: Tensor, output_size: OutputSize) -> Tensor:
    """The means of (oD, oH, oW) adaptive regions of a volume (N, C, D, H, W) or (C, D, H, W)."""
    _check_dims(input, 3)
    depth, height, width = _sizes("output_size", output_size, input, 3)
    output: Tensor = _adaptive_average3d.apply(input, depth, width, height)
    return output


def adaptive_max_pool1d(input: Tensor, output_size: OutputSize, return_indices: bool = False) -> Any:
    """The maxima of `output_size` adaptive regions of a sequence (N, C, L) or (C, L)."""
    _check_dims(input, 1)
    (size,) = _sizes("output_size", output_size, input, 1)
    result = _adaptive_max2d.apply(input.unsqueeze(-2), size, 1, return_indices=return_indices)
    return tuple(t.squeeze(-2) for t in result) if return_indices else result.squeeze(-2)


def adaptive_max_pool2d(input: Tensor, output_size: OutputSize, return_indices: bool = False) -> Any:
    """The maxima of (oH, oW) adaptive regions of an image (N, C, H, W) or (C, H, W)."""
    _check_dims(input, 2)
    height, width = _sizes("output_size", output_size, input, 2)
    return _adaptive_max2d.apply(input, width, height, return_indices=return_indices)


# Fractional


def _fractional_arguments(
    input: Tensor, output_size: Any, output_ratio: Any, samples: Tensor | None, dims: int
) -> tuple[Tensor, tuple[int, ...], Tensor]:
    """The input, the size of the output, and the samples."""
    if (output_size is None) == (output_ratio is None):
        raise ValueError(
            f"output_size, output_ratio: expected one of them, got {output_size!r} and {output_ratio!r}"
        )
    if output_size is None:
        ratios = per_axis("output_ratio", output_ratio, dims)
        if not all(0 < ratio < 1 for ratio in ratios):
            raise ValueError(f"output_ratio: expected numbers between 0 and 1, got {output_ratio}")
        output_size = [scaled(size, ratio) for size, ratio in zip(input.shape[-dims:], ratios)]
        check_output_sizes("output_ratio", output_size)
    if samples is None:
        _check_floating_point(input)
        batch = input.shape[0] if input.dim() == dims + 2 else 1
        samples = torch.rand(batch, input.shape[-dims - 1], dims, dtype=input.dtype, device=input.device)
    elif not samples.dim():
        raise ValueError(f"_random_samples: expected {dims} numbers for each plane, got one number")
    if input.is_cpu:
        input, samples = in_float32(input, samples)
    return input, per_axis("output_size", output_size, dims), samples


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Size,
    output_size: Size | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Maxima of windows at pseudo-random positions in an image (N, C, H, W) or (C, H, W).

    See torch.nn.functional.fractional_max_pool2d. Source: Graham 2014.
    """
    _check_dims(input, 2)
    kH, kW = per_axis("kernel_size", kernel_size, 2)
    input, (height, width), samples = _fractional_arguments(
        input, output_size, output_ratio, _random_samples, 2
    )
    return _fractional_max2d.apply(input, samples, width, height, kW, kH, return_indices=return_indices)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Size,
    output_size: Size | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Maxima of windows at pseudo-random positions in a volume (N, C, D, H, W) or (C, D, H, W).

    See torch.nn.functional.fractional_max_pool3d. Source: Graham 2014.
    """
    _check_dims(input, 3)
    kT, kH, kW = per_axis("kernel_size", kernel_size, 3)
    input, (depth, height, width), samples = _fractional_arguments(
        input, output_size, output_ratio, _random_samples, 3
    )
    # VolumetricFractionalMaxPooling calls the last dimension of a tensor T, and its samples are (T, W, H).
    return _fractional_max3d.apply(
        input, samples.flip(-1), width, height, depth, kW, kH, kT, return_indices=return_indices
    )


# Powers


def _lp_pool(
    dims: int, input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None, ceil_mode: bool
) -> Tensor:
    _check_floating_point(input)  # integers to a power might become floating-point numbers
    if norm_type == 0:
        raise ValueError(f"norm_type: expected a number other than 0, got {norm_type}")
    if isinstance(norm_type, int) and abs(norm_type) > 1 << 53:
        raise ValueError(f"norm_type: expected a number of at most 2^53, got {norm_type}")
    if abs(norm_type) == math.inf:  # math.isinf takes no symbolic numbers
        sign = 1 if norm_type > 0 else -1
        largest: Tensor = _MAXIMA[dims](sign * input.abs(), kernel_size, stride, ceil_mode=ceil_mode)
        return sign * largest
    average = _AVERAGES[dims](input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    elements = math.prod(per_axis("kernel_size", kernel_size, dims))
    # sign * relu(abs) equals the average. As in torch, relu makes the gradient 0 at 0, where the gradient of the root
    # is infinite.
    return (average.sign() * torch.relu(average.abs())).mul(elements).pow(1 / norm_type)


_MAXIMA: dict[int, Callable[..., Any]] = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}
_AVERAGES: dict[int, Callable[..., Tensor]] = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False
) -> Tensor:
    """(sum of input^norm_type)^(1 / norm_type) of each window of a sequence; see torch.nn.functional.lp_pool1d."""
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False
) -> Tensor:
    """(sum of input^norm_type)^(1 / norm_type) of each window of an image; see torch.nn.functional.lp_pool2d."""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False
) -> Tensor:
    """(sum of input^norm_type)^(1 / norm_type) of each window of a volume; see torch.nn.functional.lp_pool3d."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


# Unpooling


def _unpooled_sizes(
    input: Tensor,
    kernel: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    output_size: Sequence[int] | None,
) -> tuple[int, ...]:
    dims = len(kernel)
    default = [
        (size - 1) * stride - 2 * padding + k
        for size, stride, padding, k in zip(input.shape[-dims:], strides, paddings, kernel)
    ]
    if output_size is None:
        check_output_sizes("kernel_size, stride, padding", default)
        return tuple(default)
    if len(output_size) not in (dims, input.dim()):
        raise ValueError(f"output_size: expected {dims} numbers, got {tuple(output_size)}")
    sizes = tuple(output_size)[-dims:]
    for size, expected, stride in zip(sizes, default, strides):
        if not expected - stride < size < expected + stride:
            raise ValueError(
                f"output_size: expected sizes within one stride of {tuple(default)}, got {tuple(sizes)}"
            )
    return sizes


def _unpooling_axes(
    kernel_size: Size, stride: Size | None, padding: Size, dims: int
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    kernel = per_axis("kernel_size", kernel_size, dims)
    return kernel, _strides(stride, kernel), per_axis("padding", padding, dims)


def _check_indices(input: Tensor, indices: Tensor, dims: int) -> None:
    _check_dims(input, dims)
    if indices.shape != input.shape:
        raise ValueError(
            f"indices: expected the size of input {tuple(input.shape)}, got {tuple(indices.shape)}"
        )


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """A sequence of zeros with `input` at `indices`, as max_pool1d returned them."""
    _check_indices(input, indices, 1)
    (size,) = _unpooled_sizes(input, *_unpooling_axes(kernel_size, stride, padding, 1), output_size)
    output: Tensor = _unpool2d.apply(input.unsqueeze(-2), indices.unsqueeze(-2), size, 1)
    return output.squeeze(-2)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """An image of zeros with `input` at `indices`, as max_pool2d returned them."""
    _check_indices(input, indices, 2)
    height, width = _unpooled_sizes(input, *_unpooling_axes(kernel_size, stride, padding, 2), output_size)
    output: Tensor = _unpool2d.apply(input, indices, width, height)
    return output


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """A volume of zeros with `input` at `indices`, as max_pool3d returned them."""
    _check_indices(input, indices, 3)
    kernel, strides, paddings = _unpooling_axes(kernel_size, stride, padding, 3)
    depth, height, width = _unpooled_sizes(input, kernel, strides, paddings, output_size)
    # Positions in a volume are those in an image of its slices, one below the other.
    output: Tensor = _unpool2d.apply(input.flatten(-3, -2), indices.flatten(-3, -2), width, depth * height)
    return output.unflatten(-2, (depth, height))
