"""Layers of thnn.nn in place of torch's: values, gradients, state and errors, over generated configurations."""

from __future__ import annotations

import copy
import inspect
import itertools
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from layer_configurations import CONFIGURATIONS, IN_PLACE, agree, distinct, pair, results
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

import thnn.nn
import thnn.nn.functional as F

ELSEWHERE = {
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "Linear",
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
}  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_results_are_those_of_torch(name: str) -> None:
    @settings(max_examples=12)
    @given(st.data())
    def compare(data: st.DataObject) -> None:
        torch.manual_seed(data.draw(st.integers(0, 99)))
        configuration = data.draw(CONFIGURATIONS[name])
        ours, theirs = pair(name, configuration)
        agree(results(ours, configuration), results(theirs, configuration))

    compare()


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_layer_is_that_of_torch(name: str) -> None:
    @settings(max_examples=4)
    @given(st.data())
    def compare(data: st.DataObject) -> None:
        torch.manual_seed(data.draw(st.integers(0, 99)))
        configuration = data.draw(CONFIGURATIONS[name])
        ours, theirs = pair(name, configuration)
        assert isinstance(ours, getattr(nn, name if name != "NLLLoss2d" else "NLLLoss"))
        assert repr(ours) == repr(theirs)
        assert ours.state_dict().keys() == theirs.state_dict().keys()
        for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
            assert torch.equal(a, b)
        theirs.load_state_dict(ours.state_dict())
        ours.load_state_dict(theirs.state_dict())
        expected = results(copy.deepcopy(ours), configuration)
        for twin in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
            assert type(twin) is type(ours)
            agree(results(twin, configuration), expected)

    compare()


def test_every_layer_is_compared() -> None:
    layers = {n for n in thnn.nn.__all__ if inspect.isclass(getattr(thnn.nn, n))}
    assert layers == {*CONFIGURATIONS, *ELSEWHERE}
    for name in layers:
        layer = getattr(thnn.nn, name)
        assert layer.__doc__ != getattr(nn, name).__doc__
        assert "torch.nn." in layer.__doc__
        assert layer.__module__.startswith("thnn.nn.")
        ours, theirs = (inspect.signature(c.__init__) for c in (layer, getattr(nn, name)))
        if name not in ELSEWHERE:
            assert [*ours.parameters] == [*theirs.parameters]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ChannelShuffle", r"; torch\.nn\.ChannelShuffle works beside the layers of thnn"),
        ("Sequential", r"; torch\.nn\.Sequential works beside the layers of thnn"),
        ("Conv2D", r"; did you mean thnn\.nn\.Conv2d\?"),
        ("BatchNorm", r"; did you mean thnn\.nn\.BatchNorm1d or BatchNorm2d or BatchNorm3d\?"),
        ("BatchNrom2d", r"; did you mean thnn\.nn\.BatchNorm2d\?"),
        ("TanhFunction", r"; did you mean thnn\.TanhFunction\?"),
        ("Frobnicate", ""),
        ("utils", ""),  # a module of torch.nn
    ],
)
def test_hints_of_missing_names(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=f"^module 'thnn.nn' has no attribute '{name}'{hint}$"):
        getattr(thnn.nn, name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("channel_shuffle", r"; torch\.nn\.functional\.channel_shuffle works beside the functions of thnn"),
        ("con2d", r"; did you mean conv2d\?"),
        ("frobnicate", ""),
    ],
)
def test_hints_of_missing_functions(name: str, hint: str) -> None:
    with pytest.raises(
        AttributeError, match=f"^module 'thnn.nn.functional' has no attribute '{name}'{hint}$"
    ):
        getattr(F, name)


def test_functions_have_the_arguments_of_torch() -> None:
    for name in F.__all__:
        function = getattr(F, name)
        assert function.__doc__
        try:
            theirs = inspect.signature(getattr(nn.functional, name))
        except ValueError:
            continue  # a built-in function
        if "args" not in theirs.parameters:
            assert [*inspect.signature(function).parameters] == [*theirs.parameters], name


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name: str) -> None:
    arguments = (0.1, -0.3) if name == "Threshold" else ()
    x = distinct((3, 4), torch.float64)
    expected = getattr(nn, name)(*arguments).eval()(x)
    y = x.clone()
    assert getattr(thnn.nn, name)(*arguments, inplace=True).eval()(y) is not None
    torch.testing.assert_close(y, expected)


