"""Error messages of the C functions with the names of a layer's settings."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torch import Tensor, nn


def layer_error(layer: nn.Module, error: Exception, words: Mapping[str, str]) -> Exception:
    """The error of a C function as an error of the layer, with the patterns `words` replaced; other errors as is."""
    function, _, text = str(error).partition(": ")
    if not function.endswith("_updateOutput"):
        return error
    for pattern, word in words.items():
        text = re.sub(pattern, word, text)
    return type(error)(f"{type(layer).__name__}: {text}")


def wrong_count(
    layer: nn.Module, what: str, setting: str, expected: int, input: Tensor, dim: int
) -> ValueError:
    """The error for an input with a wrong number of channels or features (`what`)."""
    return ValueError(
        f"{type(layer).__name__}: input: expected {expected} {what} ({setting}), got {input.shape[dim]} in"
        f" {tuple(input.shape)}"
    )
