"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import FunctionBase

class SpatialConvolutionMMFunction(FunctionBase):
    """SpatialConvolutionMM: cross-correlation of a batch of images with a bank of filters.

      output[n,o,y,x] = bias[o] + sum over i, kh, kw of
                        weight[o,i,kh,kw] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]

    Shapes: input (N, I, H, W) or (I, H, W); weight (O, I, kH, kW) or flattened (O, I*kH*kW); bias (O) or None;
    output (N, O, oH, oW) with oH = floor((H + 2*padH - kH) / dH) + 1 and oW likewise. Input is 0 outside the image.
    Errors: ValueError for a kernel or stride below 1, negative padding, an empty output, sizes that
    do not fit. Source: Torch7 nn.SpatialConvolutionMM.

    Calls:
        SpatialConvolutionMMFunction(kW, kH, dW, dH, padW, padH)(input, weight, bias)
        SpatialConvolutionMMFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH)

    Arguments:
        input: Tensor (real): input (N, I, H, W) or (I, H, W)
        weight: Tensor (real): filters (O, I, kH, kW) or (O, I*kH*kW)
        bias: Tensor (real) or None: one value per output channel (O)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: zeros added left and right
        padH: int: zeros added above and below

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialConvolutionMM w.r.t. its input: gradOutput correlated with the flipped filters.

    Gradients of SpatialConvolutionMM w.r.t. its parameters, accumulated:
      gradWeight[o,i,kh,kw] += scale * sum over n, y, x of
                               gradOutput[n,o,y,x] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]
      gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x]
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
        input: Tensor (real): input (N, T, inputFrameSize) or (T, inputFrameSize)
        weight: Tensor (real): filters (outputFrameSize, kW*inputFrameSize)
        bias: Tensor (real): one value per output feature (outputFrameSize)
        kW: int: kernel length
        dW: int: stride
        inputFrameSize: int: features of a frame of input
        outputFrameSize: int: features of a frame of output

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of TemporalConvolution w.r.t. its input: gradOutput * weight, summed over the outputs that read each
    frame.

    Gradients of TemporalConvolution w.r.t. its parameters, accumulated:
      gradWeight[o, k*inputFrameSize + f] += scale * sum over n, t of gradOutput[n,t,o] * input[n, t*dW + k, f]
      gradBias[o] += scale * sum over n, t of gradOutput[n,t,o]
    """
    def __init__(self, kW: int, dW: int, inputFrameSize: int, outputFrameSize: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, kW: int, dW: int, inputFrameSize: int, outputFrameSize: int) -> Tensor: ...

class TemporalRowConvolutionFunction(FunctionBase):
    """TemporalRowConvolution: cross-correlation of each feature of a sequence with a separate filter.

      output[n,f,t] = bias[f] + sum over k of weight[f,0,k] * input[n, f, t*dW + k - padW]

    Shapes: with featFirst input (N, F, T) or (F, T) and output (N, F, oT), otherwise (N, T, F) or (T, F) and
    (N, oT, F); weight (F, 1, kW); bias (F) or None; oT = floor((T + 2*padW - kW) / dW) + 1. Input is 0
    outside the sequence.
    Errors: ValueError for a kernel or stride below 1, negative padding, an empty output, sizes that do not
    fit. Source: Torch7 nn.TemporalRowConvolution.

    Calls:
        TemporalRowConvolutionFunction(kW, dW, padW, featFirst)(input, weight, bias)
        TemporalRowConvolutionFunction.apply(input, weight, bias, kW, dW, padW, featFirst)

    Arguments:
        input: Tensor (real): input (N, F, T) or (F, T), or with time first
        weight: Tensor (real): filters (F, 1, kW)
        bias: Tensor (real) or None: one value per feature (F)
        kW: int: kernel length
        dW: int: stride
        padW: int: zeros added before and after
        featFirst: bool: features before time

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of TemporalRowConvolution w.r.t. its input: every feature of gradOutput correlated with its flipped
    filter.

    Gradients of TemporalRowConvolution w.r.t. its parameters, accumulated:
      gradWeight[f,0,k] += scale * sum over n, t of gradOutput[n,f,t] * input[n, f, t*dW + k - padW]
      gradBias[f] += scale * sum over n, t of gradOutput[n,f,t]
    """
    def __init__(self, kW: int, dW: int, padW: int, featFirst: bool) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kW: int = ..., dW: int = ..., padW: int = ..., featFirst: bool = ...) -> Tensor: ...

