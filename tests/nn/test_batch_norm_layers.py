"""thnn.nn.BatchNorm1d, 2d and 3d: in place of torch's layers, and their additional options."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from new_process import Program, python
from torch import Tensor, nn
from torch.nn.utils import prune
from torch.utils.checkpoint import checkpoint

import thnn
from thnn.nn.batch_normalization import FusedReLU, FusedReLU6

SHAPES = {"BatchNorm1d": (5, 3), "BatchNorm2d": (4, 3, 5, 2), "BatchNorm3d": (2, 3, 2, 3, 2)}
OURS = [getattr(thnn.nn, name) for name in SHAPES]


def batch(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32, **options: Any) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(shape, generator=generator, dtype=torch.float64) * 2 + 0.5
    return values.to(dtype).requires_grad_(options.get("requires_grad", False))


def pair(name: str, *arguments: Any, **keywords: Any) -> tuple[nn.Module, nn.Module]:
    """torch's layer and thnn's, with the same parameters."""
    theirs = getattr(nn, name)(*arguments, **keywords)
    ours = getattr(thnn.nn, name)(*arguments, **keywords)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    ours.load_state_dict(theirs.state_dict(), strict=True)
    return theirs, ours


def assert_same(theirs: nn.Module, ours: nn.Module) -> None:
    expected, got = theirs.state_dict(), ours.state_dict()
    assert list(expected) == list(got)
    for key, value in expected.items():
        torch.testing.assert_close(got[key], value, msg=lambda text, key=key: f"{key}: {text}")


TORCH_OPTIONS = [
    {},
    {"eps": 1e-3, "momentum": 0.3},
    {"momentum": None},
    {"momentum": 0.0},
    {"momentum": 1.0},
    {"affine": False},
    pytest.param(
        {"bias": False}, marks=pytest.mark.needs_torch("2.13", "torch's layers lack the argument bias")
    ),
    {"track_running_stats": False},
    {"affine": False, "track_running_stats": False},
    {"dtype": torch.float64},
]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("options", TORCH_OPTIONS, ids=str)
def test_in_place_of_torch(name: str, options: dict[str, Any]) -> None:
    theirs, ours = pair(name, 3, **options)
    dtype = options.get("dtype", torch.float32)
    assert repr(ours) == repr(theirs)
    for training in (True, True, False, True, False):
        results = []
        for layer in (theirs, ours):
            layer.train(training)
            layer.zero_grad()
            x = batch(*SHAPES[name], seed=int(training), dtype=dtype, requires_grad=True)
            y = layer(x)
            y.backward(batch(*SHAPES[name], seed=7, dtype=dtype))
            results.append([y, x.grad, *(p.grad for p in layer.parameters())])
        for expected, got in zip(*results):
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
        assert_same(theirs, ours)
    theirs.reset_running_stats()
    ours.reset_running_stats()
    assert_same(theirs, ours)
    theirs.reset_parameters()
    ours.reset_parameters()
    assert_same(theirs, ours)


@pytest.mark.parametrize("name", SHAPES)
def test_state_dict_both_ways(name: str) -> None:
    theirs, ours = pair(name, 3)
    ours(batch(*SHAPES[name]))
    theirs.load_state_dict(ours.state_dict(), strict=True)
    assert_same(theirs, ours)
    assert theirs.num_batches_tracked == 1
    # A state dict from before the introduction of num_batches_tracked.
    old = {k: v for k, v in theirs.state_dict().items() if k != "num_batches_tracked"}
    getattr(thnn.nn, name)(3).load_state_dict(old, strict=True)


@pytest.mark.parametrize("cls", OURS)
def test_is_one_of_torch(cls: type[nn.Module]) -> None:
    layer = cls(3)
    assert isinstance(layer, getattr(nn, cls.__name__))
    assert isinstance(layer, nn.modules.batchnorm._BatchNorm)


def test_tools_of_torch_recognize_the_layers() -> None:
    net = nn.Sequential(nn.Conv2d(3, 4, 3), thnn.nn.BatchNorm2d(4))
    batches = [batch(2, 3, 6, 6, seed=k) for k in range(3)]
    torch.optim.swa_utils.update_bn(batches, net)
    mean = torch.stack([net[0](x).mean((0, 2, 3)) for x in batches]).mean(0)
    torch.testing.assert_close(net[1].running_mean, mean)

    converted = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert type(converted[1]) is nn.SyncBatchNorm
    torch.testing.assert_close(converted[1].running_mean, mean)

    net = nn.Sequential(nn.Conv2d(3, 4, 3), thnn.nn.BatchNorm2d(4)).eval()
    net[1].running_var.fill_(4)
    fused = nn.utils.fuse_conv_bn_eval(*net)
    torch.testing.assert_close(fused(batches[0]), net(batches[0]))


@pytest.mark.parametrize("momentum", [0.1, 0.25, None])
@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize("first_batch", ["blend", "initialize"])
@pytest.mark.parametrize("activation", [None, "relu", "relu6"])
def test_running_statistics(
    momentum: float | None, unbiased: bool, first_batch: str, activation: Any
) -> None:
    activate = {None: nn.Identity(), "relu": nn.ReLU(), "relu6": nn.ReLU6()}[activation]
    layer = thnn.nn.BatchNorm2d(
        3,
        momentum=momentum,
        unbiased=unbiased,
        first_batch=first_batch,
        activation=activation,
        dtype=torch.float64,
    )
    nn.init.constant_(layer.weight, 8)  # many outputs are above 6
    mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    for k in range(3):
        x = batch(4, 3, 5, 2, seed=k, dtype=torch.float64)
        share = 1 / (k + 1) if momentum is None else momentum
        if k == 0 and first_batch == "initialize":
            share = 1
        mean = (1 - share) * mean + share * x.mean((0, 2, 3))
        var = (1 - share) * var + share * x.var((0, 2, 3), correction=int(unbiased))
        y = layer(x)
        expected = nn.functional.batch_norm(x, None, None, layer.weight, training=True)
        torch.testing.assert_close(y, activate(expected))
        torch.testing.assert_close(layer.running_mean, mean)
        torch.testing.assert_close(layer.running_var, var)
        assert layer.num_batches_tracked == k + 1
    layer.eval()
    expected = nn.functional.batch_norm(x, mean, var, layer.weight)
    torch.testing.assert_close(layer(x), activate(expected))
    torch.testing.assert_close(layer.running_mean, mean)
    assert layer.num_batches_tracked == 3


@given(
    decay=st.floats(0, 1),
    shape=st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(2, 4)),
    unbiased=st.booleans(),
    seed=st.integers(0, 100),
)
def test_decay_is_the_factor_of_the_old_statistics(
    decay: float, shape: tuple[int, int, int], unbiased: bool, seed: int
) -> None:
    x = batch(*shape, seed=seed, dtype=torch.float64)
    layer = thnn.nn.BatchNorm1d(shape[1], decay=decay, unbiased=unbiased, dtype=torch.float64)
    layer(x)
    var = decay + (1 - decay) * x.var((0, 2), correction=int(unbiased))
    torch.testing.assert_close(layer.running_mean, (1 - decay) * x.mean((0, 2)), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(layer.running_var, var, rtol=1e-9, atol=1e-12)


def test_momentum_and_decay_are_two_views_of_one_number() -> None:
    layer = thnn.nn.BatchNorm2d(3, decay=0.9)
    assert layer.momentum == 0.1
    assert layer.decay == 0.9
    layer.momentum = 0.25
    assert layer.decay == 0.75
    layer.decay = 0.99
    assert layer.momentum == 0.01
    layer.momentum = None
    assert layer.decay is None
    with pytest.raises(ValueError, match=r"decay: expected a number from 0 to 1, got 1\.5"):
        layer.decay = 1.5
    for momentum in (0.1, 0.5, None):
        with pytest.raises(ValueError, match="momentum, decay: expected one of them"):
            thnn.nn.BatchNorm2d(3, momentum=momentum, decay=0.9)


def test_update_statistics() -> None:
    layer = thnn.nn.BatchNorm2d(3, update_statistics=False)
    before = copy.deepcopy(layer.state_dict())
    x = batch(4, 3, 5, 2)
    torch.testing.assert_close(layer(x), nn.functional.batch_norm(x, None, None, training=True))
    for key, value in layer.state_dict().items():
        assert torch.equal(value, before[key]), key
    layer.eval()
    torch.testing.assert_close(layer(x), nn.functional.batch_norm(x, torch.zeros(3), torch.ones(3)))
    layer.train().update_statistics = True
    layer(x)
    assert layer.num_batches_tracked == 1
    assert not torch.equal(layer.running_mean, before["running_mean"])


def test_initialize_replaces_any_statistics() -> None:
    layer = thnn.nn.BatchNorm2d(3, first_batch="initialize")
    layer.running_mean.fill_(torch.nan)
    layer.running_var.fill_(torch.inf)
    x = batch(4, 3, 5, 2)
    layer(x)
    torch.testing.assert_close(layer.running_mean, x.mean((0, 2, 3)))
    torch.testing.assert_close(layer.running_var, x.var((0, 2, 3)))
    layer(x + 1)
    torch.testing.assert_close(layer.running_mean, x.mean((0, 2, 3)) + 0.1)
    layer.reset_running_stats()
    layer(x + 1)
    torch.testing.assert_close(layer.running_mean, x.mean((0, 2, 3)) + 1)


def test_tracking_switched_off_later() -> None:
    """track_running_stats as an attribute: torch leaves the buffers alone in training and uses them in evaluation."""
    theirs, ours = pair("BatchNorm2d", 3)
    x = batch(4, 3, 5, 2)
    for layer in (theirs, ours):
        layer(x)
        layer.track_running_stats = False
        layer(x + 1)
    assert_same(theirs, ours)
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))


def test_without_a_count() -> None:
    layer = thnn.nn.BatchNorm2d(3)
    layer.num_batches_tracked = None
    layer(batch(4, 3, 5, 2))  # needs none
    assert layer.num_batches_tracked is None
    layer.momentum = None
    with pytest.raises(ValueError, match="num_batches_tracked"):
        layer(batch(4, 3, 5, 2))


@pytest.mark.parametrize("activation", ["relu", "relu6"])
def test_copies_pickles_and_moves(activation: Any) -> None:
    layer = thnn.nn.BatchNorm2d(
        3, decay=0.75, unbiased=False, first_batch="initialize", activation=activation
    )
    x = batch(4, 3, 5, 2)
    layer(x)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert repr(other) == repr(layer)
        assert_same(layer, other)
        twin = copy.deepcopy(layer)
        torch.testing.assert_close(other(x), twin(x))
        assert_same(twin, other)
    double = copy.deepcopy(layer).to(torch.float64)
    assert double(x.double()).dtype == torch.float64
    assert double.running_var.dtype == torch.float64
    assert double.num_batches_tracked.dtype == torch.int64
    last = layer.to(memory_format=torch.channels_last)(x.contiguous(memory_format=torch.channels_last))
    assert last.is_contiguous(memory_format=torch.channels_last)


def test_meta() -> None:
    layer = thnn.nn.BatchNorm2d(3, device="meta")
    assert layer(torch.empty(4, 3, 5, 2, device="meta")).shape == (4, 3, 5, 2)
    layer = layer.to_empty(device="cpu")
    layer.reset_parameters()
    assert_same(nn.BatchNorm2d(3), layer)


@pytest.mark.parametrize(
    ("activation", "rectifier", "passes"),
    [
        ("relu", FusedReLU(), True),
        ("relu6", FusedReLU(), True),
        ("relu6", FusedReLU6(), True),
        ("relu", FusedReLU6(), False),
        (None, FusedReLU(), False),
        (None, FusedReLU6(), False),
    ],
)
def test_a_fused_rectifier_passes_on_what_it_would_not_change(
    activation: Any, rectifier: nn.Module, passes: bool
) -> None:
    layer = thnn.nn.BatchNorm2d(3, activation=activation)
    nn.init.constant_(layer.weight, 8)
    y = layer(batch(4, 3, 5, 2))
    assert (rectifier(y) is y) == passes
    original = nn.ReLU6() if isinstance(rectifier, FusedReLU6) else nn.ReLU()
    assert torch.equal(rectifier(y), original(y))
    shifted = y - 7  # a new tensor, which is not known to be rectified
    assert torch.equal(rectifier(shifted), original(shifted))


def test_a_fused_relu6_with_other_bounds_computes_them() -> None:
    layer, rectifier = thnn.nn.BatchNorm2d(3, activation="relu6"), FusedReLU6()
    nn.init.constant_(layer.weight, 8)
    y = layer(batch(4, 3, 5, 2))
    for bounds in ((0.0, 4.0), (1.0, 6.0)):
        rectifier.min_val, rectifier.max_val = bounds
        assert torch.equal(rectifier(y), y.clamp(*bounds))


def test_representation() -> None:
    # Before torch 2.13 the representation of torch's layer has no bias.
    assert repr(thnn.nn.BatchNorm2d(3, unbiased=False, activation="relu")).replace(" bias=True,", "") == (
        "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, "
        "unbiased=False, activation='relu')"
    )
    assert repr(thnn.nn.BatchNorm1d(2, activation="relu6")).endswith(", activation='relu6')")
    assert "momentum=0.1," in repr(thnn.nn.BatchNorm2d(3, decay=0.9))
    assert repr(thnn.nn.BatchNorm1d(2, first_batch="initialize", update_statistics=False)).endswith(
        "first_batch='initialize', update_statistics=False)"
    )


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"num_features": 2.5}, TypeError, "num_features: expected an integer, got float"),
        ({"num_features": -1}, ValueError, "num_features: expected 0 or more, got -1"),
        ({"eps": -1e-5}, ValueError, "eps: expected a number that is not negative"),
        ({"eps": "small"}, TypeError, "eps: expected a number, got str"),
        ({"momentum": 1.1}, ValueError, "momentum: expected a number from 0 to 1, got 1.1"),
        ({"momentum": float("nan")}, ValueError, "momentum: expected"),
        ({"decay": -0.1}, ValueError, "decay: expected a number"),
        ({"first_batch": "replace"}, ValueError, "first_batch: expected one of .*initialize.*got 'replace'"),
        ({"activation": "gelu"}, ValueError, "activation: expected one of .*relu.*got 'gelu'"),
        ({"unbiased": "no"}, TypeError, "unbiased: expected True or False, got str"),
        ({"update_statistics": None}, TypeError, "update_statistics: expected True or False, got NoneType"),
    ],
)
def test_constructor_refuses(keywords: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^BatchNorm2d: {message}"):
        thnn.nn.BatchNorm2d(**{"num_features": 3, **keywords})


def _single(x: Tensor) -> Tensor:
    return x[:1, :, :1, :1]


@torch.inference_mode()
def _of_inference(x: Tensor) -> Tensor:
    return x.clone()


def _nested(x: Tensor) -> Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that nested tensors are a prototype
        return torch.nested.nested_tensor(list(x))


@pytest.mark.parametrize("options", [{}, {"unbiased": False}, {"momentum": None}, {"activation": "relu"}])
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda x: x[0], ValueError, r"BatchNorm2d: input: expected 4 dimensions \(N, C, H, W\), got 3 dim"),
        (lambda x: x.tolist(), TypeError, "BatchNorm2d: input: expected a tensor, got list"),
        (
            _nested,
            TypeError,
            "BatchNorm2d: input: expected a dense tensor, got a nested one",
        ),
        (lambda x: _nested(x[0]), ValueError, "BatchNorm2d: .* got 3 dimensions of a nested tensor"),
        (
            lambda x: x.int(),
            TypeError,
            "input: expected torch.float32, .* or torch.bfloat16, got torch.int32",
        ),
        (lambda x: x.double(), TypeError, "expected torch.float64, the type of input, got torch.float32"),
        (
            lambda x: x[:, :2],
            ValueError,
            r"BatchNorm2d: input: expected 3 channels \(num_features\), got 2 in",
        ),
        (_single, ValueError, "input: expected more than 1 value per channel when training"),
        (_of_inference, ValueError, "input: inference tensors cannot be differentiated"),
    ],
)
def test_a_rejected_batch_changes_nothing(
    options: dict[str, Any], change: Callable[[Tensor], Any], error: type[Exception], message: str
) -> None:
    layer = thnn.nn.BatchNorm2d(3, **options)
    before = copy.deepcopy(layer.state_dict())
    with pytest.raises(error, match=message):
        layer(change(batch(4, 3, 5, 2)))
    for key, value in layer.state_dict().items():
        assert torch.equal(value, before[key]), key


@pytest.mark.parametrize("momentum", [-0.5, 0, True, 2, math.inf, math.nan])
def test_momentum_that_is_assigned_is_that_of_torch(momentum: float) -> None:
    ours, theirs = thnn.nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    ours.momentum = theirs.momentum = momentum
    x = batch(8, 3)
    for _ in range(2):
        torch.testing.assert_close(ours(x), theirs(x))
    for key, value in theirs.state_dict().items():
        torch.testing.assert_close(ours.state_dict()[key], value, equal_nan=True)


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("eps", -1e-9, ValueError),
        ("eps", math.nan, ValueError),
        ("eps", "a", TypeError),
        ("first_batch", "x", ValueError),
        ("activation", "gelu", ValueError),
    ],
)
@pytest.mark.parametrize("options", [{}, {"unbiased": False}, {"activation": "relu"}])
def test_an_invalid_assigned_option_changes_nothing(
    options: dict[str, Any], option: str, value: Any, error: type[Exception]
) -> None:
    layer = thnn.nn.BatchNorm1d(3, **options)
    before = copy.deepcopy(layer.state_dict())
    setattr(layer, option, value)
    with pytest.raises(error, match=option):
        layer(batch(8, 3))
    for key, tensor in layer.state_dict().items():
        assert torch.equal(tensor, before[key]), key


def test_dimensions() -> None:
    thnn.nn.BatchNorm1d(3)(batch(4, 3, 5))
    for cls, shape in ((thnn.nn.BatchNorm1d, (4, 3, 5, 2)), (thnn.nn.BatchNorm3d, (4, 3, 5, 2))):
        with pytest.raises(ValueError, match=f"{cls.__name__}: input: expected .* got 4 dimensions"):
            cls(3)(batch(*shape))


def test_parameters_stored_outside_of_the_layer() -> None:
    """Parametrized, pruned, or passed by functional_call."""
    x = batch(4, 3, 5, 2)

    class Twice(nn.Module):
        def forward(self, weight: Tensor) -> Tensor:
            return 2 * weight

    layer = thnn.nn.BatchNorm2d(3)
    plain = copy.deepcopy(layer)(x)
    nn.utils.parametrize.register_parametrization(layer, "weight", Twice())
    torch.testing.assert_close(layer(x), 2 * plain)

    layer = thnn.nn.BatchNorm2d(3)
    prune.l1_unstructured(layer, "weight", amount=1)
    assert layer(x)[:, int(layer.weight.argmin())].eq(0).all()

    layer = thnn.nn.BatchNorm2d(3)
    given = {"weight": torch.full((3,), 2.0), "running_mean": torch.zeros(3)}
    torch.testing.assert_close(torch.func.functional_call(layer, given, (x,)), 2 * plain)
    assert layer.running_mean.eq(0).all()
    torch.testing.assert_close(given["running_mean"], 0.1 * x.mean((0, 2, 3)))


def test_second_derivatives() -> None:
    for training, activation in itertools.product((True, False), (None, "relu", "relu6")):
        layer = thnn.nn.BatchNorm1d(2, activation=activation, update_statistics=False, dtype=torch.float64)
        layer.train(training)
        x = batch(4, 2, dtype=torch.float64, requires_grad=True)

        def function(x: Tensor, weight: Tensor, bias: Tensor, layer: nn.Module = layer) -> Tensor:
            return torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (x,))

        # Outputs below 0, in between, and above 6.
        weight = torch.tensor([3.0, -12.0], dtype=torch.float64, requires_grad=True)
        bias = batch(2, seed=4, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(function, (x, weight, bias))
        assert torch.autograd.gradgradcheck(function, (x, weight, bias))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("activation", [None, "relu", "relu6"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradient_where_variance_and_eps_are_zero(
    training: bool, activation: Any, dtype: torch.dtype
) -> None:
    layer = thnn.nn.BatchNorm1d(3, eps=0.0, activation=activation, update_statistics=False, dtype=dtype)
    layer.train(training)
    with torch.no_grad():
        layer.running_var[1] = 0
        layer.bias.fill_(0.5)
    x = batch(6, 3, dtype=dtype)
    x[:, 1] = 0.1
    x.requires_grad_()
    inputs = x, layer.weight, layer.bias
    expected = torch.autograd.grad(layer(x).pow(3).sum(), inputs)
    gradients = torch.autograd.grad(layer(x).pow(3).sum(), inputs, create_graph=True)
    torch.testing.assert_close(gradients, expected)
    second = torch.autograd.grad(sum(g.square().sum() for g in gradients), inputs)
    assert all(g.isfinite().all() for g in (*gradients, *second))


@pytest.mark.parametrize("options", [{}, {"unbiased": False, "activation": "relu"}])
@pytest.mark.parametrize("low", [torch.bfloat16, torch.float16])
def test_an_input_of_a_half_type_is_computed_in_float32(options: dict[str, Any], low: torch.dtype) -> None:
    layer = thnn.nn.BatchNorm2d(3, **options)
    alone = copy.deepcopy(layer)
    x = batch(4, 3, 5, 2).to(low).requires_grad_()
    for training in (True, False):
        layer.train(training)
        alone.train(training)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=training):
            y = layer(x)
        assert y.dtype is low
        exact = alone(x.detach().float())
        torch.testing.assert_close(y, exact.to(low), rtol=torch.finfo(low).eps, atol=1e-6)
        assert_same(layer, alone)
    y.square().sum().backward()
    assert x.grad is not None
    assert x.grad.dtype is low
    assert layer.weight.grad is not None
    assert layer.weight.grad.dtype is torch.float32
    # Running statistics are written, so they are not cast.
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.raises(TypeError, match="running_mean"):
        thnn.nn.BatchNorm2d(3).to(low)(x.detach().float())


@pytest.mark.parametrize("options", [{}, {"momentum": None, "unbiased": False, "activation": "relu"}])
def test_compiled(options: dict[str, Any]) -> None:
    x = batch(4, 3, 5, 2)
    plain = nn.Sequential(thnn.nn.BatchNorm2d(3, **options), nn.Tanh())
    compiled = torch.compile(copy.deepcopy(plain), backend="eager")
    for _ in range(2):
        torch.testing.assert_close(compiled(x), plain(x))
    assert_same(plain, compiled._orig_mod)
    torch.testing.assert_close(compiled.eval()(x), plain.eval()(x))
    torch._dynamo.reset()


def test_submodule_is_imported_at_the_first_access() -> None:
    program = "import sys, thnn; assert 'thnn.nn' not in sys.modules; thnn.nn.BatchNorm2d(3)"
    python("-c", program)


DDP = """
import sys, torch, torch.distributed as dist, torch.nn as nn, thnn, warnings
warnings.simplefilter("error")
rank, path = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=2)

