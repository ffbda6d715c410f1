"""Nets and torch modules that fork into training and inference."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations

import thnn
from thnn.graph import Net, Operator, Scope, batch_norm_layer, draw, fork

ROOT = Path(__file__).resolve().parent.parent.parent


def convolution(source: str, result: str, weight: str) -> Operator:
    return Operator(
        "SpatialConvolutionMM", input=source, weight=weight, output=result, kW=3, kH=3, dW=1, dH=1, padW=1, padH=1
    )  # fmt: skip


def small_net(**settings: Any) -> Net:
    """Convolution, batch normalization, relu; the same again; a sum as loss."""
    generator = torch.Generator().manual_seed(0)
    net = Net()
    source = "x"
    for k, (inputs, outputs) in enumerate(((1, 3), (3, 4)), 1):
        net.new_var(f"w{k}", torch.randn(outputs, inputs, 3, 3, generator=generator).double())
        net.new_var(f"s{k}", torch.rand(outputs, generator=generator).double() + 0.5)
        net.new_var(f"b{k}", torch.randn(outputs, generator=generator).double())
        net.append_op(convolution(source, f"c{k}", f"w{k}"))
        batch_norm_layer(net, f"c{k}", f"n{k}", f"s{k}", f"b{k}", **settings)
        net.append_op(Operator(torch.relu, f"n{k}", output=f"r{k}"))
        source = f"r{k}"
    net.append_op(Operator(torch.mul, "r2", "target", output="product"))
    net.append_op(Operator(torch.sum, "product", output="loss"))
    return net


def images(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*(shape or (4, 1, 6, 6)), generator=torch.Generator().manual_seed(seed)).double()


# Net: results.


@pytest.mark.parametrize("use_global_est", [False, True])
def test_net_equals_calls_of_its_functions(use_global_est: bool) -> None:
    net = small_net(use_global_est=use_global_est, momentum=0.9, epsilon=1e-3)
    value = {n: v.value.detach().clone() for n, v in net.scope.items() if v.value is not None}
    for n, tensor in value.items():
        tensor.requires_grad_("estimated" not in n)
    for step in range(3):
        x, weight = images(seed=step), images(4, 4, 6, 6, seed=9)
        h = x
        for k in (1, 2):
            h = thnn.SpatialConvolutionMMFunction.apply(h, value[f"w{k}"], None, 3, 3, 1, 1, 1, 1)
            normalized = thnn.batch_norm(
                h, value[f"s{k}"], value[f"b{k}"], value[f"n{k}.estimated_mean"], value[f"n{k}.estimated_var"],
                use_global_est=use_global_est, epsilon=1e-3, momentum=0.9, batch_id=step,
            )  # fmt: skip
            h = torch.relu(normalized.y)
        expected = (h * weight).sum()
        loss, mean, variance = net.train(("loss", "n2.batch_mean", "n2.batch_var"), {"x": x}, target=weight)
        assert torch.equal(loss, expected)
        assert torch.equal(mean, normalized.batch_mean)
        assert torch.equal(variance, normalized.batch_var)
        loss.backward()
        expected.backward()
        for name, tensor in value.items():
            got = net.scope[name].value
            assert got is not None
            assert torch.equal(got, tensor), name
            assert "estimated" in name or torch.equal(got.grad, tensor.grad), name
        by_estimates = x
        for k in (1, 2):
            by_estimates = thnn.SpatialConvolutionMMFunction.apply(
                by_estimates, value[f"w{k}"], None, 3, 3, 1, 1, 1, 1
            )
            by_estimates = torch.relu(
                thnn.batch_norm(
                    by_estimates, value[f"s{k}"], value[f"b{k}"], value[f"n{k}.estimated_mean"],
                    value[f"n{k}.estimated_var"], is_infer=True, epsilon=1e-3,
                ).y
            )  # fmt: skip
        assert torch.equal(net.infer("r2", x=x), by_estimates)


def test_inference_changes_nothing_and_sees_every_step() -> None:
    net = small_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.train("loss", x=images(), target=images(4, 4, 6, 6)).backward()
    state = {k: v.clone() for k, v in net.state_dict().items()}
    first = net.infer("r2", x=images())
    assert all(torch.equal(v, state[k]) for k, v in net.state_dict().items())
    optimizer.step()
    assert not torch.equal(net.infer("r2", x=images()), first)


def test_the_fork() -> None:
    net = small_net()
    train, infer = net.branch("train"), net.branch("infer")
    assert [o.writes[0] for o in train] == ["c1", "n1", "r1", "c2", "n2", "r2", "product", "loss"]
    assert net.shared() == (train[0],)
    # The operator before the fork is the same object in both branches; later ones exist twice, with the same variables.
    assert infer[0] is train[0]
    for t, i in zip(train[1:], infer[1:]):
        assert t is not i
        assert (t.reads, t.outputs) == (i.reads, i.outputs)
        assert i.attributes == ({**t.attributes, "is_infer": True} if t.forks else t.attributes)


def test_a_target_prunes() -> None:
    net = small_net()
    assert [o.writes[0] for o in net.plan("infer", "n1")] == ["c1", "n1"]
    before = net.state_dict()["n2.estimated_mean"].clone()
    net.train("r1", x=images())
    state = net.state_dict()
    assert (state["n1.batches"], state["n2.batches"]) == (1, 0)
    assert torch.equal(state["n2.estimated_mean"], before)
    # The first batch of an operator replaces its estimates, even if other operators had earlier batches.
    mean = net.train("n2.batch_mean", x=images(seed=2))
    assert torch.equal(net.state_dict()["n2.estimated_mean"], mean)


def test_an_operator_for_inference_does_not_fork() -> None:
    net = small_net()
    frozen = [o.replace(is_infer=True) if o.kind == "batch_norm_op" else o for o in net.operators]
    other = Net(net.scope)
    for operator in frozen:
        other.append_op(operator)
    assert other.branch("train") == other.branch("infer") == other.shared()
    assert torch.equal(other.train("r2", x=images()), net.infer("r2", x=images()))


def test_operators_in_any_order() -> None:
    net, other = small_net(), Net(Scope())
    for name in ("w1", "w2", "s1", "s2", "b1", "b2"):
        other.new_var(name, net.scope[name].value)
    for operator in reversed(net.operators):
        other.append_op(operator)
    assert torch.equal(other.train("r2", x=images()), net.train("r2", x=images()))
    assert len(other.shared()) == 1


def test_other_operators() -> None:
    net = Net()
    net.new_var("weight", torch.eye(3))
    net.append_op(Operator(thnn.LinearFunction, "x", "weight", output="h"))
    net.append_op(Operator(torch.split, "h", output=("left", "right"), split_size_or_sections=(1, 2), dim=1))
    net.append_op(Operator(torch.cat, ("right", "left"), output="turned", dim=1))
    net.append_op(Operator(F.cross_entropy, "turned", net.new_var("labels"), output="loss", reduction="sum"))
    net.append_op(Operator(lambda x, other: x - other, "x", other=net.scope["h"], output="zero"))
    x = torch.tensor([[1.0, 2.0, 3.0]])
    assert net.train("turned", x=x).tolist() == [[2, 3, 1]]
    expected = F.cross_entropy(x[:, [1, 2, 0]], torch.tensor([1]), reduction="sum")
    assert torch.equal(net.infer("loss", x=x, labels=torch.tensor([1])), expected)
    assert net.infer("zero", x=x).tolist() == [[0, 0, 0]]
    assert net.infer("weight") is net.scope["weight"].value


def test_dropout_and_flags_fork_too() -> None:
    net = Net()
    net.append_op(Operator(F.dropout, "x", output="d", p=0.5))
    net.append_op(Operator(F.dropout, "d", output="same", training=False))
    for name, value in (("w", torch.ones(2)), ("b", torch.zeros(2))):
        net.new_var(name, value)
    for name, value in (("m", torch.zeros(2)), ("v", torch.ones(2))):
        net.new_var(name, value, trainable=False)
    net.append_op(
        Operator(
            "BatchNormalization", "same", "w", "b", "m", "v", output="y", train=True, momentum=0.1, eps=1e-5
        )
    )
    x = torch.ones(50, 2)
    assert torch.equal(net.infer("same", x=x), x)
    assert (net.train("same", x=x) == 0).any()
    net.infer("y", x=x)
    assert net.scope["m"].value.tolist() == [0, 0]  # type: ignore[union-attr]
    net.train("y", x=x)
    assert net.scope["m"].value.ne(0).all()  # type: ignore[union-attr]


def test_modules_as_operators() -> None:
    block = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval()
    net = Net()
    net.append_op(Operator(block, "x", output="y"))
    assert [id(p) for p in net.parameters()] == [id(p) for p in block.parameters()]
    x = torch.randn(5, 3)
    assert torch.equal(net.infer("y", x=x), block(x))
    assert torch.equal(net.train("y", x=x), copy.deepcopy(block).train()(x)) and not block.training
    assert "y.1.running_mean (4)" in draw(net)  # type: ignore[operator]


def test_state_dict_and_pickle() -> None:
    net = small_net()
    net.train("loss", x=images(), target=images(4, 4, 6, 6))
    copied, other = pickle.loads(pickle.dumps(net)), small_net()
    other.load_state_dict(net.state_dict())
    for twin in (copied, other):
        assert torch.equal(twin.infer("r2", x=images()), net.infer("r2", x=images()))
        twin.train("r2", x=images(seed=3))
    net.train("r2", x=images(seed=3))
    for twin in (copied, other):
        assert all(torch.equal(v, twin.state_dict()[k]) for k, v in net.state_dict().items())
    with pytest.raises(ValueError, match=r"'n1\.batches' is missing"):
        net.load_state_dict({k: v for k, v in net.state_dict().items() if k != "n1.batches"})
    with pytest.raises(ValueError, match=r"'w1': expected \(3, 1, 3, 3\), got \(1,\)"):
        net.load_state_dict({**net.state_dict(), "w1": torch.zeros(1)})


def test_results_are_freed_after_their_last_reader() -> None:
    class Result(Tensor):
        pass

    made: list[weakref.ref[Tensor]] = []
    alive: list[int] = []

    def step(x: Tensor) -> Tensor:
        alive.append(sum(r() is not None for r in made))
        y = (x + 1).as_subclass(Result)
        made.append(weakref.ref(y))
        return y

    net = Net()
    for k in range(4):
        net.append_op(Operator(step, f"v{k}", output=f"v{k + 1}"))
    assert net.infer("v4", v0=torch.zeros(1)).item() == 4
    assert alive == [0, 1, 1, 1]


def test_thousands_of_operators() -> None:
    net = Net()
    for k in range(3000):
        net.append_op(Operator(torch.neg, f"v{k}", output=f"v{k + 1}"))
    x = images()
    assert torch.equal(net.train("v3000", v0=x), x)
    assert torch.equal(pickle.loads(pickle.dumps(net)).infer("v2999", v0=x), -x)
    with pytest.raises(ValueError, match="'v0' would depend on itself"):
        net.append_op(Operator(torch.neg, "v3000", output="v0"))


def test_a_value_that_is_assigned_is_trained() -> None:
    net = small_net()
    net.scope["w1"].value = images(3, 1, 3, 3)
    net.scope["target"].value = torch.ones(4, 4, 6, 6, dtype=torch.int64)
    net.train("loss", x=images()).backward()
    assert net.scope["w1"].value.grad is not None
    assert all(p.requires_grad for p in net.parameters())


def test_exceptions_of_operators() -> None:
    class Own(ValueError):
        pass

    def fail(x: Tensor) -> Tensor:
        raise Own("broken")

    net = _net_of(Operator(fail, "x", output="y"))
    with pytest.raises(Own, match="broken") as caught:
        net.train("y", x=images())
    if hasattr(caught.value, "__notes__"):  # Python 3.11
        assert caught.value.__notes__ == ["in fail -> 'y' (0='x': float64 (4, 1, 6, 6))"]


def test_a_tuple_of_one() -> None:
    net = _net_of(
        Operator(torch.broadcast_tensors, "x", output=("y",)), Operator(torch.abs, "x", output=("z",))
    )
    assert torch.equal(net.infer("y", x=images()), images())
    with pytest.raises(ValueError, match=r"abs -> 'z': expected 1 results for \('z',\), got Tensor"):
        net.infer("z", x=images())


def test_name_of_a_count_in_use() -> None:
    net = small_net()
    net.new_var("n1.batches", torch.zeros(1))
    with pytest.raises(ValueError, match=r"'n1\.batches' is a variable, but also"):
        net.state_dict()


# Net: errors.


def test_operators_are_immutable() -> None:
    operator = small_net().operators[1]
    with pytest.raises(AttributeError, match="batch_norm_op -> 'n1': kind: operators are immutable"):
        operator.kind = "Linear"
    with pytest.raises(AttributeError, match="immutable"):
        del operator.inputs
    with pytest.raises(TypeError):
        operator.attributes["epsilon"] = 1  # type: ignore[index]
    sizes = [1, 2]
    split = Operator(torch.split, "h", output=("a", "b"), split_size_or_sections=sizes, dim=1)
    sizes.append(3)
    assert split.attributes["split_size_or_sections"] == (1, 2)
    assert operator.replace(epsilon=0.5).attributes["epsilon"] == 0.5
    assert operator.attributes["epsilon"] == 1e-6


with torch.inference_mode():
    INFERENCE = torch.ones(1)

BATCH_NORM = {"x": "x", "scale": "s", "bias": "b", "estimated_mean": "m", "estimated_var": "v", "y": "y"}


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Operator("Lineal", "x", output="y"), ValueError, "no function 'Lineal'.*Linear"),
        (lambda: Operator(3), TypeError, "expected the name of a function or a callable, got int"),
        (lambda: Operator("Linear", "x", output="y"), TypeError, "Linear: weight is missing"),
        (lambda: Operator("Linear", "x", "w"), TypeError, "Linear: output is missing"),
        (lambda: Operator("Linear", "x", "w", outptu="y", output="y"), TypeError, "unexpected keyword 'outptu'"),
        (lambda: Operator("Linear", "x", "w", input="x", output="y"), TypeError, "input was given twice"),
        (lambda: Operator("Linear", 3, "w", output="y"), TypeError, "input: expected the name of a variable"),
        (lambda: Operator("Threshold", "x", output="y", threshold=0, val=0, inplace=True), ValueError, "inplace"),
        (lambda: Operator(torch.relu, "x", output="y", p=torch.ones(1)), TypeError, "p: expected a variable"),
        (lambda: Operator(torch.split, "x", output=("y", "y")), ValueError, "'y' is written twice"),
        (lambda: Operator("batch_norm_op", "x"), TypeError, "expected variables by keyword"),
        (lambda: Operator("batch_norm_op", x="x"), TypeError, "scale is missing"),
        (lambda: Operator("batch_norm_op", **BATCH_NORM, eps=1), TypeError, "unexpected keyword 'eps'"),
        (lambda: Operator("batch_norm_op", **BATCH_NORM, epsilon=-1), ValueError, "epsilon: expected a number that is"),
        (lambda: Operator("batch_norm_op", **BATCH_NORM, momentum=1.5), ValueError, "momentum: .*from 0 to 1"),
        (lambda: Operator("batch_norm_op", **BATCH_NORM, is_infer=1), TypeError, "is_infer: expected True or False"),
        (lambda: Operator("batch_norm_op", **BATCH_NORM, momentum=None), TypeError, "momentum: expected a number"),
        (lambda: Operator(F.dropout, "x", output="y", training=1), TypeError, "training: expected .*, got 1"),
        (lambda: Operator(nn.BatchNorm1d(3), "x", output="y", training="no"), TypeError, "training: expected True"),
        (lambda: Operator(torch.relu, "x", output="y", p=({},)), TypeError, "p: expected an immutable attribute"),
        (lambda: Operator("batch_norm_op", **BATCH_NORM, saved_mean="v"), ValueError, "saved_mean: expected 'm'"),
        (lambda: Operator("batch_norm_op", **{**BATCH_NORM, "estimated_var": "m"}), ValueError, "two variables"),
    ],
)  # fmt: skip
def test_operator_refuses(make: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (
            Operator(torch.relu, "x", output="r1"),
            "relu -> 'r1': variable 'r1' is written by relu -> 'r1' already",
        ),
        (Operator(torch.relu, "x", output="w1"), "'w1' has a value"),
        (Operator(torch.relu, "loss", output="x"), "relu -> 'x': variable 'x' would depend on itself"),
        (Operator(torch.relu, "q", output="q"), "'q' would depend on itself"),
        (
            Operator("batch_norm_op", **BATCH_NORM),
            "estimated_mean: variable 'm' has no value.* scale, variable 's'",
        ),
        (
            Operator("batch_norm_op", **{**BATCH_NORM, "estimated_mean": "n1.estimated_mean", "scale": "s1"}),
            "'n1.estimated_mean' is updated by batch_norm_op -> 'n1' already",
        ),
        (
            Operator("batch_norm_op", **{**BATCH_NORM, "estimated_mean": "b1", "scale": "s1"}),
            "'b1' requires a gradient",
        ),
    ],
)
def test_net_refuses_operators(operator: Operator, message: str) -> None:
    net = small_net()
    before = net.operators, set(net.scope)
    with pytest.raises(ValueError, match=message):
        net.append_op(operator)
    assert (net.operators, set(net.scope)) == before


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda n: n.train("loss", x=images()), ValueError, "variable 'target' is missing, which mul -> 'product'"),
        (lambda n: n.train("q", x=images()), ValueError, "train: target: there is no variable 'q'"),
        (lambda n: n.train("r1", x=images(), q=images()), ValueError, "feeds: there is no variable 'q'"),
        (lambda n: n.train("r1", {"x": [1]}), TypeError, "feeds: x: expected a tensor, got list"),
        (lambda n: n.train("r1", [1]), TypeError, "feeds: expected a mapping of names, got list"),
        (lambda n: n.train("r1", x=images(), w1=images()), ValueError, "'w1' has a value"),
        (lambda n: n.train("r2", x=images(), r1=images()), ValueError, "'r1' is written by relu -> 'r1'"),
        (lambda n: n.train(3), TypeError, "target: expected the name of a variable, got int"),
        (lambda n: n.infer("n1.batch_mean", x=images()), ValueError, "'n1.batch_mean' exists in the train branch only"),
        (lambda n: n.train("r1", x=images(4, 6)), ValueError, r"MM -> 'c1': .*input='x': float64 \(4, 6\)"),
        (lambda n: n.train("r1", x=images().float()), TypeError, "SpatialConvolutionMM -> 'c1'.*float32.*weight='w1'"),
        (lambda n: n.infer("product", x=images(), target=images(5)), ValueError, "mul -> 'product'.*1='target'"),
        (lambda n: n.branch("both"), ValueError, "expected 'train' or 'infer', got 'both'"),
        (lambda n: n.new_var("w1"), ValueError, "variable 'w1' exists already"),
        (lambda n: n.new_var("z", 3.0), TypeError, "expected a tensor or None"),
        (lambda n: n.new_var("z", n.scope["w1"].value * 2), ValueError, "'z': value: expected a leaf"),
        (lambda n: n.new_var("z", INFERENCE), ValueError, "'z': value: an inference tensor cannot require a gradient"),
        (lambda n: setattr(n.scope["w1"], "value", [1]), TypeError, "'w1': value: expected a tensor or None, got list"),
        (lambda n: setattr(n.scope["w1"], "name", "z"), AttributeError, "name"),
        (lambda n: n.new_parameter("z", 3, nn.init.ones_), TypeError, "size of 'z': expected integers, got 3"),
        (lambda n: n.new_parameter("z", (-1,), nn.init.ones_), ValueError, "size of 'z': expected 0 or more"),
        (lambda n: n.new_parameter("z", (1,), 0), TypeError, "initialize of 'z': expected a function, got int"),
        (lambda n: n.load_state_dict([1]), TypeError, "expected a mapping of tensors, got list"),
        (lambda n: n.load_state_dict({**n.state_dict(), "w1": 1}), TypeError, "'w1': expected a tensor, got int"),
        (lambda n: n.load_state_dict({**n.state_dict(), "n1.batches": torch.tensor(-1)}), ValueError, "got -1"),
        (lambda n: n.append_op("relu"), TypeError, "expected an Operator"),
        (lambda n: n.append_op(n.operators[0]), ValueError, "in the net already"),
    ],
)  # fmt: skip
def test_net_refuses(call: Callable[[Net], object], error: type[Exception], message: str) -> None:
    net = small_net()
    state = {k: v.clone() for k, v in net.state_dict().items()}
    with pytest.raises(error, match=message):
        call(net)
    assert all(torch.equal(v, state[k]) for k, v in net.state_dict().items())


def test_statistics_of_a_batch_are_not_in_the_infer_branch() -> None:
    net = small_net()
    net.append_op(Operator(torch.sum, "n1.batch_var", output="total"))
    with pytest.raises(
        ValueError, match=r"'total' exists in the train branch only, since it depends on 'n1.batch_var'"
    ):
        net.infer("total", x=images())
    assert net.train("total", x=images()).item() > 0
    assert "total" not in [name for o in net.branch("infer") for name in o.writes]


# fork: torch modules.


class Block(nn.Module):
    """Layers of both libraries, a function with an argument for the mode, and a statement in training only."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, bias=False),
            thnn.nn.BatchNorm2d(4, activation="relu"),
            nn.Conv2d(4, 6, 3, groups=2),
            nn.BatchNorm2d(6),
        )
        self.up = nn.ConvTranspose2d(6, 4, 2, groups=2)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(36, 5)
        self.last = nn.BatchNorm1d(5, affine=False)

    def forward(self, x: Tensor, extra: bool = False) -> Tensor:
        x = F.dropout(self.features(x), 0.3, self.training)
        x = self.norm(self.up(x))
        if self.training:
            x = x * 2
        return self.last(self.head(x.flatten(1)))