class SpatialDilatedConvolutionFunction(FunctionBase):
    """SpatialDilatedConvolution: SpatialConvolutionMM with gaps between the kernel elements.

      output[n,o,y,x] = bias[o] + sum over i, kh, kw of
                        weight[o,i,kh,kw] * input[n, i, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]

    Shapes: input (N, I, H, W) or (I, H, W); weight (O, I, kH, kW); bias (O) or None; output (N, O, oH, oW) with
    oH = floor((H + 2*padH - dilationH*(kH-1) - 1) / dH) + 1 and oW likewise. Input is 0 outside the image.
    Errors: ValueError for a kernel, stride or dilation below 1, negative padding, an empty output, sizes
    that do not fit. Source: Yu and Koltun, 2015; Torch7 nn.SpatialDilatedConvolution.

    Calls:
        SpatialDilatedConvolutionFunction(kW, kH, dW, dH, padW, padH, dilationW, dilationH)(input, weight, bias)
        SpatialDilatedConvolutionFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH, dilationW, dilationH)

    Arguments:
        input: Tensor (real): input (N, I, H, W) or (I, H, W)
        weight: Tensor (real): filters (O, I, kH, kW)
        bias: Tensor (real) or None: one value per output channel (O)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: zeros added left and right
        padH: int: zeros added above and below
        dilationW: int: distance between kernel elements along the width
        dilationH: int: distance between kernel elements along the height

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialDilatedConvolution w.r.t. its input: gradOutput correlated with the flipped filters.

    Gradients of SpatialDilatedConvolution w.r.t. its parameters, accumulated:
      gradWeight[o,i,kh,kw] += scale * sum over n, y, x of
                               gradOutput[n,o,y,x] * input[n, i, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]
      gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x]
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, dilationW: int, dilationH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kW: int = ..., kH: int = ..., dW: int = ..., dH: int = ..., padW: int = ..., padH: int = ..., dilationW: int = ..., dilationH: int = ...) -> Tensor: ...

class SpatialFullConvolutionFunction(FunctionBase):
    """SpatialFullConvolution: transposed convolution, the gradInput of SpatialConvolutionMM as a forward function. Each
    input pixel, times a filter, is added to a patch of output.

      output[n,o,Y,X] = bias[o] + sum over i, y, x, kh, kw with Y = y*dH + kh - padH and X = x*dW + kw - padW of
                        weight[i,o,kh,kw] * input[n,i,y,x]

    Shapes: input (N, I, H, W) or (I, H, W); weight (I, O, kH, kW); bias (O) or None; output (N, O, oH, oW) with
    oH = (H-1)*dH - 2*padH + kH + adjH and oW likewise: adjH chooses among the sizes that a convolution with the same
    stride would turn into H.
    Errors: ValueError for a kernel or stride below 1, negative padding, an adj below 0 or not below the stride, an
    empty output, sizes that do not fit. Source: Torch7 nn.SpatialFullConvolution.

    Calls:
        SpatialFullConvolutionFunction(kW, kH, dW, dH, padW, padH, adjW, adjH)(input, weight, bias)
        SpatialFullConvolutionFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH, adjW, adjH)

    Arguments:
        input: Tensor (real): input (N, I, H, W) or (I, H, W)
        weight: Tensor (real): filters (I, O, kH, kW)
        bias: Tensor (real) or None: one value per output channel (O)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: output columns cropped left and right
        padH: int: output rows cropped above and below
        adjW: int: columns added to the output at the right
        adjH: int: rows added to the output at the bottom

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialFullConvolution w.r.t. its input: the convolution of gradOutput with weight.

    Gradients of SpatialFullConvolution w.r.t. its parameters, accumulated:
      gradWeight[i,o,kh,kw] += scale * sum over n, y, x of
                               input[n,i,y,x] * gradOutput[n, o, y*dH + kh - padH, x*dW + kw - padW]
      gradBias[o] += scale * sum over n, Y, X of gradOutput[n,o,Y,X]
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, adjW: int, adjH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kW: int = ..., kH: int = ..., dW: int = ..., dH: int = ..., padW: int = ..., padH: int = ..., adjW: int = ..., adjH: int = ...) -> Tensor: ...

