"""The formulas of the comments of THNN.h as mathematics."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.built_tree import ROOT
from tools.formulas import NotAFormula, beginning, formulas_of, latex

FORMULAS = {
    "y = a * (b + c) / (d - 1)^2": r"y = \frac{a \cdot \left(b + c\right)}{\left(d - 1\right)^{2}}",
    "y = a - (b - c) + -x * z": r"y = a - \left(b - c\right) + -x \cdot z",
    "out[n, i*M + m] = min(|x|, floor(i / s))": r"\text{out}_{n, i \cdot M + m} = "
    r"\min\left(\left| x \right|, \left\lfloor \frac{i}{s} \right\rfloor\right)",
    "y += lambda * sum over k of w[k] * x + b": r"y \mathrel{+{=}} \lambda \cdot \sum_{k} w_{k} \cdot x + b",
    "y = (sum over k < w of x[k]^p)^(1/p)": r"y = \left(\sum_{k < w} x_{k}^{p}\right)^{1 / p}",
    "y = sum over i, j with i + j = 2 and j = k of x": r"y = \sum_{i, j} x, \quad i + j = 2, \quad j = k",
    "y = sum over the rows of bag b of x": r"y = \sum_{\text{the rows of bag b}} x",
    "y = 0 where -t <= x <= t, x where x > 9, else 1": r"y = \begin{cases} 0 & \text{where } -t \le x \le t \\ "
    r"x & \text{where } x > 9 \\ 1 & \text{else} \end{cases}",
    "y = max(0, x) where relu, else x": r"y = \begin{cases} \max\left(0, x\right) & \text{where } \text{relu} \\ "
    r"x & \text{else} \end{cases}",
    "y = x * u with u = max(x, 0) and 0 <= x < 1": r"y = x \cdot u, \quad u = \max\left(x, 0\right), \quad 0 \le x < 1",
}


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas(text: str) -> None:
    assert latex(text) == FORMULAS[text]


@pytest.mark.parametrize(
    "text", ["y = the largest x", "y = x where", "y = f(a)(b)", "y = x is z", "y = 'text'"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(NotAFormula):
        latex(text)


def test_a_formula_ends_where_words_begin() -> None:
    assert beginning("y = x, NaN where x < 0, as ever") == ("y = x", ", NaN where x < 0, as ever")
    with pytest.raises(NotAFormula):
        beginning("(r, z) = the blocks of x")


def test_blocks_have_a_formula_per_line_and_semicolon() -> None:
    block = "  y = a +\n      b;  z = c\n  in training: w = d\n  with d = 1"
    assert list(formulas_of(block)) == [
        ("", "y = a + b"),
        ("", "z = c"),
        ("in training:", "w = d with d = 1"),
    ]


def test_all_blocks_of_the_header_are_formulas() -> None:
    """The pages show a block that is not in the notation of formulas as it is."""
    pages = [p for p in Path(ROOT, "docs", "functions").glob("*.md") if p.name != "index.md"]
    assert pages and not [p.name for p in pages if "```text" in p.read_text(encoding="utf-8")]
    shown = sum(p.read_text(encoding="utf-8").count("```math") for p in pages)
    header = Path(ROOT, "generic", "THNN.h").read_text(encoding="utf-8")
    assert shown >= len(re.findall(r"^     \S+ \+?= ", header, re.MULTILINE))
