"""The function classes of ``torch.nn._functions``, under their names of 2017.

Each, except the fused recurrent cells, is a subclass of thnn's class of the module, so that it has both forms
of call, ``X(*scalars)(*tensors)`` and ``X.apply(*tensors, *scalars)``, and so that its autograd node is called
XBackward.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import cache
from typing import Any, ClassVar

import torch.nn.functional as F
from torch import Tensor

from thnn._binding.arguments import to_bool
from thnn._classes import function_classes
from thnn._functions.base import FunctionBase
from thnn._header.registry import THNN_H_PATH, modules
from thnn.compat._contents import WRITTEN_CLASSES, load
from thnn.compat._utils import Function, declared, parse_header
from thnn.nn.functional.activation import along

AUTO = "torch.nn._functions.thnn.auto"
FUSED = "torch.nn._functions.thnn.rnnFusedPointwise"

#: Module of the header -> class, where torch's class of September 2017 had another name than the module.
RENAMED = {
    "TemporalConvolution": "Conv1d",
    "TemporalReflectionPadding": "ReflectionPad1d",
    "TemporalReplicationPadding": "ReplicationPad1d",
    "SpatialDilatedConvolution": "DilatedConv2d",
    "SpatialMaxUnpooling": "MaxUnpool2d",
    "SpatialReflectionPadding": "ReflectionPad2d",
    "SpatialReplicationPadding": "ReplicationPad2d",
    "VolumetricReplicationPadding": "ReplicationPad3d",
    "VolumetricMaxUnpooling": "MaxUnpool3d",
    "SoftMax": "Softmax",
    "LogSoftMax": "LogSoftmax",
    "HardTanh": "Hardtanh",
    "HardShrink": "Hardshrink",
    "SoftPlus": "Softplus",
    "SoftShrink": "Softshrink",
    "MSECriterion": "MSELoss",
    "AbsCriterion": "L1Loss",
    "BCECriterion": "BCELoss",
    "ClassNLLCriterion": "NLLLoss",
    "DistKLDivCriterion": "KLDivLoss",
    "SpatialClassNLLCriterion": "NLLLoss2d",
    "MultiLabelMarginCriterion": "MultiLabelMarginLoss",
    "MultiMarginCriterion": "MultiMarginLoss",
    "SmoothL1Criterion": "SmoothL1Loss",
    "SoftMarginCriterion": "SoftMarginLoss",
    "BatchNormalization": "BatchNorm",
}

#: Name in torch.nn.backends.thnn.backend of 0.1.1 -> module, where no later class has the name.
REGISTERED_0_1_1 = {
    **{module: module for module in RENAMED},
    "Conv2d": "SpatialConvolutionMM",
    "MaxPooling2d": "SpatialMaxPooling",
}


class _LegacyMeta(type):
    """Lets a class be unpacked into (class, backward class), the result of `_make_function_class` since 0.2."""

    _backward_cls: Any

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> None:
        super().__init__(name, bases, members)
        cls._backward_cls = cls._node._backward_cls  # type: ignore[attr-defined]
        cls._backward_cls.__module__ = cls.__module__
        cls._backward_cls.__doc__ = f"The autograd node of {name}."

    def __iter__(cls) -> Iterator[Any]:
        return iter((cls, cls._backward_cls))


def _is_fused(module: str) -> bool:
    return module.endswith("Fused")


def _subclass(base: type[FunctionBase], name: str) -> Any:
    members: dict[str, Any] = {"__module__": AUTO, "__doc__": base.__doc__}
    if _is_fused(base.module.name):
        return type(name, (_Fused,), {**members, "__module__": FUSED, "function": base})
    if base.module.name == "PReLU":
        return _LegacyMeta(name, (_CountingSlopes, base), members)
    if base.module.name in ("SoftMax", "LogSoftMax"):
        return _LegacyMeta(name, (_AlongDimension, base), members)
    if "sizeAverage" in base._names:
        members["_aliases"] = {**base._aliases, "size_average": "sizeAverage"}
        return _LegacyMeta(name, (_Reducing, base), members)
    return _LegacyMeta(name, (base,), members)


class _CountingSlopes:
    """Base of PReLU, which took no number of slopes: it is the number of elements of weight."""

    @classmethod
    def apply(cls, *args: Any, **keywords: Any) -> Any:
        """Computes the function: apply(input, weight)."""
        input, weight, slopes = cls._bind(args, keywords)  # type: ignore[attr-defined]
        if slopes == 0 and isinstance(weight, Tensor) and weight.numel() > 1:
            slopes = weight.numel()
        return super().apply(input, weight, slopes)  # type: ignore[misc]


class _Later:
    """Base of classes that have one more argument since PyTorch 0.3, which comes last by position."""

    _later: ClassVar[str]
    _given_later: Any = None

    def __init__(self, *settings: Any, **keywords: Any) -> None:
        count = self._arity - self._call_tensor_count  # type: ignore[attr-defined]
        settings, later = self._split(settings, keywords, count)
        super().__init__(*settings, **keywords)
        self._given_later = later

    def __call__(self, *tensors: Any, **keywords: Any) -> Any:
        if self._given_later is None:
            return super().__call__(*tensors, **keywords)  # type: ignore[misc]
        settings = {**self._keywords, self._later: self._given_later}  # type: ignore[attr-defined]
        return type(self).apply(*tensors, **{**settings, **keywords})

    @classmethod
    def _split(cls, args: tuple[Any, ...], keywords: dict[str, Any], count: int) -> tuple[Any, Any]:
        """Positional arguments without the later one, and its value, which may be among the keywords, or None."""
        if len(args) != count + 1:
            return args, keywords.pop(cls._later, None)
        if cls._later in keywords:
            raise TypeError(f"{cls.__name__}: {cls._later} was given twice")
        return args[:-1], args[-1]

    @classmethod
    def apply(cls, *args: Any, **keywords: Any) -> Any:
        """Computes the function; the argument of PyTorch 0.3 is optional."""
        args, later = cls._split(args, keywords, cls._arity)  # type: ignore[attr-defined]
        compute = super().apply  # type: ignore[misc]
        return compute(*args, **keywords) if later is None else cls._apply_later(later, args, keywords)

    @classmethod
    def _setting_of_0_3(cls) -> str:
        """'': errors do not say that the argument is missing."""
        return ""

    @classmethod
    def _apply_later(cls, later: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        raise NotImplementedError


class _AlongDimension(_Later):
    """Base of Softmax and LogSoftmax, whose `dim` is the dimension that they normalize."""

    _later = "dim"

    @classmethod
    def _apply_later(cls, later: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        (input,) = cls._bind(args, keywords)  # type: ignore[attr-defined]
        return along(super().apply, input, later)


#: Criterion of the header -> torch's loss and the names of its arguments for the settings of the criterion. torch
#: computes the losses of single elements, since the criteria of the header always reduce.
_UNREDUCED: dict[str, tuple[Any, dict[str, str]]] = {
    "AbsCriterion": (F.l1_loss, {}),
    "BCECriterion": (F.binary_cross_entropy, {"weights": "weight"}),
    "ClassNLLCriterion": (F.nll_loss, {"weights": "weight", "ignore_index": "ignore_index"}),
    "DistKLDivCriterion": (F.kl_div, {}),
    "MSECriterion": (F.mse_loss, {}),
    "MultiLabelMarginCriterion": (F.multilabel_margin_loss, {}),
    "MultiMarginCriterion": (F.multi_margin_loss, {"weights": "weight", "p": "p", "margin": "margin"}),
    "SmoothL1Criterion": (F.smooth_l1_loss, {}),
    "SoftMarginCriterion": (F.soft_margin_loss, {}),
    "SpatialClassNLLCriterion": (F.nll_loss, {"weights": "weight", "ignore_index": "ignore_index"}),
}


class _Reducing(_Later):
    """Base of the criteria: with ``reduce=False`` they return the loss of each element, and ignore sizeAverage."""

    _later = "reduce"

    @classmethod
    def _apply_later(cls, later: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if to_bool("reduce", later):
            return super().apply(*args, **keywords)
        module = cls.module.name  # type: ignore[attr-defined]
        if module not in _UNREDUCED:
            raise NotImplementedError(f"{cls.__name__}: reduce: expected True, got False")
        loss, settings = _UNREDUCED[module]
        given = dict(zip(cls._names, cls._bind(args, keywords)))  # type: ignore[attr-defined]
        chosen = {name: given[setting] for setting, name in settings.items()}
        return loss(given["input"], given["target"], **chosen, reduction="none")


class _Fused:
    """Base of the fused recurrent cells, whose optional biases come last in a call and not in header order."""

    function: ClassVar[type[FunctionBase]]

    def __call__(self, *tensors: Tensor | None) -> Any:
        return self.apply(*tensors)

    @classmethod
    def apply(cls, *tensors: Tensor | None) -> Any:
        """Computes the cell: apply(input, hidden, state, bias of input, bias of hidden)."""
        forward = cls.function.module.forward
        assert forward is not None
        taken = forward.tensors("input", "parameter")
        names = [a.name for a in sorted(taken, key=lambda a: a.is_optional)]
        if len(tensors) > len(names):
            raise TypeError(f"{cls.__name__}: takes ({', '.join(names)}), got {len(tensors)} arguments")
        return cls.function.apply(**dict(zip(names, tensors)))


def names() -> dict[str, str]:
    """Class name -> module, of all modules of the header that have a class."""
    return {RENAMED.get(name, name): name for name, m in modules().items() if m.forward is not None}


_classes: dict[str, Any] = {}


def class_of(name: str) -> Any:
    """The class with this name of 2017; KeyError if the header has no such module."""
    if name not in _classes:
        cls = _subclass(function_classes[f"{names()[name]}Function"], name)
        return _classes.setdefault(name, cls)
    return _classes[name]


def fused_names() -> list[str]:
    """The fused recurrent cells, which ``rnnFusedPointwise`` has."""
    return [name for name, module in names().items() if _is_fused(module)]


def backward_names() -> dict[str, str]:
    """Name of the backward class -> name of the class, for classes that have their own autograd node."""
    return {f"{name}Backward": name for name, module in names().items() if not _is_fused(module)}


def backward_class_of(name: str) -> Any:
    """The autograd node of a class by its name, 'ThresholdBackward'; KeyError if there is none."""
    return class_of(backward_names()[name])._backward_cls


def all_functions() -> list[Any]:
    """``_all_functions`` of 2017: every class, those that were written by hand last."""
    return [*map(class_of, names()), *map(load, WRITTEN_CLASSES.values())]


def names_of_0_1_1() -> list[str]:
    """The names of the classes in 0.1.1: TanhFunction."""
    return list(function_classes)


def class_of_0_1_1(name: str) -> Any:
    """The class with this name of 0.1.1, which takes the target of a criterion as the first setting."""
    return function_classes[name]


def generated_functions() -> list[Any]:
    """``_generated_functions`` of 0.1.1: every class."""
    return list(function_classes.values())


@cache
def function_list() -> list[Function]:
    """``auto.function_list``: every function of the header."""
    return parse_header(THNN_H_PATH)


@cache
def function_by_name() -> dict[str, Function]:
    """``auto.function_by_name``: every function of the header by its name."""
    return {f.name: f for f in function_list()}


def _make_function_class(
    class_name: str,
    update_output: Function,
    update_grad_input: Function | None = None,
    acc_grad_parameters: Function | None = None,
) -> Any:
    """A class of a module, given by functions that `function_by_name` or `parse_header` returned.

    The result is the class, as until 0.1.12; it can be unpacked into (class, backward class), as since 0.2.
    """
    given = (update_output, update_grad_input, acc_grad_parameters)
    found = list(dict.fromkeys(declared(function).module for function in given if function is not None))
    if len(found) != 1:
        raise ValueError(f"{class_name}: functions of one module expected, got {', '.join(found)}")
    return _subclass(function_classes[f"{found[0]}Function"], class_name)


def _make_function_class_criterion(
    class_name: str,
    update_output: Function,
    update_grad_input: Function | None = None,
    acc_grad_parameters: Function | None = None,
) -> Any:
    """The same as `_make_function_class`: the header says which modules are criteria."""
    return _make_function_class(class_name, update_output, update_grad_input, acc_grad_parameters)


def _generate_function_classes(scope_dict: MutableMapping[str, Any]) -> None:
    """Writes every class and its backward class into `scope_dict`."""
    scope_dict.update({name: class_of(name) for name in names()})
    scope_dict.update({name: backward_class_of(name) for name in backward_names()})


for _function in (_make_function_class, _make_function_class_criterion, _generate_function_classes):
    _function.__module__ = AUTO
