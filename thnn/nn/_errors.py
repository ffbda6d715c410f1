"""Errors of the C functions in the words of a layer, whose settings have other names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torch import Tensor, nn


def in_words_of(layer: nn.Module, error: Exception, words: Mapping[str, str]) -> Exception:
    """The error as one of the layer, with `words` (patterns) replaced; what is no error of a C function stays."""
    function, _, text = str(error).partition(": ")
    if not function.endswith("_updateOutput"):
        return error
    for pattern, word in words.items():
        text = re.sub(pattern, word, text)
    return type(error)(f"{type(layer).__name__}: {text}")


def wrong_count(
    layer: nn.Module, what: str, setting: str, expected: int, input: Tensor, dim: int
) -> ValueError:
    """Of an input that has another number of channels or features than the layer is for."""
    return ValueError(
        f"{type(layer).__name__}: input: expected {expected} {what} ({setting}), got {input.shape[dim]} in"
        f" {tuple(input.shape)}"
    )
