"""Derivatives of the backward functions: what ``create_graph=True`` needs.

A rule gives the gradients of a module once more, this time out of operations that autograd can differentiate. It is
used only while a graph of the backward is being recorded. A rule takes the values it names (``gradOutput``, saved
tensors and scalars, by their names in THNN.h) after ``needs``, which says what inputs want a gradient, and returns
the gradients by name. A module without a rule of its own has its reference in the table of cases differentiated; one
without that either can be differentiated once, and says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._binding.call import run
from thnn._binding.library import THNN
from thnn._header import Function, Module
from thnn._torch import is_output_of_several

Rule = Callable[..., Mapping[str, Tensor]]


def check_in_place(function: Function, input: Tensor, scalars: Sequence[Any]) -> None:
    """Raises ValueError where an in-place forward could not be differentiated, before anything is overwritten."""
    where = f"{function.name}: input: "
    if input.requires_grad and input.is_leaf:
        raise ValueError(where + "a leaf that requires a gradient cannot be overwritten in place")
    base = input._base
    if base is not None and base.requires_grad and base.is_leaf:
        raise ValueError(where + "a view of a leaf that requires a gradient cannot be overwritten in place")
    if is_output_of_several(input):
        raise ValueError(
            where + "one of several outputs of an operation (unbind, split) cannot be overwritten in place"
        )
    if function.module == "LeakyReLU":
        try:
            is_positive = float(scalars[0]) >= 0
        except (TypeError, ValueError, OverflowError):
            return  # the call says what is wrong with it
        if not is_positive:
            # The output must tell the sign of the input.
            raise ValueError(f"{function.name}: negval: inplace needs negval >= 0 to be differentiated")


def rule(module: Module) -> Rule | None:
    """The rule of a module, or None."""
    factory = _FACTORIES.get(module.name)
    return factory(module) if factory is not None else _RULES.get(module.name)


def from_reference(
    module: Module, cls_name: str, gradients: Mapping[str, str], inputs: Sequence[str]
) -> Rule:
    """A rule for a module that has none: autograd through the reference of its case."""

    def through_reference(needs: Any, gradOutput: Tensor, **values: Any) -> dict[str, Tensor]:
        from thnn.testing.cases import cases

        case = cases().get(module.name)
        if case is None:
            raise NotImplementedError(
                f"{cls_name} can be differentiated once only: {module.name} has neither a rule in "
                "thnn/_derivatives.py nor a reference in thnn/cases"
            )
        # Views, so that the gradient by one input does not go through another that was computed from it.
        values = {n: v.view_as(v) if isinstance(v, Tensor) else v for n, v in values.items()}
        result = case.reference(**values)
        output = result[0] if isinstance(result, tuple) else result
        wanted = [n for n, needed in zip(inputs, needs) if needed and n in gradients]
        found = torch.autograd.grad(
            output, [values[n] for n in wanted], gradOutput.reshape(output.shape), create_graph=True
        )
        return {gradients[n]: gradient for n, gradient in zip(wanted, found)}

    return through_reference


def values(rule: Rule, available: Sequence[str]) -> list[str]:
    """The names that a rule takes; ValueError for one that the class does not have."""
    names = list(inspect.signature(rule).parameters)[1:]
    missing = set(names) - set(available)
    if missing:
        raise ValueError(f"{rule.__name__} asks for {sorted(missing)}, which is not saved")
    return names


def _channel_dim(tensor: Tensor) -> int:
    """The dimension that SoftMax normalises: 0 for (C) and (C, H, W), 1 for (N, C) and (N, C, H, W)."""
    return 0 if tensor.dim() in (1, 3) else 1


def _threshold(needs: Any, gradOutput: Tensor, input: Tensor, threshold: float) -> dict[str, Tensor]:
    return {"gradInput": gradOutput.masked_fill(input <= threshold, 0)}


def _leaky_relu(needs: Any, gradOutput: Tensor, input: Tensor, negval: float) -> dict[str, Tensor]:
    return {"gradInput": torch.where(input > 0, gradOutput, gradOutput * negval)}


def _sigmoid(needs: Any, gradOutput: Tensor, output: Tensor) -> dict[str, Tensor]:
    return {"gradInput": gradOutput * output * (1 - output)}


def _tanh(needs: Any, gradOutput: Tensor, output: Tensor) -> dict[str, Tensor]:
    return {"gradInput": gradOutput * (1 - output * output)}


def _softmax(needs: Any, gradOutput: Tensor, output: Tensor) -> dict[str, Tensor]:
    inner = (gradOutput * output).sum(_channel_dim(output), keepdim=True)
    return {"gradInput": output * (gradOutput - inner)}


def _log_softmax(needs: Any, gradOutput: Tensor, output: Tensor) -> dict[str, Tensor]:
    total = gradOutput.sum(_channel_dim(output), keepdim=True)
    return {"gradInput": gradOutput - output.exp() * total}


def _share(input: Tensor, sizeAverage: bool) -> float:
    return 1 / max(input.numel(), 1) if sizeAverage else 1


def _mse(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    difference = input - target.reshape(input.shape)
    return {"gradInput": gradOutput * difference * (2 * _share(input, sizeAverage))}


def _abs(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    sign = (input >= target.reshape(input.shape)).to(input.dtype) * 2 - 1
    return {"gradInput": gradOutput * sign * _share(input, sizeAverage)}


def _smooth_l1(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool
) -> dict[str, Tensor]:
    slope = (input - target.reshape(input.shape)).clamp(-1, 1)
    return {"gradInput": gradOutput * slope * _share(input, sizeAverage)}


def _bce(
    needs: Any, gradOutput: Tensor, input: Tensor, target: Tensor, sizeAverage: bool, weights: Tensor | None
) -> dict[str, Tensor]:
    slope = (input - target.reshape(input.shape)) / (input * (1 - input)).clamp(min=1e-12)
    if weights is not None:
        slope = slope * weights.reshape(input.shape)
    return {"gradInput": gradOutput * slope * _share(input, sizeAverage)}


def _max_pooling(needs: Any, gradOutput: Tensor, input: Tensor, indices: Tensor) -> dict[str, Tensor]:
    flat = indices.flatten(-2)
    if flat.numel() and int(flat.max()) >= input.shape[-2] * input.shape[-1]:
        raise IndexError("SpatialMaxPooling_updateGradInput: indices: outside of the plane")
    source = gradOutput.flatten(-2).masked_fill(flat < 0, 0)
    planes = gradOutput.new_zeros((*input.shape[:-2], input.shape[-2] * input.shape[-1]))
    return {"gradInput": planes.scatter_add(-1, flat.clamp(min=0), source).reshape(input.shape)}


def _linear_in_input(module: Module) -> Rule:
    """A module without parameters that is linear in its input: the derivative of its backward is its forward."""
    assert module.forward is not None and module.grad_input is not None
    forward, grad_input = module.forward, module.grad_input
    scalars = [a.name for a in forward.scalars]

    class Transposed(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, gradOutput: Tensor, input: Tensor, settings: dict[str, Any]) -> Tensor:
            ctx.settings = settings
            ctx.save_for_backward(input)
            return run(THNN.bind(grad_input), input=input, gradOutput=gradOutput, **settings)["gradInput"]

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Any:
            (input,) = ctx.saved_tensors
            return Straight.apply(gradient, input, ctx.settings), None, None

    class Straight(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor, input: Tensor, settings: dict[str, Any]) -> Tensor:
            ctx.settings = settings
            ctx.save_for_backward(input)
            return run(THNN.bind(forward), input=x, **settings)["output"]

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Any:
            (input,) = ctx.saved_tensors
            return Transposed.apply(gradient, input, ctx.settings), None, None

    def linear(needs: Any, gradOutput: Tensor, input: Tensor, **settings: Any) -> dict[str, Tensor]:
        return {"gradInput": Transposed.apply(gradOutput, input.detach(), settings)}

    return _with_parameters(linear, ["gradOutput", "input", *scalars])


def _constant_slope(module: Module) -> Rule:
    """A criterion that is linear in its input: the gradient is a constant times the incoming one."""
    grad_input = module.grad_input
    assert grad_input is not None

    def constant_slope(needs: Any, gradOutput: Tensor, **given: Any) -> dict[str, Tensor]:
        with torch.no_grad():
            slope = run(THNN.bind(grad_input), **given)["gradInput"]
        return {"gradInput": gradOutput * slope}

    names = [a.name for a in grad_input.arguments if a.role not in ("state", "gradInput", "buffer")]
    return _with_parameters(constant_slope, ["gradOutput", *names])


def _with_parameters(rule: Rule, names: Sequence[str]) -> Rule:
    """Lets a rule that takes keywords say which."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    rule.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(n, kind) for n in ("needs", *names)]
    )
    return rule


