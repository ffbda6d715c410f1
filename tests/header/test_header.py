"""The header parser: what it reads, what it refuses and where, what it makes of the 191 functions of 2017."""

from __future__ import annotations

import pickle
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thnn._header import (
    BACKWARD_SCALARS,
    Argument,
    Function,
    HeaderError,
    Location,
    group_modules,
    parse_header,
    parse_header_text,
)

THNN_2017 = Path(__file__).resolve().parent.parent / "data" / "thnn_2017.h"


@pytest.fixture(scope="module")
def functions() -> dict[str, Function]:
    return {f.name: f for f in parse_header(THNN_2017)}


def parse_one(text: str) -> Function:
    (function,) = parse_header_text(text, "h")
    return function


def flags(function: Function) -> dict[str, str]:
    """The arguments that carry something besides type and name, in a few letters."""
    marks = {
        a.name: ("o" if a.is_optional else "")
        + ("m" if a.is_modified else "")
        + (f"={a.like}" if a.like else "")
        for a in function.arguments
    }
    return {name: mark for name, mark in marks.items() if mark}


# The model


def test_function() -> None:
    text = (
        "TH_API void THNN_(Foo_Bar_updateOutput)(\n    THNNState *state,\n    const THTensor *input, int kW);"
    )
    f = parse_one(text)
    assert repr(f) == "Foo_Bar_updateOutput(THNNState* state, THTensor* input, int kW)"
    assert (f.module, f.phase) == ("Foo_Bar", "updateOutput")
    assert f.location == Location("h", 1, 19)
    assert [a.location for a in f.arguments] == [
        Location("h", 2, 5),
        Location("h", 3, 5),
        Location("h", 3, 28),
    ]
    assert str(f.location) == "h:1:19"
    assert [a.role for a in f.arguments] == ["state", "input", "scalar"]
    assert f.tensors() == f.tensors("input", "output") == (f.argument("input"),)
    assert f.scalars == (f.argument("kW"),)
    assert f.argument("nothing") is None
    assert f == parse_one("\n\n// moved and documented\n" + text)
    assert hash(f) == hash(parse_one("\n" + text))
    assert pickle.loads(pickle.dumps(f)) == f
    with pytest.raises(AttributeError):
        f.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "module", "phase"),
    [
        ("Abs_updateOutput", "Abs", "updateOutput"),
        ("unfolded_acc", "unfolded", "acc"),
        ("f", "f", ""),
        ("_", "_", ""),
    ],
)
def test_module_and_phase(name: str, module: str, phase: str) -> None:
    f = parse_one(f"void {name}(void);")
    assert (f.module, f.phase) == (module, phase)


@pytest.mark.parametrize(
    ("name", "of"),
    [("gradWeight", "weight"), ("gradInput", "input"), ("gradient", None), ("grad", None), ("x", None)],
)
def test_gradient_of(name: str, of: str | None) -> None:
    assert Argument("THTensor*", name, False, "buffer", Location("h", 1, 1)).gradient_of == of


def test_modules(functions: dict[str, Function]) -> None:
    modules = group_modules(functions.values())
    assert len(modules) == 82
    linear = modules["Linear"]
    assert list(linear.functions) == ["updateOutput", "updateGradInput", "accGradParameters"]
    assert linear.forward is functions["Linear_updateOutput"]
    assert linear.backwards == (linear.grad_input, linear.acc_grad_parameters)
    assert linear.backward is None
    assert not linear.is_criterion
    bn = modules["BatchNormalization"]
    assert bn.backwards == (bn.backward,) == (functions["BatchNormalization_backward"],)
    criterions = [m.name for m in modules.values() if m.is_criterion]
    assert len(criterions) == 11
    assert all(name.endswith("Criterion") for name in criterions)
    assert modules["LookupTable"].forward is None
    f = parse_one("void Foo_updateOutput(THTensor *input, THTensor *target, THTensor *output);")
    assert group_modules([f])["Foo"].is_criterion


# Styles

