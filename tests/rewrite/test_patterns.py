"""The patterns of the pass: each fires, and refuses for each of its reasons."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from compiled import check, compiled
from torch import Tensor, nn

from thnn._rewrite.readers import VIEWS


class Network(nn.Module):
    """Layers, and a function of them and of the input."""

    def __init__(self, forward: Callable[..., Tensor], **layers: nn.Module) -> None:
        super().__init__()
        self.function = forward
        for name, layer in layers.items():
            self.add_module(name, layer)

    def forward(self, x: Tensor) -> Tensor:
        return self.function(self, x)


def images(*shape: int) -> Tensor:
    torch.manual_seed(1)
    return torch.randn(*(shape or (2, 3, 5, 5)), dtype=torch.float64)


def network(forward: Callable[..., Tensor]) -> Network:
    torch.manual_seed(0)
    layers = {"norm": nn.BatchNorm2d(3), "conv": nn.Conv2d(3, 3, 3), "linear": nn.Linear(5, 5)}
    model = Network(forward, **layers).double()
    with torch.no_grad():
        model.norm.weight.mul_(3)  # type: ignore[operator, union-attr]
    return model


def test_views_of_torch() -> None:
    """Every operator of torch whose result may share memory with its first argument counts as a view."""
    views = set()
    for schema in torch._C._jit_get_all_schemas():
        name, arguments = schema.name.removeprefix("aten::"), schema.arguments
        alias = arguments[0].alias_info if arguments else None
        is_view = alias is not None and not alias.is_write and any(r.alias_info for r in schema.returns)
        if is_view and schema.name.startswith("aten::") and not name.startswith("_"):
            views.add(name)
    of_sparse = {
        "ccol_indices",
        "coalesce",
        "col_indices",
        "crow_indices",
        "indices",
        "row_indices",
        "values",
    }
    of_inductor = {"lift_fresh", "slice_inverse"}
    assert views - VIEWS - of_sparse - of_inductor == set()


def without_gradient(x: Tensor) -> Tensor:
    with torch.no_grad():
        return F.relu(x)


FIRES: dict[str, tuple[Callable[..., Tensor], tuple[str, str]]] = {
    "batch norm and relu": (lambda m, x: F.relu(m.norm(x)), ("batch_norm", "with relu")),
    "batch norm and relu in place": (lambda m, x: m.norm(x).relu_(), ("batch_norm", "with relu")),
    "batch norm and relu6": (lambda m, x: F.relu6(m.norm(x)), ("batch_norm", "with relu6")),
    "batch norm and hardtanh": (
        lambda m, x: F.hardtanh(m.norm(x), 0, 2.5),
        ("batch_norm", "with hardtanh"),
    ),
    "batch norm and sum": (lambda m, x: m.norm(x) + x, ("batch_norm", "with the sum")),
    "sum and batch norm": (lambda m, x: torch.add(x, m.norm(x)), ("batch_norm", "with the sum")),
    "batch norm, sum and relu": (
        lambda m, x: (m.norm(x) + x).relu(),
        ("batch_norm", "with the sum and relu"),
    ),
    "batch norm, sum in place and relu6": (
        lambda m, x: F.relu6(m.norm(x).add_(x), inplace=True),
        ("batch_norm", "with the sum and relu6"),
    ),
    "batch norm after its residual": (
        lambda m, x: (m.conv(x.sin()).add_(m.norm(x[:, :, 1:-1, 1:-1]))).relu(),
        ("batch_norm", "with the sum and relu"),
    ),
    "convolution and relu": (lambda m, x: m.conv(x).relu(), ("conv2d", "overwritten by relu")),
    "linear and relu": (lambda m, x: F.relu(m.linear(x[0, 0])), ("linear", "overwritten by relu")),
    "convolution and leaky relu": (
        lambda m, x: m.conv(F.leaky_relu(m.conv(x), 0.1)),
        ("conv2d", "overwritten by leaky_relu"),
    ),
    "convolution and celu": (
        lambda m, x: F.celu(m.conv(x), 0.5) + 1,
        ("conv2d", "overwritten by celu"),
    ),
    "convolution and selu": (
        lambda m, x: F.selu(m.conv(x)) + 1,
        ("conv2d", "overwritten by selu"),
    ),
    "convolution and elu": (
        lambda m, x: F.elu(m.conv(x)) + 1,
        ("conv2d", "overwritten by elu"),
    ),
    "batch norm and leaky relu": (
        lambda m, x: torch.cat([F.leaky_relu(m.norm(x), 0.1), x], 1),
        ("batch_norm", "overwritten by leaky_relu"),
    ),
    "dropout of nothing": (
        lambda m, x: F.dropout(x.sigmoid(), 0.0),
        ("dropout", "returns its input here: left out"),
    ),
    "dropout in evaluation": (
        lambda m, x: F.dropout2d(x.sigmoid(), 0.5, training=False),
        ("dropout2d", "returns its input here: left out"),
    ),
    "flatten of a matrix": (
        lambda m, x: m.linear(x[0, 0].flatten(1)),
        ("flatten", "returns its input here: left out"),
    ),
}

APART: dict[str, tuple[Callable[..., Tensor], tuple[str, str]]] = {
    "batch norm with two readers": (
        lambda m, x: (y := m.norm(x)).relu() * y,
        ("batch_norm", "its result is also read by mul"),
    ),
    "batch norm and other bounds": (
        lambda m, x: F.hardtanh(m.norm(x)),
        ("batch_norm", "the bounds of hardtanh are not 0 and a number"),
    ),
    "a sum with a number": (lambda m, x: m.norm(x) + 1, ("batch_norm", "add is not a sum of two tensors")),
    "a sum with itself": (
        lambda m, x: (y := m.norm(x)) + y,
        ("batch_norm", "add is not a sum of two tensors"),
    ),
    "a sum with a factor": (
        lambda m, x: torch.add(m.norm(x), x, alpha=2),
        ("batch_norm", "add is not a sum of two tensors"),
    ),
    "a sum and another reader": (
        lambda m, x: (y := m.norm(x)) + x.sin() * y,
        ("batch_norm", "its result is also read by mul"),
    ),
    "a residual that is computed later": (
        lambda m, x: m.norm(x) + x.sin(),
        ("batch_norm", "sin comes between it and add"),
    ),
    "a residual of another type": (
        lambda m, x: x.float() + m.norm(x),
        ("batch_norm", "the tensors of add have different sizes, types or devices"),
    ),
    "a residual that is broadcast": (
        lambda m, x: x[:, :1] + m.norm(x),
        ("batch_norm", "the tensors of add have different sizes, types or devices"),
    ),
    "a residual that is overwritten": (
        lambda m, x: (y := x.sin()).add_(m.norm(x)) * y,
        ("batch_norm", "add_ overwrites the residual"),
    ),
    "convolution with two readers": (
        lambda m, x: (y := m.conv(x)).relu() * y,
        ("conv2d", "its result is also read by mul"),
    ),
    "a negative slope": (
        lambda m, x: F.leaky_relu(m.conv(x), -0.1).sigmoid(),
        ("conv2d", "the gradient of leaky_relu needs the input"),
    ),
    "a result that is overwritten": (
        lambda m, x: F.leaky_relu(m.conv(x)).mul_(2),
        ("conv2d", "mul_ may overwrite the result of leaky_relu"),
    ),
    "a result that thnn overwrites": (
        lambda m, x: F.leaky_relu(m.conv(x)).relu_(),
        ("conv2d", "relu may overwrite the result of leaky_relu"),
    ),
    "a result whose view is overwritten": (
        lambda m, x: F.leaky_relu(m.conv(x)).view(-1).mul_(2),
        ("conv2d", "view may overwrite the result of leaky_relu"),
    ),
    "a result of the network": (
        lambda m, x: F.elu(m.conv(x)),
        ("conv2d", "the caller may overwrite the result of elu"),
    ),
    "a change of the grad mode": (
        lambda m, x: without_gradient(m.norm(x)) + x,
        ("batch_norm", "_set_grad_enabled comes between it and relu"),
    ),
    "a view": (lambda m, x: m.linear(x).relu(), ("linear", "the result of linear may be a view")),
}


@pytest.mark.parametrize("name", FIRES)
def test_a_pattern_fires(name: str) -> None:
    function, expected = FIRES[name]
    report = check(network(function), images())
    assert [(entry.kind, entry.remark) for entry in report.fused] == [expected]
    assert not report.apart


@pytest.mark.parametrize("name", APART)
def test_a_pattern_refuses(name: str) -> None:
    function, expected = APART[name]
    report = check(network(function), images())
    assert "_set_grad_enabled" not in [entry.kind for entry in report.left]
    assert [(entry.kind, entry.remark) for entry in report.apart] == [expected]
    assert not report.fused


def test_dropout_that_draws_is_torchs() -> None:
    report = check(network(lambda m, x: F.dropout(x, 0.5)), images())
    assert "dropout" in [entry.kind for entry in report.left]
    assert not report.fused


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda m, x: F.relu(m.norm(x)), lambda y: y),
        (lambda m, x: F.relu(m.conv(x)), lambda y: y),
        (lambda m, x: F.relu(m.norm(x) + x), lambda y: y + images()),
    ],
)
def test_a_hook_keeps_neighbours_apart(
    function: Callable[..., Tensor], expected: Callable[[Tensor], Tensor]
) -> None:
    model, seen = network(function), []

    def hook(layer: nn.Module, inputs: Any, output: Tensor) -> None:
        seen.append(output)

    for layer in (model.norm, model.conv):
        layer.register_forward_hook(hook)  # type: ignore[operator, union-attr]
    call, reports = compiled(model)
    output, (before,) = call(images()), seen
    (report,) = reports
    assert not report.fused
    assert [entry.remark for entry in report.apart] == ["its result is also read by the caller"]
    assert before.min() < 0
    torch.testing.assert_close(output, expected(before).relu())


# Calls that stay torch's, with the type of the input and the reason.
LEFT: dict[str, tuple[Callable[..., Tensor], torch.dtype, str]] = {
    "integers": (
        lambda m, x: x.relu(),
        torch.int64,
        "relu: input: expected torch.float32, torch.float64, torch.float16 or torch.bfloat16, got torch.int64",
    ),
    "promotion": (
        lambda m, x: torch.sigmoid(x),
        torch.int64,
        "sigmoid: input: expected torch.float32, torch.float64, torch.float16 or torch.bfloat16, got torch.int64",
    ),
    "complex numbers": (lambda m, x: x.sigmoid().real, torch.complex64, "has torch.complex64"),
    "a wide window": (
        lambda m, x: F.max_pool3d(x, (1, 1, 300), padding=(0, 0, 150)),
        torch.float64,
        "max_pool3d: kernel_size",
    ),
}


@pytest.mark.parametrize("name", ["elu", "celu", "selu", "softplus", "local_response_norm"])
@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.mul_(2),
        lambda y: y.transpose(0, 1)[0].add_(1),
        lambda y: y.mT.add_(1),
        lambda y: F.relu(y, True),
    ],
)
def test_a_result_that_the_program_overwrites_is_torchs(name: str, write: Callable[[Tensor], Tensor]) -> None:
    function = partial(F.local_response_norm, size=2) if name == "local_response_norm" else getattr(F, name)
    report = check(network(lambda m, x: write(function(x))), images())
    (remark,) = {entry.remark for entry in report.left if entry.kind == name}
    assert remark.endswith("overwrites its result, which the backward of thnn's function reads")


@pytest.mark.parametrize("name", LEFT)
def test_a_call_that_thnn_does_not_compute_stays_torchs(name: str) -> None:
    function, dtype, reason = LEFT[name]
    x = (images(1, 2, 2, 300) if name == "a wide window" else images() * 3).to(dtype)
    report = check(network(function).to(dtype if dtype.is_floating_point else torch.float64), x, 1e-2)
    assert not report.fused
    assert not report.replaced
    assert any(entry.remark.startswith(reason) for entry in report.left), report


def test_a_device_that_thnn_lacks() -> None:
    call, reports = compiled(network(lambda m, x: m.conv(x)).to("meta"))
    assert call(images().to("meta")).shape == (2, 3, 3, 3)
    assert [(e.kind, e.remark) for e in reports[0].left] == [("conv2d", "on meta")]


def test_autocast_has_torchs_types() -> None:
    call, reports = compiled(network(lambda m, x: F.conv2d(m.conv(x.sigmoid()), m.conv.weight)).float())
    with torch.autocast("cpu", torch.bfloat16):
        output = call(images().float())
    assert output.dtype is torch.bfloat16
    assert [entry.kind for entry in reports[0].replaced] == ["sigmoid"]
    first, second = reports[0].left
    assert first.remark.startswith("would return torch.float32")
    assert second.remark == "torch.autocast casts its tensors"
