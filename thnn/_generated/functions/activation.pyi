"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
# ruff: noqa: N803, E501, D
from typing import Any

from torch import Generator, Tensor

from thnn._functions.base import FunctionBase

class ThresholdFunction(FunctionBase):
    """Threshold: output = val where input <= threshold, else input. Any shape. With threshold and val 0 this is ReLU.
    NaN is not at or below the threshold: it stays NaN.
    Errors: ValueError if inplace and val > threshold, where the backward could no longer tell the two cases apart.
    Source: Torch7 nn.Threshold.

    Calls:
        ThresholdFunction(threshold, val, inplace)(input)
        ThresholdFunction.apply(input, threshold, val, inplace)

    Arguments:
        input: Tensor (real): input, any shape; overwritten if inplace
        threshold: float: values above it are kept
        val: float: replaces the other values
        inplace: bool, default False: write the result into input

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Threshold w.r.t. its input: 0 where input <= threshold, else gradOutput.
    """
    def __init__(self, threshold: float, val: float, inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, threshold: float, val: float, inplace: bool = ...) -> Tensor: ...

class LeakyReLUFunction(FunctionBase):
    """LeakyReLU: output = input where input > 0, else negval * input. Any shape.
    Source: Maas, Hannun and Ng 2013.

    Calls:
        LeakyReLUFunction(negval, inplace)(input)
        LeakyReLUFunction.apply(input, negval, inplace)

    Arguments:
        input: Tensor (real): input, any shape; overwritten if inplace
        negval: float: slope where input is not positive
        inplace: bool, default False: write the result into input

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of LeakyReLU w.r.t. its input: gradOutput where input > 0, else negval * gradOutput.
    """
    def __init__(self, negval: float, inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, negval: float, inplace: bool = ...) -> Tensor: ...

class SigmoidFunction(FunctionBase):
    """Sigmoid: output = 1 / (1 + exp(-input)). Any shape. Source: Torch7 nn.Sigmoid.

    Calls:
        SigmoidFunction()(input)
        SigmoidFunction.apply(input)

    Arguments:
        input: Tensor (real): input, any shape

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Sigmoid w.r.t. its input: gradOutput * output * (1 - output).
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class TanhFunction(FunctionBase):
    """Tanh: output = tanh(input). Any shape. Source: Torch7 nn.Tanh.

    Calls:
        TanhFunction()(input)
        TanhFunction.apply(input)

    Arguments:
        input: Tensor (real): input, any shape

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Tanh w.r.t. its input: gradOutput * (1 - output^2).
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class SoftMaxFunction(FunctionBase):
    """SoftMax: output = exp(input) / sum over channels of exp(input), computed after subtracting the maximum.

    Shapes: input (C), (N, C), (C, H, W) or (N, C, H, W). Errors: ValueError for other dimensions.
    Source: Torch7 nn.SoftMax.

    Calls:
        SoftMaxFunction()(input)
        SoftMaxFunction.apply(input)

    Arguments:
        input: Tensor (real): input (C), (N, C), (C, H, W) or (N, C, H, W)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SoftMax w.r.t. its input: output * (gradOutput - sum over channels of gradOutput * output).
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class LogSoftMaxFunction(FunctionBase):
    """LogSoftMax: output = input - log(sum over channels of exp(input)), the logarithm of SoftMax.

    Shapes: input (C), (N, C), (C, H, W) or (N, C, H, W). Errors: ValueError for other dimensions.
    Source: Torch7 nn.LogSoftMax.

    Calls:
        LogSoftMaxFunction()(input)
        LogSoftMaxFunction.apply(input)

    Arguments:
        input: Tensor (real): input (C), (N, C), (C, H, W) or (N, C, H, W)

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of LogSoftMax w.r.t. its input: gradOutput - exp(output) * sum over channels of gradOutput.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class AbsFunction(FunctionBase):
    """Abs: output = |input|. Any shape. Source: Torch7 nn.Abs.

    Calls:
        AbsFunction()(input)
        AbsFunction.apply(input)

    Arguments:
        input: Tensor (real): input, any shape

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Abs w.r.t. its input: -gradOutput where input < 0, else gradOutput.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class SqrtFunction(FunctionBase):
    """Sqrt: output = sqrt(input), NaN where input < 0. Any shape. Source: Torch7 nn.Sqrt.

    Calls:
        SqrtFunction(eps)(input)
        SqrtFunction.apply(input, eps)

    Arguments:
        input: Tensor (real): input, any shape
        eps: float, default 0.0: unused

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Sqrt w.r.t. its input: gradOutput / (2 * output), and 0 where output is 0.
    """
    def __init__(self, eps: float = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, eps: float = ...) -> Tensor: ...

class SquareFunction(FunctionBase):
    """Square: output = input^2. Any shape. Source: Torch7 nn.Square.

    Calls:
        SquareFunction()(input)
        SquareFunction.apply(input)

    Arguments:
        input: Tensor (real): input, any shape

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Square w.r.t. its input: 2 * input * gradOutput.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class HardTanhFunction(FunctionBase):
    """HardTanh: output = min(max(input, min_val), max_val). Any shape; NaN stays NaN.
    Errors: ValueError if min_val > max_val. Source: Torch7 nn.HardTanh.

    Calls:
        HardTanhFunction(min_val, max_val, inplace)(input)
        HardTanhFunction.apply(input, min_val, max_val, inplace)

    Arguments:
        input: Tensor (real): input, any shape; overwritten if inplace
        min_val: float, default -1.0: least value of output
        max_val: float, default 1.0: largest value of output
        inplace: bool, default False: write the result into input

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of HardTanh w.r.t. its input: gradOutput between the limits, 0 at the limits and beyond.
    """
    def __init__(self, min_val: float = ..., max_val: float = ..., inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, min_val: float = ..., max_val: float = ..., inplace: bool = ...) -> Tensor: ...

