"""Accuracy in difficult cases: large offsets, long sums, the ends of the range."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import thnn
from thnn._classes import function_classes
from thnn.testing.cases import cases
from thnn.testing.cases.model import Case, Row

FORMATS = {"contiguous": torch.contiguous_format, "channels-last": torch.channels_last}


def randn(*size: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def batch_norm(
    input: Tensor, train: bool = True, eps: float = 1e-5, how: str = "BatchNormalization"
) -> dict[str, Tensor]:
    """The results of a fused function or, with 'stages', of the stages on a batch in two parts."""
    C = input.shape[1]
    mean, var = input.new_zeros(C), input.new_ones(C)
    made = {"output": torch.empty_like(input), "mean": input.new_empty(C), "inverse": input.new_empty(C)}
    backend = thnn.type2backend[input.dtype]
    if how != "stages":
        scalars = (train, 1.0, eps, *([math.inf] if how == "BatchNormalizationReLU" else []))
        getattr(backend, f"{how}_updateOutput")(
            0, input, made["output"], None, None, mean, var, made["mean"], made["inverse"], *scalars
        )
        return {**made, "running_mean": mean, "running_var": var}
    if train:
        backend.BatchNormalization_saveStatistics(
            0, merged(input), made["mean"], made["inverse"], mean, var, 1.0, eps, True
        )
    else:
        made["mean"].copy_(mean)
        made["inverse"].copy_((var + eps).rsqrt())
    backend.BatchNormalization_normalize(
        0, input, made["output"], None, None, made["mean"], made["inverse"], False, math.inf
    )
    return {**made, "running_mean": mean, "running_var": var}


def merged(input: Tensor) -> Tensor:
    """Statistics of two unequal parts of a batch, merged."""
    backend = thnn.type2backend[input.dtype]
    parts = [torch.empty(2 * input.shape[1] + 1, dtype=torch.float64) for _ in range(2)]
    for part, statistics in zip(input.split([1, len(input) - 1]), parts):
        backend.BatchNormalization_statistics(0, part, statistics)
    backend.BatchNormalization_mergeStatistics(0, torch.stack(parts), parts[0])
    return parts[0]


# --- batch normalization -------------------------------------------------------------------------------------


HOW = ("BatchNormalization", "BatchNormalizationReLU", "stages")


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("mean", "deviation", "bound"), [(1e3, 1e-2, 1e-3), (1e6, 1.0, 1e-3), (1e3, 0.1, 1e-4), (0.0, 1.0, 1e-5)]
)
def test_variance(mean: float, deviation: float, bound: float, format: str, how: str) -> None:
    input = (randn(64, 2, 32, 32, dtype=torch.float64) * deviation + mean).float()
    input = input.contiguous(memory_format=FORMATS[format])
    exact = input.double()
    variance = exact.var((0, 2, 3), correction=0)
    made = batch_norm(input, eps=0.0, how=how)
    torch.testing.assert_close(made["inverse"].double() ** -2, variance, rtol=bound, atol=0)
    torch.testing.assert_close(made["mean"].double(), exact.mean((0, 2, 3)), rtol=1e-6, atol=1e-6)
    unbiased = exact.var((0, 2, 3), correction=1)
    torch.testing.assert_close(made["running_var"].double(), unbiased, rtol=bound, atol=0)


def test_merging_is_exact_where_parts_are_far_apart() -> None:
    input = (
        randn(6, 3, 500, dtype=torch.float64) + torch.tensor([0.0, 1e4, -3e5, 7.0, 1e4, 2.0])[:, None, None]
    )
    squares = (input - input.mean((0, 2), keepdim=True)).square().sum((0, 2))
    made = merged(input)
    torch.testing.assert_close(made[:3], input.mean((0, 2)), rtol=1e-13, atol=1e-9)
    torch.testing.assert_close(made[3:6], squares, rtol=1e-13, atol=0)
    assert made[6] == 3000


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("size", [(64, 2, 32, 32), (8, 70, 5, 7), (4, 3, 200, 200)])
def test_rounding_of_the_mean_is_corrected(size: tuple[int, ...], format: str) -> None:
    """The rounding error of the mean in float32 is a three-hundredth of the deviation."""
    input = (randn(*size, dtype=torch.float64) * 1e-2 + 1e3).float().contiguous(memory_format=FORMATS[format])
    output = batch_norm(input, eps=0.0)["output"].double()
    assert output.mean((0, 2, 3)).abs().max() < 1e-5


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("size", [(2, 8, 9, 11), (1, 24, 30, 31)])
def test_groups_of_a_large_mean(size: tuple[int, ...], format: str) -> None:
    """In one stage, and in stages of one image."""
    input = (randn(*size, dtype=torch.float64) + 1e4).float().contiguous(memory_format=FORMATS[format])
    output = thnn.GroupNormalizationFunction.apply(input, None, None, 4, 0.0)
    exact = F.group_norm(input.double(), 4, eps=0.0)
    torch.testing.assert_close(output.double(), exact, rtol=0, atol=2e-6)


@pytest.mark.parametrize("size", [(50, 70), (3, 9000)])
def test_rows_of_a_large_mean(size: tuple[int, int]) -> None:
    """The gradients, too: the backward computes the mean again."""
    input, weight, factor = (randn(*size, dtype=torch.float64) + 1e4).float(), randn(size[1]), randn(*size)
    found = []
    for dtype, function in (
        (torch.float32, lambda x, w: thnn.LayerNormalizationFunction.apply(x, w, None, 1, 1e-5)),
        (torch.float64, lambda x, w: F.layer_norm(x, (size[1],), w)),
    ):
        leaves = [t.to(dtype).requires_grad_() for t in (input, weight)]
        output = function(*leaves)
        found.append([output.detach(), *torch.autograd.grad(output, leaves, factor.to(dtype))])
    for value, exact in zip(*found):
        torch.testing.assert_close(value.double(), exact, rtol=0, atol=1e-6 * exact.abs().max().item())


@pytest.mark.parametrize("scale", [1e-30, 1e25])
def test_squares_beyond_the_range(scale: float) -> None:
    """The squares of the elements are 0 or infinite in float32."""
    input = randn(3, 70, seed=2) * scale
    output = thnn.RMSNormalizationFunction.apply(input, None, 1, 0.0)
    exact = F.rms_norm(input.double(), (70,), eps=0.0)
    torch.testing.assert_close(output.double(), exact, rtol=1e-6, atol=0)


def test_variance_of_vectors_and_volumes() -> None:
    for size in ((4096, 3), (8, 3, 700), (4, 3, 8, 16, 16)):
        input = (randn(*size, dtype=torch.float64) * 0.1 + 1e3).float()
        dims = [d for d in range(input.dim()) if d != 1]
        variance = input.double().var(dims, correction=0)
        torch.testing.assert_close(
            batch_norm(input, eps=0.0)["inverse"].double() ** -2, variance, rtol=1e-4, atol=0
        )


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("format", FORMATS)
def test_values_near_the_largest_stay_finite_in_evaluation(how: str, format: str) -> None:
    input = (randn(2, 3, 4, 4) * 1e30).contiguous(memory_format=FORMATS[format])
    assert batch_norm(input, train=False, how=how)["output"].isfinite().all()


def test_large_means_cancel_in_evaluation() -> None:
    input = torch.full((2, 3, 4, 4), 1e30)
    backend, C = thnn.type2backend["torch.FloatTensor"], torch.full((3,), 1e30)
    output = torch.empty(0)
    backend.BatchNormalization_updateOutput(
        0, input, output, None, None, C, torch.ones(3), torch.empty(3), torch.empty(3), False, 0.1, 1e-5
    )
    assert torch.equal(output, torch.zeros_like(input))


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("value", [0.1, 1e3, -7e8, 3e-20])
@pytest.mark.parametrize("format", FORMATS)
def test_a_constant_channel(value: float, format: str, relu: bool) -> None:
    input = randn(4, 3, 5, 7)
    input[:, 1] = value
    input = input.contiguous(memory_format=FORMATS[format]).requires_grad_()
    weight, bias = torch.ones(3, requires_grad=True), torch.zeros(3, requires_grad=True)
    mean, var = torch.zeros(3), torch.ones(3)
    cls = thnn.BatchNormalizationReLUFunction if relu else thnn.BatchNormalizationFunction
    output = cls.apply(input, weight, bias, mean, var, True, 0.1, 1e-5)
    assert (output[:, 1] == 0).all()
    assert var[1] == pytest.approx(0.9)
    for gradient in torch.autograd.grad(output, (input, weight, bias), randn(4, 3, 5, 7, seed=1)):
        assert gradient.isfinite().all()


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_nan_and_infinity_stay_in_their_channel(value: float, train: bool, format: str, how: str) -> None:
    clean = randn(4, 37, 6, 5).contiguous(memory_format=FORMATS[format])
    input = clean.clone()
    input[1, 17, 2, 3] = value
    others = [c for c in range(37) if c != 17]
    expected, got = batch_norm(clean, train, how=how), batch_norm(input, train, how=how)
    assert torch.equal(got["output"][:, others], expected["output"][:, others])
    assert not got["output"][1, 17, 2, 3].isfinite()
    for name in ("running_mean", "running_var", *(("mean", "inverse") if train else ())):
        assert torch.equal(got[name][others], expected[name][others])


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_gradients_of_nan_and_infinity_stay_in_their_channel(value: float, format: str, relu: bool) -> None:
    cls = thnn.BatchNormalizationReLUFunction if relu else thnn.BatchNormalizationFunction
    clean = randn(4, 37, 6, 5).contiguous(memory_format=FORMATS[format])
    input = clean.clone()
    input[1, 17, 2, 3] = value
    others = [c for c in range(37) if c != 17]
    found = []
    for x in (clean, input):
        leaves = [t.clone().requires_grad_() for t in (x, torch.ones(37), torch.zeros(37))]
        output = cls.apply(*leaves, torch.zeros(37), torch.ones(37), True, 0.1, 1e-5)
        found.append(torch.autograd.grad(output, leaves, randn(4, 37, 6, 5, seed=1)))
    (expected, *vectors), (got, *got_vectors) = found
    assert torch.equal(got[:, others], expected[:, others])
    assert not got[:, 17].isfinite().any()
    for expected, got in zip(vectors, got_vectors):
        assert torch.equal(got[others], expected[others])


@pytest.mark.parametrize("limit", [math.inf, 6.0])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("train", [True, False])
def test_nan_and_the_bounds_in_relu(train: bool, format: str, create_graph: bool, limit: float) -> None:
    """NaN passes its gradient; the bounds, which only the evaluation reaches exactly, do not."""
    input = randn(4, 3, 5, 7)
    input[1, 1, 2, 3] = math.nan
    if not train:
        below, above = (torch.tensor(6.0).nextafter(torch.tensor(x)).item() for x in (0.0, 9.0))
        input[0, 0, 0, :6] = torch.tensor([0.0, 6.0, below, above, math.inf, -math.inf])
    input = input.contiguous(memory_format=FORMATS[format])
    found = []
    for is_fused in (False, True):
        leaves = [t.clone().requires_grad_() for t in (input, torch.ones(3), torch.zeros(3))]
        settings = torch.zeros(3), torch.ones(3), train, 0.1, 0.0
        if is_fused:
            output = thnn.BatchNormalizationReLUFunction.apply(*leaves, *settings, limit)
        else:
            output = thnn.BatchNormalizationFunction.apply(*leaves, *settings)
            # Not F.relu6, whose gradient at NaN depends on the number of elements.
            output = F.relu(output) if limit == math.inf else thnn.nn.functional.relu6(output)
        gradOutput = randn(4, 3, 5, 7, seed=1)
        gradients = torch.autograd.grad(output, leaves, gradOutput, create_graph=create_graph)
        found.append((output.detach(), *(g.detach() for g in gradients)))
    assert found[0][0].isnan().any()
    if not train:
        passes = [False, limit > 6, True, limit > 6, limit > 6, False]
        assert (found[1][1][0, 0, 0, :6] != 0).tolist() == passes
    for expected, got in zip(*found):
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("train", [True, False])
def test_the_backward_of_relu_sees_the_signs_of_the_forward(
    train: bool, format: str, dtype: torch.dtype
) -> None:
    """The signs are those of outputs that are 0 except for rounding errors."""
    C = 37
    weight, bias = randn(C, seed=1, dtype=dtype), randn(C, seed=2, dtype=dtype)
    mean, var = randn(C, seed=3, dtype=dtype), randn(C, seed=4, dtype=dtype).square() + 0.5
    kink = mean.double() - bias.double() * (var.double() + 1e-5).sqrt() / weight.double()
    eps = torch.finfo(dtype).eps
    input = kink.reshape(1, C, 1, 1) * (1 + 2 * eps * randn(8, C, 9, 11, seed=5, dtype=torch.float64))
    if train:  # the kink moves with the mean of the batch: many values at the integers around it
        input = torch.randint(-4, 5, (8, C, 9, 11), generator=torch.Generator().manual_seed(6)).double()
        bias.zero_()
    input = input.to(dtype).contiguous(memory_format=FORMATS[format]).requires_grad_()
    leaves = [input, weight.requires_grad_(), bias.requires_grad_()]
    output = thnn.BatchNormalizationReLUFunction.apply(*leaves, mean, var, train, 0.1, 1e-5)
    gradInput, _, gradBias = torch.autograd.grad(output, leaves, torch.ones_like(output), retain_graph=True)
    is_above = output.detach() > 0
    assert 0.05 < is_above.double().mean() < 0.95
    if not train:
        assert torch.equal(gradInput != 0, is_above)
    assert torch.equal(gradBias, is_above.sum((0, 2, 3)).to(dtype))
    second = torch.autograd.grad(output, leaves, torch.ones_like(output), create_graph=True)
    assert torch.equal(second[2], gradBias)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_sums_of_the_backward_beyond_float32(relu: bool, format: str) -> None:
    """The sums overflow float32, the gradients that they enter do not."""
    input = (randn(8, 21, 9, 11) * 1e37).contiguous(memory_format=FORMATS[format])
    gradOutput = randn(8, 21, 9, 11, seed=1) * 100
    mean, inverse = torch.zeros(21), torch.full((21,), 1e-37)
    found = []
    for dtype in (torch.float32, torch.float64):
        sums = torch.empty(42, dtype=torch.float64)
        thnn.type2backend[dtype].BatchNormalization_gradSums(
            0,
            input.to(dtype),
            gradOutput.to(dtype),
            None,
            None,
            mean.to(dtype),
            inverse.to(dtype),
            sums,
            relu,
            math.inf,
        )
        found.append(sums)
    assert found[1][21:].abs().max() > torch.finfo(torch.float32).max
    torch.testing.assert_close(found[0], found[1], rtol=1e-5, atol=1e36)


# --- functions of one number ----------------------------------------------------------------------------------


def every_magnitude(dtype: torch.dtype, least: float, largest: float, count: int = 40001) -> Tensor:
    """Both signs, all binary orders, and the numbers around 0."""
    exponents = torch.linspace(math.log2(least), math.log2(largest), count, dtype=torch.float64)
    values = torch.exp2(exponents)
    return torch.cat([-values, values, torch.zeros(1)]).to(dtype)


def ulps(got: Tensor, exact: np.ndarray) -> float:
    """The largest error in ulps of the exact result, at least of the smallest normal number."""
    kind = np.float32 if got.dtype is torch.float32 else np.float64
    unit = np.spacing(np.maximum(np.abs(exact), np.finfo(kind).tiny).astype(kind)).astype(np.longdouble)
    return float(np.max(np.abs(got.numpy().astype(np.longdouble) - exact) / unit))


def exact(input: Tensor) -> np.ndarray:
    return input.numpy().astype(np.longdouble)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tanh(dtype: torch.dtype) -> None:
    input = every_magnitude(dtype, 1e-30, 200)
    output = thnn.TanhFunction.apply(input)
    assert ulps(output, np.tanh(exact(input))) <= 3
    assert (output.abs() <= 1).all()
    assert torch.equal(thnn.TanhFunction.apply(-input), -output)
    tiny = torch.tensor([1e-40, -1e-45, 1e-38, -0.0, 0.0], dtype=dtype)
    assert torch.equal(thnn.TanhFunction.apply(tiny), tiny)
    assert thnn.TanhFunction.apply(tiny).signbit().tolist() == tiny.signbit().tolist()
    ends = torch.tensor([math.inf, -math.inf, 1e30, -1e30], dtype=dtype)
    assert thnn.TanhFunction.apply(ends).tolist() == [1, -1, 1, -1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sigmoid(dtype: torch.dtype) -> None:
    # Down to the smallest normal result.
    input = every_magnitude(dtype, 1e-30, 87 if dtype is torch.float32 else 708)
    output = thnn.SigmoidFunction.apply(input)
    x = exact(input)
    assert ulps(output, 1 / (1 + np.exp(-x))) <= 3
    assert ((output >= 0) & (output <= 1)).all()
    ends = torch.tensor([math.inf, -math.inf, 1e30, -1e30], dtype=dtype)
    assert thnn.SigmoidFunction.apply(ends).tolist() == [1, 0, 1, 0]
    assert thnn.SigmoidFunction.apply(torch.tensor([-100.0], dtype=dtype)).item() == pytest.approx(
        math.exp(-100), rel=1e-3 if dtype is torch.float32 else 1e-14
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_softmax(dtype: torch.dtype) -> None:
    input = torch.cat([randn(200, 50, dtype=dtype) * 20, randn(200, 50, seed=1, dtype=dtype) * 1e-3 + 80])
    x = exact(input)
    shifted = x - x.max(1, keepdims=True)
    powers = np.exp(shifted)
    total = powers.sum(1, keepdims=True)
    # The exponential multiplies the rounding error of the difference of an input and the maximum.
    got = thnn.SoftMaxFunction.apply(input).numpy().astype(np.longdouble)
    unit = (
        torch.finfo(dtype).eps * (powers / total) * np.maximum(-shifted, 1)
        + torch.finfo(dtype).smallest_normal
    )
    assert float(np.max(np.abs(got - powers / total) / unit)) <= 4
    # The result is a difference, so its error is that of the larger term.
    logs = thnn.LogSoftMaxFunction.apply(input)
    error = np.abs(logs.numpy().astype(np.longdouble) - (shifted - np.log(total)))
    assert float(np.max(error / np.maximum(np.abs(shifted), 1))) <= 4 * torch.finfo(dtype).eps


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_softmax_at_the_ends(dtype: torch.dtype) -> None:
    large = torch.finfo(dtype).max
    input = torch.tensor([[large, 0, -large], [-large, -large, -large], [1e4, 1e4, -1e4]], dtype=dtype)
    assert thnn.SoftMaxFunction.apply(input).tolist() == [
        [1, 0, 0],
        [pytest.approx(1 / 3)] * 3,
        [pytest.approx(0.5), pytest.approx(0.5), 0],
    ]
    logs = thnn.LogSoftMaxFunction.apply(input)
    assert logs[1].tolist() == [pytest.approx(-math.log(3))] * 3
    assert logs[2].tolist() == [pytest.approx(-math.log(2))] * 2 + [pytest.approx(-2e4 - math.log(2))]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bce(dtype: torch.dtype) -> None:
    near = every_magnitude(dtype, 1e-30, 0.5, 2001).abs()
    near = near[near > 0]
    for input in (near, 1 - near[near > torch.finfo(dtype).eps]):
        for target in (0.0, 1.0):
            got = thnn.BCECriterionFunction.apply(input, torch.full_like(input, target), None, False)
            x = exact(input)
            loss = -np.log(x) if target else -np.log1p(-x)
            assert got.item() == pytest.approx(float(loss.sum()), rel=8 * torch.finfo(dtype).eps)
            # One element per call, since in a sum large losses would hide errors of small ones.
            for i in range(0, len(input), 97):
                one = thnn.BCECriterionFunction.apply(input[i], torch.tensor(target, dtype=dtype))
                assert one.item() == pytest.approx(float(loss[i]), rel=8 * torch.finfo(dtype).eps)
    for x, t, loss in ((0.0, 1.0, 100), (1.0, 0.0, 100), (0.0, 0.0, 0), (1.0, 1.0, 0)):
        got = thnn.BCECriterionFunction.apply(torch.tensor(x, dtype=dtype), torch.tensor(t, dtype=dtype))
        assert got.item() == loss


# --- long sums ------------------------------------------------------------------------------------------------


def relative(got: Tensor, exact: Tensor) -> float:
    return ((got.double() - exact).abs().max() / exact.abs().max()).item()


def test_sums_of_criteria() -> None:
    n = 3_000_001
    input, target = torch.full((n,), 0.1), torch.zeros(n)
    for cls in ("MSECriterion", "AbsCriterion", "SmoothL1Criterion"):
        apply = getattr(thnn, cls + "Function").apply
        one = apply(input[:1].double(), target[:1].double()).item()
        assert apply(input, target, False).item() == pytest.approx(n * one, rel=2e-7)
        assert apply(input, target, True).item() == pytest.approx(one, rel=2e-7)
    ones = torch.ones(n)
    assert thnn.BCECriterionFunction.apply(ones * 0.5, ones * 0.5, None, False).item() == pytest.approx(
        n * math.log(2), rel=2e-7
    )
    # A sequential sum in float32 loses a 1 that is added to 2**24.
    spread = torch.ones(2**20)
    spread[0] = 2**13
    assert thnn.MSECriterionFunction.apply(spread, torch.zeros(2**20), False).item() == float(
        np.float32(2**26 + 2**20 - 1)
    )


def test_sums_of_class_nll() -> None:
    n = 400_001
    input, target = torch.full((n, 2), -0.1), torch.zeros(n, dtype=torch.int64)
    got = thnn.ClassNLLCriterionFunction.apply(input, target, None, False)
    assert got.item() == pytest.approx(n * float(np.float32(0.1)), rel=2e-7)
    weights = torch.tensor([0.1, 1.0])
    output, total = torch.empty(1), torch.empty(1)
    thnn.type2backend["torch.FloatTensor"].ClassNLLCriterion_updateOutput(
        0, input, target, output, True, weights, total, -100
    )
    assert total.item() == pytest.approx(n * float(np.float32(0.1)), rel=2e-7)
    assert output.item() == pytest.approx(float(np.float32(0.1)), rel=2e-7)


def test_sums_of_softmax() -> None:
    got = thnn.SoftMaxFunction.apply(torch.zeros(1, 1_000_003))
    torch.testing.assert_close(got, torch.full_like(got, 1 / 1_000_003), rtol=3e-7, atol=0)
    got = thnn.LogSoftMaxFunction.apply(torch.zeros(1, 1_000_003))
    torch.testing.assert_close(got, torch.full_like(got, -math.log(1_000_003)), rtol=3e-7, atol=0)


@pytest.mark.parametrize("format", FORMATS)
def test_sums_of_batch_normalization(format: str) -> None:
    size = (16, 3, 120, 121)
    input = (randn(*size) + 3).contiguous(memory_format=FORMATS[format])
    gradient = (randn(*size, seed=1) + 0.1).contiguous(memory_format=FORMATS[format])
    leaves = [input.requires_grad_(), torch.ones(3, requires_grad=True), torch.zeros(3, requires_grad=True)]
    output = thnn.BatchNormalizationFunction.apply(*leaves, torch.zeros(3), torch.ones(3), True, 0.1, 1e-5)
    got = torch.autograd.grad(output, leaves, gradient)
    doubles = [t.detach().double().requires_grad_() for t in leaves]
    exact = F.batch_norm(doubles[0], None, None, doubles[1], doubles[2], True, 0.1, 1e-5)
    for value, expected in zip(got, torch.autograd.grad(exact, doubles, gradient.double())):
        assert relative(value, expected) < 1e-5
    assert relative(output.detach(), exact.detach()) < 1e-6


def test_sums_of_average_pooling() -> None:
    input = torch.full((1, 1, 999, 1001), 0.1)
    got = thnn.SpatialAveragePoolingFunction.apply(input, 1001, 999, 1, 1, 0, 0)
    assert got.item() == pytest.approx(float(np.float32(0.1)), rel=2e-5)
    leaf = torch.zeros(1, 1, 3, 3, requires_grad=True)
    thnn.SpatialAveragePoolingFunction.apply(leaf, 3, 3, 1, 1, 1, 1).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.sum().item() == pytest.approx(49 / 9, rel=1e-6)


def products(apply: object, inputs: list[Tensor], gradient: Tensor) -> list[Tensor]:
    leaves = [t.clone().requires_grad_() for t in inputs]
    output = apply(*leaves)  # type: ignore[operator]
    return [output.detach(), *torch.autograd.grad(output, leaves, gradient)]


def errors(got: list[Tensor], exact: list[Tensor]) -> list[float]:
    """The largest error, relative to the deviation of the exact values."""
    return [((g.double() - e).abs().max() / e.std()).item() for g, e in zip(got, exact)]


def deviations(got: list[Tensor], exact: list[Tensor]) -> list[float]:
    """The root mean square of the errors, relative to the deviation of the exact values."""
    return [((g.double() - e).square().mean().sqrt() / e.std()).item() for g, e in zip(got, exact)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rows", [1, 3, 13, 29, 50, 130, 300])
def test_products_have_the_same_bits_in_every_layout_of_the_weight(rows: int, dtype: torch.dtype) -> None:
    """Operands are packed or read in place, as their layouts and sizes decide."""
    for columns, outputs in ((300, 90), (40, 260)):
        input, gradOutput = (randn(rows, n, seed=n, dtype=dtype).requires_grad_() for n in (columns, outputs))
        weight = randn(outputs, columns, dtype=dtype)
        layouts = [weight.clone()]
        for rowPadding, columnPadding in ((3, 0), (16, 1), (724, 0)):
            padded = weight.new_full((outputs + columnPadding, columns + rowPadding), math.nan)
            layouts.append(padded[:outputs, :columns].copy_(weight))
            transposed = weight.new_full((columns + columnPadding, outputs + rowPadding), math.nan)
            layouts.append(transposed[:columns, :outputs].copy_(weight.t()).t())
        results = []
        for layout in layouts:
            output = thnn.LinearFunction.apply(input, layout, None)
            results.append((output, *torch.autograd.grad(output, [input], gradOutput)))
        for got, exact in zip(
            results[0], (F.linear(input.double(), weight.double()), gradOutput.double() @ weight.double())
        ):
            torch.testing.assert_close(got.double(), exact, rtol=0, atol=1e-4)
        for result in results[1:]:
            assert all(torch.equal(a, b) for a, b in zip(result, results[0], strict=True))


def test_long_products_of_linear() -> None:
    inputs = [randn(37, 4608), randn(21, 4608, seed=1), randn(21, seed=2)]
    gradient = randn(37, 21, seed=3)
    got = products(thnn.LinearFunction.apply, inputs, gradient)
    exact = products(F.linear, [t.double() for t in inputs], gradient.double())
    assert max(errors(got, exact)) < 1e-5


def test_long_products_of_convolution() -> None:
    inputs = [randn(2, 512, 7, 7), randn(19, 512, 3, 3, seed=1), randn(19, seed=2)]
    gradient = randn(2, 19, 7, 7, seed=3)

    def ours(input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return thnn.SpatialConvolutionMMFunction.apply(input, weight, bias, 3, 3, 1, 1, 1, 1)

    got = products(ours, inputs, gradient)
    exact = products(
        lambda x, w, b: F.conv2d(x, w, b, padding=1), [t.double() for t in inputs], gradient.double()
    )
    assert max(errors(got, exact)) < 1e-5


PRODUCTS = [(c, r) for c in cases().values() for r in c.rows if r.flops and r.dtype == "float32"]


@pytest.mark.parametrize(("case", "row"), PRODUCTS, ids=[row.name for _, row in PRODUCTS])
def test_products_are_as_accurate_as_torch(case: Case, row: Row) -> None:
    """Every product of the benchmark's rows, for two images."""
    generator = torch.Generator().manual_seed(0)
    given = {k: v(generator) if callable(v) else v for k, v in row.sample.arguments.items()}
    given["input"] = given["input"][:2]
    names = [k for k, v in given.items() if isinstance(v, Tensor)]
    cls, baseline = function_classes[case.module + "Function"], case.baseline or case.reference
    gradient = randn(*baseline(**given).shape, seed=1)

    def compute(function: Callable[..., Tensor], dtype: torch.dtype) -> list[Tensor]:
        return products(
            lambda *tensors: function(**{**given, **dict(zip(names, tensors))}),
            [given[name].to(dtype) for name in names],
            gradient.to(dtype),
        )

    exact = compute(baseline, torch.float64)
    ours = compute(lambda **a: cls.apply(*cls._bind((), a)), torch.float32)
    theirs = compute(baseline, torch.float32)
    for mine, other in zip(errors(ours, exact), errors(theirs, exact)):
        # Below a few rounding errors of the largest values, the order of the errors is random.
        assert mine <= max(other, 1.8e-6) and mine < 1e-5
    for mine, other in zip(deviations(ours, exact), deviations(theirs, exact)):
        # The root mean square is not random. It exceeds torch's for gradWeight of TemporalConvolution with few images
        # and, without AVX-512, for groups of four channels.
        assert mine <= max(1.05 * other, 2.6e-7)


