"""The data of the operators of a class, from which `operators.py` defines them, and the calls that need this data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor

from thnn._binding.library import Library
from thnn._header import Module
from thnn._operators.decompositions import DECOMPOSITIONS
from thnn._operators.kernels import BackwardKernel, backward_kernels
from thnn._plan import OUTPUT_FOR_INPUT, ClassPlan
from thnn._torch import is_decomposing

# A rule of thnn/_operators/rules.py.
Rule = Callable[..., Mapping[str, Tensor]]


class OperatorCall(NamedTuple):
    """How a class calls its operator. torch.compile takes all of it for a constant; otherwise compiled code would check
    each attribute of a class that tracing reads, in each call."""

    arity: int  # arguments of `apply`
    scalars: tuple[tuple[int, str], ...]  # position in `apply` and name
    constants: tuple[int, ...]  # positions of the tensors without a gradient
    inplace_at: int  # position; -1: no such argument
    train_at: int
    returns_indices: bool
    output_count: int
    result_count: int
    # (argument position, result position) per running statistic.
    updated: tuple[tuple[int, int], ...]
    is_overridden: bool = False  # a subclass with a forward or backward of its own


class FunctionClass(Protocol):
    """A class of thnn/_functions, with the attributes that operators use (FunctionBase describes them)."""

    module: ClassVar[Module]
    plan: ClassVar[ClassPlan]
    compute: ClassVar[Callable[..., Any]]
    _tensor_count: ClassVar[int]
    _library: ClassVar[Library]
    _reference: ClassVar[Callable[..., Any] | None]
    _rule: ClassVar[Callable[..., Any] | None]
    _decomposition: ClassVar[Callable[..., Any] | None]
    _call: ClassVar[OperatorCall]
    # Since the first call of `calls.define`:
    _operators: ClassVar[OperatorModel]
    _operator: ClassVar[Any]
    _transformed: ClassVar[Callable[..., Any]]

    @classmethod
    def _make_operators(cls, namespace: str) -> Any: ...
    @classmethod
    def _wants_gradient(cls, args: tuple[Any, ...]) -> bool: ...


class OperatorModel:
    """The tensors, results, gradients and kernels of the operators of one class, by name."""

    node: Any  # the autograd function of the forward
    rule: Rule
    forward: Any  # the operator of updateOutput
    backwards: Sequence[Any]  # the operators of the backward functions
    has_placements = False  # sharding.py has registered the operators

    def __init__(self, cls: type[FunctionClass]) -> None:
        module, forward = cls.module, cls.module.forward
        assert forward is not None
        self.cls, self.module, self.library = cls, module, cls._library
        self.tensors = list(forward.tensors("input", "target", "parameter"))
        self.scalars = [a for a in forward.scalars if a.name != "inplace"]
        self.generators = [a for a in forward.arguments if a.role == "generator"]
        self.given = [a.variable for a in (*self.tensors, *self.scalars, *self.generators)]
        self.outputs = list(forward.tensors("output"))
        self.saved = list(forward.tensors("saved"))
        self.modified = list(forward.running)
        self.results = [a.name for a in (*self.outputs, *self.saved)]
        self.optional = frozenset(a.name for a in forward.tensors() if a.is_optional)
        self.is_random = bool(self.generators)
        self.decomposition = cls._decomposition or self.library.fact(DECOMPOSITIONS, module)
        self.output_for_input = self.library.fact(OUTPUT_FOR_INPUT, module)
        self.kernels: Sequence[BackwardKernel] = self._backward_kernels()
        self.gradient_of = {
            gradient: name for kernel in self.kernels for gradient, name in kernel.gradients.items()
        }
        self.template_of = {
            gradient: name for kernel in self.kernels for gradient, name in kernel.templates.items()
        }
        positions = {a.name: k for k, a in enumerate(self.tensors)}
        self._gradient_at = [(gradient, positions[n], n) for gradient, n in self.gradient_of.items()]
        self.differentiable = frozenset(self.gradient_of.values())
        # The names that backward kernels take, among them results of the forward.
        self.kept = list(self.kernels[0].arguments) if self.kernels else []
        self.kept_tensors = len(self.cls.plan.keep) if self.kernels else 0

    def _backward_kernels(self) -> Sequence[BackwardKernel]:
        return backward_kernels(self.cls.plan, self.library)

    def wanted_gradients(self, needs: Sequence[bool], values: Mapping[str, Any]) -> list[str]:
        """The names of the gradients of the tensors that need one, in the order of the operators' results.

        `values` has None for an absent tensor, and nothing for one that no backward function takes.
        """
        return [
            gradient
            for gradient, position, name in self._gradient_at
            if needs[position] and values.get(name, gradient) is not None
        ]

    def decomposed_forward(self, *values: Any) -> Any:
        """The results of the forward operator, by torch operations where a tracer asks for these."""
        if self.decomposition is not None and is_decomposing():
            # torch refuses scalars that overflow the element type; a C function rounds them to infinity.
            most = torch.finfo(values[0].dtype).max
            if all(abs(v) <= most or math.isinf(v) for v in values if isinstance(v, float)):
                results = self.decomposition(*values)
                if results is not None:
                    return results
        return self.forward(*values)

    def keeps_output(self, values: Mapping[str, Any]) -> bool:
        """True if traced code keeps the output of a call for the gradient, in place of the input.

        The next function often keeps the output as well, and the memory of the input serves for other tensors.
        """
        condition = None if self.decomposition is None else self.output_for_input
        return condition is not None and is_decomposing() and condition.holds(values)

    def gradients(self, needs: Sequence[bool], gradOutput: Tensor, kept: Sequence[Any]) -> dict[str, Tensor]:
        """The gradients, by their names, of the tensors that need one; `needs` is in the order of `tensors`."""
        wanted = self.wanted_gradients(needs, dict(zip(self.kept, kept)))
        found: dict[str, Tensor] = {}
        for operator, kernel in zip(self.backwards, self.kernels):
            if not kernel.gradients.keys().isdisjoint(wanted):
                results = operator(gradOutput, *kept)
                results = results if isinstance(results, tuple) else (results,)
                found.update(zip(kernel.gradients, results))
        return {gradient: tensor for gradient, tensor in found.items() if gradient in wanted}