class SpatialFullDilatedConvolutionFunction(FunctionBase):
    """SpatialFullDilatedConvolution: SpatialFullConvolution with gaps between the kernel elements.

      output[n,o,Y,X] = bias[o] + sum over i, y, x, kh, kw with Y = y*dH + kh*dilationH - padH and
                        X = x*dW + kw*dilationW - padW of weight[i,o,kh,kw] * input[n,i,y,x]

    Shapes: input (N, I, H, W) or (I, H, W); weight (I, O, kH, kW); bias (O) or None; output (N, O, oH, oW) with
    oH = (H-1)*dH - 2*padH + dilationH*(kH-1) + 1 + adjH and oW likewise.
    Errors: ValueError for a kernel, stride or dilation below 1, negative padding, an adj below 0 or not below
    the larger of stride and dilation, an empty output, sizes that do not fit. Source: PyTorch 0.2.

    Calls:
        SpatialFullDilatedConvolutionFunction(kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH)(input, weight, bias)
        SpatialFullDilatedConvolutionFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH)

    Arguments:
        input: Tensor (real): input (N, I, H, W) or (I, H, W)
        weight: Tensor (real): filters (I, O, kH, kW)
        bias: Tensor (real) or None: one value per output channel (O)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: output columns cropped left and right
        padH: int: output rows cropped above and below
        dilationW: int: distance between kernel elements along the width
        dilationH: int: distance between kernel elements along the height
        adjW: int: columns added to the output at the right
        adjH: int: rows added to the output at the bottom

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialFullDilatedConvolution w.r.t. its input: the dilated convolution of gradOutput with weight.

    Gradients of SpatialFullDilatedConvolution w.r.t. its parameters, accumulated:
      gradWeight[i,o,kh,kw] += scale * sum over n, y, x of
                               input[n,i,y,x] * gradOutput[n, o, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]
      gradBias[o] += scale * sum over n, Y, X of gradOutput[n,o,Y,X]
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, dilationW: int, dilationH: int, adjW: int, adjH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kW: int = ..., kH: int = ..., dW: int = ..., dH: int = ..., padW: int = ..., padH: int = ..., dilationW: int = ..., dilationH: int = ..., adjW: int = ..., adjH: int = ...) -> Tensor: ...

class SpatialDepthWiseConvolutionFunction(FunctionBase):
    """SpatialDepthWiseConvolution: cross-correlation of each input channel with M separate filters.

      output[n, i*M + m, y, x] = bias[m,i] + sum over kh, kw of
                                 weight[m,i,kh,kw] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]

    Shapes: input (N, I, H, W) or (I, H, W); weight (M, I, kH, kW) or flattened (M, I*kH*kW); bias (M, I) or None; output
    (N, I*M, oH, oW) with oH = floor((H + 2*padH - kH) / dH) + 1 and oW likewise. Input is 0 outside the image.
    Errors: ValueError for a kernel or stride below 1, negative padding, an empty output, sizes that do not
    fit. Source: Torch7 nn.SpatialDepthWiseConvolution.

    Calls:
        SpatialDepthWiseConvolutionFunction(kW, kH, dW, dH, padW, padH)(input, weight, bias)
        SpatialDepthWiseConvolutionFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH)

    Arguments:
        input: Tensor (real): input (N, I, H, W) or (I, H, W)
        weight: Tensor (real): filters (M, I, kH, kW) or (M, I*kH*kW)
        bias: Tensor (real) or None: one value per filter (M, I)
        kW: int: kernel width
        kH: int: kernel height
        dW: int: stride along the width
        dH: int: stride along the height
        padW: int: zeros added left and right
        padH: int: zeros added above and below

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialDepthWiseConvolution w.r.t. its input: every channel of gradOutput correlated with its flipped
    filter, and the M results of an input channel summed.

    Gradients of SpatialDepthWiseConvolution w.r.t. its parameters, accumulated:
      gradWeight[m,i,kh,kw] += scale * sum over n, y, x of
                               gradOutput[n, i*M + m, y, x] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]
      gradBias[m,i] += scale * sum over n, y, x of gradOutput[n, i*M + m, y, x]
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kW: int = ..., kH: int = ..., dW: int = ..., dH: int = ..., padW: int = ..., padH: int = ...) -> Tensor: ...

