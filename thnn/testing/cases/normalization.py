"""Normalization of groups of channels and of rows."""

from __future__ import annotations

import math
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import constant, normal
from thnn.testing.cases.model import Case, ErrorInput, Maker, Row, SampleInput

Results = tuple[Tensor, dict[str, Tensor]]


def _inverse_deviation(variance: Tensor, eps: float) -> Tensor:
    total = variance + eps
    return total.masked_fill(total == 0, 1).rsqrt().masked_fill(total == 0, 0)


def _normalized(rows: Tensor, eps: float, centred: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The normalized rows, their means and inverse deviations; mean and variance of an empty row are 0."""
    count = max(rows.shape[-1], 1)
    mean = rows.sum(-1, keepdim=True) / count
    if centred:
        rows = rows - mean
    inverse = _inverse_deviation(rows.square().sum(-1, keepdim=True) / count, eps)
    return rows * inverse, mean.squeeze(-1), inverse.squeeze(-1)


def _affine(output: Tensor, weight: Tensor | None, bias: Tensor | None, shape: tuple[int, ...]) -> Tensor:
    output = output if weight is None else output * weight.reshape(shape)
    return output if bias is None else output + bias.reshape(shape)


# --- GroupNormalization -----------------------------------------------------------------------------------------------


def _group_normalization(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, numGroups: int, eps: float = 1e-5
) -> Results:
    samples, channels, *sizes = input.shape
    rows = input.reshape(samples, numGroups, channels // numGroups * math.prod(sizes))
    output, mean, inverse = _normalized(rows, eps, centred=True)
    output = _affine(output.reshape(input.shape), weight, bias, (1, channels, *[1] * len(sizes)))
    return output, {"save_mean": mean, "save_std": inverse}


def _torch_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, numGroups: int, eps: float = 1e-5
) -> Tensor:
    return F.group_norm(input, numGroups, weight, bias, eps)


def _grouped(
    name: str,
    groups: int,
    *shape: int,
    input: Maker | None = None,
    weight: bool = True,
    bias: bool = True,
    eps: float = 1e-5,
    differentiable: bool = True,
) -> SampleInput:
    arguments: dict[str, Any] = {
        "input": input or normal(*shape, scale=2, shift=1),
        "numGroups": groups,
        "eps": eps,
    }
    arguments |= {"weight": normal(shape[1])} if weight else {}
    arguments |= {"bias": normal(shape[1])} if bias else {}
    return SampleInput(name, arguments, differentiable)


def _errors_of_eps(module: str) -> tuple[ErrorInput, ...]:
    return (
        ErrorInput("eps below 0", {"eps": -1e-5}, ValueError, f"{module}_updateOutput: eps"),
        ErrorInput("eps NaN", {"eps": math.nan}, ValueError, f"{module}_updateOutput: eps"),
    )


_GROUPED, _INSTANCES = 32 * 256 * 14 * 14, 16 * 64 * 56 * 56

GROUP_NORMALIZATION = Case(
    module="GroupNormalization",
    reference=_group_normalization,
    baseline=_torch_group_norm,
    samples=(
        _grouped("images", 3, 2, 6, 4, 5),
        _grouped("instances", 4, 3, 4, 2, 3),
        _grouped("one group", 1, 2, 3, 2, 2),
        _grouped("vectors", 2, 4, 8),
        _grouped("sequences", 2, 2, 4, 9),
        _grouped("volumes", 2, 2, 4, 2, 3, 2),
        _grouped("one channel", 1, 3, 1, 7),
        _grouped("without weight", 2, 2, 4, 3, weight=False),
        _grouped("without bias", 2, 2, 4, 3, bias=False),
        _grouped("without parameters", 2, 2, 4, 3, weight=False, bias=False),
        _grouped("eps 0", 2, 2, 4, 3, eps=0.0),
        _grouped("many images", 2, 19, 4, 3, 5, differentiable=False),
        _grouped("many groups", 70, 2, 560, 3, differentiable=False),
        _grouped("wide groups", 2, 2, 1100, 3, differentiable=False),
        _grouped("long channels", 2, 1, 2, 129, 130, differentiable=False),
        _grouped("a large image", 4, 1, 40, 17, 27, differentiable=False),
        _grouped("equal values", 2, 2, 4, 3, input=constant(2, 4, 3, value=0.75), differentiable=False),
        _grouped(
            "equal values, eps 0",
            2,
            2,
            4,
            3,
            input=constant(2, 4, 3, value=0.75),
            eps=0.0,
            differentiable=False,
        ),
        _grouped("large means", 2, 2, 4, 6, 7, input=normal(2, 4, 6, 7, shift=50.0), differentiable=False),
        _grouped("empty", 3, 0, 6, 2, 2),
        _grouped("empty images", 3, 2, 6, 0),
    ),
    error_inputs=(
        ErrorInput("a vector", {"input": normal(6)}, ValueError, "input"),
        ErrorInput("no groups", {"numGroups": 0}, ValueError, "numGroups"),
        ErrorInput("fewer groups than 0", {"numGroups": -3}, ValueError, "numGroups"),
        ErrorInput("groups that do not divide", {"numGroups": 4}, ValueError, "numGroups"),
        ErrorInput("other weights", {"weight": normal(5)}, ValueError, "weight"),
        ErrorInput("other biases", {"bias": normal(6, 1)}, ValueError, "bias"),
        ErrorInput("groups that do not divide", {"numGroups": 4}, ValueError, "numGroups", "backward"),
        ErrorInput("other groups", {"numGroups": 2}, ValueError, "save_mean", "backward"),
        *_errors_of_eps("GroupNormalization"),
    ),
    rows=(
        Row(
            "GroupNormalization 32 (32,256,14,14)",
            _grouped("row", 32, 32, 256, 14, 14),
            bytes_moved={"fwd": 8.0 * _GROUPED, "fb": 20.0 * _GROUPED},
        ),
        Row(
            "GroupNormalization 64 (16,64,56,56)",
            _grouped("row of instances", 64, 16, 64, 56, 56),
            bytes_moved={"fwd": 8.0 * _INSTANCES, "fb": 20.0 * _INSTANCES},
        ),
    ),
)


# --- LayerNormalization and RMSNormalization --------------------------------------------------------------------------


def _rows(input: Tensor, dims: int) -> tuple[Tensor, tuple[int, ...]]:
    """The input as rows, and the shape of a row."""
    shape = tuple(input.shape[input.dim() - dims :])
    return input.reshape(math.prod(input.shape[: input.dim() - dims]), math.prod(shape)), shape


def _layer_normalization(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, dims: int = 1, eps: float = 1e-5
) -> Results:
    rows, shape = _rows(input, dims)
    output, mean, inverse = _normalized(rows, eps, centred=True)
    output = _affine(output.reshape(input.shape), weight, bias, shape)
    return output, {"save_mean": mean, "save_std": inverse}


def _rms_normalization(input: Tensor, weight: Tensor | None, dims: int = 1, eps: float = 1e-5) -> Results:
    rows, shape = _rows(input, dims)
    output, _, inverse = _normalized(rows, eps, centred=False)
    return _affine(output.reshape(input.shape), weight, None, shape), {"save_std": inverse}


def _torch_layer_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, dims: int = 1, eps: float = 1e-5
) -> Tensor:
    return F.layer_norm(input, input.shape[input.dim() - dims :], weight, bias, eps)


def _torch_rms_norm(input: Tensor, weight: Tensor | None, dims: int = 1, eps: float = 1e-5) -> Tensor:
    return F.rms_norm(input, input.shape[input.dim() - dims :], weight, eps)


def _in_rows(
    name: str,
    dims: int,
    *shape: int,
    input: Maker | None = None,
    parameters: tuple[str, ...] = ("weight", "bias"),
    eps: float = 1e-5,
    differentiable: bool = True,
) -> SampleInput:
    arguments: dict[str, Any] = {"input": input or normal(*shape, scale=2, shift=1), "dims": dims, "eps": eps}
    arguments |= {parameter: normal(*shape[len(shape) - dims :]) for parameter in parameters}
    return SampleInput(name, arguments, differentiable)


def _samples(*parameters: str) -> tuple[SampleInput, ...]:
    def sample(name: str, dims: int, *shape: int, **others: Any) -> SampleInput:
        return _in_rows(name, dims, *shape, **{"parameters": parameters, **others})

    equal = constant(3, 5, value=0.75)
    return (
        sample("sequences", 1, 2, 3, 7),
        sample("rows", 1, 5, 6),
        sample("one row", 1, 9),
        sample("images", 3, 2, 2, 3, 4),
        sample("planes", 2, 2, 3, 3, 5),
        sample("sizes 1", 2, 3, 1, 4),
        *(sample(f"without {p}", 1, 3, 5, parameters=[q for q in parameters if q != p]) for p in parameters),
        sample("without parameters", 1, 3, 5, parameters=()),
        sample("eps 0", 1, 3, 5, eps=0.0),
        sample("many rows", 1, 300, 37, differentiable=False),
        sample("long rows", 2, 5, 60, 61, differentiable=False),
        sample("equal values", 1, 3, 5, input=equal, differentiable=False),
        sample("zeros, eps 0", 1, 3, 5, input=constant(3, 5), eps=0.0, differentiable=False),
        sample("large means", 1, 3, 200, input=normal(3, 200, shift=50.0), differentiable=False),
        sample("empty", 1, 0, 5),
        sample("empty rows", 1, 3, 0),
    )


def _errors(module: str) -> tuple[ErrorInput, ...]:
    return (
        ErrorInput("dims 0", {"dims": 0}, ValueError, "dims"),
        ErrorInput("dims below 0", {"dims": -1}, ValueError, "dims"),
        ErrorInput("dims too large", {"dims": 4}, ValueError, "dims"),
        ErrorInput("no dimensions", {"input": normal()}, ValueError, "dims"),
        ErrorInput("other weights", {"weight": normal(6)}, ValueError, "weight"),
        ErrorInput("weights of more dimensions", {"dims": 2}, ValueError, "weight"),
        ErrorInput("dims 0", {"dims": 0}, ValueError, "dims", "backward"),
        ErrorInput("other weights", {"weight": normal(6)}, ValueError, "weight", "backward"),
        ErrorInput("statistics of other rows", {"save_std": normal(5)}, ValueError, "save_std", "backward"),
        *_errors_of_eps(module),
    )


_TOKENS = 4096 * 768

LAYER_NORMALIZATION = Case(
    module="LayerNormalization",
    reference=_layer_normalization,
    baseline=_torch_layer_norm,
    samples=_samples("weight", "bias"),
    error_inputs=_errors("LayerNormalization"),
    rows=(
        Row(
            "LayerNormalization (4096,768)",
            _in_rows("row", 1, 4096, 768),
            bytes_moved={"fwd": 8.0 * _TOKENS, "fb": 20.0 * _TOKENS},
        ),
    ),
)

RMS_NORMALIZATION = Case(
    module="RMSNormalization",
    reference=_rms_normalization,
    baseline=_torch_rms_norm,
    samples=_samples("weight"),
    error_inputs=_errors("RMSNormalization"),
    rows=(
        Row(
            "RMSNormalization (4096,768)",
            _in_rows("row", 1, 4096, 768, parameters=("weight",)),
            bytes_moved={"fwd": 8.0 * _TOKENS, "fb": 20.0 * _TOKENS},
        ),
    ),
)