def _bilinear(module: Module, *kept: int) -> Rule:
    """A convolution: its three products (output, gradInput, gradWeight) are each other's derivatives.

    `kept` are the dimensions of the output that bias runs along, counted from the end; if there are none, it is that
    of the planes, before as many more as weight has taps in.
    """
    assert (
        module.forward is not None
        and module.grad_input is not None
        and module.acc_grad_parameters is not None
    )
    forward, grad_input, acc = module.forward, module.grad_input, module.acc_grad_parameters
    scalars = [a.name for a in forward.scalars]
    constants = [a.name for a in forward.tensors("input") if a.name != "input"]
    bias_is_optional = any(a.name == "bias" and a.is_optional for a in forward.arguments)

    class Output(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, input: Tensor, weight: Tensor, settings: dict[str, Any]) -> Tensor:
            ctx.settings = settings
            ctx.save_for_backward(input, weight)
            return run(THNN.bind(forward), input=input, weight=weight, **settings)["output"]

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            input, weight = ctx.saved_tensors
            need_input, need_weight, _ = ctx.needs_input_grad
            return (
                GradInput.apply(g, weight, input, ctx.settings) if need_input else None,
                GradWeight.apply(input, g, weight, ctx.settings) if need_weight else None,
                None,
            )

    class GradInput(torch.autograd.Function):
        @staticmethod
        def forward(
            ctx: Any, gradOutput: Tensor, weight: Tensor, like: Tensor, settings: dict[str, Any]
        ) -> Tensor:
            ctx.settings = settings
            ctx.save_for_backward(gradOutput, weight)
            values = run(
                THNN.bind(grad_input), input=like.detach(), gradOutput=gradOutput, weight=weight, **settings
            )
            return values["gradInput"]

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            gradOutput, weight = ctx.saved_tensors
            need_output, need_weight, *_ = ctx.needs_input_grad
            return (
                Output.apply(g, weight, ctx.settings) if need_output else None,
                GradWeight.apply(g, gradOutput, weight, ctx.settings) if need_weight else None,
                None,
                None,
            )

    class GradWeight(torch.autograd.Function):
        @staticmethod
        def forward(
            ctx: Any, input: Tensor, gradOutput: Tensor, like: Tensor, settings: dict[str, Any]
        ) -> Tensor:
            ctx.settings = settings
            ctx.save_for_backward(input, gradOutput)
            gradWeight = torch.zeros_like(like)
            given = {"weight": like.detach()} if acc.argument("weight") else {}
            if "bias" in settings:
                given["gradBias"] = torch.zeros_like(settings["bias"])
            run(
                THNN.bind(acc), input=input, gradOutput=gradOutput, gradWeight=gradWeight, **given, **settings
            )
            return gradWeight

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            input, gradOutput = ctx.saved_tensors
            need_input, need_output, *_ = ctx.needs_input_grad
            return (
                GradInput.apply(gradOutput, g, input, ctx.settings) if need_input else None,
                Output.apply(input, g, ctx.settings) if need_output else None,
                None,
                None,
            )

    def bilinear(
        needs: Any, gradOutput: Tensor, input: Tensor, weight: Tensor, bias: Tensor | None, **settings: Any
    ) -> dict[str, Tensor]:
        gradients = {}
        if bias is not None and not bias_is_optional:
            settings["bias"] = torch.zeros_like(bias)  # the products are without it
        if needs[0]:
            gradients["gradInput"] = GradInput.apply(gradOutput, weight, input, settings)
        if needs[1]:
            gradients["gradWeight"] = GradWeight.apply(input, gradOutput, weight, settings)
        if bias is not None and needs[2]:
            planes = (kept or (1 - weight.dim(),)) if settings.get("featFirst", True) else (-1,)
            others = [d for d in range(-gradOutput.dim(), 0) if d not in planes]
            sums = gradOutput.sum(others) if others else gradOutput
            # SpatialDepthWiseConvolution has biases (M, C) and planes c * M + m.
            gradients["gradBias"] = sums.reshape(bias.shape[::-1]).t() if bias.dim() == 2 else sums
        return gradients

    return _with_parameters(bilinear, ["gradOutput", "input", "weight", "bias", *constants, *scalars])