@pytest.mark.parametrize("name", IN_PLACE)
def test_operations_in_place_after_a_layer_in_place(name: str) -> None:
    """A network that trains with torch trains with thnn; torch saves copies of the inputs of hardtanh and threshold."""
    settings: list[tuple[Any, ...]] = [(0.1, -0.3), (0.0, 0.0), (0.0, 0.5)] if name == "Threshold" else [()]
    follow: list[Callable[[nn.Module, Tensor], Any]] = [
        lambda layer, y: None,
        lambda layer, y: y.mul_(1.5),
        lambda layer, y: layer(y),
        lambda layer, y: layer(y).add_(1.0),
    ]
    start = distinct((3, 4), torch.float64)
    for arguments in settings:
        for then in follow:
            found: list[list[Tensor]] = []
            for home in (nn, thnn.nn):
                layer = getattr(home, name)(*arguments, inplace=True).eval()
                leaf = start.clone().requires_grad_()
                x = leaf * 1
                y = layer(x)
                assert y is x
                then(layer, y)
                try:
                    y.sin().sum().backward()
                except RuntimeError:
                    if home is thnn.nn:
                        raise
                    break
                found.append([y.detach(), leaf.grad])
            if found:
                agree(*found)
        layer = getattr(thnn.nn, name)(*arguments, inplace=True).eval()
        with torch.no_grad():
            torch.testing.assert_close(layer(start.clone()), getattr(nn, name)(*arguments).eval()(start))
        with pytest.raises((ValueError, RuntimeError), match="leaf"):
            layer(start.clone().requires_grad_())


def test_rrelu_in_training() -> None:
    layer = thnn.nn.RReLU(0.25, 0.5)
    x = torch.randn(1000, requires_grad=True)
    torch.manual_seed(4)
    y = layer(x)
    y.backward(torch.ones_like(y))
    assert x.grad is not None
    negative = x < 0
    assert torch.equal(y[~negative], x[~negative])
    slopes = x.grad[negative]
    assert (slopes >= 0.25).all()
    assert (slopes <= 0.5).all()
    assert slopes.std() > 0.05
    torch.testing.assert_close(y[negative], (x * x.grad)[negative])
    torch.manual_seed(4)
    assert torch.equal(layer(x), y)


@pytest.mark.parametrize("name", ["NLLLoss", "CrossEntropyLoss"])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("shape", [(3, 3), (3, 3, 2), (3, 3, 2, 2)])
@pytest.mark.parametrize(
    ("weight", "targets"),
    [
        (None, [-100, -100, -100]),
        ([0.0, 1.0, 1.0], [0, 0, -100]),
        ([2.0, -2.0, 1.0], [0, 1, -100]),
        ([1.0, -2.0, 1.0], [0, 1, 1]),
        ([0.0, float("nan"), 1.0], [0, 1, 2]),
        ([0.0, float("inf"), 1.0], [0, 0, 1]),
    ],
    ids=["no target", "weights 0", "sum 0", "sum below 0", "NaN", "infinity"],
)
def test_losses_whose_weights_add_up_to_no_positive_number(
    name: str, reduction: str, shape: tuple[int, ...], weight: list[float] | None, targets: list[int]
) -> None:
    weights = None if weight is None else torch.tensor(weight)
    target = torch.tensor(targets).reshape(3, *(1,) * (len(shape) - 2)).expand(3, *shape[2:]).contiguous()
    scores, found = torch.randn(shape).log_softmax(1), []
    for home in (thnn.nn, nn):
        x = scores.clone().requires_grad_()
        loss = getattr(home, name)(weights, reduction=reduction)(x, target)
        loss.backward()
        found.append((loss, x.grad))
    torch.testing.assert_close(found[0], found[1], equal_nan=True)
    x = torch.full((2, 3), -torch.inf)
    losses = [home.NLLLoss(torch.tensor([0.0, 1.0, 1.0]))(x, torch.tensor([0, 0])) for home in (thnn.nn, nn)]
    assert all(loss.isnan() for loss in losses)


def test_prelu_of_0_channels() -> None:
    for shape in ((3, 0), (3, 0, 2)):
        x = torch.rand(shape, requires_grad=True)
        layer = thnn.nn.PReLU()
        layer.weight = nn.Parameter(torch.rand(0))
        layer(x).sum().backward()
        assert layer(x).shape == shape
        assert x.grad is not None
        assert layer.weight.grad is not None


def test_a_divisor_of_numpy() -> None:
    x, divisor = torch.rand(1, 4, 4), np.int64(3)
    agree(
        [F.avg_pool2d(x, 2, divisor_override=divisor)],
        [nn.functional.avg_pool2d(x, 2, divisor_override=divisor)],
    )


def test_an_exponent_that_is_not_a_number() -> None:
    layer = thnn.nn.LPPool2d(2, 2)
    layer.norm_type = None  # type: ignore[assignment]
    with pytest.raises(TypeError, match=r"^LPPool2d: norm_type: expected a number, got NoneType None$"):
        layer(torch.ones(1, 4, 4))


@pytest.mark.parametrize(
    ("old", "new"), [((False, None), "sum"), ((None, False), "none"), ((True, True), "mean")]
)
def test_old_names_of_reductions(old: tuple[bool | None, bool | None], new: str) -> None:
    x, y = torch.randn(4), torch.randn(4)
    assert torch.equal(F.mse_loss(x, y, *old), F.mse_loss(x, y, reduction=new))
    with pytest.raises(ValueError, match="reduction: expected one of"):
        F.mse_loss(x, y, reduction="average")


