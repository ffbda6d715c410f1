"""The functions by name; each takes the arguments of the header by name, and writes its outputs."""

from __future__ import annotations

from collections.abc import Callable

FUNCTIONS: dict[str, Callable[..., None]] = {}
