"""The rows of ``python -m thnn bench`` for whole networks.

A training step (forward, loss, backward, torch.optim.SGD) and an inference of each network of `networks.NETWORKS`, by
torch and by the same layers after thnn.convert(), contiguous and channels-last; with contiguous tensors also both by
torch.compile (inductor), and torch's by torch.compile with the backend of thnn. On the CPU, the inference is computed
by the copy of thnn.freeze(), too, and by the installed peers (`peers`). Losses and outputs are compared before the
calls are timed, and so are the losses of 20 training steps in float64. Compilation, which takes a minute or more per
row, is not timed. After a training step, `time_by_function` shows where its time goes, on the CPU.
"""

from __future__ import annotations

import copy
import functools
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from thnn._convert import convert
from thnn._freeze import freeze
from thnn._rewrite.backend import backend
from thnn.testing import peers
from thnn.testing.networks import NETWORKS, Network
from thnn.testing.timing import CHANNELS_LAST, CONTIGUOUS, Measurement, Timing, in_layout, take_turns

COMPILED = {library: f"{library} compiled {CONTIGUOUS}" for library in ("torch", "thnn")}
BACKEND = f"thnn backend {CONTIGUOUS}"
FROZEN = "thnn.freeze"
# Name -> the library of the layers, and the backend of torch.compile.
_COMPILED: dict[str, tuple[str, str | Callable[..., Any]]] = {
    COMPILED["torch"]: ("torch", "inductor"),
    COMPILED["thnn"]: ("thnn", "inductor"),
    BACKEND: ("torch", backend),
}
TRAINING, INFERENCE = "training step", "inference"
_CPU = torch.device("cpu")
# Small, so that thousands of steps with one batch neither diverge nor reach a loss of 0.
_LEARNING_RATE = 1e-4
# Largest difference of losses and outputs from torch's, relative to the largest magnitude.
_TOLERANCE = 1e-3
_DOUBLE_TOLERANCE = 1e-8
_DOUBLE_STEPS = 20


class NetworkRow(NamedTuple):
    """A network with one shape of its input, in training or in inference, on a device."""

    network: Network
    shape: tuple[int, ...]
    mode: str
    device: torch.device = _CPU

    @property
    def name(self) -> str:
        return f"networks {self.network.name} {str(self.shape).replace(' ', '')} {self.mode}"

    @property
    def goal(self) -> float | None:
        judged = self.mode == TRAINING and self.device.type == "cpu"
        return self.network.rows[self.shape] if judged else None


_ROWS = [
    NetworkRow(network, shape, mode)
    for network in NETWORKS.values()
    for shape in network.rows
    for mode in (TRAINING, INFERENCE)
]


def matching(pattern: re.Pattern[str], device: torch.device = _CPU) -> list[NetworkRow]:
    """The rows whose names the pattern matches."""
    return [row._replace(device=device) for row in _ROWS if pattern.search(row.name)]


