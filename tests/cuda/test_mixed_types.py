"""Batch normalization of float16 and bfloat16 with vectors (C) of that type and of float32."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

import thnn

SHAPES = [(4, 8, 5, 7), (4, 8, 8, 8), (16, 32)]
NARROW = [torch.float16, torch.bfloat16]


def _relative(got: Tensor, expected: Tensor) -> float:
    return float((got.double() - expected).abs().max() / expected.abs().max())


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("is_mixed", [True, False])
@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("limit", [None, math.inf, 1.0])
def test_results_are_rounded_once(
    dtype: torch.dtype, is_mixed: bool, train: bool, limit: float | None
) -> None:
    vector = torch.float32 if is_mixed else dtype
    function, scalars = (
        (thnn.BatchNormalizationFunction, ())
        if limit is None
        else (thnn.BatchNormalizationReLUFunction, (limit,))
    )
    unit = torch.finfo(dtype).eps
    tolerance = 16 * torch.finfo(torch.float32).eps if is_mixed else unit
    for shape in SHAPES:
        torch.manual_seed(1)
        C = shape[1]
        given = [torch.randn(shape).to(dtype), (torch.rand(C) + 0.5).to(vector), torch.randn(C).to(vector)]
        running = [torch.zeros(C, dtype=vector), torch.ones(C, dtype=vector)]
        gradOutput = torch.randn(shape).to(dtype)

        leaves = [t.clone().requires_grad_() for t in given]
        updated = [t.clone() for t in running]
        output = function.apply(
            leaves[0], leaves[1], leaves[2], updated[0], updated[1], train, 0.1, 1e-5, *scalars
        )
        gradients = torch.autograd.grad(output, leaves, gradOutput)

        exact = [t.double().requires_grad_() for t in given]
        expected_running = [t.double() for t in running]
        mean, variance = expected_running
        expected = torch.nn.functional.batch_norm(
            exact[0], mean, variance, exact[1], exact[2], train, 0.1, 1e-5
        )
        expected = expected if limit is None else torch.nn.functional.hardtanh(expected, 0.0, limit)
        expected_gradients = torch.autograd.grad(expected, exact, gradOutput.double())

        assert output.dtype is dtype
        assert _relative(output.detach(), expected.detach()) < unit
        assert _relative(gradients[0], expected_gradients[0]) < unit
        for leaf, gradient, wanted in zip(leaves, gradients, expected_gradients):
            assert gradient.dtype is leaf.dtype
            assert leaf is leaves[0] or _relative(gradient, wanted) < tolerance
        for got, wanted in zip(updated, expected_running):
            assert _relative(got + 1, wanted + 1) < tolerance


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("vector", [None, torch.float32, "input"])
def test_new_statistics_are_float32(dtype: torch.dtype, vector: object) -> None:
    running = [
        None if vector is None else torch.ones(8, dtype=dtype if vector == "input" else torch.float32)
        for _ in range(2)
    ]
    x = torch.randn(4, 8).to(dtype)
    _, mean, deviation = thnn.BatchNormalizationFunction._normalize(
        x, None, None, running[0], running[1], True, 0.1, 1e-5
    )
    assert mean.dtype is deviation.dtype is torch.float32


def test_other_types_are_errors() -> None:
    apply = thnn.BatchNormalizationFunction.apply
    x = torch.randn(4, 8).half()
    for name, weight, mean in (
        ("weight", torch.ones(8).double(), torch.zeros(8)),
        ("weight", torch.ones(8).bfloat16(), torch.zeros(8)),
        ("running_mean", torch.ones(8), torch.zeros(8).bfloat16()),
    ):
        with pytest.raises(TypeError, match=rf"{name}: expected torch.float16, the type of input"):
            apply(x, weight, None, mean, None, True, 0.1, 1e-5)
    with pytest.raises(
        TypeError, match=r"weight: expected torch.float64, the type of input, got torch.float32"
    ):
        apply(x.double(), torch.ones(8), None, None, None, True, 0.1, 1e-5)


def test_layers_and_operator() -> None:
    x = torch.randn(4, 8, 3, 3).half().requires_grad_()
    for options in ({}, {"unbiased": False}, {"momentum": None}, {"first_batch": "initialize"}):
        for dtype in (torch.float32, torch.float16):
            layer = thnn.nn.BatchNorm2d(8, dtype=dtype, **options)
            layer(x)
            output = layer(x)
            (gradient,) = torch.autograd.grad(output.float().square().sum(), layer.weight)
            assert output.dtype is torch.float16
            assert layer.running_var is not None
            assert gradient.dtype is layer.running_var.dtype is dtype
    result = thnn.batch_norm(x.detach(), torch.ones(8), None, torch.zeros(8), torch.ones(8))
    assert result.y.dtype is torch.float16
    assert result.batch_mean is not None
    assert result.batch_mean.dtype is torch.float32


def test_halves_of_written_numbers() -> None:
    """No element of scale begins where an element of estimated_mean does, and yet they share bytes."""
    mean = torch.zeros(8)
    scale = mean.view(torch.bfloat16)[1::2]
    with pytest.raises(ValueError, match="estimated_mean: must not share memory with scale"):
        thnn.batch_norm(torch.randn(4, 8).bfloat16(), scale, None, mean, torch.ones(8))
