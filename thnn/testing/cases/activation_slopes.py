"""Activations with slopes or gates: PReLU, RReLU, GatedLinear."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import expanded, given, normal, uniform
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput

_ROW_BYTES = 4 * 32 * 64 * 56 * 56


def _sloped(input: Tensor, slope: Tensor) -> Tensor:
    """input where it is positive, else slope * input; the masks keep 0 * inf out of the gradient of the slope."""
    is_positive = input > 0
    return input.masked_fill(~is_positive, 0) + slope * input.masked_fill(is_positive, 0)


def _prelu(input: Tensor, weight: Tensor, nOutputPlane: int = 0) -> Tensor:
    channel = 0 if input.dim() == 1 else 1
    return _sloped(
        input, weight.reshape([-1 if nOutputPlane and d == channel else 1 for d in range(input.dim())])
    )


def _channels(name: str, *shape: int, differentiable: bool = True) -> SampleInput:
    channels = shape[0] if len(shape) == 1 else shape[1]
    arguments = {"input": normal(*shape), "weight": uniform(channels), "nOutputPlane": channels}
    return SampleInput(name, arguments, differentiable)


def _shared(name: str, *shape: int) -> SampleInput:
    return SampleInput(name, {"input": normal(*shape), "weight": uniform(1), "nOutputPlane": 0})


_NOT_FINITE = given([[math.inf, math.nan, 1.0], [-math.inf, -1.0, 0.0]])

PRELU = Case(
    module="PReLU",
    reference=_prelu,
    baseline=lambda input, weight, nOutputPlane=0: F.prelu(input, weight),
    samples=(
        _channels("image", 2, 3, 5, 4),
        _channels("vector", 7),
        _channels("matrix", 4, 5),
        _channels("volume", 2, 3, 2, 3, 2),
        _channels("one channel", 3, 1, 4),
        _channels("sizes 1", 1, 3, 1, 1),
        _channels("empty", 0, 3, 2, 2),
        _channels("empty vectors", 2, 3, 0),
        _channels("many channels", 3, 2500, 2, differentiable=False),
        _channels("many elements", 3, 7, 61, 53, differentiable=False),
        _shared("shared", 2, 3, 5, 4),
        _shared("shared, without dimensions"),
        _shared("shared, vector", 9),
        _shared("shared, empty", 0, 3),
        SampleInput(
            "not finite",
            {"input": _NOT_FINITE, "weight": given([0.5, 0.25, 2.0]), "nOutputPlane": 3},
            differentiable=False,
        ),
    ),
    error_inputs=(
        ErrorInput("other channels", {"nOutputPlane": 4}, ValueError, "input"),
        ErrorInput("channels below 0", {"nOutputPlane": -1}, ValueError, "nOutputPlane"),
        ErrorInput("several shared slopes", {"nOutputPlane": 0}, ValueError, "weight: .* nOutputPlane"),
        ErrorInput("other channels", {"nOutputPlane": 4}, ValueError, "input", phase="updateGradInput"),
        ErrorInput("other channels", {"nOutputPlane": 4}, ValueError, "input", phase="accGradParameters"),
        ErrorInput("no dimensions", {"input": normal()}, ValueError, "input"),
    ),
    rows=(
        Row(
            "PReLU (32,64,56,56)",
            SampleInput("row", {"input": normal(32, 64, 56, 56), "weight": uniform(64), "nOutputPlane": 64}),
            ratio=5,
            fraction=0.45,
            bytes_moved={"fwd": 2 * _ROW_BYTES, "fb": 7 * _ROW_BYTES},
        ),
    ),
)


def _philox(seed: int, count: int) -> Tensor:
    """The first `count` random numbers of a seed: Philox4x32-10."""
    low = 0xFFFFFFFF
    counter = torch.arange(-(-count // 64) * 16)
    x = [counter & low, counter >> 32, torch.zeros_like(counter), torch.zeros_like(counter)]
    k0, k1 = seed & low, seed >> 32
    for _ in range(10):
        p, q = x[0] * 0xD2511F53, x[2] * 0xCD9E8D57
        x = [((q >> 32) & low) ^ x[1] ^ k0, q & low, ((p >> 32) & low) ^ x[3] ^ k1, p & low]
        k0, k1 = (k0 + 0x9E3779B9) & low, (k1 + 0xBB67AE85) & low
    words = torch.stack([word.reshape(-1, 16) for word in x], 1)
    return (words.reshape(-1)[:count] >> 8).to(torch.float64) / 2**24


def _rrelu(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    train: bool = False,
    inplace: bool = False,
    generator: torch.Generator | None = None,
) -> Tensor | tuple[Tensor, Mapping[str, Tensor]]:
    if not train:
        return _sloped(input, torch.full_like(input, (lower + upper) / 2))
    seed = int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())
    drawn = lower + _philox(seed, input.numel()).reshape(input.shape) * (upper - lower)
    noise = torch.where(input > 0, torch.ones_like(input), drawn)
    return input * noise, {"noise": noise}


def _torch_rrelu(
    input: Tensor, lower: float, upper: float, train: bool, inplace: bool = False, generator: Any = None
) -> Tensor:
    return F.rrelu(input, lower, upper, train)


def _random(name: str, *shape: int, differentiable: bool = True, **scalars: Any) -> SampleInput:
    arguments = {"input": normal(*shape), "lower": 0.1, "upper": 0.6, "train": True, **scalars}
    return SampleInput(name, arguments, differentiable)


RRELU = Case(
    module="RReLU",
    reference=_rrelu,
    baseline=_torch_rrelu,
    samples=(
        _random("image", 2, 3, 5, 4),
        _random("without dimensions"),
        _random("vector", 37),
        _random("sizes 1", 1, 3, 1, 1),
        _random("empty", 0, 3, 2, 2),
        _random("many elements", 3, 7, 61, 53, differentiable=False),
        _random("one slope", 5, 7, lower=0.25, upper=0.25),
        _random("slopes below 0", 5, 7, lower=-0.5, upper=0.5),
        _random("in place", 2, 3, 5, 4, inplace=True),
        _random("evaluation", 2, 3, 5, 4, train=False),
        _random("evaluation, slope below 0", 5, 7, lower=-0.5, upper=0.25, train=False),
        _random("evaluation in place", 2, 3, 5, 4, train=False, inplace=True),
        SampleInput(
            "not finite",
            {"input": _NOT_FINITE, "lower": 0.1, "upper": 0.6, "train": True},
            differentiable=False,
        ),
    ),
    error_inputs=(
        ErrorInput("bounds in wrong order", {"lower": 0.7}, ValueError, "upper"),
        ErrorInput("lower NaN", {"lower": math.nan}, ValueError, "lower"),
        ErrorInput("upper infinite", {"upper": math.inf}, ValueError, "upper"),
        ErrorInput("bounds in wrong order", {"lower": 0.7}, ValueError, "upper", phase="updateGradInput"),
        ErrorInput("too large", {"input": expanded(2**31, 2**31)}, ValueError),
    ),
    rows=(
        Row(
            "RReLU train (32,64,56,56)",
            SampleInput(
                "row", {"input": normal(32, 64, 56, 56), "lower": 0.125, "upper": 1 / 3, "train": True}
            ),
            ratio=6,
            fraction=0.3,
            random=True,
            bytes_moved={"fwd": 3 * _ROW_BYTES, "fb": 6 * _ROW_BYTES},
        ),
    ),
)


def _gated_linear(input: Tensor, dim: int) -> Tensor:
    a, b = input.chunk(2, dim)
    return a * torch.sigmoid(b)


def _gated(name: str, dim: int, *shape: int, differentiable: bool = True) -> SampleInput:
    return SampleInput(name, {"input": normal(*shape), "dim": dim}, differentiable)


GATED_LINEAR = Case(
    module="GatedLinear",
    reference=_gated_linear,
    baseline=F.glu,
    samples=(
        _gated("image", 1, 2, 4, 3, 5),
        _gated("first dimension", 0, 4, 3),
        _gated("last dimension", 2, 3, 2, 6),
        _gated("vector", 0, 38),
        _gated("sizes 1", 1, 1, 2, 1, 1),
        _gated("empty", 1, 0, 4, 2, 2),
        _gated("many elements", 1, 3, 6, 61, 53, differentiable=False),
        SampleInput(
            "extremes", {"input": given([1e30, -1.0, 2.0, 1e30, -1e30, 88.0]), "dim": 0}, differentiable=False
        ),
    ),
    error_inputs=(
        ErrorInput("dim below 0", {"dim": -1}, ValueError, "dim"),
        ErrorInput("dim too large", {"dim": 4}, ValueError, "dim"),
        ErrorInput("odd size", {"dim": 2}, ValueError, "input"),
        ErrorInput("no dimensions", {"input": normal(), "dim": 0}, ValueError, "dim"),
        ErrorInput("odd size", {"dim": 2}, ValueError, "input", phase="updateGradInput"),
    ),
    rows=(
        Row(
            "GatedLinear (32,64,56,56)",
            SampleInput("row", {"input": normal(32, 64, 56, 56), "dim": 1}),
            ratio=1.2,
            fraction=0.6,
            bytes_moved={"fwd": 1.5 * _ROW_BYTES, "fb": 4 * _ROW_BYTES},
        ),
    ),
)
