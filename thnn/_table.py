"""Tables of text."""

from __future__ import annotations

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
