"""Point-wise functions: any shape, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import constant, expanded, given, normal, uniform
from thnn.testing.cases.model import Case, ErrorInput, Maker, Row, SampleInput

_SHAPES = {
    "image": (2, 3, 5, 4),
    "without dimensions": (),
    "one element": (1,),
    "vector": (37,),
    "matrix": (5, 7),
    "volume": (2, 3, 2, 3, 2),
    "sizes 1": (1, 3, 1, 1),
    "six dimensions": (1, 2, 2, 1, 3, 2),
    "empty": (0, 3, 2, 2),
}
_EXTREMES = [
    0.0,
    -0.0,
    1e-310,
    -1e-310,
    1e-40,
    1e-8,
    -1e-8,
    20.0,
    -20.0,
    88.0,
    -88.0,
    745.0,
    -745.0,
    1e30,
    -1e30,
]


def _normal(*shape: int) -> Maker:
    return normal(*shape, scale=2)


def _samples(make: Callable[..., Maker] = _normal, **scalars: Any) -> tuple[SampleInput, ...]:
    return (
        *(SampleInput(name, {"input": make(*shape), **scalars}) for name, shape in _SHAPES.items()),
        SampleInput("many elements", {"input": make(3, 70, 91), **scalars}, differentiable=False),
        SampleInput("extremes", {"input": given(_EXTREMES), **scalars}, differentiable=False),
        SampleInput(
            "not finite",
            {"input": given([math.nan, math.inf, -math.inf, 1.0]), **scalars},
            differentiable=False,
        ),
    )


_ROW_BYTES = 4 * 32 * 64 * 56 * 56
_MEMORY_BOUND = {"ratio": 0.95, "best": 0.95, "channels_last": 0.95}
_TRANSCENDENTAL = {"ratio": 2.5, "fraction": 0.5}


def _row(
    name: str, goals: Mapping[str, float] = _MEMORY_BOUND, make: Callable[..., Maker] = normal, **scalars: Any
) -> Row:
    return Row(
        f"{name} (32,64,56,56)",
        SampleInput("row", {"input": make(32, 64, 56, 56), **scalars}),
        bytes_moved={"fwd": 2 * _ROW_BYTES, "fb": 5 * _ROW_BYTES},
        **goals,  # type: ignore[arg-type]
    )


_TOO_LARGE = ErrorInput("too large", {"input": expanded(2**31, 2**31)}, ValueError)


def _threshold(input: Tensor, threshold: float, val: float, inplace: bool = False) -> Tensor:
    return torch.where(input <= threshold, torch.full_like(input, val), input)


def _torch_threshold(input: Tensor, threshold: float, val: float, inplace: bool = False) -> Tensor:
    return F.relu(input) if threshold == val == 0 else F.threshold(input, threshold, val)


_SIXTEEN = SampleInput("row", {"input": normal(16), "threshold": 0.0, "val": 0.0})

THRESHOLD = Case(
    module="Threshold",
    reference=_threshold,
    baseline=_torch_threshold,
    samples=(
        *_samples(threshold=0.0, val=0.0),
        SampleInput("other limits", {"input": normal(6, 7), "threshold": 0.5, "val": -2.0}),
        SampleInput("value above the limit", {"input": normal(6, 7), "threshold": -1.0, "val": 20.0}),
        SampleInput(
            "all at the limit", {"input": constant(5, value=0.25), "threshold": 0.25, "val": 3.0}, False
        ),
        SampleInput("in place", {"input": normal(2, 3, 5, 4), "threshold": 0.5, "val": 0.5, "inplace": True}),
    ),
    error_inputs=(
        ErrorInput("in place, value above the limit", {"val": 1.0, "inplace": True}, ValueError, "val"),
        ErrorInput(
            "in place, value above the limit",
            {"val": 1.0, "inplace": True},
            ValueError,
            "val",
            phase="updateGradInput",
        ),
        _TOO_LARGE,
    ),
    rows=(
        _row("Threshold", threshold=0.0, val=0.0),
        Row("Threshold 16 floats, no_grad", _SIXTEEN, phases=("fwd",), judged="fwd", ratio=0.25),
        Row("Threshold 16 floats", _SIXTEEN, phases=("fb",), ratio=0.667),
    ),
)


def _leaky_relu(input: Tensor, negval: float, inplace: bool = False) -> Tensor:
    return torch.where(input > 0, input, input * negval)


LEAKY_RELU = Case(
    module="LeakyReLU",
    reference=_leaky_relu,
    baseline=lambda input, negval, inplace=False: F.leaky_relu(input, negval),
    samples=(
        *_samples(negval=0.1),
        SampleInput("slope 0", {"input": normal(6, 7), "negval": 0.0}),
        SampleInput("slope below 0", {"input": normal(6, 7), "negval": -0.5}),
        SampleInput("in place", {"input": normal(2, 3, 5, 4), "negval": 0.25, "inplace": True}),
    ),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("LeakyReLU", negval=0.01),),
)

SIGMOID = Case(
    module="Sigmoid",
    reference=torch.sigmoid,
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("Sigmoid"),),
)

TANH = Case(
    module="Tanh",
    reference=torch.tanh,
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("Tanh", {"ratio": 3, "fraction": 0.6}),),
)


def _abs(input: Tensor) -> Tensor:
    return torch.where(input < 0, -input, input)


ABS = Case(
    module="Abs",
    reference=_abs,
    baseline=torch.abs,
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("Abs"),),
)


def _sqrt(input: Tensor, eps: float = 0) -> Tensor:
    is_zero = input == 0
    return input.masked_fill(is_zero, 1).sqrt().masked_fill(is_zero, 0)


def _positive(*shape: int) -> Maker:
    return uniform(*shape, low=0.1, high=4)


SQRT = Case(
    module="Sqrt",
    reference=_sqrt,
    baseline=lambda input, eps=0: torch.sqrt(input),
    samples=_samples(_positive),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("Sqrt", make=_positive),),
)

SQUARE = Case(
    module="Square",
    reference=lambda input: input * input,
    baseline=torch.square,
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("Square"),),
)


def _hard_tanh(input: Tensor, min_val: float = -1, max_val: float = 1, inplace: bool = False) -> Tensor:
    low = torch.where(input <= min_val, torch.full_like(input, min_val), input)
    return torch.where(input >= max_val, torch.full_like(input, max_val), low)


HARD_TANH = Case(
    module="HardTanh",
    reference=_hard_tanh,
    baseline=lambda input, min_val=-1, max_val=1, inplace=False: F.hardtanh(input, min_val, max_val),
    samples=(
        *_samples(),
        SampleInput("other limits", {"input": normal(6, 7), "min_val": -0.25, "max_val": 0.5}),
        SampleInput(
            "at the limits", {"input": given([-1.0, 1.0, 0.5]), "min_val": -1.0, "max_val": 1.0}, False
        ),
        SampleInput("one value", {"input": normal(5), "min_val": 0.5, "max_val": 0.5}),
        SampleInput("in place", {"input": normal(2, 3, 5, 4), "inplace": True}),
    ),
    error_inputs=(
        ErrorInput("limits in wrong order", {"min_val": 2.0}, ValueError, "min_val"),
        ErrorInput(
            "limits in wrong order", {"max_val": -2.0}, ValueError, "min_val", phase="updateGradInput"
        ),
        _TOO_LARGE,
    ),
    rows=(_row("HardTanh"),),
)


def _hard_shrink(input: Tensor, lambda_: float = 0.5) -> Tensor:
    return input.masked_fill((input >= -lambda_) & (input <= lambda_), 0)


def _soft_shrink(input: Tensor, lambda_: float = 0.5) -> Tensor:
    moved = torch.where(input < 0, input + lambda_, input - lambda_)
    return moved.masked_fill((input >= -lambda_) & (input <= lambda_), 0)


_AT_LAMBDA = SampleInput("at the limits", {"input": given([-0.5, 0.5, 0.75]), "lambda": 0.5}, False)

HARD_SHRINK = Case(
    module="HardShrink",
    reference=_hard_shrink,
    baseline=lambda input, lambda_=0.5: F.hardshrink(input, lambda_),
    samples=(*_samples(), SampleInput("other limit", {"input": normal(6, 7), "lambda": 1.25}), _AT_LAMBDA),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("HardShrink"),),
)

SOFT_SHRINK = Case(
    module="SoftShrink",
    reference=_soft_shrink,
    baseline=lambda input, lambda_=0.5: F.softshrink(input, lambda_),
    samples=(*_samples(), SampleInput("other limit", {"input": normal(6, 7), "lambda": 1.25}), _AT_LAMBDA),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("SoftShrink"),),
)


def _elu(input: Tensor, alpha: float = 1, inplace: bool = False) -> Tensor:
    negative = input.masked_fill(input > 0, 0)
    return torch.where(input > 0, input, alpha * torch.expm1(negative))


ELU = Case(
    module="ELU",
    reference=_elu,
    baseline=lambda input, alpha=1, inplace=False: F.elu(input, alpha),
    samples=(
        *_samples(alpha=1.0),
        SampleInput("other alpha", {"input": normal(6, 7), "alpha": 0.3}),
        SampleInput("alpha 0", {"input": normal(6, 7), "alpha": 0.0}),
        SampleInput("in place", {"input": normal(2, 3, 5, 4), "alpha": 0.5, "inplace": True}),
    ),
    error_inputs=(
        ErrorInput("alpha below 0", {"alpha": -1.0}, ValueError, "alpha", phase="updateGradInput"),
        _TOO_LARGE,
    ),
    rows=(_row("ELU", _TRANSCENDENTAL),),
)


class _WithSlope(torch.autograd.Function):
    """A value with a given derivative w.r.t. the input."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, value: Tensor, slope: Tensor) -> Tensor:
        ctx.save_for_backward(slope)
        return value.clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        return g * ctx.saved_tensors[0], None, None


