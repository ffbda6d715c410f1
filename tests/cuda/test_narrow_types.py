"""float16 and bfloat16: every value, rounding to the nearest, ties to even, and float16's range."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import thnn


def _all_values(dtype: torch.dtype) -> Tensor:
    return torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_every_value(dtype: torch.dtype) -> None:
    x = _all_values(dtype)
    y = thnn.AbsFunction.apply(x)
    assert torch.equal(y.isnan(), x.isnan())
    assert torch.equal(y[~x.isnan()], x.abs()[~x.isnan()])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rounding(dtype: torch.dtype) -> None:
    x = _all_values(dtype)
    x = x[x.isfinite()]
    for factor in (1.0, 0.37, 1e-3, 3.1e-5, 700.0):
        y = thnn.LeakyReLUFunction.apply(-x.abs(), factor, False)
        assert torch.equal(y, (-x.abs().float() * factor).to(dtype)), factor
    assert torch.equal(thnn.SquareFunction.apply(x), x.float().square().to(dtype))


@pytest.mark.parametrize(("values", "alpha", "k"), [(400.0, 10.0, 1.0), (0.01, 0.01, 0.0)])
def test_lrn_whose_scales_float16_cannot_hold(values: float, alpha: float, k: float) -> None:
    x = (torch.rand(2, 7, 3, 4) + 0.5).mul(values).half()
    results = []
    for dtype in (torch.float16, torch.float64):
        leaf = x.to(dtype, copy=True).requires_grad_()
        thnn.SpatialCrossMapLRNFunction.apply(leaf, size=5, alpha=alpha, beta=0.5, k=k).sum().backward()
        assert leaf.grad is not None
        results.append(leaf.grad.double())
    actual, expected = results
    assert torch.allclose(actual, expected, rtol=0, atol=4e-3 * expected.abs().max().item())
