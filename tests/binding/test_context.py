"""The dispatch state of a call, read by libtorch's C functions, or by Python as if torch lacked one of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

import thnn
from thnn._binding.context import (
    CONSTANT,
    GRADIENT,
    PLAIN,
    TRANSFORM,
    connect_context,
    make_context_of_call,
    read_context,
)
from thnn._torch import in_transform


@pytest.fixture(params=["C", "Python"], autouse=True)
def route(request: pytest.FixtureRequest) -> Iterator[str]:
    connect_context(request.param == "C")
    yield request.param
    connect_context()


class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def test_grad_mode() -> None:
    assert read_context() == GRADIENT
    with torch.no_grad():
        assert read_context() == PLAIN
        with torch.enable_grad():
            assert read_context() == GRADIENT
    with torch.inference_mode():
        assert read_context() == PLAIN


def in_forward_mode(function: Callable[[Tensor], Tensor], input: Tensor) -> None:
    with forward_ad.dual_level():
        function(input)


def in_mode(function: Callable[[Tensor], Tensor], input: Tensor) -> None:
    with Mode():
        function(input)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # torch's own
@pytest.mark.parametrize(
    "transform",
    [
        lambda function, input: torch.vmap(function)(input),
        lambda function, input: torch.func.grad(lambda x: function(x).sum())(input),
        lambda function, input: torch.func.vmap(torch.func.grad(function))(input),
        lambda function, input: torch.func.jvp(function, (input,), (input,)),
        lambda function, input: torch.func.functionalize(function)(input),
        lambda function, input: torch.jit.trace(function, (input,), check_trace=False),
        in_forward_mode,
        in_mode,
    ],
)
def test_transforms(transform: Callable[[Callable[[Tensor], Tensor], Tensor], Any]) -> None:
    found = []
    context_of = make_context_of_call(1, [])

    def function(input: Tensor) -> Tensor:
        with torch.no_grad():
            found.append(read_context())
        found.extend((read_context(), context_of((input,)), in_transform()))
        return input * 2

    transform(function, torch.randn(3))
    assert found == [TRANSFORM, TRANSFORM, TRANSFORM, True]
    assert read_context() == GRADIENT


def test_a_context_belongs_to_its_thread() -> None:
    found = []

    def note() -> None:
        found.append(read_context())

    with torch.no_grad(), Mode():
        thread = threading.Thread(target=note)
        thread.start()
        thread.join()
        assert read_context() == TRANSFORM
    assert found == [GRADIENT]


def test_tensors_that_require_gradients() -> None:
    plain, wanted = torch.randn(3), torch.randn(3, requires_grad=True)
    context_of = make_context_of_call(3, [1])
    assert context_of((plain, plain, None, wanted)) == PLAIN  # the function does not read the last argument
    assert context_of((plain, None, wanted)) == GRADIENT
    assert context_of((wanted, plain, plain)) == GRADIENT
    assert context_of((plain, wanted, plain)) == context_of((wanted, wanted, wanted)) == CONSTANT
    assert context_of((plain, torch.nn.Parameter(plain), None)) == CONSTANT
    assert context_of((3.0, plain, wanted)) == PLAIN
    with torch.no_grad():
        assert context_of((wanted, wanted, wanted)) == PLAIN


def test_errors_of_requires_grad_are_raised() -> None:
    class Refusing:
        @property
        def requires_grad(self) -> bool:
            raise ValueError("refused")

    with pytest.raises(ValueError, match="refused"):
        make_context_of_call(1, [])((Refusing(),))


def test_the_gradient_of_a_constant_is_an_error() -> None:
    input, weights = torch.randn(3, 4), torch.ones(4, requires_grad=True)
    target = torch.arange(3)
    with pytest.raises(NotImplementedError, match="weights: the gradient by weights is not implemented"):
        thnn.ClassNLLCriterionFunction.apply(input, target, weights)
    with torch.no_grad():
        assert thnn.ClassNLLCriterionFunction.apply(input, target, weights).dim() == 0
