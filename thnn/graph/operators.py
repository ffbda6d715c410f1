"""Variables in a scope, and the operators that work on them."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

import torch
from torch import Tensor

from thnn._batch_norm import statistics as _statistics
from thnn._functions.base import FunctionBase
from thnn._functions.classes import function_classes


class Variable:
    """A named variable: a parameter or statistic, which has a value between runs, or a result, which has none.

    `value`, a tensor or None, may be assigned at any time; the next run sees it. `trainable` says whether
    `Net.parameters` yields it; a floating-point value then is made to require a gradient.

    Errors: TypeError for a value that is no tensor; ValueError for one that should require a gradient and cannot be
    trained: one that has been computed of such, or an inference tensor.
    """

    __slots__ = ("_name", "_value", "trainable")

    def __init__(self, name: str, value: Tensor | None = None, trainable: bool = True) -> None:
        self._name = name
        self.trainable = trainable
        self.value = value

    @property
    def name(self) -> str:
        return self._name

    @property
    def value(self) -> Tensor | None:
        return self._value

    @value.setter
    def value(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"variable {self.name!r}: value: expected a tensor or None, got {type(value).__name__}"
            )
        if value is not None and self.trainable and value.is_floating_point():
            if not value.is_leaf:
                raise ValueError(
                    f"variable {self.name!r}: value: expected a tensor that has not been computed of others that"
                    " require a gradient; detach it, or make the variable with trainable=False"
                )
            if value.is_inference() and not torch.is_inference_mode_enabled():
                raise ValueError(
                    f"variable {self.name!r}: value: an inference tensor cannot require a gradient; clone it"
                )
            value.requires_grad_()
        self._value = value

    def __repr__(self) -> str:
        if self.value is None:
            return f"Variable({self.name!r})"
        kind = "parameter" if self.trainable else "statistic or constant"
        return f"Variable({self.name!r}, {tuple(self.value.shape)}, {kind})"


class Scope(Mapping[str, Variable]):
    """Variables by name. Nets that are made with one scope share its variables."""

    def __init__(self) -> None:
        self._variables: dict[str, Variable] = {}

    def new_var(self, name: str, value: Tensor | None = None, *, trainable: bool = True) -> Variable:
        """A variable under a new name.

        Arguments:
            name: str: not yet in the scope
            value: Tensor or None: the very tensor that is used, not a copy; None for what operators compute or what is
                fed
            trainable: bool: have a floating-point value require a gradient and be among `Net.parameters`

        Errors: TypeError for a name that is no string; ValueError for a name that is taken or empty; those of
        `Variable` for the value.
        """
        if not isinstance(name, str):
            raise TypeError(f"new_var: name: expected a string, got {type(name).__name__}")
        if not name:
            raise ValueError("new_var: name: expected a name, got an empty string")
        if name in self._variables:
            raise ValueError(f"new_var: name: there is a variable {name!r} already")
        if isinstance(value, Tensor) and not value.is_floating_point():
            trainable = False
        variable = self._variables[name] = Variable(name, value, bool(trainable))
        return variable

    def new_parameter(
        self,
        name: str,
        size: Sequence[int],
        initialize: Callable[[Tensor], object],
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Variable:
        """A trainable variable of a given size that `initialize`, one of torch.nn.init say, fills in place.

        Errors: as new_var; TypeError and ValueError for another size, TypeError where `initialize` cannot be called.
        """
        try:
            sizes = tuple(map(operator.index, size))
        except TypeError:
            raise TypeError(f"new_parameter: size of {name!r}: expected integers, got {size!r}") from None
        if any(n < 0 for n in sizes):
            raise ValueError(f"new_parameter: size of {name!r}: expected 0 or more, got {sizes}")
        if not callable(initialize):
            raise TypeError(
                f"new_parameter: initialize of {name!r}: expected a function, got {type(initialize).__name__}"
            )
        value = torch.empty(sizes, dtype=dtype, device=device)
        with torch.no_grad():
            initialize(value)
        return self.new_var(name, value)

    def __getitem__(self, name: str) -> Variable:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        return f"Scope({', '.join(self)})"


Names = str | tuple[str, ...] | None
_Run = Callable[[Sequence[Any], Mapping[str, Any], int], Any]
_Made = tuple[dict[str, Names], dict[str, "str | None"], dict[str, Any], _Run]
_Make = Callable[[str, tuple[Any, ...], dict[str, Any]], _Made]

_BATCH_NORM = "batch_norm_op"
_BATCH_NORM_INPUTS = ("x", "scale", "bias", "estimated_mean", "estimated_var")
_BATCH_NORM_OUTPUTS = ("y", "batch_mean", "batch_var", "saved_mean", "saved_var")
_BATCH_NORM_DEFAULTS = {"is_infer": False, "use_global_est": False, "epsilon": 1e-6, "momentum": 0.99}
_MEMORY_OF = {"saved_mean": "estimated_mean", "saved_var": "estimated_var"}
# Attribute -> its value in training, at which a net forks, and in inference.
_MODES = {"is_infer": (False, True), "train": (True, False), "training": (True, False)}


class Operator:
    """A function with the names of the variables that it reads and writes. Once made, it cannot be changed.

    ``Operator('batch_norm_op', x=..., scale=..., bias=..., estimated_mean=..., estimated_var=..., y=...,
    batch_mean=..., batch_var=..., saved_mean=..., saved_var=..., is_infer=False, use_global_est=False, epsilon=1e-6,
    momentum=0.99)``
        ``thnn.batch_norm``. Of the results only y is needed. saved_mean and saved_var are the memory of the estimates;
        left out, they go by their names.
    ``Operator('SpatialConvolutionMM', input=..., weight=..., output=..., kW=3, ...)``
        A thnn function, by its module or as class: tensors by the names in THNN.h, or in that order; all other keywords
        are its scalars.
    ``Operator(callable, 'a', 'b', output='c', **attributes)``
        ``c = callable(a, b, **attributes)``. A tuple of names passes a tuple of tensors. A keyword that is a `Variable`
        passes its value; every other keyword is an attribute, strings too.
    ``Operator(module, 'a', output='b')``
        A torch module, by way of `fork`. Its parameters are among `Net.parameters`.

    Variables are given by name or as `Variable`. `output` is a name, or a tuple of names for a function that returns as
    many results. A list given as an attribute is kept as a tuple. A callable that takes a dict or set gets it by
    functools.partial.

    A net forks at an operator with ``is_infer=False``, ``train=True`` or ``training=True``; its twin for inference has
    the other value. A callable whose parameter `training` is True by default, as that of torch's dropout, counts too;
    an operator made with the value for inference stays so in both branches.

    Attributes:
        kind: str, class or callable: what was given
        inputs: Mapping: argument -> name, tuple of names, or None for an optional tensor left out
        outputs: Mapping: result -> name or None
        attributes: Mapping: all others

    Errors: TypeError for unknown or missing keywords, for what is no name, for is_infer, train or training that is
    neither True nor False, for an attribute that could be changed later; ValueError for an unknown function, an
    attribute out of range, ``inplace=True`` (a variable is written once), one name for two results. Changing anything
    of an operator is an AttributeError or TypeError; `replace` makes another one.
    """

    __slots__ = ("_given", "_run", "attributes", "inputs", "kind", "outputs")
    kind: Any
    inputs: Mapping[str, Names]
    outputs: Mapping[str, str | None]
    attributes: Mapping[str, Any]
    _given: tuple[tuple[Any, ...], dict[str, Any]]
    _run: _Run

    def __init__(self, kind: Any, /, *inputs: Any, **keywords: Any) -> None:
        inputs = tuple(tuple(v) if isinstance(v, list) else v for v in inputs)
        keywords = {k: _frozen(f"{label(kind)}: {k}", v) for k, v in keywords.items()}
        make: _Make
        if isinstance(kind, str):
            if kind == _BATCH_NORM:
                make = _batch_norm
            else:
                name = kind if kind.endswith("Function") else kind + "Function"
                if name not in function_classes:
                    known = ", ".join((_BATCH_NORM, *(n.removesuffix("Function") for n in function_classes)))
                    raise ValueError(
                        f"Operator: there is no function {kind!r}; expected a callable or one of {known}"
                    )
                make = _of_class(function_classes[name])
        elif isinstance(kind, type) and issubclass(kind, FunctionBase):
            make = _of_class(kind)
        elif isinstance(kind, torch.nn.Module):
            make = _of_module(kind)
        elif callable(kind):
            make = _of_callable(kind)
        else:
            raise TypeError(
                f"Operator: expected the name of a function or a callable, got {type(kind).__name__}"
            )
        set_ = object.__setattr__
        set_(self, "kind", kind)
        set_(self, "_given", (inputs, keywords))
        reads, writes, attributes, run = make(label(kind), inputs, dict(keywords))
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
        raise AttributeError(
            f"{self}: {name}: a made operator cannot be changed; replace() makes another one"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{self}: {name}: a made operator cannot be changed; replace() makes another one"
        )

    def replace(self, **keywords: Any) -> Operator:
        """Another operator with some keywords changed. Errors: as in making one."""
        inputs, given = self._given
        return Operator(self.kind, *inputs, **{**given, **keywords})

    def __reduce__(self) -> tuple[Any, ...]:
        inputs, keywords = self._given
        return _remake, (self.kind, inputs, keywords)

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the variables that it reads."""
        return tuple(dict.fromkeys(_flat(self.inputs.values())))

    @property
    def writes(self) -> tuple[str, ...]:
        """Names of the variables that it makes. An estimate that it updates under its own name is not one of them."""
        return tuple(n for n in self.outputs.values() if n is not None and n not in self._estimates)

    @property
    def _estimates(self) -> tuple[str, ...]:
        if self.kind != _BATCH_NORM:
            return ()
        return tuple(
            n for n in (self.inputs["estimated_mean"], self.inputs["estimated_var"]) if isinstance(n, str)
        )

    @property
    def updates(self) -> tuple[str, ...]:
        """Names of the estimates that a run changes."""
        return () if self.attributes.get("is_infer") else self._estimates

    @property
    def forks(self) -> bool:
        """Whether it differs between training and inference."""
        return self._mode is not None

    @property
    def _mode(self) -> str | None:
        return next((m for m, (value, _) in _MODES.items() if self.attributes.get(m) is value), None)

    def for_inference(self) -> Operator:
        """Its twin for inference, or itself if there is no difference."""
        mode = self._mode
        return self if mode is None else self.replace(**{mode: _MODES[mode][1]})

    @property
    def train_only(self) -> tuple[str, ...]:
        """Results that inference does not have: statistics of a batch."""
        if self.kind != _BATCH_NORM or not self.forks:
            return ()
        return tuple(n for n in (self.outputs["batch_mean"], self.outputs["batch_var"]) if n is not None)

    def compute(self, values: Mapping[str, Any], batch_id: int = 0) -> tuple[Any, ...]:
        """Runs it on the values of variables; returns the results in the order of `outputs`.

        Errors: those of the function, with the operator and its variables in the message, or in a note (Python 3.11) of
        an exception of a type of its own; torch's RuntimeError for sizes that do not fit becomes ValueError.
        """
        arguments = [_look_up(names, values) for names in self.inputs.values()]
        try:
            results = self._run(arguments, self.attributes, batch_id)
        except Exception as error:
            if type(error) not in (TypeError, ValueError, RuntimeError):
                if hasattr(error, "add_note"):  # Python 3.11
                    error.add_note(f"in {self} ({self._describe(arguments)})")
                raise  # says more by its type: out of memory, not implemented
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
        except AttributeError:  # not yet made
            return label(self.kind)
        return f"{label(self.kind)} -> {name!r}"


