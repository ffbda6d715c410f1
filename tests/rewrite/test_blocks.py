"""thnn.convert(model, trace=True): modules whose forward calls functions."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from models import MODELS, DenseLayer, FunctionalBlock, made
from torch import Tensor, nn

import thnn


def agree(a: nn.Module, b: nn.Module, x: Tensor) -> None:
    """Training and evaluation of the two models give the same outputs and gradients."""
    for mode in (True, False):
        results = []
        for model in (a, b):
            model.train(mode).zero_grad()
            torch.manual_seed(2)
            y = model(x)
            y.sin().sum().backward()
            results.append([y.detach(), *(p.grad for p in model.parameters())])
        torch.testing.assert_close(*results, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("with_example", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_traced_network_computes_the_same(name: str, with_example: bool) -> None:
    model, x = made(name)
    before = copy.deepcopy(model)
    report = thnn.convert(model, *((x,) if with_example else ()), trace=True)
    agree(before, model, x)
    functions = {"relu", "softmax", "conv2d", "batch_norm"}
    assert not functions & {entry.kind for entry in report.left}, report
    state = [(name, type(m)) for name, m in before.named_modules()]
    thnn.revert(model)
    assert [(name, type(m)) for name, m in model.named_modules()] == state
    agree(before, model, x)


def test_functions_are_replaced_and_fused() -> None:
    model, x = made("functional")
    report = thnn.convert(model, trace=True)
    assert ("0", "relu", "") in report.replaced
    assert ("0.norm1", "BatchNorm2d", "with ReLU relu") in report.fused
    assert ("0", "add", "thnn has no such function") in report.left
    reason = "only the backend of torch.compile fuses it with a sum and a ReLU"
    assert ("0.norm2", "BatchNorm2d", reason) not in report.apart  # dropout comes between in training
    assert model[0].norm1(x).min() == 0
    assert isinstance(model[0], FunctionalBlock)
    assert repr(model).replace(", activation='relu'", "") == repr(made("functional")[0])
    dense = nn.Sequential(DenseLayer(3, 2))
    assert ("0.norm", "BatchNorm2d", "with ReLU relu") in thnn.convert(dense, trace=True).fused


class PooledBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block, self.linear = FunctionalBlock(3), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(F.adaptive_avg_pool2d(self.block(x), 1).flatten(1))


def test_batch_normalization_is_fused_beside_other_functions() -> None:
    model, x = PooledBlock().double(), torch.randn(2, 3, 8, 8, dtype=torch.float64)
    before = copy.deepcopy(model)
    report = thnn.convert(model, trace=True)
    assert ("PooledBlock", "adaptive_avg_pool2d", "") in report.replaced
    assert ("block.norm1", "BatchNorm2d", "with ReLU relu") in report.fused
    agree(before, model, x)


def test_copies_and_pickles_compute_the_same() -> None:
    model, x = made("functional")
    before = copy.deepcopy(model)
    thnn.convert(model, trace=True)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert type(other[0]) is not FunctionalBlock
        assert isinstance(other[0], FunctionalBlock)
        agree(copy.deepcopy(before), other, x)
        thnn.revert(other)
        assert type(other[0]) is FunctionalBlock


def test_children_keep_their_modes_and_hooks() -> None:
    model, x = made("functional")
    before, seen = copy.deepcopy(model), []
    thnn.convert(model, trace=True)
    for one in (before, model):
        one[0].norm1.eval()
        one[1].conv1.register_forward_hook(lambda layer, inputs, output: output * 2)
    torch.manual_seed(0)
    expected = before(x)
    torch.manual_seed(0)
    torch.testing.assert_close(model(x), expected)
    model[0].register_forward_hook(lambda *_: seen.append(1))
    model(x)
    assert seen == [1]


def test_a_hook_on_an_inner_layer_keeps_neighbours_apart() -> None:
    model, x = made("functional")
    seen: list[Tensor] = []
    model[0].norm1.register_forward_hook(lambda layer, inputs, output: seen.append(output))
    report = thnn.convert(model, trace=True)
    assert ("0.norm1", "BatchNorm2d", "it has hooks") in report.apart
    model(x)
    assert seen[0].min() < 0


class Module(nn.Module):
    """A convolution, and a forward from outside."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.conv, self.function = nn.Conv2d(3, 3, 1), function
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor) -> Any:
        return self.function(self, x)


def assigning(m: Any, x: Tensor) -> Tensor:
    m.count = m.count + x.sum()
    return x.relu()


def without_gradient(m: Any, x: Tensor) -> Tensor:
    with torch.no_grad():
        return x.relu()