class VolumetricConvolutionFunction(FunctionBase):
    """VolumetricConvolution: cross-correlation of a batch of volumes with a bank of filters; weight determines the kernel
    size.

      output[n,o,z,y,x] = bias[o] + sum over i, kt, kh, kw of
                          weight[o,i,kt,kh,kw] * input[n, i, z*dT + kt - pT, y*dH + kh - pH, x*dW + kw - pW]

    Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (O, I, kT, kH, kW); bias (O) or None; output (N, O, oT, oH, oW)
    with oT = floor((T + 2*pT - kT) / dT) + 1, and oH and oW likewise. Input is 0 outside the volume.
    Errors: ValueError for a stride below 1, negative padding, an empty output, sizes that do not fit.
    Source: Torch7 nn.VolumetricConvolution.

    Calls:
        VolumetricConvolutionFunction(dT, dW, dH, pT, pW, pH)(input, weight, bias)
        VolumetricConvolutionFunction.apply(input, weight, bias, dT, dW, dH, pT, pW, pH)

    Arguments:
        input: Tensor (real): input (N, I, T, H, W) or (I, T, H, W)
        weight: Tensor (real): filters (O, I, kT, kH, kW)
        bias: Tensor (real) or None: one value per output channel (O)
        dT: int: stride along the depth
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: zeros added in front and behind
        pW: int: zeros added left and right
        pH: int: zeros added above and below

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricConvolution w.r.t. its input: gradOutput correlated with the flipped filters.

    Gradients of VolumetricConvolution w.r.t. its parameters, accumulated:
      gradWeight[o,i,kt,kh,kw] += scale * sum over n, z, y, x of
          gradOutput[n,o,z,y,x] * input[n, i, z*dT + kt - pT, y*dH + kh - pH, x*dW + kw - pW]
      gradBias[o] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x]
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
    None; output (N, O, oT, oH, oW) with oT = floor((T + 2*pT - kT) / dT) + 1, and oH and oW likewise. Input is 0
    outside the volume.
    Errors: ValueError for a kernel or stride below 1, negative padding, an empty output, sizes that do not
    fit. Source: Torch7 nn.VolumetricConvolution.

    Calls:
        VolumetricConvolutionMMFunction(kT, kW, kH, dT, dW, dH, pT, pW, pH)(input, weight, bias)
        VolumetricConvolutionMMFunction.apply(input, weight, bias, kT, kW, kH, dT, dW, dH, pT, pW, pH)

    Arguments:
        input: Tensor (real): input (N, I, T, H, W) or (I, T, H, W)
        weight: Tensor (real): filters (O, I, kT, kH, kW) or (O, I*kT*kH*kW)
        bias: Tensor (real) or None: one value per output channel (O)
        kT: int: kernel depth
        kW: int: kernel width
        kH: int: kernel height
        dT: int: stride along the depth
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: zeros added in front and behind
        pW: int: zeros added left and right
        pH: int: zeros added above and below

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricConvolutionMM w.r.t. its input: gradOutput correlated with the flipped filters.

    Gradients of VolumetricConvolutionMM w.r.t. its parameters, accumulated:
      gradWeight[o,i,kt,kh,kw] += scale * sum over n, z, y, x of
          gradOutput[n,o,z,y,x] * input[n, i, z*dT + kt - pT, y*dH + kh - pH, x*dW + kw - pW]
      gradBias[o] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x]
    """
    def __init__(self, kT: int, kW: int, kH: int, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., kT: int = ..., kW: int = ..., kH: int = ..., dT: int = ..., dW: int = ..., dH: int = ..., pT: int = ..., pW: int = ..., pH: int = ...) -> Tensor: ...

