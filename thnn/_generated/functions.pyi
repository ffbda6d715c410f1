"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import Criterion, FunctionBase

class SpatialConvolutionMMFunction(FunctionBase):
    """SpatialConvolutionMM: cross-correlation of a batch of images with a bank of filters.

      output[n,o,y,x] = bias[o] + sum over i, kh, kw of
                        weight[o,i,kh,kw] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]

    Shapes: input (N, I, H, W) or (I, H, W); weight (O, I, kH, kW) or flattened (O, I*kH*kW); bias (O) or None;
    output (N, O, oH, oW) with oH = floor((H + 2*padH - kH) / dH) + 1 and oW likewise. Outside the image input is 0.
    Errors: ValueError for a kernel or stride below 1, negative padding, an output without elements, sizes that
    do not fit. Source: Torch7 nn.SpatialConvolutionMM.

    Calls:
        SpatialConvolutionMMFunction(kW, kH, dW, dH, padW, padH)(input, weight, bias)
        SpatialConvolutionMMFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, H, W) or (I, H, W)
        weight: Tensor (float32 or float64): filters (O, I, kH, kW) or (O, I*kH*kW)
        bias: Tensor (float32 or float64) or None: one per output plane (O)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: zeros added left and right
        padH: int: zeros added above and below

    Gradient of SpatialConvolutionMM by its input: gradOutput correlated with the flipped filters.

    Gradients of SpatialConvolutionMM by its parameters, accumulated:
    gradWeight[o,i,kh,kw] += scale * sum over n, y, x of gradOutput[n,o,y,x] * input[n, i, y*dH + kh - padH, x*dW + kw - padW];
    gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x].
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kW: int = ..., kH: int = ..., dW: int = ..., dH: int = ..., padW: int = ..., padH: int = ...) -> Tensor: ...

class TemporalConvolutionFunction(FunctionBase):
    """TemporalConvolution: cross-correlation of sequences of frames with a bank of filters, time before features.

      output[n,t,o] = bias[o] + sum over k, f of weight[o, k*inputFrameSize + f] * input[n, t*dW + k, f]

    Shapes: input (N, T, inputFrameSize) or (T, inputFrameSize); weight (outputFrameSize, kW*inputFrameSize); bias
    (outputFrameSize); output (N, oT, outputFrameSize) with oT = floor((T - kW) / dW) + 1.
    Errors: ValueError for a kernel or stride below 1, a sequence shorter than the kernel, sizes that do not fit or are
    not inputFrameSize and outputFrameSize. Source: Torch7 nn.TemporalConvolution.

    Calls:
        TemporalConvolutionFunction(kW, dW, inputFrameSize, outputFrameSize)(input, weight, bias)
        TemporalConvolutionFunction.apply(input, weight, bias, kW, dW, inputFrameSize, outputFrameSize)

    Arguments:
        input: Tensor (float32 or float64): input (N, T, inputFrameSize) or (T, inputFrameSize)
        weight: Tensor (float32 or float64): filters (outputFrameSize, kW*inputFrameSize)
        bias: Tensor (float32 or float64): one per output feature (outputFrameSize)
        kW: int: kernel length
        dW: int: stride
        inputFrameSize: int: features of a frame of input
        outputFrameSize: int: features of a frame of output

    Gradient of TemporalConvolution by its input: sums gradOutput * weight over what each frame contributed to.

    Gradients of TemporalConvolution by its parameters, accumulated:
    gradWeight[o, k*inputFrameSize + f] += scale * sum over n, t of gradOutput[n,t,o] * input[n, t*dW + k, f];
    gradBias[o] += scale * sum over n, t of gradOutput[n,t,o].
    """
    def __init__(self, kW: int, dW: int, inputFrameSize: int, outputFrameSize: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, kW: int, dW: int, inputFrameSize: int, outputFrameSize: int) -> Tensor: ...

class TemporalRowConvolutionFunction(FunctionBase):
    """TemporalRowConvolution: cross-correlation of every feature of a sequence with a filter of its own.

      output[n,f,t] = bias[f] + sum over k of weight[f,0,k] * input[n, f, t*dW + k - padW]

    Shapes: with featFirst input (N, F, T) or (F, T) and output (N, F, oT), otherwise (N, T, F) or (T, F) and
    (N, oT, F); weight (F, 1, kW); bias (F) or None; oT = floor((T + 2*padW - kW) / dW) + 1. Outside the sequence input
    is 0.
    Errors: ValueError for a kernel or stride below 1, negative padding, an output without elements, sizes that do not
    fit. Source: Torch7 nn.TemporalRowConvolution.

    Calls:
        TemporalRowConvolutionFunction(kW, dW, padW, featFirst)(input, weight, bias)
        TemporalRowConvolutionFunction.apply(input, weight, bias, kW, dW, padW, featFirst)

    Arguments:
        input: Tensor (float32 or float64): input (N, F, T) or (F, T), or with time first
        weight: Tensor (float32 or float64): filters (F, 1, kW)
        bias: Tensor (float32 or float64) or None: one per feature (F)
        kW: int: kernel length
        dW: int: stride
        padW: int: zeros added before and after
        featFirst: bool: features before time

    Gradient of TemporalRowConvolution by its input: every feature of gradOutput correlated with its flipped filter.

    Gradients of TemporalRowConvolution by its parameters, accumulated:
    gradWeight[f,0,k] += scale * sum over n, t of gradOutput[n,f,t] * input[n, f, t*dW + k - padW];
    gradBias[f] += scale * sum over n, t of gradOutput[n,f,t].
    """
    def __init__(self, kW: int, dW: int, padW: int, featFirst: bool) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kW: int = ..., dW: int = ..., padW: int = ..., featFirst: bool = ...) -> Tensor: ...

class SpatialDilatedConvolutionFunction(FunctionBase):
    """SpatialDilatedConvolution: SpatialConvolutionMM with gaps between the taps of a filter.

      output[n,o,y,x] = bias[o] + sum over i, kh, kw of
                        weight[o,i,kh,kw] * input[n, i, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]

    Shapes: input (N, I, H, W) or (I, H, W); weight (O, I, kH, kW); bias (O) or None; output (N, O, oH, oW) with
    oH = floor((H + 2*padH - dilationH*(kH-1) - 1) / dH) + 1 and oW likewise. Outside the image input is 0.
    Errors: ValueError for a kernel, stride or dilation below 1, negative padding, an output without elements, sizes
    that do not fit. Source: Yu and Koltun, 2015; Torch7 nn.SpatialDilatedConvolution.

    Calls:
        SpatialDilatedConvolutionFunction(kW, kH, dW, dH, padW, padH, dilationW, dilationH)(input, weight, bias)
        SpatialDilatedConvolutionFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH, dilationW, dilationH)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, H, W) or (I, H, W)
        weight: Tensor (float32 or float64): filters (O, I, kH, kW)
        bias: Tensor (float32 or float64) or None: one per output plane (O)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: zeros added left and right
        padH: int: zeros added above and below
        dilationW: int: distance of taps along the width
        dilationH: int: distance of taps along the height

    Gradient of SpatialDilatedConvolution by its input: gradOutput correlated with the flipped filters.

    Gradients of SpatialDilatedConvolution by its parameters, accumulated:
    gradWeight[o,i,kh,kw] += scale * sum over n, y, x of
                             gradOutput[n,o,y,x] * input[n, i, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW];
    gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x].
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, dilationW: int, dilationH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kW: int = ..., kH: int = ..., dW: int = ..., dH: int = ..., padW: int = ..., padH: int = ..., dilationW: int = ..., dilationH: int = ...) -> Tensor: ...

