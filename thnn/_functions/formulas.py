"""Gradients as torch operations, for second derivatives of modules without a [DERIVATIVE] tag in the header.

A formula takes ``needs`` (which inputs need a gradient), then the values named by its parameters (``gradOutput``,
saved tensors and scalars, by their names in THNN.h), and returns the gradients by name. It computes the backward
under ``create_graph=True``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

Formula = Callable[..., Mapping[str, Tensor]]


def _channel_dim(tensor: Tensor) -> int:
    """The dimension that SoftMax normalizes: 0 for (C) and (C, H, W), 1 for (N, C) and (N, C, H, W)."""
    return 0 if tensor.dim() in (1, 3) else 1


def _threshold(needs: Any, gradOutput: Tensor, input: Tensor, threshold: float) -> dict[str, Tensor]:
    return {"gradInput": gradOutput.masked_fill(input <= threshold, 0)}


def _leaky_relu(needs: Any, gradOutput: Tensor, input: Tensor, negval: float) -> dict[str, Tensor]:
    return {"gradInput": torch.where(input > 0, gradOutput, gradOutput * negval)}


def _sigmoid(needs: Any, gradOutput: Tensor, output: Tensor) -> dict[str, Tensor]:
    return {"gradInput": gradOutput * output * (1 - output)}


def _tanh(needs: Any, gradOutput: Tensor, output: Tensor) -> dict[str, Tensor]:
    return {"gradInput": gradOutput * (1 - output * output)}


def _abs_activation(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    return {"gradInput": torch.where(input < 0, -gradOutput, gradOutput)}


def _sqrt(needs: Any, gradOutput: Tensor, output: Tensor) -> dict[str, Tensor]:
    is_zero = output == 0
    return {"gradInput": (gradOutput / (2 * output.masked_fill(is_zero, 1))).masked_fill(is_zero, 0)}


def _square(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    return {"gradInput": 2 * input * gradOutput}


def _hard_tanh(
    needs: Any, gradOutput: Tensor, input: Tensor, min_val: float, max_val: float
) -> dict[str, Tensor]:
    return {"gradInput": gradOutput.masked_fill((input <= min_val) | (input >= max_val), 0)}


def _shrink(needs: Any, gradOutput: Tensor, input: Tensor, lambda_: float) -> dict[str, Tensor]:
    return {"gradInput": gradOutput.masked_fill((input >= -lambda_) & (input <= lambda_), 0)}


def _elu(needs: Any, gradOutput: Tensor, output: Tensor, alpha: float) -> dict[str, Tensor]:
    return {"gradInput": torch.where(output > 0, gradOutput, gradOutput * (output + alpha))}


def _soft_plus(
    needs: Any, gradOutput: Tensor, output: Tensor, beta: float, threshold: float
) -> dict[str, Tensor]:
    slope = -torch.expm1(-beta * output)
    return {"gradInput": torch.where(beta * output > threshold, gradOutput, gradOutput * slope)}


def _log_sigmoid(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    return {"gradInput": gradOutput * torch.sigmoid(-input)}


def _gated_linear(needs: Any, gradOutput: Tensor, input: Tensor, dim: int) -> dict[str, Tensor]:
    a, b = input.chunk(2, dim)
    s = torch.sigmoid(b)
    return {"gradInput": torch.cat((gradOutput * s, gradOutput * a * s * (1 - s)), dim)}


def _prelu(
    needs: Any, gradOutput: Tensor, input: Tensor, weight: Tensor, nOutputPlane: int
) -> dict[str, Tensor]:
    channel = 0 if input.dim() == 1 else 1
    sizes = [-1 if nOutputPlane and d == channel else 1 for d in range(input.dim())]
    is_positive = input > 0
    products = (gradOutput * input).masked_fill(is_positive, 0)
    return {
        "gradInput": torch.where(is_positive, gradOutput, weight.reshape(sizes) * gradOutput),
        "gradWeight": products.sum_to_size([1 if s == 1 else nOutputPlane for s in sizes]).reshape(
            weight.shape
        ),
    }


def _rrelu(
    needs: Any, gradOutput: Tensor, input: Tensor, noise: Tensor, lower: float, upper: float, train: bool
) -> dict[str, Tensor]:
    if train and upper - lower > 1e-6:
        return {"gradInput": gradOutput * noise}
    return {"gradInput": torch.where(input > 0, gradOutput, gradOutput * ((lower + upper) / 2))}


def _softmax(needs: Any, gradOutput: Tensor, output: Tensor) -> dict[str, Tensor]:
    inner = (gradOutput * output).sum(_channel_dim(output), keepdim=True)
    return {"gradInput": output * (gradOutput - inner)}


def _log_softmax(needs: Any, gradOutput: Tensor, output: Tensor) -> dict[str, Tensor]:
    total = gradOutput.sum(_channel_dim(output), keepdim=True)
    return {"gradInput": gradOutput - output.exp() * total}


def _norm(input: Tensor, sizeAverage: bool) -> float:
    """The factor of the loss: 1 / number of elements if sizeAverage."""
    return 1 / max(input.numel(), 1) if sizeAverage else 1


def _mse(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    difference = input - target.reshape(input.shape)
    return {"gradInput": gradOutput * difference * (2 * _norm(input, sizeAverage))}


def _abs(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    sign = (input >= target.reshape(input.shape)).to(input.dtype) * 2 - 1
    return {"gradInput": gradOutput * sign * _norm(input, sizeAverage)}


def _smooth_l1(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    slope = (input - target.reshape(input.shape)).clamp(-1, 1)
    return {"gradInput": gradOutput * slope * _norm(input, sizeAverage)}


def _bce(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool, weights: Tensor | None
) -> dict[str, Tensor]:
    slope = (input - target.reshape(input.shape)) / (input * (1 - input)).clamp(min=1e-12)
    if weights is not None:
        slope = slope * weights.reshape(input.shape)
    return {"gradInput": gradOutput * slope * _norm(input, sizeAverage)}


def _l1_cost(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    return {"gradInput": gradOutput * input.sign()}


def _soft_margin(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    target = target.reshape(input.shape)
    slope = -target * torch.sigmoid(-input * target)
    return {"gradInput": gradOutput * slope * _norm(input, sizeAverage)}


def _multi_margin(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    target: Tensor,
    sizeAverage: bool,
    p: int,
    weights: Tensor | None,
    margin: float,
) -> dict[str, Tensor]:
    rows, targets = input.reshape(-1, input.shape[-1]), target.reshape(-1, 1)
    terms = margin - rows.gather(1, targets) + rows
    slope = terms if p == 2 else torch.ones_like(terms)
    slope = (slope * (p / rows.shape[1])).masked_fill(terms <= 0, 0).scatter(1, targets, 0)
    if weights is not None:
        slope = slope * weights[targets]
    slope = slope.scatter_add(1, targets, -slope.sum(1, keepdim=True))
    share = 1 / max(len(rows), 1) if sizeAverage else 1
    return {"gradInput": gradOutput * slope.reshape(input.shape) * share}


def _scatter(gradOutput: Tensor, input: Tensor, positions: Tensor, dims: int) -> dict[str, Tensor]:
    """gradOutput added at positions in the last `dims` dimensions of the input; negative ones are skipped."""
    size = math.prod(input.shape[-dims:])
    flat = positions.flatten(-dims)
    if flat.numel() and int(flat.max()) >= size:
        raise IndexError(f"indices: expected positions below {size}, got {int(flat.max())}")
    source = gradOutput.flatten(-dims).masked_fill(flat < 0, 0)
    planes = gradOutput.new_zeros((*input.shape[:-dims], size))
    return {"gradInput": planes.scatter_add(-1, flat.clamp(min=0), source).reshape(input.shape)}


def _lookup_table(
    needs: Any, gradOutput: Tensor, input: Tensor, weight: Tensor, scaleGradByFreq: bool, paddingValue: int
) -> dict[str, Tensor]:
    rows = input.flatten()
    factor = (rows != paddingValue).to(weight.dtype)
    if scaleGradByFreq:
        factor = factor / torch.bincount(rows, minlength=len(weight))[rows]
    scaled = gradOutput.reshape(-1, weight.shape[1]) * factor.unsqueeze(1)
    return {"gradWeight": torch.zeros_like(weight).index_add(0, rows, scaled)}


def _lookup_table_bag(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    offsets: Tensor | None,
    weight: Tensor,
    bagSize: Tensor,
    maxIndices: Tensor,
    mode: int,
    scaleGradByFreq: bool,
    paddingValue: int,
) -> dict[str, Tensor]:
    if mode == 2:
        found = maxIndices >= 0
        return {
            "gradWeight": torch.zeros_like(weight).scatter_add(0, maxIndices.clamp(min=0), gradOutput * found)
        }
    rows = input.flatten()
    if offsets is None:
        bags = torch.arange(len(input)).repeat_interleave(input.shape[1])
    else:
        bags = torch.searchsorted(offsets.contiguous(), torch.arange(len(rows)), right=True) - 1
    factor = (rows != paddingValue).to(weight.dtype)
    if mode == 1:
        factor = factor / bagSize[bags].clamp(min=1)
    if scaleGradByFreq:
        factor = factor / torch.bincount(rows, minlength=len(weight))[rows]
    return {"gradWeight": torch.zeros_like(weight).index_add(0, rows, gradOutput[bags] * factor.unsqueeze(1))}


def _or_zero(tensor: Tensor | None) -> Tensor | float:
    return 0.0 if tensor is None else tensor


def _lstm(
    needs: Any,
    gradOutput: Tensor | None,
    gradOutputCell: Tensor | None,
    gradStorage: Tensor | None,
    storage: Tensor,
    cell: Tensor,
    outputCell: Tensor,
) -> dict[str, Tensor]:
    """`storage` has the gates after sigmoid and tanh. It is an output of the class's autograd node, so it may have an
    incoming gradient, gradStorage."""
    i, f, g, o = storage.chunk(4, -1)
    by_i, by_f, by_g, by_o = gradStorage.chunk(4, -1) if gradStorage is not None else [0.0] * 4
    y, t = _or_zero(gradOutput), outputCell.tanh()
    c = y * o * (1 - t * t) + _or_zero(gradOutputCell)
    gates = (
        (c * g + by_i) * i * (1 - i),
        (c * cell + by_f) * f * (1 - f),
        (c * i + by_g) * (1 - g * g),
        (y * t + by_o) * o * (1 - o),
    )
    return {"gradInGates": torch.cat(gates, -1), "gradInputCx": c * f}


def _gru(
    needs: Any, gradOutput: Tensor | None, gradStorage: Tensor | None, storage: Tensor
) -> dict[str, Tensor]:
    """`storage` is an output of the class's autograd node, so it may have an incoming gradient, gradStorage."""
    r, z, new, old, part = storage.chunk(5, -1)
    by_r, by_z, by_new, by_old, by_part = gradStorage.chunk(5, -1) if gradStorage is not None else [0.0] * 5
    y = _or_zero(gradOutput)
    n = (y * (1 - z) + by_new) * (1 - new * new)
    reset, update = (n * part + by_r) * r * (1 - r), (y * (old - new) + by_z) * z * (1 - z)
    return {
        "gradInInput": torch.cat([reset, update, n], -1),
        "gradInHidden": torch.cat([reset, update, n * r + by_part], -1),
        "gradInputHx": y * z + by_old,
    }


