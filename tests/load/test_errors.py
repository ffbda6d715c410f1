"""The errors of thnn.load: of the header, of the compiler, of the linker, and of wrong arguments."""

from __future__ import annotations

import copy
import errno
import os
import pickle
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from cube import HEADER, KERNEL

import thnn
from thnn._load.cuda import find_cxx
from thnn._load.prototypes import check_tensor_types
from thnn._load.recipe import find_compiler, flags_of_kinds
from thnn._load.sanitizing import _FRAME

Write = Callable[..., Path]


def raises(error: type[Exception], header: Path, **options: object) -> str:
    with pytest.raises(error) as raised:
        thnn.load(header, **options)  # type: ignore[arg-type]
    return str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("accreal gain);   //", "accrael gain);   //", 6, "accrael"),
        ("THTensor *output,  // [OUT]", "THTensor *stuff,   //", 5, "cannot tell the role"),
        ("accreal gain);   //", "accreal lines);   //", 12, "has no argument 'gain'"),
        (
            "accreal gain);   //",
            "int gain);   //",
            12,
            "Cube_updateOutput has 'gain' as 'int', not 'accreal'",
        ),
        (
            "accreal gain);   //",
            "float gain);   //",
            6,
            "Cube_updateGradInput has 'gain' as 'accreal', not 'float'",
        ),
        (
            "THTensor *gradInput,   // [OUT] [LIKE input]",
            "THTensor *gradIn,      // [OUT] [LIKE input]",
            11,
            "whose gradient is 'gradIn'; did you mean gradInput?",
        ),
    ],
)
def test_header(write: Write, old: str, new: str, line: int, message: str) -> None:
    header = write(HEADER.replace(old, new, 1))
    text = raises(thnn.HeaderError, header)
    assert re.match(rf"{header}:{line}:\d+: ", text), text
    assert message in text
    assert text.splitlines()[-1].strip() == "^"


def test_float_instead_of_accreal(write: Write) -> None:
    header = write(HEADER.replace("accreal gain", "float gain"))
    text = raises(thnn.HeaderError, header)
    where = f"{header}:6:5: Cube_updateOutput: gain: "
    assert text.startswith(f"{where}float cannot be passed by the binding; expected accreal,"), text


def test_a_gradient_that_is_not_declared(write: Write) -> None:
    forward = HEADER[: HEADER.index("TH_API void THNN_(Cube_updateGradInput)")]
    kernel = (
        '#include "runtime/kernel.h"\n#include "modules/Cube.h"\nvoid THNN_(Cube_updateOutput)(THNNState *state,'
        " THTensor *input, THTensor *output, accreal gain) {}\n"
    )
    loaded = thnn.load(write(forward, kernel))
    with pytest.raises(NotImplementedError, match="not implemented: Cube_updateGradInput is not declared"):
        loaded.CubeFunction.apply(torch.ones(2, requires_grad=True))


def test_a_derivative_without_its_functions(write: Write) -> None:
    loaded = thnn.load(write(HEADER.replace("input^3.", "input^3. [DERIVATIVE bilinear]")))
    with pytest.raises(
        thnn.HeaderError, match=r"Cube_updateOutput: \[DERIVATIVE bilinear\] needs Cube_accGradP"
    ):
        loaded.CubeFunction(2.0)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (
            "THTensor *gradInput,",
            "Cube_updateGradInput: expected a gradient by an argument of Cube_updateOutput",
        ),
        ("THTensor *output,", "Cube_updateOutput: expected an output"),
    ],
)
def test_functions_without_a_result(write: Write, argument: str, message: str) -> None:
    header = "".join(line for line in HEADER.splitlines(keepends=True) if argument not in line)
    declared = re.sub(r"//.*|/\*.*", "", header).replace("TH_API ", "").replace(";", " { (void)state; }")
    loaded = thnn.load(write(header, kernel=declared))
    with pytest.raises(thnn.HeaderError, match=message):
        loaded.CubeFunction(2.0)


