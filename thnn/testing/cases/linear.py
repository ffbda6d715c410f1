"""Linear."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import flops, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    output = input @ weight.t()
    return output if bias is None else output + bias


def _sample(
    name: str, *batch: int, inputs: int, outputs: int, bias: bool = True, small: bool = True
) -> SampleInput:
    return SampleInput(
        name,
        {
            "input": normal(*batch, inputs),
            "weight": normal(outputs, inputs),
            "bias": normal(outputs) if bias else None,
        },
        differentiable=small,
    )


def _row(batch: int, inputs: int, outputs: int) -> Row:
    return Row(
        f"Linear {batch}x{inputs}x{outputs}",
        _sample("row", batch, inputs=inputs, outputs=outputs),
        ratio=1.9,
        fraction=0.85,
        flops=flops(batch * inputs * outputs),
    )


LINEAR = Case(
    module="Linear",
    reference=_linear,
    baseline=lambda input, weight, bias=None: F.linear(input, weight, bias),
    samples=(
        _sample("matrix", 4, inputs=5, outputs=3),
        _sample("vector", inputs=5, outputs=3),
        _sample("no bias", 3, inputs=4, outputs=6, bias=False),
        _sample("vector without bias", inputs=4, outputs=2, bias=False),
        _sample("batch of one", 1, inputs=3, outputs=5),
        _sample("one input", 4, inputs=1, outputs=3),
        _sample("one output", 4, inputs=3, outputs=1),
        _sample("sizes 1", 1, inputs=1, outputs=1),
        _sample("uneven sizes", 37, inputs=29, outputs=53, small=False),
        _sample("many terms", 9, inputs=4609, outputs=17, small=False),
        _sample("many rows", 2051, inputs=7, outputs=5, small=False),
        _sample("empty", 0, inputs=4, outputs=3),
        _sample("no inputs", 64, inputs=0, outputs=8),
        _sample("no outputs", 64, inputs=8, outputs=0),
    ),
    error_inputs=(
        ErrorInput("three dimensions", {"input": normal(2, 4, 5)}, ValueError, "input"),
        ErrorInput("no dimensions", {"input": normal()}, ValueError, "input"),
        ErrorInput("weight a vector", {"weight": normal(5)}, ValueError, "weight"),
        ErrorInput("weight of other inputs", {"weight": normal(3, 4)}, ValueError, "weight|input"),
        ErrorInput("weight transposed", {"weight": normal(5, 3)}, ValueError, "weight|input"),
        ErrorInput("bias a matrix", {"bias": normal(1, 3)}, ValueError, "bias"),
        ErrorInput("bias of other outputs", {"bias": normal(1)}, ValueError, "bias"),
        ErrorInput("gradOutput a vector", {"gradOutput": normal(3)}, ValueError, phase="updateGradInput"),
        ErrorInput("gradOutput a vector", {"gradOutput": normal(3)}, ValueError, phase="accGradParameters"),
        ErrorInput(
            "gradOutput transposed", {"gradOutput": normal(3, 4)}, ValueError, phase="updateGradInput"
        ),
    ),
    rows=(_row(512, 1024, 1024),),
)
