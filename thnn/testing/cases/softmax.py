"""SoftMax and LogSoftMax."""

from __future__ import annotations

import math

from torch import Tensor

from thnn.testing.cases.makers import expanded, given, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def _channels(input: Tensor) -> int:
    return 0 if input.dim() in (1, 3) else 1


def _softmax_samples() -> tuple[SampleInput, ...]:
    shapes = {
        "images": (2, 5, 3, 4),
        "image": (4, 3, 2),
        "matrix": (3, 7),
        "vector": (9,),
        "one class": (3, 1),
        "one class of images": (2, 1, 3, 2),
        "sizes 1": (1, 1, 1, 1),
        "one column": (2, 6, 5, 1),
        "empty": (0, 5, 3, 4),
        "empty matrix": (0, 5),
        "no classes": (3, 0),
    }
    extremes = [[1000.0, -1000.0, 999.0], [-1e30, -1e30, -1e30], [1e30, 0.0, -1e30], [-math.inf, 1.0, 2.0]]
    not_finite = [[math.nan, 0.0, 1.0], [1.0, 2.0, 3.0]]
    return (
        *(SampleInput(name, {"input": normal(*shape, scale=2)}) for name, shape in shapes.items()),
        SampleInput("many classes", {"input": normal(3, 1003)}, differentiable=False),
        SampleInput("many rows", {"input": normal(531, 37)}, differentiable=False),
        SampleInput("large images", {"input": normal(2, 21, 30, 37)}, differentiable=False),
        SampleInput("many classes of few pixels", {"input": normal(2, 600, 3, 5)}, differentiable=False),
        SampleInput("many classes of packed pixels", {"input": normal(2, 300, 4, 4)}, differentiable=False),
        SampleInput("extremes", {"input": given(extremes)}, differentiable=False),
        SampleInput("not finite", {"input": given(not_finite)}, differentiable=False),
    )


_SOFTMAX_ERROR_INPUTS = (
    ErrorInput("no dimensions", {"input": normal()}, ValueError, "input"),
    ErrorInput("five dimensions", {"input": normal(2, 3, 2, 2, 2)}, ValueError, "input"),
    ErrorInput("too large", {"input": expanded(2**31, 2**31)}, ValueError),
    ErrorInput(
        "five dimensions", {"output": normal(1, 2, 5, 3, 4)}, ValueError, "output", phase="updateGradInput"
    ),
    ErrorInput("output of another size", {"output": normal(2, 5, 4, 3)}, ValueError, phase="updateGradInput"),
)


def _softmax_rows(name: str) -> tuple[Row, ...]:
    images, matrix = 4.0 * 8 * 21 * 128 * 128, 4.0 * 256 * 1000
    return (
        Row(
            f"{name} (8,21,128,128)",
            SampleInput("row", {"input": normal(8, 21, 128, 128)}),
            ratio=1.3,
            fraction=0.5,
            bytes_moved={"fwd": 2 * images, "fb": 5 * images},
        ),
        Row(
            f"{name} (256,1000)",
            SampleInput("row", {"input": normal(256, 1000)}),
            ratio=0.95,
            bytes_moved={"fwd": 2 * matrix, "fb": 5 * matrix},
        ),
    )


SOFTMAX = Case(
    module="SoftMax",
    reference=lambda input: input.softmax(_channels(input)),
    samples=_softmax_samples(),
    error_inputs=_SOFTMAX_ERROR_INPUTS,
    rows=_softmax_rows("SoftMax"),
)

LOG_SOFTMAX = Case(
    module="LogSoftMax",
    reference=lambda input: input.log_softmax(_channels(input)),
    samples=_softmax_samples(),
    error_inputs=_SOFTMAX_ERROR_INPUTS,
    rows=_softmax_rows("LogSoftMax"),
)
