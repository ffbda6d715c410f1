"""The functions of a class, made of its plan by lib/binding/plan.c."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from thnn._binding.extension import ffi, lib
from thnn._header import HeaderError
from thnn._plan import ClassPlan, gradients_of
from thnn._torch import saves_by_attribute


def bind_class(
    plan: ClassPlan, calls: tuple[Any, ...], inplace_at: int, indices_at: int
) -> Sequence[Callable[..., Any]]:
    """compute, forward and backward of a class. `calls` are the objects of thnn_bindClass (lib/binding/plan.h).

    Raises HeaderError for more arguments than the binding has room for.
    """
    results = plan.forward.results
    made: list[Callable[..., Any]] = []
    gradients = [
        (plan.inputs.index(gradients_of(call.function, plan.inputs)[name]), number)
        for number, call in enumerate(plan.backwards)
        for name in call.results
    ]
    shape = ffi.new("THNNClassPlan *")
    shape.tensors, shape.scalars, shape.arguments = len(plan.inputs), len(plan.scalars), len(plan.parameters)
    shape.savesByAttribute = saves_by_attribute
    shape.inplaceAt, shape.indicesAt = inplace_at, indices_at
    shape.output = results.index(plan.output)
    shape.indices = results.index("indices") if indices_at >= 0 else -1
    shape.backwardCount = len(plan.backwards)
    limit = len(shape.kept)
    if max(len(plan.parameters), len(results), len(plan.keep), len(gradients)) > limit:
        raise HeaderError(
            plan.forward.function.location, f"{plan.module.name}: a class takes at most {limit} arguments"
        )
    shape.keptCount = _fill(shape.kept, [_kept(plan, name) for name in plan.keep])
    shape.zeroCount = _fill(shape.zeros, [plan.parameters.index(name) for name in plan.saves_output_at_0])
    shape.gradientCount = _fill(shape.gradients, [position for position, _ in gradients])
    _fill(shape.gradientCall, [number for _, number in gradients])
    if not lib.thnn_bindClass(shape, id(calls), id(made)):
        raise MemoryError
    return made


def backward_method() -> Any:
    """A method of nodes that calls the backward which is their attribute `planned_backward`; torch calls it with the
    gradients."""
    made: list[Any] = []
    base = torch.autograd.function.BackwardCFunction.__base__
    if not lib.thnn_makeBackwardMethod(id(base), id(made)):
        raise MemoryError
    return made[0]


def _kept(plan: ClassPlan, name: str) -> int:
    """The number of a tensor that forward saves (lib/binding/plan.h)."""
    if name not in plan.inputs:
        return int(lib.THNN_KEPT_RESULT) + plan.forward.results.index(name)
    return plan.inputs.index(name) + (lib.THNN_KEPT_DATA if name in plan.sizes else 0)


def _fill(array: Any, values: Sequence[int]) -> int:
    """Writes an array of the plan; returns the number of values."""
    for k, value in enumerate(values):
        array[k] = value
    return len(values)