def steps(norm):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 4, 3), norm(4), nn.ReLU(), nn.Conv2d(4, 2, 3)).double()
    model = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for k in range(3):
        optimizer.zero_grad()
        x = torch.randn(4, 3, 7, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(10 * k + rank))
        model(x).square().mean().backward()
        optimizer.step()
    return net.state_dict()

expected, got = steps(nn.BatchNorm2d), steps(thnn.nn.BatchNorm2d)
assert expected.keys() == got.keys()
for key in expected:
    torch.testing.assert_close(got[key], expected[key])
dist.destroy_process_group()
"""


def test_data_parallel_processes(tmp_path: Path) -> None:
    """Three steps of DistributedDataParallel, with buffers broadcast from rank 0, equal those with torch's layer."""
    programs = [Program("-c", DDP, rank, tmp_path / "meeting") for rank in range(2)]
    done = [program.wait() for program in programs]
    assert [d.returncode for d in done] == [0, 0], "\n".join(d.stderr for d in done)


@pytest.mark.parametrize("options", [{"momentum": 1.0}, {"unbiased": False}])
def test_statistics_made_in_inference_mode(options: dict[str, Any]) -> None:
    with torch.inference_mode():
        layer = thnn.nn.BatchNorm1d(3, affine=False, **options)
        layer(torch.randn(4, 3))
        before = layer.running_mean.clone()
    with pytest.raises(ValueError, match="inference tensors cannot be changed outside of inference mode"):
        layer(torch.randn(4, 3))
    assert layer.running_mean.equal(before)
    assert layer.num_batches_tracked == 1


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("momentum", [0.3, 1.0, None])
def test_last_layer_of_a_checkpoint(momentum: float | None, use_reentrant: bool) -> None:
    """The recomputation of a checkpoint counts like a batch, although torch ends it inside of the last layer."""
    torch.manual_seed(0)
    batches = torch.randn(4, 8, 3)
    state = []
    for home in (thnn.nn, nn):
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(3, 3), home.BatchNorm1d(3, momentum=momentum))
        for x in batches:
            checkpoint(model, x.requires_grad_(), use_reentrant=use_reentrant).sin().sum().backward()
        state.append([*model[1].buffers(), *(p.grad for p in model.parameters())])
    for ours, theirs in zip(*state, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize(
    "options", [{"unbiased": False}, {"first_batch": "initialize"}, {"unbiased": False, "momentum": None}]
)
def test_options_in_a_checkpoint(options: dict[str, Any], use_reentrant: bool) -> None:
    torch.manual_seed(0)
    batches, plain, last = torch.randn(3, 8, 3), *(thnn.nn.BatchNorm1d(3, **options) for _ in range(2))
    for x in batches:
        for _ in range(2):
            plain(x)
        checkpoint(last, x.requires_grad_(), use_reentrant=use_reentrant).sin().sum().backward()
    for expected, found in zip(plain.buffers(), last.buffers(), strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("momentum", [0.1, None])
@pytest.mark.parametrize("activation", [None, "relu", "relu6"])
def test_an_empty_batch_in_training(activation: Any, momentum: float | None) -> None:
    ours = thnn.nn.BatchNorm2d(3, momentum=momentum, activation=activation)
    theirs = nn.BatchNorm2d(3, momentum=momentum)
    for layer in (ours, theirs):
        x = torch.rand(0, 3, 4, 4, requires_grad=True)
        y = layer(x)
        y.sum().backward()
        assert y.shape == x.shape
        assert x.grad is not None and layer.weight.grad is not None and layer.bias.grad is not None
        assert not layer.weight.grad.any() and not layer.bias.grad.any()
    torch.testing.assert_close([*ours.buffers()], [*theirs.buffers()])
