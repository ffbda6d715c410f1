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
        input: Tensor (real): input (T, inputFrameSize)
        weight: Tensor (real): factor of each feature (inputFrameSize)
        bias: Tensor (real): added to each feature (inputFrameSize)
        kW: int: kernel length
        dW: int: stride
        inputFrameSize: int: features of the input

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of TemporalSubSampling w.r.t. its input: weight * gradOutput is added to its window. Frames outside
    every window get 0.

    Gradients of TemporalSubSampling w.r.t. its parameters, accumulated: gradWeight[f] += scale * sum over t of
    gradOutput[t,f] * the sum of the window; gradBias[f] += scale * sum over t of gradOutput[t,f].
    """
    def __init__(self, kW: int, dW: int, inputFrameSize: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, kW: int, dW: int, inputFrameSize: int) -> Tensor: ...

class SpatialSubSamplingFunction(FunctionBase):
    """SpatialSubSampling: the sum of each window, scaled and shifted per channel.

      output[n,c,y,x] = bias[c] + weight[c] * sum over kh, kw of input[n, c, y*dH + kh, x*dW + kw]

    Shapes: input (N, C, H, W) or (C, H, W); weight and bias (C); output (N, C, oH, oW) with
    oH = floor((H - kH) / dH) + 1 and oW likewise.
    Errors: ValueError for a kernel or stride below 1, a kernel larger than the image, sizes that do not fit.
    Source: LeCun et al. 1998; Torch7 nn.SpatialSubSampling.

    Calls:
        SpatialSubSamplingFunction(kW, kH, dW, dH)(input, weight, bias)
        SpatialSubSamplingFunction.apply(input, weight, bias, kW, kH, dW, dH)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        weight: Tensor (real): factor of each channel (C)
        bias: Tensor (real): added to each channel (C)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialSubSampling w.r.t. its input: weight * gradOutput is added to its window. Elements outside every
    window get 0.

    Gradients of SpatialSubSampling w.r.t. its parameters, accumulated: gradWeight[c] += scale * sum over n, y, x of
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
    Errors: ValueError for a kernel or stride below 1, padding below 0 or above half the kernel, an empty
    output.
    Source: Torch7 nn.SpatialMaxPooling.

    Calls:
        SpatialMaxPoolingFunction(kW, kH, dW, dH, padW, padH, ceil_mode)(input)
        SpatialMaxPoolingFunction.apply(input, kW, kH, dW, dH, padW, padH, ceil_mode)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: padding left and right
        padH: int: padding above and below
        ceil_mode: bool, default False: round output sizes up
        return_indices: bool, default False: return (output, indices)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialMaxPooling w.r.t. its input: gradOutput is added at indices; index -1 is skipped.
    Errors: also IndexError for an index outside its plane.
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, ceil_mode: bool = ..., *, return_indices: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Any: ...
    @classmethod
    def apply(cls, input: Tensor, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, ceil_mode: bool = ..., return_indices: bool = ...) -> Any: ...

