"""The commands that search for errors with random calls, generated tensors and failing allocations, for a few calls."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import thnn
from tools import chaos, fuzz, memory, models, soak
from tools.progress import progress

ROOT = Path(__file__).resolve().parent.parent.parent


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


BARS: dict[str, tuple[Callable[[], int], str]] = {
    "soak": (lambda: soak.soak(1, 0, 2, 0, ["Tanh"]), r" 0/2 \["),
    "threads": (lambda: soak.concurrent(1, 0, 1e-4, 2, ["Tanh"]), r"0 different calls \["),
    "models": (models.main, r"0 models \["),
    "memory": (lambda: memory.repeat(["Tanh"], 1), r" 0/1 \["),
    "chaos": (chaos.main, r" 0/1 \["),
    "fuzz": (fuzz.main, r"0 examples \["),
}


@pytest.mark.parametrize("name", BARS)
def test_progress(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A command that prints its result at its end shows a bar, and removes it."""
    arguments = {"models": ["--models", "1", "--compile", "0"], "chaos": ["--trials", "1"]}
    monkeypatch.setattr(sys, "argv", [name, *arguments.get(name, ["--minutes", "0.001"])])
    monkeypatch.setattr(soak, "BATCH", 2)
    monkeypatch.setattr(chaos, "attempt", lambda seed, numbers: {n: (True, []) for n in numbers})
    done = subprocess.CompletedProcess([], 0, "5 passing, 0 failing, 1 invalid", "")
    monkeypatch.setattr(fuzz.subprocess, "run", lambda *arguments, **keywords: done)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    command, bar = BARS[name]
    assert command() == 0
    assert re.search(bar, terminal.getvalue())
    assert terminal.getvalue().endswith("\r")
    assert capsys.readouterr().out


def test_no_bar_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert [*progress([1, 2], "calls")] == [1, 2]
    assert capsys.readouterr() == ("", "")


def test_random_calls() -> None:
    done = run("tools.soak", "--calls", "60", "Tanh", "SpatialMaxPooling", "Linear", "BCECriterion")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^seed 1: 60 calls of 4 modules and functions in \d+ s\ncompared: ", done.stdout)


def test_random_calls_find_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A call is repeated by the command that a failure prints."""
    original = soak.Call.results

    def wrong(call: soak.Call, threads: int) -> dict[str, soak.Tensor]:
        return {k: t + 1e-3 for k, t in original(call, threads).items()}

    monkeypatch.setattr(soak.Call, "results", wrong)
    assert soak.soak(1, 5, 1, 0, ["Tanh"]) == 1
    out = capsys.readouterr().out
    assert re.match(r"call 5: Tanh, .*: Failed: Tanh_updateOutput: output", out)
    assert out.endswith("\nrepeat: python -m tools.soak --seed 1 --first 5 --calls 1 Tanh\n")


@pytest.mark.filterwarnings(
    "ignore:The .grad attribute of a Tensor that is not a leaf"
)  # torch's compiler reads it
def test_random_models() -> None:
    for number in range(25):
        assert models.try_model(1, number, with_compile=number == 0) is None


def test_random_models_find_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model is repeated by the command that a failure prints."""
    original = thnn.nn.Conv2d.forward

    def wrong(layer: thnn.nn.Conv2d, input: torch.Tensor) -> torch.Tensor:
        return original(layer, input) + 1e-3

    monkeypatch.setattr(thnn.nn.Conv2d, "forward", wrong)
    monkeypatch.setattr(sys, "argv", ["models", "--models", "25", "--compile", "0"])
    assert models.main() == 1
    out = capsys.readouterr().out
    assert "Conv2d" in out
    assert re.search(r": convert: output 0 differs by \S+ of \S+\n", out)
    assert re.search(r"\npython -m tools.models --seed 1 --first \d+ --models 1 --compile 0\n$", out)


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="needs glibc and a C compiler"
)
def test_failing_allocations() -> None:
    done = run("tools.memory", "faults", "Tanh", "SpatialConvolutionMM", "BatchNormalization")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "; wrong: 0" in done.stdout
    assert "MemoryError: " in done.stdout


def test_generated_arguments() -> None:
    done = run("tools.fuzz", "--minutes", "0.001", "--seed", "3", "-k", "any_tensors and SoftMax")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"seeds 3 to 3: [1-9]\d+ examples in \d+ s\n", done.stdout)
