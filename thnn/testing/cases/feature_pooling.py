"""Norms of windows that slide along the features."""

from __future__ import annotations

from torch import Tensor

from thnn.testing.cases.makers import given, normal, uniform
from thnn.testing.cases.model import Case, ErrorInput, Maker, Row, SampleInput

_PHASES = ("updateOutput", "updateGradInput")


def _reference(input: Tensor, power: float, width: int, stride: int, batchMode: bool) -> Tensor:
    seen = input.unfold(1 if batchMode else 0, width, stride)
    total = (seen**power).sum(-1)
    # The gradient of a window of zeros is 0, not 0 / 0.
    zero = total == 0
    total = total.masked_fill(zero, 1)
    return _root(total, power).masked_fill(zero, 0)


def _root(total: Tensor, power: float) -> Tensor:
    if power % 2 == 1:
        return total.sign() * total.abs() ** (1 / power)
    return total ** (1 / power)


def _sample(
    name: str, input: Maker, power: float, width: int, stride: int, batchMode: bool, small: bool = True
) -> SampleInput:
    arguments = {"input": input, "power": power, "width": width, "stride": stride, "batchMode": batchMode}
    return SampleInput(name, arguments, differentiable=small)


FEATURE_LP_POOLING = Case(
    module="FeatureLPPooling",
    reference=_reference,
    samples=(
        _sample("vectors", normal(3, 6), 2.0, 2, 2, True),
        _sample("one vector", normal(7), 2.0, 3, 1, False),
        _sample("planes", normal(2, 9, 3), 2.0, 3, 2, True),
        _sample("images", normal(2, 7, 2, 3), 2.0, 2, 4, True),
        _sample("one image", normal(7, 2, 3), 2.0, 3, 3, False),
        _sample("power 4", normal(2, 8), 4.0, 3, 1, True),
        _sample("power 3", normal(3, 8), 3.0, 3, 2, True),
        _sample("power 1", normal(3, 8), 1.0, 2, 1, True),
        _sample("power 2.5", uniform(2, 8, low=0.5, high=2), 2.5, 3, 2, True),
        _sample("widest", normal(2, 33), 2.0, 16, 4, True),
        _sample("empty", normal(0, 6), 2.0, 2, 2, True),
        _sample("one window", normal(1, 2), 2.0, 2, 1, True),
        _sample("large", normal(5, 65, 7, 9), 2.0, 4, 2, True, small=False),
        _sample("squares beyond float", given([[1e25, 2e25, 1e-30, 3e-30]]), 2.0, 2, 2, True, small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(f"{name} {value}", {name: value}, ValueError, name, p)
            for p in _PHASES
            for name, value in (
                ("power", 0.0),
                ("power", -2.0),
                ("power", float("nan")),
                ("width", 1),
                ("width", 17),
                ("stride", 0),
                ("stride", 5),
            )
        ),
        ErrorInput("fewer features than the width", {"width": 7}, ValueError, "input"),
        ErrorInput("a vector as a batch", {"input": normal(6)}, ValueError, "input"),
        ErrorInput("too many dimensions", {"input": normal(2, 6, 2, 2, 2)}, ValueError, "input"),
        ErrorInput(
            "too many dimensions without N",
            {"input": normal(6, 2, 2, 2), "batchMode": False},
            ValueError,
            "input",
        ),
        ErrorInput("other output", {"output": normal(3, 4)}, ValueError, "output", "updateGradInput"),
        ErrorInput(
            "other gradOutput", {"gradOutput": normal(3, 4)}, ValueError, "gradOutput", "updateGradInput"
        ),
    ),
    rows=(
        Row(
            "FeatureLPPooling 2 w4 s2 (128,1024)",
            _sample("row", normal(128, 1024), 2.0, 4, 2, True),
            bytes_moved={"fwd": 128 * 1024 * 6.0, "fb": 128 * 1024 * 18.0},
        ),
    ),
)
