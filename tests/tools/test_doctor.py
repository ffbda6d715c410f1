"""python -m thnn doctor."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from thnn import _doctor
from thnn.__main__ import main

SYSTEMS = {
    "apt": {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"},
    "dnf": {"ID": "fedora"},
    "": {"ID": "arch"},
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THNN_CACHE", str(tmp_path / "cache"))


def on(manager: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Makes this the system of a package manager."""
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "darwin" if manager == "macos" else "linux")
    if manager == "conda":
        (tmp_path / "conda-meta").mkdir()
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: SYSTEMS.get(manager, {"ID": "debian"}))


def test_nothing_is_missing_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in ("Python", "torch", "cffi", "pycparser", "library", "C compiler", "cache", "CUDA"):
        assert any(line.startswith(f"{name} ") for line in lines)
    assert main(["doctor", "--build"]) == 0
    assert "MISSING" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("manager", "commands"),
    [
        ("apt", ("sudo apt-get install gcc libc6-dev", "sudo apt-get install make")),
        ("dnf", ("sudo dnf install gcc", "sudo dnf install make")),
        ("conda", ("conda install --channel conda-forge gcc", "conda install --channel conda-forge make")),
        ("macos", ("xcode-select --install",)),
        ("", ()),
    ],
)
@pytest.mark.usefixtures("without_ziglang")
def test_a_machine_without_a_compiler(
    manager: str,
    commands: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    on(manager, monkeypatch, tmp_path)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["doctor", "--build"]) == 1
    text = capsys.readouterr().out
    assert "C compiler      MISSING, for a build and thnn.load: none of cc, gcc and clang on PATH\n" in text
    assert "make            MISSING, for make setup: not on PATH\n" in text
    told = {line.partition("$ ")[2] for line in text.splitlines() if "$ " in line}
    assert told == set(commands)


def test_a_compiler_without_headers_or_openmp(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho note: this\necho 'x.c:1: fatal error: no such file' >&2\nexit 1\n")
    compiler.chmod(0o700)
    on("apt", monkeypatch, tmp_path)
    monkeypatch.setenv("CC", str(compiler))
    assert main(["doctor", "--build"]) == 1
    text = capsys.readouterr().out
    assert "C compiler      MISSING, for a build and thnn.load: x.c:1: fatal error: no such file\n" in text
    assert "OpenMP          MISSING, for a build: x.c:1: fatal error: no such file\n" in text
    assert "$ sudo apt-get install gcc\n" in text


def test_a_python_without_its_development_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on("apt", monkeypatch, tmp_path)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "ensurepip" else find_spec(name)
    )
    monkeypatch.setattr("sysconfig.get_path", lambda name: "/nowhere")
    assert main(["doctor", "--build"]) == 1
    text = capsys.readouterr().out
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    assert f"$ sudo apt-get install {version}-venv\n" in text
    assert "no /nowhere/Python.h\n" in text and f"$ sudo apt-get install {version}-dev\n" in text


def test_an_environment_without_packages(tmp_path: Path) -> None:
    # -S: without site-packages, in which torch and cffi are.
    result = subprocess.run(
        [sys.executable, "-S", "-m", "thnn", "doctor"],
        env={**os.environ, "PYTHONPATH": str(Path(_doctor.__file__).parent.parent)},
        cwd=tmp_path,
        text=True,
        capture_output=True,
    )
    assert (result.returncode, result.stderr) == (1, "")
    assert "torch           MISSING, for thnn: not installed\n" in result.stdout
    assert "library         MISSING, for thnn: it needs torch and cffi\n" in result.stdout


def test_a_library_that_cannot_be_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "thnn._binding.library", None)
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert (
        "library         MISSING, for thnn: ModuleNotFoundError: import of thnn._binding.library halted"
        in text
    )
    assert f"$ {sys.executable} -m thnn regenerate\n" in text


def test_a_python_that_is_too_old(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_doctor, "_IS_TOO_OLD", True)
    for arguments in ([], ["--build"]):
        assert main(["doctor", *arguments]) == 1
        text = capsys.readouterr().out
        assert text.startswith("Python          MISSING, for thnn: ") and "make setup PYTHON=" in text
        assert len(text.splitlines()) == 2


def test_things_without_which_thnn_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("THNN_CACHE", str(tmp_path / "file"))
    on("dnf", monkeypatch, tmp_path)
    which = shutil.which

    def without_cxx(name: str, path: Any = None) -> str | None:
        return None if name in ("c++", "g++", "clang++", "cmake") else which(name, path=path)

    monkeypatch.setattr(shutil, "which", without_cxx)
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "cache           MISSING, for thnn.load: " in text and "$ export THNN_CACHE=FOLDER\n" in text
    assert "C++ compiler    MISSING, for torch.compile and make test: none of c++" in text
    assert "$ sudo dnf install gcc-c++\n" in text
    assert "-m pip install cmake ninja\n" in text


def test_a_driver_of_a_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    monkeypatch.setattr("ctypes.util.find_library", lambda name: "libcuda.so.1")
    monkeypatch.setattr("thnn._nvcc.find_nvcc", lambda: None)
    monkeypatch.setattr("thnn._binding.device.device_library", lambda: None)

    def of_cuda() -> str:
        assert main(["doctor"]) == 0
        return capsys.readouterr().out.partition("\nCUDA ")[2]

    monkeypatch.setattr(torch.version, "cuda", None)
    assert "torch is the build for CPUs" in (text := of_cuda())
    assert "-m pip install --force-reinstall --no-deps torch==" in text and "+cpu" not in text
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert "-m pip install 'cuda-toolkit[nvcc,cccl]==13.0.*'" in of_cuda()
    monkeypatch.setattr("thnn._nvcc.find_nvcc", lambda: Path("/nvcc"))
    assert f"$ THNN_CUDA=1 {sys.executable} -m thnn regenerate" in of_cuda()