class SpatialDilatedMaxPoolingFunction(FunctionBase):
    """SpatialDilatedMaxPooling: the largest value of each window, whose elements are `dilation` apart.

    Shapes: input (N, C, H, W) or (C, H, W); output and indices (N, C, oH, oW) with
    oH = floor((H + 2*padH - dilationH*(kH - 1) - 1) / dH) + 1, or ceil instead of floor with ceil_mode. If padW or padH
    is above 0, a last window that starts beyond the image, (oH - 1)*dH >= H + padH, is dropped. oW likewise.
    indices as in SpatialMaxPooling.
    Errors: ValueError for a kernel, stride or dilation below 1, padding below 0 or above half the kernel, an
    empty output.
    Source: Torch7 nn.SpatialDilatedMaxPooling.

    Calls:
        SpatialDilatedMaxPoolingFunction(kW, kH, dW, dH, padW, padH, dilationW, dilationH, ceil_mode)(input)
        SpatialDilatedMaxPoolingFunction.apply(input, kW, kH, dW, dH, padW, padH, dilationW, dilationH, ceil_mode)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: padding left and right
        padH: int: padding above and below
        dilationW: int: distance between kernel elements along the width
        dilationH: int: distance between kernel elements along the height
        ceil_mode: bool, default False: round output sizes up
        return_indices: bool, default False: return (output, indices)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialDilatedMaxPooling w.r.t. its input: gradOutput is added at indices; index -1 is skipped.
    Errors: also IndexError for an index outside its plane.
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, dilationW: int, dilationH: int, ceil_mode: bool = ..., *, return_indices: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Any: ...
    @classmethod
    def apply(cls, input: Tensor, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, dilationW: int, dilationH: int, ceil_mode: bool = ..., return_indices: bool = ...) -> Any: ...

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
        input: Tensor (real): input (N, T, C) or (T, C)
        kW: int: kernel length
        dW: int: stride
        return_indices: bool, default False: return (output, indices)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of TemporalMaxPooling w.r.t. its input: gradOutput is added at indices; index -1 is skipped.
    Errors: also IndexError for another index outside the window.
    """
    def __init__(self, kW: int, dW: int, *, return_indices: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Any: ...
    @classmethod
    def apply(cls, input: Tensor, kW: int, dW: int, return_indices: bool = ...) -> Any: ...

class VolumetricMaxPoolingFunction(FunctionBase):
    """VolumetricMaxPooling: the largest value of each window.

    Shapes: input (N, C, T, H, W) or (C, T, H, W); output and indices (N, C, oT, oH, oW) with
    oT = floor((T + 2*pT - kT) / dT) + 1, or ceil instead of floor with ceilMode. If pT, pW or pH is above 0, a last
    window that starts beyond the volume, (oT - 1)*dT >= T + pT, is dropped. oH and oW likewise.
    indices holds the kernel element of the maximum, one byte per axis: kt + (kh << 8) + (kw << 16). The first of equal
    values in row order wins, padding never does, NaN counts as larger than anything, so the last NaN wins. A window
    without any element gives the lowest finite value and index -1.
    Errors: ValueError for a kernel or stride below 1, a kernel above 256, padding below 0 or above half the kernel, an
    empty output.
    Source: Torch7 nn.VolumetricMaxPooling.

    Calls:
        VolumetricMaxPoolingFunction(kT, kW, kH, dT, dW, dH, pT, pW, pH, ceilMode)(input)
        VolumetricMaxPoolingFunction.apply(input, kT, kW, kH, dT, dW, dH, pT, pW, pH, ceilMode)

    Arguments:
        input: Tensor (real): input (N, C, T, H, W) or (C, T, H, W)
        kT: int: kernel depth
        kW: int: kernel width
        kH: int: kernel height
        dT: int: stride along the depth
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: padding in front and behind
        pW: int: padding left and right
        pH: int: padding above and below
        ceilMode: bool, default False: round output sizes up
        return_indices: bool, default False: return (output, indices)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricMaxPooling w.r.t. its input: gradOutput is added at indices; index -1 is skipped.
    Errors: also IndexError for an index that is not an element of its window.
    """
    def __init__(self, kT: int, kW: int, kH: int, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int, ceilMode: bool = ..., *, return_indices: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Any: ...
    @classmethod
    def apply(cls, input: Tensor, kT: int, kW: int, kH: int, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int, ceilMode: bool = ..., return_indices: bool = ...) -> Any: ...

class VolumetricDilatedMaxPoolingFunction(FunctionBase):
    """VolumetricDilatedMaxPooling: the largest value of each window, whose elements are `dilation` apart.

    Shapes: input (N, C, T, H, W) or (C, T, H, W); output and indices (N, C, oT, oH, oW) with
    oT = floor((T + 2*pT - dilationT*(kT - 1) - 1) / dT) + 1, or ceil instead of floor with ceilMode. If pT, pW or pH is
    above 0, a last window that starts beyond the volume, (oT - 1)*dT >= T + pT, is dropped. oH and oW likewise.
    indices holds the kernel element of the maximum, one byte per axis: kt + (kh << 8) + (kw << 16). The first of equal
    values in row order wins, and padding never does. NaN counts as larger than anything, so the last NaN wins. A window
    without any element gives the lowest finite value and index -1.
    Errors: ValueError for a kernel, stride or dilation below 1, a kernel above 256, padding below 0 or above half the
    kernel, an empty output.
    Source: Torch7 nn.VolumetricDilatedMaxPooling.

    Calls:
        VolumetricDilatedMaxPoolingFunction(kT, kW, kH, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, ceilMode)(input)
        VolumetricDilatedMaxPoolingFunction.apply(input, kT, kW, kH, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, ceilMode)

    Arguments:
        input: Tensor (real): input (N, C, T, H, W) or (C, T, H, W)
        kT: int: kernel depth
        kW: int: kernel width
        kH: int: kernel height
        dT: int: stride along the depth
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: padding in front and behind
        pW: int: padding left and right
        pH: int: padding above and below
        dilationT: int: distance between kernel elements along the depth
        dilationW: int: distance between kernel elements along the width
        dilationH: int: distance between kernel elements along the height
        ceilMode: bool, default False: round output sizes up
        return_indices: bool, default False: return (output, indices)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricDilatedMaxPooling w.r.t. its input: gradOutput is added at indices; index -1 is skipped.
    Errors: also IndexError for an index that is not an element of its window.
    """
    def __init__(self, kT: int, kW: int, kH: int, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int, dilationT: int, dilationW: int, dilationH: int, ceilMode: bool = ..., *, return_indices: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Any: ...
    @classmethod
    def apply(cls, input: Tensor, kT: int, kW: int, kH: int, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int, dilationT: int, dilationW: int, dilationH: int, ceilMode: bool = ..., return_indices: bool = ...) -> Any: ...

class SpatialAveragePoolingFunction(FunctionBase):
    """SpatialAveragePooling: the mean of each window. With count_include_pad the window is clipped to the padded
    image, whose zeros count in the divisor; otherwise it is clipped to the image.

    Shapes: input (N, C, H, W) or (C, H, W); output (N, C, oH, oW), sizes as in SpatialMaxPooling.
    Errors: ValueError for a kernel or stride below 1, padding below 0 or above half the kernel, an empty
    output.
    Source: Torch7 nn.SpatialAveragePooling.

    Calls:
        SpatialAveragePoolingFunction(kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad)(input)
        SpatialAveragePoolingFunction.apply(input, kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: zeros added left and right
        padH: int: zeros added above and below
        ceil_mode: bool, default False: round output sizes up
        count_include_pad: bool, default True: count padding in the divisor

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialAveragePooling w.r.t. its input: each gradOutput, divided by its divisor, is added to
    its window.
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, ceil_mode: bool = ..., count_include_pad: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, ceil_mode: bool = ..., count_include_pad: bool = ...) -> Tensor: ...

class VolumetricAveragePoolingFunction(FunctionBase):
    """VolumetricAveragePooling: the mean of each window, as in SpatialAveragePooling.

    Shapes: input (N, C, T, H, W) or (C, T, H, W); output (N, C, oT, oH, oW), sizes as in VolumetricMaxPooling.
    Errors: ValueError for a kernel or stride below 1, a kernel larger than the unpadded input, padding below 0 or above
    half the kernel, an empty output.
    Source: Torch7 nn.VolumetricAveragePooling.

    Calls:
        VolumetricAveragePoolingFunction(kT, kW, kH, dT, dW, dH, padT, padW, padH, ceil_mode, count_include_pad)(input)
        VolumetricAveragePoolingFunction.apply(input, kT, kW, kH, dT, dW, dH, padT, padW, padH, ceil_mode, count_include_pad)

    Arguments:
        input: Tensor (real): input (N, C, T, H, W) or (C, T, H, W)
        kT: int: kernel depth
        kW: int: kernel width
        kH: int: kernel height
        dT: int: stride along the depth
        dW: int: stride along the width
        dH: int: stride along the height
        padT: int: zeros added in front and behind
        padW: int: zeros added left and right
        padH: int: zeros added above and below
        ceil_mode: bool, default False: round output sizes up
        count_include_pad: bool, default True: count padding in the divisor

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricAveragePooling w.r.t. its input: each gradOutput, divided by its divisor, is added to
    its window.
    """
    def __init__(self, kT: int, kW: int, kH: int, dT: int, dW: int, dH: int, padT: int, padW: int, padH: int, ceil_mode: bool = ..., count_include_pad: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, kT: int, kW: int, kH: int, dT: int, dW: int, dH: int, padT: int, padW: int, padH: int, ceil_mode: bool = ..., count_include_pad: bool = ...) -> Tensor: ...

class SpatialAdaptiveAveragePoolingFunction(FunctionBase):
    """SpatialAdaptiveAveragePooling: the mean of each of osizeH x osizeW regions, whatever the size of the input. Region y
    covers the rows floor(y * H / osizeH) to ceil((y + 1) * H / osizeH) - 1, columns likewise.

    Shapes: input (N, C, H, W) or (C, H, W); output (N, C, osizeH, osizeW).
    Errors: ValueError for a size below 1. Source: He et al. 2014; Torch7 nn.SpatialAdaptiveAveragePooling.

    Calls:
        SpatialAdaptiveAveragePoolingFunction(osizeW, osizeH)(input)
        SpatialAdaptiveAveragePoolingFunction.apply(input, osizeW, osizeH)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        osizeW: int: width of the output
        osizeH: int: height of the output

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialAdaptiveAveragePooling w.r.t. its input: each gradOutput, divided by the size of its region, is
    added to the region.
    """
    def __init__(self, osizeW: int, osizeH: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, osizeW: int, osizeH: int) -> Tensor: ...

class VolumetricAdaptiveAveragePoolingFunction(FunctionBase):
    """VolumetricAdaptiveAveragePooling: the mean of each of osizeT x osizeH x osizeW regions, as in
    SpatialAdaptiveAveragePooling.

    Shapes: input (N, C, T, H, W) or (C, T, H, W); output (N, C, osizeT, osizeH, osizeW).
    Errors: ValueError for a size below 1. Source: PyTorch nn.AdaptiveAvgPool3d.

    Calls:
        VolumetricAdaptiveAveragePoolingFunction(osizeT, osizeW, osizeH)(input)
        VolumetricAdaptiveAveragePoolingFunction.apply(input, osizeT, osizeW, osizeH)

    Arguments:
        input: Tensor (real): input (N, C, T, H, W) or (C, T, H, W)
        osizeT: int: depth of the output
        osizeW: int: width of the output
        osizeH: int: height of the output

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricAdaptiveAveragePooling w.r.t. its input: each gradOutput, divided by the size of its region, is
    added to the region.
    """
    def __init__(self, osizeT: int, osizeW: int, osizeH: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, osizeT: int, osizeW: int, osizeH: int) -> Tensor: ...

class SpatialAdaptiveMaxPoolingFunction(FunctionBase):
    """SpatialAdaptiveMaxPooling: the largest value of each of oheight x owidth regions, the same regions as in
    SpatialAdaptiveAveragePooling.

    Shapes: input (N, C, H, W) or (C, H, W); output and indices (N, C, oheight, owidth).
    indices holds h*W + w of the maximum within its plane. The first of equal values in row order wins, NaN counts
    as larger than anything, so the last NaN wins.
    Errors: ValueError for a size below 1. Source: Torch7 nn.SpatialAdaptiveMaxPooling.

    Calls:
        SpatialAdaptiveMaxPoolingFunction(owidth, oheight)(input)
        SpatialAdaptiveMaxPoolingFunction.apply(input, owidth, oheight)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        owidth: int: width of the output
        oheight: int: height of the output
        return_indices: bool, default False: return (output, indices)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialAdaptiveMaxPooling w.r.t. its input: gradOutput is added at indices.
    Errors: also IndexError for an index outside its plane.
    """
    def __init__(self, owidth: int, oheight: int, *, return_indices: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Any: ...
    @classmethod
    def apply(cls, input: Tensor, owidth: int, oheight: int, return_indices: bool = ...) -> Any: ...

class SpatialFractionalMaxPoolingFunction(FunctionBase):
    """SpatialFractionalMaxPooling: the largest value of each of outputH x outputW regions of poolSizeH x poolSizeW, whose
    stride is a fraction. Along an axis of size I with the random sample u, region j < O - 1 begins at
    trunc((j + u) * a) - trunc(u * a) with a = (I - poolSize) / (O - 1), and the last region at I - poolSize.

    Shapes: input (N, C, H, W) or (C, H, W); output and indices (N, C, outputH, outputW); randomSamples (N, C, 2),
    without N also (C, 2).
    indices holds h*W + w of the maximum within its plane. The first of equal values in row order wins, NaN counts
    as larger than anything, so the last NaN wins.
    Errors: ValueError for a size below 1, output + poolSize - 1 not below the size of the input, a sample not in [0, 1].
    Source: Graham 2014; Torch7 nn.SpatialFractionalMaxPooling.

    Calls:
        SpatialFractionalMaxPoolingFunction(outputW, outputH, poolSizeW, poolSizeH)(input, randomSamples)
        SpatialFractionalMaxPoolingFunction.apply(input, randomSamples, outputW, outputH, poolSizeW, poolSizeH)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        outputW: int: width of the output
        outputH: int: height of the output
        poolSizeW: int: width of a region
        poolSizeH: int: height of a region
        randomSamples: Tensor (real): two numbers in [0, 1] for each plane: for the width and for the height
        return_indices: bool, default False: return (output, indices)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialFractionalMaxPooling w.r.t. its input: gradOutput is added at indices.
    Errors: also IndexError for an index outside its plane.
    """
    def __init__(self, outputW: int, outputH: int, poolSizeW: int, poolSizeH: int, *, return_indices: bool = ...) -> None: ...
    def __call__(self, input: Tensor, randomSamples: Tensor) -> Any: ...
    @classmethod
    def apply(cls, input: Tensor, randomSamples: Tensor, outputW: int, outputH: int, poolSizeW: int, poolSizeH: int, return_indices: bool = ...) -> Any: ...

class VolumetricFractionalMaxPoolingFunction(FunctionBase):
    """VolumetricFractionalMaxPooling: SpatialFractionalMaxPooling for volumes, with the depth T last.

    Shapes: input (N, C, H, W, T) or (C, H, W, T); output and indices (N, C, outputH, outputW, outputT); randomSamples
    (N, C, 3), without N also (C, 3).
    indices holds (h*W + w)*T + t of the maximum within its volume. The first of equal values in row order wins, NaN
    counts as larger than anything, so the last NaN wins.
    Errors: ValueError for a size below 1, output + poolSize - 1 not below the size of the input, a sample not in [0, 1].
    Source: Graham 2014; Torch7 nn.VolumetricFractionalMaxPooling.

    Calls:
        VolumetricFractionalMaxPoolingFunction(outputT, outputW, outputH, poolSizeT, poolSizeW, poolSizeH)(input, randomSamples)
        VolumetricFractionalMaxPoolingFunction.apply(input, randomSamples, outputT, outputW, outputH, poolSizeT, poolSizeW, poolSizeH)

    Arguments:
        input: Tensor (real): input (N, C, H, W, T) or (C, H, W, T)
        outputT: int: depth of the output
        outputW: int: width of the output
        outputH: int: height of the output
        poolSizeT: int: depth of a region
        poolSizeW: int: width of a region
        poolSizeH: int: height of a region
        randomSamples: Tensor (real): three numbers in [0, 1] for each volume: for depth, width and height
        return_indices: bool, default False: return (output, indices)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricFractionalMaxPooling w.r.t. its input: gradOutput is added at indices.
    Errors: also IndexError for an index outside its volume.
    """
    def __init__(self, outputT: int, outputW: int, outputH: int, poolSizeT: int, poolSizeW: int, poolSizeH: int, *, return_indices: bool = ...) -> None: ...
    def __call__(self, input: Tensor, randomSamples: Tensor) -> Any: ...
    @classmethod
    def apply(cls, input: Tensor, randomSamples: Tensor, outputT: int, outputW: int, outputH: int, poolSizeT: int, poolSizeW: int, poolSizeH: int, return_indices: bool = ...) -> Any: ...

class SpatialMaxUnpoolingFunction(FunctionBase):
    """SpatialMaxUnpooling: the inverse of a max pooling: output is 0 except at indices, where it is input. Among equal
    indices the last one in row order counts.

    Shapes: input and indices (N, C, H, W) or (C, H, W); output (N, C, oheight, owidth).
    Errors: ValueError for a size below 1 and for sizes that do not fit, IndexError for an index outside the output.
    Source: Zeiler and Fergus 2014; Torch7 nn.SpatialMaxUnpooling.

    Calls:
        SpatialMaxUnpoolingFunction(owidth, oheight)(input, indices)
        SpatialMaxUnpoolingFunction.apply(input, indices, owidth, oheight)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        indices: Tensor (int64): position of each input in its plane of the output
        owidth: int: width of the output
        oheight: int: height of the output

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialMaxUnpooling w.r.t. its input: gradOutput at indices.
    """
    def __init__(self, owidth: int, oheight: int) -> None: ...
    def __call__(self, input: Tensor, indices: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, indices: Tensor, owidth: int, oheight: int) -> Tensor: ...

class VolumetricMaxUnpoolingFunction(FunctionBase):
    """VolumetricMaxUnpooling: the inverse of VolumetricMaxPooling with the same stride and padding. output is 0 except at
    (t*dT - pT + kt, y*dH - pH + kh, x*dW - pW + kw), where it is input[n,c,t,y,x] with the index kt + (kh << 8) +
    (kw << 16). Among equal positions the last one in row order counts.

    Shapes: input and indices (N, C, T, H, W) or (C, T, H, W); output (N, C, oT, oH, oW).
    Errors: ValueError for a size or stride below 1, negative padding, and for sizes that do not fit, IndexError for a
    position outside the output.
    Source: Torch7 nn.VolumetricMaxUnpooling.

    Calls:
        VolumetricMaxUnpoolingFunction(oT, oW, oH, dT, dW, dH, pT, pW, pH)(input, indices)
        VolumetricMaxUnpoolingFunction.apply(input, indices, oT, oW, oH, dT, dW, dH, pT, pW, pH)

    Arguments:
        input: Tensor (real): input (N, C, T, H, W) or (C, T, H, W)
        indices: Tensor (int64): element of the kernel, packed
        oT: int: depth of the output
        oW: int: width of the output
        oH: int: height of the output
        dT: int: stride along the depth
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: padding in front and behind
        pW: int: padding left and right
        pH: int: padding above and below

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricMaxUnpooling w.r.t. its input: gradOutput at the positions of the forward.
    """
    def __init__(self, oT: int, oW: int, oH: int, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int) -> None: ...
    def __call__(self, input: Tensor, indices: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, indices: Tensor, oT: int, oW: int, oH: int, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int) -> Tensor: ...

class FeatureLPPoolingFunction(FunctionBase):
    """FeatureLPPooling: the p-norm of windows that slide along the features.

      output[n,o,...] = (sum over k < width of input[n, o*stride + k, ...]^power)^(1/power)

    With an odd power a sum may be negative; output is then minus the root of its magnitude. With a power that is not a
    whole number, a negative input gives NaN.
    Shapes: input (N, F), (N, F, A) or (N, F, A, B) with batchMode, otherwise without N; output with
    oF = floor((F - width) / stride) + 1 features.
    Errors: ValueError for a power that is not positive and finite, a width not in 2 to 16, a stride not in 1 to 4,
    fewer features than the width.
    Source: Boureau et al. 2010; Torch7 nn.FeatureLPPooling.

    Calls:
        FeatureLPPoolingFunction(power, width, stride, batchMode)(input)
        FeatureLPPoolingFunction.apply(input, power, width, stride, batchMode)

    Arguments:
        input: Tensor (real): input (N, F, ...) or (F, ...)
        power: float: exponent
        width: int: features of a window
        stride: int: features from one window to the next
        batchMode: bool: dimension 0 is the batch

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of FeatureLPPooling w.r.t. its input: gradOutput * (input / output)^(power - 1) is added to each element of
    its window. A window whose output is 0 adds nothing.
    """
    def __init__(self, power: float, width: int, stride: int, batchMode: bool) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, power: float, width: int, stride: int, batchMode: bool) -> Tensor: ...