def _made(network: Network) -> tuple[nn.Module, nn.Module]:
    """The network and its loss, with the same initial values in each call, and without dropout, whose random numbers
    depend on the implementation."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        modules = network.make(), network.make_loss()
    for layer in modules[0].modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    return modules


class _Training:
    """A training step of one implementation in one layout."""

    def __init__(self, row: NetworkRow, modules: tuple[nn.Module, nn.Module], layout: str) -> None:
        self.network, self.loss = (module.to(row.device) for module in modules)
        dtype = next(self.network.parameters()).dtype
        self.input = in_layout(row.network.input(row.shape, dtype).to(row.device), layout)
        with torch.no_grad():
            output = with_flat_weights(copy.deepcopy(self.network))(self.input)
        self.target = in_layout(row.network.target(output.cpu()).to(row.device), layout)
        _set_layout(self.network, layout)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=_LEARNING_RATE)
        self.forward: Callable[[Tensor, Tensor], Tensor] = self._forward

    def _forward(self, input: Tensor, target: Tensor) -> Tensor:
        value: Tensor = self.loss(self.network(input), target)
        return value

    def __call__(self) -> Tensor:
        self.optimizer.zero_grad()
        value = self.forward(self.input, self.target)
        value.backward()
        self.optimizer.step()
        return value

    def losses(self, steps: int) -> Tensor:
        """The losses of the next steps; each depends on the gradients of those before."""
        return torch.stack([self().detach() for _ in range(steps)])

    def result(self) -> Tensor:
        return self.losses(2)

    def compile(self, compiler: str | Callable[..., Any]) -> None:
        self.forward = torch.compile(self._forward, backend=compiler)


class _Inference:
    """An inference of one implementation in one layout."""

    def __init__(self, row: NetworkRow, modules: tuple[nn.Module, nn.Module], layout: str) -> None:
        self.network = modules[0].eval().to(row.device)
        _set_layout(self.network, layout)
        self.input = in_layout(row.network.input(row.shape).to(row.device), layout)
        self.forward: Callable[[Tensor], Tensor] = self.network

    def __call__(self) -> Tensor:
        with torch.no_grad():
            return self.forward(self.input)

    result = __call__

    def compile(self, compiler: str | Callable[..., Any]) -> None:
        self.forward = torch.compile(self.network, backend=compiler)


def with_flat_weights(network: nn.Module) -> nn.Module:
    """The network, with the weights of each recurrent layer in one block of memory, as cuDNN expects, after a copy."""
    for layer in network.modules():
        if isinstance(layer, nn.RNNBase):
            layer.flatten_parameters()
    return network


def _set_layout(network: nn.Module, layout: str) -> None:
    if layout == CHANNELS_LAST:
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def _converted(row: NetworkRow, library: str) -> tuple[nn.Module, nn.Module]:
    """The network and its loss with the layers of a library."""
    modules = _made(row.network)
    if library == "thnn":
        for module in modules:
            convert(module)
    return modules


def _implementations(row: NetworkRow) -> dict[str, Any]:
    make = _Training if row.mode == TRAINING else _Inference
    return {
        f"{library} {layout}": make(row, _converted(row, library), layout)
        for layout in ((CONTIGUOUS, CHANNELS_LAST) if len(row.shape) == 4 else (CONTIGUOUS,))
        for library in ("torch", "thnn")
    }


def _compiled(row: NetworkRow, say: Callable[[str], None]) -> dict[str, Any]:
    """The torch.compile variants that work here; prints why the others were skipped."""
    make = _Training if row.mode == TRAINING else _Inference
    found = {}
    torch.compiler.reset()  # otherwise a second shape of the network would be compiled with dynamic sizes
    for name, (library, compiler) in _COMPILED.items():
        call = make(row, _converted(row, library), CONTIGUOUS)
        initial = copy.deepcopy(call.network.state_dict())
        try:
            call.compile(compiler)
            call()  # compiles
        except Exception as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            say(f"{row.name}: without {name}, which failed: {reason[0]}")
            continue
        call.network.load_state_dict(initial)
        found[name] = call
    return found


def _inferences(row: NetworkRow, say: Callable[[str], None]) -> dict[str, Any]:
    """The frozen copy of the network, and the peers that can compute it; prints why the others were skipped."""
    frozen = _Inference(row, _made(row.network), CONTIGUOUS)
    network = frozen.network
    frozen.forward = freeze(network, frozen.input)
    found: dict[str, Any] = {FROZEN: frozen}

    @functools.cache
    def program() -> bytes:
        return peers.onnx_program(network, frozen.input)

    def add(name: str) -> None:
        try:
            found[name] = peers.Peer(name, program(), frozen.input)
        except Exception as error:  # each library has its own, and torch.onnx.export
            say(f"{row.name}: without {name}, which failed: {error}")

    for name in peers.installed():
        add(name)
    return found


def compare_losses(row: NetworkRow, steps: int) -> None:
    """Raises ValueError unless thnn and torch have the same losses in float64, step by step."""
    losses = {}
    for library, layout in (("torch", CONTIGUOUS), ("thnn", CONTIGUOUS), ("thnn", CHANNELS_LAST)):
        if layout == CHANNELS_LAST and len(row.shape) != 4:
            continue
        modules = _made(row.network)
        for module in modules:
            module.double()
            if library == "thnn":
                convert(module)
        losses[f"{library} {layout}"] = _Training(row, modules, layout).losses(steps)
    _compare(row, losses, _DOUBLE_TOLERANCE)


def time_by_function(row: NetworkRow) -> str:
    """The time of a contiguous training step of thnn by function, as `thnn.profile` prints it, and of the optimizer."""
    from thnn._profile import profile

    modules = _converted(row, "thnn")
    training = _Training(row, modules, CONTIGUOUS)
    training()
    table = profile(
        training.network, training.input, loss=lambda output: training.loss(output, training.target)
    )
    best = min(_seconds(training.optimizer.step) for _ in range(5))
    return f"{table}\noptimizer step {best * 1e3:.3f} ms, outside of the total"


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _compare(row: NetworkRow, results: Mapping[str, Tensor], tolerance: float = _TOLERANCE) -> None:
    """Raises ValueError unless all implementations compute what torch computes."""
    (_, expected), *others = results.items()
    scale = expected.abs().max().item()
    for name, result in others:
        error = (result - expected).abs().max().item()
        if not error <= tolerance * scale:
            raise ValueError(f"{row.name}: {name} differs from torch by {error:g} of {scale:g}")


def measure(row: NetworkRow, rounds: int, with_compile: bool, say: Callable[[str], None]) -> Measurement:
    """Times a row and compares thnn with torch and with its goal; messages go to `say`."""
    if row.mode == TRAINING:
        compare_losses(row, _DOUBLE_STEPS)
    calls = _implementations(row)
    if with_compile:
        calls |= _compiled(row, say)
    if row.mode == INFERENCE and row.device.type == "cpu":
        calls |= _inferences(row, say)
    _compare(row, {name: call.result() for name, call in calls.items()})
    is_cuda = row.device.type == "cuda"
    return _judge(row, take_turns(calls, rounds, torch.cuda.synchronize if is_cuda else None))


def _judge(row: NetworkRow, timings: dict[str, Timing]) -> Measurement:
    found = Measurement(row.name, "fb" if row.mode == TRAINING else "fwd", timings)
    best = {name: timing.best for name, timing in timings.items()}

    def fastest(library: str) -> float:
        return min(best[f"{library} {layout}"] for layout in _layouts(best))

    ours = best[f"thnn {CONTIGUOUS}"]
    found.ratio = best[f"torch {CONTIGUOUS}"] / ours
    found.best_ratio = fastest("torch") / ours
    if f"thnn {CHANNELS_LAST}" in best:
        found.channels_last_ratio = best[f"torch {CHANNELS_LAST}"] / best[f"thnn {CHANNELS_LAST}"]
    if COMPILED["torch"] in best:
        found.compile_ratio = best[COMPILED["torch"]] / fastest("thnn")
    if COMPILED["thnn"] in best:
        found.other_ratio = best[COMPILED["thnn"]] / ours
    if row.goal is not None:
        # A user would choose the better layout for each library.
        reached = fastest("torch") / fastest("thnn")
        found.met = reached >= row.goal
        found.goals.append(f"{reached:.2f} of {row.goal:g} against torch, each library in its better layout")
    return found


def _layouts(names: Mapping[str, Any]) -> Sequence[str]:
    return [layout for layout in (CONTIGUOUS, CHANNELS_LAST) if f"thnn {layout}" in names]
