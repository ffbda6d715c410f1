"""Point-wise functions and soft-max: any sizes, strides and types."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import check, dtypes, layouts, shapes

import thnn
from thnn.testing.cases.makers import normal

POINTWISE: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "Threshold": st.builds(
        lambda t, v, i: {"threshold": t, "val": min(t, v) if i else v, "inplace": i},
        st.sampled_from([-0.5, 0.0, 0.25]),
        st.sampled_from([-3.0, 0.0, 7.0]),
        st.booleans(),
    ),
    "LeakyReLU": st.builds(
        lambda n, i: {"negval": n, "inplace": i}, st.sampled_from([0.0, 0.01, 0.5]), st.booleans()
    ),
    "Sigmoid": st.just({}),
    "Tanh": st.just({}),
}


@pytest.mark.parametrize("module", POINTWISE)
@given(data=st.data(), shape=shapes(0, 6, st.integers(0, 5)), dtype=dtypes, enter=layouts)
def test_pointwise(
    module: str, data: st.DataObject, shape: tuple[int, ...], dtype: torch.dtype, enter: Any
) -> None:
    check(module, {"input": normal(*shape, scale=3), **data.draw(POINTWISE[module])}, dtype, enter)


@pytest.mark.parametrize("module", POINTWISE)
@given(data=st.data(), count=st.integers(0, 40000), start=st.integers(0, 70), dtype=dtypes)
@settings(max_examples=25)
def test_pointwise_of_any_length(
    module: str, data: st.DataObject, count: int, start: int, dtype: torch.dtype
) -> None:
    """The result for an element depends neither on its position in memory nor on its neighbours."""
    scalars = data.draw(POINTWISE[module])
    scalars.pop("inplace", None)
    whole = torch.randn(count + start, generator=torch.Generator().manual_seed(count), dtype=dtype) * 4
    apply = thnn.function_classes[module + "Function"].apply
    assert torch.equal(apply(whole[start:], **scalars), apply(whole, **scalars)[start:])
    backwards = apply(whole.flip(0), **scalars).flip(0)
    assert torch.equal(backwards, apply(whole, **scalars))


@pytest.mark.parametrize("module", ["SoftMax", "LogSoftMax"])
@given(
    shape=shapes(1, 4, st.integers(0, 9)),
    scale=st.sampled_from([0.1, 1.0, 4.0]),
    dtype=dtypes,
    enter=layouts,
)
def test_softmax(module: str, shape: tuple[int, ...], scale: float, dtype: torch.dtype, enter: Any) -> None:
    check(module, {"input": normal(*shape, scale=scale)}, dtype, enter)