@pytest.mark.parametrize("name", ["ctx", "self", "cls", "args", "call", "needs", "lambda", "values", "_x"])
def test_every_name_of_c_can_be_that_of_an_argument(name: str, write: Write) -> None:
    loaded = thnn.load(write(HEADER.replace("gain", name), kernel=KERNEL.replace("gain", name)))
    spelled = {"lambda": "lambda_", "self": "self_", "cls": "cls_"}.get(name, name)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for y in (
        loaded.CubeFunction.apply(x, 3.0),
        loaded.CubeFunction.apply(x, **{spelled: 3.0}),
        loaded.CubeFunction(**{spelled: 3.0})(x),
    ):
        torch.testing.assert_close(y, 3 * x**3)
        (gradient,) = torch.autograd.grad(y.sum(), x)
        torch.testing.assert_close(gradient, 9 * x**2)
    compiled = torch.func.vmap(lambda row: loaded.CubeFunction.apply(row, 3.0))(x.detach()[:, None])
    torch.testing.assert_close(compiled[:, 0], 3 * x.detach() ** 3)
    output = torch.empty(0)
    loaded.type2backend["torch.FloatTensor"].Cube_updateOutput(
        0, input=x.detach(), output=output, **{spelled: 3.0}
    )
    torch.testing.assert_close(output, 3 * x.detach() ** 3)