class SpatialFullConvolutionFunction(FunctionBase):
    """SpatialFullConvolution: transposed convolution, the gradInput of SpatialConvolutionMM as a function of its own. Every
    pixel of input, times a filter, is added to a patch of output.

      output[n,o,Y,X] = bias[o] + sum over i, y, x, kh, kw with Y = y*dH + kh - padH and X = x*dW + kw - padW of
                        weight[i,o,kh,kw] * input[n,i,y,x]

    Shapes: input (N, I, H, W) or (I, H, W); weight (I, O, kH, kW); bias (O) or None; output (N, O, oH, oW) with
    oH = (H-1)*dH - 2*padH + kH + adjH and oW likewise: adjH chooses among the sizes that a convolution with the same
    stride would turn into H.
    Errors: ValueError for a kernel or stride below 1, negative padding, an adj below 0 or not below the stride, an
    output without elements, sizes that do not fit. Source: Torch7 nn.SpatialFullConvolution.

    Calls:
        SpatialFullConvolutionFunction(kW, kH, dW, dH, padW, padH, adjW, adjH)(input, weight, bias)
        SpatialFullConvolutionFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH, adjW, adjH)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, H, W) or (I, H, W)
        weight: Tensor (float32 or float64): filters (I, O, kH, kW)
        bias: Tensor (float32 or float64) or None: one per output plane (O)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: left out of the output, left and right
        padH: int: left out of the output, above and below
        adjW: int: added to the output at the right
        adjH: int: added to the output at the bottom

    Gradient of SpatialFullConvolution by its input: the convolution of gradOutput with weight.

    Gradients of SpatialFullConvolution by its parameters, accumulated:
    gradWeight[i,o,kh,kw] += scale * sum over n, y, x of
                             input[n,i,y,x] * gradOutput[n, o, y*dH + kh - padH, x*dW + kw - padW];
    gradBias[o] += scale * sum over n, Y, X of gradOutput[n,o,Y,X].
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, adjW: int, adjH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kW: int = ..., kH: int = ..., dW: int = ..., dH: int = ..., padW: int = ..., padH: int = ..., adjW: int = ..., adjH: int = ...) -> Tensor: ...

class SpatialFullDilatedConvolutionFunction(FunctionBase):
    """SpatialFullDilatedConvolution: SpatialFullConvolution with gaps between the taps of a filter.

      output[n,o,Y,X] = bias[o] + sum over i, y, x, kh, kw with Y = y*dH + kh*dilationH - padH and
                        X = x*dW + kw*dilationW - padW of weight[i,o,kh,kw] * input[n,i,y,x]

    Shapes: input (N, I, H, W) or (I, H, W); weight (I, O, kH, kW); bias (O) or None; output (N, O, oH, oW) with
    oH = (H-1)*dH - 2*padH + dilationH*(kH-1) + 1 + adjH and oW likewise.
    Errors: ValueError for a kernel, stride or dilation below 1, negative padding, an adj below 0 or below neither the
    stride nor the dilation, an output without elements, sizes that do not fit. Source: PyTorch 0.2.

    Calls:
        SpatialFullDilatedConvolutionFunction(kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH)(input, weight, bias)
        SpatialFullDilatedConvolutionFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, H, W) or (I, H, W)
        weight: Tensor (float32 or float64): filters (I, O, kH, kW)
        bias: Tensor (float32 or float64) or None: one per output plane (O)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: left out of the output, left and right
        padH: int: left out of the output, above and below
        dilationW: int: distance of taps along the width
        dilationH: int: distance of taps along the height
        adjW: int: added to the output at the right
        adjH: int: added to the output at the bottom

    Gradient of SpatialFullDilatedConvolution by its input: the dilated convolution of gradOutput with weight.

    Gradients of SpatialFullDilatedConvolution by its parameters, accumulated:
    gradWeight[i,o,kh,kw] += scale * sum over n, y, x of
                             input[n,i,y,x] * gradOutput[n, o, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW];
    gradBias[o] += scale * sum over n, Y, X of gradOutput[n,o,Y,X].
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, dilationW: int, dilationH: int, adjW: int, adjH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kW: int = ..., kH: int = ..., dW: int = ..., dH: int = ..., padW: int = ..., padH: int = ..., dilationW: int = ..., dilationH: int = ..., adjW: int = ..., adjH: int = ...) -> Tensor: ...