class VolumetricDilatedConvolutionFunction(FunctionBase):
    """VolumetricDilatedConvolution: VolumetricConvolutionMM with gaps between the kernel elements.

      output[n,o,z,y,x] = bias[o] + sum over i, kt, kh, kw of weight[o,i,kt,kh,kw] *
          input[n, i, z*dT + kt*dilationT - padT, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]

    Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (O, I, kT, kH, kW); bias (O) or None; output (N, O, oT, oH, oW)
    with oT = floor((T + 2*padT - dilationT*(kT-1) - 1) / dT) + 1, and oH and oW likewise. Input is 0 outside the volume.
    Errors: ValueError for a kernel, stride or dilation below 1, negative padding, an empty output, sizes
    that do not fit. Source: Torch7 nn.VolumetricDilatedConvolution.

    Calls:
        VolumetricDilatedConvolutionFunction(kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH)(input, weight, bias)
        VolumetricDilatedConvolutionFunction.apply(input, weight, bias, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH)

    Arguments:
        input: Tensor (real): input (N, I, T, H, W) or (I, T, H, W)
        weight: Tensor (real): filters (O, I, kT, kH, kW)
        bias: Tensor (real) or None: one value per output channel (O)
        kT: int: kernel depth
        kW: int: kernel width
        kH: int: kernel height
        dT: int: stride along the depth
        dW: int: stride along the width
        dH: int: stride along the height
        padT: int: zeros added in front and behind
        padW: int: zeros added left and right
        padH: int: zeros added above and below
        dilationT: int: distance between kernel elements along the depth
        dilationW: int: distance between kernel elements along the width
        dilationH: int: distance between kernel elements along the height

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricDilatedConvolution w.r.t. its input: gradOutput correlated with the flipped filters.

    Gradients of VolumetricDilatedConvolution w.r.t. its parameters, accumulated:
      gradWeight[o,i,kt,kh,kw] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x] *
          input[n, i, z*dT + kt*dilationT - padT, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]
      gradBias[o] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x]
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

    Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (I, O, kT, kH, kW), which gives the kernel size; bias (O)
    or None; output (N, O, oT, oH, oW) with oT = (T-1)*dT - 2*pT + kT + aT, and oH and oW likewise.
    Errors: ValueError for a stride below 1, negative padding, an aT, aW or aH below 0 or not below the stride, an empty
    output, sizes that do not fit. Source: Torch7 nn.VolumetricFullConvolution.

    Calls:
        VolumetricFullConvolutionFunction(dT, dW, dH, pT, pW, pH, aT, aW, aH)(input, weight, bias)
        VolumetricFullConvolutionFunction.apply(input, weight, bias, dT, dW, dH, pT, pW, pH, aT, aW, aH)

    Arguments:
        input: Tensor (real): input (N, I, T, H, W) or (I, T, H, W)
        weight: Tensor (real): filters (I, O, kT, kH, kW)
        bias: Tensor (real) or None: one value per output channel (O)
        dT: int: stride along the depth
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: output slices cropped in front and behind
        pW: int: output columns cropped left and right
        pH: int: output rows cropped above and below
        aT: int: slices added to the output at its end
        aW: int: columns added to the output at the right
        aH: int: rows added to the output at the bottom

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricFullConvolution w.r.t. its input: the convolution of gradOutput with weight.

    Gradients of VolumetricFullConvolution w.r.t. its parameters, accumulated:
      gradWeight[i,o,kt,kh,kw] += scale * sum over n, z, y, x of
          input[n,i,z,y,x] * gradOutput[n, o, z*dT + kt - pT, y*dH + kh - pH, x*dW + kw - pW]
      gradBias[o] += scale * sum over n, Z, Y, X of gradOutput[n,o,Z,Y,X]
    """
    def __init__(self, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int, aT: int, aW: int, aH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., dT: int = ..., dW: int = ..., dH: int = ..., pT: int = ..., pW: int = ..., pH: int = ..., aT: int = ..., aW: int = ..., aH: int = ...) -> Tensor: ...

class VolumetricFullDilatedConvolutionFunction(FunctionBase):
    """VolumetricFullDilatedConvolution: VolumetricFullConvolution with gaps between the kernel elements.

      output[n,o,Z,Y,X] = bias[o] + sum over i, z, y, x, kt, kh, kw with Z = z*dT + kt*dilationT - pT,
                          Y = y*dH + kh*dilationH - pH and X = x*dW + kw*dilationW - pW of
                          weight[i,o,kt,kh,kw] * input[n,i,z,y,x]

    Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (I, O, kT, kH, kW), which gives the kernel size; bias (O)
    or None; output (N, O, oT, oH, oW) with oT = (T-1)*dT - 2*pT + dilationT*(kT-1) + 1 + aT, and oH and oW
    likewise.
    Errors: ValueError for a stride or dilation below 1, negative padding, an aT, aW or aH below 0 or not below the
    larger of stride and dilation, an empty output, sizes that do not fit. Source: PyTorch 0.2.

    Calls:
        VolumetricFullDilatedConvolutionFunction(dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH)(input, weight, bias)
        VolumetricFullDilatedConvolutionFunction.apply(input, weight, bias, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH)

    Arguments:
        input: Tensor (real): input (N, I, T, H, W) or (I, T, H, W)
        weight: Tensor (real): filters (I, O, kT, kH, kW)
        bias: Tensor (real) or None: one value per output channel (O)
        dT: int: stride along the depth
        dW: int: stride along the width
        dH: int: stride along the height
        pT: int: output slices cropped in front and behind
        pW: int: output columns cropped left and right
        pH: int: output rows cropped above and below
        dilationT: int: distance between kernel elements along the depth
        dilationW: int: distance between kernel elements along the width
        dilationH: int: distance between kernel elements along the height
        aT: int: slices added to the output at its end
        aW: int: columns added to the output at the right
        aH: int: rows added to the output at the bottom

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricFullDilatedConvolution w.r.t. its input: the dilated convolution of gradOutput with weight.

    Gradients of VolumetricFullDilatedConvolution w.r.t. its parameters, accumulated:
      gradWeight[i,o,kt,kh,kw] += scale * sum over n, z, y, x of input[n,i,z,y,x] *
          gradOutput[n, o, z*dT + kt*dilationT - pT, y*dH + kh*dilationH - pH, x*dW + kw*dilationW - pW]
      gradBias[o] += scale * sum over n, Z, Y, X of gradOutput[n,o,Z,Y,X]
    """
    def __init__(self, dT: int, dW: int, dH: int, pT: int, pW: int, pH: int, dilationT: int, dilationW: int, dilationH: int, aT: int, aW: int, aH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., dT: int = ..., dW: int = ..., dH: int = ..., pT: int = ..., pW: int = ..., pH: int = ..., dilationT: int = ..., dilationW: int = ..., dilationH: int = ..., aT: int = ..., aW: int = ..., aH: int = ...) -> Tensor: ...

