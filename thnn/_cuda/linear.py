"""Linear, by products of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def _update_output(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, **_: Any
) -> torch.Tensor:
    return torch.ops.aten.linear(input, weight, bias)


def _update_grad_input(gradOutput: torch.Tensor, weight: torch.Tensor, **_: Any) -> torch.Tensor:
    return gradOutput @ weight


def _acc_grad_parameters(
    input: torch.Tensor,
    gradOutput: torch.Tensor,
    bias: torch.Tensor | None,
    gradWeight: torch.Tensor,
    gradBias: torch.Tensor | None,
    scale: float,
    **_: Any,
) -> None:
    inputs, gradients = torch.atleast_2d(input), torch.atleast_2d(gradOutput)
    gradWeight.addmm_(gradients.t(), inputs, alpha=scale)
    if bias is not None and gradBias is not None:
        gradBias.add_(gradients.sum(0), alpha=scale)


FUNCTIONS: dict[str, Callable[..., torch.Tensor | None]] = {
    "Linear_updateOutput": _update_output,
    "Linear_updateGradInput": _update_grad_input,
    "Linear_accGradParameters": _acc_grad_parameters,
}
