"""Padding: torch.nn.functional.pad, computed by thnn where it copies elements of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from thnn._binding.arguments import in_float32
from thnn._classes import function_classes

# Mode and number of padded dimensions -> the class of the function that pads.
_PADDINGS: dict[tuple[str, int], Any] = {
    ("reflect", 1): function_classes["TemporalReflectionPaddingFunction"],
    ("reflect", 2): function_classes["SpatialReflectionPaddingFunction"],
    ("replicate", 1): function_classes["TemporalReplicationPaddingFunction"],
    ("replicate", 2): function_classes["SpatialReplicationPaddingFunction"],
    ("replicate", 3): function_classes["VolumetricReplicationPaddingFunction"],
}


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """`input` extended by two numbers of elements per dimension, the last dimension first; negative numbers crop.

    Modes: thnn computes 'reflect' along one or two dimensions and 'replicate' along one to three, for inputs with one
    or two dimensions more, of float32, float64, float16 or bfloat16; torch computes the rest.
    Errors: TypeError for other types; ValueError for another number of dimensions, a padding that the mode does not
    allow ('circular': more elements than remain where the other number crops), an output without elements, and a
    `value` with a mode that takes none.
    """
    if len(pad) % 2:
        raise ValueError(f"expected two numbers for each dimension in pad, got {pad!r}")
    function = _PADDINGS.get((mode, len(pad) // 2))
    if function is None:
        if mode == "circular":
            _check_circular(input, pad)
        return F.pad(input, [*pad], mode, value)
    if value is not None and value != 0:
        raise ValueError(f"value: expected None or 0 for mode={mode!r}, got {value}")
    dims = len(pad) // 2
    if input.dim() not in (dims + 1, dims + 2):
        raise ValueError(
            f"input: expected {dims + 2} dimensions, or {dims + 1} without the batch, got shape {tuple(input.shape)}"
        )
    if input.is_cpu:
        (input,) = in_float32(input)
    output: Tensor = function.apply(input, *pad)
    return output


def _check_circular(input: Tensor, pad: Sequence[int]) -> None:
    """Raises ValueError for a padding longer than the elements that it repeats, those that negative padding on the
    other side leaves: torch reads uninitialized memory there."""
    for d in range(min(len(pad) // 2, input.dim())):
        before, after = pad[2 * d], pad[2 * d + 1]
        rest = input.shape[-1 - d] + min(before, 0) + min(after, 0)
        if min(before, after) < 0 and max(before, after) > rest:
            raise ValueError(
                f"pad: expected at most the {max(rest, 0)} elements that remain along dimension {-1 - d} for"
                f" mode='circular', got {list(pad)}"
            )
