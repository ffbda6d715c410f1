"""From the text of a header to tokens and comments, each with its place in the file.

Preprocessor directives yield no token. The parser follows include guards, `__cplusplus`, `#if 0` and `#if 1`; any
other directive is an error, because ignoring it could change what the header declares.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import NoReturn

from .model import HeaderError, Location

#: Words that may stand before the return type.
PREFIXES = frozenset({"TH_API", "TH_EXTERNC", "extern"})

WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)

_MAX_MESSAGE = 200
_COMMENT_OR_STRING = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)|(?P<unclosed>/\*)|"(?:\\.|[^"\\\n])*"?""", re.DOTALL
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?P<words>(?:\\\n|[^\n])*)", re.MULTILINE)
_KEYWORD = re.compile(r"\w*", re.ASCII)
_DEFINE = re.compile(r"define\s+(?P<name>\w+)(?P<value>.*)", re.ASCII | re.DOTALL)
_IF_DEFINED = re.compile(r"ifdef\s+(\w+)|if\s+defined\s*\(?\s*(\w+)\s*\)?", re.ASCII)
_IF_NOT_DEFINED = re.compile(r"ifndef\s+(\w+)|if\s*!\s*defined\s*\(?\s*(\w+)\s*\)?", re.ASCII)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d\w*|\.\.\.|\S", re.ASCII)
#: No braces, brackets, strings or signs: supported declarations have none.
_DECLARATION_TOKEN = re.compile(r"\w+|\.\.\.|[(),;*]", re.ASCII)
_FIRST_CODE = re.compile(r"^[ \t\f\v]*(\S)", re.MULTILINE)


class Source:
    """The text of a header with '\\n' as its only line end, and line and column of each offset."""

    def __init__(self, text: str, filename: str) -> None:
        self.text = normalize(text)
        self.filename = filename
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", self.text))]

    def line(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)

    def column(self, offset: int) -> int:
        return offset - self._line_starts[self.line(offset) - 1] + 1

    def location(self, offset: int) -> Location:
        return Location(self.filename, self.line(offset), self.column(offset))

    def fail(self, offset: int, message: str) -> NoReturn:
        line = self.line(offset)
        end = self._line_starts[line] - 1 if line < len(self._line_starts) else len(self.text)
        if len(message) > _MAX_MESSAGE:
            message = message[: _MAX_MESSAGE - 3] + "..."
        raise HeaderError(self.location(offset), message, self.text[self._line_starts[line - 1] : end])


def normalize(text: str) -> str:
    """The text without a byte order mark, with '\\n' as its only line end."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


@dataclass(slots=True)
class Comment:
    start: int
    end: int
    text: str


@dataclass(slots=True)
class Token:
    start: int
    text: str
    line: int


@dataclass(slots=True)
class _Conditional:
    """An open #if: its offset, and whether the compiler skips the current branch and the #else."""

    start: int
    is_skipped: bool
    is_else_skipped: bool