STYLES = {
    "2017": """
        TH_API void THNN_(A_updateOutput)(
                  THNNState *state,            // library's state
                  THTensor *input,             // input, values in [0,1]
                  THTensor *output,            // [OUT] output
                  THTensor *bias,              // [OPTIONAL] bias [N]
                  bool inplace);""",
    "one line": "void A_updateOutput(THNNState*state,THTensor*input,THTensor*output,"
    "THTensor*bias/*[OPTIONAL]*/,bool inplace);",
    "repr": "A_updateOutput(THNNState* state, THTensor* input, THTensor* output, "
    "THTensor* bias /*[optional]*/, bool inplace)",
    "before": """
        TH_EXTERNC void THNN_(A_updateOutput)(
            THNNState * state, const THTensor *input, THTensor* const output,
            /* [OPTIONAL] the
               bias */
            THTensor *bias,
            bool inplace)
        ;""",
    "after a comma": "void A_updateOutput(THNNState *state, THTensor *input, THTensor *output,\n"
    "  THTensor *bias, // [OPTIONAL]\n  bool inplace);",
    "several on a line": "void A_updateOutput(THNNState *state, THTensor *input, // prose\n"
    "  THTensor *output, THTensor *bias, // [OPTIONAL]\n  bool inplace);",
    "before on the line": "void A_updateOutput(THNNState *state, THTensor *input, THTensor *output,"
    " /* [OPTIONAL] */ THTensor *bias, bool inplace);",
    "inside": "extern void A_updateOutput(THNNState *state, THTensor *input, THTensor *output,"
    " THTensor /* [OPTIONAL] */ *bias, bool inplace);",
    "second line": """
        void A_updateOutput(THNNState *state, THTensor *input, THTensor *output,
            THTensor *bias,   // the bias,
                              // [OPTIONAL]
            bool inplace);""",
    "comma first": """
        void A_updateOutput(
            THNNState *state
          , THTensor *input
          , THTensor *output
          , THTensor *bias  // [OPTIONAL]
          , bool inplace
        );""",
    "guards": """
        #ifndef GUARD /* [NOTATAG] */
        #define GUARD(x) \\
            junk ( x
        typedef struct THNNState THNNState;
        typedef long THIndex_t;
        #ifdef __cplusplus
        extern "C" {
        #endif
        #if 0
        what is /* this ( */
        #elif defined(X)
        ;
        #endif
        TH_API void THNN_(A_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
        #ifdef X
            THTensor *bias,  // [OPTIONAL]
        #endif
            bool inplace);
        #if defined(__cplusplus)
        }
        #endif
        #endif""",
    "continued": "void A_updateOutput(THNNState *state, \\\n  THTensor *input, THTensor *output, \\\n"
    "  THTensor *bias, /* [OPTIONAL] */ \\\n bool inplace);",
}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("style", STYLES)
def test_styles(style: str, end: str, tmp_path: Path) -> None:
    text = textwrap.dedent(STYLES[style]).replace("\n", end)
    (f,) = parse_header_text(text)
    assert repr(f) == (
        "A_updateOutput(THNNState* state, THTensor* input, THTensor* output, THTensor* bias, bool inplace)"
    )
    assert flags(f) == {"bias": "o"}
    path = tmp_path / "h"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert parse_header(path) == [f]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void f(int a, int b); // [OPTIONAL]", {"b": "o"}),
        ("void f(int a, // [OPTIONAL]\n  int b);", {"a": "o"}),
        ("void f(int a /* [OPTIONAL] */, int b);", {"a": "o"}),
        ("void f(int a, /* [OPTIONAL] */ int b);", {"b": "o"}),
        ("void f(int a, /* [OPTIONAL] */\n int b);", {"a": "o"}),
        ("void f(/* [OPTIONAL] */ int a, int b);", {"a": "o"}),
        ("void f( // [OPTIONAL]\n int a, int b);", {"a": "o"}),
        ("void f(int a,\n // [OPTIONAL]\n\n // b\n int b);", {"b": "o"}),
        ("void f(int a\n  // [OPTIONAL]\n  , int b);", {"a": "o"}),
        ("f(int a, int b) // [OPTIONAL]\n", {"b": "o"}),
        ("void f(int a, int b /* prose [OPTIONAL\n] [ OPTIONAL ] [N,C] [n] [NC] [] [a tag] */);", {"b": "o"}),
        ("// [OPTIONAL] [NOTATAG]\nvoid f(int a, int b);\n// [OPTIONAL]\n", {}),
        (
            "void f(THTensor *input // [MODIFIED] [OPTIONAL]\n, THTensor *output /*[out][like input]*/);",
            {"input": "om", "output": "=input"},
        ),
    ],
)
def test_tags_belong_to_one_argument(text: str, expected: dict[str, str]) -> None:
    assert flags(parse_one(text)) == expected


