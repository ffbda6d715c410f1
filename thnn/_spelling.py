"""Suggestions for misspelt names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], similarity: float = 0.6) -> str:
    """The end of an error for an unknown name: '; did you mean X?' with the closest known name, or '' if the names are
    less similar than `similarity`, from 0 to 1."""
    near = difflib.get_close_matches(name, list(known), 1, similarity)
    return f"; did you mean {near[0]}?" if near else ""
