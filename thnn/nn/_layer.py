"""The forward of layers that call functions of ``thnn.nn.functional``, and the docstrings of such layers."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from thnn._torch import in_onnx_export
from thnn.nn._errors import with_name

Forward = TypeVar("Forward", bound=Callable[..., Any])

_DOC = """{what}; drop-in replacement for ``torch.nn.{name}``, with its arguments, parameters, initial values and
    ``state_dict``.

    Shapes: {shapes}. float32 or float64, on a CUDA device also float16 and bfloat16; inside torch.autocast on
    the CPU, these are cast to float32.{remarks}
    Errors: TypeError for an input of another type, {errors}ValueError for wrong sizes and settings; the constructor
    raises the errors of torch. Computed by {function}.
    """


def layer_doc(
    name: str, what: str, shapes: str, function: str, *, remarks: str = "", errors: str = ""
) -> str:
    """The docstring of a layer. `function` is the class or the function that computes it."""
    if remarks:
        remarks = f"\n    {remarks}"
    return _DOC.format(name=name, what=what, shapes=shapes, function=function, remarks=remarks, errors=errors)


def layer_forward(forward: Forward) -> Forward:
    """A forward whose errors name the layer in place of the C function."""

    @functools.wraps(forward)
    def wrapped(self: Any, input: Any, *args: Any, **keywords: Any) -> Any:
        try:
            return forward(self, input, *args, **keywords)
        except (TypeError, ValueError, IndexError, AttributeError, RuntimeError) as error:
            if is_symbolic(input):
                return as_leaf(self, input, *args, **keywords)
            if in_onnx_export():
                return torch_forward(self, input, *args, **keywords)
            raise _explained(self, (input, *args), error) from None

    return wrapped  # type: ignore[return-value]


def is_symbolic(input: Any) -> bool:
    """True if the input of a layer is a value of torch.fx.symbolic_trace."""
    return isinstance(input, torch.fx.Proxy)


def as_leaf(layer: torch.nn.Module, input: Any, *args: Any, **keywords: Any) -> Any:
    """The call of a layer as one node of torch.fx.symbolic_trace, as the calls of torch's layers are."""
    tracer = input.tracer
    return tracer.create_proxy("call_module", tracer.path_of_module(layer), (input, *args), keywords)


def torch_forward(layer: torch.nn.Module, *args: Any, **keywords: Any) -> Any:
    """The output of the layer of torch that a layer replaces, from operators that torch.onnx.export knows."""
    same: Any = copy.copy(layer)  # with the same parameters and buffers
    same.__class__ = next(c for c in type(layer).__mro__ if c.__module__.startswith("torch.nn.modules."))
    return same.forward(*args, **keywords)


def _explained(layer: torch.nn.Module, arguments: tuple[Any, ...], error: Exception) -> Exception:
    """The error of a function as an error of the layer."""
    name = type(layer).__name__
    if isinstance(error, AttributeError):
        for argument, value in zip(("input", "second argument", "third argument"), arguments):
            if not isinstance(value, Tensor | tuple):
                return TypeError(f"{name}: {argument}: expected a tensor, got {type(value).__name__}")
    return with_name(name, error)
