"""Interpolation of series, images and volumes: up-sampling, and sampling at the positions of a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from thnn.testing.cases.makers import given, normal, uniform
from thnn.testing.cases.model import Case, ErrorInput, Maker, Row, SampleInput

_AXES = ("Depth", "Height", "Width")
_PHASES = ("updateOutput", "updateGradInput")


def _resample(
    input: Tensor, sizes: Sequence[int], linear: bool, aligned: bool = False, scales: Sequence[float] = ()
) -> Tensor:
    """Axis by axis, from the formulas."""
    first = input.dim() - len(sizes)
    for axis, size in enumerate(sizes):
        dim, last = first + axis, input.shape[first + axis] - 1
        scale = scales[axis] if scales and scales[axis] else (last + 1) / size
        o = torch.arange(size, dtype=torch.float64)
        if not linear:
            exact = torch.arange(size) * (last + 1) // size
            index = (o * scale).floor().long() if scales and scales[axis] else exact
            input = input.index_select(dim, index.clamp(max=last))
            continue
        position = o * last / max(size - 1, 1) if aligned else ((o + 0.5) * scale - 0.5).clamp(min=0)
        position = position.clamp(max=last)
        low = position.floor().long().clamp(max=max(last - 1, 0))
        fraction = (position - low).reshape([-1] + [1] * (input.dim() - 1 - dim))
        high = (low + 1).clamp(max=last)
        input = input.index_select(dim, low) * (1 - fraction) + input.index_select(dim, high) * fraction
    return input


def _nearest(input: Tensor, scale_factor: int, axes: int) -> Tensor:
    for axis in range(1, axes + 1):
        input = input.repeat_interleave(scale_factor, -axis)
    return input


def _bytes(inputs: float, outputs: float) -> dict[str, float]:
    return {"fwd": 4.0 * (inputs + outputs), "fb": 8.0 * (inputs + outputs)}


def _nearest_case(module: str, axes: int, row: Row, *samples: SampleInput) -> Case:
    return Case(
        module=module,
        reference=lambda input, scale_factor: _nearest(input, scale_factor, axes),
        baseline=lambda input, scale_factor: F.interpolate(input, scale_factor=scale_factor, mode="nearest"),
        samples=samples,
        error_inputs=(
            *(
                ErrorInput(f"factor {s}", {"scale_factor": s}, ValueError, "scale_factor", p)
                for p in _PHASES
                for s in (1, 0, -2, 2**31 - 1)
            ),
            ErrorInput("a vector", {"input": normal(7)}, ValueError, "input"),
            ErrorInput("no columns", {"input": normal(*([2] * (axes + 1)), 0)}, ValueError, "input"),
            ErrorInput(
                "gradOutput of the input's size",
                {"gradOutput": normal(*([2] * (axes + 2)))},
                ValueError,
                "gradOutput",
                "updateGradInput",
            ),
        ),
        rows=(row,),
    )


def _factor(name: str, shape: tuple[int, ...], factor: int, differentiable: bool = True) -> SampleInput:
    return SampleInput(name, {"input": normal(*shape), "scale_factor": factor}, differentiable)


def _nearest_row(name: str, shape: tuple[int, ...]) -> Row:
    count = math.prod(shape)
    return Row(
        name,
        _factor("row", shape, 2, differentiable=False),
        ratio=3.0,
        fraction=0.5,
        bytes_moved=_bytes(count, count * 2 ** (len(shape) - 2)),
    )


TEMPORAL_UP_SAMPLING_NEAREST = _nearest_case(
    "TemporalUpSamplingNearest",
    1,
    _nearest_row("nearest x2 (32,512,256)", (32, 512, 256)),
    _factor("batch", (2, 3, 5), 2),
    _factor("batchless", (3, 4), 3),
    _factor("sizes 1", (1, 1, 1), 5),
    _factor("empty", (0, 3, 4), 2),
    _factor("long", (2, 3, 1500), 3, differentiable=False),
    _factor("large factor", (2, 2, 3), 700, differentiable=False),
    SampleInput(
        "infinite and not a number",
        {"input": given([[math.inf, 1.0, -math.inf, math.nan, -0.0]]), "scale_factor": 4},
        differentiable=False,
    ),
)

SPATIAL_UP_SAMPLING_NEAREST = _nearest_case(
    "SpatialUpSamplingNearest",
    2,
    _nearest_row("nearest x2 (8,64,56,56)", (8, 64, 56, 56)),
    _factor("batch", (2, 3, 4, 5), 2),
    _factor("batchless", (3, 4, 2), 3),
    _factor("sizes 1", (1, 1, 1, 1), 2),
    _factor("empty", (0, 3, 4, 5), 2),
    _factor("many channels", (2, 37, 10, 18), 2, differentiable=False),
    _factor("large factor", (1, 3, 2, 3), 40, differentiable=False),
)

VOLUMETRIC_UP_SAMPLING_NEAREST = _nearest_case(
    "VolumetricUpSamplingNearest",
    3,
    _nearest_row("nearest x2 (4,32,8,28,28)", (4, 32, 8, 28, 28)),
    _factor("batch", (2, 2, 2, 3, 4), 2),
    _factor("batchless", (2, 2, 3, 1), 3),
    _factor("sizes 1", (1, 1, 1, 1, 1), 2),
    _factor("empty", (0, 2, 2, 3, 4), 2),
    _factor("many channels", (1, 33, 3, 5, 17), 2, differentiable=False),
)


def _aligned(input: Tensor, **sizes: int) -> Tensor:
    return _resample(input, [*sizes.values()], True, True)


def _torch_mode(axes: int, linear: bool) -> str:
    return ("linear", "bilinear", "trilinear")[axes - 1] if linear else "nearest"


def _torch_aligned(input: Tensor, **sizes: int) -> Tensor:
    return F.interpolate(input, [*sizes.values()], mode=_torch_mode(len(sizes), True), align_corners=True)


def _sized(
    name: str, shape: tuple[int, ...], *size: int, differentiable: bool = True, **settings: Any
) -> SampleInput:
    """A sample with the output size `size`, one number per axis."""
    sizes = {f"output{axis}": s for axis, s in zip(_AXES[-len(size) :], size, strict=True)}
    return SampleInput(name, {"input": normal(*shape), **sizes, **settings}, differentiable)


def _linear_case(module: str, axes: int, row: Row, *samples: SampleInput) -> Case:
    names = [f"output{axis}" for axis in _AXES[-axes:]]
    return Case(
        module=module,
        reference=_aligned,
        baseline=_torch_aligned,
        samples=samples,
        error_inputs=(
            *(
                ErrorInput(f"{name} {s}", {name: s}, ValueError, name, p)
                for p in _PHASES
                for name in names
                for s in (0, -1)
            ),
            ErrorInput("batchless", {"input": normal(*([3] * (axes + 1)))}, ValueError, "input"),
            ErrorInput("no columns", {"input": normal(*([2] * (axes + 1)), 0)}, ValueError, "input"),
            *(
                ErrorInput(f"{name} {s}", {name: s}, ValueError, phase="updateGradInput")
                for name in ("nbatch", "nchannels", "inputWidth")
                for s in (-1, 2**31 - 1)
                if name != "inputWidth" or s < 0
            ),
            ErrorInput("no channels", {"nchannels": 0}, ValueError, "nchannels", "updateGradInput"),
            ErrorInput(
                "gradOutput of another size",
                {"gradOutput": normal(*([2] * (axes + 2)))},
                ValueError,
                "gradOutput",
                "updateGradInput",
            ),
        ),
        rows=(row,),
    )


def _linear_row(name: str, shape: tuple[int, ...], ratio: float, fraction: float) -> Row:
    count, axes = math.prod(shape), len(shape) - 2
    return Row(
        name,
        _sized("row", shape, *(2 * s for s in shape[2:]), differentiable=False),
        ratio=ratio,
        fraction=fraction,
        bytes_moved=_bytes(count, count * 2**axes),
    )


TEMPORAL_UP_SAMPLING_LINEAR = _linear_case(
    "TemporalUpSamplingLinear",
    1,
    _linear_row("linear x2 (32,512,256)", (32, 512, 256), 4.0, 0.45),
    _sized("twice", (2, 3, 5), 10),
    _sized("less", (2, 3, 7), 3),
    _sized("equal sizes", (2, 3, 4), 4),
    _sized("one output", (2, 2, 5), 1),
    _sized("one input", (2, 3, 1), 6),
    _sized("sizes 1", (1, 1, 1), 1),
    _sized("empty", (0, 3, 5), 7),
    _sized("long", (2, 3, 1700), 4100, differentiable=False),
    _sized("long to short", (2, 3, 9000), 1300, differentiable=False),
    _sized("long to very short", (1, 3, 5000), 7, differentiable=False),
    _sized("short to long", (1, 20, 2), 3000, differentiable=False),
)

SPATIAL_UP_SAMPLING_BILINEAR = _linear_case(
    "SpatialUpSamplingBilinear",
    2,
    _linear_row("bilinear x2 (8,64,56,56)", (8, 64, 56, 56), 8.0, 0.4),
    _sized("twice", (2, 3, 3, 4), 6, 8),
    _sized("other factors", (2, 2, 4, 3), 7, 5),
    _sized("less", (2, 2, 7, 6), 3, 2),
    _sized("equal width", (2, 2, 4, 5), 7, 5),
    _sized("equal height", (2, 2, 4, 5), 4, 9),
    _sized("equal sizes", (2, 2, 4, 5), 4, 5),
    _sized("one pixel", (2, 2, 3, 4), 1, 1),
    _sized("from one pixel", (2, 2, 1, 1), 3, 4),
    _sized("sizes 1", (1, 1, 1, 1), 1, 1),
    _sized("empty", (0, 3, 3, 4), 6, 8),
    _sized("many channels", (2, 37, 9, 18), 17, 40, differentiable=False),
    _sized("high", (2, 3, 3, 17), 1300, 35, differentiable=False),
    _sized("three times", (2, 5, 17, 33), 51, 99, differentiable=False),
    _sized("one pixel to many", (1, 3, 1, 1), 300, 310, differentiable=False),
)

VOLUMETRIC_UP_SAMPLING_TRILINEAR = _linear_case(
    "VolumetricUpSamplingTrilinear",
    3,
    _linear_row("trilinear x2 (4,32,8,28,28)", (4, 32, 8, 28, 28), 8.0, 0.35),
    _sized("twice", (2, 2, 2, 3, 2), 4, 6, 4),
    _sized("other factors", (1, 2, 2, 3, 4), 3, 2, 7),
    _sized("equal sizes", (1, 2, 2, 3, 4), 2, 3, 4),
    _sized("sizes 1", (1, 1, 1, 1, 1), 1, 1, 1),
    _sized("empty", (0, 2, 2, 3, 2), 4, 6, 4),
    _sized("many channels", (1, 35, 4, 5, 18), 7, 9, 37, differentiable=False),
)


def _interpolation(
    input: Tensor,
    outputDepth: int,
    outputHeight: int,
    outputWidth: int,
    linear: bool,
    align_corners: bool,
    **scales: float,
) -> Tensor:
    axes = input.dim() - 2
    sizes = (outputDepth, outputHeight, outputWidth)[-axes:]
    given = [*scales.values()][-axes:]
    if linear or axes == 2:
        lengths = zip(input.shape[2:], sizes, given, strict=True)
        factors = (1,) if linear else (1, 2)  # ratios of sizes at which the given scale is ignored
        given = [0.0 if any(n == f * old for f in factors) else scale for old, n, scale in lengths]
    return _resample(input, sizes, linear, align_corners, given)


def _torch_interpolation(
    input: Tensor,
    outputDepth: int,
    outputHeight: int,
    outputWidth: int,
    linear: bool = False,
    align_corners: bool = False,
    **scales: float,
) -> Tensor:
    axes = input.dim() - 2
    sizes = (outputDepth, outputHeight, outputWidth)[-axes:]
    mode = _torch_mode(axes, linear)
    return F.interpolate(input, sizes, mode=mode, align_corners=align_corners if linear else None)


def _any(name: str, shape: tuple[int, ...], *size: int, **settings: Any) -> SampleInput:
    return _sized(name, shape, *([1] * (3 - len(size))), *size, **settings)


INTERPOLATION = Case(
    module="Interpolation",
    reference=_interpolation,
    baseline=_torch_interpolation,
    samples=(
        _any("linear images", (2, 3, 3, 4), 6, 8, linear=True),
        _any("linear images less", (2, 3, 7, 6), 3, 4, linear=True),
        _any("nearest images", (2, 3, 3, 4), 7, 6),
        _any("nearest images less", (2, 2, 7, 9), 3, 2),
        _any("aligned", (2, 2, 3, 4), 7, 2, linear=True, align_corners=True),
        _any("linear series", (2, 3, 5), 13, linear=True),
        _any("nearest series", (2, 3, 5), 12),
        _any("linear volumes", (1, 2, 2, 3, 4), 4, 5, 3, linear=True),
        _any("nearest volumes", (1, 2, 2, 3, 4), 3, 7, 5),
        _any("linear, scales", (2, 2, 4, 5), 9, 12, linear=True, scaleHeight=0.4, scaleWidth=1 / 2.3),
        _any("nearest, scales", (2, 2, 4, 5), 9, 12, scaleHeight=0.4, scaleWidth=1 / 2.3),
        _any("nearest, equal and doubled, scales", (2, 2, 4, 5), 4, 10, scaleHeight=0.8, scaleWidth=0.4),
        _any("nearest series, doubled, a scale", (2, 2, 5), 10, scaleWidth=0.4),
        _any("nearest volumes, equal, scales", (1, 2, 2, 3, 4), 2, 6, 4, scaleHeight=0.4, scaleWidth=0.8),
        _any("scales beyond the input", (1, 2, 4, 5), 5, 6, linear=True, scaleHeight=1.5, scaleWidth=3.0),
        _any("equal sizes, a scale", (1, 2, 4, 5), 4, 5, linear=True, scaleHeight=0.9, scaleWidth=1.0),
        _any("equal sizes", (1, 2, 4, 5), 4, 5, linear=True),
        _any("sizes 1", (1, 1, 1, 1), 1, 1, linear=True),
        _any("from one pixel", (2, 2, 1, 1), 3, 4, linear=True),
        _any("empty", (0, 3, 3, 4), 6, 8, linear=True),
        _any("many channels", (2, 37, 9, 18), 17, 40, linear=True, differentiable=False),
        _any("many channels, nearest", (2, 37, 19, 38), 17, 21, differentiable=False),
        _any("long", (1, 3, 1700), 4100, linear=True, differentiable=False),
        _any("very large scale", (1, 3, 1700), 40, linear=True, scaleWidth=1e300, differentiable=False),
    ),
    error_inputs=(
        *(
            ErrorInput(f"{name} {value}", {name: value}, ValueError, name, p)
            for p in _PHASES
            for name, values in (
                ("outputWidth", (0, -1)),
                ("outputDepth", (2, 0)),
                ("scaleWidth", (-1.0, math.inf, math.nan)),
            )
            for value in values
        ),
        ErrorInput(
            "aligned with a scale", {"align_corners": True, "scaleWidth": 0.5}, ValueError, "scaleWidth"
        ),
        ErrorInput(
            "nearest and aligned", {"align_corners": True, "linear": False}, ValueError, "align_corners"
        ),
        ErrorInput("a matrix", {"input": normal(3, 4)}, ValueError, "input"),
        ErrorInput("six dimensions", {"input": normal(2, 2, 2, 2, 2, 2)}, ValueError, "input"),
        ErrorInput("no rows", {"input": normal(2, 2, 0, 4)}, ValueError, "input"),
    ),
    rows=(
        Row(
            "bilinear x2, corners not aligned (8,64,56,56)",
            _any("row", (8, 64, 56, 56), 112, 112, linear=True, differentiable=False),
            ratio=8.0,
            fraction=0.4,
            bytes_moved=_bytes(8 * 64 * 56 * 56, 8 * 64 * 112 * 112),
        ),
    ),
)


# --- grid sampler -------------------------------------------------------------------------------------------


def _grid_sample(input: Tensor, grid: Tensor) -> Tensor:
    """The sum over the corners of the cell around each position."""
    axes = grid.shape[-1]
    volume = input.flatten(2)
    output: Tensor | float = 0.0
    for corner in range(1 << axes):
        weight: Tensor | float = 1.0
        index = torch.zeros(grid.shape[:-1], dtype=torch.int64)
        inside = torch.ones_like(index, dtype=torch.bool)
        for axis in range(axes):
            size = input.shape[2 + axis]
            position = (grid[..., axes - 1 - axis] + 1) / 2 * (size - 1)
            low = position.detach().floor()
            second = corner >> axis & 1
            weight = weight * (position - low if second else 1 - (position - low))
            at = low + second
            inside = inside & (at >= 0) & (at < size)
            index = index * size + at.nan_to_num(0.0).clamp(0, size - 1).long()
        flat = index.flatten(1)[:, None].expand(-1, input.shape[1], -1)
        value = volume.gather(2, flat).reshape(*input.shape[:2], *grid.shape[1:-1])
        term = value * torch.where(inside, weight, torch.zeros((), dtype=input.dtype))[:, None]
        output = output + term
    assert isinstance(output, Tensor)
    return output


def _torch_grid_sample(input: Tensor, grid: Tensor) -> Tensor:
    return F.grid_sample(input, grid, align_corners=True)


def _cells(*shape: int, sizes: tuple[int, ...]) -> Maker:
    """Positions well inside of cells, some of them outside of the image; `sizes` are in the order x, y, z."""

    def maker(generator: Generator) -> Tensor:
        columns = []
        for size in sizes:
            cell = torch.randint(-2, size + 1, shape, generator=generator, dtype=torch.int64)
            fraction = torch.rand(shape, generator=generator, dtype=torch.float64) * 0.6 + 0.2
            columns.append(2 * (cell + fraction) / max(size - 1, 1) - 1)
        return torch.stack(columns, -1)

    return maker


def _grid(name: str, shape: tuple[int, ...], *size: int, differentiable: bool = True) -> SampleInput:
    grid = _cells(shape[0], *size, sizes=shape[:1:-1])
    return SampleInput(name, {"input": normal(*shape), "grid": grid}, differentiable)


def _grid_error_inputs(axes: int) -> tuple[ErrorInput, ...]:
    """Error inputs for a case whose first sample has N = 2."""
    inner = [4] * axes
    return (
        ErrorInput("batchless", {"input": normal(3, *inner)}, ValueError, "input"),
        ErrorInput("no columns", {"input": normal(2, 3, *inner[1:], 0)}, ValueError, "input"),
        ErrorInput("grid of another N", {"grid": normal(3, *inner, axes)}, ValueError, "grid"),
        ErrorInput("grid of other coordinates", {"grid": normal(2, *inner, 5 - axes)}, ValueError, "grid"),
        ErrorInput("grid without positions", {"grid": normal(2, 0, *inner[1:], axes)}, ValueError, "grid"),
        ErrorInput(
            "gradOutput of another size",
            {"gradOutput": normal(2, 3, *([1] * axes))},
            ValueError,
            "gradOutput",
            "updateGradInput",
        ),
    )


SPATIAL_GRID_SAMPLER_BILINEAR = Case(
    module="SpatialGridSamplerBilinear",
    reference=_grid_sample,
    baseline=_torch_grid_sample,
    samples=(
        _grid("images", (2, 2, 4, 3), 2, 3),
        _grid("one channel", (2, 1, 4, 5), 2, 3),
        _grid("three channels", (2, 3, 4, 5), 3, 4, differentiable=False),
        _grid("one row", (1, 2, 1, 6), 1, 5),
        _grid("one pixel", (1, 2, 1, 1), 2, 2),
        _grid("one position", (2, 3, 4, 5), 1, 1),
        _grid("empty", (0, 3, 4, 5), 3, 4),
        _grid("many channels", (2, 37, 9, 11), 7, 70, differentiable=False),
        _grid("many samples", (9, 37, 9, 11), 7, 13, differentiable=False),
        _grid("whole vectors of channels", (2, 32, 5, 6), 4, 7, differentiable=False),
        _grid("large planes", (1, 3, 190, 200), 9, 70, differentiable=False),
        SampleInput(
            "corners",
            {
                "input": normal(1, 3, 4, 5),
                "grid": given([[[[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0], [0.5, -1.0]]]]),
            },
            differentiable=False,
        ),
        SampleInput(
            "far outside",
            {
                "input": normal(1, 3, 4, 5),
                "grid": given([[[[1e30, 0.0], [0.0, -1e30], [3.0, 3.0], [-1.6, 0.1], [1.0, 1.7]]]]),
            },
            differentiable=False,
        ),
    ),
    tolerance=1e-4,  # positions are rounded to the element type
    error_inputs=_grid_error_inputs(2),
    rows=(
        Row(
            "grid sampler (8,32,64,64)",
            SampleInput(
                "row",
                {"input": normal(8, 32, 64, 64), "grid": uniform(8, 64, 64, 2, low=-1, high=1)},
                differentiable=False,
            ),
            ratio=3.0,
            fraction=0.3,
            bytes_moved={"fwd": 4 * 8 * 64 * 64 * 66.0, "fb": 4 * 8 * 64 * 64 * (66.0 + 100)},
        ),
    ),
)

VOLUMETRIC_GRID_SAMPLER_BILINEAR = Case(
    module="VolumetricGridSamplerBilinear",
    reference=_grid_sample,
    baseline=_torch_grid_sample,
    samples=(
        _grid("volumes", (2, 2, 2, 3, 4), 1, 2, 2),
        _grid("one channel", (2, 1, 3, 2, 2), 2, 1, 2),
        _grid("one voxel", (1, 2, 1, 1, 1), 2, 1, 2),
        _grid("empty", (0, 3, 3, 4, 5), 2, 3, 2),
        _grid("many channels", (2, 37, 5, 6, 7), 3, 4, 5, differentiable=False),
        _grid("three channels", (2, 3, 3, 4, 5), 2, 3, 2, differentiable=False),
        _grid("whole vectors of channels", (2, 16, 3, 4, 5), 2, 3, 4, differentiable=False),
    ),
    tolerance=1e-4,  # positions are rounded to the element type
    error_inputs=_grid_error_inputs(3),
    rows=(
        Row(
            "grid sampler (4,32,8,28,28)",
            SampleInput(
                "row",
                {"input": normal(4, 32, 8, 28, 28), "grid": uniform(4, 8, 28, 28, 3, low=-1, high=1)},
                differentiable=False,
            ),
            ratio=3.0,
            fraction=0.3,
            bytes_moved={"fwd": 4 * 4 * 6272 * 67.0, "fb": 4 * 4 * 6272 * (67.0 + 102)},
        ),
    ),
)
