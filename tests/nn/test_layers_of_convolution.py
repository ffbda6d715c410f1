"""thnn.nn.Conv*, ConvTranspose* and Linear in place of torch's."""

from __future__ import annotations

import copy
import itertools
import pickle
import re
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import thnn.nn
from thnn._binding.library import MULTIPLIES_BFLOAT16

NAMES = ("Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")


def pair(name: str, *args: Any, **keywords: Any) -> tuple[nn.Module, nn.Module]:
    """The layers of thnn and torch, created with the same seed."""
    made = []
    for home in (thnn.nn, nn):
        torch.manual_seed(5)
        made.append(getattr(home, name)(*args, **keywords))
    return made[0], made[1]


def image(name: str, channels: int, batch: int | None = 2, **keywords: Any) -> Tensor:
    dims = int(name[-2]) if name != "Linear" else 0
    sizes = (7, 6, 5)[3 - dims :]
    torch.manual_seed(1)
    return torch.randn(*(() if batch is None else (batch,)), channels, *sizes, **keywords)


def agree(ours: nn.Module, theirs: nn.Module, x: Tensor, *args: Any, tolerance: float = 1e-4) -> None:
    """Compares outputs and all gradients."""
    results = []
    for layer in (ours, theirs):
        leaf = x.clone().requires_grad_()
        y = layer(leaf, *args)
        torch.manual_seed(2)
        y.backward(torch.randn(y.shape, dtype=y.dtype))
        results.append([y.detach(), leaf.grad, *(p.grad for p in layer.parameters())])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", [*NAMES, "Linear"])
def test_autocast_rounds_the_result(name: str, dtype: torch.dtype) -> None:
    """Arguments, too, where the processor multiplies bfloat16."""
    layer = getattr(thnn.nn, name)(4, 6, *(() if name == "Linear" else (3,)))
    x = image(name, 4).to(dtype).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(x)
        assert layer.double()(x.detach().double()).dtype is torch.float64
    layer.float()
    if MULTIPLIES_BFLOAT16:
        expected = layer.bfloat16()(x.detach().bfloat16())
        layer.float()
    else:
        expected = layer(x.detach().float()).bfloat16()
    assert torch.equal(y, expected)
    y.square().sum().backward()
    assert x.grad is not None
    assert x.grad.dtype is dtype
    if dtype is torch.bfloat16:
        with pytest.raises(
            TypeError, match=r"expected torch\.bfloat16, the type of input, got torch\.float32"
        ):
            layer(x)


@pytest.mark.parametrize("name", [*NAMES, "Linear"])
def test_a_layer_is_that_of_torch(name: str) -> None:
    arguments = (5, 3) if name == "Linear" else (4, 6, 3)
    ours, theirs = pair(name, *arguments, dtype=torch.float64)
    assert isinstance(ours, getattr(nn, name))
    assert repr(ours) == repr(theirs)
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(a, b)
    fresh = getattr(nn, name)(*arguments, dtype=torch.float64)
    fresh.load_state_dict(ours.state_dict())
    ours.load_state_dict(fresh.state_dict())
    x = torch.randn(2, 5, dtype=torch.float64) if name == "Linear" else image(name, 4, dtype=torch.float64)
    agree(ours, theirs, x, tolerance=1e-11)
    for twin in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert type(twin) is type(ours)
        assert torch.equal(twin(x), ours(x))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("batch", [None, 0, 3])
def test_geometries(name: str, groups: int, batch: int | None) -> None:
    dims = int(name[-2])
    keywords: dict[str, Any] = {"stride": (2, 1, 3)[:dims], "padding": (1, 0, 2)[:dims]}
    keywords |= {"dilation": (1, 2, 1)[:dims], "groups": groups, "bias": groups != 2}
    if "Transpose" in name:
        keywords["output_padding"] = (1, 0, 2)[:dims]
    ours, theirs = pair(name, 4, 8, (3, 2, 3)[:dims], **keywords)
    agree(ours, theirs, image(name, 4, batch))


