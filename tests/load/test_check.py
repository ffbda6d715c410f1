"""Checks, sanitizer, benchmark and templates of loaded functions."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from new_process import Program

import thnn
from thnn.__main__ import main
from thnn._load import templates
from thnn._load.templates import KINDS
from thnn._load.templates import write as write_templates

Write = Callable[..., Path]


@pytest.mark.parametrize("kind", KINDS)
def test_templates(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_templates("Mine", kind, tmp_path, package=False)
    loaded = thnn.load(tmp_path / "Mine.h")
    assert loaded.check(), capsys.readouterr().out
    assert capsys.readouterr().out.endswith(" 0 failed\n")


def test_new_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["new", "lower", "--directory", str(tmp_path)])
    assert main(["new", "Mine", "--directory", str(tmp_path)]) == 0
    with pytest.raises(SystemExit, match="2"):
        main(["new", "Mine", "--directory", str(tmp_path)])
    assert "Mine.h exists" in capsys.readouterr().err
    assert {p.name for p in tmp_path.iterdir()} == {"Mine.h", "Mine.c", "Mine_case.py", "test_Mine.py"}


@pytest.mark.parametrize("name", ["Torch", "Numpy", "Json", "Sys", "Thnn", "Class"])
def test_new_refuses_packages_that_would_hide_others(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["new", name, "--package", "--directory", str(tmp_path)])
    error = capsys.readouterr().err
    assert error.partition(" error: ")[2].startswith(
        f"NAME: the package of {name} would be called {name.lower()}, which "
    )
    assert error.endswith(f"; choose another name, such as My{name}\n")
    assert not [*tmp_path.iterdir()]
    # Without --package nothing is imported by this name, so it is accepted.
    assert main(["new", name, "--directory", str(tmp_path)]) == 0


def test_new_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package may be written into the folder of an earlier one, whose name Python could import, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_torch").mkdir()
    assert main(["new", "MyTorch", "--package"]) == 0
    assert (tmp_path / "my_torch" / "src" / "my_torch" / "MyTorch.h").exists()
    # In the parent folder, Python takes the folder my_torch for a namespace package of that name.
    for folder in (tmp_path, tmp_path / "my_torch"):
        command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, tmp_path / "my_torch"]
        done = subprocess.run(command, cwd=folder, text=True, capture_output=True)
        assert done.returncode == 2
        wanted = "pip install --no-build-isolation . beside pyproject.toml"
        assert f"ImportError: my_torch is not installed; run {wanted}\n" in done.stdout


@pytest.mark.parametrize(
    ("version", "needed"),
    [
        ("0.1.0", "thnn>=0.1.0,<0.2"),
        ("0.19.3", "thnn>=0.19.3,<0.20"),
        ("1.0.0", "thnn>=1.0.0,<2"),
        ("12.3.4", "thnn>=12.3.4,<13"),
    ],
)
def test_packages_state_the_versions_that_they_need(
    version: str, needed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next version in which, by CHANGELOG.md, a C structure may change its layout is excluded."""
    monkeypatch.setattr(templates, "__version__", version)
    write_templates("Mine", "pointwise", tmp_path, package=True)
    text = (tmp_path / "mine" / "pyproject.toml").read_text()
    assert f'requires = ["setuptools>=77", "{needed}"]' in text
    assert f'dependencies = ["{needed}"]' in text


def test_bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_templates("Mine", "pointwise", tmp_path, package=False)
    thnn.load(tmp_path / "Mine.h").bench(rounds=1)
    assert "Mine (64,1000)" in capsys.readouterr().out


