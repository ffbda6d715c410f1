"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import FunctionBase

class TemporalUpSamplingNearestFunction(FunctionBase):
    """TemporalUpSamplingNearest: every element of a series repeated scale_factor times.

      output[n,c,x] = input[n, c, floor(x / scale_factor)]

    Shapes: input (N, C, W) or (C, W); output (N, C, W*scale_factor).
    Errors: ValueError for a factor below 2. Source: Torch7 nn.TemporalUpSamplingNearest.

    Calls:
        TemporalUpSamplingNearestFunction(scale_factor)(input)
        TemporalUpSamplingNearestFunction.apply(input, scale_factor)

    Arguments:
        input: Tensor (real): input (N, C, W) or (C, W)
        scale_factor: int: repetitions along each axis

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of TemporalUpSamplingNearest w.r.t. its input: the sum of gradOutput over the repetitions of each
    element.
    """
    def __init__(self, scale_factor: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, scale_factor: int) -> Tensor: ...

class SpatialUpSamplingNearestFunction(FunctionBase):
    """SpatialUpSamplingNearest: every pixel repeated scale_factor times along the height and the width.

      output[n,c,y,x] = input[n, c, floor(y / scale_factor), floor(x / scale_factor)]

    Shapes: input (N, C, H, W) or (C, H, W); output (N, C, H*scale_factor, W*scale_factor).
    Errors: ValueError for a factor below 2. Source: Torch7 nn.SpatialUpSamplingNearest.

    Calls:
        SpatialUpSamplingNearestFunction(scale_factor)(input)
        SpatialUpSamplingNearestFunction.apply(input, scale_factor)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        scale_factor: int: repetitions along each axis

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialUpSamplingNearest w.r.t. its input: the sum of gradOutput over the repetitions of each element.
    """
    def __init__(self, scale_factor: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, scale_factor: int) -> Tensor: ...

class VolumetricUpSamplingNearestFunction(FunctionBase):
    """VolumetricUpSamplingNearest: every element of a volume repeated scale_factor times along each axis.

      output[n,c,t,y,x] = input[n, c, floor(t / scale_factor), floor(y / scale_factor), floor(x / scale_factor)]

    Shapes: input (N, C, T, H, W) or (C, T, H, W); output (N, C, T*scale_factor, H*scale_factor, W*scale_factor).
    Errors: ValueError for a factor below 2. Source: Torch7 nn.VolumetricUpSamplingNearest.

    Calls:
        VolumetricUpSamplingNearestFunction(scale_factor)(input)
        VolumetricUpSamplingNearestFunction.apply(input, scale_factor)

    Arguments:
        input: Tensor (real): input (N, C, T, H, W) or (C, T, H, W)
        scale_factor: int: repetitions along each axis

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricUpSamplingNearest w.r.t. its input: the sum of gradOutput over the repetitions of each
    element.
    """
    def __init__(self, scale_factor: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, scale_factor: int) -> Tensor: ...

class TemporalUpSamplingLinearFunction(FunctionBase):
    """TemporalUpSamplingLinear: linear interpolation of a series to another length, so that the first and the last element
    of input and output coincide.

      output[n,c,x] = (1 - f) * input[n,c,i] + f * input[n,c,i+1]
                      with i + f = x * (W - 1) / (outputWidth - 1), 0 <= f < 1

    Shapes: input (N, C, W); output (N, C, outputWidth). If outputWidth is 1, output is the first element
    of input.
    Errors: ValueError for an output size below 1. Source: torch 0.2 nn.Upsample(mode='linear').

    Calls:
        TemporalUpSamplingLinearFunction(outputWidth)(input)
        TemporalUpSamplingLinearFunction.apply(input, outputWidth)

    Arguments:
        input: Tensor (real): input (N, C, W)
        outputWidth: int: width of the output

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of TemporalUpSamplingLinear w.r.t. its input: each element of gradOutput, times the forward's
    weights, is added to the input elements that its output element was computed from.
    """
    def __init__(self, outputWidth: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, outputWidth: int) -> Tensor: ...

