"""Strategies of hypothesis for sizes, types and strides, and the comparison with the reference that uses them."""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from thnn.testing.case_runner import TIGHT, CaseRunner, compare_all
from thnn.testing.cases import cases
from thnn.testing.cases.model import SampleInput

dtypes = st.sampled_from([torch.float32, torch.float64])
small = st.integers(1, 5)


def shapes(
    least: int, most: int, sizes: st.SearchStrategy[int] = small
) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(sizes, min_size=least, max_size=most).map(tuple)


def strided(seed: int, name: str, tensor: Tensor) -> Tensor:
    """The same values with random strides: dimensions in any order, with gaps, at any offset."""
    choice = torch.Generator().manual_seed(zlib.crc32(f"{seed} {name}".encode()))

    def draw(count: int) -> int:
        return int(torch.randint(count, (), generator=choice))

    if not seed or not tensor.dim() or draw(4) == 0:
        return tensor
    order = torch.randperm(tensor.dim(), generator=choice).tolist()
    steps = [1 + draw(2) for _ in order]
    size = [tensor.shape[d] * step + draw(3) for d, step in zip(order, steps)]
    memory = torch.full(size, math.nan if tensor.is_floating_point() else -77, dtype=tensor.dtype)
    view = memory[tuple(slice(None, tensor.shape[d] * step, step) for d, step in zip(order, steps))]
    view = view.permute([order.index(d) for d in range(tensor.dim())])
    assert view.shape == tensor.shape
    return view.copy_(tensor)


layouts = st.integers(0, 2**32).map(lambda seed: functools.partial(strided, seed))


def check(
    module: str, arguments: dict[str, Any], dtype: torch.dtype, enter: Callable[[str, Tensor], Tensor]
) -> None:
    """A sample in some type and layout against the reference."""
    case = cases()[module]
    runner = CaseRunner(case, SampleInput(str(arguments.keys()), arguments), dtype)
    tolerance = TIGHT if dtype is torch.float64 else case.tolerance
    expected = runner.expected()
    for key, tensor in expected.items():
        if tensor.is_floating_point() and dtype is torch.float32:
            lowest = tensor == torch.finfo(torch.float64).min
            expected[key] = tensor.masked_fill(lowest, torch.finfo(torch.float32).min)
    compare_all(runner, "", runner.run(enter), expected, tolerance)