@pytest.mark.parametrize(
    ("comments", "doc"),
    [
        ("// One.\n//   Two.\n//\n// Three.\n", "One.\n  Two.\n\nThree."),
        ("/* One. */\n", "One."),
        ("/** One.\n *   Two.\n *\n * Three.\n */\n", "One.\n  Two.\n\nThree."),
        ("/*\n   One.\n     Two.\n*/\n", "One.\n  Two."),
        ("// far\n\n// near\n", "near"),
        ("// far\n\n", ""),
        ("void g(int a); // of g\n", ""),
        ("#define X // of X\n", ""),
        ("/* One */ ", "One"),
        ("", ""),
    ],
)
def test_doc(comments: str, doc: str) -> None:
    assert parse_header_text(comments + "void f(int a);")[-1].doc == doc


def test_repetition_is_accepted_once() -> None:
    text = "void f(int a); // [OPTIONAL]\n"
    assert len(parse_header_text(text + "// again\n" + text)) == 1


def test_empty_header() -> None:
    assert parse_header_text("") == parse_header_text("// nothing\n#define X\n;") == []


# Roles


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # an old coarse tag does not win over a conventional name, a role tag does
        ("void A_updateOutput(THTensor *total_weight /*[BUFFER]*/);", {"total_weight": "saved"}),
        ("void A_updateOutput(THTensor *total_weight /*[INPUT]*/);", {"total_weight": "input"}),
        ("void A_updateOutput(THTensor *finput /*[OUT]*/);", {"finput": "buffer"}),
        ("void A_updateOutput(THTensor *foo /*[BUFFER] [SAVED]*/);", {"foo": "saved"}),
        (
            "void A_updateOutput(THTensor *foo /*[OUT]*/, THTensor *bar /*[BUFFER]*/);",
            {"foo": "output", "bar": "buffer"},
        ),
        # indices: made by a pooling, given to an unpooling or to a backward alone
        ("void A_updateOutput(THIndexTensor *indices);", {"indices": "saved"}),
        ("void AUnpooling_updateOutput(THIndexTensor *indices);", {"indices": "input"}),
        ("void A_updateGradInput(THIndexTensor *indices);", {"indices": "input"}),
        ("void A_updateGradInput(THIndexTensor *indices); // [SAVED]", {"indices": "saved"}),
        # the gradient of a thing has the role of that thing, and a number at the end says nothing
        (
            "void A_backward(THTensor *grid, THTensor *gradGrid, THTensor *gradBias2);",
            {"grid": "input", "gradGrid": "gradInput", "gradBias2": "gradParameter"},
        ),
        (
            "void A_backward(THTensor *foo /*[PARAMETER]*/, THTensor *gradFoo);",
            {"foo": "parameter", "gradFoo": "gradParameter"},
        ),
        (
            "void A_backward(THTensor *gradFoo /*[GRADINPUT]*/, THTensor *gradOutputCell,"
            " THTensor *gradWeightBuf);",
            {"gradFoo": "gradInput", "gradOutputCell": "gradOutput", "gradWeightBuf": "buffer"},
        ),
        (
            "void A_updateOutput(THTensor *foo /*[TARGET]*/, THGenerator *generator,"
            " THNNState *state, real x);",
            {"foo": "target", "generator": "generator", "state": "state", "x": "scalar"},
        ),
    ],
)
def test_role(text: str, expected: dict[str, str]) -> None:
    assert {a.name: a.role for a in parse_one(text).arguments} == expected