class SpatialDepthWiseConvolutionFunction(FunctionBase):
    """SpatialDepthWiseConvolution: cross-correlation of every input plane with M filters of its own.

      output[n, i*M + m, y, x] = bias[m,i] + sum over kh, kw of
                                 weight[m,i,kh,kw] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]

    Shapes: input (N, I, H, W) or (I, H, W); weight (M, I, kH, kW) or flattened (M, I*kH*kW); bias (M, I) or None; output
    (N, I*M, oH, oW) with oH = floor((H + 2*padH - kH) / dH) + 1 and oW likewise. Outside the image input is 0.
    Errors: ValueError for a kernel or stride below 1, negative padding, an output without elements, sizes that do not
    fit. Source: Torch7 nn.SpatialDepthWiseConvolution.

    Calls:
        SpatialDepthWiseConvolutionFunction(kW, kH, dW, dH, padW, padH)(input, weight, bias)
        SpatialDepthWiseConvolutionFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, H, W) or (I, H, W)
        weight: Tensor (float32 or float64): filters (M, I, kH, kW) or (M, I*kH*kW)
        bias: Tensor (float32 or float64) or None: one per filter (M, I)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: zeros added left and right
        padH: int: zeros added above and below

    Gradient of SpatialDepthWiseConvolution by its input: every plane of gradOutput correlated with its flipped filter.

    Gradients of SpatialDepthWiseConvolution by its parameters, accumulated:
    gradWeight[m,i,kh,kw] += scale * sum over n, y, x of
                             gradOutput[n, i*M + m, y, x] * input[n, i, y*dH + kh - padH, x*dW + kw - padW];
    gradBias[m,i] += scale * sum over n, y, x of gradOutput[n, i*M + m, y, x].
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kW: int = ..., kH: int = ..., dW: int = ..., dH: int = ..., padW: int = ..., padH: int = ...) -> Tensor: ...

class VolumetricConvolutionFunction(FunctionBase):
    """VolumetricConvolution: cross-correlation of a batch of volumes with a bank of filters, whose size is the kernel.

      output[n,o,z,y,x] = bias[o] + sum over i, kt, kh, kw of
                          weight[o,i,kt,kh,kw] * input[n, i, z*dT + kt - pT, y*dH + kh - pH, x*dW + kw - pW]

    Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (O, I, kT, kH, kW); bias (O) or None; output (N, O, oT, oH, oW)
    with oT = floor((T + 2*pT - kT) / dT) + 1, and oH and oW likewise. Outside the volume input is 0.
    Errors: ValueError for a stride below 1, negative padding, an output without elements, sizes that do not fit.
    Source: Torch7 nn.VolumetricConvolution.

    Calls:
        VolumetricConvolutionFunction(dT, dW, dH, pT, pW, pH)(input, weight, bias)
        VolumetricConvolutionFunction.apply(input, weight, bias, dT, dW, dH, pT, pW, pH)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, T, H, W) or (I, T, H, W)
        weight: Tensor (float32 or float64): filters (O, I, kT, kH, kW)
        bias: Tensor (float32 or float64) or None: one per output plane (O)
        dT: int: stride along the time
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: zeros added before and after
        pW: int: zeros added left and right
        pH: int: zeros added above and below

    Gradient of VolumetricConvolution by its input: gradOutput correlated with the flipped filters.

    Gradients of VolumetricConvolution by its parameters, accumulated:
    gradWeight[o,i,kt,kh,kw] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x] times the element of input that
    weight[o,i,kt,kh,kw] met; gradBias[o] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x].
    """
    def __init__(self, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., dT: int = ..., dW: int = ..., dH: int = ..., pT: int = ..., pW: int = ..., pH: int = ...) -> Tensor: ...

class VolumetricConvolutionMMFunction(FunctionBase):
    """VolumetricConvolutionMM: cross-correlation of a batch of volumes with a bank of filters.

      output[n,o,z,y,x] = bias[o] + sum over i, kt, kh, kw of
                          weight[o,i,kt,kh,kw] * input[n, i, z*dT + kt - pT, y*dH + kh - pH, x*dW + kw - pW]

    Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (O, I, kT, kH, kW) or flattened (O, I*kT*kH*kW); bias (O) or
    None; output (N, O, oT, oH, oW) with oT = floor((T + 2*pT - kT) / dT) + 1, and oH and oW likewise. Outside the volume
    input is 0.
    Errors: ValueError for a kernel or stride below 1, negative padding, an output without elements, sizes that do not
    fit. Source: Torch7 nn.VolumetricConvolution.

    Calls:
        VolumetricConvolutionMMFunction(kT, kW, kH, dT, dW, dH, pT, pW, pH)(input, weight, bias)
        VolumetricConvolutionMMFunction.apply(input, weight, bias, kT, kW, kH, dT, dW, dH, pT, pW, pH)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, T, H, W) or (I, T, H, W)
        weight: Tensor (float32 or float64): filters (O, I, kT, kH, kW) or (O, I*kT*kH*kW)
        bias: Tensor (float32 or float64) or None: one per output plane (O)
        kT: int: kernel depth (time)
        kW: int: kernel width
        kH: int: kernel height
        dT: int: stride along the time
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: zeros added before and after
        pW: int: zeros added left and right
        pH: int: zeros added above and below

    Gradient of VolumetricConvolutionMM by its input: gradOutput correlated with the flipped filters.

    Gradients of VolumetricConvolutionMM by its parameters, accumulated:
    gradWeight[o,i,kt,kh,kw] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x] times the element of input that
    weight[o,i,kt,kh,kw] met; gradBias[o] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x].
    """
    def __init__(self, kT: int, kW: int, kH: int, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kT: int = ..., kW: int = ..., kH: int = ..., dT: int = ..., dW: int = ..., dH: int = ..., pT: int = ..., pW: int = ..., pH: int = ...) -> Tensor: ...

class VolumetricDilatedConvolutionFunction(FunctionBase):
    """VolumetricDilatedConvolution: VolumetricConvolutionMM with gaps between the taps of a filter.

      output[n,o,z,y,x] = bias[o] + sum over i, kt, kh, kw of weight[o,i,kt,kh,kw] *
          input[n, i, z*dT + kt*dilationT - padT, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]

    Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (O, I, kT, kH, kW); bias (O) or None; output (N, O, oT, oH, oW)
    with oT = floor((T + 2*padT - dilationT*(kT-1) - 1) / dT) + 1, and oH and oW likewise. Outside the volume input is 0.
    Errors: ValueError for a kernel, stride or dilation below 1, negative padding, an output without elements, sizes
    that do not fit. Source: Torch7 nn.VolumetricDilatedConvolution.

    Calls:
        VolumetricDilatedConvolutionFunction(kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH)(input, weight, bias)
        VolumetricDilatedConvolutionFunction.apply(input, weight, bias, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, T, H, W) or (I, T, H, W)
        weight: Tensor (float32 or float64): filters (O, I, kT, kH, kW)
        bias: Tensor (float32 or float64) or None: one per output plane (O)
        kT: int: kernel depth (time)
        kW: int: kernel width
        kH: int: kernel height
        dT: int: stride along the time
        dW: int: stride along the width
        dH: int: stride along the height
        padT: int: zeros added before and after
        padW: int: zeros added left and right
        padH: int: zeros added above and below
        dilationT: int: distance of taps along the time
        dilationW: int: distance of taps along the width
        dilationH: int: distance of taps along the height

    Gradient of VolumetricDilatedConvolution by its input: gradOutput correlated with the flipped filters.

    Gradients of VolumetricDilatedConvolution by its parameters, accumulated:
    gradWeight[o,i,kt,kh,kw] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x] times the element of input that
    weight[o,i,kt,kh,kw] met; gradBias[o] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x].
    """
    def __init__(self, kT: int, kW: int, kH: int, dT: int, dW: int, dH: int, padT: int, padW: int, padH: int, dilationT: int, dilationW: int, dilationH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kT: int = ..., kW: int = ..., kH: int = ..., dT: int = ..., dW: int = ..., dH: int = ..., padT: int = ..., padW: int = ..., padH: int = ..., dilationT: int = ..., dilationW: int = ..., dilationH: int = ...) -> Tensor: ...

class VolumetricFullConvolutionFunction(FunctionBase):
    """VolumetricFullConvolution: transposed convolution of volumes. Every element of input, times a filter, is added to a
    block of output.

      output[n,o,Z,Y,X] = bias[o] + sum over i, z, y, x, kt, kh, kw with Z = z*dT + kt - pT, Y = y*dH + kh - pH and
                          X = x*dW + kw - pW of weight[i,o,kt,kh,kw] * input[n,i,z,y,x]

    Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (I, O, kT, kH, kW), whose size is the kernel; bias (O) or None;
    output (N, O, oT, oH, oW) with oT = (T-1)*dT - 2*pT + kT + aT, and oH and oW likewise.
    Errors: ValueError for a stride below 1, negative padding, an aT, aW or aH below 0 or not below the stride, an output
    without elements, sizes that do not fit. Source: Torch7 nn.VolumetricFullConvolution.

    Calls:
        VolumetricFullConvolutionFunction(dT, dW, dH, pT, pW, pH, aT, aW, aH)(input, weight, bias)
        VolumetricFullConvolutionFunction.apply(input, weight, bias, dT, dW, dH, pT, pW, pH, aT, aW, aH)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, T, H, W) or (I, T, H, W)
        weight: Tensor (float32 or float64): filters (I, O, kT, kH, kW)
        bias: Tensor (float32 or float64) or None: one per output plane (O)
        dT: int: stride along the time
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: left out of the output, before and after
        pW: int: left out of the output, left and right
        pH: int: left out of the output, above and below
        aT: int: added to the output at its end
        aW: int: added to the output at the right
        aH: int: added to the output at the bottom

    Gradient of VolumetricFullConvolution by its input: the convolution of gradOutput with weight.

    Gradients of VolumetricFullConvolution by its parameters, accumulated:
    gradWeight[i,o,kt,kh,kw] += scale * sum over n, z, y, x of input[n,i,z,y,x] times the element of gradOutput that
    weight[i,o,kt,kh,kw] contributed to; gradBias[o] += scale * the sum of plane o of gradOutput over n.
    """
    def __init__(self, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int, aT: int, aW: int, aH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., dT: int = ..., dW: int = ..., dH: int = ..., pT: int = ..., pW: int = ..., pH: int = ..., aT: int = ..., aW: int = ..., aH: int = ...) -> Tensor: ...

class VolumetricFullDilatedConvolutionFunction(FunctionBase):
    """VolumetricFullDilatedConvolution: VolumetricFullConvolution with gaps between the taps of a filter.

      output[n,o,Z,Y,X] = bias[o] + sum over i, z, y, x, kt, kh, kw with Z = z*dT + kt*dilationT - pT,
                          Y = y*dH + kh*dilationH - pH and X = x*dW + kw*dilationW - pW of
                          weight[i,o,kt,kh,kw] * input[n,i,z,y,x]

    Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (I, O, kT, kH, kW), whose size is the kernel; bias (O) or None;
    output (N, O, oT, oH, oW) with oT = (T-1)*dT - 2*pT + dilationT*(kT-1) + 1 + aT, and oH and oW likewise.
    Errors: ValueError for a stride or dilation below 1, negative padding, an aT, aW or aH below 0 or below neither the
    stride nor the dilation, an output without elements, sizes that do not fit. Source: PyTorch 0.2.

    Calls:
        VolumetricFullDilatedConvolutionFunction(dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH)(input, weight, bias)
        VolumetricFullDilatedConvolutionFunction.apply(input, weight, bias, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, T, H, W) or (I, T, H, W)
        weight: Tensor (float32 or float64): filters (I, O, kT, kH, kW)
        bias: Tensor (float32 or float64) or None: one per output plane (O)
        dT: int: stride along the time
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: left out of the output, before and after
        pW: int: left out of the output, left and right
        pH: int: left out of the output, above and below
        dilationT: int: distance of taps along the time
        dilationW: int: distance of taps along the width
        dilationH: int: distance of taps along the height
        aT: int: added to the output at its end
        aW: int: added to the output at the right
        aH: int: added to the output at the bottom

    Gradient of VolumetricFullDilatedConvolution by its input: the dilated convolution of gradOutput with weight.

    Gradients of VolumetricFullDilatedConvolution by its parameters, accumulated:
    gradWeight[i,o,kt,kh,kw] += scale * sum over n, z, y, x of input[n,i,z,y,x] times the element of gradOutput that
    weight[i,o,kt,kh,kw] contributed to; gradBias[o] += scale * the sum of plane o of gradOutput over n.
    """
    def __init__(self, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int, dilationT: int, dilationW: int, dilationH: int, aT: int, aW: int, aH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., dT: int = ..., dW: int = ..., dH: int = ..., pT: int = ..., pW: int = ..., pH: int = ..., dilationT: int = ..., dilationW: int = ..., dilationH: int = ..., aT: int = ..., aW: int = ..., aH: int = ...) -> Tensor: ...

class ConvolutionFunction(FunctionBase):
    """Convolution: cross-correlation in one, two or three dimensions, with stride, padding, dilation and groups: what all other
    convolutions are special cases of, and what thnn.nn computes with.

      output[n,o,y,x] = bias[o] + sum over the planes i of o's group and over kh, kw of
                        weight[o, i, kh, kw] * input[n, i, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]

    Shapes, in two dimensions: input (N, I, H, W) or (I, H, W); weight (O, I/groups, kH, kW); bias (O) or None; output
    (N, O, oH, oW) with oH = floor((H + 2*padH - dilationH*(kH - 1) - 1) / dH) + 1 and oW likewise. In one dimension W is
    the only size, in three there is T before H; the dimensions of weight say which. Group g joins the input planes from
    g*I/groups on with the output planes from g*O/groups on.
    Errors: ValueError for a stride, dilation or number of groups below 1, negative padding, planes that groups do not
    divide, an output without elements, sizes that do not fit; strides and so on of dimensions that there are not, if they
    say anything.

    Calls:
        ConvolutionFunction(dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, groups)(input, weight, bias)
        ConvolutionFunction.apply(input, weight, bias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, groups)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, H, W) or (I, H, W)
        weight: Tensor (float32 or float64): filters (O, I/groups, kH, kW)
        bias: Tensor (float32 or float64) or None: one per output plane (O)
        dT: int: stride along the depth; without that dimension 1
        dW: int: stride along the width; without that dimension 1
        dH: int: stride along the height; without that dimension 1
        padT: int: zeros added on both sides along the depth; without that dimension 0
        padW: int: zeros added on both sides along the width; without that dimension 0
        padH: int: zeros added on both sides along the height; without that dimension 0
        dilationT: int: distance of taps along the depth; without that dimension 1
        dilationW: int: distance of taps along the width; without that dimension 1
        dilationH: int: distance of taps along the height; without that dimension 1
        groups: int: into how many groups the planes of input and output are cut

    Gradient of Convolution by its input: gradOutput correlated with the flipped filters.

    Gradients of Convolution by its parameters, accumulated: gradWeight[o,i,kh,kw] += scale * sum over n, y, x of
    gradOutput[n,o,y,x] * what that tap sees of input; gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x].
    """
    def __init__(self, dT: int, dW: int, dH: int, padT: int, padW: int, padH: int, dilationT: int, dilationW: int, dilationH: int, groups: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., dT: int = ..., dW: int = ..., dH: int = ..., padT: int = ..., padW: int = ..., padH: int = ..., dilationT: int = ..., dilationW: int = ..., dilationH: int = ..., groups: int = ...) -> Tensor: ...

class FullConvolutionFunction(FunctionBase):
    """FullConvolution: Convolution transposed, its gradient by the input: every input pixel is spread over a patch of the output.

      output[n, o, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW] =
          bias[o] + the sum of all weight[i,o,kh,kw] * input[n,i,y,x] that belong there, i of o's group

    Shapes, in two dimensions: input (N, I, H, W) or (I, H, W); weight (I, O/groups, kH, kW); bias (O) or None; output
    (N, O, oH, oW) with oH = (H - 1)*dH - 2*padH + dilationH*(kH - 1) + 1 + adjH and oW likewise. One and three dimensions
    and groups as in Convolution.
    Errors: as Convolution; also ValueError for an adj that is below neither stride nor dilation.

    Calls:
        FullConvolutionFunction(dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, adjT, adjW, adjH, groups)(input, weight, bias)
        FullConvolutionFunction.apply(input, weight, bias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, adjT, adjW, adjH, groups)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, H, W) or (I, H, W)
        weight: Tensor (float32 or float64): filters (I, O/groups, kH, kW)
        bias: Tensor (float32 or float64) or None: one per output plane (O)
        dT: int: stride along the depth; without that dimension 1
        dW: int: stride along the width; without that dimension 1
        dH: int: stride along the height; without that dimension 1
        padT: int: taken off on both sides along the depth; without that dimension 0
        padW: int: taken off on both sides along the width; without that dimension 0
        padH: int: taken off on both sides along the height; without that dimension 0
        dilationT: int: distance of taps along the depth; without that dimension 1
        dilationW: int: distance of taps along the width; without that dimension 1
        dilationH: int: distance of taps along the height; without that dimension 1
        adjT: int: added to the depth of the output; without that dimension 0
        adjW: int: added to the width of the output; without that dimension 0
        adjH: int: added to the height of the output; without that dimension 0
        groups: int: into how many groups the planes of input and output are cut

    Gradient of FullConvolution by its input: gradOutput correlated with the filters.

    Gradients of FullConvolution by its parameters, accumulated: gradWeight[i,o,kh,kw] += scale * sum over n, y, x of
    input[n,i,y,x] * what that tap sees of gradOutput; gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x].
    """
    def __init__(self, dT: int, dW: int, dH: int, padT: int, padW: int, padH: int, dilationT: int, dilationW: int, dilationH: int, adjT: int, adjW: int, adjH: int, groups: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., dT: int = ..., dW: int = ..., dH: int = ..., padT: int = ..., padW: int = ..., padH: int = ..., dilationT: int = ..., dilationW: int = ..., dilationH: int = ..., adjT: int = ..., adjW: int = ..., adjH: int = ..., groups: int = ...) -> Tensor: ...

class TemporalSubSamplingFunction(FunctionBase):
    """TemporalSubSampling: the sum of each window along time, times a number per feature, plus another.

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

    Gradient of TemporalSubSampling by its input: weight * gradOutput, added over its window. Frames behind the last
    window get 0.

    Gradients of TemporalSubSampling by its parameters, accumulated: gradWeight[f] += scale * sum over t of
    gradOutput[t,f] * the sum of the window; gradBias[f] += scale * sum over t of gradOutput[t,f].
    """
    def __init__(self, kW: int, dW: int, inputFrameSize: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, kW: int, dW: int, inputFrameSize: int) -> Tensor: ...

class SpatialSubSamplingFunction(FunctionBase):
    """SpatialSubSampling: the sum of each window, times a number per plane, plus another.

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
        weight: Tensor (float32 or float64): factor of each plane (C)
        bias: Tensor (float32 or float64): added to each plane (C)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height

    Gradient of SpatialSubSampling by its input: weight * gradOutput, added over its window. What no window sees gets
    0.

    Gradients of SpatialSubSampling by its parameters, accumulated: gradWeight[c] += scale * sum over n, y, x of
    gradOutput[n,c,y,x] * the sum of the window; gradBias[c] += scale * sum over n, y, x of gradOutput[n,c,y,x].
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, kW: int, kH: int, dW: int, dH: int) -> Tensor: ...

