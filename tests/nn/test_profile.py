"""thnn.profile."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import thnn
from thnn._binding.library import cpu_capability
from thnn._binding.observer import observed
from thnn._profile import _work
from thnn._table import aligned


def network() -> nn.Sequential:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Dropout(0.5), nn.Flatten(), nn.Linear(8 * 36, 5)
    )
    thnn.convert(model)
    return model


def image() -> Tensor:
    return torch.randn(4, 3, 6, 6)


def test_calls_bytes_and_times() -> None:
    profile = thnn.profile(network(), image(), runs=2)
    found = {f.name: f for f in profile.functions}
    assert {name: f.calls for name, f in found.items()} == {
        "Convolution_updateOutput": 1,
        "Convolution_accGradParameters": 1,  # but no gradient w.r.t. the input, which requires none
        "BatchNormalization_updateOutput": 1,
        "BatchNormalization_backward": 1,
        "Linear_updateOutput": 1,
        "Linear_updateGradInput": 1,
        "Linear_accGradParameters": 1,
    }
    # Input, output, weight, bias.
    assert found["Convolution_updateOutput"].bytes == 4 * (4 * 3 * 36 + 4 * 8 * 36 + 8 * 3 * 9 + 8)
    assert all(f.seconds > 0 and f.fraction > 0 and f.roofline in ("copy", "FMA") for f in found.values())
    assert found["BatchNormalization_backward"].roofline == "copy"
    seconds = [f.seconds for f in profile.functions]
    assert seconds == sorted(seconds, reverse=True)
    assert profile.outside == pytest.approx(profile.seconds - sum(seconds))
    assert profile.outside > 0


def test_the_table() -> None:
    lines = str(thnn.profile(network(), image(), backward=False, runs=1)).splitlines()
    assert lines[0].split() == [
        "function",
        "calls",
        "ms",
        "share",
        "MB",
        "fraction",
        "roofline",
        "algorithms",
    ]
    assert sorted(line.split()[0] for line in lines[1:4]) == [
        "BatchNormalization_updateOutput",
        "Convolution_updateOutput",
        "Linear_updateOutput",
    ]
    assert lines[4].startswith("outside of thnn  ")
    total = lines[5].split()
    assert total[:2] == ["total", "3"]
    assert total[3] == "100.0%"
    assert len(lines) == 6
    assert len({line.index("%") for line in lines[1:]}) == 1


def test_the_algorithms_of_convolutions() -> None:
    torch.manual_seed(0)
    layers = nn.Conv2d(64, 64, 3, padding=1), nn.Conv2d(64, 64, 3, groups=64), nn.ReLU(), nn.Conv2d(64, 64, 1)
    model = nn.Sequential(*layers)
    thnn.convert(model)
    found = {f.name: f.algorithms for f in thnn.profile(model, torch.randn(2, 64, 32, 32), runs=2).functions}
    output, gradWeight = found["Convolution_updateOutput"], found["Convolution_accGradParameters"]
    assert sum(output.values()) == sum(gradWeight.values()) == 3
    assert output["direct"] == gradWeight["direct"] == 1  # the groups
    assert gradWeight["GEMM"] == 1
    if cpu_capability() != "default":
        assert output == {"Winograd": 1, "direct": 1, "implicit GEMM": 1}
        assert gradWeight["Winograd"] == 1
    assert found["Threshold_updateOutput"] == {}
    page = (Path(__file__).parents[2] / "docs" / "convolution.md").read_text(encoding="utf-8")
    assert all(name in page for used in found.values() for name in used)


def test_the_table_of_a_notebook() -> None:
    profile = thnn.profile(network(), image(), backward=False, runs=1)
    time = profile.functions[0]._replace(name="<script>", algorithms={"a&b": 1})
    table = profile._replace(functions=(time,))._repr_html_()
    assert table.count("<tr>") == 4
    assert '<td style="text-align: left">&lt;script&gt;</td>' in table
    assert "a&amp;b 1" in table


def test_the_chart() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    profile = thnn.profile(network(), image(), runs=1)
    axes = profile.plot()
    assert [t.get_text() for t in axes.get_yticklabels()] == [
        *(f.name for f in profile.functions),
        "outside of thnn",
    ]
    widths = [bar.get_width() for bar in axes.containers[0]]
    assert widths == pytest.approx(
        [1e3 * t for t in (*(f.seconds for f in profile.functions), profile.outside)]
    )
    least = [bar.get_width() for bar in axes.containers[1]]
    assert all(0 < short <= long for short, long in zip(least, widths))
    other = pyplot.figure().subplots()
    assert profile.plot(other) is other
    pyplot.close("all")


def test_the_table_of_a_model_without_functions_of_thnn() -> None:
    lines = str(thnn.profile(nn.Linear(3, 2), torch.randn(4, 3), runs=1)).splitlines()
    assert lines[1].startswith("outside of thnn  ") and lines[2].startswith("total")
    assert lines[3:] == [
        "no function of thnn ran: thnn.convert(model) puts layers of thnn into a model of torch"
    ]


def test_multiply_adds_decide_the_roofline_of_products(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine a copy may take longer than the products.
    monkeypatch.setattr("thnn._profile.copy_seconds", lambda size: 0.0)
    for layer, shape in (
        (thnn.nn.Conv2d(64, 64, 3, padding=1, groups=2), (8, 64, 16, 16)),
        (thnn.nn.ConvTranspose2d(64, 64, 3, padding=1, groups=2), (8, 64, 16, 16)),
    ):
        (forward,) = thnn.profile(layer, torch.randn(shape), backward=False).functions
        least = 2 * 8 * 64 * 32 * 9 * 256 / thnn._roofline.peak_flops(torch.float32)
        assert forward.roofline == "FMA"
        assert forward.fraction * forward.seconds == pytest.approx(least)


def test_the_work_of_a_custom_function_with_steps() -> None:
    """It is not taken for the steps of a recurrent layer of the package."""
    assert _work("Cube_steps", (torch.ones(3),)) == (12, 0, False)


def test_nothing_changes() -> None:
    model, x = network(), image().requires_grad_()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    random = torch.get_rng_state()
    thnn.profile(model, x)
    assert torch.equal(torch.get_rng_state(), random)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert x.grad is None
    assert all(p.grad is None for p in model.parameters())
    assert model.training


class Fails(nn.Module):
    """Calls thnn and changes its buffer, then raises."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = thnn.nn.BatchNorm2d(3)

    def forward(self, x: Tensor) -> Tensor:
        torch.rand(1)
        self.norm(x)
        raise OSError("from the model")