class Shared(nn.Module):
    """One convolution and one normalization in several places, also accessed through a list and a method."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(1, 1, 3, padding=1)
        self.norm = nn.BatchNorm2d(1)
        self.layers = [self.convolution, self.norm]
        self.drop = self._drop

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, 0.5, self.training)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.convolution(x))
        z = self.layers[0](y)
        return self.drop(self.layers[1](z) + z)


class Statistics(nn.Module):
    """Keeps its own statistics, by assignment and in place, without a gradient."""

    mean: Tensor
    calls: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))
        self.register_buffer("calls", torch.zeros(()))
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        mean = self.mean
        x = x * self.scale
        if self.training:
            mean = x.mean((0, 2, 3))
            with torch.no_grad():
                self.mean = 0.9 * self.mean + 0.1 * mean
        self.calls += 1
        self.calls.add_(0.5)
        return (x - mean.view(1, -1, 1, 1)) * self.calls + torch.rand(6) + torch.arange(6)


class Functional(nn.Module):
    """thnn's functions, and an autograd function that is no thnn function."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 1, 3, 3))
        self.norm = nn.BatchNorm2d(2)

    def forward(self, x: Tensor) -> Tensor:
        n = self.norm
        x = thnn.SpatialConvolutionMMFunction(3, 3, 1, 1, 0, 0)(x, self.weight, None)
        x = thnn.BatchNormalizationFunction.apply(
            x, n.weight, n.bias, n.running_mean, n.running_var, self.training, 0.1, 1e-5
        )
        return Sevenfold.apply(thnn.ThresholdFunction.apply(x, 0, 0))