class Im2ColFunction(FunctionBase):
    """Im2Col: the patches that a window sees as it slides over an image, one column each. Here dH and dW are dilations, and
    sH and sW strides.

      output[n, (c*kH + kh)*kW + kw, y*oW + x] = input[n, c, y*sH + kh*dH - padH, x*sW + kw*dW - padW]

    Shapes: input (N, C, H, W) or (C, H, W); output (N, C*kH*kW, oH*oW) or (C*kH*kW, oH*oW) with
    oH = floor((H + 2*padH - dH*(kH - 1) - 1) / sH) + 1 and oW likewise. Outside the image input is 0.
    Errors: ValueError for a kernel, dilation or stride below 1, negative padding, an output without elements, sizes that
    do not fit. Source: torch.nn.functional.unfold, which gives the same.

    Calls:
        Im2ColFunction(kH, kW, dH, dW, padH, padW, sH, sW)(input)
        Im2ColFunction.apply(input, kH, kW, dH, dW, padH, padW, sH, sW)

    Arguments:
        input: Tensor (float32 or float64): images (N, C, H, W) or (C, H, W)
        kH: int: kernel height
        kW: int: kernel width
        dH: int: dilation along the height
        dW: int: dilation along the width
        padH: int: zeros added above and below
        padW: int: zeros added left and right
        sH: int: stride along the height
        sW: int: stride along the width

    Gradient of Im2Col by its input: each gradOutput added where its element came from; what no window sees gets 0.
    """
    def __init__(self, kH: int, kW: int, dH: int, dW: int, padH: int, padW: int, sH: int, sW: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, kH: int, kW: int, dH: int, dW: int, padH: int, padW: int, sH: int, sW: int) -> Tensor: ...

