"""Operators: functions with the names of the variables that they read and write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

import torch
from torch import Tensor

from thnn.graph.operator_kinds import BATCH_NORM, Run, binder_of
from thnn.graph.variables import Names, flat_names, look_up

# Attribute -> its value in training, at which a net forks, and in inference.
_MODES = {"is_infer": (False, True), "train": (True, False), "training": (True, False)}


class Operator:
    """A function with the names of the variables that it reads and writes. Immutable.

    ``Operator('batch_norm_op', x=..., scale=..., bias=..., estimated_mean=..., estimated_var=..., y=...,
    batch_mean=..., batch_var=..., saved_mean=..., saved_var=..., is_infer=False, use_global_est=False, epsilon=1e-6,
    momentum=0.99)``
        ``thnn.batch_norm``. Only the result y is required. saved_mean and saved_var share the memory of the
        estimates; if omitted, they have the names of the estimates.
    ``Operator('SpatialConvolutionMM', input=..., weight=..., output=..., kW=3, ...)``
        A thnn function, by the name of its module or as class: tensors by the names in THNN.h, or in that order; the
        other keywords are its scalars.
    ``Operator(callable, 'a', 'b', output='c', **attributes)``
        ``c = callable(a, b, **attributes)``. A tuple of names passes a tuple of tensors. A keyword that is a `Variable`
        passes its value; every other keyword is an attribute, strings too.
    ``Operator(module, 'a', output='b')``
        A torch module, traced as by `fork`. Its parameters are among `Net.parameters`.

    Variables are given by name or as `Variable`. `output` is a name, or a tuple of names for a function with as many
    results. Lists as attributes become tuples. A dict or a set cannot be an attribute: bind it to the callable with
    functools.partial first.

    A net forks at an operator with ``is_infer=False``, ``train=True`` or ``training=True``; the branch for inference
    has its counterpart with the other value. It also forks at callables whose parameter `training` is True by default,
    such as torch's dropout. An operator created with the value for inference keeps it in both branches.

    Attributes:
        kind: str, class or callable: the function that the operator runs, as given to the constructor
        inputs: Mapping: argument -> name, tuple of names, or None for an omitted optional tensor
        outputs: Mapping: result -> name or None
        attributes: Mapping: all other keywords

    Errors: TypeError for unknown or missing keywords, for a wrong type of name, for is_infer, train or training that is
    neither True nor False, for a mutable attribute; ValueError for an unknown function, an attribute out of range,
    ``inplace=True`` (a variable is written once), one name for two results. A run raises ValueError, too, where a
    callable or module has changed a variable in place. Assignment to an operator is an
    AttributeError or TypeError; `replace` creates another one.
    """

    __slots__ = ("_given", "_run", "attributes", "inputs", "kind", "outputs")
    kind: Any
    inputs: Mapping[str, Names]
    outputs: Mapping[str, str | None]
    attributes: Mapping[str, Any]
    _given: tuple[tuple[Any, ...], dict[str, Any]]
    _run: Run

    def __init__(self, kind: Any, /, *inputs: Any, **keywords: Any) -> None:
        inputs = tuple(tuple(v) if isinstance(v, list) else v for v in inputs)
        keywords = {k: _frozen(f"{label(kind)}: {k}", v) for k, v in keywords.items()}
        bind = binder_of(kind)
        set_ = object.__setattr__
        set_(self, "kind", kind)
        set_(self, "_given", (inputs, keywords))
        reads, writes, attributes, run = bind(label(kind), inputs, dict(keywords))
        for mode in _MODES.keys() & attributes.keys():
            if not isinstance(attributes[mode], bool):
                raise TypeError(f"{label(kind)}: {mode}: expected True or False, got {attributes[mode]!r}")
        if attributes.get("inplace"):
            raise ValueError(f"{label(kind)}: inplace: expected False, since a variable is written once")
        set_(self, "inputs", MappingProxyType(reads))
        set_(self, "outputs", MappingProxyType(writes))
        set_(self, "attributes", MappingProxyType(attributes))
        set_(self, "_run", run)
        written = [name for name in writes.values() if name is not None]
        for name in written:
            if written.count(name) > 1:
                raise ValueError(f"{self}: variable {name!r} is written twice")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self}: {name}: operators are immutable; replace() creates another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self}: {name}: operators are immutable; replace() creates another one")

    def replace(self, **keywords: Any) -> Operator:
        """A copy with some keywords changed. Errors: the same as the constructor."""
        inputs, given = self._given
        return Operator(self.kind, *inputs, **{**given, **keywords})

    def __reduce__(self) -> tuple[Any, ...]:
        inputs, keywords = self._given
        return _remake, (self.kind, inputs, keywords)

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the variables that the operator reads."""
        return tuple(dict.fromkeys(flat_names(self.inputs.values())))

    @property
    def writes(self) -> tuple[str, ...]:
        """Names of the variables that the operator writes, without the estimates that it updates."""
        return tuple(n for n in self.outputs.values() if n is not None and n not in self._estimates)

    @property
    def _estimates(self) -> tuple[str, ...]:
        if self.kind != BATCH_NORM:
            return ()
        return tuple(
            n for n in (self.inputs["estimated_mean"], self.inputs["estimated_var"]) if isinstance(n, str)
        )

    @property
    def updates(self) -> tuple[str, ...]:
        """Names of the estimates that the operator updates."""
        return () if self.attributes.get("is_infer") else self._estimates

    @property
    def forks(self) -> bool:
        """Whether the operator differs between training and inference."""
        return self._mode is not None

    @property
    def _mode(self) -> str | None:
        return next((m for m, (value, _) in _MODES.items() if self.attributes.get(m) is value), None)

    def for_inference(self) -> Operator:
        """The counterpart in the branch for inference: the operator itself if it does not fork."""
        mode = self._mode
        return self if mode is None else self.replace(**{mode: _MODES[mode][1]})

    @property
    def train_only(self) -> tuple[str, ...]:
        """Names of the results that only training has: statistics of the batch."""
        if self.kind != BATCH_NORM or not self.forks:
            return ()
        return tuple(n for n in (self.outputs["batch_mean"], self.outputs["batch_var"]) if n is not None)

    def compute(self, values: Mapping[str, Any], batch_id: int = 0) -> tuple[Any, ...]:
        """Runs the operator on the values of variables; returns the results in the order of `outputs`.

        Errors: the function's, with the operator and its variables in the message; torch's RuntimeError becomes
        ValueError. Exceptions of other types have operator and variables in a note (Python 3.11).
        """
        arguments = [look_up(names, values) for names in self.inputs.values()]
        try:
            results = self._run(arguments, self.attributes, batch_id)
        except Exception as error:
            if type(error) not in (TypeError, ValueError, RuntimeError):
                if hasattr(error, "add_note"):  # Python 3.11
                    error.add_note(f"in {self} ({self._describe(arguments)})")
                raise  # unchanged: callers distinguish such errors (out of memory, not implemented) by type
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{self}: {error} ({self._describe(arguments)})") from error
        if "output" in self.outputs:
            return (results,)
        if not isinstance(results, (tuple, list)) or len(results) != len(self.outputs):
            got = f"{len(results)} results" if isinstance(results, (tuple, list)) else type(results).__name__
            raise ValueError(
                f"{self}: expected {len(self.outputs)} results for {tuple(self.outputs.values())}, got {got}"
            )
        return tuple(results)

    def _describe(self, arguments: Sequence[Any]) -> str:
        parts = []
        for (slot, names), value in zip(self.inputs.items(), arguments):
            several = isinstance(value, tuple)
            sizes = [
                f"{str(v.dtype).removeprefix('torch.')} {tuple(v.shape)}"
                if isinstance(v, Tensor)
                else repr(v)
                for v in (value if several else (value,))
            ]
            parts.append(f"{slot}={names!r}: {', '.join(sizes)}")
        return "; ".join(parts)

    def __repr__(self) -> str:
        inputs = [
            f"{k}={v!r}" if not k.isdecimal() else repr(v) for k, v in self.inputs.items() if v is not None
        ]
        rest = [f"{k}={v!r}" for k, v in self.outputs.items() if v is not None]
        attributes = [f"{k}={v!r}" for k, v in self.attributes.items()]
        return f"Operator({', '.join([label(self.kind), *inputs, *rest, *attributes])})"

    def __str__(self) -> str:
        try:
            name = next(n for n in self.outputs.values() if n is not None)
        except AttributeError:  # in the constructor, before `outputs` is set
            return label(self.kind)
        return f"{label(self.kind)} -> {name!r}"


def _frozen(where: str, value: Any) -> Any:
    """An immutable copy of an attribute; TypeError if there is none."""
    if isinstance(value, list) or type(value) is tuple:
        return tuple(_frozen(where, v) for v in value)
    if isinstance(value, (dict, set, bytearray)):
        raise TypeError(
            f"{where}: expected an immutable attribute, got {type(value).__name__};"
            " bind it with functools.partial"
        )
    return value


def _remake(kind: Any, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Operator:
    return Operator(kind, *inputs, **keywords)


def label(kind: Any) -> str:
    """The name of an operator of this kind in messages."""
    if isinstance(kind, str):
        return kind
    if isinstance(kind, torch.nn.Module):
        return type(kind).__name__
    name = getattr(kind, "__name__", None) or type(kind).__name__
    return str(name).removesuffix("Function") if isinstance(kind, type) else str(name)