def test_long_sums_of_convolution_gradients() -> None:
    """gradWeight and gradBias are sums over all pixels of all images."""
    inputs = [randn(8, 2, 65, 63) + 1, randn(3, 2, 3, 3, seed=1), randn(3, seed=2)]
    gradient = randn(8, 3, 63, 61, seed=3) + 1

    def ours(input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return thnn.SpatialConvolutionMMFunction.apply(input, weight, bias, 3, 3, 1, 1, 0, 0)

    got = products(ours, inputs, gradient)
    exact = products(F.conv2d, [t.double() for t in inputs], gradient.double())
    for value, expected in zip(got[2:], exact[2:]):
        assert relative(value, expected) < 2e-6


# --- activations ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gelu_keeps_its_digits(dtype: torch.dtype) -> None:
    x = torch.linspace(-8, 8, 4001, dtype=torch.float64).to(dtype)
    exact = x.double() * torch.special.erfc(-x.double() / math.sqrt(2)) / 2
    ours, theirs = thnn.GELUFunction.apply(x).double(), F.gelu(x).double()
    eps = torch.finfo(dtype).eps
    if dtype is torch.float32:
        assert (ours - exact).abs().max() <= (theirs - exact).abs().max()
        assert ((ours - exact) / exact).abs().nan_to_num(0).max() < 20 * eps
    # Tails by the continued fraction of Laplace.
    t, fraction = x[x < -6].double(), 0.0
    for k in range(60, 0, -1):
        fraction = k / (-t + fraction)
    tail = t * (-t * t / 2).exp() / math.sqrt(2 * math.pi) / (-t + fraction)
    assert ((ours[x < -6] - tail) / tail).abs().max() < 40 * eps


# --- huge windows and strides ---------------------------------------------------------------------------------


def test_windows_far_larger_than_the_image() -> None:
    kernel, padding = 2**31 - 1, 2**30 - 1
    input = randn(2, 3, 4, 5)
    got = thnn.SpatialMaxPoolingFunction.apply(input, kernel, kernel, 1, 1, padding, padding)
    assert got.shape == (2, 3, 4, 5)
    assert torch.equal(got, input.amax((2, 3), keepdim=True).expand_as(input))
    got = thnn.SpatialAveragePoolingFunction.apply(
        input, kernel, kernel, 1, 1, padding, padding, False, False
    )
    torch.testing.assert_close(got, input.mean((2, 3), keepdim=True).expand_as(input))
