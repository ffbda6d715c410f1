"""The case of NAME: its reference, samples, error inputs and rows of the benchmark."""

import torch

from thnn.testing.cases.makers import normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def reference(input: torch.Tensor, kW: int, dW: int) -> torch.Tensor:
    return input.unfold(2, kW, dW).mean(3)


def sample(name: str, *shape: int, kW: int = 3, dW: int = 2) -> SampleInput:
    return SampleInput(name, {"input": normal(*shape), "kW": kW, "dW": dW})


CASE = Case(
    module="NAME",
    reference=reference,
    samples=(
        sample("windows apart", 2, 3, 9),
        sample("overlapping windows", 2, 2, 8, dW=1),
        sample("empty", 0, 3, 5),
    ),
    error_inputs=(
        ErrorInput("a matrix", {"input": normal(3, 4)}, ValueError, "input"),
        ErrorInput("no window", {"kW": 0}, ValueError, "kW"),
        ErrorInput("a window too large", {"kW": 10}, ValueError, "input"),
    ),
    rows=(Row("NAME (8,64,1000)", sample("row", 8, 64, 1000)),),
)