def _at_positions(needs: Any, gradOutput: Tensor, input: Tensor, indices: Tensor) -> dict[str, Tensor]:
    return _scatter(gradOutput, input, indices, 2)


def _at_volume_positions(needs: Any, gradOutput: Tensor, input: Tensor, indices: Tensor) -> dict[str, Tensor]:
    return _scatter(gradOutput, input, indices, 3)


def _at_frames(needs: Any, gradOutput: Tensor, input: Tensor, indices: Tensor, dW: int) -> dict[str, Tensor]:
    frames = indices + torch.arange(indices.shape[-2])[:, None] * dW
    return {"gradInput": torch.zeros_like(input).scatter_add(-2, frames, gradOutput)}


def _unpacked(
    indices: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int] = (1, 1, 1),
) -> Tensor:
    """Positions in volumes of `size` of kernel elements that are packed into bytes; -1 stays -1."""
    positions = torch.zeros_like(indices)
    for axis in range(3):
        start = torch.arange(indices.shape[axis - 3]) * stride[axis] - padding[axis]
        start = start.reshape([-1 if axis == d else 1 for d in range(3)])
        at = start + (indices >> 8 * axis & 255) * dilation[axis]
        if bool(((at < 0) | (at >= size[axis])).logical_and(indices != -1).any()):
            raise IndexError("indices: expected elements of windows in the volume")
        positions = positions * size[axis] + at
    return positions.masked_fill(indices < 0, -1)


