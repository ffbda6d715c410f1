"""``python -m tools.bench_compiled``: a small network of layers of thnn, and of torch, eager and compiled.

The functions of the network take a few microseconds each, so that its times show the costs of calls. One thread.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

import thnn
from thnn._table import aligned
from thnn.testing.timing import take_turns

BACKENDS = ("aot_eager", "inductor", "AOTInductor")


def _network(library: Any) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        library.Conv2d(3, 8, 3),
        library.BatchNorm2d(8),
        library.ReLU(),
        library.MaxPool2d(2),
        nn.Flatten(),
        library.Linear(392, 10),
        library.LogSoftmax(1),
    )


def _input() -> torch.Tensor:
    return torch.linspace(-3, 3, 32 * 3 * 16 * 16).sin().reshape(32, 3, 16, 16)


def _training(library: Any, backend: str | None) -> Callable[[], Any]:
    network, criterion = _network(library), library.NLLLoss()
    x, target = _input(), torch.arange(32) % 10

    def loss(x: torch.Tensor) -> Any:
        return criterion(network(x), target)

    function = loss if backend is None else torch.compile(loss, fullgraph=True, backend=backend)

    def step() -> Any:
        network.zero_grad()
        value = function(x)
        value.backward()
        return value.detach()

    return step


def _inference(library: Any, backend: str | None, folder: Path) -> Callable[[], Any]:
    network, x = _network(library).eval(), _input()
    function: Any = network
    if backend == "AOTInductor":
        path = str(folder / f"{library.__name__}.pt2")
        with torch.no_grad():
            torch._inductor.aoti_compile_and_package(torch.export.export(network, (x,)), package_path=path)
        function = torch._inductor.aoti_load_package(path)
    elif backend is not None:
        function = torch.compile(network, fullgraph=True, backend=backend)

    def infer() -> Any:
        with torch.no_grad():
            return function(x)

    return infer


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_compiled", description=__doc__)
    parser.add_argument("--backends", nargs="*", default=BACKENDS, choices=BACKENDS, help="all by default")
    parser.add_argument("--rounds", type=int, default=25, metavar="N", help="timing rounds (default 25)")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    calls: dict[str, Callable[[], Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for library in (thnn.nn, nn):
            for backend in (None, *options.backends):
                name = f"{library.__name__} {backend or 'eager'}"
                if backend != "AOTInductor":
                    calls[f"training step: {name}"] = _training(library, backend)
                calls[f"inference: {name}"] = _inference(library, backend, Path(folder))
        results = {name: call() for name, call in calls.items()}  # compiles
        for name, result in results.items():
            mode, _ = name.split(": ")
            torch.testing.assert_close(result, results[f"{mode}: thnn.nn eager"])
        timings = take_turns(calls, options.rounds)
    rows = [["", "best, µs", "median, µs"]]
    rows += [[name, f"{t.best * 1e6:.0f}", f"{t.median * 1e6:.0f}"] for name, t in timings.items()]
    print("\n".join(aligned(rows, right=(1, 2))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
