"""`regenerate`: the files that it writes, its errors, and the state of the tree after a failure."""

from __future__ import annotations

import ast
import fcntl
import math
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import thnn
from thnn._header import HeaderError, parse_header_text

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from thnn._emit import python as emit_python  # noqa: E402
from tools import build, emit_docs, regenerate  # noqa: E402

FORWARD = "\n{}TH_API void THNN_({}_updateOutput)(THNNState *state, THTensor *input, THTensor *output{});\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The header and the generated files of the source tree."""
    for name in ("generic/THNN.h", *regenerate.GENERATED):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, tmp_path / name)
        else:
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regenerate, "compile_libraries", lambda *_, **__: None)
    monkeypatch.setattr(regenerate, "changed_libraries", lambda *_: {})


def snapshot(tree: Path) -> dict[str, bytes]:
    files = (p for p in tree.rglob("*") if p.is_file() and p.relative_to(tree).parts[0] != "build")
    return {str(p.relative_to(tree)): p.read_bytes() for p in files}


def changed(tree: Path, before: dict[str, bytes]) -> set[str]:
    after = snapshot(tree)
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def append(tree: Path, text: str) -> None:
    with (tree / "generic/THNN.h").open("a", encoding="utf-8") as file:
        file.write(text)


# Generated files


def test_generated_files_are_current() -> None:
    found = regenerate.stale(regenerate.generate(ROOT))
    assert not found, found


def test_the_locale_has_no_effect(tree: Path) -> None:
    append(tree, FORWARD.format("/* Größe é → */\n", "Extra", ", int kW /* Länge */"))
    program = (
        "import sys; from pathlib import Path; from tools import regenerate, build\n"
        "files = regenerate.generate(Path(sys.argv[1]))\n"
        "build.replace_together(files); print(len(regenerate.stale(files)))"
    )
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(tree)], cwd=ROOT, env=environment, text=True, capture_output=True
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert "Größe é →" in (tree / "docs/functions/normalization.md").read_text(encoding="utf-8")


def test_a_new_function_changes_the_files_of_its_family(tree: Path) -> None:
    files = regenerate.generate(tree)
    header = tree / "generic/THNN.h"
    at = "/* LeakyReLU: "
    text = header.read_text(encoding="utf-8")
    header.write_text(text.replace(at, FORWARD.format("", "Extra", "") + "\n" + at), encoding="utf-8")
    new = regenerate.generate(tree)
    python = {p for p in new if new[p] != files.get(p) and p.suffix in (".py", ".pyi", ".md")}
    assert {str(p.relative_to(tree)) for p in python} == {
        "thnn/_generated/activation.py",
        "thnn/_generated/functions/activation.pyi",
        "docs/functions/activation.md",
        "docs/functions/index.md",
    }


def test_a_comment_changes_no_c_file(tree: Path) -> None:
    files = regenerate.generate(tree)
    header = tree / "generic/THNN.h"
    header.write_text(
        "\n" + header.read_text(encoding="utf-8").replace("kernel width", "Kernel width"), encoding="utf-8"
    )
    new = regenerate.generate(tree)
    assert {p.suffix for p in new if new[p] != files[p]} == {".py", ".pyi", ".md"}


def test_infinite_defaults_are_python() -> None:
    functions = parse_header_text(
        "/* [FAMILY x] */\nvoid A_updateOutput(THTensor *input, THTensor *output, double a, // [DEFAULT inf]\n"
        "double b); // [DEFAULT -inf]"
    )
    namespace: dict[str, Any] = {}
    exec(emit_python.emit_python(functions)["x.py"], namespace)
    (function,) = namespace["FUNCTIONS"]
    assert [a.default for a in function.scalars] == [math.inf, -math.inf]


