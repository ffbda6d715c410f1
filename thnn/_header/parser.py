"""From the text of a header to its functions.

The grammar is small: declarations of functions that return void and take tensors, numbers and the library's state.
Everything else is an error with line and column, so that nothing is skipped in silence. No step is recursive, and
each is linear in the size of the text.
"""

from __future__ import annotations

import os
import re
import textwrap
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Set
from itertools import groupby
from pathlib import Path
from typing import NoReturn

from . import roles, tags
from .lexer import PREFIXES, Comment, Lexed, Source, normalise
from .model import TENSOR_TYPES, Argument, Function, HeaderError, Location
from .roles import BACKWARD_PHASES, Context, Role, decide, gradient_of, split_name
from .tags import Declaration, Parameter, Tag

STATE_TYPE = "THNNState*"
GENERATOR_TYPE = "THGenerator*"
SCALAR_TYPES = frozenset(
    {"int", "int64_t", "long", "THIndex_t", "bool", "real", "accreal", "double", "float"},
)
TYPES = TENSOR_TYPES | SCALAR_TYPES | {STATE_TYPE, GENERATOR_TYPE}

_MAX_BYTES = 2 << 20

_BASE_TYPES = frozenset(t.rstrip("*") for t in TYPES)
_C_TYPE_WORDS = frozenset({"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned"})
_C_KEYWORDS = frozenset(
    [
        *(
            "auto",
            "break",
            "case",
            "const",
            "continue",
            "default",
            "do",
            "else",
            "enum",
            "extern",
            "for",
            "goto",
        ),
        *(
            "if",
            "inline",
            "register",
            "restrict",
            "return",
            "sizeof",
            "static",
            "struct",
            "switch",
            "typedef",
        ),
        *("union", "volatile", "while"),
    ]
)
_NO_NAMES = _BASE_TYPES | _C_TYPE_WORDS | _C_KEYWORDS | PREFIXES


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
        source = Source(data.decode("utf-8", "replace"), name)
        offset = len(normalise(data[: error.start].decode("utf-8")))
        source.fail(offset, f"byte 0x{data[error.start]:02x} is not valid UTF-8")
    return parse_header_text(text, name)


def parse_header_text(text: str, filename: str = "<header>") -> list[Function]:
    """The functions that `text` declares, in its order; `filename` is used in locations only."""
    source = Source(text, filename)
    nul = source.text.find("\0")
    if nul >= 0:
        source.fail(nul, "a NUL character")
    lexed = Lexed(source)
    declarations = list(_declarations(lexed))
    tags.attach(lexed, declarations)
    return _build_functions(lexed, _without_repetitions(lexed, declarations))


# From tokens to declarations


def _declarations(lexed: Lexed) -> Iterator[Declaration]:
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


def _skip_typedef(lexed: Lexed, first: int) -> int:
    """The token after a typedef of one of the types known here; it declares nothing new."""
    i = first
    while lexed.text(i + 1) == "*" or lexed.is_word(i + 1):
        i += 1
    if lexed.text(i + 1) != ";" or lexed.text(i) not in _BASE_TYPES:
        lexed.fail(first, "only typedefs of the library's own types are understood")
    return i + 2


def _declaration(lexed: Lexed, first: int) -> Declaration:
    i = first
    while lexed.text(i) in PREFIXES:
        i += 1
    specifiers = i
    while lexed.text(i) == "*" or lexed.is_word(i):
        i += 1
    if lexed.text(i) != "(":
        if i < len(lexed.tokens) and lexed.text(i) != ";":
            lexed.fail(i, f"unexpected {lexed.text(i)!r}")
        lexed.fail(first, "this is no declaration of a function")
    name, opening = i - 1, i
    is_wrapped = name >= specifiers and lexed.text(name) == "THNN_"
    if is_wrapped:
        if lexed.text(i + 2) != ")" or not lexed.is_word(i + 1):
            lexed.fail(i, "the parenthesis is not closed: expected THNN_(name)")
        name, opening = i + 1, i + 3
        if lexed.text(opening) != "(":
            lexed.fail(i + 2, "expected '(' after THNN_(name)")
    if name < specifiers or lexed.text(name) == "*":
        lexed.fail(i, "expected the name of a function before '('")
    result = [lexed.text(k) for k in range(specifiers, i - 1)]
    if result not in ([], ["void"]):
        lexed.fail(specifiers, f"a function must return void, not {' '.join(result)!r}")
    last = closing = _closing_parenthesis(lexed, opening)
    if lexed.text(closing + 1) == ";":
        last = closing + 1
    elif result or is_wrapped or first != specifiers:
        lexed.fail(closing, "';' is missing after the declaration")
    function = lexed.text(name)
    _check_name(lexed, name, "a function")
    if not is_wrapped and len(function) > 5:
        function = function.removeprefix("THNN_")
    return Declaration(first, name, last, function, _parameters(lexed, opening, closing))


