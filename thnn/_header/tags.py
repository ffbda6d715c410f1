"""The tags in the comments of a header: their syntax, and the argument that each comment belongs to."""

from __future__ import annotations

import keyword
import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .._spelling import nearest
from . import roles
from .lexer import Comment, Lexed, Source, Token
from .model import TENSOR_TYPES, Size

_BRACKETS = re.compile(r"\[([^\[\]\n]*)\]")
_LONE_BRACKETS = re.compile(r"([\[\]\n])")
_TAG_LIKE = re.compile(r"[A-Z][A-Z0-9_]{2,}")
_COMMENT_MARKS = re.compile(r"^//+|^/\*+|\*+/$")
_FAMILY = re.compile(r"(?://+|/\*+)[\s*=-]*\[FAMILY\b(?P<name>[^\]\n]*)(?P<end>\]?)")
_FAMILY_NAME = re.compile(r"[a-z][a-z0-9_]*")

_DERIVATIVE = re.compile(r"\s*\[DERIVATIVE\b(?P<kind>[^\]\n]*)\]")
DERIVATIVES = ("linear", "bilinear", "constant", "none")
_HALF_DERIVATIVE = re.compile(rf"\[DERIVATIVE\b|\bDERIVATIVE\s+({'|'.join(DERIVATIVES)})\]")

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?inf", re.ASCII)
_VALUE = re.compile(rf"{_NUMBER.pattern}|true|false", re.ASCII)
# Separators in malformed tags, such as [DEFAULT=1].
_SEPARATORS = re.compile(r"[=:,()]")
_BITS = {"int": 31, "int64_t": 63, "long": 63, "THIndex_t": 63}


@dataclass(slots=True)
class Tag:
    """A tag and the words after its name: LIKE with 'input', SIZE with 'input' and '-1'."""

    name: str
    words: tuple[str, ...]
    start: int  # offset of the bracket

    def __str__(self) -> str:
        return f"[{' '.join((self.name, *self.words))}]"


@dataclass(slots=True)
class Parameter:
    """A declared argument whose role is not yet known; `first` and `last` are indices of tokens."""

    function: str
    first: int
    last: int
    type: str
    name: str
    tags: dict[str, Tag] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)

    @property
    def like(self) -> str | None:
        return self.tags["LIKE"].words[0] if "LIKE" in self.tags else None

    @property
    def where(self) -> str:
        """The beginning of an error about the argument."""
        return f"{self.function}: {self.name}: "

    def doc(self) -> str:
        """The comments of the argument without their tags."""
        text = " ".join(_BRACKETS.sub(_prose, _COMMENT_MARKS.sub(" ", comment)) for comment in self.comments)
        return " ".join(text.split())


@dataclass(slots=True)
class Declaration:
    """A declared function: the indices of its first and last token and of its name, and its arguments."""

    first: int
    name: int
    last: int
    function: str
    parameters: list[Parameter]


def families(lexed: Lexed, declarations: list[Declaration]) -> list[str]:
    """The family of each declaration: the name in the last comment before it that begins with [FAMILY name]."""
    headings: list[tuple[int, str]] = []
    for comment in lexed.comments:
        if match := _FAMILY.match(comment.text):
            name = match["name"].strip()
            if not match["end"] or not _FAMILY_NAME.fullmatch(name) or keyword.iskeyword(name):
                lexed.source.fail(_bracket(comment), "expected [FAMILY name] with a name in lower case")
            headings.append((comment.start, name))
    found = []
    for declaration in declarations:
        before = bisect_left(headings, lexed.tokens[declaration.first].start, key=lambda h: h[0])
        found.append(headings[before - 1][1] if before else "")
    return found


