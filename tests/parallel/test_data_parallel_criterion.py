"""thnn.parallel.DataParallelCriterion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import thnn
from thnn.parallel import DataParallelCriterion


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("sizes", [(3, 2, 2), (1,), (5, 1)])
def test_criterion_equals_the_whole_batch(reduction: str, sizes: tuple[int, ...]) -> None:
    outputs = [torch.randn(n, 4, requires_grad=True) for n in sizes]
    target = torch.randint(4, (sum(sizes),))
    for criterion in (
        nn.CrossEntropyLoss(reduction=reduction),
        nn.MultiMarginLoss(reduction=reduction),
        nn.CrossEntropyLoss(torch.rand(4), ignore_index=2, reduction=reduction),
        F.cross_entropy,
    ):
        results = [
            DataParallelCriterion(criterion)(outputs, target),
            criterion(torch.cat(outputs), target),
        ]
        torch.testing.assert_close(*results)
        gradients = [torch.autograd.grad(r.sum(), outputs, retain_graph=True) for r in results]
        for a, b in zip(*gradients):
            torch.testing.assert_close(a, b)


def test_criterion_with_a_part_that_counts_nothing() -> None:
    outputs = [torch.randn(2, 4, requires_grad=True) for _ in range(2)]
    target = torch.tensor([-100, -100, 1, -100])
    loss = DataParallelCriterion(nn.CrossEntropyLoss())(outputs, target)
    expected = F.cross_entropy(torch.cat(outputs), target)
    torch.testing.assert_close(loss, expected)
    for a, b in zip(torch.autograd.grad(loss, outputs), torch.autograd.grad(expected, outputs)):
        torch.testing.assert_close(a, b)


def test_criterion_of_segmentation_with_its_own_count() -> None:
    outputs = [torch.randn(2, 4, 3, 3), torch.randn(1, 4, 3, 3)]
    target = torch.randint(4, (3, 3, 3))

    def loss(output: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(output, target, ignore_index=0)

    parallel = DataParallelCriterion(loss, count=lambda output, target: (target != 0).sum())
    torch.testing.assert_close(parallel(outputs, target), loss(torch.cat(outputs), target))
    torch.testing.assert_close(
        DataParallelCriterion(nn.CrossEntropyLoss(ignore_index=0))(outputs, target),
        loss(torch.cat(outputs), target),
    )


@pytest.mark.parametrize("average", [True, False])
def test_criterion_of_thnn(average: bool) -> None:
    outputs = [torch.randn(3, 4).log_softmax(1), torch.randn(2, 4).log_softmax(1)]
    target = torch.tensor([0, 3, 1, 1, 2])
    weights = torch.rand(4)
    nll = thnn.ClassNLLCriterionFunction(sizeAverage=average, weights=weights, ignore_index=3)
    torch.testing.assert_close(DataParallelCriterion(nll)(outputs, target), nll(torch.cat(outputs), target))
    images = [torch.randn(n, 4, 2, 3).log_softmax(1) for n in (3, 2)]
    targets = torch.randint(4, (5, 2, 3))
    spatial = thnn.SpatialClassNLLCriterionFunction(sizeAverage=average, weights=weights, ignore_index=3)
    torch.testing.assert_close(
        DataParallelCriterion(spatial)(images, targets), spatial(torch.cat(images), targets)
    )
    mse = thnn.MSECriterionFunction(average)
    other = torch.randn(5, 4)
    torch.testing.assert_close(DataParallelCriterion(mse)(outputs, other), mse(torch.cat(outputs), other))


def test_criterion_with_parameters_and_several_losses() -> None:
    class Centers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.center = nn.Parameter(torch.randn(3))

        def forward(self, output: tuple[Tensor, Tensor], target: Tensor, scale: float) -> dict[str, Any]:
            a, b = output
            return {
                "a": ((a - self.center) ** 2).mean() * scale,
                "both": [(a * b).mean(), (b - target).abs().mean()],
            }

    module = Centers()
    outputs = [(torch.randn(n, 3), torch.randn(n, 3)) for n in (3, 2)]
    target = torch.randn(5, 3)
    whole = tuple(torch.cat(column) for column in zip(*outputs))
    results = [DataParallelCriterion(module)(outputs, target, scale=2.0), module(whole, target, 2.0)]
    torch.testing.assert_close(*results)
    gradients = [torch.autograd.grad(r["a"], module.center) for r in results]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: DataParallelCriterion(3), TypeError, ["criterion", "int"]),  # type: ignore[arg-type]
        (lambda: DataParallelCriterion(F.l1_loss, count=3), TypeError, ["count", "int"]),  # type: ignore[arg-type]
        (lambda: DataParallelCriterion(F.l1_loss, "none"), ValueError, ["reduction", "'none'"]),  # type: ignore[arg-type]
        (
            lambda: DataParallelCriterion(F.l1_loss)(torch.ones(3), torch.ones(3)),
            TypeError,
            ["list", "Tensor"],
        ),
        (lambda: DataParallelCriterion(F.l1_loss)([], torch.ones(3)), ValueError, ["none"]),
        (lambda: DataParallelCriterion(F.l1_loss)([torch.ones(())]), ValueError, ["batch"]),
        (
            lambda: DataParallelCriterion(F.l1_loss)([torch.ones(3), torch.ones(2)], torch.ones(6)),
            ValueError,
            ["3 + 2", "6"],
        ),
        (lambda: DataParallelCriterion(lambda o: 1.0)([torch.ones(3)]), TypeError, ["tensors", "float"]),
    ],
)
def test_criterion_refuses(call: Callable[[], Any], kind: type[Exception], words: list[str]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_criterion_repr() -> None:
    assert "reduction='sum'" in repr(DataParallelCriterion(nn.L1Loss(reduction="sum")))
    assert "l1_loss" in repr(DataParallelCriterion(F.l1_loss))