def test_compiler(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    header = write(kernel=KERNEL.replace("3 * gain", "3 * gian"))
    text = raises(thnn.CompileError, header)
    assert f"{header.with_suffix('.c')}:3" in text
    assert "gian" in text
    assert capfd.readouterr() == ("", "")
    write(kernel=KERNEL)
    assert thnn.load(header).CubeFunction


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_an_error_in_a_macro_shows_the_line_of_the_user(
    write: Write, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    monkeypatch.setenv("CC", compiler)
    header = write(kernel=KERNEL.replace("3 * gain", "3 * gian"))
    first = raises(thnn.CompileError, header).partition("error:")[0].splitlines()[-1]
    assert first.startswith(f"{header.with_suffix('.c')}:3:")
    assert "lines omitted" not in raises(thnn.CompileError, header)


def test_long_output_is_shortened(write: Write) -> None:
    header = write(kernel="".join(f"int a{i} = b{i};\n" for i in range(100)))
    with pytest.raises(thnn.CompileError) as raised:
        thnn.load(header)
    assert re.match(r"\(\d+ lines omitted\)\n", str(raised.value))
    assert "b0" in raised.value.output


def test_prototype(write: Write) -> None:
    kernel = """
void THNN_(Cube_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int gain) {}
"""
    header = write(kernel=kernel)
    text = raises(thnn.CompileError, header)
    assert "conflicting types for 'THNN_(Cube_updateOutput)'" in text
    assert f"{header.with_suffix('.c')}:2:" in text
    assert f"{header}:2:" in text


ROWS_HEADER = """\
TH_API void THNN_(Rows_count)(
    THNNState *state,
    THTensor *input,
    THIndexTensor *indices);  // [OUT]
"""
ROWS_KERNEL = """\
/* THNN_(Rows_count)(THNNState *state, THIndexTensor *input, THIndexTensor *indices) { } */
void THNN_(Rows_count)(
    THNNState *state, THTensor *input,
    THTensor *indices)
{
}
"""


def test_prototype_with_another_type_of_tensor(write: Write) -> None:
    """All tensors are one type of C, so the compiler accepts the kernel."""
    header = write(ROWS_HEADER, ROWS_KERNEL, "Rows")
    kernel = header.with_suffix(".c")
    declared = f"'indices' is declared at {header}:4:5 as 'THIndexTensor*'"
    message = f"THNN_(Rows_count) has 'THTensor *indices', but {declared}"
    assert raises(thnn.CompileError, header) == f"{kernel}:2: {message}"
    (included := header.with_name("rows.inc")).write_text(ROWS_KERNEL)
    kernel.write_text('#include "rows.inc"\n')
    assert raises(thnn.CompileError, header) == f"{included}:2: {message}"


def test_a_class_of_several_outputs(write: Write) -> None:
    header = write(
        "TH_API void THNN_(Two_updateOutput)(\n    THNNState *state, THTensor *input,\n"
        "    THTensor *output,    // [OUT] [LIKE input]\n    THTensor *outputB);  // [OUT] [LIKE input]\n",
        "void THNN_(Two_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *outputB) {}\n",
        "Two",
    )
    own = thnn.load(header)
    with pytest.raises(thnn.HeaderError, match="expected one output for a class, got output, outputB"):
        _ = own.TwoFunction


def test_the_types_in_removed_files_are_not_compared() -> None:
    check_tensor_types([], [Path("removed.c")])


RIGHT_ROWS_KERNEL = ROWS_KERNEL.replace("THTensor *indices)\n{", "THIndexTensor *indices)\n{")


@pytest.mark.parametrize(
    "kernel",
    [
        f"#if 0\n{ROWS_KERNEL}#else\n{RIGHT_ROWS_KERNEL}#endif\n",
        f"#if 0\n{ROWS_KERNEL}#endif\n#define ROWS Rows_count\n{RIGHT_ROWS_KERNEL.replace('Rows_count', 'ROWS')}",
        "#define TENSORS THTensor *input, THIndexTensor *indices\n"
        "void THNN_(Rows_count)(THNNState *state, TENSORS) {}\n",
        "#define STATE THNNState *state,\n"
        "void THNN_(Rows_count)(STATE THTensor *input, THIndexTensor *indices) {}\n",
        "void THNN_(Rows_count)(THNNState *state, THTensor *input,\n#ifdef OLD\n  THTensor *indices\n#else\n"
        "  THIndexTensor *indices\n#endif\n) {}\n",
    ],
    ids=[
        "branches",
        "dead definition",
        "two arguments in a macro",
        "comma in a macro",
        "branches in a prototype",
    ],
)
def test_prototypes_that_macros_form_are_left_out(write: Write, kernel: str) -> None:
    assert thnn.load(write(ROWS_HEADER, kernel, "Rows")).functions


def test_missing_kernel(write: Write) -> None:
    header = write(
        kernel=KERNEL.replace("POINTWISE(", "POINTWISE_OUTPUT(")
        .replace("FROM_INPUT, ", "")
        .replace(", 3 * gain * x * x * g", "")
    )
    text = raises(thnn.CompileError, header)
    assert text == (
        f"Cube_updateGradInput: declared at {header}:7:19, and no kernel file (Cube.c) defines "
        "THNN_(Cube_updateGradInput)"
    )


@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_kernels_in_two_files(write: Write, linker: str) -> None:
    if shutil.which(f"ld.{linker}") is None:
        pytest.skip(f"no ld.{linker}")
    header = write(name="My")
    files = header.with_suffix(".c"), header.with_name("Cube.c")
    files[1].write_text(KERNEL)
    flags = [f"-fuse-ld={linker}"]
    assert raises(thnn.CompileError, header, extra_ldflags=flags) == "\n".join(
        f"THNN_(Cube_{phase}): both {files[0]} and {files[1]} define it; remove one, or give sources=[...]"
        for phase in ("updateOutput", "updateGradInput")
    )
    assert thnn.load(header, sources=files[1], extra_ldflags=flags).CubeFunction


def test_function_that_is_not_static(write: Write) -> None:
    header = write(kernel=KERNEL + "int helper(void) { return 3; }\n")
    assert raises(thnn.CompileError, header) == (
        f"helper: defined twice, since {header.with_suffix('.c')} is compiled for float and for double; make it static"
    )


def test_kernel_that_uses_a_hidden_core(write: Write) -> None:
    header = write(kernel="void THNN_(hidden)(void);\nvoid THNN_(used)(void) { THNN_(hidden)(); }\n" + KERNEL)
    assert "THNN_(hidden): used by a kernel, but neither defined in Cube.c" in raises(
        thnn.CompileError, header
    )


@pytest.mark.usefixtures("without_ziglang")
def test_no_compiler(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    header = write()
    monkeypatch.setenv("CC", "no-such-compiler")
    assert "CC=no-such-compiler names no program: install gcc or clang" in raises(thnn.CompileError, header)
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "none of cc, gcc and clang on PATH" in raises(thnn.CompileError, header)


def test_launcher_and_flags_in_the_compiler_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    found = shutil.which("cc") or pytest.skip("no cc")
    for command in ("cc -m64", "ccache cc -m64", "/some/where/sccache cc"):
        monkeypatch.setenv("CC", command)
        monkeypatch.setenv("CXX", command)
        for compiler in (find_compiler(), find_cxx()):
            assert compiler.command == tuple(command.split())
            assert compiler.path == Path(found).resolve()


def test_programs_that_are_no_c_compiler(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "ccache g++")
    assert raises(thnn.CompileError, write()) == (
        "thnn.load needs a C compiler, and CC=ccache g++ compiles C++: set CC to gcc or clang"
    )
    monkeypatch.setenv("CC", "/bin/false")
    assert raises(thnn.CompileError, write()) == "/bin/false ended with status 1 and printed nothing"
    for flags, made in (("-fsyntax-only", "object file: is it a C compiler?"), ("-c", "shared library")):
        monkeypatch.setenv("CC", f"gcc {flags}")
        assert raises(thnn.CompileError, write()).endswith(f" ended without an error, but made no {made}")


def test_flags_with_operands() -> None:
    flags = ["-O2", "-D", "A=-D", "--maxrregcount", "-DB", "-I", "dir", "-O1", "-U"]
    assert flags_of_kinds(flags, ("-D", "-U", "-I")) == ["-D", "A=-D", "-DB", "-I", "dir", "-U"]


def test_source_in_place_of_a_header(write: Write) -> None:
    header = write()
    source = header.with_suffix(".c")
    hint = "; did you mean Cube.h?"
    assert raises(ValueError, source) == f"thnn.load: header: expected a header, got {source}{hint}"
    assert raises(ValueError, header.with_suffix("")) == (
        f"thnn.load: header: there is no file {header.with_suffix('')}{hint}"
    )
    assert (
        raises(ValueError, header.parent)
        == f"thnn.load: header: expected a file, got the folder {header.parent}"
    )
    header.unlink()
    assert raises(ValueError, source) == f"thnn.load: header: expected a header, got {source}"


def test_arguments(write: Write, tmp_path: Path) -> None:
    header = write(kernel=None)
    assert "there is no kernel file beside it (Cube.c)" in raises(ValueError, header)
    assert f"there is no file {tmp_path / 'none.c'}" in raises(
        ValueError, header, sources=tmp_path / "none.c"
    )
    assert "there is no file" in raises(ValueError, tmp_path / "none.h")
    assert raises(ValueError, tmp_path / ("x" * 5000 + ".h")).startswith(
        "thnn.load: header: File name too long"
    )
    assert raises(TypeError, header, sources=3) == (
        "thnn.load: sources: expected a path or a sequence of paths, got 3"
    )
    assert "extra_cflags: expected flags without NUL" in raises(ValueError, header, extra_cflags=["\0"])
    for flags in ("extra_cflags", "extra_ldflags", "extra_cuda_cflags"):
        assert raises(ValueError, header, **{flags: ["-g", "-D\ud800"]}) == (
            f"thnn.load: {flags}: '-D\\ud800' has characters that UTF-8 does not have"
        )
    source = write().with_suffix(".c")
    for again in (source, tmp_path / ".." / tmp_path.name / source.name):
        assert raises(ValueError, header, sources=[source, again]) == (
            f"thnn.load: sources: expected each file once, got {source} twice"
        )
    for name, error in (("a.cu", ValueError), ("a.cpp", ValueError)):
        (tmp_path / name).write_text("")
        assert name in raises(error, header, sources=[tmp_path / name])
    header = write()
    assert "extra_cflags: expected a sequence" in raises(TypeError, header, extra_cflags="-g")
    assert "expected an identifier" in raises(ValueError, header, name="a b")
    header.write_text("/* nothing */\n")
    assert raises(thnn.HeaderError, header) == (
        f"{header}:1:1: the header declares no function; expected a forward such as TH_API void"
        " THNN_(Cube_updateOutput)(THNNState *state, THTensor *input, THTensor *output); and its gradients"
    )


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"name": 3}, "name"),
        ({"extra_cflags": [None]}, "extra_cflags"),
        ({"extra_ldflags": 3}, "extra_ldflags"),
        ({"sources": [None]}, "sources"),
        ({"sources": b"/x.c"}, "sources"),
        ({"references": {"Cube": 3}}, "references"),
    ],
)
def test_argument_types(write: Write, options: dict[str, object], argument: str) -> None:
    assert raises(TypeError, write(), **options).startswith(f"thnn.load: {argument}: ")


