"""Times Winograd's method against the implicit GEMM and torch, and compares rounding errors with torch's.

``python -m tools.bench_winograd [REGEX]`` prints the measurements of docs/convolution.md, times and errors,
for layers whose name matches. One library computes by Winograd's method, a second copy, loaded with THNN_WINOGRAD=0,
without. OMP_NUM_THREADS sets the number of threads.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from thnn._binding.backend import Backend
from thnn._binding.library import FLOAT, THNN, Library
from thnn.testing.timing import CHANNELS_LAST, CONTIGUOUS, in_layout, take_turns

PRODUCTS = ("output", "gradInput", "gradWeight")
_SEEDS = 5
_ROUNDS = 7


@dataclass(frozen=True)
class Layer:
    """A 3x3 convolution with padding and dilation `dilation`; with a depth 3x3x3, whose padding in depth is 1."""

    channels: int
    size: int
    batch: int
    depth: int = 0
    dilation: int = 1

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.depth, self.size, self.size) if self.depth else (self.size, self.size)

    def __str__(self) -> str:
        dilation = f", dilation {self.dilation}" if self.dilation > 1 else ""
        return f"{self.channels} at {'x'.join(map(str, self.sizes))}, batch {self.batch}{dilation}"

    @property
    def dilations(self) -> list[int]:
        """The dilation of each axis, which is also its padding."""
        return [*[1] * (len(self.sizes) - 2), self.dilation, self.dilation]

    def tensors(self, layout: str, seed: int = 0, relu: bool = False) -> list[Tensor]:
        """Input, weight and gradOutput."""
        generator = torch.Generator().manual_seed(seed)
        image = (self.batch, self.channels, *self.sizes)
        input, gradient = (torch.randn(image, generator=generator) for _ in range(2))
        weight = torch.randn(self.channels, self.channels, *[3] * len(self.sizes), generator=generator)
        weight *= (2 / weight[0].numel()) ** 0.5
        if relu:
            input.add_(0.5).relu_()
        return [in_layout(t, layout) for t in (input, weight, gradient)]


LAYERS = [
    Layer(64, 56, 8), Layer(64, 56, 1), Layer(128, 28, 8), Layer(256, 14, 8), Layer(512, 7, 8), Layer(64, 32, 16),
    Layer(32, 112, 4), Layer(16, 56, 8), Layer(16, 14, 1), Layer(64, 14, 1), Layer(128, 7, 3), Layer(256, 14, 1),
    Layer(256, 7, 3), Layer(512, 7, 4), Layer(512, 7, 1), Layer(512, 4, 8), Layer(256, 13, 8),
    Layer(256, 3, 16), Layer(32, 28, 2, 8), Layer(64, 28, 1, 8), Layer(64, 28, 1, 16), Layer(128, 14, 1, 8),
    Layer(256, 14, 1, 4),
    Layer(128, 28, 8, dilation=2), Layer(64, 56, 8, dilation=2), Layer(512, 28, 1, dilation=2),
    Layer(64, 57, 1, dilation=3), Layer(256, 28, 2, dilation=4), Layer(64, 160, 1, dilation=16),
    Layer(32, 28, 2, 8, dilation=2),
]  # fmt: skip
_ACCURACY = [*LAYERS[:7], *LAYERS[-14:]]


def thnn_calls(
    layer: Layer, backend: Backend, tensors: Sequence[Tensor]
) -> tuple[list[Callable[[], None]], list[Tensor]]:
    """A call per product, and the tensors that they compute; gradWeight is added to its tensor."""
    input, weight, gradient = tensors
    results = [torch.empty_like(gradient), torch.empty_like(input), torch.zeros_like(weight)]
    output, grad_input, grad_weight = results
    dilation = layer.dilation
    # stride, padding, dilation, groups
    window = (1, 1, 1, int(input.dim() == 5), dilation, dilation, 1, dilation, dilation, 1)
    calls = [
        lambda: backend.Convolution_updateOutput(0, input, output, weight, None, *window),
        lambda: backend.Convolution_updateGradInput(0, input, gradient, grad_input, weight, *window),
        lambda: backend.Convolution_accGradParameters(0, input, gradient, grad_weight, None, *window, 1),
    ]
    return calls, results


def torch_calls(layer: Layer, tensors: Sequence[Tensor]) -> list[Callable[[], Tensor]]:
    input, weight, gradient = tensors
    axes = input.dim() - 2
    window = ([1] * axes, layer.dilations, layer.dilations)
    convolution = torch.nn.functional.conv2d if axes == 2 else torch.nn.functional.conv3d

    def backward(product: int) -> Tensor:
        wanted = [product == 1, product == 2, False]
        found: list[Tensor] = torch.ops.aten.convolution_backward(
            gradient, input, weight, None, *window, False, [0] * axes, 1, wanted
        )
        return found[product - 1]

    return [
        lambda: convolution(input, weight, None, *window),
        lambda: backward(1),
        lambda: backward(2),
    ]


def _times(layer: Layer, layout: str, winograd: Backend, gemm: Backend) -> None:
    tensors = layer.tensors(layout)
    calls: dict[str, Sequence[Callable[[], object]]] = {
        "torch": torch_calls(layer, tensors),
        "gemm": thnn_calls(layer, gemm, tensors)[0],
        "winograd": thnn_calls(layer, winograd, tensors)[0],
    }
    for i, product in enumerate(PRODUCTS):
        best = {k: v.best for k, v in take_turns({k: v[i] for k, v in calls.items()}, _ROUNDS).items()}
        milliseconds = " | ".join(f"{best[k] * 1e3:8.3f}" for k in calls)
        ratios = " | ".join(f"{best[k] / best['winograd']:5.2f}" for k in ("torch", "gemm"))
        print(f"| {layer!s:25} | {layout:13} | {product:10} | {milliseconds} | {ratios} |", flush=True)


def _errors(layer: Layer, relu: bool, winograd: Backend) -> None:
    """Largest ratio of the rms errors over the seeds, and ratio of the largest errors."""
    rms, largest = torch.zeros(3), torch.zeros(2, 3)
    for seed in range(_SEEDS):
        tensors = layer.tensors(CONTIGUOUS, seed, relu)
        calls, ours = thnn_calls(layer, winograd, tensors)
        for call in calls:
            call()
        for i, (mine, theirs, exact) in enumerate(
            zip(
                ours,
                torch_calls(layer, tensors),
                torch_calls(layer, [t.double() for t in tensors]),
                strict=True,
            )
        ):
            right = exact()
            errors = [(t - right) for t in (mine, theirs())]
            ratio = (errors[0].square().mean() / errors[1].square().mean()).sqrt().item()
            rms[i] = max(rms[i].item(), ratio)
            for j in range(2):
                largest[j, i] = max(largest[j, i].item(), errors[j].abs().max().item())
    ratios = [*rms.tolist(), *(largest[0] / largest[1]).tolist()]
    print(
        f"| {layer!s:25} | {'ReLU' if relu else 'normal':6} | {' | '.join(f'{r:5.2f}' for r in ratios)} |",
        flush=True,
    )


def main(pattern: str = "") -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "libTHNN.so"
        shutil.copy(THNN.path, copy)
        os.environ["THNN_WINOGRAD"] = "0"
        gemm = Backend("THNNGemmBackend", FLOAT, Library(copy))
    winograd = Backend("THNNWinogradBackend", FLOAT, THNN)
    chosen = [layer for layer in LAYERS if re.search(pattern, str(layer))]
    print(
        "| layer | layout | product | torch, ms | implicit GEMM, ms | Winograd, ms"
        " | torch's time / Winograd's | implicit GEMM's time / Winograd's |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for layer in chosen:
        for layout in (CONTIGUOUS, CHANNELS_LAST):
            _times(layer, layout, winograd, gemm)
    print(
        "\n| layer | input | rms, output | rms, gradInput | rms, gradWeight"
        " | largest, output | largest, gradInput | largest, gradWeight |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for layer in chosen:
        if layer in _ACCURACY:
            for relu in (False, True):
                _errors(layer, relu, winograd)


if __name__ == "__main__":
    main(*sys.argv[1:2])
