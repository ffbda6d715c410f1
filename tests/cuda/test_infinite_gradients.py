"""An infinite gradOutput reaches only the gradients that depend on it."""

from __future__ import annotations

import torch

import thnn


def test_an_input_of_0_adds_nothing_to_the_slope_of_prelu() -> None:
    input = torch.tensor([[0.0, -2.0], [1.0, -1.0]])
    weight = torch.full((2,), 0.25, requires_grad=True)
    (gradWeight,) = torch.autograd.grad(
        thnn.PReLUFunction.apply(input, weight, 2), weight, torch.tensor([[torch.inf, 3.0], [torch.inf, 1.0]])
    )
    assert gradWeight.tolist() == [0.0, -7.0]
