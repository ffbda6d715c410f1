"""Makers of case tensors, which take a torch.Generator and return a tensor; samples and settings that several cases
share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor

from thnn.testing.cases.model import Maker, SampleInput


def normal(*shape: int, scale: float = 1.0, shift: float = 0.0) -> Maker:
    """Normally distributed values."""

    def maker(generator: Generator) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64) * scale + shift

    return maker


def uniform(*shape: int, low: float = 0.0, high: float = 1.0) -> Maker:
    """Random values, uniformly distributed between `low` and `high`."""

    def maker(generator: Generator) -> Tensor:
        return torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low

    return maker


def distinct(*shape: int) -> Maker:
    """Values in random order, at least 0.1 apart: no two are equal, and a finite difference does not reorder
    them."""

    def maker(generator: Generator) -> Tensor:
        count = math.prod(shape)
        values = torch.randperm(count, generator=generator).to(torch.float64)
        return (values / 10 - count / 20).reshape(shape)

    return maker


def whole(*shape: int, high: int = 3) -> Maker:
    """Small whole numbers, many of them equal."""

    def maker(generator: Generator) -> Tensor:
        return torch.randint(high, shape, generator=generator).to(torch.float64)

    return maker


def classes(*shape: int, count: int) -> Maker:
    """Class numbers from 0 to `count` - 1."""

    def maker(generator: Generator) -> Tensor:
        return torch.randint(count, shape, generator=generator)

    return maker


def given(values: Sequence[Any] | float, dtype: torch.dtype = torch.float64) -> Maker:
    """The given values."""

    def maker(generator: Generator) -> Tensor:
        return torch.tensor(values, dtype=dtype)

    return maker


def constant(*shape: int, value: float = 0.0) -> Maker:
    """One value everywhere."""

    def maker(generator: Generator) -> Tensor:
        return torch.full(shape, value, dtype=torch.float64)

    return maker


def expanded(*shape: int) -> Maker:
    """One element expanded to a tensor of any size, with strides of 0."""

    def maker(generator: Generator) -> Tensor:
        return torch.zeros((), dtype=torch.float64).expand(shape)

    return maker


def flops(multiply_adds: float) -> dict[str, float]:
    """Floating-point operations of a row by phase: gradInput and gradWeight each need as many as the output."""
    return {"fwd": 2.0 * multiply_adds, "fb": 6.0 * multiply_adds}


def along(kind: str, axes: str, sizes: Sequence[int]) -> dict[str, int]:
    """Scalars of a geometry: ``along("pad", "WH", (1, 0))`` is ``{"padW": 1, "padH": 0}``."""
    return {kind + axis: size for axis, size in zip(axes, sizes, strict=True)}


def convolution_sample(
    name: str,
    shape: Sequence[int],
    outputs: int,
    kernel: Sequence[int],
    stride: Sequence[int] | None = None,
    padding: Sequence[int] | None = None,
    dilation: Sequence[int] | None = None,
    bias: bool = True,
    flat: bool = False,
    small: bool = True,
) -> SampleInput:
    """A sample of images or volumes, by the length of `kernel`; with dilation, a sample of the dilated module.

    Kernel, stride, padding and dilation are (width, height) or (depth, width, height).
    """
    n = len(kernel)
    axes, inputs = "TWH"[-n:], shape[-1 - n]
    rows_first = (*kernel[:-2], kernel[-1], kernel[-2])
    arguments: dict[str, Any] = {
        "input": normal(*shape),
        "weight": normal(outputs, inputs * math.prod(kernel))
        if flat
        else normal(outputs, inputs, *rows_first),
        **along("k", axes, kernel),
        **along("d", axes, stride or (1,) * n),
        **along("pad" if n == 2 or dilation else "p", axes, padding or (0,) * n),
        **(along("dilation", axes, dilation) if dilation else {}),
    }
    if bias:
        arguments["bias"] = normal(outputs)
    return SampleInput(name, arguments, differentiable=small)