def _at_elements(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    indices: Tensor,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
) -> dict[str, Tensor]:
    positions = _unpacked(indices, input.shape[-3:], (dT, dH, dW), (pT, pH, pW))
    return _scatter(gradOutput, input, positions, 3)


def _at_dilated_elements(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    indices: Tensor,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
    dilationT: int,
    dilationW: int,
    dilationH: int,
) -> dict[str, Tensor]:
    dilation = (dilationT, dilationH, dilationW)
    positions = _unpacked(indices, input.shape[-3:], (dT, dH, dW), (pT, pH, pW), dilation)
    return _scatter(gradOutput, input, positions, 3)


def _take(gradOutput: Tensor, positions: Tensor, dims: int) -> dict[str, Tensor]:
    taken = gradOutput.flatten(-dims).gather(-1, positions.flatten(-dims))
    return {"gradInput": taken.reshape(positions.shape)}


def _from_positions(needs: Any, gradOutput: Tensor, indices: Tensor) -> dict[str, Tensor]:
    return _take(gradOutput, indices, 2)


def _from_elements(
    needs: Any,
    gradOutput: Tensor,
    indices: Tensor,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
) -> dict[str, Tensor]:
    return _take(gradOutput, _unpacked(indices, gradOutput.shape[-3:], (dT, dH, dW), (pT, pH, pW)), 3)


