"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import FunctionBase

class Im2ColFunction(FunctionBase):
    """Im2Col: the patches of an image under a sliding window, one per column. Here dH and dW are dilations, and
    sH and sW strides.

      output[n, (c*kH + kh)*kW + kw, y*oW + x] = input[n, c, y*sH + kh*dH - padH, x*sW + kw*dW - padW]

    Shapes: input (N, C, H, W) or (C, H, W); output (N, C*kH*kW, oH*oW) or (C*kH*kW, oH*oW) with
    oH = floor((H + 2*padH - dH*(kH - 1) - 1) / sH) + 1 and oW likewise. Input is 0 outside the image.
    Errors: ValueError for a kernel, dilation or stride below 1, negative padding, an empty output, sizes that
    do not fit. Source: torch.nn.functional.unfold, which gives the same result.

    Calls:
        Im2ColFunction(kH, kW, dH, dW, padH, padW, sH, sW)(input)
        Im2ColFunction.apply(input, kH, kW, dH, dW, padH, padW, sH, sW)

    Arguments:
        input: Tensor (real): images (N, C, H, W) or (C, H, W)
        kH: int: kernel height
        kW: int: kernel width
        dH: int: dilation along the height
        dW: int: dilation along the width
        padH: int: zeros added above and below
        padW: int: zeros added left and right
        sH: int: stride along the height
        sW: int: stride along the width

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Im2Col w.r.t. its input: each element of gradOutput is added to the input element that its output element
    was copied from; elements outside every window get 0.
    """
    def __init__(self, kH: int, kW: int, dH: int, dW: int, padH: int, padW: int, sH: int, sW: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, kH: int, kW: int, dH: int, dW: int, padH: int, padW: int, sH: int, sW: int) -> Tensor: ...

class Col2ImFunction(FunctionBase):
    """Col2Im: columns summed into images, the transpose of Im2Col. Here dH and dW are dilations, and sH and sW strides.

      output[n,c,Y,X] = sum over y, x, kh, kw with Y = y*sH + kh*dH - padH and X = x*sW + kw*dW - padW of
                        input[n, (c*kH + kh)*kW + kw, y*oW + x]

    Shapes: input (N, C*kH*kW, oH*oW) or (C*kH*kW, oH*oW), oH and oW as in Im2Col for images of the size of the output;
    output (N, C, outputHeight, outputWidth) or (C, outputHeight, outputWidth).
    Errors: ValueError for a size, kernel, dilation or stride below 1, negative padding, sizes that do not fit.
    Source: torch.nn.functional.fold, which gives the same result.

    Calls:
        Col2ImFunction(outputHeight, outputWidth, kH, kW, dH, dW, padH, padW, sH, sW)(input)
        Col2ImFunction.apply(input, outputHeight, outputWidth, kH, kW, dH, dW, padH, padW, sH, sW)

    Arguments:
        input: Tensor (real): columns (N, C*kH*kW, oH*oW) or (C*kH*kW, oH*oW)
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

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Col2Im w.r.t. its input: Im2Col of gradOutput.
    """
    def __init__(self, outputHeight: int, outputWidth: int, kH: int, kW: int, dH: int, dW: int, padH: int, padW: int, sH: int, sW: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, outputHeight: int, outputWidth: int, kH: int, kW: int, dH: int, dW: int, padH: int, padW: int, sH: int, sW: int) -> Tensor: ...
