"""``BatchNormalizationAddFunction``: batch normalization, the addition of a residual, and relu if wanted."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from thnn._batch_norm import decomposition
from thnn._batch_norm.function import BatchNormalization, gradients_by_rule, results_from
from thnn._binding.call import flag
from thnn._binding.context import PLAIN, TRANSFORM, read_context
from thnn._binding.library import ALLOCATE, THNN
from thnn._functions.documentation import docstring
from thnn._header.registry import modules
from thnn._operators import calls
from thnn._plan import class_plan
from thnn._torch import increment_version

_module = modules()["BatchNormalizationAdd"]
_forward = THNN.bind(_module.functions["updateOutput"])
_backward = THNN.bind(_module.functions["backward"])
_separate = THNN.bind(modules()["BatchNormalization"].functions["backward"])
_scalars = _forward.function.scalars
_plan = class_plan(_module, keeps_inputs=False)
_kept_names = (*_plan.keep, *_plan.operator_scalars)
_names = ("input", "residual", *BatchNormalization._names[1:5], *(a.name for a in _scalars))


_call_forward = results_from(_forward, "..e....ee")
_call_backward = results_from(_backward, "...eezz")
_call_separate = results_from(_separate, "..ezz")


class BatchNormalizationAddFunction(BatchNormalization):
    __module__ = "thnn"
    __doc__ = docstring(_module, _names[:6], [a.name for a in _scalars])

    module = _module
    plan = _plan
    _names = _names
    _tensor_count = 6
    _differentiable = 4
    _defaults = {a.name: a.default for a in _scalars if a.default is not None}  # noqa: RUF012
    _decomposition = staticmethod(decomposition.batch_normalization_add)

    @staticmethod
    def _normalize(
        input: Tensor,
        residual: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        train: bool,
        *scalars: Any,
    ) -> tuple[Any, ...]:
        like = (ALLOCATE if running_mean is None else running_mean) if train else None
        results: tuple[Any, ...] = _call_forward(
            (input, residual, input, weight, bias, running_mean, running_var, like, like, train, *scalars)
        )
        if train and running_mean is not None and running_var is not None:
            increment_version((running_mean, running_var))
        return results

    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        residual: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        settings: tuple[Any, ...],
    ) -> Tensor:
        running_mean, running_var, train, momentum, eps, relu, limit = settings
        relu = flag(_forward.function, "relu", relu)
        # Autograd's own error would come after the update of the running statistics.
        for name, tensor in (("input", input), ("weight", weight)):
            if isinstance(tensor, Tensor) and tensor.is_inference():
                raise ValueError(
                    f"{_forward.name}: {name}: inference tensors cannot be differentiated; clone it"
                )
        output: Tensor
        output, save_mean, save_std = BatchNormalizationAddFunction._normalize(
            input, residual, weight, bias, running_mean, running_var, train, momentum, eps, relu, limit
        )
        # Without relu nothing but the size of the output matters.
        saved: tuple[Any, ...] = (input, output if relu else None, weight)
        if not train:
            saved += running_mean, running_var
            save_mean = save_std = None
        ctx.save_for_backward(*saved)
        ctx.scalars = save_mean, save_std, train, bias is not None, eps, relu, limit
        return output

    @staticmethod
    def backward(ctx: Any, gradOutput: Tensor) -> tuple[Tensor | None, ...]:
        save_mean, save_std, train, has_bias, eps, relu, limit = ctx.scalars
        input, output, weight, *running = ctx.saved_tensors
        running_mean, running_var = running or (None, None)
        needs = ctx.needs_input_grad
        like_bias = (save_mean if train else running_mean) if has_bias else None
        statistics = running_mean, running_var, save_mean, save_std
        context = read_context()
        if context == PLAIN:
            gradInput = input if needs[0] else None
            gradWeight, gradBias = weight if needs[2] else None, like_bias if needs[3] else None
            if relu:
                gradients = _call_backward(
                    (
                        input, output, gradOutput, gradInput, input, gradWeight, gradBias, weight, *statistics,
                        train, 1.0, eps, relu, limit,
                    )
                )  # fmt: skip
                return (*gradients, None)
            # The gradient w.r.t. the residual is gradOutput itself.
            gradInput, gradWeight, gradBias = _call_separate(
                (input, gradOutput, gradInput, gradWeight, gradBias, weight, *statistics, train, 1.0, eps)
            )
            return gradInput, gradOutput if needs[1] else None, gradWeight, gradBias, None
        values = {
            "input": input, "output": output if relu else input, "weight": weight, "bias": like_bias,
            "running_mean": running_mean, "running_var": running_var, "save_mean": save_mean, "save_std": save_std,
            "train": train, "momentum": 0.0, "eps": eps, "relu": relu, "limit": limit,
        }  # fmt: skip
        if context == TRANSFORM:
            kept = [values.get(name) for name in _kept_names]
            made: Any = BatchNormalizationAddFunction
            return calls.gradients(made, needs, gradOutput, kept)
        found = BatchNormalizationAddFunction._rule(needs, gradOutput, **values)
        names = ("gradInput", "gradResidual", "gradWeight", "gradBias")
        return (*(found.get(name) for name in names), None)

    @staticmethod
    def _rule(needs: Any, gradOutput: Tensor, **values: Any) -> dict[str, Tensor]:
        return gradients_by_rule(BatchNormalizationAddFunction, needs, gradOutput, values)
