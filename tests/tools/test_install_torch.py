"""tools/install_torch.py: the build of torch that `make setup` installs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools import cuda, install_torch  # noqa: E402

PUBLIC = ["--extra-index-url", install_torch.CPU_INDEX]


@pytest.fixture(autouse=True)
def without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "is_wanted", lambda: False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(install_torch, "_installed_version", lambda: "")


@pytest.fixture
def constraints(tmp_path: Path) -> Path:
    path = tmp_path / "constraints.txt"
    path.write_text("# torch==1.0\nnumpy==2.4.6\ntorch==2.13.0\n")
    return path


def offer(monkeypatch: pytest.MonkeyPatch, own: str, public: str) -> list[list[str]]:
    """Makes pip find the versions `own`, and with PyTorch's index also `public`; returns the list of its arguments."""
    asked = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        arguments = command[command.index("--timeout") + 2 :]
        asked.append(arguments)
        if arguments and public == "silence":
            raise subprocess.TimeoutExpired(command, options["timeout"])
        return subprocess.CompletedProcess(command, 0, own + (public if arguments else ""), "")

    monkeypatch.setattr(subprocess, "run", run)
    return asked


def test_the_cpu_build_comes_from_the_index_of_pytorch(
    monkeypatch: pytest.MonkeyPatch, constraints: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    offer(monkeypatch, "2.14.0, 2.13.0", ", 2.13.0+cpu")
    assert install_torch.pip_arguments(constraints) == PUBLIC
    assert not capsys.readouterr().err


def test_an_index_of_the_user_with_the_cpu_build_suffices(
    monkeypatch: pytest.MonkeyPatch, constraints: Path
) -> None:
    asked = offer(monkeypatch, "2.14.0, 2.13.0+cpu", "")
    assert install_torch.pip_arguments(constraints) == []
    assert asked == [[]]


@pytest.mark.parametrize("public", ["silence", "", ", 2.14.0+cpu"])
def test_the_size_of_the_gpu_build_is_announced(
    monkeypatch: pytest.MonkeyPatch, constraints: Path, capsys: pytest.CaptureFixture[str], public: str
) -> None:
    asked = offer(monkeypatch, "2.14.0, 2.13.0", public)
    assert install_torch.pip_arguments(constraints) == []
    assert asked == [[], PUBLIC]
    text = capsys.readouterr().err
    assert "3 GB to download" in text and "make setup TORCH_INDEX=URL" in text


def test_without_a_constraint_any_cpu_build_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    offer(monkeypatch, "2.14.0", ", 2.14.0+cpu")
    (tmp_path / "none.txt").touch()
    assert install_torch.pip_arguments(tmp_path / "none.txt") == PUBLIC


def test_nobody_is_asked_where_the_choice_is_made(monkeypatch: pytest.MonkeyPatch, constraints: Path) -> None:
    asked = offer(monkeypatch, "", "")
    assert install_torch.pip_arguments(constraints, "URL") == ["--extra-index-url", "URL"]
    monkeypatch.setattr(cuda, "is_wanted", lambda: True)
    assert install_torch.pip_arguments(constraints) == []
    monkeypatch.setattr(cuda, "is_wanted", lambda: False)
    monkeypatch.setattr(install_torch, "_installed_version", lambda: "2.13.0+cpu")
    assert install_torch.pip_arguments(constraints) == []
    monkeypatch.setattr(sys, "platform", "darwin")
    assert install_torch.pip_arguments(constraints) == []
    assert not asked


def test_another_version_is_replaced(monkeypatch: pytest.MonkeyPatch, constraints: Path) -> None:
    offer(monkeypatch, "2.14.0, 2.13.0", ", 2.13.0+cpu")
    monkeypatch.setattr(install_torch, "_installed_version", lambda: "2.12.0+cpu")
    assert install_torch.pip_arguments(constraints) == PUBLIC


def test_the_program_installs_torch(monkeypatch: pytest.MonkeyPatch, constraints: Path) -> None:
    asked: list[list[str]] = []

    def run(command: list[str]) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["install_torch", str(constraints), "URL"])
    assert install_torch.main() == 3
    (command,) = asked
    assert command[1:] == [
        *("-m", "pip", "install", "--no-compile", "--constraint", str(constraints)),
        *("--extra-index-url", "URL", "torch"),
    ]


def test_a_wrong_value_of_thnn_cuda(
    monkeypatch: pytest.MonkeyPatch, constraints: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("THNN_CUDA", "yes")
    monkeypatch.setattr(sys, "argv", ["install_torch", str(constraints)])
    assert install_torch.main() == 1
    assert capsys.readouterr().err == "THNN_CUDA: expected 0 or 1, got 'yes'\n"
