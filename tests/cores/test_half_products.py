"""Products of float16 and bfloat16 without copies in float32: Linear, convolutions with one element, and, where the
processor multiplies bfloat16, other convolutions, gradWeight in tiles only."""

from __future__ import annotations

import itertools
import os
from dataclasses import astuple, dataclass

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import thnn
from tests.new_process import Program
from thnn._binding.library import MULTIPLIES_BFLOAT16

# The bits of precision of a type, without the sign.
PRECISION = {torch.float16: 11, torch.bfloat16: 8}


@dataclass(frozen=True)
class Layer:
    batch: int
    channels: int
    outputs: int
    size: tuple[int, int]
    stride: int = 1
    groups: int = 1
    kernel: int = 1

    def __str__(self) -> str:
        return "-".join(map(str, astuple(self))).replace(", ", "x")

    def tensors(self, dtype: torch.dtype, layout: torch.memory_format, seed: int = 0) -> list[Tensor]:
        """Input, weight, bias, gradOutput."""
        g = torch.Generator().manual_seed(seed)
        k, s = self.kernel, self.stride
        shapes: list[tuple[int, ...]] = [
            (self.batch, self.channels, *self.size),
            (self.outputs, self.channels // self.groups, k, k),
            (self.outputs,),
            (self.batch, self.outputs, *((n - 1) // s + 1 for n in self.size)),
        ]
        tensors = [torch.randn(shape, generator=g).to(dtype) for shape in shapes]
        return [t.contiguous(memory_format=layout) if t.ndim == 4 else t for t in tensors]

    def run(self, x: Tensor, weight: Tensor, bias: Tensor, gradient: Tensor) -> list[Tensor]:
        """Output, gradInput, gradWeight and gradBias by the raw functions."""
        backend = thnn.type2backend[x.type()]
        output, grad_input = torch.empty(0, dtype=x.dtype), torch.empty_like(x)
        grads = torch.zeros_like(weight), torch.zeros_like(bias)
        pad, s = self.kernel // 2, self.stride
        numbers = (1, s, s, 0, pad, pad, 1, 1, 1, self.groups)
        backend.Convolution_updateOutput(0, x, output, weight, bias, *numbers)
        backend.Convolution_updateGradInput(0, x, gradient, grad_input, weight, *numbers)
        backend.Convolution_accGradParameters(0, x, gradient, *grads, *numbers, 1.0)
        return [output, grad_input, *grads]

    def exact(self, *tensors: Tensor) -> list[Tensor]:
        """The same in float64, by torch."""
        x, weight, bias, gradient = (t.double().requires_grad_() for t in tensors)
        output = F.conv2d(x, weight, bias, self.stride, self.kernel // 2, 1, self.groups)
        return [output.detach(), *torch.autograd.grad(output, (x, weight, bias), gradient.detach())]


# Odd numbers of terms, rows that are not whole vectors, images that begin at odd elements, several K-blocks.
LAYERS = [
    Layer(2, 32, 48, (9, 11)),
    Layer(3, 33, 47, (7, 7)),
    Layer(1, 17, 5, (5, 5)),
    Layer(4, 64, 64, (8, 8), groups=2),
    Layer(2, 65, 31, (13, 6), stride=2),
    Layer(2, 600, 130, (4, 5)),
    Layer(8, 64, 70, (28, 28)),
    Layer(2, 300, 37, (1, 1)),
    Layer(20, 40, 640, (3, 3)),
    Layer(1, 1, 1, (1, 1)),
    Layer(2, 32, 48, (9, 11), kernel=3),
    Layer(1, 18, 40, (7, 7), kernel=3),
    Layer(3, 64, 32, (14, 23), kernel=3, stride=2),
    Layer(2, 64, 96, (5, 17), kernel=3, groups=2),
    Layer(1, 32, 24, (12, 40), kernel=5),
    Layer(1, 16, 16, (9, 30), kernel=11, stride=3),
    Layer(2, 300, 66, (8, 8), kernel=3),
    Layer(1, 33, 35, (6, 7), kernel=3),
    # gradWeight: a sum in parts, several tasks, rows and images in several chunks.
    Layer(4, 32, 32, (41, 56), kernel=3),
    Layer(1, 40, 560, (10, 10), kernel=3),
    Layer(1, 20, 17, (2, 9500), kernel=3),
]
LAYOUTS = [torch.contiguous_format, torch.channels_last]

every_type = pytest.mark.parametrize("dtype", PRECISION, ids=lambda dtype: str(dtype)[6:])


def assert_rounded_once(got: Tensor, exact: Tensor) -> None:
    """Each element is within the distance of a rounding, and of the sum in float32."""
    distance = exact.abs() * 2.0 ** -PRECISION[got.dtype] + exact.abs().max() * 1e-5
    assert ((got.double() - exact).abs() <= distance).all()


@pytest.mark.parametrize("layer", LAYERS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS, ids=["contiguous", "channels-last"])
@every_type
def test_results_are_rounded_once(dtype: torch.dtype, layout: torch.memory_format, layer: Layer) -> None:
    tensors = layer.tensors(dtype, layout)
    results = layer.run(*tensors)
    for got, exact in zip(results, layer.exact(*tensors)):
        assert_rounded_once(got, exact)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3 - min(threads, 2))  # another number
        again = layer.run(*tensors)
    finally:
        torch.set_num_threads(threads)
    assert all(map(torch.equal, results, again))


@pytest.mark.parametrize("capability", ["default", "avx2", "avx512", "avx512_bf16"])
def test_processors_without_the_instruction(capability: str) -> None:
    """The same tests, where this process has more instructions for bfloat16."""
    if not MULTIPLIES_BFLOAT16 or capability == thnn.cpu_capability():
        pytest.skip("this process computes without the instruction")
    code = f"import pytest; raise SystemExit(pytest.main(['-q', '-p', 'no:cacheprovider', {__file__!r}, '-k', 'once']))"
    result = Program("-c", code, THNN_CPU_CAPABILITY=capability).wait()
    assert result.returncode == 0, result.stdout + result.stderr


@every_type
def test_gradients_are_added(dtype: torch.dtype) -> None:
    layer = Layer(2, 33, 21, (5, 7))
    x, weight, _, gradient = layer.tensors(dtype, torch.contiguous_format)
    before = torch.randn_like(weight)
    grad_weight = before.clone()
    thnn.type2backend[x.type()].Convolution_accGradParameters(
        0, x, gradient, grad_weight, None, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0.5
    )
    exact = layer.exact(*layer.tensors(dtype, torch.contiguous_format))[2]
    assert_rounded_once(grad_weight, before.double() + 0.5 * exact)


@every_type
def test_not_a_number_stays_at_its_position(dtype: torch.dtype) -> None:
    x = torch.ones(2, 33, 5, 5, dtype=dtype)
    x[1, 32, 2, 3] = float("nan")
    y = F.conv2d(x.double(), torch.ones(7, 33, 1, 1).double())
    got = thnn.nn.functional.conv2d(x, torch.ones(7, 33, 1, 1, dtype=dtype))
    assert torch.equal(got.isnan(), y.isnan())


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding", "dilation"),
    [
        ((50,), (5,), (1,), (2,), (1,)),
        ((53,), (4,), (3,), (1,), (1,)),
        ((9, 15), (3, 2), (2, 1), (1, 0), (1, 2)),
        ((19, 30), (2, 2), (2, 2), (0, 0), (1, 1)),
        ((12, 11), (3, 3), (1, 1), (2, 2), (2, 2)),
        ((5, 6, 7), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
        ((5, 6, 7), (3, 2, 3), (2, 2, 2), (1, 0, 1), (1, 1, 1)),
    ],
)
def test_grad_weight_of_geometries(
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> None:
    conv = getattr(thnn.nn.functional, f"conv{len(size)}d")
    exact_conv = getattr(F, f"conv{len(size)}d")
    for turned in (False, True):
        x, weight = torch.randn(2, 33, *size).bfloat16(), torch.randn(32, 33, *kernel).bfloat16()
        if turned:  # channels innermost
            x, weight = (t.movedim(1, -1).contiguous().movedim(-1, 1) for t in (x, weight))
        leaf, exact_leaf = weight.clone().requires_grad_(), weight.double().requires_grad_()
        output = conv(x, leaf, None, stride, padding, dilation)
        gradient = torch.randn_like(output)
        exact = exact_conv(x.double(), exact_leaf, None, stride, padding, dilation)
        (got,) = torch.autograd.grad(output, leaf, gradient)
        assert_rounded_once(got, torch.autograd.grad(exact, exact_leaf, gradient.double())[0])


@pytest.mark.parametrize("layout", LAYOUTS, ids=["contiguous", "channels-last"])
def test_an_infinite_element_reaches_only_its_products(layout: torch.memory_format) -> None:
    """Padding and the next row of an image add nothing to gradWeight."""
    layer = Layer(2, 20, 35, (6, 9), kernel=3)
    x, weight, bias, gradient = layer.tensors(torch.bfloat16, layout)
    x[0, 7, 0, 0] = gradient[1, 33, 2, 8] = torch.inf
    gradient[0, 5, 5, 4] = torch.nan
    got = layer.run(x, weight, bias, gradient)[2].double()
    h, w = layer.size
    for i, j in itertools.product(range(3), range(3)):
        # The outputs whose element (i, j) of the window is in the image.
        rows, columns = (slice(max(1 - k, 0), n - max(k - 1, 0)) for k, n in ((i, h), (j, w)))
        source_rows, source_columns = (
            slice(t.start + k - 1, t.stop + k - 1) for t, k in ((rows, i), (columns, j))
        )
        patches = x[..., source_rows, source_columns].double()
        exact = torch.einsum("noyx,ncyx->oc", gradient[..., rows, columns].double(), patches)
        torch.testing.assert_close(got[..., i, j], exact, rtol=2.0**-8, atol=1e-3, equal_nan=True)


def rms(t: Tensor) -> float:
    return float(t.square().mean().sqrt())


@pytest.mark.parametrize(
    "layer",
    [Layer(4, 256, 64, (14, 14)), Layer(64, 512, 256, (1, 1)), Layer(2, 64, 64, (14, 14), kernel=3)],
    ids=str,
)
def test_errors_are_not_larger_than_those_of_torch(layer: Layer) -> None:
    ours: list[list[Tensor]] = []
    theirs: list[list[Tensor]] = []
    for seed in range(5):
        tensors = layer.tensors(torch.bfloat16, torch.contiguous_format, seed)
        exact = layer.exact(*tensors)[:3]
        leaves = [t.clone().requires_grad_() for t in tensors[:3]]
        output = F.conv2d(*leaves, padding=layer.kernel // 2)
        torch_results = [output.detach(), *torch.autograd.grad(output, leaves[:2], tensors[3])]
        ours.append([got.double() - e for got, e in zip(layer.run(*tensors), exact)])
        theirs.append([got.double() - e for got, e in zip(torch_results, exact)])
    for our, their in zip(zip(*ours), zip(*theirs)):
        # Both are nearly the error of one rounding; hence the margin of a hundredth.
        assert rms(torch.stack(our)) <= 1.01 * rms(torch.stack(their))
        assert torch.stack(our).abs().max() <= 1.01 * torch.stack(their).abs().max()


@pytest.mark.skipif(os.environ.get("THNN_CPU_CAPABILITY", "") != "", reason="a forced instruction set")
def test_profile_names_the_algorithm() -> None:
    layer = thnn.nn.Linear(64, 64).bfloat16()
    text = str(thnn.profile(layer, torch.randn(32, 64).bfloat16()))
    assert ("bfloat16 GEMM" in text) == MULTIPLIES_BFLOAT16


def test_products_of_torch_in_the_same_thread() -> None:
    """Both configure the tiles (AMX) of the thread."""
    x, weight = torch.randn(70, 96).bfloat16(), torch.randn(40, 96).bfloat16()
    theirs, ours = x @ weight.T, thnn.nn.functional.linear(x, weight)
    for _ in range(3):
        assert torch.equal(x @ weight.T, theirs)
        assert torch.equal(thnn.nn.functional.linear(x, weight), ours)
