"""Convolutions of sequences."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import flops, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def _temporal(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    kW: int,
    dW: int,
    inputFrameSize: int,
    outputFrameSize: int,
) -> Tensor:
    filters = weight.reshape(outputFrameSize, kW, inputFrameSize).transpose(1, 2)
    return F.conv1d(input.transpose(-1, -2), filters, bias, dW).transpose(-1, -2)


def _sample(
    name: str, shape: tuple[int, ...], features: int, kW: int, dW: int = 1, small: bool = True
) -> SampleInput:
    arguments: dict[str, Any] = {
        "input": normal(*shape),
        "weight": normal(features, kW * shape[-1]),
        "bias": normal(features),
        "kW": kW,
        "dW": dW,
        "inputFrameSize": shape[-1],
        "outputFrameSize": features,
    }
    return SampleInput(name, arguments, differentiable=small)


_PHASES = ("updateOutput", "updateGradInput", "accGradParameters")

TEMPORAL_CONVOLUTION = Case(
    module="TemporalConvolution",
    reference=_temporal,
    samples=(
        _sample("batch", (2, 7, 3), 4, 3, 2),
        _sample("batchless", (6, 3), 2, 2),
        _sample("kernel 1", (2, 4, 3), 2, 1),
        _sample("kernel 1, stride 2", (2, 5, 3), 2, 1, 2),
        _sample("stride above kernel", (2, 11, 2), 3, 2, 4),
        _sample("last frames unused", (2, 8, 2), 3, 3, 2),
        _sample("kernel of the sequence", (2, 4, 3), 2, 4),
        _sample("one feature", (2, 5, 1), 1, 2),
        _sample("empty", (0, 7, 3), 4, 3, 2),
        _sample("many features", (3, 19, 35), 37, 5, small=False),
        _sample("long", (2, 300, 5), 3, 7, 3, small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=phase)
            for phase in _PHASES
            for name, change in (
                ("kernel 0", {"kW": 0}),
                ("kernel below 0", {"kW": -2}),
                ("stride 0", {"dW": 0}),
                ("stride below 0", {"dW": -1}),
                ("huge kernel", {"kW": 2**31 - 1}),
                ("kernel that weight does not have", {"kW": 2}),
                ("input a vector", {"input": normal(7)}),
                ("no features", {"input": normal(2, 7, 0)}),
                ("no frames", {"input": normal(2, 0, 3)}),
                ("a sequence shorter than the kernel", {"input": normal(2, 2, 3)}),
                ("other features", {"input": normal(2, 7, 4)}),
            )
        ),
        ErrorInput("other inputFrameSize", {"inputFrameSize": 4}, ValueError, "input"),
        ErrorInput("other outputFrameSize", {"outputFrameSize": 3}, ValueError, "weight"),
        ErrorInput("weight of three dimensions", {"weight": normal(4, 3, 3)}, ValueError, "weight"),
        ErrorInput("bias of one", {"bias": normal(1)}, ValueError, "bias"),
        ErrorInput("no bias", {"bias": None}, TypeError, "bias"),
        ErrorInput("gradOutput batchless", {"gradOutput": normal(3, 4)}, ValueError, phase="updateGradInput"),
        ErrorInput("gradBias of one", {"gradBias": normal(1)}, ValueError, phase="accGradParameters"),
    ),
    rows=(
        Row(
            "TemporalConvolution k5 64-128 at 256, batch 16",
            _sample("row", (16, 256, 64), 128, 5),
            ratio=1.0,
            fraction=0.9,
            flops=flops(16 * 252 * 64 * 128 * 5),
        ),
    ),
)


def _rows(
    input: Tensor,
    weight: Tensor,
    kW: int,
    dW: int,
    padW: int,
    featFirst: bool,
    bias: Tensor | None = None,
) -> Tensor:
    if not featFirst:
        return _rows(input.transpose(-1, -2), weight, kW, dW, padW, True, bias).transpose(-1, -2)
    return F.conv1d(input, weight, bias, dW, padW, groups=weight.shape[0])


def _row_sample(
    name: str,
    shape: tuple[int, ...],
    kW: int,
    dW: int = 1,
    padW: int = 0,
    featFirst: bool = True,
    bias: bool = True,
    small: bool = True,
) -> SampleInput:
    features = shape[-2] if featFirst else shape[-1]
    arguments: dict[str, Any] = {
        "input": normal(*shape),
        "weight": normal(features, 1, kW),
        "kW": kW,
        "dW": dW,
        "padW": padW,
        "featFirst": featFirst,
    }
    if bias:
        arguments["bias"] = normal(features)
    return SampleInput(name, arguments, differentiable=small)


TEMPORAL_ROW_CONVOLUTION = Case(
    module="TemporalRowConvolution",
    reference=_rows,
    samples=(
        _row_sample("batch", (2, 4, 7), 3, 2, 1),
        _row_sample("batchless", (3, 6), 2),
        _row_sample("time first", (2, 7, 4), 3, 2, 1, featFirst=False),
        _row_sample("time first, batchless", (6, 3), 2, featFirst=False),
        _row_sample("no bias", (2, 3, 5), 3, bias=False),
        _row_sample("padding beyond the kernel", (2, 3, 4), 2, 1, 4),
        _row_sample("kernel 1", (2, 3, 4), 1),
        _row_sample("stride above kernel", (2, 3, 11), 2, 4),
        _row_sample("last columns unused", (2, 3, 8), 3, 2, featFirst=False),
        _row_sample("one feature", (2, 1, 6), 3),
        _row_sample("empty", (0, 4, 7), 3, 2, 1),
        _row_sample("many features", (2, 37, 50), 5, 1, 2, small=False),
        _row_sample("many features, time first", (2, 50, 37), 5, 1, 2, featFirst=False, small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=phase)
            for phase in _PHASES
            for name, change in (
                ("kernel 0", {"kW": 0}),
                ("stride 0", {"dW": 0}),
                ("stride below 0", {"dW": -1}),
                ("padding below 0", {"padW": -1}),
                ("huge kernel", {"kW": 2**31 - 1}),
                ("kernel that weight does not have", {"kW": 2}),
                ("features last", {"featFirst": False}),
                ("input a vector", {"input": normal(7)}),
                ("no features", {"input": normal(2, 0, 7)}),
                ("a sequence shorter than the kernel", {"input": normal(2, 4, 1), "padW": 0}),
                ("other features", {"input": normal(2, 3, 7)}),
            )
        ),
        ErrorInput("weight a matrix", {"weight": normal(4, 3)}, ValueError, "weight"),
        ErrorInput("filters of two features", {"weight": normal(4, 2, 3)}, ValueError, "weight"),
        ErrorInput("bias of one", {"bias": normal(1)}, ValueError, "bias"),
        ErrorInput("gradOutput batchless", {"gradOutput": normal(4, 4)}, ValueError, phase="updateGradInput"),
        ErrorInput("gradBias of one", {"gradBias": normal(1)}, ValueError, phase="accGradParameters"),
    ),
    rows=(
        Row(
            "TemporalRowConvolution k3 256 at 512, batch 8",
            _row_sample("row", (8, 256, 512), 3, 1, 1),
            flops=flops(8 * 256 * 512 * 3),
        ),
    ),
)