def _soft_plus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    x = input.detach()
    value = torch.where(x * beta > threshold, x, torch.logaddexp(x * beta, torch.zeros_like(x)) / beta)
    slope = torch.where(value * beta > threshold, 1.0, -torch.expm1(-value * beta))
    return _WithSlope.apply(input, value, slope)


SOFT_PLUS = Case(
    module="SoftPlus",
    reference=_soft_plus,
    baseline=lambda input, beta=1, threshold=20: F.softplus(input, beta, threshold),
    samples=(
        *_samples(),
        SampleInput("steep", {"input": normal(6, 7), "beta": 2.5}),
        SampleInput("flat", {"input": normal(6, 7), "beta": 0.25}),
        SampleInput("low threshold", {"input": normal(6, 7), "beta": 1.0, "threshold": 1.0}, False),
    ),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("SoftPlus", _TRANSCENDENTAL),),
)

LOG_SIGMOID = Case(
    module="LogSigmoid",
    reference=F.logsigmoid,
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("LogSigmoid", _TRANSCENDENTAL),),
)


def _gelu(input: Tensor) -> Tensor:
    return input * torch.special.ndtr(input)


GELU = Case(
    module="GELU",
    reference=_gelu,
    baseline=F.gelu,
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("GELU", _TRANSCENDENTAL),),
)


