"""The forward of layers that call one function of ``thnn.nn.functional``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from thnn._torch import dynamo_disable
from thnn.nn._errors import layer_error

Forward = TypeVar("Forward", bound=Callable[..., Any])


def layer_forward(forward: Forward) -> Forward:
    """A forward whose errors name the layer in place of the C function, and which torch.compile does not trace."""

    @functools.wraps(forward)
    def wrapped(self: Any, *args: Any, **keywords: Any) -> Any:
        try:
            return forward(self, *args, **keywords)
        except (TypeError, ValueError, IndexError) as error:
            raise layer_error(self, error, {}) from None

    return dynamo_disable(wrapped)  # type: ignore[return-value]
