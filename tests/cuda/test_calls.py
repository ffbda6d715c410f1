"""Calls of the CUDA library through the binding, in the emulation."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import thnn
from thnn._binding import call

X = torch.randn(2, 4, 6, 6)
CALLS = {
    "max pooling": lambda: thnn.SpatialMaxPoolingFunction.apply(X, 2, 2, 2, 2, 0, 0, False),
    "bilinear": lambda: thnn.SpatialUpSamplingBilinearFunction.apply(X, 12, 12),
    "batch normalization": lambda: thnn.BatchNormalizationFunction.apply(
        X, torch.ones(4), torch.zeros(4), torch.zeros(4), torch.ones(4), True, 0.1, 1e-5
    ),
    "soft-max": lambda: thnn.SoftMaxFunction.apply(X),
}


@pytest.mark.parametrize("name", CALLS)
def test_outputs_are_allocated_in_c(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = CALLS[name]()

    def repeat(*arguments: Any) -> None:
        pytest.fail("the call was repeated from Python")

    monkeypatch.setattr(call, "_invoke", repeat)
    assert torch.equal(CALLS[name](), expected)
