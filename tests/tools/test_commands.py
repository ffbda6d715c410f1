"""python -m thnn."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from thnn.__main__ import main
from thnn._binding.library import THNN
from thnn._header.registry import modules
from thnn.testing import device_calls


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "thnn", *arguments],
        env={**os.environ, **environment},
        text=True,
        capture_output=True,
        timeout=300,
    )


def error_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The error with which a command refuses its arguments."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    printed, _, error = capsys.readouterr().err.partition(f"\npython -m thnn {arguments[0]}: error: ")
    assert "usage: python -m thnn" in printed
    return error.removesuffix("\n")


@pytest.mark.parametrize(
    "command",
    ["", "info", "doctor", "list", "check", "bench", "new", "upgrade", "torch-support", "regenerate"],
)
@pytest.mark.parametrize("program", ["/somewhere/bin/thnn", "/somewhere/thnn/__main__.py"])
def test_help(
    command: str, program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [program])
    with pytest.raises(SystemExit) as end:
        main([*([command] if command else []), "--help"])
    assert end.value.code == 0
    name = "thnn" if program.endswith("thnn") else "python -m thnn"
    assert capsys.readouterr().out.startswith(f"usage: {name} {command}".rstrip() + " [-h]")


def test_usage_errors_exit_with_2() -> None:
    assert run().returncode == 2
    assert run("frobnicate").returncode == 2


def test_info(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THNN_WINOGRAD", raising=False)
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^THNN_WINOGRAD +not set$", text, re.MULTILINE)
    for word in ("thnn", "torch", "cpu", "instruction set", "threads", "libTHNN.so", "THNN.h"):
        assert word in text
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert Path(facts["library"]).exists() and Path(facts["header"]).exists()


def test_info_tells_the_instruction_set_in_use() -> None:
    facts = json.loads(run("info", "--json", THNN_CPU_CAPABILITY="default").stdout)
    assert facts["instruction set"] == "default"


@pytest.mark.parametrize(
    ("is_emulated", "reason"),
    [
        (False, "thnn was built without CUDA (THNN_CUDA=1 builds"),
        (True, "the emulation is not built (make emulate)"),
    ],
)
def test_info_tells_why_there_is_no_cuda_library(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_emulated: bool, reason: str
) -> None:
    monkeypatch.setattr(THNN, "opened_device_library", (None,))
    monkeypatch.setattr("thnn._binding.device.EMULATION", is_emulated)
    assert main(["info"]) == 0
    assert f"none: {reason}" in capsys.readouterr().out


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == sorted(modules())
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
    assert main(["list", "^spatial.*unpool", "Tanh", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["SpatialMaxUnpooling", "Tanh"]  # without HardTanh
    assert main(["list", "tanh", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == [
        "Tanh", "HardTanh", "GELUTanh", "TanhShrink"
    ]  # fmt: skip


def test_list_and_new_import_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from thnn.__main__ import main\n"
        f"assert main(['list', 'Tanh']) == main(['new', 'Mine', '--directory', {str(tmp_path)!r}]) == 0\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize("command", ["list", "check", "torch-support", "bench"])
def test_names_that_match_nothing(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("thnn.testing.bench.restart_with", lambda environment: None)
    what = "row" if command == "bench" else "module"
    error = error_of([command, "Tahn"], capsys)
    assert error == f"no {what} matches 'Tahn'; did you mean Tanh? python -m thnn list shows all modules"
    for text in ("(", "a{99999999999999999999}", "(" * 3000 + ")" * 3000):
        assert error_of([command, text], capsys).startswith(f"{text!r} is not a regular expression: ")
    too_long = "x" * 5000  # for the name of a header
    assert error_of([command, too_long], capsys).startswith(f"no {what} matches '{too_long}'; ")


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
        ("--threads", "99999999999"),
        ("--rounds", "-1"),
        ("--json", "/nowhere/b.json"),
        ("--plot", "/"),
        ("--json", "/proc/b.json"),  # a folder in which no file can be created
        ("--markdown", "/proc/version"),
        ("--plot", "x" * 5000),
        ("--rounds", "x"),
    ],
)
def test_bench_refuses_before_it_measures(
    arguments: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert arguments[0] in error_of(["bench", *arguments], capsys)


def test_files_of_bench_are_as_before_until_it_writes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("thnn.testing.bench.restart_with", lambda environment: None)
    (tmp_path / "old.md").write_text("old")
    (tmp_path / "link.png").symlink_to(tmp_path / "new.png")
    files = [str(tmp_path / name) for name in ("new.json", "old.md", "link.png")]
    error_of(["bench", "Tahn", "--json", files[0], "--markdown", files[1], "--plot", files[2]], capsys)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.png", "old.md"]
    assert (tmp_path / "old.md").read_text() == "old" and (tmp_path / "link.png").is_symlink()


def test_check_and_its_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "Tanh"]) == 0
    assert "Tanh" in capsys.readouterr().out


def test_bench_of_one_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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
    # The exit status depends on the load of the machine, the written files do not.
    assert result.returncode in (0, 1), result.stderr
    measured = json.loads(data.read_text())
    assert measured["measurements"][0]["timings"]["thnn contiguous"]["best"] > 0
    assert "GFLOP/s" in measured["machine"]["peak float32"]
    assert "| raw call, 8 tensors" in table.read_text()
    assert plot.read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr("thnn.testing.bench.restart_with", lambda environment: None)
    assert main(["bench", "raw call", "--rounds", "1", "--json"]) in (0, 1)
    out, err = capsys.readouterr()
    assert "raw call" in err
    monkeypatch.setattr("thnn._roofline.exchange_seconds", lambda: 167e-9)
    main(["bench", "raw call", "--rounds", "1"])
    explained = "a cache line took 167 to 167 ns between two cores; above 100 ns they have no cache in common"
    assert explained in capsys.readouterr().out
    assert json.loads(out)["measurements"][0]["row"] == measured["measurements"][0]["row"]


def test_bench_in_a_half_type(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("thnn.testing.bench.restart_with", lambda environment: None)
    # torch has the soft-max in bfloat16, and not the average over volumes of its local response normalization.
    assert (
        main(["bench", "SoftMax|SpatialCrossMapLRN", "--rounds", "1", "--dtype", "bfloat16", "--json"]) == 0
    )
    measured = {m["row"]: m for m in json.loads(capsys.readouterr().out)["measurements"]}
    for row, measurement in measured.items():
        assert measurement["other_ratio"] > 0 and not measurement["goals"]
        assert (measurement["ratio"] is None) == ("CrossMap" in row or "lrn" in row.lower()), row


@pytest.mark.parametrize(("option", "package"), [("--plot", "matplotlib"), ("--markdown", "tabulate")])
def test_bench_reports_missing_packages_before_it_measures(
    option: str, package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from thnn.testing import bench as _bench

    monkeypatch.setattr(_bench, "restart_with", lambda environment: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    error = error_of(["bench", "raw call", option, "x.out"], capsys)
    assert error == f"{option} needs {package}: pip install {package}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--plot x.foo", "--plot: expected a name that ends in .png or .svg or .pdf, got 'x.foo'"),
        (
            "--json x.json --markdown ./x.json",
            "--json, --markdown, --plot: expected a file each, got one twice",
        ),
    ],
)
def test_bench_refuses_files_before_it_measures(
    arguments: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("thnn.testing.bench.restart_with", lambda environment: None)
    assert error_of(["bench", "raw call", *arguments.split()], capsys) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--device cuda --threads 2", "--threads has no effect with --device cuda"),
        (
            "--device cuda --return-freed-memory",
            "--return-freed-memory has no effect with --device cuda",
        ),
        ("--device cuda --dtype bfloat16", "--dtype has no effect with --device cuda"),
        (
            "--dtype float16 --no-compile",
            "--no-compile has no effect with --dtype, which leaves out the networks",
        ),
        ("Mine.h --markdown x.md", "--markdown has no effect with FILE.h"),
        ("Mine.h --return-freed-memory", "--return-freed-memory has no effect with FILE.h"),
    ],
)
def test_bench_refuses_options_without_effect(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert error_of(["bench", *arguments.split()], capsys) == message


def test_headers_without_their_suffix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from thnn.testing import bench as _bench

    monkeypatch.setattr(_bench, "restart_with", lambda environment: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Mine.h").write_text("")
    for name in ("Mine", "./Mine"):
        error = error_of(["check", name], capsys)
        assert error.startswith(f"no module matches {name!r}; did you mean {name}.h? ")
        with pytest.raises(SystemExit):
            main(["bench", name])
        noted, *_, refused = capsys.readouterr().err.splitlines()
        assert noted == f"rows of thnn that match {name!r}; for those of the header: {name}.h"
        assert f"no row matches {name!r}; did you mean {name}.h? " in refused


def test_check_on_a_gpu_runs_under_compute_sanitizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "bin" / "compute-sanitizer"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$PYTORCH_NO_CUDA_MEMORY_CACHING $@"\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert main(["check", "Abs", "--device", "cuda:1", "--sanitize"]) == 1
    assert capfd.readouterr().out == (
        f"1 --report-api-errors=no --error-exitcode=1 {sys.executable} -m thnn check Abs --device cuda:1\n"
    )


def test_check_without_compute_sanitizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("thnn.testing.compute_sanitizer.find_programs", lambda name: iter(()))
    error = error_of(["check", "Abs", "--device", "cuda", "--sanitize"], capsys)
    assert error.endswith("pip install nvidia-cuda-sanitizer-api")


def test_bench_ends_when_one_of_its_processes_fails() -> None:
    from thnn.testing.bench_sync import _wait

    sources = ("import time; time.sleep(60)", "raise SystemExit(3)")
    processes = [subprocess.Popen([sys.executable, "-c", source]) for source in sources]
    try:
        with pytest.raises(ValueError, match="a process of the benchmark failed"):
            _wait(processes, 30)
        with pytest.raises(ValueError, match="has not ended after 0 s"):
            _wait(processes[:1], 0)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_an_error_while_arguments_are_copied_to_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("no memory")

    monkeypatch.setattr(device_calls, "_copy", fail)
    with pytest.raises(MemoryError, match="no memory"):
        device_calls.call_on_device(lambda x: None, [torch.ones(2)], torch.device("cpu"))


def test_bench_of_an_overhead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("thnn.testing.bench.restart_with", lambda environment: None)
    data, table = tmp_path / "b.json", tmp_path / "b.md"
    options = ["--rounds", "3", "--json", str(data), "--markdown", str(table)]
    assert main(["bench", r"nn\.BatchNorm2d train", *options]) in (0, 1)
    assert " of 3 µs more" in capsys.readouterr().out
    (measured,) = json.loads(data.read_text())["measurements"]
    assert set(measured["timings"]) == {"Function", "layer"}
    assert " of 3 µs more" in table.read_text()


def test_regenerate_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["regenerate", "--check"]) == 0
    assert capsys.readouterr().out == ""


def test_every_slow_name_is_one_of_a_folder_or_file(pytestconfig: pytest.Config) -> None:
    tests = Path(__file__).parent.parent
    names = {path.name for path in (*tests.iterdir(), *tests.glob("*/test_*.py"))}
    (plugin,) = (p for p in pytestconfig.pluginmanager.get_plugins() if hasattr(p, "_SLOW"))
    assert names >= plugin._SLOW
