"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import FunctionBase

class TemporalSubSamplingFunction(FunctionBase):
    """TemporalSubSampling: the sum of each window along time, scaled and shifted per feature.

      output[t,f] = bias[f] + weight[f] * sum over k of input[t*dW + k, f]

    Shapes: input (T, inputFrameSize) or, as an extension, (N, T, inputFrameSize); weight and bias (inputFrameSize);
    output (oT, inputFrameSize) with oT = floor((T - kW) / dW) + 1.
    Errors: ValueError for a kernel or stride below 1, a kernel longer than the input, sizes that do not fit.
    Source: Torch7 nn.TemporalSubSampling.

    Calls:
        TemporalSubSamplingFunction(kW, dW, inputFrameSize)(input, weight, bias)
        TemporalSubSamplingFunction.apply(input, weight, bias, kW, dW, inputFrameSize)

    Arguments:
        input: Tensor (float32 or float64): input (T, inputFrameSize)
        weight: Tensor (float32 or float64): factor of each feature (inputFrameSize)
        bias: Tensor (float32 or float64): added to each feature (inputFrameSize)
        kW: int: kernel length
        dW: int: stride
        inputFrameSize: int: features of the input

    Gradient of TemporalSubSampling by its input: weight * gradOutput, added over each window. Frames outside
    every window get 0.

    Gradients of TemporalSubSampling by its parameters, accumulated: gradWeight[f] += scale * sum over t of
    gradOutput[t,f] * the sum of the window; gradBias[f] += scale * sum over t of gradOutput[t,f].
    """
    def __init__(self, kW: int, dW: int, inputFrameSize: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, kW: int, dW: int, inputFrameSize: int) -> Tensor: ...

class SpatialSubSamplingFunction(FunctionBase):
    """SpatialSubSampling: the sum of each window, scaled and shifted per channel.

      output[n,c,y,x] = bias[c] + weight[c] * sum over kh, kw of input[n, c, y*dH + kh, x*dW + kw]

    Shapes: input (N, C, H, W) or (C, H, W); weight and bias (C); output (N, C, oH, oW) with oH = floor((H - kH) / dH) + 1
    and oW likewise.
    Errors: ValueError for a kernel or stride below 1, a kernel larger than the image, sizes that do not fit.
    Source: LeCun et al. 1998; Torch7 nn.SpatialSubSampling.

    Calls:
        SpatialSubSamplingFunction(kW, kH, dW, dH)(input, weight, bias)
        SpatialSubSamplingFunction.apply(input, weight, bias, kW, kH, dW, dH)

    Arguments:
        input: Tensor (float32 or float64): input (N, C, H, W) or (C, H, W)
        weight: Tensor (float32 or float64): factor of each channel (C)
        bias: Tensor (float32 or float64): added to each channel (C)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height

    Gradient of SpatialSubSampling by its input: weight * gradOutput, added over each window. Elements outside every
    window get 0.

    Gradients of SpatialSubSampling by its parameters, accumulated: gradWeight[c] += scale * sum over n, y, x of
    gradOutput[n,c,y,x] * the sum of the window; gradBias[c] += scale * sum over n, y, x of gradOutput[n,c,y,x].
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, kW: int, kH: int, dW: int, dH: int) -> Tensor: ...

class SpatialMaxPoolingFunction(FunctionBase):
    """SpatialMaxPooling: the largest value of each window.

    Shapes: input (N, C, H, W) or (C, H, W); output and indices (N, C, oH, oW) with
    oH = floor((H + 2*padH - kH) / dH) + 1, or ceil instead of floor with ceil_mode. If padW or padH is above 0, a last
    window that starts beyond the image, (oH - 1)*dH >= H + padH, is dropped. oW likewise.
    indices holds h*W + w of the maximum within its plane. The first of equal values in row order wins, and padding never
    does. NaN counts as larger than anything, so the last NaN wins (as in torch). A window without an input element gives
    the lowest finite value and index -1.
    Errors: ValueError for a kernel or stride below 1, padding below 0 or above half the kernel, an output without elements.
    Source: Torch7 nn.SpatialMaxPooling.

    Calls:
        SpatialMaxPoolingFunction(kW, kH, dW, dH, padW, padH, ceil_mode)(input)
        SpatialMaxPoolingFunction.apply(input, kW, kH, dW, dH, padW, padH, ceil_mode)

    Arguments:
        input: Tensor (float32 or float64): input (N, C, H, W) or (C, H, W)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: padding left and right
        padH: int: padding above and below
        ceil_mode: bool, default False: round output sizes up
        return_indices: bool, default False: return (output, indices)

    Gradient of SpatialMaxPooling by its input: gradOutput is added at indices; index -1 is skipped.
    Errors: also IndexError for an index outside its plane.
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, ceil_mode: bool = ..., *, return_indices: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Any: ...
    @classmethod
    def apply(cls, input: Tensor, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, ceil_mode: bool = ..., return_indices: bool = ...) -> Any: ...