def test_comments_are_quoted() -> None:
    doc = 'A: "quotes""" and \\\\ and ```` of *any* <kind>, `x*y <z`'
    functions = parse_header_text(
        f"/* [FAMILY x] */\n\n// {doc}\nvoid A_updateOutput(THTensor *input, /* {doc} */ THTensor *output);"
    )
    stubs = ast.parse(emit_python.emit_stubs(functions))
    (cls,) = (node for node in stubs.body if isinstance(node, ast.ClassDef))
    text = ast.get_docstring(cls)
    assert text is not None and text.startswith(doc)
    page = emit_docs.emit_docs(functions, "")["x.md"]
    assert page.count("\\`\\`\\`\\` of \\*any\\* &lt;kind>, `x*y <z`") == 2


def test_arguments_named_like_keywords_of_python() -> None:
    stubs = emit_python.emit_stubs(
        parse_header_text("void A_updateOutput(THTensor *input, THTensor *output, accreal lambda);")
    )
    compile(stubs, "functions.pyi", "exec")
    assert "def apply(cls, input: Tensor, lambda_: float) -> Tensor" in stubs


# Names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FORWARD.format("", "A", ", int |gradOutput"), "only the gradient of the output"),
        (
            FORWARD.format("", "A", ", int lambda, int |lambda_"),
            "two arguments are called 'lambda_' in Python",
        ),
        ("void f(THTensor *|in);".replace("f", "A_f"), "no tensor can be called 'in'"),
        ("void |call(THTensor *input);", "expected <Module>_<phase>"),
        ("void |library_state(THTensor *input);", "no function can be called 'library_state'"),
        ("void |_A_updateOutput(THTensor *input);", "no function can be called"),
        ("/* [FAMILY index] */\nvoid |A_updateOutput(THTensor *input);", "no family can be called 'index'"),
        ("\n[NONE]void |A_updateOutput(THTensor *input);", "begin one with [FAMILY name]"),
    ],
)
def test_a_name_is_refused(text: str, message: str, tree: Path) -> None:
    text = "/* [FAMILY x] */\n" + text if "[NONE]" not in text else text.replace("[NONE]", "")
    before, _, after = text.partition("|")
    word = after.partition(")")[0].partition("(")[0]
    (tree / "generic/THNN.h").write_text(before + after, encoding="utf-8")
    with pytest.raises(HeaderError) as caught:
        regenerate.generate(tree)
    assert message in caught.value.message
    line = caught.value.source_line[caught.value.location.column - 1 :]
    assert word in line.partition(",")[0]
    assert caught.value.location.line == before.count("\n") + 1


# Failures


def test_a_broken_header_changes_nothing(tree: Path) -> None:
    append(tree, "\nTH_API void THNN_(Bad_updateOutput)(THNNState *state, THTensor **x);\n")
    before = snapshot(tree)
    with pytest.raises(HeaderError, match=r"THNN.h:\d+:\d+: "):
        regenerate.regenerate(tree)
    assert snapshot(tree) == before