@pytest.mark.filterwarnings("ignore:Using padding='same':UserWarning")  # torch warns about its own copy
@pytest.mark.parametrize("name", ["Conv1d", "Conv2d", "Conv3d"])
@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [1, "same", "valid"])
def test_padding(name: str, mode: str, padding: int | str) -> None:
    for kernel, dilation in ((3, 1), (2, 1), (3, 2), (2, 3)):
        layers = pair(name, 3, 2, kernel, padding=padding, dilation=dilation, padding_mode=mode)
        agree(*layers, image(name, 3))


@pytest.mark.parametrize(("mode", "padding"), [("reflect", 7), ("circular", 8)])
def test_padding_larger_than_the_image(mode: str, padding: int) -> None:
    layer = thnn.nn.Conv2d(3, 2, 3, padding=padding, padding_mode=mode)
    with pytest.raises(ValueError, match=f"Conv2d: input: cannot be padded \\({mode}\\): "):
        layer(image("Conv2d", 3))


def test_same_padding_needs_no_stride() -> None:
    with pytest.raises(ValueError, match="same"):
        thnn.nn.Conv2d(2, 2, 3, stride=2, padding="same")
    layer = thnn.nn.Conv2d(2, 2, 3, padding="same")
    layer.stride = (2, 2)
    with pytest.raises(ValueError, match="Conv2d: stride: expected 1 with padding='same', got "):
        layer(image("Conv2d", 2))


