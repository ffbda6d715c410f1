"""From the text of a header to its functions.

A header declares functions that return void and take tensors, numbers, a random generator and the library's state.
Everything else is an error with line and column, so that nothing is skipped silently.
"""

from __future__ import annotations

import os
import re
import textwrap
from bisect import bisect_left
from collections.abc import Mapping, Set
from itertools import groupby
from pathlib import Path
from typing import NoReturn

from .._spelling import did_you_mean
from . import roles, tags
from .declarations import GENERATOR_TYPE, SCALAR_TYPES, STATE_TYPE, declarations
from .lexer import Comment, Lexed, Source, normalize
from .model import NUMBER_TYPES, Argument, Function, HeaderError, Location
from .roles import BACKWARD_PHASES, Context, Role, decide, gradient_of, split_name
from .tags import Declaration, Parameter, Tag

_MAX_BYTES = 2 << 20
# Scalars of 2017 that the binding does not pass.
_UNUSUAL_TYPES = SCALAR_TYPES - {*NUMBER_TYPES}


def parse_header(path: str | os.PathLike[str]) -> list[Function]:
    """The functions that the header at `path` declares, in its order.

    Raises HeaderError at the first error; no part of the header is skipped.
    """
    name = os.fspath(path)
    start = Location(name, 1, 1)
    try:
        with Path(name).open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HeaderError(start, f"cannot read the header: {reason}") from error
    if len(data) > _MAX_BYTES:
        first_line = data.splitlines()[0].decode("utf-8", "replace")
        raise HeaderError(start, f"the header is larger than {_MAX_BYTES >> 20} MiB", first_line)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        source = Source(data.decode("utf-8", "replace"), name)
        offset = len(normalize(data[: error.start].decode("utf-8")))
        source.fail(offset, f"byte 0x{data[error.start]:02x} is not valid UTF-8")
    return parse_header_text(text, name)


def parse_header_text(text: str, filename: str = "<header>") -> list[Function]:
    """The functions that `text` declares, in its order; `filename` is only used in locations."""
    source = Source(text, filename)
    nul = source.text.find("\0")
    if nul >= 0:
        source.fail(nul, "unexpected NUL character")
    lexed = Lexed(source)
    found = list(declarations(lexed))
    tags.attach(lexed, found)
    return _build_functions(lexed, _without_repetitions(lexed, found))


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
            if phase not in BACKWARD_PHASES and (meant := roles.misspelt_phase(phase, phases.keys())):
                name = declaration.function
                lexed.fail(
                    declaration.name,
                    f"{name} is neither forward nor backward; did you mean {module}_{meant}?",
                )
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
                    f"cannot tell the role of tensor {p.name!r}: give it a tag such as [INPUT] or [BUFFER]"
                    + roles.gradient_hint(p.name, forward),
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
    """Refuses a number without a default after a number with one: Python does not allow that either."""
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
    """Refuses a backward with an argument whose value neither the forward nor a default nor a size determines, or whose
    type or role differs from the forward's."""
    in_forward = {p.name: p for p in forward.parameters}
    types = {p.name: p.type for p in forward.parameters}

    def fail(p: Parameter, message: str) -> NoReturn:
        lexed.fail(p.first, f"{forward.function} {message}")

    for p in declaration.parameters:
        role = own_roles[p.name]
        hint = roles.gradient_hint(p.name, forward_roles)
        if role in ("state", "gradOutput", "gradInput", "gradParameter"):
            of = gradient_of(p.name)
            if of is not None and of != "output" and hint and roles.forward_name(of, types.keys()) is None:
                fail(p, f"has no argument {of!r}, whose gradient is {p.name!r}{hint}")
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
                    fail(p, f"has no input, parameter or output {size.tensor!r}, whose size is {p.name!r}")
            elif role != "buffer" and "DEFAULT" not in p.tags:
                meant = did_you_mean(p.name, types) if role == "scalar" else ""
                fail(p, f"has no argument {p.name!r}{meant or hint}")
        else:
            # Also numbers: compiled code passes the forward's numbers on with their type there.
            if p.type != types[known]:
                if types[known] in _UNUSUAL_TYPES and p.type in NUMBER_TYPES:
                    message = f"{declaration.function} has {p.name!r} as {p.type!r}, not {types[known]!r}"
                    lexed.fail(in_forward[known].first, message)
                fail(p, f"has {p.name!r} as {types[known]!r}, not {p.type!r}")
            if role != forward_roles[known]:
                fail(p, f"has {p.name!r} as {forward_roles[known]}, not {role}")


def _check_inplace(lexed: Lexed, declaration: Declaration, overwritten: str) -> None:
    """Refuses an argument `inplace` that is not a flag, or without the tensor that it tells the call to overwrite."""
    parameters = {p.name: p for p in declaration.parameters}
    flag = parameters["inplace"]
    where = f"{declaration.function}: inplace: "
    if flag.type != "bool":
        lexed.fail(
            flag.first,
            f"{where}expected a bool, which tells whether the call overwrites {overwritten!r}, got {flag.type!r}",
        )
    if overwritten not in parameters:
        lexed.fail(
            flag.first, f"{where}expected an argument {overwritten!r}, which the call overwrites, got none"
        )


def _function(lexed: Lexed, declaration: Declaration, own_roles: Mapping[str, Role], family: str) -> Function:
    source = lexed.source
    overwritten = roles.overwritten_in_place(declaration.function, own_roles.keys())
    if overwritten is not None:
        _check_inplace(lexed, declaration, overwritten)
    arguments = tuple(
        Argument(
            type=p.type,
            name=p.name,
            role=own_roles[p.name],
            is_optional="OPTIONAL" in p.tags,
            is_modified="MODIFIED" in p.tags or p.name == overwritten,
            is_mixed="MIXED" in p.tags,
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
        follows_code = lexed.first_code.get(lexed.source.line(comment.start), below) < comment.start
        if gap.strip() or gap.count("\n") > 1 or follows_code or tags.is_family(comment):
            break
        comments.append(comment)
        below = comment.start
    lines: list[str] = []
    for is_block, group in groupby(reversed(comments), key=lambda c: c.text.startswith("/*")):
        if is_block:
            text = lexed.source.text
            lines += [
                line
                for c in group
                for line in _block_lines(c.text, c.start - text.rfind("\n", 0, c.start) - 1)
            ]
        else:
            text = "\n".join(re.sub(r"^//[/!]*", "", c.text) for c in group)
            lines += textwrap.dedent(text).split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _block_lines(comment: str, column: int) -> list[str]:
    """The lines of a block comment without their indentation, which for the first line is that of its text."""
    first, *rest = comment[2:-2].lstrip("*!").rstrip("*").split("\n")
    if all(line.lstrip().startswith("*") for line in rest if line.strip()):
        rest = [line.lstrip()[1:] for line in rest]
    text = first.strip()
    margin = column + comment.index(text) if text else None
    indented = [] if margin is None else [" " * margin + text]
    lines = textwrap.dedent("\n".join(indented + rest)).split("\n")
    return [text, *lines[len(indented) :]]
