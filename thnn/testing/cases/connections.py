"""Convolutions with a connection table: SpatialConvolutionMap and SpatialFullConvolutionMap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import given, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def _dense(weight: Tensor, table: Tensor, inputs: int, outputs: int) -> Tensor:
    """Filters (outputs, inputs, kH, kW), 0 for pairs of channels without a connection."""
    pairs = table.to(torch.int64)
    places = pairs[:, 1] * inputs + pairs[:, 0]
    filters = weight.new_zeros(outputs * inputs, *weight.shape[1:]).index_add(0, places, weight)
    return filters.unflatten(0, (outputs, inputs))


def _map(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    connTable: Tensor,
    nInputPlane: int,
    nOutputPlane: int,
    dW: int,
    dH: int,
) -> Tensor:
    filters = _dense(weight, connTable, nInputPlane, nOutputPlane)
    return F.conv2d(input, filters, bias, (dH, dW))


def _full_map(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    connTable: Tensor,
    nInputPlane: int,
    nOutputPlane: int,
    dW: int,
    dH: int,
) -> Tensor:
    filters = _dense(weight, connTable, nInputPlane, nOutputPlane).transpose(0, 1)
    return F.conv_transpose2d(input, filters, bias, (dH, dW))


def _sample(
    name: str,
    shape: tuple[int, ...],
    outputs: int,
    kernel: tuple[int, int],
    table: Sequence[tuple[int, int]],
    stride: tuple[int, int] = (1, 1),
    small: bool = True,
) -> SampleInput:
    """Kernel and stride are (width, height); the table has pairs (input channel, output channel)."""
    arguments: dict[str, Any] = {
        "input": normal(*shape),
        "weight": normal(len(table), kernel[1], kernel[0]),
        "bias": normal(outputs),
        "connTable": given(table) if table else normal(0, 2),
        "nInputPlane": shape[-3],
        "nOutputPlane": outputs,
        "dW": stride[0],
        "dH": stride[1],
    }
    return SampleInput(name, arguments, differentiable=small)


def _every(step: int, inputs: int, outputs: int) -> list[tuple[int, int]]:
    return [(i, o) for o in range(outputs) for i in range(inputs) if (i + o) % step == 0]


_TABLE = [(0, 1), (2, 0), (1, 3), (2, 3), (0, 0), (1, 1)]
_SAMPLES = (
    _sample("batch", (2, 3, 5, 6), 4, (2, 3), _TABLE, (1, 2)),
    _sample("batchless", (3, 5, 4), 4, (3, 2), _TABLE, (2, 1)),
    _sample("full table", (2, 2, 4, 5), 3, (2, 2), _every(1, 2, 3)),
    _sample("one to one", (1, 3, 4, 5), 3, (3, 2), _every(4, 3, 3)),
    _sample("repeated connections", (1, 2, 4, 4), 2, (2, 2), [(1, 0), (1, 0), (0, 1), (1, 0)]),
    _sample("a single connection", (2, 3, 4, 4), 3, (2, 3), [(2, 1)], (2, 1)),
    _sample("stride above kernel", (1, 2, 9, 8), 2, (2, 1), _every(2, 2, 2), (3, 4)),
    _sample("last columns unused", (1, 2, 6, 7), 2, (2, 3), _every(1, 2, 2), (2, 2)),
    _sample("kernel 1", (2, 3, 3, 4), 4, (1, 1), _TABLE),
    _sample("kernel of the image", (2, 3, 4, 5), 4, (5, 4), _TABLE),
    _sample("sizes 1", (1, 1, 1, 1), 1, (1, 1), [(0, 0)]),
    _sample("no connections", (2, 3, 4, 5), 2, (2, 2), [], small=False),
    _sample("empty", (0, 3, 5, 6), 4, (2, 3), _TABLE, (1, 2)),
    _sample("many channels", (2, 37, 9, 11), 19, (3, 3), _every(3, 37, 19), small=False),
    _sample("large kernel", (1, 3, 14, 17), 4, (13, 11), _TABLE, (2, 1), small=False),
    _sample("many connections", (1, 129, 3, 2), 130, (1, 1), _every(1, 129, 130), small=False),
    _sample("wide images", (1, 2, 5, 9001), 2, (3, 2), _every(1, 2, 2), (2, 1), small=False),
)

_GEOMETRY = (
    ("stride 0", {"dW": 0}),
    ("stride below 0", {"dH": -1}),
    ("no input channels", {"nInputPlane": 0}),
    ("other input channels", {"nInputPlane": 2}),
    ("no output channels", {"nOutputPlane": 0}),
    ("output channels far below 0", {"nOutputPlane": -(2**31)}),
    ("other output channels", {"nOutputPlane": 5}),
    ("a table of three columns", {"connTable": normal(6, 3)}),
    ("a table of one dimension", {"connTable": normal(12)}),
)
_PLANES = (
    ("input channel -1", [-1, 0]),
    ("input channel 3", [3, 0]),
    ("output channel -1", [0, -1]),
    ("output channel 4", [0, 4]),
    ("half a channel", [0.5, 0]),
    ("output channel NaN", [0, math.nan]),
    ("input channel infinite", [math.inf, 0]),
    ("input channel 2**31", [2.0**31, 0]),
)
_PHASES = ("updateOutput", "updateGradInput", "accGradParameters")
_ERROR_INPUTS = (
    *(ErrorInput(name, change, ValueError, phase=p) for p in _PHASES for name, change in _GEOMETRY),
    *(
        ErrorInput(name, {"connTable": given([*_TABLE[:5], row])}, IndexError, "connTable", p)
        for p in _PHASES
        for name, row in _PLANES
    ),
    ErrorInput("input a matrix", {"input": normal(5, 6)}, ValueError, "input"),
    ErrorInput("no pixels", {"input": normal(2, 3, 0, 6)}, ValueError, "input"),
    ErrorInput("weight of four dimensions", {"weight": normal(6, 1, 3, 2)}, ValueError, "weight"),
    ErrorInput("weight without kernel elements", {"weight": normal(6, 3, 0)}, ValueError, "weight"),
    ErrorInput("a kernel too many", {"weight": normal(7, 3, 2)}, ValueError, "connTable"),
    ErrorInput("bias of one", {"bias": normal(1)}, ValueError, "bias"),
)


def _row(name: str) -> Row:
    table = _every(4, 64, 64)
    return Row(
        f"{name} 3x3 64-64, {len(table)} connections, at 28, batch 8",
        _sample("row", (8, 64, 28, 28), 64, (3, 3), table),
    )


SPATIAL_CONVOLUTION_MAP = Case(
    module="SpatialConvolutionMap",
    reference=_map,
    samples=_SAMPLES,
    error_inputs=(
        *_ERROR_INPUTS,
        ErrorInput("kernel larger than the image", {"weight": normal(6, 6, 2)}, ValueError, "input"),
    ),
    any_size={"weight": (1, 2)},
    rows=(_row("SpatialConvolutionMap"),),
)

SPATIAL_FULL_CONVOLUTION_MAP = Case(
    module="SpatialFullConvolutionMap",
    reference=_full_map,
    samples=_SAMPLES,
    error_inputs=(
        *_ERROR_INPUTS,
        ErrorInput(
            "an output that memory cannot hold", {"dW": 2**31 - 1, "dH": 2**31 - 1}, ValueError, "input"
        ),
    ),
    any_size={"weight": (1, 2)},
    rows=(_row("SpatialFullConvolutionMap"),),
)
