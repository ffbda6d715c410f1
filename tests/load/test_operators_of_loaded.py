"""Operators of loaded functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from test_load import cube

import thnn


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_operators(write: Callable[..., Path]) -> None:
    header = write()
    loaded = thnn.load(header, references={"Cube": cube})
    cls = loaded.CubeFunction
    x = torch.randn(4, 3, dtype=torch.float64)

    def apply(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = cls.apply(x, 2.0)
        return result

    compiled = torch.compile(apply, fullgraph=True, dynamic=True, backend="aot_eager")
    leaf = x.clone().requires_grad_()
    compiled(leaf).sum().backward()
    torch.testing.assert_close(leaf.grad, 6 * x * x)
    torch.testing.assert_close(torch.vmap(apply)(x), cube(x, 2.0))
    torch.testing.assert_close(torch.func.jvp(apply, (x,), (torch.ones_like(x),))[1], 6 * x * x)
    hessian = torch.func.hessian(lambda x: apply(x).sum())(x[0])
    torch.testing.assert_close(hessian, torch.diag(12 * x[0]))
    torch.library.opcheck(cls._operator, (leaf, 2.0))
    # Without a reference there is one derivative; the library has operators of its own.
    once = thnn.load(header)
    assert torch.func.grad(lambda x: once.CubeFunction.apply(x).sum())(x).shape == x.shape
    assert once.CubeFunction._operator is not cls._operator
    with pytest.raises(NotImplementedError, match="can be differentiated once only"):
        torch.func.jvp(once.CubeFunction.apply, (x,), (x,))
