"""Tensors in nested sequences and dictionaries."""

from __future__ import annotations

from typing import Any

import torch
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


def same(found: Any, expected: Any) -> bool:
    """True for the same values, up to rounding; other objects than tensors, numbers and strings are not compared."""
    a, b = leaves(found), leaves(expected)
    return len(a) == len(b) and all(map(_same_value, a, b))


def _same_value(found: Any, expected: Any) -> bool:
    if not isinstance(expected, Tensor):
        return type(found) is type(expected) and (
            found == expected or not isinstance(found, int | float | str)
        )
    try:
        torch.testing.assert_close(found, expected, equal_nan=True)
    except (AssertionError, TypeError):
        return False
    return True