def test_padding_given_as_a_string() -> None:
    layer = thnn.nn.Conv2d(2, 2, 3)
    layer.padding = "full"
    with pytest.raises(ValueError, match="Conv2d: padding: expected numbers, 'valid' or 'same', got 'full'"):
        layer(image("Conv2d", 2))
    with pytest.raises(ValueError, match="ConvTranspose2d: padding: expected one number for each of 2 axes"):
        thnn.nn.ConvTranspose2d(2, 2, 3, padding="same")(image("Conv2d", 2))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "arguments", "keywords", "shape", "message"),
    [
        ("Conv2d", (3, 4, 3), {}, (2, 5, 8, 8), "input: expected 3 channels (in_channels), got 5 in (2, 5, 8, 8)"),
        ("Conv1d", (4, 4, 3), {"groups": 2}, (6, 8), "input: expected 4 channels (in_channels), got 6 in (6, 8)"),
        ("ConvTranspose2d", (4, 2, 3), {"groups": 2}, (1, 2, 8, 8), "input: expected 4 channels (in_channels), got 2"),
        ("Conv2d", (3, 4, 3), {}, (3, 8), "input: expected 4 dimensions (N, C, H, W) or 3 (C, H, W), got shape (3,"),
        ("Conv2d", (3, 4, 3), {"padding": 1, "padding_mode": "reflect"}, (3, 8), "input: expected 4 dimensions"),
        ("Conv3d", (3, 4, 3), {}, (3, 8), "input: expected 5 dimensions (N, C, D, H, W) or 4 (C, D, H, W), got shape"),
        ("Conv2d", (3, 4, 5), {}, (2, 3, 4, 9), "input: the output would be empty, 0 x 5: input 4 x 9, kernel 5 x 5, "),
        ("Conv2d", (3, 4, 1), {}, (2, 3, 0, 4), "input: expected (N, C, H, W), of which only N may be 0, got shape"),
        ("Conv2d", (3, 4, 0), {}, (2, 3, 8, 8), "kernel_size: expected at least 1, got (0, 0)"),
        ("Conv2d", (3, 4, (3, 3, 3)), {}, (2, 3, 8, 8), "kernel_size: expected 2 numbers, got (3, 3, 3)"),
        ("Conv2d", (3, 0, 3), {}, (2, 3, 8, 8), "weight: expected 4 dimensions (out_channels, 3, kH, kW) for an input"),
        ("Conv2d", (3, 4, 3), {"stride": (1, 0)}, (2, 3, 8, 8), "stride: expected at least 1, got 0"),
        ("Conv1d", (3, 4, 3), {"stride": 1.5}, (2, 3, 8), "stride: expected an integer, got float 1.5"),
        ("Conv3d", (3, 4, 1), {"dilation": (0, 1, 1)}, (3, 8, 8, 8), "dilation: expected at least 1, got 0"),
        ("ConvTranspose1d", (3, 4, 3), {"padding": -1}, (3, 8), "padding: expected at least 0, got -1"),
        (
            "ConvTranspose2d", (3, 4, 3), {"output_padding": 1}, (3, 8, 8),
            "output_padding: expected less than the stride (1) or the dilation (1), got 1",
        ),
        ("Linear", (5, 3), {}, (2, 4, 6), "input: expected 5 features (in_features), got 6 in (2, 4, 6)"),
        ("Linear", (5, 3), {}, (), "input: expected 2 dimensions (N, in_features) or 1, got shape ()"),
    ],
)  # fmt: skip
def test_errors_have_the_names_of_the_layer(
    name: str, arguments: Any, keywords: dict[str, Any], shape: tuple[int, ...], message: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns about parameters without elements
        layer = getattr(thnn.nn, name)(*arguments, **keywords)
    for requires_grad in (False, True):
        with pytest.raises((TypeError, ValueError), match="^" + re.escape(f"{name}: {message}")):
            layer(torch.randn(shape, requires_grad=requires_grad))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_errors_of_linear() -> None:
    layer = thnn.nn.Linear(3, 4)
    rows = [torch.randn(2, 3), torch.randn(1, 3)]
    for value, message in (
        (torch.nested.nested_tensor(rows), "expected a dense tensor, got a nested one"),
        ([1.0], "expected a tensor, got list"),
        (None, "expected a tensor, got NoneType"),
    ):
        with pytest.raises(TypeError, match=f"^Linear: input: {message}"):
            layer(value)
    layer.weight = None
    with pytest.raises(TypeError, match=r"^Linear: weight: expected a tensor, got None"):
        layer(rows[0])


def test_output_size_for_other_dimensions() -> None:
    layer = thnn.nn.ConvTranspose2d(3, 4, 3)
    with pytest.raises(ValueError, match=r"^ConvTranspose2d: input: expected 4 dimensions"):
        layer(torch.randn(3, 8), output_size=(10, 10))


@pytest.mark.parametrize("name", [n for n in NAMES if "Transpose" in n])
def test_output_size(name: str) -> None:
    dims = int(name[-2])
    ours, theirs = pair(name, 3, 2, 3, stride=2, padding=1)
    x = image(name, 3)
    for more in (0, 1):
        size = [2 * (s - 1) + 1 + more for s in x.shape[2:]]
        assert ours(x, size).shape[2:] == torch.Size(size)
        agree(ours, theirs, x, [*x.shape[:1], 2, *size] if more else size)
        assert torch.equal(ours(x, torch.tensor(size)), ours(x, size))
    with pytest.raises(ValueError, match="size"):
        ours(x, [100] * dims)
    for wrong, error in (
        ([100] * dims, ValueError),
        ([3] * (dims + 1), ValueError),
        ("x", TypeError),
        (5, TypeError),
    ):
        with pytest.raises(error, match=f"^{name}: output_size: "):
            ours(x, wrong)
    with pytest.raises(ValueError, match="padding"):
        getattr(thnn.nn, name)(3, 2, 3, padding_mode="reflect")


@pytest.mark.parametrize("name", NAMES)
def test_one_number_counts_for_every_axis(name: str) -> None:
    dims = int(name[-2])
    settings: list[dict[str, Any]] = [{"stride": (2,)}, {"padding": (1,)}, {"dilation": (2,)}]
    if "Transpose" in name:
        settings.append({"stride": 2, "output_padding": (1,)})
    for keywords in settings:
        agree(*pair(name, 3, 2, 3, **keywords), image(name, 3))
    for setting in ("stride", "padding", "dilation", *(["output_padding"] if "Transpose" in name else [])):
        for values in ((), (1,) * (dims + 1), (1,) * (dims - 1) if dims > 2 else ()):
            layer = getattr(thnn.nn, name)(3, 2, 3, **{setting: values})
            with pytest.raises(
                ValueError, match=f"^{name}: {setting}: expected one number for each of {dims} axes"
            ):
                layer(image(name, 3))


@pytest.mark.parametrize("name", NAMES)
def test_settings_may_change_after_construction(name: str) -> None:
    dims = int(name[-2])
    changes: list[dict[str, Any]] = [
        {"stride": (1,) * dims, "dilation": (2,) * dims, "padding": (2,) * dims},
    ]
    if "Transpose" not in name:
        changes += [{"stride": 1, "padding": 0}, {"padding": "valid", "dilation": [2] * dims}]
        changes += [{"stride": (1,) * dims, "padding": "same", "dilation": (2,) * dims}]
    for change in changes:
        layers = pair(name, 3, 2, 3, stride=2, padding=1)
        for layer in layers:
            for setting, value in change.items():
                setattr(layer, setting, value)
        agree(*layers, image(name, 3))


# With one channel, or one pixel, only the strides of dimensions of size 1 show the layout. torch does not follow its
# own rule for a single volume, nor for volumes of float64.
@pytest.mark.parametrize(
    ("name", "batch"),
    [("Conv2d", 1), ("Conv2d", 2), ("ConvTranspose2d", 2), ("Conv3d", 2), ("ConvTranspose3d", 2)],
)
@pytest.mark.parametrize("sizes", [(4, 6, 3), (1, 6, 3), (4, 1, 3), (1, 1, 3), (4, 6, 1), (1, 1, 1)])
@pytest.mark.parametrize("pixels", [5, 3, 1])
def test_channels_last_as_in_torch(name: str, batch: int, sizes: tuple[int, int, int], pixels: int) -> None:
    """The output is channels-last if the input or the weight is; a gradient has the layout of its tensor."""
    torch.set_num_threads(2)  # with one thread torch does not follow its rule for volumes either
    dims = int(name[-2])
    last: Any = torch.channels_last if dims == 2 else torch.channels_last_3d
    x = torch.randn(batch, sizes[0], *(pixels,) * dims)
    for is_part, of_input, of_weight in itertools.product((False, True), repeat=3):
        ours, theirs = pair(name, *sizes, padding=sizes[2] // 2)
        image = x.repeat_interleave(2, -1) if is_part else x
        image = image.to(memory_format=last) if of_input else image
        image = image[..., ::2] if is_part else image
        formed = []
        for layer in (ours, theirs):
            layer.to(memory_format=last if of_weight else torch.contiguous_format)
            leaf = image.detach().requires_grad_()
            y = layer(leaf)
            y.sum().backward()
            formed.append((y, leaf.grad, layer.weight.grad))
        for a, b in zip(*formed, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
            for form in (torch.contiguous_format, last):
                assert a.is_contiguous(memory_format=form) == b.is_contiguous(memory_format=form)


@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 5), (2, 0, 5), (2, 3, 4, 5), (0, 5)])
def test_linear_shapes(shape: tuple[int, ...]) -> None:
    ours, theirs = pair("Linear", 5, 3)
    assert ours(torch.randn(shape)).shape == theirs(torch.randn(shape)).shape
    torch.manual_seed(1)
    agree(ours, theirs, torch.randn(shape))


