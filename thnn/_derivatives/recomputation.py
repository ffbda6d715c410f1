"""Gradients of a function that a backward computes again, in operations that autograd can differentiate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from thnn._torch import in_transform


def recomputed_gradients(
    function: Callable[..., Sequence[Tensor]],
    tensors: Sequence[Tensor | None],
    needs: Sequence[bool],
    gradOutputs: Sequence[Tensor | None],
) -> list[Tensor | None]:
    """The gradients of ``function(*tensors)`` w.r.t. the tensors, for ``create_graph=True``; None where `needs` is
    False or the tensor is absent.

    `tensors` are those that a forward saved. The function gets a view of each tensor that needs a gradient, and the
    gradients are w.r.t. the views. A saved tensor itself has the history of the caller's graph, by which it may depend
    on another saved tensor, and may be saved twice: gradients w.r.t. saved tensors would include the paths that
    autograd follows after the backward, and these would count twice. Code that differentiates a formula calls this
    function, and never torch.autograd.grad.

    Arguments:
        function: Callable: takes as many arguments as there are `tensors`, and returns its outputs
        tensors: Sequence: the arguments
        needs: Sequence: for each argument, whether a gradient is wanted
        gradOutputs: Sequence: the gradient w.r.t. each output, of as many elements; None: that output has none
    """
    wanted = [k for k, (t, need) in enumerate(zip(tensors, needs)) if need and t is not None]

    def outputs(*given: Tensor) -> tuple[Tensor, ...]:
        replaced = {**dict(enumerate(tensors)), **dict(zip(wanted, given))}
        results = function(*replaced.values())
        return tuple(r for r, g in zip(results, gradOutputs) if g is not None)

    def gradients_like(results: Sequence[Tensor]) -> tuple[Tensor, ...]:
        return tuple(g.reshape(r.shape) for r, g in zip(results, (g for g in gradOutputs if g is not None)))

    primals = [t for k in wanted if (t := tensors[k]) is not None]
    found: Sequence[Tensor | None]
    if in_transform():
        # torch.func cannot differentiate torch.autograd.grad.
        results, pull = torch.func.vjp(outputs, *primals)[:2]
        found = pull(gradients_like(results))
    else:
        views = [t.view_as(t) for t in primals]
        results = outputs(*views)
        found = torch.autograd.grad(
            results, views, gradients_like(results), create_graph=True, allow_unused=True
        )
    by_position = {k: torch.zeros_like(t) if g is None else g for k, t, g in zip(wanted, primals, found)}
    return [by_position.get(k) for k in range(len(tensors))]
