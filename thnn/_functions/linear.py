"""``LinearFunction``, written by hand; it makes its calls as the generated classes do."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from thnn._binding.call import results_of
from thnn._binding.library import ALLOCATE, THNN
from thnn._functions import derivatives as _derivatives
from thnn._functions.base import FunctionBase
from thnn._functions.documentation import docstring
from thnn._header.registry import modules
from thnn._operators import calls
from thnn._torch import in_transform

_module = modules()["Linear"]
_rule = _derivatives.rule(_module, THNN, "LinearFunction")
_forward, _grad_input, _grad_parameters = (
    THNN.bind(_module.functions[phase]) for phase in ("updateOutput", "updateGradInput", "accGradParameters")
)
_output_of = results_of(_forward, ".g...")
_grad_input_of = results_of(_grad_input, "..e.")
_grad_parameters_of = results_of(_grad_parameters, ".....zz..")


class LinearFunction(FunctionBase):
    __doc__ = docstring(_module, ["input", "weight", "bias"], [])
    __module__ = "thnn"

    module = _module
    _names = ("input", "weight", "bias")
    _tensor_count = 3
    _optional = frozenset({"bias"})

    @staticmethod
    def compute(input: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Tensor]:
        return (_output_of((input, ALLOCATE, weight, bias, None)),)

    @staticmethod
    def forward(ctx: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(input, weight, bias)
        return LinearFunction.compute(input, weight, bias)[0]

    @staticmethod
    def backward(ctx: Any, gradOutput: Tensor) -> tuple[Tensor | None, ...]:
        input, weight, bias = ctx.saved_tensors
        needs = ctx.needs_input_grad
        if in_transform():
            return calls.gradients(LinearFunction, needs, gradOutput, (input, weight, bias))
        if torch.is_grad_enabled():
            gradients = _rule(needs, gradOutput=gradOutput, input=input, weight=weight, bias=bias)
            return gradients.get("gradInput"), gradients.get("gradWeight"), gradients.get("gradBias")
        gradInput = gradWeight = gradBias = None
        if needs[0]:
            gradInput = _grad_input_of((input, gradOutput, input, weight))
        if needs[1] or needs[2]:
            arguments = (input, gradOutput, None, weight, bias, weight, bias, None, 1.0)
            gradWeight, gradBias = _grad_parameters_of(arguments)
        return gradInput, gradWeight, gradBias
