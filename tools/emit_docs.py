"""Generates the catalogue of functions (docs/functions) from the header model: a page per family, and an index."""

from __future__ import annotations

import contextlib
import itertools
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from thnn._functions.documentation import REAL, describe, summary
from thnn._header import Argument, Function, Module, group_modules

from .formulas import NotAFormula, beginning, formulas_of

BANNER = "<!-- Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. -->\n"
_HEADINGS = re.compile(r"((?:^|(?<=[.;] ))(?:Shapes(?:, [\w ]+)?|Errors|Source):)")


def emit_docs(functions: Sequence[Function], header: str) -> dict[str, str]:
    """The files of docs/functions, for the functions of the text of a header."""
    modules = group_modules(functions).values()
    families = list(dict.fromkeys(m.family for m in modules))
    by_family = {name: [m for m in modules if m.family == name] for name in families}
    return {
        "index.md": "".join(_index(functions, by_family)) + _rules(header),
        **{f"{name}.md": "".join(_page(name, members)) for name, members in by_family.items()},
    }


def _title(family: str) -> str:
    return family.replace("_", " ").capitalize()


def _index(functions: Sequence[Function], families: dict[str, list[Module]]) -> Iterator[str]:
    count = sum(map(len, families.values()))
    yield BANNER + "\n# Functions\n\n"
    yield f"{len(functions)} functions in {count} modules, declared in `generic/THNN.h`.\n"
    for family, modules in families.items():
        yield f"\n## [{_title(family)}]({family}.md)\n\n"
        for module in modules:
            yield f"- [{module.name}]({family}.md#{module.name.lower()}): {_escaped(summary(module))}\n"


def _rules(header: str) -> str:
    """The first comment of the header, on types, roles and tags."""
    comment = re.match(r"\s*/\*(.*?)\*/", header, re.DOTALL)
    if comment is None:
        return ""
    text = textwrap.dedent("   " + comment[1].strip())
    return f"\n## Rules of the header\n\nThe comment at the beginning of `THNN.h`:\n\n{_fenced(text)}\n"


def _page(family: str, modules: Sequence[Module]) -> Iterator[str]:
    yield BANNER + f"\n# {_title(family)}\n\nThe element type {REAL}\n"
    for module in modules:
        yield f"\n## {module.name}\n"
        forward = module.forward
        for function in module.functions.values():
            is_backward = function in module.backwards and forward is not None
            yield f"\n### {function.name}\n\n"
            yield from _description(function.doc)
            yield from _arguments(function, forward if is_backward else None)


def _description(comment: str) -> Iterator[str]:
    """The comment of a function: formulas as mathematics, and a paragraph for shapes, errors and source."""
    for is_block, lines in itertools.groupby(
        comment.strip().splitlines(), lambda line: line.startswith("  ")
    ):
        text = "\n".join(lines)
        yield from map("{}\n\n".format, _block(text) if is_block else _paragraphs(text))


def _block(text: str) -> Iterator[str]:
    """An indented block of formulas; as it is, if one of them is not in their notation."""
    try:
        formulas = [(label, *beginning(formula)) for label, formula in formulas_of(text)]
    except NotAFormula:
        yield _fenced(textwrap.dedent(text))
        return
    for label, formula, rest in formulas:
        if label:
            yield _escaped(label)
        yield _mathematics(formula)
        if rest:
            yield _continued(rest)


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\n+", text.strip()):
        words = " ".join(paragraph.split())
        heading = ""
        for part in _HEADINGS.split(words):
            if _HEADINGS.fullmatch(part):
                heading = f"**{part.strip()}** "
            elif part.strip():
                yield from _sentences(part.strip()) if not heading else [heading + _escaped(part.strip())]


def _sentences(text: str) -> Iterator[str]:
    """A paragraph; a formula in its first sentence, after the name of the module, is displayed."""
    named = re.match(r"\w+: (\w+ = .*?)(?=[.;](?: |$))", text)
    if named is not None:
        with contextlib.suppress(NotAFormula):
            formula, rest = beginning(named[1])
            yield _mathematics(formula)
            if text := _continued(rest + text[named.end() :]):
                yield text
            return
    yield _escaped(text)


def _continued(text: str) -> str:
    """Words after a displayed formula, without the punctuation between them."""
    return _escaped(re.sub(r"^[.,;]\s*", "", text))


def _mathematics(formula: str) -> str:
    return f"```math\n{formula}\n```"


def _arguments(function: Function, forward: Function | None) -> Iterator[str]:
    """The list of arguments; arguments with the meaning that they have in the forward are listed by name only."""
    arguments = function.after_state
    unused = [a for a in arguments if a.role == "buffer" and a.doc == "unused"]
    used = [a for a in arguments if a not in unused]
    known = [a for a in used if forward is not None and _is_known(a, forward.argument(a.name))]
    for argument in used:
        if argument not in known:
            name, _, rest = describe(argument).partition(": ")
            yield f"- `{name}` ({argument.role}): {_escaped(rest)}\n"
    if known:
        yield f"- {_names(known)}: as in the forward\n"
    if unused:
        yield f"- {_names(unused)} (buffer): unused, may be None\n"


def _is_known(argument: Argument, other: Argument | None) -> bool:
    """True if an argument of a backward is the same as in the forward and its comment adds nothing."""
    if other is None:
        return False
    is_same = (argument.type, argument.role, argument.is_optional) == (
        other.type,
        other.role,
        other.is_optional,
    )
    return is_same and (other.doc.startswith(argument.doc) or argument.doc.startswith("as in the forward"))


def _names(arguments: Iterable[Argument]) -> str:
    return ", ".join(f"`{a.name}`" for a in arguments)


def _fenced(text: str) -> str:
    """A code block whose lines wrap, with a fence longer than any in the text."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}{{.text .wrap}}\n{text}\n{fence}"


def _escaped(text: str) -> str:
    """The text with the special characters of Markdown escaped, except in code between backticks."""
    parts = re.split(r"((?<!`)`[^`]+`(?!`))", text)
    parts[::2] = [re.sub(r"[\\`*\[\]]", r"\\\g<0>", part).replace("<", "&lt;") for part in parts[::2]]
    return "".join(parts)
