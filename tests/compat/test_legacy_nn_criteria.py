"""Tables, sparse layers and criteria like those of torch.legacy.nn (clients/legacy_nn.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import thnn

with thnn.compat:
    from clients import legacy_nn as nn

pytestmark = pytest.mark.usefixtures("compat")


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_lookup_table() -> None:
    torch.manual_seed(1)
    layer = nn.LookupTable(6, 3).double()
    for rows in (torch.LongTensor([1, 4, 4, 0]), torch.LongTensor([[1, 4], [4, 0], [5, 5]])):
        y = layer.forward(rows)
        g = torch.randn_like(y)
        layer.zeroGradParameters()
        layer.backward(rows, g)
        weight = layer.weight.clone().requires_grad_()
        (expected,) = torch.autograd.grad(F.embedding(rows, weight), weight, g)
        torch.testing.assert_close(layer.gradWeight, expected)
        for padding, by_frequency in ((4, False), (-1, True)):
            layer.paddingValue, layer.shouldScaleGradByFreq = padding, by_frequency
            layer.zeroGradParameters()
            layer.accGradParameters(rows, g, 2)
            (expected,) = torch.autograd.grad(
                F.embedding(rows, weight, padding if padding >= 0 else None, scale_grad_by_freq=by_frequency),
                weight,
                g,
            )
            torch.testing.assert_close(layer.gradWeight, 2 * expected)
        layer.paddingValue, layer.shouldScaleGradByFreq = -1, False
    # The buffers of the GPU, and one that type() converted.
    layer._sorted, layer._indices, layer._count = torch.LongTensor(), torch.LongTensor(), torch.IntTensor()
    layer._sorted = layer._sorted.double()
    layer.accGradParameters(rows, g)
    layer.maxNorm = 0.25
    layer.weight.copy_(torch.randn(6, 3))
    before = layer.weight.clone()
    layer.forward(torch.LongTensor([1, 4, 4, 0]))
    norms = before.norm(dim=1)
    for i in range(6):
        touched = i in (0, 1, 4) and norms[i] > 0.25
        torch.testing.assert_close(
            layer.weight[i], before[i] * (0.25 / norms[i] if touched else 1.0), rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("legacy", [False, True])
def test_sparse_linear(legacy: bool) -> None:
    torch.manual_seed(2)
    layer = nn.SparseLinear(5, 3, legacy).double()
    x = torch.zeros(2, 5).double()
    x[0, 1], x[0, 4], x[1, 0], x[1, 1] = 2, -1, 3, 0.5
    if legacy:
        rows = torch.DoubleTensor([[[2, 2], [5, -1]], [[1, 3], [2, 0.5]]])
    else:
        rows = torch.DoubleTensor([[1, 2, 2], [1, 5, -1], [2, 1, 3], [2, 2, 0.5]])
    y = layer.forward(rows)
    torch.testing.assert_close(y, F.linear(x, layer.weight, layer.bias))
    g = torch.randn_like(y)
    layer.zeroGradParameters()
    layer.backward(rows, g, 2)
    torch.testing.assert_close(layer.gradWeight, 2 * g.t().mm(x))
    torch.testing.assert_close(layer.gradBias, 2 * g.sum(0))
    before = layer.weight.clone()
    layer.updateParameters(0.1)
    torch.testing.assert_close(layer.weight, before - 0.1 * layer.gradWeight)
    layer.zeroGradParameters()
    assert not layer.gradWeight.any()
    assert not layer.gradBias.any()


def numbers(*size: int) -> Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(len(size)))


def between(*size: int) -> Tensor:
    return torch.rand(size, generator=torch.Generator().manual_seed(7 + len(size)))


CLASSES = torch.Tensor([1, 0, 3])
Loss = Callable[..., Tensor]

#: Name -> criterion, input, target, torch's loss.
CRITERIA: dict[str, tuple[Callable[[], Any], Tensor, Tensor, Loss]] = {
    "Abs": (lambda: nn.Criterion("AbsCriterion", True), numbers(3, 4), between(3, 4), F.l1_loss),
    "MSE": (lambda: nn.Criterion("MSECriterion", True), numbers(3, 4), between(3, 4), F.mse_loss),
    "SmoothL1": (
        lambda: nn.Criterion("SmoothL1Criterion", True),
        numbers(3, 4),
        between(3, 4),
        F.smooth_l1_loss,
    ),
    "BCE": (
        lambda: nn.Criterion("BCECriterion", True, None),
        numbers(3, 4).sigmoid(),
        between(3, 4),
        F.binary_cross_entropy,
    ),
    "DistKLDiv": (
        lambda: nn.Criterion("DistKLDivCriterion", True),
        numbers(3, 4).sigmoid().log(),
        between(3, 4),
        lambda x, y: (y * (y.log() - x)).mean(),
    ),
    "SoftMargin": (
        lambda: nn.Criterion("SoftMarginCriterion", True),
        numbers(3, 4),
        numbers(4, 3).t().sign(),
        F.soft_margin_loss,
    ),
    "Margin": (
        lambda: nn.Criterion("MarginCriterion", True, 1),
        numbers(6),
        (between(6) - 0.5).sign(),
        lambda x, y: (1 - x * y).clamp(min=0).mean(),
    ),
    "MultiMargin": (
        lambda: nn.Criterion("MultiMarginCriterion", True, 1, None, 1, long=True),
        numbers(3, 4),
        CLASSES,
        lambda x, y: F.multi_margin_loss(x, y.long()),
    ),
    "MultiLabelMargin": (
        lambda: nn.Criterion("MultiLabelMarginCriterion", True, buffer=torch.Tensor(), long=True),
        numbers(2, 4),
        torch.Tensor([[1, 0, -1, 2], [3, -1, 0, 0]]),
        lambda x, y: F.multilabel_margin_loss(x, y.long()),
    ),
    "L1Cost": (nn.L1Cost, numbers(3, 4), between(3, 4), lambda x, y: x.abs().sum()),
    "ClassNLL": (
        nn.ClassNLLCriterion,
        numbers(3, 4).log_softmax(1),
        CLASSES,
        lambda x, y: F.nll_loss(x, y.long()),
    ),
    "ClassNLL, weights": (
        lambda: nn.ClassNLLCriterion(weights=torch.Tensor([1, 2, 3, 4]), sizeAverage=False),
        numbers(3, 4).log_softmax(1),
        CLASSES,
        lambda x, y: F.nll_loss(x, y.long(), x.new_tensor([1, 2, 3, 4]), reduction="sum"),
    ),
    "SpatialClassNLL": (
        lambda: nn.ClassNLLCriterion("SpatialClassNLLCriterion"),
        numbers(2, 4, 3, 2).log_softmax(1),
        torch.arange(12).view(2, 3, 2) % 4,
        lambda x, y: F.nll_loss(x, y.long()),
    ),
}


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("kind", ["torch.DoubleTensor", "torch.FloatTensor"])
def test_criteria(name: str, kind: str) -> None:
    make, x, target, reference = CRITERIA[name]
    criterion, x, target = make().type(kind), x.type(kind), target.type(kind)
    expected = reference(leaf := x.clone().requires_grad_(), target)
    torch.testing.assert_close(criterion.forward(x, target), expected.detach())
    for shape in ((0,), (2, 2), (1,)):  # resized to one element
        criterion.output_tensor = x.new_empty(shape)
        torch.testing.assert_close(criterion.forward(x, target), expected.detach())
        assert criterion.output_tensor.shape == (1,)
    (grad,) = torch.autograd.grad(expected, leaf)
    torch.testing.assert_close(criterion.backward(x, target), grad)
    assert criterion.gradInput.type() == kind
