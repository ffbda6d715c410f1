"""Gradients of activations as torch operations. The package describes their arguments and results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from thnn._derivatives.formulas.model import Formula


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


def _abs(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
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


def _gelu(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    cdf = 0.5 * torch.erfc(-math.sqrt(0.5) * input)
    density = torch.exp(-0.5 * input * input) / math.sqrt(2 * math.pi)
    return {"gradInput": gradOutput * (cdf + input * density)}


def _gelu_tanh(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    bounded = input.clamp(-25, 25)  # beyond it, the result is 0 or 1, without an overflow
    squares = bounded * bounded
    factor = math.sqrt(8 / math.pi)
    s = torch.sigmoid(factor * bounded * (1 + 0.044715 * squares))
    slope = factor * bounded * (1 + 3 * 0.044715 * squares)
    return {"gradInput": gradOutput * s * (1 + slope * (1 - s))}


def _silu(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    s = torch.sigmoid(input)
    return {"gradInput": gradOutput * s * (1 + input * (1 - s))}


def _mish(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    t = torch.tanh(torch.nn.functional.softplus(input))
    return {"gradInput": gradOutput * (t + input * (1 - t * t) * torch.sigmoid(input))}


def _hard_swish(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    inside = torch.where(input >= 3, gradOutput, gradOutput * (input / 3 + 0.5))
    return {"gradInput": inside.masked_fill(input <= -3, 0)}


def _hard_sigmoid(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    return {"gradInput": (gradOutput / 6).masked_fill((input <= -3) | (input >= 3), 0)}


def _celu(needs: Any, gradOutput: Tensor, output: Tensor, alpha: float) -> dict[str, Tensor]:
    return {"gradInput": torch.where(output > 0, gradOutput, gradOutput * (output / alpha + 1))}


def _selu(needs: Any, gradOutput: Tensor, output: Tensor) -> dict[str, Tensor]:
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    return {"gradInput": torch.where(output > 0, scale * gradOutput, gradOutput * (output + scale * alpha))}


def _soft_sign(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    return {"gradInput": gradOutput / (1 + input.abs()).square()}


def _tanh_shrink(needs: Any, gradOutput: Tensor, input: Tensor) -> dict[str, Tensor]:
    return {"gradInput": gradOutput * torch.tanh(input).square()}


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


FORMULAS: Mapping[str, Formula] = {
    "Abs": _abs,
    "Sqrt": _sqrt,
    "Square": _square,
    "HardTanh": _hard_tanh,
    "HardShrink": _shrink,
    "SoftShrink": _shrink,
    "ELU": _elu,
    "SoftPlus": _soft_plus,
    "LogSigmoid": _log_sigmoid,
    "GELU": _gelu,
    "GELUTanh": _gelu_tanh,
    "SiLU": _silu,
    "Mish": _mish,
    "HardSwish": _hard_swish,
    "HardSigmoid": _hard_sigmoid,
    "CELU": _celu,
    "SELU": _selu,
    "SoftSign": _soft_sign,
    "TanhShrink": _tanh_shrink,
    "GatedLinear": _gated_linear,
    "PReLU": _prelu,
    "RReLU": _rrelu,
    "Threshold": _threshold,
    "LeakyReLU": _leaky_relu,
    "Sigmoid": _sigmoid,
    "Tanh": _tanh,
    "SoftMax": _softmax,
    "LogSoftMax": _log_softmax,
}
