"""Convolutions of volumes. Kernel, stride, padding and dilation of a sample are (time, width, height)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import convolution_sample as _sample
from thnn.testing.cases.makers import flops, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput

Triple = tuple[int, int, int]


def _of_weight(
    input: Tensor,
    weight: Tensor,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
    bias: Tensor | None = None,
) -> Tensor:
    return F.conv3d(input, weight, bias, (dT, dH, dW), (pT, pH, pW))


def _mm(
    input: Tensor,
    weight: Tensor,
    kT: int,
    kW: int,
    kH: int,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
    bias: Tensor | None = None,
) -> Tensor:
    filters = weight.reshape(weight.shape[0], input.shape[-4], kT, kH, kW)
    return F.conv3d(input, filters, bias, (dT, dH, dW), (pT, pH, pW))


def _dilated(
    input: Tensor,
    weight: Tensor,
    kT: int,
    kW: int,
    kH: int,
    dT: int,
    dW: int,
    dH: int,
    padT: int,
    padW: int,
    padH: int,
    dilationT: int,
    dilationW: int,
    dilationH: int,
    bias: Tensor | None = None,
) -> Tensor:
    dilation = (dilationT, dilationH, dilationW)
    return F.conv3d(input, weight, bias, (dT, dH, dW), (padT, padH, padW), dilation)


def _without_kernel(*given: Any, **settings: Any) -> SampleInput:
    sample = _sample(*given, **settings)
    return replace(sample, arguments={k: v for k, v in sample.arguments.items() if k[0] != "k"})


_PHASES = ("updateOutput", "updateGradInput", "accGradParameters")
_GEOMETRY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("stride 0", {"dT": 0}),
    ("stride below 0", {"dW": -1}),
    ("padding below 0", {"pT": -1}),
    ("padding far below 0", {"pH": -(2**31)}),
    ("overflowing padding", {"pT": 2**31 - 1, "pW": 2**31 - 1, "pH": 2**31 - 1}),
)
_KERNEL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("kernel 0", {"kT": 0}),
    ("kernel below 0", {"kH": -3}),
    ("huge kernel", {"kT": 2**31 - 1, "kW": 2**31 - 1, "kH": 2**31 - 1}),
    ("kernel that weight does not have", {"kW": 4}),
)
_TENSOR_ERROR_INPUTS = (
    ErrorInput("input an image", {"input": normal(5, 6, 5)}, ValueError, "input"),
    ErrorInput("no channels", {"input": normal(2, 0, 4, 5, 6)}, ValueError, "input"),
    ErrorInput("no depth", {"input": normal(2, 3, 0, 5, 6)}, ValueError, "input"),
    ErrorInput("too little height", {"input": normal(2, 3, 1, 1, 6)}, ValueError, "would be empty"),
    ErrorInput("other channels", {"input": normal(2, 4, 4, 5, 6)}, ValueError, "weight"),
    ErrorInput("weight of four dimensions", {"weight": normal(4, 3, 3, 2)}, ValueError, "weight"),
    ErrorInput("weight of other channels", {"weight": normal(4, 2, 2, 3, 2)}, ValueError, "weight"),
    ErrorInput("no filters", {"weight": normal(0, 3, 2, 3, 2)}, ValueError, "weight"),
    ErrorInput("bias of one", {"bias": normal(1)}, ValueError, "bias"),
    ErrorInput(
        "gradOutput as input", {"gradOutput": normal(2, 3, 4, 5, 6)}, ValueError, phase="updateGradInput"
    ),
    ErrorInput("gradBias of one", {"gradBias": normal(1)}, ValueError, phase="accGradParameters"),
)

VOLUMETRIC_CONVOLUTION = Case(
    module="VolumetricConvolution",
    reference=_of_weight,
    any_size={"weight": (2, 3, 4)},
    samples=(
        _without_kernel("batch", (2, 3, 4, 5, 6), 4, (2, 2, 3), (2, 1, 2), (1, 1, 0)),
        _without_kernel("batchless", (2, 4, 5, 4), 3, (3, 1, 2), (1, 2, 1), (0, 1, 2)),
        _without_kernel("no padding", (2, 3, 4, 5, 4), 2, (2, 3, 2)),
        _without_kernel("no bias", (1, 2, 3, 4, 3), 3, (2, 2, 2), bias=False),
        _without_kernel("last columns unused", (1, 2, 5, 6, 7), 2, (2, 2, 3), (2, 3, 2)),
        _without_kernel("empty", (0, 3, 4, 5, 6), 4, (2, 2, 3), (2, 1, 2), (1, 1, 0)),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=phase)
            for phase in _PHASES
            for name, change in _GEOMETRY
        ),
        *_TENSOR_ERROR_INPUTS,
        ErrorInput("flattened weight", {"weight": normal(4, 36)}, ValueError, "weight"),
        ErrorInput("a kernel without width", {"weight": normal(4, 3, 2, 3, 0)}, ValueError, "weight"),
        ErrorInput(
            "a kernel beyond the volume",
            {"weight": normal(4, 3, 7, 3, 2)},
            ValueError,
            "would be empty, 0 x ",
        ),
    ),
    rows=(
        Row(
            "VolumetricConvolution 3x3x3 16-32 at 8x28x28, batch 2",
            _without_kernel("row", (2, 16, 8, 28, 28), 32, (3, 3, 3), (1, 1, 1), (1, 1, 1)),
            flops=flops(2 * 16 * 32 * 27 * 8 * 28 * 28),
        ),
    ),
)

VOLUMETRIC_CONVOLUTION_MM = Case(
    module="VolumetricConvolutionMM",
    reference=_mm,
    samples=(
        _sample("batch", (2, 3, 4, 5, 6), 4, (2, 2, 3), (2, 1, 2), (1, 1, 0)),
        _sample("batchless", (2, 4, 5, 4), 3, (3, 1, 2), (1, 2, 1), (0, 1, 2)),
        _sample("no bias", (1, 2, 3, 4, 3), 3, (2, 2, 2), padding=(1, 1, 1), bias=False),
        _sample("flattened weight", (2, 3, 3, 4, 3), 2, (2, 3, 2), flat=True),
        _sample("flattened weight, batchless", (2, 3, 4, 3), 2, (1, 2, 3), flat=True, bias=False),
        _sample("kernel 1", (2, 3, 2, 3, 4), 2, (1, 1, 1)),
        _sample("kernel 1, stride 2", (2, 3, 3, 4, 5), 2, (1, 1, 1), (2, 2, 2)),
        _sample("stride above kernel", (1, 2, 5, 7, 8), 2, (1, 2, 2), (2, 3, 4)),
        _sample("last columns unused", (1, 2, 5, 6, 7), 2, (2, 2, 3), (2, 3, 2)),
        _sample("padding beyond the kernel", (1, 2, 2, 3, 2), 2, (2, 1, 2), (2, 1, 3), (3, 2, 4)),
        _sample("empty", (0, 3, 4, 5, 6), 4, (2, 2, 3), (2, 1, 2), (1, 1, 0)),
        _sample("many channels", (2, 34, 4, 7, 9), 35, (3, 3, 3), padding=(1, 1, 1), small=False),
        _sample("large kernel", (1, 5, 8, 9, 10), 3, (5, 6, 7), (1, 1, 2), (2, 3, 3), small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=phase)
            for phase in _PHASES
            for name, change in (*_GEOMETRY, *_KERNEL)
        ),
        *_TENSOR_ERROR_INPUTS,
        ErrorInput("flattened weight too short", {"weight": normal(4, 35)}, ValueError, "weight"),
        ErrorInput("kernel with permuted axes", {"weight": normal(4, 3, 3, 2, 2)}, ValueError, "weight"),
    ),
    rows=(
        Row(
            "VolumetricConvolutionMM 3x3x3 32-64 at 8x28x28, batch 2",
            _sample("row", (2, 32, 8, 28, 28), 64, (3, 3, 3), (1, 1, 1), (1, 1, 1)),
            ratio=1.2,
            best=1.1,
            flops=flops(2 * 32 * 64 * 27 * 8 * 28 * 28),
        ),
    ),
)

VOLUMETRIC_DILATED_CONVOLUTION = Case(
    module="VolumetricDilatedConvolution",
    reference=_dilated,
    samples=(
        _sample("batch", (2, 3, 4, 5, 6), 4, (2, 2, 3), (2, 1, 2), (1, 1, 0), (2, 3, 1)),
        _sample("batchless", (2, 4, 5, 4), 3, (3, 1, 2), (1, 2, 1), (1, 1, 2), (2, 1, 3)),
        _sample("no bias", (1, 2, 3, 4, 3), 3, (2, 2, 2), (1, 1, 1), (1, 1, 1), (1, 2, 2), bias=False),
        _sample("dilation 1", (1, 2, 3, 4, 5), 2, (2, 3, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1)),
        _sample("stride with dilation", (1, 2, 7, 8, 9), 2, (2, 3, 2), (3, 4, 2), (1, 3, 2), (2, 2, 4)),
        _sample(
            "kernel elements in the padding only",
            (1, 2, 1, 2, 2),
            2,
            (3, 3, 1),
            (1, 1, 1),
            (3, 4, 0),
            (3, 4, 2),
        ),
        _sample("empty", (0, 3, 4, 5, 6), 4, (2, 2, 3), (2, 1, 2), (1, 1, 0), (2, 3, 1)),
        _sample(
            "many channels", (2, 17, 5, 7, 9), 33, (2, 3, 3), (1, 1, 1), (1, 2, 2), (2, 2, 2), small=False
        ),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=phase)
            for phase in _PHASES
            for name, change in (
                *((n, {k.replace("p", "pad"): v for k, v in c.items()}) for n, c in _GEOMETRY),
                *_KERNEL,
                ("dilation 0", {"dilationT": 0}),
                ("dilation beyond the volume", {"dilationW": 11}),
                ("huge dilation", {"dilationH": 2**31 - 1}),
            )
        ),
        *_TENSOR_ERROR_INPUTS,
        ErrorInput("flattened weight", {"weight": normal(4, 36)}, ValueError, "weight"),
    ),
    rows=(
        Row(
            "VolumetricDilatedConvolution 3x3x3 dilation 2 16-32 at 8x28x28, batch 2",
            _sample("row", (2, 16, 8, 28, 28), 32, (3, 3, 3), (1, 1, 1), (2, 2, 2), (2, 2, 2)),
            flops=flops(2 * 16 * 32 * 27 * 8 * 28 * 28),
        ),
    ),
)