def derivative(lexed: Lexed, declaration: Declaration, doc: str) -> tuple[str, str]:
    """The kind in the [DERIVATIVE kind] of a function's comment ('' without one), and the comment without the tag."""
    match = _DERIVATIVE.search(doc)
    if match is None:
        if _HALF_DERIVATIVE.search(doc):
            lexed.fail(declaration.name, "expected [DERIVATIVE kind] with both brackets on one line")
        for words in map(str.split, _BRACKETS.findall(doc)):
            if words and _TAG_LIKE.fullmatch(words[0]) and nearest(words[0], ["DERIVATIVE"], 0.75):
                lexed.fail(declaration.name, f"unknown tag [{' '.join(words)}]; did you mean DERIVATIVE?")
            if len(words) == 2 and words[0].upper() == "DERIVATIVE" and words[1] in DERIVATIVES:
                lexed.fail(
                    declaration.name,
                    f"unknown tag [{' '.join(words)}]; did you mean [DERIVATIVE {words[1]}]?",
                )
        return "", doc
    kind = match["kind"].strip()
    if kind not in DERIVATIVES:
        lexed.fail(
            declaration.name, f"expected [DERIVATIVE {' | '.join(DERIVATIVES)}], got [DERIVATIVE {kind}]"
        )
    if not declaration.function.endswith("_updateOutput"):
        lexed.fail(declaration.name, "[DERIVATIVE] belongs to updateOutput")
    return kind, doc[: match.start()] + doc[match.end() :]


def is_family(comment: Comment) -> bool:
    """Whether the comment begins a family."""
    return _FAMILY.match(comment.text) is not None


def _bracket(comment: Comment) -> int:
    return comment.start + comment.text.index("[")


def attach(lexed: Lexed, declarations: list[Declaration]) -> None:
    """Adds the tags of each comment to its argument; comments outside of declarations cannot tag arguments."""
    owners = _Owners(lexed, declarations)
    for comment in lexed.comments:
        owner = owners.owner(comment)
        if owner is None and not owners.is_inside(comment):
            continue
        if is_family(comment):
            lexed.source.fail(_bracket(comment), "[FAMILY name] must stand between declarations")
        if owner is not None:
            owner.comments.append(comment.text)
        for tag in _tags(lexed.source, comment, owner.where if owner is not None else ""):
            if owner is None:
                lexed.source.fail(tag.start, f"tag {tag} belongs to no argument")
            _add(lexed.source, owner, tag)
    for declaration in declarations:
        earlier: dict[str, str] = {}
        for parameter in declaration.parameters:
            _check(lexed.source, declaration, parameter, earlier)
            earlier[parameter.name] = parameter.type


def default(source: Source, parameter: Parameter) -> bool | int | float | None:
    """The value of a [DEFAULT value] tag, of the argument's type."""
    tag = parameter.tags.get("DEFAULT")
    if tag is None:
        return None
    text = tag.words[0]
    try:
        if parameter.type == "bool":
            return {"true": True, "false": False}[text]
        if not _NUMBER.fullmatch(text):
            raise ValueError
        bits = _BITS.get(parameter.type)
        if bits is None:
            value = float(text)
            if math.isinf(value) and not text.endswith("inf"):
                raise ValueError
            return value
        if not -(1 << bits) <= int(text) < 1 << bits:
            raise ValueError
        return int(text)
    except (KeyError, ValueError):
        source.fail(tag.start, f"{parameter.where}{tag}: {text!r} is not a value of type {parameter.type!r}")


def size(source: Source, parameter: Parameter) -> Size | None:
    """The tensor and dimension of a [SIZE tensor dimension] tag."""
    tag = parameter.tags.get("SIZE")
    if tag is None:
        return None
    try:
        return Size(tag.words[0], int(tag.words[1]))
    except ValueError:
        source.fail(tag.start, f"{parameter.where}{tag}: {tag.words[1]!r} is not a dimension")


