"""Winograd's method for 3x3 convolutions: agreement with torch, rounding errors, NaN, threads."""

from __future__ import annotations

import dataclasses
import math
import os
import shutil
from collections.abc import Iterator
from unittest import mock

import pytest
import torch
from new_process import Program, python
from torch import Tensor

from thnn import type2backend
from thnn._binding import library
from thnn._binding.backend import Backend
from thnn._binding.library import DOUBLE, FLOAT, THNN, Library

WINOGRAD = type2backend[torch.float32]
pytestmark = pytest.mark.skipif(
    library.cpu_capability() == "default" or os.environ.get("THNN_WINOGRAD") == "0",
    reason="needs AVX2, and THNN_WINOGRAD must not be 0",
)


@pytest.fixture(scope="module")
def without_winograd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """A second copy of the library, loaded with THNN_WINOGRAD=0."""
    copy = tmp_path_factory.mktemp("without") / "libTHNN.so"
    shutil.copy(THNN.path, copy)
    with mock.patch.dict(os.environ, THNN_WINOGRAD="0"):
        yield Backend("THNNGemmBackend", FLOAT, Library(copy))


@dataclasses.dataclass(frozen=True)
class Layer:
    batch: int
    inputs: int
    outputs: int
    height: int
    width: int
    padding: int = 1
    groups: int = 1
    channels_last: str = ""  # of the tensors input, weight and gradOutput: i, w, o
    bias: bool = False
    scale: float = 1  # of gradWeight
    depth: int = 0  # of a volume, whose kernel is 3x3x3
    dilation: int = 1  # of the rows and columns

    @property
    def size(self) -> tuple[int, ...]:
        return (self.depth, self.height, self.width) if self.depth else (self.height, self.width)

    @property
    def dilations(self) -> tuple[int, ...]:
        return (*[1] * (len(self.size) - 2), self.dilation, self.dilation)

    def tensors(self, seed: int = 0, relu: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        generator = torch.Generator().manual_seed(seed)
        shapes = {
            "i": (self.batch, self.inputs, *self.size),
            "w": (self.outputs, self.inputs // self.groups, *[3] * len(self.size)),
            "o": (
                self.batch,
                self.outputs,
                *(s + 2 * self.padding - 2 * d for s, d in zip(self.size, self.dilations, strict=True)),
            ),
        }
        result = []
        for name, shape in shapes.items():
            tensor = torch.randn(shape, generator=generator)
            if name == "i" and relu:
                tensor.add_(0.5).relu_()
            if name == "w":
                tensor *= (2 / tensor[0].numel()) ** 0.5
            if name in self.channels_last:
                layout = torch.channels_last_3d if self.depth else torch.channels_last
                tensor = tensor.contiguous(memory_format=layout)
            result.append(tensor)
        return result[0], result[1], result[2]

    def products(self, backend: Backend, input: Tensor, weight: Tensor, grad_output: Tensor) -> list[Tensor]:
        """output, gradInput, gradWeight; the last one is added to ones."""
        padding = self.padding
        dilations = (1, self.dilation, self.dilation)
        arguments = (1, 1, 1, padding if self.depth else 0, padding, padding, *dilations, self.groups)
        bias = torch.arange(float(self.outputs), dtype=weight.dtype) if self.bias else None
        output, grad_input, grad_weight = weight.new_empty(0), weight.new_empty(0), torch.ones_like(weight)
        backend.Convolution_updateOutput(0, input, output, weight, bias, *arguments)
        backend.Convolution_updateGradInput(0, input, grad_output, grad_input, weight, *arguments)
        backend.Convolution_accGradParameters(
            0, input, grad_output, grad_weight, None, *arguments, self.scale
        )
        return [output, grad_input, grad_weight]

    def torch_products(self, input: Tensor, weight: Tensor, grad_output: Tensor) -> list[Tensor]:
        axes = len(self.size)
        window = ([1] * axes, [self.padding] * axes, list(self.dilations))
        convolution = torch.nn.functional.conv3d if self.depth else torch.nn.functional.conv2d
        output = convolution(input, weight, None, *window, self.groups)
        grad_input, grad_weight, _ = torch.ops.aten.convolution_backward(
            grad_output, input, weight, None, *window, False, [0] * axes, self.groups, [True, True, False]
        )
        return [output, grad_input, 1 + self.scale * grad_weight]


LAYERS = [
    Layer(2, 16, 16, 14, 14, scale=0.5),
    Layer(1, 33, 20, 15, 13, bias=True),
    Layer(3, 18, 47, 9, 9, padding=0),
    Layer(2, 17, 35, 10, 11, padding=2, channels_last="iwo", bias=True),
    Layer(1, 40, 16, 16, 17, padding=3, channels_last="i"),
    Layer(1, 32, 48, 13, 16, channels_last="wo"),
    Layer(2, 48, 64, 12, 12, groups=2, bias=True),
    Layer(1, 16, 16, 6, 201, padding=0),
    Layer(13, 16, 40, 4, 4),
    Layer(17, 24, 33, 3, 3, bias=True),
    Layer(19, 16, 16, 5, 4, channels_last="iwo"),
    Layer(10, 16, 24, 14, 15),  # gradWeight: F(3x3,4x4)
    Layer(3, 19, 16, 30, 27, channels_last="iwo"),
    Layer(3, 20, 34, 29, 30, padding=0, channels_last="o"),
    Layer(1, 33, 20, 15, 13, depth=9, bias=True, scale=0.5),
    Layer(2, 17, 35, 10, 11, depth=8, padding=2, channels_last="iwo", bias=True),
    Layer(2, 48, 64, 15, 14, depth=9, padding=0, groups=2),
    Layer(3, 24, 32, 30, 27, depth=4, channels_last="i"),  # gradWeight: F(3x3,4x4)
    Layer(2, 33, 35, 21, 26, padding=2, dilation=2, bias=True, scale=0.5),
    Layer(1, 20, 48, 61, 58, padding=3, dilation=3, channels_last="iwo"),  # gradWeight: F(3x3,4x4)
    Layer(2, 48, 32, 34, 47, padding=0, dilation=5, groups=2, channels_last="w"),
    Layer(1, 20, 33, 30, 31, depth=4, padding=2, dilation=2, bias=True),
    Layer(3, 320, 40, 17, 18, bias=True),  # several blocks, whose patches the threads share
    Layer(1, 300, 36, 26, 26, padding=2, dilation=2, channels_last="io"),
]


def _close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b.float(), rtol=0, atol=3e-6 * b.abs().max().item())


_MANY_CHANNELS = """
import torch, thnn
for dtype in (torch.float32, torch.float64):
    backend = thnn.type2backend[dtype]
    for channels in (*range(296, 342, 6), 341, *range(888, 1025, 17), 1024):
        depth = [3] if channels <= 341 else []
        weight = torch.ones(16, channels, *depth, 3, 3, dtype=dtype)
        input, output = torch.ones(1, channels, *depth, 32, 62, dtype=dtype), torch.empty(0, dtype=dtype)
        backend.Convolution_updateOutput(0, input, output, weight, None, 1, 1, 1, len(depth), 1, 1, 1, 1, 1, 1)
        assert output.max() == channels * weight[0, 0].numel()
"""


@pytest.mark.parametrize("capability", ["avx2", "avx512"])
def test_blocks_of_many_channels_fit_into_scratch_memory(capability: str) -> None:
    """Scratch memory limits the blocks of many channels; how many depends on the instruction set."""
    if capability == "avx512" and not library.cpu_capability().startswith(capability):
        pytest.skip("needs AVX-512")
    python("-c", _MANY_CHANNELS, THNN_CPU_CAPABILITY=capability)


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_products_are_those_of_torch(layer: Layer, without_winograd: Backend) -> None:
    tensors = [t.double() for t in layer.tensors()]
    exact = layer.torch_products(*tensors)
    if layer.bias:
        exact[0] += torch.arange(float(layer.outputs), dtype=torch.float64).reshape(
            -1, *[1] * len(layer.size)
        )
    plain = Backend("THNNDoubleGemmBackend", DOUBLE, without_winograd.library)
    for a, b in zip(layer.products(WINOGRAD, *layer.tensors()), exact, strict=True):
        _close(a, b)
    products, others = (layer.products(b, *tensors) for b in (type2backend[torch.float64], plain))
    for a, b, other in zip(products, exact, others, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-14 * b.abs().max().item())
        is_few = other is others[2] and layer.batch * math.prod(exact[0].shape[2:]) <= 512
        assert torch.equal(a, other) == is_few


def test_one_image_and_a_transposed_convolution(reference: Library) -> None:
    generator = torch.Generator().manual_seed(0)
    input = torch.randn(24, 14, 15, generator=generator)
    weight, bias = torch.randn(24, 20, 3, 3, generator=generator), torch.randn(20, generator=generator)
    results = []
    for backend in (WINOGRAD, Backend("THNNReferenceBackend", FLOAT, reference)):
        unused, output, grad_input = torch.empty(0), torch.empty(0), torch.empty(0)
        grad_weight = torch.zeros_like(weight)
        arguments = (3, 3, 1, 1, 1, 1, 0, 0)
        backend.SpatialFullConvolution_updateOutput(
            0, input, output, weight, bias, unused, unused, *arguments
        )
        backend.SpatialFullConvolution_updateGradInput(
            0, input, output, grad_input, weight, unused, *arguments
        )
        backend.SpatialFullConvolution_accGradParameters(
            0, input, output, grad_weight, None, unused, unused, *arguments, 1
        )
        results.append((output, grad_input, grad_weight))
    for a, b in zip(*results, strict=True):
        _close(a, b)


@pytest.mark.parametrize(("kernel", "stride"), [(5, 2), (6, 2), (9, 3)])
@pytest.mark.parametrize("channels_last", [False, True])
def test_residue_classes_of_strided_convolutions(kernel: int, stride: int, channels_last: bool) -> None:
    """gradInput: at least one residue class of the stride has 3x3 kernel elements."""
    generator = torch.Generator().manual_seed(0)
    input = torch.randn(2, 20, 44, 47, generator=generator)
    weight = torch.randn(17, 20, kernel, kernel, generator=generator)
    if channels_last:
        input = input.contiguous(memory_format=torch.channels_last)
    output = torch.nn.functional.conv2d(input, weight, None, stride, 2)
    grad_output = torch.randn(output.shape, generator=generator)
    grad_input = torch.empty(0)
    WINOGRAD.Convolution_updateGradInput(
        0, input, grad_output, grad_input, weight, 1, stride, stride, 0, 2, 2, 1, 1, 1, 1
    )
    exact = torch.ops.aten.convolution_backward(
        grad_output.double(), input.double(), weight.double(), None, [stride] * 2, [2, 2], [1, 1], False, [0, 0], 1,
        [True, False, False],
    )  # fmt: skip
    _close(grad_input, exact[0])


@pytest.mark.parametrize(
    ("slices", "stride", "padding", "dilation"),
    [(2, 1, 0, 1), (3, 2, 1, 1), (4, 1, 3, 2), (3, 3, 2, 4), (7, 1, 6, 1)],
)
def test_depth_of_kernels(slices: int, stride: int, padding: int, dilation: int) -> None:
    """The slices of a kernel have any stride, padding and dilation."""
    generator = torch.Generator().manual_seed(0)
    volume = torch.randn(2, 20, 17, 24, 25, generator=generator)
    weight = torch.randn(33, 20, slices, 3, 3, generator=generator)
    window = ([stride, 1, 1], [padding, 1, 1], [dilation, 1, 1])
    arguments = (*window[0], *window[1], *window[2], 1)
    exact = torch.nn.functional.conv3d(volume.double(), weight.double(), None, *window)
    grad_output = torch.randn(exact.shape, generator=generator)
    output, grad_input, grad_weight = torch.empty(0), torch.empty(0), torch.zeros_like(weight)
    WINOGRAD.Convolution_updateOutput(0, volume, output, weight, None, *arguments)
    WINOGRAD.Convolution_updateGradInput(0, volume, grad_output, grad_input, weight, *arguments)
    WINOGRAD.Convolution_accGradParameters(0, volume, grad_output, grad_weight, None, *arguments, 1)
    by_input, by_weight, _ = torch.ops.aten.convolution_backward(
        grad_output.double(), volume.double(), weight.double(), None, *window, False, [0] * 3, 1, [True, True, False]
    )  # fmt: skip
    for a, b in ((output, exact), (grad_input, by_input), (grad_weight, by_weight)):
        _close(a, b)


@pytest.mark.parametrize(
    ("stride", "padding", "dilation"),
    [((1, 1), (3, 2), (3, 2)), ((2, 1), (1, 4), (2, 4)), ((2, 3), (5, 0), (6, 3)), ((3, 2), (2, 2), (4, 2))],
)
@pytest.mark.parametrize("channels_last", [False, True])
def test_strides_and_dilations_of_rows_and_columns(
    stride: tuple[int, int], padding: tuple[int, int], dilation: tuple[int, int], channels_last: bool
) -> None:
    """Dilations that are multiples of the stride, and one that is not."""
    generator = torch.Generator().manual_seed(0)
    image = torch.randn(2, 20, 57, 62, generator=generator)
    weight = torch.randn(33, 20, 3, 3, generator=generator)
    exact = torch.nn.functional.conv2d(image.double(), weight.double(), None, stride, padding, dilation)
    grad_output = torch.randn(exact.shape, generator=generator)
    if channels_last:
        image, grad_output = (t.contiguous(memory_format=torch.channels_last) for t in (image, grad_output))
    arguments = (1, *stride[::-1], 0, *padding[::-1], 1, *dilation[::-1], 1)  # widths come before heights
    output, grad_input, grad_weight = torch.empty(0), torch.empty(0), torch.zeros_like(weight)
    WINOGRAD.Convolution_updateOutput(0, image, output, weight, None, *arguments)
    WINOGRAD.Convolution_updateGradInput(0, image, grad_output, grad_input, weight, *arguments)
    WINOGRAD.Convolution_accGradParameters(0, image, grad_output, grad_weight, None, *arguments, 1)
    by_input, by_weight, _ = torch.ops.aten.convolution_backward(
        grad_output.double(), image.double(), weight.double(), None, stride, padding, dilation, False, [0] * 2, 1,
        [True, True, False],
    )  # fmt: skip
    for a, b in ((output, exact), (grad_input, by_input), (grad_weight, by_weight)):
        _close(a, b)


def test_volumes_with_planar_kernels_and_strided_views() -> None:
    generator = torch.Generator().manual_seed(0)
    arguments = (1, 1, 1, 0, 1, 1, 1, 1, 1, 1)
    volume, output = torch.randn(2, 20, 4, 11, 13, generator=generator), torch.empty(0)
    weight = torch.randn(33, 20, 1, 3, 3, generator=generator)
    WINOGRAD.Convolution_updateOutput(0, volume, output, weight, None, *arguments)
    _close(output, torch.nn.functional.conv3d(volume.double(), weight.double(), None, 1, (0, 1, 1)))
    image = torch.randn(2, 40, 30, 31, generator=generator)[:, ::2, 1:, ::2]
    WINOGRAD.Convolution_updateOutput(0, image, output, weight[:, :, 0], None, *arguments)
    _close(output, torch.nn.functional.conv2d(image.double(), weight[:, :, 0].double(), None, 1, 1))


# gradWeight of the first three layers sums over enough positions for F(3x3,4x4).
ACCURACY = [Layer(3, 64, 64, 28, 28), Layer(3, 128, 128, 28, 28), Layer(11, 64, 64, 14, 14),
            Layer(2, 256, 256, 14, 14), Layer(3, 512, 256, 7, 7), Layer(4, 64, 64, 14, 14),
            Layer(2, 32, 64, 28, 28, depth=8), Layer(1, 128, 128, 14, 14, depth=4),
            Layer(3, 128, 128, 28, 28, padding=2, dilation=2)]  # fmt: skip


@pytest.mark.parametrize("layer", ACCURACY, ids=str)
def test_rounding_errors_are_at_most_those_of_torch(layer: Layer) -> None:
    """The rms error of each product is at most torch's, the largest error of five seeds at most 1.2 times torch's."""
    largest = torch.zeros(2, 3)
    for seed in range(5):
        tensors = layer.tensors(seed, relu=seed % 2 == 1)
        exact = layer.torch_products(*(t.double() for t in tensors))
        errors = [
            [(a - b).double() for a, b in zip(products, exact, strict=True)]
            for products in (layer.products(WINOGRAD, *tensors), layer.torch_products(*tensors))
        ]
        rms, torchs = ([e.square().mean().sqrt().item() for e in of] for of in errors)
        for name, ours, theirs in zip(("output", "gradInput", "gradWeight"), rms, torchs, strict=True):
            assert ours <= theirs, f"{name}, seed {seed}: rms error {ours:.2e}, torch's {theirs:.2e}"
        largest = largest.max(torch.tensor([[e.abs().max().item() for e in of] for of in errors]))
    assert (largest[0] <= 1.2 * largest[1]).all(), largest


def _bits(tensors: list[Tensor]) -> list[Tensor]:
    return [t.contiguous().view(torch.int32) for t in tensors]


@pytest.mark.parametrize("poison", [False, True])
@pytest.mark.parametrize(
    "layer",
    [
        Layer(11, 64, 80, 14, 14),
        Layer(1, 48, 32, 15, 15),
        Layer(3, 32, 160, 7, 9),
        Layer(2, 24, 40, 15, 15, depth=7),
        Layer(3, 32, 80, 21, 22, padding=3, dilation=3),
    ],
    ids=str,
)
def test_bits_do_not_depend_on_the_number_of_threads(layer: Layer, poison: bool) -> None:
    input, weight, grad_output = layer.tensors()
    if poison:
        input[0, 20, ..., 3, 3] = grad_output[-1, 17, ..., 4, 2] = torch.nan
    results = []
    for threads in (1, 2, 5):
        torch.set_num_threads(threads)
        results.append(_bits(layer.products(WINOGRAD, input, weight, grad_output)))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert torch.equal(a, b)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf, 3.2e38])
