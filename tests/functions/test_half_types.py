"""float16 and bfloat16 on the CPU: storage in the type, arithmetic in float32, each result rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import thnn
from thnn.testing.case_runner import CaseRunner
from thnn.testing.cases import cases
from thnn.testing.checks.values import _overflows

HALF_TYPES = [torch.float16, torch.bfloat16]
both = pytest.mark.parametrize("dtype", HALF_TYPES)


def every_number(dtype: torch.dtype) -> Tensor:
    """All 65,536 numbers of a half type: infinities, NaN and subnormal numbers, too."""
    return torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype)


def assert_same_bits(got: Tensor, expected: Tensor) -> None:
    """Equal bits, except those of NaN."""
    assert got.dtype is expected.dtype
    assert torch.equal(got.isnan(), expected.isnan())
    assert torch.equal(got.nan_to_num().view(torch.int16), expected.nan_to_num().view(torch.int16))


def rounding_errors(got: Tensor, exact: Tensor) -> Tensor:
    """The distance of numbers from the correctly rounded ones, in numbers of the type."""

    def rank(t: Tensor) -> Tensor:
        bits = t.contiguous().view(torch.int16).int()
        return torch.where(bits < 0, -(bits & 0x7FFF), bits)

    rounded = exact.to(got.dtype)
    assert torch.equal(got.isnan(), rounded.isnan())
    return torch.where(rounded.isnan(), 0, (rank(got) - rank(rounded)).abs())


# Conversion

# Functions that copy elements: in loops that convert them, and by pieces in float32.
COPIES: dict[str, Callable[[Tensor], Tensor]] = {
    "converting loop": lambda x: thnn.LeakyReLUFunction.apply(x, 1.0, False),
    "pieces": lambda x: thnn.SpatialReplicationPaddingFunction.apply(x, 0, 0, 0, 0),
}


@both
@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize(
    "layout",
    [
        lambda x: x,
        lambda x: x.to(memory_format=torch.channels_last),
        lambda x: x.transpose(2, 3),
        lambda x: torch.stack([x, x], -1)[..., 1],
        lambda x: x.unsqueeze(0).expand(3, *x.shape)[1],
        lambda x: x[:, :1].expand(x.shape),
        lambda x: x[:, 1:],
    ],
    ids=["contiguous", "channels-last", "transposed", "gaps", "view", "repeated", "part"],
)
def test_every_number_survives(
    dtype: torch.dtype, copy: Callable[[Tensor], Tensor], layout: Callable[[Tensor], Tensor]
) -> None:
    x = layout(every_number(dtype).reshape(4, 32, 16, 32))
    assert_same_bits(copy(x), x)


@both
def test_results_are_rounded_to_nearest_even_once(dtype: torch.dtype) -> None:
    x = every_number(dtype)
    assert_same_bits(thnn.SquareFunction.apply(x), x.double().square().to(dtype))
    y = thnn.SpatialAveragePoolingFunction.apply(x.reshape(1, 1, -1, 2), 2, 1, 2, 1, 0, 0)
    assert_same_bits(y.flatten(), ((x[::2].float() + x[1::2].float()) / 2).to(dtype))


def test_overflow_is_infinite_and_sums_are_not_rounded_on_the_way() -> None:
    large = torch.full((4,), 300.0, dtype=torch.float16)
    assert torch.equal(thnn.SquareFunction.apply(large), torch.full_like(large, torch.inf))
    weight = torch.tensor([[1.0, 1.0, -1.0, -1.0]], dtype=torch.float16)
    assert thnn.LinearFunction.apply(60000 * torch.ones_like(weight), weight, None).item() == 0
    ones = torch.ones(1, 5000, dtype=torch.bfloat16)
    assert thnn.LinearFunction.apply(ones, ones, None).item() == torch.tensor(5000.0).bfloat16().item()


# Conversion in caches

f = thnn.nn.functional
# Larger than a piece or a tile, and with samples, planes and rows whose sizes are not multiples of that of a vector.
IMAGES, ROWS = (5, 36, 41, 39), (517, 331)
TILED: dict[str, tuple[tuple[int, ...], tuple[int, ...], Callable[..., Tensor]]] = {
    "max_pool2d": (IMAGES, (), lambda x: f.max_pool2d(x, 3, 2, 1)),
    "max_unpool2d": (
        IMAGES, (), lambda x: f.max_unpool2d(*f.max_pool2d(x, 2, return_indices=True), 2, output_size=(41, 39)),
    ),
    "avg_pool2d": (IMAGES, (), lambda x: f.avg_pool2d(x, 3, 2, 1)),
    "avg_pool2d of few samples": (IMAGES[1:], (), lambda x: f.avg_pool2d(x, 3, 2, 1)),
    "avg_pool3d": ((3, 7, 9, 40, 39), (), lambda x: f.avg_pool3d(x, 2)),
    "adaptive_avg_pool2d": (IMAGES, (), lambda x: f.adaptive_avg_pool2d(x, 7)),
    "adaptive_max_pool2d": (IMAGES, (), lambda x: f.adaptive_max_pool2d(x, 7)),
    "pad": (IMAGES, (), lambda x: f.pad(x, (1, 2, 3, 0), mode="reflect")),
    "interpolate, nearest": (IMAGES, (), lambda x: f.interpolate(x, scale_factor=2)),
    "interpolate, bilinear": (IMAGES, (), lambda x: f.interpolate(x, (50, 61), mode="bilinear")),
    "Im2Col": (IMAGES, (), lambda x: thnn.Im2ColFunction.apply(x, 3, 3, 1, 1, 0, 0, 1, 1)),
    "Col2Im": ((9, 18, 1521), (), lambda x: thnn.Col2ImFunction.apply(x, 41, 41, 3, 3, 1, 1, 0, 0, 1, 1)),
    "softmax": (ROWS, (), lambda x: f.softmax(x, 1)),
    "log_softmax": (IMAGES, (), lambda x: f.log_softmax(x, 1)),
    "local_response_norm": (IMAGES, (), lambda x: f.local_response_norm(x, 5)),
    "batch_norm": (IMAGES, (36, 36), lambda x, w, b: f.batch_norm(x, None, None, w, b, True)),
    "batch_norm of rows": (ROWS, (331, 331), lambda x, w, b: f.batch_norm(x, None, None, w, b, True)),
    "batch_norm of long runs": (
        (2, 3, 130, 140), (3, 3), lambda x, w, b: f.batch_norm(x, None, None, w, b, True),
    ),
    "batch_norm, evaluation": (
        IMAGES, (36, 36),
        lambda x, w, b: f.batch_norm(x, torch.full((36,), 0.5), torch.full((36,), 2.0), w, b, False),
    ),
    "BatchNormalizationReLU": (
        IMAGES, (36, 36),
        lambda x, w, b: thnn.BatchNormalizationReLUFunction.apply(x, w, b, None, None, True, 0.1, 1e-5, 2.0),
    ),
    "BatchNormalizationAdd": (
        IMAGES, (36, 36),
        lambda x, w, b: thnn.BatchNormalizationAddFunction.apply(x, x.detach() * 2, w, b, None, None, True, 0.1, 1e-5),
    ),
    "group_norm": (IMAGES, (36, 36), lambda x, w, b: f.group_norm(x, 4, w, b)),
    "group_norm of one sample": ((1, *IMAGES[1:]), (36, 36), lambda x, w, b: f.group_norm(x, 4, w, b)),
    "layer_norm": (ROWS, (331, 331), lambda x, w, b: f.layer_norm(x, (331,), w, b)),
    "rms_norm": (ROWS, (331,), lambda x, w: f.rms_norm(x, (331,), w)),
}  # fmt: skip
#: Their backward reads results that the forward has rounded.
ROUNDED = {"softmax", "log_softmax", "local_response_norm", "BatchNormalizationAdd"}
LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "contiguous": lambda x: x,
    "channels-last": lambda x: x.to(memory_format=torch.channels_last) if x.dim() == 4 else x,
    "transposed": lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2),
    "gaps": lambda x: torch.stack([x, x], -1)[..., 1],
}


@both
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", TILED)
def test_conversion_in_caches_has_the_bits_of_float32(name: str, layout: str, dtype: torch.dtype) -> None:
    size, vectors, function = TILED[name]
    torch.manual_seed(0)
    given = torch.randn(size).to(dtype), *(torch.rand(n).to(dtype) for n in vectors)

    def results(kind: torch.dtype) -> list[Tensor]:
        x, *others = (t.to(kind) for t in given)
        # Pieces have no gaps, and a soft-max along adjacent channels adds in another order.
        is_dense = kind is torch.float32 and name == "softmax" and layout == "gaps"
        place = LAYOUTS["contiguous" if is_dense else layout]
        tensors = [t.requires_grad_() for t in (place(x), *others)]
        output = function(*tensors)
        gradient = torch.randn(output.shape, generator=torch.Generator().manual_seed(1)).to(dtype).to(kind)
        return [t.to(dtype) for t in (output.detach(), *torch.autograd.grad(output, tensors, gradient))]

    before = torch.get_num_threads()
    found = []
    try:
        expected = results(torch.float32)
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append(results(dtype))
    finally:
        torch.set_num_threads(before)
    if name in ROUNDED:
        expected = [expected[0], *found[0][1:]]
    for tensors in found:
        for got, wanted in zip(tensors, expected, strict=True):
            assert_same_bits(got, wanted)


# Accuracy

# Families whose results are computed from few elements: within one number of the correctly rounded result.
EXACT_FAMILIES = ("activation", "pooling", "padding", "unfolding")


@both
@pytest.mark.parametrize("family", EXACT_FAMILIES)
def test_results_are_correctly_rounded(family: str, dtype: torch.dtype) -> None:
    wrong = []
    for name, case in cases().items():
        module = thnn.modules().get(name)
        if module is None or module.family != family or module.forward is None:
            continue
        for sample in case.samples:
            runner = CaseRunner(case, sample, dtype)
            if _overflows(case, sample, dtype):
                continue
            key = f"updateOutput.{module.forward.tensors('output')[0].name}"
            exact, got = runner.expected()[key], runner.run()[key]
            if got.numel() == 0:
                continue
            unit = (
                torch.finfo(dtype).eps * exact[exact.isfinite()].abs().max() if exact.isfinite().any() else 0
            )
            difference = (got.double() - exact.to(dtype).double()).abs()
            fine = (rounding_errors(got, exact) <= 1) | (difference <= unit / 2**8)
            if not fine.all():
                wrong.append(f"{name}, {sample.name}: {rounding_errors(got, exact).max()} numbers away")
    assert not wrong, "\n".join(wrong)


PRODUCTS: dict[str, tuple[Callable[..., Tensor], Callable[..., Tensor], tuple[int, ...], tuple[int, ...]]] = {
    "Linear": (thnn.nn.functional.linear, F.linear, (64, 300), (50, 300)),
    "conv2d": (thnn.nn.functional.conv2d, F.conv2d, (2, 16, 14, 14), (24, 16, 3, 3)),
    "conv1d": (thnn.nn.functional.conv1d, F.conv1d, (2, 16, 50), (8, 16, 5)),
}


@both
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_as_accurate_as_those_of_torch(name: str, dtype: torch.dtype) -> None:
    ours, theirs, size, weights = PRODUCTS[name]
    torch.manual_seed(0)
    exact: list[Tensor] = []
    errors = []
    x, w = torch.randn(size).to(dtype), torch.randn(weights).to(dtype)
    for function, kind in ((theirs, torch.float64), (ours, dtype), (theirs, dtype)):
        given = [t.to(kind).requires_grad_() for t in (x, w)]
        output = function(*given)
        torch.manual_seed(1)
        factor = torch.randn(output.shape).to(dtype).to(kind)
        found = [output.detach(), *torch.autograd.grad(output, given, factor)]
        if kind is torch.float64:
            exact = found
        else:
            errors.append([(f.double() - e).square().mean().sqrt() for f, e in zip(found, exact)])
    for our_error, their_error in zip(*errors):
        assert our_error <= 1.02 * their_error


# Tensors that a call writes


@both
def test_gradients_of_parameters_accumulate_in_float32(dtype: torch.dtype) -> None:
    backend = thnn.type2backend[dtype]
    torch.manual_seed(0)
    x, g = torch.randn(40, 5).to(dtype), torch.randn(40, 3).to(dtype)
    weight, bias = torch.randn(3, 5).to(dtype), torch.randn(3).to(dtype)
    gradWeight, gradBias = torch.randn(5, 3).to(dtype).t(), torch.randn(6).to(dtype)[::2]
    exact = gradWeight.double() + 2 * g.double().t() @ x.double(), gradBias.double() + 2 * g.double().sum(0)
    backend.Linear_accGradParameters(0, x, g, None, weight, bias, gradWeight, gradBias, None, 2.0)
    for got, expected in zip((gradWeight, gradBias), exact):
        assert rounding_errors(got, expected).max() <= 1
    assert gradWeight.stride() == (1, 3)


@both
@pytest.mark.parametrize("vectors", ["of the input", "float32"])
def test_batch_normalization(dtype: torch.dtype, vectors: str) -> None:
    kind = dtype if vectors == "of the input" else torch.float32
    torch.manual_seed(0)
    x = (torch.randn(6, 4, 5, 5) * 2 + 3).to(dtype)
    ours, exact = thnn.nn.BatchNorm2d(4).to(kind), torch.nn.BatchNorm2d(4).double()
    for layer in (ours, exact):
        torch.nn.init.constant_(layer.weight, 1.5)
    given = [x.clone().requires_grad_(), x.double().requires_grad_()]
    outputs = [layer(t) for layer, t in zip((ours, exact), given)]
    assert outputs[0].dtype is dtype
    assert rounding_errors(outputs[0].detach(), outputs[1].detach()).max() <= 1
    for output in outputs:
        output.square().sum().backward()
    assert given[0].grad.dtype is dtype
    for got, expected in (
        (ours.running_mean, exact.running_mean),
        (ours.running_var, exact.running_var),
        (ours.weight.grad, exact.weight.grad),
    ):
        assert got.dtype is kind
        torch.testing.assert_close(got.double(), expected, rtol=2 * torch.finfo(dtype).eps, atol=0)


@both
@pytest.mark.parametrize("name", ["Threshold", "RReLU"])
def test_in_place(name: str, dtype: torch.dtype) -> None:
    x = torch.linspace(-3, 3, 100).to(dtype).reshape(10, 10).t()
    settings = {"Threshold": (0.5, 0.25, True), "RReLU": (0.1, 0.3, False, True)}[name]
    expected = getattr(thnn, name + "Function").apply(x, *settings[:-1], False)
    same = x.clone(memory_format=torch.preserve_format)
    assert getattr(thnn, name + "Function").apply(same, *settings) is same
    assert_same_bits(same, expected)


@both
def test_the_gaps_of_an_output_keep_their_values(dtype: torch.dtype) -> None:
    backend = thnn.type2backend[dtype]
    x = torch.randn(3, 4, 6, 6).to(dtype)
    for function, size in (
        (lambda y: backend.Tanh_updateOutput(0, x, y), x.shape),
        (
            lambda y: backend.SpatialAveragePooling_updateOutput(0, x, y, 2, 2, 2, 2, 0, 0, False, True),
            (3, 4, 3, 3),
        ),
    ):
        memory = torch.full((*size, 2), 7.0, dtype=dtype)
        function(memory[..., 0])
        dense = torch.empty(0, dtype=dtype)
        function(dense)
        assert torch.equal(memory[..., 0], dense)
        assert (memory[..., 1] == 7).all()


@both
def test_a_failed_call_changes_nothing(dtype: torch.dtype) -> None:
    backend = thnn.type2backend[dtype]
    logits, output, total = (
        torch.zeros(2, 3, dtype=dtype),
        torch.full((1,), 5.0, dtype=dtype),
        torch.ones(1, dtype=dtype),
    )
    with pytest.raises(IndexError):
        backend.ClassNLLCriterion_updateOutput(
            0, logits, torch.tensor([0, 3]), output, True, None, total, -100
        )
    assert output.item() == 5
    assert total.item() == 1


@both
def test_a_tensor_of_the_eval_mode_is_not_written(dtype: torch.dtype) -> None:
    running = [torch.zeros(1, dtype=dtype).expand(4), torch.ones(1, dtype=dtype).expand(4)]
    x = torch.randn(5, 4).to(dtype)
    output = thnn.BatchNormalizationFunction.apply(x, None, None, *running, False, 0.1, 0.0)
    assert_same_bits(output, x)


@both
def test_the_same_bits_for_any_number_of_threads(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x, w = torch.randn(8, 16, 40, 40).to(dtype), torch.randn(16, 16, 3, 3).to(dtype)
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(
                [
                    thnn.nn.functional.conv2d(x, w),
                    thnn.TanhFunction.apply(x),
                    thnn.MSECriterionFunction.apply(x, x.flip(0)),
                ]
            )
    finally:
        torch.set_num_threads(before)
    assert all(map(torch.equal, *found))


# Types


@both
def test_backends(dtype: torch.dtype) -> None:
    short = {torch.float16: "Half", torch.bfloat16: "BFloat16"}[dtype]
    backend = thnn.type2backend[f"torch.{short}Tensor"]
    assert backend.name == f"THNN{short}Backend"
    keys: list[Any] = [
        dtype, (dtype, "cpu"), getattr(torch, f"{short}Tensor"), torch.empty(0, dtype=dtype), backend.name,
    ]  # fmt: skip
    assert all(thnn.type2backend[key] is backend for key in keys)
    with pytest.raises(
        TypeError, match=f"^Tanh_updateOutput: input: expected {dtype} for the {backend.name}, got"
    ):
        backend.Tanh_updateOutput(0, torch.zeros(3), torch.zeros(3, dtype=dtype))


@both
def test_types_are_not_mixed(dtype: torch.dtype) -> None:
    weight = torch.zeros(2, 3)
    message = f"Linear_updateOutput: weight: expected {dtype}, the type of input, got torch.float32"
    with pytest.raises(TypeError, match=message):
        thnn.LinearFunction.apply(torch.zeros(4, 3, dtype=dtype), weight, None)
    other = torch.float16 if dtype is torch.bfloat16 else torch.bfloat16
    with pytest.raises(TypeError, match="running_mean: expected"):
        thnn.BatchNormalizationFunction.apply(
            torch.zeros(4, 2, dtype=dtype), None, None, torch.zeros(2, dtype=other), torch.ones(2, dtype=other), True,
            0.1, 1e-5,
        )  # fmt: skip


def test_gradcheck_needs_float64() -> None:
    with pytest.warns(UserWarning, match="double precision"), pytest.raises(RuntimeError):
        torch.autograd.gradcheck(
            thnn.TanhFunction.apply, torch.ones(3, dtype=torch.bfloat16, requires_grad=True)
        )


def test_channels_with_gaps_do_not_depend_on_the_number_of_threads() -> None:
    """Channels that are innermost in memory, but not adjacent: other loops would compute pieces of one channel."""

    def images(height: int, width: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(1)
        memory = torch.randn(1, height, width, 2 * 3, generator=generator).to(torch.bfloat16)
        return memory[..., ::2].permute(0, 3, 1, 2)

    results = []
    for threads in (1, 3):
        torch.set_num_threads(threads)
        input, gradOutput, gradInput = images(150, 131), images(50, 44), images(150, 131)
        backend = thnn.type2backend[torch.bfloat16]
        backend.SpatialAveragePooling_updateGradInput(
            0, input, gradOutput, gradInput, 5, 3, 3, 3, 2, 1, False, True
        )
        results.append(gradInput)
    assert torch.equal(*results)
