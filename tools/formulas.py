"""The formulas in comments of THNN.h as LaTeX, for the documentation.

A comment writes a formula as plain text: an indented block, or the first sentence after the name of a module. The
notation is that of Python, with ``^`` for powers and ``|x|`` for absolute values, and these words:

- ``a where c, b where d, else e``: one case per condition;
- ``sum over i, j of t``: t extends to the next ``+``, ``-`` or comma outside of parentheses; also ``max over``;
- ``f with x = a, y = b and z = c``: definitions after the formula.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from typing import Final

# The range may be words that have an "of" themselves, "the entries of row n".
_OVER = re.compile(r"\b(sum|max) over (the \w+ of .+?|.+?)(?: with (.+?))? of\s+")
_EQUALS = re.compile(r"(?<![<>!=+])(\+?=)(?!=)")
_COMPARISONS: Final = {
    ast.Lt: "<",
    ast.LtE: r"\le",
    ast.Gt: ">",
    ast.GtE: r"\ge",
    ast.NotEq: r"\ne",
    ast.Eq: "=",
}
_GREEK: Final = {
    "alpha": r"\alpha",
    "beta": r"\beta",
    "lambda_": r"\lambda",
    "pi": r"\pi",
    "eps": r"\varepsilon",
}
_FENCES: Final = {"abs": ("|", "|"), "floor": (r"\lfloor", r"\rfloor")}
_NAMED: Final = ("exp", "log", "max", "min", "tanh")
_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)  # how tightly the operators bind


class NotAFormula(ValueError):
    """The text is not in the notation of formulas."""


def latex(text: str) -> str:
    """The LaTeX of a formula, ``output = input * weight^T + bias``.

    Raises NotAFormula for a text in another notation.
    """
    definitions: list[str] = []
    main = _without_conditions(" ".join(text.split()), definitions)
    main, *after = re.split(r",? with ", main, maxsplit=1)
    lines = [_statement(main)]
    for clause in (*definitions, *after):
        lines += [_statement(part) for part in re.split(r",? and |, (?![^(\[]*[)\]])", clause)]
    return r", \quad ".join(lines)


def formulas_of(block: str) -> Iterator[tuple[str, str]]:
    """The formulas of an indented block of a comment, each with the words before it, ``training:`` or none."""
    margin = min(len(line) - len(line.lstrip()) for line in block.splitlines())
    lines: list[str] = []
    for line in block.splitlines():
        if lines and (line[margin].isspace() or line.startswith("with ", margin)):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line.strip())
    for formula in (f for line in lines for f in re.split(r";\s+", line.removesuffix(";"))):
        label = re.match(r"((?:[a-z_]+ )*[a-z_]+:)\s+", formula)
        yield (label[1], formula[label.end() :]) if label else ("", formula)


def beginning(text: str) -> tuple[str, str]:
    """The LaTeX of the longest beginning of a text, up to a comma, that is a formula, and the rest of the text.

    Raises NotAFormula if no beginning is one.
    """
    least = 0 if (equals := _EQUALS.search(text)) is None else equals.end()
    cuts = [m.start() for m in re.finditer(r"[,;] ", text) if m.start() > least]
    for cut in (len(text), *reversed(cuts)):
        with contextlib.suppress(NotAFormula):
            return latex(text[:cut]), text[cut:]
    raise NotAFormula(f"{text!r} does not begin with a formula")


def _without_conditions(text: str, definitions: list[str]) -> str:
    """The text without the conditions of its sums, ``sum over i with Y = y + i of``, which become definitions."""

    def plain(match: re.Match[str]) -> str:
        if match[3]:
            definitions.append(match[3])
        return f"{match[1]} over {match[2]} of "

    return _OVER.sub(plain, text)


def _statement(text: str) -> str:
    equals = _EQUALS.search(text)
    if equals is None:
        return _expression(text)
    sign = "=" if equals[1] == "=" else r"\mathrel{+{=}}"
    return f"{_expression(text[: equals.start()])} {sign} {_cases(text[equals.end() :])}"


def _cases(text: str) -> str:
    if " where " not in text:
        return _expression(text)
    parts = [""]
    for piece in re.split(r"(, )", text):
        whole = parts[-1].count("(") == parts[-1].count(")")
        if piece == ", " and whole and " where " in parts[-1]:
            parts.append("")
        else:
            parts[-1] += piece
    *conditional, other = parts
    if not conditional or not other.startswith("else "):
        raise NotAFormula(f"{text!r} does not end with else")
    rows = []
    for part in conditional:
        value, _, condition = part.partition(" where ")
        rows.append(rf"{_expression(value)} & \text{{where }} {_expression(condition)}")
    rows.append(rf"{_expression(other.removeprefix('else '))} & \text{{else}}")
    return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


def _expression(text: str) -> str:
    """The LaTeX of an expression without the words of `latex`, except ``sum over``."""
    return _of(_parsed(text))[0]


def _parsed(text: str) -> ast.expr:
    python = re.sub(r"\|([^|]+)\|", r"abs(\1)", text).replace("^", "**")
    python = re.sub(r"\blambda\b", "lambda_", python)
    while (over := _last_over(python)) is not None:
        start, end, term = over
        end_of_term = _end_of_term(python, end)
        python = f"{python[:start]}OVER({term}, {python[end:end_of_term]}){python[end_of_term:]}"
    try:
        return ast.parse(python.strip(), mode="eval").body
    except SyntaxError:
        raise NotAFormula(f"{text!r} is not an expression") from None


def _last_over(text: str) -> tuple[int, int, str] | None:
    """The beginning and the end of the last ``sum over i of``, and the first arguments of the call that replaces it."""
    found = [m for m in _OVER.finditer(text) if "OVER(" not in m[2]]
    if not found:
        return None
    last = found[-1]
    return last.start(), last.end(), f"{last[1]!r}, {last[2]!r}"


def _end_of_term(text: str, start: int) -> int:
    """The end of the product that begins at a position."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "([") - (text[i] in ")]")
        if depth < 0 or (depth == 0 and (text.startswith((" + ", " - "), i) or text[i] == ",")):
            return i
    return len(text)