def _feature_lp_pooling(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    output: Tensor,
    power: float,
    width: int,
    stride: int,
    batchMode: bool,
) -> dict[str, Tensor]:
    dim = 1 if batchMode else 0
    ratio = input.unfold(dim, width, stride) / output.masked_fill(output == 0, 1).unsqueeze(-1)
    terms = gradOutput.masked_fill(output == 0, 0).unsqueeze(-1) * ratio ** (power - 1)
    features = torch.arange(output.shape[dim])[:, None] * stride + torch.arange(width)
    terms = terms.movedim(-1, dim + 1).flatten(dim, dim + 1)
    return {"gradInput": torch.zeros_like(input).index_add(dim, features.flatten(), terms)}


def _sum_over_channels(values: Tensor, before: int, after: int) -> Tensor:
    """The sum of each channel with as many channels before and after it."""
    channels = values.shape[-3]
    before, after = min(before, channels), min(after, channels)
    padded = torch.nn.functional.pad(values, (0, 0, 0, 0, before, after))
    return padded.unfold(-3, before + after + 1, 1).sum(-1) if channels else values


def _lrn(
    needs: Any, gradOutput: Tensor, input: Tensor, size: int, alpha: float, beta: float, k: float
) -> dict[str, Tensor]:
    before, after = size // 2, (size - 1) // 2
    scales = k + alpha / size * _sum_over_channels(input * input, before, after)
    through = _sum_over_channels(gradOutput * input * scales ** (-beta - 1), after, before)
    return {"gradInput": gradOutput * scales**-beta - 2 * alpha * beta / size * input * through}


FORMULAS: Mapping[str, Formula] = {
    "Abs": _abs_activation,
    "Sqrt": _sqrt,
    "Square": _square,
    "HardTanh": _hard_tanh,
    "HardShrink": _shrink,
    "SoftShrink": _shrink,
    "ELU": _elu,
    "SoftPlus": _soft_plus,
    "LogSigmoid": _log_sigmoid,
    "GatedLinear": _gated_linear,
    "PReLU": _prelu,
    "RReLU": _rrelu,
    "Threshold": _threshold,
    "LeakyReLU": _leaky_relu,
    "Sigmoid": _sigmoid,
    "Tanh": _tanh,
    "SoftMax": _softmax,
    "LogSoftMax": _log_softmax,
    "MSECriterion": _mse,
    "AbsCriterion": _abs,
    "SmoothL1Criterion": _smooth_l1,
    "BCECriterion": _bce,
    "L1Cost": _l1_cost,
    "SoftMarginCriterion": _soft_margin,
    "MultiMarginCriterion": _multi_margin,
    "LookupTable": _lookup_table,
    "LookupTableBag": _lookup_table_bag,
    "SpatialCrossMapLRN": _lrn,
    "LSTMFused": _lstm,
    "GRUFused": _gru,
    "SpatialMaxPooling": _at_positions,
    "SpatialDilatedMaxPooling": _at_positions,
    "SpatialAdaptiveMaxPooling": _at_positions,
    "SpatialFractionalMaxPooling": _at_positions,
    "VolumetricFractionalMaxPooling": _at_volume_positions,
    "TemporalMaxPooling": _at_frames,
    "VolumetricMaxPooling": _at_elements,
    "VolumetricDilatedMaxPooling": _at_dilated_elements,
    "SpatialMaxUnpooling": _from_positions,
    "VolumetricMaxUnpooling": _from_elements,
    "FeatureLPPooling": _feature_lp_pooling,
}
