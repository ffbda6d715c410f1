"""The results of `upgrade`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A line that needs a change: `old` became `new`, which was inserted if `old` is empty; a note if `new` is None."""

    line: int
    old: str
    new: str | None
    reason: str

    def __str__(self) -> str:
        if self.new is None:
            return f"{self.line}: note: {self.old}: {self.reason}"
        change = f"{self.old} -> {self.new}" if self.old else f"insert {self.new}"
        return f"{self.line}: {change} ({self.reason})"


@dataclass(frozen=True)
class Upgraded:
    """The result of `upgrade`: the mended text and the findings, by line. str() lists the findings, one a line."""

    text: str
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))


class NotParsed(ValueError):
    """The text is not Python 3, or libcst cannot read it; `line` is the first line that is not, from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line
