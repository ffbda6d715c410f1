"""Gradients of grid samplers as torch operations. The package describes their arguments and results."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import torch
from torch import Tensor

from thnn._derivatives.formulas.model import Formula
from thnn._derivatives.recomputation import recomputed_gradients


def _sampled(input: Tensor, grid: Tensor) -> Tensor:
    """The output of the forward: for each position the weighted sum of the corners of the cell around it."""
    sizes = input.shape[2:]
    positions = [(x + 1) / 2 * (size - 1) for x, size in zip(grid.flip(-1).unbind(-1), sizes)]
    lows = [position.detach().floor() for position in positions]
    flat = input.flatten(2)
    output = input.new_zeros(())
    for corner in product((0, 1), repeat=len(sizes)):
        index = torch.zeros_like(lows[0], dtype=torch.int64)
        weight = torch.ones_like(lows[0])
        inside = torch.ones_like(lows[0], dtype=torch.bool)
        for position, low, size, second in zip(positions, lows, sizes, corner):
            at = low + second
            inside = inside & (at >= 0) & (at < size)
            index = index * size + at.nan_to_num(0.0).clamp(0, size - 1).long()
            weight = weight * (position - low if second else 1 - (position - low))
        # A NaN position is outside, but its weights stay NaN.
        weight = torch.where(inside | weight.isnan(), weight, weight.new_zeros(()))
        taken = flat.gather(2, index.flatten(1).unsqueeze(1).expand(-1, flat.shape[1], -1))
        output = output + taken.unflatten(2, grid.shape[1:-1]) * weight.unsqueeze(1)
    return output


def _grid_sampler(needs: Any, gradOutput: Tensor, input: Tensor, grid: Tensor) -> dict[str, Tensor]:
    def outputs(*tensors: Tensor) -> tuple[Tensor]:
        return (_sampled(*tensors),)

    gradInput, gradGrid = recomputed_gradients(outputs, [input, grid], needs, [gradOutput])
    found = {"gradInput": gradInput, "gradGrid": gradGrid}
    return {name: gradient for name, gradient in found.items() if gradient is not None}


FORMULAS: Mapping[str, Formula] = {
    "SpatialGridSamplerBilinear": _grid_sampler,
    "VolumetricGridSamplerBilinear": _grid_sampler,
}