def test_bench_gives_references_the_defaults_of_scalars(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_templates("Mine", "pointwise", tmp_path, package=False)
    case = tmp_path / "Mine_case.py"
    case.write_text(case.read_text().replace(', "beta": beta', ""))
    thnn.load(tmp_path / "Mine.h").bench(rounds=1)
    assert "Mine (64,1000)" in capsys.readouterr().out


BREAKS = {
    "slope(x, beta) * g": ("g", "gradients"),
    "swish(x, beta)": ("swish(x, beta) + (real)1e-3", "reference"),
}


@pytest.mark.parametrize("good", BREAKS)
def test_check_finds_a_broken_kernel(good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad, check = BREAKS[good]
    write_templates("Mine", "pointwise", tmp_path, package=False)
    kernel = tmp_path / "Mine.c"
    assert kernel.read_text().count(f", {good}") == 1
    kernel.write_text(kernel.read_text().replace(f", {good}", f", {bad}"))
    assert not thnn.load(tmp_path / "Mine.h").check(["Mine"])
    assert any(
        line.split()[1] == check and "FAILED" in line
        for line in capsys.readouterr().out.splitlines()[:-1]
        if line.startswith("Mine ")
    )


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a template that is compiled once, for tests that change its case only."""
    folder = tmp_path_factory.mktemp("compiled")
    write_templates("Mine", "pointwise", folder, package=False)
    return folder


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ("None", "expected a tensor, or a tuple of a tensor and a dict, got None"),
        ("input.tolist()", "expected a tensor, or a tuple of a tensor and a dict, got list"),
        ("(input, None)", "expected a dict of tensors, with names among output, got None"),
        ("(input, {'ouput': input})", "expected names among output, got 'ouput'"),
        ("(input, {'output': 3})", "expected a tensor output, got 3"),
    ],
)
def test_check_names_a_wrong_reference(
    result: str, message: str, compiled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_templates("Mine", "pointwise", tmp_path, package=False)
    case = (tmp_path / "Mine_case.py").read_text()
    (compiled / "Mine_case.py").write_text(re.sub(r"(?<=    return )input \*.*", result, case))
    assert not thnn.load(compiled / "Mine.h").check()
    out = capsys.readouterr().out
    assert f"(and 2 more): Mine_updateOutput: the reference of the case Mine: {message}\n" in out


def test_check_needs_cases(write: Write, tmp_path: Path) -> None:
    loaded = thnn.load(write())
    with pytest.raises(ValueError, match=r"there is no file of cases .*Cube_case\.py"):
        loaded.check()
    with pytest.raises(ValueError, match="has no module 'Other'"):
        loaded.check(["Other"])
    write_templates("Mine", "pointwise", tmp_path, package=False)
    (tmp_path / "Cube_case.py").write_text((tmp_path / "Mine_case.py").read_text())
    with pytest.raises(ValueError, match="a case of Mine, which the header does not declare"):
        loaded.check()


def test_bench_needs_cases(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"there is no file of cases .*Cube_case\.py"):
        thnn.load(write()).bench(rounds=1)
    assert capsys.readouterr().out == ""


CRITERION = """\
void THNN_(Mine_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *output, bool sizeAverage)
{
  CRITERION_OUTPUT_(target, (), logCosh(x - t), )
}
void THNN_(Mine_updateGradInput)(THNNState *state, THTensor *input, THTensor *target, THTensor *gradInput,
                                 bool sizeAverage)
{
  CRITERION_GRAD_INPUT_(target, (), th_tanh(x - t) * norm)
}
"""


@pytest.mark.parametrize("kind", ["layer", "criterion"])
def test_functions_without_a_state(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They use the state of their thread, which then has the new gradients and the factor of a criterion's gradient."""
    write_templates("Mine", kind, tmp_path, package=False)
    header, kernel = tmp_path / "Mine.h", tmp_path / "Mine.c"
    header.write_text(re.sub(r" *THNNState \*state, *// .*\n", "", header.read_text()))
    text = kernel.read_text()
    if kind == "criterion":
        text = text[: text.index("/* CRITERION(")] + CRITERION
    text, count = re.subn(
        r"(THNN_\(Mine_\w+\)\()THNNState \*state,\s*([^)]*\)\n{)",
        r"\1\2\n  THNNState *const state = THNN_lastState();",
        text,
    )
    assert count == (3 if kind == "layer" else 2)
    kernel.write_text(text)
    assert thnn.load(header).check(), capsys.readouterr().out


def test_sanitize(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One element too many is written, where neither a value nor a gradient changes."""
    write_templates("Mine", "window", tmp_path, package=False)
    kernel = tmp_path / "Mine.c"
    right = kernel.read_text()
    loop = "for (int64_t t = 0; t < input->size[2]; t++)"
    assert right.count(loop) == 1
    kernel.write_text(right.replace(loop, loop.replace("<", "<=")))
    line = 1 + right[: right.index(loop)].count("\n")
    assert not thnn.load(tmp_path / "Mine.h").check(sanitize=True)
    out = capfd.readouterr().out
    assert out.startswith("Mine_updateGradInput, sample 'windows apart' in float32: heap-buffer-overflow")
    assert out.rstrip().endswith(f"at {kernel}:{line}")


def test_sanitize_with_meta_tensors(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A kernel that adds to tensors of the caller also if these have no data."""
    write_templates("Mine", "layer", tmp_path, package=False)
    kernel = tmp_path / "Mine.c"
    before, _, after = kernel.read_text().rpartition("  THNN_RETURN_IF_META(state);\n")
    assert "Mine_accGradParameters" in before
    kernel.write_text(before + after)
    assert not thnn.load(tmp_path / "Mine.h").check(sanitize=True)
    out = capfd.readouterr().out
    assert re.match(
        r"Mine_accGradParameters, sample '[^']*' in float32, meta tensors, for which the function has to end at"
        r" THNN_RETURN_IF_META\(state\): ",
        out,
    )
    assert f"at {kernel}:" in out


def test_sanitize_with_an_expanded_gradient(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A kernel that ignores strides reads beyond the single number of an expanded tensor."""
    write_templates("Mine", "pointwise", tmp_path, package=False)
    (tmp_path / "Mine.c").write_text(
        '#include "pointwise.h"\n'
        "POINTWISE_OUTPUT(Mine, (SCALAR(beta)), beta * x)\n"
        "void THNN_(Mine_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,\n"
        "                                 THTensor *gradInput, accreal beta)\n"
        "{\n"
        "  THNN_RESIZE_LIKE(gradInput, input);\n"
        "  THNN_RETURN_IF_META(state);\n"
        "  for (int64_t i = 0; i < THNNTensor_numel(input); i++)\n"
        "    TH_DATA(gradInput)[i] = (real)beta * TH_DATA(gradOutput)[i];\n"
        "}\n"
    )
    assert not thnn.load(tmp_path / "Mine.h").check(sanitize=True)
    out = capfd.readouterr().out
    assert "gradOutput of one number, expanded: its strides are 0: heap-buffer-overflow" in out
    assert f"at {tmp_path / 'Mine.c'}:9" in out


def test_sanitize_without_cases(tmp_path: Path) -> None:
    write_templates("Mine", "pointwise", tmp_path, package=False)
    (tmp_path / "Mine_case.py").unlink()
    with pytest.raises(
        ValueError, match=r"^there is no file of cases .*Mine_case\.py, with the reference and the samples"
    ):
        thnn.load(tmp_path / "Mine.h").check(sanitize=True)


def test_a_kernel_that_ends_the_process(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_templates("Mine", "pointwise", tmp_path, package=False)
    kernel, header = tmp_path / "Mine.c", str(tmp_path / "Mine.h")
    write = "if (THNNTensor_numel(output) > 0) TH_DATA(output)[100000000] = 1;"
    kernel.write_text(
        f"""#include "pointwise.h"
POINTWISE_GRAD_INPUT(Mine, (SCALAR(beta)), FROM_INPUT, g)
void THNN_(Mine_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal beta)
{{
  THNN_RESIZE_LIKE(output, input);
  THNN_RETURN_IF_META(state);
  {write}
}}
"""
    )
    assert main(["check", header]) == 1
    out, err = capfd.readouterr()
    assert f"{header}: SIGSEGV ended the checks; again with --sanitize\n" in err
    assert re.match(r"Mine_updateOutput, sample '[^']*' in float32: ", out)
    assert out.endswith(f", at {kernel}:7\n")

    def crash(command: list[str], **keywords: object) -> subprocess.Popen[bytes]:
        assert "--json" in command
        return popen(["sh", "-c", "kill -SEGV $$"])

    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", crash)
    assert main(["check", header, "--json"]) == 1
    out, err = capfd.readouterr()
    assert (out, "SIGSEGV" in err) == ("", True)


@pytest.mark.parametrize("options", [[], ["--sanitize"]])
def test_sigterm_ends_the_process_of_the_checks(options: list[str], tmp_path: Path) -> None:
    write_templates("Mine", "pointwise", tmp_path, package=False)
    cases, number = tmp_path / "Mine_case.py", tmp_path / "number"
    cases.write_text(
        f"""import os, pathlib, sys, time
if {"'LD_PRELOAD' in os.environ" if options else "'--in-this-process' in sys.argv"}:
    file = pathlib.Path({str(number)!r})
    file.with_suffix(".new").write_text(str(os.getpid()))
    file.with_suffix(".new").rename(file)
    time.sleep(60)
"""
        + cases.read_text()
    )
    command = [sys.executable, "-m", "thnn", "check", *options, str(tmp_path / "Mine.h")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environment) as process:
        _wait_until(lambda: number.exists() or process.poll() is not None)
        process.terminate()
        assert process.wait(timeout=30) == 128 + signal.SIGTERM
    state = Path("/proc", number.read_text(), "stat")
    # Gone, or a zombie that its new parent has not waited for.
    _wait_until(lambda: not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z")


def _wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_devices(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_templates("Mine", "pointwise", tmp_path, package=False)
    loaded = thnn.load(tmp_path / "Mine.h")
    with pytest.raises(ValueError, match="device: expected cpu or cuda, got nonsense"):
        loaded.check(device="nonsense")
    with pytest.raises(ValueError, match="device: expected cpu with sanitize, got cuda"):
        loaded.check(sanitize=True, device="cuda")
    assert main(["check", str(tmp_path / "Mine.h"), "--device", "nonsense"]) == 1
    assert "expected cpu or cuda, got nonsense" in capfd.readouterr().err
    for option in (["--device", "nonsense"], ["--json"]):
        with pytest.raises(SystemExit):
            main(["check", str(tmp_path / "Mine.h"), "--sanitize", *option])
        assert f"{option[0]} has no effect with --sanitize" in capfd.readouterr().err


def test_guard_page() -> None:
    """A tensor in guarded memory ends where reading one more element ends the process."""
    program = """
import ctypes, torch
from thnn._load.sanitized_process import guarded
t = guarded(torch.arange(6.).reshape(2, 3).t(), {at_end})
assert t.tolist() == [[0, 3], [1, 4], [2, 5]] and t.stride() == (1, 3)
beyond = t.data_ptr() + ({beyond})
print("reads", flush=True)
ctypes.c_float.from_address(beyond).value
print("survived")
"""
    for at_end, beyond in ((True, "24"), (False, "-4")):
        done = Program("-c", program.format(at_end=at_end, beyond=beyond)).wait()
        assert done.stdout == "reads\n", done.stderr
        assert done.returncode < 0
