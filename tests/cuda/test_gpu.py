"""Streams, graphs, memory, processes, compilers, and whole networks, which only a GPU can test."""

from __future__ import annotations

import copy
import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import thnn
from thnn._load.templates import write
from thnn.testing.bench_networks import with_flat_weights
from thnn.testing.case_runner import bits
from thnn.testing.networks import NETWORKS, Network
from thnn.testing.torch_support import Call, call_of, samples_of

CPU = torch.device("cpu")
pytestmark = pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
CALLS = [
    pytest.param(cls, sample, id=f"{cls.module.name}, {sample.name}")
    for cls in thnn.function_classes.values()
    for sample in samples_of(cls)[:3]
]


@pytest.fixture(autouse=True)
def _debug_mode() -> Iterator[None]:
    yield
    torch.cuda.set_sync_debug_mode("default")


def _on_gpu(cls: Any, sample: Any) -> Call:
    """The call of the sample with float32 tensors on the GPU."""
    with CPU:  # samples are drawn from generators of the CPU
        call = call_of(cls, sample)
    values = tuple(
        (v.float() if v.is_floating_point() else v).cuda() if isinstance(v, Tensor) else v
        for v in call.values
    )
    return Call(cls, values, call.moved)


def _run(call: Call, leaves: tuple[Tensor, ...]) -> list[Tensor]:
    """The outputs and the gradients of their weighted sum, and the tensors that the call updates."""
    values = [v.clone() if isinstance(v, Tensor) else v for v in call.values]
    for k, leaf in zip(call.moved, leaves):
        values[k] = leaf.clone()
    outputs = call.cls.apply(*values)
    made = [y for y in (outputs if isinstance(outputs, tuple) else (outputs,)) if y.is_floating_point()]
    differentiable = [y for y in made if y.requires_grad]
    weights = [torch.linspace(0.5, 1.5, y.numel(), dtype=y.dtype).reshape(y.shape) for y in differentiable]
    gradients = torch.autograd.grad(differentiable, leaves, weights) if differentiable else ()
    return [*(y.detach() for y in made), *gradients]


def _same(found: list[Tensor], expected: list[Tensor]) -> bool:
    return all(torch.equal(bits(a), bits(b)) for a, b in zip(found, expected))


def _random(cls: Any) -> bool:
    return "generator" in cls._names


@pytest.mark.parametrize(("cls", "sample"), CALLS)
def test_results_repeat(cls: Any, sample: Any) -> None:
    """The same bits in each run, with no call that waits for the GPU."""
    call = _on_gpu(cls, sample)
    leaves = call.leaves()
    results = []
    for _ in range(3):
        torch.manual_seed(3)
        results.append(_run(call, leaves))
        if len(results) == 1:
            torch.cuda.set_sync_debug_mode("error")
    torch.cuda.set_sync_debug_mode("default")
    assert _same(results[1], results[0])
    assert _same(results[2], results[0])


@pytest.mark.parametrize(("cls", "sample"), CALLS)
def test_a_captured_call_is_replayed(cls: Any, sample: Any) -> None:
    """A graph of a call, with its backward, computes from the values that its inputs have when it is replayed."""
    if _random(cls):
        pytest.skip("a replay has the random numbers of the capture")
    call = _on_gpu(cls, sample)
    leaves = call.leaves()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        _run(call, leaves)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        results = _run(call, leaves)
    for factor in (1.0, 0.5):
        with torch.no_grad():
            for leaf in leaves:
                leaf.mul_(factor)
        for result in results:
            result.fill_(torch.nan)
        graph.replay()
        assert _same(results, _run(call, leaves))


@pytest.mark.parametrize(
    "name", ["SpatialMaxPooling", "BatchNormalization", "LookupTable", "Linear", "MSECriterion"]
)
def test_a_call_runs_on_the_current_stream(name: str) -> None:
    cls = thnn.function_classes[f"{name}Function"]
    call = _on_gpu(cls, samples_of(cls)[0])
    leaves = call.leaves()
    expected = _run(call, leaves)
    late = tuple(torch.zeros_like(t).requires_grad_() for t in leaves)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        with torch.no_grad():
            for there, here in zip(late, leaves):
                there.copy_(here)
        found = _run(call, late)
    stream.synchronize()
    assert _same(found, expected)


