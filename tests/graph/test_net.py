"""Nets that fork into training and inference."""

from __future__ import annotations

import copy
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from graph_models import images, net_of, small_net
from torch import Tensor, nn
from torch.nn import functional as F

import thnn
from thnn.graph import Net, Operator, Scope, draw

# Results.


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

    net = net_of(Operator(fail, "x", output="y"))
    with pytest.raises(Own, match="broken") as caught:
        net.train("y", x=images())
    if hasattr(caught.value, "__notes__"):  # Python 3.11
        assert caught.value.__notes__ == ["in fail -> 'y' (0='x': float64 (4, 1, 6, 6))"]


def test_a_tuple_of_one() -> None:
    net = net_of(
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


# Errors.


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


@pytest.mark.parametrize(
    "kind",
    [nn.ReLU(True), torch.relu_, nn.Sequential(nn.Identity(), nn.ReLU(True)), lambda x: x.view(-1).relu_()],
)
def test_a_change_of_a_variable_in_place(kind: Any) -> None:
    square = Operator(torch.mul, "x", "x", output="x2")
    net = net_of(square, Operator(kind, "x2", output="y"), Operator(torch.sum, "x2", output="sum"))
    with pytest.raises(
        ValueError, match=r"-> 'y': variable 'x2' was changed in place; .* is written once \(0='x2'"
    ):
        net.train(("y", "sum"), x=torch.randn(3))
    inner = Operator(nn.Sequential(nn.Linear(3, 3), nn.ReLU(True)), "x2", output="y")
    net_of(square, inner).train("y", x=torch.randn(1, 3))
