"""Legacy PyTorch code: calls of the function classes, and whole clients of ``type2backend``."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from leaves import leaf
from torch import Tensor

import thnn

pytestmark = pytest.mark.usefixtures("compat")
CLIENTS = Path(__file__).resolve().parent / "clients"


def client(name: str) -> Any:
    """A file of tests/compat/clients as a module."""
    spec = importlib.util.spec_from_file_location(f"clients_{name}", CLIENTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_calls_of_0_1() -> None:
    from torch.nn._functions.batchnorm import BatchNorm
    from torch.nn._functions.linear import Linear
    from torch.nn._functions.thnn import NLLLoss, Threshold
    from torch.nn._functions.thnn.auto import LeakyReLU, LogSoftmax, SpatialConvolutionMM

    x, w, b = leaf(2, 3, 6, 6), leaf(4, 3, 3, 3), leaf(4)
    y = SpatialConvolutionMM(3, 3, 1, 1, 0, 0)(x, w, b)
    torch.testing.assert_close(y, F.conv2d(x, w, b))
    torch.testing.assert_close(SpatialConvolutionMM(3, 3, 1, 1, 0, 0)(x, w), F.conv2d(x, w))
    torch.testing.assert_close(Threshold(0.1, 20)(y), F.threshold(y, 0.1, 20))
    torch.testing.assert_close(LeakyReLU(0.2, True)(y.clone()), F.leaky_relu(y, 0.2))
    mean, var = torch.zeros(4).double(), torch.ones(4).double()
    normalized = BatchNorm(mean, var, True, 0.1, 1e-5)(y, b, b)
    torch.testing.assert_close(normalized, F.batch_norm(y, None, None, b, b, True))
    assert mean.abs().sum() > 0
    scores = Linear()(leaf(5, 3), leaf(4, 3), b)
    torch.testing.assert_close(scores, F.linear(leaf(5, 3), leaf(4, 3), b))
    classes, weight = torch.arange(5) % 4, torch.rand(4).double()
    loss = NLLLoss(True, weight=weight)(LogSoftmax()(scores), classes)
    torch.testing.assert_close(loss, F.cross_entropy(scores, classes, weight))
    assert loss.grad_fn is not None
    assert type(loss.grad_fn).__name__ == "NLLLossBackward"


def test_calls_of_0_2() -> None:
    from torch.nn._functions.dropout import Dropout, FeatureDropout
    from torch.nn._functions.padding import ConstantPadNd
    from torch.nn._functions.thnn import auto

    x, target = leaf(4, 3), leaf(3, 4).detach().t()
    torch.testing.assert_close(auto.Threshold.apply(x, 0, 0, False), F.relu(x))
    torch.testing.assert_close(auto.Softmax.apply(x), F.softmax(x, 1))
    torch.testing.assert_close(auto.MSELoss.apply(x, target, False), F.mse_loss(x, target, reduction="sum"))
    torch.testing.assert_close(auto.BCELoss.apply(x.sigmoid(), target.sigmoid(), None, True).dim(), 0)
    torch.testing.assert_close(ConstantPadNd.apply(x, (1, 2), 3), F.pad(x, (1, 2), value=3))
    torch.testing.assert_close(ConstantPadNd((1, 2), 3)(x), F.pad(x, (1, 2), value=3))
    for dropout in (Dropout, FeatureDropout):
        torch.testing.assert_close(dropout.apply(x, 0.5), x)
        assert set(dropout.apply(torch.ones(50, 50), 0.5, True, True).unique().tolist()) == {0, 2}
    # Graph converters look classes up by node.
    handlers = {auto.ThresholdBackward: "relu", auto.SoftmaxBackward: "softmax"}
    assert handlers[type(auto.Threshold.apply(x, 0, 0, False).grad_fn)] == "relu"


def test_elements_of_tensors_are_numbers() -> None:
    """Indexing and reductions returned numbers until 0.3."""
    from torch._thnn import type2backend

    x, indices = torch.randn(2, 3, 6, 5), torch.LongTensor()
    sizes = torch.LongTensor([2, 3])
    for backend in (type2backend[type(x)], type2backend[x.type()]):
        y = x.new()
        backend.Threshold_updateOutput(0, x, y, x.min(), x.double().max(), sizes[0] == 3)
        torch.testing.assert_close(y, F.threshold(x, x.min().item(), x.max().item()))
        backend.SpatialAdaptiveMaxPooling_updateOutput(0, x, y, indices, sizes[0], sizes[1])
        torch.testing.assert_close(y, F.adaptive_max_pool2d(x, (3, 2)))
        with pytest.raises(TypeError, match="owidth: expected an integer, got a tensor"):
            backend.SpatialAdaptiveMaxPooling_updateOutput(0, x, y, indices, sizes[:1], 2)
        with pytest.raises(TypeError, match="owidth: expected an integer, got float"):
            backend.SpatialAdaptiveMaxPooling_updateOutput(0, x, y, indices, sizes[0].float(), 2)
        with pytest.raises(TypeError, match="threshold: expected a number, got a tensor"):
            backend.Threshold_updateOutput(0, x, y, torch.tensor(0.0, requires_grad=True), 0, False)
        with pytest.raises(TypeError, match="input: expected a tensor, got float"):
            backend.Threshold_updateOutput(0, 1.0, y, 0, 0, False)


def test_classes_are_differentiable() -> None:
    """The classes of torch.nn._functions are the classes of thnn under other names, with the same gradients."""
    from torch.nn._functions.thnn import auto

    x = leaf(3, 4)
    assert torch.autograd.gradcheck(auto.Softmax(), x)
    assert torch.autograd.gradgradcheck(auto.Softmax(), x)
    for old, new in ((auto.Tanh, thnn.TanhFunction), (auto.LogSoftmax, thnn.LogSoftMaxFunction)):
        (first,) = torch.autograd.grad(old.apply(x).square().sum(), x)
        (second,) = torch.autograd.grad(new.apply(x).square().sum(), x)
        assert torch.equal(first, second)


def test_fused_cells() -> None:
    from torch.nn._functions.thnn import rnnFusedPointwise as fused  # noqa: N813

    gates, state, bias = leaf(2, 12), leaf(2, 3), leaf(12)
    hidden = leaf(12, 2).detach().t().contiguous()
    for given in ((), (bias, bias)):
        i, f, g, o = (gates + hidden + sum(given)).chunk(4, 1)
        cell = f.sigmoid() * state + i.sigmoid() * g.tanh()
        output = fused.LSTMFused.apply(gates.clone(), hidden.clone(), state, *given)
        torch.testing.assert_close(output, (o.sigmoid() * cell.tanh(), cell))
    with pytest.raises(TypeError, match="got 6 arguments"):
        fused.GRUFused()(gates, hidden, state, None, None, None)


def test_roi_pooling() -> None:
    roi_pooling = client("roi_pooling").roi_pooling
    x = leaf(2, 3, 12, 12)
    rois = torch.tensor([[0.0, 1, 2, 9, 10], [1, 0, 0, 11, 11], [1, 3, 3, 5, 4]])

    def expected(x: Tensor) -> Tensor:
        corners = [(int(n), *map(int, corner)) for n, *corner in rois.tolist()]
        crops = [x[n : n + 1, :, y0 : y1 + 1, x0 : x1 + 1] for n, x0, y0, x1, y1 in corners]
        return torch.cat([F.adaptive_max_pool2d(crop, (2, 3)) for crop in crops])

    y = roi_pooling(x, rois, (3, 2))
    torch.testing.assert_close(y, expected(x))
    grad = torch.randn_like(y)
    (old,), (new,) = (torch.autograd.grad(f, x, grad) for f in (y, expected(x)))
    torch.testing.assert_close(old, new)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_densenet_in_shared_storages() -> None:
    block = client("inplace_densenet").DenseBlock(4, 3, 3, torch.DoubleStorage).double()
    x, estimates = leaf(2, 4, 5, 5), [norm.running_var.clone() for norm in block.norms]
    inputs = [x, *block.parameters()]
    for norm in block.norms:
        torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
    results = []
    for forward in (block.forward, block.plain_forward):
        for norm, before in zip(block.norms, estimates):
            norm.running_var.copy_(before)
        y = forward(x)
        grads = torch.autograd.grad(y.square().sum(), inputs)
        results.append((y, grads, [norm.running_var.clone() for norm in block.norms]))
    torch.testing.assert_close(*results)
    assert block.bn_storage.size() == 2 * 10 * 25


def test_densenet_that_computes_again() -> None:
    densenet = client("checkpoint_densenet")
    torch.manual_seed(1)
    block = densenet.DenseBlock(3, 2, 3, torch.DoubleTensor).double()
    x = leaf(2, 3, 5, 4)
    inputs = [x, *block.parameters()]
    results = []
    for plain in (False, True):
        for layer in block.layers:
            layer.running_mean.zero_()
            layer.running_var.fill_(1)
        y = block(x, plain)
        grads = torch.autograd.grad(y.square().sum(), inputs)
        results.append((y, grads, [layer.running_var.clone() for layer in block.layers]))
    torch.testing.assert_close(*results)
    with torch.no_grad():
        torch.testing.assert_close(block(x), results[1][0].detach())
    block.layers[0].norm_weight.requires_grad_(False)
    for layer in block.layers[1:]:
        layer.requires_grad_(False)
    block(x.detach()).sum().backward()
    assert block.layers[0].norm_weight.grad is None
    assert block.layers[0].conv_weight.grad is not None
    assert torch.autograd.gradcheck(lambda t: densenet.ReLU()(t * 1), leaf(3, 4))


def test_excitation_backpropagation_of_a_network() -> None:
    excitation = client("excitation_modules")
    torch.manual_seed(2)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(4, 5, 3, dilation=2, bias=False),
        torch.nn.ReLU(),
        torch.nn.AvgPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(5, 6),
    )
    image = torch.rand(2, 3, 6, 6, requires_grad=True)
    scores = model(image)
    with excitation.excitation_functions():
        torch.testing.assert_close(model(image), scores)
    prior = torch.zeros_like(scores)
    prior[:, 2] = 1
    probability = excitation.excitation_backprop(model, image, prior)
    assert probability.min() >= 0
    torch.testing.assert_close(probability.sum(dim=(1, 2, 3)), torch.ones(2))
    assert model(image).grad_fn.name() == scores.grad_fn.name()  # restored
    # Without the override the gradients are torch's.
    x, w, b = leaf(2, 3, 5, 6), leaf(4, 3, 3, 2), leaf(4)
    for dilation in ((1, 1), (1, 2)):
        settings = ((1, 2), (1, 0), dilation)
        y = excitation.ConvNd(*settings)(x, w, b)
        torch.testing.assert_close(y, F.conv2d(x, w, b, *settings))
        assert torch.autograd.gradcheck(excitation.ConvNd(*settings), (x, w, b), fast_mode=True)
    assert torch.autograd.gradcheck(excitation.ConvNd(*settings), (x, w), fast_mode=True)
    assert torch.autograd.gradcheck(excitation.ConvNd(*settings), (x.detach(), w, b), fast_mode=True)


def test_excitation_backpropagation() -> None:
    image = torch.rand(2, 3, 6, 6, requires_grad=True)
    parameters = torch.randn(4, 3, 3, 3), torch.randn(4), torch.randn(5, 36), torch.randn(5)
    probability, scores = client("excitation").excitation(image, parameters, 2)
    y = F.avg_pool2d(F.relu(F.conv2d(image, parameters[0], parameters[1], padding=1)), 2)
    torch.testing.assert_close(scores, F.linear(y.flatten(1), *parameters[2:]))
    assert probability.min() >= 0
    # relu passes all probability on, since probability reaches only positive outputs.
    torch.testing.assert_close(probability.sum(dim=(1, 2, 3)), torch.ones(2))


def test_pixel_adaptive_convolution() -> None:
    convolve = client("pixel_adaptive").PacConv2d.apply
    x, weight, bias = leaf(2, 3, 5, 6), leaf(4, 3, 3, 3), leaf(4)
    kernel = leaf(2, 9, 5, 6)
    assert torch.autograd.gradcheck(lambda *t: convolve(*t, 1), (x, kernel, weight, bias))
    torch.testing.assert_close(
        convolve(x, torch.ones_like(kernel), weight, bias, 1), F.conv2d(x, weight, bias, padding=1)
    )
    for position in range(3):  # saves what the others need
        inputs = [t if i == position else t.detach() for i, t in enumerate((x, kernel, weight))]
        assert torch.autograd.gradcheck(lambda *t: convolve(*t, None, 1), inputs, fast_mode=True)
    y = convolve(x, kernel, weight, bias, 1)
    (grad,) = torch.autograd.grad(
        y.sum(), x, torch.ones((), dtype=y.dtype).requires_grad_(), create_graph=True
    )
    with pytest.raises(RuntimeError, match="differentiate twice"):
        grad.sum().backward()


def test_pixel_adaptive_kernel() -> None:
    """The gradient of Gaussian kernels w.r.t. the features that they compare."""
    gauss = client("pixel_adaptive").GaussKernel2d.apply
    x = leaf(2, 3, 5, 4)

    def expected(x: Tensor) -> Tensor:
        columns = F.unfold(x, 3, padding=1).view(2, 3, 9, 5, 4)
        return torch.exp(-0.5 * (columns - columns[:, :, 4:5]).square().sum(1))

    torch.testing.assert_close(gauss(x, 3, 1), expected(x))
    grad = torch.randn(2, 9, 5, 4, dtype=torch.float64)
    torch.testing.assert_close(
        torch.autograd.grad(gauss(x, 3, 1), x, grad), torch.autograd.grad(expected(x), x, grad)
    )


_POINTWISE = {
    "ELU": (1.0, False),
    "HardShrink": (0.5,),
    "HardTanh": (-1.0, 1.0, False),
    "LeakyReLU": (0.1, False),
    "RReLU": (0.1, 0.3, False, False),
    "SoftPlus": (1.0, 20.0),
    "SoftShrink": (0.5,),
    "Threshold": (0.0, 0.0, False),
}


@pytest.mark.parametrize("name", _POINTWISE)
def test_raw_calls_compare_the_numbers_of_elements_of_gradients(name: str) -> None:
    """As the original did: torch.legacy.nn passes gradients of another shape."""
    settings = _POINTWISE[name]
    x, g = torch.randn(2, 3, 1, 4, 4), torch.randn(2, 3, 4, 4)
    backend = thnn.type2backend[x.type()]
    function = getattr(backend, f"{name}_updateGradInput")
    saved = {"ELU": F.elu(x), "SoftPlus": F.softplus(x), "RReLU": torch.ones_like(x)}
    others = ([saved[name]] if name in saved else []) + list(settings)
    found, expected = torch.empty(0), torch.empty(0)
    for gradOutput, gradInput in ((g, found), (g.reshape(x.shape), expected)):
        function(0, x, gradOutput, gradInput, *others)
    assert found.shape == x.shape
    assert torch.equal(found, expected)
    with pytest.raises(ValueError, match=f"{name}_updateGradInput: gradOutput: expected as many elements"):
        function(0, x, g[:, :2], found, *others)


def test_raw_calls_take_a_row_of_gradients_per_index_in_any_dimensions() -> None:
    index, g = torch.tensor([2, 0, 2, 1]), torch.randn(1, 4, 3)
    backend = thnn.type2backend[g.type()]
    found, expected = torch.zeros(3, 3), torch.zeros(3, 3)
    for gradOutput, gradWeight in ((g, found), (g[0], expected)):
        backend.LookupTable_accGradParameters(
            0, index, gradOutput, gradWeight, torch.IntTensor(), None, None, False, -1, 1
        )
    assert torch.equal(found, expected)
    with pytest.raises(ValueError, match="gradOutput: expected a row of 3 values for each index"):
        backend.LookupTable_accGradParameters(
            0, index, g.reshape(3, 4), found, torch.IntTensor(), None, None, False, -1, 1
        )
