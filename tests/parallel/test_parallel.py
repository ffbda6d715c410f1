"""thnn.parallel. Devices repeat, so that all tests run on a machine without a GPU."""

from __future__ import annotations

import _thread
import concurrent.futures
import contextvars
import copy
import pickle
import signal
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import thnn
from thnn._batch_norm import running_statistics, stages
from thnn.nn import BatchNorm1d, BatchNorm2d
from thnn.parallel import AllReduce, DataParallelCriterion, SelfDataParallel, equivalent_decay

CPUS = ["cpu"] * 3


@pytest.fixture(autouse=True)
def _no_threads_left() -> Iterator[None]:
    before = threading.active_count()
    torch.manual_seed(0)
    yield
    # An interrupted caller does not wait for running replicas.
    until = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() == before


def network(norm: type[nn.Module] = BatchNorm2d, **options: Any) -> nn.Sequential:
    last = BatchNorm1d if norm is BatchNorm2d else nn.BatchNorm1d
    made = nn.Sequential(
        nn.Conv2d(2, 4, 3),
        norm(4, **options),
        nn.Tanh(),
        nn.Conv2d(4, 3, 3),
        norm(3, **options),
        nn.Flatten(),
        nn.Linear(12, 5),
        last(5, **options),
    ).double()
    if options.get("activation") == "relu6":
        for position in (1, 4, 7):
            nn.init.constant_(made[position].weight, 8)  # many outputs are above 6
    return made


def images(count: int) -> Tensor:
    return torch.randn(count, 2, 6, 6, dtype=torch.float64)


def same(actual: Any, expected: Any) -> None:
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected):
        torch.testing.assert_close(a.double(), e.double(), rtol=1e-10, atol=1e-10)


# AllReduce


def test_all_reduce_sums_forward_and_backward() -> None:
    tensors = [torch.randn(3, 2, dtype=torch.float64, requires_grad=True) for _ in range(4)]
    sums = AllReduce.apply(*tensors)
    assert isinstance(sums, tuple)
    same(sums, [sum(tensors)] * 4)  # type: ignore[list-item]
    assert len({t.data_ptr() for t in (*sums, *tensors)}) == 8
    weights = [torch.randn(3, 2, dtype=torch.float64) for _ in range(4)]
    gradients = torch.autograd.grad(sum((s * w).sum() for s, w in zip(sums, weights)), tensors)
    same(gradients, [sum(weights)] * 4)  # type: ignore[list-item]
    assert torch.autograd.gradcheck(AllReduce.apply, tensors)
    assert torch.autograd.gradgradcheck(lambda *t: [s**3 for s in AllReduce.apply(*t)], tensors)


def test_all_reduce_adds_in_order() -> None:
    # In the reverse order the sum would be 1.
    values = [torch.tensor(v) for v in (1.0, 1e30, -1e30)]
    assert [float(s) for s in AllReduce.apply(*values)] == [0, 0, 0]
    (alone,) = AllReduce.apply(values[0])
    assert alone == 1
    assert alone.data_ptr() != values[0].data_ptr()


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ((), ValueError, ["none"]),
        ((torch.ones(2), torch.ones(3)), ValueError, ["(2,)", "(3,)", "argument 1"]),
        ((torch.ones(2), torch.ones(2).double()), ValueError, ["torch.float32", "torch.float64"]),
        ((torch.ones(2), 1.0), TypeError, ["argument 1", "float"]),
    ],
)
def test_all_reduce_refuses(arguments: Any, kind: type[Exception], words: list[str]) -> None:
    with pytest.raises(kind) as caught:
        AllReduce.apply(*arguments)
    assert all(word in str(caught.value) for word in words)


# Equal to the unreplicated network on the whole batch


@pytest.mark.parametrize("norm", [BatchNorm2d, nn.BatchNorm2d])
@pytest.mark.parametrize("count", [9, 7, 2])
@pytest.mark.parametrize("channels_last", [False, True])
def test_equals_one_process(norm: type[nn.Module], count: int, channels_last: bool) -> None:
    alone = network(norm)
    together = copy.deepcopy(alone)
    parallel = SelfDataParallel(together, CPUS)
    for _ in range(2):
        x = images(count)
        if channels_last:
            x = x.contiguous(memory_format=torch.channels_last)
        inputs = [x.clone().requires_grad_() for _ in range(2)]
        outputs = parallel(inputs[0])
        assert [len(o) for o in outputs] == {9: [3, 3, 3], 7: [3, 2, 2], 2: [1, 1]}[count]
        results = [torch.cat(outputs), alone(inputs[1])]
        same(results[:1], results[1:])
        g = torch.randn_like(results[0])
        gradients = [
            torch.autograd.grad((y**2 * g).sum(), [x, *net.parameters()])
            for y, x, net in zip(results, inputs, (together, alone))
        ]
        same(*gradients)
        same(list(together.state_dict().values()), list(alone.state_dict().values()))
        with torch.no_grad():
            for net in (together, alone):
                for parameter in net.parameters():
                    parameter.mul_(0.9)
    parallel.eval()
    alone.eval()
    x = images(count)
    same([torch.cat(parallel(x))], [alone(x)])


