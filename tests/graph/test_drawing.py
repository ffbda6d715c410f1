"""Drawings of nets and forks, and the programs that draw: the page and the examples."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from graph_models import Block, Shared, Statistics, named, net_of, small_net
from torch import Tensor, nn

from thnn.graph import Net, Operator, draw, fork

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"

Run = Callable[..., subprocess.CompletedProcess[str]]


def rectangles(svg: str) -> list[tuple[str, float, float, float, float, list[tuple[str, float]]]]:
    """Class, x, y, width, height and texts of every rectangle."""
    space = "{http://www.w3.org/2000/svg}"
    found = []
    for group in ElementTree.fromstring(svg).iter(f"{space}g"):
        box = group.find(f"{space}rect")
        assert box is not None
        texts = [(t.text or "", float(t.get("y", "nan"))) for t in group.iter(f"{space}text")]
        sizes = [float(box.get(k, "nan")) for k in ("x", "y", "width", "height")]
        found.append((group.get("class", ""), *sizes, texts))
    return found  # type: ignore[return-value]


def strange_net() -> Net:
    net = small_net()
    net.append_op(Operator(torch.add, "r1", "c1", output='<"&">' + "a long name " * 9))
    net.append_op(Operator(torch.add, "n1", "x", output="bell\x07"))
    return net


class Ways(nn.Module):
    """Shortcuts across many layers, and operations in training only."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(1, 1, 1) for _ in range(3))
        self.n, self.m = nn.BatchNorm2d(1), nn.BatchNorm2d(1)
        self.offset = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        a = self.a(x)
        b = self.n(self.b(a))
        if self.training:
            b = b * torch.rand_like(b)
        c = self.m(self.c(b) + a) + self.offset
        return c + b + a + x


DRAWN: dict[str, Callable[[], Any]] = {
    "net": small_net,
    "strange net": strange_net,
    "net without a fork": lambda: net_of(Operator(torch.relu, "x", output="y")),
    "empty net": Net,
    "block": lambda: fork(Block(), torch.zeros(5, 1, 6, 6)),
    "folded": lambda: fork(Block(), torch.zeros(5, 1, 6, 6), fold=True),
    "ways": lambda: fork(Ways(), torch.zeros(2, 1, 2, 2)),
    "shared": lambda: fork(Shared(), torch.zeros(2, 1, 2, 2)),
    "statistics": lambda: fork(Statistics(), torch.zeros(5, 1, 6, 6)),
    "named": lambda: fork(named(), torch.zeros(5, 1, 6, 6)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_drawings_are_readable(name: str, tmp_path: Path) -> None:
    what = DRAWN[name]()
    assert draw(what, tmp_path / "a.svg") is None
    svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
    boxes = rectangles(svg)
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    for k, (_, x, y, w, h, texts) in enumerate(boxes):
        assert x >= 0 and y >= 0 and x + w <= width and y + h <= height
        for text, at in texts:
            assert len(text) * 7 <= w
            assert y + 8 <= at <= y + h - 2
        for _, x2, y2, w2, h2, _ in boxes[:k]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
    # Each variable once.
    module = getattr(what, "module", None)
    names = (
        [n for n, _ in (*module.named_parameters(), *module.named_buffers())]
        if module is not None
        else [n for n, v in what.scope.items() if v.value is not None]
    )
    shown = [
        t.rsplit(" (")[0]
        for kind, *_, texts in boxes
        if kind.split()[0] in ("parameter", "statistic")
        for t, _ in texts
    ]
    assert sorted(shown) == sorted(names)


def test_a_drawing_is_an_svg_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"draw: path: expected the name of an SVG file, got '.*\.png'"):
        draw(small_net(), tmp_path / "net.png")


def test_drawing_highlights_the_target(tmp_path: Path) -> None:
    net = small_net()
    draw(net, tmp_path / "a.svg", target=("infer", "r2"))
    active = {
        (kind.split()[0], texts[-1][0])
        for kind, *_, texts in rectangles((tmp_path / "a.svg").read_text())
        if "active" in kind
    }
    assert {label for kind, label in active if kind == "infer"} == {
        "n1, is_infer=True",
        "r1",
        "c2",
        "n2, is_infer=True",
        "r2",
    }
    assert not [label for kind, label in active if kind == "train"]
    assert ("shared", "c1") in active and ("input", "x") in active and ("input", "target") not in active
    text = draw(net, target="train")
    assert text is not None
    starred = [
        line.split()[2] for line in text.splitlines() if line.startswith("  * ") and line.split()[1].isdigit()
    ]
    assert starred == [
        "x",
        "SpatialConvolutionMM",
        "batch_norm_op",
        "relu",
        "SpatialConvolutionMM",
        "batch_norm_op",
        "relu",
        "mul",
        "sum",
    ]
    assert text.count("w2 (4, 3, 3, 3)") == 1
    assert "n1.estimated_mean (3)  -> train 1, infer 1; updated by train 1" in text


@pytest.mark.parametrize("target", ["q", ("infer", "n1.batch_mean"), ("both", "r1")])
def test_drawing_refuses(target: Any) -> None:
    with pytest.raises(ValueError, match=r"q|n1\.batch_mean|both"):
        draw(small_net(), target=target)
    with pytest.raises(ValueError, match="target"):
        draw(fork(nn.ReLU(), torch.ones(1)), target="q")
    with pytest.raises(TypeError, match="expected a Net or a Fork, got ReLU"):
        draw(nn.ReLU())  # type: ignore[arg-type]


# Examples.


@pytest.mark.parametrize(
    ("block", "shown", "written"),
    [(0, "", []), (1, "", []), (2, "Sequential, highlighted: infer\n", ["fork.svg"])],
)
def test_each_block_of_the_page_runs(
    block: int,
    shown: str,
    written: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "graph.md").read_text(), re.DOTALL)
    assert len(blocks) == 3
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks[block], "docs/graph.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.startswith(shown)
    assert [path.name for path in tmp_path.iterdir()] == written
    assert all(rectangles((tmp_path / name).read_text()) for name in written)


def test_example_trains_and_infers_in_one_loop(tmp_path: Path, run_program: Run) -> None:
    done = run_program(EXAMPLES / "fork.py", "--epochs", "3", "--threads", "1", "--svg", "net.svg")
    assert done.stderr == ""
    accuracies = [float(a) for a in re.findall(r"batch .* accuracy +([\d.]+)%", done.stdout)]
    assert len(accuracies) == 6
    assert accuracies[0] < 50 < 90 < accuracies[-1]
    assert float(re.findall(r"^test accuracy: ([\d.]+) %$", done.stdout, re.MULTILINE)[0]) >= 96
    assert rectangles((tmp_path / "net.svg").read_text())


@pytest.mark.parametrize("options", [(), ("--fold",)])
def test_example_draws(tmp_path: Path, options: tuple[str, ...], run_program: Run) -> None:
    lines = run_program(EXAMPLES / "draw_fork.py", *options).stdout.splitlines()
    assert lines[-1] == "picture: fork.svg"
    assert any("Conv2d + BatchNorm2d" in line for line in lines) is bool(options)
    assert rectangles((tmp_path / "fork.svg").read_text())