@pytest.mark.parametrize("align_corners", [True, False])
@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_grid_sample(dims: int, align_corners: bool, mode: str) -> None:
    for sizes in ((4, 5, 6)[-dims:], (1, 2, 3)[-dims:]):
        x = torch.randn(2, 3, *sizes, dtype=torch.float64)
        grid = torch.rand(2, *(3, 4, 2)[:dims], dims, dtype=torch.float64) * 2.6 - 1.3
        found = []
        for home in (F, nn.functional):
            leaves = [t.clone().requires_grad_() for t in (x, grid)]
            y = home.grid_sample(*leaves, mode, align_corners=align_corners)
            y.backward(torch.ones_like(y))
            found.append([y.detach(), *(t.grad for t in leaves)])
        agree(*found)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_functions_of_convolution(dims: int) -> None:
    x, weight = torch.randn(2, 4, *(5,) * dims), torch.randn(6, 2, *(2,) * dims)
    cases: list[dict[str, Any]] = [
        {}, {"stride": 2, "padding": 1}, {"padding": "valid"}, {"padding": "same"},
        {"padding": "same", "dilation": 2}, {"dilation": (2,) * dims},
    ]  # fmt: skip
    for keywords in cases:
        ours, theirs = (
            getattr(home, f"conv{dims}d")(x, weight, torch.ones(6), groups=2, **keywords)
            for home in (F, nn.functional)
        )
        agree([ours], [theirs])
    weight = torch.randn(4, 3, *(3,) * dims)
    ours, theirs = (
        getattr(home, f"conv_transpose{dims}d")(
            x, weight, stride=2, padding=1, output_padding=1, groups=2, dilation=2
        )
        for home in (F, nn.functional)
    )
    agree([ours], [theirs])
    with pytest.raises(ValueError, match="stride: expected 1 with padding='same'"):
        getattr(F, f"conv{dims}d")(x, weight, stride=2, padding="same")
    with pytest.raises(ValueError, match="padding: expected numbers"):
        getattr(F, f"conv{dims}d")(x, weight, padding="full")


def test_functions_of_linear_and_normalization() -> None:
    x, weight = torch.randn(2, 3, 4), torch.randn(5, 4)
    agree([F.linear(x, weight)], [nn.functional.linear(x, weight)])
    agree([F.linear(x[0], weight, torch.ones(5))], [nn.functional.linear(x[0], weight, torch.ones(5))])
    found = []
    for home in (F, nn.functional):
        mean, variance = torch.zeros(3), torch.ones(3)
        y = home.batch_norm(x, mean, variance, training=True, momentum=0.5)
        found.append([y, mean, variance, home.batch_norm(x, mean, variance, torch.ones(3), torch.ones(3))])
        mean, variance, ones = torch.zeros(3), torch.ones(3), torch.ones(3)
        found[-1] += [
            home.instance_norm(x, mean, variance, ones, ones, momentum=0.5),
            mean,
            variance,
            home.instance_norm(x, mean, variance, use_input_stats=False),
            home.instance_norm(x),
            home.group_norm(x, 3, ones),
            home.layer_norm(x, (3, 4)),
            home.rms_norm(x, (4,), ones.new_full((4,), 2)),
        ]
    agree(*found)


def test_padding_and_interpolation_of_torch() -> None:
    x = torch.randn(1, 2, 4, 4)
    assert torch.equal(F.pad(x, (1, 1)), nn.functional.pad(x, (1, 1)))
    assert torch.equal(F.pad(x, (1,) * 4, "circular"), nn.functional.pad(x, (1,) * 4, "circular"))
    for mode in ("bicubic", "area", "nearest-exact"):
        assert torch.equal(F.interpolate(x, 3, mode=mode), nn.functional.interpolate(x, 3, mode=mode))


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_nearest_pixels_are_those_of_torch(dims: int) -> None:
    """For any size and scale; the gradient belongs to these pixels, which in torch holds only for images."""
    random = np.random.default_rng(dims)
    for _ in range(500):
        sizes = random.integers(1, 13, dims)
        scales = np.where(random.random(dims) < 0.5, random.uniform(0.9, 1.4), random.uniform(1.9, 2.6, dims))
        scales = np.maximum(scales, 1 / sizes).tolist()
        x = torch.arange(float(2 * sizes.prod())).reshape(1, 2, *sizes).requires_grad_()
        y = F.interpolate(x, scale_factor=scales)
        assert torch.equal(y, nn.functional.interpolate(x, scale_factor=scales)), (sizes, scales)
        counts = torch.bincount(y.detach().flatten().long(), minlength=x.numel())
        assert torch.equal(torch.autograd.grad(y.sum(), x)[0].flatten(), counts.float()), (sizes, scales)
        if dims > 1:
            layout = torch.channels_last if dims == 2 else torch.channels_last_3d
            assert torch.equal(F.interpolate(x.contiguous(memory_format=layout), scale_factor=scales), y)