def _gelu_tanh(input: Tensor) -> Tensor:
    bounded = input.clamp(-25, 25)
    return input * torch.sigmoid(math.sqrt(8 / math.pi) * (bounded + 0.044715 * bounded**3))


GELU_TANH = Case(
    module="GELUTanh",
    reference=_gelu_tanh,
    baseline=lambda input: F.gelu(input, approximate="tanh"),
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("GELUTanh", _TRANSCENDENTAL),),
)

SILU = Case(
    module="SiLU",
    reference=lambda input, inplace=False: input * torch.sigmoid(input),
    baseline=lambda input, inplace=False: F.silu(input),
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("SiLU", _TRANSCENDENTAL),),
)

MISH = Case(
    module="Mish",
    reference=lambda input, inplace=False: input * torch.tanh(F.softplus(input)),
    baseline=lambda input, inplace=False: F.mish(input),
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("Mish", _TRANSCENDENTAL),),
)

_AT_3 = SampleInput("at the limits", {"input": given([-3.0, 3.0, 2.5])}, differentiable=False)


def _hard_swish(input: Tensor, inplace: bool = False) -> Tensor:
    inside = input.masked_fill((input <= -3) | (input >= 3), 0)
    product = torch.where(input <= -3, input * 0, inside * ((inside + 3) / 6))
    return torch.where(input >= 3, input, product)


