"""Settings and sizes with one value per axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._binding.arguments import describe

Size = int | Sequence[int]


def per_axis(name: str, value: Any, dims: int) -> tuple[Any, ...]:
    """One value per axis; a single value is for all axes."""
    # The check of an abstract class takes as long as the smallest kernels.
    if isinstance(value, int) or not isinstance(value, (tuple, list, Sequence)):
        return (value,) * dims
    if len(value) == 1:
        return (*value,) * dims
    if len(value) != dims:
        raise ValueError(f"{name}: expected one number for each of {dims} axes or one for all, got {value}")
    return tuple(value)


def check_output_sizes(name: str, sizes: Sequence[Any]) -> None:
    """Raises ValueError for sizes of an output that follow from the arguments `name`: a C function would name the size.

    Compiled code leaves this to the C function, since the comparison would limit the sizes that a program accepts.
    """
    if not torch.compiler.is_compiling():
        for size in sizes:
            if isinstance(size, int) and not 1 <= size < 1 << 31:
                raise ValueError(f"{name}: expected output sizes from 1 to 2^31 - 1, got {describe(size)}")


def scaled(size: Any, factor: float) -> Any:
    """size * factor, rounded down; symbolic or, in torch.jit.trace, a tensor if the size is."""
    return (size.double() * factor).long() if isinstance(size, Tensor) else torch.sym_int(size * factor)
