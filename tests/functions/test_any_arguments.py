"""Arguments of any kind are computed or refused, with an error that names the function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import shapes

import thnn
from thnn.testing.error_inputs import ERRORS

wild = st.one_of(
    st.integers(-3, 8), st.sampled_from([-(2**31), 2**31 - 1, 2**30, 2**16, 65535, -(2**15), 2**31 - 2])
)


@pytest.mark.parametrize("module", ["SpatialMaxPooling", "SpatialAveragePooling", "SpatialConvolutionMM"])
@given(
    shape=shapes(0, 5, st.integers(0, 6)),
    weight=shapes(1, 5, st.integers(0, 4)),
    geometry=st.lists(wild, min_size=6, max_size=6),
    ceil_mode=st.booleans(),
)
@settings(max_examples=150)
def test_any_geometry_is_computed_or_refused(
    module: str, shape: tuple[int, ...], weight: tuple[int, ...], geometry: Sequence[int], ceil_mode: bool
) -> None:
    """For any numbers there is a result of the right shape, or an error; a meta call predicts it."""
    apply = thnn.function_classes[module + "Function"].apply
    tensors = [torch.ones(shape, device="meta")]
    scalars: list[Any] = list(geometry)
    if module == "SpatialConvolutionMM":
        tensors += [torch.ones(weight, device="meta"), torch.ones(weight[:1], device="meta")]
    else:
        scalars.append(ceil_mode)
    try:
        form = apply(*tensors, *scalars)
    except ERRORS as error:
        assert str(error).startswith(f"{module}_updateOutput: ")  # noqa: PT017
        with pytest.raises(type(error)):
            apply(*(torch.ones(t.shape) for t in tensors), *scalars)
        return
    assert form.dim() == len(shape)
    if form.numel() > 10**6 or max(geometry, key=abs) > 2**20:
        return  # more than a test should compute
    output = apply(*(torch.ones(t.shape) for t in tensors), *scalars)
    assert output.shape == form.shape
    assert output.isfinite().all()


anything = st.one_of(
    st.none(),
    st.booleans(),
    # Large geometries are tested with meta tensors, above.
    st.integers(-99, 99),
    st.integers(min_value=2**70),
    st.integers(max_value=-(2**70)),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from([torch.float32, torch.Tensor, [], (), {}, object()]),
    st.builds(
        lambda shape, dtype, device: torch.ones(shape, dtype=dtype, device=device),
        shapes(0, 5, st.integers(0, 3)),
        st.sampled_from([torch.float32, torch.float64, torch.int64, torch.int32, torch.bool, torch.float16]),
        st.sampled_from(["cpu", "cpu", "meta"]),
    ),
)


# One code checks the arguments of all functions; `make fuzz` draws more.
@pytest.mark.parametrize("name", thnn.functions())
@given(data=st.data())
@settings(max_examples=5)
def test_any_arguments_are_taken_or_refused(name: str, data: st.DataObject) -> None:
    function = thnn.functions()[name]
    arguments = [data.draw(anything) for a in function.arguments if a.role != "state"]
    backend = data.draw(st.sampled_from(["THNNFloatBackend", "THNNDoubleBackend", "THNNBackend"]))
    try:
        getattr(thnn.type2backend[backend], name)(0, *arguments)
    except ERRORS as error:
        assert name in str(error)  # noqa: PT017
