"""Maxima and averages of windows that slide over images, and averages of windows that slide over volumes."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import along, classes, distinct, expanded, given, normal, whole
from thnn.testing.cases.model import Case, ErrorInput, Maker, Row, SampleInput


def _size(size: int, span: int, stride: int, padding: int, ceil_mode: bool, padded: bool) -> int:
    room = size + 2 * padding - span
    out = (math.ceil(room / stride) if ceil_mode else room // stride) + 1
    return out - 1 if padded and (out - 1) * stride >= size + padding else out


def _windows(
    input: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    ceil_mode: bool,
    dilationW: int = 1,
    dilationH: int = 1,
) -> tuple[Tensor, Tensor, Tensor]:
    """Rows (oH, kH) and columns (oW, kW) that the windows read, and their elements (..., oH, oW, kH*kW).

    A row or column outside the image has a negative index or one beyond the size; its elements are undefined.
    """
    H, W = input.shape[-2:]
    padded = padW > 0 or padH > 0
    span_h, span_w = dilationH * (kH - 1) + 1, dilationW * (kW - 1) + 1
    starts_h = torch.arange(_size(H, span_h, dH, padH, ceil_mode, padded)) * dH - padH
    starts_w = torch.arange(_size(W, span_w, dW, padW, ceil_mode, padded)) * dW - padW
    rows = starts_h[:, None] + torch.arange(kH) * dilationH
    columns = starts_w[:, None] + torch.arange(kW) * dilationW
    seen = input[..., rows.clamp(0, H - 1), :][..., columns.clamp(0, W - 1)]
    return rows, columns, seen.transpose(-2, -3).flatten(-2)


def _cross(rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """Row and column of each element of the windows, (oH, oW, kH*kW)."""
    shape = (rows.shape[0], columns.shape[0], rows.shape[1], columns.shape[1])
    return (
        rows[:, None, :, None].expand(shape).flatten(-2),
        columns[None, :, None, :].expand(shape).flatten(-2),
    )


def _max_pooling(
    input: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    dilationW: int = 1,
    dilationH: int = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, dict[str, Tensor]]:
    H, W = input.shape[-2:]
    rows, columns, seen = _windows(input, kW, kH, dW, dH, padW, padH, ceil_mode, dilationW, dilationH)
    row, column = _cross(rows, columns)
    inside = (row >= 0) & (row < H) & (column >= 0) & (column < W)
    # argmax returns the first of equal values and treats NaN as the largest, but the last NaN wins; where -inf wins, it
    # may select padding.
    best = seen.masked_fill(~inside, -math.inf).argmax(-1, keepdim=True)
    first = inside.to(torch.uint8).argmax(-1, keepdim=True).expand_as(best)
    best = torch.where(seen.gather(-1, best) == -math.inf, first, best)
    best = torch.where(inside.expand_as(seen).gather(-1, best), best, first)
    nan = seen.isnan() & inside
    last_nan = nan.shape[-1] - 1 - nan.flip(-1).to(torch.uint8).argmax(-1, keepdim=True)
    best = torch.where(nan.any(-1, keepdim=True), last_nan, best)
    nothing = ~inside.any(-1)
    position = (row * W + column).expand_as(seen).gather(-1, best).squeeze(-1)
    output = seen.gather(-1, best).squeeze(-1)
    lowest = torch.finfo(input.dtype).min
    return output.masked_fill(nothing, lowest), {"indices": position.masked_fill(nothing, -1)}


def _average_pooling(
    input: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    H, W = input.shape[-2:]
    rows, columns, seen = _windows(input, kW, kH, dW, dH, padW, padH, ceil_mode)
    row, column = _cross(rows, columns)
    inside = (row >= 0) & (row < H) & (column >= 0) & (column < W)
    counted = inside
    if count_include_pad:
        counted = (row < H + padH) & (column < W + padW)
    total = torch.where(inside, seen, 0).sum(-1)
    return total / counted.sum(-1).clamp(min=1)


def _sample(
    name: str,
    input: Maker,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int] = (0, 0),
    small: bool = True,
    **flags: bool,
) -> SampleInput:
    """Kernel, stride and padding are (width, height)."""
    scalars: dict[str, Any] = {"kW": kernel[0], "kH": kernel[1], "dW": stride[0], "dH": stride[1]}
    scalars |= {"padW": padding[0], "padH": padding[1], **flags}
    return SampleInput(name, {"input": input, **scalars}, differentiable=small)


_NOT_FINITE = [[[math.nan, 1, 2, math.inf], [0, -math.inf, 3, 1], [-1, 0, 1, 2]]]

_SAMPLES = (
    _sample("batch", distinct(2, 3, 6, 7), (3, 2), (2, 1), (1, 1)),
    _sample("batchless", distinct(3, 5, 6), (2, 2), (2, 2)),
    _sample("ceil_mode", distinct(2, 2, 6, 5), (2, 3), (2, 2), ceil_mode=True),
    _sample("ceil_mode, padding", distinct(2, 2, 6, 5), (3, 2), (2, 3), (1, 1), ceil_mode=True),
    _sample(
        "ceil_mode, last window in the padding", distinct(1, 2, 5, 5), (2, 2), (3, 3), (1, 1), ceil_mode=True
    ),
    _sample("ceil_mode, padding of one axis", distinct(1, 2, 5, 6), (2, 1), (3, 4), (1, 0), ceil_mode=True),
    _sample("windows without elements", distinct(1, 2, 5, 6), (1, 1), (3, 4), ceil_mode=True),
    _sample("stride above kernel", distinct(1, 2, 7, 8), (2, 1), (3, 4)),
    _sample("overlap", distinct(1, 2, 5, 6), (4, 3), (1, 1), (2, 1)),
    _sample("kernel 1", distinct(2, 2, 3, 4), (1, 1), (1, 1)),
    _sample("kernel of the image", distinct(2, 2, 4, 5), (5, 4), (1, 1)),
    _sample("kernel of the padded image", distinct(2, 2, 2, 3), (5, 4), (1, 1), (1, 1)),
    _sample("one row", distinct(2, 2, 1, 7), (3, 1), (2, 1), (1, 0)),
    _sample("one column", distinct(2, 2, 7, 1), (1, 2), (1, 3)),
    _sample("sizes 1", distinct(1, 1, 1, 1), (1, 1), (1, 1)),
    _sample("empty", distinct(0, 3, 5, 6), (2, 2), (2, 2)),
    _sample("stride far above the image", distinct(1, 2, 5, 6), (2, 3), (2**31 - 1, 2**31 - 1)),
    _sample("2x2, stride 2", normal(2, 19, 22, 38), (2, 2), (2, 2), small=False),
    _sample("3x3, stride 2, padding 1", normal(3, 18, 29, 45), (3, 3), (2, 2), (1, 1), small=False),
    _sample("5x4, side by side", normal(2, 19, 12, 15), (5, 4), (5, 4), small=False),
    _sample("7x7, one window", normal(2, 70, 7, 7), (7, 7), (1, 1), small=False),
    _sample("5x5, stride 1, padding 2", normal(2, 40, 11, 12), (5, 5), (1, 1), (2, 2), small=False),
    _sample("5x3, stride 3", normal(1, 3, 150, 131), (5, 3), (3, 3), (2, 1), small=False),
    _sample("not finite", given(_NOT_FINITE), (2, 2), (1, 1), small=False),
    _sample("only NaN", given([[[math.nan] * 4] * 3]), (2, 2), (1, 1), (1, 1), small=False),
)

_GEOMETRY = (
    ("kernel 0", {"kW": 0}),
    ("kernel below 0", {"kH": -3}),
    ("stride 0", {"dH": 0}),
    ("stride below 0", {"dW": -1}),
    ("padding below 0", {"padW": -1}),
    ("padding far below 0", {"padH": -(2**31)}),
    ("padding above half the kernel", {"padW": 2}),
    ("padding far above the kernel", {"padH": 2**31 - 1, "padW": 2**31 - 1}),
    ("kernel larger than the padded image", {"kH": 9}),
    ("huge kernel", {"kW": 2**31 - 1}),
)
_ERROR_INPUTS = (
    *(ErrorInput(name, change, ValueError) for name, change in _GEOMETRY),
    *(ErrorInput(name, change, ValueError, phase="updateGradInput") for name, change in _GEOMETRY),
    ErrorInput("a matrix", {"input": distinct(6, 7)}, ValueError, "input"),
    ErrorInput("five dimensions", {"input": distinct(1, 2, 3, 6, 7)}, ValueError, "input"),
    ErrorInput("no pixels", {"input": distinct(2, 3, 0, 7)}, ValueError),
    ErrorInput("no planes", {"input": distinct(2, 0, 6, 7)}, ValueError),
    ErrorInput("too large", {"input": expanded(2**20, 2**20, 6, 7)}, ValueError),
    ErrorInput("gradOutput batchless", {"gradOutput": normal(3, 7, 4)}, ValueError, phase="updateGradInput"),
)


def _indices(*shape: int, at: tuple[int, ...] = (1, 2, 3, 0), value: int) -> Maker:
    def maker(generator: torch.Generator) -> Tensor:
        indices = classes(*shape, count=42)(generator)
        indices[at] = value
        return indices

    return maker


def _bytes(shape: tuple[int, ...], stride: int, index_bytes: int) -> dict[str, float]:
    """Read the input, write the output and its indices; read the gradient and the indices, write gradInput."""
    N, C, H, W = shape
    image, pooled = N * C * H * W, N * C * math.ceil(H / stride) * math.ceil(W / stride)
    forward = 4.0 * image + (4 + index_bytes) * pooled
    return {"fwd": forward, "fb": 2 * forward}


def _row(
    name: str, shape: tuple[int, ...], kernel: int, stride: int, padding: int, goals: dict[str, float]
) -> Row:
    return Row(
        f"{name} {kernel}x{kernel} s{stride}{f' p{padding}' if padding else ''} ({','.join(map(str, shape))})",
        _sample("row", normal(*shape), (kernel, kernel), (stride, stride), (padding, padding)),
        bytes_moved=_bytes(shape, stride, 8 if "Max" in name else 0),
        **goals,  # type: ignore[arg-type]
    )


_MAX_GOALS = {"ratio": 12, "fraction": 0.45, "best": 1.3, "channels_last": 1.1}

SPATIAL_MAX_POOLING = Case(
    module="SpatialMaxPooling",
    reference=_max_pooling,
    baseline=lambda input, kW, kH, dW, dH, padW, padH, ceil_mode=False: F.max_pool2d(
        input, (kH, kW), (dH, dW), (padH, padW), 1, ceil_mode
    ),
    samples=(
        *_SAMPLES,
        _sample("equal values", whole(2, 3, 6, 7), (3, 2), (2, 1), (1, 1), small=False),
        _sample("all equal", whole(2, 2, 5, 6, high=1), (3, 3), (1, 1), (1, 1), small=False),
        _sample("only -inf", given([[[-math.inf] * 4] * 3]), (2, 3), (1, 1), (1, 1), small=False),
    ),
    error_inputs=(
        *_ERROR_INPUTS,
        *(
            ErrorInput(
                f"index {i}",
                {"indices": _indices(2, 3, 7, 4, value=i)},
                IndexError,
                "indices",
                "updateGradInput",
            )
            for i in (42, -2, 2**31, 2**32 + 1, 2**62, -(2**63))
        ),
        ErrorInput(
            "first index out of the plane",
            {"indices": _indices(2, 3, 7, 4, at=(0, 0, 0, 0), value=42)},
            IndexError,
            "indices",
            "updateGradInput",
        ),
    ),
    rows=(
        _row("SpatialMaxPooling", (8, 64, 112, 112), 3, 2, 1, _MAX_GOALS),
        _row("SpatialMaxPooling", (32, 64, 56, 56), 2, 2, 0, _MAX_GOALS),
        _row("SpatialMaxPooling", (8, 256, 20, 20), 5, 1, 2, {"ratio": 8}),
    ),
)


def _dilated(
    sample: SampleInput, width: int = 1, height: int = 1, name: str = "", **changes: Any
) -> SampleInput:
    arguments = {**sample.arguments, "dilationW": width, "dilationH": height, **changes}
    return SampleInput(name or sample.name, arguments, sample.differentiable)


_DILATED_ROW = _sample("row", normal(8, 64, 56, 56), (3, 3), (2, 2), (1, 1))

SPATIAL_DILATED_MAX_POOLING = Case(
    module="SpatialDilatedMaxPooling",
    reference=_max_pooling,
    baseline=lambda input, kW, kH, dW, dH, padW, padH, dilationW, dilationH, ceil_mode=False: F.max_pool2d(
        input, (kH, kW), (dH, dW), (padH, padW), (dilationH, dilationW), ceil_mode
    ),
    samples=(
        *(_dilated(s) for s in SPATIAL_MAX_POOLING.samples),
        _dilated(_sample("dilation", distinct(2, 3, 8, 9), (3, 2), (2, 1), (1, 1)), 2, 3),
        _dilated(
            _sample("dilation, ceil_mode", distinct(1, 2, 8, 9), (3, 2), (2, 3), (1, 1), ceil_mode=True), 3, 2
        ),
        _dilated(_sample("dilation and padding 2", distinct(1, 2, 9, 10), (4, 5), (2, 1), (2, 2)), 3, 2),
        _dilated(
            _sample(
                "dilation and stride with a common factor",
                whole(2, 19, 13, 12),
                (3, 2),
                (2, 4),
                (1, 1),
                small=False,
            ),
            2,
            2,
        ),
        _dilated(_sample("windows in the padding", distinct(2, 17, 2, 5), (2, 2), (1, 1), (1, 1)), 1, 3),
        _dilated(
            _sample("dilation, many rows", normal(2, 17, 29, 45), (3, 3), (2, 2), (1, 1), small=False), 2, 2
        ),
    ),
    error_inputs=(
        *SPATIAL_MAX_POOLING.error_inputs,
        *(
            ErrorInput(f"{name} {value}", {name: value}, ValueError, phase=p)
            for p in ("updateOutput", "updateGradInput")
            for name in ("dilationW", "dilationH")
            for value in (0, -1, 9, 2**31 - 1)
        ),
    ),
    rows=(
        Row(
            "SpatialDilatedMaxPooling 3x3 s2 p1 d2 (8,64,56,56)",
            _dilated(_DILATED_ROW, 2, 2),
            bytes_moved=_bytes((8, 64, 56, 56), 2, 8),
        ),
    ),
)

SPATIAL_AVERAGE_POOLING = Case(
    module="SpatialAveragePooling",
    reference=_average_pooling,
    baseline=lambda input, kW, kH, dW, dH, padW, padH, ceil_mode=False, count_include_pad=True: F.avg_pool2d(
        input, (kH, kW), (dH, dW), (padH, padW), ceil_mode, count_include_pad
    ),
    samples=(
        *_SAMPLES,
        *(
            SampleInput(
                f"{s.name}, padding not counted",
                {**s.arguments, "count_include_pad": False},
                s.differentiable,
            )
            for s in _SAMPLES
            if s.arguments["padW"] or s.arguments["padH"]
        ),
    ),
    error_inputs=_ERROR_INPUTS,
    rows=(
        _row(
            "SpatialAveragePooling",
            (32, 64, 56, 56),
            2,
            2,
            0,
            {"ratio": 8, "fraction": 0.45, "best": 1.2, "channels_last": 1.1},
        ),
        _row("SpatialAveragePooling", (8, 128, 28, 28), 3, 1, 1, {"ratio": 10, "fraction": 0.35}),
        _row("SpatialAveragePooling", (32, 2048, 7, 7), 7, 7, 0, {"ratio": 2, "best": 0.95}),
    ),
)


def _volumetric_average(
    input: Tensor,
    kT: int,
    kW: int,
    kH: int,
    dT: int,
    dW: int,
    dH: int,
    padT: int,
    padW: int,
    padH: int,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    geometry = (kT, kH, kW), (dT, dH, dW), (padT, padH, padW), ceil_mode, count_include_pad
    if input.numel() == 0:
        return F.avg_pool3d(input.new_zeros(1, *input.shape[1:]), *geometry)[:0]
    return F.avg_pool3d(input, *geometry)


def _volume(
    name: str,
    shape: tuple[int, ...],
    kernel: tuple[int, int, int],
    stride: tuple[int, int, int],
    padding: tuple[int, int, int] = (0, 0, 0),
    small: bool = True,
    **flags: bool,
) -> SampleInput:
    """Kernel, stride and padding are depth, width, height."""
    arguments: dict[str, Any] = {"input": distinct(*shape) if small else normal(*shape), **flags}
    for prefix, values in (("k", kernel), ("d", stride), ("pad", padding)):
        arguments |= along(prefix, "TWH", values)
    return SampleInput(name, arguments, differentiable=small)


VOLUMETRIC_AVERAGE_POOLING = Case(
    module="VolumetricAveragePooling",
    reference=_volumetric_average,
    samples=(
        _volume("batch", (2, 2, 4, 5, 6), (2, 2, 3), (2, 1, 1), (1, 1, 1)),
        _volume("batchless", (2, 4, 3, 5), (2, 2, 2), (2, 2, 2)),
        _volume("ceil_mode", (1, 2, 5, 5, 6), (2, 2, 2), (2, 3, 2), (1, 1, 1), ceil_mode=True),
        _volume(
            "padding not counted",
            (2, 2, 4, 5, 6),
            (2, 2, 3),
            (2, 1, 1),
            (1, 1, 1),
            count_include_pad=False,
        ),
        _volume("sizes 1", (1, 1, 1, 1, 1), (1, 1, 1), (1, 1, 1)),
        _volume("empty", (0, 2, 4, 3, 5), (2, 2, 2), (2, 2, 2)),
        _volume("2x2x2, stride 2", (2, 5, 6, 22, 38), (2, 2, 2), (2, 2, 2), small=False),
        _volume("2x3x4, side by side", (2, 19, 4, 9, 8), (2, 4, 3), (2, 4, 3), small=False),
        _volume("3x3x3, stride 2", (2, 17, 7, 21, 45), (3, 3, 3), (2, 2, 2), (1, 1, 1), small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(f"{name} {value}", {name: value}, ValueError, phase=p)
            for p in ("updateOutput", "updateGradInput")
            for name, value in (
                ("kT", 0),
                ("kT", 5),
                ("kH", 6),
                ("dW", 0),
                ("padT", 2),
                ("padW", -1),
                ("kW", 2**31 - 1),
            )
        ),
        ErrorInput("an image", {"input": distinct(2, 6, 7)}, ValueError, "input"),
        ErrorInput(
            "gradOutput batchless", {"gradOutput": normal(2, 3, 6, 6)}, ValueError, phase="updateGradInput"
        ),
    ),
    rows=(
        Row(
            "VolumetricAveragePooling 2x2x2 s2 (4,32,16,56,56)",
            _volume("row", (4, 32, 16, 56, 56), (2, 2, 2), (2, 2, 2), small=False),
            bytes_moved={"fwd": 4 * 32 * 16 * 56 * 56 * 4.5, "fb": 4 * 32 * 16 * 56 * 56 * 9.0},
            ratio=6,
            fraction=0.4,
        ),
    ),
)