class TemporalMaxPoolingFunction(FunctionBase):
    """TemporalMaxPooling: the largest value of each feature in each window of frames.

    Shapes: input (N, T, C) or (T, C); output and indices (N, oT, C) with oT = floor((T - kW) / dW) + 1.
    indices holds the offset of the maximum in its window, 0 to kW - 1: it is frame t*dW + indices. The first of equal
    values wins. NaN counts as larger than anything, so the last NaN wins.
    Errors: ValueError for a kernel or stride below 1, a kernel longer than the input.
    Source: Torch7 nn.TemporalMaxPooling.

    Calls:
        TemporalMaxPoolingFunction(kW, dW)(input)
        TemporalMaxPoolingFunction.apply(input, kW, dW)

    Arguments:
        input: Tensor (float32 or float64): input (N, T, C) or (T, C)
        kW: int: kernel width
        dW: int: stride
        return_indices: bool, default False: return (output, indices)

    Gradient of TemporalMaxPooling by its input: gradOutput is added at indices.
    Errors: also IndexError for an index outside the window.
    """
    def __init__(self, kW: int, dW: int, *, return_indices: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Any: ...
    @classmethod
    def apply(cls, input: Tensor, kW: int, dW: int, return_indices: bool = ...) -> Any: ...

class VolumetricDilatedMaxPoolingFunction(FunctionBase):
    """VolumetricDilatedMaxPooling: the largest value of each window, whose elements are `dilation` apart.

    Shapes: input (N, C, T, H, W) or (C, T, H, W); output and indices (N, C, oT, oH, oW) with
    oT = floor((T + 2*pT - dilationT*(kT - 1) - 1) / dT) + 1, or ceil instead of floor with ceilMode. If pT, pW or pH is
    above 0, a last window that starts beyond the volume, (oT - 1)*dT >= T + pT, is dropped. oH and oW likewise.
    indices holds the kernel element of the maximum, one byte per axis: kt + (kh << 8) + (kw << 16). The first of equal
    values in row order wins, and padding never does. NaN counts as larger than anything, so the last NaN wins. A window
    without any element gives the lowest finite value and index -1.
    Errors: ValueError for a kernel, stride or dilation below 1, a kernel above 256, padding above half the kernel, an
    output without elements.
    Source: Torch7 nn.VolumetricDilatedMaxPooling.

    Calls:
        VolumetricDilatedMaxPoolingFunction(kT, kW, kH, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, ceilMode)(input)
        VolumetricDilatedMaxPoolingFunction.apply(input, kT, kW, kH, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, ceilMode)

    Arguments:
        input: Tensor (float32 or float64): input (N, C, T, H, W) or (C, T, H, W)
        kT: int: kernel depth
        kW: int: kernel width
        kH: int: kernel height
        dT: int: stride along the depth
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: padding in front and behind
        pW: int: padding left and right
        pH: int: padding above and below
        dilationT: int: distance of kernel elements along the depth
        dilationW: int: along the width
        dilationH: int: along the height
        ceilMode: bool, default False: round output sizes up
        return_indices: bool, default False: return (output, indices)

    Gradient of VolumetricDilatedMaxPooling by its input: gradOutput is added at indices; index -1 is skipped.
    Errors: also IndexError for an index that is no element of its window.
    """
    def __init__(self, kT: int, kW: int, kH: int, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int, dilationT: int, dilationW: int, dilationH: int, ceilMode: bool = ..., *, return_indices: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Any: ...
    @classmethod
    def apply(cls, input: Tensor, kT: int, kW: int, kH: int, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int, dilationT: int, dilationW: int, dilationH: int, ceilMode: bool = ..., return_indices: bool = ...) -> Any: ...

class SpatialAveragePoolingFunction(FunctionBase):
    """SpatialAveragePooling: the mean of each window. With count_include_pad the window is clipped to the padded image, whose
    zeros count in the divisor; otherwise it is clipped to the image.

    Shapes: input (N, C, H, W) or (C, H, W); output (N, C, oH, oW), sizes as in SpatialMaxPooling.
    Errors: ValueError for a kernel or stride below 1, padding below 0 or above half the kernel, an output without elements.
    Source: Torch7 nn.SpatialAveragePooling.

    Calls:
        SpatialAveragePoolingFunction(kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad)(input)
        SpatialAveragePoolingFunction.apply(input, kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad)

    Arguments:
        input: Tensor (float32 or float64): input (N, C, H, W) or (C, H, W)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: zeros added left and right
        padH: int: zeros added above and below
        ceil_mode: bool, default False: round output sizes up
        count_include_pad: bool, default True: count padding in the divisor

    Gradient of SpatialAveragePooling by its input: each gradOutput divided by its divisor, added over its window.
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, ceil_mode: bool = ..., count_include_pad: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, ceil_mode: bool = ..., count_include_pad: bool = ...) -> Tensor: ...
