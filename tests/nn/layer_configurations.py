"""Configurations of layers, their inputs and their results, for the comparison with torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

import thnn.nn

Draw = Callable[..., Any]

# True if torch broadcasts each dimension of the variance of GaussianNLLLoss, False if only the last.
_BROADCASTS = tuple(int(n) for n in torch.__version__.split(".")[:2]) >= (2, 11)


@dataclass
class Configuration:
    """The arguments of a layer, the arguments of a call, and which of these may require a gradient."""

    arguments: tuple[Any, ...] = ()
    keywords: dict[str, Any] = None  # type: ignore[assignment]
    inputs: tuple[Any, ...] = ()
    differentiable: tuple[int, ...] = (0,)
    training: bool = True

    def __post_init__(self) -> None:
        self.keywords = self.keywords or {}


def distinct(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Numbers from -2 to 2 in random order, no two of which are equal, so that each window has one maximum."""
    count = torch.Size(shape).numel()
    return (torch.randperm(count).reshape(shape) * 4.0 / max(count, 1) - 1.9837).to(dtype)


def _layout(x: Tensor, channels_last: bool) -> Tensor:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return x.contiguous(memory_format=formats[x.dim()]) if channels_last and x.dim() in formats else x


@st.composite
def _image(draw: Draw, dims: int, low: int, high: int, *, batchless: bool = True) -> Tensor:
    sizes = tuple(draw(st.integers(low, high)) for _ in range(dims))
    batch = draw(st.sampled_from([(), (1,), (2,)] if batchless else [(1,), (2,)]))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    x = distinct((*batch, draw(st.integers(1, 4)), *sizes), dtype)
    return _layout(x, draw(st.booleans()) and batch != ())


@st.composite
def _any_shape(draw: Draw, low: int = 0, high: int = 4) -> Tensor:
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=low, max_size=high)))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    return _layout(distinct(shape, dtype), draw(st.booleans()))


def _number(low: float, high: float) -> Any:
    return st.floats(low, high, allow_nan=False)


# Activations

_SETTINGS: dict[str, dict[str, Any]] = {
    "Threshold": {"threshold": _number(-1, 1), "value": _number(-3, 3)},
    "ReLU": {},
    "ReLU6": {},
    "LeakyReLU": {"negative_slope": _number(0.01, 2)},
    "ELU": {"alpha": _number(-1, 2)},
    "CELU": {
        "alpha": st.sampled_from([0.25, 0.5, 1, 2])
    },  # torch rounds 1 / alpha to float32 in float64, too
    "SELU": {},
    "GELU": {"approximate": st.sampled_from(["none", "tanh"])},
    "SiLU": {},
    "Mish": {},
    "Hardswish": {},
    "Hardsigmoid": {},
    "Softsign": {},
    "Tanhshrink": {},
    "Hardtanh": {"min_val": _number(-2, 0), "max_val": _number(0.25, 2)},
    "Hardshrink": {"lambd": _number(0, 1)},
    "Softshrink": {"lambd": _number(0, 1)},
    "LogSigmoid": {},
    "Softplus": {"beta": _number(0.5, 2), "threshold": st.just(20)},
    "Sigmoid": {},
    "Tanh": {},
    "RReLU": {"lower": _number(0.1, 0.2), "upper": _number(0.3, 0.4)},
}
_IN_PLACE = (
    *("Threshold", "ReLU", "ReLU6", "LeakyReLU", "ELU", "Hardtanh", "RReLU"),
    *("CELU", "SELU", "SiLU", "Mish", "Hardswish", "Hardsigmoid"),
)


@st.composite
def _activation(draw: Draw, name: str) -> Configuration:
    keywords = {n: draw(strategy) for n, strategy in _SETTINGS[name].items()}
    x = draw(_any_shape())
    if name == "Hardsigmoid":  # torch rounds 1 / 6 to float32 in float64, too
        x = x.float()
    return Configuration(keywords=keywords, inputs=(x,), training=name != "RReLU")


@st.composite
def _prelu(draw: Draw, name: str) -> Configuration:
    x = draw(_any_shape(2))
    count = draw(st.sampled_from([1, x.shape[1]]))
    return Configuration((count, draw(_number(-1, 1))), {"dtype": x.dtype}, (x,))


