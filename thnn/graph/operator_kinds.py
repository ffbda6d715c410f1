"""The kinds of operators: batch_norm_op, thnn functions, callables and modules.

For each kind a binder sorts the arguments of `Operator` into variables, attributes and a function to run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from thnn._batch_norm import running_statistics as _statistics
from thnn._batch_norm.operator import batch_norm
from thnn._classes import function_classes
from thnn._functions.base import FunctionBase
from thnn.graph.mode_views import depends_on_mode
from thnn.graph.tracing import trace
from thnn.graph.variables import Names, Variable, flat_names, name_of, names_of

Run = Callable[[Sequence[Any], Mapping[str, Any], int], Any]


class Binding(NamedTuple):
    """The arguments of an operator, sorted."""

    inputs: dict[str, Names]  # argument -> variables
    outputs: dict[str, str | None]  # result -> variable
    attributes: dict[str, Any]
    run: Run  # (values of the inputs, attributes, batch_id) -> results


Binder = Callable[[str, tuple[Any, ...], dict[str, Any]], Binding]

BATCH_NORM = "batch_norm_op"
_BATCH_NORM_INPUTS = ("x", "scale", "bias", "estimated_mean", "estimated_var")
_BATCH_NORM_OUTPUTS = ("y", "batch_mean", "batch_var", "saved_mean", "saved_var")
_BATCH_NORM_DEFAULTS = {"is_infer": False, "use_global_est": False, "epsilon": 1e-6, "momentum": 0.99}
_MEMORY_OF = {"saved_mean": "estimated_mean", "saved_var": "estimated_var"}


def binder_of(kind: Any) -> Binder:
    """The function that sorts the arguments of an operator of this kind: (name for messages, arguments, keywords).

    Raises ValueError for an unknown name, TypeError for a kind that is neither a name nor callable.
    """
    if isinstance(kind, str):
        if kind == BATCH_NORM:
            return _batch_norm
        name = kind if kind.endswith("Function") else kind + "Function"
        if name not in function_classes:
            known = ", ".join((BATCH_NORM, *(n.removesuffix("Function") for n in function_classes)))
            raise ValueError(
                f"Operator: there is no function {kind!r}; expected a callable or one of {known}"
            )
        return _of_class(function_classes[name])
    if isinstance(kind, type) and issubclass(kind, FunctionBase):
        return _of_class(kind)
    if isinstance(kind, torch.nn.Module):
        return _of_module(kind)
    if callable(kind):
        return _of_callable(kind)
    raise TypeError(f"Operator: expected the name of a function or a callable, got {type(kind).__name__}")


def _batch_norm(where: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Binding:
    if inputs:
        raise TypeError(f"{where}: expected variables by keyword: {', '.join(_BATCH_NORM_INPUTS)}")
    reads: dict[str, Names] = {}
    for slot in _BATCH_NORM_INPUTS:
        if slot not in keywords:
            raise TypeError(f"{where}: {slot} is missing")
        reads[slot] = name_of(f"{where}: {slot}", keywords.pop(slot))
    if "y" not in keywords:
        raise TypeError(f"{where}: y is missing")
    writes: dict[str, str | None] = {}
    for slot in _BATCH_NORM_OUTPUTS:
        value = keywords.pop(slot, None)
        writes[slot] = None if value is None else name_of(f"{where}: {slot}", value)
    if reads["estimated_mean"] == reads["estimated_var"]:
        raise ValueError(
            f"{where}: estimated_mean, estimated_var: expected two variables, got {reads['estimated_mean']!r}"
        )
    for slot, memory in _MEMORY_OF.items():
        name, other = reads[memory], next(m for m in _MEMORY_OF.values() if m != memory)
        writes[slot] = writes[slot] or str(name)
        if writes[slot] == reads[other]:
            raise ValueError(
                f"{where}: {slot}: expected {name!r}, the memory of {memory}, got {writes[slot]!r}"
            )
    attributes = {**_BATCH_NORM_DEFAULTS, **keywords}
    for name in attributes:
        if name not in _BATCH_NORM_DEFAULTS:
            known = (*_BATCH_NORM_INPUTS, *_BATCH_NORM_OUTPUTS, *_BATCH_NORM_DEFAULTS)
            raise TypeError(f"{where}: unexpected keyword {name!r}; expected some of {', '.join(known)}")
    if not isinstance(attributes["use_global_est"], bool):
        raise TypeError(
            f"{where}: use_global_est: expected True or False, got {attributes['use_global_est']!r}"
        )
    attributes["epsilon"] = _statistics.not_negative(where, "epsilon", attributes["epsilon"])
    attributes["momentum"] = _statistics.fraction(where, "momentum", attributes["momentum"])
    return Binding(reads, writes, attributes, _run_batch_norm)


def _run_batch_norm(arguments: Sequence[Any], attributes: Mapping[str, Any], batch_id: int) -> Any:
    return batch_norm(*arguments, batch_id=batch_id, **attributes)


def _outputs(where: str, keywords: dict[str, Any]) -> dict[str, str | None]:
    if "output" not in keywords:
        raise TypeError(f"{where}: output is missing: the name of the result, or a tuple of names")
    names = names_of(f"{where}: output", keywords.pop("output"))
    if isinstance(names, str):
        return {"output": names}
    return {f"output[{k}]": name for k, name in enumerate(names or ())}


def _of_class(cls: type[FunctionBase]) -> Binder:
    tensors, scalars = cls._names[: cls._tensor_count], cls._names[cls._tensor_count :]

    def bind(where: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Binding:
        writes = _outputs(where, keywords)
        given = cls._canonical(keywords)
        if len(inputs) > len(tensors):
            raise TypeError(f"{where}: expected at most {len(tensors)} tensors {tensors}, got {len(inputs)}")
        for slot, value in zip(tensors, inputs):
            if slot in given:
                raise TypeError(f"{where}: {slot} was given twice")
            given[slot] = value
        reads: dict[str, Names] = {}
        for slot in tensors:
            value = given.get(slot)
            if value is None and slot not in cls._optional:
                raise TypeError(f"{where}: {slot} is missing; expected {', '.join(cls._names)}, output")
            reads[slot] = None if value is None else name_of(f"{where}: {slot}", value)
        attributes = {}
        for name in scalars:
            if name not in given and name not in cls._defaults:
                raise TypeError(f"{where}: {name} is missing; expected {', '.join(cls._names)}, output")
            attributes[name] = given.get(name, cls._defaults.get(name))
            if isinstance(attributes[name], (Tensor, Variable)):
                raise TypeError(f"{where}: {name}: expected a scalar, got {type(attributes[name]).__name__}")
        apply, values = cls.apply, tuple(attributes.values())
        return Binding(reads, writes, attributes, lambda arguments, *_: apply(*arguments, *values))

    return bind


def _of_callable(function: Callable[..., Any]) -> Binder:
    def bind(where: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Binding:
        writes = _outputs(where, keywords)
        reads = {str(k): names_of(f"{where}: argument {k}", v) for k, v in enumerate(inputs)}
        count = len(reads)
        variables = [k for k, v in keywords.items() if isinstance(v, Variable)]
        reads |= {k: keywords.pop(k).name for k in variables}
        for name, value in keywords.items():
            if isinstance(value, Tensor):
                raise TypeError(f"{where}: {name}: expected a variable or an attribute, got a tensor")
        try:
            training = inspect.signature(function).parameters.get("training")
        except (TypeError, ValueError):  # a built-in function without a signature
            training = None
        if training is not None and training.default is True:
            keywords.setdefault("training", True)

        def run(arguments: Sequence[Any], attributes: Mapping[str, Any], batch_id: int) -> Any:
            return function(*arguments[:count], **dict(zip(variables, arguments[count:])), **attributes)

        return Binding(reads, writes, keywords, _checked(reads, run))

    return bind


def _checked(reads: Mapping[str, Names], run: Run) -> Run:
    """`run`, with a ValueError if it changes a variable that it reads: other readers could get the old or the new
    value.

    Tensors of inference mode, and torch.compile, do not count changes.
    """
    names = tuple(flat_names(reads.values()))

    def checked(arguments: Sequence[Any], attributes: Mapping[str, Any], batch_id: int) -> Any:
        before = _versions(arguments)
        result = run(arguments, attributes, batch_id)
        for name, old, new in zip(names, before, _versions(arguments)):
            if old != new:
                raise ValueError(
                    f"variable {name!r} was changed in place; expected no change, since a variable is written once"
                )
        return result

    return checked


def _versions(arguments: Sequence[Any]) -> list[int | None]:
    """The number of changes in place of each tensor."""
    if torch.compiler.is_compiling():
        return []
    values = (v for argument in arguments for v in (argument if isinstance(argument, tuple) else (argument,)))
    return [v._version if isinstance(v, Tensor) and not v.is_inference() else None for v in values]


def _of_module(module: torch.nn.Module) -> Binder:
    def bind(where: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Binding:
        writes = _outputs(where, keywords)
        reads = {str(k): names_of(f"{where}: argument {k}", v) for k, v in enumerate(inputs)}
        depends = any(depends_on_mode(m) for m in module.modules())
        attributes = {"training": keywords.pop("training", True)} if depends else {}
        if keywords:
            raise TypeError(
                f"{where}: unexpected keyword {next(iter(keywords))!r}; a module takes variables and output"
            )
        branch = trace(module, len(inputs), training=bool(attributes.get("training", False)))
        return Binding(reads, writes, attributes, _checked(reads, lambda arguments, *_: branch(*arguments)))

    return bind
