"""Layers like those of torch.legacy.nn (clients/legacy_nn.py): every family of THNN.h, with gradients in double.

Tables and criteria are in test_legacy_nn_criteria.py.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import thnn

with thnn.compat:
    from clients import legacy_nn as nn

pytestmark = pytest.mark.usefixtures("compat")

TABLE = nn.full_table(3, 4)[[0, 3, 4, 5, 7, 10, 11]]


def local() -> Any:
    """Filters and biases per place."""
    layer = nn.Convolution("SpatialConvolutionLocal", (6, 2, 12), 2, 2, 2, 1, 0, 0, 5, 4, 2, 3)
    layer.make_parameters(weight=(3, 2, 2, 3, 2, 2), bias=(2, 3, 2))
    return layer


#: Name -> layer, size of the input, torch's equivalent of (input, *parameters).
LAYERS: dict[str, tuple[Callable[[], Any], tuple[int, ...], Callable[..., Tensor] | None]] = {
    "Abs": (lambda: nn.Plain("Abs"), (3, 4), torch.abs),
    "Sigmoid": (lambda: nn.Plain("Sigmoid", saves=True), (3, 4), torch.sigmoid),
    "Tanh": (lambda: nn.Plain("Tanh", saves=True), (3, 4), torch.tanh),
    "Square": (lambda: nn.Plain("Square"), (3, 4), torch.square),
    "HardShrink": (lambda: nn.Plain("HardShrink", 0.5), (3, 4), F.hardshrink),
    "SoftShrink": (lambda: nn.Plain("SoftShrink", 0.5), (3, 4), F.softshrink),
    "HardTanh": (lambda: nn.Plain("HardTanh", -1, 1, inplace=False), (3, 4), F.hardtanh),
    "LeakyReLU": (lambda: nn.Plain("LeakyReLU", 0.1, inplace=False), (3, 4), lambda x: F.leaky_relu(x, 0.1)),
    "Threshold": (lambda: nn.Plain("Threshold", 0, 0, inplace=False), (3, 4), F.relu),
    "ELU": (lambda: nn.Plain("ELU", 1.0, inplace=False, saves=True), (3, 4), F.elu),
    "SoftPlus": (lambda: nn.Plain("SoftPlus", 1, 20, saves=True), (3, 4), F.softplus),
    "LogSigmoid": (lambda: nn.Plain("LogSigmoid", buffers=("buffer",)), (3, 4), F.logsigmoid),
    "SoftMax": (lambda: nn.Plain("SoftMax", saves=True), (3, 4), lambda x: F.softmax(x, 1)),
    "LogSoftMax": (lambda: nn.Plain("LogSoftMax", saves=True), (3, 4), lambda x: F.log_softmax(x, 1)),
    "GatedLinear": (lambda: nn.Plain("GatedLinear", 1), (3, 4), lambda x: F.glu(x, 1)),
    "RReLU": (nn.RReLU, (3, 4, 5), None),
    "PReLU": (lambda: nn.PReLU(3), (2, 3, 4), F.prelu),
    "PReLU, one slope": (nn.PReLU, (2, 3, 4), F.prelu),
    "SpatialConvolutionMM": (
        lambda: nn.Convolution("SpatialConvolutionMM", (4, 3, 2, 3), 3, 2, 2, 1, 1, 0),
        (2, 3, 5, 6),
        lambda x, *p: F.conv2d(x, *p, stride=(1, 2), padding=(0, 1)),
    ),
    "SpatialConvolutionMM, flat weight": (
        lambda: nn.Convolution("SpatialConvolutionMM", (4, 18), 3, 2, 2, 1, 1, 0).noBias(),
        (3, 5, 6),
        lambda x, w: F.conv2d(x, w.view(4, 3, 2, 3), stride=(1, 2), padding=(0, 1)),
    ),
    "SpatialDilatedConvolution": (
        lambda: nn.Convolution(
            "SpatialDilatedConvolution",
            (4, 3, 2, 2),
            *(2, 2, 1, 1, 0, 0, 2, 2),
            buffers=("finput", "fgradInput"),
            backward=("finput",),
        ),
        (2, 3, 5, 6),
        lambda x, *p: F.conv2d(x, *p, dilation=2),
    ),
    "SpatialFullConvolution": (
        lambda: nn.Convolution(
            "SpatialFullConvolution",
            (3, 4, 3, 3),
            *(3, 3, 2, 2, 1, 1, 1, 0),
            buffers=("finput", "fgradInput"),
            backward=("finput",),
        ),
        (2, 3, 3, 4),
        lambda x, *p: F.conv_transpose2d(x, *p, stride=2, padding=1, output_padding=(0, 1)),
    ),
    "SpatialConvolutionLocal": (
        local,
        (2, 3, 4, 5),
        None,
    ),
    "VolumetricConvolution": (
        lambda: nn.Convolution(
            "VolumetricConvolution", (4, 2, 2, 2, 2), *(1, 1, 1, 0, 0, 0), backward=("finput",)
        ),
        (2, 2, 3, 4, 3),
        F.conv3d,
    ),
    "VolumetricConvolutionMM": (
        lambda: nn.Convolution(
            "VolumetricConvolutionMM",
            (4, 16),
            *(2, 2, 2, 1, 1, 1, 0, 0, 0),
            buffers=("finput",),
            backward=("finput", "fgradInput"),
        ),
        (2, 2, 3, 4, 3),
        lambda x, w, b: F.conv3d(x, w.view(4, 2, 2, 2, 2), b),
    ),
    "VolumetricFullConvolution": (
        lambda: nn.Convolution("VolumetricFullConvolution", (2, 3, 2, 2, 2), *(2, 2, 2, 0, 0, 0, 1, 0, 1)),
        (1, 2, 2, 3, 2),
        lambda x, *p: F.conv_transpose3d(x, *p, stride=2, output_padding=(1, 1, 0)),
    ),
    "TemporalConvolution": (
        lambda: nn.Temporal("TemporalConvolution", (5, 6), (5,), 2, 1, sizes=(3, 5)),
        (2, 4, 3),
        lambda x, w, b: F.conv1d(x.transpose(1, 2), w.view(5, 2, 3).transpose(1, 2), b).transpose(1, 2),
    ),
    "TemporalSubSampling": (
        lambda: nn.Temporal("TemporalSubSampling", (3,), (3,), 2, 1, sizes=(3,)),
        (4, 3),
        lambda x, w, b: x.unfold(0, 2, 1).sum(-1) * w + b,
    ),
    "SpatialSubSampling": (
        lambda: nn.Temporal("SpatialSubSampling", (3,), (3,), 2, 2, 1, 2),
        (2, 3, 4, 5),
        lambda x, w, b: (
            F.avg_pool2d(x, 2, (2, 1), divisor_override=1) * w.view(-1, 1, 1) + b.view(-1, 1, 1)
        ),
    ),
    "SpatialConvolutionMap": (
        lambda: nn.ConvolutionMap("SpatialConvolutionMap", TABLE, (3, 4), (2, 3), (1, 2)),
        (2, 3, 5, 6),
        lambda x, w, b: F.conv2d(x, dense(w, (4, 3), (1, 0)), b, stride=(2, 1)),
    ),
    "SpatialFullConvolutionMap": (
        lambda: nn.ConvolutionMap("SpatialFullConvolutionMap", TABLE, (3, 4), (2, 3), (1, 2)),
        (3, 3, 4),
        lambda x, w, b: F.conv_transpose2d(x, dense(w, (3, 4), (0, 1)), b, stride=(2, 1)),
    ),
    "BatchNormalization": (
        lambda: nn.BatchNormalization(3),
        (4, 3, 2, 2),
        lambda x, *p: F.batch_norm(x, None, None, *p, training=True),
    ),
    "BatchNormalization, not affine": (
        lambda: nn.BatchNormalization(3, affine=False),
        (4, 3),
        lambda x: F.batch_norm(x, None, None, training=True),
    ),
    "SpatialMaxPooling": (
        lambda: nn.MaxPooling("SpatialMaxPooling", 3, 2, 2, 1, 1, 0, True),
        (2, 3, 5, 6),
        lambda x: F.max_pool2d(x, (2, 3), (1, 2), (0, 1), ceil_mode=True),
    ),
    "SpatialDilatedMaxPooling": (
        lambda: nn.MaxPooling("SpatialDilatedMaxPooling", 2, 2, 1, 1, 0, 0, 2, 2, False),
        (3, 5, 6),
        lambda x: F.max_pool2d(x, 2, 1, dilation=2),
    ),
    "TemporalMaxPooling": (
        lambda: nn.MaxPooling("TemporalMaxPooling", 2, 2),
        (2, 5, 3),
        lambda x: F.max_pool1d(x.transpose(1, 2), 2).transpose(1, 2),
    ),
    "VolumetricMaxPooling": (
        lambda: nn.MaxPooling("VolumetricMaxPooling", 2, 2, 2, 2, 2, 2, 0, 0, 0, False),
        (2, 2, 4, 4, 5),
        lambda x: F.max_pool3d(x, 2),
    ),
    "SpatialAdaptiveMaxPooling": (
        lambda: nn.MaxPooling("SpatialAdaptiveMaxPooling", 3, 2, backward=()),
        (2, 3, 5, 7),
        lambda x: F.adaptive_max_pool2d(x, (2, 3)),
    ),
    "SpatialFractionalMaxPooling": (
        lambda: nn.FractionalMaxPooling("SpatialFractionalMaxPooling", 3, 4, 2, 2),
        (2, 3, 7, 6),
        None,
    ),
    "SpatialFractionalMaxPooling, one sample": (
        lambda: nn.FractionalMaxPooling("SpatialFractionalMaxPooling", 3, 4, 2, 2),
        (3, 7, 6),
        None,
    ),
    "VolumetricFractionalMaxPooling": (
        lambda: nn.FractionalMaxPooling("VolumetricFractionalMaxPooling", 2, 2, 3, 2, 2, 2),
        (3, 6, 5, 5),
        None,
    ),
    "SpatialAveragePooling": (
        lambda: nn.Plain("SpatialAveragePooling", 3, 2, 2, 1, 1, 0, True, False),
        (2, 3, 5, 6),
        lambda x: F.avg_pool2d(x, (2, 3), (1, 2), (0, 1), True, False),
    ),
    "VolumetricAveragePooling": (
        lambda: nn.Plain("VolumetricAveragePooling", 2, 2, 2, 2, 2, 2, 0, 0, 0, False, True),
        (2, 2, 4, 4, 5),
        lambda x: F.avg_pool3d(x, 2),
    ),
    "SpatialReflectionPadding": (
        lambda: nn.Plain("SpatialReflectionPadding", 1, 2, 2, 0),
        (2, 3, 4, 4),
        lambda x: F.pad(x, (1, 2, 2, 0), "reflect"),
    ),
    "SpatialReplicationPadding": (
        lambda: nn.Plain("SpatialReplicationPadding", 1, 2, 2, 0),
        (3, 4, 4),
        lambda x: F.pad(x, (1, 2, 2, 0), "replicate"),
    ),
    "VolumetricReplicationPadding": (
        lambda: nn.Plain("VolumetricReplicationPadding", 1, 2, 2, 0, 1, 1),
        (1, 2, 3, 4, 4),
        lambda x: F.pad(x, (1, 2, 2, 0, 1, 1), "replicate"),
    ),
    "SpatialUpSamplingNearest": (
        lambda: nn.Plain("SpatialUpSamplingNearest", 2),
        (2, 3, 4, 3),
        lambda x: F.interpolate(x, scale_factor=2),
    ),
    "SpatialUpSamplingBilinear": (
        lambda: nn.UpSampling("SpatialUpSamplingBilinear", 7, 8),
        (2, 3, 4, 3),
        lambda x: F.interpolate(x, (7, 8), mode="bilinear", align_corners=True),
    ),
    "VolumetricUpSamplingTrilinear": (
        lambda: nn.UpSampling("VolumetricUpSamplingTrilinear", 3, 7, 8),
        (1, 2, 2, 4, 3),
        lambda x: F.interpolate(x, (3, 7, 8), mode="trilinear", align_corners=True),
    ),
}  # fmt: skip


def dense(weight: Tensor, channels: tuple[int, int], columns: tuple[int, int]) -> Tensor:
    """The weights of a connection table as the weights of a full convolution."""
    full = weight.new_zeros(*channels, *weight.shape[1:])
    first, second = (TABLE[:, c].long() for c in columns)
    return full.index_put((first, second), weight)


def make(name: str) -> Any:
    torch.manual_seed(len(name))
    return LAYERS[name][0]().double()


def away_from_kinks(size: tuple[int, ...]) -> Tensor:
    """Different numbers whose distance from each other and from the kinks of the layers exceeds the step."""
    count = torch.Size(size).numel()
    values = (torch.arange(count, dtype=torch.float64) - count / 2 + 0.3) * (4.0 / count)
    values = values[((values.abs() - 0.5).abs() > 1e-3) & ((values.abs() - 1).abs() > 1e-3)]
    values = torch.cat([values, values.new_full((count - values.numel(),), 2.5)])
    return values[torch.randperm(count)].view(size)


def forward(layer: Any, x: Tensor) -> Tensor:
    torch.manual_seed(0)  # RReLU and the fractional pooling draw the same numbers
    return layer.forward(x)


def check_gradients(layer: Any, x: Tensor) -> None:
    """Compares gradInput, gradWeight and gradBias with central differences along random directions."""
    y = forward(layer, x).clone()
    g = torch.randn_like(y)
    layer.zeroGradParameters()
    for scale in (1, 0.5):  # gradients of parameters accumulate
        layer.backward(x, g, scale)
    parameters, grads = layer.parameters()
    tensors = [(x, layer.gradInput, 1.0), *((p, grad, 1.5) for p, grad in zip(parameters, grads))]
    grads_found = [(t, grad.clone(), factor) for t, grad, factor in tensors]
    for tensor, grad, factor in grads_found:
        assert grad.shape == tensor.shape
        direction, step = torch.randn_like(tensor), 1e-6
        before = tensor.clone()
        with torch.no_grad():
            high = (forward(layer, tensor.copy_(before + step * direction)) if tensor is x else
                    (tensor.copy_(before + step * direction), forward(layer, x))[1]).clone()  # fmt: skip
            tensor.copy_(before - step * direction)
            low = forward(layer, x).clone()
            tensor.copy_(before)
        numeric = ((high - low) * g).sum() / (2 * step)
        torch.testing.assert_close(factor * numeric, (grad * direction).sum(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    _, size, reference = LAYERS[name]
    layer = make(name)
    x = away_from_kinks(size)
    check_gradients(layer, x)
    if reference is not None:
        expected = reference(x, *layer.parameters()[0])
        torch.testing.assert_close(forward(layer, x), expected)
    output = forward(layer, x)
    assert output is layer.output


@pytest.mark.parametrize("name", LAYERS)
def test_outputs_are_resized_and_cleared(name: str) -> None:
    _, size, _ = LAYERS[name]
    layer, x = make(name), away_from_kinks(size)
    y = forward(layer, x).clone()
    g = torch.randn_like(y)
    layer.zeroGradParameters()
    grad = layer.backward(x, g).clone()
    for prepare in (
        layer.clearState,
        lambda: (layer.output.resize_(7, 1), layer.gradInput.resize_(2, 2, 2, 2, 2).fill_(float("nan"))),
        lambda: (layer.output.resize_(0), layer.gradInput.resize_(0, 3)),
        lambda: layer.type("torch.FloatTensor").type("torch.DoubleTensor"),  # indices, too
    ):
        prepare()
        torch.testing.assert_close(forward(layer, x), y, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(layer.backward(x, g), grad, rtol=1e-5, atol=1e-5)
    # Inputs and gradients with other strides.
    x, g = (t.transpose(-1, -2).contiguous().transpose(-1, -2) for t in (x, g))
    torch.testing.assert_close(forward(layer, x), y, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(layer.backward(x, g), grad, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_types(name: str) -> None:
    _, size, _ = LAYERS[name]
    layer, x = make(name), away_from_kinks(size)
    y = forward(layer, x).clone()
    g = torch.randn_like(y)
    grad = layer.backward(x, g).clone()
    assert layer.type() == "torch.DoubleTensor"
    # The backend of torch.FloatTensor, of every type, and of the type of the module.
    for backend in (None, type(x), "torch.FloatTensor"):
        layer.float()
        if backend is not None:
            layer._backend = torch._thnn.type2backend[backend]
        output = forward(layer, x.float())
        assert output.dtype is torch.float32
        tolerance = {"rtol": 1e-4, "atol": 1e-4, "check_dtype": False}
        torch.testing.assert_close(output, y, **tolerance)
        torch.testing.assert_close(layer.backward(x.float(), g.float()), grad, **tolerance)
        again = copy.deepcopy(layer)
        assert again._backend is layer._backend
        torch.testing.assert_close(forward(again, x.float()), output)
    with pytest.raises(TypeError, match=r"expected torch\.float32"):
        layer.forward(x)


IN_PLACE = ["HardTanh", "LeakyReLU", "Threshold", "ELU", "RReLU"]


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name: str) -> None:
    x = away_from_kinks((3, 4, 5))
    layer, other = make(name), make(name)
    if name == "RReLU":
        other.inplace = True
    else:
        other.arguments = (*other.arguments[:-1], True)
    y = forward(layer, x)
    memory = x.clone()
    result = forward(other, memory)
    torch.testing.assert_close(result, y)
    assert result.data_ptr() == memory.data_ptr()
    g = torch.randn_like(y)
    expected = layer.backward(x, g)
    memory_of_gradient = g.clone()
    grad = other.backward(memory, memory_of_gradient)
    assert grad.data_ptr() == memory_of_gradient.data_ptr()
    torch.testing.assert_close(grad, expected)


def test_sqrt() -> None:
    layer = nn.Plain("Sqrt", 0, saves=True).double()
    check_gradients(layer, away_from_kinks((3, 4)).abs() + 0.1)
    zero = torch.zeros(2).double()
    layer.forward(zero)
    assert torch.equal(layer.backward(zero, torch.ones(2).double()), zero)


def test_rrelu() -> None:
    x = -torch.ones(40, 50)
    layer = nn.RReLU(0.25, 0.5)
    y = layer.forward(x).clone()
    assert -0.5 <= y.min() < -0.45
    assert -0.3 < y.max() <= -0.25
    torch.testing.assert_close(layer.backward(x, torch.ones_like(x)), -y)
    assert not torch.equal(layer.forward(x), y)
    layer.evaluate()
    torch.testing.assert_close(layer.forward(x), x * 0.375)
    torch.testing.assert_close(layer.updateGradInput(x, x), x * 0.375)
    # The generator of 2017.
    output, noise = x.new(), x.new()
    layer._backend.RReLU_updateOutput(0, x, output, noise, 0, 1, True, False, torch.default_generator)
    torch.testing.assert_close(output, x * noise)


def test_batch_normalization_in_evaluation() -> None:
    torch.manual_seed(3)
    layer, x = nn.BatchNormalization(3).double(), away_from_kinks((4, 3, 5))
    for _ in range(20):
        layer.forward(x)
    layer.evaluate()
    check_gradients(layer, x)
    torch.testing.assert_close(
        layer.forward(x),
        F.batch_norm(x, layer.running_mean, layer.running_var, layer.weight, layer.bias),
    )
    grads = [layer.backward(x, x).clone(), layer.updateGradInput(x, x)]
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize(
    ("pooling", "unpooling", "size"),
    [
        (
            lambda: nn.MaxPooling("SpatialMaxPooling", 2, 2, 2, 2, 0, 0, False),
            lambda pool: nn.MaxUnpooling("SpatialMaxUnpooling", pool, 6, 4),
            (2, 3, 4, 6),
        ),
        (
            lambda: nn.MaxPooling("VolumetricMaxPooling", 2, 2, 2, 2, 2, 2, 0, 0, 0, False),
            lambda pool: nn.MaxUnpooling("VolumetricMaxUnpooling", pool, 2, 6, 4, 2, 2, 2, 0, 0, 0),
            (2, 3, 2, 4, 6),
        ),
    ],
)
def test_unpooling(pooling: Any, unpooling: Any, size: tuple[int, ...]) -> None:
    pool = pooling().double()
    unpool = unpooling(pool).double()
    x = away_from_kinks(size)
    y = pool.forward(x).clone()
    z = unpool.forward(y).clone()
    assert z.shape == x.shape
    torch.testing.assert_close(z.sum(), y.sum())
    assert torch.equal(z[z != 0], x[z != 0])
    check_gradients(unpool, y)
    unpool.type("torch.FloatTensor").type("torch.DoubleTensor")  # converts the pooling and its indices
    torch.testing.assert_close(unpool.forward(y), z)
