"""``LinearFunction``, written by hand: it allocates the output, whose size no [LIKE] tag gives, so that C need not
request the size and be called again."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from thnn._binding.call import invoke
from thnn._binding.library import ALLOCATE, ANY, THNN
from thnn._functions import derivatives as _derivatives
from thnn._functions.base import FunctionBase
from thnn._functions.documentation import docstring
from thnn._header.registry import modules
from thnn._operators import calls
from thnn._torch import in_transform

_module = modules()["Linear"]
_rule = _derivatives.rule(_module, THNN, "LinearFunction")
_forward = THNN.bind(_module.functions["updateOutput"])
_grad_input = THNN.bind(_module.functions["updateGradInput"])
_grad_parameters = THNN.bind(_module.functions["accGradParameters"])
_call_forward = _forward.caller(ANY)
_call_grad_input = _grad_input.caller(ANY)
_call_grad_parameters = _grad_parameters.caller(ANY)


class LinearFunction(FunctionBase):
    __doc__ = docstring(_module, ["input", "weight", "bias"], [])
    __module__ = "thnn"

    module = _module
    _names = ("input", "weight", "bias")
    _tensor_count = 3
    _optional = frozenset({"bias"})

    @staticmethod
    def compute(input: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Tensor]:
        output: Any
        try:
            output = input.new_empty((*input.shape[:-1], weight.shape[0]))
        except (AttributeError, IndexError, TypeError, RuntimeError, ValueError):
            output = ALLOCATE
        tensors = (input, output, weight, bias, None)
        if report := _call_forward(tensors):
            output = invoke(_forward, ANY, tensors, report)[1]
        return (output,)

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
            gradInput = torch.empty_like(input)
            tensors = (input, gradOutput, gradInput, weight)
            if report := _call_grad_input(tensors):
                invoke(_grad_input, ANY, tensors, report)
        if needs[1] or needs[2]:
            gradWeight = torch.zeros_like(weight)
            gradBias = torch.zeros_like(bias) if bias is not None else None
            arguments = (input, gradOutput, None, weight, bias, gradWeight, gradBias, None, 1.0)
            if report := _call_grad_parameters(arguments):
                invoke(_grad_parameters, ANY, arguments, report)
        return gradInput, gradWeight, gradBias