def test_an_exception_restores_everything() -> None:
    model, x = Fails(), image()
    random = torch.get_rng_state()
    with pytest.raises(OSError, match="from the model"):
        thnn.profile(model, x)
    assert model.norm.num_batches_tracked == 0
    assert (model.norm.running_mean == 0).all()
    assert torch.equal(torch.get_rng_state(), random)
    seen: list[str] = []
    with observed(lambda name, *rest: seen.append(name)):  # RuntimeError if an observer was left
        thnn.nn.functional.relu(image())
    thnn.nn.functional.relu(image())
    assert seen == ["Threshold_updateOutput"]


class Profiled(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return thnn.profile(network(), x)


def test_a_profile_inside_of_a_profile() -> None:
    with pytest.raises(RuntimeError, match="another profile is running"):
        thnn.profile(Profiled(), image())
    thnn.profile(network(), image(), runs=1)


class Several(nn.Module):
    """Returns nested containers."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = thnn.nn.Linear(3, 2), thnn.nn.Linear(3, 2)

    def forward(self, inputs: dict[str, Tensor]) -> dict[str, Any]:
        return {"scores": [self.a(inputs["x"]), (self.b(inputs["x"]),)], "count": torch.tensor(3)}


def test_losses() -> None:
    inputs = {"x": torch.randn(4, 3, requires_grad=True)}

    def calls(**options: Any) -> dict[str, int]:
        return {f.name: f.calls for f in thnn.profile(Several(), inputs, runs=1, **options).functions}

    assert calls() == {
        "Linear_updateOutput": 2,
        "Linear_updateGradInput": 2,
        "Linear_accGradParameters": 2,
    }
    assert calls(loss=lambda result: result["scores"][0].sum()) == {
        "Linear_updateOutput": 2,
        "Linear_updateGradInput": 1,
        "Linear_accGradParameters": 1,
    }
    assert calls(backward=False) == {"Linear_updateOutput": 2}


def test_calls_of_other_threads_and_without_the_exchange_api() -> None:
    from thnn._binding import library

    class Threaded(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            thread = threading.Thread(target=thnn.nn.functional.relu, args=(x,))
            thread.start()
            thread.join()
            return x

    assert thnn.profile(Threaded(), image(), backward=False).functions[0].calls == 1
    layer, x = thnn.nn.ReLU(), torch.randn(4, 5, dtype=torch.float64)
    library.connect(library.BY_VIEWS)
    try:
        (relu,) = thnn.profile(layer, x, backward=False).functions
    finally:
        library.connect()
    assert (relu.calls, relu.bytes) == (1, 2 * 20 * 8)


def test_other_threads() -> None:
    """Calls of threads that compute something else do not count."""
    begun, called = threading.Semaphore(0), threading.Semaphore(0)

    def compute() -> None:
        for _ in range(2):
            begun.acquire()
            thnn.nn.functional.tanh(torch.ones(2**16))
            called.release()

    class Waiting(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            begun.release()
            called.acquire()
            return thnn.nn.functional.relu(x)

    thread = threading.Thread(target=compute, daemon=True)
    thread.start()
    found = thnn.profile(Waiting(), torch.ones(2**10), backward=False, runs=1)
    thread.join()
    (relu,) = found.functions
    assert (relu.name, relu.calls) == ("Threshold_updateOutput", 1)
    assert found.outside == pytest.approx(found.seconds - relu.seconds)


def test_a_refused_profile_leaves_the_state_alone() -> None:
    """Otherwise it would restore the buffers to their state amid the steps of another profile."""

    class Profiled(nn.BatchNorm1d):
        def forward(self, x: Tensor) -> Tensor:
            assert self.running_mean is not None
            version = self.running_mean._version
            with pytest.raises(RuntimeError, match="another profile is running"):
                thnn.profile(self, x)
            assert self.running_mean._version == version
            return super().forward(x)

    thnn.profile(Profiled(3), torch.randn(4, 3), runs=1)


def test_errors() -> None:
    with pytest.raises(TypeError, match=r"model: expected a torch\.nn\.Module, got function"):
        thnn.profile(network)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="runs: expected at least 1, got 0"):
        thnn.profile(network(), image(), runs=0)
    with pytest.raises(TypeError, match=r"profile: runs: expected an integer, got float"):
        thnn.profile(network(), image(), runs=2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="requires a gradient; backward=False measures"):
        thnn.profile(thnn.nn.ReLU(), image())
    for loss in (F.cross_entropy, nn.CrossEntropyLoss()):
        with pytest.raises(
            TypeError, match=r"profile: loss: .* only the model.s output, .* argument: '(target|input)'"
        ):
            thnn.profile(network(), image(), loss=loss)
    with pytest.raises(TypeError, match="profile: loss: expected a function, got Tensor"):
        thnn.profile(network(), image(), loss=torch.ones(1))  # type: ignore[arg-type]
    assert thnn.profile(network(), image(), loss=torch.sum, runs=1).functions  # without a signature
    with pytest.raises(
        ValueError, match=r"profile: loss: expected a tensor of one element, got shape \(\d, 5\)"
    ):
        thnn.profile(network(), image(), loss=lambda y: y)
    with pytest.raises(ValueError, match="depends on no parameter"):
        thnn.profile(network(), image(), loss=lambda y: y.detach().sum())


def test_aligned() -> None:
    assert aligned([["a", "1", "x"], ["bcd", "23", ""]], right=[1]) == ["a     1  x", "bcd  23"]
    assert aligned([]) == []