def _closing_parenthesis(lexed: Lexed, opening: int) -> int:
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
        elif text in (";", "{", "}") or text in PREFIXES or text == "THNN_":
            break
    lexed.fail(opening, "the parenthesis is not closed")


def _check_name(lexed: Lexed, token: int, what: str) -> None:
    if lexed.text(token) in _NO_NAMES:
        lexed.fail(token, f"{lexed.text(token)!r} cannot be the name of {what}")


def _parameters(lexed: Lexed, opening: int, closing: int) -> list[Parameter]:
    parameters: list[Parameter] = []
    if closing == opening + 1 or (closing == opening + 2 and lexed.text(opening + 1) == "void"):
        return parameters
    names: set[str] = set()
    first = opening + 1
    for i in range(opening + 1, closing + 1):
        if i == closing or lexed.text(i) == ",":
            if first == i:
                lexed.fail(i, f"an argument is missing before {lexed.text(i)!r}")
            parameter = _parameter(lexed, first, i - 1)
            if parameter.name in names:
                lexed.fail(i - 1, f"argument {parameter.name!r} is named twice")
            names.add(parameter.name)
            parameters.append(parameter)
            first = i + 1
    return parameters


def _parameter(lexed: Lexed, first: int, last: int) -> Parameter:
    """The argument of tokens first..last: a type, a star if it is a pointer, a name that is the last token."""
    words: list[int] = []
    star = None
    for i in range(first, last + 1):
        text = lexed.text(i)
        if text == "...":
            lexed.fail(i, "variadic functions are not understood")
        if text == "[":
            lexed.fail(i, "array arguments are not understood")
        if text == "*":
            if star is not None and len(words) < 2:
                lexed.fail(i, "a pointer to a pointer")
            star = star or i
        elif not lexed.is_word(i):
            lexed.fail(i, f"unexpected {text!r}")
        elif text != "const":
            words.append(i)
    if not words:
        lexed.fail(first, "an argument without type and name")
    end = 1  # of the words of the type
    while end < len(words) and lexed.text(words[end]) in _C_TYPE_WORDS:
        end += 1
    base = " ".join(lexed.text(i) for i in words[:end])
    _check_type(lexed, first, words, base, star)
    if len(words) == end:
        lexed.fail(first, "the argument has no name")
    name = words[end]
    _check_name(lexed, name, "an argument")
    if len(words) > end + 1:
        lexed.fail(words[end + 1], f"unexpected {lexed.text(words[end + 1])!r}: is a ',' missing?")
    if name != last:
        lexed.fail(name + 1, f"unexpected {lexed.text(name + 1)!r} after the name of the argument")
    return Parameter(first, last, base + "*" * (star is not None), lexed.text(name))


def _check_type(lexed: Lexed, first: int, words: list[int], base: str, star: int | None) -> None:
    """Refuse a type that no argument of this library has; `words` are the words of the type and the name."""
    is_type = base in _BASE_TYPES or lexed.text(words[0]) in _C_TYPE_WORDS
    starts_with_star = star is not None and star < words[0]
    if starts_with_star or (len(words) == 1 and not is_type and star is None):
        lexed.fail(first, f"argument {lexed.text(words[-1])!r} has no type")
    spelled = base + "*" * (star is not None)
    if spelled not in TYPES:
        other = base if star is not None else base + "*"
        hint = f" (did you mean {other!r}?)" if other in TYPES else ""
        lexed.fail(words[0], f"unknown type {spelled!r}{hint}")


# From declarations to functions


def _without_repetitions(lexed: Lexed, declarations: list[Declaration]) -> list[Declaration]:
    def signature(declaration: Declaration) -> list[object]:
        return [(p.type, p.name, {t.name: t.words for t in p.tags.values()}) for p in declaration.parameters]

    first: dict[str, Declaration] = {}
    for declaration in declarations:
        other = first.setdefault(declaration.function, declaration)
        if other is not declaration and signature(other) != signature(declaration):
            where = lexed.source.location(lexed.tokens[other.name].start)
            lexed.fail(
                declaration.name,
                f"{declaration.function} is declared twice with different arguments, first at {where}",
            )
    return list(first.values())


def _build_functions(lexed: Lexed, declarations: list[Declaration]) -> list[Function]:
    families = dict(zip((d.function for d in declarations), tags.families(lexed, declarations)))
    modules: dict[str, dict[str, Declaration]] = {}
    for declaration in declarations:
        module, phase = split_name(declaration.function)
        modules.setdefault(module, {})[phase] = declaration
    built: dict[str, Function] = {}

    def build(declaration: Declaration, own_roles: Mapping[str, Role]) -> None:
        built[declaration.function] = _function(lexed, declaration, own_roles, families[declaration.function])

    for module, phases in modules.items():
        _check_family(lexed, module, list(phases.values()), families)
        forward = phases.get("updateOutput")
        read_later = {p.name for phase in BACKWARD_PHASES & phases.keys() for p in phases[phase].parameters}
        forward_roles: dict[str, Role] = {}
        if forward is not None:
            forward_roles = _roles(lexed, forward, {}, read_later)
            _check_defaults(lexed, forward)
            build(forward, forward_roles)
        for phase, declaration in phases.items():
            if declaration is forward:
                continue
            own_roles = _roles(lexed, declaration, forward_roles, frozenset())
            if forward is not None and phase in BACKWARD_PHASES:
                _check_backward(lexed, declaration, own_roles, forward, forward_roles)
            build(declaration, own_roles)
    return [built[declaration.function] for declaration in declarations]


