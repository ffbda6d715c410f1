"""Benchmark rows of overhead: layers, operators and graphs against the functions that they call, and calls on small
tensors against torch's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

Call = Callable[[], Any]


@dataclass(frozen=True)
class Overhead:
    """One row: a layer, operator or graph against the calls that it is built on, and the overhead allowed.

    `make` returns the two calls by name: first the calls that it is built on, then the layer, operator or graph.
    """

    name: str
    make: Callable[[], Mapping[str, Call]]
    microseconds: float | None = None  # largest overhead per call ...
    share: float | None = None  # ... or as a fraction of the time of the calls that it is built on
    phase: str = "fwd"  # 'fb' is forward + backward


def _batch(*shape: int) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(0)
    return {
        "input": torch.randn(shape, generator=generator),
        "weight": torch.ones(shape[1], requires_grad=True),
        "bias": torch.zeros(shape[1], requires_grad=True),
        "running_mean": torch.zeros(shape[1]),
        "running_var": torch.ones(shape[1]),
    }


def _layer(training: bool) -> Callable[[], Mapping[str, Call]]:
    def make() -> Mapping[str, Call]:
        from thnn import nn
        from thnn._classes import function_classes

        input = _batch(2, 4, 2, 2)["input"]
        apply = function_classes["BatchNormalizationFunction"].apply
        layer = nn.BatchNorm2d(4).train(training)
        weight, bias, mean, variance = layer.weight, layer.bias, layer.running_mean, layer.running_var
        return {
            "Function": lambda: apply(input, weight, bias, mean, variance, training, 0.1, 1e-5),
            "layer": lambda: layer(input),
        }

    return make


def _operator(**options: Any) -> Callable[[], Mapping[str, Call]]:
    def make() -> Mapping[str, Call]:
        from thnn._batch_norm.operator import batch_norm
        from thnn._classes import function_classes

        batch = _batch(32, 64, 56, 56)
        train = not options.get("is_infer", False)
        arguments = (*batch.values(), train, 0.1, 1e-6)
        apply = function_classes["BatchNormalizationFunction"].apply
        if not train:
            return {
                "Function": lambda: apply(*arguments),
                "operator": lambda: batch_norm(*batch.values(), **options),
            }
        wanted = [batch["input"].requires_grad_(), batch["weight"], batch["bias"]]
        gradient = torch.ones_like(batch["input"])
        return {
            "Function": lambda: torch.autograd.grad(apply(*arguments), wanted, gradient),
            "operator": lambda: torch.autograd.grad(
                batch_norm(*batch.values(), **options).y, wanted, gradient
            ),
        }

    return make


def _classifier() -> torch.nn.Sequential:
    from thnn import nn

    return torch.nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        torch.nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2, padding=1),
        nn.BatchNorm2d(64),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        nn.Linear(64 * 8 * 8, 10),
    )


def _pointwise() -> torch.nn.Sequential:
    """A network limited by memory bandwidth, which folding makes faster."""
    from thnn import nn

    return torch.nn.Sequential(nn.Conv2d(64, 64, 1), nn.BatchNorm2d(64))


def _fork(
    make_model: Callable[[], torch.nn.Sequential], shape: tuple[int, ...], training: bool, fold: bool = False
) -> Callable[[], Mapping[str, Call]]:
    """A branch of a fork against the model in that mode, or a folded branch against the unfolded one."""

    def make() -> Mapping[str, Call]:
        from thnn.graph import fork

        model = make_model().train(training)
        input = _batch(*shape)["input"]
        branches = fork(model, input)
        base: Any = branches.infer if fold else model
        form = fork(model, input, fold=True).infer if fold else branches.train if training else branches.infer
        parameters = list(model.parameters())

        def run(call: Any) -> None:
            with torch.set_grad_enabled(training):
                output = call(input)
            if training:
                torch.autograd.grad(output.sum(), parameters)

        return {"unfolded" if fold else "model": partial(run, base), "fork": partial(run, form)}

    return make


@dataclass(frozen=True)
class SmallCall:
    """One row: a call on tensors so small that the call itself takes the time, against torch's."""

    name: str
    # thnn's call, torch's call, and the tensors whose gradients a backward computes.
    make: Callable[[], tuple[Call, Call, Sequence[Tensor]]]
    forward: float  # least ratio of torch's time to thnn's without a gradient ...
    both: float  # ... and of forward and backward


