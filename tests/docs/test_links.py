"""Links of the documents, and the pages that the site lists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(document: Path) -> None:
    prose = re.sub(
        r"```.*?^```|`[^`\n]*`", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose)
    missing = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert not missing


def test_every_page_is_in_the_navigation() -> None:
    navigation = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert navigation == {str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")}
