"""Layers of activations."""

from __future__ import annotations

import torch
from torch import Tensor

from thnn.nn._layer import layer_doc, layer_forward
from thnn.nn.functional import activation as F

_ANY = "input and output (*), any shape"
_IN_PLACE = "With inplace=True the input is overwritten."
_IN_PLACE_BY_TORCH = _IN_PLACE + " A call in place with a gradient is computed by torch."


class Threshold(torch.nn.Threshold):
    __doc__ = layer_doc(
        "Threshold",
        "input where it exceeds threshold, else value",
        _ANY,
        "ThresholdFunction",
        remarks=_IN_PLACE,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class ReLU(torch.nn.ReLU):
    __doc__ = layer_doc("ReLU", "max(input, 0)", _ANY, "ThresholdFunction", remarks=_IN_PLACE)

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class Hardtanh(torch.nn.Hardtanh):
    __doc__ = layer_doc(
        "Hardtanh", "min(max(input, min_val), max_val)", _ANY, "HardTanhFunction", remarks=_IN_PLACE
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(torch.nn.ReLU6):
    __doc__ = layer_doc("ReLU6", "min(max(input, 0), 6)", _ANY, "HardTanhFunction", remarks=_IN_PLACE)

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class LeakyReLU(torch.nn.LeakyReLU):
    __doc__ = layer_doc(
        "LeakyReLU",
        "input where it is positive, else negative_slope * input",
        _ANY,
        "LeakyReLUFunction",
        remarks=_IN_PLACE,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class PReLU(torch.nn.PReLU):
    __doc__ = layer_doc(
        "PReLU",
        "input where it is positive, else weight * input",
        "input and output (N, C, ...), weight (C); any shape with a weight (1)",
        "PReLUFunction",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)


class RReLU(torch.nn.RReLU):
    __doc__ = layer_doc(
        "RReLU",
        "input where it is positive, else slope * input with a slope per element",
        _ANY,
        "RReLUFunction",
        remarks="Slopes: in training uniform in [lower, upper), drawn by torch's default generator, but not torch's"
        "\n    numbers; in evaluation (lower + upper) / 2. With inplace=True the input is overwritten.",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class ELU(torch.nn.ELU):
    __doc__ = layer_doc(
        "ELU",
        "input where it is positive, else alpha * (exp(input) - 1)",
        _ANY,
        "ELUFunction, by torch for a negative alpha",
        remarks=_IN_PLACE,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(torch.nn.CELU):
    __doc__ = layer_doc(
        "CELU",
        "input where it is positive, else alpha * (exp(input / alpha) - 1)",
        _ANY,
        "CELUFunction, by torch for a negative alpha",
        remarks=_IN_PLACE,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class SELU(torch.nn.SELU):
    __doc__ = layer_doc(
        "SELU",
        "scale * input where it is positive, else scale * alpha * (exp(input) - 1), with the constants of torch",
        _ANY,
        "SELUFunction",
        remarks=_IN_PLACE,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class GELU(torch.nn.GELU):
    __doc__ = layer_doc(
        "GELU",
        "input * P(input), P being the standard normal distribution function or its approximation by tanh",
        _ANY,
        "GELUFunction and GELUTanhFunction",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, self.approximate)


class SiLU(torch.nn.SiLU):
    __doc__ = layer_doc("SiLU", "input * sigmoid(input)", _ANY, "SiLUFunction", remarks=_IN_PLACE_BY_TORCH)

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(torch.nn.Mish):
    __doc__ = layer_doc(
        "Mish", "input * tanh(log(1 + exp(input)))", _ANY, "MishFunction", remarks=_IN_PLACE_BY_TORCH
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardswish(torch.nn.Hardswish):
    __doc__ = layer_doc(
        "Hardswish",
        "input * min(max(input + 3, 0), 6) / 6",
        _ANY,
        "HardSwishFunction",
        remarks=_IN_PLACE_BY_TORCH,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class Hardsigmoid(torch.nn.Hardsigmoid):
    __doc__ = layer_doc(
        "Hardsigmoid",
        "min(max(input + 3, 0), 6) / 6",
        _ANY,
        "HardSigmoidFunction",
        remarks=_IN_PLACE_BY_TORCH,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Softsign(torch.nn.Softsign):
    __doc__ = layer_doc("Softsign", "input / (1 + |input|)", _ANY, "SoftSignFunction")

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(torch.nn.Tanhshrink):
    __doc__ = layer_doc("Tanhshrink", "input - tanh(input)", _ANY, "TanhShrinkFunction")

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class GLU(torch.nn.GLU):
    __doc__ = layer_doc(
        "GLU",
        "a * sigmoid(b) for the halves a and b of the input along dim",
        "input (..., 2 * M, ...), output (..., M, ...)",
        "GatedLinearFunction",
        errors="IndexError for a dim that the input does not have, ",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


class Hardshrink(torch.nn.Hardshrink):
    __doc__ = layer_doc("Hardshrink", "input outside of [-lambd, lambd], else 0", _ANY, "HardShrinkFunction")

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(torch.nn.Softshrink):
    __doc__ = layer_doc(
        "Softshrink", "input moved towards 0 by lambd, 0 in [-lambd, lambd]", _ANY, "SoftShrinkFunction"
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class LogSigmoid(torch.nn.LogSigmoid):
    __doc__ = layer_doc("LogSigmoid", "log(1 / (1 + exp(-input)))", _ANY, "LogSigmoidFunction")

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softplus(torch.nn.Softplus):
    __doc__ = layer_doc(
        "Softplus",
        "log(1 + exp(beta * input)) / beta, and input where beta * input exceeds threshold",
        _ANY,
        "SoftPlusFunction",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class Sigmoid(torch.nn.Sigmoid):
    __doc__ = layer_doc("Sigmoid", "1 / (1 + exp(-input))", _ANY, "SigmoidFunction")

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(torch.nn.Tanh):
    __doc__ = layer_doc("Tanh", "The hyperbolic tangent", _ANY, "TanhFunction")

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


_DIM = "With dim=None, dim is 0 for inputs of 0, 1 and 3 dimensions, otherwise 1."
_DIM_ERROR = "IndexError for a dim that the input does not have, "


class Softmax(torch.nn.Softmax):
    __doc__ = layer_doc(
        "Softmax",
        "exp(input) / its sum along dim",
        _ANY,
        "SoftMaxFunction",
        remarks=_DIM,
        errors=_DIM_ERROR,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class Softmax2d(torch.nn.Softmax2d):
    __doc__ = layer_doc(
        "Softmax2d",
        "exp(input) / its sum over the channels",
        "input and output (N, C, H, W) or (C, H, W)",
        "SoftMaxFunction",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(
                f"input: expected 4 dimensions (N, C, H, W) or 3 (C, H, W), got shape {tuple(input.shape)}"
            )
        return F.softmax(input, -3)


class Softmin(torch.nn.Softmin):
    __doc__ = layer_doc(
        "Softmin",
        "exp(-input) / its sum along dim",
        _ANY,
        "SoftMaxFunction",
        remarks=_DIM,
        errors=_DIM_ERROR,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class LogSoftmax(torch.nn.LogSoftmax):
    __doc__ = layer_doc(
        "LogSoftmax",
        "input - log of the sum of exp(input) along dim",
        _ANY,
        "LogSoftMaxFunction",
        remarks=_DIM,
        errors=_DIM_ERROR,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)