class ConvolutionFunction(FunctionBase):
    """Convolution: cross-correlation in one, two or three dimensions, with stride, padding, dilation and groups. The layers
    of thnn.nn call it. Its special cases, some with another order of the dimensions of input or weight, are
    TemporalConvolution, TemporalRowConvolution, SpatialConvolutionMM, SpatialDilatedConvolution,
    SpatialDepthWiseConvolution, VolumetricConvolution, VolumetricConvolutionMM and VolumetricDilatedConvolution;
    SpatialConvolutionLocal and SpatialConvolutionMap are not.

      output[n,o,y,x] = bias[o] + sum over i, kh, kw of weight[o,i,kh,kw] *
                        input[n, g*I/groups + i, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW],
                        where o is in group g and 0 <= i < I/groups

    Shapes, in two dimensions: input (N, I, H, W) or (I, H, W); weight (O, I/groups, kH, kW); bias (O) or None; output
    (N, O, oH, oW) with oH = floor((H + 2*padH - dilationH*(kH - 1) - 1) / dH) + 1 and oW likewise. In one dimension
    there is only W, in three T precedes H; weight has as many dimensions. Group g connects the input channels from
    g*I/groups on with the output channels from g*O/groups on.
    Errors: ValueError for a stride, dilation or number of groups below 1, negative padding, channels that groups
    does not divide, an empty output, sizes that do not fit; a stride or dilation other than 1, or
    padding other than 0, of a dimension that weight does not have.
    Source: torch.nn.functional.conv1d, conv2d and conv3d.

    Calls:
        ConvolutionFunction(dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, groups)(input, weight, bias)
        ConvolutionFunction.apply(input, weight, bias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, groups)

    Arguments:
        input: Tensor (real): input (N, I, H, W) or (I, H, W)
        weight: Tensor (real): filters (O, I/groups, kH, kW)
        bias: Tensor (real) or None: one value per output channel (O)
        dT: int: stride along the depth; 1 if there is no depth
        dW: int: stride along the width
        dH: int: stride along the height; 1 if there is no height
        padT: int: zeros added on both sides along the depth; 0 if there is no depth
        padW: int: zeros added on both sides along the width
        padH: int: zeros added on both sides along the height; 0 if there is no height
        dilationT: int: distance between kernel elements along the depth; 1 if there is no depth
        dilationW: int: distance between kernel elements along the width
        dilationH: int: distance between kernel elements along the height; 1 if there is no height
        groups: int: number of groups of the input and output channels

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Convolution w.r.t. its input: gradOutput correlated with the flipped filters.

    Gradients of Convolution w.r.t. its parameters, accumulated:
      gradWeight[o,i,kh,kw] += scale * sum over n, y, x of gradOutput[n,o,y,x] *
          input[n, g*I/groups + i, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW], where o is in group g
      gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x]
    """
    def __init__(self, dT: int, dW: int, dH: int, padT: int, padW: int, padH: int, dilationT: int, dilationW: int, dilationH: int, groups: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., dT: int = ..., dW: int = ..., dH: int = ..., padT: int = ..., padW: int = ..., padH: int = ..., dilationT: int = ..., dilationW: int = ..., dilationH: int = ..., groups: int = ...) -> Tensor: ...

