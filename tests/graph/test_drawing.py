"""Drawings of nets and forks, and the programs that draw: the page and the examples."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from graph_models import Block, Shared, Statistics, named, net_of, small_net
from torch import Tensor, nn

from thnn._table import printable
from thnn.graph import Net, Operator, draw, fork

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"

Run = Callable[..., subprocess.CompletedProcess[str]]


class Chart:
    """The content of a Mermaid flowchart: the lines, kind and faintness of each element, and the edges."""

    def __init__(self, text: str) -> None:
        first, *lines = text.splitlines()
        assert first == "flowchart TB"
        self.frames = re.findall(r"^  subgraph (\w+)$", text, re.MULTILINE)
        assert lines.count("  end") == len(self.frames)
        elements = re.findall(r'^ +(\w+)(?:\[|\(\[)"(.*)"(?:\]|\]\))$', text, re.MULTILINE)
        self.texts = {n: [_unescaped(t) for t in label.split("<br/>")] for n, label in elements}
        self.edges = re.findall(r"^  (\w+) (-->|-\.->|-\. updates \.->) (\w+)$", text, re.MULTILINE)
        kinds = {k: m.split(",") for m, k in re.findall(r"^  class (\S+) (\w+)$", text, re.MULTILINE)}
        assert kinds.keys() == {*re.findall(r"^  classDef (\w+) \S+$", text, re.MULTILINE)}
        self.faint = kinds.pop("faint", [])
        self.kinds = {name: kind for kind, members in kinds.items() for name in members}
        assert len(lines) == 2 * len(self.frames) + len(elements) + len(self.edges) + 2 * len(
            kinds
        ) + 2 * bool(self.faint)
        assert self.texts.keys() == self.kinds.keys()
        assert {end for source, _, target in self.edges for end in (source, target)} <= self.texts.keys()


def _unescaped(text: str) -> str:
    assert re.fullmatch(r"(?:[\w .,:=+()/-]|#\d+;)*", text)
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), text)


def chart_of(path: Path) -> Chart:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        assert text.startswith("```mermaid\n") and text.endswith("\n```\n")
        text = text.removeprefix("```mermaid\n").removesuffix("```\n")
    return Chart(text)


def strange_net() -> Net:
    net = small_net()
    net.append_op(Operator(torch.add, "r1", "c1", output='<"&">' + "a long name " * 9))
    net.append_op(Operator(torch.add, "n1", "x", output="bell\x07"))
    return net


class Ways(nn.Module):
    """Shortcuts across many layers, and operations only for training."""

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
def test_drawings_have_all_variables(name: str, tmp_path: Path) -> None:
    what = DRAWN[name]()
    assert draw(what, tmp_path / "a.mmd") is None
    chart = chart_of(tmp_path / "a.mmd")
    assert not chart.faint
    # Each variable once.
    module = getattr(what, "module", None)
    names = (
        [n for n, _ in (*module.named_parameters(), *module.named_buffers())]
        if module is not None
        else [n for n, v in what.scope.items() if v.value is not None]
    )
    variables = [k for k, kind in chart.kinds.items() if kind in ("parameter", "statistic")]
    assert sorted(t.rsplit(" (")[0] for k in variables for t in chart.texts[k]) == sorted(
        map(printable, names)
    )
    assert {end for source, _, target in chart.edges for end in (source, target)}.issuperset(variables)


def test_a_chart_has_no_strange_characters(tmp_path: Path) -> None:
    draw(strange_net(), tmp_path / "a.md")
    texts = [t for lines in chart_of(tmp_path / "a.md").texts.values() for t in lines]
    assert '<"&">' + "a long name " * 9 in texts
    assert "bell\\x07" in texts


@pytest.mark.parametrize("file", ["net.png", "net"])
def test_a_drawing_is_a_mermaid_file(file: str, tmp_path: Path) -> None:
    expected = r"draw: path: expected a name that ends in \.mmd or \.md, got '.*/net"
    with pytest.raises(ValueError, match=expected):
        draw(small_net(), tmp_path / file)
    assert not [*tmp_path.iterdir()]


def test_drawing_highlights_the_target(tmp_path: Path) -> None:
    net = small_net()
    draw(net, tmp_path / "a.mmd", target=("infer", "r2"))
    chart = chart_of(tmp_path / "a.mmd")
    active = {(kind, chart.texts[k][-1]) for k, kind in chart.kinds.items() if k not in chart.faint}
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
    [(0, "", []), (1, "", []), (2, "Sequential, highlighted: infer\n", ["fork.md"])],
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
    assert all(chart_of(tmp_path / name).edges for name in written)


def test_example_trains_and_infers_in_one_loop(tmp_path: Path, run_program: Run) -> None:
    done = run_program(EXAMPLES / "fork.py", "--epochs", "3", "--threads", "1", "--draw", "net.md")
    assert done.stderr == ""
    accuracies = [float(a) for a in re.findall(r"batch .* accuracy +([\d.]+)%", done.stdout)]
    assert len(accuracies) == 6
    assert accuracies[0] < 50 < 90 < accuracies[-1]
    assert float(re.findall(r"^test accuracy: ([\d.]+) %$", done.stdout, re.MULTILINE)[0]) >= 96
    assert chart_of(tmp_path / "net.md").edges


@pytest.mark.parametrize("options", [(), ("--fold",)])
def test_example_draws(tmp_path: Path, options: tuple[str, ...], run_program: Run) -> None:
    lines = run_program(EXAMPLES / "draw_fork.py", *options).stdout.splitlines()
    assert lines[-1] == "picture: fork.md"
    assert any("Conv2d + BatchNorm2d" in line for line in lines) is bool(options)
    assert chart_of(tmp_path / "fork.md").edges