def _of(node: ast.expr, inline: bool = False) -> tuple[str, int]:
    """The LaTeX of an expression, and how tightly its outermost operator binds; fractions are inline in indices."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return repr(number), _ATOM
        case ast.Constant(value=value) if value is ...:
            return r"\ldots", _ATOM
        case ast.Name(id=name):
            return _name(name), _ATOM
        case ast.Subscript(value=value, slice=index):
            return f"{_within(value, _ATOM)}_{{{_list(index)}}}", _ATOM
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"-{_within(operand, _PRODUCT, inline)}", _SIGN
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
            plus = "+" if isinstance(sign, ast.Add) else "-"
            after = _SUM if isinstance(sign, ast.Add) else _PRODUCT
            return f"{_within(left, _SUM, inline)} {plus} {_within(right, after, inline)}", _SUM
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return rf"{_within(left, _PRODUCT, inline)} \cdot {_within(right, _PRODUCT, inline)}", _PRODUCT
        case ast.BinOp(left=left, op=ast.Div(), right=right) if inline:
            return f"{_within(left, _PRODUCT, True)} / {_within(right, _SIGN, True)}", _PRODUCT
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return rf"\frac{{{_of(left)[0]}}}{{{_of(right)[0]}}}", _PRODUCT
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return f"{_within(left, _ATOM)}^{{{_of(right, True)[0]}}}", _POWER
        case ast.Compare(left=left, ops=operators, comparators=others) if {*map(type, operators)} <= {
            *_COMPARISONS
        }:
            parts = [_of(left, inline)[0]]
            for operator, other in zip(operators, others):
                parts += [_COMPARISONS[type(operator)], _of(other, inline)[0]]
            return " ".join(parts), _SUM - 1
        case ast.Tuple():
            return rf"\left({_list(node)}\right)", _ATOM
        case ast.Call(
            func=ast.Name(id="OVER"),
            args=[ast.Constant(value=str(kind)), ast.Constant(value=str(over)), term],
        ):
            return rf"\{kind}_{{{_range(over)}}} {_within(term, _PRODUCT, inline)}", _PRODUCT
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, arguments, inline), _ATOM
    raise NotAFormula(f"{ast.unparse(node)!r} has no LaTeX")


def _within(node: ast.expr, least: int, inline: bool = False) -> str:
    """The LaTeX of an operand, in parentheses unless its operator binds at least so tightly."""
    text, binds = _of(node, inline)
    return text if binds >= least else rf"\left({text}\right)"


def _list(node: ast.expr) -> str:
    return ", ".join(_of(e, True)[0] for e in (node.elts if isinstance(node, ast.Tuple) else [node]))


def _range(over: str) -> str:
    """The LaTeX below the sign of a sum: indices, a comparison, or words."""
    try:
        return _list(_parsed(over))
    except NotAFormula:
        return rf"\text{{{over}}}"


def _name(name: str) -> str:
    if name in _GREEK:
        return _GREEK[name]
    return name if len(name) == 1 else rf"\text{{{name}}}".replace("_", r"\_")


def _call(name: str, arguments: list[ast.expr], inline: bool) -> str:
    inside = ", ".join(_of(a, inline)[0] for a in arguments)
    if name == "sqrt":
        return rf"\sqrt{{{inside}}}"
    if name in _FENCES:
        left, right = _FENCES[name]
        return rf"\left{left} {inside} \right{right}"
    function = f"\\{name}" if name in _NAMED else _name(name)
    return rf"{function}\left({inside}\right)"