@pytest.mark.parametrize(
    "name", ["SpatialMaxPooling", "BatchNormalization", "LookupTable", "SpatialConvolutionMM"]
)
def test_memory_is_given_back(name: str) -> None:
    cls = thnn.function_classes[f"{name}Function"]
    call = _on_gpu(cls, samples_of(cls)[0])
    leaves = call.leaves()
    _run(call, leaves)
    gc.collect()
    before = torch.cuda.memory_allocated()
    for _ in range(20):
        _run(call, leaves)
    assert torch.cuda.memory_allocated() == before


def test_tensors_on_two_devices() -> None:
    with pytest.raises((TypeError, ValueError), match="cpu"):
        thnn.PReLUFunction.apply(torch.randn(2, 3), torch.ones(1, device="cpu"), 1)


def test_the_error_of_a_late_call_is_raised_once() -> None:
    scores = torch.randn(3, 4)
    thnn.ClassNLLCriterionFunction.apply(scores, torch.tensor([0, 9, 1]))
    torch.cuda.synchronize()
    with pytest.raises(IndexError, match=r"^ClassNLLCriterion_updateOutput: target: .* got 9"):
        thnn.AbsFunction.apply(scores)
    assert torch.equal(thnn.AbsFunction.apply(scores), scores.abs())


def _converted(modules: torch.nn.ModuleList) -> Any:
    """A copy with the layers of thnn."""
    copied = with_flat_weights(copy.deepcopy(modules))
    thnn.convert(copied)
    return copied


def _losses(network: torch.nn.Module, loss: torch.nn.Module, input: Tensor, target: Tensor) -> Tensor:
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-4)
    found = []
    for _ in range(4):
        optimizer.zero_grad()
        value = loss(network(input), target)
        value.backward()
        optimizer.step()
        found.append(value.detach())
    return torch.stack(found)


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("name", NETWORKS)
def test_converted_networks_train_as_before(name: str, layout: torch.memory_format) -> None:
    network: Network = NETWORKS[name]
    if layout is torch.channels_last and len(network.small) != 4:
        pytest.skip("no images")
    with CPU:
        torch.manual_seed(0)
        modules = torch.nn.ModuleList([network.make(), network.make_loss()]).double()
        for layer in modules.modules():
            if isinstance(layer, torch.nn.Dropout):
                layer.p = 0.0
        input = network.input(network.small, torch.float64)
        with torch.no_grad():
            target = network.target(copy.deepcopy(modules)[0](input))
    modules, input, target = modules.cuda(), input.cuda(), target.cuda()
    if layout is torch.channels_last:
        modules, input = modules.to(memory_format=layout), input.contiguous(memory_format=layout)
    converted = _converted(modules)
    theirs = _losses(modules[0], modules[1], input, target)
    ours = _losses(converted[0], converted[1], input, target)
    torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["ResNet-18", "U-Net", "LSTM tagger"])
def test_converted_networks_under_autocast(name: str, dtype: torch.dtype) -> None:
    network: Network = NETWORKS[name]
    with CPU:
        torch.manual_seed(0)
        modules = torch.nn.ModuleList([network.make(), network.make_loss()])
        input = network.input(network.small)
        with torch.no_grad():
            target = network.target(copy.deepcopy(modules)[0](input))
    modules, input, target = modules.cuda(), input.cuda(), target.cuda()
    converted = _converted(modules)
    losses = []
    for network_, loss in (modules, converted):
        with torch.autocast("cuda", dtype=dtype):
            value = loss(network_(input), target)
        value.backward()
        assert all(p.grad is None or p.grad.isfinite().all() for p in network_.parameters())
        losses.append(value.detach().double())
    torch.testing.assert_close(losses[1], losses[0], rtol=0.03, atol=0)


