"""Layers of thnn.nn export to the same operators of ONNX as torch's layers."""

from __future__ import annotations

import io
from typing import Any

import onnx
import pytest
import torch
from onnx.reference import ReferenceEvaluator
from torch import Tensor, nn

import thnn

pytestmark = [
    pytest.mark.filterwarnings("ignore:.isinstance.treespec, LeafSpec:FutureWarning"),
    pytest.mark.filterwarnings("ignore:You are using the legacy TorchScript-based ONNX export"),
    pytest.mark.filterwarnings("ignore:The feature will be removed:DeprecationWarning"),
    pytest.mark.filterwarnings(
        "ignore:The tensor attributes self._flat_weights"
    ),  # of torch's recurrent layers
    pytest.mark.filterwarnings("ignore:Exporting a model while it is in training mode"),
]


_DYNAMO = pytest.mark.needs_torch("2.9", "torch.onnx.export(dynamo=True) of the layers")
EXPORTERS = [pytest.param(True, marks=_DYNAMO), False]


def exported(model: nn.Module, input: Tensor, dynamo: bool) -> Any:
    if dynamo:
        return torch.onnx.export(model, (input,), dynamo=True, verbose=False).model_proto
    file = io.BytesIO()
    torch.onnx.export(model, (input,), file, dynamo=False)
    return onnx.load_from_string(file.getvalue())


def check(model: nn.Module, input: Tensor, dynamo: bool) -> set[str]:
    """Compares the exported model with a plain call; returns the names of its operators."""
    graph = exported(model, input, dynamo)
    onnx.checker.check_model(graph)
    outputs = ReferenceEvaluator(graph).run(None, {graph.graph.input[0].name: input.numpy()})
    expected = model(input)
    expected = expected[0] if isinstance(expected, tuple) else expected
    torch.testing.assert_close(torch.from_numpy(outputs[0]), expected.detach())
    return {node.op_type for node in graph.graph.node}


@pytest.mark.parametrize("dynamo", EXPORTERS)
def test_network(dynamo: bool) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5)
    ).eval()
    nn.init.uniform_(model[1].bias)
    assert thnn.convert(model).fused
    assert {"Conv", "Relu", "MaxPool", "Gemm"} <= check(model, torch.randn(2, 3, 8, 8), dynamo)


@pytest.mark.parametrize(("activation", "operator"), [("relu", "Relu"), ("relu6", "Clip")])
@pytest.mark.parametrize("dynamo", EXPORTERS)
def test_rectified_batch_normalization(dynamo: bool, activation: Any, operator: str) -> None:
    model = thnn.nn.BatchNorm2d(3, activation=activation).eval()
    nn.init.constant_(model.weight, 8)
    assert check(model, torch.randn(2, 3, 4, 4), dynamo) >= {"BatchNormalization", operator}


@_DYNAMO
@pytest.mark.parametrize(
    ("layer", "shape", "operator"),
    [
        (thnn.nn.Conv2d(3, 4, 3, padding="same", padding_mode="reflect"), (2, 3, 8, 8), "Conv"),
        (thnn.nn.ConvTranspose2d(3, 4, 3), (2, 3, 8, 8), "ConvTranspose"),
        pytest.param(
            thnn.nn.LSTM(3, 4),
            (5, 2, 3),
            "LSTM",
            marks=pytest.mark.needs_torch("2.11", "torch.onnx.export(dynamo=True) of an LSTM"),
        ),
        (thnn.nn.Upsample(scale_factor=2, mode="bilinear"), (2, 3, 4, 4), "Resize"),
        (thnn.nn.Softmax(1), (2, 3), "Softmax"),
        (thnn.nn.SyncBatchNorm(3), (2, 3, 4), "BatchNormalization"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else None,
)
def test_layer(layer: nn.Module, shape: tuple[int, ...], operator: str) -> None:
    assert operator in check(layer.eval(), torch.randn(shape), dynamo=True)


def test_function() -> None:
    """Functions have no counterpart in the standard."""

    class Rectified(nn.Module):
        def forward(self, input: Tensor) -> Any:
            return thnn.ThresholdFunction.apply(input, 0, 0)

    with pytest.raises(NotImplementedError, match=r"ThresholdFunction: torch\.onnx\.export knows the layers"):
        exported(Rectified(), torch.ones(2), dynamo=False)


def test_option_of_training() -> None:
    """torch's batch normalization lacks it: the output of torch's layer would have other running statistics."""
    layer = thnn.nn.BatchNorm2d(3, first_batch="initialize")
    with pytest.raises(torch.onnx.errors.OnnxExporterError):
        exported(layer, torch.randn(2, 3, 4, 4), dynamo=True)