_FACTORIES: Mapping[str, Callable[[Module], Rule]] = {
    "SpatialAveragePooling": _linear_in_input,
    "SpatialConvolutionMM": lambda m: _bilinear(m, -3),
    "Convolution": _bilinear,
    "FullConvolution": _bilinear,
    "SpatialDilatedConvolution": lambda m: _bilinear(m, -3),
    "SpatialFullConvolution": lambda m: _bilinear(m, -3),
    "SpatialFullDilatedConvolution": lambda m: _bilinear(m, -3),
    "SpatialDepthWiseConvolution": lambda m: _bilinear(m, -3),
    "VolumetricConvolution": lambda m: _bilinear(m, -4),
    "VolumetricConvolutionMM": lambda m: _bilinear(m, -4),
    "VolumetricDilatedConvolution": lambda m: _bilinear(m, -4),
    "VolumetricFullConvolution": lambda m: _bilinear(m, -4),
    "VolumetricFullDilatedConvolution": lambda m: _bilinear(m, -4),
    "TemporalConvolution": lambda m: _bilinear(m, -1),
    "TemporalRowConvolution": lambda m: _bilinear(m, -2),
    "TemporalSubSampling": lambda m: _bilinear(m, -1),
    "SpatialSubSampling": lambda m: _bilinear(m, -3),
    "SpatialConvolutionLocal": lambda m: _bilinear(m, -3, -2, -1),
    "SpatialConvolutionMap": lambda m: _bilinear(m, -3),
    "SpatialFullConvolutionMap": lambda m: _bilinear(m, -3),
    "Im2Col": _linear_in_input,
    "Col2Im": _linear_in_input,
    "Linear": lambda m: _bilinear(m, -1),
    "ClassNLLCriterion": _constant_slope,
}

_RULES: Mapping[str, Rule] = {
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
    "SpatialMaxPooling": _max_pooling,
}
