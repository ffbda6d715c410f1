"""Gradients of a module as operations that torch.func, forward mode and a second backward can differentiate.

A rule takes ``needs`` (for each tensor of the forward, whether its gradient is wanted), ``gradOutput`` and the tensors
and scalars that the backward functions take, by name; it returns the gradients by name, each linear in gradOutput.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from thnn._derivatives import rule as derivatives
from thnn._operators.model import OperatorModel, Rule
from thnn._torch import call_node


def rule_of(operators: OperatorModel) -> Rule:
    """The rule of a module; it raises NotImplementedError if the module can be differentiated only once."""
    formula = operators.cls._rule
    if formula is None:
        return functools.partial(_by_backward, operators)
    names = derivatives.values(formula, ["gradOutput", *operators.kept, "inplace"])

    def rule(needs: Sequence[bool], gradOutput: Tensor, **values: Any) -> Mapping[str, Tensor]:
        all_values = {**values, "gradOutput": gradOutput, "inplace": False}
        found: Mapping[str, Tensor] = formula(needs, **{n: all_values[n] for n in names})
        return found

    return rule


def is_multilinear(operators: OperatorModel) -> bool:
    """True if the derivatives of the backward functions are products that the C functions compute."""
    return operators.cls._rule is None


def _by_backward(
    operators: OperatorModel, needs: Sequence[bool], gradOutput: Tensor, **values: Any
) -> Mapping[str, Tensor]:
    """The backward functions themselves; `differentiation` computes their derivatives by calling the forward and the
    backward functions."""
    return apply_backward(operators, needs, gradOutput, values)


def apply_backward(
    operators: OperatorModel, needs: Sequence[bool], gradOutput: Tensor, values: Mapping[str, Any]
) -> dict[str, Tensor]:
    """The gradients, through the autograd function of the backward functions."""
    names = operators.wanted_gradients(needs, values)
    kept = [values.get(n) for n in operators.kept]
    # One bit per tensor, since torch.vmap takes a tuple apart.
    mask = sum(1 << k for k, needed in enumerate(needs) if needed)
    results = call_node(operators.node.backward_node, mask, gradOutput, *kept)
    return dict(zip(names, results if isinstance(results, tuple) else (results,)))
