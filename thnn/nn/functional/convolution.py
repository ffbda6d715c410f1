"""Convolutions and linear: the functions of ``torch.nn.functional`` of the same names, computed by thnn; for CUDA
tensors, by torch.

Inputs are float32, float64, float16 or bfloat16. Errors: TypeError for other types, ValueError
for wrong sizes and settings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn._binding.arguments import multiplicands, product_in_autocast
from thnn._classes import function_classes
from thnn.nn.functional._per_axis import Size, per_axis

_convolution = function_classes["ConvolutionFunction"]
_full_convolution = function_classes["FullConvolutionFunction"]
_linear = function_classes["LinearFunction"]
_CONVOLUTIONS: dict[int, Callable[..., Tensor]] = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_TRANSPOSED: dict[int, Callable[..., Tensor]] = {
    1: F.conv_transpose1d,
    2: F.conv_transpose2d,
    3: F.conv_transpose3d,
}


def _suits_torch(input: Tensor, weight: Tensor) -> bool:
    """True for CUDA tensors of one device, which torch's function computes: thnn's class would also call torch's
    operators, and more of them in the backward pass.

    torch.compile gets the class. It chooses memory formats for the convolutions that it knows, and gradients of weights
    in networks with thnn operators had other strides than planned (torch 2.11). Autocast gets the class, too, so that
    one rule holds for all functions of thnn, compiled or not.
    """
    if not (isinstance(input, Tensor) and input.is_cuda and isinstance(weight, Tensor)):
        return False
    return (
        input.device == weight.device
        and not torch.compiler.is_compiling()
        and not torch.is_autocast_enabled("cuda")
    )


def _by_torch(function: Callable[..., Tensor], *args: Any) -> Tensor | None:
    """The result, or None for a RuntimeError: thnn's class then raises an error that names the argument."""
    try:
        return function(*args)
    except RuntimeError:
        return None


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input * weight^T + bias: input (..., I), weight (O, I), bias (O), output (..., O)."""
    output: Tensor | None
    if _suits_torch(input, weight) and (output := _by_torch(F.linear, input, weight, bias)) is not None:
        return output
    if input.dim() <= 2:
        return product_in_autocast(_linear.apply(*multiplicands(input, weight, bias)))
    output = product_in_autocast(_linear.apply(*multiplicands(input.flatten(0, -2), weight, bias)))
    return output.reshape(*input.shape[:-1], output.shape[-1])


def _axes(name: str, value: Size, dims: int, default: int) -> tuple[int, int, int]:
    """One number per axis in the order of the C functions, depth, width, height."""
    depth, height, width = (default,) * (3 - dims) + per_axis(name, value, dims)
    return depth, width, height


def _padded(input: Tensor, sides: Sequence[int], mode: str) -> Tensor:
    try:
        return F.pad(input, sides, mode)
    except RuntimeError as error:
        raise ValueError(f"input: cannot be padded ({mode}): {error}") from None


def _convolved(
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Size,
    padding: Size | str,
    dilation: Size,
    groups: int,
) -> Tensor:
    output: Tensor | None
    if _suits_torch(input, weight):
        output = _by_torch(_CONVOLUTIONS[dims], input, weight, bias, stride, padding, dilation, groups)
        if output is not None:
            return output
    if padding == "same":
        if any(s != 1 for s in per_axis("stride", stride, dims)):
            raise ValueError(f"stride: expected 1 with padding='same', got {stride}")
        total = [
            d * (k - 1) for d, k in zip(per_axis("dilation", dilation, dims), weight.shape[2:], strict=True)
        ]
        if any(t % 2 for t in total):
            # Two numbers per axis, the last axis first.
            input = _padded(input, [side for t in total[::-1] for side in (0, t % 2)], "constant")
        padding = [t // 2 for t in total]
    elif isinstance(padding, str):
        if padding != "valid":
            raise ValueError(f"padding: expected numbers, 'valid' or 'same', got {padding!r}")
        padding = 0
    output = _convolution.apply(
        *multiplicands(input, weight, bias),
        *_axes("stride", stride, dims, 1),
        *_axes("padding", padding, dims, 0),
        *_axes("dilation", dilation, dims, 1),
        groups,
    )
    return product_in_autocast(output)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of a sequence (N, C, L) or (C, L); see torch.nn.functional.conv1d."""
    return _convolved(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of an image (N, C, H, W) or (C, H, W); see torch.nn.functional.conv2d."""
    return _convolved(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of a volume (N, C, D, H, W) or (C, D, H, W); see torch.nn.functional.conv3d."""
    return _convolved(3, input, weight, bias, stride, padding, dilation, groups)


def _transposed(
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Size,
    padding: Size,
    dilation: Size,
    output_padding: Size,
    groups: int,
) -> Tensor:
    output: Tensor | None
    if _suits_torch(input, weight):
        output = _by_torch(
            _TRANSPOSED[dims], input, weight, bias, stride, padding, output_padding, groups, dilation
        )
        if output is not None:
            return output
    output = _full_convolution.apply(
        *multiplicands(input, weight, bias),
        *_axes("stride", stride, dims, 1),
        *_axes("padding", padding, dims, 0),
        *_axes("dilation", dilation, dims, 1),
        *_axes("output_padding", output_padding, dims, 0),
        groups,
    )
    return product_in_autocast(output)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """Transposed convolution of a sequence; see torch.nn.functional.conv_transpose1d."""
    return _transposed(1, input, weight, bias, stride, padding, dilation, output_padding, groups)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """Transposed convolution of an image; see torch.nn.functional.conv_transpose2d."""
    return _transposed(2, input, weight, bias, stride, padding, dilation, output_padding, groups)


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """Transposed convolution of a volume; see torch.nn.functional.conv_transpose3d."""
    return _transposed(3, input, weight, bias, stride, padding, dilation, output_padding, groups)
