"""Times convolutions against torch: of random geometries, and of the geometries that are hardest for a blocked kernel.

``python -m tools.bench_geometries [--count N] [--seed N] [--named REGEX]`` times the named geometries and N
random ones with one thread: output, gradInput and gradWeight, plain and transposed, in one to three dimensions, with
groups, stride, padding and dilation. A product fails if it takes more than twice torch's time plus 5 ms, or if it
differs from torch's result; where the two differ, torch computes it again in double precision. The slowest products are
printed; the exit status is 1 if one fails.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import math
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from thnn._binding.backend import type2backend

PRODUCTS = ("output", "gradInput", "gradWeight")
MOST_SIZE = 20_000
MOST_MULTIPLY_ADDS = 300_000_000
_MOST_ELEMENTS = 1 << 25  # limit for a tensor
_RATIO, _SECONDS = 2.0, 5e-3
_REPEATS = 4  # extra runs of named geometries and of products that seem to fail
_TOLERANCE = 1e-3  # relative to the largest magnitude of a result


@dataclass(frozen=True)
class Geometry:
    """A convolution, or its transposed form. Tuples have a value per spatial dimension."""

    batch: int
    inputs: int
    outputs: int
    size: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1
    transposed: bool = False
    channels_last: bool = False

    def __str__(self) -> str:
        def axes(values: Sequence[int]) -> str:
            return "x".join(map(str, values))

        words = [
            "transposed" if self.transposed else "plain",
            f"{self.batch}x{self.inputs}->{self.outputs}",
            axes(self.size),
            f"k{axes(self.kernel)} s{axes(self.stride)} p{axes(self.padding)} d{axes(self.dilation)}",
            f"g{self.groups}",
        ]
        return " ".join(words + ["channels-last"] * self.channels_last)

    @property
    def output_size(self) -> tuple[int, ...]:
        """The size of the output; a value below 1 if the geometry has no output."""
        axes = zip(self.size, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        if self.transposed:
            return tuple((i - 1) * s - 2 * p + d * (k - 1) + 1 for i, k, s, p, d in axes)
        return tuple((i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in axes)

    @property
    def multiply_adds(self) -> int:
        """Multiply-adds of a product, padding included."""
        windows = math.prod(self.size if self.transposed else self.output_size)
        return self.batch * windows * math.prod(self.kernel) * self.inputs * self.outputs // self.groups

    @property
    def fits(self) -> bool:
        """False if there is no output, or if a tensor or a product is too large."""
        output, images = self.output_size, self.batch * max(self.inputs, self.outputs)
        windows = math.prod(self.size if self.transposed else output)
        unfolded = windows * math.prod(self.kernel) * (self.outputs if self.transposed else self.inputs)
        return (
            min(output) >= 1
            and max(output) <= MOST_SIZE
            and images * max(math.prod(output), math.prod(self.size)) <= _MOST_ELEMENTS
            and math.prod(self.kernel) * self.inputs * self.outputs // self.groups <= _MOST_ELEMENTS
            and unfolded <= 4 * _MOST_ELEMENTS  # torch unfolds some geometries, one image at a time
            and self.multiply_adds <= MOST_MULTIPLY_ADDS
        )

    @property
    def settings(self) -> tuple[int, ...]:
        """The scalars of the functions of Convolution or, if transposed, of FullConvolution."""

        def axes(values: Sequence[int], trivial: int) -> tuple[int, int, int]:
            t, h, w = (trivial,) * (3 - len(values)) + tuple(values)
            return t, w, h

        window = (*axes(self.stride, 1), *axes(self.padding, 0), *axes(self.dilation, 1))
        return (*window, *((0, 0, 0) if self.transposed else ()), self.groups)

    def tensors(self, dtype: torch.dtype = torch.float32) -> list[Tensor]:
        """Input, weight and gradOutput with normal random values, the same in each call."""
        generator = torch.Generator().manual_seed(0)
        filters = (
            (self.inputs, self.outputs // self.groups)
            if self.transposed
            else (self.outputs, self.inputs // self.groups)
        )
        shapes = (
            (self.batch, self.inputs, *self.size),
            (*filters, *self.kernel),
            (self.batch, self.outputs, *self.output_size),
        )
        made = [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]
        if self.channels_last and len(self.size) > 1:
            layout = torch.channels_last if len(self.size) == 2 else torch.channels_last_3d
            made = [t.contiguous(memory_format=layout) for t in made]
        return made


def _geometry(
    batch: int,
    inputs: int,
    outputs: int,
    size: Sequence[int],
    kernel: Sequence[int],
    stride: int = 1,
    padding: int = 0,
    groups: int = 1,
    transposed: bool = False,
) -> Geometry:
    n = len(size)
    return Geometry(
        batch, inputs, outputs, tuple(size), tuple(kernel), (stride,) * n, (padding,) * n, (1,) * n, groups, transposed
    )  # fmt: skip


NAMED = {
    "valid 512x512 kernel on 520x520": _geometry(1, 1, 1, (520, 520), (512, 512)),
    "transposed 512x512 kernel on 4x4": _geometry(1, 1, 1, (4, 4), (512, 512), transposed=True),
    "transposed 32x32 kernel 64->64 on 1x1": _geometry(1, 64, 64, (1, 1), (32, 32), transposed=True),
    "STFT 1->514": _geometry(1, 1, 514, (16000,), (512,), 128),
    "inverse STFT 514->1": _geometry(1, 514, 1, (122,), (512,), 128, transposed=True),
    "global depthwise 14x14, 256 channels": _geometry(1, 256, 256, (14, 14), (14, 14), groups=256),
    "global depthwise 7x7, 512 channels": _geometry(4, 512, 512, (7, 7), (7, 7), groups=512),
    "depthwise temporal k 4096": _geometry(1, 8, 8, (4096,), (4096,), padding=4095, groups=8),
}


def small(geometry: Geometry, axis: int, channels: int) -> Geometry:
    """The geometry with sizes, strides and padding divided so that the longest axis of kernel and image has at most
    `axis` elements, and with at most `channels` channels: for tests."""
    divisor = -(-max(*geometry.size, *geometry.kernel) // axis)

    def less(values: Sequence[int], least: int) -> tuple[int, ...]:
        return tuple(v if v <= least else max(least, v // divisor) for v in values)

    groups = min(geometry.groups, channels)
    inputs, outputs = (
        groups * min(c // geometry.groups, max(1, channels // groups))
        for c in (geometry.inputs, geometry.outputs)
    )
    return replace(
        geometry,
        inputs=inputs,
        outputs=outputs,
        size=less(geometry.size, 1),
        kernel=less(geometry.kernel, 1),
        stride=less(geometry.stride, 1),
        padding=less(geometry.padding, 0),
        groups=groups,
    )


def random_geometries(seed: int) -> Iterator[Geometry]:
    """An endless sequence of geometries that fit. Sizes are log-uniform up to `MOST_SIZE`, of four in five images up to
    1024 and of four in five volumes up to 128; half of the kernels are at most 7 long, the others up to the length of
    the image or, if transposed, longer."""
    source = random.Random(seed)

    def between(low: int, high: int) -> int:
        return max(low, min(high, round(math.exp(source.uniform(math.log(low), math.log(high + 0.5))))))

    while True:
        dims = source.choice((1, 2, 3))
        transposed = source.random() < 0.4
        most = {1: MOST_SIZE, 2: 1024, 3: 128}[dims] if source.random() < 0.8 else MOST_SIZE
        size = tuple(between(1, most) for _ in range(dims))
        large = source.random() < 0.5
        kernel = tuple(between(1, (most if transposed else max(i, 1)) if large else 7) for i in size)
        stride = tuple(source.choice((1, 1, 2, 3, between(1, max(k, 4)))) for k in kernel)
        dilation = tuple(source.choice((1, 1, 1, 2, between(1, 64))) for _ in kernel)
        padding = tuple(
            source.choice((0, 0, k // 2, d * (k - 1))) for k, d in zip(kernel, dilation, strict=True)
        )
        kind = source.random()
        if kind < 0.5:
            groups, inputs, outputs = 1, between(1, 512), between(1, 512)
        elif kind < 0.75:  # depthwise, with a multiplier
            groups = inputs = between(2, 512)
            outputs = groups * source.choice((1, 1, 1, 2, 3))
            if transposed:
                inputs, outputs = outputs, inputs
        else:
            groups = between(2, 32)
            inputs, outputs = groups * between(1, 64), groups * between(1, 64)
        geometry = Geometry(
            source.choice((1, 1, 2, between(1, 64))), inputs, outputs, size, kernel, stride, padding, dilation, groups,
            transposed, source.random() < 0.3,
        )  # fmt: skip
        if geometry.fits:
            yield geometry


def thnn_calls(geometry: Geometry, tensors: Sequence[Tensor]) -> list[Callable[[], Tensor]]:
    """A call per product, which returns the product."""
    input, weight, gradient = tensors
    results = [torch.empty_like(gradient), torch.empty_like(input), torch.empty_like(weight)]
    output, grad_input, grad_weight = results
    backend = type2backend["torch.DoubleTensor" if input.dtype == torch.float64 else "torch.FloatTensor"]
    name = "FullConvolution" if geometry.transposed else "Convolution"
    forward, backward, accumulate = (
        getattr(backend, f"{name}_{phase}")
        for phase in ("updateOutput", "updateGradInput", "accGradParameters")
    )

    def outputs() -> Tensor:
        forward(0, input, output, weight, None, *geometry.settings)
        return output

    def gradient_of_input() -> Tensor:
        backward(0, input, gradient, grad_input, weight, *geometry.settings)
        return grad_input

    def gradient_of_weight() -> Tensor:
        grad_weight.zero_()
        accumulate(0, input, gradient, grad_weight, None, *geometry.settings, 1)
        return grad_weight

    return [outputs, gradient_of_input, gradient_of_weight]


def torch_calls(geometry: Geometry, tensors: Sequence[Tensor]) -> list[Callable[[], Tensor]]:
    """A call per product, which returns the product. Tensors are made contiguous: torch 2.13 writes outside of the
    gradInput of some transposed volumetric convolutions of channels-last images."""
    input, weight, gradient = (t.contiguous() for t in tensors)
    window = (
        list(geometry.stride), list(geometry.padding), list(geometry.dilation), geometry.transposed,
        [0] * len(geometry.size), geometry.groups,
    )  # fmt: skip

    def backward(product: int) -> Tensor:
        wanted = [product == 1, product == 2, False]
        found: list[Tensor] = torch.ops.aten.convolution_backward(
            gradient, input, weight, None, *window, wanted
        )
        return found[product - 1]

    return [
        lambda: torch.ops.aten.convolution(input, weight, None, *window),
        lambda: backward(1),
        lambda: backward(2),
    ]


@dataclass(frozen=True)
class Result:
    """Seconds of a product, and its difference from torch's relative to the largest magnitude."""

    name: str
    product: str
    thnn: float
    torch: float
    error: float

    @property
    def excess(self) -> float:
        """The time as a fraction of the longest that passes."""
        return self.thnn / (_RATIO * self.torch + _SECONDS)

    @property
    def passes(self) -> bool:
        return self.excess <= 1 and self.error <= _TOLERANCE

    def __str__(self) -> str:
        verdict = "ok" if self.passes else "FAILED"
        return (
            f"{self.excess:6.2f} {self.product:10} thnn {self.thnn * 1e3:10.3f} ms  torch {self.torch * 1e3:10.3f} ms  "
            f"ratio {self.thnn / self.torch:7.2f}  error {self.error:.0e}  {verdict:6} {self.name}"
        )


