"""The declarations of a header, parsed by pycparser and checked on its syntax tree.

pycparser parses one declaration at a time, on one line: its columns are offsets in the header, and an error cannot
reach the next declaration. The tokens only tell where each declaration and each argument begins and ends.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from .lexer import PREFIXES, WORD, Lexed
from .model import NUMBER_TYPES, TENSOR_TYPES
from .tags import Declaration, Parameter

STATE_TYPE = "THNNState*"
GENERATOR_TYPE = "THGenerator*"
SCALAR_TYPES = frozenset({*NUMBER_TYPES, "real", "float"})
TYPES = TENSOR_TYPES | SCALAR_TYPES | {STATE_TYPE, GENERATOR_TYPE}

#: Types that are not C keywords; pycparser has to know them as typedefs.
_TYPEDEFS = frozenset(t.rstrip("*") for t in TYPES) - {"int", "long", "double", "float"}

#: Limit for nested parentheses, for consecutive pairs of parentheses, and for stars in an argument: the parser is
#: recursive, and its time is quadratic or exponential in these numbers.
_MAX_NESTING = 8

_WRAPPED_NAME = re.compile(r"\bTHNN_\s*\(\s*([A-Za-z_]\w*)\s*\)(?=\s*\()", re.ASCII)
_EXPORT = re.compile(r"\b(?:TH_API|TH_EXTERNC)\b", re.ASCII)
_NO_RESULT = re.compile(r"\s*(?!void\b)\w+\s*\(", re.ASCII)
_PARSE_ERROR = re.compile(r":2:(?P<column>\d+): (?P<message>.*)", re.DOTALL)


def declarations(lexed: Lexed) -> Iterator[Declaration]:
    """The functions that the header declares; all other declarations are errors, except typedefs of known types."""
    parser = _Parser(lexed)
    for span in _spans(lexed):
        declaration = parser.declaration(span)
        if declaration is not None:
            yield declaration


@dataclass(slots=True)
class _Span:
    """The tokens of a declaration without its ';', and the tokens inside its last pair of parentheses, split at
    commas."""

    first: int
    last: int
    arguments: list[tuple[int, int]]


def _spans(lexed: Lexed) -> Iterator[_Span]:
    first = 0
    while first < len(lexed.tokens):
        if lexed.text(first) == ";":
            first += 1
            continue
        span = _span(lexed, first)
        yield span
        first = span.last + 1


def _span(lexed: Lexed, first: int) -> _Span:
    """The declaration that begins at a token.

    It ends before a ';'. A declaration without return type, as `repr` of a function writes it, may also end with ')'.
    """
    span = _Span(first, first, [])
    opening: list[int] = []
    start = stars = pairs = 0
    for i in range(first, len(lexed.tokens)):
        text = lexed.text(i)
        if text == ";" or (opening and text in PREFIXES):
            break
        span.last = i
        stars = 0 if text == "," else stars + (text == "*")
        if text == "(":
            opening.append(i)
            if len(opening) == 1:
                start, span.arguments = i + 1, []
                pairs += 1
        elif text == "," and len(opening) == 1:
            span.arguments.append((start, i - 1))
            start = i + 1
        elif text == ")" and opening:
            opening.pop()
            if not opening:
                span.arguments.append((start, i - 1))
                if lexed.text(i + 1) != "(":
                    break
        if max(stars, pairs, len(opening)) > _MAX_NESTING:
            lexed.fail(i, f"too many {text!r}: at most {_MAX_NESTING} are understood")
    if opening:
        lexed.fail(opening[0], "the parenthesis is not closed")
    if lexed.text(span.last + 1) != ";" and lexed.text(first + 1) != "(":
        lexed.fail(span.last, "';' is missing after the declaration")
    return span


class _Parser:
    def __init__(self, lexed: Lexed) -> None:
        self._lexed = lexed
        self._parser = CParser()
        # Offset of the declaration that is being parsed, and the names that are types in it.
        self._start = 0
        self._types = _TYPEDEFS

    def declaration(self, span: _Span) -> Declaration | None:
        """The function that a declaration declares, None for a typedef of a known type."""
        lexed = self._lexed
        node = self._parse(span)
        if isinstance(node, c_ast.Typedef):
            if node.name not in _TYPEDEFS or not isinstance(node.type, c_ast.TypeDecl):
                lexed.fail(span.first, "only typedefs of the library's own types are understood")
            return None
        if not isinstance(node, c_ast.Decl) or not isinstance(node.type, c_ast.FuncDecl):
            lexed.fail(span.first, "this is not a declaration of a function")
        if node.storage not in ([], ["extern"]) or node.funcspec or node.align or node.quals:
            lexed.fail(span.first, "a function has no specifiers but extern and void")
        self._check_result(node.type.type)
        function = node.name
        if function == "THNN_":
            self._fail(node.type.type, "expected THNN_(name)(arguments)")
        if len(function) > 5:
            function = function.removeprefix("THNN_")
        last = span.last + (lexed.text(span.last + 1) == ";")
        return Declaration(
            span.first,
            self._token(node.type.type),
            last,
            function,
            self._parameters(node.type, span, function),
        )

    def _parse(self, span: _Span) -> Any:
        """The syntax tree of a declaration."""
        lexed = self._lexed
        self._start = lexed.tokens[span.first].start
        last = lexed.tokens[span.last]
        code = lexed.code[self._start : last.start + len(last.text)]
        # Blanks replace the wrapper, so that names keep their columns.
        code = _WRAPPED_NAME.sub(
            lambda m: " " * (m.start(1) - m.start()) + m[1] + " " * (m.end() - m.end(1)), code
        )
        code = _EXPORT.sub(lambda m: " " * len(m[0]), code)
        code = re.sub(r"\s", " ", code)
        self._types = _TYPEDEFS | self._unknown_types(span)
        head = f"typedef int {', '.join(self._types)};"
        if _NO_RESULT.match(code):
            head += " void"
        try:
            nodes = self._parser.parse(f"{head}\n{code};").ext[len(self._types) :]
        except ParseError as error:
            self._fail_syntax(span, str(error))
        except RecursionError:
            lexed.fail(span.first, "the declaration is nested too deeply")
        if len(nodes) != 1:
            lexed.fail(span.first, "this is not a declaration of a function")
        return nodes[0]

    def _unknown_types(self, span: _Span) -> set[str]:
        """Unknown words where a type belongs. pycparser reads them as types, so that the error can name the type."""
        lexed = self._lexed
        found: set[str] = set()
        for first, last in [(span.first, span.last), *span.arguments]:
            i = first
            while i < last and lexed.text(i) in ("const", *PREFIXES):
                i += 1
            word = lexed.text(i)
            if i < last and (lexed.text(i + 1) == "*" or lexed.is_word(i + 1)) and lexed.is_word(i):
                found.add(word)
        return {word for word in found - _TYPEDEFS - {"int", "void", "THNN_"} if self._is_identifier(word)}

    def _begins_with_type(self, first: int, last: int) -> bool:
        lexed = self._lexed
        if lexed.text(first) in self._types:
            return True
        end = lexed.tokens[last]
        argument = lexed.code[lexed.tokens[first].start : end.start + len(end.text)]
        try:
            self._parser.parse(f"void f(int first, {argument});")
        except ParseError:
            return False
        return True

    def _is_identifier(self, word: str) -> bool:
        """True for a word that is not a C keyword."""
        try:
            return [node.name for node in self._parser.parse(f"int {word};").ext] == [word]
        except ParseError:
            return False

    def _fail_syntax(self, span: _Span, text: str) -> NoReturn:
        for first, _ in span.arguments:
            if self._lexed.tokens[first].text == "...":
                self._lexed.fail(first, "variadic functions are not understood")
        match = _PARSE_ERROR.fullmatch(text)
        if match is not None:
            found = match["message"].removeprefix("before: ")
            message = f"unexpected {found!r}" if found != match["message"] else found[:1].lower() + found[1:]
            self._lexed.source.fail(self._start + int(match["column"]) - 1, message)
        # An error without a location: a type is missing.
        for first, last in span.arguments:
            if first > last or not self._begins_with_type(first, last):
                self._lexed.fail(first, "expected an argument with type and name")
        self._lexed.fail(span.first, "this is not a declaration of a function")

    # From pycparser's nodes to types and names

    def _offset(self, node: Any) -> int:
        # Line 1 has the typedefs, and the `void` of a declaration without a return type.
        return self._start + (int(node.coord.column) - 1 if node.coord.line == 2 else 0)

    def _token(self, node: Any) -> int:
        return bisect_left(self._lexed.starts, self._offset(node))

    def _fail(self, node: Any, message: str) -> NoReturn:
        self._lexed.source.fail(self._offset(node), message)

    def _is_implied(self, node: Any) -> bool:
        """Whether a type is the int that C implies where none is written."""
        word = WORD.match(self._lexed.code, self._offset(node))
        return node.names == ["int"] and (word is None or word[0] != "int")

    def _check_result(self, result: Any) -> None:
        stars = ""
        while not isinstance(result, c_ast.TypeDecl):
            result, stars = result.type, stars + "*"
        spelled = _spelled(result.type) + stars
        if spelled != "void":
            self._fail(result.type, f"a function must return void, not {spelled!r}")

    def _parameters(self, declared: Any, span: _Span, function: str) -> list[Parameter]:
        nodes = declared.args.params if declared.args is not None else []
        if len(nodes) == 1 and isinstance(nodes[0], c_ast.Typename) and _is_void(nodes[0].type):
            nodes = []
        parameters: list[Parameter] = []
        names: set[str] = set()
        if nodes and len(nodes) != len(span.arguments):
            self._lexed.fail(span.first, "this is not a declaration of a function")
        for node, (first, last) in zip(nodes, span.arguments):
            parameter = Parameter(function, first, last, *self._type_and_name(node, first, function))
            if parameter.name in names:
                self._lexed.fail(last, f"argument {parameter.name!r} is named twice")
            names.add(parameter.name)
            parameters.append(parameter)
        return parameters

    def _type_and_name(self, node: Any, first: int, function: str) -> tuple[str, str]:
        lexed = self._lexed
        if isinstance(node, c_ast.EllipsisParam):
            lexed.fail(first, f"{function}: variadic functions are not understood")
        where = f"{function}: " if node.name is None else f"{function}: {node.name}: "
        if isinstance(node, c_ast.ID):
            lexed.fail(first, f"{where}the argument has no type")
        base, star, quals = node.type, "", set(node.quals)
        while not isinstance(base, c_ast.TypeDecl):
            if isinstance(base, c_ast.FuncDecl):
                lexed.fail(first, f"{where}an argument cannot be a function")
            if star and isinstance(base.type, c_ast.TypeDecl):
                lexed.fail(first, f"{where}an argument cannot be a pointer to a pointer")
            quals |= set(base.quals)
            base, star = base.type, "*"
        if isinstance(base.type, c_ast.IdentifierType) and self._is_implied(base.type):
            lexed.fail(first, f"{where}the argument has no type")
        spelled = _spelled(base.type) + star
        if spelled not in TYPES:
            other = spelled.rstrip("*") if star else spelled + "*"
            expected = f"expected {', '.join(sorted(TENSOR_TYPES) if star else NUMBER_TYPES)}"
            hint = f"did you mean {other!r}?" if other in TYPES else expected
            lexed.fail(first, f"{where}unknown type {spelled!r}; {hint}")
        if node.name is None:
            lexed.fail(first, f"{where}the argument has no name")
        if node.name in _TYPEDEFS:
            self._fail(base, f"{node.name!r} cannot be the name of an argument")
        if (
            quals - {"const"}
            or getattr(node, "storage", None)
            or getattr(node, "funcspec", None)
            or node.align
        ):
            lexed.fail(first, f"{where}an argument has no specifiers but const")
        return spelled, node.name


def _spelled(node: Any) -> str:
    """A type as C spells it: 'unsigned int', 'struct foo'."""
    if isinstance(node, c_ast.IdentifierType):
        return " ".join(node.names)
    return f"{type(node).__name__.lower()} {node.name}"


def _is_void(node: Any) -> bool:
    return isinstance(node, c_ast.TypeDecl) and _spelled(node.type) == "void" and not node.quals
