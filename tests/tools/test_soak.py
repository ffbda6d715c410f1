"""The commands that search for errors with random calls, generated tensors and failing allocations, for a few calls."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import thnn
from tools import models, soak

ROOT = Path(__file__).resolve().parent.parent.parent


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


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