class Col2ImFunction(FunctionBase):
    """Col2Im: columns added up into images, each element where Im2Col takes it from. Here dH and dW are dilations, and sH
    and sW strides.

      output[n, c, y*sH + kh*dH - padH, x*sW + kw*dW - padW] = the sum of all input[n, (c*kH + kh)*kW + kw, y*oW + x]
                                                               that belong there; others belong to padding

    Shapes: input (N, C*kH*kW, oH*oW) or (C*kH*kW, oH*oW), oH and oW as in Im2Col for images of the size of the output;
    output (N, C, outputHeight, outputWidth) or (C, outputHeight, outputWidth).
    Errors: ValueError for a size, kernel, dilation or stride below 1, negative padding, sizes that do not fit.
    Source: torch.nn.functional.fold, which gives the same.

    Calls:
        Col2ImFunction(outputHeight, outputWidth, kH, kW, dH, dW, padH, padW, sH, sW)(input)
        Col2ImFunction.apply(input, outputHeight, outputWidth, kH, kW, dH, dW, padH, padW, sH, sW)

    Arguments:
        input: Tensor (float32 or float64): columns (N, C*kH*kW, oH*oW) or (C*kH*kW, oH*oW)
        outputHeight: int: height of the images
        outputWidth: int: width of the images
        kH: int: kernel height
        kW: int: kernel width
        dH: int: dilation along the height
        dW: int: dilation along the width
        padH: int: zeros added above and below
        padW: int: zeros added left and right
        sH: int: stride along the height
        sW: int: stride along the width

    Gradient of Col2Im by its input: the columns of gradOutput.
    """
    def __init__(self, outputHeight: int, outputWidth: int, kH: int, kW: int, dH: int, dW: int, padH: int, padW: int, sH: int, sW: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, outputHeight: int, outputWidth: int, kH: int, kW: int, dH: int, dW: int, padH: int, padW: int, sH: int, sW: int) -> Tensor: ...