def test_backward_has_the_roles_of_the_forward() -> None:
    backward, forward = parse_header_text(
        """
        void A_backward(THTensor *foo, THTensor *mask, THTensor *buffer, THTensor *gradFoo, THTensor *gradBar,
                        THIndexTensor *indices);
        void A_updateOutput(THTensor *foo,    // [INPUT]
                            THTensor *bar,    // [PARAMETER]
                            THTensor *mask,   // [SAVED]
                            THTensor *buffer, // [BUFFER]
                            THIndexTensor *indices);
        """
    )
    roles = {a.name: a.role for a in backward.arguments}
    assert roles == {
        "foo": "input",
        "mask": "saved",
        "buffer": "saved",
        "gradFoo": "gradInput",
        "gradBar": "gradParameter",
        "indices": "saved",
    }
    assert {a.name: a.role for a in forward.arguments}["buffer"] == "saved"
    assert parse_one(backward.declaration()) == backward
    assert parse_one(forward.declaration()) == forward


@pytest.mark.parametrize("name", sorted(BACKWARD_SCALARS))
def test_conventional_backward_scalars(name: str) -> None:
    scalar = BACKWARD_SCALARS[name]
    assert (scalar.tensor is None) == (scalar.dim is None) == (scalar.default is not None)
    text = "void A_updateOutput(THTensor *input, THTensor *output);\nvoid A_updateGradInput("
    assert len(parse_header_text(f"{text}THTensor *gradInput, int {name});")) == 2


# The header of 2017


def test_2017_is_read_whole(functions: dict[str, Function]) -> None:
    assert len(functions) == 191
    assert sum(len(f.arguments) for f in functions.values()) == 1697
    assert sum(a.is_optional for f in functions.values() for a in f.arguments) == 43
    assert sum(a.is_modified for f in functions.values() for a in f.arguments) == 2
    assert sum(f.arguments[0].role != "state" for f in functions.values()) == 2


def test_2017_roles(functions: dict[str, Function]) -> None:
    roles: dict[str, set[str]] = {}
    for f in functions.values():
        for a in f.tensors():
            roles.setdefault(a.role, set()).add(a.name)
    assert roles == {
        "input": {
            *(
                "input",
                "hidden",
                "hx",
                "cell",
                "cx",
                "storage",
                "grid",
                "connTable",
                "randomSamples",
                "indices",
            ),
            *("keys", "values", "sizes", "cumSumSizes", "runningKeys", "lastInput", "idx"),
        },
        "target": {"target"},
        "parameter": {"weight", "weights", "bias", "bias1", "bias2", "running_mean", "running_var"},
        "output": {"output", "outputCell", "cy"},
        "gradOutput": {"gradOutput", "gradOutputCell"},
        "gradInput": {
            "gradInput",
            "gradGrid",
            "gradInInput",
            "gradInHidden",
            "gradInputHx",
            "gradInGates",
            "gradInputCx",
        },
        "gradParameter": {"gradWeight", "gradBias"},
        "saved": {
            "indices",
            "total_weight",
            "save_mean",
            "save_std",
            "noise",
            "isTarget",
            "buffer",
            "storage",
        },
        "buffer": {
            *("finput", "fgradInput", "columns", "gradColumns", "ones", "addBuffer", "valuesBuffer"),
            *("gradWeightBuf", "gradWeightBuf2", "count", "sorted", "indices", "normalizedValues"),
        },
    }
    indices = {f.name: a.role for f in functions.values() for a in f.tensors() if a.name == "indices"}
    assert (
        indices["SpatialMaxPooling_updateOutput"] == indices["SpatialMaxPooling_updateGradInput"] == "saved"
    )
    assert indices["VolumetricMaxUnpooling_updateGradInput"] == "input"
    assert indices["LookupTable_accGradParameters"] == "buffer"