HARD_SWISH = Case(
    module="HardSwish",
    reference=_hard_swish,
    baseline=lambda input, inplace=False: F.hardswish(input),
    samples=(*_samples(), _AT_3),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("HardSwish"),),
)


def _hard_sigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    value = (input + 3) / 6
    value = torch.where(input <= -3, torch.zeros_like(input), value)
    return torch.where(input >= 3, torch.ones_like(input), value)


HARD_SIGMOID = Case(
    module="HardSigmoid",
    reference=_hard_sigmoid,
    baseline=lambda input, inplace=False: F.hardsigmoid(input),
    samples=(*_samples(), _AT_3),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("HardSigmoid"),),
)


def _celu(input: Tensor, alpha: float = 1, inplace: bool = False) -> Tensor:
    negative = input.masked_fill(input > 0, 0)
    return torch.where(input > 0, input, alpha * torch.expm1(negative / alpha))


CELU = Case(
    module="CELU",
    reference=_celu,
    baseline=lambda input, alpha=1, inplace=False: F.celu(input, alpha),
    samples=(
        *_samples(alpha=1.0),
        SampleInput("other alpha", {"input": normal(6, 7), "alpha": 0.3}),
        SampleInput("in place", {"input": normal(2, 3, 5, 4), "alpha": 0.5, "inplace": True}),
    ),
    error_inputs=(
        *(
            ErrorInput(f"alpha {alpha}", {"alpha": alpha}, ValueError, "alpha", phase=phase)
            for alpha in (0.0, -1.0, math.nan)
            for phase in ("updateOutput", "updateGradInput")
        ),
        _TOO_LARGE,
    ),
    rows=(_row("CELU", _TRANSCENDENTAL),),
)


def _selu(input: Tensor, inplace: bool = False) -> Tensor:
    negative = input.masked_fill(input > 0, 0)
    return 1.0507009873554805 * torch.where(input > 0, input, 1.6732632423543772 * torch.expm1(negative))


SELU = Case(
    module="SELU",
    reference=_selu,
    baseline=lambda input, inplace=False: F.selu(input),
    samples=(*_samples(), SampleInput("in place", {"input": normal(2, 3, 5, 4), "inplace": True})),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("SELU", _TRANSCENDENTAL),),
)


def _soft_sign(input: Tensor) -> Tensor:
    value = input / (1 + input.abs())
    return _WithSlope.apply(input, value.detach(), (1 + input.detach().abs()) ** -2)


SOFT_SIGN = Case(
    module="SoftSign",
    reference=_soft_sign,
    baseline=F.softsign,
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("SoftSign"),),
)

TANH_SHRINK = Case(
    module="TanhShrink",
    reference=lambda input: input - torch.tanh(input),
    baseline=F.tanhshrink,
    samples=_samples(),
    error_inputs=(_TOO_LARGE,),
    rows=(_row("TanhShrink", _TRANSCENDENTAL),),
)
