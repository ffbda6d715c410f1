"""The classes of torch.nn._functions that were written by hand, and the arguments of PyTorch 0.3."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from leaves import leaf
from torch import Tensor, nn

import thnn

pytestmark = pytest.mark.usefixtures("compat")

_POOLS = "AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool1d AdaptiveMaxPool2d"
_POOLS += " FractionalMaxPool2d MaxPool1d MaxPool2d MaxPool3d MaxUnpool2d MaxUnpool3d"
_CELLS = "GRUCell LSTMCell RNN RNNReLUCell RNNTanhCell"
_LOSSES = "CosineEmbeddingLoss HingeEmbeddingLoss MarginRankingLoss"
_REGISTERED = f"Bilinear ConvNd Dropout Dropout2d Dropout3d {_CELLS} {_LOSSES}"

#: Release -> module below torch.nn._functions, or 'backend' -> the names written by hand that programs imported.
RELEASES = {
    "0.1.12": {
        "activation": "Softsign",
        "conv": "ConvNd",
        "dropout": "Dropout FeatureDropout",
        "linear": "Linear Bilinear",
        "loss": _LOSSES,
        "padding": "ConstantPad2d",
        "rnn": f"{_CELLS} AutogradRNN CudnnRNN Recurrent StackedRNN VariableRecurrent variable_recurrent_factory",
        "thnn.activation": "PReLU RReLU Softmin",
        "thnn.auto": "Threshold _BCELoss",
        "thnn.loss": "BCELoss",
        "thnn.normalization": "CrossMapLRN2d",
        "thnn.pooling": _POOLS,
        "thnn.rnnFusedPointwise": "GRUFused LSTMFused",
        "thnn.sparse": "Embedding",
        "thnn.upsampling": "UpsamplingBilinear2d UpsamplingNearest2d",
        "backend": f"{_REGISTERED} Linear {_POOLS} Embedding CrossMapLRN2d PReLU Softmin BCELoss NLLLoss",
    },
    "0.2.0": {
        "linear": "Linear Bilinear",
        "packing": "PackPadded",
        "padding": "ConstantPadNd",
        "thnn": f"{_POOLS} Embedding EmbeddingBag CrossMapLRN2d SELU",
        "thnn.activation": "PReLU RReLU SELU Softmin",
        "thnn.batchnorm_double_backwards": "batchnorm_double_backwards_fn",
        "thnn.sparse": "Embedding EmbeddingBag",
        "thnn.upsampling": "UpsamplingNearest3d UpsamplingTrilinear3d",
        "vision": "AffineGridGenerator GridSampler affine_grid_generator grid_sampler",
        "backend": f"{_REGISTERED} {_POOLS} EmbeddingBag",
    },
    "0.3.1": {
        "thnn.pooling": f"{_POOLS} AdaptiveAvgPool3d AdaptiveMaxPool3d",
        "backend": f"{_REGISTERED} AdaptiveAvgPool3d AdaptiveMaxPool3d",
    },
    "0.4.1": {"thnn.fold": "Col2Im Im2Col"},
}


@pytest.mark.parametrize("release", RELEASES)
def test_names_of_a_release(release: str) -> None:
    for module, names in RELEASES[release].items():
        is_backend = module == "backend"
        path = "torch.nn.backends.thnn" if is_backend else f"torch.nn._functions.{module}"
        place = importlib.import_module(path)
        for name in names.split():
            assert callable(getattr(place.backend if is_backend else place, name))


def test_names_until_0_1_5() -> None:
    from torch.nn.backends.thnn import backend
    from torch.nn.functions.linear import LinearFunction
    from torch.nn.functions.thnn import MSECriterionFunction, TanhFunction, _generated_functions
    from torch.nn.functions.thnn.auto import Threshold
    from torch.nn.functions.thnn.batchnorm import BatchNorm

    assert TanhFunction is thnn.TanhFunction
    assert LinearFunction is thnn.LinearFunction
    assert {TanhFunction, LinearFunction} <= {*_generated_functions}
    assert Threshold is written("thnn.auto").Threshold
    assert BatchNorm is written("batchnorm").BatchNorm
    x, y = leaf(2, 3, 4, 5), torch.randn(2, 3, 4, 5, dtype=torch.float64)
    for criterion in (MSECriterionFunction, backend.MSECriterion):
        torch.testing.assert_close(criterion(y, True)(x), F.mse_loss(x, y)[None])
    weight = leaf(6, 3, 3, 3)
    torch.testing.assert_close(
        backend.Conv2d(3, 3, 1, 1, 1, 1)(x, weight, None), F.conv2d(x, weight, padding=1)
    )
    torch.testing.assert_close(backend.MaxPooling2d(2, 2, 2, 2, 0, 0, False)(x), F.max_pool2d(x, 2))


def written(module: str) -> Any:
    return importlib.import_module(f"torch.nn._functions.{module}")


def test_pooling() -> None:
    pooling = written("thnn.pooling")
    x, image, volume = leaf(2, 3, 9), leaf(2, 3, 6, 7), leaf(2, 3, 4, 6, 6)
    for dims, input in ((1, x), (2, image), (3, volume)):
        pool: Any = getattr(pooling, f"MaxPool{dims}d")
        expected: Any = getattr(F, f"max_pool{dims}d")(input, 3, 2, 1, 1, True, True)
        for found in (
            pool.apply(input, 3, 2, 1, 1, True),
            pool(3, 2, 1, 1, True, True)(input),
            pool(3, stride=2, padding=1, return_indices=True, ceil_mode=True)(input),
        ):
            torch.testing.assert_close(found, expected)
        torch.testing.assert_close(pool(2)(input), expected=getattr(F, f"max_pool{dims}d")(input, 2))
        adaptive = getattr(F, f"adaptive_max_pool{dims}d")(input, 2, True)
        torch.testing.assert_close(getattr(pooling, f"AdaptiveMaxPool{dims}d").apply(input, 2), adaptive)
        torch.testing.assert_close(getattr(pooling, f"AdaptiveMaxPool{dims}d")(2)(input), adaptive[0])
        mean = getattr(F, f"adaptive_avg_pool{dims}d")(input, 3)
        torch.testing.assert_close(getattr(pooling, f"AdaptiveAvgPool{dims}d")(3)(input), mean)
        if dims > 1:
            mean = getattr(F, f"avg_pool{dims}d")(input, 3, 2, 1, True, False)
            torch.testing.assert_close(getattr(pooling, f"AvgPool{dims}d")(3, 2, 1, True, False)(input), mean)
            torch.testing.assert_close(
                getattr(pooling, f"AvgPool{dims}d").apply(input, 3, 2, 1, True, False), mean
            )
            pooled, indices = pool.apply(input, 2)
            size = tuple(input.shape[2:])
            expected = getattr(F, f"max_unpool{dims}d")(pooled, indices, 2, output_size=size)
            torch.testing.assert_close(
                getattr(pooling, f"MaxUnpool{dims}d").apply(pooled, indices, size), expected
            )
    samples = torch.rand(2, 3, 2, dtype=torch.float64)
    expected = F.fractional_max_pool2d(image, 2, (3, 4), None, True, samples)
    for found in (
        pooling.FractionalMaxPool2d.apply(image, 2, 2, (3, 4), None, samples),
        pooling.FractionalMaxPool2d(2, 2, (3, 4), None, True, samples)(image),
    ):
        torch.testing.assert_close(found, expected)
    function = pickle.loads(pickle.dumps(pooling.MaxPool2d(2)))
    assert torch.autograd.gradcheck(function, image)
    with pytest.raises(
        TypeError, match=r"MaxPool2d: kernal_size is unknown; expected one of \('kernel_size'"
    ):
        pooling.MaxPool2d(kernal_size=2)
    with pytest.raises(TypeError, match="MaxPool2d: kernel_size was given twice"):
        pooling.MaxPool2d(2, kernel_size=2)
    with pytest.raises(TypeError, match="AdaptiveAvgPool2d: expected at most 1 settings"):
        pooling.AdaptiveAvgPool2d(2, 2)


def test_embeddings() -> None:
    sparse = written("thnn.sparse")
    indices, weight = torch.tensor([[1, 0, 2], [4, 1, 1]]), leaf(5, 3)
    expected = F.embedding(indices, weight)
    torch.testing.assert_close(sparse.Embedding.apply(indices, weight, -1, None, 2, False, False), expected)
    torch.testing.assert_close(sparse.Embedding(-1, None, 2, False)(indices, weight), expected)
    (grad,) = torch.autograd.grad(sparse.Embedding.apply(indices, weight, -1, None, 2, False).sum(), weight)
    assert grad[4].eq(1).all()
    (grad,) = torch.autograd.grad(sparse.Embedding.apply(indices, weight, 4, None, 2, False).sum(), weight)
    assert grad[4].abs().sum() == 0
    assert grad[1].eq(3).all()
    offsets = torch.tensor([0, 2])
    expected = F.embedding_bag(indices[0], weight, offsets, mode="sum")
    for found in (
        sparse.EmbeddingBag.apply(weight, indices[0], offsets, None, 2, False, "sum"),
        sparse.EmbeddingBag(None, 2, False, "sum")(weight, indices[0], offsets),
    ):
        torch.testing.assert_close(found, expected)


def test_images() -> None:
    upsampling, vision, fold = written("thnn.upsampling"), written("vision"), written("thnn.fold")
    image, volume = leaf(2, 3, 4, 5), leaf(2, 3, 3, 4, 5)
    torch.testing.assert_close(
        upsampling.UpsamplingNearest2d.apply(image, None, 2), F.interpolate(image, scale_factor=2)
    )
    torch.testing.assert_close(
        upsampling.UpsamplingNearest3d(scale_factor=2)(volume), F.interpolate(volume, scale_factor=2)
    )
    expected = F.interpolate(image, (7, 9), mode="bilinear", align_corners=True)
    torch.testing.assert_close(upsampling.UpsamplingBilinear2d((7, 9))(image), expected)
    expected = F.interpolate(volume, scale_factor=2, mode="trilinear", align_corners=True)
    torch.testing.assert_close(upsampling.UpsamplingTrilinear3d.apply(volume, None, 2), expected)
    theta = leaf(2, 2, 3)
    grid = F.affine_grid(theta, [2, 3, 4, 5], True)
    for found in (
        vision.affine_grid_generator(theta, torch.Size([2, 3, 4, 5])),
        vision.AffineGridGenerator([2, 3, 4, 5])(theta),
    ):
        torch.testing.assert_close(found, grid)
    expected = F.grid_sample(image, grid, align_corners=True)
    torch.testing.assert_close(vision.GridSampler.apply(image, grid), expected)
    expected = F.grid_sample(image, grid, padding_mode="border", align_corners=True)
    torch.testing.assert_close(vision.grid_sampler(image, grid, "border"), expected)
    columns = fold.Im2Col.apply(image, (2, 3), (1, 1), (1, 0), (1, 2))
    torch.testing.assert_close(columns, F.unfold(image, (2, 3), 1, (1, 0), (1, 2)))
    expected = F.fold(columns, (4, 5), (2, 3), 1, (1, 0), (1, 2))
    torch.testing.assert_close(fold.Col2Im.apply(columns, (4, 5), (2, 3), (1, 1), (1, 0), (1, 2)), expected)


def test_convolution_and_products() -> None:
    conv, linear = written("conv").ConvNd, written("linear")
    x, w, b = leaf(2, 4, 6, 5), leaf(6, 2, 3, 3), leaf(6)
    settings = ([2, 1], [1, 1], [1, 1], False, [0, 0], 2)
    torch.testing.assert_close(conv(*settings)(x, w), F.conv2d(x, w, None, *settings[:3], 2))
    torch.testing.assert_close(conv.apply(x, w, b, *settings, False), F.conv2d(x, w, b, *settings[:3], 2))
    w = leaf(4, 3, 3, 3)
    settings = ([2, 2], [1, 1], [1, 1], True, [1, 1], 1)
    expected = F.conv_transpose2d(x, w, None, 2, 1, 1)
    torch.testing.assert_close(conv(*settings)(x, w, None), expected)
    first, second, weight = leaf(5, 2), leaf(5, 3), leaf(4, 2, 3)
    torch.testing.assert_close(linear.Bilinear()(first, second, weight), F.bilinear(first, second, weight))
    bias = leaf(4)
    expected = F.bilinear(first, second, weight, bias)
    torch.testing.assert_close(linear.Bilinear.apply(first, second, weight, bias), expected)


def test_losses_and_activations() -> None:
    loss, activation = written("loss"), written("thnn.activation")
    a, b, y = leaf(4, 3), leaf(4, 3), torch.tensor([1.0, -1, 1, -1]).double()
    torch.testing.assert_close(
        loss.CosineEmbeddingLoss(0.2, False)(a, b, y), F.cosine_embedding_loss(a, b, y, 0.2, reduction="sum")
    )
    sign = torch.ones(4, 3).double()
    torch.testing.assert_close(
        loss.HingeEmbeddingLoss.apply(a, -sign, 2, True), F.hinge_embedding_loss(a, -sign, 2)
    )
    torch.testing.assert_close(
        loss.MarginRankingLoss(margin=0.5)(a, b, sign), F.margin_ranking_loss(a, b, sign, 0.5)
    )
    with pytest.raises(TypeError, match="margin"):
        loss.MarginRankingLoss()(a, b, sign)
    torch.testing.assert_close(activation.Softmin()(a), F.softmin(a, 1))
    torch.testing.assert_close(activation.Softmin.apply(a, 0), F.softmin(a, 0))
    torch.testing.assert_close(activation.SELU.apply(a, False), F.selu(a))
    torch.testing.assert_close(written("activation").Softsign.apply(a), F.softsign(a))
    image = leaf(2, 5, 3, 3)
    lrn = written("thnn.normalization").CrossMapLRN2d
    torch.testing.assert_close(lrn(3, 1e-2, 0.5, 2)(image), F.local_response_norm(image, 3, 1e-2, 0.5, 2))


def test_recurrent_functions() -> None:
    rnn = written("rnn")
    lstm = nn.LSTM(3, 4, num_layers=2, bidirectional=True).double()
    x, hidden = leaf(5, 2, 3), (leaf(4, 2, 4).detach(), leaf(4, 2, 4).detach())
    with torch.no_grad():
        expected, last = lstm(x, hidden)
        inners = [rnn.Recurrent(rnn.LSTMCell), rnn.Recurrent(rnn.LSTMCell, reverse=True)]
        found_last, found = rnn.StackedRNN(inners, 2, lstm=True)(x, hidden, lstm.all_weights)
        torch.testing.assert_close((found, found_last), (expected, last))
        found, found_last = rnn.RNN("LSTM", 3, 4, 2, bidirectional=True)(x, lstm.all_weights, hidden)
        torch.testing.assert_close((found, found_last), (expected, last))
        # A program chooses cuDNN by the device; torch chooses it by itself.
        found, found_last = rnn.CudnnRNN(
            "LSTM", 3, 4, num_layers=2, train=False, bidirectional=True, dropout_state={}, flat_weight=None
        )(x, lstm.all_weights, hidden)
        torch.testing.assert_close((found, found_last), (expected, last))
    with pytest.raises(ValueError, match="StackedRNN: weight: expected 4 lists of weights, got 3"):
        rnn.StackedRNN(inners, 2, lstm=True)(x, hidden, lstm.all_weights[:3])
    with pytest.raises(ValueError, match="RNN: mode: expected one of"):
        rnn.AutogradRNN("QRNN", 3, 4)
    # Packed sequences, whose cells run by `variable_recurrent_factory`.
    x = leaf(5, 3, 3)
    data, sizes = written("packing").PackPadded.apply(x, [5, 3, 2], False)
    for mode, module in (("GRU", nn.GRU), ("RNN_RELU", nn.RNN), ("RNN_TANH", nn.RNN)):
        settings = {} if mode == "GRU" else {"nonlinearity": mode[4:].lower()}
        network = module(3, 4, bidirectional=True, **settings).double()
        state = leaf(2, 3, 4).detach()
        packed = nn.utils.rnn.PackedSequence(data, sizes)
        with torch.no_grad():
            expected, last = network(packed, state)
            cell = {"GRU": rnn.GRUCell, "RNN_RELU": rnn.RNNReLUCell, "RNN_TANH": rnn.RNNTanhCell}[mode]
            factory = rnn.variable_recurrent_factory(sizes.tolist())
            stacked = rnn.StackedRNN([factory(cell), factory(cell, reverse=True)], 1)
            found_last, found = stacked(data, state, network.all_weights)
            torch.testing.assert_close((found, found_last), (expected.data, last))
            run = rnn.RNN(mode, 3, 4, bidirectional=True, batch_sizes=sizes.tolist())
            torch.testing.assert_close(run(data, network.all_weights, state), (expected.data, last))
    data, sizes = written("packing").PackPadded.apply(x, [5, 3, 2])
    lstm = nn.LSTM(3, 4).double()
    state = (leaf(1, 3, 4).detach(), leaf(1, 3, 4).detach())
    expected, last = lstm(nn.utils.rnn.PackedSequence(data, sizes), state)
    run = rnn.StackedRNN([rnn.VariableRecurrent(sizes, rnn.LSTMCell)], 1, lstm=True)
    torch.testing.assert_close(run(data, state, lstm.all_weights), (last, expected.data))


def test_second_derivative_of_batch_normalization() -> None:
    second = written("thnn.batchnorm_double_backwards").batchnorm_double_backwards_fn
    x, weight, grad = leaf(4, 3, 2), leaf(3), leaf(4, 3, 2)
    mean, variance = torch.randn(3).double(), torch.rand(3).double() + 0.5
    directions = [torch.randn_like(t) for t in (x, weight, weight)]
    for training in (True, False):
        bias = torch.zeros_like(weight, requires_grad=True)
        y = F.batch_norm(x, *(None, None) if training else (mean, variance), weight, bias, training, 0, 1e-3)
        first = torch.autograd.grad(y, (x, weight, bias), grad, create_graph=True)
        expected = torch.autograd.grad(first, (x, weight, grad), directions)
        found = second(x, weight, *directions, grad, 1e-3, None, None, mean, variance, training)
        torch.testing.assert_close(found, expected)
    found = second(x, None, directions[0], None, None, grad, 1e-3, None, None, mean, variance, False)
    assert found[1] is None
    assert not any(second(x, weight, None, None, None, grad, 1e-3, None, None, None, None, True)[0].flatten())


def _pairs() -> tuple[Tensor, Tensor]:
    return torch.rand(3, 4), torch.rand(3, 4)


def _signs() -> tuple[Tensor, Tensor]:
    return torch.randn(3, 4), torch.randn(3, 4).sign()


def _classes() -> tuple[Tensor, Tensor]:
    return F.log_softmax(torch.randn(3, 4), 1), torch.tensor([0, 3, 2])


#: Class -> inputs, keywords, positional settings of 0.3 between the tensors and `reduce`, torch's loss.
CRITERIA: dict[str, tuple[Any, dict[str, Any], tuple[Any, ...], Any]] = {
    "L1Loss": (_pairs, {}, (True,), F.l1_loss),
    "MSELoss": (_pairs, {}, (True,), F.mse_loss),
    "SmoothL1Loss": (_pairs, {}, (True,), F.smooth_l1_loss),
    "KLDivLoss": (_pairs, {}, (True,), F.kl_div),
    "SoftMarginLoss": (_signs, {}, (True,), F.soft_margin_loss),
    "BCELoss": (_pairs, {"weight": torch.rand(3, 4)}, (True,), F.binary_cross_entropy),
    "NLLLoss": (_classes, {"weight": torch.rand(4)}, (True, -100), F.nll_loss),
    "MultiMarginLoss": (_classes, {"weight": torch.rand(4)}, (True, 1, 0.5), F.multi_margin_loss),
}


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides:UserWarning")
def test_reduce_and_size_average(name: str) -> None:
    cls = getattr(written("thnn.auto"), name)
    make, weights, settings, loss = CRITERIA[name]
    input, target = make()
    others = {"p": settings[1], "margin": settings[2]} if name == "MultiMarginLoss" else {}
    single = loss(input, target, **weights, **others, reduction="none")
    positional = (input, target, *weights.values(), *settings)
    by_object = cls(*settings, False, **weights)
    for found in (
        cls.apply(*positional, False),
        cls.apply(*positional, reduce=False),
        by_object(input, target),
        pickle.loads(pickle.dumps(by_object))(input, target),
    ):
        torch.testing.assert_close(found, single)
    mean = loss(input, target, **weights, **others)
    torch.testing.assert_close(cls.apply(*positional, True), mean)
    torch.testing.assert_close(cls(*settings, reduce=True)(input, target, *weights.values()), mean)
    total = loss(input, target, **weights, **others, reduction="sum")
    torch.testing.assert_close(cls.apply(input, target, **weights, **others, size_average=False), total)
    torch.testing.assert_close(cls(size_average=False, **weights, **others)(input, target), total)
    with pytest.raises(TypeError, match="reduce was given twice"):
        cls.apply(*positional, True, reduce=True)


def test_dim() -> None:
    auto = written("thnn.auto")
    x = leaf(2, 3, 4)
    for cls, function in ((auto.Softmax, F.softmax), (auto.LogSoftmax, F.log_softmax)):
        for dim in (0, 1, -1):
            for found in (cls.apply(x, dim), cls.apply(x, dim=dim), cls(dim)(x), cls(dim=dim)(x)):
                torch.testing.assert_close(found, function(x, dim))
        torch.testing.assert_close(cls()(x), function(x, 0))
    assert type(auto.Softmax.apply(x[0], 1).grad_fn) is auto.SoftmaxBackward
    assert torch.autograd.gradgradcheck(lambda t: auto.Softmax.apply(t, 1), x)
    with pytest.raises(TypeError, match=r"Softmax: 2 arguments too many; takes \(input\)$"):
        auto.Softmax.apply(x, 1, 2)
    margin = auto.MarginCriterion
    with pytest.raises(NotImplementedError, match="MarginCriterion: reduce: expected True, got False"):
        margin.apply(x, x.sign().detach(), reduce=False)


def test_attributes_of_torch() -> None:
    from torch.nn.backends.thnn import backend

    layer = nn.Tanh()
    assert layer._backend is nn.Module._backend is backend
    layer._backend = None
    assert layer._backend is None
    assert "_backend" not in vars(nn.Linear(1, 1))
    x = torch.randn(1, 2, 4, 4)
    output, indices = F._functions.thnn.MaxPool2d.apply(x, 2, 2, 0, 1, False)
    torch.testing.assert_close((output, indices), F.max_pool2d(x, 2, return_indices=True))
    torch.testing.assert_close(backend.MaxPool2d(2)(x), output)
    thnn.compat.__exit__(None, None, None)
    try:
        assert not hasattr(F, "_functions")
        assert not hasattr(layer.__class__, "_backend")
    finally:
        thnn.compat.__enter__()