def test_2017_round_trips(functions: dict[str, Function]) -> None:
    for f in functions.values():
        assert parse_one(f.declaration()) == f
        assert repr(parse_one(repr(f))) == repr(f)
    declarations = "\n".join(f.declaration() for f in functions.values())
    assert parse_header_text(declarations) == list(functions.values())
    again = parse_header_text("\n".join(map(repr, functions.values())))
    assert [repr(f) for f in again] == [repr(f) for f in functions.values()]
    assert [[a.role for a in f.arguments] for f in again] == [
        [a.role for a in f.arguments] for f in functions.values()
    ]


# Refusals. «|» marks the culprit.

OUT = "THTensor *output"
FORWARD = f"void A_updateOutput(THTensor *input, THTensor *weight, {OUT}, int kW);\n"
ERRORS = {
    "unknown type": ("void f(int a,\n       |THFoo *x);", "unknown type 'THFoo*'"),
    "unknown number type": ("void f(|unsigned int x);", "unknown type 'unsigned int'"),
    "tensor by value": ("void f(|THTensor input);", "did you mean 'THTensor*'"),
    "pointer to a number": ("void f(const |int *x);", "did you mean 'int'"),
    "struct": ("void f(|struct foo *x);", "unknown type 'struct*'"),
    "missing type": ("void f(int a, |b);", "argument 'b' has no type"),
    "missing type with a star": ("void f(int a,\n\t|*b);", "argument 'b' has no type"),
    "missing name": ("void f(int a, |THTensor *);", "the argument has no name"),
    "missing name of a number": ("void f(|int);", "the argument has no name"),
    "type as a name": ("void f(int |THTensor);", "cannot be the name of an argument"),
    "keyword as a name": ("void f(int |for);", "C cannot read 'for'"),
    "missing comma": ("void f(THTensor *input |THTensor *output);", "is a ',' missing?"),
    "empty argument": ("void f(int a, |, int b);", "an argument is missing"),
    "trailing comma": ("void f(int a,\n       int b,\n  |);", "an argument is missing"),
    "only a comma": ("void f(|,);", "an argument is missing"),
    "named twice": ("void f(int a,\n  int b, THTensor *|a);", "argument 'a' is named twice"),
    "pointer to a pointer": ("void f(THTensor *|*input);", "a pointer to a pointer"),
    "pointer to a const pointer": ("void f(THTensor *const |*input);", "a pointer to a pointer"),
    "array": ("void f(int a|[2]);", "array"),
    "variadic": ("void f(int a, |...);", "variadic"),
    "pointer to a function": ("void f(void |(*g)(int));", "unexpected '('"),
    "not closed": ("void f|(int a;", "the parenthesis is not closed"),
    "not closed at the end": ("void f(int a);\n\nvoid THNN_(g)|(int a", "the parenthesis is not closed"),
    "not closed before the next": (
        "TH_API void THNN_(f)|(int a\nTH_API void THNN_(g)(int a);",
        "is not closed",
    ),
    "not closed in repr": ("f|(int a\ng(int b)", "the parenthesis is not closed"),
    "name not closed": ("void THNN_|(f(int a);", "the parenthesis is not closed"),
    "closed twice": ("void f(int a|));", "';' is missing"),
    "nested": ("void f(int a, |" + "(" * 100_000 + "int b" + ")" * 100_001 + ";", "unexpected '('"),
    "nested and not closed": ("void f|" + "(" * 100_000, "the parenthesis is not closed"),
    "many stars": ("void f(int *|" + "*" * 100_000 + "x);", "a pointer to a pointer"),
    "many conditions": ("#if 1\n" * 100_000 + "|#if 1\n", "the #if is not closed"),
    "missing semicolon": ("void f(int a|)\nvoid g(int a);", "';' is missing"),
    "a body": ("void f(int a|) {}", "';' is missing"),
    "not void": ("TH_API |int THNN_(f)(int a);", "must return void, not 'int'"),
    "pointer returned": ("|void *f(int a);", "must return void, not 'void *'"),
    "static": ("|static void f(int a);", "must return void, not 'static void'"),
    "no name": ("|(int a);", "expected the name of a function"),
    "a variable": ("|extern int x;", "no declaration of a function"),
    "words": ("void f(int a);\n  |hello", "no declaration of a function"),
    "typedef": ("|typedef int foo;", "typedef"),
    "a brace": ("|}", "unexpected '}'"),
    "extern C without a guard": ('extern |"C" {', "unexpected '\"'"),
    "non-ASCII": ("void f(int a, int |é);", "unexpected 'é'"),
    "after non-ASCII": ("void f(int a /* é */, |foo);", "has no type"),
    "long line": ("void f(" + "int a0123456789, " * 1 + " " * 5000 + "|foo);" + " " * 5000, "has no type"),
    "comment not closed": ("void f(int a); |/* foo", "the comment is not closed"),
    "else alone": ("\n |#else", "#else without #if"),
    "endif alone": ("#if 0\n#endif\n|#endif", "#endif without #if"),
    "if not closed": ("|#if 0\nvoid f(int a);", "the #if is not closed"),
    "NUL": ("void f(int a);\n //|\0", "NUL"),
    "declared twice": (
        "void f(int a);\nvoid |f(int b);",
        "declared twice with different arguments, first at h:1:6",
    ),
    "declared twice with other tags": ("void f(int a);\nvoid |f(int a /*[OPTIONAL]*/);", "declared twice"),
    "unknown tag": ("void f(THTensor *input); // and |[OPTOINAL]", "unknown tag [OPTOINAL]"),
    "tag without an argument": ("void f /* |[OPTIONAL] */ (int a);", "belongs to no argument"),
    "tag at the end": ("void f(int a\n  // |[OPTIONAL]\n);", "belongs to no argument"),
    "tag on a number": ("void f(int a); // |[INPUT]", "no tensor"),
    "contradiction": ("void f(THTensor *a); // [INPUT] |[TARGET]", "[TARGET] contradicts [INPUT]"),
    "contradiction of old and new": ("void f(THTensor *a); // [PARAMETER] |[BUFFER]", "contradicts"),
    "contradiction in two comments": ("void f(/*[SAVED]*/ THTensor *a); // |[INPUT]", "contradicts"),
    "like a later one": (
        "void f(THTensor *output /*[LIKE |input]*/, THTensor *input);",
        "no earlier argument",
    ),
    "like itself": ("void f(THTensor *output /*[LIKE |output]*/);", "no earlier argument"),
    "like a number": ("void f(int a, THTensor *output /*[LIKE |a]*/);", "no tensor"),
    "like on a number": ("void f(THTensor *input, int a /*[LIKE |input]*/);", "no tensor"),
    "like nothing": ("void f(THTensor *output /*|[LIKE]*/);", "expected [LIKE name]"),
    "like two": (
        "void f(THTensor *input, THTensor *target, THTensor *output /*[LIKE input] [LIKE |target]*/);",
        "contradicts",
    ),
    "no role": ("void f(THTensor *input,\n   |THTensor *foo);", "cannot tell the role of tensor 'foo'"),
    "no role of a gradient": ("void f(THTensor *input, |THTensor *gradWieght);", "cannot tell the role"),
    "unknown to the forward": (
        FORWARD + "void A_updateGradInput(THTensor *gradInput, |THTensor *bias);",
        "A_updateOutput neither takes nor makes 'bias'",
    ),
    "saved by nobody": (
        FORWARD + "void A_backward(THTensor *gradInput, |THTensor *noise);",
        "neither takes nor makes",
    ),
    "unknown scalar": (
        FORWARD + "void A_accGradParameters(THTensor *gradWeight, |int kH);",
        "does not take 'kH'",
    ),
    "unknown generator": (
        FORWARD + "void A_updateGradInput(|THGenerator *generator);",
        "does not take 'generator'",
    ),
    "before the forward": ("void A_updateGradInput(|int kH);\n" + FORWARD, "does not take 'kH'"),
    "other type": (FORWARD + "void A_updateGradInput(|THIndexTensor *input);", "has 'input' as 'THTensor*'"),
    "other role": (
        FORWARD + "void A_updateGradInput(|THTensor *weight /*[INPUT]*/);",
        "as parameter, not input",
    ),
}