@st.composite
def _glu(draw: Draw, name: str) -> Configuration:
    x = draw(_any_shape(1))
    dim = draw(st.integers(-x.dim(), x.dim() - 1))
    return Configuration((dim,), inputs=(torch.cat([x, x.flip(0).roll(1) + 0.1], dim),))


@st.composite
def _along_dim(draw: Draw, name: str) -> Configuration:
    x = draw(_any_shape(1, 5))
    return Configuration((draw(st.integers(-x.dim(), x.dim() - 1)),), inputs=(x,))


@st.composite
def _softmax2d(draw: Draw, name: str) -> Configuration:
    return Configuration(inputs=(draw(_image(2, 1, 5)),))


# Pooling


@st.composite
def _window(draw: Draw, name: str) -> Configuration:
    dims = int(name[-2])
    x = draw(_image(dims, 4, 7 if dims < 3 else 5))
    axis = st.integers
    kernel = tuple(draw(axis(1, 3)) for _ in range(dims))
    keywords: dict[str, Any] = {
        "stride": draw(st.one_of(st.none(), st.just(tuple(draw(axis(1, 3)) for _ in range(dims))))),
        "ceil_mode": draw(st.booleans()),
    }
    if not name.startswith("LP"):
        keywords["padding"] = tuple(draw(axis(0, k // 2)) for k in kernel)
    if name.startswith("Max"):
        keywords["dilation"] = draw(axis(1, 2)) if all(k < 3 for k in kernel) else 1
        keywords["return_indices"] = draw(st.booleans())
    elif name.startswith("Avg"):
        keywords["count_include_pad"] = draw(st.booleans())
        if dims > 1:
            keywords["divisor_override"] = draw(st.sampled_from([None, None, 3]))
    if dims == 1 and draw(st.booleans()):
        return Configuration((kernel[0],), keywords, (x,))
    return Configuration((kernel,), keywords, (x,))


# Torch 2.11 and earlier raise the sum of infinite powers to the power of 0.
_is_maximum = nn.functional.lp_pool1d(torch.full((1, 1), 2.0), math.inf, 1) == 2
INFINITE_NORMS = [math.inf, -math.inf] if _is_maximum else []


@st.composite
def _lp(draw: Draw, name: str) -> Configuration:
    found = draw(_window(name))
    norm = draw(st.sampled_from([1, 2, 3.0, 1.5, *INFINITE_NORMS]))
    x = found.inputs[0].abs() + 0.1
    (kernel,) = found.arguments
    if name == "LPPool1d" and not isinstance(kernel, int):
        (kernel,) = kernel
    return Configuration((norm, kernel), found.keywords, (x,))


@st.composite
def _adaptive(draw: Draw, name: str) -> Configuration:
    dims = int(name[-2])
    x = draw(_image(dims, 1, 9 if dims < 3 else 5))
    if dims == 1:
        return Configuration((draw(st.integers(1, 6)),), inputs=(x,))
    sizes = tuple(draw(st.one_of(st.none(), st.integers(1, 6))) for _ in range(dims))
    keywords = {"return_indices": draw(st.booleans())} if "Max" in name else {}
    return Configuration((draw(st.sampled_from([sizes, 3])),), keywords, (x,))


@st.composite
def _fractional(draw: Draw, name: str) -> Configuration:
    dims = int(name[-2])
    x = draw(_image(dims, 6, 9))
    kernel = tuple(draw(st.integers(1, 3)) for _ in range(dims))
    keywords: dict[str, Any] = {"return_indices": draw(st.booleans())}
    if draw(st.booleans()):
        keywords["output_size"] = tuple(draw(st.integers(1, 3)) for _ in range(dims))
    else:
        keywords["output_ratio"] = (0.4,) * dims
    samples = torch.rand(x.shape[0] if x.dim() == dims + 2 else 1, x.shape[-dims - 1], dims, dtype=x.dtype)
    keywords["_random_samples"] = samples
    return Configuration((kernel,), keywords, (x,))


@st.composite
def _unpool(draw: Draw, name: str) -> Configuration:
    dims = int(name[-2])
    x = draw(_image(dims, 4, 7 if dims < 3 else 5))
    kernel = draw(st.integers(2, 3))
    stride = draw(st.one_of(st.none(), st.integers(kernel, 3)))
    pool = getattr(torch.nn.functional, f"max_pool{dims}d")
    y, indices = pool(x, kernel, stride, return_indices=True)
    size = draw(st.sampled_from([None, tuple(x.shape[-dims:])]))
    if size is None:  # the default size may not have the positions of the last windows
        step = stride or kernel
        default = [(n - 1) * step + kernel for n in y.shape[-dims:]]
        size = None if all(d == n for d, n in zip(default, x.shape[-dims:])) else tuple(x.shape[-dims:])
    return Configuration((kernel, stride), inputs=(y, indices, size))


# Padding and resampling


@st.composite
def _pad(draw: Draw, name: str) -> Configuration:
    dims = int(name[-2])
    x = draw(_image(dims, 3, 5))
    sides = tuple(draw(st.integers(-1, 2)) for _ in range(2 * dims))
    return Configuration((draw(st.sampled_from([sides, 2])),), inputs=(x,))


@st.composite
def _upsample(draw: Draw, name: str) -> Configuration:
    keywords: dict[str, Any] = {}
    dims = 2
    if name == "Upsample":
        dims = draw(st.integers(1, 3))
        keywords["mode"] = draw(st.sampled_from(["nearest", (None, "linear", "bilinear", "trilinear")[dims]]))
        if keywords["mode"] != "nearest":
            keywords["align_corners"] = draw(st.sampled_from([None, True, False]))
    x = draw(_image(dims, 1, 5, batchless=False))
    if draw(st.booleans()):
        keywords["size"] = tuple(draw(st.integers(1, 9)) for _ in range(dims))
    else:
        factors = tuple(draw(st.sampled_from([1, 1.5, 2, 3, 2.5])) for _ in range(dims))
        keywords["scale_factor"] = draw(st.sampled_from([factors, 2]))
        if name == "Upsample":
            keywords["recompute_scale_factor"] = draw(st.sampled_from([None, True]))
    return Configuration((), keywords, (x,))


@st.composite
def _response(draw: Draw, name: str) -> Configuration:
    x = draw(_image(draw(st.integers(1, 3)), 1, 4, batchless=False))
    keywords = {"alpha": 0.5, "beta": draw(_number(0.5, 1)), "k": draw(_number(1, 2))}
    return Configuration((draw(st.integers(1, 5)),), keywords, (x,))


@st.composite
def _groups(draw: Draw, name: str) -> Configuration:
    x = draw(_image(draw(st.integers(1, 3)), 3, 4, batchless=False))
    channels = x.shape[1]
    groups = draw(st.sampled_from([n for n in range(1, channels + 1) if channels % n == 0]))
    keywords = {"affine": draw(st.booleans()), "eps": draw(_number(0.01, 0.1)), "dtype": x.dtype}
    return Configuration((groups, channels), keywords, (x,))


@st.composite
def _instances(draw: Draw, name: str) -> Configuration:
    dims = int(name[-2])
    x = draw(_image(dims, 3, 4))
    keywords = {
        "affine": draw(st.booleans()),
        "track_running_stats": draw(st.booleans()),
        "momentum": draw(st.sampled_from([0.1, 0.75, None])),
        "dtype": x.dtype,
    }
    return Configuration((x.shape[-1 - dims],), keywords, (x,), training=draw(st.booleans()))


@st.composite
def _rows(draw: Draw, name: str) -> Configuration:
    shape = (*draw(st.lists(st.integers(1, 4), max_size=3)), draw(st.integers(3, 6)))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    x = _layout(distinct(shape, dtype), draw(st.booleans()))
    dims = draw(st.integers(1, len(shape)))
    normalized = shape[-1] if dims == 1 and draw(st.booleans()) else shape[-dims:]
    keywords: dict[str, Any] = {"elementwise_affine": draw(st.booleans()), "dtype": dtype}
    if name == "LayerNorm":
        keywords["bias"] = draw(st.booleans())
    if draw(st.booleans()):
        keywords["eps"] = 0.01
    return Configuration((normalized,), keywords, (x,))


# Tables


@st.composite
def _embedding(draw: Draw, name: str) -> Configuration:
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    keywords: dict[str, Any] = {
        "max_norm": draw(st.sampled_from([None, 1.0])),
        "norm_type": draw(st.sampled_from([1.0, 2.0, 3.0])),
        "scale_grad_by_freq": draw(st.booleans()),
        "padding_idx": draw(st.one_of(st.none(), st.integers(-rows, rows - 1))),
        "dtype": draw(st.sampled_from([torch.float32, torch.float64])),
    }
    integers = draw(st.sampled_from([torch.int64, torch.int32]))
    if name == "Embedding":
        shape = draw(st.lists(st.integers(1, 4), max_size=3))
        return Configuration(
            (rows, columns), keywords, (torch.randint(rows, shape, dtype=integers),), differentiable=()
        )
    keywords["mode"] = draw(st.sampled_from(["sum", "mean", "max"]))
    # torch divides gradients by the numbers of occurrences of other rows.
    keywords["scale_grad_by_freq"] = False
    if draw(st.booleans()):
        shape = (draw(st.integers(1, 4)), draw(st.integers(1, 4)))
        return Configuration(
            (rows, columns), keywords, (torch.randint(rows, shape, dtype=integers),), differentiable=()
        )
    count = draw(st.integers(1, 8))
    keywords["include_last_offset"] = draw(st.booleans())
    offsets = [0, *sorted(draw(st.lists(st.integers(0, count), max_size=3)))]
    if keywords["include_last_offset"]:
        offsets.append(count)
    inputs = (torch.randint(rows, (count,), dtype=integers), torch.tensor(offsets, dtype=integers))
    return Configuration((rows, columns), keywords, inputs, differentiable=())


# Criteria

_ELEMENTWISE = (
    *("L1Loss", "MSELoss", "SmoothL1Loss", "BCELoss", "KLDivLoss", "SoftMarginLoss"),
    *("BCEWithLogitsLoss", "HuberLoss", "PoissonNLLLoss", "HingeEmbeddingLoss"),
)


@st.composite
def _elementwise(draw: Draw, name: str) -> Configuration:
    x = draw(_any_shape(1))
    target = torch.randn(x.shape, dtype=x.dtype)
    keywords: dict[str, Any] = {"reduction": draw(st.sampled_from(["mean", "sum", "none"]))}
    by_target = draw(st.booleans())
    if name == "SmoothL1Loss":
        keywords["beta"] = draw(st.sampled_from([1.0, 0.5, 2.0, 0]))
    elif name == "BCELoss":
        x, target = x.sigmoid(), target.sigmoid()
        if draw(st.booleans()):
            keywords["weight"] = torch.rand(x.shape[-1:], dtype=x.dtype)
    elif name == "KLDivLoss":
        x, target = x.log_softmax(-1), target.softmax(-1)
        keywords["log_target"] = draw(st.booleans())
        keywords["reduction"] = draw(st.sampled_from(["mean", "sum", "none", "batchmean"]))
        if keywords["log_target"]:
            target = target.log()
    elif name in ("SoftMarginLoss", "HingeEmbeddingLoss"):
        target, by_target = target.sign(), False
    elif name == "BCEWithLogitsLoss":
        target = target.sigmoid().round() if draw(st.booleans()) else target.sigmoid()
        for factor in ("weight", "pos_weight"):
            if draw(st.booleans()):
                keywords[factor] = torch.rand(x.shape[-1:], dtype=x.dtype) * 2
    elif name == "HuberLoss":
        keywords["delta"] = draw(st.sampled_from([1.0, 0.5, 2.0]))
    elif name == "PoissonNLLLoss":
        target = (target.abs() * 3).floor() + 0.5
        keywords |= {"log_input": draw(st.booleans()), "full": draw(st.booleans())}
        if not keywords["log_input"]:
            x = x.abs() + 0.1
    return Configuration((), keywords, (x, target), (0, 1) if by_target else (0,))


@st.composite
def _ranking(draw: Draw, name: str) -> Configuration:
    x = draw(_any_shape(1))
    keywords = {
        "margin": draw(st.sampled_from([0.0, 0.5])),
        "reduction": draw(st.sampled_from(["mean", "sum", "none"])),
    }
    other, target = (torch.randn(x.shape, dtype=x.dtype) for _ in range(2))
    return Configuration((), keywords, (x, other, target.sign()), (0, 1))


@st.composite
def _variances(draw: Draw, name: str) -> Configuration:
    x = draw(_any_shape(1))
    size = list(x.shape)
    if draw(st.booleans()):
        size[draw(st.integers(0, len(size) - 1)) if _BROADCASTS else -1] = 1
    elif draw(st.booleans()):
        size.pop()
    keywords = {
        "full": draw(st.booleans()),
        "reduction": draw(st.sampled_from(["mean", "sum", "none"])),
    }
    var = torch.rand(size, dtype=x.dtype) + 0.1
    return Configuration((), keywords, (x, torch.randn(x.shape, dtype=x.dtype), var), (0, 2))


@st.composite
def _pairs_of_rows(draw: Draw, name: str) -> Configuration:
    x = draw(_any_shape(1, 2))
    others = [torch.randn(x.shape, dtype=x.dtype) for _ in range(2)]
    if name == "PairwiseDistance":
        keywords: dict[str, Any] = {
            "p": draw(st.sampled_from([1, 2.0, 3.0])),
            "eps": draw(st.sampled_from([1e-6, 0.25])),
            "keepdim": draw(st.booleans()),
        }
        return Configuration((), keywords, (x, others[0]), (0, 1))
    keywords = {"reduction": draw(st.sampled_from(["mean", "sum", "none"]))}
    if name == "TripletMarginLoss":
        keywords |= {"margin": draw(st.sampled_from([1.0, 0.5])), "p": draw(st.sampled_from([1, 2.0, 3.0]))}
        keywords["swap"] = draw(st.booleans())
        return Configuration((), keywords, (x, *others), (0, 1, 2))
    keywords["margin"] = draw(st.sampled_from([0.0, -0.5]))
    target = torch.randn(x.shape[:-1], dtype=x.dtype).sign()
    return Configuration((), keywords, (x, others[0], target), (0, 1))


@st.composite
def _classes(draw: Draw, name: str) -> Configuration:
    classes = draw(st.integers(2, 5))
    batch = draw(st.integers(1, 4))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    keywords: dict[str, Any] = {"reduction": draw(st.sampled_from(["mean", "sum", "none"]))}
    if name == "MultiLabelMarginLoss":
        shape = draw(st.sampled_from([(classes,), (batch, classes)]))
        return Configuration((), keywords, (distinct(shape, dtype), torch.randint(-1, classes, shape)))
    if draw(st.booleans()):
        keywords["weight"] = torch.rand(classes, dtype=dtype) + 0.1
    if name == "MultiMarginLoss":
        keywords |= {"p": draw(st.sampled_from([1, 2])), "margin": draw(_number(0.5, 2))}
        more: tuple[int, ...] | None = draw(st.sampled_from([None, ()]))
    else:
        keywords["ignore_index"] = draw(st.sampled_from([-100, 0]))
        more = draw(st.sampled_from([None, (), (3,), (3, 2), (2, 1, 2)])) if name != "NLLLoss2d" else (3, 2)
    shape = (classes,) if more is None else (batch, classes, *more)
    target = torch.randint(classes, () if more is None else (batch, *more))
    x = distinct(shape, dtype)
    if name == "CrossEntropyLoss":
        keywords["label_smoothing"] = draw(st.sampled_from([0.0, 0.0, 0.1]))
        if draw(st.integers(0, 3)) == 0:
            target = torch.randn(shape, dtype=dtype).softmax(0 if more is None else 1)
            keywords["ignore_index"] = -100
    elif name != "MultiMarginLoss":
        x = x.log_softmax(0 if more is None else 1)
    return Configuration((), keywords, (x, target), (0, 1) if target.is_floating_point() else (0,))


@st.composite
def _linear_classes(draw: Draw, name: str) -> Configuration:
    features, classes = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    batch = draw(st.sampled_from([(), (1,), (3,)]))
    out_features = draw(st.sampled_from([(), (2,), (2, 3)])) if batch else ()
    keywords: dict[str, Any] = {
        "out_features": out_features,
        "bias": draw(st.booleans()),
        "dtype": dtype,
        "reduction": draw(st.sampled_from(["mean", "sum", "none"])),
        "ignore_index": draw(st.sampled_from([None, -100, 0])),
        "label_smoothing": draw(st.sampled_from([0.0, 0.0, 0.1])),
    }
    if draw(st.booleans()):
        keywords["weight"] = torch.rand(classes, dtype=dtype) + 0.1
    target = torch.randint(classes, (*batch, *out_features))
    if draw(st.integers(0, 3)) == 0:
        logits = torch.randn(*batch, classes, *out_features, dtype=dtype)
        target, keywords["ignore_index"] = logits.softmax(len(batch)), None
    inputs = torch.randn(*batch, features, dtype=dtype), target
    return Configuration(
        (features, classes), keywords, inputs, (0, 1) if target.is_floating_point() else (0,)
    )


# Recurrent


@st.composite
def _cell(draw: Draw, name: str) -> Configuration:
    features, hidden = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    batch = draw(st.sampled_from([(), (1,), (3,)]))
    x = torch.randn(*batch, features, dtype=dtype)
    states = [torch.randn(*batch, hidden, dtype=dtype) for _ in range(2)]
    hx = tuple(states) if name == "LSTMCell" else states[0]
    inputs = (x, hx) if draw(st.booleans()) else (x,)
    keywords = {"bias": draw(st.booleans()), "dtype": dtype}
    return Configuration((features, hidden), keywords, inputs)


@st.composite
def _sequence(draw: Draw, name: str) -> Configuration:
    features, hidden, layers = (draw(st.integers(1, n)) for n in (4, 4, 3))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    keywords: dict[str, Any] = {
        "num_layers": layers,
        "bias": draw(st.booleans()),
        "batch_first": draw(st.booleans()),
        "bidirectional": draw(st.booleans()),
        "dropout": draw(st.sampled_from([0.0, 0.5])) if layers > 1 else 0.0,
        "dtype": dtype,
    }
    length = draw(st.integers(1, 5))
    batch = draw(st.sampled_from([None, 1, 3]))
    if batch is None:
        x: Any = torch.randn(length, features, dtype=dtype)
    else:
        x = torch.randn(batch, length, features, dtype=dtype)
        x = x if keywords["batch_first"] else x.transpose(0, 1)
        if draw(st.booleans()):
            lengths = [draw(st.integers(1, length)) for _ in range(batch)]
            x = torch.nn.utils.rnn.pack_padded_sequence(
                x, torch.tensor(lengths), keywords["batch_first"], enforce_sorted=False
            )
    count = layers * (2 if keywords["bidirectional"] else 1)
    shape = (count, hidden) if batch is None else (count, batch, hidden)
    states = [torch.randn(shape, dtype=dtype) for _ in range(2)]
    hx = tuple(states) if name == "LSTM" else states[0]
    inputs = (x, hx) if draw(st.booleans()) else (x,)
    return Configuration((features, hidden), keywords, inputs)


_POOLS = [f"{kind}Pool{d}d" for kind in ("Max", "Avg") for d in (1, 2, 3)]

#: Name of each layer -> the strategy of its configurations.
CONFIGURATIONS: dict[str, Any] = {
    **{n: _activation(n) for n in _SETTINGS},
    "PReLU": _prelu("PReLU"),
    "GLU": _glu("GLU"),
    **{n: _along_dim(n) for n in ("Softmax", "Softmin", "LogSoftmax")},
    "Softmax2d": _softmax2d("Softmax2d"),
    **{n: _window(n) for n in _POOLS},
    **{n: _lp(n) for n in ("LPPool1d", "LPPool2d", "LPPool3d")},
    **{
        n: _adaptive(n)
        for n in (
            "AdaptiveAvgPool1d",
            "AdaptiveAvgPool2d",
            "AdaptiveAvgPool3d",
            "AdaptiveMaxPool1d",
            "AdaptiveMaxPool2d",
        )
    },
    **{n: _fractional(n) for n in ("FractionalMaxPool2d", "FractionalMaxPool3d")},
    **{n: _unpool(n) for n in ("MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d")},
    **{
        n: _pad(n)
        for n in (
            "ReflectionPad1d",
            "ReflectionPad2d",
            "ReplicationPad1d",
            "ReplicationPad2d",
            "ReplicationPad3d",
        )
    },
    **{n: _upsample(n) for n in ("Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d")},
    "LocalResponseNorm": _response("LocalResponseNorm"),
    "GroupNorm": _groups("GroupNorm"),
    **{n: _instances(n) for n in ("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d")},
    **{n: _rows(n) for n in ("LayerNorm", "RMSNorm")},
    **{n: _embedding(n) for n in ("Embedding", "EmbeddingBag")},
    **{n: _elementwise(n) for n in _ELEMENTWISE},
    "MarginRankingLoss": _ranking("MarginRankingLoss"),
    "GaussianNLLLoss": _variances("GaussianNLLLoss"),
    **{n: _pairs_of_rows(n) for n in ("PairwiseDistance", "TripletMarginLoss", "CosineEmbeddingLoss")},
    **{
        n: _classes(n)
        for n in ("NLLLoss", "NLLLoss2d", "CrossEntropyLoss", "MultiMarginLoss", "MultiLabelMarginLoss")
    },
    **{n: _linear_classes(n) for n in ("LinearCrossEntropyLoss",) if hasattr(nn, n)},
    **{n: _cell(n) for n in ("LSTMCell", "GRUCell")},
    **{n: _sequence(n) for n in ("LSTM", "GRU")},
}
IN_PLACE = _IN_PLACE


# Results


def pair(name: str, configuration: Configuration) -> list[nn.Module]:
    """The layers of thnn and torch with the same parameters."""
    layers = []
    for home in (thnn.nn, nn):
        torch.manual_seed(5)
        layer = getattr(home, name)(*configuration.arguments, **configuration.keywords)
        layers.append(layer.train(configuration.training))
    return layers


def tensors(value: Any) -> Iterator[Tensor]:
    """The tensors of a result; only the data of packed sequences."""
    if isinstance(value, PackedSequence):
        yield value.data
    elif isinstance(value, Tensor):
        yield value
    elif isinstance(value, Sequence):
        for element in value:
            yield from tensors(element)


def _called(layer: nn.Module, *inputs: Any) -> Any:
    return layer(*inputs)


def results(
    layer: nn.Module, configuration: Configuration, call: Callable[..., Any] = _called
) -> list[Tensor]:
    """Outputs, gradients and state after call(layer, *inputs)."""
    leaves: list[Tensor] = []

    def enter(value: Any, requires_grad: bool) -> Any:
        if isinstance(value, PackedSequence):
            return PackedSequence(enter(value.data, True), *value[1:])
        if isinstance(value, tuple) and value and isinstance(value[0], Tensor):
            return tuple(enter(v, True) for v in value)
        if not isinstance(value, Tensor) or not value.is_floating_point() or not requires_grad:
            return value
        leaves.append(value.detach().clone().requires_grad_())
        return leaves[-1]

    recurrent = isinstance(layer, nn.RNNBase | nn.RNNCellBase)
    given = [
        enter(v, i in configuration.differentiable or recurrent) for i, v in enumerate(configuration.inputs)
    ]
    torch.manual_seed(3)
    outputs = [*tensors(call(layer, *given))]
    torch.manual_seed(2)
    with_gradient = [y for y in outputs if y.requires_grad]
    if with_gradient:
        torch.autograd.backward(with_gradient, [torch.randn(y.shape, dtype=y.dtype) for y in with_gradient])
    gradients = [leaf.grad for leaf in (*leaves, *layer.parameters())]
    zeros = [torch.zeros_like(leaf) for leaf in (*leaves, *layer.parameters())]
    state = [t.detach() for t in layer.state_dict().values()]
    return [
        *(y.detach() for y in outputs),
        *(z if g is None else g for z, g in zip(zeros, gradients)),
        *state,
    ]


def agree(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> None:
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        tolerance = 1e-10 if b.dtype is torch.float64 else 2e-4
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
