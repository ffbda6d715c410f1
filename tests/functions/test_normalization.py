"""Batch normalization: any sizes, strides and types."""

from __future__ import annotations

import math
from typing import Any

import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import check, dtypes, layouts, shapes

from thnn.testing.cases.makers import normal, uniform


@given(
    batch=st.integers(0, 40),
    channels=st.integers(0, 40),
    rest=shapes(0, 4, st.integers(1, 6)),
    given_weight=st.booleans(),
    given_bias=st.booleans(),
    train=st.booleans(),
    momentum=st.sampled_from([0.0, 0.1, 1.0]),
    eps=st.sampled_from([1e-3, 0.1]),
    dtype=dtypes,
    enter=layouts,
)
def test_batch_normalization(
    batch: int,
    channels: int,
    rest: tuple[int, ...],
    given_weight: bool,
    given_bias: bool,
    train: bool,
    momentum: float,
    eps: float,
    dtype: torch.dtype,
    enter: Any,
) -> None:
    # With few values the gradient is a small difference of large terms, too inaccurate in float32.
    assume(not train or batch * math.prod(rest) > (1 if dtype is torch.float64 else 5))
    C = channels
    arguments = {
        "input": normal(batch, C, *rest),
        "weight": normal(C) if given_weight else None,
        "bias": normal(C) if given_bias else None,
        "running_mean": normal(C),
        "running_var": uniform(C, low=0.5, high=2),
        "train": train,
        "momentum": momentum,
        "eps": eps,
    }
    check("BatchNormalization", arguments, dtype, enter)
