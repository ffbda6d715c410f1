"""Formulas of the documentation as MathML, which browsers draw without a script."""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert


def fence(source: str, language: str, css_class: str, options: dict[str, Any], md: Any, **_: Any) -> str:
    """The HTML of a fenced block ``math`` of LaTeX, for pymdownx.superfences."""
    return f'<div class="{css_class}">{convert(source, display="block")}</div>'
