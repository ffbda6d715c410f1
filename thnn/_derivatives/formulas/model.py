"""The type of a formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

Formula = Callable[..., Mapping[str, Tensor]]

# The tensor that a call is linear in, by the values of its arguments; None: there is none.
LinearIn = Callable[[Mapping[str, Any]], str | None]
