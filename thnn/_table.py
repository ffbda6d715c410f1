"""Tables of text and, for notebooks, of HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence


def printable(text: str) -> str:
    """The text with escape sequences for control characters, which could change what a terminal shows."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """One line per row of cells, with columns of equal width, two spaces apart.

    Cells of the columns whose numbers are in `right` end at the same place, others begin at the same place. All rows
    have the same number of cells. Control characters are escaped.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    return [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]


def html_table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """An HTML table with one row per row of cells; the columns whose numbers are in `right` are aligned to the right.
    Control characters and the characters of markup are escaped."""

    def line(cells: Sequence[str], tag: str) -> str:
        aligned_cells = (
            f'<{tag} style="text-align: {"right" if column in right else "left"}">'
            f"{html.escape(printable(cell))}</{tag}>"
            for column, cell in enumerate(cells)
        )
        return f"<tr>{''.join(aligned_cells)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(headers, 'th')}</thead><tbody>{body}</tbody></table>"
