"""Derivatives of functions whose arguments depend on one another: shared weights, states of earlier calls, grids that
are made from the input.

A backward that differentiates a formula w.r.t. the tensors that it saved must not follow the history of these tensors:
autograd follows it afterwards, and each path would count twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

# Half the distance between the two points of a central difference.
_STEP = 1e-5


def check_derivatives(
    function: Callable[[dict[str, Tensor]], Sequence[Tensor]], bases: Mapping[str, Tensor], *, tied: bool
) -> None:
    """Raises AssertionError unless the derivatives of a function, whose arguments depend on one leaf and each on the
    one before it, are right in float64.

    These are the gradients w.r.t. the leaf and w.r.t. each argument, without and with a graph, all at once and each by
    itself, and the second derivatives w.r.t. the leaf. Finite differences along the leaf are the expected values.
    `tied`: arguments of equal size are one tensor.
    """
    generator = torch.Generator().manual_seed(3)

    def random(*size: int) -> Tensor:
        return torch.randn(size, generator=generator, dtype=torch.float64)

    start = random(2)
    directions = {name: random(2, base.numel()) for name, base in bases.items()}
    weights: dict[int, Tensor] = {}

    def weight(tensor: Tensor, position: int) -> Tensor:
        if position not in weights:
            weights[position] = random(*tensor.shape)
        return weights[position]

    def arguments(leaf: Tensor) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        of_size: dict[torch.Size, Tensor] = {}
        before = leaf.sum()
        for name, base in bases.items():
            change = torch.tanh(leaf @ directions[name] + before).reshape(base.shape)
            found[name] = base + 0.01 * change
            if tied:
                found[name] = of_size.setdefault(base.shape, found[name])
            before = found[name].mean()
        return found

    def loss(given: dict[str, Tensor]) -> Tensor:
        # The sine makes the gradient w.r.t. an output depend on the leaf.
        results = [r for r in function(given) if r.is_floating_point()]
        parts = [(weight(r, k) * r.sin()).sum() for k, r in enumerate(results)]
        return torch.stack(parts).sum()

    def first(at: Tensor, create_graph: bool) -> tuple[Tensor, list[Tensor], Callable[..., list[Tensor]]]:
        """The leaf, the gradients w.r.t. the leaf and all arguments, and a function that computes chosen ones."""
        leaf = at.clone().requires_grad_()
        given = arguments(leaf)
        total, wanted = loss(given), [leaf, *given.values()]

        def gradients(*chosen: int) -> list[Tensor]:
            tensors = [wanted[k] for k in chosen or range(len(wanted))]
            found = torch.autograd.grad(
                total, tensors, create_graph=create_graph, retain_graph=True, allow_unused=True
            )
            return [torch.zeros_like(t) if g is None else g for t, g in zip(tensors, found)]

        return leaf, gradients(), gradients

    def combined(gradients: Sequence[Tensor]) -> Tensor:
        parts = [(weight(g, -1 - k) * g).sum() for k, g in enumerate(gradients)]
        return torch.stack(parts).sum()

    def difference(f: Callable[[Tensor], Tensor]) -> Tensor:
        steps = _STEP * torch.eye(len(start), dtype=torch.float64)
        return torch.stack([(f(start + s) - f(start - s)) / (2 * _STEP) for s in steps])

    def agree(what: str, got: Sequence[Tensor], expected: Sequence[Tensor], tolerance: float) -> None:
        for name, a, b in zip(("the leaf", *bases), got, expected):
            least = tolerance * max(1.0, float(b.abs().max()) if b.numel() else 0.0)
            torch.testing.assert_close(
                a, b, rtol=tolerance, atol=least, msg=lambda text, n=name: f"{what} w.r.t. {n}: {text}"
            )

    names = list(bases)
    _, plain, _ = first(start, create_graph=False)
    by_difference = difference(lambda at: loss(arguments(at)).detach())
    agree("gradient", plain[:1], [by_difference], 1e-6)
    leaf, with_graph, gradients = first(start, create_graph=True)
    agree("gradient with a graph", with_graph, plain, 1e-10)
    for k, name in enumerate(("the leaf", *names)):
        (one,) = gradients(k)
        torch.testing.assert_close(one, with_graph[k], msg=lambda text, n=name: f"only w.r.t. {n}: {text}")
    total = combined(with_graph)
    if total.requires_grad:
        try:
            (second,) = torch.autograd.grad(total, leaf)
        except RuntimeError as error:
            if "is not implemented" in str(error):  # by torch, which computes some options of losses
                return
            raise
        expected = difference(lambda at: combined(first(at, create_graph=False)[1]))
        agree("second derivative", [second], [expected], 1e-6)
