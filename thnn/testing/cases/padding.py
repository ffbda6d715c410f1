"""Series, images and volumes extended at their borders."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import given, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput

_NAMES = {
    1: ("pad_l", "pad_r"),
    2: ("pad_l", "pad_r", "pad_t", "pad_b"),
    3: ("pleft", "pright", "ptop", "pbottom", "pfront", "pback"),
}


def _replicate(position: Tensor, size: int) -> Tensor:
    return position.clamp(0, size - 1)


def _reflect(position: Tensor, size: int) -> Tensor:
    return torch.where(position >= size, 2 * (size - 1) - position, position.abs())


def _padded(source: Callable[[Tensor, int], Tensor]) -> Callable[..., Tensor]:
    def reference(input: Tensor, **padding: int) -> Tensor:
        amounts = [*padding.values()]
        for axis in range(len(amounts) // 2):
            size, (before, after) = input.shape[-1 - axis], amounts[2 * axis : 2 * axis + 2]
            position = torch.arange(-before, size + after)
            input = input.index_select(input.dim() - 1 - axis, source(position, size))
        return input

    return reference


def _sample(name: str, shape: tuple[int, ...], *padding: int, differentiable: bool = True) -> SampleInput:
    names = _NAMES[len(padding) // 2]
    return SampleInput(
        name, {"input": normal(*shape), **dict(zip(names, padding, strict=True))}, differentiable
    )


def _row(name: str, shape: tuple[int, ...], *padding: int, ratio: float = 2.0, fraction: float = 0.5) -> Row:
    out = [*shape]
    for axis in range(len(padding) // 2):
        out[-1 - axis] += sum(padding[2 * axis : 2 * axis + 2])
    moved = 4.0 * (math.prod(shape) + math.prod(out))
    return Row(
        name,
        _sample("row", shape, *padding, differentiable=False),
        ratio=ratio,
        fraction=fraction,
        bytes_moved={"fwd": moved, "fb": 2 * moved},
    )


_PHASES = ("updateOutput", "updateGradInput")


def _error_inputs(axes: int, reflects: bool) -> tuple[ErrorInput, ...]:
    """Error inputs for a case whose first sample has sizes below 9."""
    changes = [("cropped to nothing", {_NAMES[axes][-2]: -9}), ("huge crop", {_NAMES[axes][1]: -(2**31)})]
    if reflects:
        changes += [
            ("padding of the size", {_NAMES[axes][0]: 6}),
            ("padding above the size", {_NAMES[axes][-1]: 9}),
        ]
    else:
        changes += [("an output that memory cannot hold", dict.fromkeys(_NAMES[axes], 2**31 - 1))] * (
            axes == 3
        )
    return (
        *(ErrorInput(name, change, ValueError, phase=p) for p in _PHASES for name, change in changes),
        ErrorInput("a vector", {"input": normal(7)}, ValueError, "input"),
        ErrorInput("a dimension too many", {"input": normal(*([2] * (axes + 3)))}, ValueError, "input"),
        ErrorInput("no columns", {"input": normal(*([2] * (axes + 1)), 0)}, ValueError, "input"),
        ErrorInput("no channels", {"input": normal(2, 0, *([5] * axes))}, ValueError, "input"),
        ErrorInput(
            "gradOutput of the input's size",
            {"gradOutput": normal(*([2] * (axes + 2)))},
            ValueError,
            "gradOutput",
            "updateGradInput",
        ),
    )


def _series(reflects: bool) -> tuple[SampleInput, ...]:
    return (
        _sample("batch", (2, 3, 6), 2, 3),
        _sample("batchless", (3, 5), 1, 2),
        _sample("cropped left", (2, 3, 7), -2, 3),
        _sample("cropped right", (2, 3, 7), 3, -2),
        _sample("cropped", (1, 2, 7), -2, -4),
        _sample("most of it cropped", (1, 2, 7), -7, 6),
        _sample("nothing added", (2, 2, 5), 0, 0),
        _sample("all added", (2, 2, 5), 4, 4),
        _sample("sizes 1", (1, 1, 1), *((0, 0) if reflects else (3, 2))),
        _sample("empty", (0, 3, 6), 2, 1),
        _sample("long", (2, 3, 5000), 30, 2200, differentiable=False),
        SampleInput(
            "infinite and not a number",
            {"input": given([[math.inf, 1.0, -math.inf, math.nan, -0.0]]), "pad_l": 2, "pad_r": 1},
            differentiable=False,
        ),
        *(() if reflects else (_sample("wider than the input", (2, 2, 3), 150, 70),)),
    )


def _images(reflects: bool) -> tuple[SampleInput, ...]:
    return (
        _sample("batch", (2, 3, 4, 6), 2, 3, 1, 2),
        _sample("batchless", (3, 4, 5), 1, 2, 0, 3),
        _sample("cropped", (2, 3, 6, 7), -2, 3, 4, -1),
        _sample("rows only", (2, 3, 4, 5), 0, 0, 2, 1),
        _sample("sizes 1", (1, 1, 1, 1), *((0, 0, 0, 0) if reflects else (1, 2, 3, 0))),
        _sample("empty", (0, 3, 4, 6), 2, 1, 1, 1),
        _sample("many channels", (2, 70, 9, 11), 3, 3, 3, 3, differentiable=False),
        _sample("wide", (2, 3, 20, 100), 40, 17, 3, 5, differentiable=False),
        *(
            ()
            if reflects
            else (_sample("a pixel to a plane", (2, 3, 1, 1), 70, 70, 80, 5, differentiable=False),)
        ),
    )


TEMPORAL_REPLICATION_PADDING = Case(
    module="TemporalReplicationPadding",
    reference=_padded(_replicate),
    baseline=lambda input, pad_l, pad_r: F.pad(input, (pad_l, pad_r), mode="replicate"),
    samples=_series(False),
    error_inputs=_error_inputs(1, False),
    rows=(_row("replication padding 3 (32,512,256)", (32, 512, 256), 3, 3),),
)

TEMPORAL_REFLECTION_PADDING = Case(
    module="TemporalReflectionPadding",
    reference=_padded(_reflect),
    baseline=lambda input, pad_l, pad_r: F.pad(input, (pad_l, pad_r), mode="reflect"),
    samples=_series(True),
    error_inputs=_error_inputs(1, True),
    rows=(_row("reflection padding 3 (32,512,256)", (32, 512, 256), 3, 3),),
)

SPATIAL_REPLICATION_PADDING = Case(
    module="SpatialReplicationPadding",
    reference=_padded(_replicate),
    baseline=lambda input, **padding: F.pad(input, tuple(padding.values()), mode="replicate"),
    samples=_images(False),
    error_inputs=_error_inputs(2, False),
    rows=(_row("replication padding 3 (8,64,56,56)", (8, 64, 56, 56), 3, 3, 3, 3),),
)

SPATIAL_REFLECTION_PADDING = Case(
    module="SpatialReflectionPadding",
    reference=_padded(_reflect),
    baseline=lambda input, **padding: F.pad(input, tuple(padding.values()), mode="reflect"),
    samples=_images(True),
    error_inputs=_error_inputs(2, True),
    rows=(_row("reflection padding 3 (8,64,56,56)", (8, 64, 56, 56), 3, 3, 3, 3),),
)

VOLUMETRIC_REPLICATION_PADDING = Case(
    module="VolumetricReplicationPadding",
    reference=_padded(_replicate),
    baseline=lambda input, **padding: F.pad(input, tuple(padding.values()), mode="replicate"),
    samples=(
        _sample("batch", (2, 2, 3, 4, 5), 2, 1, 1, 2, 0, 1),
        _sample("batchless", (2, 3, 2, 4), 1, 1, 2, 0, 1, 3),
        _sample("cropped", (2, 2, 4, 5, 6), -2, 3, 1, -1, -1, 0),
        _sample("sizes 1", (1, 1, 1, 1, 1), 1, 2, 0, 1, 2, 0),
        _sample("empty", (0, 2, 3, 4, 5), 2, 1, 1, 2, 0, 1),
        _sample("many channels", (2, 35, 5, 6, 7), 1, 1, 1, 1, 1, 1, differentiable=False),
    ),
    error_inputs=_error_inputs(3, False),
    rows=(_row("replication padding 1 (4,32,16,28,28)", (4, 32, 16, 28, 28), 1, 1, 1, 1, 1, 1),),
)