def test_linear_accepts_any_weight_and_only_tensors() -> None:
    layer = thnn.nn.Linear(5, 3)
    layer.weight, layer.bias = nn.Parameter(torch.randn(7, 5)), None  # type: ignore[assignment]
    x = torch.randn(2, 4, 5)
    torch.testing.assert_close(layer(x), nn.functional.linear(x, layer.weight))
    for wrong in (None, [1.0, 2.0]):
        with pytest.raises(TypeError, match=r"^Linear: input: expected a tensor, got "):
            layer(wrong)


@pytest.mark.filterwarnings("ignore")  # torch warns that nested and quantized tensors may change
@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
def test_inputs_of_other_kinds_are_refused(mode: str) -> None:
    layer, x = thnn.nn.Conv2d(3, 4, 3, padding=1, padding_mode=mode), torch.randn(2, 3, 5, 5)
    for wrong, message in (
        ((x,), "expected a tensor, got tuple"),
        (torch.nested.nested_tensor([x[0], x[1]]), "expected a dense tensor, got a nested one"),
        (x.to_sparse(), "expected a dense tensor, got layout torch.sparse_coo"),
        (torch.quantize_per_tensor(x, 0.1, 0, torch.quint8), "expected .*, got torch.quint8"),
    ):
        with pytest.raises(TypeError, match=f"^Conv2d: input: {message}$"):
            layer(wrong)


