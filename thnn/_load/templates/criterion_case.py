"""The case of NAME: its reference, samples, error inputs and rows of the benchmark."""

import math

import torch

from thnn.testing.cases.makers import normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def reference(input: torch.Tensor, target: torch.Tensor, sizeAverage: bool = True) -> torch.Tensor:
    difference = input - target
    losses = torch.logaddexp(difference, -difference) - math.log(2)
    return losses.mean() if sizeAverage else losses.sum()


def sample(name: str, *shape: int, sizeAverage: bool = True) -> SampleInput:
    arguments = {"input": normal(*shape), "target": normal(*shape), "sizeAverage": sizeAverage}
    return SampleInput(name, arguments)


CASE = Case(
    module="NAME",
    reference=reference,
    samples=(
        sample("a matrix", 4, 5),
        sample("sum", 2, 3, 4, sizeAverage=False),
        sample("empty", 0, 3, sizeAverage=False),
    ),
    error_inputs=(ErrorInput("another size", {"target": normal(3)}, ValueError, "target"),),
    rows=(Row("NAME 64k", sample("row", 2**16)),),
)
