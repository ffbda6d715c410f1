"""Tensors that gradients are computed for."""

from __future__ import annotations

import torch
from torch import Tensor


def leaf(*size: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Normally distributed values, the same for each size, that require a gradient."""
    generator = torch.Generator().manual_seed(sum(size))
    return torch.randn(size, dtype=dtype, generator=generator).requires_grad_()
