"""The code and commands of the README and of the examples, run as a reader would."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest
from new_process import Program
from pages import printed

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text()
EXAMPLES = ROOT / "examples"
DIGITS = [str(EXAMPLES / "digits.py"), "--threads", "1"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("page", ["README.md", "docs/first-steps.md", "docs/layers.md"])
def test_code_of_pages(tmp_path: Path, page: str, run_program: Run) -> None:
    first, *others = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert len(first.splitlines()) <= 20
    example = "".join([first, *others])
    (tmp_path / "example.py").write_text(example)
    shown = printed(example)
    assert shown
    assert run_program(tmp_path / "example.py").stdout.splitlines() == shown


def test_reports_of_the_page_on_functional_calls(tmp_path: Path, run_program: Run) -> None:
    blocks = re.findall(r"```(\w+)\n(.*?)```", (ROOT / "docs" / "compile.md").read_text(), re.DOTALL)
    assert {kind for kind, _ in blocks} == {"python", "text"}
    (tmp_path / "example.py").write_text("".join(text for kind, text in blocks if kind == "python"))
    shown = "".join(text for kind, text in blocks if kind == "text")
    assert run_program(tmp_path / "example.py").stdout == shown


def test_readme_commands_exist() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    targets = re.findall(r"^make (\w+) +\S", listed, re.MULTILINE)
    assert {"demo", "test", "bench", "lint", "docs", "sanitize"} <= set(targets)
    assert set(re.findall(r"^make (\w+)", README, re.MULTILINE)) <= set(targets)


def test_demo_learns(tmp_path: Path) -> None:
    done = Program(*DIGITS, cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    *lines, last = done.stdout.splitlines()
    accuracy = re.fullmatch(r"test accuracy: (\d+\.\d\d) %", last)
    assert accuracy is not None
    assert float(accuracy[1]) >= 97
    # Without a terminal: a line per epoch, and no control characters.
    epochs = [line for line in lines if re.match(r"(thnn |torch) epoch ", line)]
    assert len(epochs) == 20
    assert "\r" not in done.stdout
    assert "\x1b" not in done.stdout
    for name in ("thnn", "torch"):
        assert any(re.fullmatch(rf"{name} +trained in \d+\.\d\d s", line) for line in lines)
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    # With equal initial values and the same order of images, the first steps are the same.
    first = {line.split()[0]: line.split(":")[1] for line in reversed(epochs)}
    assert first["thnn"] == first["torch"]


def on_a_terminal(command: list[str], cwd: Path) -> str:
    try:
        leader, follower = pty.openpty()
    except OSError as error:
        pytest.skip(f"needs a pseudo-terminal, of /dev/pts: {error}")
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 25, 100, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    process = subprocess.Popen(command, cwd=cwd, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    text = b""
    try:
        while chunk := os.read(leader, 4096):
            text += chunk
    except OSError:  # on Linux: the other side has closed the terminal
        pass
    os.close(leader)
    assert process.wait() == 0, text
    return text.decode()


def test_demo_on_a_terminal(tmp_path: Path) -> None:
    text = on_a_terminal([sys.executable, *DIGITS, "--epochs", "1", "--output", "other.png"], tmp_path)
    assert re.search(r"thnn .*100%.*45/45.*loss \d\.\d+, accuracy +\d+\.\d+%", text)
    assert " epoch " not in text
    assert "\x1b[32m" in text
    assert (tmp_path / "other.png").exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("no_color", "colored"), [("", True), ("1", False)])
def test_demo_on_a_terminal_without_colors(
    no_color: str, colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import digits

    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys, "stdout", Terminal())
    progress = digits.Progress("thnn", 1, 1)
    progress.batch(0.5, 0.25)
    progress.close()
    text = sys.stdout.getvalue()  # type: ignore[attr-defined]
    assert "loss 0.5000, accuracy 25.00%" in text
    assert ("\x1b[32m" in text) is colored


def test_demo_refuses(run_program: Run) -> None:
    done = run_program(EXAMPLES / "digits.py", "--epochs", "0")
    assert done.returncode == 2
    assert "--epochs: '0' is not a positive integer" in done.stderr


def test_moving_statistics(run_program: Run) -> None:
    done = run_program(EXAMPLES / "moving_statistics.py")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    # The output is the table of the page.
    assert f"```text\n{done.stdout}```" in (ROOT / "docs" / "batch-normalization.md").read_text()


def test_distributed(run_program: Run) -> None:
    program = EXAMPLES / "distributed.py"
    done = Program("-W", "error", program, "--steps", "4", "--processes", "2").wait(150)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    rows = [re.fullmatch(r" +\d+  (\d+ \+ \d+) +(\S+) +(\S+)", r) for r in done.stdout.splitlines()[1:-1]]
    assert len(rows) == 4
    assert all(row is not None and row[2] == row[3] for row in rows)
    assert rows[3] is not None and rows[3][1].endswith("+ 0")
    refused = run_program(program, "--processes", "0")
    assert refused.returncode == 2
    assert "--processes: expected at least 1, got 0" in refused.stderr


@pytest.mark.parametrize("options", [[], ["--double"]])
def test_layers_are_converted(options: list[str], run_program: Run) -> None:
    done = run_program(EXAMPLES / "residual.py", "--epochs", "1", "--threads", "1", *options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    first, *lines = done.stdout.splitlines()
    assert first == "20 layers converted, 3 of them fused with ReLU"
    if options:
        losses = [re.search(r"last loss (\d+\.\d+),", line)[1] for line in lines]
        assert losses[0] == losses[1]
    else:
        assert lines.pop().startswith("Rounding makes the losses differ")
    assert [line.split()[0] for line in lines] == ["torch:", "thnn"]
    accuracies = [float(re.search(r"test accuracy (\d+\.\d\d) %", line)[1]) for line in lines]
    assert min(accuracies) > 60
    assert abs(accuracies[0] - accuracies[1]) < 5


NETWORKS = EXAMPLES / "networks.py"
STEPS = ["--threads", "1", "--steps", "2"]


def test_networks_train_converted_to_the_same_losses(run_program: Run) -> None:
    done = run_program(NETWORKS, *STEPS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    difference = r"^greatest difference: (\d\.\de-1\d|0\.0e\+00) of the loss, as expected$"
    assert len(re.findall(difference, done.stdout, re.M)) == 6
    assert re.search(r"^fused +\S+ +BatchNorm2d +with ReLU6? \S+$", done.stdout, re.M)


def test_networks_that_differ_or_do_not_exist(tmp_path: Path, run_program: Run) -> None:
    code = NETWORKS.read_text().replace("TOLERANCE = 1e-8", "TOLERANCE = -1.0")
    (tmp_path / "networks.py").write_text(code)
    done = run_program(tmp_path / "networks.py", *STEPS, "LeNet")
    assert done.returncode == 1, done.stderr
    assert "above -1 in some step" in done.stdout
    refused = run_program(NETWORKS, *STEPS, "AlexNet")
    assert refused.returncode == 2
    assert "unknown network 'AlexNet'; expected ResNet-18, MobileNetV2" in refused.stderr
