"""Gradients as torch operations, for second derivatives of modules without a [DERIVATIVE] tag in the header.

A formula takes ``needs`` (which inputs need a gradient), then the values named by its parameters (``gradOutput``,
saved tensors and scalars, by their names in THNN.h), and returns the gradients by name. It computes the backward
under ``create_graph=True``.
"""

from __future__ import annotations

from collections.abc import Mapping

from thnn._derivatives.formulas import (
    activation,
    criterion,
    normalization,
    pooling,
    recurrent,
    resampling,
    tables,
)
from thnn._derivatives.formulas.model import Formula, LinearIn

__all__ = ["FORMULAS", "LINEAR_IN", "Formula"]

# Modules that are linear in a tensor and whose backward is not the transpose: it leaves out or weights rows, or gives
# several elements at one position each the gradient. The tangent of the output is the function of the tangent.
LINEAR_IN: Mapping[str, LinearIn] = {**pooling.LINEAR_IN, **tables.LINEAR_IN}

FORMULAS: Mapping[str, Formula] = {
    name: formula
    for family in (activation, criterion, normalization, pooling, recurrent, resampling, tables)
    for name, formula in family.FORMULAS.items()
}
