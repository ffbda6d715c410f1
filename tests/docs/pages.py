"""The code blocks of a page, and the output that they show."""

from __future__ import annotations

import doctest
import re


def blocks(page: str) -> list[tuple[str, str, str]]:
    """The code blocks: the line before, the language, the text."""
    found = re.findall(r"([^\n]*)\n\n```(\w+)\n(.*?)```\n", page, re.DOTALL)
    assert len(found) == page.count("```") // 2
    return found


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the text that it prints."""
    return re.findall(r"^\$ (.+)\n((?:[^$].*\n)*)", text, re.MULTILINE)


def printed(program: str) -> list[str]:
    """The lines that a program prints: the comments at the end of its print statements."""
    return re.findall(r"^ *print\(.*\)  # (.*)$", program, re.MULTILINE)


def same(expected: str, got: str) -> bool:
    """True if a command printed the text of the page, in which `...` stands for omitted text and lines."""
    lines = expected.splitlines(keepends=True)
    if "..." in expected:
        lines = [part for line in lines for part in ("...", line)]
    return doctest.OutputChecker().check_output(
        "".join(lines), got, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
