"""``BatchNormalizationFunction`` and ``BatchNormalizationReLUFunction``, written by hand: their one fused backward and
their running statistics do not fit the generated classes."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from thnn._binding.call import call, flag, invoke, run
from thnn._binding.library import ALLOCATE, ANY, THNN
from thnn._functions.base import FunctionBase
from thnn._functions.documentation import docstring
from thnn._header.registry import modules
from thnn._torch import dynamo_disable, in_transform, increment_version

_empty_like, _zeros_like = torch.empty_like, torch.zeros_like
_is_grad_enabled = torch.is_grad_enabled


class BatchNormalization(FunctionBase):
    """The two ways of calling that both classes have; what they compute comes from `_make`."""

    __module__ = "thnn"

    _names: ClassVar[tuple[str, ...]] = (
        "input", "weight", "bias", "running_mean", "running_var", "train", "momentum", "eps"
    )  # fmt: skip
    _tensor_count = 5
    _optional = frozenset({"weight", "bias", "running_mean", "running_var"})
    _constants = ("running_mean", "running_var")

    def __init__(self, *settings: Any, **keywords: Any) -> None:
        names = self._names[3:]
        if len(settings) > len(names):
            raise TypeError(f"{type(self).__name__}: expected at most {len(names)} arguments {names}")
        for name, value in zip(names, settings):
            if name in keywords:
                raise TypeError(f"{type(self).__name__}: {name} was given twice")
            keywords[name] = value
        self._keywords = self._canonical(keywords)
        missing = [n for n in names if n not in self._keywords and n not in self._defaults]
        if missing:
            raise TypeError(f"{type(self).__name__}: {missing[0]} is missing; expected {names}")
        self._settings = tuple(self._keywords.get(n, self._defaults.get(n)) for n in names)

    def __call__(self, *tensors: Any, **keywords: Any) -> Any:
        if len(tensors) == 3 and not keywords:
            return self.apply(*tensors, *self._settings)
        return self.apply(*tensors, **{**self._keywords, **self._canonical(keywords)})

    @classmethod
    @dynamo_disable
    def apply(cls, *args: Any, **keywords: Any) -> Tensor:
        """Computes the function; arguments are the tensors, then the scalars, in the order of THNN.h."""
        if keywords or len(args) != cls._arity:
            args = cls._bind(args, keywords)
        if in_transform():
            cls._refuse_transforms(args)
        input, weight, bias, running_mean, running_var, train, momentum, eps = args
        if train is not True and train is not False:
            train = flag(cls.module.functions["updateOutput"], "train", train)
        settings = running_mean, running_var, train, momentum, eps
        if _is_grad_enabled() and cls._wants_gradient(args):
            # What autograd has no business with goes as one object: each argument of a node costs.
            return cls._enter(input, weight, bias, settings)
        return cls.compute(input, weight, bias, *settings)[0]


def _make(name: str, relu: bool) -> type[BatchNormalization]:
    """The class of a module."""
    module = modules()[name]
    updateOutput, updateGradients = (THNN.bind(module.functions[f]) for f in ("updateOutput", "backward"))
    forward_address, backward_address = updateOutput.address, updateGradients.address
    refusal = ": inference tensors cannot be differentiated; clone it"

    def compute(
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        train: bool,
        momentum: float,
        eps: float,
    ) -> tuple[Any, ...]:
        output: Any
        save_mean: Any = None
        save_std: Any = None
        try:
            output = _empty_like(input)
            if train:
                like = running_mean if running_mean is not None else input.new_empty(input.shape[1])
                save_mean, save_std = _empty_like(like), _empty_like(like)
        except (TypeError, AttributeError, IndexError, RuntimeError, ValueError):
            output = save_mean = save_std = ALLOCATE
        arguments = (
            input, output, weight, bias, running_mean, running_var, save_mean, save_std, train, momentum, eps
        )  # fmt: skip
        if report := call(forward_address, ANY, id(arguments)):
            values = invoke(updateOutput, ANY, arguments, report)
            output, save_mean, save_std = values[1], values[6], values[7]
        if train and running_mean is not None and running_var is not None:
            increment_version((running_mean, running_var))
        return output, save_mean, save_std

    def forward(
        ctx: Any, input: Tensor, weight: Tensor | None, bias: Tensor | None, settings: tuple[Any, ...]
    ) -> Tensor:
        running_mean, running_var, train, _, eps = settings
        # Autograd would refuse them as well, but only after the running statistics have changed.
        if isinstance(input, Tensor) and input.is_inference():
            raise ValueError(f"{updateOutput.name}: input{refusal}")
        if isinstance(weight, Tensor) and weight.is_inference():
            raise ValueError(f"{updateOutput.name}: weight{refusal}")
        output, save_mean, save_std = compute(input, weight, bias, *settings)
        # Where the output was above 0, the backward tells from the input; it needs the bias for that.
        saved: tuple[Any, ...] = (input, weight, bias) if relu else (input, weight)
        # What the backward needs of the statistics. Running ones go on changing while a graph of training steps
        # lives, but spoil a graph of evaluation, which autograd notices; saved ones nobody else can reach.
        if not train:
            saved += running_mean, running_var
            save_mean = save_std = None
        ctx.save_for_backward(*saved)
        ctx.settings = save_mean, save_std, train, eps, bias is not None
        return output

    def backward(ctx: Any, gradOutput: Tensor) -> tuple[Tensor | None, ...]:
        save_mean, save_std, train, eps, has_bias = ctx.settings
        input, *parameters = ctx.saved_tensors
        running_mean: Any = None
        running_var: Any = None
        if not train:
            running_mean, running_var = parameters[-2:]
            del parameters[-2:]
        statistics = running_mean, running_var, save_mean, save_std
        weight = parameters[0]
        needs = ctx.needs_input_grad
        if _is_grad_enabled():
            if relu:
                gradOutput = _through_relu(gradOutput, input, weight, parameters[1], statistics, eps)
            return (*_gradients(needs, gradOutput, input, weight, statistics, eps), None)
        gradInput = _empty_like(input) if needs[0] else None
        gradWeight = _zeros_like(weight) if needs[1] else None
        gradBias = _zeros_like(save_mean if train else running_mean) if needs[2] and has_bias else None
        arguments = (
            input, gradOutput, gradInput, gradWeight, gradBias, *parameters, *statistics, train, 1.0, eps
        )  # fmt: skip
        if report := call(backward_address, ANY, id(arguments)):
            invoke(updateGradients, ANY, arguments, report)
        return gradInput, gradWeight, gradBias, None

    tensors, scalars = BatchNormalization._names[:5], BatchNormalization._names[5:]
    members = {
        "__module__": "thnn",
        "__doc__": f"{docstring(module, tensors, scalars)}\n\nThe legacy call is"
        f" {name}Function(running_mean, running_var, train, momentum, eps)(input, weight, bias).",
        "module": module,
        "compute": staticmethod(compute),
        "forward": staticmethod(forward),
        "backward": staticmethod(backward),
    }
    return type(f"{name}Function", (BatchNormalization,), members)


def _through_relu(
    gradOutput: Tensor,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    statistics: tuple[Any, ...],
    eps: float,
) -> Tensor:
    """What of the gradient comes through relu: the mask is a constant, made of the numbers that the forward had."""
    running_mean, running_var, save_mean, save_std = statistics
    phases = modules()["BatchNormalization"].functions
    with torch.no_grad():
        given = {"input": input, "weight": weight, "bias": bias}
        if save_mean is not None:
            made = run(
                THNN.bind(phases["normalize"]), **given, save_mean=save_mean, save_std=save_std, relu=False
            )
        else:
            given.update(running_mean=running_mean, running_var=running_var)
            made = run(
                THNN.bind(phases["updateOutput"]),
                **given,
                save_mean=None,
                save_std=None,
                train=False,
                momentum=0.0,
                eps=eps,
            )
        is_cut = made["output"] <= 0
    return gradOutput.masked_fill(is_cut, 0)


def _gradients(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    weight: Tensor | None,
    statistics: tuple[Any, ...],
    eps: float,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients out of differentiable operations."""
    running_mean, running_var, *saved = statistics
    train = saved[0] is not None
    dims = [d for d in range(input.dim()) if d != 1]
    shape = [1, input.shape[1]] + [1] * (input.dim() - 2)
    if train:
        # Recomputed, since what the forward saved is not a function of input to autograd.
        centred = input - input.mean(dims, keepdim=True)
        inverse = (centred.square().mean(dims, keepdim=True) + eps).rsqrt()
    else:
        centred = input - running_mean.reshape(shape)
        inverse = (running_var.reshape(shape) + eps).rsqrt()
    total = gradOutput.sum(dims, keepdim=True)
    product = (gradOutput * centred).sum(dims, keepdim=True)
    gradInput = None
    if needs[0]:
        scale = inverse if weight is None else inverse * weight.reshape(shape)
        if train:
            n = input.numel() // max(input.shape[1], 1)
            gradInput = (gradOutput - total / n - centred * inverse.square() * product / n) * scale
        else:
            gradInput = gradOutput * scale
    gradWeight = (product * inverse).reshape(-1) if needs[1] and weight is not None else None
    gradBias = total.reshape(-1) if needs[2] else None
    return gradInput, gradWeight, gradBias


BatchNormalizationFunction = _make("BatchNormalization", relu=False)
BatchNormalizationReLUFunction = _make("BatchNormalizationReLU", relu=True)
