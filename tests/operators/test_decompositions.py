"""Forwards that inductor computes as torch operations."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch
from new_process import python
from torch import Tensor
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.utils import run_and_get_code

import thnn
from thnn._classes import function_classes
from thnn._operators.decompositions import DECOMPOSITIONS

SPECIAL = [-float("inf"), -7.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 6.0, 7.0, float("inf"), float("nan")]
SETTINGS: dict[str, tuple[float, ...]] = {
    "HardTanh": (-1.0, 6.0),
    "LeakyReLU": (0.1,),
    "Threshold": (0.5, -2.0),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_a_decomposition_is_the_function(name: str, dtype: torch.dtype) -> None:
    x = torch.tensor(SPECIAL, dtype=dtype)
    expected = function_classes[f"{name}Function"].apply(x, *SETTINGS.get(name, ()))
    found = DECOMPOSITIONS[name](x, *SETTINGS.get(name, ()))
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("is_affine", [True, False])
@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("BatchNormalization", ()),
        ("BatchNormalizationReLU", (math.inf,)),
        ("BatchNormalizationReLU", (1.5,)),
        ("BatchNormalizationAdd", (True, math.inf)),
        ("BatchNormalizationAdd", (True, 1.5)),
        ("BatchNormalizationAdd", (False, math.inf)),
    ],
)
def test_batch_normalization_in_evaluation(name: str, limit: tuple[Any, ...], is_affine: bool) -> None:
    torch.manual_seed(0)
    x, mean, var = torch.randn(4, 3, 5) * 3 + 1, torch.randn(3), torch.tensor([0.0, 0.5, 9.0])
    weight, bias = (torch.randn(3), torch.randn(3)) if is_affine else (None, None)
    cls = function_classes[f"{name}Function"]
    residual = [torch.randn(4, 3, 5)] if name == "BatchNormalizationAdd" else []
    for dtype in (torch.float64, torch.float32):
        tensors = [None if t is None else t.to(dtype) for t in (x, *residual, weight, bias, mean, var)]
        for eps in (0.0, 1e-5):
            expected = cls.apply(*tensors, False, 0.1, eps, *limit)
            found = cls._decomposition(*tensors, False, 0.1, eps, *limit)
            torch.testing.assert_close(found[0], expected)
    assert cls._decomposition(*tensors, True, 0.1, 1e-5, *limit) is None


@pytest.fixture
def without_caches() -> Any:
    """Inductor's caches keep code that was made before a change of the decompositions."""
    torch.compiler.reset()
    with torch._inductor.config.patch(force_disable_caches=True):
        yield


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("is_training", [True, False], ids=["training", "inference"])
def test_inductor_fuses_functions_with_their_neighbours(is_training: bool, without_caches: Any) -> None:
    def residual(x: Tensor, y: Tensor) -> Any:
        return thnn.nn.functional.relu(thnn.nn.functional.relu6(x * 1, inplace=True) + y) * 2

    def results(f: Any) -> tuple[Tensor, ...]:
        x = torch.linspace(-9, 9, 64).reshape(2, 32).requires_grad_(is_training)
        y = x.detach().cos().requires_grad_(is_training)
        z = f(x, y)
        return (z, *torch.autograd.grad(z.sum(), (x, y))) if is_training else (z,)

    compiled = torch.compile(residual, fullgraph=True, backend="inductor")
    found, codes = run_and_get_code(results, compiled)
    torch.testing.assert_close(found, results(residual))
    assert len(codes) == 1 + is_training
    assert "updateOutput.default(" not in codes[0]
    assert not is_training or "thnn.Threshold_updateGradInput.default(" in codes[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "settings", "keeps_output"),
    [
        ("HardTanh", (-1.0, 6.0), True),
        ("LeakyReLU", (0.1,), True),
        ("LeakyReLU", (0.0,), True),
        ("LeakyReLU", (-0.1,), False),
        ("Threshold", (0.5, -2.0), True),
        ("Threshold", (0.5, 0.5), True),
        ("Threshold", (0.5, 7.0), False),
    ],
    ids=str,
)
def test_the_gradient_from_the_output(
    name: str, settings: tuple[float, ...], keeps_output: bool, without_caches: Any
) -> None:
    function = function_classes[f"{name}Function"]

    def product(x: Tensor, weight: Tensor) -> Tensor:
        return thnn.nn.functional.linear(x, weight)

    def call(x: Tensor) -> tuple[Tensor, Tensor]:
        y = function.apply(product(x, weights), *settings)
        z = product(y, weights)
        changed = function.apply(x + 0, *settings)
        return z, changed.mul_(3)

    def gradient(f: Any) -> Tensor:
        x = torch.tensor(SPECIAL)[:, None].repeat(1, 2).requires_grad_()
        z, changed = f(x)
        (found,) = torch.autograd.grad((z, changed), x, (torch.ones_like(z), torch.full_like(z, 5)))
        return found

    weights = torch.eye(2)
    compiled = torch.compile(call, fullgraph=True, backend="inductor")
    gradient(compiled)
    kept: list[Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        found = gradient(compiled)
    torch.testing.assert_close(found, gradient(call), equal_nan=True)
    # The arguments, the input of the second product, a tensor for the gradient of the changed one, and, unless the
    # output serves, the input of the first call, which torch 2.15 computes again.
    assert len(kept) in ((4,) if keeps_output else (4, 5))


@pytest.mark.parametrize("decompositions", [{}, select_decomp_table()], ids=["none", "of inductor"])
def test_the_table_of_the_tracer_decides(decompositions: Any) -> None:
    def keep(graph: Any, inputs: Any) -> Any:
        operators.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return make_boxed_func(graph.forward)

    operators: list[str] = []
    torch.compiler.reset()
    backend = aot_autograd(fw_compiler=keep, decompositions=decompositions)
    torch.compile(thnn.nn.functional.relu, fullgraph=True, backend=backend)(torch.ones(3))
    assert operators
    assert ("thnn.Threshold_updateOutput.default" in operators) == (not decompositions)


@pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition", "inductor"])
@pytest.mark.filterwarnings("ignore")
def test_settings_beyond_the_element_type(backend: str, without_caches: Any) -> None:
    def both(x: Tensor) -> tuple[Tensor, Tensor]:
        return thnn.ThresholdFunction.apply(x, 0.0, 1e39), thnn.HardTanhFunction.apply(x, -1e39, 1.0)

    x = torch.tensor([-1.0, 2.0])
    torch.testing.assert_close(torch.compile(both, fullgraph=True, backend=backend)(x), both(x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("activation", ["relu", "relu6"])
def test_batch_normalization_in_training_and_evaluation_of_one_network(
    activation: Any, without_caches: Any
) -> None:
    first, second = thnn.nn.BatchNorm1d(3), thnn.nn.BatchNorm1d(3, activation=activation).eval()
    torch.nn.init.constant_(second.weight, 8)
    network = torch.nn.Sequential(first, second)
    x = torch.randn(7, 3)
    expected = copy.deepcopy(network)(x)
    found, (code, *_) = run_and_get_code(torch.compile(network, fullgraph=True, backend="inductor"), x)
    torch.testing.assert_close(found, expected)
    assert "thnn.BatchNormalization_updateOutput.default(" in code
    assert "thnn.BatchNormalizationReLU_updateOutput.default(" not in code


def test_the_first_compilation_of_a_process_decomposes() -> None:
    """Also where operators are defined before inductor is imported."""
    code = (
        "import torch, thnn\n"
        "thnn.register_operators()\n"
        "import torch._inductor.utils as utils\n"
        "torch._inductor.config.force_disable_caches = True\n"
        "f = torch.compile(lambda x: thnn.nn.functional.relu(x) + 1, fullgraph=True)\n"
        "result, (code,) = utils.run_and_get_code(f, torch.ones(3))\n"
        "assert 'thnn.' not in code.split('def call')[1], code\n"
    )
    python("-W", "ignore", "-c", code)