def _frozen(where: str, value: Any) -> Any:
    """An attribute as it cannot be changed any more."""
    if isinstance(value, list) or type(value) is tuple:
        return tuple(_frozen(where, v) for v in value)
    if isinstance(value, (dict, set, bytearray)):
        raise TypeError(
            f"{where}: expected an attribute that cannot be changed, got {type(value).__name__};"
            " functools.partial takes it"
        )
    return value


def _remake(kind: Any, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Operator:
    return Operator(kind, *inputs, **keywords)


def label(kind: Any) -> str:
    """What an operator is called."""
    if isinstance(kind, str):
        return kind
    if isinstance(kind, torch.nn.Module):
        return type(kind).__name__
    name = getattr(kind, "__name__", None) or type(kind).__name__
    return str(name).removesuffix("Function") if isinstance(kind, type) else str(name)


def names_of(where: str, value: Any) -> Names:
    """A name, from a name or a variable; tuples of them too."""
    if isinstance(value, Variable):
        return value.name
    if isinstance(value, str):
        if not value:
            raise ValueError(f"{where}: expected the name of a variable, got an empty string")
        return value
    if isinstance(value, (tuple, list)) and value:
        return tuple(_name_of(where, v) for v in value)
    raise TypeError(f"{where}: expected the name of a variable, got {type(value).__name__}")


def _name_of(where: str, value: Any) -> str:
    name = names_of(where, value)
    if not isinstance(name, str):
        raise TypeError(f"{where}: expected the name of one variable, got {name!r}")
    return name


def _flat(names: Any) -> Iterator[str]:
    for name in names:
        if isinstance(name, str):
            yield name
        elif name is not None:
            yield from name


def _look_up(names: Names, values: Mapping[str, Any]) -> Any:
    if names is None:
        return None
    return values[names] if isinstance(names, str) else tuple(values[n] for n in names)


def _batch_norm(where: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> _Made:
    if inputs:
        raise TypeError(f"{where}: expected variables by keyword: {', '.join(_BATCH_NORM_INPUTS)}")
    reads: dict[str, Names] = {}
    for slot in _BATCH_NORM_INPUTS:
        if slot not in keywords:
            raise TypeError(f"{where}: {slot} is missing")
        reads[slot] = _name_of(f"{where}: {slot}", keywords.pop(slot))
    if "y" not in keywords:
        raise TypeError(f"{where}: y is missing")
    writes: dict[str, str | None] = {}
    for slot in _BATCH_NORM_OUTPUTS:
        value = keywords.pop(slot, None)
        writes[slot] = None if value is None else _name_of(f"{where}: {slot}", value)
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
    return reads, writes, attributes, _run_batch_norm


def _run_batch_norm(arguments: Sequence[Any], attributes: Mapping[str, Any], batch_id: int) -> Any:
    from thnn import batch_norm

    return batch_norm(*arguments, batch_id=batch_id, **attributes)


def _outputs(where: str, keywords: dict[str, Any]) -> dict[str, str | None]:
    if "output" not in keywords:
        raise TypeError(f"{where}: output is missing: the name of the result, or a tuple of names")
    names = names_of(f"{where}: output", keywords.pop("output"))
    if isinstance(names, str):
        return {"output": names}
    return {f"output[{k}]": name for k, name in enumerate(names or ())}


def _of_class(cls: type[FunctionBase]) -> _Make:
    tensors, scalars = cls._names[: cls._tensor_count], cls._names[cls._tensor_count :]

    def make(where: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> _Made:
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
            reads[slot] = None if value is None else _name_of(f"{where}: {slot}", value)
        attributes = {}
        for name in scalars:
            if name not in given and name not in cls._defaults:
                raise TypeError(f"{where}: {name} is missing; expected {', '.join(cls._names)}, output")
            attributes[name] = given.get(name, cls._defaults.get(name))
            if isinstance(attributes[name], (Tensor, Variable)):
                raise TypeError(f"{where}: {name}: expected a scalar, got {type(attributes[name]).__name__}")
        apply, values = cls.apply, tuple(attributes.values())
        return reads, writes, attributes, lambda arguments, *_: apply(*arguments, *values)

    return make


def _of_callable(function: Callable[..., Any]) -> _Make:
    def make(where: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> _Made:
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

        return reads, writes, keywords, run

    return make


def _of_module(module: torch.nn.Module) -> _Make:
    def make(where: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> _Made:
        from thnn.graph.forks import trace
        from thnn.graph.views import depends_on_mode

        writes = _outputs(where, keywords)
        reads = {str(k): names_of(f"{where}: argument {k}", v) for k, v in enumerate(inputs)}
        depends = any(depends_on_mode(m) for m in module.modules())
        attributes = {"training": keywords.pop("training", True)} if depends else {}
        if keywords:
            raise TypeError(
                f"{where}: unexpected keyword {next(iter(keywords))!r}; a module takes variables and output"
            )
        branch = trace(module, len(inputs), training=bool(attributes.get("training", False)))
        return reads, writes, attributes, lambda arguments, *_: branch(*arguments)

    return make
