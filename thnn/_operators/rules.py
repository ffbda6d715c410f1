"""Gradients of a module as operations that torch.func, forward mode and a second backward can differentiate.

A rule takes ``needs`` (for each tensor of the forward, whether its gradient is wanted), ``gradOutput`` and the tensors
and scalars that the backward functions take, by name; it returns the gradients by name, each linear in gradOutput.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor

from thnn._functions import derivatives

if TYPE_CHECKING:
    from thnn._operators.operators import Operators

Rule = Callable[..., Mapping[str, Tensor]]


def rule_of(operators: Operators) -> Rule:
    """The rule of a module; it raises NotImplementedError if the module can be differentiated only once."""
    module = operators.module
    if is_multilinear(operators):
        return _by_backward(operators)
    if operators.cls._operator_rule is not None:
        own: Rule = operators.cls._operator_rule(operators)
        return own
    rule = operators.cls._rule or derivatives.rule(module, operators.library, operators.cls.__name__)
    return _by_formula(rule)


def is_multilinear(operators: Operators) -> bool:
    """True if the derivatives of the backward functions are products that the C functions compute."""
    forward = operators.module.forward
    if operators.cls._reference is not None:
        return False
    return forward is not None and forward.derivative in ("linear", "bilinear", "constant")


def _by_formula(formula: Rule) -> Rule:
    names = [*inspect.signature(formula).parameters][2:]

    def rule(needs: Sequence[bool], gradOutput: Tensor, **values: Any) -> Mapping[str, Tensor]:
        return formula(
            needs, gradOutput=gradOutput, **{n: False if n == "inplace" else values[n] for n in names}
        )

    return rule


def _by_backward(operators: Operators) -> Rule:
    """The backward functions themselves; `differentiation` computes their derivatives by calls of the forward and the
    backward functions."""

    def rule(needs: Sequence[bool], gradOutput: Tensor, **values: Any) -> Mapping[str, Tensor]:
        return apply_backward(operators, needs, gradOutput, values)

    return rule


def apply_backward(
    operators: Operators, needs: Sequence[bool], gradOutput: Tensor, values: Mapping[str, Any]
) -> dict[str, Tensor]:
    """The gradients by the autograd function of the backward functions."""
    names = wanted_gradients(operators, needs, values)
    kept = [values.get(n) for n in operators.kept]
    # One bit per tensor, since torch.vmap takes a tuple apart.
    mask = sum(1 << k for k, needed in enumerate(needs) if needed)
    results = operators.node.backward_node.apply(mask, gradOutput, *kept)
    return dict(zip(names, results if isinstance(results, tuple) else (results,)))


def wanted_gradients(operators: Operators, needs: Sequence[bool], values: Mapping[str, Any]) -> list[str]:
    """The names of the gradients of the tensors that need one, in the order of the operators' results.

    `values` has None for an absent tensor, and nothing for one that no backward function takes.
    """
    wanted = {
        a.name for a, needed in zip(operators.tensors, needs) if needed and values.get(a.name, a) is not None
    }
    return [gradient for gradient, name in operators.gradient_of.items() if name in wanted]