def test_headers_that_are_no_path(tmp_path: Path) -> None:
    for header in (None, b"/x"):
        assert raises(TypeError, header).startswith("thnn.load: header: ")  # type: ignore[arg-type]
    assert raises(ValueError, Path("/")) == "thnn.load: header: expected a file, got the folder /"
    for name in ("line\nbreak.h", os.fsdecode(b"\xe9.h")):
        (tmp_path / name).write_text("")
        assert raises(ValueError, tmp_path / name).startswith("thnn.load: header: ")


def test_headers_that_cannot_be_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    unreadable = "thnn.load: header: {} cannot be read ({})"
    memory, header = Path("/proc/self/mem"), write()
    assert raises(ValueError, memory) == unreadable.format(memory, "Input/output error")

    def refuse(path: Path) -> bytes:  # as for a file without permission, which root may read
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert raises(ValueError, header) == unreadable.format(header, "Permission denied")
    with pytest.raises(ValueError, match=r"header: .* cannot be read"):
        thnn.open_library(header, header.with_suffix(".so"))


def test_libraries_whose_paths_cannot_be_encoded(write: Write, tmp_path: Path) -> None:
    header, path = write(), f"{tmp_path}/\ud800.so"
    for function, argument in ((thnn.build_library, "output"), (thnn.open_library, "library")):
        with pytest.raises(
            ValueError, match=rf"{argument}: .*\\ud800.* has characters that UTF-8 does not have"
        ):
            function(header, path)
    named_by_bytes = thnn.build_library(header, tmp_path / os.fsdecode(b"\xe9.so"))
    assert thnn.open_library(header, named_by_bytes).CubeFunction


