"""Tensors in nested sequences and dictionaries."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.fx.node import map_aggregate


def leaves(value: Any) -> list[Any]:
    """The values in a tuple, list or dictionary, and in those inside it; a list of the value if it is none of these."""
    found: list[Any] = []
    map_aggregate(value, found.append)
    return found


def tensors(value: Any) -> list[Tensor]:
    """The tensors among the `leaves`."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, Tensor)]
