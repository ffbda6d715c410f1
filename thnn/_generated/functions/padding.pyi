"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Tensor

from thnn._functions.base import FunctionBase

class TemporalReplicationPaddingFunction(FunctionBase):
    """TemporalReplicationPadding: a series extended by its first and last element.

      output[n,c,x] = input[n, c, min(max(x - pad_l, 0), W - 1)]

    Shapes: input (N, C, W) or (C, W); output (N, C, W + pad_l + pad_r). Negative padding crops.
    Errors: ValueError for an empty output. Source: Torch7 nn.TemporalReplicationPadding.

    Calls:
        TemporalReplicationPaddingFunction(pad_l, pad_r)(input)
        TemporalReplicationPaddingFunction.apply(input, pad_l, pad_r)

    Arguments:
        input: Tensor (real): input (N, C, W) or (C, W)
        pad_l: int: elements added left; negative: cropped
        pad_r: int: elements added right

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of TemporalReplicationPadding w.r.t. its input: each element of gradOutput is added to
    the input element that its output element was copied from.
    """
    def __init__(self, pad_l: int, pad_r: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, pad_l: int, pad_r: int) -> Tensor: ...

class TemporalReflectionPaddingFunction(FunctionBase):
    """TemporalReflectionPadding: a series extended by its mirror images at the first and at the last element, which are not
    repeated.

      output[n,c,x] = input[n, c, mirror(x - pad_l, W)]
      mirror(i, size) = 2*(size - 1) - i where i >= size, else |i|

    Shapes: input (N, C, W) or (C, W); output (N, C, W + pad_l + pad_r). Negative padding crops.
    Errors: ValueError for padding of W or more, and for an empty output.
    Source: Torch7 nn.TemporalReflectionPadding.

    Calls:
        TemporalReflectionPaddingFunction(pad_l, pad_r)(input)
        TemporalReflectionPaddingFunction.apply(input, pad_l, pad_r)

    Arguments:
        input: Tensor (real): input (N, C, W) or (C, W)
        pad_l: int: elements added left; negative: cropped
        pad_r: int: elements added right

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of TemporalReflectionPadding w.r.t. its input: each element of gradOutput is added to
    the input element that its output element was copied from.
    """
    def __init__(self, pad_l: int, pad_r: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, pad_l: int, pad_r: int) -> Tensor: ...

class SpatialReplicationPaddingFunction(FunctionBase):
    """SpatialReplicationPadding: images extended by their border pixels.

      output[n,c,y,x] = input[n, c, min(max(y - pad_t, 0), H - 1), min(max(x - pad_l, 0), W - 1)]

    Shapes: input (N, C, H, W) or (C, H, W); output (N, C, H + pad_t + pad_b, W + pad_l + pad_r). Negative padding crops.
    Errors: ValueError for an empty output. Source: Torch7 nn.SpatialReplicationPadding.

    Calls:
        SpatialReplicationPaddingFunction(pad_l, pad_r, pad_t, pad_b)(input)
        SpatialReplicationPaddingFunction.apply(input, pad_l, pad_r, pad_t, pad_b)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        pad_l: int: elements added left; negative: cropped
        pad_r: int: elements added right
        pad_t: int: rows added above
        pad_b: int: rows added below

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialReplicationPadding w.r.t. its input: each element of gradOutput is added to
    the input element that its output element was copied from.
    """
    def __init__(self, pad_l: int, pad_r: int, pad_t: int, pad_b: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, pad_l: int, pad_r: int, pad_t: int, pad_b: int) -> Tensor: ...

class SpatialReflectionPaddingFunction(FunctionBase):
    """SpatialReflectionPadding: images extended by their mirror images at the border pixels, which are not repeated.

      output[n,c,y,x] = input[n, c, mirror(y - pad_t, H), mirror(x - pad_l, W)]
      mirror(i, size) = 2*(size - 1) - i where i >= size, else |i|

    Shapes: input (N, C, H, W) or (C, H, W); output (N, C, H + pad_t + pad_b, W + pad_l + pad_r). Negative padding crops.
    Errors: ValueError for padding that is not below the size, and for an empty output.
    Source: Torch7 nn.SpatialReflectionPadding.

    Calls:
        SpatialReflectionPaddingFunction(pad_l, pad_r, pad_t, pad_b)(input)
        SpatialReflectionPaddingFunction.apply(input, pad_l, pad_r, pad_t, pad_b)

    Arguments:
        input: Tensor (real): input (N, C, H, W) or (C, H, W)
        pad_l: int: elements added left; negative: cropped
        pad_r: int: elements added right
        pad_t: int: rows added above
        pad_b: int: rows added below

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SpatialReflectionPadding w.r.t. its input: each element of gradOutput is added to
    the input element that its output element was copied from.
    """
    def __init__(self, pad_l: int, pad_r: int, pad_t: int, pad_b: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, pad_l: int, pad_r: int, pad_t: int, pad_b: int) -> Tensor: ...

class VolumetricReplicationPaddingFunction(FunctionBase):
    """VolumetricReplicationPadding: volumes extended by the elements at their borders, as images by
    SpatialReplicationPadding.

    Shapes: input (N, C, T, H, W) or (C, T, H, W); output (N, C, T + pfront + pback, H + ptop + pbottom,
    W + pleft + pright). Negative padding crops.
    Errors: ValueError for an empty output. Source: Torch7 nn.VolumetricReplicationPadding.

    Calls:
        VolumetricReplicationPaddingFunction(pleft, pright, ptop, pbottom, pfront, pback)(input)
        VolumetricReplicationPaddingFunction.apply(input, pleft, pright, ptop, pbottom, pfront, pback)

    Arguments:
        input: Tensor (real): input (N, C, T, H, W) or (C, T, H, W)
        pleft: int: columns added left; negative: cropped
        pright: int: columns added right
        ptop: int: rows added above
        pbottom: int: rows added below
        pfront: int: slices added in front
        pback: int: slices added behind

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of VolumetricReplicationPadding w.r.t. its input: each element of gradOutput is added to
    the input element that its output element was copied from.
    """
    def __init__(self, pleft: int, pright: int, ptop: int, pbottom: int, pfront: int, pback: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, pleft: int, pright: int, ptop: int, pbottom: int, pfront: int, pback: int) -> Tensor: ...