def _relu() -> tuple[Call, Call, Sequence[Tensor]]:
    apply, input = _apply("Threshold"), _leaf(16)
    return lambda: apply(input, 0, 0, False), lambda: functional.relu(input), (input,)


def _max_pooling() -> tuple[Call, Call, Sequence[Tensor]]:
    apply, input = _apply("SpatialMaxPooling"), _leaf(1, 2, 4, 4)
    return (
        lambda: apply(input, 2, 2, 2, 2, 0, 0, False, False),
        lambda: functional.max_pool2d(input, 2),
        (input,),
    )


def _convolution() -> tuple[Call, Call, Sequence[Tensor]]:
    apply, input = _apply("SpatialConvolutionMM"), _leaf(1, 2, 4, 4)
    weight, bias = _leaf(2, 2, 1, 1), _leaf(2)
    return (
        lambda: apply(input, weight, bias, 1, 1, 1, 1, 0, 0),
        lambda: functional.conv2d(input, weight, bias),
        (input, weight, bias),
    )


def _normalization() -> tuple[Call, Call, Sequence[Tensor]]:
    apply, input = _apply("BatchNormalization"), _leaf(2, 4, 2, 2)
    weight, bias, mean, variance = _leaf(4), _leaf(4), torch.zeros(4), torch.ones(4)
    return (
        lambda: apply(input, weight, bias, mean, variance, True, 0.1, 1e-5),
        lambda: functional.batch_norm(input, mean, variance, weight, bias, True, 0.1, 1e-5),
        (input, weight, bias),
    )


def _nll(rows: int, classes: int) -> tuple[Call, Call, Sequence[Tensor]]:
    apply, input = _apply("ClassNLLCriterion"), _leaf(rows, classes)
    target = torch.arange(rows) % classes
    return (
        lambda: apply(input, target, None, True, -100),
        lambda: functional.nll_loss(input, target),
        (input,),
    )


def _apply(module: str) -> Callable[..., Any]:
    from thnn._classes import function_classes

    return function_classes[module + "Function"].apply


def _leaf(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).requires_grad_()


SMALL_CALLS = (
    SmallCall("small call, ReLU (16)", _relu, 0.8, 0.75),
    SmallCall("small call, max pooling (1,2,4,4)", _max_pooling, 0.6, 0.7),
    SmallCall("small call, convolution 1x1 (1,2,4,4)", _convolution, 0.6, 0.7),
    SmallCall("small call, batch normalization (2,4,2,2)", _normalization, 1.0, 1.0),
    SmallCall("small call, NLL (4,10)", partial(_nll, 4, 10), 0.7, 0.75),
    SmallCall("small call, NLL (256,1000)", partial(_nll, 256, 1000), 0.7, 0.95),
)

OVERHEADS = (
    Overhead("thnn.nn.BatchNorm2d train (2,4,2,2)", _layer(True), microseconds=3),
    Overhead("thnn.nn.BatchNorm2d evaluation (2,4,2,2)", _layer(False), microseconds=3),
    Overhead("thnn.batch_norm train (32,64,56,56)", _operator(), share=0.05, phase="fb"),
    Overhead("thnn.batch_norm inference (32,64,56,56)", _operator(is_infer=True), share=0.05),
    Overhead("fork train (16,3,16,16)", _fork(_classifier, (16, 3, 16, 16), True), share=0.02, phase="fb"),
    Overhead("fork infer (16,3,16,16)", _fork(_classifier, (16, 3, 16, 16), False), share=0.02),
    # Folding that does not pay: the fixed cost of two folded layers.
    Overhead(
        "fork infer folded (16,3,16,16)", _fork(_classifier, (16, 3, 16, 16), False, True), microseconds=40
    ),
    Overhead(
        "fork infer folded 1x1 (32,64,56,56)", _fork(_pointwise, (32, 64, 56, 56), False, True), share=0.0
    ),
)
