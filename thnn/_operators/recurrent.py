"""The operators of LSTMFused and GRUFused, whose gradients are computed by their formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._derivatives.formulas import FORMULAS
from thnn._operators.differentiation import pull_back, tangents_of
from thnn._operators.kernels import BackwardKernel, check_given
from thnn._operators.operators import Operators


class RecurrentOperators(Operators):
    """The results of the forward are the output, outputCell of an LSTM, and `storage`, which the gradients need."""

    cls: Any  # a class of thnn/_functions/recurrent.py

    def _backward_kernels(self) -> Sequence[BackwardKernel]:
        self.results = [*(a.name for a in self.outputs), "storage"]
        return []

    @property
    def _is_lstm(self) -> bool:
        return len(self.outputs) == 2

    def _forward_kernel(self) -> Callable[..., Any]:
        def kernel(*values: Any) -> Any:
            check_given(
                forward, False, **{n: v for n, v in zip(self.given, values) if n not in self.optional}
            )
            if self._is_lstm:
                return self.cls._run(*values, torch.empty_like(values[0]))
            return self.cls.compute(*values)

        forward = self.module.forward.name  # type: ignore[union-attr]
        return kernel

    def fake_results(self, values: Mapping[str, Any]) -> list[Any]:
        if self._is_lstm:
            cell = values["cell"]
            return [torch.empty_like(cell), torch.empty_like(cell), torch.empty_like(values["input"])]
        hx = values["hx"]
        return [torch.empty_like(hx), hx.new_empty((*hx.shape[:-1], 5 * hx.shape[-1]))]

    def _make_node(self) -> Any:
        return _make_node(self)


def _make_node(o: RecurrentOperators) -> Any:
    formula = FORMULAS[o.module.name]
    gradients_of = (
        ["gradOutput", "gradOutputCell", "gradStorage"] if o._is_lstm else ["gradOutput", "gradStorage"]
    )
    kept = ["storage", "cell", "outputCell"] if o._is_lstm else ["storage"]

    def by_inputs(
        gradients: Sequence[Any], values: Mapping[str, Any], biases: Sequence[Any]
    ) -> tuple[Any, ...]:
        """The gradients w.r.t. input, hidden, the biases and cell or hx."""
        found = formula(None, **dict(zip(gradients_of, gradients)), **values)
        if o._is_lstm:
            by_input = by_hidden = found["gradInGates"]
            by_state = found["gradInputCx"]
        else:
            by_input, by_hidden, by_state = (found[n] for n in ("gradInInput", "gradInHidden", "gradInputHx"))
        by_biases = [
            None if shape is None else g.sum_to_size(g.shape[-1:]).reshape(shape)
            for g, shape in zip((by_input, by_hidden), biases)
        ]
        return by_input, by_hidden, *by_biases, by_state

    class Forward(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*values: Any) -> Any:
            return o.forward(*values)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
            values = {**dict(zip(o.given, inputs)), **dict(zip(o.results, output))}
            ctx.biases = [None if b is None else b.shape for b in inputs[2:4]]
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(*(values[n] for n in kept))
            ctx.save_for_forward(*(values[n] for n in kept))
            ctx.shapes = [t.shape for t in output]

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
            if all(g is None for g in gradients):
                return (None,) * len(o.given)
            return by_inputs(gradients, dict(zip(kept, ctx.saved_tensors)), ctx.biases)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> tuple[Tensor, ...]:
            def of(values: Mapping[str, Any], tangents: Sequence[Any]) -> Any:
                given = [k for k, t in enumerate(tangents) if t is not None]

                def f(*gradients: Tensor) -> tuple[Tensor, ...]:
                    found = by_inputs(gradients, values, ctx.biases)
                    return tuple(found[k] for k in given)

                like = values["storage"]
                _, pull = pull_back(f, *(like.new_zeros(shape) for shape in ctx.shapes))
                return pull(tuple(tangents[k] for k in given))

            values = dict(zip(kept, ctx.saved_tensors))
            results: tuple[Tensor, ...] = tangents_of(Forward.__name__, of, values, tangents)
            return results

    Forward.__name__ = Forward.__qualname__ = o.cls.__name__
    return Forward
