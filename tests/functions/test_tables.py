"""Gradients of lookup tables that are not the derivative of the output: by frequency, and with padding."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import thnn


@pytest.mark.parametrize(
    "settings",
    [{"scaleGradByFreq": True}, {"paddingValue": 1}, {"scaleGradByFreq": True, "paddingValue": 2}],
    ids=str,
)
@pytest.mark.parametrize("name", ["LookupTableFunction", "LookupTableBagFunction"])
def test_gradients_with_a_graph_are_the_same(name: str, settings: dict[str, Any]) -> None:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(4, 3, dtype=torch.float64, generator=generator, requires_grad=True)
    input = torch.randint(4, (5, 6), generator=generator)
    output = getattr(thnn, name).apply(input=input, weight=weight, **settings)
    g = torch.randn(output.shape, dtype=torch.float64, generator=generator)
    (plain,) = torch.autograd.grad(output, weight, g, retain_graph=True)
    (with_graph,) = torch.autograd.grad(output, weight, g, create_graph=True)
    torch.testing.assert_close(with_graph, plain)


def test_index_linear_reads_an_expanded_weight() -> None:
    weight, bias = torch.randn(1, 4).expand(6, 4), torch.randn(4)
    keys, values = torch.tensor([0, 5, 3]), torch.randn(3)
    sizes, sums = torch.tensor([2, 1]), torch.tensor([2, 3])
    outputs = []
    for table in (weight, weight.clone()):
        outputs.append(torch.empty(2, 4))
        thnn.type2backend[torch.float32].IndexLinear_updateOutput(
            0, keys, 0, values, sizes, sums, outputs[-1], table, bias, torch.empty(0), 1
        )
    assert torch.equal(*outputs)
    with pytest.raises(ValueError, match="weight: is written, but several of its elements share one address"):
        thnn.type2backend[torch.float32].IndexLinear_updateOutput(
            0, keys, 0, values, sizes, sums, torch.empty(2, 0), weight, torch.empty(0), torch.empty(3), 1
        )


def test_an_lstm_leaves_its_gates_alone() -> None:
    input, hidden, cell = torch.randn(2, 12), torch.randn(2, 12), torch.randn(2, 3)
    before = hidden.clone()
    output, outputCell = thnn.LSTMFusedFunction.apply(input, hidden, cell=cell)
    assert torch.equal(hidden, before)
    assert output.shape == outputCell.shape == cell.shape
    hidden.requires_grad_()
    output, outputCell = thnn.LSTMFusedFunction.apply(input, hidden, cell=cell)
    assert torch.equal(hidden, before)
    output.sum().backward()  # without a gradient by outputCell
    assert hidden.grad is not None
