"""Normalised activations: over the batch, or over the channels."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.cases.makers import constant, expanded, given, normal, uniform
from thnn.cases.model import Case, Maker, Refusal, Row, Sample


def _batch_normalization(
    input: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    train: bool,
    momentum: float,
    eps: float,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
) -> tuple[Tensor, dict[str, Tensor]]:
    dims = [d for d in range(input.dim()) if d != 1]
    shape = [1, -1] + [1] * (input.dim() - 2)
    n = input.numel() // max(input.shape[1], 1)
    if train:
        mean = input.mean(dims)
        variance = (input - mean.reshape(shape)).square().mean(dims)
    else:
        mean, variance = running_mean, running_var
    still = variance + eps <= 0
    inverse = torch.where(still, 1, variance + eps).rsqrt() * ~still
    output = (input - mean.reshape(shape)) * inverse.reshape(shape)
    if weight is not None:
        output = output * weight.reshape(shape)
    if bias is not None:
        output = output + bias.reshape(shape)
    if not train:
        return output, {}
    return output, {
        "save_mean": mean,
        "save_std": inverse,
        "running_mean": momentum * mean + (1 - momentum) * running_mean,
        "running_var": momentum * variance * n / (n - 1) + (1 - momentum) * running_var,
    }


def _torch_batch_norm(
    input: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    train: bool,
    momentum: float,
    eps: float,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    return F.batch_norm(input, running_mean, running_var, weight, bias, train, momentum, eps)


def _sample(
    name: str,
    *shape: int,
    input: Maker | None = None,
    weight: bool = True,
    bias: bool = True,
    train: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
    small: bool = True,
) -> Sample:
    C = shape[1]
    return Sample(
        name,
        {
            "input": input or normal(*shape, scale=2, shift=0.5),
            "weight": normal(C, shift=1) if weight else None,
            "bias": normal(C) if bias else None,
            "running_mean": normal(C),
            "running_var": uniform(C, low=0.5, high=2),
            "train": train,
            "momentum": momentum,
            "eps": eps,
        },
        differentiable=small,
    )


def _channel(value: float) -> Maker:
    """One channel of three with `value` among its elements."""

    def maker(generator: torch.Generator) -> Tensor:
        input = normal(4, 3, 5)(generator)
        input[2, 1, 3] = value
        return input

    return maker


def _constant_channel(generator: torch.Generator) -> Tensor:
    input = normal(4, 3, 5)(generator)
    input[:, 1] = 0.75
    return input


def _row(
    *shape: int, train: bool = True, judged: str = "fb", dtype: str = "float32", goals: dict[str, float]
) -> Row:
    size = math.prod(shape) * (8.0 if dtype == "float64" else 4.0)
    return Row(
        f"BatchNormalization {'train' if train else 'evaluation'} ({','.join(map(str, shape))})"
        + (" float64" if dtype == "float64" else ""),
        _sample("row", *shape, train=train),
        dtype=dtype,
        judged=judged,
        bytes_moved={"fwd": 2 * size, "fb": 5 * size},
        **goals,  # type: ignore[arg-type]
    )


_SINGLE = {"input": normal(1, 3)}
_EVALUATION = {"ratio": 0.95, "best": 0.95, "channels_last": 0.95}

BATCH_NORMALIZATION = Case(
    module="BatchNormalization",
    reference=_batch_normalization,
    peer=_torch_batch_norm,
    samples=(
        _sample("images", 3, 4, 5, 2),
        _sample("vectors", 5, 3),
        _sample("signals", 4, 3, 6),
        _sample("volumes", 2, 3, 2, 3, 2),
        _sample("six dimensions", 2, 3, 1, 2, 2, 2),
        _sample("no weight, no bias", 3, 2, 4, weight=False, bias=False),
        _sample("no weight", 3, 2, 4, weight=False),
        _sample("no bias", 3, 2, 4, bias=False),
        _sample("one channel", 4, 1, 3, 2),
        _sample("one image", 1, 3, 4, 5),
        _sample("two values per channel", 2, 4, eps=0.5),
        _sample("no channels", 2, 0, 3),
        _sample("momentum 1", 4, 3, momentum=1.0),
        _sample("momentum 0", 4, 3, momentum=0.0),
        _sample("eps 0", 4, 3, 5, eps=0.0),
        _sample("large eps", 4, 3, 5, eps=10.0),
        _sample("constant channel", 4, 3, 5, input=_constant_channel, small=False),
        _sample("constant channel, eps 0", 4, 3, 5, input=_constant_channel, eps=0.0, small=False),
        _sample("all equal", 4, 2, 3, input=constant(4, 2, 3, value=2.0), small=False),
        _sample("evaluation", 3, 4, 5, 2, train=False),
        _sample("evaluation of vectors", 5, 3, train=False),
        _sample("evaluation of volumes", 2, 3, 2, 3, 2, train=False),
        _sample("evaluation without weight and bias", 3, 2, 4, weight=False, bias=False, train=False),
        _sample("evaluation of one value per channel", 1, 3, train=False),
        _sample("empty", 0, 3, 2, 2, train=False),
        _sample("many channels", 3, 135, 4, 3, small=False),
        _sample("many vectors", 301, 67, small=False),
        _sample("large planes", 2, 3, 130, 71, small=False),
        _sample("large planes in evaluation", 2, 3, 130, 71, train=False, small=False),
        _sample("NaN in one channel", 4, 3, 5, input=_channel(math.nan), small=False),
        _sample(
            "NaN in one channel in evaluation", 4, 3, 5, input=_channel(math.nan), train=False, small=False
        ),
        _sample("infinity in evaluation", 4, 3, 5, input=_channel(math.inf), train=False, small=False),
    ),
    refusals=(
        Refusal("a vector", {"input": normal(4)}, ValueError, "input"),
        Refusal("no dimensions", {"input": normal()}, ValueError, "input"),
        Refusal("other channels", {"input": normal(3, 5, 5, 2)}, ValueError),
        Refusal("one value per channel", {"input": normal(1, 4, 1, 1)}, ValueError, "1 value per channel"),
        Refusal("no values", {"input": normal(0, 4, 5, 2)}, ValueError, "input"),
        Refusal("eps below 0", {"eps": -1e-5}, ValueError, "eps"),
        Refusal("eps below 0", {"eps": -1e-5}, ValueError, "eps", phase="backward"),
        Refusal("eps NaN", {"eps": math.nan}, ValueError, "eps"),
        Refusal("too large", {"input": expanded(2**60, 4)}, ValueError),
        *(
            Refusal(f"{name} a matrix", {name: normal(1, 4)}, ValueError, name)
            for name in ("weight", "bias", "running_mean", "running_var")
        ),
        *(
            Refusal(f"{name} of one", {name: normal(1)}, ValueError, name, phase="backward")
            for name in ("weight", "running_mean", "running_var", "save_mean", "save_std")
        ),
        Refusal("gradOutput transposed", {"gradOutput": normal(3, 4, 2, 5)}, ValueError, phase="backward"),
    ),
    rows=(
        _row(32, 64, 56, 56, goals={"ratio": 4.5, "fraction": 0.55, "best": 1.6, "channels_last": 1.3}),
        _row(64, 32, 32, 32, goals={"ratio": 3.5, "fraction": 0.5, "best": 1.5, "channels_last": 1.2}),
        _row(32, 256, 14, 14, goals={"ratio": 3, "fraction": 0.5, "best": 1.5, "channels_last": 1.2}),
        _row(8, 512, 7, 7, goals={"ratio": 1.8, "fraction": 0.4, "best": 1.0, "channels_last": 1.0}),
        _row(256, 1024, goals={"ratio": 1.2, "fraction": 0.4, "best": 1.0, "channels_last": 1.0}),
        _row(4, 32, 16, 32, 32, goals={}),
        _row(32, 256, 14, 14, dtype="float64", goals={}),
        _row(32, 64, 56, 56, train=False, judged="fwd", goals=_EVALUATION),
        _row(64, 32, 32, 32, train=False, judged="fwd", goals=_EVALUATION),
        _row(32, 256, 14, 14, train=False, judged="fwd", goals=_EVALUATION),
        _row(8, 512, 7, 7, train=False, judged="fwd", goals=_EVALUATION),
        _row(256, 1024, train=False, judged="fwd", goals=_EVALUATION),
        Row("BatchNormalization train (2,4)", _sample("row", 2, 4), phases=("fb",), ratio=1.0),
    ),
)


def _channels(input: Tensor) -> int:
    return 0 if input.dim() in (1, 3) else 1


def _softmax_samples() -> tuple[Sample, ...]:
    shapes = {
        "images": (2, 5, 3, 4),
        "image": (4, 3, 2),
        "matrix": (3, 7),
        "vector": (9,),
        "one class": (3, 1),
        "one class of images": (2, 1, 3, 2),
        "sizes 1": (1, 1, 1, 1),
        "one column": (2, 6, 5, 1),
        "empty": (0, 5, 3, 4),
        "empty matrix": (0, 5),
        "no classes": (3, 0),
    }
    extremes = [[1000.0, -1000.0, 999.0], [-1e30, -1e30, -1e30], [1e30, 0.0, -1e30], [-math.inf, 1.0, 2.0]]
    not_finite = [[math.nan, 0.0, 1.0], [1.0, 2.0, 3.0]]
    return (
        *(Sample(name, {"input": normal(*shape, scale=2)}) for name, shape in shapes.items()),
        Sample("many classes", {"input": normal(3, 1003)}, differentiable=False),
        Sample("many rows", {"input": normal(531, 37)}, differentiable=False),
        Sample("large images", {"input": normal(2, 21, 30, 37)}, differentiable=False),
        Sample("extremes", {"input": given(extremes)}, differentiable=False),
        Sample("not finite", {"input": given(not_finite)}, differentiable=False),
    )


_SOFTMAX_REFUSALS = (
    Refusal("no dimensions", {"input": normal()}, ValueError, "input"),
    Refusal("five dimensions", {"input": normal(2, 3, 2, 2, 2)}, ValueError, "input"),
    Refusal("too large", {"input": expanded(2**31, 2**31)}, ValueError),
    Refusal("five dimensions", {"input": normal(1, 2, 5, 3, 4)}, ValueError, phase="updateGradInput"),
    Refusal("input of another size", {"input": normal(2, 5, 4, 3)}, ValueError, phase="updateGradInput"),
    Refusal("output of another size", {"output": normal(2, 5, 4, 3)}, ValueError, phase="updateGradInput"),
)


def _softmax_rows(name: str) -> tuple[Row, ...]:
    images, matrix = 4.0 * 8 * 21 * 128 * 128, 4.0 * 256 * 1000
    return (
        Row(
            f"{name} (8,21,128,128)",
            Sample("row", {"input": normal(8, 21, 128, 128)}),
            ratio=1.3,
            fraction=0.5,
            bytes_moved={"fwd": 2 * images, "fb": 5 * images},
        ),
        Row(
            f"{name} (256,1000)",
            Sample("row", {"input": normal(256, 1000)}),
            ratio=0.95,
            bytes_moved={"fwd": 2 * matrix, "fb": 5 * matrix},
        ),
    )


SOFTMAX = Case(
    module="SoftMax",
    reference=lambda input: input.softmax(_channels(input)),
    samples=_softmax_samples(),
    refusals=_SOFTMAX_REFUSALS,
    rows=_softmax_rows("SoftMax"),
)

LOG_SOFTMAX = Case(
    module="LogSoftMax",
    reference=lambda input: input.log_softmax(_channels(input)),
    samples=_softmax_samples(),
    refusals=_SOFTMAX_REFUSALS,
    rows=_softmax_rows("LogSoftMax"),
)