def test_bags_scaled_by_frequency() -> None:
    rows = torch.tensor([[0, 0, 2], [2, 2, 2]])
    for mode, factor in (("sum", 1.0), ("mean", 1 / 3)):
        layer = thnn.nn.EmbeddingBag(3, 1, scale_grad_by_freq=True, mode=mode)
        layer(rows).sum().backward()
        assert layer.weight.grad is not None
        torch.testing.assert_close(layer.weight.grad, torch.tensor([[1.0], [0.0], [1.0]]) * factor)


def test_large_volume_indices() -> None:
    x = torch.randn(2, 3, 9, 8, 7)
    for size in (2, 3):
        y, indices = thnn.nn.MaxPool3d(size, return_indices=True)(x)
        agree(
            [thnn.nn.MaxUnpool3d(size)(y, indices, x.shape[2:])],
            [nn.MaxUnpool3d(size)(y, indices, x.shape[2:])],  # type: ignore[arg-type]
        )


def test_values_that_are_not_finite() -> None:
    x = torch.full((1, 1, 4, 4), float("-inf"))
    x[0, 0, 3, 3] = float("nan")
    for name, arguments in (("MaxPool2d", (2,)), ("AdaptiveMaxPool2d", (2,))):
        ours, theirs = (getattr(home, name)(*arguments, return_indices=True)(x) for home in (thnn.nn, nn))
        agree(ours, theirs)


def test_recurrent_gradients_of_gradients() -> None:
    torch.manual_seed(0)
    for name in ("LSTM", "GRU"):
        layer = getattr(thnn.nn, name)(2, 2, bidirectional=True, dtype=torch.float64)
        x = torch.randn(3, 2, 2, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda t, f=layer: f(t)[0], x)
        assert torch.autograd.gradgradcheck(lambda t, f=layer: f(t)[0], x)


