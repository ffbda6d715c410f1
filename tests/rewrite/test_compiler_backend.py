"""torch.compile(model, backend="thnn")."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.utils.checkpoint
from compiled import compiled
from models import MODELS, made
from new_process import python
from torch import Tensor, nn

import thnn
from thnn._rewrite.backend import backend

ROOT = Path(__file__).resolve().parent.parent.parent


def trained(function: Any, network: nn.Module, x: Tensor) -> list[Tensor]:
    """The losses of four training steps, each of which depends on the gradients before it."""
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    torch.manual_seed(3)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = function(x).sin().square().sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


# Of torch 2.15 after a graph break, when the rest of the forward begins with a tensor that has a gradient.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_network_trains_and_infers_as_before(name: str) -> None:
    network, x = made(name)
    theirs = copy.deepcopy(network)
    call, reports = compiled(network)
    torch.testing.assert_close(trained(call, network, x), trained(theirs, theirs, x), rtol=1e-9, atol=1e-9)
    for state, other in zip(network.state_dict().values(), theirs.state_dict().values(), strict=True):
        torch.testing.assert_close(state, other, rtol=1e-7, atol=1e-7)
    with torch.no_grad():
        torch.testing.assert_close(call.eval()(x), theirs.eval()(x), rtol=1e-6, atol=1e-9)
    known = {
        "conv2d",
        "batch_norm",
        "relu",
        "hardtanh",
        "max_pool2d",
        "linear",
        "tanh",
        "softmax",
        "embedding",
    }
    for report in reports:
        assert not known & {entry.kind for entry in report.left}, report


@pytest.mark.parametrize(
    ("name", "fused"), [("ResNet", 4), ("MobileNet", 5), ("U-Net", 14), ("functional", 2)]
)
def test_batch_normalization_of_networks_is_fused(name: str, fused: int) -> None:
    network, x = made(name)
    call, reports = compiled(network, fullgraph=True)
    call(x)
    assert len([entry for entry in reports[0].fused if entry.kind == "batch_norm"]) == fused


def test_another_batch_is_not_compiled_again() -> None:
    network, _ = made("functional")
    call, reports = compiled(network, dynamic=True, fullgraph=True)
    for batch in (3, 5, 2, 7):
        x = torch.randn(batch, 4, 6, 6, dtype=torch.float64)
        torch.manual_seed(0)
        found = call(x)
        torch.manual_seed(0)
        torch.testing.assert_close(found, network(x), rtol=1e-9, atol=1e-9)
    assert len(reports) == 1


def test_a_graph_break() -> None:
    def forward(x: Tensor) -> Tensor:
        y = x.relu()
        torch._dynamo.graph_break()
        return y.sigmoid()

    call, reports = compiled(forward)
    x = torch.randn(3, 4)
    torch.testing.assert_close(call(x), forward(x))
    assert [[entry.kind for entry in report.replaced] for report in reports] == [["relu"], ["sigmoid"]]


def test_a_report() -> None:
    call, reports = compiled(made("ResNet")[0])
    call(made("ResNet")[1])
    lines = [" ".join(line.split()) for line in str(reports[0]).splitlines()]
    assert "replaced 0.conv1 conv2d" in lines
    assert "fused 0.norm1 batch_norm with relu" in lines
    assert "fused 1.shortcut.1 batch_norm with the sum and relu" in lines  # computed after norm2
    assert "replaced 1.norm2 batch_norm" in lines
    assert "left 0.norm1 and 4 more add_ thnn has no such function" in lines
    assert lines[-1] == "6 replaced, 4 fused, 5 left"


def test_options() -> None:
    def refused(**options: Any) -> str:
        torch.compiler.reset()
        with pytest.raises(Exception, match="backend 'thnn': options") as error:
            torch.compile(nn.ReLU(), backend=backend, options=options)(torch.ones(3))
        return str(error.value)

    assert "expected 'report', got 'mode'" in refused(mode="fast")
    assert "report: expected a function, got bool" in refused(report=True)


def test_torch_finds_the_backend_without_an_import_of_thnn(tmp_path: Path) -> None:
    section = re.search(
        r"^\[project.entry-points.torch_dynamo_backends\]\nthnn = \"(.*)\"$",
        (ROOT / "pyproject.toml").read_text(),
        re.MULTILINE,
    )
    assert section is not None
    info = tmp_path / "entry-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: entry\nVersion: 0\n")
    (info / "entry_points.txt").write_text(f"[torch_dynamo_backends]\nthnn = {section[1]}\n")
    program = f"""
import sys, torch
sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]
reports = []
call = torch.compile(torch.nn.Tanh(), backend="thnn", options={{"report": reports.append}})
assert call(torch.zeros(2)).tolist() == [0, 0]
print(reports)
"""
    assert "kind='tanh'" in python("-c", program, cwd=tmp_path)


def test_a_checkpointed_block_is_computed_by_thnn() -> None:
    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            # torch's backend "eager" fails in a block that counts its batches.
            self.block = nn.Sequential(nn.Conv2d(4, 4, 1), nn.ReLU(), nn.Conv2d(4, 4, 1), nn.Tanh()).double()

        def forward(self, x: Tensor) -> Tensor:
            output: Tensor = torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=False)
            return output

    network, x = Checkpointed(), made("functional")[1]
    theirs = copy.deepcopy(network)
    call, reports = compiled(network)
    torch.testing.assert_close(trained(call, network, x), trained(theirs, theirs, x))
    assert {entry.kind for report in reports for entry in report.replaced} == {"conv2d", "relu", "tanh"}


def test_a_converted_network_is_compiled() -> None:
    network, x = made("ResNet")
    theirs = copy.deepcopy(network)
    thnn.convert(network)
    call, reports = compiled(network, fullgraph=True)
    torch.testing.assert_close(trained(call, network, x), trained(theirs, theirs, x), rtol=1e-9, atol=1e-9)
    assert not {"conv2d", "batch_norm", "relu"} & {entry.kind for entry in reports[0].left}
    network, x = made("functional")
    theirs = copy.deepcopy(network)
    thnn.convert(network, trace=True)
    call, _ = compiled(network, fullgraph=True)
    torch.testing.assert_close(trained(call, network, x), trained(theirs, theirs, x), rtol=1e-9, atol=1e-9)


@pytest.mark.needs_torch("2.13", "before, fake states of torch.lstm may have another shape than its states")
@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN:UserWarning")
def test_a_recurrent_layer_in_the_graph_is_computed_by_thnn() -> None:
    network, x = made("tagger")
    theirs = copy.deepcopy(network)
    with torch._dynamo.config.patch(allow_rnn=True):
        call, reports = compiled(network, fullgraph=True)
        torch.testing.assert_close(
            trained(call, network, x), trained(theirs, theirs, x), rtol=1e-9, atol=1e-9
        )
        assert [entry.kind for entry in reports[0].replaced] == ["embedding", "lstm", "linear"]
        call, reports = compiled(nn.LSTM(4, 3, proj_size=2), fullgraph=True)
        call(torch.ones(5, 2, 4))
        assert [entry.kind for entry in reports[0].left if "no projection" in entry.remark] == ["lstm"]


def test_sizes_that_depend_on_data_stay_torchs() -> None:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        call, reports = compiled(lambda x: x[x > 0].relu() + 1, fullgraph=True)
        x = torch.tensor([1.0, -2.0, 3.0])
        assert call(x).tolist() == [2, 4]
    assert ("relu", "has sizes that depend on data") in [(e.kind, e.remark) for e in reports[0].left]
