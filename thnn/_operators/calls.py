"""Calls of classes through their operators."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import torch
from torch import SymInt, Tensor

from thnn._binding.arguments import REAL_NUMBERS, convert_scalar
from thnn._operators.model import FunctionClass, OperatorCall
from thnn._operators.operators import operators_of
from thnn._operators.rules import apply_backward
from thnn._torch import (
    forward_level,
    functorch_active,
    is_functionalizing,
    is_tracing,
    marked_constant,
    named_script,
)

# Types of values that need no conversion; integers, also symbolic ones, may stand for other C types.
_EXACT: dict[str, Any] = {"bool": bool, **dict.fromkeys(REAL_NUMBERS, (int, float))}
_INTEGERS = (int, SymInt)


@marked_constant
def define(cls: type[FunctionClass]) -> OperatorCall:
    """Defines the operators of a class at the first call; torch.compile calls it while it traces."""
    if not hasattr(cls, "_operators"):
        owner: Any = next(c for c in cls.__mro__ if "module" in c.__dict__)
        operators = operators_of(owner)
        owner._operator, owner._transformed = operators.operator, operators.node.apply
        owner._operators = operators
    return cls._call


def takes_shards(cls: type[FunctionClass], args: Sequence[Any]) -> bool:
    """True if an argument is a DTensor; the operators of the class then have their placements."""
    loaded = sys.modules.get("torch.distributed.tensor")
    if loaded is None or not any(isinstance(a, loaded.DTensor) for a in args):
        return False
    define(cls)
    if not cls._operators.has_placements:
        import_module("thnn._operators.sharding").register(cls._operators)
        cls._operators.has_placements = True
    return True


def run(cls: type[FunctionClass], given: Sequence[Any]) -> Any:
    """The results of the operator; scalars are converted by the rules for C arguments."""
    forward = cls.module.forward
    assert forward is not None
    values = list(given)
    first = cls._tensor_count
    traced = []
    for position, argument in enumerate(cls._operators.scalars, first):
        expected, value = _EXACT.get(argument.type, _INTEGERS), values[position]
        if not isinstance(value, expected):
            if isinstance(value, Tensor) and is_tracing():  # torch.jit.trace turns sizes into tensors
                if expected is _INTEGERS and not value.is_floating_point() and not functorch_active():
                    traced.append(position)
                    continue
                value = value.item()
            values[position] = convert_scalar(forward, argument, value)
    if traced:
        return _with_traced_sizes(cls._operator, tuple(traced))(*values)
    if functorch_active():
        if is_functionalizing():
            raise NotImplementedError(f"{cls.__name__}: torch.func.functionalize is not supported")
        return cls._transformed(*values)
    if forward_level() >= 0:
        return cls._transformed(*values)
    return cls._operator(*values)


@functools.cache
def _with_traced_sizes(operator: Any, positions: tuple[int, ...]) -> Any:
    """The operator for torch.jit.trace, as a scripted function that takes the integers at some positions as tensors: a
    call from Python would make constants of them."""
    schema = operator._schema
    parameters = [f"a{k}: {'Tensor' if k in positions else a.type}" for k, a in enumerate(schema.arguments)]
    arguments = [f"int(a{k})" if k in positions else f"a{k}" for k in range(len(parameters))]
    namespace, name = schema.name.split("::")
    source = (
        f"def call({', '.join(parameters)}):\n"
        f"    return torch.ops.{namespace}.{name}({', '.join(arguments)})\n"
    )
    numbers = "_".join(map(str, positions))
    return named_script(f"{namespace}.{name}_{numbers}", torch.jit.CompilationUnit(source).call)


def gradients(
    cls: type[FunctionClass], needs: Sequence[bool], gradOutput: Tensor, kept: Sequence[Any]
) -> tuple[Any, ...]:
    """The gradients w.r.t. all arguments of a node, computed by operators; None for arguments without a gradient."""
    define(cls)
    operators = cls._operators
    found = apply_backward(operators, needs, gradOutput, dict(zip(operators.kept, kept)))
    named = {operators.gradient_of[g]: value for g, value in found.items()}
    by_tensor = [named.get(a.name) for a in operators.tensors[: len(needs)]]
    return (*by_tensor, *(None,) * (len(needs) - len(by_tensor)))
