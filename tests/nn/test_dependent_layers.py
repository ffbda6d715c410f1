"""Derivatives of every layer where its inputs and parameters depend on one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from dependent_inputs import check_derivatives
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from layer_configurations import CONFIGURATIONS, Configuration
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

import thnn.nn
import thnn.nn.functional as F

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


def tensors(value: Any) -> list[Tensor]:
    """The tensors of a result or an argument; of a packed sequence the data."""
    if isinstance(value, PackedSequence):
        return [value.data]
    if isinstance(value, Tensor):
        return [value]
    return [t for v in value for t in tensors(v)] if isinstance(value, Sequence) else []


def replaced(value: Any, others: Callable[[Tensor], Tensor]) -> Any:
    """The argument with other tensors of floating point."""
    if isinstance(value, PackedSequence):
        return PackedSequence(others(value.data), *value[1:])
    if isinstance(value, tuple):
        return tuple(replaced(v, others) for v in value)
    return others(value) if isinstance(value, Tensor) and value.is_floating_point() else value


def check_layer(layer: nn.Module, configuration: Configuration, tied: bool) -> None:
    layer = layer.double().train(configuration.training)
    recurrent = isinstance(layer, nn.RNNBase | nn.RNNCellBase)
    is_variable = [k in configuration.differentiable or recurrent for k in range(len(configuration.inputs))]
    variable = [v for v, d in zip(configuration.inputs, is_variable) if d]
    bases = {f"input {k}": t.double() for k, t in enumerate(tensors(variable))}
    parameters = {name: p.detach() for name, p in layer.named_parameters()}

    def function(given: dict[str, Tensor]) -> list[Tensor]:
        torch.manual_seed(3)
        inputs = iter([given[n] for n in bases])
        called = [
            replaced(v, (lambda _: next(inputs)) if d else Tensor.double)
            for v, d in zip(configuration.inputs, is_variable)
        ]
        return tensors(torch.func.functional_call(layer, {n: given[n] for n in parameters}, tuple(called)))

    tied = tied and bool(parameters)
    if all(t.numel() for t in bases.values()) and bases | parameters:
        check_derivatives(function, bases | parameters, tied=tied)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_layer(name: str) -> None:
    @settings(max_examples=3, phases=[Phase.generate])
    @given(st.data())
    def check(data: st.DataObject) -> None:
        torch.manual_seed(data.draw(st.integers(0, 99)))
        configuration = data.draw(CONFIGURATIONS[name])
        keywords = {n: v for n, v in configuration.keywords.items() if n != "max_norm"}  # changes the weight
        layer = getattr(thnn.nn, name)(*configuration.arguments, **keywords)
        check_layer(layer, configuration, tied=data.draw(st.booleans()))

    check()


def random(*size: int) -> Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(sum(size)), dtype=torch.float64)


OTHERS: dict[str, tuple[nn.Module, tuple[Any, ...]]] = {
    "Linear": (thnn.nn.Linear(4, 4), (random(4, 4),)),
    "Conv1d": (thnn.nn.Conv1d(2, 2, 2), (random(2, 2, 5),)),
    "Conv2d": (thnn.nn.Conv2d(2, 2, 3, padding=1), (random(2, 2, 4, 4),)),
    "Conv3d": (thnn.nn.Conv3d(2, 2, 2, groups=2), (random(2, 2, 3, 3, 3),)),
    "ConvTranspose2d": (thnn.nn.ConvTranspose2d(2, 2, 3), (random(2, 2, 4, 4),)),
    "BatchNorm1d": (thnn.nn.BatchNorm1d(3), (random(5, 3),)),
    "BatchNorm2d": (thnn.nn.BatchNorm2d(3).eval(), (random(2, 3, 2, 2),)),
    "LSTM": (thnn.nn.LSTM(3, 3, 2, bidirectional=True), (random(4, 2, 3),)),
    "GRU": (thnn.nn.GRU(3, 3, 2), (random(9, 2, 3), random(2, 2, 3))),
}


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", OTHERS)
def test_other_configurations(name: str, tied: bool) -> None:
    layer, inputs = OTHERS[name]
    differentiable = tuple(range(len(inputs)))
    check_layer(layer, Configuration((), {}, inputs, differentiable, layer.training), tied)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_a_recurrent_layer_called_twice(kind: str) -> None:
    """The initial state of the second call depends on the weights; few steps and many."""
    layer = getattr(thnn.nn, kind)(3, 3).double()
    for steps in (3, 12):
        data = random(2 * steps, 2, 3)

        def function(given: dict[str, Tensor], x: Tensor = data, n: int = steps) -> list[Tensor]:
            _, state = torch.func.functional_call(layer, given, (x[:n],))
            return tensors(torch.func.functional_call(layer, given, (x[n:], state)))

        bases = {name: p.detach() for name, p in layer.named_parameters()}
        check_derivatives(function, bases, tied=False)


@pytest.mark.parametrize("dims", [2, 3])
def test_a_grid_that_depends_on_its_input(dims: int) -> None:
    def function(given: dict[str, Tensor]) -> list[Tensor]:
        return [F.grid_sample(given["input"], given["grid"], align_corners=True)]

    sizes = (4, 3, 2)[:dims]
    bases = {"input": random(2, 2, *sizes), "grid": random(2, *sizes, dims).tanh()}
    check_derivatives(function, bases, tied=False)


@pytest.mark.parametrize("settings", [{}, {"is_infer": True}, {"use_global_est": True}])
def test_batch_norm(settings: dict[str, bool]) -> None:
    def function(given: dict[str, Tensor]) -> list[Tensor]:
        return [
            thnn.batch_norm(*given.values(), torch.zeros(3).double(), torch.ones(3).double(), **settings).y
        ]

    bases = {"x": random(4, 3), "scale": random(3), "bias": random(3) + 1}
    check_derivatives(function, bases, tied=False)
