"""Point-wise functions: any shape, element by element."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import constant, expanded, given, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput

_SHAPES = {
    "image": (2, 3, 5, 4),
    "without dimensions": (),
    "one element": (1,),
    "vector": (37,),
    "matrix": (5, 7),
    "volume": (2, 3, 2, 3, 2),
    "sizes 1": (1, 3, 1, 1),
    "six dimensions": (1, 2, 2, 1, 3, 2),
    "empty": (0, 3, 2, 2),
}
_EXTREMES = [
    0.0,
    -0.0,
    1e-310,
    -1e-310,
    1e-40,
    1e-8,
    -1e-8,
    20.0,
    -20.0,
    88.0,
    -88.0,
    745.0,
    -745.0,
    1e30,
    -1e30,
]


def _samples(**scalars: Any) -> tuple[SampleInput, ...]:
    return (
        *(
            SampleInput(name, {"input": normal(*shape, scale=2), **scalars})
            for name, shape in _SHAPES.items()
        ),
        SampleInput("many elements", {"input": normal(3, 70, 91), **scalars}, differentiable=False),
        SampleInput("extremes", {"input": given(_EXTREMES), **scalars}, differentiable=False),
        SampleInput(
            "not finite",
            {"input": given([math.nan, math.inf, -math.inf, 1.0]), **scalars},
            differentiable=False,
        ),
    )


def _row(name: str, **scalars: Any) -> Row:
    size = 4 * 32 * 64 * 56 * 56
    return Row(
        f"{name} (32,64,56,56)",
        SampleInput("row", {"input": normal(32, 64, 56, 56), **scalars}),
        ratio=0.95,
        best=0.95,
        channels_last=0.95,
        bytes_moved={"fwd": 2 * size, "fb": 5 * size},
    )


_TOO_LARGE = ErrorInput("too large", {"input": expanded(2**31, 2**31)}, ValueError)


def _threshold(input: Tensor, threshold: float, val: float, inplace: bool = False) -> Tensor:
    return torch.where(input <= threshold, torch.full_like(input, val), input)


def _torch_threshold(input: Tensor, threshold: float, val: float, inplace: bool = False) -> Tensor:
    return F.relu(input) if threshold == val == 0 else F.threshold(input, threshold, val)


_SIXTEEN = SampleInput("row", {"input": normal(16), "threshold": 0.0, "val": 0.0})

THRESHOLD = Case(
    module="Threshold",
    reference=_threshold,
    baseline=_torch_threshold,
    samples=(
        *_samples(threshold=0.0, val=0.0),
        SampleInput("other limits", {"input": normal(6, 7), "threshold": 0.5, "val": -2.0}),
        SampleInput("value above the limit", {"input": normal(6, 7), "threshold": -1.0, "val": 20.0}),
        SampleInput(
            "all at the limit", {"input": constant(5, value=0.25), "threshold": 0.25, "val": 3.0}, False
        ),
        SampleInput("in place", {"input": normal(2, 3, 5, 4), "threshold": 0.5, "val": 0.5, "inplace": True}),
    ),
    error_inputs=(
        ErrorInput("in place, value above the limit", {"val": 1.0, "inplace": True}, ValueError, "val"),
        ErrorInput(
            "in place, value above the limit",
            {"val": 1.0, "inplace": True},
            ValueError,
            "val",
            phase="updateGradInput",
        ),
        _TOO_LARGE,
    ),
    rows=(
        _row("Threshold", threshold=0.0, val=0.0),
        Row("Threshold 16 floats, no_grad", _SIXTEEN, phases=("fwd",), judged="fwd", ratio=0.25),
        Row("Threshold 16 floats", _SIXTEEN, phases=("fb",), ratio=0.667),
    ),
)


def _leaky_relu(input: Tensor, negval: float, inplace: bool = False) -> Tensor:
    return torch.where(input > 0, input, input * negval)


LEAKY_RELU = Case(
    module="LeakyReLU",
    reference=_leaky_relu,
    baseline=lambda input, negval, inplace=False: F.leaky_relu(input, negval),
    samples=(
        *_samples(negval=0.1),
        SampleInput("slope 0", {"input": normal(6, 7), "negval": 0.0}),
        SampleInput("slope below 0", {"input": normal(6, 7), "negval": -0.5}),
        SampleInput("in place", {"input": normal(2, 3, 5, 4), "negval": 0.25, "inplace": True}),
    ),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("LeakyReLU", negval=0.01),),
)

SIGMOID = Case(
    module="Sigmoid",
    reference=torch.sigmoid,
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("Sigmoid"),),
)

TANH = Case(
    module="Tanh",
    reference=torch.tanh,
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(
        Row(
            "Tanh (32,64,56,56)",
            SampleInput("row", {"input": normal(32, 64, 56, 56)}),
            ratio=3,
            fraction=0.6,
            bytes_moved={"fwd": 2 * 4 * 32 * 64 * 56 * 56, "fb": 5 * 4 * 32 * 64 * 56 * 56},
        ),
    ),
)