class _Owners:
    """The argument that each comment belongs to; comments are looked up in their order in the text."""

    def __init__(self, lexed: Lexed, declarations: list[Declaration]) -> None:
        self._source, self._tokens, self._starts = lexed.source, lexed.tokens, lexed.starts
        self._declaration: list[int | None] = [None] * len(lexed.tokens)
        # A comma and the end of the declaration belong to the argument before them.
        self._parameter: list[Parameter | None] = [None] * len(lexed.tokens)
        self._trailing: tuple[Comment, Parameter] | None = None  # the last comment after an argument
        for number, declaration in enumerate(declarations):
            for i in range(declaration.first, declaration.last + 1):
                self._declaration[i] = number
            for parameter in declaration.parameters:
                for i in range(parameter.first, parameter.last + 2):
                    self._parameter[i] = parameter
            if declaration.parameters:
                self._parameter[declaration.last] = declaration.parameters[-1]

    def is_inside(self, comment: Comment) -> bool:
        """Whether the comment stands between two tokens of one declaration."""
        after = bisect_left(self._starts, comment.start)
        if after in (0, len(self._tokens)):
            return False
        return self._declaration[after - 1] == self._declaration[after] is not None

    def owner(self, comment: Comment) -> Parameter | None:
        """The argument that the comment belongs to."""
        owner = self._continued(comment)
        if owner is None:
            owner = self._owner_before(comment)
            if owner is None:
                return self._owner_after(comment)
        self._trailing = (comment, owner)
        return owner

    def _continued(self, comment: Comment) -> Parameter | None:
        """For a comment right below a trailing comment, in the same column: the argument of the trailing one."""
        if self._trailing is None or self._follows_code(comment):
            return None
        above, owner = self._trailing
        source = self._source
        is_below = source.line(comment.start) == source.line(above.end - 1) + 1
        return owner if is_below and source.column(comment.start) == source.column(above.start) else None

    def _owner_before(self, comment: Comment) -> Parameter | None:
        """The argument on the line of the comment and before it."""
        after = bisect_left(self._starts, comment.start)
        owner = self._parameter[after - 1] if after > 0 else None
        if owner is None or not self._follows_code(comment):
            return None
        before: Token = self._tokens[after - 1]
        if before.text == ",":
            # `a, /* tag */ b`: the comment directly precedes the second argument.
            is_followed = self._tokens[after].line == self._source.line(comment.end - 1)
            return None if is_followed else owner
        return owner if self._tokens[owner.last].line == before.line else None

    def _owner_after(self, comment: Comment) -> Parameter | None:
        """The argument that the comment directly precedes."""
        after = bisect_left(self._starts, comment.start)
        if not self.is_inside(comment) or self._tokens[after].text == ")":
            return None
        return self._parameter[after]

    def _follows_code(self, comment: Comment) -> bool:
        after = bisect_left(self._starts, comment.start)
        return after > 0 and self._tokens[after - 1].line == self._source.line(comment.start)


def _tags(source: Source, comment: Comment, where: str) -> Iterator[Tag]:
    """The tags of a comment; `where` begins an error about one."""
    for at, name in _half_tags(comment.text):
        meant = f"[{' '.join((name, *roles.TAGS[name].split()))}]"
        source.fail(comment.start + at, f"{where}expected {meant} with both brackets on one line")
    for match in _BRACKETS.finditer(comment.text):
        words = match[1].split()
        start = comment.start + match.start()
        if not words:
            continue
        name, count = words[0].upper(), len(words) - 1
        if _is_tag(words):
            yield Tag(name, tuple(words[1:]), start)
        elif meant := _meant(match[1]):
            source.fail(start, f"{where}unknown tag {match[0]}; did you mean {meant}?")
        elif words[0] in roles.TAGS and roles.TAGS[name]:
            source.fail(start, f"{where}expected [{name} {roles.TAGS[name]}]")
        elif _TAG_LIKE.fullmatch(words[0]):
            near = nearest(words[0], roles.TAGS, 0.75)
            near = (near and next((tag for tag in roles.TAGS if words[0].startswith(tag)), "")) or near
            hint = f"; did you mean {near}?" if near else ""
            if near or not count:
                source.fail(start, f"{where}unknown tag [{' '.join(words)}]{hint}")


