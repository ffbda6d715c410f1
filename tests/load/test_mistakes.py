"""Mistakes in kernels, which the checks of loaded functions find: a part of those in `mistakes.py`, or all of them with
`make mutants`."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mistakes import BY_HAND, MISTAKES, plant, write

import thnn
from thnn.testing.check import CHECKS, plan, run_check

PARAMETERS = [
    pytest.param(name, marks=[] if mistake.in_suite else [pytest.mark.mutants])
    for name, mistake in MISTAKES.items()
]


@pytest.fixture(autouse=True)
def _nearest() -> Iterator[None]:
    """Restores the rounding mode, which one of the kernels changes."""
    yield
    assert ctypes.CDLL(None).fesetround(0) == 0


@pytest.mark.parametrize("name", PARAMETERS)
def test_check_finds_mistakes(name: str, tmp_path: Path) -> None:
    mistake = MISTAKES[name]
    plant(mistake, tmp_path)
    if mistake.ends_process:
        command = [sys.executable, "-m", "thnn", "check", str(tmp_path / "Mine.h")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 1
        assert mistake.message in done.stderr
        return
    found = [c for c in plan(registry=thnn.load(tmp_path / "Mine.h")) if c.check == mistake.check]
    messages = [f"{r.sample}: {r.message}" for r in map(run_check, found) if not r.ok]
    assert messages
    assert mistake.message in messages[0]


@pytest.mark.parametrize("kind", BY_HAND)
def test_kernels_by_hand_are_right(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(kind, tmp_path)
    assert thnn.load(tmp_path / "Mine.h").check(), capsys.readouterr().out


def test_every_check_finds_a_mistake() -> None:
    """bfloat16 and float16 are computed by copies in float32, which is what the mistakes in it are found in."""
    wanted = {*CHECKS, "error inputs"} - {"float16", "bfloat16"}
    assert {m.check for m in MISTAKES.values() if m.in_suite and not m.ends_process} >= wanted - {"numbers"}
    assert {m.check for m in MISTAKES.values()} >= wanted
