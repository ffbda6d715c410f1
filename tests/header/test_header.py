"""The header parser: styles, tags, roles, and the 191 functions of 2017."""

from __future__ import annotations

import pickle
import textwrap
from pathlib import Path

import pytest
from headers import STYLES, THNN_2017, parse_one

from thnn._header import (
    Argument,
    Function,
    Location,
    Size,
    digest,
    group_modules,
    parse_header,
    parse_header_text,
)


@pytest.fixture(scope="module")
def functions() -> dict[str, Function]:
    return {f.name: f for f in parse_header(THNN_2017)}


def flags(function: Function) -> dict[str, str]:
    """The arguments with other attributes than type and name: o optional, m modified, =x like x."""
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
    assert Argument("THTensor*", name, "buffer").gradient_of == of


def test_function_in_a_notebook() -> None:
    text = "TH_API void THNN_(Foo_updateOutput)(THNNState *state, THTensor *input, THTensor *weight);  // [OPTIONAL]"
    table = parse_one(text)._repr_html_()
    assert '<th style="text-align: left">Foo_updateOutput</th>' in table
    row = "".join(
        f'<td style="text-align: left">{cell}</td>'
        for cell in ("weight", "THTensor*", "parameter", "optional")
    )
    assert f"<tr>{row}</tr>" in table
    assert "&lt;b&gt;" in Function("<b>", ())._repr_html_()


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
    assert len(criterions) == 12
    assert [name for name in criterions if not name.endswith("Criterion")] == ["L1Cost"]
    assert modules["LookupTable"].forward is None
    f = parse_one("void Foo_updateOutput(THTensor *input, THTensor *target, THTensor *output);")
    assert group_modules([f])["Foo"].is_criterion


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("style", STYLES)
def test_styles(style: str, end: str, tmp_path: Path) -> None:
    text = textwrap.dedent(STYLES[style]).replace("\n", end)
    (f,) = parse_header_text(text)
    assert repr(f) == (
        "A_updateOutput(THNNState* state, THTensor* input, THTensor* output, THTensor* bias, bool inplace)"
    )
    assert flags(f) == {"input": "m", "bias": "o"}
    path = tmp_path / "h"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert parse_header(path) == [f]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void f(THTensor *input, THTensor *bias); // [OPTIONAL]", {"bias": "o"}),
        ("void f(THTensor *input, // [OPTIONAL]\n  THTensor *bias);", {"input": "o"}),
        ("void f(THTensor *input /* [OPTIONAL] */, THTensor *bias);", {"input": "o"}),
        ("void f(THTensor *input, /* [OPTIONAL] */ THTensor *bias);", {"bias": "o"}),
        ("void f(THTensor *input, /* [OPTIONAL] */\n THTensor *bias);", {"input": "o"}),
        ("void f(/* [OPTIONAL] */ THTensor *input, THTensor *bias);", {"input": "o"}),
        ("void f( // [OPTIONAL]\n THTensor *input, THTensor *bias);", {"input": "o"}),
        ("void f(THTensor *input,\n // [OPTIONAL]\n\n // bias\n THTensor *bias);", {"bias": "o"}),
        ("void f(THTensor *input\n  // [OPTIONAL]\n  , THTensor *bias);", {"input": "o"}),
        ("f(THTensor *input, THTensor *bias) // [OPTIONAL]\n", {"bias": "o"}),
        (
            "void f(THTensor *input, THTensor *bias /* prose [x\n] [ OPTIONAL ] [N,C] [n] [NC] [] [a tag] */);",
            {"bias": "o"},
        ),
        ("void f(int a, // in [0, 1), (N, C] or [ n\n  int b);", {}),
        ("// [OPTIONAL] [NOTATAG]\nvoid f(int a, int b);\n// [OPTIONAL]\n", {}),
        (
            "void f(THTensor *input // [MODIFIED] [OPTIONAL]\n, THTensor *output /*[out][like input]*/);",
            {"input": "om", "output": "=input"},
        ),
    ],
)
def test_tags_belong_to_one_argument(text: str, expected: dict[str, str]) -> None:
    assert flags(parse_one(text)) == expected