class FullConvolutionFunction(FunctionBase):
    """FullConvolution: transposed Convolution, the gradInput of Convolution as a forward function. Each input element,
    times a filter, is added to a patch of output.

      output[n, g*O/groups + o, Y, X] = bias[g*O/groups + o] + sum over i, y, x, kh, kw with
          Y = y*dH + kh*dilationH - padH and X = x*dW + kw*dilationW - padW of weight[i,o,kh,kw] * input[n,i,y,x],
          where i is in group g and 0 <= o < O/groups

    Shapes, in two dimensions: input (N, I, H, W) or (I, H, W); weight (I, O/groups, kH, kW); bias (O) or None;
    output (N, O, oH, oW) with oH = (H - 1)*dH - 2*padH + dilationH*(kH - 1) + 1 + adjH and oW likewise. One and
    three dimensions and groups as in Convolution.
    Errors: as Convolution; also ValueError for an adj below 0 or not below the larger of stride and dilation. Source:
    torch.nn.functional.conv_transpose1d, conv_transpose2d and conv_transpose3d.

    Calls:
        FullConvolutionFunction(dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, adjT, adjW, adjH, groups)(input, weight, bias)
        FullConvolutionFunction.apply(input, weight, bias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, adjT, adjW, adjH, groups)

    Arguments:
        input: Tensor (real): input (N, I, H, W) or (I, H, W)
        weight: Tensor (real): filters (I, O/groups, kH, kW)
        bias: Tensor (real) or None: one value per output channel (O)
        dT: int: stride along the depth; 1 if there is no depth
        dW: int: stride along the width
        dH: int: stride along the height; 1 if there is no height
        padT: int: output slices cropped on both sides along the depth; 0 if there is no depth
        padW: int: output columns cropped on both sides along the width
        padH: int: output rows cropped on both sides along the height; 0 if there is no height
        dilationT: int: distance between kernel elements along the depth; 1 if there is no depth
        dilationW: int: distance between kernel elements along the width
        dilationH: int: distance between kernel elements along the height; 1 if there is no height
        adjT: int: slices added to the output at its end; 0 if there is no depth
        adjW: int: columns added to the output at the right
        adjH: int: rows added to the output at the bottom; 0 if there is no height
        groups: int: number of groups of the input and output channels

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of FullConvolution w.r.t. its input: gradOutput correlated with the filters.

    Gradients of FullConvolution w.r.t. its parameters, accumulated:
      gradWeight[i,o,kh,kw] += scale * sum over n, y, x of input[n,i,y,x] *
          gradOutput[n, g*O/groups + o, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW], where i is in group g
      gradBias[o] += scale * sum over n, Y, X of gradOutput[n,o,Y,X]
    """
    def __init__(self, dT: int, dW: int, dH: int, padT: int, padW: int, padH: int, dilationT: int, dilationW: int, dilationH: int, adjT: int, adjW: int, adjH: int, groups: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = ...) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor | None = ..., dT: int = ..., dW: int = ..., dH: int = ..., padT: int = ..., padW: int = ..., padH: int = ..., dilationT: int = ..., dilationW: int = ..., dilationH: int = ..., adjT: int = ..., adjW: int = ..., adjH: int = ..., groups: int = ...) -> Tensor: ...

class SpatialConvolutionLocalFunction(FunctionBase):
    """SpatialConvolutionLocal: convolution with separate filters at each output position.

      output[n,o,y,x] = bias[o,y,x] + sum over i, kh, kw of
                        weight[y,x,o,i,kh,kw] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]

    Shapes: input (N, I, H, W) or (I, H, W); weight (oH*oW, O, I*kH*kW) or (oH, oW, O, I, kH, kW); bias (O, oH, oW);
    output (N, O, oH, oW) with oH = floor((H + 2*padH - kH) / dH) + 1 and oW likewise. Input is 0 outside the image.
    Errors: ValueError for a kernel or stride below 1, negative padding, an empty output, sizes that do not
    fit, and size arguments that differ from the sizes of the tensors. Source: Torch7 nn.SpatialConvolutionLocal.

    Calls:
        SpatialConvolutionLocalFunction(kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight)(input, weight, bias)
        SpatialConvolutionLocalFunction.apply(input, weight, bias, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight)

    Arguments:
        input: Tensor (real): input (N, I, H, W) or (I, H, W)
        weight: Tensor (real): filters (oH*oW, O, I*kH*kW) or (oH, oW, O, I, kH, kW)
        bias: Tensor (real): one value per output element (O, oH, oW)
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

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialConvolutionLocal w.r.t. its input: each element of gradOutput times its filter, added to
    its patch.

    Gradients of SpatialConvolutionLocal w.r.t. its parameters, accumulated:
      gradWeight[y,x,o,i,kh,kw] += scale * sum over n of
                                   gradOutput[n,o,y,x] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]
      gradBias[o,y,x] += scale * sum over n of gradOutput[n,o,y,x]
    """
    def __init__(self, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, inputWidth: int, inputHeight: int, outputWidth: int, outputHeight: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, kW: int, kH: int, dW: int, dH: int, padW: int, padH: int, inputWidth: int, inputHeight: int, outputWidth: int, outputHeight: int) -> Tensor: ...

