"""Torch modules that fork into training and inference."""

from __future__ import annotations

import copy
import gc
import linecache
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from graph_models import Block, InPlace, Shared, Statistics, images, named
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations

import thnn
from thnn.graph import fork


class Functional(nn.Module):
    """thnn's functions, and an autograd function that is not thnn's."""

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
    """Its backward is not the derivative of its forward, so that a test sees whether it is used."""

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
    "in place": (InPlace, (5, 1, 6, 6), 0),
    "functional": (Functional, (5, 1, 6, 6), 0),
    "hooked": (Hooked, (5, 1, 6, 6), 0),
    "hooked root": (hooked_root, (5, 1, 6, 6), 0),
    "named": (named, (5, 1, 6, 6), 2),
    "forward of an instance": (with_own_forward, (5, 1, 6, 6), 0),
    "parametrized": (parametrized, (5, 1, 6, 6), 1),
    "one layer": (lambda: nn.BatchNorm1d(4), (5, 4), 0),
    "Linear on sequences": (lambda: nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(5)), (2, 5, 4), 0),
    # Dimension 1, which is normalized, is not the dimension of the channels.
    "one image": (lambda: nn.Sequential(nn.Conv2d(1, 3, 1), nn.BatchNorm1d(3)), (1, 3, 4), 0),
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


def _assert_infers(model: nn.Module, branches: Any, x: Tensor) -> None:
    """The branch infer gives the output and the gradients of the model in evaluation."""
    found, expected = branches.infer(x), model.eval()(x)
    torch.testing.assert_close(found, expected)
    leaves = list(model.parameters())
    for a, b in zip(torch.autograd.grad(found.sum(), leaves), torch.autograd.grad(expected.sum(), leaves)):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("activation", [None, "relu", "relu6"])
def test_folded_activation(activation: Any) -> None:
    model = nn.Sequential(nn.Linear(3, 3), thnn.nn.BatchNorm1d(3, activation=activation)).double()
    nn.init.constant_(model[1].weight, 20)  # some outputs are above 6
    branches = fork(model, images(2, 3), fold=True)
    assert "folded" in branches.infer.code
    _assert_infers(model, branches, images(9, 3))


def test_folded_eps_below_0() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    branches = fork(model, torch.zeros(2, 3), fold=True)
    model[1].eps = -1.0
    with pytest.raises(ValueError, match="BatchNorm1d: eps: expected a number that is not negative"):
        branches.infer(torch.randn(4, 3))


def test_folded_where_variance_and_eps_are_zero() -> None:
    model = nn.Sequential(nn.Linear(3, 3), thnn.nn.BatchNorm1d(3, eps=0.0)).double()
    model[1].running_var[1] = 0
    branches = fork(model, images(2, 3), fold=True)
    assert "folded" in branches.infer.code
    _assert_infers(model, branches, images(4, 3))


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
        (Asks(), torch.ones(1), ValueError, r"test_fork.py:\d+: Asks cannot be traced: .*different results"),
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


def test_a_freed_fork_leaves_no_source() -> None:
    def sources() -> set[str]:
        return {name for name in linecache.cache if name.startswith("<thnn fork")}

    gc.collect()
    before = sources()
    branches = fork(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), torch.zeros(2, 3), fold=True)
    assert sources() > before
    del branches
    thnn.convert(nn.Sequential(nn.BatchNorm1d(3), nn.ReLU()))
    gc.collect()
    assert sources() == before


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


def test_children_of_modules_with_hooks_are_those_of_the_call() -> None:
    """Even if a new child has the address of a freed one."""

    class Hooked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.act: nn.Module | None = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.act(x)  # type: ignore[misc]

    model = nn.Sequential(Hooked())
    model[0].register_forward_hook(lambda *_: None)
    x = torch.randn(2, 3)
    branches = fork(model, x)
    for _ in range(20):
        model[0].act = None
        model[0].act = nn.Linear(3, 3)
        assert branches.train(x).equal(model(x))
        assert branches.infer(x).equal(model(x))
    thnn.convert(model)
    model[0].act.register_forward_pre_hook(lambda layer, _: classes.append(type(layer).__mro__[1]))
    classes: list[type] = []
    branches.infer(x)
    assert classes == [thnn.nn.Linear]


class _Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


@pytest.mark.parametrize("name", ["0", "1", "1.0", "2"])
def test_a_module_that_is_replaced(name: str) -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Tanh(), nn.Linear(3, 3)), _Scaled())
    x = torch.randn(2, 3)
    branches = fork(model, x)
    before = model.get_submodule(name)
    model.set_submodule(name, copy.deepcopy(before))
    for branch in (branches.train, branches.infer):
        with pytest.raises(
            ValueError, match=f"the model has changed: {name!r} is another module now; fork it"
        ):
            branch(x)
    model.set_submodule(name, before)
    assert branches.infer(x).equal(model(x))