class Lexed:
    """The comments, code and tokens of the part of a source that the compiler sees. Blanks replace everything else in
    `code`, so that its offsets are the source's."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.comments: list[Comment] = []
        self._macros: set[str] = set()
        self._guard: tuple[str, int] | None = (
            None  # name and offset of an #ifndef that a #define has to follow
        )
        code = self._without_comments(source.text)
        self.first_code = {source.line(m.start(1)): m.start(1) for m in _FIRST_CODE.finditer(code)}
        self.code = self._without_directives(code).replace("\\\n", " \n")
        self.tokens = [Token(m.start(), m[0], source.line(m.start())) for m in _TOKEN.finditer(self.code)]
        self.starts = [t.start for t in self.tokens]
        for token in self.tokens:
            if _DECLARATION_TOKEN.fullmatch(token.text) is None:
                source.fail(token.start, f"unexpected {token.text!r}")
            if token.text in self._macros and token.text not in PREFIXES:
                source.fail(token.start, f"macro {token.text!r} is not expanded")

    def text(self, token: int) -> str:
        """The text of a token, '' after the last."""
        return self.tokens[token].text if token < len(self.tokens) else ""

    def is_word(self, token: int) -> bool:
        """Whether a token is an identifier or a keyword."""
        return WORD.fullmatch(self.text(token)) is not None

    def fail(self, token: int, message: str) -> NoReturn:
        self.source.fail(self.tokens[token].start, message)

    def _without_comments(self, code: str) -> str:
        def blank(match: re.Match[str]) -> str:
            if match["unclosed"]:
                self.source.fail(match.start(), "the comment is not closed")
            if not match["comment"]:
                return match[0]
            self.comments.append(Comment(match.start(), match.end(), match[0]))
            return _blank(match[0])

        return _COMMENT_OR_STRING.sub(blank, code)

    def _without_directives(self, code: str) -> str:
        """The code with directives and skipped branches blanked; comments of skipped branches are dropped."""
        parts: list[str] = []
        starts: list[int] = []  # start of each part of the text between directives
        is_skipped: list[bool] = []  # for the same parts
        stack: list[_Conditional] = []
        end = 0

        def copy(until: int) -> None:
            skipped = bool(stack) and stack[-1].is_skipped
            starts.append(end)
            is_skipped.append(skipped)
            parts.append(_blank(code[end:until]) if skipped else code[end:until])
            if self._guard is not None and parts[-1].strip():
                self._fail_condition(self._guard[1])

        for match in _DIRECTIVE.finditer(code):
            copy(match.start())
            parts.append(_blank(match[0]))
            end = match.end()
            words = match["words"].replace("\\\n", " ").strip()
            self._directive(stack, match.start("words") - 1, words)
        copy(len(code))
        if stack:
            self.source.fail(stack[-1].start, "the #if is not closed")
        self.comments = [c for c in self.comments if not is_skipped[bisect_right(starts, c.start) - 1]]
        return "".join(parts)

    def _directive(self, stack: list[_Conditional], at: int, words: str) -> None:
        """Interprets a directive, or raises an error; `at` is the offset of its '#'."""
        found = _KEYWORD.match(words)
        keyword = found[0] if found else ""
        guard, self._guard = self._guard, None
        if guard is not None and keyword != "define":
            self._fail_condition(guard[1])
        if keyword in ("else", "elif", "endif"):
            self._end_branch(stack, at, keyword)
        elif stack and stack[-1].is_skipped:
            if keyword in ("if", "ifdef", "ifndef"):
                stack.append(_Conditional(at, True, True))
        elif keyword in ("if", "ifdef", "ifndef"):
            stack.append(self._begin_conditional(at, words))
        elif keyword == "define":
            self._define(at, words, guard)
        elif words not in ("", "pragma once"):
            self.source.fail(at, f"#{keyword or words[:1]} is not understood in a header of functions")

    def _begin_conditional(self, at: int, words: str) -> _Conditional:
        if words.split() in (["if", "0"], ["if", "1"]):
            is_false = words.endswith("0")
            return _Conditional(at, is_false, not is_false)
        if found := _IF_DEFINED.fullmatch(words):
            if "__cplusplus" in found.groups():
                return _Conditional(at, True, False)
        elif found := _IF_NOT_DEFINED.fullmatch(words):
            if "__cplusplus" in found.groups():
                return _Conditional(at, False, True)
            # The guard of a generic header has the declarations in its #else, which is not skipped either.
            self._guard = (found[1] or found[2], at)
            return _Conditional(at, False, False)
        self._fail_condition(at)

    def _end_branch(self, stack: list[_Conditional], at: int, keyword: str) -> None:
        if not stack:
            self.source.fail(at, f"#{keyword} without #if")
        branch = stack.pop()
        if keyword == "elif" and not (branch.is_skipped and branch.is_else_skipped):
            self._fail_condition(at)
        if keyword != "endif":
            stack.append(_Conditional(branch.start, branch.is_else_skipped, branch.is_else_skipped))

    def _define(self, at: int, words: str, guard: tuple[str, int] | None) -> None:
        found = _DEFINE.fullmatch(words)
        if found is None:
            self.source.fail(at, "#define without a name")
        name, value = found["name"], found["value"]
        if guard is not None and name != guard[0]:
            self._fail_condition(guard[1])
        if value.strip() and (guard is None or value.startswith("(")):
            self.source.fail(at, f"macro {name!r} has a value, and macros are not expanded")
        self._macros.add(name)

    def _fail_condition(self, at: int) -> NoReturn:
        self.source.fail(at, "only include guards, __cplusplus, #if 0 and #if 1 are understood")


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
