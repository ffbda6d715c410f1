"""The error for an element that a kernel refuses has its value and position, as on the CPU.

On a GPU, the error is raised by the next call, after the kernel has ended, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import thnn


def _wrong(shape: tuple[int, ...], position: int) -> Tensor:
    """Zeros, with 9 at one position; the elements of a matrix are in memory column by column."""
    numbers = torch.zeros(shape, dtype=torch.int64)
    numbers.view(-1)[position] = 9
    return numbers.t().contiguous().t() if len(shape) == 2 else numbers


def _table() -> Tensor:
    return torch.randn(4, 3)


def _scores() -> Tensor:
    return torch.randn(3, 4)


_CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "LookupTable": (
        lambda: thnn.LookupTableFunction.apply(_wrong((3, 4), 7), _table()),
        "LookupTable_updateOutput: input: expected a number from 0 to 3, got 9 at position 7",
    ),
    "LookupTableBag": (
        lambda: thnn.LookupTableBagFunction.apply(_wrong((3, 4), 6), None, _table()),
        "LookupTableBag_updateOutput: input: expected a number from 0 to 3, got 9 at position 6",
    ),
    "offsets": (
        lambda: thnn.LookupTableBagFunction.apply(
            torch.zeros(5, dtype=torch.int64), _wrong((3,), 2), _table()
        ),
        "LookupTableBag_updateOutput: offsets: expected a number from 0 to 5, got 9 at position 2",
    ),
    "ClassNLL": (
        lambda: thnn.ClassNLLCriterionFunction.apply(_scores(), _wrong((3,), 1)),
        "ClassNLLCriterion_updateOutput: target: expected a number from 0 to 3, got 9 at position 1",
    ),
    "SpatialClassNLL": (
        lambda: thnn.SpatialClassNLLCriterionFunction.apply(torch.randn(2, 4, 3, 5), _wrong((2, 3, 5), 23)),
        "SpatialClassNLLCriterion_updateOutput: target: expected a number from 0 to 3, got 9 at position 23",
    ),
    "MultiMargin": (
        lambda: thnn.MultiMarginCriterionFunction.apply(_scores(), _wrong((3,), 2)),
        "MultiMarginCriterion_updateOutput: target: expected a number from 0 to 3, got 9 at position 2",
    ),
    "MultiLabelMargin": (
        lambda: thnn.MultiLabelMarginCriterionFunction.apply(_scores(), _wrong((3, 4), 9)),
        "MultiLabelMarginCriterion_updateOutput: target: expected a number from 0 to 3, got 9 in row 2",
    ),
}


def _error(call: Callable[[], Any]) -> tuple[type[Exception], str]:
    """The type and the text of the exception of a call, without what a GPU adds."""
    is_late = torch.get_default_device().type == "cuda"
    with pytest.raises((IndexError, ValueError)) as caught:
        _call_twice(call) if is_late else call()
    text, *rest = str(caught.value).split(" in an earlier call, which had returned when the device found it")
    assert rest == ([""] if is_late else [])
    return caught.type, text


def _call_twice(call: Callable[[], Any]) -> None:
    call()
    torch.cuda.synchronize()
    thnn.AbsFunction.apply(torch.zeros(1))


@pytest.mark.parametrize("name", _CALLS)
def test_messages(name: str) -> None:
    call, message = _CALLS[name]
    assert _error(call) == (IndexError, message)


def test_connection_table() -> None:
    table = torch.tensor([[0.0, 1.0], [1.0, 0.5]])
    input, weight, bias = torch.randn(2, 5, 5), torch.randn(2, 3, 3), torch.randn(2)
    assert _error(
        lambda: thnn.SpatialConvolutionMapFunction.apply(input, weight, bias, table, 2, 2, 1, 1)
    ) == (
        IndexError,
        "SpatialConvolutionMap_updateOutput: connTable: expected a whole number from 0 to 1, got 0.5 in row 1",
    )


@pytest.mark.parametrize("count", [-1.0, float("nan")])
def test_merged_statistics_of_a_wrong_count_are_nan(count: float) -> None:
    parts = torch.ones(3, 5, dtype=torch.float64)
    parts[1, -1] = count
    merged = torch.zeros(5, dtype=torch.float64)
    backend = thnn.type2backend[torch.float32, torch.get_default_device()]
    assert _error(lambda: backend.BatchNormalization_mergeStatistics(0, parts, merged)) == (
        ValueError,
        f"BatchNormalization_mergeStatistics: parts: expected counts of at least 0, got {count:g} in part 1",
    )
    assert merged.isnan().all()
