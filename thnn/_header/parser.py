"""From the text of a header to its functions.

pycparser reads the C. Around it this file does what pycparser does not: it finds comments and directives,
cuts the text into declarations, refuses what a declaration of this library cannot hold, and hands the tags of
each comment to the argument they belong to. Each token keeps its place in the file, so that every refusal
names line and column. No step is recursive, and each is linear in the size of the text, whatever the text is.
"""

from __future__ import annotations

import os
import re
import textwrap
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NoReturn

from pycparser import c_ast, c_parser  # type: ignore[import-untyped]

from . import roles
from .model import TENSOR_TYPES, Argument, Function, HeaderError, Location
from .roles import (
    BACKWARD_PHASES,
    TAG_OF_ROLE,
    Context,
    Role,
    contradict,
    decide,
    gradient_of,
    split_name,
)

STATE_TYPE = "THNNState*"
GENERATOR_TYPE = "THGenerator*"
SCALAR_TYPES = frozenset(
    {"int", "int64_t", "long", "THIndex_t", "bool", "real", "accreal", "double", "float"},
)
TYPES = TENSOR_TYPES | SCALAR_TYPES | {STATE_TYPE, GENERATOR_TYPE}

#: Words that may stand before the return type.
_PREFIXES = frozenset({"TH_API", "TH_EXTERNC", "extern"})

_MAX_BYTES = 2 << 20
_MAX_MESSAGE = 200

_ROLE_TAGS = frozenset(TAG_OF_ROLE.values())
_BASE_TYPES = frozenset(t.rstrip("*") for t in TYPES)
_C_TYPE_WORDS = frozenset({"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned"})
_RESERVED = _BASE_TYPES | _C_TYPE_WORDS | _PREFIXES
_TYPEDEFS = "".join(f"typedef int {t};" for t in sorted(_BASE_TYPES - _C_TYPE_WORDS))

_COMMENT_OR_STRING = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)|(?P<unclosed>/\*)|"(?:\\.|[^"\\\n])*"?""", re.DOTALL
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_DEAD_IF = re.compile(r"if\s*0|ifdef\s+__cplusplus|if\s+defined\s*\(?\s*__cplusplus\s*\)?")
_DEAD_ELSE = re.compile(r"ifndef\s+__cplusplus|if\s*!\s*defined\s*\(?\s*__cplusplus\s*\)?")
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d\w*|\.\.\.|\S", re.ASCII)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_FIRST_CODE = re.compile(r"^[ \t\f\v]*(\S)", re.MULTILINE)
_COMMENT_MARKS = re.compile(r"^//+|^/\*+|\*+/$")
_BRACKETS = re.compile(r"\[([^\[\]\n]*)\]")
_TAG_LIKE = re.compile(r"[A-Z][A-Z0-9_]{2,}")
_PYCPARSER_LINE = re.compile(r":(\d+):")


def parse_header(path: str | os.PathLike[str]) -> list[Function]:
    """The functions that the header at `path` declares, in its order.

    Raises HeaderError where the header is not understood; nothing is ever skipped.
    """
    name = os.fspath(path)
    start = Location(name, 1, 1)
    try:
        with Path(name).open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HeaderError(start, f"cannot read the header: {reason}", name) from error
    if len(data) > _MAX_BYTES:
        first_line = data.splitlines()[0].decode("utf-8", "replace")
        raise HeaderError(start, f"the header is larger than {_MAX_BYTES >> 20} MiB", first_line)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        source = _Source(data.decode("utf-8", "replace"), name)
        offset = len(_normalise(data[: error.start].decode("utf-8")))
        source.fail(offset, f"byte 0x{data[error.start]:02x} is not valid UTF-8")
    return parse_header_text(text, name)


def parse_header_text(text: str, filename: str = "<header>") -> list[Function]:
    """The functions that `text` declares, in its order; `filename` is used in locations only."""
    source = _Source(text, filename)
    nul = source.text.find("\0")
    if nul >= 0:
        source.fail(nul, "a NUL character")
    lexed = _Lexed(source)
    declarations = list(_declarations(lexed))
    _read_declarators(lexed, declarations)
    _attach_tags(lexed, declarations)
    return _build_functions(lexed, _without_repetitions(lexed, declarations))