class Sevenfold(torch.autograd.Function):
    """Has a backward that is not the derivative of its forward, so that a test sees whether it is used."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return g * 7


class Hooked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dropout(0.5))
        self.calls: list[int] = []
        self.inner.register_forward_hook(lambda module, inputs, output: (self.calls.append(1), output * 2)[1])

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


class ReluNorm(nn.BatchNorm2d):
    def forward(self, x: Tensor) -> Tensor:
        return F.relu(super().forward(x))


def hooked_root() -> nn.Module:
    model = Hooked()
    model.register_forward_hook(lambda module, inputs, output: output + 1)
    return model


def named() -> nn.Module:
    """A model with names that torch accepts but that are no identifiers of Python."""
    model = nn.Sequential()
    for name, layer in (('a "b"\\', nn.Conv2d(1, 3, 3)), ("<&>\n", nn.BatchNorm2d(3)), ("class", Keywords())):
        model.add_module(name, layer)
    return model


class Keywords(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.norm = nn.Conv2d(3, 2, 1), nn.BatchNorm2d(2)
        for name in ("lambda", "1", 'd "e"', "d 'e'"):
            self.register_parameter(name, nn.Parameter(torch.rand(2, 1, 1)))
            self.register_buffer(f"_{name}", torch.rand(2, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(input=self.convolution(input=x))
        for name in ("lambda", "1", 'd "e"', "d 'e'"):
            x = x * getattr(self, name) + getattr(self, f"_{name}")
        return x


def with_own_forward() -> nn.Module:
    """A model with a layer whose object has its own forward, which must not be folded."""
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3))
    model[1].forward = torch.tanh
    return model


def parametrized() -> nn.Module:
    return nn.Sequential(
        parametrizations.weight_norm(nn.Conv2d(1, 4, 3)), nn.BatchNorm2d(4), nn.Conv2d(4, 2, 3), ReluNorm(2)
    )


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], int]] = {
    # model, size of its input, number of normalizations that can be folded
    "block": (Block, (5, 1, 6, 6), 4),
    "shared": (Shared, (5, 1, 6, 6), 1),
    "statistics": (Statistics, (5, 1, 6, 6), 0),
    "functional": (Functional, (5, 1, 6, 6), 0),
    "hooked": (Hooked, (5, 1, 6, 6), 0),
    "hooked root": (hooked_root, (5, 1, 6, 6), 0),
    "named": (named, (5, 1, 6, 6), 2),
    "forward of an instance": (with_own_forward, (5, 1, 6, 6), 0),
    "parametrized": (parametrized, (5, 1, 6, 6), 1),
    "one layer": (lambda: nn.BatchNorm1d(4), (5, 4), 0),
    "Linear on sequences": (lambda: nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(5)), (2, 5, 4), 0),
    "transformer": (lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), (2, 5, 4), 0),
}


def equal_state(a: nn.Module, b: nn.Module) -> bool:
    other = b.state_dict()
    return all(torch.equal(v, other[k]) for k, v in a.state_dict().items())


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_fork_equals_the_model(name: str, fold: bool) -> None:
    torch.manual_seed(0)
    make, shape, folds = MODELS[name]
    model = make().double()
    model.train(fold)  # the mode flags, which differ between layers, must have no effect
    for k, part in enumerate(model.modules()):
        part.training ^= bool(k % 2)
    modes = [m.training for m in model.modules()]
    attributes = {n: set(vars(m)) for n, m in model.named_modules()}
    pristine = copy.deepcopy(model)
    branches = fork(model, images(*shape), fold=fold)
    assert equal_state(model, pristine)
    assert sum("folded" in n.name for n in branches.infer.graph.nodes) == (folds if fold else 0)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (model, pristine)]
    for step in range(3):
        x = images(*shape, seed=step)
        torch.manual_seed(step)
        got = branches.train(x)
        torch.manual_seed(step)
        expected = pristine.train()(x)
        assert torch.equal(got, expected)
        assert equal_state(model, pristine)
        for optimizer, value in zip(optimizers, (got, expected)):
            optimizer.zero_grad()
            value.square().sum().backward()
            optimizer.step()
        before = copy.deepcopy(model.state_dict())
        torch.manual_seed(step)
        got = branches.infer(x)
        assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
        torch.manual_seed(step)
        expected = copy.deepcopy(pristine).eval()(x)
        assert torch.allclose(got, expected, rtol=1e-12, atol=1e-12) if fold else torch.equal(got, expected)
        torch.manual_seed(step)
        assert torch.equal(branches.infer(x), got)
    assert [m.training for m in model.modules()] == modes
    assert {n: set(vars(m)) for n, m in model.named_modules()} == attributes


def replace_values(model: nn.Module) -> None:
    """Changes all values without an increment of their versions."""
    for tensor in (*model.parameters(), *(b for b in model.buffers() if b.is_floating_point())):
        tensor.data.mul_(1.5)


def replace_tensors(model: nn.Module) -> None:
    state = {k: v * 2 if v.is_floating_point() else v for k, v in model.state_dict().items()}
    model.load_state_dict(state, assign=True)


def add_hooks(model: nn.Module) -> None:
    for part in model.modules():
        if isinstance(part, nn.Conv2d):
            part.register_forward_hook(lambda module, inputs, output: output * 2)
        if isinstance(part, nn.BatchNorm2d):
            part.register_forward_pre_hook(lambda module, inputs: (inputs[0] + 1,))


def drop_statistics(model: nn.Module) -> None:
    for part in model.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean = part.running_var = part.num_batches_tracked = None


def change_settings(model: nn.Module) -> None:
    for part in model.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            part.eps, part.momentum = 0.5, 0.7


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        replace_values,
        replace_tensors,
        change_settings,
        add_hooks,
        drop_statistics,
        lambda m: m.float(),
        lambda m: m.requires_grad_(False),
    ],
)
def test_fork_follows_later_changes(change: Callable[[nn.Module], object], fold: bool) -> None:
    torch.manual_seed(0)
    model = Block().double()
    branches = fork(model, images(5, 1, 6, 6), fold=fold)
    branches.infer(images(5, 1, 6, 6))
    change(model)
    x = images(5, 1, 6, 6).to(next(model.parameters()).dtype)
    tolerance = 1e-5 if x.dtype == torch.float32 else 1e-12
    torch.testing.assert_close(
        branches.infer(x), copy.deepcopy(model).eval()(x), rtol=tolerance, atol=tolerance
    )
    other = copy.deepcopy(model).train()
    torch.manual_seed(1)
    got = branches.train(x)
    torch.manual_seed(1)
    assert torch.equal(got, other(x))
    assert equal_state(model, other)


def test_folded_eps_below_0() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    branches = fork(model, torch.zeros(2, 3), fold=True)
    model[1].eps = -1.0
    with pytest.raises(ValueError, match="BatchNorm1d: eps: expected a number that is not negative"):
        branches.infer(torch.randn(4, 3))


def test_a_layer_that_becomes_another_one() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    branches = fork(model, torch.zeros(2, 3), fold=True)
    x = torch.randn(4, 3)
    before = branches.infer(x)
    thnn.nn.convert_sync_batchnorm(model)
    for branch in (branches.train, branches.infer):
        with pytest.raises(
            ValueError, match=r"a torch\.nn\.BatchNorm1d is a thnn\.nn\.SyncBatchNorm now; fork it again"
        ):
            branch(x)
    thnn.nn.revert_sync_batchnorm(model)
    assert branches.infer(x).equal(before)
    parametrizations.weight_norm(model[0])
    with pytest.raises(
        ValueError, match=r"a torch\.nn\.Linear is a torch\.nn\.ParametrizedLinear now; fork it again"
    ):
        branches.train(x)


@pytest.mark.filterwarnings("error")
def test_the_example_stays_as_it_is() -> None:
    model = nn.Sequential(nn.ReLU(inplace=True), nn.Dropout(0.5))
    x = images()
    random = torch.get_rng_state()
    fork(model, x)
    assert torch.equal(x, images())
    assert torch.equal(torch.get_rng_state(), random)


def test_gradients_through_folded_layers() -> None:
    torch.manual_seed(0)
    model = Block().double()
    branches = fork(model, images(5, 1, 6, 6), fold=True)
    parameters = list(model.parameters())
    x = images(5, 1, 6, 6).requires_grad_()
    got = torch.autograd.grad(branches.infer(x).square().sum(), [x, *parameters])
    model.eval()
    expected = torch.autograd.grad(model(x).square().sum(), [x, *parameters])
    for a, b in zip(got, expected):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


def test_folded_layer_with_other_dimensions_than_the_example() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).double()
    model[1].running_mean.copy_(images(3))
    branches = fork(model, images(5, 4), fold=True)
    x = images(2, 3, 4)  # dimension 1 is normalized, which is not the dimension of the outputs
    assert torch.equal(branches.infer(x), model.eval()(x))


def test_no_gradient_where_the_model_or_the_caller_says_so() -> None:
    branches = fork(Statistics(), images().float())
    for _ in range(2):
        assert branches.train(images().float()).requires_grad
    assert not branches.module.get_buffer("mean").requires_grad
    with torch.no_grad():
        branches = fork(Statistics(), images().float())
        assert not branches.train(images().float()).requires_grad
        assert not torch.is_grad_enabled()
    assert branches.train(images().float()).requires_grad


def test_autograd_functions_keep_their_backward() -> None:
    branches = fork(Functional().double(), images())
    x = images().requires_grad_()
    (gradient,) = torch.autograd.grad(branches.infer(x).sum(), x)
    model = branches.module.eval()
    (expected,) = torch.autograd.grad(model(x).sum(), x)
    assert torch.equal(gradient, expected)


def test_functions_with_an_explicit_training_flag() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm2d(1)

        def forward(self, x: Tensor) -> Tensor:
            n = self.norm
            x = F.batch_norm(x, n.running_mean, n.running_var, n.weight, n.bias, True)
            x = thnn.batch_norm(x, n.weight, n.bias, n.running_mean, n.running_var).y
            x = torch.native_batch_norm(x, n.weight, n.bias, n.running_mean, n.running_var, True, 0.1, 1e-5)[
                0
            ]
            x = torch.alpha_dropout(torch.native_dropout(x, 0.5, True)[0], 0.5, True)
            x = thnn.nn.functional.batch_norm(x, n.running_mean, n.running_var, n.weight, n.bias, True)
            return F.dropout(F.batch_norm(x, None, None, training=True))

    model = Model()
    branches = fork(model, images().float())
    assert model.norm.running_mean.item() == 0
    x = images().float() + 1
    expected = F.batch_norm(x / (1 + 1e-5) ** 1.5 / (1 + 1e-6) ** 0.5, None, None, training=True)
    torch.testing.assert_close(branches.infer(x), expected)
    assert model.norm.running_mean.item() == 0
    branches.train(x)
    assert model.norm.running_mean.item() != 0


def test_random_slopes_with_an_explicit_training_flag() -> None:
    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            x = thnn.nn.functional.rrelu(x, 0.1, 0.3, True)
            output: Tensor = thnn.RReLUFunction.apply(x, 0.1, 0.3, True)
            return output

    branches = fork(Model(), images().float())
    x = -images().float().abs()
    torch.testing.assert_close(branches.infer(x), x * 0.04)
    assert not branches.train(x).equal(x * 0.04)


def test_a_buffer_whose_version_does_not_change() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(1))
            self.register_buffer("var", torch.ones(1))

        def forward(self, x: Tensor) -> Tensor:
            norm = torch.ops.aten.native_batch_norm(x, None, None, self.mean, self.var, True, 0.1, 1e-5)
            return norm[0]

    model = Model()
    branches = fork(model, images().float())
    for _ in range(2):
        branches.infer(images().float() + 1)
    assert (model.mean, model.var) == (0, 1)
    branches.train(images().float() + 1)
    assert model.mean != 0


def test_branches_run_at_the_same_time() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4, momentum=0.0), nn.ReLU()).double()
    branches = fork(model, images())
    expected = branches.train(images()), branches.infer(images())
    failures: list[str] = []

    def run(branch: Callable[[Tensor], Tensor], value: Tensor) -> None:
        for _ in range(30):
            if not torch.equal(branch(images()), value):
                failures.append("differs")  # noqa: PERF401

    threads = [
        threading.Thread(target=run, args=pair)
        for pair in zip((branches.train, branches.infer) * 2, expected * 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_forks_are_made_while_other_threads_compute() -> None:
    model = nn.Sequential(*(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)) for _ in range(10)))
    other = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    x = torch.randn(4, 3)
    expected = other(x)
    stop = threading.Event()
    failures: list[Exception] = []

    def make() -> None:
        try:
            for _ in range(3):
                fork(model, x)
        except Exception as error:
            failures.append(error)

    def compute() -> None:
        try:
            while not stop.is_set():
                assert torch.equal(other(x), expected)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=job) for job in (compute, make, make)]
    for thread in threads:
        thread.start()
    for thread in threads[1:]:
        thread.join()
    stop.set()
    threads[0].join()
    assert failures == []
    assert torch.equal(other(x), expected)


class Decides(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:  # the offending statement
            return x
        return -x


class Remembers(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        self.last = x  # the offending statement
        return x


class Asks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x if isinstance(x, Tensor) else -x


class Hides(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        try:
            return x * float(x.sum())
        except Exception:
            return x


class NativeNorm(nn.BatchNorm1d):
    """A layer that is not traced and that changes its buffers in evaluation."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.native_batch_norm(x, None, None, self.running_mean, self.running_var, True, 0.1, 1e-5)[0]


