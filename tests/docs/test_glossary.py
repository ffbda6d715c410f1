"""Every term of the glossary is in use, and has one meaning or one per note in parentheses."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GLOSSARY = ROOT / "docs/glossary.md"
FOLDERS = ("thnn", "lib", "generic", "tools", "docs")
ENDINGS = {".c", ".h", ".cu", ".cpp", ".py", ".md"}


def joined(text: str) -> str:
    """The text without spaces, hyphens and underscores, so that `micro-tile` is also found as microTile."""
    return re.sub(r"[-_\s]+", "", text).lower()


def sections() -> list[list[str]]:
    """The first cells of the rows of each table."""
    parts = GLOSSARY.read_text(encoding="utf-8").split("\n## ")[1:]
    return [
        [row.split(" | ")[0] for row in re.findall(r"^\| (.*)", part, re.MULTILINE)[1:]] for part in parts
    ]


def test_every_term_is_in_use() -> None:
    files = (p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.suffix in ENDINGS)
    texts = (p.read_text(encoding="utf-8") for p in files if p != GLOSSARY)
    text = joined("".join(re.sub(r"\n\s*(?:#|//)?", " ", t) for t in texts))
    cells = [re.sub(r"\(.*?\)", "", cell) for section in sections() for cell in section]
    terms = [term.strip() for cell in cells for term in re.split(r", | / ", cell)]
    assert len(terms) > 200
    assert not [term for term in terms if joined(term) not in text]


def test_terms_are_listed_once_per_section() -> None:
    assert not [cell for section in sections() for cell, count in Counter(section).items() if count > 1]