class HardShrinkFunction(FunctionBase):
    """HardShrink: output = 0 where -lambda <= input <= lambda, else input. Any shape; NaN stays NaN. Source: Torch7
    nn.HardShrink.

    Calls:
        HardShrinkFunction(lambda)(input)
        HardShrinkFunction.apply(input, lambda)

    Arguments:
        input: Tensor (real): input, any shape
        lambda: float, default 0.5: limit of the values that become 0

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of HardShrink w.r.t. its input: 0 where -lambda <= input <= lambda, else gradOutput.
    """
    def __init__(self, lambda_: float = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, lambda_: float = ...) -> Tensor: ...

class SoftShrinkFunction(FunctionBase):
    """SoftShrink: output = input - lambda where input > lambda, input + lambda where input < -lambda, else 0. Any shape;
    NaN stays NaN. Source: Torch7 nn.SoftShrink.

    Calls:
        SoftShrinkFunction(lambda)(input)
        SoftShrinkFunction.apply(input, lambda)

    Arguments:
        input: Tensor (real): input, any shape
        lambda: float, default 0.5: distance by which values move towards 0

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SoftShrink w.r.t. its input: 0 where -lambda <= input <= lambda, else gradOutput.
    """
    def __init__(self, lambda_: float = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, lambda_: float = ...) -> Tensor: ...

class ELUFunction(FunctionBase):
    """ELU: output = input where input > 0, else alpha * (exp(input) - 1). Any shape. Source: Clevert, Unterthiner and
    Hochreiter 2015.

    Calls:
        ELUFunction(alpha, inplace)(input)
        ELUFunction.apply(input, alpha, inplace)

    Arguments:
        input: Tensor (real): input, any shape; overwritten if inplace
        alpha: float, default 1.0: output tends to -alpha for negative inputs
        inplace: bool, default False: write the result into input

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of ELU w.r.t. its input: gradOutput where output > 0, else gradOutput * (output + alpha).
    Errors: ValueError if alpha < 0, where the sign of output does not determine the sign of input.
    """
    def __init__(self, alpha: float = ..., inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, alpha: float = ..., inplace: bool = ...) -> Tensor: ...