@pytest.mark.parametrize("layer", ["LSTM", "GRU"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_recurrent_layers(layer: str, bidirectional: bool) -> None:
    torch.manual_seed(0)
    theirs = getattr(torch.nn, layer)(5, 7, num_layers=2, bidirectional=bidirectional).double()
    ours = getattr(thnn.nn, layer)(5, 7, num_layers=2, bidirectional=bidirectional).double()
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(6, 3, 5, dtype=torch.float64, requires_grad=True)
    results = []
    for made in (theirs, ours):
        output, _ = made(x)
        results.append((output, *torch.autograd.grad(output.square().sum(), [x, *made.parameters()])))
    torch.testing.assert_close(results[1], results[0])


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        ("Conv1d", (2, 4, 9)),
        ("Conv2d", (2, 4, 9, 9)),
        ("Conv3d", (2, 4, 5, 5, 5)),
        ("ConvTranspose1d", (2, 4, 9)),
        ("ConvTranspose2d", (2, 4, 9, 9)),
        ("ConvTranspose3d", (2, 4, 5, 5, 5)),
        ("Linear", (2, 3, 4)),
    ],
)
def test_layers_that_torch_computes(layer: str, shape: tuple[int, ...]) -> None:
    """torch's bits, and thnn's errors."""
    arguments = (4, 6) if layer == "Linear" else (4, 6, 3)
    theirs, ours = getattr(torch.nn, layer)(*arguments), getattr(thnn.nn, layer)(*arguments)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(shape, requires_grad=True)
    results = []
    for made in (theirs, ours):
        output = made(x)
        results.append([output, *torch.autograd.grad(output.square().sum(), [x, *made.parameters()])])
    assert _same(results[1], results[0])
    with pytest.raises(ValueError, match=rf"^{layer}: input: expected 4 (channels|features)"):
        ours(torch.randn(*shape[:1], 5, *shape[2:]) if layer != "Linear" else torch.randn(2, 5))
    with pytest.raises(TypeError, match=rf"^{layer}"):
        ours(x.double())


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # while torch 2.11 imports its compiler
def test_a_compiled_layer() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Sequential(
        thnn.nn.Conv2d(3, 8, 3, padding=1), thnn.nn.BatchNorm2d(8), thnn.nn.ReLU(), thnn.nn.MaxPool2d(2)
    )
    x = torch.randn(2, 3, 8, 8, requires_grad=True)
    with CPU:
        compiled = torch.compile(copy.deepcopy(layer), fullgraph=True)
        found = compiled(x)
    expected = layer(x)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(
        torch.autograd.grad(found.sum(), x), torch.autograd.grad(expected.sum(), x), rtol=1e-3, atol=1e-3
    )


def test_a_loaded_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """nvcc compiles the kernels of `new` for the GPU of the machine."""
    monkeypatch.setenv("THNN_CACHE", str(tmp_path / "cache"))
    write("Affine", "layer", tmp_path, package=False, cuda=True)
    with CPU:
        loaded = thnn.load(tmp_path / "Affine.h")
        passed = loaded.check(device="cuda")
    assert passed, capsys.readouterr().out


_PROCESS = """
import sys
import torch
import torch.distributed as dist
import thnn

rank, backend, path, size = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
dist.init_process_group(backend, init_method=f"file://{path}", rank=rank, world_size=size)
torch.manual_seed(0)
whole = torch.randn(8, 6, 5, 5, dtype=torch.float64)
layer = thnn.nn.SyncBatchNorm(6).double().cuda()
x = whole.chunk(size)[rank].cuda().requires_grad_()
y = layer(x)
(g,) = torch.autograd.grad(y.cos().sum(), x)
expected = torch.nn.BatchNorm2d(6).double()
z = whole.requires_grad_()
w = expected(z)
(h,) = torch.autograd.grad(w.cos().sum(), z)
torch.testing.assert_close(y.cpu(), w.chunk(size)[rank])
torch.testing.assert_close(g.cpu(), h.chunk(size)[rank])
torch.testing.assert_close(layer.running_var.cpu(), expected.running_var)
dist.destroy_process_group()
"""


@pytest.mark.parametrize(("backend", "size"), [("nccl", 1), ("gloo", 1), ("gloo", 2)])
def test_batch_statistics_between_processes(backend: str, size: int, tmp_path: Path) -> None:
    store = tmp_path / "store"
    processes = [
        subprocess.Popen([sys.executable, "-c", _PROCESS, str(rank), backend, str(store), str(size)])
        for rank in range(size)
    ]
    assert [p.wait(timeout=120) for p in processes] == [0] * size