class SpatialUpSamplingBilinearFunction(FunctionBase):
    """SpatialUpSamplingBilinear: linear interpolation of images along height and width, so that the corners of input and
    output coincide.

      output[n,c,y,x] = (1 - f) * (1 - g) * input[n,c,i,j] + (1 - f) * g * input[n,c,i,j+1]
                        + f * (1 - g) * input[n,c,i+1,j] + f * g * input[n,c,i+1,j+1]
      with i + f = y * (H - 1) / (outputHeight - 1), j + g = x * (W - 1) / (outputWidth - 1), 0 <= f < 1 and 0 <= g < 1

    Shapes: input (N, C, H, W); output (N, C, outputHeight, outputWidth). Along an axis with one output, only the
    first input is read.
    Errors: ValueError for an output size below 1. Source: Torch7 nn.SpatialUpSamplingBilinear.

    Calls:
        SpatialUpSamplingBilinearFunction(outputHeight, outputWidth)(input)
        SpatialUpSamplingBilinearFunction.apply(input, outputHeight, outputWidth)

    Arguments:
        input: Tensor (real): input (N, C, H, W)
        outputHeight: int: height of the output
        outputWidth: int: width of the output

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialUpSamplingBilinear w.r.t. its input: each element of gradOutput, times the forward's
    weights, is added to the input elements that its output element was computed from.
    """
    def __init__(self, outputHeight: int, outputWidth: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, outputHeight: int, outputWidth: int) -> Tensor: ...

class VolumetricUpSamplingTrilinearFunction(FunctionBase):
    """VolumetricUpSamplingTrilinear: linear interpolation of volumes along all three axes, as SpatialUpSamplingBilinear.

    Shapes: input (N, C, T, H, W); output (N, C, outputDepth, outputHeight, outputWidth).
    Errors: ValueError for an output size below 1. Source: torch 0.2 nn.Upsample(mode='trilinear').

    Calls:
        VolumetricUpSamplingTrilinearFunction(outputDepth, outputHeight, outputWidth)(input)
        VolumetricUpSamplingTrilinearFunction.apply(input, outputDepth, outputHeight, outputWidth)

    Arguments:
        input: Tensor (real): input (N, C, T, H, W)
        outputDepth: int: depth of the output
        outputHeight: int: height of the output
        outputWidth: int: width of the output

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricUpSamplingTrilinear w.r.t. its input: each element of gradOutput, times the forward's
    weights, is added to the input elements that its output element was computed from.
    """
    def __init__(self, outputDepth: int, outputHeight: int, outputWidth: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, outputDepth: int, outputHeight: int, outputWidth: int) -> Tensor: ...

class SpatialGridSamplerBilinearFunction(FunctionBase):
    """SpatialGridSamplerBilinear: images sampled by linear interpolation at the positions of a grid.

      output[n,c,y,x] = sum over the four pixels i, j around (u, v) of (1 - |u - i|) * (1 - |v - j|) * input[n,c,i,j]
      with u = (grid[n,y,x,1] + 1) / 2 * (H - 1) and v = (grid[n,y,x,0] + 1) / 2 * (W - 1)

    -1 and 1 are the centres of the first and last pixels. Pixels outside of the image are 0. A position with a
    NaN gives NaN, unless its other coordinate is outside of the image.
    Shapes: input (N, C, H, W); grid (N, oH, oW, 2); output (N, C, oH, oW).
    Errors: ValueError for sizes that do not fit, and for images of 2^24 pixels or more along an axis.
    Source: Jaderberg et al., 2015; torch 0.2 nn.functional.grid_sample.

    Calls:
        SpatialGridSamplerBilinearFunction()(input, grid)
        SpatialGridSamplerBilinearFunction.apply(input, grid)

    Arguments:
        input: Tensor (real): input (N, C, H, W)
        grid: Tensor (real): positions (N, oH, oW, 2), the last dimension x, y

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of SpatialGridSamplerBilinear w.r.t. its input and the positions; the gradient w.r.t. a position is the
    slope between the pixels floor(u) and floor(u) + 1 (v likewise), also where u is a whole number.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor, grid: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, grid: Tensor) -> Tensor: ...

class VolumetricGridSamplerBilinearFunction(FunctionBase):
    """VolumetricGridSamplerBilinear: SpatialGridSamplerBilinear for volumes, from the eight elements around a position.

    Shapes: input (N, C, T, H, W); grid (N, oT, oH, oW, 3), positions x, y, z along W, H, T; output (N, C, oT, oH, oW).
    Errors: as SpatialGridSamplerBilinear. Source: torch.nn.functional.grid_sample with align_corners.

    Calls:
        VolumetricGridSamplerBilinearFunction()(input, grid)
        VolumetricGridSamplerBilinearFunction.apply(input, grid)

    Arguments:
        input: Tensor (real): input (N, C, T, H, W)
        grid: Tensor (real): positions (N, oT, oH, oW, 3), the last dimension x, y, z

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradients of VolumetricGridSamplerBilinear w.r.t. its input and the positions, as in SpatialGridSamplerBilinear.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor, grid: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, grid: Tensor) -> Tensor: ...

