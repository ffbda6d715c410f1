"""The rows of whole networks in ``python -m thnn bench``."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from thnn.__main__ import main
from thnn.testing import bench_networks, peers
from thnn.testing.bench import line, markdown, plot
from thnn.testing.bench_networks import BACKEND, COMPILED, INFERENCE, TRAINING, NetworkRow
from thnn.testing.networks import NETWORKS
from thnn.testing.timing import Timing

LENET = replace(NETWORKS["LeNet"], rows={(2, 1, 28, 28): 0.001})
ROW = NetworkRow(LENET, (2, 1, 28, 28), TRAINING)


def test_every_network_has_rows() -> None:
    names = [row.name for row in bench_networks.matching(re.compile("networks"))]
    assert "networks ResNet-18 (16,3,32,32) training step" in names
    assert "networks LSTM tagger (32,64) inference" in names
    assert len(names) == len(set(names)) == 2 * sum(len(n.rows) for n in NETWORKS.values())
    goals = {row.name: row.goal for row in bench_networks.matching(re.compile("")) if row.goal}
    assert goals == {
        "networks ResNet-18 (16,3,32,32) training step": 1.35,
        "networks ResNet-18 (4,3,128,128) training step": 1.35,
        "networks MobileNetV2 (8,3,96,96) training step": 1.3,
        "networks VGG-11 (8,3,64,64) training step": 1.5,
        "networks U-Net (2,3,128,128) training step": 1.35,
        "networks LSTM tagger (32,64) training step": 1.3,
        "networks LeNet (64,1,28,28) training step": 1.5,
    }


# All networks are trained below.
@pytest.mark.parametrize(
    ("name", "mode"),
    [(n, mode) for n in ("LeNet", "LSTM tagger") for mode in (TRAINING, INFERENCE)]
    + [("MobileNetV2", INFERENCE)],
)
def test_implementations_compute_the_same(name: str, mode: str) -> None:
    network = NETWORKS[name]
    row = NetworkRow(replace(network, rows={network.small: None}), network.small, mode)
    calls = bench_networks._implementations(row)
    assert len(calls) == (4 if len(network.small) == 4 else 2)
    bench_networks._compare(row, {name: call.result() for name, call in calls.items()})


@pytest.mark.parametrize("network", NETWORKS.values(), ids=lambda network: network.name)
def test_losses_of_training_agree_in_double(network: object) -> None:
    assert isinstance(network, type(LENET))
    row = NetworkRow(replace(network, rows={network.small: None}), network.small, TRAINING)
    bench_networks.compare_losses(row, 2)


def test_the_time_of_a_training_step_by_function() -> None:
    table = bench_networks.time_by_function(ROW)
    for word in ("Linear_updateOutput", "LogSoftMax_updateGradInput", "outside", "optimizer step"):
        assert word in table, table


def test_the_peers_of_an_inference(monkeypatch: pytest.MonkeyPatch) -> None:
    """A peer that is installed is timed; one that fails is left out, with its error."""

    class Peer:
        def __init__(self, name: str, program: bytes, input: torch.Tensor) -> None:
            assert program == b"program"
            if name == "OpenVINO":
                raise RuntimeError("no plugin")
            with torch.no_grad():
                self.output = bench_networks._made(LENET)[0].eval()(input)

        def result(self) -> torch.Tensor:
            return self.output

        __call__ = result

    monkeypatch.setattr(peers, "installed", lambda: [*peers.PEERS])
    monkeypatch.setattr(peers, "onnx_program", lambda network, input: b"program")
    monkeypatch.setattr(peers, "Peer", Peer)
    said: list[str] = []
    row = ROW._replace(mode=INFERENCE)
    m = bench_networks.measure(row, 1, False, said.append)
    assert said == [f"{row.name}: without OpenVINO, which failed: no plugin"]
    assert {"thnn.freeze", "ONNX Runtime"} < m.timings.keys()
    header = markdown([m], {}).splitlines()[1]
    assert "| thnn.freeze ms" in header
    assert "| ONNX Runtime ms" in header
    assert "OpenVINO" not in header


def test_a_network_that_cannot_be_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(network: object, input: object) -> bytes:
        raise NotImplementedError("no operator")

    monkeypatch.setattr(peers, "installed", lambda: [*peers.PEERS])
    monkeypatch.setattr(peers, "onnx_program", refuse)
    said: list[str] = []
    found = bench_networks._inferences(ROW._replace(mode=INFERENCE), said.append)
    assert found.keys() == {bench_networks.FROZEN}
    assert [text.partition(": ")[2] for text in said] == [
        f"without {name}, which failed: no operator" for name in peers.PEERS
    ]


@pytest.mark.parametrize("name", peers.PEERS)
def test_a_peer_computes_what_torch_computes(name: str) -> None:
    if name not in peers.installed():
        pytest.skip(f"{name} is not installed")
    network, input = bench_networks._made(LENET)[0].eval(), LENET.input((2, 1, 28, 28))
    peer = peers.Peer(name, peers.onnx_program(network, input), input)
    with torch.no_grad():
        torch.testing.assert_close(peer.result(), network(input))


def test_different_losses_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_networks, "_LEARNING_RATE", 1e-2)
    original, rates = bench_networks._Training.__call__, iter([1e-2] * 2 + [1e-1] * 4)

    def step(training: bench_networks._Training) -> torch.Tensor:
        training.optimizer.param_groups[0]["lr"] = next(rates)
        return original(training)

    monkeypatch.setattr(bench_networks._Training, "__call__", step)
    with pytest.raises(ValueError, match="thnn contiguous differs from torch"):
        bench_networks.compare_losses(ROW, 2)


def test_a_wrong_result_is_an_error() -> None:
    results = {"torch contiguous": torch.ones(2), "thnn contiguous": torch.tensor([1.0, 1.25])}
    with pytest.raises(ValueError, match=r"training step: thnn contiguous differs from torch by 0\.25 of 1"):
        bench_networks._compare(ROW, results)
    results["thnn contiguous"] = torch.tensor([1.0, torch.nan])
    with pytest.raises(ValueError, match="differs from torch by nan"):
        bench_networks._compare(ROW, results)


def test_measurement_and_its_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **keywords: object) -> None:
        raise RuntimeError("no C++ compiler\nlong text")

    monkeypatch.setattr(torch, "compile", fail)
    said: list[str] = []
    measured = bench_networks.measure(ROW, 1, True, said.append)
    assert said == [
        f"{ROW.name}: without {variant} contiguous, which failed: no C++ compiler"
        for variant in ("torch compiled", "thnn compiled", "thnn backend")
    ]
    assert set(measured.timings) == {
        f"{library} {layout}" for library in ("torch", "thnn") for layout in ("contiguous", "channels-last")
    }
    assert measured.ratio and measured.best_ratio and measured.channels_last_ratio
    assert measured.met
    assert measured.compile_ratio is None
    assert measured.other_ratio is None
    assert line(measured).endswith(" met")
    facts = {"cpu": "x", "threads": "2", "torch": "y"}
    table = markdown([measured], facts)
    assert f"| {ROW.name} | fb " in re.sub(" +", " ", table)
    plot([measured], facts, str(tmp_path / "b.png"))
    assert (tmp_path / "b.png").stat().st_size > 0
    assert not bench_networks.measure(ROW, 1, False, said.append).timings.keys() - measured.timings.keys()
    assert len(said) == 3


@pytest.mark.parametrize("mode", [TRAINING, INFERENCE])
def test_the_backend_of_thnn_is_measured(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variants = {BACKEND: bench_networks._COMPILED[BACKEND]}  # inductor takes long
    monkeypatch.setattr(bench_networks, "_COMPILED", variants)
    row, said = ROW._replace(mode=mode), list[str]()
    measured = bench_networks.measure(row, 1, True, said.append)
    assert BACKEND in measured.timings
    assert BACKEND in line(measured)
    assert said == []


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("thnn.testing.bench.restart_with", lambda environment: None)
    monkeypatch.setattr(peers, "installed", list)
    data = tmp_path / "b.json"
    command = ["bench", "networks LeNet .* inference", "--no-compile", "--rounds", "1", "--json", str(data)]
    assert main(command) == 0
    assert "networks LeNet (64,1,28,28) inference" in capsys.readouterr().out
    (measured,) = json.loads(data.read_text())["measurements"]
    assert len(measured["timings"]) == 5
    assert measured["compile_ratio"] is None


def test_goals_compare_the_better_layouts() -> None:
    def times(**milliseconds: float) -> dict[str, Timing]:
        return {name.replace("_", " ", 1).replace("_", "-"): Timing(t, t) for name, t in milliseconds.items()}

    row = ROW._replace(network=replace(LENET, rows={ROW.shape: 1.1}))
    timings = times(torch_contiguous=3, torch_channels_last=2.2, thnn_contiguous=2.5, thnn_channels_last=2)
    compiled = {COMPILED["torch"]: Timing(4, 4), COMPILED["thnn"]: Timing(3, 3)}
    measured = bench_networks._judge(row, {**timings, **compiled})
    assert measured.ratio == pytest.approx(1.2)
    assert measured.best_ratio == pytest.approx(2.2 / 2.5)
    assert measured.channels_last_ratio == pytest.approx(1.1)
    assert measured.compile_ratio == pytest.approx(2)
    assert measured.other_ratio == pytest.approx(1.2)
    assert measured.met
    assert "2.00 against torch.compile" in line(measured)
    worse = bench_networks._judge(row, {**timings, "torch channels-last": Timing(2, 2)})
    assert not worse.met
    assert "1.00 of 1.1" in worse.goals[0]
    inference = bench_networks._judge(row._replace(mode=INFERENCE), timings)
    assert inference.met is None
    assert json.dumps(inference.goals) == "[]"
