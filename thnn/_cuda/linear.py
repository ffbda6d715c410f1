"""Linear, by products of matrices."""

from __future__ import annotations

from collections.abc import Callable

import torch

from thnn._cuda.convolution import Scalars


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with plain strides in dimensions of one element, where any stride is allowed: cuBLAS refuses huge
    ones."""
    if 1 not in tensor.shape:
        return tensor
    strides = list(tensor.stride())
    for d in reversed(range(tensor.ndim)):
        if tensor.shape[d] == 1:
            strides[d] = tensor.shape[d + 1] * strides[d + 1] if d + 1 < tensor.ndim else 1
    return tensor.as_strided(tensor.shape, strides)


def linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """The product with the weight transposed, plus a bias (O) or (1, O)."""
    if bias is not None and bias.ndim != 1:
        bias = bias.flatten()
    return torch.nn.functional.linear(plain(input), plain(weight), bias)


def _update_output(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, scalars: Scalars
) -> tuple[torch.Tensor]:
    return (linear(input, weight, bias),)


def _update_grad_input(
    gradOutput: torch.Tensor, weight: torch.Tensor, scalars: Scalars
) -> tuple[torch.Tensor]:
    return (plain(gradOutput) @ plain(weight),)


def _acc_grad_parameters(
    input: torch.Tensor,
    gradOutput: torch.Tensor,
    bias: torch.Tensor | None,
    gradBias: torch.Tensor | None,
    scalars: Scalars,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    inputs, gradients = plain(torch.atleast_2d(input)), plain(torch.atleast_2d(gradOutput))
    has_bias = bias is not None and gradBias is not None
    return gradients.t() @ inputs, gradients.sum(0) if has_bias else None


FUNCTIONS: dict[str, Callable[..., tuple[torch.Tensor | None, ...] | None]] = {
    "Linear_updateOutput": _update_output,
    "Linear_updateGradInput": _update_grad_input,
    "Linear_accGradParameters": _acc_grad_parameters,
}