@pytest.mark.parametrize(
    "layer",
    [
        Layer(4, 48, 40, 9, 9),
        Layer(15, 20, 17, 14, 14, channels_last="iwo"),
        Layer(2, 24, 32, 12, 12, depth=9),
        Layer(2, 24, 32, 28, 28, dilation=2),
    ],
    ids=str,
)
def test_one_extreme_value_stays_in_the_windows_that_contain_it(layer: Layer, value: float) -> None:
    """Elements whose sums contain it are as in torch; no others become NaN or infinite."""
    for changed in range(3):
        unpadded = dataclasses.replace(layer, padding=0)
        tensors = unpadded.tensors()
        tensors[changed][(-1, 5, *[1] * (len(layer.size) - 2), 2, 1)] = value
        products = unpadded.products(WINOGRAD, *tensors)
        exact = unpadded.torch_products(*(t.double() for t in tensors))
        # gradInput reads zeros around gradOutput, and zero times an infinite weight is NaN.
        for a, exact_b in list(zip(products, exact, strict=True))[: 1 if changed == 1 else 3]:
            b = exact_b.float()
            finite = b.isfinite()
            assert torch.equal(a.nan_to_num(1, 2, 3)[~finite], b.nan_to_num(1, 2, 3)[~finite])
            assert torch.equal(a.isfinite(), finite)
            torch.testing.assert_close(a[finite], b[finite], rtol=0, atol=1e-5 * b[finite].abs().max().item())


