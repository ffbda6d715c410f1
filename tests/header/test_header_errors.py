"""Errors of the header parser, with line and column. «|» marks the place of each error."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from thnn._header import HeaderError, parse_header, parse_header_text

OUT = "THTensor *output"
FORWARD = f"void A_updateOutput(THTensor *input, THTensor *weight, {OUT}, int kW);\n"
ERRORS = {
    "unknown type": ("void f(int a,\n       |THFoo *x);", "f: x: unknown type 'THFoo*'"),
    "unknown number type": (
        "void f(|unsigned int x);",
        "unknown type 'unsigned int'; expected accreal, double, int",
    ),
    "tensor by value": ("void f(|THTensor input);", "did you mean 'THTensor*'"),
    "pointer to a number": ("void f(|const int *x);", "did you mean 'int'"),
    "struct": ("void f(|struct foo *x);", "unknown type 'struct foo*'"),
    "missing type": ("void f(int a, |b);", "expected an argument with type and name"),
    "missing type with a star": ("void f(int a,\n\t|*b);", "expected an argument with type and name"),
    "missing type behind an unknown one": ("void f(THFoo *x, |b);", "expected an argument"),
    "only names": ("void f(|a, b);", "f: a: the argument has no type"),
    "only const": ("void f(int a, |const b);", "f: b: the argument has no type"),
    "missing name": ("void f(int a, |THTensor *);", "the argument has no name"),
    "missing name of a number": ("void f(|int);", "the argument has no name"),
    "type as a name": ("void f(int |THTensor);", "cannot be the name of an argument"),
    "keyword as a name": ("void f(int |for);", "unexpected 'for'"),
    "keyword as a function": ("|void while(int a);", "invalid declaration"),
    "type as a function": ("void |real(int a);", "'real' previously declared as typedef"),
    "star after the name": ("void f(THTensor input |*);", "unexpected '*'"),
    "two stars": ("void f(THTensor *input |*);", "unexpected '*'"),
    "const after the name": ("void f(int a |const);", "unexpected 'const'"),
    "number in place of a flag": (
        f"void A_updateOutput(THTensor *input, {OUT}, |accreal inplace);",
        "A_updateOutput: inplace: expected a bool, which tells whether the call overwrites 'input', got 'accreal'",
    ),
    "nothing to overwrite": (
        f"void A_updateOutput(THTensor *x /* [INPUT] */, {OUT}, |bool inplace);",
        "A_updateOutput: inplace: expected an argument 'input', which the call overwrites, got none",
    ),
    "tensor in place of a flag": (
        f"void A_updateOutput(THTensor *input, {OUT}, |THTensor *inplace /* [INPUT] */);",
        "A_updateOutput: inplace: expected a bool",
    ),
    "missing comma": ("void f(THTensor *input |THTensor *output);", "unexpected 'THTensor'"),
    "empty argument": ("void f(int a, |, int b);", "expected an argument"),
    "trailing comma": ("void f(int a,\n       int b,\n  |);", "expected an argument"),
    "only a comma": ("void f(|,);", "unexpected ','"),
    "named twice": ("void f(int a,\n  int b, THTensor *|a);", "argument 'a' is named twice"),
    "pointer to a pointer": ("void f(|THTensor **input);", "cannot be a pointer to a pointer"),
    "pointer to a const pointer": ("void f(|THTensor *const *input);", "cannot be a pointer to a pointer"),
    "array": ("void f(int a|[2]);", "unexpected '['"),
    "variadic": ("void f(int a, |...);", "variadic"),
    "only variadic": ("void f(|...);", "variadic"),
    "volatile": ("void f(|volatile int a);", "no specifiers but const"),
    "restrict": ("void f(|THTensor *restrict input);", "no specifiers but const"),
    "register": ("void f(|register int a);", "no specifiers but const"),
    "alignment": ("void f(|_Alignas(8) int a);", "no specifiers but const"),
    "attribute": ("void f(int a |__attribute__((unused)));", "unexpected '__attribute__'"),
    "qualified void": ("void f(|const void);", "unknown type 'void'"),
    "void among others": ("void f(int a, |void);", "unknown type 'void'"),
    "pointer to a function": ("void f(|void (*g)(int));", "cannot be a function"),
    "variable that points to a function": ("|void (*g)(int a);", "not a declaration of a function"),
    "two functions": ("void f(int a|), g(int b);", "';' is missing"),
    "function that returns a function": ("|void f(int a)(int b);", "must return void"),
    "not closed": ("void f|(int a;", "the parenthesis is not closed"),
    "not closed at the end": ("void f(int a);\n\nvoid THNN_(g)|(int a", "the parenthesis is not closed"),
    "not closed before the next": (
        "TH_API void THNN_(f)|(int a\nTH_API void THNN_(g)(int a);",
        "is not closed",
    ),
    "not closed in repr": ("f|(int a\ng(int b)", "the parenthesis is not closed"),
    "name not closed": ("void THNN_|(f(int a);", "the parenthesis is not closed"),
    "closed twice": ("void f(int a|));", "';' is missing"),
    "nested": ("void f(int a, (((((((|" + "(" * 100_000 + "int b" + ")" * 100_008 + ";", "too many '('"),
    "nested and not closed": ("void f((((((((|" + "(" * 100_000, "too many '('"),
    "many stars": ("void f(int ********|" + "*" * 100_000 + "x);", "too many '*'"),
    "many pairs": ("void f" + "()" * 8 + "|(" + ")()" * 100_000 + ";", "too many '('"),
    "many operators": ("|void f(_Alignas(" + "sizeof " * 100_000 + "a) int a);", "nested too deeply"),
    "many conditions": ("#if 1\n" * 100_000 + "|#if 1\n", "the #if is not closed"),
    "missing semicolon": ("void f(int a|)\nvoid g(int a);", "';' is missing"),
    "a body": ("void f(int a) |{}", "unexpected '{'"),
    "not void": ("TH_API |int THNN_(f)(int a);", "must return void, not 'int'"),
    "pointer returned": ("|void *f(int a);", "must return void, not 'void*'"),
    "static": ("|static void f(int a);", "no specifiers but extern"),
    "no name": ("(|int a);", "unexpected 'int'"),
    "no name but a wrapper": ("void |THNN_(void);", "expected THNN_(name)"),
    "a variable": ("|extern int x;", "not a declaration of a function"),
    "words": ("void f(int a);\n  |hello", "';' is missing"),
    "unknown result": ("|foo f(int a);", "must return void, not 'foo'"),
    "result in parentheses": ("|int (f)(int a);", "must return void"),
    "typedef": ("|typedef int foo;", "typedef"),
    "typedef of a function": ("|typedef void real(int a);", "typedef"),
    "two typedefs": ("|typedef int real, foo;", "not a declaration of a function"),
    "a brace": ("|}", "unexpected '}'"),
    "extern C without a guard": ('extern |"C" {', "unexpected '\"'"),
    "non-ASCII": ("void f(int a, int |é);", "unexpected 'é'"),
    "after non-ASCII": ("void f(int a /* é */, |foo);", "expected an argument"),
    "long line": (
        "void f(" + "int a0123456789, " * 1 + " " * 5000 + "|foo);" + " " * 5000,
        "expected an argument",
    ),
    "comment not closed": ("void f(int a); |/* foo", "the comment is not closed"),
    "else alone": ("\n |#else", "#else without #if"),
    "endif alone": ("#if 0\n#endif\n|#endif", "#endif without #if"),
    "if not closed": ("|#if 0\nvoid f(int a);", "the #if is not closed"),
    "NUL": ("void f(int a);\n //|\0", "NUL"),
    "declared twice": (
        "void f(int a);\nvoid |f(int b);",
        "declared twice with different arguments, first at h:1:6",
    ),
    "declared twice with other tags": ("void f(int a);\nvoid |f(int a /*[DEFAULT 1]*/);", "declared twice"),
    "misspelt forward": (
        "void |A_updateOuput(THTensor *input, THTensor *output);",
        "A_updateOuput is neither forward nor backward; did you mean A_updateOutput?",
    ),
    "misspelt backward": (
        "void A_updateOutput(THTensor *input, THTensor *output);\n"
        "void |A_updateGradinput(THTensor *gradOutput, THTensor *gradInput);",
        "did you mean A_updateGradInput?",
    ),
    "plural of a phase": (
        "void A_updateOutput(THTensor *input, THTensor *output);\n"
        "void |A_updateGradInputs(THTensor *gradOutput, THTensor *gradInput);",
        "did you mean A_updateGradInput?",
    ),
    "abbreviated phase": (
        "void A_updateOutput(THTensor *input, THTensor *output, THTensor *weight);\n"
        "void |A_accGradParams(THTensor *input, THTensor *gradOutput, THTensor *gradWeight);",
        "did you mean A_accGradParameters?",
    ),
    "backward in upper case": (
        "void THNN_(|A_Backward)(THTensor *input, THTensor *output /*[OUT]*/);",
        "did you mean A_backward?",
    ),
    "misspelt tag of a function": (
        "// [DERIVATIV linear]\nvoid |A_updateOutput(THTensor *input, THTensor *output);",
        "unknown tag [DERIVATIV linear]; did you mean DERIVATIVE?",
    ),
    "misspelt tag with operands": (
        "void f(THTensor *input, // and\nTHTensor *output); // |[LIKES input]",
        "unknown tag [LIKES input]; did you mean LIKE?",
    ),
    "tag that is too long": (
        "void f(THTensor *input, // and\nTHTensor *output); // |[OUTPUT]",
        "unknown tag [OUTPUT]; did you mean OUT?",
    ),
    "default in lower case": (
        "void f(int a, // and |[default 1]\n int b);",
        "unknown tag [default 1]; did you mean [DEFAULT 1]?",
    ),
    "default with an equals sign": ("void f(int a); // |[DEFAULT=1]", "did you mean [DEFAULT 1]?"),
    "default with spaces around it": ("void f(bool a); // |[Default = true]", "did you mean [DEFAULT true]?"),
    "default in parentheses": ("void f(accreal a); // |[DEFAULT(1e-5)]", "did you mean [DEFAULT 1e-5]?"),
    "default with a colon": ("void f(int a); // |[default: -100]", "did you mean [DEFAULT -100]?"),
    "size in lower case": ("void f(int a); // |[size input -1]", "did you mean [SIZE input -1]?"),
    "like with an equals sign": (
        "void f(THTensor *input,\nTHTensor *output); // |[LIKE=input]",
        "did you mean [LIKE input]?",
    ),
    "two tags in a pair of brackets": (
        "void f(THTensor *input,\nTHTensor *output); // |[OUT, LIKE input]",
        "did you mean [OUT] [LIKE input]?",
    ),
    "tag of a function in lower case": (
        "// [derivative linear]\nvoid |A_updateOutput(THTensor *input, THTensor *output);",
        "unknown tag [derivative linear]; did you mean [DERIVATIVE linear]?",
    ),
    "unknown tag": ("void f(THTensor *input); // and |[OPTOINAL]", "unknown tag [OPTOINAL]"),
    "tag without an argument": ("void f /* |[OPTIONAL] */ (int a);", "belongs to no argument"),
    "tag at the end": ("void f(int a\n  // |[OPTIONAL]\n);", "belongs to no argument"),
    "tag without its last bracket": (
        "void f(int a, int b); // and |[DEFAULT 1\n",
        "f: b: expected [DEFAULT value] with both brackets on one line",
    ),
    "tag without its first bracket": (
        "void f(int a); // and DEFAULT 1|] it",
        "expected [DEFAULT value] with",
    ),
    "size without its first bracket": ("void A_backward(int a); // SIZE input 0|]", "expected [SIZE tensor"),
    "tag around a tag": (
        "void f(THTensor *input,\nTHTensor *x); // |[OUT [LIKE input]",
        "f: x: expected [OUT]",
    ),
    "tag on two lines": ("void f(int a /* |[DEFAULT\n 1] */);", "f: a: expected [DEFAULT value]"),
    "tag of a function without a bracket": (
        "// [DERIVATIVE linear\nvoid |A_updateOutput(THTensor *input, THTensor *output);",
        "expected [DERIVATIVE kind] with both brackets",
    ),
    "tag on a number": ("void f(int a); // |[INPUT]", "f: a: [INPUT] is a tag of tensors, got type 'int'"),
    "optional number": (
        "void f(accreal a); // |[OPTIONAL]",
        "[OPTIONAL] is a tag of tensors, got type 'accreal'",
    ),
    "repeated tag": ("void f(THTensor *a); // [OUT] |[OUT]", "f: a: [OUT] is given twice"),
    "contradiction": ("void f(THTensor *a); // [INPUT] |[TARGET]", "[TARGET] contradicts [INPUT]"),
    "contradiction of old and new": ("void f(THTensor *a); // [PARAMETER] |[BUFFER]", "contradicts"),
    "contradiction in two comments": ("void f(/*[SAVED]*/ THTensor *a); // |[INPUT]", "contradicts"),
    "like a later one": (
        "void f(THTensor *output /*|[LIKE input]*/, THTensor *input);",
        "not an earlier argument",
    ),
    "like itself": ("void f(THTensor *output /*|[LIKE output]*/);", "not an earlier argument"),
    "like a number": (
        "void f(int a, THTensor *output /*|[LIKE a]*/);",
        "f: output: [LIKE a]: 'a' is not a tensor",
    ),
    "like on a number": ("void f(THTensor *input, int a /*|[LIKE input]*/);", "is a tag of tensors"),
    "default on a tensor": (
        "void f(THTensor *input); // |[DEFAULT 1]",
        "is a tag of numbers, got type 'THTensor*'",
    ),
    "default on the state": ("void f(THNNState *state); // |[DEFAULT 1]", "is a tag of numbers"),
    "default without a value": ("void f(int a); // |[DEFAULT]", "expected [DEFAULT value]"),
    "two values": ("void f(int a); // |[DEFAULT 1 2]", "expected [DEFAULT value]"),
    "default of another type": ("void f(int a); // |[DEFAULT 1.5]", "'1.5' is not a value of type 'int'"),
    "default that is too large": ("void f(int a); // |[DEFAULT 2147483648]", "not a value of type 'int'"),
    "default that is too large for a double": (
        "void f(accreal a); // |[DEFAULT 1e400]",
        "f: a: [DEFAULT 1e400]: '1e400' is not a value of type 'accreal'",
    ),
    "default of a flag": ("void f(bool a); // |[DEFAULT 1]", "not a value of type 'bool'"),
    "default that is not a number": ("void f(accreal a); // |[DEFAULT nan]", "not a value of type 'accreal'"),
    "two defaults": ("void f(int a); // [DEFAULT 1] |[DEFAULT 2]", "[DEFAULT 2] contradicts [DEFAULT 1]"),
    "number without default after one with a default": (
        "void A_updateOutput(int a, // [DEFAULT 1]\n|int b);",
        "'b' needs a [DEFAULT value], as 'a' before it has one",
    ),
    "size in a forward": ("void A_updateOutput(int a); // |[SIZE input 0]", "of a backward function only"),
    "size of nothing": ("void A_backward(int a); // |[SIZE]", "expected [SIZE tensor dimension]"),
    "size without a dimension": ("void A_backward(int a); // |[SIZE input]", "expected [SIZE"),
    "size of a name": ("void A_backward(int a); // |[SIZE input w]", "'w' is not a dimension"),
    "size and default": ("void A_backward(int a); // [SIZE input 0] |[DEFAULT 1]", "contradicts"),
    "size of an unknown tensor": (
        FORWARD + "void A_updateGradInput(|int a); // [SIZE frames 0]",
        "A_updateOutput has no input, parameter or output 'frames', whose size is 'a'",
    ),
    "size of a number": (
        FORWARD + "void A_updateGradInput(|int a); // [SIZE kW 0]",
        "no input, parameter or output 'kW'",
    ),
    "family without a name": ("/* |[FAMILY] */", "expected [FAMILY name] with a name in lower case"),
    "family without its last bracket": ("/* |[FAMILY pooling\n */", "expected [FAMILY name]"),
    "family in upper case": ("/* |[FAMILY Pooling] */", "expected [FAMILY name]"),
    "family called by a keyword": ("// -- |[FAMILY import]", "expected [FAMILY name]"),
    "family inside of a declaration": (
        "void f(int a, /* |[FAMILY x] */ int b);",
        "[FAMILY name] must stand between declarations",
    ),
    "family after an argument": (
        "void f(int a); // |[FAMILY x]",
        "[FAMILY name] must stand between declarations",
    ),
    "module in two families": (
        "// [FAMILY x]\n" + FORWARD + "// [FAMILY y]\nvoid |A_updateGradInput(THTensor *gradInput);",
        "module A is in two families, 'x' and 'y'",
    ),
    "include": ("void f(int a);\n  |#include <x.h>", "#include is not understood"),
    "macro": ("|#define N 3", "macro 'N' has a value"),
    "macro with arguments": ("|#define THNN_(x) x", "macro 'THNN_' has a value"),
    "continued macro": ("|#define N\\\n 3", "macro 'N' has a value"),
    "guard with arguments": ("#ifndef G\n|#define G(x) x\n#endif", "macro 'G' has a value"),
    "macro without a name": ("|#define", "#define without a name"),
    "empty macro in use": ("#define input\nvoid f(THTensor *|input);", "macro 'input' is not expanded"),
    "undef": ("|#undef N", "#undef is not understood"),
    "pragma": ("|#pragma pack(1)", "#pragma is not understood"),
    "stray number sign": ("|## x", "## is not understood"),
    "if of a macro": ("|#ifdef X\nvoid f(int a);\n#endif", "only include guards, __cplusplus"),
    "if of an expression": ("|#if X > 2\n#endif", "only include guards"),
    "if not of a macro": ("|#ifndef X\nvoid f(int a);\n#endif", "only include guards"),
    "guard of another name": ("|#ifndef X\n#define Y\n#endif", "only include guards"),
    "empty guard": ("|#ifndef X\n#endif", "only include guards"),
    "elif": ("#if 0\n|#elif X\n#endif", "only include guards"),
    "elif alone": ("|#elif X", "#elif without #if"),
    "like nothing": ("void f(THTensor *output /*|[LIKE]*/);", "expected [LIKE name]"),
    "like two": (
        "void f(THTensor *input, THTensor *target, THTensor *output /*[LIKE input] |[LIKE target]*/);",
        "contradicts",
    ),
    "no role": ("void f(THTensor *input,\n   |THTensor *foo);", "cannot tell the role of tensor 'foo'"),
    "no role of a gradient": ("void f(THTensor *input, |THTensor *gradWieght);", "cannot tell the role"),
    "no role of a short name of a gradient": (
        FORWARD + "void A_updateGradInput(|THTensor *gradOut, THTensor *gradInput);",
        "cannot tell the role of tensor 'gradOut': give it a tag such as [INPUT] or [BUFFER]; did you mean gradOutput?",
    ),
    "gradient of an unknown tensor": (
        FORWARD + "void A_updateGradInput(THTensor *gradOutput, |THTensor *gradIn);",
        "A_updateOutput has no argument 'in', whose gradient is 'gradIn'; did you mean gradInput?",
    ),
    "gradient in lower case": (
        FORWARD + "void A_updateGradInput(THTensor *gradOutput, |THTensor *gradinput /*[OUT]*/);",
        "A_updateOutput has no argument 'gradinput'; did you mean gradInput?",
    ),
    "float in the forward alone": (
        "void A_updateOutput(THTensor *input, THTensor *output, |float beta);\n"
        "void A_updateGradInput(THTensor *gradInput, accreal beta);",
        "A_updateGradInput has 'beta' as 'accreal', not 'float'",
    ),
    "float in the backward alone": (
        "void A_updateOutput(THTensor *input, THTensor *output, accreal beta);\n"
        "void A_updateGradInput(THTensor *gradInput, |float beta);",
        "A_updateOutput has 'beta' as 'accreal', not 'float'",
    ),
    "unknown to the forward": (
        FORWARD + "void A_updateGradInput(THTensor *gradInput, |THTensor *bias);",
        "A_updateOutput has no argument 'bias'",
    ),
    "unknown saved tensor": (
        FORWARD + "void A_backward(THTensor *gradInput, |THTensor *noise);",
        "A_updateOutput has no argument 'noise'",
    ),
    "unknown scalar": (
        FORWARD + "void A_accGradParameters(THTensor *gradWeight, |int kH);",
        "has no argument 'kH'",
    ),
    "scalar of another name": (
        "void A_updateOutput(THTensor *input, THTensor *output, accreal epsilon);\n"
        "void A_updateGradInput(THTensor *gradInput, |accreal eps);",
        "A_updateOutput has no argument 'eps'; did you mean epsilon?",
    ),
    "unknown generator": (
        FORWARD + "void A_updateGradInput(|THGenerator *generator);",
        "has no argument 'generator'",
    ),
    "before the forward": ("void A_updateGradInput(|int kH);\n" + FORWARD, "has no argument 'kH'"),
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
        assert "\n" not in str(caught.value)  # there is no line to quote


def test_error_of_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "large.h"
    path.write_bytes(b"first\n" + b" " * (2 << 20))
    with pytest.raises(HeaderError, match=r"larger than 2 MiB\nfirst\n\^$"):
        parse_header(path)


def test_error_text_and_pickle() -> None:
    with pytest.raises(HeaderError) as caught:
        parse_header_text("TH_API void THNN_(f)(\n\tTHTensor *input,\n\tTHFoo *foo);\n", "THNN.h")
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == (
        "THNN.h:3:2: f: foo: unknown type 'THFoo*'; expected THAccrealTensor*, THIndexTensor*, "
        "THIntegerTensor*, THTensor*\n\tTHFoo *foo);\n\t^"
    )
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
