"""The case of NAME: its reference, samples, error inputs and rows of the benchmark."""

import torch

from thnn.testing.cases.makers import normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def reference(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    shape = [1, -1] + [1] * (input.dim() - 2)
    return input * weight.reshape(shape) + bias.reshape(shape)


def sample(name: str, *shape: int) -> SampleInput:
    arguments = {"input": normal(*shape), "weight": normal(shape[1]), "bias": normal(shape[1])}
    return SampleInput(name, arguments)


CASE = Case(
    module="NAME",
    reference=reference,
    samples=(sample("images", 2, 3, 4, 5), sample("vectors", 5, 3), sample("empty", 0, 3, 2, 2)),
    error_inputs=(
        ErrorInput("a vector", {"input": normal(3)}, ValueError, "input"),
        ErrorInput("other channels", {"weight": normal(4)}, ValueError, "weight"),
    ),
    rows=(Row("NAME (8,64,28,28)", sample("row", 8, 64, 28, 28)),),
)