def test_second_gradients() -> None:
    for name in ("Conv1d", "ConvTranspose2d"):
        layer = getattr(thnn.nn, name)(2, 4, 2, stride=2, groups=2, dtype=torch.float64)
        if name == "ConvTranspose2d":
            layer.to(memory_format=torch.channels_last)
        x = image(name, 2, 1, dtype=torch.float64)[..., :4].requires_grad_()
        assert torch.autograd.gradgradcheck(layer, x)


@pytest.mark.parametrize("name", [*NAMES, "Linear"])
def test_parameters_of_functional_call(name: str) -> None:
    layer = getattr(thnn.nn, name)(*((4, 6) if name == "Linear" else (4, 6, 3)))
    x = torch.randn(2, 4) if name == "Linear" else image(name, 4)
    doubled = {k: p.detach() * 2 for k, p in layer.named_parameters()}
    called = torch.func.functional_call(layer, doubled, (x,))
    torch.testing.assert_close(called, layer(x) * 2, rtol=1e-4, atol=1e-4)
    for frozen, learnt in (("weight", "bias"), ("bias", "weight")):
        layer.requires_grad_(True).zero_grad()
        layer.get_parameter(frozen).requires_grad_(False)
        layer(x).sum().backward()
        assert layer.get_parameter(frozen).grad is None
        assert layer.get_parameter(learnt).grad is not None


# torch.compile suppresses this warning for users.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")
@pytest.mark.parametrize("name", ["Conv1d", "Linear"])
def test_compiled(name: str) -> None:
    layer = getattr(thnn.nn, name)(*((4, 6) if name == "Linear" else (4, 6, 3)))
    x = torch.randn(2, 4) if name == "Linear" else image(name, 4)
    compiled = torch.compile(lambda t: layer(t * 2) + 1, backend="eager")
    results = []
    for function in (compiled, lambda t: layer(t * 2) + 1):
        leaf = x.clone().requires_grad_()
        y = function(leaf)
        results.append((y, *torch.autograd.grad(y.sum(), [leaf, *layer.parameters()])))
    for ours, theirs in zip(*results, strict=True):
        assert torch.equal(ours, theirs)


def test_compiled_as_one_graph() -> None:
    network = nn.Sequential(*(thnn.nn.Conv2d(c, c + 1, 3, padding=c % 2) for c in range(1, 6)))
    x = torch.randn(2, 1, 12, 12)
    torch.compiler.reset()
    assert torch.equal(torch.compile(network, backend="eager", fullgraph=True)(x), network(x))


def test_vmap() -> None:
    layer = thnn.nn.Conv1d(2, 3, 3)
    x = torch.randn(4, 1, 2, 7)
    torch.testing.assert_close(torch.vmap(layer)(x), torch.stack([layer(one) for one in x]))


def test_device_and_type() -> None:
    layer = thnn.nn.Conv2d(3, 4, 3, device="meta", dtype=torch.float64)
    assert layer(torch.empty(2, 3, 5, 5, device="meta", dtype=torch.float64)).shape == (2, 4, 3, 3)
    with pytest.raises(TypeError, match="weight"):
        thnn.nn.Conv2d(3, 4, 3)(torch.randn(2, 3, 5, 5, dtype=torch.float64))
    with pytest.raises(ValueError, match="input"):
        thnn.nn.Conv2d(3, 4, 3)(torch.randn(3, 5))


@pytest.mark.parametrize("name", [*NAMES, "Linear"])
def test_a_layer_of_torch_can_take_our_class(name: str) -> None:
    arguments = (4, 6) if name == "Linear" else (4, 6, 3)
    theirs = getattr(nn, name)(*arguments)
    x = torch.randn(2, 4) if name == "Linear" else image(name, 4)
    before = theirs(x)
    theirs.__class__ = getattr(thnn.nn, name)
    torch.testing.assert_close(theirs(x), before, rtol=1e-4, atol=1e-5)