def _half_tags(text: str) -> Iterator[tuple[int, str]]:
    """The tags that lack a bracket on their line: the offset of the other bracket, and the name."""
    rest = _BRACKETS.sub(lambda match: "\n" * len(match[0]), text)
    pieces, at = _LONE_BRACKETS.split(rest), 0
    for i, piece in enumerate(pieces):
        if piece == "[":
            words = pieces[i + 1].split()
            if words and words[0] in roles.TAGS:
                yield at, words[0]
        elif piece == "]":
            words = pieces[i - 1].split()
            tails = [words[-count:] for count in (1, 2, 3)]
            tag = next((tail for tail in tails if tail and tail[0] in roles.TAGS and _is_tag(tail)), None)
            if tag is not None:
                yield at, tag[0]
        at += len(piece)


def _is_tag(words: list[str]) -> bool:
    """Whether the words in a pair of brackets are a tag; '[a tag]' and '[N, C]' are prose."""
    name, operands = words[0].upper(), roles.TAGS.get(words[0].upper())
    # Lower case reads as prose where operands follow, except for [like x] of old headers.
    is_spelled = words[0] == name or not operands or name == "LIKE"
    return operands is not None and is_spelled and len(words) - 1 == len(operands.split())


def _meant(text: str) -> str:
    """The tags that brackets with this text seem to mean: [default 1], [DEFAULT=1], [OUT, OPTIONAL]; '' for prose."""
    name, *operands = _SEPARATORS.sub(" ", text).split() or [""]
    if _is_tag([name.upper(), *operands]):
        has_value = bool(operands) and _VALUE.fullmatch(operands[-1]) is not None
        # In lower case brackets are prose unless they can only be meant as a tag.
        is_size = name.upper() == "SIZE" and operands[0][0].islower() and not _SEPARATORS.search(text)
        if name.isupper() or (has_value and (is_size or name.upper() == "DEFAULT")):
            return f"[{' '.join([name.upper(), *operands])}]"
    parts = [part.split() for part in text.split(",")]
    if all(words and words[0].isupper() and _is_tag(words) for words in parts):
        return " ".join(f"[{' '.join(words)}]" for words in parts)
    return ""


def _prose(match: re.Match[str]) -> str:
    words = match[1].split()
    return "" if words and _is_tag(words) else match[0]


def _add(source: Source, parameter: Parameter, tag: Tag) -> None:
    for other in parameter.tags.values():
        is_contradiction = (
            other.words != tag.words if other.name == tag.name else roles.contradict(other.name, tag.name)
        )
        if is_contradiction:
            source.fail(tag.start, f"{parameter.where}{tag} contradicts {other}")
    if tag.name in parameter.tags:
        source.fail(tag.start, f"{parameter.where}{tag} is given twice")
    parameter.tags[tag.name] = tag


def _check(
    source: Source, declaration: Declaration, parameter: Parameter, earlier: Mapping[str, str]
) -> None:
    is_tensor = parameter.type in TENSOR_TYPES
    for tag in parameter.tags.values():
        if tag.name in roles.SCALAR_TAGS:
            if is_tensor or parameter.type.endswith("*"):
                source.fail(
                    tag.start, f"{parameter.where}{tag} is a tag of numbers, got type {parameter.type!r}"
                )
        elif not is_tensor and (tag.name != "OPTIONAL" or not parameter.type.endswith("*")):
            source.fail(tag.start, f"{parameter.where}{tag} is a tag of tensors, got type {parameter.type!r}")
    like = parameter.like
    if like is not None and earlier.get(like) not in TENSOR_TYPES:
        what = "not a tensor" if like in earlier else "not an earlier argument"
        at = parameter.tags["LIKE"].start
        source.fail(at, f"{parameter.where}[LIKE {like}]: {like!r} is {what} of the function")
    if "SIZE" in parameter.tags and roles.split_name(declaration.function)[1] not in roles.BACKWARD_PHASES:
        at = parameter.tags["SIZE"].start
        source.fail(at, f"{parameter.where}[SIZE] is a tag for arguments of a backward function only")
    default(source, parameter)
    size(source, parameter)
