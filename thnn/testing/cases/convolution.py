"""Convolutions of images. Kernel, stride, padding and dilation of a sample are (width, height)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import convolution_sample as _sample
from thnn.testing.cases.makers import flops, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput

Pair = tuple[int, int]


def _convolution(
    input: Tensor,
    weight: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    bias: Tensor | None = None,
) -> Tensor:
    channels = input.shape[-3]
    return F.conv2d(input, weight.reshape(weight.shape[0], channels, kH, kW), bias, (dH, dW), (padH, padW))


def _row(
    inputs: int,
    outputs: int,
    kernel: int,
    size: int,
    batch: int,
    stride: int = 1,
    padding: int = 0,
    dtype: str = "float32",
    **goals: Any,
) -> Row:
    out = (size + 2 * padding - kernel) // stride + 1
    strided = f" stride {stride}" if stride > 1 else ""
    return Row(
        f"SpatialConvolutionMM {kernel}x{kernel}{strided} {inputs}-{outputs} at {size}, batch {batch}"
        + (" float64" if dtype == "float64" else ""),
        _sample(
            "row",
            (batch, inputs, size, size),
            outputs,
            (kernel, kernel),
            (stride, stride),
            (padding, padding),
        ),
        dtype=dtype,
        flops=flops(batch * outputs * out * out * inputs * kernel * kernel),
        **goals,
    )


_GEOMETRY = (
    ("kernel 0", {"kW": 0}),
    ("kernel below 0", {"kH": -3}),
    ("stride 0", {"dH": 0}),
    ("stride below 0", {"dW": -1}),
    ("padding below 0", {"padW": -1}),
    ("padding far below 0", {"padH": -(2**31)}),
    ("huge kernel", {"kW": 2**31 - 1}),
    ("kernel that weight does not have", {"kW": 3}),
    ("overflowing padding", {"padW": 2**31 - 1, "padH": 2**31 - 1}),
)

SPATIAL_CONVOLUTION_MM = Case(
    module="SpatialConvolutionMM",
    reference=_convolution,
    samples=(
        _sample("batch", (2, 3, 5, 6), 4, (2, 3), (1, 2), (1, 0)),
        _sample("batchless", (3, 5, 6), 4, (2, 3), (2, 1), (0, 1)),
        _sample("no bias", (2, 2, 4, 4), 3, (3, 3), padding=(1, 1), bias=False),
        _sample("flattened weight", (2, 3, 5, 4), 2, (3, 2), flat=True),
        _sample("flattened weight, batchless", (2, 4, 5), 3, (2, 2), flat=True, bias=False),
        _sample("kernel 1", (2, 3, 4, 5), 2, (1, 1)),
        _sample("kernel 1, stride 2", (2, 3, 5, 4), 2, (1, 1), (2, 2)),
        _sample("kernel 1, padding 1", (1, 2, 3, 3), 2, (1, 1), padding=(1, 1)),
        _sample("stride above kernel", (1, 2, 9, 8), 2, (2, 1), (3, 4)),
        _sample("last columns unused", (1, 2, 6, 7), 2, (2, 3), (2, 2)),
        _sample("padding beyond the kernel", (1, 2, 3, 2), 2, (2, 2), (1, 2), (3, 4)),
        _sample("kernel of the image", (2, 3, 4, 5), 2, (5, 4)),
        _sample("one row", (2, 2, 1, 7), 3, (3, 1), padding=(1, 0)),
        _sample("one column", (2, 2, 7, 1), 3, (1, 3), (1, 2)),
        _sample("sizes 1", (1, 1, 1, 1), 1, (1, 1)),
        _sample("empty", (0, 3, 5, 6), 4, (2, 3), (1, 2), (1, 0)),
        _sample("many channels", (2, 37, 9, 11), 19, (3, 3), padding=(1, 1), small=False),
        _sample("wide image", (1, 5, 33, 130), 21, (5, 3), (2, 1), (2, 1), small=False),
        _sample("large kernel", (1, 130, 12, 13), 9, (5, 7), small=False),
        _sample("three channels, stride 2 and 3", (2, 3, 23, 29), 21, (7, 5), (2, 3), (3, 1), small=False),
        _sample("two channels, stride 2 of kernel 1", (2, 2, 9, 35), 20, (1, 1), (2, 2), (1, 0), small=False),
        _sample(
            "two channels, 165 kernel elements", (3, 2, 20, 37), 3, (15, 11), padding=(7, 2), small=False
        ),
        _sample("few outputs of wide rows", (1, 9, 6, 300), 4, (3, 2), padding=(1, 1), small=False),
    ),
    error_inputs=(
        *(ErrorInput(name, change, ValueError) for name, change in _GEOMETRY),
        *(ErrorInput(name, change, ValueError, phase="updateGradInput") for name, change in _GEOMETRY),
        *(ErrorInput(name, change, ValueError, phase="accGradParameters") for name, change in _GEOMETRY),
        ErrorInput("input a matrix", {"input": normal(5, 6)}, ValueError, "input"),
        ErrorInput("input of five dimensions", {"input": normal(1, 2, 3, 5, 6)}, ValueError, "input"),
        ErrorInput("no channels", {"input": normal(2, 0, 5, 6)}, ValueError),
        ErrorInput("image smaller than the kernel", {"input": normal(2, 3, 2, 6)}, ValueError),
        ErrorInput("image without pixels", {"input": normal(2, 3, 0, 0)}, ValueError),
        ErrorInput("other channels", {"input": normal(2, 4, 5, 6)}, ValueError, "input|weight"),
        ErrorInput("weight of three dimensions", {"weight": normal(2, 3, 3)}, ValueError, "weight"),
        ErrorInput("weight of other channels", {"weight": normal(4, 2, 3, 2)}, ValueError, "input|weight"),
        ErrorInput("kernel transposed", {"weight": normal(4, 3, 2, 3)}, ValueError, "weight"),
        ErrorInput(
            "flattened weight too short",
            {"weight": normal(4, 17)},
            ValueError,
            r"weight: expected 4 dimensions \(nOutputPlane, 3, 3, 2\)",
        ),
        ErrorInput("bias a matrix", {"bias": normal(1, 4)}, ValueError, "bias"),
        ErrorInput("bias of one", {"bias": normal(1)}, ValueError, "bias"),
        ErrorInput(
            "gradOutput batchless", {"gradOutput": normal(4, 2, 7)}, ValueError, phase="updateGradInput"
        ),
        ErrorInput(
            "gradOutput batchless", {"gradOutput": normal(4, 2, 7)}, ValueError, phase="accGradParameters"
        ),
    ),
    rows=(
        _row(64, 64, 3, 56, 8, padding=1, ratio=1.8, best=1.55, channels_last=1.5),
        _row(128, 128, 3, 28, 8, padding=1, ratio=1.8, best=1.6, channels_last=1.5),
        _row(256, 256, 3, 14, 8, padding=1, ratio=1.6, best=1.5, channels_last=1.5),
        _row(512, 512, 3, 7, 8, padding=1, ratio=1.3, best=1.25, channels_last=1.2),
        _row(64, 64, 3, 56, 1, padding=1, ratio=1.7, best=1.45, channels_last=1.5),
        _row(64, 64, 3, 32, 16, padding=1, ratio=1.8, best=1.5, channels_last=1.5),
        _row(32, 32, 3, 112, 4, padding=1, ratio=1.4, best=1.2, channels_last=1.5),
        _row(512, 512, 3, 7, 1, padding=1, ratio=1.3, fraction=0.8, channels_last=0.95),
        _row(256, 64, 1, 56, 8, ratio=1.2, fraction=0.9),
        _row(1024, 256, 1, 14, 8, ratio=1.0, fraction=0.9),
        _row(3, 64, 7, 224, 4, stride=2, padding=3, ratio=2.0),
        _row(1, 6, 5, 28, 64, ratio=3.0),
        _row(64, 64, 3, 28, 4, padding=1, dtype="float64", ratio=2.2, fraction=0.85),
    ),
)


def _dilated(
    input: Tensor,
    weight: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    dilationW: int,
    dilationH: int,
    bias: Tensor | None = None,
) -> Tensor:
    return F.conv2d(input, weight, bias, (dH, dW), (padH, padW), (dilationH, dilationW))


def _dilated_sample(
    name: str,
    shape: tuple[int, ...],
    channels: int,
    kernel: Pair,
    dilation: Pair,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
    **settings: bool,
) -> SampleInput:
    return _sample(name, shape, channels, kernel, stride, padding, dilation, **settings)


def _dilated_row(channels: int, size: int, batch: int, dilation: int) -> Row:
    both = (dilation, dilation)
    return Row(
        f"SpatialDilatedConvolution 3x3 dilation {dilation} {channels}-{channels} at {size}, batch {batch}",
        _dilated_sample("row", (batch, channels, size, size), channels, (3, 3), both, padding=both),
        ratio=0.95,
        flops=flops(batch * channels * size * size * channels * 9),
    )


SPATIAL_DILATED_CONVOLUTION = Case(
    module="SpatialDilatedConvolution",
    reference=_dilated,
    samples=(
        _dilated_sample("batch", (2, 3, 8, 9), 4, (2, 3), (3, 2), (1, 2), (1, 0)),
        _dilated_sample("batchless", (3, 7, 6), 2, (3, 2), (2, 3), (2, 1), (0, 1)),
        _dilated_sample("no bias", (2, 2, 7, 7), 3, (3, 3), (2, 2), padding=(2, 2), bias=False),
        _dilated_sample("dilation 1", (2, 3, 5, 4), 2, (3, 2), (1, 1)),
        _dilated_sample("kernel 1", (2, 3, 4, 5), 2, (1, 1), (3, 2), (2, 1)),
        _dilated_sample("stride above kernel", (1, 2, 11, 12), 2, (2, 2), (2, 3), (5, 4)),
        _dilated_sample("stride a multiple of dilation", (1, 2, 11, 13), 2, (3, 3), (2, 2), (4, 4), (1, 3)),
        _dilated_sample(
            "stride and dilation with a divisor", (1, 2, 13, 15), 2, (3, 4), (4, 6), (6, 4), (5, 7)
        ),
        _dilated_sample("last columns unused", (1, 2, 8, 9), 2, (2, 3), (2, 2), (2, 3)),
        _dilated_sample(
            "kernel elements in the padding only", (1, 2, 2, 3), 2, (3, 3), (4, 5), padding=(5, 5)
        ),
        _dilated_sample("kernel of the image", (2, 3, 5, 7), 2, (3, 2), (3, 4)),
        _dilated_sample("empty", (0, 3, 8, 9), 4, (2, 3), (3, 2), (1, 2), (1, 0)),
        _dilated_sample(
            "rows without kernel elements", (2, 18, 2, 10), 20, (3, 3), (2, 4), padding=(2, 8), small=False
        ),
        _dilated_sample("many channels", (2, 33, 13, 11), 35, (3, 3), (2, 3), padding=(2, 3), small=False),
        *(
            _dilated_sample(
                f"dilation {d[0]}, {n} outputs", (2, 2, 3, 4), n, (3, 3), d, padding=d, small=False
            )
            for n, d in (
                (1, (2**31 - 1,) * 2),
                (3, (2**30,) * 2),
                (20, (2**31 - 1, 1000)),
                (20, (2**29, 2**29)),
            )
        ),
        # Direct convolution: rows are longer than a vector, and a packed input tile of rows so far apart is large.
        _dilated_sample(
            "rows of 15, far apart", (1, 2, 241, 15), 1, (3, 3), (2, 120), padding=(2, 120), small=False
        ),
        _dilated_sample(
            "rows of 31, far apart", (1, 2, 241, 31), 1, (3, 3), (2, 120), padding=(2, 120), small=False
        ),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=phase)
            for phase in ("updateOutput", "updateGradInput", "accGradParameters")
            for name, change in (
                *_GEOMETRY,
                ("dilation 0", {"dilationW": 0}),
                ("dilation below 0", {"dilationH": -2}),
                ("huge dilation", {"dilationH": 2**31 - 1}),
                ("dilation beyond the image", {"dilationW": 11}),
            )
        ),
        ErrorInput("input a matrix", {"input": normal(8, 9)}, ValueError, "input"),
        ErrorInput("no channels", {"input": normal(2, 0, 8, 9)}, ValueError, "input"),
        ErrorInput(
            "image smaller than the kernel", {"input": normal(2, 3, 4, 9)}, ValueError, "would be empty, 0 x "
        ),
        ErrorInput("other channels", {"input": normal(2, 4, 8, 9)}, ValueError, "weight"),
        ErrorInput("flattened weight", {"weight": normal(4, 18)}, ValueError, "weight"),
        ErrorInput("kernel transposed", {"weight": normal(4, 3, 2, 3)}, ValueError, "weight"),
        ErrorInput("no filters", {"weight": normal(0, 3, 3, 2)}, ValueError, "weight"),
        ErrorInput("bias of one", {"bias": normal(1)}, ValueError, "bias"),
        ErrorInput(
            "gradOutput smaller", {"gradOutput": normal(2, 4, 2, 7)}, ValueError, phase="updateGradInput"
        ),
        ErrorInput("gradBias of one", {"gradBias": normal(1)}, ValueError, phase="accGradParameters"),
    ),
    rows=(_dilated_row(128, 28, 8, 2),),
)


def _depthwise(
    input: Tensor,
    weight: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    bias: Tensor | None = None,
) -> Tensor:
    channels = input.shape[-3]
    filters = weight.reshape(-1, channels, kH, kW).transpose(0, 1).reshape(-1, 1, kH, kW)
    offsets = None if bias is None else bias.t().reshape(-1)
    return F.conv2d(input, filters, offsets, (dH, dW), (padH, padW), groups=channels)


def _depthwise_sample(
    name: str,
    shape: tuple[int, ...],
    filters: int,
    kernel: Pair,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
    bias: bool = True,
    **settings: bool,
) -> SampleInput:
    """A sample of convolution, with the bias of depthwise convolution: (filters, channels)."""
    sample = _sample(name, shape, filters, kernel, stride, padding, None, False, **settings)
    biases = {"bias": normal(filters, shape[-3])} if bias else {}
    return replace(sample, arguments={**sample.arguments, **biases})


def _depthwise_row(channels: int, size: int, batch: int) -> Row:
    return Row(
        f"SpatialDepthWiseConvolution 3x3 {channels} at {size}, batch {batch}",
        _depthwise_sample("row", (batch, channels, size, size), 1, (3, 3), padding=(1, 1)),
        ratio=1.5,
        flops=flops(batch * channels * size * size * 9),
    )


SPATIAL_DEPTH_WISE_CONVOLUTION = Case(
    module="SpatialDepthWiseConvolution",
    reference=_depthwise,
    samples=(
        _depthwise_sample("batch", (2, 3, 5, 6), 2, (2, 3), (1, 2), (1, 0)),
        _depthwise_sample("batchless", (3, 5, 7), 2, (2, 3), (2, 1), (0, 1)),
        _depthwise_sample("one filter, not square", (2, 4, 6, 9), 1, (3, 3), padding=(1, 1)),
        _depthwise_sample("no bias", (2, 2, 4, 5), 3, (3, 3), padding=(1, 1), bias=False),
        _depthwise_sample("flattened weight", (2, 3, 5, 4), 2, (3, 2), flat=True),
        _depthwise_sample("flattened weight, batchless", (2, 4, 5), 1, (2, 2), flat=True, bias=False),
        _depthwise_sample("kernel 1", (2, 3, 4, 5), 2, (1, 1)),
        _depthwise_sample("stride above kernel", (1, 2, 9, 8), 2, (2, 1), (3, 4)),
        _depthwise_sample("stride 2, odd size", (2, 3, 7, 9), 1, (3, 3), (2, 2), (1, 1)),
        _depthwise_sample("last columns unused", (1, 2, 6, 7), 2, (2, 3), (2, 2)),
        _depthwise_sample("padding beyond the kernel", (1, 2, 3, 2), 2, (2, 2), (1, 2), (3, 4)),
        _depthwise_sample("one channel", (2, 1, 5, 4), 3, (3, 2)),
        _depthwise_sample("empty", (0, 3, 5, 6), 2, (2, 3), (1, 2), (1, 0)),
        _depthwise_sample("wide", (1, 3, 9, 130), 1, (5, 3), (1, 1), (2, 1), small=False),
        _depthwise_sample("wide, stride 2", (1, 3, 9, 131), 2, (5, 3), (2, 2), (2, 1), small=False),
        _depthwise_sample("many channels", (2, 37, 12, 11), 1, (3, 3), padding=(1, 1), small=False),
        _depthwise_sample("many filters", (2, 3, 9, 8), 19, (3, 3), padding=(1, 1), small=False),
        _depthwise_sample("large", (1, 2, 190, 170), 1, (3, 3), padding=(1, 1), small=False),
        _depthwise_sample("large kernel", (1, 3, 21, 22), 2, (13, 11), padding=(6, 5), small=False),
        _depthwise_sample("parts of a large kernel", (1, 2, 12, 40), 1, (20, 9), padding=(9, 4), small=False),
        _depthwise_sample(
            "large kernel, many channels", (1, 27, 13, 14), 1, (15, 13), padding=(7, 6), small=False
        ),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=phase)
            for phase in ("updateOutput", "updateGradInput", "accGradParameters")
            for name, change in _GEOMETRY
        ),
        ErrorInput("input a matrix", {"input": normal(5, 6)}, ValueError, "input"),
        ErrorInput("no channels", {"input": normal(2, 0, 5, 6)}, ValueError, "input"),
        ErrorInput(
            "image smaller than the kernel", {"input": normal(2, 3, 2, 6)}, ValueError, "would be empty, 0 x "
        ),
        ErrorInput("other channels", {"input": normal(2, 4, 5, 6)}, ValueError, "weight"),
        ErrorInput("filters of all channels", {"weight": normal(2, 1, 3, 2)}, ValueError, "weight"),
        ErrorInput("kernel transposed", {"weight": normal(2, 3, 2, 3)}, ValueError, "weight"),
        ErrorInput("flattened weight too short", {"weight": normal(2, 17)}, ValueError, "weight"),
        ErrorInput("bias a vector", {"bias": normal(6)}, ValueError, "bias"),
        ErrorInput("bias transposed", {"bias": normal(3, 2)}, ValueError, "bias"),
        ErrorInput(
            "gradOutput of one filter",
            {"gradOutput": normal(2, 3, 2, 7)},
            ValueError,
            phase="updateGradInput",
        ),
        ErrorInput("gradBias a vector", {"gradBias": normal(6)}, ValueError, phase="accGradParameters"),
    ),
    rows=(_depthwise_row(128, 28, 8),),
)