def _timed(call: Callable[[], Tensor]) -> tuple[float, Tensor]:
    start = time.thread_time()
    result = call()
    return time.thread_time() - start, result


def measure(geometry: Geometry, name: str, warm: bool) -> list[Result]:
    """Times each product once and, if `warm` or if it is slow but takes at most 1 s, up to _REPEATS times more,
    interleaved; the shortest time counts."""
    tensors = geometry.tensors()
    found = []
    for product, ours, theirs in zip(
        PRODUCTS, thnn_calls(geometry, tensors), torch_calls(geometry, tensors), strict=True
    ):
        (mine, value), (other, expected) = _timed(ours), _timed(theirs)
        scale = expected.abs().max().item()
        error = (value - expected).abs().max().item() / scale if scale > 0 else value.abs().max().item()
        if error > _TOLERANCE:  # some gradients of torch 2.13 in float32 are wrong
            doubles = [t.double() for t in tensors]
            expected = torch_calls(geometry, doubles)[PRODUCTS.index(product)]()
            error = ((value - expected).abs().max() / expected.abs().max()).item()
        del expected
        for _ in range(_REPEATS if warm or mine > 0.7 * (_RATIO * other + _SECONDS) else 0):
            if mine > 1 and not warm:
                break
            mine, other = min(mine, _timed(ours)[0]), min(other, _timed(theirs)[0])
        found.append(Result(name, product, mine, other, error))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_geometries", description=__doc__)
    parser.add_argument(
        "--count", type=int, default=1000, metavar="N", help="random geometries (default 1000)"
    )
    parser.add_argument(
        "--first", type=int, default=0, metavar="N", help="number of the first one, 0 by default"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the random geometries (default 0)"
    )
    parser.add_argument("--named", default="", metavar="REGEX", help="only named geometries that match")
    parser.add_argument("--worst", type=int, default=20, metavar="N", help="lines to print (default 20)")
    parser.add_argument(
        "--verbose", action="store_true", help="print each random geometry that fails at once"
    )
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    failed = 0
    for name, geometry in NAMED.items():
        if re.search(options.named, name, re.IGNORECASE):
            for result in measure(geometry, name, warm=True):
                failed += not result.passes
                print(result, flush=True)
    worst: list[tuple[float, int, Result]] = []
    numbered = enumerate(random_geometries(options.seed))
    for index, geometry in itertools.islice(numbered, options.first, options.first + options.count):
        for result in measure(geometry, f"#{index} {geometry}", warm=False):
            failed += not result.passes
            badness = math.inf if result.error > _TOLERANCE else result.excess
            heapq.heappush(worst, (badness, -3 * index - PRODUCTS.index(result.product), result))
            if len(worst) > options.worst:
                heapq.heappop(worst)
            if options.verbose and not result.passes:
                print(result, flush=True)
    if worst:
        print(f"\nthe slowest products of {options.count} random geometries, seed {options.seed}:")
    for _, _, result in sorted(worst, reverse=True):
        print(result)
    print(f"{failed} products failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
