"""The gradient of a criterion is multiplied by the gradient of its loss inside the kernel."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import thnn
from thnn._functions.base import Criterion
from thnn.testing.torch_support import call_of, samples_of

CRITERIA = [name for name, cls in thnn.function_classes.items() if issubclass(cls, Criterion)]
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


def _losses(name: str, dtype: torch.dtype) -> list[tuple[Tensor, Tensor]]:
    """An input of the criterion and its loss, for each sample of the case."""
    cls = thnn.function_classes[name]
    device = torch.get_default_device()
    found = []
    for sample in samples_of(cls):
        with torch.device("cpu"):  # samples are drawn from generators of the CPU
            call = call_of(cls, sample)
        values: list[Any] = [
            v.to(device, dtype if v.is_floating_point() else v.dtype) if isinstance(v, Tensor) else v
            for v in call.values
        ]
        values[0] = values[0].requires_grad_()
        found.append((values[0], cls.apply(*values)))
    assert found
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CRITERIA)
def test_factor_is_multiplied(name: str, dtype: torch.dtype) -> None:
    for input, loss in _losses(name, dtype):
        (by_one,) = torch.autograd.grad(loss, input, torch.ones_like(loss), retain_graph=True)
        # 0 times inf or NaN is NaN, also where the kernel has no term.
        for factor in (0.75, -2.0, 0.0, float("inf"), float("nan")):
            (found,) = torch.autograd.grad(loss, input, torch.full_like(loss, factor), retain_graph=True)
            tolerance = 8 * torch.finfo(dtype).eps
            torch.testing.assert_close(
                found, by_one * factor, rtol=tolerance, atol=torch.finfo(dtype).tiny, equal_nan=True
            )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CRITERIA)
def test_backward_is_one_call(name: str, dtype: torch.dtype) -> None:
    _, loss = _losses(name, dtype)[0]
    gradient = torch.full_like(loss, 0.75)
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, acc_events=True) as profile:
        loss.backward(gradient)
    operations = {event.key for event in profile.key_averages()}
    assert f"{name}Backward" in operations
    assert not operations & {"aten::mul", "aten::mul_"}
