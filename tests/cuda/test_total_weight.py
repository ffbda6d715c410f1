"""The sum of the weights of ClassNLLCriterion, which overflows float16."""

from __future__ import annotations

import pytest
import torch

import thnn


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("spatial", [False, True])
def test_more_targets_than_float16_counts(dtype: torch.dtype, spatial: bool) -> None:
    shape = (2, 2, 200, 200) if spatial else (80000, 2)
    function = thnn.SpatialClassNLLCriterionFunction if spatial else thnn.ClassNLLCriterionFunction
    input = torch.randn(shape).to(dtype).requires_grad_()
    target = torch.zeros((2, 200, 200) if spatial else 80000, dtype=torch.int64)
    loss = function.apply(input, target, None)
    # 1 / 80000 is subnormal in float16, so the loss is scaled.
    (gradient,) = torch.autograd.grad(loss, input, torch.tensor(8000.0, dtype=dtype))
    assert loss.dtype is dtype
    torch.testing.assert_close(
        gradient.select(1, 0), torch.full_like(gradient.select(1, 0), -0.1), rtol=0.01, atol=0
    )