@pytest.mark.parametrize("ended", [None, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_failed_build_leaves_the_tree_as_it_was(
    ended: signal.Signals | None, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(tree, FORWARD.format("", "Extra", ""))
    before = snapshot(tree)
    during: list[set[str]] = []
    # nohup ignores SIGHUP, and a shell's background jobs ignore SIGINT.
    hangup = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)

    def compile_libraries(*_: object, **__: object) -> None:
        during.append(changed(tree, before))
        if ended is not None:
            signal.raise_signal(ended)
        raise build.BuildError("no such kernel")

    monkeypatch.setattr(regenerate, "compile_libraries", compile_libraries)
    kind = {None: build.BuildError, signal.SIGINT: KeyboardInterrupt}.get(ended, SystemExit)
    with pytest.raises(kind):
        regenerate.regenerate(tree)
    signal.signal(signal.SIGHUP, hangup)
    signal.signal(signal.SIGINT, interrupt)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    # Until the new library is compiled, Python has the model of the old one.
    assert during == [{"lib/THNN/generated/functions.inc", "lib/THNN/generated/modules/Extra.h"}]
    assert snapshot(tree) == before


def test_an_ignored_signal_stays_ignored(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regenerate, "compile_libraries", lambda *_, **__: signal.raise_signal(signal.SIGHUP))
    monkeypatch.setattr(regenerate, "changed_libraries", lambda *_: {})
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        regenerate.regenerate(tree, lambda _: None)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def libraries(folder: Path, content: str) -> dict[Path, bytes]:
    for name in build.LIBRARIES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{content} {name}")
    return {folder / name: (folder / name).read_bytes() for name in build.LIBRARIES}


@pytest.mark.parametrize("obstacle", ["directory", "rename", "signal"])
def test_libraries_move_together_or_not_at_all(
    obstacle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = libraries(tmp_path / "thnn", "old"), libraries(tmp_path / "cmake", "new")
    rename = Path.replace

    def replace(path: Path, target: Path) -> Path:
        if (path.name, target.name) == (f".{build.BINDING}.new", build.BINDING):
            if obstacle == "rename":
                raise OSError("disk full")
            if obstacle == "signal":
                rename(path, target)
                raise KeyboardInterrupt
        return rename(path, target)

    if obstacle == "directory":
        (tmp_path / f"thnn/.{build.BINDING}.new").mkdir()
    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises((OSError, KeyboardInterrupt)):
        build.replace_together(build.changed_libraries(tmp_path / "cmake", tmp_path / "thnn"))
    assert {path: path.read_bytes() for path in old} == old
    monkeypatch.undo()
    if obstacle == "directory":
        (tmp_path / f"thnn/.{build.BINDING}.new").rmdir()
    build.replace_together(build.changed_libraries(tmp_path / "cmake", tmp_path / "thnn"))
    assert [path.read_bytes() for path in old] == list(new.values())
    assert {p for p in (tmp_path / "thnn").rglob("*") if p.is_file()} == old.keys()


def test_files_are_created_and_deleted_together(tmp_path: Path) -> None:
    kept, gone, made = tmp_path / "kept", tmp_path / "gone", tmp_path / "folder" / "made"
    kept.write_text("old")
    gone.write_text("old")
    with pytest.raises(OSError, match="missing"):
        build.replace_together({kept: "new", made: "new", gone: None, tmp_path / "x": tmp_path / "missing"})
    assert (kept.read_text(), gone.read_text(), made.exists()) == ("old", "old", False)
    build.replace_together({kept: "new", made: "new", gone: None})
    assert (kept.read_text(), gone.exists(), made.read_text()) == ("new", False, "new")


@pytest.mark.usefixtures("no_compiler")
def test_only_changes_are_written(tree: Path) -> None:
    said: list[str] = []
    regenerate.regenerate(tree, said.append)
    assert said == ["the generated files and the libraries were up to date"]
    stub, left_over = tree / "thnn/_generated/functions/linear.pyi", tree / "docs/functions/old.md"
    stub.write_text("stale\n")
    left_over.write_text("of a family that was renamed\n")
    assert regenerate.stale(regenerate.generate(tree)).keys() == {stub, left_over}
    others = {p: p.stat().st_mtime_ns for p in tree.rglob("*") if p.is_file() and p not in (stub, left_over)}
    said.clear()
    regenerate.regenerate(tree, said.append)
    assert said == ["wrote thnn/_generated/functions/linear.pyi", "deleted docs/functions/old.md"]
    assert {p: p.stat().st_mtime_ns for p in others if p.name != "lock"} == {
        p: t for p, t in others.items() if p.name != "lock"
    }


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("is_changed", [True, False])
def test_a_cuda_library_of_other_sources_is_deleted(
    is_changed: bool, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tree / "thnn"
    built, cuda = tree / "build" / "libTHNN.so", package / "libTHCUNN.so"
    built.parent.mkdir(exist_ok=True)
    for path in (built, cuda):
        path.write_bytes(b"")
    libraries = {package / "libTHNN.so": built} if is_changed else {}
    monkeypatch.setattr(regenerate, "changed_libraries", lambda *_: libraries)
    monkeypatch.setenv("THNN_CUDA", "0")
    said: list[str] = []
    regenerate.regenerate(tree, said.append)
    assert cuda.exists() is not is_changed
    assert ("deleted thnn/libTHCUNN.so; THNN_CUDA=1 builds it again" in said) is is_changed


@pytest.mark.usefixtures("no_compiler")
def test_written_files_are_named_before_the_cuda_library_is_built(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise build.BuildError("nvcc failed")

    (tree / "thnn/_generated/functions/linear.pyi").unlink()
    monkeypatch.setattr("tools.cuda.build_library", fail)
    monkeypatch.setenv("THNN_CUDA", "1")
    said: list[str] = []
    with pytest.raises(build.BuildError, match="nvcc failed"):
        regenerate.regenerate(tree, said.append)
    assert said == ["wrote thnn/_generated/functions/linear.pyi"]


@pytest.mark.usefixtures("no_compiler")
def test_a_second_regenerate_waits(tree: Path) -> None:
    (tree / "build").mkdir()
    program = (
        "import sys; from pathlib import Path; from tools import regenerate\n"
        "regenerate.compile_libraries = lambda *_, **__: None\n"
        "regenerate.changed_libraries = lambda *_: {}\n"
        "regenerate.regenerate(Path(sys.argv[1]))"
    )
    with (tree / "build/lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        command = [sys.executable, "-c", program, str(tree)]
        second = subprocess.Popen(
            command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert second.stderr is not None
        assert second.stderr.readline() == "waiting for another build of this tree\n"
        assert second.poll() is None
    assert second.communicate(timeout=60)[0] == "the generated files and the libraries were up to date\n"


# Compiling


class Steps(build.Progress):
    def __init__(self) -> None:
        self.steps: list[str] = []

    def show(self, step: str) -> None:
        self.steps.append(step)


def printing(text: str, status: int) -> list[str]:
    return [sys.executable, "-c", f"import sys; print({text!r}, end=''); sys.exit({status})"]


def test_progress_is_shown_and_errors_stand_alone() -> None:
    steps = Steps()
    text = (
        "[0/3] Building C object CMakeFiles/kernels_float_avx2.dir/cmake_pch.h.gch\n"
        "[1/3] Building C object CMakeFiles/kernels_float_avx2.dir/generic/activation/Tanh.c.o\n"
        "[2/3] Linking C shared library libTHNN.so\n"
    )
    assert build._run(printing(text, 0), steps) == ""
    assert steps.steps == [
        "compiling 0/3: cmake_pch.h (kernels_float_avx2)",
        "compiling 1/3: generic/activation/Tanh.c (kernels_float_avx2)",
        "building [2/3] Linking C shared library libTHNN.so",
    ]
    with pytest.raises(build.BuildError) as caught:
        build._run(printing(text + "FAILED: x.o\nx.c:1:1: error: expected ';'\n", 1), steps)
    assert str(caught.value) == "FAILED: x.o\nx.c:1:1: error: expected ';'"


def test_a_long_build_prints_steps_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = iter([0.0, 1.0, 2.9, 3.0, 4.0, 7.5, 10.4])
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    progress = build.Progress()
    for step in "abcdef":
        progress.show(step)
        progress.clear()
    assert capsys.readouterr().err == "c\ne\n"


MISSING = "Cubic_updateOutput: declared in THNN.h, and no file of generic/ defines THNN_(Cubic_updateOutput)"


def test_a_function_that_the_linker_misses_is_named() -> None:
    line = "x.c:(.text+0x1): undefined reference to `THNN_{}Cubic_updateOutput_{}'\n"
    output = "".join(line.format(real, arch) for real in ("Float", "Double") for arch in ("default", "avx2"))
    with pytest.raises(build.BuildError) as caught:
        build._run(printing(output, 1), Steps())
    assert str(caught.value) == MISSING


@pytest.mark.skipif(not (ROOT / "build/cmake/build.ninja").exists(), reason="not built with ninja here")
def test_a_missing_kernel_is_named_before_everything_is_compiled() -> None:
    def check(names: list[str]) -> None:
        build._check_kernels(ROOT / "build/cmake", ["true"], names, Steps())

    check([*thnn.functions()])
    with pytest.raises(build.BuildError) as caught:
        check([*thnn.functions(), "Cubic_updateOutput"])
    assert str(caught.value) == MISSING