def test_names_that_are_no_misspelt_phases() -> None:
    for name in (
        "A_updateOutput2",
        "A_accUpdateGradParameters",
        "A_updateParameters",
        "A_renorm",
        "A_updateGrad",
        "A_updateOutputGPU",
        "A_backwardIn",
    ):
        assert parse_one(f"void {name}(THTensor *input, THTensor *output /*[OUT]*/);").name == name
    # The module has a forward already.
    text = "(THTensor *input, THTensor *output /*[OUT]*/);"
    assert len(parse_header_text(f"void A_updateOutput{text} void A_updateOutputs{text}")) == 2


def test_prose_in_brackets() -> None:
    prose = (
        "[0, 1] [N, C] [a = 1] [OUT, IN, H, W] [input, target] [default] [default behaviour] [default: mean]"
        " [size: N] [size of input] [out: N] [like this one] [1, inf] [x=0] [(N), (C)] [=] [,]"
        " [size 3 3] [Size=2,4] [size (N, 1)] [like: x] [like, really]"
    )
    (a,) = parse_one(f"void f(int a); // {prose}").arguments
    assert a.doc == prose
    assert (a.default, a.size, a.is_optional) == (None, None, False)


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
        ("// [FAMILY x] of the family\n", ""),
        ("/* One */ ", "One"),
        ("", ""),
    ],
)
def test_doc(comments: str, doc: str) -> None:
    assert parse_header_text(comments + "void f(int a);")[-1].doc == doc


def test_repetition_is_accepted_once() -> None:
    text = "void f(int a); // [DEFAULT 1]\n"
    assert len(parse_header_text(text + "// again\n" + text)) == 1


def test_empty_header() -> None:
    assert parse_header_text("") == parse_header_text("// nothing\n#define X\n;") == []


# Roles


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a conventional name takes precedence over a coarse tag, a role tag over a conventional name
        ("void A_updateOutput(THTensor *total_weight /*[BUFFER]*/);", {"total_weight": "saved"}),
        ("void A_updateOutput(THTensor *total_weight /*[INPUT]*/);", {"total_weight": "input"}),
        ("void A_updateOutput(THTensor *finput /*[OUT]*/);", {"finput": "buffer"}),
        ("void A_updateOutput(THTensor *foo /*[BUFFER] [SAVED]*/);", {"foo": "saved"}),
        (
            "void A_updateOutput(THTensor *foo /*[OUT]*/, THTensor *bar /*[BUFFER]*/);",
            {"foo": "output", "bar": "buffer"},
        ),
        # indices: saved by a pooling, input of an unpooling or of a backward without a forward
        ("void A_updateOutput(THIndexTensor *indices);", {"indices": "saved"}),
        ("void AUnpooling_updateOutput(THIndexTensor *indices);", {"indices": "input"}),
        ("void A_updateGradInput(THIndexTensor *indices);", {"indices": "input"}),
        ("void A_updateGradInput(THIndexTensor *indices); // [SAVED]", {"indices": "saved"}),
        # the role of a gradient follows from its tensor's role; a number at the end of a name has no meaning
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


def test_tensors_that_a_call_in_place_overwrites_are_modified() -> None:
    forward, backward, alone = parse_header_text(
        """
        void A_updateOutput(THTensor *other, // [INPUT]
                            THTensor *input, THTensor *output, bool inplace);
        void A_updateGradInput(THTensor *input, THTensor *gradOutput, THTensor *gradInput, bool inplace);
        void A_alone(THTensor *input, THTensor *gradOutput, bool inplace);
        """
    )
    assert (flags(forward), flags(backward), flags(alone)) == ({"input": "m"}, {"gradOutput": "m"}, {})


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


# Defaults and sizes


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("bool a); // [DEFAULT true]", True),
        ("bool a); // [DEFAULT false]", False),
        ("int a); // [DEFAULT -100]", -100),
        ("int64_t a); // [DEFAULT 4294967296]", 1 << 32),
        ("accreal a); // [DEFAULT 1e-5]", 1e-5),
        ("double a); // [DEFAULT 1]", 1.0),
        ("real a); // [DEFAULT inf]", float("inf")),
        ("int a); // [default value]", None),
    ],
)
def test_default(declaration: str, expected: object) -> None:
    f = parse_one(f"void A_updateOutput({declaration}")
    (a,) = f.arguments
    assert (a.default, type(a.default)) == (expected, type(expected))
    assert parse_one(f.declaration()) == f