@pytest.mark.parametrize(
    "layer",
    [Layer(2, 32, 32, 14, 14), Layer(11, 32, 32, 14, 14), Layer(1, 32, 32, 14, 14, depth=12)],
    ids=str,
)
def test_differences_that_overflow_do_not_reach_the_result(layer: Layer) -> None:
    input, weight, grad_output = layer.tensors()
    huge = torch.finfo(torch.float32).max
    for tensors in (
        (input.sign() * huge, weight * 1e-3, grad_output * 1e-6),
        (input * 1e-3, weight.sign() * huge, grad_output * 1e-3),
        (input * 1e-6, weight * 1e-3, grad_output.sign() * huge),
    ):
        products = layer.products(WINOGRAD, *tensors)
        exact = layer.torch_products(*(t.double() for t in tensors))
        for a, b in zip(products, exact, strict=True):
            assert b.abs().max() < huge
            torch.testing.assert_close(a, b.float(), rtol=0, atol=1e-5 * b.abs().max().item())


def test_the_setting_turns_the_method_off(without_winograd: Backend) -> None:
    for layer in (
        Layer(2, 32, 32, 14, 14),
        Layer(1, 32, 32, 14, 14, depth=6),
        Layer(1, 32, 32, 28, 28, padding=2, dilation=2),
        Layer(1, 32, 32, 80, 80, padding=8, dilation=8),
    ):
        tensors = layer.tensors()
        winograd, plain = layer.products(WINOGRAD, *tensors), layer.products(without_winograd, *tensors)
        assert not any(torch.equal(a, b) for a, b in zip(winograd, plain, strict=True))
    # Too few Winograd tiles, or too small images or residue classes: the method is not used.
    for few in (
        Layer(1, 32, 32, 12, 12),
        Layer(1, 32, 32, 12, 12, depth=4),
        Layer(48, 32, 32, 1, 1),
        Layer(2, 32, 32, 27, 27, padding=9, dilation=9),
    ):
        tensors = few.tensors()
        for a, b in zip(
            few.products(WINOGRAD, *tensors), few.products(without_winograd, *tensors), strict=True
        ):
            assert torch.equal(a, b)


def test_an_invalid_setting_is_refused() -> None:
    result = Program("-c", "import thnn; thnn.type2backend", THNN_WINOGRAD="off").wait()
    assert result.returncode == 1
    assert "ValueError: THNN_WINOGRAD: expected 0 or 1, got 'off'" in result.stderr
