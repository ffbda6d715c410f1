"""Forwards that inductor computes as torch operations."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch._inductor.utils import run_and_get_code

import thnn
from thnn._functions.classes import function_classes
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