def line_of(cls: type) -> int:
    lines = Path(__file__).read_text().splitlines()
    start = next(k for k, line in enumerate(lines, 1) if line.startswith(f"class {cls.__name__}("))
    return next(k for k, line in enumerate(lines, 1) if k > start and "the offending statement" in line)


def made_in_inference_mode() -> nn.Module:
    with torch.inference_mode():
        return nn.Sequential(nn.BatchNorm1d(2))


@pytest.mark.parametrize("cls", [Decides, Remembers])
def test_fork_refuses_what_cannot_be_traced(cls: type[nn.Module]) -> None:
    model = nn.Sequential(nn.ReLU(), nn.Sequential(cls()))
    before = dict(vars(model[1][0]))
    with pytest.raises(
        ValueError, match=re.escape(f"{__file__}:{line_of(cls)}: Sequential cannot be traced")
    ):
        fork(model, torch.ones(2))
    assert vars(model[1][0]) == before


@pytest.mark.parametrize(
    ("model", "example", "error", "message"),
    [
        (Block(), torch.zeros(5, 2, 6, 6), ValueError, "layer 'features.0': .*2 channels"),
        (nn.ReLU(), [1.0], TypeError, "example_input: expected a tensor or a tuple of tensors, got float"),
        (torch.relu, torch.ones(1), TypeError, "expected a torch.nn.Module"),
        (nn.LazyLinear(2), torch.ones(1, 1), ValueError, "weight is not initialized"),
        (torch.jit.ScriptModule(), torch.ones(1), ValueError, "TorchScript"),
        (Asks(), torch.ones(1), ValueError, r"test_graph.py:\d+: Asks cannot be traced: .*different results"),
        (
            Hides(),
            torch.full((1,), 2.0),
            ValueError,
            "Hides cannot be traced: .*the traced graph give different results",
        ),
        (NativeNorm(2), torch.rand(4, 2), ValueError, "changes buffer 'running_mean' in evaluation"),
        (
            made_in_inference_mode(),
            torch.ones(2, 2),
            ValueError,
            "buffer '0.running_mean' is an inference tensor",
        ),
    ],
)
def test_fork_refuses(model: Any, example: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fork(model, example)


def test_a_fork_is_not_copied() -> None:
    branches = fork(nn.ReLU(), torch.ones(1))
    for what in (branches, branches.infer):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            copy.deepcopy(what)


def test_tracing_leaves_no_patches() -> None:
    def patched() -> list[Any]:
        return [
            vars(torch.autograd.Function)["apply"],
            thnn.LinearFunction.apply.__func__,
            nn.Module.__call__,
            thnn.batch_norm,
        ]

    before = patched()
    with pytest.raises(ValueError, match="cannot be traced"):
        fork(Decides(), torch.ones(1))
    fork(Functional(), images().float())
    assert patched() == before


# draw.


def rectangles(svg: str) -> list[tuple[str, float, float, float, float, list[tuple[str, float]]]]:
    """Class, x, y, width, height and texts of every rectangle."""
    space = "{http://www.w3.org/2000/svg}"
    found = []
    for group in ElementTree.fromstring(svg).iter(f"{space}g"):
        box = group.find(f"{space}rect")
        assert box is not None
        texts = [(t.text or "", float(t.get("y", "nan"))) for t in group.iter(f"{space}text")]
        sizes = [float(box.get(k, "nan")) for k in ("x", "y", "width", "height")]
        found.append((group.get("class", ""), *sizes, texts))
    return found  # type: ignore[return-value]


def strange_net() -> Net:
    net = small_net()
    net.append_op(Operator(torch.add, "r1", "c1", output='<"&">' + "a long name " * 9))
    net.append_op(Operator(torch.add, "n1", "x", output="bell\x07"))
    return net


class Ways(nn.Module):
    """Shortcuts across many layers, and operations in training only."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(1, 1, 1) for _ in range(3))
        self.n, self.m = nn.BatchNorm2d(1), nn.BatchNorm2d(1)
        self.offset = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        a = self.a(x)
        b = self.n(self.b(a))
        if self.training:
            b = b * torch.rand_like(b)
        c = self.m(self.c(b) + a) + self.offset
        return c + b + a + x


DRAWN: dict[str, Callable[[], Any]] = {
    "net": small_net,
    "strange net": strange_net,
    "net without a fork": lambda: _net_of(Operator(torch.relu, "x", output="y")),
    "empty net": Net,
    "block": lambda: fork(Block(), torch.zeros(5, 1, 6, 6)),
    "folded": lambda: fork(Block(), torch.zeros(5, 1, 6, 6), fold=True),
    "ways": lambda: fork(Ways(), torch.zeros(2, 1, 2, 2)),
    "shared": lambda: fork(Shared(), torch.zeros(2, 1, 2, 2)),
    "statistics": lambda: fork(Statistics(), torch.zeros(5, 1, 6, 6)),
    "named": lambda: fork(named(), torch.zeros(5, 1, 6, 6)),
}


def _net_of(*operators: Operator) -> Net:
    net = Net()
    for operator in operators:
        net.append_op(operator)
    return net


@pytest.mark.parametrize("name", DRAWN)
def test_drawings_are_readable(name: str, tmp_path: Path) -> None:
    what = DRAWN[name]()
    assert draw(what, tmp_path / "a.svg") is None
    svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
    boxes = rectangles(svg)
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    for k, (_, x, y, w, h, texts) in enumerate(boxes):
        assert x >= 0 and y >= 0 and x + w <= width and y + h <= height
        for text, at in texts:
            assert len(text) * 7 <= w
            assert y + 8 <= at <= y + h - 2
        for _, x2, y2, w2, h2, _ in boxes[:k]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
    # Each variable once.
    module = getattr(what, "module", None)
    names = (
        [n for n, _ in (*module.named_parameters(), *module.named_buffers())]
        if module is not None
        else [n for n, v in what.scope.items() if v.value is not None]
    )
    shown = [
        t.rsplit(" (")[0]
        for kind, *_, texts in boxes
        if kind.split()[0] in ("parameter", "statistic")
        for t, _ in texts
    ]
    assert sorted(shown) == sorted(names)


def test_a_drawing_is_an_svg_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"draw: path: expected the name of an SVG file, got '.*\.png'"):
        draw(small_net(), tmp_path / "net.png")


def test_drawing_highlights_the_target(tmp_path: Path) -> None:
    net = small_net()
    draw(net, tmp_path / "a.svg", target=("infer", "r2"))
    active = {
        (kind.split()[0], texts[-1][0])
        for kind, *_, texts in rectangles((tmp_path / "a.svg").read_text())
        if "active" in kind
    }
    assert {label for kind, label in active if kind == "infer"} == {
        "n1, is_infer=True",
        "r1",
        "c2",
        "n2, is_infer=True",
        "r2",
    }
    assert not [label for kind, label in active if kind == "train"]
    assert ("shared", "c1") in active and ("input", "x") in active and ("input", "target") not in active
    text = draw(net, target="train")
    assert text is not None
    starred = [
        line.split()[2] for line in text.splitlines() if line.startswith("  * ") and line.split()[1].isdigit()
    ]
    assert starred == [
        "x",
        "SpatialConvolutionMM",
        "batch_norm_op",
        "relu",
        "SpatialConvolutionMM",
        "batch_norm_op",
        "relu",
        "mul",
        "sum",
    ]
    assert text.count("w2 (4, 3, 3, 3)") == 1
    assert "n1.estimated_mean (3)  -> train 1, infer 1; updated by train 1" in text


@pytest.mark.parametrize("target", ["q", ("infer", "n1.batch_mean"), ("both", "r1")])
def test_drawing_refuses(target: Any) -> None:
    with pytest.raises(ValueError, match=r"q|n1\.batch_mean|both"):
        draw(small_net(), target=target)
    with pytest.raises(ValueError, match="target"):
        draw(fork(nn.ReLU(), torch.ones(1)), target="q")
    with pytest.raises(TypeError, match="expected a Net or a Fork, got ReLU"):
        draw(nn.ReLU())  # type: ignore[arg-type]


# Examples.


def test_the_page_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "graph.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Sequential, highlighted: infer")
    assert rectangles((tmp_path / "net.svg").read_text())


def run_example(tmp_path: Path, *command: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / command[0]), *command[1:]],
        cwd=tmp_path, text=True, capture_output=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_example_trains_and_infers_in_one_loop(tmp_path: Path) -> None:
    lines = run_example(tmp_path, "fork.py", "--epochs", "3", "--threads", "1", "--svg", "net.svg")
    accuracies = [float(a) for line in lines for a in re.findall(r"batch .* accuracy +([\d.]+)%", line)]
    assert len(accuracies) == 6
    assert accuracies[0] < 50 < 90 < accuracies[-1]
    assert float(re.findall(r"^test accuracy: ([\d.]+) %$", "\n".join(lines), re.MULTILINE)[0]) >= 96
    assert rectangles((tmp_path / "net.svg").read_text())


@pytest.mark.parametrize("options", [(), ("--fold",)])
def test_example_draws(tmp_path: Path, options: tuple[str, ...]) -> None:
    lines = run_example(tmp_path, "draw_fork.py", *options)
    assert lines[-1] == "picture: fork.svg"
    assert any("Conv2d + BatchNorm2d" in line for line in lines) is bool(options)
    assert rectangles((tmp_path / "fork.svg").read_text())
