"""``BatchNormalizationFunction`` and ``BatchNormalizationReLUFunction``.

They are not generated, because one fused backward computes all gradients and needs other tensors in training than in
evaluation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor

from thnn._batch_norm import decomposition, formula, stages
from thnn._binding.arguments import cast_for_autocast
from thnn._binding.call import flag, results_of
from thnn._binding.context import CONSTANT, GRADIENT, PLAIN, TRANSFORM, read_context
from thnn._binding.library import ALLOCATE, THNN
from thnn._functions.base import FunctionBase
from thnn._functions.documentation import docstring
from thnn._header.registry import modules
from thnn._operators import calls
from thnn._plan import class_plan
from thnn._torch import in_transform, increment_version, is_dynamo_compiling


class BatchNormalization(FunctionBase):
    """Arguments and calls of the batch normalization classes; `_make` adds the computation."""

    __module__ = "thnn"

    _names: ClassVar[tuple[str, ...]] = (
        "input", "weight", "bias", "running_mean", "running_var", "train", "momentum", "eps"
    )  # fmt: skip
    _tensor_count = 5
    _differentiable = 3  # the first tensors, which may require a gradient
    _running = ("running_mean", "running_var")
    _optional = frozenset({"weight", "bias", "running_mean", "running_var"})
    _constants = _running
    _normalize: ClassVar[Callable[..., tuple[Any, ...]]]  # (output, save_mean, save_std)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "forward" in cls.__dict__ and "_normalize" not in cls.__dict__:
            # A subclass that overrides forward only: its forward also serves calls without a gradient.
            n = cls._differentiable
            cls._normalize = staticmethod(lambda *args: (cls._enter(*args[:n], args[n:]),))

    @classmethod
    def apply(cls, *args: Any, **keywords: Any) -> Tensor:
        """Computes the function; arguments are the tensors, then the scalars, in the order of THNN.h."""
        if is_dynamo_compiling():
            return cls._traced_apply(*args, **keywords)
        n = cls._differentiable
        if keywords or len(args) != cls._arity:
            # Only for a call that omits relu and limit; binding costs more than a small kernel.
            is_complete = not keywords and len(args) == n + 5 and type(args[n + 2]) is bool
            args = (*args, *cls._defaults.values()) if is_complete else cls._bind(args, keywords)
        try:
            context = cls._context_of(args)
            if context in (PLAIN, GRADIENT):
                train = args[n + 2]
                if train is not True and train is not False:
                    train = flag(cls.module.functions["updateOutput"], "train", train)
                    args = (*args[: n + 2], train, *args[n + 3 :])
                if context == PLAIN:
                    return cls._normalize(*args)[0]
                # One object for all arguments without a gradient, since each argument of a node costs time.
                return cls._enter(*args[:n], args[n:])
        except (TypeError, ValueError):
            if any(isinstance(a, torch.fx.Proxy) for a in args) or calls.takes_shards(cls, args):
                return cls._through_operator(args)
            cast = cast_for_autocast(args[:n])
            if cast is None:
                raise
            return cls.apply(*cast, *args[n:])
        if context == CONSTANT:
            cls._wants_gradient(args)  # raises the error
        return cls._through_operator(args)


def results_from(function: Any, start: str) -> Any:
    """Calls of a bound function that return some of its arguments: `start` for the first ones, none of the rest."""
    return results_of(function, start + "." * (len(function.function.after_state) - len(start)))


def gradients_by_rule(
    cls: type[BatchNormalization], needs: Any, gradOutput: Tensor, values: dict[str, Any]
) -> dict[str, Tensor]:
    """The gradients of a class as differentiable operations. It ends with relu if it has a limit, unless a scalar relu
    is False."""
    input, weight, bias, eps = (values[name] for name in ("input", "weight", "bias", "eps"))
    mean, inverse, counts = values["save_mean"], values["save_std"], None
    if mean is None:
        mean, variance = values["running_mean"], values["running_var"]
        inverse = stages.inverse_deviation(variance.to(stages.statistics_dtype(input)), eps)
    elif input.requires_grad or in_transform():  # derivatives w.r.t. the batch statistics are needed, too
        counts = [input.numel() // max(input.shape[1], 1)]
    part = formula.Part(gradOutput, input, weight, bias, mean, inverse)
    if "limit" in values and values.get("relu", True):
        output = values.get("output")
        if output is None and (not values["train"] or in_transform()):
            # By the C function: computed from the rounded inverse deviation in evaluation, elements near 0 could change
            # sign.
            calls.define(cls)
            with torch.no_grad():
                output = cls._operators.forward(*(values[n] for n in cls._operators.given))[0]
        part = formula.relu_backward(part, values["limit"], output)
    first = cls._differentiable - 2  # the position of weight
    needed = needs[0], needs[first], needs[first + 1] and bias is not None
    (found,) = formula.gradients([part], [needed], eps, counts)
    gradients = dict(zip(("gradInput", "gradWeight", "gradBias"), found))
    if first > 1:
        gradients["gradResidual"] = part.gradOutput if needs[1] else None
    return {name: gradient for name, gradient in gradients.items() if gradient is not None}


def _make(name: str, relu: bool) -> type[BatchNormalization]:
    """The class of a module; `relu` tells whether the module ends with relu, whose limit is its last scalar."""
    module = modules()[name]
    updateOutput, updateGradients = (THNN.bind(module.functions[f]) for f in ("updateOutput", "backward"))
    call_forward, call_backward = (
        results_from(f, start) for f, start in ((updateOutput, ".e....ee"), (updateGradients, "..ezz"))
    )
    refusal = ": inference tensors cannot be differentiated; clone it"

    def normalize(
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        train: bool,
        *scalars: float,
    ) -> tuple[Any, ...]:
        # The batch statistics are new tensors: like running_mean or, without it, of the size that the function
        # requests.
        like = (ALLOCATE if running_mean is None else running_mean) if train else None
        output, save_mean, save_std = call_forward(
            (input, input, weight, bias, running_mean, running_var, like, like, train, *scalars)
        )
        if train and running_mean is not None and running_var is not None:
            increment_version((running_mean, running_var))
        return output, save_mean, save_std

    def forward(
        ctx: Any, input: Tensor, weight: Tensor | None, bias: Tensor | None, settings: tuple[Any, ...]
    ) -> Tensor:
        running_mean, running_var, train = settings[:3]
        scalars = settings[3:]  # momentum, eps, with relu limit
        # Autograd's own error would come after the update of the running statistics.
        if isinstance(input, Tensor) and input.is_inference():
            raise ValueError(f"{updateOutput.name}: input{refusal}")
        if isinstance(weight, Tensor) and weight.is_inference():
            raise ValueError(f"{updateOutput.name}: weight{refusal}")
        # The body of normalize is repeated here, since a Python call costs more than the smallest kernels.
        like = (ALLOCATE if running_mean is None else running_mean) if train else None
        output, save_mean, save_std = call_forward(
            (input, input, weight, bias, running_mean, running_var, like, like, train, *scalars)
        )
        if train and running_mean is not None and running_var is not None:
            increment_version((running_mean, running_var))
        # The backward of relu recomputes the output from input, weight and bias.
        saved: tuple[Any, ...] = (input, weight, bias) if relu else (input, weight)
        # In evaluation, an update of the running statistics invalidates the graph; autograd detects that for saved
        # tensors. The statistics of a batch are private to the node and need no such check.
        if not train:
            saved += running_mean, running_var
            save_mean = save_std = None
        ctx.save_for_backward(*saved)
        ctx.scalars = save_mean, save_std, train, bias is not None, scalars
        return output

    def backward(ctx: Any, gradOutput: Tensor) -> tuple[Tensor | None, ...]:
        save_mean, save_std, train, has_bias, (_, *scalars) = ctx.scalars  # eps, with relu limit
        parameters: Any
        running_mean: Any = None
        running_var: Any = None
        if train:
            input, *parameters = ctx.saved_tensors
        else:
            input, *parameters, running_mean, running_var = ctx.saved_tensors
        weight = parameters[0]
        needs = ctx.needs_input_grad
        like_bias = (save_mean if train else running_mean) if has_bias else None
        context = read_context()
        if context == PLAIN:
            gradients = call_backward(
                (
                    input,
                    gradOutput,
                    input if needs[0] else None,
                    weight if needs[1] else None,
                    like_bias if needs[2] else None,
                    *parameters,
                    running_mean,
                    running_var,
                    save_mean,
                    save_std,
                    train,
                    1.0,
                    *scalars,
                )
            )
            return (*gradients, None)
        # Without relu, only the size of the bias matters.
        bias = parameters[1] if relu else like_bias
        statistics = running_mean, running_var, save_mean, save_std
        kept = input, weight, bias, *statistics, train, 0.0, *scalars
        if context == TRANSFORM:
            return calls.gradients(made, needs, gradOutput, kept)
        found = rule(needs, gradOutput, **dict(zip(kept_names, kept)))
        return (*(found.get(name) for name in ("gradInput", "gradWeight", "gradBias")), None)

    def rule(needs: Any, gradOutput: Tensor, **values: Any) -> dict[str, Tensor]:
        return gradients_by_rule(made, needs, gradOutput, values)

    plan = class_plan(module, keeps_inputs=False)
    kept_names = (*plan.keep, *plan.operator_scalars)
    tensors = BatchNormalization._names[:5]
    scalars = updateOutput.function.scalars
    members = {
        "__module__": "thnn",
        "__doc__": docstring(module, tensors, [a.name for a in scalars]),
        "module": module,
        "plan": plan,
        "_names": (*tensors, *(a.name for a in scalars)),
        "_defaults": {a.name: a.default for a in scalars if a.default is not None},
        "_normalize": staticmethod(normalize),
        "forward": staticmethod(forward),
        "backward": staticmethod(backward),
        "_rule": staticmethod(rule),
        "_decomposition": staticmethod(
            decomposition.batch_normalization_relu if relu else decomposition.batch_normalization
        ),
    }
    made: Any = type(f"{name}Function", (BatchNormalization,), members)
    return made


BatchNormalizationFunction = _make("BatchNormalization", relu=False)
BatchNormalizationReLUFunction = _make("BatchNormalizationReLU", relu=True)
