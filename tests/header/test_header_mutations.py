"""For any text, the header parser succeeds or raises an error with a location in the text, in linear time."""

from __future__ import annotations

import textwrap

import pytest
from headers import STYLES, THNN_2017, parse_one
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_header_errors import check_error

from thnn._header import HeaderError, parse_header, parse_header_text


def parses_or_refuses(text: str) -> None:
    try:
        functions = parse_header_text(text, "h")
    except HeaderError as error:
        check_error(error, error.location.line, error.location.column, "")
    else:
        for f in functions:
            try:
                assert parse_one(f.declaration()) == f
            except HeaderError as error:  # noqa: PERF203
                # A name that is spelled nearly as that of a forward is refused where the forward is missing.
                assert f"{f.name} is neither forward nor backward; did you mean" in str(error)  # noqa: PT017


SEED = (
    '#ifdef __cplusplus\nextern "C" {\n#endif\n'
    + "\n".join(textwrap.dedent(STYLES[s]) for s in ("2017", "before", "repr"))
    + """
// Backward of A [N,C].
TH_API void THNN_(A_updateGradInput)(
          THNNState *state, /* [OPTIONAL] */
          THTensor *gradOutput,        // [MODIFIED]
          THTensor *gradInput,         // [OUT] [LIKE gradOutput]
          const THTensor *bias, accreal scale); \\
typedef long THIndex_t;
void B_updateOutput(THIndexTensor *indices, THTensor *foo /*[SAVED]*/);
"""
)
PIECES = st.sampled_from(
    [
        *(
            "(",
            ")",
            ",",
            ";",
            "*",
            "[",
            "]",
            "{",
            "}",
            "=",
            "'",
            '"',
            "...",
            "9",
            "é",
            "\0",
            "\ufeff",
            "\u2028",
        ),
        *(
            "/*",
            "*/",
            "//",
            "\n",
            "\\\n",
            "\r",
            "\x0c",
            "#if 0\n",
            "#else\n",
            "#endif\n",
            "[OUT]",
            "[LIKE input]",
        ),
        *(
            "THNN_",
            "TH_API ",
            "void ",
            "const ",
            "int ",
            "THTensor *",
            "bool",
            "input",
            "typedef ",
            "extern ",
        ),
        *("_Static_assert(", "_Pragma(", "struct ", "(" * 5000, "*" * 5000, "/*" * 5000, "a" * 100_000),
    ]
)


@st.composite
def mutations(draw: st.DrawFn) -> str:
    text = SEED
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        kind = draw(st.sampled_from(["delete", "duplicate", "insert", "flip", "truncate"]))
        if kind == "delete":
            text = text[:start] + text[end:]
        elif kind == "duplicate":
            text = text[:end] + text[start:end] + text[end:]
        elif kind == "insert":
            text = text[:start] + draw(PIECES) + text[start:]
        elif kind == "flip" and start < len(text):
            text = text[:start] + chr(ord(text[start]) ^ (1 << draw(st.integers(0, 6)))) + text[start + 1 :]
        elif kind == "truncate":
            text = text[:start]
    return text


BOUNDED = settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])


@BOUNDED
@given(mutations())
def test_mutated_header(text: str) -> None:
    parses_or_refuses(text)


@BOUNDED
@given(st.lists(PIECES, max_size=30).map("".join))
def test_pieces(text: str) -> None:
    parses_or_refuses(text)


@BOUNDED
@given(st.binary(max_size=200) | mutations().map(lambda text: text.encode("utf-16")))
def test_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.h"
    path.write_bytes(data)
    try:
        parse_header(path)
    except HeaderError as error:
        check_error(error, error.location.line, error.location.column, "")


def test_a_huge_header() -> None:
    """A thousand functions with all tokens on one line, for which a quadratic algorithm would take too long."""
    declarations = [f.declaration() for f in parse_header(THNN_2017)] * 4
    text = "".join(d.replace("THNN_(", f"THNN_(M{i // 191}") for i, d in enumerate(declarations))
    assert len(parse_header_text(text)) == 764
    one_line = " ".join(f"/* */ void f{i}(THTensor *input /* [OPTIONAL] */);" for i in range(1000))
    assert sum(f.arguments[0].is_optional for f in parse_header_text(one_line)) == 1000
    assert len(parse_header_text("/**/" * 50_000 + "void f(int a /*" + "[A" * 50_000 + "*/);")) == 1
    with pytest.raises(HeaderError, match=r"^h:1:1: unexpected"):
        parse_header_text('"\\' * 200_000, "h")
