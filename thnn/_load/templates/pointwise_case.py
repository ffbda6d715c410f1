"""The case of NAME: its reference, samples, error inputs and rows of the benchmark."""

import torch

from thnn.testing.cases.makers import normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def reference(input: torch.Tensor, beta: float) -> torch.Tensor:
    return input * torch.sigmoid(beta * input)


def sample(name: str, *shape: int, beta: float = 1.5) -> SampleInput:
    return SampleInput(name, {"input": normal(*shape), "beta": beta})


CASE = Case(
    module="NAME",
    reference=reference,
    samples=(sample("images", 2, 3, 4, 5), sample("a vector", 7, beta=0.5), sample("empty", 0, 3)),
    error_inputs=(
        ErrorInput(
            "another size", {"gradOutput": normal(2)}, ValueError, "gradOutput", phase="updateGradInput"
        ),
    ),
    rows=(Row("NAME (64,1000)", sample("row", 64, 1000)),),
)