def check_error(error: HeaderError, line: int, column: int, message: str) -> None:
    assert (error.location.line, error.location.column) == (line, column), error
    assert message in error.message
    head, *rest = str(error).split("\n")
    assert head == f"{error.location}: {error.message}"
    if rest:
        excerpt, caret = rest
        assert caret.strip() == "^"
        assert excerpt in error.source_line
        assert excerpt[: len(caret)][-1:] == error.source_line[column - 1 : column]
        assert len(str(error)) < 1000


@pytest.mark.parametrize("kind", ERRORS)
def test_error(kind: str) -> None:
    marked, message = ERRORS[kind]
    before, _, after = marked.partition("|")
    with pytest.raises(HeaderError) as caught:
        parse_header_text(before + after, "h")
    assert caught.value.location.file == "h"
    check_error(caught.value, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1, message)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_error_in_bytes(end: bytes, tmp_path: Path) -> None:
    path = tmp_path / "THNN.h"
    path.write_bytes(b"\xef\xbb\xbf// caf\xc3\xa9" + end + b"// \xc3\xa9 caf\xe9" + end)
    with pytest.raises(HeaderError) as caught:
        parse_header(path)
    check_error(caught.value, 2, 9, "0xe9 is not valid UTF-8")
    assert str(caught.value).startswith(f"{path}:2:9: ")