ERRORS: list[Any] = [
    ("ReLU", (), (torch.ones(2, dtype=torch.int64),), TypeError, "input: "),
    ("ReLU", (), ([1.0],), TypeError, "input: expected a tensor, got list"),
    ("LeakyReLU", (), (None,), TypeError, "input: "),
    ("GLU", (3,), (torch.ones(2, 2),), IndexError, "dim: expected -2 <= dim < 2, got 3"),
    ("GLU", (), (torch.ones(2, 3),), ValueError, ""),
    ("PReLU", (3,), (torch.ones(2, 2),), ValueError, ""),
    ("ELU", (None,), (torch.ones(2),), TypeError, "alpha: expected a number, got NoneType None"),
    ("ELU", (-(2**70),), (torch.ones(2),), ValueError, "alpha: int -1180591620717411303424 is out of range"),
    ("Softshrink", (None,), (torch.ones(2),), TypeError, "lambd: expected a number, got NoneType None"),
    ("Softshrink", (float("nan"),), (torch.ones(2),), ValueError, "lambd: expected at least 0 .* got nan"),
    ("PReLU", (0,), (torch.ones(2, 2),), ValueError, "weight: expected one number, or one for each channel"),
    ("Softmax", (2,), (torch.ones(2, 2),), IndexError, "dim: expected -2 <= dim < 2, got 2"),
    ("Softmax2d", (), (torch.ones(2, 2),), ValueError, "input: expected 4 dimensions"),
    ("Softshrink", (-1.0,), (torch.ones(2),), ValueError, "lambd: expected at least 0"),
    ("MaxPool2d", (0,), (torch.ones(1, 1, 4, 4),), ValueError, "kernel_size: "),
    ("MaxPool2d", ((1, 2, 3),), (torch.ones(1, 1, 4, 4),), ValueError, "kernel_size: expected one number"),
    ("MaxPool1d", (2,), (torch.ones(4),), ValueError, "input: expected 3 dimensions"),
    ("MaxPool3d", (2, 2, 2), (torch.ones(1, 1, 4, 4, 4),), ValueError, "padding: "),
    ("AvgPool2d", (2,), (torch.ones(1, 4, 4, dtype=torch.int16),), TypeError, "input: "),
    ("AvgPool3d", (2, 0), (torch.ones(1, 4, 4, 4),), ValueError, "stride: "),
    pytest.param(
        *("LPPool2d", (0, 2), (torch.ones(1, 4, 4),), ValueError, "norm_type: "),
        marks=pytest.mark.lost_in_torch("2.14", "torch's layer refuses a norm_type of 0 itself"),
    ),
    ("AdaptiveAvgPool2d", (0,), (torch.ones(1, 4, 4),), ValueError, "output_size: "),
    ("AdaptiveMaxPool1d", (-1,), (torch.ones(1, 4),), ValueError, "output_size: "),
    ("FractionalMaxPool2d", (3, 9), (torch.ones(1, 4, 4),), ValueError, ""),
    ("MaxUnpool2d", (2,), (torch.ones(1, 2, 2), torch.full((1, 2, 2), 99)), IndexError, ""),
    ("MaxUnpool2d", (2,), (torch.ones(1, 2, 2), torch.ones(1, 2, 3, dtype=torch.int64)), ValueError, ""),
    ("MaxUnpool1d", (2,), (torch.ones(1, 2), torch.zeros(1, 2).long(), [9]), ValueError, "output_size: "),
    ("ReflectionPad2d", (4,), (torch.ones(1, 4, 4),), ValueError, "input: expected a reflection padding"),
    ("ReplicationPad1d", (-3,), (torch.ones(1, 4),), ValueError, ""),
    ("Upsample", (), (torch.ones(1, 1, 4),), ValueError, "size, scale_factor: expected one of them"),
    ("Upsample", (None, 2, "bilinear"), (torch.ones(1, 1, 4),), ValueError, "input: expected 4 dimensions"),
    (
        "Upsample",
        (None, 2, "bilinear", "x"),
        (torch.ones(1, 1, 4, 4),),
        TypeError,
        "align_corners: expected a bool",
    ),
    ("Upsample", (None, 2**63), (torch.ones(1, 1, 4),), ValueError, "scale_factor: "),
    ("Upsample", (0,), (torch.ones(1, 1, 4),), ValueError, "size: "),
    ("Embedding", (3, 2, None, None, 2.0, 2**63), (torch.tensor([1]),), ValueError, "scale_grad_by_freq: "),
    ("EmbeddingBag", (3, 2, None, 2.0, False, "sum", "x"), (torch.ones(1, 1).long(),), TypeError, "sparse: "),
    ("Embedding", (3, 2), (torch.tensor([3]),), IndexError, ""),
    ("Embedding", (3, 2), (torch.tensor([1.0]),), TypeError, ""),
    ("EmbeddingBag", (3, 2), (torch.tensor([1]),), ValueError, "input: expected 2 dimensions"),
    ("EmbeddingBag", (3, 2), (torch.tensor([1]), torch.tensor([1])), IndexError, ""),
    ("LocalResponseNorm", (2,), (torch.ones(2, 2),), ValueError, "input: expected at least 3 dimensions"),
    ("GroupNorm", (2, 4), (torch.ones(2, 3, 4),), ValueError, "num_groups: expected a divisor of the number"),
    ("GroupNorm", (2, 4), (torch.ones(2, 6, 4),), ValueError, "weight: expected 1 dimension"),
    ("InstanceNorm1d", (3, 0.1, 0.1, True), (torch.ones(2, 4, 5),), ValueError, "input: expected 3 channels"),
    ("InstanceNorm1d", (3,), (torch.ones(2, 3, 1),), ValueError, "input: expected more than 1 element"),
    (
        "InstanceNorm2d",
        (3,),
        (torch.ones(2, 3),),
        ValueError,
        "input: expected 3 dimensions or, with a batch, 4, got 2",
    ),
    (
        "LayerNorm",
        (3,),
        (torch.ones(2, 4),),
        ValueError,
        "normalized_shape: expected the last sizes of input",
    ),
    (
        "RMSNorm",
        ((2, 4),),
        (torch.ones(4),),
        ValueError,
        "normalized_shape: expected the last sizes of input",
    ),
    ("RMSNorm", (3,), (torch.ones(2, 3).int(),), TypeError, ""),
    ("MSELoss", (), (torch.ones(2), torch.ones(3)), ValueError, "target: expected the size of input"),
    ("MSELoss", (), (torch.ones(2), [1.0]), TypeError, "target: expected a tensor, got list"),
    (
        "SmoothL1Loss",
        (None, None, "sum", None),
        (torch.ones(2), torch.ones(2)),
        TypeError,
        "beta: expected a number",
    ),
    (
        "KLDivLoss",
        (None, None, "sum", "x"),
        (torch.ones(2), torch.ones(2)),
        TypeError,
        "log_target: expected a bool",
    ),
    ("L1Loss", (None, None, "none"), (torch.ones(2), torch.ones(3)), ValueError, ""),
    (
        "SoftMarginLoss",
        (),
        (torch.ones(2, 1), torch.ones(2)),
        ValueError,
        r"target: expected a size that broadcasts to \(2, 1\), got \(2,\)",
    ),
    ("BCELoss", (), (torch.tensor([2.0]), torch.ones(1)), ValueError, "input: "),
    ("NLLLoss", (), (torch.ones(2, 3), torch.tensor([0, 3])), IndexError, "target: "),
    ("NLLLoss", (), (torch.ones(2, 3), torch.tensor([0])), ValueError, "target: "),
    ("CrossEntropyLoss", (), (torch.ones(2, 3), torch.tensor([0, 3])), IndexError, "target: "),
    ("CrossEntropyLoss", (torch.ones(2),), (torch.ones(2, 3), torch.tensor([0, 1])), ValueError, "weight: "),
    (
        "CrossEntropyLoss",
        (None, None, -100, None, "mean", None),
        (torch.ones(2, 3), torch.tensor([0, 1])),
        TypeError,
        "label_smoothing: expected a number, got NoneType None",
    ),
    ("MultiMarginLoss", (), (torch.ones(2, 3), torch.tensor([0, 3])), IndexError, "target: "),
    ("MultiLabelMarginLoss", (), (torch.ones(2, 3), torch.tensor([0, 3])), ValueError, "target: "),
    ("LSTMCell", (2, 3), (torch.ones(2, 4),), ValueError, r"input: expected 2 dimensions \(N, 2\)"),
    (
        "LSTMCell",
        (2, 3),
        (torch.ones(4, 2), torch.ones(4, 3)),
        TypeError,
        "hx: expected a pair of tensors, got Tensor",
    ),
    (
        "LSTMCell",
        (2, 3),
        (torch.ones(4, 2), (torch.ones(4, 3),) * 3),
        TypeError,
        "hx: expected a pair of tensors",
    ),
    (
        "LSTMCell",
        (2, 3),
        (torch.ones(4, 2), (torch.ones(4, 3), None)),
        TypeError,
        "hx: expected a pair of tensors",
    ),
    ("GRUCell", (2, 3), (torch.ones(4, 2), torch.ones(4, 2)), ValueError, r"hx: expected \(4, 3\)"),
    ("GRUCell", (2, 3), (torch.ones(4, 2), [1.0]), TypeError, "hx: expected a tensor, got list"),
    ("LSTM", (2, 3), (torch.ones(1, 2, 3, 2),), ValueError, "input: expected 3 dimensions"),
    ("LSTM", (2, 3), (torch.ones(4, 2), torch.ones(1, 3)), TypeError, "hx: expected a pair of tensors"),
    (
        "GRU",
        (2, 3, 1, True, False, 0.0, "x"),
        (torch.ones(4, 2),),
        TypeError,
        "bidirectional: expected a bool",
    ),
    ("GRU", (2, 3), (torch.ones(0, 1, 2),), ValueError, "input: expected at least one step"),
    ("GRU", (2, 3), (torch.ones(4, 1, 2), torch.ones(1, 2, 3)), ValueError, r"hx: expected \(1, 1, 3\)"),
    ("GRU", (2, 3), ([1.0],), TypeError, "input: expected a tensor, got list"),
    (
        "GRUCell",
        (2, 3),
        (torch.ones(4, 2), torch.ones(4, 3).double()),
        TypeError,
        "hx: expected torch.float32",
    ),
    (
        "LSTM",
        (2, 3),
        (torch.ones(4, 2), (torch.ones(1, 3).to_sparse(),) * 2),
        TypeError,
        "hx: expected a dense",
    ),
    ("LSTM", (2, 3), (torch.ones(4, 2), (torch.ones(1, 3, device="meta"),) * 2), TypeError, "hx: .* on cpu"),
    *(
        (
            "GRU",
            (2, 3),
            (PackedSequence(torch.ones(5, 2), torch.tensor(sizes)),),
            kind,
            f"input: batch_sizes: {message}",
        )
        for sizes, kind, message in (
            ([2, 1, 2], ValueError, "expected at most the 1 sequences of the step before in step 2, got 2"),
            ([3, 1], ValueError, "expected a sum of 5, the rows of data, got 4"),
            ([6, -1], ValueError, "expected no negative number, got -1"),
            ([3.0, 2.0], TypeError, "expected integers"),
        )
    ),
    (
        "AvgPool2d",
        (2, 2, 0, False, None),
        (torch.ones(1, 4, 4),),
        TypeError,
        "count_include_pad: expected a bool",
    ),
    (
        "AvgPool2d",
        (2, 2, 0, False, None, 3),
        (torch.ones(1, 4, 4),),
        TypeError,
        "count_include_pad: expected a bool",
    ),
    (
        "AvgPool2d",
        (2, 2, 0, False, True, 2**70),
        (torch.ones(1, 4, 4),),
        ValueError,
        "divisor_override: .* 64 bits",
    ),
    (
        "AvgPool3d",
        (2, 2, 0, False, True, 1.5),
        (torch.ones(1, 4, 4, 4),),
        TypeError,
        "divisor_override: .* integer",
    ),
    (
        "LPPool2d",
        (2, 2),
        (torch.ones(1, 4, 4).long(),),
        TypeError,
        "input: expected torch.float32, torch.float64, torch.float16 or torch.bfloat16",
    ),
    (
        "FractionalMaxPool2d",
        (2, 3),
        (torch.ones(1, 8, 8).long(),),
        TypeError,
        "input: expected torch.float32",
    ),
]


