"""Links of the documents, and the pages that the site lists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from thnn._names import HOMES
from tools.network_chart import PAGES, ratios

ROOT = Path(__file__).resolve().parent.parent.parent
_SOURCES = {".c", ".cu", ".cuh", ".h", ".py"}
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(document: Path) -> None:
    prose = re.sub(
        r"```.*?^```|`[^`\n]*`", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose)
    written = [
        link for link in links if "://" not in link and not link.startswith("gallery/")
    ]  # of the built gallery
    missing = [link for link in written if not (document.parent / link).exists()]
    assert not missing


def sections(page: str) -> set[str]:
    """The anchors of the headings of a page: mkdocs writes them so."""
    headings = re.findall(r"^##+ (.*)", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_pages_that_errors_and_comments_name_exist() -> None:
    sources = [
        p for folder in ("generic", "lib", "thnn") for p in (ROOT / folder).rglob("*") if p.suffix in _SOURCES
    ]
    pattern = re.compile(r"\bdocs/([\w/-]+\.md)(?:#([\w-]+))?")
    named = {found for p in sources for found in pattern.findall(p.read_text(encoding="utf-8"))}
    assert {("torch.md", "what-does-not-work"), ("own-functions.md", "cuda")} <= named
    assert not {name for name, _ in named if not (ROOT / "docs" / name).exists()}
    assert not {(name, section) for name, section in named if section and section not in sections(name)}


def test_every_page_is_in_the_navigation() -> None:
    navigation = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    pages = {str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")}
    assert {page for page in navigation ^ pages if not page.startswith("gallery/")} == set()


def test_every_public_name_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "api" / "thnn.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^::: thnn\.(\w+)$", page, re.MULTILINE)) == set(HOMES)


@pytest.mark.parametrize("page", PAGES.values())
def test_the_chart_of_networks_has_the_numbers_of_the_pages(page: str) -> None:
    found = ratios((ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert len(found) == 2 * 7
    assert found["ResNet-18 (16,3,32,32)", "training step"] > found["LSTM tagger (32,64)", "training step"]
    assert all(0.5 < ratio < 5 for ratio in found.values())
