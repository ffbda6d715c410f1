"""Calls of the CUDA library through the binding."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import thnn
from thnn._binding import call

CALLS = {
    "max pooling": lambda x: thnn.SpatialMaxPoolingFunction.apply(x, 2, 2, 2, 2, 0, 0, False),
    "bilinear": lambda x: thnn.SpatialUpSamplingBilinearFunction.apply(x, 12, 12),
    "batch normalization": lambda x: thnn.BatchNormalizationFunction.apply(
        x, torch.ones(4), torch.zeros(4), torch.zeros(4), torch.ones(4), True, 0.1, 1e-5
    ),
    "soft-max": thnn.SoftMaxFunction.apply,
}


@pytest.mark.parametrize("name", CALLS)
def test_outputs_are_allocated_in_c(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(2, 4, 6, 6)
    expected = CALLS[name](x)

    def repeat(*arguments: Any) -> None:
        pytest.fail("the call was repeated from Python")

    monkeypatch.setattr(call, "_invoke", repeat)
    assert torch.equal(CALLS[name](x), expected)
