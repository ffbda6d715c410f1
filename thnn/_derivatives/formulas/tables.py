"""Gradients of look-up tables as torch operations. The package describes their arguments and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from thnn._derivatives.formulas.model import Formula, LinearIn

_MAXIMUM = 2  # the mode of LookupTableBag


def _lookup_table(
    needs: Any, gradOutput: Tensor, input: Tensor, weight: Tensor, scaleGradByFreq: bool, paddingValue: int
) -> dict[str, Tensor]:
    rows = input.flatten()
    factor = (rows != paddingValue).to(weight.dtype)
    if scaleGradByFreq:
        factor = factor / torch.bincount(rows, minlength=len(weight))[rows]
    scaled = gradOutput.reshape(len(rows), weight.shape[1]) * factor.unsqueeze(1)
    return {"gradWeight": torch.zeros_like(weight).index_add(0, rows, scaled)}


def _lookup_table_bag(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    offsets: Tensor | None,
    weight: Tensor,
    bagSize: Tensor,
    maxIndices: Tensor,
    mode: int,
    scaleGradByFreq: bool,
    paddingValue: int,
) -> dict[str, Tensor]:
    if mode == _MAXIMUM:
        found = maxIndices >= 0
        return {
            "gradWeight": torch.zeros_like(weight).scatter_add(0, maxIndices.clamp(min=0), gradOutput * found)
        }
    rows = input.flatten()
    if offsets is None:
        bags = torch.arange(len(input), device=input.device).repeat_interleave(input.shape[1])
    else:
        entries = torch.arange(len(rows), device=rows.device)
        bags = torch.searchsorted(offsets.contiguous(), entries, right=True) - 1
    factor = (rows != paddingValue).to(weight.dtype)
    if mode == 1:
        factor = factor / bagSize[bags].clamp(min=1)
    if scaleGradByFreq:
        factor = factor / torch.bincount(rows, minlength=len(weight))[rows]
    return {"gradWeight": torch.zeros_like(weight).index_add(0, rows, gradOutput[bags] * factor.unsqueeze(1))}


LINEAR_IN: Mapping[str, LinearIn] = {
    "LookupTable": lambda values: "weight",
    "LookupTableBag": lambda values: None if values["mode"] == _MAXIMUM else "weight",
}

FORMULAS: Mapping[str, Formula] = {
    "LookupTable": _lookup_table,
    "LookupTableBag": _lookup_table_bag,
}