class SoftPlusFunction(FunctionBase):
    """SoftPlus: output = log(1 + exp(beta * input)) / beta, and input where beta * input > threshold. Any shape. Source:
    Torch7 nn.SoftPlus.

    Calls:
        SoftPlusFunction(beta, threshold)(input)
        SoftPlusFunction.apply(input, beta, threshold)

    Arguments:
        input: Tensor (real): input, any shape
        beta: float, default 1.0: steepness
        threshold: float, default 20.0: output is input where beta * input is above it

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SoftPlus w.r.t. its input: gradOutput where beta * output > threshold, else gradOutput * (1 - exp(-beta *
    output)).
    """
    def __init__(self, beta: float = ..., threshold: float = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, beta: float = ..., threshold: float = ...) -> Tensor: ...

class LogSigmoidFunction(FunctionBase):
    """LogSigmoid: output = log(1 / (1 + exp(-input))), without overflow. Any shape. Source: Torch7 nn.LogSigmoid.

    Calls:
        LogSigmoidFunction()(input)
        LogSigmoidFunction.apply(input)

    Arguments:
        input: Tensor (real): input, any shape

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of LogSigmoid w.r.t. its input: gradOutput / (1 + exp(input)).
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class PReLUFunction(FunctionBase):
    """PReLU: output = input where input > 0, else weight * input; one weight per channel, or one for all.

    Shapes: input (N, C, ...) or (C) with weight (C) and nOutputPlane C; input of any shape with one weight and
    nOutputPlane 0. Errors: ValueError for sizes that do not fit. Source: He, Zhang, Ren and Sun 2015.

    Calls:
        PReLUFunction(nOutputPlane)(input, weight)
        PReLUFunction.apply(input, weight, nOutputPlane)

    Arguments:
        input: Tensor (real): input (N, C, ...) or (C); any shape for a shared slope
        weight: Tensor (real): slopes (C), or one element
        nOutputPlane: int, default 0: C, or 0 for a shared slope

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of PReLU w.r.t. its input: gradOutput where input > 0, else weight * gradOutput.

    Gradient of PReLU w.r.t. its slopes, accumulated: gradWeight[c] += scale * sum of input * gradOutput over the
    elements of channel c (of all channels if nOutputPlane is 0) with input <= 0.
    """
    def __init__(self, nOutputPlane: int = ...) -> None: ...
    def __call__(self, input: Tensor, weight: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, weight: Tensor, nOutputPlane: int = ...) -> Tensor: ...

class GatedLinearFunction(FunctionBase):
    """GatedLinear: output = a * sigmoid(b), where a and b are the halves of input along dimension dim.

    Shapes: output is sized as a. Errors: ValueError for a dim that input lacks or that has an odd size. Source:
    Dauphin, Fan, Auli and Grangier 2016.

    Calls:
        GatedLinearFunction(dim)(input)
        GatedLinearFunction.apply(input, dim)

    Arguments:
        input: Tensor (real): input, an even size along dim
        dim: int: dimension of the halves, from 0

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of GatedLinear w.r.t. its input: gradOutput * s for the first half, gradOutput * a * s * (1 - s) for the
    second, s = sigmoid(b).
    """
    def __init__(self, dim: int) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, dim: int) -> Tensor: ...

class RReLUFunction(FunctionBase):
    """RReLU: output = input where input > 0, else slope * input. The slope is (lower + upper) / 2 or, if train, a
    random number for each element, uniform between lower and upper. Any shape.

    The slopes depend on the generator, which gives one number per call, and on the index of the element, but neither
    on strides nor on threads.
    Errors: ValueError if lower > upper or either is not finite. Source: Xu, Wang, Chen and Li 2015.

    Calls:
        RReLUFunction(lower, upper, train, inplace)(input)
        RReLUFunction.apply(input, lower, upper, train, inplace)

    Arguments:
        input: Tensor (real): input, any shape; overwritten if inplace
        lower: float, default 0.125: least slope
        upper: float, default 0.3333333333333333: largest slope
        train: bool, default False: random slopes
        inplace: bool, default False: write the result into input
        generator: torch.Generator or None, default None: torch's default generator

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of RReLU w.r.t. its input: gradOutput * noise if train and upper - lower > 1e-6, otherwise gradOutput where
    input > 0 and gradOutput * (lower + upper) / 2 elsewhere.
    """
    def __init__(self, lower: float = ..., upper: float = ..., train: bool = ..., inplace: bool = ..., generator: Generator | None = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, lower: float = ..., upper: float = ..., train: bool = ..., inplace: bool = ..., generator: Generator | None = ...) -> Tensor: ...

class GELUFunction(FunctionBase):
    """GELU: output = input * P(input), where P is the distribution function of the standard normal distribution,
    P(x) = (1 + erf(x / sqrt(2))) / 2. Any shape. Added after 2017. Source: Hendrycks and Gimpel 2016; torch.nn.GELU.

    Calls:
        GELUFunction()(input)
        GELUFunction.apply(input)

    Arguments:
        input: Tensor (real): input, any shape

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of GELU w.r.t. its input: gradOutput * (P(input) + input * exp(-input^2 / 2) / sqrt(2 * pi)).
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class GELUTanhFunction(FunctionBase):
    """GELUTanh: output = 0.5 * input * (1 + tanh(u)) with u = sqrt(2 / pi) * (input + 0.044715 * input^3), an approximation
    of GELU. Any shape. Added after 2017. Source: Hendrycks and Gimpel 2016; torch.nn.GELU(approximate='tanh').

    Calls:
        GELUTanhFunction()(input)
        GELUTanhFunction.apply(input)

    Arguments:
        input: Tensor (real): input, any shape

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of GELUTanh w.r.t. its input: gradOutput * (s + 2 * input * s * (1 - s) * du/dinput), where s is
    (1 + tanh(u)) / 2.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class SiLUFunction(FunctionBase):
    """SiLU: output = input * sigmoid(input). Any shape. Added after 2017. Source: Elfwing, Uchibe and Doya 2017;
    torch.nn.SiLU.

    Calls:
        SiLUFunction(inplace)(input)
        SiLUFunction.apply(input, inplace)

    Arguments:
        input: Tensor (real): input, any shape; overwritten if inplace
        inplace: bool, default False: write the result into input

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SiLU w.r.t. its input: gradOutput * s * (1 + input * (1 - s)), s = sigmoid(input).
    """
    def __init__(self, inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, inplace: bool = ...) -> Tensor: ...

class MishFunction(FunctionBase):
    """Mish: output = input * tanh(log(1 + exp(input))). Any shape. Added after 2017. Source: Misra 2019; torch.nn.Mish.

    Calls:
        MishFunction(inplace)(input)
        MishFunction.apply(input, inplace)

    Arguments:
        input: Tensor (real): input, any shape; overwritten if inplace
        inplace: bool, default False: write the result into input

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of Mish w.r.t. its input: gradOutput * (t + input * (1 - t^2) * sigmoid(input)), where t is
    tanh(log(1 + exp(input))).
    """
    def __init__(self, inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, inplace: bool = ...) -> Tensor: ...

class HardSwishFunction(FunctionBase):
    """HardSwish: output = input * min(max(input + 3, 0), 6) / 6. Any shape. Added after 2017. Source: Howard et al. 2019;
    torch.nn.Hardswish.

    Calls:
        HardSwishFunction(inplace)(input)
        HardSwishFunction.apply(input, inplace)

    Arguments:
        input: Tensor (real): input, any shape; overwritten if inplace
        inplace: bool, default False: write the result into input

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of HardSwish w.r.t. its input: 0 where input <= -3, gradOutput where input >= 3, else
    gradOutput * (input / 3 + 0.5).
    """
    def __init__(self, inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, inplace: bool = ...) -> Tensor: ...

class HardSigmoidFunction(FunctionBase):
    """HardSigmoid: output = min(max(input + 3, 0), 6) / 6. Any shape. Added after 2017. Source: Howard et al. 2019;
    torch.nn.Hardsigmoid.

    Calls:
        HardSigmoidFunction(inplace)(input)
        HardSigmoidFunction.apply(input, inplace)

    Arguments:
        input: Tensor (real): input, any shape; overwritten if inplace
        inplace: bool, default False: write the result into input

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of HardSigmoid w.r.t. its input: gradOutput / 6 where -3 < input < 3, else 0.
    """
    def __init__(self, inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, inplace: bool = ...) -> Tensor: ...

class CELUFunction(FunctionBase):
    """CELU: output = input where input > 0, else alpha * (exp(input / alpha) - 1). Any shape.
    Errors: ValueError for an alpha that is not above 0. Added after 2017. Source: Barron 2017; torch.nn.CELU.

    Calls:
        CELUFunction(alpha, inplace)(input)
        CELUFunction.apply(input, alpha, inplace)

    Arguments:
        input: Tensor (real): input, any shape; overwritten if inplace
        alpha: float, default 1.0: above 0; output tends to -alpha for negative inputs
        inplace: bool, default False: write the result into input

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of CELU w.r.t. its input: gradOutput where output > 0, else gradOutput * (output / alpha + 1).
    Errors: ValueError for an alpha that is not above 0.
    """
    def __init__(self, alpha: float = ..., inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, alpha: float = ..., inplace: bool = ...) -> Tensor: ...

class SELUFunction(FunctionBase):
    """SELU: output = scale * input where input > 0, else scale * alpha * (exp(input) - 1), with
    scale = 1.0507009873554805 and alpha = 1.6732632423543772. Any shape. Added after 2017. Source: Klambauer,
    Unterthiner, Mayr and Hochreiter 2017; torch.nn.SELU.

    Calls:
        SELUFunction(inplace)(input)
        SELUFunction.apply(input, inplace)

    Arguments:
        input: Tensor (real): input, any shape; overwritten if inplace
        inplace: bool, default False: write the result into input

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SELU w.r.t. its input: scale * gradOutput where output > 0, else
    gradOutput * (output + scale * alpha).
    """
    def __init__(self, inplace: bool = ...) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor, inplace: bool = ...) -> Tensor: ...

class SoftSignFunction(FunctionBase):
    """SoftSign: output = input / (1 + |input|). Any shape. Added after 2017. Source: Torch7 nn.SoftSign;
    torch.nn.Softsign.

    Calls:
        SoftSignFunction()(input)
        SoftSignFunction.apply(input)

    Arguments:
        input: Tensor (real): input, any shape

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of SoftSign w.r.t. its input: gradOutput / (1 + |input|)^2.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...

class TanhShrinkFunction(FunctionBase):
    """TanhShrink: output = input - tanh(input). Any shape. Added after 2017. Source: Torch7 nn.TanhShrink;
    torch.nn.Tanhshrink.

    Calls:
        TanhShrinkFunction()(input)
        TanhShrinkFunction.apply(input)

    Arguments:
        input: Tensor (real): input, any shape

    real is float32, float64, float16 or bfloat16. It is the same for all arguments of a call that are described as real.

    Gradient of TanhShrink w.r.t. its input: gradOutput * tanh(input)^2.
    """
    def __init__(self) -> None: ...
    def __call__(self, input: Tensor) -> Tensor: ...
    @classmethod
    def apply(cls, input: Tensor) -> Tensor: ...