def test_error_of_a_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.h", tmp_path / "x\0y"):
        with pytest.raises(HeaderError, match="cannot read the header") as caught:
            parse_header(path)
        assert str(caught.value).startswith(f"{path}:1:1: ")
        assert str(caught.value).endswith("\n^")


def test_error_of_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "large.h"
    path.write_bytes(b"first\n" + b" " * (2 << 20))
    with pytest.raises(HeaderError, match=r"larger than 2 MiB\nfirst\n\^$"):
        parse_header(path)


def test_error_text_and_pickle() -> None:
    with pytest.raises(HeaderError) as caught:
        parse_header_text("TH_API void THNN_(f)(\n\tTHTensor *input,\n\tTHFoo *foo);\n", "THNN.h")
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == "THNN.h:3:2: unknown type 'THFoo*'\n\tTHFoo *foo);\n\t^"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# Whatever the text


def parses_or_refuses(text: str) -> None:
    try:
        functions = parse_header_text(text, "h")
    except HeaderError as error:
        check_error(error, error.location.line, error.location.column, "")
    else:
        for f in functions:
            assert parse_one(f.declaration()) == f


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


def test_a_huge_header(functions: dict[str, Function]) -> None:
    """2000 functions, with every token on one line: quadratic steps would not end here."""
    declarations = [f.declaration() for f in functions.values()] * 10
    text = "".join(d.replace("THNN_(", f"THNN_(M{i // 191}") for i, d in enumerate(declarations))
    assert len(parse_header_text(text)) == 1910
    one_line = " ".join(f"/* */ void f{i}(int a /* [OPTIONAL] */);" for i in range(2000))
    assert sum(f.arguments[0].is_optional for f in parse_header_text(one_line)) == 2000
    assert len(parse_header_text("/**/" * 50_000 + "void f(int a /*" + "[A" * 50_000 + "*/);")) == 1
    with pytest.raises(HeaderError, match=r"^h:1:1: unexpected"):
        parse_header_text('"\\' * 200_000, "h")
