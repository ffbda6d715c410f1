"""The type of a formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

Formula = Callable[..., Mapping[str, Tensor]]

# Which tensor a call is linear in, from the values of its arguments; None: not linear in any.
LinearIn = Callable[[Mapping[str, Any]], str | None]
