"""Progress of the commands that print nothing before their end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tqdm import tqdm


def progress(items: Iterable[Any] | None, unit: str, total: int | None = None) -> tqdm[Any]:
    """Iterates over the items, and shows a bar on standard error if that is a terminal. tqdm.write prints above it."""
    return tqdm(items, total=total, unit=f" {unit}", disable=None, dynamic_ncols=True, leave=False)