@pytest.mark.parametrize(("name", "arguments", "inputs", "kind", "message"), ERRORS)
def test_errors_have_the_names_of_the_layer(
    name: str, arguments: Any, inputs: Any, kind: type[Exception], message: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer = getattr(thnn.nn, name)(*arguments)
    with pytest.raises(kind, match=f"^{name}: {message}") as error:
        layer(*inputs)
    assert "_update" not in str(error.value)


WRONG_INPUTS: dict[str, tuple[Callable[[Tensor], Any], str]] = {
    "a tuple": (lambda x: (x,), "expected a tensor, got tuple"),
    "a nested tensor": (lambda x: torch.nested.nested_tensor([x, x]), "expected "),
    "a quantized tensor": (lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.quint8), "expected "),
}


@pytest.mark.parametrize("kind", WRONG_INPUTS)
@pytest.mark.parametrize("name", CONFIGURATIONS)
@settings(deadline=None, max_examples=2, derandomize=True)
@given(data=st.data())
def test_inputs_of_other_kinds_are_refused(name: str, kind: str, data: Any) -> None:
    configuration = data.draw(CONFIGURATIONS[name])
    input, *others = configuration.inputs
    is_packed = isinstance(input, PackedSequence)
    if is_packed:
        others = []  # states of a batch, which the wrong input is not
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer = pair(name, configuration)[0]
        make, message = WRONG_INPUTS[kind]
        wrong = make(torch.ones(2, 3) if is_packed or not input.numel() else input.float())
    first = next(iter(inspect.signature(layer.forward).parameters))
    with pytest.raises((TypeError, ValueError), match=f"^{name}: {first}: {message}"):
        layer(wrong, *others)