def test_size() -> None:
    text = "void A_updateOutput(THTensor *input, THTensor *output);\nvoid A_updateGradInput("
    f = parse_header_text(
        text + "THTensor *gradInput, int64_t frames); // [SIZE output -2] number of frames"
    )[1]
    frames = f.argument("frames")
    assert frames is not None
    assert (frames.size, frames.default, frames.doc) == (Size("output", -2), None, "number of frames")
    assert parse_one(f.declaration()) == f


@pytest.mark.parametrize(
    ("name", "default", "size"),
    [
        ("accreal scale", 1.0, None),
        ("int scale", 1, None),
        ("accreal weightDecay", 0.0, None),
        ("int nbatch", None, Size("input", 0)),
        ("int nchannels", None, Size("input", 1)),
        ("int inputHeight", None, Size("input", -2)),
        ("int oheight", None, Size("output", -2)),
        ("int osizeT", None, Size("output", -3)),
        ("accreal scale /*[DEFAULT 2]*/", 2.0, None),
        ("int scale /*[SIZE input 0]*/", None, Size("input", 0)),
    ],
)
def test_conventional_numbers_of_a_backward(name: str, default: object, size: Size | None) -> None:
    text = "void A_updateOutput(THTensor *input, THTensor *output);\nvoid A_updateGradInput("
    a = parse_header_text(f"{text}THTensor *gradInput, {name});")[1].arguments[1]
    assert (a.default, type(a.default), a.size) == (default, type(default), size)
    # If the forward has the argument, there is no default.
    text = text.replace("*output", f"*output, {name.split('/', maxsplit=1)[0]}")
    a = parse_header_text(f"{text}THTensor *gradInput, {name.split('/', maxsplit=1)[0]});")[1].arguments[1]
    assert (a.default, a.size) == (None, None)


# Families


def test_families() -> None:
    functions = parse_header_text(
        """
        /* The tag [FAMILY name] begins a section. */
        void A_updateOutput(int a);
        /* ------------------------------
           [FAMILY pooling] */
        // Of B.
        void B_updateOutput(int a);
        // [FAMILY criterion]
        void C_updateOutput(int a);

        // == [FAMILY pooling] ==

        void D_updateOutput(int a);
        """
    )
    assert [f.family for f in functions] == ["", "pooling", "criterion", "pooling"]
    assert [f.doc for f in functions] == ["The tag [FAMILY name] begins a section.", "Of B.", "", ""]
    assert [m.family for m in group_modules(functions).values()] == ["", "pooling", "criterion", "pooling"]


def test_families_are_the_folders_of_the_kernels() -> None:
    generic = Path(__file__).resolve().parent.parent.parent / "generic"
    families = {f.family for f in parse_header(generic / "THNN.h")}
    assert families == {folder.name for folder in generic.iterdir() if folder.is_dir()}


def test_digest() -> None:
    text = "void A_updateOutput(THTensor *input, THTensor *bias, int a);"
    same = [
        text,
        "// doc\n\n" + text,
        "/* [FAMILY x] */" + text.replace(";", "; // a"),
        text.replace(";", "; // [DEFAULT 1]"),
    ]
    others = [
        text.replace("int", "bool"),
        text.replace("*bias,", "*bias, // [OPTIONAL]\n"),
        text.replace(" a", " b"),
    ]
    assert len({digest(parse_header_text(t)) for t in same}) == 1
    assert len({digest(parse_header_text(t)) for t in (text, *others)}) == 4


# The header of 2017


def test_2017_is_read_whole(functions: dict[str, Function]) -> None:
    assert len(functions) == 191
    assert sum(len(f.arguments) for f in functions.values()) == 1697
    assert sum(a.is_optional for f in functions.values() for a in f.arguments) == 43
    assert sum(a.is_modified for f in functions.values() for a in f.arguments) == 10
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
