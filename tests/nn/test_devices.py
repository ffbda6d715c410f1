"""Functions that create tensors create them on the device of their arguments."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode

import thnn.nn.functional as F

# `t` makes fake tensors, which have only a shape and a device, as torch.compile sees them.
CALLS: dict[str, Callable[[Callable[..., Tensor]], Tensor]] = {
    "grid_sample": lambda t: F.grid_sample(t(2, 3, 8, 6), t(2, 4, 5, 2), align_corners=False),
    "max_pool3d": lambda t: F.max_pool3d(t(2, 3, 8, 8, 8), 2, return_indices=True)[1],
    "avg_pool2d": lambda t: F.avg_pool2d(t(2, 3, 8, 8), 3, padding=1, divisor_override=2),
    "nll_loss": lambda t: F.nll_loss(t(4, 5), t(4).long()),
    "cross_entropy": lambda t: F.cross_entropy(t(4, 5, 3), t(4, 3).long(), t(5)),
    "embedding_bag": lambda t: F.embedding_bag(t(6).long(), t(10, 4), t(2).long()),
}


@pytest.mark.parametrize("name", CALLS)
def test_functional_on_a_cuda_device(name: str) -> None:
    with FakeTensorMode():
        assert CALLS[name](lambda *shape: torch.empty(shape, device="cuda")).device.type == "cuda"