def test_sequences_of_more_steps_than_memory() -> None:
    for name in ("LSTM", "GRU"):
        with pytest.raises(ValueError, match=f"^{name}: input: expected fewer steps, got {2**40}"):
            getattr(thnn.nn, name)(3, 2)(torch.ones(3).expand(2**40, 3))


def test_projections() -> None:
    with pytest.raises(ValueError, match="LSTM: proj_size: expected 0"):
        thnn.nn.LSTM(2, 3, proj_size=2)
    layer = nn.LSTM(2, 3, proj_size=2)
    layer.__class__ = thnn.nn.LSTM
    with pytest.raises(ValueError, match="LSTM: proj_size: expected 0"):
        layer(torch.ones(1, 2))


@pytest.mark.parametrize("old", [{"size_average": False}, {"size_average": True}, {"reduce": True}])
def test_batchmean_divides_in_the_old_form_too(old: dict[str, bool]) -> None:
    input, target = torch.rand(3, 4).log(), torch.rand(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = nn.functional.kl_div(input, target, reduction="batchmean", **old)
        torch.testing.assert_close(
            thnn.nn.functional.kl_div(input, target, reduction="batchmean", **old), expected
        )


_SMOOTH_TARGETS = torch.linspace(0.1, 0.9, 300).reshape(30, 10).bfloat16()


@pytest.mark.parametrize(
    ("name", "target", "settings"),
    [
        ("l1_loss", _SMOOTH_TARGETS, {}),
        ("smooth_l1_loss", _SMOOTH_TARGETS, {"beta": 0.3}),
        ("kl_div", _SMOOTH_TARGETS, {"log_target": True}),
        ("binary_cross_entropy", _SMOOTH_TARGETS, {}),
        ("multi_margin_loss", torch.arange(30) % 10, {}),
        ("multilabel_margin_loss", torch.arange(10).repeat(30, 1), {}),
        ("nll_loss", torch.arange(30) % 10, {"weight": torch.linspace(1, 2, 10).bfloat16()}),
        ("cross_entropy", torch.arange(30) % 10, {}),
    ],
)
def test_losses_in_autocast_are_computed_in_float32(
    name: str, target: Tensor, settings: dict[str, Any]
) -> None:
    torch.manual_seed(0)
    input = torch.rand(30, 10).to(torch.bfloat16)
    wide = {k: v.float() if isinstance(v, Tensor) else v for k, v in settings.items()}
    exact = target.float() if target.is_floating_point() else target
    expected = getattr(nn.functional, name)(input.float(), exact, reduction="sum", **wide)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = getattr(F, name)(input, target, reduction="sum", **settings)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(
    "layer",
    [
        nn.AvgPool2d(2), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.AdaptiveMaxPool2d(1), nn.LPPool2d(2, 2),
        nn.FractionalMaxPool2d(2, output_size=3), nn.Softmax(1), nn.LogSoftmax(1), nn.GroupNorm(2, 4), nn.RMSNorm(8),
        nn.BatchNorm2d(4), nn.InstanceNorm2d(4), nn.LayerNorm(8), nn.LocalResponseNorm(3), nn.PReLU(), nn.PReLU(4),
        nn.Softplus(), nn.GELU(), nn.Upsample(scale_factor=2), nn.Upsample(scale_factor=2, mode="bilinear"),
        nn.ReflectionPad1d(1), nn.ReflectionPad2d(1), nn.ReplicationPad2d(1), nn.ReplicationPad3d(1), nn.Linear(8, 4),
        nn.Conv2d(4, 4, 3), nn.ConvTranspose2d(4, 4, 3), nn.Unfold(3), nn.GLU(1), nn.Hardtanh(), nn.Tanhshrink(),
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("promised", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("given", [torch.float32, torch.bfloat16, torch.float16])
def test_the_types_of_autocast(layer: nn.Module, promised: torch.dtype, given: torch.dtype) -> None:
    """A converted layer returns the type that torch's layer returns."""
    sizes = (4, 8) if isinstance(layer, nn.ReflectionPad1d) else (2, 4, 8, 8)
    converted = nn.Sequential(copy.deepcopy(layer))
    thnn.convert(converted)
    results = []
    with torch.autocast("cpu", dtype=promised):
        for m in (layer, converted):
            x = torch.ones(sizes, dtype=given, requires_grad=True)
            y = m(x)
            (gradient,) = torch.autograd.grad(y.sum(), x)
            results.append((y.dtype, gradient.dtype))
    assert results[0] == results[1]


@pytest.mark.parametrize("name", ["MaxPool2d", "AvgPool2d"])
def test_a_window_of_a_numpy_size(name: str) -> None:
    x = torch.linspace(-2, 2, 2 * 3 * 8 * 8).cos().reshape(2, 3, 8, 8)
    size = np.int64(2)  # np.int64(2) == [] is an empty array
    torch.testing.assert_close(getattr(thnn.nn, name)(size)(x), getattr(nn, name)(2)(x))


@pytest.mark.parametrize("beta", [1e-40, 1e-12, 1e25, 1e38, float("inf")])
def test_smooth_l1_loss_with_an_extreme_beta(beta: float) -> None:
    input, target = torch.tensor([1.0, 5.0], requires_grad=True), torch.tensor([2.0, 2.0])
    results = []
    for functional in (torch.nn.functional, thnn.nn.functional):
        loss = functional.smooth_l1_loss(input, target, beta=beta, reduction="sum")
        results.append((loss, *torch.autograd.grad(loss, input)))
    torch.testing.assert_close(*results, rtol=0, atol=0)


@pytest.mark.parametrize(
    "name", ["relu", "sigmoid", "tanh", "softmax", "log_softmax", "softmin", "threshold", "leaky_relu"]
)
@pytest.mark.parametrize("changed", ["input", "output"])
def test_a_change_in_place_before_the_backward(name: str, changed: str) -> None:
    """Either the gradient equals torch's, or both refuse: both save the same tensor."""
    settings = {"softmax": (-1,), "log_softmax": (-1,), "softmin": (-1,), "threshold": (0.5, -0.5)}
    found = []
    x = distinct((2, 3), torch.float64).requires_grad_()
    for home in (F, nn.functional):
        before = x * 1
        y = getattr(home, name)(before, *settings.get(name, ()))
        with torch.no_grad():
            (before if changed == "input" else y).add_(1)
        try:
            found.append(torch.autograd.grad(y, x, torch.arange(6.0, dtype=x.dtype).reshape(2, 3))[0])
        except RuntimeError:  # modified by an inplace operation
            found.append(torch.empty(0, dtype=x.dtype))
    agree(found[:1], found[1:])


@pytest.mark.parametrize("name", ["Embedding", "EmbeddingBag"])
def test_two_lookups_with_a_largest_norm(name: str) -> None:
    """The second lookup renormalizes the table between the forward and the backward of the first."""
    gradients = []
    for home in (thnn.nn, nn):
        table = getattr(home, name)(5, 3, max_norm=0.5, _weight=torch.arange(15.0).reshape(5, 3))
        rows = torch.tensor([[4, 1], [4, 4]])
        (table(rows).sin().sum() + table(rows.flip(0)).cos().sum()).backward()
        gradients.append(table.weight.grad)
    agree(gradients[:1], gradients[1:])


@pytest.mark.parametrize(("mode", "dims"), [("nearest", 2), ("linear", 1), ("bilinear", 2), ("trilinear", 3)])
def test_scale_factors(mode: str, dims: int) -> None:
    """Also scales that keep or double the size of an axis, which torch treats separately."""
    torch.manual_seed(0)
    for factors in itertools.product((1.0, 1.1, 1.3, 2.0, 2.1, 0.9), repeat=dims):
        x = torch.rand(1, 2, 3, 8, 4, dtype=torch.float64)[(..., *[0] * (3 - dims))].requires_grad_()
        ours, theirs = (
            home.interpolate(x, scale_factor=factors, mode=mode)
            for home in (thnn.nn.functional, nn.functional)
        )
        torch.testing.assert_close(ours, theirs)
        weights = torch.rand_like(theirs)
        torch.testing.assert_close(*(torch.autograd.grad(y, x, weights)[0] for y in (ours, theirs)))


def test_targets_below_0_of_kl_div() -> None:
    for dtype in (torch.float32, torch.float64):
        target = torch.tensor([-0.5, 0.0, 0.5], dtype=dtype)
        results = []
        for home in (thnn.nn.functional, nn.functional):
            x = torch.tensor([-1.0, -2.0, -3.0], dtype=dtype, requires_grad=True)
            loss = home.kl_div(x, target, reduction="sum")
            results.append((loss, *torch.autograd.grad(loss, x)))
        torch.testing.assert_close(*results, equal_nan=True)
        assert results[0][0].isnan()


def test_powers_beyond_floats() -> None:
    with pytest.raises(ValueError, match=r"norm_type: expected a number of at most 2\^53"):
        thnn.nn.functional.lp_pool2d(torch.ones(1, 4, 4), 2**70, 2)