class SpatialConvolutionLocalFunction(FunctionBase):
    """SpatialConvolutionLocal: convolution with filters of its own for every output position.

      output[n,o,y,x] = bias[o,y,x] + sum over i, kh, kw of
                        weight[y,x,o,i,kh,kw] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]

    Shapes: input (N, I, H, W) or (I, H, W); weight (oH*oW, O, I*kH*kW) or (oH, oW, O, I, kH, kW); bias (O, oH, oW);
    output (N, O, oH, oW) with oH = floor((H + 2*padH - kH) / dH) + 1 and oW likewise. Outside the image input is 0.
    Errors: ValueError for a kernel or stride below 1, negative padding, an output without elements, sizes that do not
    fit, those of the arguments among them. Source: Torch7 nn.SpatialConvolutionLocal.

    Calls:
        SpatialConvolutionLocalFunction(kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight)(input, weight, bias)
        SpatialConvolutionLocalFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight)

    Arguments:
        input: Tensor (float32 or float64): input (N, I, H, W) or (I, H, W)
        weight: Tensor (float32 or float64): filters (oH*oW, O, I*kH*kW) or (oH, oW, O, I, kH, kW)
        bias: Tensor (float32 or float64): one per output element (O, oH, oW)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: zeros added left and right
        padH: int: zeros added above and below
        inputWidth: int: width of the input
        inputHeight: int: height of the input
        outputWidth: int: width of the output
        outputHeight: int: height of the output

    Gradient of SpatialConvolutionLocal by its input: each gradOutput times its filter, added over its patch.

    Gradients of SpatialConvolutionLocal by its parameters, accumulated:
    gradWeight[y,x,o,i,kh,kw] += scale * sum over n of gradOutput[n,o,y,x] * input[n, i, y*dH + kh - padH, x*dW + kw - padW];
    gradBias[o,y,x] += scale * sum over n of gradOutput[n,o,y,x].
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, inputWidth: int, inputHeight: int, outputWidth: int, outputHeight: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, inputWidth: int, inputHeight: int, outputWidth: int, outputHeight: int) -> Tensor: ...

class SpatialConvolutionMapFunction(FunctionBase):
    """SpatialConvolutionMap: convolution that joins only the planes that a table lists, each pair by a kernel of its own.

      output[n,o,y,x] = bias[o] + sum over rows c of connTable with connTable[c] = (i, o), and over kh, kw, of
                        weight[c,kh,kw] * input[n, i, y*dH + kh, x*dW + kw]

    Shapes: input (N, nInputPlane, H, W) or (nInputPlane, H, W); connTable (n, 2), whole numbers from 0; weight (n, kH, kW);
    bias (nOutputPlane); output (N, nOutputPlane, oH, oW) with oH = floor((H - kH) / dH) + 1 and oW likewise. Pairs may be
    listed several times: they add up. A plane that is not listed gets its bias.
    Errors: ValueError for a stride or number of planes below 1, a kernel larger than the image, sizes that do not fit;
    IndexError for a row of connTable that names no plane. Source: LeCun et al. 1998; Torch7 nn.SpatialConvolutionMap.

    Calls:
        SpatialConvolutionMapFunction(nInputPlane, nOutputPlane, dW, dH)(input, weight, bias, connTable)
        SpatialConvolutionMapFunction.apply(input, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH)

    Arguments:
        input: Tensor (float32 or float64): input (N, nInputPlane, H, W) or (nInputPlane, H, W)
        weight: Tensor (float32 or float64): kernels (n, kH, kW)
        bias: Tensor (float32 or float64): one per output plane (nOutputPlane)
        connTable: Tensor (float32 or float64): connections (n, 2): input plane, output plane
        nInputPlane: int: planes of the input
        nOutputPlane: int: planes of the output
        dW: int: stride along the width
        dH: int: stride along the height

    Gradient of SpatialConvolutionMap by its input: along each connection gradOutput times the kernel, added over its
    window. What no window sees gets 0. bias is not used.

    Gradients of SpatialConvolutionMap by its parameters, accumulated, for each row c of connTable = (i, o):
    gradWeight[c,kh,kw] += scale * sum over n, y, x of gradOutput[n,o,y,x] * input[n, i, y*dH + kh, x*dW + kw];
    gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x].
    """
    def __init__(self, nInputPlane: int, nOutputPlane: int, dW: int, dH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor, connTable: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, connTable: Tensor, nInputPlane: int, nOutputPlane: int, dW: int, dH: int) -> Tensor: ...

class SpatialFullConvolutionMapFunction(FunctionBase):
    """SpatialFullConvolutionMap: SpatialConvolutionMap transposed: every input pixel is spread over a window of the output.

      output[n, o, y*dH + kh, x*dW + kw] = bias[o] + the sum of all weight[c,kh,kw] * input[n,i,y,x] that belong there,
                                           over rows c of connTable with connTable[c] = (i, o)

    Shapes: input (N, nInputPlane, H, W) or (nInputPlane, H, W); connTable (n, 2), whole numbers from 0; weight (n, kH, kW);
    bias (nOutputPlane); output (N, nOutputPlane, oH, oW) with oH = (H - 1)*dH + kH and oW likewise.
    Errors: ValueError for a stride or number of planes below 1, an output that memory cannot hold, sizes that do not fit;
    IndexError for a row of connTable that names no plane. Source: Torch7 nn.SpatialFullConvolutionMap.

    Calls:
        SpatialFullConvolutionMapFunction(nInputPlane, nOutputPlane, dW, dH)(input, weight, bias, connTable)
        SpatialFullConvolutionMapFunction.apply(input, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH)

    Arguments:
        input: Tensor (float32 or float64): input (N, nInputPlane, H, W) or (nInputPlane, H, W)
        weight: Tensor (float32 or float64): kernels (n, kH, kW)
        bias: Tensor (float32 or float64): one per output plane (nOutputPlane)
        connTable: Tensor (float32 or float64): connections (n, 2): input plane, output plane
        nInputPlane: int: planes of the input
        nOutputPlane: int: planes of the output
        dW: int: stride along the width
        dH: int: stride along the height

    Gradient of SpatialFullConvolutionMap by its input: gradOutput correlated with the kernels of the connections. bias is
    not used.

    Gradients of SpatialFullConvolutionMap by its parameters, accumulated, for each row c of connTable = (i, o):
    gradWeight[c,kh,kw] += scale * sum over n, y, x of gradOutput[n, o, y*dH + kh, x*dW + kw] * input[n,i,y,x];
    gradBias[o] += scale * sum of gradOutput[n,o] over n and all pixels.
    """
    def __init__(self, nInputPlane: int, nOutputPlane: int, dW: int, dH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor, connTable: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, connTable: Tensor, nInputPlane: int, nOutputPlane: int, dW: int, dH: int) -> Tensor: ...

class LinearFunction(FunctionBase):
    """Linear: output = input * weight^T + bias.

    Shapes: input (N, I) or (I); weight (O, I); bias (O) or None; output (N, O) or (O).
    Errors: ValueError for other dimensions or sizes. Source: Torch7 nn.Linear.

    Calls:
        LinearFunction()(input, weight, bias)
        LinearFunction.apply(input, weight, bias)

    Arguments:
        input: Tensor (float32 or float64): input (N, I) or (I)
        weight: Tensor (float32 or float64): matrix (O, I)
        bias: Tensor (float32 or float64) or None: vector (O)

    Gradient of Linear by its input: gradInput = gradOutput * weight.

    Gradients of Linear by its parameters, accumulated: gradWeight += scale * gradOutput^T * input and, where bias
    is given, gradBias += scale * the sum of gradOutput over N.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...

