"""The forward of layers that call functions of ``thnn.nn.functional``, and the docstrings of such layers."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn.modules.rnn import RNNBase, RNNCellBase
from torch.nn.utils.rnn import PackedSequence

from thnn._torch import in_onnx_export, is_dynamo_compiling, traced_as
from thnn.nn._errors import CAUGHT, with_name, wrong_setting, wrong_tensor

Forward = TypeVar("Forward", bound=Callable[..., Any])

_DOC = """{what}; drop-in replacement for ``torch.nn.{name}``, with its arguments, parameters, initial values and
    ``state_dict``.

    Shapes: {shapes}. float32, float64, float16 or bfloat16.{remarks}
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
        except CAUGHT as error:
            if (output := recorded(self, input, *args, **keywords)) is not None:
                return output
            names = [*inspect.signature(forward).parameters][1:]
            raise _explained(self, dict(zip(names, (input, *args))), error) from None

    # Compiled code would check in each call that the closure of `wrapped` is the same. torch.compile wraps the errors.
    traced_as(wrapped, forward)
    # Compiled code takes the defaults of `wrapped` from `forward`, and checks them.
    wrapped.__defaults__ = forward.__defaults__  # type: ignore[attr-defined]
    return wrapped  # type: ignore[return-value]


def recorded(layer: torch.nn.Module, input: Any, *args: Any, **keywords: Any) -> Any:
    """The output of a call that failed because torch is tracing it; None if torch is not.

    torch.fx.symbolic_trace records the call as one node, as it does for torch's layers. torch.onnx.export records the
    operators of torch's layer, since thnn's operators are not in the standard.
    """
    if isinstance(input, torch.fx.Proxy):
        tracer: Any = input.tracer
        return tracer.create_proxy("call_module", tracer.path_of_module(layer), (input, *args), keywords)
    if in_onnx_export():
        own: Any = getattr(layer, "_torch_forward", None)
        return torch_forward(layer, input, *args, **keywords) if own is None else own(input)
    return None


def torch_forward(layer: torch.nn.Module, *args: Any, **keywords: Any) -> Any:
    """The output of the layer of torch that a layer replaces, which has the same name."""
    same: Any = copy.copy(layer)  # with the same parameters and buffers
    names = (c.__name__ for c in type(layer).__mro__ if c.__module__.startswith(("thnn.nn.", "torch.nn.")))
    same.__class__ = next(getattr(torch.nn, name) for name in names if hasattr(torch.nn, name))
    return same.forward(*args, **keywords)


def _explained(layer: torch.nn.Module, arguments: dict[str, Any], error: Exception) -> Exception:
    """The error of a function as an error of the layer, which was called with the arguments."""
    name = type(layer).__name__
    # torch.compile traces this; before torch 2.11 it knows no types of the form A | B.
    if not isinstance(error, (ValueError, IndexError)):  # about a tensor that the layer can read
        is_recurrent = isinstance(layer, (RNNBase, RNNCellBase))  # which checks its states
        for k, (argument, value) in enumerate(arguments.items()):
            if is_recurrent and k > 0:
                break
            if isinstance(layer, RNNBase) and isinstance(value, PackedSequence):
                continue
            # Other arguments than the input may be lists of numbers.
            may_be_other = k > 0 and not isinstance(error, AttributeError)
            if (isinstance(value, Tensor) or not may_be_other) and (wrong := wrong_tensor(value)):
                return TypeError(f"{name}: {argument}: {wrong}")
    # torch.compile cannot trace the search for the wrong setting.
    found = None if is_dynamo_compiling() else wrong_setting(name, error)
    return found or with_name(name, error)
