"""Suggestions for misspelt names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], similarity: float = 0.6, *, ignore_case: bool = False) -> str:
    """The closest known name, or '' if the names are less similar than `similarity`, from 0 to 1."""
    spelled = {k.lower() if ignore_case else k: k for k in known}
    near = difflib.get_close_matches(name.lower() if ignore_case else name, spelled, 1, similarity)
    return spelled[near[0]] if near else ""


def did_you_mean(name: str, known: Iterable[str], similarity: float = 0.6) -> str:
    """The end of an error for an unknown name: '; did you mean X?' with the closest known name, or ''."""
    near = nearest(name, known, similarity)
    return f"; did you mean {near}?" if near else ""
