"""thnn.freeze."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import thnn
from thnn.testing.networks import NETWORKS


def trained(model: nn.Module) -> nn.Module:
    """The model in evaluation mode, with statistics and parameters of batch normalization as after training."""
    torch.manual_seed(1)
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            for tensor in (module.running_mean, module.bias):
                if tensor is not None:
                    tensor.data.normal_()
            for tensor in (module.running_var, module.weight):
                if tensor is not None:
                    tensor.data.uniform_(0.5, 2)
    return model.eval()


def reasons(frozen: Any) -> list[str]:
    return [layer.remark for layer in frozen.report.apart]


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name: str) -> None:
    network = NETWORKS[name]
    torch.manual_seed(0)
    model = trained(network.make().double())
    before = copy.deepcopy(model.state_dict())
    example = network.input(network.small, torch.float64)
    frozen = thnn.freeze(model, example)
    normalizations = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    assert len([f for f in frozen.report.fused if f.kind == "BatchNorm2d"]) == len(normalizations)
    assert not any(isinstance(m, nn.BatchNorm2d) for m in frozen.modules())
    other = network.input((3, *network.small[1:]), torch.float64, seed=5)
    with torch.no_grad():
        expected = model(other)
    found = frozen(other)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9 * expected.abs().max().item())
    assert not found.requires_grad
    # The model is as before.
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert all(p.requires_grad for p in model.parameters())
    assert not any(type(m).__module__.startswith("thnn.") for m in model.modules() if not m._modules)
    # A copy and a stored model compute the same.
    file = io.BytesIO()
    torch.save(frozen, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert torch.equal(loaded(other), found)
    assert torch.equal(copy.deepcopy(frozen)(other), found)
    assert str(loaded.report) == str(frozen.report)


class Upsampling(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.ConvTranspose2d(3, 3, 2, stride=2), nn.BatchNorm2d(3)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(self.conv(x, output_size=(x.shape[2] * 2, x.shape[3] * 2 + 1)))
        return y


PAIRS: dict[str, Callable[[], tuple[list[nn.Module], Tensor]]] = {
    "Conv1d": lambda: ([nn.Conv1d(3, 4, 3), nn.BatchNorm1d(4)], torch.randn(2, 3, 9)),
    "Conv2d, groups, no bias": lambda: (
        [nn.Conv2d(4, 6, 3, groups=2, bias=False), nn.BatchNorm2d(6)],
        torch.randn(2, 4, 5, 6),
    ),
    "Conv3d, not affine": lambda: (
        [nn.Conv3d(2, 3, 2), nn.BatchNorm3d(3, affine=False)],
        torch.randn(2, 2, 3, 4, 3),
    ),
    "ConvTranspose2d, groups": lambda: (
        [nn.ConvTranspose2d(4, 6, 3, groups=2), nn.BatchNorm2d(6)],
        torch.randn(2, 4, 5, 6),
    ),
    "ConvTranspose2d with a size of its output": lambda: ([Upsampling()], torch.randn(2, 3, 5, 6)),
    "SyncBatchNorm": lambda: ([nn.Conv1d(3, 4, 3), nn.SyncBatchNorm(4)], torch.randn(2, 3, 9)),
    "Linear": lambda: ([nn.Linear(3, 4), nn.BatchNorm1d(4), nn.LeakyReLU()], torch.randn(5, 3)),
    "a converted model": lambda: (
        [thnn.nn.Conv2d(3, 4, 3), thnn.nn.BatchNorm2d(4, activation="relu")],
        torch.randn(2, 3, 5, 5),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_folding(pair: str) -> None:
    layers, example = PAIRS[pair]()
    model, example = trained(nn.Sequential(*layers)).double(), example.double()
    frozen = thnn.freeze(model, example)
    assert torch.allclose(frozen(example), model(example), rtol=1e-11, atol=1e-11)
    if pair != "a converted model":
        assert frozen.report.fused[0].name in ("1", "0.norm")
        assert len([m for m in frozen.modules() if not m._modules]) == 1


def test_a_model_that_was_converted_and_fused() -> None:
    model = trained(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())).double()
    example = torch.randn(2, 3, 5, 5, dtype=torch.float64)
    expected = model(example)
    thnn.convert(model)
    frozen = thnn.freeze(model, example)
    assert torch.allclose(frozen(example), expected, rtol=1e-11, atol=1e-11)
    assert type(model[1]) is thnn.nn.BatchNorm2d
    assert not any(isinstance(m, nn.BatchNorm2d) for m in frozen.modules())


def test_one_layer() -> None:
    frozen = thnn.freeze(nn.Linear(3, 2).eval(), torch.randn(4, 3))
    assert [r.kind for r in frozen.report.replaced] == ["Linear"]


class Halved(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.branch = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.branch(x) - 0.5)


def test_entries_have_the_whole_name_of_their_module() -> None:
    frozen = thnn.freeze(nn.Sequential(nn.Identity(), Halved()).eval(), torch.randn(4, 3))
    names = {(entry.name, entry.kind) for entry in (*frozen.report.replaced, *frozen.report.left)}
    assert names >= {("1.branch.0", "Linear"), ("1.branch.1", "relu"), ("1", "relu"), ("1", "sub")}


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        return y + F.relu(self.norm(y))


class Twice(Branches):
    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.conv(x))
        return self.conv(y.flatten(2).view(y.shape))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(3, 3), nn.BatchNorm1d(3)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(self.norm(self.linear(x)), self.linear.weight.t())


def hooked() -> nn.Module:
    model = nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3))
    model[0].register_forward_hook(lambda module, args, output: 2 * output)
    return model


REFUSED: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], str]] = {
    "a second reader": (Branches, (2, 3, 4, 4), "the result of conv is read elsewhere, too"),
    "two calls": (Twice, (2, 3, 4, 4), "conv is called more than once"),
    "a hook": (hooked, (2, 3, 4, 4), "has a hook, or the layer before it has"),
    "no statistics": (
        lambda: nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3, track_running_stats=False)),
        (2, 3, 4, 4),
        "it has no running statistics",
    ),
    "sequences": (
        lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(5)),
        (2, 5, 3),
        "0 gets more than one dimension of samples",
    ),
    "one sample, whose positions are normalized": (
        lambda: nn.Sequential(nn.Conv1d(3, 5, 1), nn.BatchNorm1d(5)),
        (3, 5),
        "0 gets no dimension of samples",
    ),
    "a weight that is read": (Tied, (4, 3), "the forward reads a parameter of linear"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_pairs_that_stay_apart(case: str) -> None:
    make, shape, reason = REFUSED[case]
    model = trained(make()).double()
    example = torch.randn(shape, dtype=torch.float64)
    frozen = thnn.freeze(model, example)
    assert reason in reasons(frozen)
    assert torch.allclose(frozen(example), model(example), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("layer", "shape", "other"),
    [(nn.Conv1d(3, 5, 1), (2, 3, 5), (3, 5)), (nn.Linear(3, 5), (2, 3), (2, 5, 3))],
)
def test_a_folded_layer_takes_the_dimensions_of_the_example(
    layer: nn.Module, shape: tuple[int, ...], other: tuple[int, ...]
) -> None:
    frozen = thnn.freeze(trained(nn.Sequential(layer, nn.BatchNorm1d(5))), torch.randn(shape))
    assert frozen(torch.randn(7, *shape[1:])).shape[:2] == (7, 5)
    for copied in (frozen, copy.deepcopy(frozen)):
        with pytest.raises(
            ValueError, match=f"0: input: expected {len(shape)} dimensions, as in the example"
        ):
            copied(torch.randn(other))


class Calls(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function, self.calls = function, 0
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: Tensor, scale: Any = None) -> Any:
        return self.function(self, x, scale)


def counted(m: Any, x: Tensor, scale: Any) -> Tensor:
    m.count = m.count + x.sum(0)
    return x * m.count


def counted_calls(m: Any, x: Tensor, scale: Any) -> Tensor:
    m.calls += 1
    return x * m.calls


def filled(m: Any, x: Tensor, scale: Any) -> Tensor:
    return torch.zeros(3).add_(x[0])


def autocast(m: Any, x: Tensor, scale: Any) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return x @ x.mT


@pytest.mark.parametrize(
    "function",
    [
        lambda m, x, scale: x if scale is None else x * 3,
        lambda m, x, scale: x if isinstance(x, Tensor) else x * 3,
        lambda m, x, scale: x + torch.randn(3),
        counted,
        counted_calls,
        filled,
        autocast,
    ],
)
def test_a_trace_that_computes_something_else_is_an_error(function: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"freeze: model: torch\.fx cannot trace Calls: "):
        thnn.freeze(Calls(function).eval(), torch.randn(4, 3))


def test_changes_in_place_reach_all_names_of_a_tensor() -> None:
    def forward(m: Any, x: Tensor, scale: Any) -> list[Tensor]:
        x += 1
        y = x * 2
        other = y
        y -= 3
        return [other, F.relu(y)]

    model, x = Calls(forward).eval(), torch.randn(4, 3).requires_grad_() * 1
    frozen = thnn.freeze(model, x)
    x = x.detach()
    inputs = x.clone(), x.clone()
    assert all(map(torch.equal, frozen(inputs[0]), model(inputs[1])))
    assert torch.equal(inputs[0], x + 1)
    assert torch.equal(inputs[1], x + 1)


class Decides(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x if x.sum() > 0 else -x


@pytest.mark.parametrize(
    ("model", "example", "error", "message"),
    [
        (3, (torch.ones(2),), TypeError, "freeze: model: expected a torch.nn.Module, got int"),
        (
            nn.Linear(2, 2).eval(),
            (),
            ValueError,
            "freeze: example: expected the arguments of the model, got none",
        ),
        (
            nn.Linear(2, 2),
            (torch.ones(2),),
            ValueError,
            "freeze: Linear: expected a model in evaluation mode",
        ),
        (Decides().eval(), (torch.ones(2),), ValueError, "freeze: model: torch.fx cannot trace Decides: "),
    ],
)
def test_errors(model: Any, example: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        thnn.freeze(model, *example)
    assert str(caught.value).startswith(message)


def test_a_frozen_model_is_for_inference() -> None:
    frozen = thnn.freeze(nn.Sequential(nn.Linear(3, 2)).eval(), torch.randn(4, 3))
    assert not any(p.requires_grad for p in frozen.parameters())
    assert frozen.eval() is frozen
    with pytest.raises(ValueError, match="train: a frozen model is for inference"):
        frozen.train()
