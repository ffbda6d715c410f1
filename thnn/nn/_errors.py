"""Errors of layers and functions: messages of C functions, torch and Python with the names that callers gave."""

from __future__ import annotations

import functools
import inspect
import re
import traceback
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from thnn._binding.arguments import describe, not_dense
from thnn._torch import traced_as

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

# Patterns in messages of the C functions -> names of the settings.
WORDS = {
    r"\bk[TWH]\b|\bpoolSize[TWH]\b": "kernel_size",
    r"\bd[TWH]\b": "stride",
    r"\bpad[TWH]\b|\bp[TWH]\b|\bpad_[lrtb]\b|\bp(left|right|top|bottom|front|back)\b": "padding",
    r"\bdilation[TWH]\b": "dilation",
    r"\bosize[TWH]\b|\bo[TWH]\b|\bowidth\b|\boheight\b|\boutput[TWH]\b": "output_size",
    r"\boutput(Depth|Height|Width)\b": "size",
    r"\bscale(Depth|Height|Width)\b": "scale_factor",
    r"\badj[TWH]\b": "output_padding",
    r"\bceilMode\b": "ceil_mode",
    r"\bmaxNorm\b": "max_norm",
    r"\bnormType\b": "norm_type",
    r"\bnumGroups\b": "num_groups",
    r"\bnegval\b": "negative_slope",
    r"\bval\b": "value",
    r"\blambda\b": "lambd",
    r"\bweights\b": "weight",
    r"\btrain\b": "training",
    r"\bidx\b": "input",
    r"\bpaddingValue\b": "padding_idx",
    r"\bscaleGradByFreq\b": "scale_grad_by_freq",
    r"\brandomSamples\b": "_random_samples",
}

_RENAMED = (TypeError, ValueError, IndexError, NotImplementedError)
# The errors whose text may lack the names of the function and its argument.
CAUGHT = (TypeError, ValueError, IndexError, AttributeError, OverflowError, RuntimeError)

# Types of tensors of one element that Python takes for an integer.
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)

# Types of arguments as messages spell them.
_SPELLED = {
    Tensor: "a tensor",
    int: "an integer",
    float: "a number",
    bool: "a bool",
    str: "a string",
    torch.dtype: "a torch.dtype",
    types.NoneType: "None",
}


def layer_error(layer: nn.Module, error: Exception, words: Mapping[str, str]) -> Exception:
    """The error of a C function as an error of the layer, with the patterns `words` replaced; other errors as is."""
    return _renamed(type(layer).__name__, error, words)


def _renamed(name: str, error: Exception, words: Mapping[str, str]) -> Exception:
    function, _, text = str(error).partition(": ")
    if not function.endswith(("_updateOutput", "_renorm")):
        return error
    for pattern, word in words.items():
        text = re.sub(pattern, word, text)
    return type(error)(f"{name}: {text}")


def with_name(name: str, error: Exception) -> Exception:
    """The error of C, torch or Python as an error of the layer or function `name`.

    Other subclasses are returned as they are, among them torch.OutOfMemoryError, which is a RuntimeError.
    """
    if type(error) not in (*_RENAMED, OverflowError, RuntimeError):
        return error
    renamed = _renamed(name, error, WORDS)
    if renamed is not error:
        return renamed
    text = str(error)
    text = text if text.startswith((f"{name}: ", f"{name}() ")) else f"{name}: {text}"
    return type(error)(text) if type(error) in _RENAMED else ValueError(text)


def wrong_tensor(value: Any) -> str:
    """The name of a value that is not a tensor of floating-point numbers or integers in memory; '' for such a
    tensor."""
    if not isinstance(value, Tensor):
        return f"expected a tensor, got {type(value).__name__}"
    if kind := not_dense(value):
        return f"expected a dense tensor, got {kind}"
    return f"expected a tensor that is not quantized, got {value.dtype}" if value.is_quantized else ""


def wrong_count(
    layer: nn.Module, what: str, setting: str, expected: int, input: Tensor, dim: int
) -> ValueError:
    """The error for an input with a wrong number of channels or features (`what`)."""
    return ValueError(
        f"{type(layer).__name__}: input: expected {expected} {what} ({setting}), got {input.shape[dim]} in"
        f" {tuple(input.shape)}"
    )


def named(function: AnyFunction) -> AnyFunction:
    """A function whose errors name it, and also the argument if its type differs from the annotation."""

    @functools.wraps(function)
    def wrapped(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except CAUGHT as error:
            if any(isinstance(value, torch.fx.Proxy) for value in (*args, *keywords.values())):
                raise
            name = function.__name__
            try:
                given = inspect.signature(function).bind(*args, **keywords).arguments
            except TypeError:  # Python's error names the function and the argument
                found = with_name(name, error)
            else:
                found = _wrong_argument(name, function, given, error) or with_name(name, error)
            raise found.with_traceback(error.__traceback__) from None

    traced_as(wrapped, function)  # torch.compile cannot trace the search for the wrong argument
    return wrapped  # type: ignore[return-value]


def wrong_setting(name: str, error: Exception) -> Exception | None:
    """The error, with the name of a layer, for the wrong argument of the function of thnn.nn.functional that the layer
    called; None if there is none."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        code, home, values = frame.f_code, frame.f_globals, frame.f_locals
        if not home["__name__"].startswith("thnn.nn.functional.") or code.co_name not in home:
            continue
        function = home[code.co_name]
        given = {argument: values[argument] for argument in inspect.signature(function).parameters}
        return _wrong_argument(name, function, given, error)
    return None


def _wrong_argument(
    name: str, function: Callable[..., Any], given: Mapping[str, Any], error: Exception
) -> Exception | None:
    """The error, with the name of the function or layer, for the first argument whose type differs from its annotation,
    or that caused the error: a tensor that has no elements in memory, a number that is too large; None if there is
    none."""
    hints = typing.get_type_hints(function)
    for argument, value in given.items():
        where = f"{name}: {argument}: "
        if not _fits(value, hints[argument]):
            expected = " or ".join(dict.fromkeys(_spelled(hints[argument])))
            return TypeError(f"{where}expected {expected}, got {describe(value)}")
        is_named = isinstance(error, ValueError | IndexError | OverflowError)
        if isinstance(value, Tensor) and not is_named and (wrong := wrong_tensor(value)):
            return TypeError(where + wrong)
        if isinstance(error, OverflowError) and isinstance(value, int | float) and not abs(value) < 1 << 63:
            return ValueError(f"{where}{describe(value)} is out of range")
    return None


def _fits(value: Any, hint: Any) -> bool:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, member) for member in typing.get_args(hint))
    if origin is Sequence:
        (member,) = typing.get_args(hint)
        return (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and all(_fits(v, member) for v in value)
        )
    if hint in (int, float, bool):  # values that C converts, such as scalars of NumPy
        if isinstance(value, Tensor) and (value.numel() != 1 or value.dtype not in _INTEGERS):
            return False
        return hasattr(value, "__index__") or (hint is float and hasattr(value, "__float__"))
    return hint is Any or isinstance(value, hint)


def _spelled(hint: Any, several: bool = False) -> list[str]:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return [text for member in typing.get_args(hint) for text in _spelled(member, several)]
    if origin is Sequence:
        (member,) = typing.get_args(hint)
        return [f"a sequence of {' or '.join(_spelled(member, several=True))}"]
    text = _SPELLED.get(hint, str(hint))
    return [f"{text.partition(' ')[2]}s" if several and text.startswith("a") else text]
