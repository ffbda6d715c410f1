"""Subsampling: sums of windows with a weight per plane."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def _temporal(
    input: Tensor, weight: Tensor, bias: Tensor, kW: int, dW: int, inputFrameSize: int | None = None
) -> Tensor:
    return input.unfold(-2, kW, dW).sum(-1) * weight + bias


def _spatial(input: Tensor, weight: Tensor, bias: Tensor, kW: int, kH: int, dW: int, dH: int) -> Tensor:
    sums = input.unfold(-2, kH, dH).unfold(-2, kW, dW).sum((-1, -2))
    return sums * weight[:, None, None] + bias[:, None, None]


def _series(name: str, shape: tuple[int, ...], kernel: int, stride: int, small: bool = True) -> SampleInput:
    planes = shape[-1]
    arguments: dict[str, Any] = {"input": normal(*shape), "weight": normal(planes), "bias": normal(planes)}
    arguments |= {"kW": kernel, "dW": stride, "inputFrameSize": planes}
    return SampleInput(name, arguments, differentiable=small)


def _images(
    name: str, shape: tuple[int, ...], kernel: tuple[int, int], stride: tuple[int, int], small: bool = True
) -> SampleInput:
    """Kernel and stride are (width, height)."""
    planes = shape[-3]
    arguments: dict[str, Any] = {"input": normal(*shape), "weight": normal(planes), "bias": normal(planes)}
    arguments |= {"kW": kernel[0], "kH": kernel[1], "dW": stride[0], "dH": stride[1]}
    return SampleInput(name, arguments, differentiable=small)


_PHASES = ("updateOutput", "updateGradInput", "accGradParameters")
_TEMPORAL_GEOMETRY = (
    ("kernel 0", {"kW": 0}),
    ("stride 0", {"dW": 0}),
    ("stride below 0", {"dW": -1}),
    ("kernel longer than the input", {"kW": 9}),
    ("huge kernel", {"kW": 2**31 - 1}),
)
_SPATIAL_GEOMETRY = (
    *_TEMPORAL_GEOMETRY,
    ("kernel below 0", {"kH": -3}),
    ("other stride 0", {"dH": 0}),
    ("kernel higher than the image", {"kH": 6}),
)

TEMPORAL_SUB_SAMPLING = Case(
    module="TemporalSubSampling",
    reference=_temporal,
    baseline=lambda input, weight, bias, kW, dW, inputFrameSize: (
        F.avg_pool1d(input.transpose(-1, -2), kW, dW).transpose(-1, -2) * (kW * weight) + bias
    ),
    samples=(
        _series("series", (8, 3), 3, 2),
        _series("last frames unused", (8, 3), 3, 4),
        _series("stride above kernel", (9, 2), 2, 4),
        _series("overlap", (6, 2), 4, 1),
        _series("kernel 1", (4, 3), 1, 1),
        _series("kernel of the series", (5, 2), 5, 3),
        _series("one feature", (7, 1), 2, 2),
        _series("sizes 1", (1, 1), 1, 1),
        _series("batch", (2, 7, 3), 3, 2),
        _series("empty", (0, 7, 3), 3, 2),
        _series("many features", (40, 130), 3, 2, small=False),
        _series("long kernel", (700, 3), 600, 7, small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=p)
            for p in _PHASES
            for name, change in _TEMPORAL_GEOMETRY
        ),
        ErrorInput("a vector", {"input": normal(7)}, ValueError, "input"),
        ErrorInput("no frames", {"input": normal(0, 3)}, ValueError),
        ErrorInput("no features", {"input": normal(7, 0)}, ValueError, "input"),
        ErrorInput("other features", {"input": normal(8, 4)}, ValueError, "input|weight"),
        ErrorInput("other frame size", {"inputFrameSize": 4}, ValueError, "inputFrameSize"),
        ErrorInput("weight a matrix", {"weight": normal(3, 1)}, ValueError, "weight"),
        ErrorInput("bias of one", {"bias": normal(1)}, ValueError, "bias"),
    ),
    rows=(Row("TemporalSubSampling (512,256), kernel 2", _series("row", (512, 256), 2, 2)),),
)

SPATIAL_SUB_SAMPLING = Case(
    module="SpatialSubSampling",
    reference=_spatial,
    baseline=lambda input, weight, bias, kW, kH, dW, dH: (
        F.avg_pool2d(input, (kH, kW), (dH, dW)) * (kH * kW * weight)[:, None, None] + bias[:, None, None]
    ),
    samples=(
        _images("batch", (2, 3, 5, 7), (3, 2), (2, 1)),
        _images("batchless", (3, 5, 6), (2, 2), (2, 2)),
        _images("last columns unused", (2, 2, 6, 7), (2, 3), (3, 2)),
        _images("stride above kernel", (1, 2, 9, 8), (2, 1), (3, 4)),
        _images("overlap", (1, 2, 5, 6), (4, 3), (1, 1)),
        _images("kernel 1", (2, 3, 3, 4), (1, 1), (1, 1)),
        _images("kernel of the image", (2, 2, 4, 5), (5, 4), (1, 2)),
        _images("one plane", (2, 1, 5, 4), (2, 2), (1, 2)),
        _images("sizes 1", (1, 1, 1, 1), (1, 1), (1, 1)),
        _images("empty", (0, 3, 5, 7), (3, 2), (2, 1)),
        _images("many planes", (2, 67, 9, 11), (2, 2), (2, 2), small=False),
        _images("wide images", (1, 2, 5, 9001), (3, 2), (1, 2), small=False),
        _images("large kernel", (2, 3, 40, 37), (31, 29), (2, 3), small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=p)
            for p in _PHASES
            for name, change in _SPATIAL_GEOMETRY
        ),
        ErrorInput("a matrix", {"input": normal(5, 7)}, ValueError, "input"),
        ErrorInput("no planes", {"input": normal(2, 0, 5, 7)}, ValueError, "input"),
        ErrorInput("no pixels", {"input": normal(2, 3, 0, 7)}, ValueError),
        ErrorInput("other planes", {"input": normal(2, 4, 5, 7)}, ValueError, "input|weight"),
        ErrorInput("weight of one", {"weight": normal(1)}, ValueError, "weight"),
        ErrorInput("bias a matrix", {"bias": normal(1, 3)}, ValueError, "bias"),
    ),
    rows=(Row("SpatialSubSampling 2x2 s2 (32,64,56,56)", _images("row", (32, 64, 56, 56), (2, 2), (2, 2))),),
)
