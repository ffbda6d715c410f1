"""Adaptive and fractional pooling: the number of regions is given, not their size."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import along, distinct, expanded, given, normal, uniform, whole
from thnn.testing.cases.model import Case, ErrorInput, Maker, Row, SampleInput

_PHASES = ("updateOutput", "updateGradInput")
_NOT_FINITE = [[[math.nan, 1, 2, math.inf, math.nan], [0, -math.inf, math.nan, 1, 3], [-1, 0, 1, 2, 0]]]


def _pooled(size: tuple[int, ...], axes: int, outputs: tuple[int, ...], index_bytes: int) -> dict[str, float]:
    """Read the input, write the output and its indices; read the gradient and the indices, write gradInput."""
    planes = math.prod(size[:-axes])
    forward = 4.0 * math.prod(size) + (4 + index_bytes) * planes * math.prod(outputs)
    return {"fwd": forward, "fb": 2 * forward}


# --- adaptive -----------------------------------------------------------------------------------------------


def _adaptive(
    prefix: str, name: str, input: Maker, outputs: tuple[int, ...], small: bool = True
) -> SampleInput:
    """Outputs are depth, height, width."""
    letters = ("depth", "height", "width") if prefix == "o" else ("T", "H", "W")
    sizes = along(prefix, letters[-len(outputs) :], outputs)  # type: ignore[arg-type]
    return SampleInput(name, {"input": input, **sizes}, differentiable=small)


def _spatial_samples(prefix: str) -> tuple[SampleInput, ...]:
    return (
        _adaptive(prefix, "batch", distinct(2, 3, 5, 7), (3, 2)),
        _adaptive(prefix, "batchless", distinct(3, 6, 5), (2, 5)),
        _adaptive(prefix, "one region", distinct(2, 3, 4, 5), (1, 1)),
        _adaptive(prefix, "one column of regions", distinct(2, 3, 7, 5), (3, 1)),
        _adaptive(prefix, "as many regions as pixels", distinct(2, 2, 3, 4), (3, 4)),
        _adaptive(prefix, "more regions than pixels", distinct(1, 2, 3, 4), (5, 9)),
        _adaptive(prefix, "sizes 1", distinct(1, 1, 1, 1), (1, 1)),
        _adaptive(prefix, "one pixel, many regions", distinct(1, 2, 1, 1), (3, 2)),
        _adaptive(prefix, "empty", distinct(0, 3, 5, 7), (3, 2)),
        _adaptive(prefix, "many rows", normal(2, 17, 29, 45), (7, 7), small=False),
        _adaptive(prefix, "multiples", normal(2, 5, 28, 56), (7, 7), small=False),
        _adaptive(prefix, "long rows", normal(1, 2, 4, 700), (2, 3), small=False),
        _adaptive(prefix, "one large region", normal(1, 3, 61, 67), (1, 1), small=False),
        _adaptive(prefix, "many channels", normal(2, 37, 9, 11), (4, 3), small=False),
        _adaptive(prefix, "not finite", given(_NOT_FINITE), (2, 3), small=False),
    )


def _adaptive_error_inputs(prefix: str, axes: int) -> tuple[ErrorInput, ...]:
    names = {"o": ("owidth", "oheight"), "osize": ("osizeW", "osizeH", "osizeT")[:axes]}[prefix]
    return (
        *(
            ErrorInput(f"{name} {value}", {name: value}, ValueError, name)
            for name in names
            for value in (0, -3)
        ),
        ErrorInput("a matrix", {"input": distinct(6, 7)}, ValueError, "input"),
        ErrorInput("no pixels", {"input": distinct(2, 3, *([4] * (axes - 1)), 0)}, ValueError, "input"),
        ErrorInput("too large", {"input": expanded(2**40, 2**10, *([3] * axes))}, ValueError),
        ErrorInput(
            "huge output", {names[0]: 2**31 - 1, "input": expanded(2**30, 2, *([3] * axes))}, ValueError
        ),
        ErrorInput(
            "other channels",
            {"gradOutput": normal(2, 4, *([2] * axes))},
            ValueError,
            "gradOutput",
            "updateGradInput",
        ),
        ErrorInput(
            "gradOutput batchless",
            {"gradOutput": normal(3, *([2] * axes))},
            ValueError,
            "gradOutput",
            "updateGradInput",
        ),
        ErrorInput(
            "no regions",
            {"gradOutput": normal(2, 3, *([2] * (axes - 1)), 0)},
            ValueError,
            "gradOutput",
            "updateGradInput",
        ),
    )


def _index_error_inputs(*shape: int, elements: int) -> tuple[ErrorInput, ...]:
    """Indices outside of a plane of `elements` elements."""

    def maker(value: int) -> Maker:
        def make(generator: torch.Generator) -> Tensor:
            indices = torch.zeros(shape, dtype=torch.int64)
            indices.view(-1)[-2] = value
            return indices

        return make

    return tuple(
        ErrorInput(f"index {i}", {"indices": maker(i)}, IndexError, "indices", "updateGradInput")
        for i in (elements, -1, 2**32, -(2**63), 2**63 - 1)
    )


def _adaptive_row(
    module: str, shape: tuple[int, ...], outputs: tuple[int, ...], prefix: str = "osize"
) -> Row:
    return Row(
        f"{module} {'x'.join(map(str, outputs))} ({','.join(map(str, shape))})",
        _adaptive(prefix, "row", normal(*shape), outputs),
        bytes_moved=_pooled(shape, len(outputs), outputs, 8 if "Max" in module else 0),
        ratio=5,
        fraction=0.4,
    )


SPATIAL_ADAPTIVE_AVERAGE_POOLING = Case(
    module="SpatialAdaptiveAveragePooling",
    reference=lambda input, osizeW, osizeH: F.adaptive_avg_pool2d(input, (osizeH, osizeW)),
    any_size={"gradOutput": (2, 3)},
    samples=_spatial_samples("osize"),
    error_inputs=_adaptive_error_inputs("osize", 2),
    rows=(
        _adaptive_row("SpatialAdaptiveAveragePooling", (8, 256, 56, 56), (7, 7)),
        _adaptive_row("SpatialAdaptiveAveragePooling", (16, 512, 13, 13), (7, 7)),
        _adaptive_row("SpatialAdaptiveAveragePooling", (32, 512, 14, 14), (1, 1)),
    ),
)

VOLUMETRIC_ADAPTIVE_AVERAGE_POOLING = Case(
    module="VolumetricAdaptiveAveragePooling",
    reference=lambda input, osizeT, osizeW, osizeH: F.adaptive_avg_pool3d(input, (osizeT, osizeH, osizeW)),
    any_size={"gradOutput": (2, 3, 4)},
    samples=(
        _adaptive("osize", "batch", distinct(2, 3, 4, 5, 7), (2, 3, 2)),
        _adaptive("osize", "batchless", distinct(2, 3, 4, 3), (1, 2, 3)),
        _adaptive("osize", "one region", distinct(2, 2, 2, 3, 4), (1, 1, 1)),
        _adaptive("osize", "more regions than elements", distinct(1, 2, 2, 1, 3), (3, 2, 4)),
        _adaptive("osize", "sizes 1", distinct(1, 1, 1, 1, 1), (1, 1, 1)),
        _adaptive("osize", "empty", distinct(0, 3, 4, 5, 7), (2, 3, 2)),
        _adaptive("osize", "many rows", normal(2, 17, 5, 19, 23), (3, 7, 5), small=False),
    ),
    error_inputs=_adaptive_error_inputs("osize", 3),
    rows=(_adaptive_row("VolumetricAdaptiveAveragePooling", (4, 64, 8, 28, 28), (2, 7, 7)),),
)


def _adaptive_max(input: Tensor, owidth: int, oheight: int) -> tuple[Tensor, dict[str, Tensor]]:
    output, indices = F.adaptive_max_pool2d(input, (oheight, owidth), return_indices=True)
    return output, {"indices": indices}


SPATIAL_ADAPTIVE_MAX_POOLING = Case(
    module="SpatialAdaptiveMaxPooling",
    reference=_adaptive_max,
    baseline=lambda input, owidth, oheight: F.adaptive_max_pool2d(input, (oheight, owidth)),
    samples=(
        *_spatial_samples("o"),
        _adaptive("o", "equal values", whole(2, 3, 9, 11), (3, 4), small=False),
        _adaptive("o", "equal values, 17 channels", whole(2, 17, 9, 11), (4, 3), small=False),
        _adaptive("o", "only -inf", given([[[-math.inf] * 4] * 3]), (2, 3), small=False),
        _adaptive("o", "only NaN", given([[[math.nan] * 4] * 3]), (2, 3), small=False),
    ),
    error_inputs=(*_adaptive_error_inputs("o", 2), *_index_error_inputs(2, 3, 3, 2, elements=35)),
    rows=(
        _adaptive_row("SpatialAdaptiveMaxPooling", (8, 256, 56, 56), (7, 7), "o"),
        _adaptive_row("SpatialAdaptiveMaxPooling", (16, 512, 13, 13), (7, 7), "o"),
    ),
)


# --- fractional ---------------------------------------------------------------------------------------------


def _fractional(
    name: str,
    input: Maker,
    samples: tuple[int, ...],
    outputs: tuple[int, ...],
    pools: tuple[int, ...],
    small: bool = True,
) -> SampleInput:
    """Outputs and pools are in the order of the function's arguments."""
    letters = "TWH"[-len(outputs) :]
    arguments: dict[str, Any] = {
        "input": input,
        "randomSamples": uniform(*samples, low=0.01, high=0.99),
        **along("output", letters, outputs),
        **along("poolSize", letters, pools),
    }
    return SampleInput(name, arguments, differentiable=small)