def _normalise(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


class _Source:
    """The text, with its line ends made '\\n', and its places."""

    def __init__(self, text: str, filename: str) -> None:
        self.text = _normalise(text)
        self.filename = filename
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", self.text))]

    def line(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)

    def column(self, offset: int) -> int:
        return offset - self._line_starts[self.line(offset) - 1] + 1

    def location(self, offset: int) -> Location:
        return Location(self.filename, self.line(offset), self.column(offset))

    def error(self, offset: int, message: str) -> HeaderError:
        line = self.line(offset)
        end = self._line_starts[line] - 1 if line < len(self._line_starts) else len(self.text)
        if len(message) > _MAX_MESSAGE:
            message = message[: _MAX_MESSAGE - 3] + "..."
        return HeaderError(self.location(offset), message, self.text[self._line_starts[line - 1] : end])

    def fail(self, offset: int, message: str) -> NoReturn:
        raise self.error(offset, message)


@dataclass(slots=True)
class _Comment:
    start: int
    end: int
    text: str


@dataclass(slots=True)
class _Token:
    start: int
    text: str
    line: int


class _Lexed:
    """The comments and the tokens of a source; what is no code (comments, directives) yields no token."""

    def __init__(self, source: _Source) -> None:
        self.source = source
        self.comments: list[_Comment] = []
        code = self._without_comments(source.text)
        self.first_code = {source.line(m.start(1)): m.start(1) for m in _FIRST_CODE.finditer(code)}
        code = self._without_directives(code).replace("\\\n", " \n")
        self.tokens = [_Token(m.start(), m[0], source.line(m.start())) for m in _TOKEN.finditer(code)]
        self.starts = [t.start for t in self.tokens]

    def _without_comments(self, code: str) -> str:
        def blank(match: re.Match[str]) -> str:
            if match["unclosed"]:
                self.source.fail(match.start(), "the comment is not closed")
            if not match["comment"]:
                return match[0]
            self.comments.append(_Comment(match.start(), match.end(), match[0]))
            return _blank(match[0])

        return _COMMENT_OR_STRING.sub(blank, code)

    def _without_directives(self, code: str) -> str:
        """Blank directives and all under `#if 0` and `#ifdef __cplusplus`; every other branch is read."""
        parts: list[str] = []
        starts: list[int] = []  # of the parts of the text between directives
        is_dead: list[bool] = []  # of the same parts
        stack: list[tuple[int, bool, bool]] = []  # per open #if: its place, dead now, dead after #else
        end = 0

        def copy(until: int) -> None:
            starts.append(end)
            is_dead.append(bool(stack) and stack[-1][1])
            parts.append(_blank(code[end:until]) if is_dead[-1] else code[end:until])

        for match in _DIRECTIVE.finditer(code):
            copy(match.start())
            parts.append(_blank(match[0]))
            end = match.end()
            words = match[0].replace("\\\n", " ").strip(" \t#")
            keyword = _WORD.match(words)
            self._branch(stack, match.start() + match[0].index("#"), keyword[0] if keyword else "", words)
        copy(len(code))
        if stack:
            self.source.fail(stack[-1][0], "the #if is not closed")
        self.comments = [c for c in self.comments if not is_dead[bisect_right(starts, c.start) - 1]]
        return "".join(parts)

    def _branch(self, stack: list[tuple[int, bool, bool]], at: int, keyword: str, words: str) -> None:
        if keyword in ("if", "ifdef", "ifndef"):
            outer = bool(stack) and stack[-1][1]
            dead = outer or _DEAD_IF.fullmatch(words) is not None
            stack.append((at, dead, outer or _DEAD_ELSE.fullmatch(words) is not None))
        elif keyword in ("else", "elif", "endif"):
            if not stack:
                self.source.fail(at, f"#{keyword} without #if")
            opened, _, dead_else = stack.pop()
            if keyword != "endif":
                stack.append((opened, dead_else, dead_else))

    def fail(self, token: int, message: str) -> NoReturn:
        self.source.fail(self.tokens[token].start, message)

    def text(self, token: int) -> str:
        """The text of a token, '' after the last."""
        return self.tokens[token].text if token < len(self.tokens) else ""


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


@dataclass(slots=True)
class _Parameter:
    """An argument as it is declared, before its role is known; `first` and `last` are tokens."""

    first: int
    last: int
    type: str = ""
    name: str = ""
    name_token: int = 0
    tags: dict[str, int] = field(default_factory=dict)  # tag -> offset
    like: str | None = None
    comments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Declaration:
    """A function as it is declared: tokens first..last, name and the opening parenthesis of the arguments."""

    first: int
    name: int
    opening: int
    last: int
    parameters: list[_Parameter]
    function: str = ""


# Cutting the tokens into declarations


def _declarations(lexed: _Lexed) -> Iterator[_Declaration]:
    i = 0
    while i < len(lexed.tokens):
        if lexed.text(i) == ";":
            i += 1
        elif lexed.text(i) == "typedef":
            i = _skip_typedef(lexed, i)
        else:
            declaration = _declaration(lexed, i)
            yield declaration
            i = declaration.last + 1


def _skip_typedef(lexed: _Lexed, first: int) -> int:
    """The token after a typedef of one of the types known here; it declares nothing new."""
    i = first
    while lexed.text(i + 1) == "*" or _WORD.fullmatch(lexed.text(i + 1)):
        i += 1
    if lexed.text(i + 1) != ";" or lexed.text(i) not in _BASE_TYPES:
        lexed.fail(first, "only typedefs of the library's own types are understood")
    return i + 2


def _declaration(lexed: _Lexed, first: int) -> _Declaration:
    i = first
    while lexed.text(i) in _PREFIXES:
        i += 1
    specifiers = i
    while lexed.text(i) == "*" or _WORD.fullmatch(lexed.text(i)):
        i += 1
    if lexed.text(i) != "(":
        if i < len(lexed.tokens) and lexed.text(i) != ";":
            lexed.fail(i, f"unexpected {lexed.text(i)!r}")
        lexed.fail(first, "this is no declaration of a function")
    name, opening = i - 1, i
    is_wrapped = name >= specifiers and lexed.text(name) == "THNN_"
    if is_wrapped:
        if lexed.text(i + 2) != ")" or not _WORD.fullmatch(lexed.text(i + 1)):
            lexed.fail(i, "the parenthesis is not closed: expected THNN_(name)")
        name, opening = i + 1, i + 3
        if lexed.text(opening) != "(":
            lexed.fail(i + 2, "expected '(' after THNN_(name)")
    specifiers_end = i - 1
    if name < specifiers or lexed.text(name) == "*":
        lexed.fail(i, "expected the name of a function before '('")
    result = [lexed.text(k) for k in range(specifiers, specifiers_end)]
    if result not in ([], ["void"]):
        lexed.fail(specifiers, f"a function must return void, not {' '.join(result)!r}")
    closing = _closing_parenthesis(lexed, opening)
    last = closing
    if lexed.text(closing + 1) == ";":
        last = closing + 1
    elif result or is_wrapped or first != specifiers:
        lexed.fail(closing, "';' is missing after the declaration")
    parameters = list(_parameters(lexed, opening, closing))
    function = lexed.text(name)
    if function in _RESERVED:
        lexed.fail(name, f"{function!r} cannot be the name of a function")
    if not is_wrapped and len(function) > 5:
        function = function.removeprefix("THNN_")
    return _Declaration(first, name, opening, last, parameters, function)


def _closing_parenthesis(lexed: _Lexed, opening: int) -> int:
    """The token that closes the one at `opening`."""
    depth = 0
    nested = None
    for i in range(opening, len(lexed.tokens)):
        text = lexed.text(i)
        if text == "(":
            depth += 1
            nested = nested or (i if depth == 2 else None)
        elif text == ")":
            depth -= 1
            if depth == 0:
                if nested is not None:
                    lexed.fail(nested, "unexpected '(' among the arguments")
                return i
        elif text in (";", "{", "}") or text in _PREFIXES or text == "THNN_":
            break
    lexed.fail(opening, "the parenthesis is not closed")


def _parameters(lexed: _Lexed, opening: int, closing: int) -> Iterator[_Parameter]:
    if closing == opening + 1 or (closing == opening + 2 and lexed.text(opening + 1) == "void"):
        return
    first = opening + 1
    for i in range(opening + 1, closing + 1):
        if i == closing or lexed.text(i) == ",":
            if first == i:
                lexed.fail(i, f"an argument is missing before {lexed.text(i)!r}")
            _check_parameter(lexed, first, i - 1)
            yield _Parameter(first, i - 1)
            first = i + 1


def _check_parameter(lexed: _Lexed, first: int, last: int) -> None:
    """Refuse what no argument of this library can be; the rest is for pycparser."""
    words: list[int] = []
    stars = 0
    is_starred = False
    for i in range(first, last + 1):
        text = lexed.text(i)
        if text == "...":
            lexed.fail(i, "variadic functions are not understood")
        if text == "[":
            lexed.fail(i, "array arguments are not understood")
        if text == "*":
            if is_starred:
                lexed.fail(i, "a pointer to a pointer")
            is_starred = True
            stars = 1
        elif not _WORD.fullmatch(text):
            lexed.fail(i, f"unexpected {text!r}")
        elif text != "const":
            words.append(i)
            is_starred = False
    start = first
    while start < last and lexed.text(start) == "const":
        start += 1
    if not words:
        lexed.fail(first, "an argument without type and name")
    names = [lexed.text(i) for i in words]
    is_type = names[0] in _BASE_TYPES or names[0] in _C_TYPE_WORDS
    if lexed.text(start) == "*" or (len(names) == 1 and not is_type and stars == 0):
        lexed.fail(first, f"argument {names[-1]!r} has no type")
    spelled = names[0]
    while len(names) > 2 and names[1] in _C_TYPE_WORDS:
        spelled += " " + names.pop(1)
        del words[1]
    if spelled + "*" * stars not in TYPES:
        hint = spelled + "*" * (1 - stars)
        suffix = f" (did you mean {hint!r}?)" if hint in TYPES else ""
        lexed.fail(words[0], f"unknown type {spelled + '*' * stars!r}{suffix}")
    if len(names) == 1:
        lexed.fail(first, "the argument has no name")
    if names[1] in _RESERVED:
        lexed.fail(words[1], f"{names[1]!r} cannot be the name of an argument")
    if len(names) > 2:
        lexed.fail(words[2], f"unexpected {names[2]!r}: is a ',' missing?")


# Reading the declarations with pycparser


def _read_declarators(lexed: _Lexed, declarations: list[_Declaration]) -> None:
    """Fill in types and names. Each token is a line of its own, so that pycparser's lines are our tokens."""
    lines = [_TYPEDEFS]
    tokens = [0]  # the token on each line
    for declaration in declarations:
        synthetic = [("void", declaration.name), (declaration.function, declaration.name)]
        end = declaration.last if lexed.text(declaration.last) == ")" else declaration.last - 1
        body = [(lexed.text(i), i) for i in range(declaration.opening, end + 1)]
        for text, token in (*synthetic, *body, (";", end)):
            lines.append(text)
            tokens.append(token)
    try:
        tree = c_parser.CParser().parse("\n".join(lines) + "\n", "")
    except c_parser.ParseError as error:
        match = _PYCPARSER_LINE.search(str(error))
        line = min(int(match[1]), len(lines)) if match else len(lines)
        raise lexed.source.error(
            lexed.tokens[tokens[line - 1]].start, f"C cannot read {lines[line - 1]!r} here"
        ) from None
    functions = [node for node in tree.ext if not isinstance(node, c_ast.Typedef)]
    for declaration, node in zip(declarations, functions, strict=True):
        nodes = node.type.args.params if declaration.parameters else []
        names: set[str] = set()
        for parameter, argument in zip(declaration.parameters, nodes, strict=True):
            if not isinstance(argument, c_ast.Decl):
                lexed.fail(parameter.first, "C reads no argument with a name here")
            pointer = isinstance(argument.type, c_ast.PtrDecl)
            declarator = argument.type.type if pointer else argument.type
            parameter.type = " ".join(declarator.type.names) + "*" * pointer
            parameter.name = argument.name
            parameter.name_token = tokens[declarator.coord.line - 1]
            if parameter.name in names:
                lexed.fail(parameter.name_token, f"argument {parameter.name!r} is named twice")
            names.add(parameter.name)


# Tags


def _attach_tags(lexed: _Lexed, declarations: list[_Declaration]) -> None:
    """Give the tags of each comment to its argument; a comment outside of declarations is prose."""
    owners = _Owners(lexed, declarations)
    for comment in lexed.comments:
        owner = owners.owner(comment)
        if owner is None and not owners.is_inside(comment):
            continue
        if owner is not None:
            owner.comments.append(comment.text)
        for tag, like, offset in _tags(lexed.source, comment):
            if owner is None:
                lexed.source.fail(offset, f"tag [{tag}] belongs to no argument")
            _add_tag(lexed, owner, tag, like, offset)
    for declaration in declarations:
        earlier: dict[str, str] = {}
        for parameter in declaration.parameters:
            _check_tags(lexed, parameter, earlier)
            earlier[parameter.name] = parameter.type


class _Owners:
    """Which argument a comment belongs to; comments are asked for in their order in the text."""

    def __init__(self, lexed: _Lexed, declarations: list[_Declaration]) -> None:
        self._source, self._tokens, self._starts = lexed.source, lexed.tokens, lexed.starts
        self._declaration: list[int | None] = [None] * len(lexed.tokens)
        # A comma and the end of the declaration belong to the argument before them.
        self._parameter: list[_Parameter | None] = [None] * len(lexed.tokens)
        self._trailing: tuple[_Comment, _Parameter] | None = None  # the last comment behind an argument
        for number, declaration in enumerate(declarations):
            for i in range(declaration.first, declaration.last + 1):
                self._declaration[i] = number
            for parameter in declaration.parameters:
                for i in range(parameter.first, parameter.last + 2):
                    self._parameter[i] = parameter
            if declaration.parameters:
                self._parameter[declaration.last] = declaration.parameters[-1]

    def is_inside(self, comment: _Comment) -> bool:
        """Whether the comment stands between two tokens of one declaration."""
        after = bisect_left(self._starts, comment.start)
        if after in (0, len(self._tokens)):
            return False
        return self._declaration[after - 1] == self._declaration[after] is not None

    def owner(self, comment: _Comment) -> _Parameter | None:
        """The argument that the comment belongs to."""
        owner = self._continued(comment)
        if owner is None:
            owner = self._owner_before(comment)
            if owner is None:
                return self._owner_after(comment)
        self._trailing = (comment, owner)
        return owner

    def _continued(self, comment: _Comment) -> _Parameter | None:
        """For a comment right below a trailing one, at the same column: the argument of that one."""
        if self._trailing is None or self._is_behind_code(comment):
            return None
        above, owner = self._trailing
        source = self._source
        is_below = source.line(comment.start) == source.line(above.end - 1) + 1
        return owner if is_below and source.column(comment.start) == source.column(above.start) else None

    def _owner_before(self, comment: _Comment) -> _Parameter | None:
        """The argument on the line of the comment and before it."""
        after = bisect_left(self._starts, comment.start)
        owner = self._parameter[after - 1] if after > 0 else None
        if owner is None or not self._is_behind_code(comment):
            return None
        before = self._tokens[after - 1]
        if before.text == ",":
            # `a, /* tag */ b`: the comment directly precedes the second argument.
            is_followed = self._tokens[after].line == self._source.line(comment.end - 1)
            return None if is_followed else owner
        return owner if self._tokens[owner.last].line == before.line else None

    def _owner_after(self, comment: _Comment) -> _Parameter | None:
        """The argument that the comment directly precedes."""
        after = bisect_left(self._starts, comment.start)
        if not self.is_inside(comment) or self._tokens[after].text == ")":
            return None
        return self._parameter[after]

    def _is_behind_code(self, comment: _Comment) -> bool:
        after = bisect_left(self._starts, comment.start)
        return after > 0 and self._tokens[after - 1].line == self._source.line(comment.start)


def _tags(source: _Source, comment: _Comment) -> Iterator[tuple[str, str | None, int]]:
    """The tags of a comment: word, name for LIKE, offset of the bracket (of the name for LIKE)."""
    for match in _BRACKETS.finditer(comment.text):
        words = match[1].split()
        offset = comment.start + match.start()
        if not words:
            continue
        tag = words[0].upper()
        if tag == "LIKE":
            if len(words) == 2:
                start = match[1].index(words[1], match[1].index(words[0]) + len(words[0]))
                yield tag, words[1], comment.start + match.start(1) + start
            elif words[0] == "LIKE":
                source.fail(offset, "expected [LIKE name]")
        elif len(words) > 1:
            continue
        elif tag in roles.TAGS:
            yield tag, None, offset
        elif _TAG_LIKE.fullmatch(words[0]):
            source.fail(offset, f"unknown tag [{words[0]}]")


def _add_tag(lexed: _Lexed, parameter: _Parameter, tag: str, like: str | None, offset: int) -> None:
    if like is not None:
        if parameter.like not in (None, like):
            lexed.source.fail(offset, f"[LIKE {like}] contradicts [LIKE {parameter.like}]")
        parameter.like = like
    for other in parameter.tags:
        if tag in _ROLE_TAGS and other in _ROLE_TAGS and contradict(tag, other):
            lexed.source.fail(offset, f"[{tag}] contradicts [{other}]")
    parameter.tags.setdefault(tag, offset)


def _check_tags(lexed: _Lexed, parameter: _Parameter, earlier: dict[str, str]) -> None:
    if parameter.type not in TENSOR_TYPES:
        for tag, offset in parameter.tags.items():
            if tag != "OPTIONAL":
                lexed.source.fail(offset, f"[{tag}] on {parameter.name!r}, which is no tensor")
    like = parameter.like
    if like is not None and earlier.get(like) not in TENSOR_TYPES:
        what = "no tensor" if like in earlier else "no earlier argument"
        lexed.source.fail(parameter.tags["LIKE"], f"[LIKE {like}]: {like!r} is {what} of the function")


# From declarations to functions


def _without_repetitions(lexed: _Lexed, declarations: list[_Declaration]) -> list[_Declaration]:
    def signature(declaration: _Declaration) -> list[object]:
        return [(p.type, p.name, p.like, p.tags.keys()) for p in declaration.parameters]

    first: dict[str, _Declaration] = {}
    for declaration in declarations:
        other = first.setdefault(declaration.function, declaration)
        if other is not declaration and signature(other) != signature(declaration):
            where = lexed.source.location(lexed.tokens[other.name].start)
            lexed.fail(
                declaration.name,
                f"{declaration.function} is declared twice with different arguments, first at {where}",
            )
    return list(first.values())


def _build_functions(lexed: _Lexed, declarations: list[_Declaration]) -> list[Function]:
    modules: dict[str, dict[str, _Declaration]] = {}
    for declaration in declarations:
        module, phase = split_name(declaration.function)
        modules.setdefault(module, {})[phase] = declaration
    built: dict[str, Function] = {}
    for phases in modules.values():
        forward = phases.get("updateOutput")
        read_later = {p.name for phase in BACKWARD_PHASES & phases.keys() for p in phases[phase].parameters}
        forward_roles: dict[str, Role] = {}
        if forward is not None:
            forward_roles = _roles(lexed, forward, {}, read_later)
            built[forward.function] = _build(lexed, forward, forward_roles)
        for phase, declaration in phases.items():
            if declaration is forward:
                continue
            own_roles = _roles(lexed, declaration, forward_roles, frozenset())
            if forward is not None and phase in BACKWARD_PHASES:
                _check_backward(lexed, declaration, own_roles, forward, forward_roles)
            built[declaration.function] = _build(lexed, declaration, own_roles)
    return [built[declaration.function] for declaration in declarations]


def _roles(
    lexed: _Lexed, declaration: _Declaration, forward: Mapping[str, Role], read_later: Set[str]
) -> dict[str, Role]:
    """The role of each argument of a function, by name."""
    names = {p.name for p in declaration.parameters}
    decided: dict[str, Role] = {}
    # Gradients last: what they are depends on the tensor they are the gradient of.
    for p in sorted(declaration.parameters, key=lambda p: gradient_of(p.name) is not None):
        if p.type == STATE_TYPE:
            decided[p.name] = "state"
        elif p.type == GENERATOR_TYPE:
            decided[p.name] = "generator"
        elif p.type in SCALAR_TYPES:
            decided[p.name] = "scalar"
        else:
            context = Context(declaration.function, names, forward, decided, read_later)
            role = decide(p.name, p.tags.keys(), context)
            if role is None:
                lexed.fail(
                    p.first,
                    f"cannot tell the role of tensor {p.name!r}: give it a tag such as [INPUT] or [BUFFER]",
                )
            decided[p.name] = role
    return decided


def _check_backward(
    lexed: _Lexed,
    declaration: _Declaration,
    own_roles: Mapping[str, Role],
    forward: _Declaration,
    forward_roles: Mapping[str, Role],
) -> None:
    """Refuse a backward that asks for what the forward neither takes nor makes."""
    types = {p.name: p.type for p in forward.parameters}
    for p in declaration.parameters:
        role = own_roles[p.name]
        known = roles.forward_name(p.name, types.keys())
        if role in ("state", "gradOutput", "gradInput", "gradParameter"):
            continue
        if known is None:
            if role == "buffer" or (role == "scalar" and p.name in roles.BACKWARD_SCALARS):
                continue
            does = "does not take" if role in ("scalar", "generator") else "neither takes nor makes"
            lexed.fail(p.first, f"{forward.function} {does} {p.name!r}")
        if p.type in TENSOR_TYPES or types[known] in TENSOR_TYPES:
            if p.type != types[known]:
                lexed.fail(p.first, f"{forward.function} has {p.name!r} as {types[known]!r}, not {p.type!r}")
            if role != forward_roles[known]:
                lexed.fail(
                    p.first, f"{forward.function} has {p.name!r} as {forward_roles[known]}, not {role}"
                )


def _build(lexed: _Lexed, declaration: _Declaration, own_roles: Mapping[str, Role]) -> Function:
    arguments = tuple(
        Argument(
            type=p.type,
            name=p.name,
            is_optional="OPTIONAL" in p.tags,
            role=own_roles[p.name],
            location=lexed.source.location(lexed.tokens[p.first].start),
            like=p.like,
            is_modified="MODIFIED" in p.tags,
            doc=_argument_doc(p.comments),
        )
        for p in declaration.parameters
    )
    location = lexed.source.location(lexed.tokens[declaration.name].start)
    return Function(declaration.function, arguments, _doc(lexed, declaration), location)


def _argument_doc(comments: list[str]) -> str:
    """What the comments of an argument say besides their tags."""
    text = " ".join(_BRACKETS.sub(_prose, _COMMENT_MARKS.sub(" ", comment)) for comment in comments)
    return " ".join(text.split())


def _prose(match: re.Match[str]) -> str:
    words = match[1].split()
    return "" if words and words[0].upper() in roles.TAGS else match[0]


def _doc(lexed: _Lexed, declaration: _Declaration) -> str:
    """The comments directly above a declaration, without markers and common indentation."""
    below = lexed.tokens[declaration.first].start
    comments: list[_Comment] = []
    for i in range(bisect_left(lexed.comments, below, key=lambda c: c.start) - 1, -1, -1):
        comment = lexed.comments[i]
        gap = lexed.source.text[comment.end : below]
        is_behind_code = lexed.first_code.get(lexed.source.line(comment.start), below) < comment.start
        if gap.strip() or gap.count("\n") > 1 or is_behind_code:
            break
        comments.append(comment)
        below = comment.start
    lines: list[str] = []
    for is_block, group in groupby(reversed(comments), key=lambda c: c.text.startswith("/*")):
        if is_block:
            lines += [line for c in group for line in _block_lines(c.text)]
        else:
            text = "\n".join(re.sub(r"^//[/!]*", "", c.text) for c in group)
            lines += textwrap.dedent(text).split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _block_lines(comment: str) -> list[str]:
    first, *rest = comment[2:-2].lstrip("*!").rstrip("*").split("\n")
    if all(line.lstrip().startswith("*") for line in rest if line.strip()):
        rest = [line.lstrip()[1:] for line in rest]
    return [first.strip(), *textwrap.dedent("\n".join(rest)).split("\n")]
