"""Convolutions whose kernels are as large as the image, random geometries, and the benchmark that times them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import torch

import thnn
import thnn.nn.functional as F
from tools import bench_geometries
from tools.bench_geometries import (
    NAMED,
    PRODUCTS,
    Geometry,
    random_geometries,
    small,
    thnn_calls,
    torch_calls,
)


def _small_random(count: int) -> list[Geometry]:
    found = (small(g, 24, 24) for g in random_geometries(7))
    return list(itertools.islice((g for g in found if g.fits and g.multiply_adds < 3_000_000), count))


SMALL = {name: small(geometry, 40, 20) for name, geometry in NAMED.items()}
# Many output channels: columns in several blocks.
SMALL["columns"] = Geometry(3, 40, 24, (5, 7), (37, 41), (3, 2), (2, 3), (1, 2), transposed=True)
SMALL["columns of channels-last images"] = Geometry(
    2, 24, 40, (60, 50), (37, 41), (5, 3), (2, 3), (1, 1), channels_last=True
)
# Most kernel elements read only padding.
for layout, dims, transposed in itertools.product((False, True), (1, 2, 3), (False, True)):
    SMALL[f"padding {layout} {dims} {transposed}"] = Geometry(
        2, 24, 18, (5, 1, 4)[:dims], (23, 9, 4)[:dims], (2, 1, 3)[:dims], (14, 8, 2)[:dims], (1, 2, 1)[:dims],
        transposed=transposed, channels_last=layout,
    )  # fmt: skip
# Depthwise convolutions of channels-first images that are transposed in cache: strides, short rows, several outputs and
# channels of a group, residue classes without a kernel element, several bands of images and of vectors.
BANDS = {
    "short rows": Geometry(3, 37, 37, (9, 7), (3, 3), (1, 1), (1, 1), (1, 1), groups=37),
    "stride 2, bands of images": Geometry(37, 20, 20, (16, 16), (3, 3), (2, 2), (1, 1), (1, 1), groups=20),
    "two outputs": Geometry(2, 20, 40, (19, 23), (3, 3), (2, 2), (1, 0), (1, 1), groups=20),
    "three channels": Geometry(2, 30, 20, (19, 23), (2, 3), (2, 2), (1, 0), (1, 2), groups=10),
    "unreached pixels": Geometry(2, 33, 33, (12, 11), (1, 2), (3, 3), (0, 1), (1, 1), groups=33),
    "transposed": Geometry(2, 33, 33, (12, 11), (3, 3), (2, 2), (1, 1), (1, 1), groups=33, transposed=True),
    "volume": Geometry(2, 20, 20, (5, 6, 7), (3, 2, 3), (1, 2, 2), (1, 1, 1), (1, 1, 1), groups=20),
    "row": Geometry(2, 40, 40, (301,), (5,), (3,), (2,), (1,), groups=40),
    "bands of vectors": Geometry(1, 320, 320, (64, 64), (3, 3), (2, 2), (1, 1), (1, 1), groups=320),
}
# Dilated kernels that read padding in part of the image, which is divided into padding regions: of columns, and of the
# first axis with most products on padding.
ZONES = {
    "zones": Geometry(2, 24, 40, (33, 35), (3, 3), (1, 1), (16, 17), (16, 16)),
    "zones, channels-last": Geometry(
        2, 40, 24, (20, 35), (3, 3), (1, 1), (12, 12), (12, 12), channels_last=True
    ),
    "zones of five columns": Geometry(1, 20, 33, (20, 48), (2, 5), (1, 1), (2, 14), (1, 7)),
    "zones of a stride": Geometry(2, 20, 33, (20, 70), (3, 3), (2, 2), (9, 15), (9, 15)),
    "zones, transposed": Geometry(
        2, 24, 40, (23, 35), (3, 3), (1, 1), (16, 12), (16, 12), groups=2, transposed=True
    ),
    "a zone of padding": Geometry(1, 20, 33, (20, 2), (2, 2), (1, 1), (1, 30), (1, 40)),
    "zones of a volume": Geometry(1, 20, 33, (5, 9, 30), (2, 3, 3), (1, 1, 1), (1, 4, 14), (1, 4, 14)),
    "zones of depth": Geometry(
        1, 20, 33, (4, 9, 20), (3, 2, 2), (1, 1, 1), (0, 0, 0), (9, 1, 1), transposed=True
    ),
    "zones of depth and height": Geometry(
        1, 24, 40, (3, 4, 40), (4, 4, 3), (1, 2, 1), (15, 21, 1), (5, 7, 1)
    ),
    "zones of rows, depthwise": Geometry(
        2, 40, 40, (3, 60), (7, 3), (1, 1), (57, 1), (19, 1), groups=40, transposed=True
    ),
    "zones of short rows": Geometry(1, 24, 3, (90, 3), (5, 2), (1, 1), (160, 0), (80, 1), channels_last=True),
    "zones of a stride in depth": Geometry(
        2, 20, 33, (5, 20, 9), (4, 3, 3), (3, 1, 1), (24, 1, 1), (8, 1, 1)
    ),
}
# Packed tiles without the rows that no kernel element reads, between windows or between the elements of a window.
GAPS = {
    "far windows": Geometry(2, 20, 33, (50, 30), (3, 3), (7, 1), (1, 1), (1, 1)),
    "far windows, direct": Geometry(2, 20, 3, (50, 30), (3, 3), (7, 1), (2, 1), (1, 1), channels_last=True),
    "far elements": Geometry(2, 20, 33, (50, 30), (3, 2), (1, 1), (20, 0), (20, 1), channels_last=True),
    "far elements, direct": Geometry(2, 20, 3, (50, 30), (3, 2), (2, 1), (4, 0), (20, 1)),
    "far elements, depthwise": Geometry(2, 20, 20, (50, 30), (3, 2), (1, 1), (20, 0), (20, 1), groups=20),
    "far elements in depth": Geometry(1, 20, 33, (29, 6, 12), (2, 3, 3), (2, 1, 1), (0, 1, 1), (13, 1, 1)),
    "far windows in depth": Geometry(1, 20, 33, (29, 30, 12), (2, 2, 3), (9, 7, 1), (0, 1, 1), (2, 1, 1)),
}
# Direct convolution: short rows that a longer axis replaces, tiles in L2, more than 128 kernel elements, the batch as
# the longest axis. Groups of one input and several output channels. More residues than a packed tile can have.
DIRECT = {
    "rows of one pixel": Geometry(1, 20, 3, (60, 1), (3, 1), (2, 1), (1, 0), (1, 1)),
    "rows of one pixel, gradInput": Geometry(
        2, 30, 30, (3, 200, 1), (4, 1, 1), (1, 2, 3), (2, 0, 0), (2, 1, 2), groups=30
    ),
    "tiles in L2": Geometry(2, 6, 6, (51, 120), (36, 3), (1, 2), (0, 0), (1, 8), groups=6),
    "many elements": Geometry(1, 5, 5, (40, 20), (25, 14), (2, 1), (9, 5), (1, 1), groups=5),
    "longest axis is the batch": Geometry(41, 3, 3, (40, 12), (30, 5), (9, 1), (20, 0), (1, 2), groups=3),
    "multiplier": Geometry(
        2, 13, 156, (15, 20), (2, 3), (3, 1), (9, 1), (9, 1), groups=13, channels_last=True
    ),
    "multiplier, planes": Geometry(2, 20, 100, (19, 17), (3, 3), (2, 2), (1, 1), (1, 1), groups=20),
    "many residues": Geometry(2, 13, 13, (1, 1595), (1, 277), (1, 521), (0, 0), (1, 2), groups=13),
    "many residues, one position": Geometry(20, 13, 26, (897,), (897,), (898,), (448,), (2,), groups=13),
}
# gradInput of channels-last images as the sum of rows of channels: few and many output channels, more channels than a
# segment of sums.
CHANNELS = {
    f"channels, {name}": Geometry(
        2, terms, channels, (3, 2), (7, 5), (2, 3), (1, 0), (1, 2), groups, True, True
    )
    for name, terms, channels, groups in (
        ("few outputs", 4, 20, 1),
        ("many outputs", 24, 33, 1),
        ("groups", 12, 54, 3),
        ("segments", 6, 4200, 1),
    )
}
# gradWeight: few positions and many channels, and sums over parts of the batch or of rows.
WEIGHTS = {
    "few positions": Geometry(2, 40, 30, (7, 7), (5, 5), (1, 1), (2, 2), (1, 1)),
    "few positions, channels-last": Geometry(
        3, 40, 30, (9, 11), (2, 4), (1, 1), (2, 2), (1, 1), channels_last=True
    ),
    "parts of the batch": Geometry(9, 3, 37, (19, 17), (3, 3), (2, 2), (1, 1), (1, 1)),
    "parts of rows": Geometry(2, 3, 40, (33, 20), (5, 3), (1, 2), (2, 1), (1, 1), channels_last=True),
    "parts, transposed": Geometry(8, 20, 24, (9, 8), (4, 4), (2, 2), (1, 1), (1, 1), transposed=True),
    "many weights": Geometry(2, 70, 90, (12, 9), (3, 3), (2, 2), (1, 1), (1, 1)),
    "many weights and positions": Geometry(9, 40, 50, (19, 17), (3, 3), (2, 2), (1, 1), (1, 1)),
    "Winograd": Geometry(4, 24, 40, (24, 24), (3, 3), (1, 1), (1, 1), (1, 1)),
}
# gradInput of channels-last depthwise convolutions: residue classes together, and more of them than a set.
CLASSES = {
    f"classes, {name}": Geometry(
        2, 40, 40, (13, 12), (7, 6), stride, (3, 2), (1, 1), groups=40, channels_last=True
    )
    for name, stride in (("four", (2, 2)), ("nine", (3, 3)), ("a set and three", (5, 6)))
}
# Matrix products: rows of c that are close in memory, incomplete micro-tiles of rows and of columns, more than one
# K-block.
POINTWISE = {
    f"pointwise {inputs} -> {outputs}, {groups} groups, stride {stride}": Geometry(
        3, inputs, outputs, (9, 7), (1, 1), stride, (0, 0), (1, 1), groups, channels_last=True
    )
    for stride in ((1, 1), (2, 1)) for inputs, outputs, groups in (
        (40, 24, 1), (70, 16, 1), (16, 100, 1), (300, 40, 1), (37, 45, 1), (24, 64, 2), (1, 33, 1)
    )
}  # fmt: skip
SMALL |= BANDS | ZONES | GAPS | DIRECT | CHANNELS | WEIGHTS | CLASSES | POINTWISE
GEOMETRIES = list(SMALL.values()) + _small_random(300)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_products_are_those_of_torch_in_double(geometry: Geometry) -> None:
    tensors = geometry.tensors(torch.float64)
    expected = [call() for call in torch_calls(geometry, tensors)]
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 2e-5)):
        calls = thnn_calls(geometry, [t.to(dtype) for t in tensors])
        for product, call, right in zip(PRODUCTS, calls, expected, strict=True):
            error = (call() - right).abs().max().item()
            assert error <= tolerance * max(right.abs().max().item(), 1), (product, dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", SMALL)
def test_a_new_gradient_of_a_weight_is_the_sum_with_zeros(
    name: str, dtype: torch.dtype, uninitialized_is_nan: Callable[[], AbstractContextManager[None]]
) -> None:
    """Most algorithms do not clear a new gradWeight first: its old memory must not be in the result."""
    geometry = SMALL[name]
    tensors = geometry.tensors(dtype)
    sums = thnn_calls(geometry, tensors)[2]()
    kind = "FullConvolution" if geometry.transposed else "Convolution"
    function = thnn.function_classes[f"{kind}Function"]
    output = function.apply(tensors[0], tensors[1].requires_grad_(), None, *geometry.settings)
    with uninitialized_is_nan():
        (new,) = torch.autograd.grad(output, tensors[1], tensors[2])
    assert torch.equal(new, sums)


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_scaled_gradient_of_a_weight_is_added(name: str) -> None:
    geometry = WEIGHTS[name]
    input, weight, gradient = geometry.tensors()
    right = thnn_calls(geometry, [t.double() for t in (input, weight, gradient)])[2]() * 0.5 + 1
    given = torch.ones_like(weight)
    backend = thnn.type2backend["torch.FloatTensor"]
    kind = "FullConvolution" if geometry.transposed else "Convolution"
    accumulate = getattr(backend, f"{kind}_accGradParameters")
    accumulate(backend.library_state, input, gradient, given, None, *geometry.settings, 0.5)
    torch.testing.assert_close(given.double(), right, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows", [*range(1, 16), 57, 60, 71])
def test_a_linear_layer_of_few_features(rows: int) -> None:
    """Micro-tiles with fewer rows than others, and a last panel that is not whole."""
    x, w, b = (torch.randn(size, dtype=torch.float64) for size in ((rows, 40), (50, 40), (50,)))
    y = thnn.LinearFunction.apply(x.float(), w.float(), b.float())
    torch.testing.assert_close(y.double(), x @ w.T + b, rtol=1e-4, atol=1e-4)


def test_channels_that_are_shifted_views_of_one_series() -> None:
    """Channels and positions both have the stride 1, so that a row of channels and one of positions are contiguous."""
    series, weight = torch.randn(300, dtype=torch.float64), torch.randn(24, 8, 8, dtype=torch.float64)
    views = series.as_strided((1, 8, 256), (0, 1, 1))
    for stride in (1, 2, 8):
        calls = []
        for conv1d, x in ((F.conv1d, views), (torch.nn.functional.conv1d, views.contiguous())):
            leaf = weight.clone().requires_grad_()
            y = conv1d(x, leaf, stride=stride)
            calls.append((y, *torch.autograd.grad(y.square().sum(), leaf)))
        torch.testing.assert_close(*calls)


@pytest.mark.parametrize(
    "name", [*NAMED, *BANDS, *ZONES, *GAPS, *DIRECT, *CHANNELS, *WEIGHTS, *CLASSES, *POINTWISE]
)
def test_geometries_have_the_same_bits_for_any_number_of_threads(name: str) -> None:
    geometry = small(NAMED[name], 256, 64) if name in NAMED else SMALL[name]
    calls = thnn_calls(geometry, geometry.tensors())
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        expected = [call().clone() for call in calls]
        for threads in (2, 5):
            torch.set_num_threads(threads)
            for product, call, right in zip(PRODUCTS, calls, expected, strict=True):
                assert torch.equal(call(), right), (product, threads)
    finally:
        torch.set_num_threads(before)


def test_the_benchmark_prints_products_and_fails_on_slow_ones(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    geometries = {name: SMALL[name] for name in ("STFT 1->514", "global depthwise 7x7, 512 channels")}
    monkeypatch.setattr(bench_geometries, "NAMED", geometries)
    monkeypatch.setattr(bench_geometries, "_SECONDS", 60.0)
    assert bench_geometries.main(["--count", "0", "--named", "stft"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("STFT") == 3 and "global" not in printed
    monkeypatch.setattr(bench_geometries, "_SECONDS", 1e-12)
    monkeypatch.setattr(bench_geometries, "_RATIO", 0.0)
    monkeypatch.setattr(bench_geometries, "random_geometries", lambda seed: iter(geometries.values()))
    assert bench_geometries.main(["--count", "1", "--named", "none"]) == 1
    assert capsys.readouterr().out.count("FAILED") == 3


def test_random_geometries_depend_on_the_seed_alone() -> None:
    first, again, other = (list(itertools.islice(random_geometries(seed), 20)) for seed in (1, 1, 2))
    assert first == again != other
    assert all(geometry.fits for geometry in first)
