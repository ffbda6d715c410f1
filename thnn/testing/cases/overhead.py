"""Benchmark rows of the overhead of layers, operators and graphs over the functions that they call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

Call = Callable[[], Any]


@dataclass(frozen=True)
class Overhead:
    """One row: a layer, operator or graph against the calls that it is built on, and the overhead that it may
    have.

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
        from thnn._functions.classes import function_classes

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
        from thnn._functions.classes import function_classes

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
