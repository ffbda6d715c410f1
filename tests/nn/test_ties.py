"""Layers where a function has no derivative, several maxima or a limit: values and gradients equal torch's."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from layer_configurations import Configuration, agree, pair, results
from torch import Tensor, nn

import thnn.nn.functional as F

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")

INFINITY = float("inf")


def compare(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any], *inputs: Any) -> None:
    for dtype in (torch.float32, torch.float64):
        if name == "Hardsigmoid" and dtype is torch.float64:
            continue  # torch rounds 1 / 6 to float32
        typed = tuple(v.to(dtype) if isinstance(v, Tensor) and v.is_floating_point() else v for v in inputs)
        configuration = Configuration(arguments, keywords, typed, training=False)
        ours, theirs = pair(name, configuration)
        agree(results(ours.to(dtype), configuration), results(theirs.to(dtype), configuration))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Threshold", (0.5, -3.0)), ("Threshold", (0.5, 0.5)), ("Threshold", (-1.0, 2.0)), ("ReLU", ()),
        ("ReLU6", ()), ("Hardtanh", ()), ("Hardtanh", (-0.5, 2.0)), ("Hardtanh", (0.5, 1.0)),
        ("LeakyReLU", (0.1,)), ("LeakyReLU", (0.0,)), ("LeakyReLU", (-0.1,)), ("PReLU", ()),
        ("PReLU", (1, 0.0)), ("RReLU", ()), ("ELU", ()), ("ELU", (0.5,)), ("ELU", (0.0,)),
        ("Hardshrink", ()), ("Hardshrink", (1.0,)), ("Hardshrink", (0.0,)), ("Hardshrink", (-1.0,)),
        ("Softshrink", ()), ("Softshrink", (1.0,)), ("Softshrink", (0.0,)), ("LogSigmoid", ()),
        ("Softplus", (1.0, 20.0)), ("Sigmoid", ()), ("Tanh", ()), ("CELU", ()), ("CELU", (0.5,)), ("SELU", ()),
        ("SiLU", ()), ("Mish", ()), ("Hardsigmoid", ()), ("GELU", ()), ("GELU", ("tanh",)),
        ("Softsign", ()), ("Tanhshrink", ()), pytest.param(
            "Hardswish", (),
            marks=pytest.mark.needs_torch("2.9", "torch's slopes of Hardswish at -3 and 3 are 0 and 1 since then"),
        ),
    ],
)  # fmt: skip
def test_activations(name: str, arguments: tuple[Any, ...]) -> None:
    values = [-3.0, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 6.0]
    # docs/differences.md
    if name not in ("GELU", "Softsign"):
        values += [INFINITY, -INFINITY]
    if name not in ("ELU", "CELU", "SELU", "Hardswish", "Hardsigmoid"):
        values.append(float("nan"))
    compare(name, arguments, {}, torch.tensor(values))


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize(
    ("name", "keywords"),
    [
        ("L1Loss", {}),
        ("MSELoss", {}),
        *(("SmoothL1Loss", {"beta": b}) for b in (0, 0.5, 1.0, 1.5, 2.0)),
        *(("HuberLoss", {"delta": d}) for d in (0.5, 1.0, 2.0)),
    ],
)
def test_distances(name: str, keywords: dict[str, Any], reduction: str) -> None:
    values = torch.tensor([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
    input, target = torch.cartesian_prod(values, values).unbind(1)
    compare(name, (), {"reduction": reduction, **keywords}, input, target)


def test_l1_loss_with_a_gradient_of_the_target() -> None:
    input = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    target = torch.tensor([[1.0, 5.0], [2.0, 4.0]])  # another type, to which both convert
    found = []
    for home in (F, torch.nn.functional):
        leaves = [t.clone().requires_grad_() for t in (input, target)]
        loss = home.l1_loss(*leaves)
        found.append([loss, *torch.autograd.grad(loss, leaves)])
    agree(*found)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_criteria_of_probabilities(reduction: str) -> None:
    values = torch.tensor([0.0, 1e-12, 1e-7, 0.5, 1 - 1e-7, 1.0])
    configuration = Configuration(
        (), {"reduction": reduction}, torch.cartesian_prod(values, values).unbind(1)
    )
    agree(*(results(p, configuration) for p in pair("BCELoss", configuration)))
    logarithms, targets = torch.cartesian_prod(torch.tensor([-2.0, 0.0, 1.0]), values).unbind(1)
    compare("KLDivLoss", (), {"reduction": reduction}, logarithms, targets)
    inputs, signs = torch.cartesian_prod(
        torch.tensor([-30.0, -1.0, -0.0, 0.0, 1.0, 30.0]), torch.tensor([1.0, -1.0, 0.0])
    ).unbind(1)
    compare("SoftMarginLoss", (), {"reduction": reduction}, inputs, signs)
    compare("BCEWithLogitsLoss", (), {"reduction": reduction}, inputs, signs.clamp(min=0))
    for factor in (0.0, 0.1, 3.0):  # 0.1 + 1 - 1 is not 0.1
        keywords = {"reduction": reduction, "pos_weight": torch.tensor(factor)}
        compare("BCEWithLogitsLoss", (), keywords, inputs, signs.clamp(min=0))
    rates, counts = torch.cartesian_prod(
        torch.tensor([0.0, 0.5, 2.0]), torch.tensor([0.0, 1.0, 1.5, 7.0])
    ).unbind(1)
    for log_input, full in itertools.product((False, True), repeat=2):
        keywords = {"reduction": reduction, "log_input": log_input, "full": full}
        compare("PoissonNLLLoss", (), keywords, rates, counts)
    rows = torch.tensor([[-INFINITY, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, -INFINITY]])
    for name in ("NLLLoss", "CrossEntropyLoss"):
        compare(name, (), {"reduction": reduction}, rows, torch.tensor([1, 2, 0]))


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_margins(reduction: str) -> None:
    values = torch.tensor([-1.0, 0.0, 0.5, 1.0])
    scores, others, signs = torch.cartesian_prod(values, values, torch.tensor([-1.0, 0.0, 1.0])).unbind(1)
    for margin in (0.0, 0.5, 1.0):
        keywords = {"reduction": reduction, "margin": margin}
        # At a tie torch gives 0 from 2.14 on, before that the derivative on the side of a positive loss.
        beside = scores != margin
        compare("HingeEmbeddingLoss", (), keywords, scores[beside], signs[beside])
        beside = signs * (scores - others) != margin
        compare("MarginRankingLoss", (), keywords, scores[beside], others[beside], signs[beside])
    rows = torch.cartesian_prod(values, values, values)
    signs = torch.tensor([-1.0, 1.0, 0.0]).repeat(len(rows) // 3 + 1)[: len(rows)]
    for margin in (0.0, 0.5):
        keywords = {"reduction": reduction, "margin": margin}
        compare("CosineEmbeddingLoss", (), keywords, rows, rows.flip(1), signs)
    for p, swap in itertools.product((1, 2), (False, True)):
        keywords = {"reduction": reduction, "p": p, "swap": swap, "eps": 0.0}
        compare("TripletMarginLoss", (), keywords, rows, rows.flip(0), rows.flip(1))
    classes = torch.arange(3).repeat_interleave(len(rows))
    for p, margin in itertools.product((1, 2), (0.0, 0.5, 1.0, 1.5)):
        keywords = {"reduction": reduction, "p": p, "margin": margin}
        compare("MultiMarginLoss", (), keywords, rows.repeat(3, 1), classes)
    lists = torch.cartesian_prod(*[torch.arange(-1, 3)] * 3)
    inputs = rows.repeat(len(lists), 1), lists.repeat_interleave(len(rows), dim=0)
    compare("MultiLabelMarginLoss", (), {"reduction": reduction}, *inputs)


def test_signs_may_be_integers() -> None:
    rows, others, signs = torch.randn(6, 3), torch.randn(6, 3), torch.tensor([1, -1, 0, 1, -1, 1])
    compare("CosineEmbeddingLoss", (), {}, rows, others, signs)
    compare("HingeEmbeddingLoss", (), {}, rows, signs.unsqueeze(1).expand(6, 3))
    compare("MarginRankingLoss", (), {"margin": 0.5}, rows, others, signs.unsqueeze(1).expand(6, 3))


@pytest.mark.parametrize("full", [False, True])
def test_variances_below_the_bound_and_of_one_number(full: bool) -> None:
    input, target = torch.randn(4, 3), torch.randn(4, 3)
    keywords = {"full": full, "eps": 0.25}
    compare("GaussianNLLLoss", (), keywords, input, target, torch.tensor([[0.0, 0.125, 0.25, 1.0]] * 3).T)
    found = [
        home.gaussian_nll_loss(input, target, torch.full((4, 3), 0.5), full) for home in (F, nn.functional)
    ]
    agree(found[:1], found[1:])
    assert torch.equal(F.gaussian_nll_loss(input, target, 0.5, full), found[0])
    for wrong in (-0.5, torch.full((4, 3), -0.5)):
        with pytest.raises(ValueError, match=r"gaussian_nll_loss: var: expected .* got -0\.5"):
            F.gaussian_nll_loss(input, target, wrong)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize(
    "values", [(0.0,), (0.0, 1.0), (0.0, -0.0), (0.0, float("nan")), (-INFINITY,), (INFINITY, -INFINITY)]
)
def test_equal_maxima(dims: int, values: tuple[float, ...]) -> None:
    torch.manual_seed(0)
    shape = (2, 3, 7, 8, 5)[: dims + 2]
    x = torch.tensor(values)[torch.randint(len(values), shape)]
    for kernel, stride, dilation in ((2, 1, 1), (2, 2, 1), (2, 3, 2), (3, 1, 1), (3, 2, 1), (3, 2, 2)):
        keywords = {"stride": stride, "padding": 1, "dilation": dilation, "return_indices": True}
        compare(f"MaxPool{dims}d", (kernel,), keywords, x)
    if dims < 3:
        for size in (1, 2, 3, 5):
            compare(f"AdaptiveMaxPool{dims}d", (size,), {"return_indices": True}, x)
    if dims > 1:
        for size in (1, 2, 3):
            samples = torch.full((2, 3, dims), 0.3)
            keywords = {"output_size": size, "_random_samples": samples, "return_indices": True}
            configuration = Configuration((2,), keywords, (x,))
            agree(*(results(p, configuration) for p in pair(f"FractionalMaxPool{dims}d", configuration)))


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_windows_in_the_padding(dims: int) -> None:
    """torch has such windows only for images; in its functions for sequences and volumes they corrupt memory."""
    geometries = (1, 2, 1, 2), (2, 2, 1, 3), (3, 2, 2, 4), (1, 3, 3, 2), (5, 2, 1, 2)
    for size, kernel, stride, dilation in geometries:
        row = torch.arange(float(size)).reshape(1, 1, 1, size)
        expected = torch.nn.functional.max_pool2d(row, (1, kernel), stride, (0, 1), dilation, kernel == 3)
        ones = (1,) * (dims - 1)
        x = row.reshape(1, 1, *ones, size).requires_grad_()
        per_axis = (*ones, kernel), stride, (*[0] * (dims - 1), 1), dilation, kernel == 3
        pool = getattr(F, f"max_pool{dims}d")
        output, indices = pool(x, *per_axis, return_indices=True)
        assert torch.equal(output.flatten(), expected.flatten())
        assert torch.equal(pool(x, *per_axis), output)
        is_empty = expected.flatten() == -INFINITY
        assert torch.equal(indices.flatten() == -1, is_empty)
        counts = torch.bincount(indices.flatten()[~is_empty], minlength=size)
        assert torch.equal(torch.autograd.grad(output.sum(), x)[0].flatten(), counts.float())
