"""Errors of layers and functions: messages of C functions, torch and Python with the names that callers gave."""

from __future__ import annotations

import functools
import inspect
import re
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
    r"\bnegval\b": "negative_slope",
    r"\bval\b": "value",
    r"\blambda\b": "lambd",
    r"\bweights\b": "weight",
}

# Types of arguments as messages spell them.
_SPELLED = {
    Tensor: "a tensor",
    int: "an integer",
    float: "a number",
    bool: "a bool",
    str: "a string",
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
    if type(error) not in (TypeError, ValueError, IndexError, NotImplementedError, RuntimeError):
        return error
    renamed = _renamed(name, error, WORDS)
    if renamed is not error:
        return renamed
    text = str(error)
    text = text if text.startswith((f"{name}: ", f"{name}() ")) else f"{name}: {text}"
    return ValueError(text) if type(error) is RuntimeError else type(error)(text)


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
        except (TypeError, ValueError, IndexError, AttributeError, RuntimeError) as error:
            if any(isinstance(value, torch.fx.Proxy) for value in (*args, *keywords.values())):
                raise
            found = _wrong_argument(function, args, keywords, error) or with_name(function.__name__, error)
            raise found.with_traceback(error.__traceback__) from None

    traced_as(wrapped, function)  # torch.compile cannot trace the search for the wrong argument
    return wrapped  # type: ignore[return-value]


def _wrong_argument(
    function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any], error: Exception
) -> TypeError | None:
    """The error for the first argument whose type differs from its annotation, or for the first tensor that has no
    elements in memory and caused the error; None if there is none."""
    try:
        given = inspect.signature(function).bind(*args, **keywords).arguments
    except TypeError:
        return None  # Python's error names the function and the argument
    hints = typing.get_type_hints(function)
    for name, value in given.items():
        if not _fits(value, hints[name]):
            expected = " or ".join(dict.fromkeys(_spelled(hints[name])))
            return TypeError(f"{function.__name__}: {name}: expected {expected}, got {describe(value)}")
        is_named = isinstance(error, ValueError | IndexError)
        if isinstance(value, Tensor) and not is_named and (wrong := wrong_tensor(value)):
            return TypeError(f"{function.__name__}: {name}: {wrong}")
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
        if isinstance(value, Tensor) and value.numel() != 1:
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
