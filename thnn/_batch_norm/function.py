"""``BatchNormalizationFunction`` and ``BatchNormalizationReLUFunction``.

They are not generated, because one fused backward computes all gradients and needs other tensors in training than in
evaluation.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from thnn._batch_norm import formula, stages
from thnn._binding.call import flag, results_of, run
from thnn._binding.library import ALLOCATE, THNN
from thnn._functions.base import FunctionBase, cast_for_autocast
from thnn._functions.documentation import docstring
from thnn._header.registry import modules
from thnn._operators import calls
from thnn._torch import in_transform, increment_version, traced_as

_is_grad_enabled = torch.is_grad_enabled


class BatchNormalization(FunctionBase):
    """Arguments and calls of the batch normalization classes; `_make` adds the computation."""

    __module__ = "thnn"

    _names: ClassVar[tuple[str, ...]] = (
        "input", "weight", "bias", "running_mean", "running_var", "train", "momentum", "eps"
    )  # fmt: skip
    _tensor_count = 5
    _running = ("running_mean", "running_var")
    _optional = frozenset({"weight", "bias", "running_mean", "running_var"})
    _constants = _running

    @classmethod
    def apply(cls, *args: Any, **keywords: Any) -> Tensor:
        """Computes the function; arguments are the tensors, then the scalars, in the order of THNN.h."""
        if keywords or len(args) != cls._arity:
            args = cls._bind(args, keywords)
        if in_transform():
            return cls._through_operator(args)
        input, weight, bias, running_mean, running_var, train, momentum, eps = args
        if train is not True and train is not False:
            train = flag(cls.module.functions["updateOutput"], "train", train)
        settings = running_mean, running_var, train, momentum, eps
        try:
            if _is_grad_enabled() and cls._wants_gradient(args):
                # One object for all arguments without a gradient, since each argument of a node costs time.
                return cls._enter(input, weight, bias, settings)
            return cls.compute(input, weight, bias, *settings)[0]
        except (TypeError, ValueError):
            if any(isinstance(a, torch.fx.Proxy) for a in args):
                return cls._through_operator(args)
            cast = cast_for_autocast((input, weight, bias))
            if cast is None:
                raise
            return cls.apply(*cast, *settings)


traced_as(BatchNormalization.apply, BatchNormalization._traced_apply)


def _make(name: str, relu: bool) -> type[BatchNormalization]:
    """The class of a module; `relu` tells whether the module ends with relu."""
    module = modules()[name]
    updateOutput, updateGradients = (THNN.bind(module.functions[f]) for f in ("updateOutput", "backward"))
    call_forward = results_of(updateOutput, ".e....ee...")
    call_backward = results_of(
        updateGradients, "..ezz" + "." * (len(updateGradients.function.after_state) - 5)
    )
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
        # The statistics of the batch are new tensors like running_mean, or as the function requests.
        like = (ALLOCATE if running_mean is None else running_mean) if train else None
        output, save_mean, save_std = call_forward(
            (input, input, weight, bias, running_mean, running_var, like, like, train, momentum, eps)
        )
        if train and running_mean is not None and running_var is not None:
            increment_version((running_mean, running_var))
        return output, save_mean, save_std

    def forward(
        ctx: Any, input: Tensor, weight: Tensor | None, bias: Tensor | None, settings: tuple[Any, ...]
    ) -> Tensor:
        running_mean, running_var, train, _, eps = settings
        # Autograd would raise an error, too, but only after the update of the running statistics.
        if isinstance(input, Tensor) and input.is_inference():
            raise ValueError(f"{updateOutput.name}: input{refusal}")
        if isinstance(weight, Tensor) and weight.is_inference():
            raise ValueError(f"{updateOutput.name}: weight{refusal}")
        output, save_mean, save_std = compute(input, weight, bias, *settings)
        # The backward of relu recomputes the output from input, weight and bias.
        saved: tuple[Any, ...] = (input, weight, bias) if relu else (input, weight)
        # In evaluation, an update of the running statistics invalidates the graph; autograd detects that for saved
        # tensors. The statistics of a batch are private to the node and need no such check.
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
        if in_transform():
            # Of the bias, only the size matters without relu.
            vector = save_mean if train else running_mean
            bias = parameters[1] if relu else vector if has_bias else None
            kept = input, weight, bias, *statistics, train, 0.0, eps
            return calls.gradients(classes[0], needs, gradOutput, kept)
        if _is_grad_enabled():
            bias = parameters[1] if relu else None
            return (
                *_gradients(needs, gradOutput, input, weight, bias, statistics, eps, has_bias, relu),
                None,
            )
        like_bias = save_mean if train else running_mean
        gradients = call_backward(
            (
                input,
                gradOutput,
                input if needs[0] else None,
                weight if needs[1] else None,
                like_bias if needs[2] and has_bias else None,
                *parameters,
                *statistics,
                train,
                1.0,
                eps,
            )
        )
        return (*gradients, None)

    classes: list[Any] = []
    tensors, scalars = BatchNormalization._names[:5], BatchNormalization._names[5:]
    members = {
        "__module__": "thnn",
        "__doc__": docstring(module, tensors, scalars),
        "module": module,
        "compute": staticmethod(compute),
        "forward": staticmethod(forward),
        "backward": staticmethod(backward),
    }
    classes.append(type(f"{name}Function", (BatchNormalization,), members))
    return classes[0]


def _gradients(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    statistics: tuple[Any, ...],
    eps: float,
    has_bias: bool,
    relu: bool,
) -> formula.Gradients:
    """The gradients by input, weight and bias as differentiable operations."""
    running_mean, running_var, mean, inverse = statistics
    count = None
    if mean is None:
        mean, inverse = running_mean, stages.inverse_deviation(running_var, eps)
    elif input.requires_grad:
        count = input.numel() // max(input.shape[1], 1)
    part = formula.Part(gradOutput, input, weight, bias, mean, inverse)
    if relu:
        output = None
        if statistics[2] is None:
            # The C function computes the output again: from the rounded inverse deviation above, elements near 0 could
            # get the other sign.
            given = {"running_mean": running_mean, "running_var": running_var, "train": False, "eps": eps}
            unused = {"save_mean": None, "save_std": None, "momentum": 0.0}
            with torch.no_grad():
                output = run(_EVALUATE, input=input, weight=weight, bias=bias, **given, **unused)["output"]
        part = formula.relu_backward(part, output)
    needs = needs[0], needs[1], needs[2] and has_bias
    return formula.gradients([part], [needs], eps, count)[0]


def differentiable_gradients(
    needs: Any, gradOutput: Tensor, relu: bool, *, output: Tensor | None, **values: Any
) -> formula.Gradients:
    """The gradients by input, weight and bias for the operators, from the values that backward functions read, by name.

    `output` is that of the forward, which relu needs.
    """
    input, weight, bias, eps = (values[n] for n in ("input", "weight", "bias", "eps"))
    if values["train"]:
        mean, inverse = values["save_mean"], values["save_std"]
        count = input.numel() // max(input.shape[1], 1)
    else:
        mean, inverse = values["running_mean"], stages.inverse_deviation(values["running_var"], eps)
        count = None
    part = formula.Part(gradOutput, input, weight, bias, mean, inverse)
    if relu:
        part = formula.relu_backward(part, output)
    return formula.gradients([part], [needs[:3]], eps, count)[0]


_EVALUATE = THNN.bind(modules()["BatchNormalization"].functions["updateOutput"])
BatchNormalizationFunction = _make("BatchNormalization", relu=False)
BatchNormalizationReLUFunction = _make("BatchNormalizationReLU", relu=True)
