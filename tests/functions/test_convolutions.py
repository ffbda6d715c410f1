"""Convolutions and Linear: any geometry, sizes, strides and types."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import check, dtypes, layouts, shapes

from thnn.testing.cases.makers import along, normal


@st.composite
def convolutions(draw: st.DrawFn) -> dict[str, Any]:
    inputs, outputs = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    kW, kH = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    padW, padH = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    width = draw(st.integers(max(1, kW - 2 * padW), 14))
    height = draw(st.integers(max(1, kH - 2 * padH), 10))
    batch = draw(st.sampled_from([(), (0,), (1,), (3,)]))
    flat = draw(st.booleans())
    return {
        "input": normal(*batch, inputs, height, width),
        "weight": normal(outputs, inputs * kH * kW) if flat else normal(outputs, inputs, kH, kW),
        "bias": normal(outputs) if draw(st.booleans()) else None,
        "kW": kW,
        "kH": kH,
        "dW": draw(st.integers(1, 4)),
        "dH": draw(st.integers(1, 4)),
        "padW": padW,
        "padH": padH,
    }


@given(arguments=convolutions(), dtype=dtypes, enter=layouts)
@settings(max_examples=100)
def test_convolution(arguments: dict[str, Any], dtype: torch.dtype, enter: Any) -> None:
    check("SpatialConvolutionMM", arguments, dtype, enter)


@st.composite
def convolutions_with_groups(draw: st.DrawFn, transposed: bool) -> dict[str, Any]:
    dims, groups = draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 2, 3, 16, 17]))
    counts = st.sampled_from([1, 2, 3, 5, 8] if groups > 3 else [1, 2, 5, 9, 16, 17, 33])
    inputs, outputs = draw(counts), draw(counts)
    axes = []
    for _ in range(dims):
        kernel, stride, dilation = (draw(st.integers(1, n)) for n in (4, 4, 3))
        padding, reach = draw(st.integers(0, 4)), dilation * (kernel - 1) + 1
        added = draw(st.integers(0, max(stride, dilation) - 1)) if transposed else 0
        least = (2 * padding - reach - added) // stride + 2 if transposed else reach - 2 * padding
        size = max(1, least) + draw(st.integers(0, (40, 12, 6)[dims - 1]))
        axes.append((size, kernel, stride, padding, dilation, added))
    sizes, kernels, *scalars = zip(*axes)
    batch = draw(st.sampled_from([(), (0,), (1,), (3,)]))
    first, second = (inputs * groups, outputs) if transposed else (outputs * groups, inputs)
    arguments: dict[str, Any] = {
        "input": normal(*batch, inputs * groups, *sizes),
        "weight": normal(first, second, *kernels),
        "bias": normal(outputs * groups) if draw(st.booleans()) else None,
        "groups": groups,
    }
    for word, default, values in zip(("d", "pad", "dilation", "adj"), (1, 0, 1, 0), scalars):
        if word != "adj" or transposed:
            arguments |= along(word, "THW", (*[default] * (3 - dims), *values))
    return arguments


@pytest.mark.parametrize("module", ["Convolution", "FullConvolution"])
@given(data=st.data(), dtype=dtypes, enter=layouts)
@settings(max_examples=40)
def test_convolution_with_groups(module: str, data: st.DataObject, dtype: torch.dtype, enter: Any) -> None:
    check(module, data.draw(convolutions_with_groups(module == "FullConvolution")), dtype, enter)


@given(
    batch=st.one_of(st.just(()), shapes(1, 1, st.integers(0, 70))),
    inputs=st.integers(1, 70),
    outputs=st.integers(1, 70),
    bias=st.booleans(),
    dtype=dtypes,
    enter=layouts,
)
def test_linear(
    batch: tuple[int, ...], inputs: int, outputs: int, bias: bool, dtype: torch.dtype, enter: Any
) -> None:
    arguments = {"input": normal(*batch, inputs), "weight": normal(outputs, inputs)}
    check("Linear", {**arguments, "bias": normal(outputs) if bias else None}, dtype, enter)