def _roles(
    lexed: Lexed, declaration: Declaration, forward: Mapping[str, Role], read_later: Set[str]
) -> dict[str, Role]:
    """The role of each argument of a function, by name."""
    names = {p.name for p in declaration.parameters}
    decided: dict[str, Role] = {}
    # Gradients last: their roles depend on the tensors that they are the gradients of.
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


def _check_family(
    lexed: Lexed, module: str, declarations: list[Declaration], families: Mapping[str, str]
) -> None:
    first = families[declarations[0].function]
    for declaration in declarations:
        family = families[declaration.function]
        if family != first:
            lexed.fail(declaration.name, f"module {module} is in two families, {first!r} and {family!r}")


def _check_defaults(lexed: Lexed, forward: Declaration) -> None:
    """Python, too, wants the arguments with a default behind those without."""
    seen: Parameter | None = None
    for p in forward.parameters:
        if "DEFAULT" in p.tags:
            seen = p
        elif seen is not None and p.type in SCALAR_TYPES:
            lexed.fail(p.first, f"{p.name!r} needs a [DEFAULT value], as {seen.name!r} before it has one")


def _check_backward(
    lexed: Lexed,
    declaration: Declaration,
    own_roles: Mapping[str, Role],
    forward: Declaration,
    forward_roles: Mapping[str, Role],
) -> None:
    """Refuse a backward with an argument that neither its forward nor a default nor a size gives."""
    types = {p.name: p.type for p in forward.parameters}

    def fail(p: Parameter, message: str) -> NoReturn:
        lexed.fail(p.first, f"{forward.function} {message}")

    for p in declaration.parameters:
        role = own_roles[p.name]
        if role in ("state", "gradOutput", "gradInput", "gradParameter"):
            continue
        known = roles.forward_name(p.name, types.keys())
        if known is None:
            if (
                role == "scalar"
                and not roles.SCALAR_TAGS & p.tags.keys()
                and p.name in roles.CONVENTIONAL_TAGS
            ):
                name, *words = roles.CONVENTIONAL_TAGS[p.name]
                p.tags[name] = Tag(name, tuple(words), lexed.tokens[p.first].start)
            if size := tags.size(lexed.source, p):
                if forward_roles.get(size.tensor) not in ("input", "target", "parameter", "output"):
                    fail(p, f"neither takes nor makes {size.tensor!r}, whose size {p.name!r} is")
            elif role != "buffer" and "DEFAULT" not in p.tags:
                does = "does not take" if role in ("scalar", "generator") else "neither takes nor makes"
                fail(p, f"{does} {p.name!r}")
        elif p.type in TENSOR_TYPES or types[known] in TENSOR_TYPES:
            if p.type != types[known]:
                fail(p, f"has {p.name!r} as {types[known]!r}, not {p.type!r}")
            if role != forward_roles[known]:
                fail(p, f"has {p.name!r} as {forward_roles[known]}, not {role}")


def _function(lexed: Lexed, declaration: Declaration, own_roles: Mapping[str, Role], family: str) -> Function:
    source = lexed.source
    arguments = tuple(
        Argument(
            type=p.type,
            name=p.name,
            role=own_roles[p.name],
            is_optional="OPTIONAL" in p.tags,
            is_modified="MODIFIED" in p.tags,
            like=p.like,
            default=tags.default(source, p),
            size=tags.size(source, p),
            doc=p.doc(),
            location=source.location(lexed.tokens[p.first].start),
        )
        for p in declaration.parameters
    )
    location = source.location(lexed.tokens[declaration.name].start)
    derivative, doc = tags.derivative(lexed, declaration, _doc(lexed, declaration))
    return Function(declaration.function, arguments, doc, family, derivative, location)


def _doc(lexed: Lexed, declaration: Declaration) -> str:
    """The comments directly above a declaration, without markers and common indentation."""
    below = lexed.tokens[declaration.first].start
    comments: list[Comment] = []
    for i in range(bisect_left(lexed.comments, below, key=lambda c: c.start) - 1, -1, -1):
        comment = lexed.comments[i]
        gap = lexed.source.text[comment.end : below]
        is_behind_code = lexed.first_code.get(lexed.source.line(comment.start), below) < comment.start
        if gap.strip() or gap.count("\n") > 1 or is_behind_code or tags.is_family(comment):
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