@pytest.mark.parametrize(
    "options",
    [
        {"activation": "relu"},
        {"activation": "relu6"},
        {"activation": "relu", "affine": False},
        {"bias": False},
        {"decay": 0.7, "unbiased": False},
        {"momentum": None},
        {"first_batch": "initialize"},
        {"update_statistics": False},
        {"track_running_stats": False},
        {"momentum": 1.0},
    ],
    ids=str,
)
def test_options_of_the_layer(options: dict[str, Any]) -> None:
    alone = network(**options)
    together = copy.deepcopy(alone)
    parallel = SelfDataParallel(together, CPUS)
    for training in (True, True, False):
        parallel.train(training)
        alone.train(training)
        inputs = [(x := images(8)).clone().requires_grad_(), x.clone().requires_grad_()]
        results = [torch.cat(parallel(inputs[0])), alone(inputs[1])]
        same(results[:1], results[1:])
        same(
            *[
                torch.autograd.grad((y**2).sum(), [x, *net.parameters()], create_graph=True)
                for y, x, net in zip(results, inputs, (together, alone))
            ]
        )
    same(list(together.state_dict().values()), list(alone.state_dict().values()))


def test_an_unknown_activation() -> None:
    net = network()
    net[4].activation = "gelu"
    with pytest.raises(
        ValueError, match=r"activation: expected one of \(None, 'relu', 'relu6'\), got 'gelu'"
    ):
        SelfDataParallel(net, CPUS)(images(8))


@pytest.mark.parametrize("as_tensor", [False, True])  # a tensor on devices other than the CPU
@pytest.mark.parametrize("options", [{"momentum": None}, {"first_batch": "initialize"}], ids=str)
def test_first_batch_replaces_any_statistics(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], as_tensor: bool
) -> None:
    alone = network(**options)
    for norm in (alone[1], alone[4], alone[7]):
        norm.running_mean.fill_(torch.nan)
        norm.running_var.fill_(torch.nan)
    together = copy.deepcopy(alone)
    batches = images(8), images(7)
    for x in batches:
        alone(x)
    if as_tensor:
        number = running_statistics.weight_of_batch
        monkeypatch.setattr(
            running_statistics, "weight_of_batch", lambda *a: torch.tensor(number(*a), dtype=torch.float64)
        )
    for x in batches:
        SelfDataParallel(together, CPUS)(x)
    same(list(together.state_dict().values()), list(alone.state_dict().values()))


@pytest.mark.parametrize("activation", [None, "relu", "relu6"])
def test_twice_differentiable(activation: Any) -> None:
    alone = network(activation=activation)
    together = copy.deepcopy(alone)
    parallel = SelfDataParallel(together, CPUS)
    found = []
    x = images(7)
    for net, run in ((alone, alone), (together, lambda x: torch.cat(parallel(x)))):
        x = x.detach().requires_grad_()
        of = [x, *net.parameters()]
        first = torch.autograd.grad((run(x) ** 3).sum(), of, create_graph=True)
        found.append(torch.autograd.grad(sum((g**2).sum() for g in first), of))
    for a, b in zip(*found):
        torch.testing.assert_close(
            a, b, rtol=1e-10, atol=1e-10 * float(max(1, *(g.abs().max() for g in found[0])))
        )


@pytest.mark.parametrize("activation", [None, "relu", "relu6"])
def test_without_kernels(monkeypatch: pytest.MonkeyPatch, activation: Any) -> None:
    """On a device without kernels in the library, all stages are torch operations."""
    found = []
    net = network(activation=activation)
    x = images(7)
    for kernels in (True, False):
        if not kernels:
            monkeypatch.setattr(stages, "_has_kernels", lambda tensor: False)
        twin = copy.deepcopy(net)
        x = x.detach().requires_grad_()
        output = torch.cat(SelfDataParallel(twin, CPUS)(x))
        gradients = torch.autograd.grad((output**3).sum(), [x, *twin.parameters()])
        found.append([output, *gradients, *twin.state_dict().values()])
    same(*found)
    with pytest.raises(ValueError, match=r"'1' .*1 value per channel"):
        SelfDataParallel(nn.Sequential(nn.Identity(), BatchNorm1d(3)), CPUS)(torch.ones(1, 3))