class SpatialConvolutionMapFunction(FunctionBase):
    """SpatialConvolutionMap: convolution of the pairs of channels in a connection table, with a separate kernel per pair.

      output[n,o,y,x] = bias[o] + sum over c, kh, kw with connTable[c] = (i, o) of
                        weight[c,kh,kw] * input[n, i, y*dH + kh, x*dW + kw]

    Shapes: input (N, nInputPlane, H, W) or (nInputPlane, H, W); connTable (K, 2), whole numbers from 0; weight
    (K, kH, kW); bias (nOutputPlane); output (N, nOutputPlane, oH, oW) with oH = floor((H - kH) / dH) + 1 and oW
    likewise. A pair that occurs several times in the table counts several times. An output channel that is not in
    the table equals its bias.
    Errors: ValueError for a stride or number of channels below 1, a kernel larger than the image, sizes that do not fit;
    IndexError for a row of connTable with a number that is not a channel.
    Source: LeCun et al. 1998; Torch7 nn.SpatialConvolutionMap.

    Calls:
        SpatialConvolutionMapFunction(nInputPlane, nOutputPlane, dW, dH)(input, weight, bias, connTable)
        SpatialConvolutionMapFunction.apply(input, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH)

    Arguments:
        input: Tensor (real): input (N, nInputPlane, H, W) or (nInputPlane, H, W)
        weight: Tensor (real): kernels (K, kH, kW)
        bias: Tensor (real): one value per output channel (nOutputPlane)
        connTable: Tensor (real): connection table (K, 2): input channel, output channel
        nInputPlane: int: channels of the input
        nOutputPlane: int: channels of the output
        dW: int: stride along the width
        dH: int: stride along the height

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialConvolutionMap w.r.t. its input: for each connection gradOutput times the kernel, added to
    each window. Elements outside every window get 0. bias is not used.

    Gradients of SpatialConvolutionMap w.r.t. its parameters, accumulated, for each row c of connTable = (i, o):
    gradWeight[c,kh,kw] += scale * sum over n, y, x of gradOutput[n,o,y,x] * input[n, i, y*dH + kh, x*dW + kw];
    gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x].
    """
    def __init__(self, nInputPlane: int, nOutputPlane: int, dW: int, dH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor, connTable: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, connTable: Tensor, nInputPlane: int, nOutputPlane: int, dW: int, dH: int) -> Tensor: ...

class SpatialFullConvolutionMapFunction(FunctionBase):
    """SpatialFullConvolutionMap: transposed SpatialConvolutionMap. Every element of input, times a kernel, is added to a
    window of output.

      output[n,o,Y,X] = bias[o] + sum over c, y, x, kh, kw with connTable[c] = (i, o), Y = y*dH + kh and X = x*dW + kw of
                        weight[c,kh,kw] * input[n,i,y,x]

    Shapes: input (N, nInputPlane, H, W) or (nInputPlane, H, W); connTable (K, 2), whole numbers from 0; weight
    (K, kH, kW); bias (nOutputPlane); output (N, nOutputPlane, oH, oW) with oH = (H - 1)*dH + kH and oW likewise.
    Errors: ValueError for a stride or number of channels below 1, an output larger than memory can hold, sizes that
    do not fit; IndexError for a row of connTable with a number that is not a channel. Source: Torch7
    nn.SpatialFullConvolutionMap.

    Calls:
        SpatialFullConvolutionMapFunction(nInputPlane, nOutputPlane, dW, dH)(input, weight, bias, connTable)
        SpatialFullConvolutionMapFunction.apply(input, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH)

    Arguments:
        input: Tensor (real): input (N, nInputPlane, H, W) or (nInputPlane, H, W)
        weight: Tensor (real): kernels (K, kH, kW)
        bias: Tensor (real): one value per output channel (nOutputPlane)
        connTable: Tensor (real): connection table (K, 2): input channel, output channel
        nInputPlane: int: channels of the input
        nOutputPlane: int: channels of the output
        dW: int: stride along the width
        dH: int: stride along the height

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialFullConvolutionMap w.r.t. its input: gradOutput correlated with the kernel of each connection.
    bias is not used.

    Gradients of SpatialFullConvolutionMap w.r.t. its parameters, accumulated, for each row c of connTable = (i, o):
    gradWeight[c,kh,kw] += scale * sum over n, y, x of gradOutput[n, o, y*dH + kh, x*dW + kw] * input[n,i,y,x];
    gradBias[o] += scale * sum of gradOutput[n,o] over n and all pixels.
    """
    def __init__(self, nInputPlane: int, nOutputPlane: int, dW: int, dH: int) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor, connTable: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, bias: Tensor, connTable: Tensor, nInputPlane: int, nOutputPlane: int, dW: int, dH: int) -> Tensor: ...
