"""Transposed convolutions. Kernel, stride and padding of a sample are (width, height), or (time, width, height)."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import along, flops, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput

Sizes = tuple[int, ...]


def _full(
    input: Tensor,
    weight: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    adjW: int,
    adjH: int,
    bias: Tensor | None = None,
) -> Tensor:
    return F.conv_transpose2d(input, weight, bias, (dH, dW), (padH, padW), (adjH, adjW))


def _full_dilated(
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
    adjW: int,
    adjH: int,
    bias: Tensor | None = None,
) -> Tensor:
    dilation = (dilationH, dilationW)
    return F.conv_transpose2d(input, weight, bias, (dH, dW), (padH, padW), (adjH, adjW), 1, dilation)


def _volumetric_full(
    input: Tensor,
    weight: Tensor,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
    aT: int,
    aW: int,
    aH: int,
    bias: Tensor | None = None,
) -> Tensor:
    return F.conv_transpose3d(input, weight, bias, (dT, dH, dW), (pT, pH, pW), (aT, aH, aW))


def _volumetric_full_dilated(
    input: Tensor,
    weight: Tensor,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
    dilationT: int,
    dilationW: int,
    dilationH: int,
    aT: int,
    aW: int,
    aH: int,
    bias: Tensor | None = None,
) -> Tensor:
    dilation = (dilationT, dilationH, dilationW)
    return F.conv_transpose3d(input, weight, bias, (dT, dH, dW), (pT, pH, pW), (aT, aH, aW), 1, dilation)


def _sample(
    name: str,
    shape: Sizes,
    outputs: int,
    kernel: Sizes,
    stride: Sizes | None = None,
    padding: Sizes | None = None,
    added: Sizes | None = None,
    dilation: Sizes | None = None,
    bias: bool = True,
    small: bool = True,
) -> SampleInput:
    """A sample of images or volumes, by the length of `kernel`; with dilation, a sample of the dilated module."""
    n = len(kernel)
    axes, ones, zeros = "WH" if n == 2 else "TWH", (1,) * n, (0,) * n
    rows_first = kernel[:-2] + kernel[:-3:-1]
    arguments: dict[str, Any] = {
        "input": normal(*shape),
        "weight": normal(shape[-1 - n], outputs, *rows_first),
        **(along("k", axes, kernel) if n == 2 else {}),
        **along("d", axes, stride or ones),
        **along("pad" if n == 2 else "p", axes, padding or zeros),
        **along("adj" if n == 2 else "a", axes, added or zeros),
        **(along("dilation", axes, dilation) if dilation else {}),
    }
    if bias:
        arguments["bias"] = normal(outputs)
    return SampleInput(name, arguments, differentiable=small)


_GEOMETRY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("kernel 0", {"kW": 0}),
    ("stride 0", {"dH": 0}),
    ("stride below 0", {"dW": -1}),
    ("padding below 0", {"padW": -1}),
    ("padding that leaves nothing", {"padH": 20}),
    ("adj below 0", {"adjH": -1}),
    ("adj of the stride", {"adjW": 2}),
    ("huge adj", {"adjH": 2**31 - 1}),
    ("kernel that weight does not have", {"kW": 4}),
    ("an output beyond memory", {"dW": 2**31 - 1, "dH": 2**31 - 1}),
)
_PHASES = ("updateOutput", "updateGradInput", "accGradParameters")
_IMAGE_ERROR_INPUTS = (
    ErrorInput("input a matrix", {"input": normal(4, 3)}, ValueError, "input"),
    ErrorInput("no channels", {"input": normal(2, 0, 4, 3)}, ValueError, "input"),
    ErrorInput("no rows", {"input": normal(2, 3, 0, 3)}, ValueError, "input"),
    ErrorInput("other channels", {"input": normal(2, 2, 4, 3)}, ValueError, "weight"),
    ErrorInput("channels exchanged", {"weight": normal(2, 3, 3, 3)}, ValueError, "weight"),
    ErrorInput("flattened weight", {"weight": normal(3, 18)}, ValueError, "weight"),
    ErrorInput("no filters", {"weight": normal(3, 0, 3, 3)}, ValueError, "weight"),
    ErrorInput("bias of the input channels", {"bias": normal(3)}, ValueError, "bias"),
    ErrorInput(
        "gradOutput as input", {"gradOutput": normal(2, 3, 4, 3)}, ValueError, phase="updateGradInput"
    ),
    ErrorInput(
        "gradBias of the input channels", {"gradBias": normal(3)}, ValueError, phase="accGradParameters"
    ),
)

SPATIAL_FULL_CONVOLUTION = Case(
    module="SpatialFullConvolution",
    reference=_full,
    samples=(
        _sample("batch", (2, 3, 4, 3), 2, (3, 3), (2, 3), (1, 2), (1, 2)),
        _sample("batchless", (3, 4, 5), 2, (2, 3), (1, 2), (0, 1), (0, 1)),
        _sample("no bias", (2, 2, 3, 4), 3, (3, 3), (2, 2), bias=False),
        _sample("stride 1", (2, 3, 4, 5), 2, (3, 2), padding=(2, 1)),
        _sample("kernel 1", (2, 3, 3, 4), 2, (1, 1)),
        _sample("kernel 1, stride 3", (2, 3, 3, 4), 2, (1, 1), (3, 3), added=(2, 1)),
        _sample("stride above kernel", (1, 2, 3, 4), 2, (2, 3), (5, 4), added=(4, 0)),
        _sample("stride above kernel, no bias", (1, 2, 3, 4), 2, (2, 3), (5, 4), (1, 2), bias=False),
        _sample("padding of the kernel", (1, 2, 4, 4), 2, (2, 3), (2, 2), (2, 3), (1, 0)),
        _sample("sizes 1", (1, 1, 1, 1), 1, (1, 1)),
        _sample("one pixel", (2, 3, 1, 1), 2, (4, 3), (2, 2)),
        _sample("empty", (0, 3, 4, 3), 2, (3, 3), (2, 3), (1, 2), (1, 2)),
        _sample("many channels", (2, 35, 7, 9), 33, (4, 4), (2, 2), (1, 1), small=False),
        _sample("wide image", (1, 5, 11, 70), 3, (5, 4), (3, 2), (2, 1), (2, 1), small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=phase)
            for phase in _PHASES
            for name, change in _GEOMETRY
        ),
        *_IMAGE_ERROR_INPUTS,
    ),
    rows=(
        Row(
            "SpatialFullConvolution 4x4 stride 2 128-64 at 14, batch 8",
            _sample("row", (8, 128, 14, 14), 64, (4, 4), (2, 2), (1, 1)),
            ratio=1.0,
            fraction=0.9,
            flops=flops(8 * 128 * 14 * 14 * 64 * 16),
        ),
    ),
)

SPATIAL_FULL_DILATED_CONVOLUTION = Case(
    module="SpatialFullDilatedConvolution",
    reference=_full_dilated,
    samples=(
        _sample("batch", (2, 3, 4, 3), 2, (3, 3), (2, 3), (1, 2), (1, 2), (2, 1)),
        _sample("batchless", (3, 4, 5), 2, (2, 3), (1, 2), (0, 1), (0, 1), (3, 2)),
        _sample("no bias", (2, 2, 3, 4), 3, (3, 3), (2, 2), dilation=(2, 3), bias=False),
        _sample("dilation 1", (2, 3, 4, 5), 2, (3, 2), (2, 1), (2, 1), dilation=(1, 1)),
        _sample("adj below the dilation", (2, 2, 4, 3), 3, (2, 3), (1, 2), (1, 1), (2, 3), (3, 4)),
        _sample("adj below the dilation, stride 1", (1, 2, 3, 4), 2, (3, 2), None, (1, 2), (1, 3), (2, 4)),
        _sample("kernel 1", (2, 3, 3, 4), 2, (1, 1), (2, 1), added=(1, 2), dilation=(2, 3)),
        _sample(
            "stride and dilation with a divisor", (1, 2, 4, 5), 2, (3, 4), (4, 6), (3, 5), (1, 2), (6, 4)
        ),
        _sample("dilation above the image", (1, 2, 2, 3), 2, (2, 3), (2, 1), (1, 4), dilation=(7, 5)),
        _sample("empty", (0, 3, 4, 3), 2, (3, 3), (2, 3), (1, 2), (1, 2), (2, 1)),
        _sample("many channels", (2, 35, 7, 9), 18, (3, 3), (2, 2), (2, 2), (1, 1), (2, 2), small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=phase)
            for phase in _PHASES
            for name, change in (
                *_GEOMETRY,
                ("dilation 0", {"dilationH": 0}),
                ("huge dilation", {"dilationH": 2**31 - 1, "dilationW": 2**31 - 1}),
            )
            if name != "adj of the stride"
        ),
        *(
            ErrorInput("adj of stride and dilation", {"adjW": 2}, ValueError, "adjW", phase=phase)
            for phase in _PHASES
        ),
        *_IMAGE_ERROR_INPUTS,
    ),
    rows=(
        Row(
            "SpatialFullDilatedConvolution 3x3 dilation 2 64-64 at 28, batch 4",
            _sample("row", (4, 64, 28, 28), 64, (3, 3), (1, 1), (2, 2), dilation=(2, 2)),
            flops=flops(4 * 64 * 28 * 28 * 64 * 9),
        ),
    ),
)

_VOLUME_GEOMETRY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("stride 0", {"dT": 0}),
    ("stride below 0", {"dW": -1}),
    ("padding below 0", {"pH": -1}),
    ("padding that leaves nothing", {"pT": 20}),
    ("adj below 0", {"aT": -1}),
    ("adj of the stride", {"aT": 2}),
    ("huge adj", {"aH": 2**31 - 1}),
    ("an output beyond memory", {"dT": 2**31 - 1, "dW": 2**31 - 1, "dH": 2**31 - 1}),
)
_VOLUME_ERROR_INPUTS = (
    ErrorInput("input an image", {"input": normal(3, 4, 3)}, ValueError, "input"),
    ErrorInput("no channels", {"input": normal(2, 0, 2, 3, 3)}, ValueError, "input"),
    ErrorInput("other channels", {"input": normal(2, 2, 2, 3, 3)}, ValueError, "weight"),
    ErrorInput("weight of four dimensions", {"weight": normal(3, 2, 3, 3)}, ValueError, "weight"),
    ErrorInput("channels exchanged", {"weight": normal(2, 3, 2, 3, 2)}, ValueError, "weight"),
    ErrorInput("a kernel without depth", {"weight": normal(3, 2, 0, 3, 2)}, ValueError, "weight"),
    ErrorInput("bias of the input channels", {"bias": normal(3)}, ValueError, "bias"),
    ErrorInput(
        "gradOutput as input", {"gradOutput": normal(2, 3, 2, 3, 3)}, ValueError, phase="updateGradInput"
    ),
    ErrorInput(
        "gradBias of the input channels", {"gradBias": normal(3)}, ValueError, phase="accGradParameters"
    ),
)

VOLUMETRIC_FULL_CONVOLUTION = Case(
    module="VolumetricFullConvolution",
    reference=_volumetric_full,
    any_size={"weight": (2, 3, 4)},
    samples=(
        _sample("batch", (2, 3, 2, 3, 3), 2, (2, 2, 3), (2, 1, 3), (1, 0, 1), (1, 0, 2)),
        _sample("batchless", (2, 3, 2, 4), 2, (3, 2, 1), (1, 2, 2), (1, 0, 0), (0, 1, 1)),
        _sample("no bias", (1, 2, 2, 3, 2), 3, (2, 3, 2), (2, 2, 2), bias=False),
        _sample("stride above kernel", (1, 2, 2, 2, 3), 2, (2, 1, 2), (3, 4, 3), added=(2, 0, 1)),
        _sample("stride 1", (1, 2, 3, 3, 2), 2, (2, 3, 2), padding=(1, 1, 0)),
        _sample("kernel 1", (2, 3, 2, 2, 3), 2, (1, 1, 1), (1, 2, 1)),
        _sample("empty", (0, 3, 2, 3, 3), 2, (2, 2, 3), (2, 1, 3), (1, 0, 1), (1, 0, 2)),
        _sample("many channels", (2, 34, 3, 5, 4), 17, (3, 4, 4), (1, 2, 2), (1, 1, 1), small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=phase)
            for phase in _PHASES
            for name, change in _VOLUME_GEOMETRY
        ),
        *_VOLUME_ERROR_INPUTS,
    ),
    rows=(
        Row(
            "VolumetricFullConvolution 4x4x4 stride 2 32-16 at 4x14x14, batch 2",
            _sample("row", (2, 32, 4, 14, 14), 16, (4, 4, 4), (2, 2, 2), (1, 1, 1)),
            flops=flops(2 * 32 * 4 * 14 * 14 * 16 * 64),
        ),
    ),
)

VOLUMETRIC_FULL_DILATED_CONVOLUTION = Case(
    module="VolumetricFullDilatedConvolution",
    reference=_volumetric_full_dilated,
    any_size={"weight": (2, 3, 4)},
    samples=(
        _sample("batch", (2, 3, 2, 3, 3), 2, (2, 2, 3), (2, 1, 3), (1, 0, 1), (1, 0, 2), (2, 2, 1)),
        _sample("batchless", (2, 3, 2, 4), 2, (3, 2, 1), (1, 2, 2), (1, 0, 0), (0, 1, 1), (2, 1, 3)),
        _sample("no bias", (1, 2, 2, 3, 2), 3, (2, 3, 2), (2, 2, 2), dilation=(1, 2, 3), bias=False),
        _sample(
            "adj below the dilation", (1, 2, 3, 2, 3), 2, (2, 3, 2), None, (1, 1, 0), (1, 2, 3), (2, 3, 4)
        ),
        _sample("kernel 1", (2, 3, 2, 2, 3), 2, (1, 1, 1), (1, 2, 1), dilation=(2, 3, 1)),
        _sample("empty", (0, 3, 2, 3, 3), 2, (2, 2, 3), (2, 1, 3), (1, 0, 1), (1, 0, 2), (2, 2, 1)),
        _sample(
            "many channels", (2, 17, 3, 5, 4), 33, (2, 3, 3), None, (1, 2, 2), None, (1, 2, 2), small=False
        ),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=phase)
            for phase in _PHASES
            for name, change in (
                *(g for g in _VOLUME_GEOMETRY if g[0] != "adj of the stride"),
                ("adj of stride and dilation", {"aT": 2}),
                ("dilation 0", {"dilationT": 0}),
                ("huge dilation", {"dilationT": 2**31 - 1, "dilationW": 2**31 - 1, "dilationH": 2**31 - 1}),
            )
        ),
        *_VOLUME_ERROR_INPUTS,
    ),
    rows=(
        Row(
            "VolumetricFullDilatedConvolution 3x3x3 dilation 2 32-32 at 6x14x14, batch 2",
            _sample("row", (2, 32, 6, 14, 14), 32, (3, 3, 3), None, (2, 2, 2), None, (2, 2, 2)),
            flops=flops(2 * 32 * 6 * 14 * 14 * 32 * 27),
        ),
    ),
)