def autocast(m: Any, x: Tensor) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return x.relu()


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda m, x: x.relu() if x.sum() > 0 else x, "cannot be traced"),
        (lambda m, x: F.relu(x) * torch.tensor(2.0), "makes tensors of constants"),
        (assigning, "assigns a buffer"),
        (without_gradient, "changes the grad mode"),
        (autocast, "enters torch.autocast or torch.inference_mode"),
    ],
)
def test_a_forward_that_cannot_be_traced_is_left(function: Callable[..., Any], reason: str) -> None:
    model = Module(function)
    report = thnn.convert(model, trace=True)
    (entry,) = report.left
    assert entry.kind == "Module"
    assert reason in entry.remark
    assert type(model) is Module


def in_place(m: Any, x: Tensor) -> Tensor:
    """Other names and views of results see changes in place, also the caller; numbers do not change."""
    y = m.conv(x)
    other, first = y, y[0]
    y += x
    first *= 2
    columns = y.mT
    columns -= 1
    n = before = x.shape[0]
    n += 1
    return F.relu(other) * before / n


def test_changes_in_place_reach_all_names_of_a_tensor() -> None:
    model = Module(in_place).double()
    before = copy.deepcopy(model)
    report = thnn.convert(model, trace=True)
    assert ("Module", "relu", "") in report.replaced
    model = pickle.loads(pickle.dumps(model))
    x = torch.randn(2, 3, 4, 4, dtype=torch.float64)
    agree(before, model, x)
    overwriting = Module(lambda m, x: operator.iadd(x, 1).relu())
    thnn.convert(overwriting, trace=True)
    changed = x.clone()
    overwriting(changed)
    assert torch.equal(changed, x + 1)


def test_optional_arguments_are_not_traced() -> None:
    class Masked(nn.Module):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            return (x if mask is None else x * mask).relu()

    model = Masked()
    (entry,) = thnn.convert(model, trace=True).left
    assert "optional arguments" in entry.remark
    assert model(torch.ones(2), mask=torch.zeros(2)).sum() == 0


def test_a_model_of_another_type_is_not_traced() -> None:
    model = Module(lambda m, x: m.conv(x).relu()).to(torch.float8_e5m2)
    report = thnn.convert(model, trace=True)
    kind = "torch.float8_e5m2"
    assert {entry.remark for entry in report.left} == {f"has {kind}", f"in a model of {kind}"}


def test_a_model_of_a_half_type_is_traced() -> None:
    model = Module(lambda m, x: m.conv(x).relu()).bfloat16()
    x = torch.ones(1, 3, 2, 2, dtype=torch.bfloat16)
    expected = model(x)
    assert not thnn.convert(model, trace=True).left
    torch.testing.assert_close(model(x), expected)


def test_an_example_shows_calls_that_thnn_does_not_compute() -> None:
    def forward(m: Any, x: Tensor) -> Tensor:
        return m.conv(x).relu() * (x > 0).int().relu()

    model, x = Module(forward), torch.randn(1, 3, 2, 2)
    before = copy.deepcopy(model)
    state = copy.deepcopy(model.state_dict())
    random = torch.get_rng_state()
    report = thnn.convert(model, x, trace=True)
    assert torch.equal(torch.get_rng_state(), random)
    assert model.state_dict().keys() == state.keys()
    assert [(e.kind, e.remark) for e in report.fused] == [("conv", "overwritten by relu")]
    assert any(e.kind == "relu" and "got torch.int32" in e.remark for e in report.left)
    torch.testing.assert_close(model(x), before(x))


def test_arguments_by_name() -> None:
    class Scaled(nn.Module):
        def forward(self, x: Tensor, scale: Tensor) -> Tensor:
            return (x * scale).relu()

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scaled = Scaled()

        def forward(self, x: Tensor) -> Tensor:
            output: Tensor = self.scaled(scale=x, x=x + 1)
            return output

    model, x = Outer(), torch.tensor([-0.5, 2.0])
    report = thnn.convert(model, x, trace=True)
    assert ("scaled", "relu", "") in report.replaced
    assert model(x).tolist() == [0, 6]
    assert model.scaled(scale=x, x=x).tolist() == [0.25, 4]


def test_an_example_shows_a_trace_that_computes_something_else() -> None:
    model = Module(lambda m, x: x.relu() * 2 if x.dtype is torch.float32 else x.relu())
    (entry,) = thnn.convert(model, x := torch.randn(2, 3), trace=True).left
    assert entry.remark.endswith("its trace computes something else on the example")
    assert torch.equal(model(x), x.relu() * 2)


def test_activations_overwrite_results_of_layers() -> None:
    report = thnn.convert(Module(lambda m, x: m.conv(x).relu()), trace=True)
    assert report.fused == (("Module", "conv", "overwritten by relu"),)
    assert ("Module", "relu", "") in report.replaced
    report = thnn.convert(Module(lambda m, x: m.conv(x).relu()), trace=True, fuse=False)
    assert report.fused == ()
    model = Module(lambda m, x: m.conv(x).relu())
    model.conv.register_forward_hook(lambda layer, inputs, output: None)
    (entry,) = thnn.convert(model, trace=True).apart
    assert entry == ("Module", "conv", "it has a hook, which reads its result")
