"""Batch normalization: the fused functions, with and without relu, and their stages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from thnn._classes import function_classes
from thnn.testing.cases.makers import constant, expanded, given, normal, uniform
from thnn.testing.cases.model import Case, ErrorInput, Maker, Row, SampleInput


def _shape(input: Tensor) -> list[int]:
    """The size of a vector of channels that broadcasts with input."""
    return [1, -1] + [1] * (input.dim() - 2)


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
    shape = _shape(input)
    n = input.numel() // max(input.shape[1], 1)
    if train:
        mean = input.mean(dims)
        variance = (input - mean.reshape(shape)).square().mean(dims)
    else:
        mean, variance = running_mean, running_var
    is_zero = variance + eps <= 0
    inverse = torch.where(is_zero, 1, variance + eps).rsqrt() * ~is_zero
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
) -> SampleInput:
    C = shape[1]
    return SampleInput(
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
    """Three channels, the second of which has `value` among its elements."""

    def maker(generator: Generator) -> Tensor:
        input = normal(4, 3, 5)(generator)
        input[2, 1, 3] = value
        return input

    return maker


def _constant_channel(generator: Generator) -> Tensor:
    input = normal(4, 3, 5)(generator)
    input[:, 1] = 0.75
    return input


def _row(
    *shape: int, train: bool = True, judged: str = "fb", dtype: str = "float32", goals: dict[str, Any]
) -> Row:
    size = math.prod(shape) * (8.0 if dtype == "float64" else 4.0)
    return Row(
        f"BatchNormalization {'train' if train else 'evaluation'} ({','.join(map(str, shape))})"
        + (" float64" if dtype == "float64" else ""),
        _sample("row", *shape, train=train),
        dtype=dtype,
        judged=judged,
        bytes_moved={"fwd": 2 * size, "fb": 5 * size},
        **goals,
    )


_EVALUATION = {"ratio": 0.95, "best": 0.95, "channels_last": 0.95}

BATCH_NORMALIZATION = Case(
    module="BatchNormalization",
    reference=_batch_normalization,
    baseline=_torch_batch_norm,
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
    error_inputs=(
        ErrorInput("a vector", {"input": normal(4)}, ValueError, "input"),
        ErrorInput("no dimensions", {"input": normal()}, ValueError, "input"),
        ErrorInput("other channels", {"input": normal(3, 5, 5, 2)}, ValueError),
        ErrorInput("one value per channel", {"input": normal(1, 4, 1, 1)}, ValueError, "1 value per channel"),
        ErrorInput("no values", {"input": normal(0, 4, 5, 2)}, ValueError, "input"),
        ErrorInput("eps below 0", {"eps": -1e-5}, ValueError, "eps"),
        ErrorInput("eps below 0", {"eps": -1e-5}, ValueError, "eps", phase="backward"),
        ErrorInput("eps NaN", {"eps": math.nan}, ValueError, "eps"),
        ErrorInput("too large", {"input": expanded(2**60, 4)}, ValueError),
        *(
            ErrorInput(f"{name} a matrix", {name: normal(1, 4)}, ValueError, name)
            for name in ("weight", "bias", "running_mean", "running_var")
        ),
        *(
            ErrorInput(f"{name} of one", {name: normal(1)}, ValueError, name, phase="backward")
            for name in ("weight", "running_mean", "running_var", "save_mean", "save_std")
        ),
        ErrorInput("gradOutput transposed", {"gradOutput": normal(3, 4, 2, 5)}, ValueError, phase="backward"),
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


# --- with relu ----------------------------------------------------------------------------------------------


def _rectified(input: Tensor, limit: float) -> Tensor:
    """min(limit, max(0, input)); not F.hardtanh, whose gradient at NaN depends on the number of elements."""
    output = input.relu()
    return output if limit == math.inf else output.masked_fill(output >= limit, limit)


def _batch_normalization_relu(limit: float, **arguments: Any) -> tuple[Tensor, dict[str, Tensor]]:
    output, made = _batch_normalization(**arguments)
    return _rectified(output, limit), made


def _torch_batch_norm_relu(limit: float, **arguments: Any) -> Tensor:
    output = _torch_batch_norm(**arguments)
    return F.relu(output) if limit == math.inf else F.hardtanh(output, 0.0, limit)


def _without_relu(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    train: bool,
    momentum: float,
    eps: float,
    limit: float,
) -> Tensor:
    apply = function_classes["BatchNormalizationFunction"].apply
    return apply(input, weight, bias, running_mean, running_var, train, momentum, eps)


def _separate_relu(**arguments: Any) -> Tensor:
    output = _without_relu(**arguments)
    if arguments["limit"] == math.inf:
        return function_classes["ThresholdFunction"].apply(output, 0.0, 0.0, False)
    return function_classes["HardTanhFunction"].apply(output, 0.0, arguments["limit"], False)


def _limited(sample: SampleInput, limit: float, name: str = "") -> SampleInput:
    return replace(sample, name=name or sample.name, arguments={**sample.arguments, "limit": limit})


def _relu_rows() -> tuple[Row, ...]:
    """The rows of batch normalization with relu and relu6; in evaluation the goal is to be no slower than without."""
    large = (32, 64, 56, 56)
    rows = []
    for limit, shapes in ((math.inf, (large, (32, 256, 14, 14), (8, 512, 7, 7))), (6.0, (large,))):
        for shape, train in itertools.product(shapes, (True, False)):
            goals: dict[str, Any] = {"other": _separate_relu} if train else {"other": _without_relu}
            if shape == large:
                goals.update(
                    {"ratio": 7, "fraction": 0.55, "against_other": 1.6} if train else {"against_other": 0.97}
                )
            row = _row(*shape, train=train, judged="fb" if train else "fwd", goals=goals)
            name = row.name.replace("BatchNormalization", "BatchNormalizationReLU")
            name += "" if limit == math.inf else f", ReLU{limit:g}"
            rows.append(replace(row, name=name, sample=_limited(row.sample, limit)))
    return tuple(rows)


# Without the samples of the statistics, which relu and a residual do not change.
_OF_STATISTICS = (
    "six dimensions", "one channel", "one image", "two values per channel", "momentum 1", "momentum 0", "eps 0",
    "large eps", "constant channel, eps 0", "all equal",
)  # fmt: skip
_OF_OUTPUTS = tuple(s for s in BATCH_NORMALIZATION.samples if s.name not in _OF_STATISTICS)
# A limit, and the lack of relu, change how an element is computed: a sample for each way through a tensor.
_OF_ELEMENTS = tuple(
    s
    for s in _OF_OUTPUTS
    if s.name in ("images", "vectors", "no weight, no bias", "evaluation", "many channels", "many vectors")
    or s.name.startswith(("large planes", "NaN"))
)

# With a limit that about a tenth of the outputs reaches.
_LIMITED = tuple(_limited(s, 1.5, f"{s.name}, with a limit") for s in _OF_ELEMENTS)
_LIMIT_ERRORS = tuple(
    ErrorInput(f"limit {limit}", {"limit": limit}, ValueError, "limit") for limit in (0.0, -6.0, math.nan)
)

BATCH_NORMALIZATION_RELU = Case(
    module="BatchNormalizationReLU",
    reference=_batch_normalization_relu,
    baseline=_torch_batch_norm_relu,
    samples=(
        *_OF_OUTPUTS,
        _sample("minus infinity in evaluation", 4, 3, 5, input=_channel(-math.inf), train=False, small=False),
        _sample("huge values", 4, 3, 5, input=normal(4, 3, 5, scale=1e200), train=False, small=False),
        *_LIMITED,
        _limited(BATCH_NORMALIZATION.samples[0], 6.0, "relu6"),
    ),
    error_inputs=(
        *BATCH_NORMALIZATION.error_inputs,
        ErrorInput("bias of one", {"bias": normal(1)}, ValueError, "bias", phase="backward"),
        *_LIMIT_ERRORS,
        *(replace(error, phase="backward") for error in _LIMIT_ERRORS),
    ),
    rows=_relu_rows(),
)


# --- with a residual ----------------------------------------------------------------------------------------


def _batch_normalization_add(
    residual: Tensor, relu: bool, limit: float, **arguments: Any
) -> tuple[Tensor, dict[str, Tensor]]:
    output, made = _batch_normalization(**arguments)
    output = output + residual
    return _rectified(output, limit) if relu else output, made


def _torch_batch_norm_add(residual: Tensor, relu: bool, limit: float, **arguments: Any) -> Tensor:
    output = _torch_batch_norm(**arguments) + residual
    if not relu:
        return output
    return F.relu_(output) if limit == math.inf else F.hardtanh_(output, 0.0, limit)


def _separate_add(residual: Tensor, relu: bool, **arguments: Any) -> Tensor:
    """The three functions, as a network calls them."""
    output = _without_relu(**arguments) + residual
    if not relu:
        return output
    if arguments["limit"] == math.inf:
        return function_classes["ThresholdFunction"].apply(output, 0.0, 0.0, True)
    return function_classes["HardTanhFunction"].apply(output, 0.0, arguments["limit"], True)


def _added(sample: SampleInput, relu: bool = True, limit: float = math.inf, name: str = "") -> SampleInput:
    residual = normal(*sample.arguments["input"](torch.Generator()).shape)
    arguments = {**sample.arguments, "residual": residual, "relu": relu, "limit": limit}
    return replace(sample, name=name or sample.name, arguments=arguments)


def _add_rows() -> tuple[Row, ...]:
    rows = []
    large, middle, small = (32, 64, 56, 56), (32, 256, 14, 14), (8, 512, 7, 7)
    for shape, relu in itertools.product((large, middle, small), (True, False)):
        row = _row(*shape, goals={"other": _separate_add})
        size = math.prod(shape) * 4.0
        moved = {"fwd": 3 * size, "fb": (3 + (5 if relu else 3)) * size}
        name = row.name.replace("BatchNormalization", "BatchNormalizationAdd") + ("" if relu else ", no ReLU")
        rows.append(replace(row, name=name, sample=_added(row.sample, relu), bytes_moved=moved))
    return tuple(rows)


BATCH_NORMALIZATION_ADD = Case(
    module="BatchNormalizationAdd",
    reference=_batch_normalization_add,
    baseline=_torch_batch_norm_add,
    samples=(
        *(_added(s) for s in _OF_OUTPUTS),
        *(_added(s, relu=False, name=f"{s.name}, no relu") for s in _OF_ELEMENTS),
        # Large samples do not reach the limit: in half types, outputs that round to it count as at the limit.
        *(
            _added(s, limit=1.5 if s.differentiable else 100.0, name=f"{s.name}, with a limit")
            for s in _OF_ELEMENTS
        ),
        _added(
            _sample(
                "minus infinity in evaluation", 4, 3, 5, input=_channel(-math.inf), train=False, small=False
            )
        ),
        _added(_sample("blocks of positions", 40, 2, 30, 31, small=False)),
        _added(BATCH_NORMALIZATION.samples[0], limit=6.0, name="relu6"),
    ),
    error_inputs=(
        *BATCH_NORMALIZATION.error_inputs,
        ErrorInput("residual of other images", {"residual": normal(3, 4, 2, 5)}, ValueError, "residual"),
        ErrorInput(
            "output of other images", {"output": normal(3, 4, 2, 5)}, ValueError, "output", phase="backward"
        ),
        *_LIMIT_ERRORS,
        *(replace(error, phase="backward") for error in _LIMIT_ERRORS),
    ),
    rows=_add_rows(),
)


# --- stages -------------------------------------------------------------------------------------------------


def _statistics(input: Tensor) -> dict[str, Tensor]:
    dims = [d for d in range(input.dim()) if d != 1]
    count = (
        input.numel() // max(input.shape[1], 1) if input.shape[1] else math.prod(input.shape[2:]) * len(input)
    )
    mean = input.mean(dims) if count else input.new_zeros(input.shape[1])
    squares = (input - mean.reshape(_shape(input))).square().sum(dims)
    return {"statistics": torch.cat([mean, squares, mean.new_tensor([count])])}


def _merge_statistics(parts: Tensor) -> dict[str, Tensor]:
    C = parts.shape[1] // 2
    count = parts[:, -1:]
    total = count.sum()
    mean = (parts[:, :C] * count).sum(0) / (total or 1)
    squares = (parts[:, C:-1] * (count > 0) + count * (parts[:, :C] - mean) ** 2).sum(0)
    return {"statistics": torch.cat([mean, squares, total.reshape(1)])}


def _save_statistics(
    statistics: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
    unbiased: bool,
) -> dict[str, Tensor]:
    C = len(statistics) // 2
    mean, squares, count = statistics[:C], statistics[C:-1], statistics[-1]
    variance = squares / count
    made = {"save_mean": mean, "save_std": torch.where(variance + eps > 0, (variance + eps).rsqrt(), 0.0)}
    if running_mean is not None:
        made["running_mean"] = momentum * mean + (1 - momentum) * running_mean
    if running_var is not None:
        fresh = squares / (count - 1) if unbiased else variance
        made["running_var"] = momentum * fresh + (1 - momentum) * running_var
    return made


def _normalize(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    save_mean: Tensor,
    save_std: Tensor,
    relu: bool,
    limit: float,
) -> dict[str, Tensor]:
    shape = _shape(input)
    output = (input - save_mean.reshape(shape)) * save_std.reshape(shape)
    if weight is not None:
        output = output * weight.reshape(shape)
    if bias is not None:
        output = output + bias.reshape(shape)
    return {"output": _rectified(output, limit) if relu else output}


def _grad_by_relu_input(gradOutput: Tensor, relu: bool, limit: float, **arguments: Any) -> Tensor:
    """The gradient w.r.t. the input of relu: 0 where that input is at most 0 or at least a finite limit, otherwise (NaN
    included) gradOutput."""
    if not relu:
        return gradOutput
    output = _normalize(**arguments, relu=False, limit=limit)["output"]
    return gradOutput.masked_fill((output <= 0) | ((output >= limit) & (limit < math.inf)), 0)


def _grad_sums(
    input: Tensor, gradOutput: Tensor, relu: bool, limit: float, **arguments: Any
) -> dict[str, Tensor]:
    dims = [d for d in range(input.dim()) if d != 1]
    g = _grad_by_relu_input(gradOutput, relu, limit, input=input, **arguments)
    centred = input - arguments["save_mean"].reshape(_shape(input))
    return {"sums": torch.cat([g.sum(dims), (g * centred).sum(dims)])}


def _grad_input(
    input: Tensor,
    gradOutput: Tensor,
    sums: Tensor | None,
    count: float,
    relu: bool,
    limit: float,
    **arguments: Any,
) -> dict[str, Tensor]:
    shape = _shape(input)
    C = input.shape[1]
    g = _grad_by_relu_input(gradOutput, relu, limit, input=input, **arguments)
    inverse, weight = arguments["save_std"].reshape(shape), arguments["weight"]
    if sums is not None:
        centred = input - arguments["save_mean"].reshape(shape)
        dot = sums[C:].reshape(shape)
        g = g - sums[:C].reshape(shape) / count - centred * inverse**2 * dot / count
    return {"gradInput": g * inverse if weight is None else g * inverse * weight.reshape(shape)}


def _random_statistics(*size: int, counts: tuple[float, ...]) -> Maker:
    """Statistics of each part. All numbers are above 1, so that each is also valid as a number of values."""

    def maker(generator: Generator) -> Tensor:
        numbers = uniform(*size, low=2, high=5)(generator)
        numbers[..., -1] = torch.tensor(counts, dtype=numbers.dtype)
        return numbers

    return maker


_STATISTICS = Case(
    module="BatchNormalization",
    phase="statistics",
    reference=_statistics,
    samples=(
        *(
            SampleInput(name, {"input": normal(*shape, scale=2, shift=0.5)}, differentiable=small)
            for name, shape, small in (
                ("images", (3, 4, 5, 2), True),
                ("vectors", (5, 3), True),
                ("volumes", (2, 3, 2, 3, 2), True),
                ("one channel", (4, 1, 3, 2), True),
                ("one value", (1, 3), True),
                ("empty", (0, 3, 2, 2), True),
                ("no channels", (2, 0, 3), True),
                ("many channels", (3, 1035, 4, 3), False),
                ("many vectors", (301, 67), False),
                ("large planes", (2, 3, 130, 171), False),
            )
        ),
        SampleInput("constant channel", {"input": _constant_channel}, differentiable=False),
        SampleInput("NaN in one channel", {"input": _channel(math.nan)}, differentiable=False),
    ),
    error_inputs=(
        ErrorInput("a vector", {"input": normal(4)}, ValueError, "input"),
        ErrorInput("too large", {"input": expanded(2, 2**61)}, ValueError),
    ),
)

_MERGE_STATISTICS = Case(
    module="BatchNormalization",
    phase="mergeStatistics",
    reference=_merge_statistics,
    samples=(
        SampleInput("three", {"parts": _random_statistics(3, 9, counts=(5, 1, 12))}),
        SampleInput("one", {"parts": _random_statistics(1, 9, counts=(5,))}),
        SampleInput("some empty", {"parts": _random_statistics(5, 7, counts=(0, 3, 0, 4, 0))}),
        SampleInput("all empty", {"parts": constant(3, 7)}),
        SampleInput("empty", {"parts": constant(0, 7)}),
        SampleInput("no channels", {"parts": _random_statistics(2, 1, counts=(3, 4))}),
        SampleInput(
            "many channels", {"parts": _random_statistics(4, 4097, counts=(3, 4, 5, 6))}, differentiable=False
        ),
    ),
    error_inputs=(
        ErrorInput("one part alone", {"parts": normal(9)}, ValueError, "parts"),
        ErrorInput("three dimensions", {"parts": normal(1, 3, 9)}, ValueError, "parts"),
        ErrorInput("no number of values", {"parts": normal(3, 8)}, ValueError, "parts"),
        ErrorInput(
            "a number below 0", {"parts": _random_statistics(3, 9, counts=(5, -1, 12))}, ValueError, "part 1"
        ),
        ErrorInput(
            "a number NaN", {"parts": _random_statistics(3, 9, counts=(5, 1, math.nan))}, ValueError, "part 2"
        ),
    ),
)


def _saving(
    name: str,
    channels: int,
    running: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
    unbiased: bool = True,
) -> SampleInput:
    return SampleInput(
        name,
        {
            "statistics": _random_statistics(2 * channels + 1, counts=(7,)),
            "running_mean": normal(channels) if running else None,
            "running_var": uniform(channels, low=0.5, high=2) if running else None,
            "momentum": momentum,
            "eps": eps,
            "unbiased": unbiased,
        },
        differentiable=channels < 100,
    )


_SAVE_STATISTICS = Case(
    module="BatchNormalization",
    phase="saveStatistics",
    reference=_save_statistics,
    samples=(
        _saving("all", 4),
        _saving("biased", 4, unbiased=False),
        _saving("no running statistics", 3, running=False),
        _saving("momentum 1", 3, momentum=1.0),
        _saving("momentum 0", 3, momentum=0.0),
        _saving("eps 0", 3, eps=0.0),
        _saving("empty", 0),
        _saving("many channels", 1035),
        SampleInput(
            "no deviation", {**_saving("", 1).arguments, "statistics": given([2.0, 0.0, 3.0]), "eps": 0.0}
        ),
    ),
    error_inputs=(
        ErrorInput("a matrix", {"statistics": normal(1, 9)}, ValueError, "statistics"),
        ErrorInput("no number of values", {"statistics": normal(8)}, ValueError, "statistics"),
        *(
            ErrorInput(
                f"{count} values",
                {"statistics": _random_statistics(9, counts=(count,))},
                ValueError,
                "more than 1 value",
            )
            for count in (1, 0, -3, math.nan)
        ),
        ErrorInput("eps below 0", {"eps": -1e-5}, ValueError, "eps"),
        ErrorInput("eps NaN", {"eps": math.nan}, ValueError, "eps"),
    ),
)


def _stage_sample(name: str, *shape: int, small: bool = True, **others: Any) -> SampleInput:
    """The arguments of stages that take mean and inverse deviation; `others` replaces or adds arguments."""
    C = shape[1]
    arguments = {
        "input": normal(*shape, scale=2, shift=0.5),
        "weight": normal(C, shift=1),
        "bias": normal(C),
        "save_mean": normal(C),
        "save_std": uniform(C, low=0.5, high=2),
        "relu": False,
        "limit": math.inf,
    }
    return SampleInput(name, {**arguments, **others}, differentiable=small)


_STAGE_ERRORS = (ErrorInput("a vector", {"input": normal(4)}, ValueError, "input"), *_LIMIT_ERRORS)


_NORMALIZE = Case(
    module="BatchNormalization",
    phase="normalize",
    reference=_normalize,
    samples=(
        _stage_sample("images", 3, 4, 5, 2),
        _stage_sample("relu", 3, 4, 5, 2, relu=True),
        _stage_sample("vectors", 5, 3),
        _stage_sample("volumes, relu", 2, 3, 2, 3, 2, relu=True),
        _stage_sample("no weight, no bias", 3, 2, 4, weight=None, bias=None),
        _stage_sample("relu, no weight, no bias", 3, 2, 4, weight=None, bias=None, relu=True),
        _stage_sample("empty", 0, 3, 2, 2),
        _stage_sample("many channels, relu", 3, 135, 4, 3, small=False, relu=True),
        _stage_sample("large planes", 2, 3, 130, 171, small=False),
        _stage_sample("NaN in one channel, relu", 4, 3, 5, small=False, input=_channel(math.nan), relu=True),
        _stage_sample("infinity, relu", 4, 3, 5, small=False, input=_channel(-math.inf), relu=True),
        _stage_sample("limit", 3, 4, 5, 2, relu=True, limit=1.5),
        _stage_sample("limit without relu", 3, 4, 5, 2, limit=1.5),
        _stage_sample("many vectors, limit", 301, 67, small=False, relu=True, limit=1.5),
        _stage_sample("NaN, limit", 4, 3, 5, small=False, input=_channel(math.nan), relu=True, limit=1.5),
        _stage_sample(
            "infinity, limit", 4, 3, 5, small=False, input=_channel(math.inf), relu=True, limit=1.5
        ),
    ),
    error_inputs=_STAGE_ERRORS,
)


def _with_gradient(
    of: tuple[SampleInput, ...], more: Callable[[int], dict[str, Any]] = lambda C: {}
) -> tuple[SampleInput, ...]:
    """The samples of normalize with gradOutput and the arguments that `more` returns for the number of
    channels."""
    made = []
    for sample in of:
        size = sample.arguments["input"](torch.Generator()).shape
        arguments = {**sample.arguments, "gradOutput": normal(*size), **more(size[1])}
        made.append(replace(sample, arguments=arguments))
    return tuple(made)


_GRAD_SUMS = Case(
    module="BatchNormalization",
    phase="gradSums",
    reference=_grad_sums,
    samples=_with_gradient(_NORMALIZE.samples),
    error_inputs=_STAGE_ERRORS,
)

_GRAD_INPUT = Case(
    module="BatchNormalization",
    phase="gradInput",
    reference=_grad_input,
    samples=(
        *_with_gradient(_NORMALIZE.samples, lambda C: {"sums": normal(2 * C, scale=10), "count": 77.0}),
        *(
            replace(s, name=f"{s.name}, constants")
            for s in _with_gradient(_NORMALIZE.samples, lambda C: {"sums": None, "count": 0.0})
        ),
    ),
    error_inputs=(
        *_STAGE_ERRORS,
        ErrorInput("sums of one channel less", {"sums": normal(6)}, ValueError, "sums"),
        ErrorInput("sums a matrix", {"sums": normal(2, 4)}, ValueError, "sums"),
        *(
            ErrorInput(f"count {count}", {"count": count}, ValueError, "count")
            for count in (0.0, -1.0, math.nan)
        ),
    ),
)

STAGES = (_STATISTICS, _MERGE_STATISTICS, _SAVE_STATISTICS, _NORMALIZE, _GRAD_SUMS, _GRAD_INPUT)