def test_gradcheck_of_the_joint_node() -> None:
    layer = BatchNorm1d(2, activation="relu").double()
    parallel = SelfDataParallel(layer, CPUS)
    x = torch.randn(5, 2, 2, dtype=torch.float64, requires_grad=True)

    def run(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        del layer._parameters["weight"], layer._parameters["bias"]
        layer.weight, layer.bias = nn.Parameter(weight.detach()), nn.Parameter(bias.detach())
        return torch.cat(parallel(x))

    weight, bias = torch.randn(2).double(), torch.randn(2).double()
    assert torch.autograd.gradcheck(lambda x: run(x, weight, bias), x)
    assert torch.autograd.gradgradcheck(lambda x: run(x, weight, bias), x)


def test_gradient_where_variance_and_eps_are_zero() -> None:
    net = thnn.nn.BatchNorm1d(3, eps=0.0, dtype=torch.float64)
    x = torch.randn(6, 3, dtype=torch.float64)
    x[:, 1] = 0.1
    for create_graph in (False, True):
        x = x.detach().requires_grad_()
        y = torch.cat(SelfDataParallel(net, CPUS)(x))
        gradients = torch.autograd.grad(y.pow(3).sum(), (x, net.weight), create_graph=create_graph)
        if not create_graph:
            expected = gradients
    torch.testing.assert_close(gradients, expected)
    second = torch.autograd.grad(sum(g.square().sum() for g in gradients), x)
    assert all(g.isfinite().all() for g in (*gradients, *second))


def test_statistics_stay_where_the_output_cannot_be_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    net = thnn.nn.BatchNorm1d(3)
    x = torch.randn(6, 3)

    def no_memory(like: Tensor, **_: Any) -> Tensor:
        raise RuntimeError(f"no memory for {tuple(like.shape)}")

    monkeypatch.setattr(torch, "empty_like", no_memory)
    with pytest.raises(RuntimeError, match="no memory"):
        SelfDataParallel(net, CPUS)(x)
    assert net.running_mean.eq(0).all()
    assert net.running_var.eq(1).all()
    assert net.num_batches_tracked == 0


def test_an_input_of_a_half_type_inside_autocast() -> None:
    x = torch.randn(8, 3).bfloat16()
    net = thnn.nn.BatchNorm1d(3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected = copy.deepcopy(net)(x)
        y = torch.cat(SelfDataParallel(net, CPUS)(x))
    assert y.dtype is expected.dtype is torch.bfloat16
    torch.testing.assert_close(y, expected, rtol=1e-2, atol=1e-5)


def test_bits_do_not_depend_on_timing() -> None:
    class Late(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            time.sleep(float(torch.rand(())) * 0.01)
            return x

    net = nn.Sequential(network()[:2], Late(), nn.ReLU(), Late(), nn.Flatten(), nn.Linear(64, 3)).float()
    parallel = SelfDataParallel(net, CPUS)
    x = images(9).float()
    found = []
    for _ in range(4):
        net.zero_grad()
        torch.cat(parallel(x)).square().sum().backward()
        found.append([p.grad.clone() for p in net.parameters() if p.grad is not None])
    for other in found[1:]:
        assert all(map(torch.equal, found[0], other))


def test_frozen_layers_and_parameters() -> None:
    alone = network()
    alone[0].requires_grad_(False)
    alone[1].eval()
    alone[4].weight.requires_grad_(False)
    together = copy.deepcopy(alone)
    seen = []
    together[0].register_forward_hook(lambda module, inputs, output: seen.append(output.requires_grad))
    x = images(7)
    results = [torch.cat(SelfDataParallel(together, CPUS)(x)), alone(x)]
    same(results[:1], results[1:])
    assert seen == [False] * 3
    for result in results:
        (result**3).sum().backward()
    assert [p.grad is None for p in together.parameters()] == [p.grad is None for p in alone.parameters()]
    same(*[[p.grad for p in net.parameters() if p.grad is not None] for net in (together, alone)])
    same(list(together.state_dict().values()), list(alone.state_dict().values()))


def test_layers_that_are_shared_and_called_twice() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = BatchNorm1d(3, momentum=None)
            self.again = self.layer
            self.free = nn.BatchNorm1d(3)  # not called

        def forward(self, x: Tensor) -> Tensor:
            return self.again(self.layer(x).exp())

    alone = Twice().double()
    together = copy.deepcopy(alone)
    x = torch.randn(7, 3).double()
    same([torch.cat(SelfDataParallel(together, CPUS)(x))], [alone(x)])
    same(list(together.state_dict().values()), list(alone.state_dict().values()))
    assert together.layer.num_batches_tracked == 2


def test_modules_that_cache_their_parameters() -> None:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = nn.LSTM(3, 4, batch_first=True)
            self.tied = nn.Linear(4, 4)
            self.tied_too = nn.Linear(4, 4)
            self.tied_too.weight = self.tied.weight
            self.normed = nn.utils.parametrizations.weight_norm(nn.Linear(4, 2))
            self.norm = nn.BatchNorm1d(2)
            self.scales = nn.ParameterList([torch.rand(2)])

        def forward(self, x: Tensor) -> Tensor:
            y = self.tied_too(self.tied(self.rnn(x)[0][:, -1]))
            assert next(self.parameters()) is not None
            return self.norm(self.normed(y)) * self.scales[0]

    alone = Recurrent().double()
    together = copy.deepcopy(alone)
    x = torch.randn(7, 5, 3).double()
    results = [torch.cat(SelfDataParallel(together, CPUS)(x)), alone(x)]
    same(results[:1], results[1:])
    for result in results:
        (result**3).sum().backward()
    same([p.grad for p in together.parameters()], [p.grad for p in alone.parameters()])


def test_layers_with_a_forward_of_their_own() -> None:
    class Through(nn.BatchNorm1d):
        def forward(self, input: Tensor) -> Tensor:
            return 2 * super().forward(input)

    class Past(BatchNorm1d):
        def forward(self, input: Tensor) -> Tensor:
            return F.batch_norm(input, self.running_mean, self.running_var, training=self.training)

    x = torch.randn(6, 3)
    alone = Through(3)
    torch.testing.assert_close(torch.cat(SelfDataParallel(copy.deepcopy(alone), CPUS)(x)), alone(x))
    with pytest.raises(NotImplementedError, match=r"'0' \(Past\).*super\(\)\.forward"):
        SelfDataParallel(nn.Sequential(Past(3)), CPUS)(x)
    torch.testing.assert_close(torch.cat(SelfDataParallel(Past(3).eval(), CPUS)(x)), Past(3).eval()(x))


def test_low_precision() -> None:
    alone = network(nn.BatchNorm2d).to(torch.bfloat16)
    together = copy.deepcopy(alone)
    x = images(9).to(torch.bfloat16)
    expected, got = alone(x), torch.cat(SelfDataParallel(together, CPUS)(x))
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got, expected, rtol=0.1, atol=0.1)


def test_no_grad_makes_no_graph() -> None:
    parallel = SelfDataParallel(network(), CPUS)
    for mode in (torch.no_grad(), torch.inference_mode()):
        with mode:
            assert not any(o.requires_grad for o in parallel(images(4)))
    assert parallel.module[1].num_batches_tracked == 2


# Scattering


class Echo(nn.Module):
    def forward(self, *arguments: Any, **keywords: Any) -> Any:
        return arguments, keywords


def test_scatter_of_structures() -> None:
    x = torch.arange(14.0).reshape(7, 2)
    label = object()
    outputs = SelfDataParallel(Echo(), CPUS)([x, {"a": x[:, 0]}], torch.tensor(5), label, mask=(x > 3, None))
    assert len(outputs) == 3
    for ((parts, number, other), words), rows in zip(outputs, ([0, 1, 2], [3, 4], [5, 6])):
        assert torch.equal(parts[0], x[rows])
        assert torch.equal(parts[1]["a"], x[rows, 0])
        assert number == 5
        assert other is label
        assert torch.equal(words["mask"][0], x[rows] > 3)
        assert words["mask"][1] is None


def test_scatter_along_another_dimension() -> None:
    x = torch.randn(3, 5)
    outputs = SelfDataParallel(nn.Identity(), ["cpu"] * 2, dim=1)(x)
    assert [tuple(o.shape) for o in outputs] == [(3, 3), (3, 2)]
    assert torch.equal(torch.cat(outputs, 1), x)


def test_an_empty_batch_goes_to_the_first() -> None:
    outputs = SelfDataParallel(nn.Linear(3, 2), CPUS)(torch.empty(0, 3))
    assert [tuple(o.shape) for o in outputs] == [(0, 2)]


def assigned(**attributes: Any) -> SelfDataParallel:
    """A SelfDataParallel with attributes that are assigned after its creation."""
    made = SelfDataParallel(BatchNorm1d(3), CPUS)
    for name, value in attributes.items():
        setattr(made, name, value)
    if "module" in attributes:
        made(torch.ones(4, 3))
    return made


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: SelfDataParallel(network(), []), ValueError, ["devices", "none"]),
        (lambda: SelfDataParallel(network(), "cpu"), TypeError, ["devices", "'cpu'"]),
        (lambda: SelfDataParallel(network(), ["cpu", "nowhere"]), ValueError, ["'nowhere'"]),
        (lambda: SelfDataParallel(network(), ["cuda:77"]), ValueError, ["'cuda:77'"]),
        (lambda: SelfDataParallel(network(), ["cpu", "meta"]), ValueError, ["'meta'", "no memory"]),
        (lambda: SelfDataParallel(network(), [1.5]), TypeError, ["devices", "float"]),  # type: ignore[list-item]
        (lambda: SelfDataParallel(network(), None), TypeError, ["devices", "None"]),  # type: ignore[arg-type]
        (lambda: SelfDataParallel(network(), CPUS, dim=1.5), TypeError, ["dim", "float"]),  # type: ignore[arg-type]
        (
            lambda: SelfDataParallel(SelfDataParallel(network(), CPUS), CPUS),
            ValueError,
            ["module", "got a SelfDataParallel"],
        ),
        (lambda: assigned(module=nn.Sequential(assigned())), ValueError, ["'0'", "cannot be nested"]),
        (lambda: assigned(moving_statistics="median")(torch.ones(4, 3)), ValueError, ["'sync'", "'median'"]),
        (lambda: assigned()(torch.ones(4, 3).to_sparse()), TypeError, ["dense", "sparse_coo"]),
        (lambda: SelfDataParallel(F.relu, CPUS), TypeError, ["module", "function"]),  # type: ignore[arg-type]
        (lambda: SelfDataParallel(network(), CPUS, "median"), ValueError, ["'sync'", "'median'"]),  # type: ignore[arg-type]
        (lambda: SelfDataParallel(nn.SyncBatchNorm(3), CPUS), ValueError, ["SyncBatchNorm", "revert"]),
        (lambda: SelfDataParallel(thnn.nn.SyncBatchNorm(3), CPUS), ValueError, ["SyncBatchNorm", "revert"]),
        (lambda: SelfDataParallel(network(), CPUS)(3), ValueError, ["batch"]),
        (
            lambda: SelfDataParallel(Echo(), CPUS)(torch.ones(3), torch.ones(4, 2)),
            ValueError,
            ["3", "(4, 2)"],
        ),
        (lambda: SelfDataParallel(nn.LazyLinear(3), CPUS)(torch.ones(3, 2)), ValueError, ["LazyLinear"]),
        (
            lambda: SelfDataParallel(BatchNorm1d(3), CPUS)(torch.ones(1, 3)),
            ValueError,
            ["BatchNorm1d", "1 value"],
        ),
        (
            lambda: SelfDataParallel(nn.BatchNorm1d(3), CPUS)(torch.ones(4, 2)),
            ValueError,
            ["3 channels", "(2, 2)"],
        ),
        (lambda: SelfDataParallel(BatchNorm1d(3), CPUS)(torch.ones(4, 3).double()), TypeError, ["float64"]),
        (
            lambda: SelfDataParallel(BatchNorm1d(3, momentum=None), CPUS, "sum")(torch.ones(4, 3)),
            ValueError,
            ["'sum'", "momentum=None"],
        ),
        (lambda: equivalent_decay(1.1, 2), ValueError, ["decay", "1.1"]),
        (lambda: equivalent_decay("a", 2), TypeError, ["equivalent_decay", "decay", "str"]),  # type: ignore[arg-type]
        (lambda: equivalent_decay(0.9, 0), ValueError, ["devices", "0"]),
        (lambda: equivalent_decay(0.9, 1.5), TypeError, ["devices", "float"]),  # type: ignore[arg-type]
    ],
)
def test_refuses(call: Callable[[], Any], kind: type[Exception], words: list[str]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_refused_batch_changes_nothing() -> None:
    layer = BatchNorm1d(3)
    before = copy.deepcopy(layer.state_dict())
    with pytest.raises(ValueError, match="1 value per channel"):
        SelfDataParallel(layer, CPUS)(torch.ones(1, 3))
    same(list(layer.state_dict().values()), list(before.values()))


# Threads


class Fault(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(f"code {code}")
        self.code = code


class Wrong(nn.Module):
    """Calls `how` in the replica whose part of the batch has a negative number."""

    def __init__(self, how: Callable[[Any, Tensor], Tensor]) -> None:
        super().__init__()
        self.first, self.second = BatchNorm1d(2), nn.BatchNorm1d(2)
        self.how = how

    def forward(self, x: Tensor) -> Tensor:
        if (x < 0).any():
            return self.how(self, x)
        return self.second(self.first(x))


def one_negative(where: int) -> Tensor:
    x = torch.rand(6, 2)
    x[where] = -1
    return x


def raise_fault(net: Any, x: Tensor) -> Tensor:
    raise Fault(7)


@pytest.mark.parametrize("where", [0, 5])
@pytest.mark.parametrize("moving_statistics", ["sync", "mean"])
@pytest.mark.parametrize("late", [False, True])
def test_the_original_exception_comes_out(where: int, moving_statistics: Any, late: bool) -> None:
    def how(net: Any, x: Tensor) -> Tensor:
        if late:
            x = net.first(x)
            time.sleep(0.02)
        return raise_fault(net, x)

    parallel = SelfDataParallel(Wrong(how), CPUS, moving_statistics)
    with pytest.raises(Fault) as caught:
        parallel(one_negative(where))
    assert caught.value.code == 7
    assert "raise_fault" in [f.name for f in traceback.extract_tb(caught.value.__traceback__)]
    if hasattr(caught.value, "__notes__"):
        assert caught.value.__notes__ == [f"in replica {where // 2} on cpu"]
    assert all(o.isfinite().all() for o in parallel(torch.rand(6, 2)))  # a later call succeeds


def test_except_exception_does_not_catch_the_abort_of_a_replica() -> None:
    class Stubborn(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = BatchNorm1d(2)

        def forward(self, x: Tensor) -> Tensor:
            if (x < 0).any():
                raise Fault(1)
            try:
                return self.norm(self.norm(x))
            except Exception:
                pytest.fail("the network must not catch the exception that ends a replica")

    with pytest.raises(Fault):
        SelfDataParallel(Stubborn(), CPUS)(one_negative(3))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, StopIteration])
def test_exceptions_of_every_kind(kind: type[BaseException]) -> None:
    def how(net: Any, x: Tensor) -> Tensor:
        raise kind

    with pytest.raises(kind):
        SelfDataParallel(Wrong(how), CPUS)(one_negative(2))


def test_interrupting_the_caller() -> None:
    # A background process may have been started with SIGINT ignored.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)

    def how(net: Any, x: Tensor) -> Tensor:
        _thread.interrupt_main()
        time.sleep(0.05)
        return net.second(net.first(x))

    try:
        for where in (0, 5):
            with pytest.raises(KeyboardInterrupt):
                SelfDataParallel(Wrong(how), CPUS)(one_negative(where))
    finally:
        signal.signal(signal.SIGINT, handler)


@pytest.mark.parametrize("where", [0, 3, 5])
@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            lambda net, x: net.first(x),
            r"layer 'second' \(BatchNorm1d\): .*replica \d on cpu has finished without it",
        ),
        (
            lambda net, x: x,
            r"layer 'first' \(BatchNorm1d\): .*replica {place} on cpu has finished without it",
        ),
        (lambda net, x: net.second(x), r"layer '(first|second)' .* is in layer '(first|second)'"),
        (
            lambda net, x: net.second(net.second(net.first(x))),
            r"layer 'second' .* replica \d on cpu has finished without it",
        ),
    ],
    ids=["skips the second", "skips both", "skips the first", "one too many"],
)
def test_replicas_that_run_different_layers(where: int, how: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("{place}", str(where // 2))):
        SelfDataParallel(Wrong(how), CPUS)(one_negative(where))


def test_different_layers_are_allowed_without_synchronization() -> None:
    net = Wrong(lambda net, x: net.second(x))
    SelfDataParallel(net, CPUS, "mean")(one_negative(0))
    SelfDataParallel(net.eval(), CPUS)(one_negative(0))
    assert net.first.num_batches_tracked == 1


def test_checkpointing_is_refused() -> None:
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = BatchNorm1d(2)

        def forward(self, x: Tensor) -> Tensor:
            result: Tensor = checkpoint(self.norm, x, use_reentrant=False)
            return result

    outputs = SelfDataParallel(Checkpointed(), CPUS)(torch.rand(6, 2))
    with pytest.raises(NotImplementedError, match=r"'norm' .*checkpointing"):
        torch.cat(outputs).square().sum().backward()


def test_threads_have_the_state_of_the_caller() -> None:
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)

    class State(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return {
                "grad": torch.is_grad_enabled(),
                "inference": torch.is_inference_mode_enabled(),
                "autocast": torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu"),
                "default": str(torch.empty(0).device),
                "dtype": torch.get_default_dtype(),
                "deterministic": torch.are_deterministic_algorithms_enabled(),
                "variable": variable.get(),
                "thread": threading.get_ident(),
            }

    def seen() -> list[dict[str, Any]]:
        states: list[dict[str, Any]] = SelfDataParallel(State(), CPUS)(torch.ones(3, device="cpu"))
        assert threading.get_ident() not in [s.pop("thread") for s in states]
        return states

    plain = {
        "grad": True,
        "inference": False,
        "autocast": False,
        "default": "cpu",
        "dtype": torch.float32,
        "deterministic": False,
        "variable": 0,
    }
    assert seen() == [plain] * 3
    with torch.no_grad():
        assert seen() == [{**plain, "grad": False}] * 3
    with torch.inference_mode():
        assert seen() == [{**plain, "grad": False, "inference": True}] * 3
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert seen() == [{**plain, "autocast": torch.bfloat16}] * 3
    with torch.device("meta"):
        assert seen() == [{**plain, "default": "meta"}] * 3
    token = variable.set(5)
    assert seen() == [{**plain, "variable": 5}] * 3
    variable.reset(token)
    torch.set_default_dtype(torch.float64)
    torch.use_deterministic_algorithms(True)
    try:
        assert seen() == [{**plain, "dtype": torch.float64, "deterministic": True}] * 3
    finally:
        torch.set_default_dtype(torch.float32)
        torch.use_deterministic_algorithms(False)


def test_autocast_reaches_the_layers() -> None:
    net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    x = torch.randn(8, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected = copy.deepcopy(net)(x)
        outputs = torch.cat(SelfDataParallel(net, CPUS)(x))
    assert outputs.dtype == expected.dtype == torch.bfloat16
    torch.testing.assert_close(outputs, expected, rtol=0.05, atol=0.05)
    outputs.float().square().sum().backward()
    assert net[0].weight.grad is not None
    assert net[0].weight.grad.dtype == torch.float32


def test_replicas_share_the_threads() -> None:
    class Threads(nn.Module):
        def forward(self, x: Tensor) -> int:
            return torch.get_num_threads()

    for threads, replicas, share in ((6, 3, 2), (4, 3, 1), (1, 2, 1), (5, 1, 5)):
        torch.set_num_threads(threads)
        assert SelfDataParallel(Threads(), ["cpu"] * replicas)(torch.ones(replicas)) == [share] * replicas
        assert torch.get_num_threads() == threads
    torch.set_num_threads(4)
    with pytest.raises(Fault):
        SelfDataParallel(Wrong(raise_fault), CPUS)(one_negative(0))
    assert torch.get_num_threads() == 4


def test_overlapping_calls_leave_the_number_of_threads() -> None:
    release = [threading.Event(), threading.Event()]
    entered = [threading.Semaphore(0), threading.Semaphore(0)]

    class Wait(nn.Module):
        def __init__(self, k: int) -> None:
            super().__init__()
            self.k = k

        def forward(self, x: Tensor) -> int:
            entered[self.k].release()
            assert release[self.k].wait(20)
            return torch.get_num_threads()

    found: list[Any] = [None, None]

    def call(k: int) -> None:
        found[k] = SelfDataParallel(Wait(k), ["cpu"] * 2)(torch.ones(2)), torch.get_num_threads()

    def in_a_new_thread() -> int:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return pool.submit(torch.get_num_threads).result()

    before = torch.get_num_threads()
    torch.set_num_threads(8)
    try:
        callers = [threading.Thread(target=call, args=(k,)) for k in range(2)]
        for k, caller in enumerate(callers):
            caller.start()
            assert entered[k].acquire(timeout=20)
            assert entered[k].acquire(timeout=20)
        assert in_a_new_thread() == 8
        for event, caller in zip(release, callers):
            event.set()
            caller.join()
        assert found == [([4, 4], 8), ([4, 4], 8)]
        assert in_a_new_thread() == torch.get_num_threads() == 8
    finally:
        torch.set_num_threads(before)


# As a module


def test_keys_of_state_dict_are_those_of_the_module(tmp_path: Any) -> None:
    net = network()
    parallel = SelfDataParallel(net, CPUS)
    assert list(parallel.state_dict()) == list(net.state_dict())
    other = SelfDataParallel(network(), ["cpu"])
    assert str(other.load_state_dict(net.state_dict())) == "<All keys matched successfully>"
    same(list(other.state_dict().values()), list(net.state_dict().values()))

    def whole(part: nn.Module) -> nn.Module:
        return nn.Sequential(OrderedDict(body=part, head=nn.Linear(5, 2).double()))

    inside, plain = whole(SelfDataParallel(network(), CPUS)), whole(network())
    assert list(inside.state_dict()) == list(plain.state_dict())
    for to, of in ((inside, plain), (plain, whole(SelfDataParallel(network(), CPUS)))):
        assert str(to.load_state_dict(of.state_dict())) == "<All keys matched successfully>"
        same(list(to.state_dict().values()), list(of.state_dict().values()))
    state = plain.state_dict()
    state["body.unknown"] = state.pop("body.0.weight")
    with pytest.raises(RuntimeError, match=r"(?s)Missing.*body.*0\.weight.*Unexpected.*unknown"):
        inside.load_state_dict(state)


def test_it_is_a_module_like_others() -> None:
    parallel = SelfDataParallel(network(), CPUS, "mean")
    assert "devices=['cpu', 'cpu', 'cpu'], moving_statistics='mean'" in repr(parallel)
    parallel.eval()
    assert not parallel.module[1].training
    parallel.train()
    assert parallel.module[1].training
    x = images(6)
    for twin in (copy.deepcopy(parallel), pickle.loads(pickle.dumps(parallel))):
        assert twin.devices == parallel.devices
        assert torch.equal(torch.cat(twin(x)), torch.cat(copy.deepcopy(parallel)(x)))
    calls = []
    parallel.module[1].register_forward_hook(lambda module, x, y: calls.append(len(y)))
    parallel(x)
    assert sorted(calls) == [2, 2, 2]


def test_training_is_that_of_one_process() -> None:
    alone = network()
    together = copy.deepcopy(alone)
    parallel = SelfDataParallel(together, CPUS)
    criterion = DataParallelCriterion(nn.CrossEntropyLoss())
    optimizers = [torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9) for net in (alone, together)]
    for count in (9, 8, 7, 5):
        x, target = images(count), torch.randint(5, (count,))
        losses = [F.cross_entropy(alone(x), target), criterion(parallel(x), target)]
        same(losses[:1], losses[1:])
        for optimizer, loss in zip(optimizers, losses):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    same(list(together.state_dict().values()), list(alone.state_dict().values()))


def test_buffers_of_other_layers() -> None:
    class Count(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(()))
            self.register_buffer("assigned", torch.zeros(()))

        def forward(self, x: Tensor) -> Tensor:
            self.seen.add_(len(x))
            self.assigned = self.assigned + len(x)
            return x

    net = Count()
    for _ in range(2):
        SelfDataParallel(net, CPUS)(torch.ones(7))
    assert (net.seen, net.assigned) == (6, 6)  # the part of the first replica


# Moving statistics

ONE_STEP = {
    # how, data of each device: running mean, running variance, outputs
    ("sync", (1.0,)): (0.1, 0.9, (0.0,)),
    ("sum", (1.0, 1.0)): (0.2, 0.8, (0.0, 0.0)),
    ("sum", (1.0, 2.0)): (0.3, 0.8, (0.0, 0.0)),
    ("sync", (1.0, 2.0)): (0.15, 0.925, (-0.998006, 0.998006)),
    ("first", (1.0, 2.0)): (0.1, 0.9, (0.0, 0.0)),
    ("last", (1.0, 2.0)): (0.2, 0.9, (0.0, 0.0)),
    ("mean", (1.0, 2.0)): (0.15, 0.9, (0.0, 0.0)),
}


@pytest.mark.parametrize(("how", "data"), ONE_STEP, ids=str)
def test_one_step_from_mean_0_and_variance_1(how: Any, data: tuple[float, ...]) -> None:
    mean, variance, outputs = ONE_STEP[how, data]
    layer = BatchNorm2d(3, eps=1e-3, decay=0.9, unbiased=False)
    parallel = SelfDataParallel(layer, ["cpu"] * len(data), how)
    got = parallel(torch.cat([torch.full((4, 3, 5, 5), value) for value in data]))
    for output, expected in zip(got, outputs):
        torch.testing.assert_close(output, torch.full((4, 3, 5, 5), expected), rtol=0, atol=1e-6)
    torch.testing.assert_close(layer.running_mean, torch.full((3,), mean), rtol=0, atol=1e-7)
    torch.testing.assert_close(layer.running_var, torch.full((3,), variance), rtol=0, atol=1e-7)
    assert layer.num_batches_tracked == 1


@pytest.mark.parametrize("norm", [BatchNorm1d, nn.BatchNorm1d])
@pytest.mark.parametrize("how", ["first", "last", "mean", "sum"])
def test_moving_statistics(how: Any, norm: Any) -> None:
    layer = norm(3, momentum=0.1).double()
    x = torch.randn(8, 3).double()
    for _ in range(2):
        parts = []
        for part in x.tensor_split(3):
            one = copy.deepcopy(layer)
            expected = one(part)
            parts.append((one, expected))
        before = layer.state_dict(keep_vars=False)
        before = {k: v.clone() for k, v in before.items()}
        outputs = SelfDataParallel(layer, CPUS, how)(x)
        same(outputs, [expected for _, expected in parts])
        for name in ("running_mean", "running_var"):
            old, new = before[name], torch.stack([getattr(one, name) for one, _ in parts])
            after = {
                "first": new[0],
                "last": new[2],
                "mean": new.mean(0),
                "sum": old + (new - old).sum(0),
            }[how]
            same([getattr(layer, name)], [after])
    assert layer.num_batches_tracked == 2


def test_equivalent_decay() -> None:
    assert equivalent_decay(0.9, 1) == pytest.approx(0.9)
    assert equivalent_decay(0.9, 2) == pytest.approx(0.95)
    x = torch.randn(12, 3)
    layers = [BatchNorm1d(3, decay=equivalent_decay(0.9, 3)), BatchNorm1d(3, decay=0.9)]
    for layer, how in zip(layers, ("sum", "mean")):
        for _ in range(3):
            SelfDataParallel(layer, CPUS, how)(x)  # type: ignore[arg-type]
    torch.testing.assert_close(layers[0].running_mean, layers[1].running_mean)
    torch.testing.assert_close(layers[0].running_var, layers[1].running_var)