def _fractional_max(
    pool: Callable[..., Any], input: Tensor, samples: Tensor, pools: tuple[int, ...], outputs: tuple[int, ...]
) -> tuple[Tensor, dict[str, Tensor]]:
    batched = samples if samples.dim() == 3 else samples[None]
    if input.numel() == 0:
        shape = (*input.shape[: -len(pools)], *outputs)
        return input.new_empty(shape), {"indices": torch.empty(shape, dtype=torch.int64)}
    output, indices = pool(input, pools, outputs, _random_samples=batched, return_indices=True)
    return output, {"indices": indices}


def _spatial_fractional(
    input: Tensor, outputW: int, outputH: int, poolSizeW: int, poolSizeH: int, randomSamples: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    pools, outputs = (poolSizeH, poolSizeW), (outputH, outputW)
    return _fractional_max(F.fractional_max_pool2d, input, randomSamples, pools, outputs)


def _volumetric_fractional(
    input: Tensor,
    outputT: int,
    outputW: int,
    outputH: int,
    poolSizeT: int,
    poolSizeW: int,
    poolSizeH: int,
    randomSamples: Tensor,
) -> tuple[Tensor, dict[str, Tensor]]:
    pools, outputs = (poolSizeH, poolSizeW, poolSizeT), (outputH, outputW, outputT)
    return _fractional_max(F.fractional_max_pool3d, input, randomSamples.flip(-1), pools, outputs)


def _fractional_error_inputs(letters: str, samples: tuple[int, ...]) -> tuple[ErrorInput, ...]:
    return (
        *(
            ErrorInput(f"{kind}{letter} {value}", {kind + letter: value}, ValueError, phase=p)
            for p in _PHASES
            for kind in ("output", "poolSize")
            for letter in letters
            for value in (0, -1, 7, 2**31 - 1)
        ),
        ErrorInput("a matrix", {"input": distinct(6, 7)}, ValueError, "input"),
        ErrorInput("samples of other planes", {"randomSamples": uniform(2, 4, len(letters))}, ValueError),
        ErrorInput("too few samples", {"randomSamples": uniform(2, 3, len(letters) - 1)}, ValueError),
        *(
            ErrorInput(
                f"sample {value}",
                {
                    "randomSamples": given(
                        [[[0.5] * len(letters)] * 3, [[0.1] * len(letters)] * 2 + [[value] * len(letters)]]
                    )
                },
                ValueError,
                "randomSamples",
            )
            for value in (-0.5, 1.5, math.nan, math.inf)
        ),
    )


SPATIAL_FRACTIONAL_MAX_POOLING = Case(
    module="SpatialFractionalMaxPooling",
    reference=_spatial_fractional,
    samples=(
        _fractional("batch", distinct(2, 3, 7, 8), (2, 3, 2), (4, 3), (2, 3)),
        _fractional("batchless", distinct(3, 9, 7), (3, 2), (3, 4), (2, 2)),
        _fractional("batchless, samples with N", distinct(3, 9, 7), (1, 3, 2), (3, 4), (2, 2)),
        _fractional("one region", distinct(2, 2, 4, 5), (2, 2, 2), (1, 1), (2, 3)),
        _fractional("regions of 1", distinct(2, 2, 6, 5), (2, 2, 2), (2, 3), (1, 1)),
        _fractional("empty", distinct(0, 3, 7, 8), (0, 3, 2), (4, 3), (2, 2)),
        _fractional("many rows", normal(2, 5, 41, 57), (2, 5, 2), (28, 20), (2, 2), small=False),
        _fractional("many channels", normal(2, 37, 9, 11), (2, 37, 2), (4, 5), (2, 3), small=False),
        _fractional("equal values", whole(2, 3, 9, 11), (2, 3, 2), (4, 3), (3, 3), small=False),
        _fractional("not finite", given(_NOT_FINITE), (1, 2), (3, 1), (2, 2), small=False),
    ),
    error_inputs=(*_fractional_error_inputs("WH", (2, 3, 2)), *_index_error_inputs(2, 3, 3, 4, elements=56)),
    rows=(
        Row(
            "SpatialFractionalMaxPooling 2x2 28x28 (8,64,56,56)",
            _fractional("row", normal(8, 64, 56, 56), (8, 64, 2), (28, 28), (2, 2)),
            bytes_moved=_pooled((8, 64, 56, 56), 2, (28, 28), 8),
            ratio=4,
            fraction=0.35,
        ),
    ),
)

VOLUMETRIC_FRACTIONAL_MAX_POOLING = Case(
    module="VolumetricFractionalMaxPooling",
    reference=_volumetric_fractional,
    samples=(
        _fractional("batch", distinct(2, 3, 7, 8, 6), (2, 3, 3), (2, 3, 4), (2, 2, 3)),
        _fractional("batchless", distinct(2, 6, 5, 4), (2, 3), (2, 3, 2), (2, 2, 2)),
        _fractional("one region", distinct(1, 2, 3, 4, 5), (1, 2, 3), (1, 1, 1), (2, 2, 2)),
        _fractional("empty", distinct(0, 3, 6, 7, 8), (0, 3, 3), (2, 3, 4), (2, 2, 2)),
        _fractional("many rows", normal(2, 3, 9, 11, 37), (2, 3, 3), (16, 4, 5), (2, 2, 2), small=False),
    ),
    error_inputs=(
        *_fractional_error_inputs("TWH", (2, 3, 3)),
        *_index_error_inputs(2, 3, 4, 3, 2, elements=336),
    ),
    rows=(
        Row(
            "VolumetricFractionalMaxPooling 2x2x2 14x14x8 (4,32,28,28,16)",
            _fractional("row", normal(4, 32, 28, 28, 16), (4, 32, 3), (8, 14, 14), (2, 2, 2)),
            bytes_moved=_pooled((4, 32, 28, 28, 16), 3, (14, 14, 8), 8),
            ratio=4,
            fraction=0.35,
        ),
    ),
)