class InterpolationFunction(FunctionBase):
    """Interpolation: resampling of series, images or volumes to any size, nearest or linear, with aligned corners or
    not. The layers of thnn.nn call it. Its special cases are TemporalUpSamplingNearest, SpatialUpSamplingNearest,
    VolumetricUpSamplingNearest, TemporalUpSamplingLinear, SpatialUpSamplingBilinear and VolumetricUpSamplingTrilinear.

      nearest:           output[x] = input[floor(x * s)]
      linear:            output[x] = (1 - f) * input[i] + f * input[i + 1] with i + f = max((x + 1/2) * s - 1/2, 0)
      and align_corners: i + f = x * (W - 1) / (outputWidth - 1)

    with s = scaleWidth, or W / outputWidth if scaleWidth is 0; other axes likewise. As in torch, the scale has no effect
    on linear resampling if outputWidth is W, nor on nearest resampling of images if it is W or 2 * W. Positions beyond
    the last input are moved to the last input.
    Shapes, in two dimensions: input (N, C, H, W); output (N, C, outputHeight, outputWidth). One dimension has only W,
    three have T before H.
    Errors: ValueError for an output size below 1, or other than 1 in a dimension that input does not have; for a
    scale that is negative or not finite; for align_corners without linear, or with a scale. Source:
    torch.nn.functional.interpolate.

    Calls:
        InterpolationFunction(outputDepth, outputHeight, outputWidth, linear, align_corners, scaleDepth, scaleHeight, scaleWidth)(input)
        InterpolationFunction.apply(input, outputDepth, outputHeight, outputWidth, linear, align_corners, scaleDepth, scaleHeight, scaleWidth)

    Arguments:
        input: Tensor (real): input (N, C, H, W)
        outputDepth: int: depth of the output; 1 if there is no depth
        outputHeight: int: height of the output; 1 if there is no height
        outputWidth: int: width of the output
        linear: bool, default False: linear, otherwise nearest
        align_corners: bool, default False: the first and last elements of input and output coincide
        scaleDepth: float, default 0.0: inputs per output along the depth, 0: the ratio of the sizes
        scaleHeight: float, default 0.0: inputs per output along the height, 0: the ratio of the sizes
        scaleWidth: float, default 0.0: inputs per output along the width, 0: the ratio of the sizes

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Interpolation w.r.t. its input: each element of gradOutput, times the forward's
    weights, is added to the input elements that its output element was computed from.
    """
    def __init__(self, outputDepth: int, outputHeight: int, outputWidth: int, linear: bool = ..., align_corners: bool = ..., scaleDepth: float = ..., scaleHeight: float = ..., scaleWidth: float = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, outputDepth: int, outputHeight: int, outputWidth: int, linear: bool = ..., align_corners: bool = ..., scaleDepth: float = ..., scaleHeight: float = ..., scaleWidth: float = ...) -> Tensor: ...
