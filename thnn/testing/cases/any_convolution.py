"""Convolution and FullConvolution: one to three dimensions, with groups."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import flops, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput

_AXES = "THW"


def _per_axis(weight: Tensor, values: dict[str, int], name: str) -> tuple[int, ...]:
    return tuple(values[name + axis] for axis in _AXES[5 - weight.dim() :])


def _convolution(
    input: Tensor, weight: Tensor, groups: int, bias: Tensor | None = None, **scalars: int
) -> Tensor:
    function = (F.conv1d, F.conv2d, F.conv3d)[weight.dim() - 3]
    stride, padding, dilation = (_per_axis(weight, scalars, n) for n in ("d", "pad", "dilation"))
    return function(input, weight, bias, stride, padding, dilation, groups)


def _full_convolution(
    input: Tensor, weight: Tensor, groups: int, bias: Tensor | None = None, **scalars: int
) -> Tensor:
    function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[weight.dim() - 3]
    stride, padding, dilation, adj = (_per_axis(weight, scalars, n) for n in ("d", "pad", "dilation", "adj"))
    return function(input, weight, bias, stride, padding, adj, groups, dilation)


def _sample(
    name: str,
    shape: tuple[int, ...],
    outputs: int,
    kernel: tuple[int, ...],
    groups: int = 1,
    bias: bool = True,
    transposed: bool = False,
    small: bool = True,
    **others: tuple[int, ...],
) -> SampleInput:
    """Kernel, stride (d), padding (pad), dilation and adj are in the order of the axes, depth before height."""
    inputs, skip = shape[-len(kernel) - 1], 3 - len(kernel)
    first, second = (inputs, outputs // groups) if transposed else (outputs, inputs // groups)
    arguments: dict[str, Any] = {"input": normal(*shape), "weight": normal(first, second, *kernel)}
    if bias:
        arguments["bias"] = normal(outputs)
    defaults = {"d": 1, "pad": 0, "dilation": 1, **({"adj": 0} if transposed else {})}
    for word, default in defaults.items():
        values = (*[default] * skip, *others.get(word, [default] * len(kernel)))
        arguments |= {word + axis: value for axis, value in zip(_AXES, values)}
    arguments["groups"] = groups
    return SampleInput(name, arguments, differentiable=small)


_SAMPLES = (
    _sample("groups", (2, 4, 5, 6), 6, (3, 2), 2, d=(2, 1), pad=(1, 0), dilation=(1, 2)),
    _sample("batchless", (4, 5, 4), 2, (2, 3), 2, pad=(0, 1)),
    _sample("one group", (2, 3, 4, 5), 2, (2, 2), pad=(1, 1), bias=False),
    _sample("as many groups as channels", (2, 3, 5, 4), 6, (3, 3), 3, pad=(1, 1)),
    _sample("one dimension", (2, 4, 9), 2, (3,), 2, d=(2,), pad=(2,), dilation=(2,)),
    _sample("one dimension, batchless", (2, 7), 3, (2,), d=(3,)),
    _sample("three dimensions", (2, 2, 3, 4, 3), 4, (2, 2, 3), 2, d=(1, 2, 1), pad=(1, 0, 1)),
    _sample("three dimensions, batchless", (2, 3, 4, 3), 2, (2, 3, 2), dilation=(2, 1, 1)),
    _sample("kernel 1", (2, 6, 3, 4), 3, (1, 1), 3),
    _sample("stride above kernel", (1, 2, 9, 8), 2, (1, 2), 2, d=(4, 3)),
    _sample("sizes 1", (1, 1, 1, 1), 1, (1, 1)),
    _sample("empty", (0, 4, 5, 6), 6, (3, 2), 2, d=(2, 1), pad=(1, 0)),
    _sample("many channels", (2, 68, 9, 11), 36, (3, 3), 4, pad=(1, 1), small=False),
    _sample(
        "far kernel elements, far positions", (1, 2, 999), 2, (3,), 2, d=(133,), dilation=(200,), small=False
    ),
)
_FULL_SAMPLES = (
    _sample("groups", (2, 4, 3, 4), 6, (3, 2), 2, transposed=True, d=(2, 1), pad=(1, 0), adj=(1, 0)),
    _sample("batchless", (4, 3, 4), 2, (2, 3), 2, transposed=True, pad=(0, 1)),
    _sample("as many groups as channels", (2, 3, 3, 4), 6, (3, 3), 3, transposed=True, pad=(1, 1), d=(2, 2)),
    _sample("no bias", (2, 3, 4, 5), 2, (2, 2), transposed=True, bias=False),
    _sample("one dimension", (2, 4, 5), 2, (3,), 2, transposed=True, d=(2,), pad=(1,), adj=(1,)),
    _sample("one dimension, batchless", (2, 4), 3, (2,), transposed=True, d=(3,)),
    _sample(
        "three dimensions", (2, 2, 2, 3, 2), 4, (2, 2, 3), 2, transposed=True, d=(1, 2, 1), pad=(1, 0, 1)
    ),
    _sample("adj below the dilation", (1, 2, 3, 3), 2, (2, 2), transposed=True, dilation=(3, 2), adj=(2, 1)),
    _sample("empty", (0, 4, 3, 4), 6, (3, 2), 2, transposed=True),
    _sample("many channels", (2, 36, 7, 6), 68, (3, 3), 4, transposed=True, small=False, d=(2, 2)),
)

_PHASES = ("updateOutput", "updateGradInput", "accGradParameters")
_GEOMETRY = (
    ("stride 0", {"dW": 0}),
    ("stride below 0", {"dH": -1}),
    ("padding below 0", {"padW": -1}),
    ("dilation 0", {"dilationH": 0}),
    ("no groups", {"groups": 0}),
    ("groups below 0", {"groups": -2}),
    ("groups that do not divide", {"groups": 3}),
    ("other groups", {"groups": 4}),
    ("stride of an absent dimension", {"dT": 2}),
    ("padding of an absent dimension", {"padT": 1}),
    ("overflowing padding", {"padW": 2**31 - 1, "padH": 2**31 - 1}),
)
_ERROR_INPUTS = (
    *(ErrorInput(name, change, ValueError, phase=p) for p in _PHASES for name, change in _GEOMETRY),
    ErrorInput("input a matrix", {"input": normal(5, 6)}, ValueError, "input"),
    ErrorInput("no channels", {"input": normal(2, 0, 5, 6)}, ValueError, "input"),
    ErrorInput("other channels", {"input": normal(2, 6, 5, 6)}, ValueError, "weight"),
    ErrorInput("weight a matrix", {"weight": normal(6, 12)}, ValueError, "weight"),
    ErrorInput("weight of no dimensions", {"weight": normal()}, ValueError, "weight"),
    ErrorInput("bias of one", {"bias": normal(1)}, ValueError, "bias"),
)


def _row(name: str, channels: int, groups: int, transposed: bool = False) -> Row:
    shape = (8, channels, 28, 28)
    return Row(
        f"{name} 3x3 {channels}-{channels}, {groups} groups, at 28, batch 8",
        _sample("row", shape, channels, (3, 3), groups, transposed=transposed, pad=(1, 1)),
        flops=flops(8 * channels * 28 * 28 * channels // groups * 9),
    )


CONVOLUTION = Case(
    module="Convolution",
    reference=_convolution,
    samples=_SAMPLES,
    any_size={"weight": (2, 3)},
    error_inputs=(
        *_ERROR_INPUTS,
        ErrorInput("no window fits", {"input": normal(2, 4, 5, 2)}, ValueError, "input"),
    ),
    rows=(_row("Convolution", 128, 4), _row("Convolution", 128, 32)),
)

FULL_CONVOLUTION = Case(
    module="FullConvolution",
    reference=_full_convolution,
    samples=_FULL_SAMPLES,
    any_size={"weight": (2, 3)},
    error_inputs=(
        *_ERROR_INPUTS,
        *(ErrorInput("adj too large", {"adjH": 2}, ValueError, "adjH", p) for p in _PHASES),
        ErrorInput("nothing left", {"padW": 3}, ValueError, "input"),
    ),
    rows=(_row("FullConvolution", 128, 4, transposed=True),),
)
