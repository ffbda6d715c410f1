"""Pooling: any windows, sizes, strides and types; indices of any values."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import check, dtypes, layouts, shapes

import thnn
from thnn.testing.cases.makers import constant, distinct, normal


@st.composite
def windows(draw: st.DrawFn) -> tuple[tuple[int, ...], dict[str, Any]]:
    """A shape of images, and windows on it."""
    shape = (*draw(shapes(1, 2, st.integers(1, 4))), draw(st.integers(1, 12)), draw(st.integers(1, 12)))
    kW, kH = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    scalars = {
        "kW": kW,
        "kH": kH,
        "dW": draw(st.integers(1, 5)),
        "dH": draw(st.integers(1, 5)),
        "padW": draw(st.integers(0, kW // 2)),
        "padH": draw(st.integers(0, kH // 2)),
        "ceil_mode": draw(st.booleans()),
    }
    assume(outputs(shape[-1], scalars, "W") > 0 and outputs(shape[-2], scalars, "H") > 0)
    return shape, scalars


def outputs(size: int, scalars: dict[str, Any], axis: str) -> int:
    k, d, p = (scalars[name + axis] for name in ("k", "d", "pad"))
    room = size + 2 * p - k
    out = (-(-room // d) if scalars["ceil_mode"] else room // d) + 1
    padded = scalars["padW"] > 0 or scalars["padH"] > 0
    return out - 1 if padded and (out - 1) * d >= size + p else out


@given(window=windows(), ties=st.booleans(), dtype=dtypes, enter=layouts)
def test_max_pooling(window: Any, ties: bool, dtype: torch.dtype, enter: Any) -> None:
    shape, scalars = window
    input = constant(*shape, value=1.0) if ties else distinct(*shape)
    check("SpatialMaxPooling", {"input": input, **scalars}, dtype, enter)


@given(window=windows(), counted=st.booleans(), dtype=dtypes, enter=layouts)
def test_average_pooling(window: Any, counted: bool, dtype: torch.dtype, enter: Any) -> None:
    shape, scalars = window
    check(
        "SpatialAveragePooling",
        {"input": normal(*shape), **scalars, "count_include_pad": counted},
        dtype,
        enter,
    )


@given(indices=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 13), min_size=6, max_size=6))
@settings(max_examples=100)
def test_indices_are_in_the_plane_or_refused(indices: list[int]) -> None:
    input, gradient, result = torch.randn(1, 3, 4), torch.randn(1, 2, 3), torch.full((1, 3, 4), 5.0)
    index = torch.tensor(indices).reshape(1, 2, 3)
    arguments = (0, input, gradient, result, index, 2, 2, 1, 1, 0, 0, False)
    backend = thnn.type2backend["torch.FloatTensor"]
    if all(-1 <= i < 12 for i in indices):
        backend.SpatialMaxPooling_updateGradInput(*arguments)
        expected = torch.zeros(12)
        for i, g in zip(indices, gradient.flatten()):
            if i >= 0:
                expected[i] += g
        torch.testing.assert_close(result, expected.reshape(1, 3, 4))
    else:
        with pytest.raises(IndexError, match="SpatialMaxPooling_updateGradInput: indices: "):
            backend.SpatialMaxPooling_updateGradInput(*arguments)
        assert (result == 5).all()


@pytest.mark.parametrize("format", [torch.contiguous_format, torch.channels_last])
def test_gradients_of_indices_outside_of_their_windows(format: torch.memory_format) -> None:
    torch.manual_seed(1)
    x = torch.randn(2, 3, 6, 8).to(memory_format=format).requires_grad_()
    y, indices = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    for n, c in ((0, 1), (1, 2)):  # only in these planes
        indices[n, c] = torch.randint(48, (3, 4))
    gradOutput = torch.randn_like(y)
    gradInput = torch.empty_like(x)
    backend = thnn.type2backend["torch.FloatTensor"]
    backend.SpatialMaxPooling_updateGradInput(
        0, x.detach(), gradOutput, gradInput, indices, 2, 2, 2, 2, 0, 0, False
    )
    expected = torch.zeros(2, 3, 48).scatter_add(2, indices.flatten(2), gradOutput.flatten(2))
    torch.testing.assert_close(gradInput, expected.reshape(2, 3, 6, 8))