@pytest.mark.parametrize("kind", ["a file", "a dangling link", "/proc/x"])
def test_unusable_cache(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    cache = Path("/proc/x") if kind == "/proc/x" else tmp_path / "cache"
    if kind == "a file":
        cache.write_text("")
    elif kind == "a dangling link":
        cache.symlink_to(tmp_path / "none" / "none")
    monkeypatch.setenv("THNN_CACHE", str(cache))
    text = raises(ValueError, write())
    assert text.startswith(f"thnn.load: the cache {cache} cannot be used (")
    assert "THNN_CACHE" in text


@pytest.mark.parametrize("variable", ["THNN_CACHE", "XDG_CACHE_HOME"])
def test_a_cache_whose_path_is_not_utf8(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.delenv("THNN_CACHE")
    monkeypatch.setenv(variable, str(tmp_path / os.fsdecode(b"\xe9")))
    for header, options in ((write(), {}), (HEADER, {"source": KERNEL})):
        text = raises(ValueError, header, **options)  # type: ignore[arg-type]
        assert re.fullmatch(
            r"thnn\.load: the cache .*/\\udce9\S* cannot be used \(its path is not UTF-8\); .*", text
        )


@pytest.mark.parametrize("name", ["x", "g", "weights"])
def test_scalars_that_the_macros_would_hide(write: Write, name: str) -> None:
    header = write(kernel=KERNEL.replace("SCALAR(gain)", f"SCALAR({name})"))
    assert f"SCALAR({name}): the macro declares this name itself" in raises(thnn.CompileError, header)


def test_copies_links_and_latin_1(write: Write, tmp_path: Path) -> None:
    header = write()
    header.with_suffix(".c").write_bytes(b"/* \xe9 */\n" + KERNEL.encode())
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "Link.h"
    link.symlink_to(header)
    own = thnn.load(link)
    assert own.sources == (header.with_suffix(".c"),)
    assert "POINTWISE(Cube" in own.source
    assert copy.copy(own) is own
    for function in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"thnn\.load 'Link'.* call thnn\.load again"):
            function(own)
    header.unlink()
    with pytest.raises(ValueError, match="header: there is no file"):
        own.check(sanitize=True)


def test_frames_of_paths_with_spaces() -> None:
    line = "    #0 0x7f00 in THNN_FloatCube_updateOutput_default /a b/Cube.c:12\n"
    assert _FRAME.findall(line + line.replace(":12", ":12:5")) == ["/a b/Cube.c:12"] * 2
