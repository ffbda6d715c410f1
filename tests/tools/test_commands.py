"""python -m thnn, and what regenerate does when something fails."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from thnn.__main__ import main
from thnn._header import HeaderError, parse_header_text
from thnn._header.registry import modules

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools import emit_c, emit_python, regenerate  # noqa: E402


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "thnn", *arguments],
        env={**os.environ, **environment},
        text=True,
        capture_output=True,
        timeout=300,
    )


@pytest.mark.parametrize("command", ["", "info", "list", "check", "bench", "regenerate"])
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([*([command] if command else []), "--help"])
    assert end.value.code == 0
    assert "usage: python -m thnn" in capsys.readouterr().out


def test_usage_errors_exit_with_2() -> None:
    assert run().returncode == 2
    assert run("frobnicate").returncode == 2


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    for word in ("thnn", "torch", "cpu", "instruction set", "threads", "libTHNN.so", "THNN.h"):
        assert word in text
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert Path(facts["library"]).exists() and Path(facts["header"]).exists()


def test_info_tells_the_instruction_set_in_use() -> None:
    facts = json.loads(run("info", "--json", THNN_CPU_CAPABILITY="default").stdout)
    assert facts["instruction set"] == "default"


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(modules())
    assert max(map(len, lines)) <= 120
    assert "SpatialMaxPooling                 the largest value of each window." in lines
    assert main(["list", "SpatialMaxPooling"]) == 0
    text = capsys.readouterr().out
    assert "updateGradInput" in text and "indices" in text
    assert main(["list", "Threshold", "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    assert list(tree) == ["Threshold"]
    assert tree["Threshold"]["Threshold_updateOutput"][1] == {
        "name": "input", "type": "THTensor*", "role": "input", "optional": False
    }  # fmt: skip
    assert main(["list", "Frobnicate"]) == 2


def test_output_can_be_cut_off() -> None:
    command = f"{sys.executable} -m thnn list --json | head -n 1"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], text=True, capture_output=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert not result.stderr


def test_output_that_cannot_be_written() -> None:
    closed, full = (
        subprocess.run(
            ["bash", "-c", f"{sys.executable} -m thnn list {redirection}"],
            text=True,
            capture_output=True,
            timeout=120,
        )
        for redirection in (">&-", ">/dev/full")
    )
    assert (closed.returncode, closed.stderr) == (0, "")
    assert (full.returncode, full.stderr) == (1, "[Errno 28] No space left on device\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--threads", "0"),
        ("--rounds", "-1"),
        ("--json", "/nowhere/b.json"),
        ("--plot", "/"),
        ("--rounds", "x"),
    ],
)
def test_bench_refuses_before_it_measures(
    arguments: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["bench", *arguments])
    assert end.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_check_runs_and_its_status_tells(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "Tanh"]) == 0
    assert "Tanh" in capsys.readouterr().out
    assert main(["check", "Frobnicate"]) == 2


def test_bench_of_one_row(tmp_path: Path) -> None:
    data, table, plot = tmp_path / "b.json", tmp_path / "b.md", tmp_path / "b.png"
    result = run(
        "bench",
        "raw call",
        "--rounds",
        "3",
        "--json",
        str(data),
        "--markdown",
        str(table),
        "--plot",
        str(plot),
    )
    # The status depends on how busy the machine is; what was written does not.
    assert result.returncode in (0, 1), result.stderr
    measured = json.loads(data.read_text())
    assert measured["measurements"][0]["timings"]["thnn contiguous"]["best"] > 0
    assert "GFLOP/s" in measured["machine"]["peak float32"]
    assert "| raw call, 8 tensors" in table.read_text()
    assert plot.read_bytes().startswith(b"\x89PNG")
    printed = run("bench", "raw call", "--rounds", "1", "--json")
    assert "raw call" in printed.stderr
    assert json.loads(printed.stdout)["measurements"][0]["row"] == measured["measurements"][0]["row"]
    assert run("bench", "no such row").returncode == 2
    assert run("bench", "(").returncode == 2


@pytest.mark.parametrize(("option", "package"), [("--plot", "matplotlib"), ("--markdown", "tabulate")])
def test_bench_says_at_once_what_is_not_installed(
    option: str, package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from thnn.testing import bench as _bench

    monkeypatch.setattr(_bench, "restart_with", lambda environment: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["bench", "raw call", option, "x.out"]) == 2
    assert f"{option} needs {package}" in capsys.readouterr().err


def test_bench_of_an_overhead(tmp_path: Path) -> None:
    data, table = tmp_path / "b.json", tmp_path / "b.md"
    result = run(
        *("bench", r"nn\.BatchNorm2d train", "--rounds", "3", "--json", str(data), "--markdown", str(table))
    )
    assert result.returncode in (0, 1), result.stderr
    assert " of 3 µs more" in result.stdout
    (measured,) = json.loads(data.read_text())["measurements"]
    assert set(measured["timings"]) == {"Function", "layer"}
    assert " of 3 µs more" in table.read_text()


def test_generated_files_are_current() -> None:
    found = regenerate.stale(regenerate.generate(ROOT))
    assert not found, found


def test_arguments_named_by_words_of_python() -> None:
    stubs = emit_python.emit_stubs(
        parse_header_text("void A_updateOutput(THTensor *input, THTensor *output, accreal lambda);")
    )
    compile(stubs, "functions.pyi", "exec")
    assert "def apply(cls, input: Tensor, lambda_: float) -> Tensor" in stubs
    with pytest.raises(HeaderError, match="no tensor can be called 'in'"):
        emit_c.check_supported(parse_header_text("void f(THTensor *in);"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The generated files and the header of the source tree."""
    for name in ("generic", "lib/THNN/generated", "thnn/_generated"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs/functions.md", tmp_path / "docs")
    return tmp_path


def snapshot(tree: Path) -> dict[str, bytes]:
    return {str(p.relative_to(tree)): p.read_bytes() for p in tree.rglob("*") if p.is_file()}


def test_a_function_without_a_kernel_is_named() -> None:
    line = "x.c:(.text+0x1): undefined reference to `THNN_{}Cubic_updateOutput_{}'\n"
    output = "".join(line.format(real, arch) for real in ("Float", "Double") for arch in ("default", "avx2"))
    told = (
        "Cubic_updateOutput: declared in THNN.h, and no file of generic/ defines THNN_(Cubic_updateOutput)\n"
    )
    assert regenerate._without_kernels(output) == told
    assert regenerate._without_kernels("x.c:1:1: error: expected ';'\n") == ""


def test_a_broken_header_changes_nothing(tree: Path) -> None:
    header = tree / "generic/THNN.h"
    header.write_text(
        header.read_text() + "\nTH_API void THNN_(Bad_updateOutput)(THNNState *state, THTensor **x);\n"
    )
    before = snapshot(tree)
    with pytest.raises(ValueError, match=r"THNN.h:\d+:\d+: "):
        regenerate.regenerate(tree)
    assert snapshot(tree) == before


@pytest.mark.parametrize("ended", [None, signal.SIGTERM, signal.SIGHUP])
def test_a_failed_build_puts_the_generated_files_back(
    ended: signal.Signals | None, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = tree / "generic/THNN.h"
    header.write_text(
        header.read_text()
        + "\nTH_API void THNN_(Extra_updateOutput)(THNNState *state, THTensor *input, THTensor *output);\n"
    )
    before = snapshot(tree)
    written: list[set[str]] = []

    def build(root: Path, output: Path) -> list[str]:
        written.append({name for name, data in snapshot(tree).items() if before.get(name) != data})
        if ended is not None:
            signal.raise_signal(ended)
        raise regenerate.BuildError("no such kernel")

    monkeypatch.setattr(regenerate, "build", build)
    with pytest.raises(regenerate.BuildError if ended is None else SystemExit):
        regenerate.regenerate(tree)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert "lib/THNN/generated/glue.c" in written[0]
    assert snapshot(tree) == before


def test_only_what_changed_is_written(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regenerate, "build", lambda root, output: [])
    said: list[str] = []
    regenerate.regenerate(tree, said.append)
    assert said == ["everything is up to date"]
    stub = tree / "thnn/_generated/functions.pyi"
    stub.write_text("stale\n")
    assert list(regenerate.stale(regenerate.generate(tree))) == [stub]
    others = {p: p.stat().st_mtime_ns for p in tree.rglob("*") if p.is_file() and p != stub}
    said.clear()
    regenerate.regenerate(tree, said.append)
    assert said == ["wrote thnn/_generated/functions.pyi"]
    assert {p: p.stat().st_mtime_ns for p in others} == others


def test_regenerate_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["regenerate", "--check"]) == 0
    assert capsys.readouterr().out == ""
