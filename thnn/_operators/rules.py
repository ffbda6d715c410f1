"""Gradients of a module as operations that torch.func, forward mode and a second backward can differentiate.

A rule takes ``needs`` (for each tensor of the forward, whether its gradient is wanted), ``gradOutput`` and the tensors
and scalars that the backward functions take, by name; it returns the gradients by name, each linear in gradOutput.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from thnn._derivatives import rule as derivatives
from thnn._operators.model import OperatorModel, Rule


def rule_of(operators: OperatorModel) -> Rule:
    """The rule of a module; it raises NotImplementedError if the module can be differentiated only once."""
    module = operators.module
    if is_multilinear(operators):
        return _by_backward(operators)
    if operators.cls._operator_rule is not None:
        own: Rule = operators.cls._operator_rule(operators)
        return own
    rule = operators.cls._rule or derivatives.rule(module, operators.library, operators.cls.__name__)
    return _by_formula(rule)


def is_multilinear(operators: OperatorModel) -> bool:
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


def _by_backward(operators: OperatorModel) -> Rule:
    """The backward functions themselves; `differentiation` computes their derivatives by calling the forward and the
    backward functions."""

    def rule(needs: Sequence[bool], gradOutput: Tensor, **values: Any) -> Mapping[str, Tensor]:
        return apply_backward(operators, needs, gradOutput, values)

    return rule


def apply_backward(
    operators: OperatorModel, needs: Sequence[bool], gradOutput: Tensor, values: Mapping[str, Any]
) -> dict[str, Tensor]:
    """The gradients, through the autograd function of the backward functions."""
    names = operators.wanted_gradients(needs, values)
    kept = [values.get(n) for n in operators.kept]
    # One bit per tensor, since torch.vmap takes a tuple apart.
    mask = sum(1 << k for k, needed in enumerate(needs) if needed)
    results = operators.node.backward_node.apply(mask, gradOutput, *kept)
    return dict(zip(names, results if isinstance(results, tuple) else (results,)))