class BatchNormalizationFunction(FunctionBase):
    """BatchNormalization: each channel of a batch shifted and scaled to mean 0 and variance 1, then by weight and bias.

      output = (input - mean) / sqrt(variance + eps) * weight + bias

    Shapes: input (N, C) or (N, C, ...), any number of trailing dimensions; weight, bias, running_mean, running_var,
    save_mean, save_std (C). n is the number of values per channel.
    Training: mean and variance (biased) of the batch; save_mean = mean, save_std = 1 / sqrt(variance + eps), that is the
    inverse deviation; running_mean = momentum * mean + (1 - momentum) * running_mean, and running_var likewise with the
    unbiased variance * n / (n - 1). Evaluation: running_mean and running_var instead; nothing but output is written.
    Where variance and eps are both 0 the inverse deviation is 0.
    Errors: ValueError for fewer than 2 dimensions, sizes that do not fit, a negative eps, and in training for one value
    per channel, which has no variance (the running statistics stay as they were); TypeError where the statistics that
    the mode needs are None.
    Source: Ioffe and Szegedy 2015, algorithm 1; variance by shifted sums, never E[x^2] - E[x]^2.
    It is statistics, saveStatistics and normalize, below, in one.

    Calls:
        BatchNormalizationFunction(running_mean, running_var, train, momentum, eps)(input, weight, bias)
        BatchNormalizationFunction.apply(input, weight, bias, running_mean, running_var, train, momentum, eps)

    Arguments:
        input: Tensor (float32 or float64): input (N, C, ...)
        weight: Tensor (float32 or float64) or None: scale (C), 1 where None
        bias: Tensor (float32 or float64) or None: shift (C), 0 where None
        running_mean: Tensor (float32 or float64) or None: running mean (C); where None, training keeps none
        running_var: Tensor (float32 or float64) or None: running variance (C); where None, training keeps none
        train: bool: statistics of the batch, or the running ones
        momentum: float: share of the batch in the running statistics
        eps: float: added to the variance

    Gradients of BatchNormalization, each optional; gradWeight and gradBias accumulate. With inv the inverse deviation and
    xc = input - mean (saved in training, running in evaluation):
      gradWeight += scale * inv * sum(gradOutput * xc);  gradBias += scale * sum(gradOutput)
      training:   gradInput = (gradOutput - mean(gradOutput) - xc * inv^2 * sum(gradOutput * xc) / n) * inv * weight
      evaluation: gradInput = gradOutput * inv * weight
    It is gradSums and gradInput, below, in one.
    """
    def __init__(self, running_mean: Tensor | None, running_var: Tensor | None, train: bool, momentum: float, eps: float) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., running_mean: Tensor | None = ..., running_var: Tensor | None = ..., train: bool = ..., momentum: float = ..., eps: float = ...) -> Tensor: ...

class BatchNormalizationReLUFunction(FunctionBase):
    """BatchNormalizationReLU: batch normalization and max(0, .) in the memory passes of the first alone.

      output = max(0, (input - mean) / sqrt(variance + eps) * weight + bias)

    Everything else is as in BatchNormalization; NaN stays NaN.

    Calls:
        BatchNormalizationReLUFunction(running_mean, running_var, train, momentum, eps)(input, weight, bias)
        BatchNormalizationReLUFunction.apply(input, weight, bias, running_mean, running_var, train, momentum, eps)

    Arguments:
        input: Tensor (float32 or float64): input (N, C, ...)
        weight: Tensor (float32 or float64) or None: scale (C), 1 where None
        bias: Tensor (float32 or float64) or None: shift (C), 0 where None
        running_mean: Tensor (float32 or float64) or None: running mean (C); where None, training keeps none
        running_var: Tensor (float32 or float64) or None: running variance (C); where None, training keeps none
        train: bool: statistics of the batch, or the running ones
        momentum: float: share of the batch in the running statistics
        eps: float: added to the variance

    Gradients of BatchNormalizationReLU, each optional: those of BatchNormalization with gradOutput where output is above 0
    (or NaN), and 0 elsewhere. Where that is, is computed from input again: nothing more is saved.
    """
    def __init__(self, running_mean: Tensor | None, running_var: Tensor | None, train: bool, momentum: float, eps: float) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., running_mean: Tensor | None = ..., running_var: Tensor | None = ..., train: bool = ..., momentum: float = ..., eps: float = ...) -> Tensor: ...

class SpatialMaxPoolingFunction(FunctionBase):
    """SpatialMaxPooling: the largest value of each window.

    Shapes: input (N, C, H, W) or (C, H, W); output and indices (N, C, oH, oW) with
    oH = floor or, with ceil_mode, ceil of (H + 2*padH - kH) / dH, plus 1, less 1 when some padding is given and the last
    window would start at or beyond H + padH; oW likewise.
    indices holds h*W + w of the maximum within its plane. The first of equal values in row order wins, padding never
    does, NaN counts as larger than anything (as in torch). A window without any element gives the lowest finite value
    and index -1.
    Errors: ValueError for a kernel or stride below 1, padding above half the kernel, an output without elements.
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

class SpatialAveragePoolingFunction(FunctionBase):
    """SpatialAveragePooling: the mean of each window, clipped to the padded image (count_include_pad: padding counts in
    the divisor, what lies beyond it never does) or to the image.

    Shapes: input (N, C, H, W) or (C, H, W); output (N, C, oH, oW), sizes as in SpatialMaxPooling.
    Errors: ValueError for a kernel or stride below 1, padding above half the kernel, an output without elements.
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

class ThresholdFunction(FunctionBase):
    """Threshold: output = val where input <= threshold, else input. Any shape. With threshold and val 0 this is ReLU.
    NaN is not at or below the threshold: it stays NaN.
    Errors: ValueError if inplace and val > threshold, where the backward could no longer tell the two cases apart.
    Source: Torch7 nn.Threshold.

    Calls:
        ThresholdFunction(threshold, val, inplace)(input)
        ThresholdFunction.apply(input, threshold, val, inplace)

    Arguments:
        input: Tensor (float32 or float64): input, any shape; overwritten if inplace
        threshold: float: values above it pass
        val: float: what the others become
        inplace: bool, default False: write the result into input

    Gradient of Threshold by its input: 0 where input <= threshold, else gradOutput.
    """
    def __init__(self, threshold: float, val: float, inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, threshold: float, val: float, inplace: bool = ...) -> Tensor: ...

