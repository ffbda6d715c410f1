"""``LSTMFusedFunction`` and ``GRUFusedFunction``, written by hand: their backward functions name the tensors of the
forward differently, and have no gradients w.r.t. the biases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._binding.call import invoke
from thnn._binding.library import ALLOCATE, ANY, THNN
from thnn._derivatives.formulas import FORMULAS
from thnn._functions.base import FunctionBase
from thnn._functions.documentation import docstring
from thnn._header.registry import modules
from thnn._operators.recurrent import RecurrentOperators
from thnn._torch import in_transform

# The node returns `storage`, which its backward reads, as an additional last output; `apply` drops it. Second
# derivatives reach the forward as the gradient of that output.

_lstm, _gru = modules()["LSTMFused"], modules()["GRUFused"]
_lstm_forward, _gru_forward = (
    THNN.bind(f) for f in (_lstm.functions["cell"], _gru.functions["updateOutput"])
)
_lstm_backward, _gru_backward = (THNN.bind(m.functions["updateGradInput"]) for m in (_lstm, _gru))

_call_lstm_forward, _call_lstm_backward = _lstm_forward.caller(ANY), _lstm_backward.caller(ANY)
_call_gru_forward, _call_gru_backward = _gru_forward.caller(ANY), _gru_backward.caller(ANY)


def _by_bias(gradient: Tensor, bias_shape: Sequence[int] | None) -> Tensor | None:
    """dL/dbias, from the gradient w.r.t. the gates of each sample."""
    if bias_shape is None:
        return None
    return (gradient.sum(0) if gradient.dim() == 2 else gradient).reshape(bias_shape)


def _save_bias_shapes(ctx: Any, *biases: Tensor | None) -> None:
    ctx.bias_shapes = tuple(None if b is None else b.shape for b in biases)


class _RecurrentCell(FunctionBase):
    """Base of the two cells, whose operators are written by hand."""

    @classmethod
    def _make_operators(cls, namespace: str) -> Any:
        return RecurrentOperators(cls, namespace)


class LSTMFusedFunction(_RecurrentCell):
    __doc__ = docstring(_lstm, ["input", "hidden", "bias1", "bias2", "cell"], [])
    __module__ = "thnn"

    module = _lstm
    _names = ("input", "hidden", "bias1", "bias2", "cell")
    _tensor_count = 5
    _optional = frozenset({"bias1", "bias2"})

    @classmethod
    def apply(cls, *args: Any, **keywords: Any) -> tuple[Tensor, Tensor]:
        """Computes (output, outputCell); arguments are the tensors in the order of THNN.h."""
        results = super().apply(*args, **keywords)
        return results[0], results[1]

    @staticmethod
    def compute(
        input: Tensor, hidden: Tensor, bias1: Tensor | None, bias2: Tensor | None, cell: Tensor
    ) -> tuple[Tensor, Tensor, Any]:
        return LSTMFusedFunction._run(input, hidden, bias1, bias2, cell, None)

    @staticmethod
    def _run(*arguments: Any) -> tuple[Tensor, Tensor, Any]:
        """(output, outputCell, storage), the last one None if it is None in the arguments."""
        *tensors, cell, storage = arguments
        output: Any
        outputCell: Any
        try:
            output, outputCell = torch.empty_like(cell), torch.empty_like(cell)
        except (AttributeError, TypeError, RuntimeError):
            output = outputCell = ALLOCATE  # the call reports the error
        arguments = (*tensors, cell, output, outputCell, storage)
        if report := _call_lstm_forward(arguments):
            *_, output, outputCell, storage = invoke(_lstm_forward, ANY, arguments, report)
        return output, outputCell, storage

    @staticmethod
    def forward(
        ctx: Any, input: Tensor, hidden: Tensor, bias1: Tensor | None, bias2: Tensor | None, cell: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        storage: Any = (
            torch.empty_like(input) if isinstance(input, Tensor) else None
        )  # the call reports the error
        output, outputCell, storage = LSTMFusedFunction._run(input, hidden, bias1, bias2, cell, storage)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(storage, cell, outputCell)
        _save_bias_shapes(ctx, bias1, bias2)
        return output, outputCell, storage

    @staticmethod
    def backward(
        ctx: Any, gradOutput: Tensor | None, gradOutputCell: Tensor | None, gradStorage: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        storage, cell, outputCell = ctx.saved_tensors
        if gradStorage is not None or torch.is_grad_enabled() or in_transform():
            gradients = FORMULAS["LSTMFused"](
                ctx.needs_input_grad,
                gradOutput=gradOutput,
                gradOutputCell=gradOutputCell,
                gradStorage=gradStorage,
                storage=storage,
                cell=cell,
                outputCell=outputCell,
            )
            byGates, byCell = gradients["gradInGates"], gradients["gradInputCx"]
        else:
            byGates, byCell = torch.empty_like(storage), torch.empty_like(cell)
            arguments = (storage, byGates, cell, outputCell, gradOutput, gradOutputCell, byCell)
            if report := _call_lstm_backward(arguments):
                invoke(_lstm_backward, ANY, arguments, report)
        byBias1, byBias2 = (_by_bias(byGates, shape) for shape in ctx.bias_shapes)
        return byGates, byGates, byBias1, byBias2, byCell


class GRUFusedFunction(_RecurrentCell):
    __doc__ = docstring(_gru, ["input", "hidden", "bias1", "bias2", "hx"], [])
    __module__ = "thnn"

    module = _gru
    _names = ("input", "hidden", "bias1", "bias2", "hx")
    _tensor_count = 5
    _optional = frozenset({"bias1", "bias2"})

    @classmethod
    def apply(cls, *args: Any, **keywords: Any) -> Tensor:
        """Computes the function; arguments are the tensors in the order of THNN.h."""
        results = super().apply(*args, **keywords)
        # Under autocast FunctionBase.apply calls this method with cast tensors, and gets a single tensor.
        return results[0] if isinstance(results, tuple) else results

    @staticmethod
    def compute(
        input: Tensor, hidden: Tensor, bias1: Tensor | None, bias2: Tensor | None, hx: Tensor
    ) -> tuple[Tensor, Tensor]:
        output: Any
        storage: Any
        try:
            output, storage = torch.empty_like(hx), hx.new_empty((*hx.shape[:-1], 5 * hx.shape[-1]))
        except (AttributeError, IndexError, TypeError, RuntimeError):
            output = storage = ALLOCATE  # the call reports the error
        arguments = (input, hidden, bias1, bias2, hx, output, storage)
        if report := _call_gru_forward(arguments):
            *_, output, storage = invoke(_gru_forward, ANY, arguments, report)
        return output, storage

    @staticmethod
    def forward(
        ctx: Any, input: Tensor, hidden: Tensor, bias1: Tensor | None, bias2: Tensor | None, hx: Tensor
    ) -> tuple[Tensor, Tensor]:
        output, storage = GRUFusedFunction.compute(input, hidden, bias1, bias2, hx)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(storage)
        _save_bias_shapes(ctx, bias1, bias2)
        return output, storage

    @staticmethod
    def backward(
        ctx: Any, gradOutput: Tensor | None, gradStorage: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        (storage,) = ctx.saved_tensors
        if gradOutput is None or gradStorage is not None or torch.is_grad_enabled() or in_transform():
            gradients = FORMULAS["GRUFused"](
                ctx.needs_input_grad, gradOutput=gradOutput, gradStorage=gradStorage, storage=storage
            )
            byInput, byHidden, byHx = (
                gradients[name] for name in ("gradInInput", "gradInHidden", "gradInputHx")
            )
        else:
            *batch, columns = gradOutput.shape
            byInput, byHidden = (gradOutput.new_empty((*batch, 3 * columns)) for _ in range(2))
            byHx = torch.empty_like(gradOutput)
            arguments = (byInput, byHidden, gradOutput, byHx, storage)
            if report := _call_gru_backward(arguments):
                invoke(_gru_backward, ANY, arguments, report)
        shape1, shape2 = ctx.bias_shapes
        return byInput, byHidden, _by_bias(byInput, shape1), _by_bias(byHidden, shape2), byHx