class LeakyReLUFunction(FunctionBase):
    """LeakyReLU: output = input where input > 0, else negval * input. Any shape.
    Source: Maas, Hannun and Ng 2013.

    Calls:
        LeakyReLUFunction(negval, inplace)(input)
        LeakyReLUFunction.apply(input, negval, inplace)

    Arguments:
        input: Tensor (float32 or float64): input, any shape; overwritten if inplace
        negval: float: slope for what is not positive
        inplace: bool, default False: write the result into input

    Gradient of LeakyReLU by its input: gradOutput where input > 0, else negval * gradOutput.
    """
    def __init__(self, negval: float, inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, negval: float, inplace: bool = ...) -> Tensor: ...

class SigmoidFunction(FunctionBase):
    """Sigmoid: output = 1 / (1 + exp(-input)). Any shape.

    Calls:
        SigmoidFunction()(input)
        SigmoidFunction.apply(input)

    Arguments:
        input: Tensor (float32 or float64): input, any shape

    Gradient of Sigmoid by its input: gradOutput * output * (1 - output).
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class TanhFunction(FunctionBase):
    """Tanh: output = tanh(input). Any shape.

    Calls:
        TanhFunction()(input)
        TanhFunction.apply(input)

    Arguments:
        input: Tensor (float32 or float64): input, any shape

    Gradient of Tanh by its input: gradOutput * (1 - output^2).
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class SoftMaxFunction(FunctionBase):
    """SoftMax over the channels: output = exp(input) / sum over channels of exp(input), the maximum subtracted first.

    Shapes: input (C), (N, C), (C, H, W) or (N, C, H, W). Errors: ValueError for other dimensions.
    Source: Torch7 nn.SoftMax.

    Calls:
        SoftMaxFunction()(input)
        SoftMaxFunction.apply(input)

    Arguments:
        input: Tensor (float32 or float64): input (C), (N, C), (C, H, W) or (N, C, H, W)

    Gradient of SoftMax by its input: output * (gradOutput - sum over channels of gradOutput * output).
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class LogSoftMaxFunction(FunctionBase):
    """Logarithm of SoftMax over the channels: output = input - log(sum over channels of exp(input)).

    Shapes: input (C), (N, C), (C, H, W) or (N, C, H, W). Errors: ValueError for other dimensions.
    Source: Torch7 nn.LogSoftMax.

    Calls:
        LogSoftMaxFunction()(input)
        LogSoftMaxFunction.apply(input)

    Arguments:
        input: Tensor (float32 or float64): input (C), (N, C), (C, H, W) or (N, C, H, W)

    Gradient of LogSoftMax by its input: gradOutput - exp(output) * sum over channels of gradOutput.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class ClassNLLCriterionFunction(Criterion):
    """Negative log-likelihood of the target classes: the sum of -weights[t] * input[n, t] over the targets t = target[n] that
    are not ignore_index, divided by total_weight, the sum of their weights, if sizeAverage and it is not 0.

    Shapes: input (N, C) or (C), log-probabilities; target (N) or (1), or without dimensions, classes 0 <= t < C;
    weights (C) or None for 1 each; output and total_weight one element.
    Errors: IndexError for a target that is neither a class nor ignore_index; ValueError for sizes that do not fit.
    Source: Torch7 nn.ClassNLLCriterion.

    Calls:
        ClassNLLCriterionFunction(sizeAverage, ignore_index)(input, target, weights)
        ClassNLLCriterionFunction.apply(input, target, weights, sizeAverage, ignore_index)

    Arguments:
        input: Tensor (float32 or float64): log-probabilities (N, C) or (C)
        target: Tensor (int64): classes (N) or (1)
        sizeAverage: bool, default True: divide by total_weight
        weights: Tensor (float32 or float64) or None: one per class (C)
        ignore_index: int, default -100: targets of this value count nothing

    Gradient of ClassNLLCriterion by its input: -weights[t] at the targets (divided by total_weight if sizeAverage; -1 for an
    input (C) if sizeAverage), 0 elsewhere, and 0 everywhere if total_weight is not above 0.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor, weights: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, weights: Tensor | None = ..., sizeAverage: bool = ..., ignore_index: int = ...) -> Tensor: ...

class MSECriterionFunction(Criterion):
    """Sum of squared differences (input - target)^2, divided by the number of elements if sizeAverage.

    Shapes: input and target of one size; output one element. Errors: ValueError for sizes that differ.

    Calls:
        MSECriterionFunction(sizeAverage)(input, target)
        MSECriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (float32 or float64): input, any shape
        target: Tensor (float32 or float64): sized as input
        sizeAverage: bool, default True: divide by the number of elements

    Gradient of MSECriterion by its input: 2 * (input - target), divided by the number of elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...

class SmoothL1CriterionFunction(Criterion):
    """Sum of 0.5 * d^2 where |d| < 1 and |d| - 0.5 elsewhere, d = input - target, divided by the number of elements if sizeAverage.

    Shapes: input and target of one size; output one element. Errors: ValueError for sizes that differ.
    Source: Girshick 2015 (Huber's loss).

    Calls:
        SmoothL1CriterionFunction(sizeAverage)(input, target)
        SmoothL1CriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (float32 or float64): input, any shape
        target: Tensor (float32 or float64): sized as input
        sizeAverage: bool, default True: divide by the number of elements

    Gradient of SmoothL1Criterion by its input: d clamped to [-1, 1], divided by the number of elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...

class BCECriterionFunction(Criterion):
    """Binary cross entropy: the sum of -weights * (target * log(input) + (1 - target) * log(1 - input)), each logarithm not below
    -100, divided by the number of elements (not by the sum of the weights) if sizeAverage.

    Shapes: input and target of one size; weights as many elements as input; output one element.
    Errors: ValueError for sizes that differ and for an input outside [0, 1], NaN included.

    Calls:
        BCECriterionFunction(sizeAverage)(input, target, weights)
        BCECriterionFunction.apply(input, target, weights, sizeAverage)

    Arguments:
        input: Tensor (float32 or float64): input, any shape
        target: Tensor (float32 or float64): sized as input
        sizeAverage: bool, default True: divide by the number of elements
        weights: Tensor (float32 or float64) or None: factor of each element, as many as input has

    Gradient of BCECriterion by its input: weights * (input - target) / max(input * (1 - input), 1e-12), divided by the number of
    elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor, weights: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, weights: Tensor | None = ..., sizeAverage: bool = ...) -> Tensor: ...

class AbsCriterionFunction(Criterion):
    """Sum of |input - target|, divided by the number of elements if sizeAverage.

    Shapes: input and target of one size; output one element. Errors: ValueError for sizes that differ.

    Calls:
        AbsCriterionFunction(sizeAverage)(input, target)
        AbsCriterionFunction.apply(input, target, sizeAverage)

    Arguments:
        input: Tensor (float32 or float64): input, any shape
        target: Tensor (float32 or float64): sized as input
        sizeAverage: bool, default True: divide by the number of elements

    Gradient of AbsCriterion by its input: 1 where input >= target, else -1, divided by the number of elements if sizeAverage.
    """
    def __init__(self, *target_and_scalars: Any, weight: Tensor | None = ..., **keywords: Any) -> None: ...
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, target: Tensor, sizeAverage: bool = ...) -> Tensor: ...
