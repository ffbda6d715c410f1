"""Results of the size of an argument whose elements have another type."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

import thnn
from thnn._load.loaded import LoadedModule

HEADER = """\
TH_API void THNN_(Magnitude_updateOutput)(
    THNNState *state, THTensor *input,
    THTensor *output,        // [OUT] [LIKE input]
    THIndexTensor *signs);   // [SAVED] [LIKE input]
TH_API void THNN_(Magnitude_updateGradInput)(
    THNNState *state, THTensor *input, THTensor *gradOutput,
    THTensor *gradInput,     // [OUT] [LIKE input]
    THIndexTensor *signs);   // [SAVED]
TH_API void THNN_(Multiple_updateOutput)(
    THNNState *state, THIndexTensor *input,
    THTensor *output,        // [OUT] [LIKE input]
    THTensor *weight);
TH_API void THNN_(Multiple_accGradParameters)(
    THNNState *state, THIndexTensor *input, THTensor *gradOutput, THTensor *gradWeight);
"""

KERNEL = """\
#include "elementwise/map.h"

#define INTEGERS(tensor) ((int64_t *)(tensor)->data)

void THNN_(Magnitude_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THIndexTensor *signs)
{
  THNN_RESIZE_LIKE(output, input);
  THNN_RESIZE_LIKE(signs, input);
  THNN_RETURN_IF_META(state);
  for (int64_t i = 0; i < THNNTensor_numel(input); i++) {
    const real x = TH_DATA(input)[i];
    INTEGERS(signs)[i] = x < 0 ? -1 : 1;
    TH_DATA(output)[i] = x < 0 ? -x : x;
  }
}
void THNN_(Magnitude_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                      THIndexTensor *signs)
{
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_META(state);
  for (int64_t i = 0; i < THNNTensor_numel(input); i++)
    TH_DATA(gradInput)[i] = (real)INTEGERS(signs)[i] * TH_DATA(gradOutput)[i];
}
void THNN_(Multiple_updateOutput)(THNNState *state, THIndexTensor *input, THTensor *output, THTensor *weight)
{
  THNN_RESIZE_LIKE(output, input);
  THNN_RETURN_IF_META(state);
  for (int64_t i = 0; i < THNNTensor_numel(input); i++)
    TH_DATA(output)[i] = TH_DATA(weight)[0] * (real)INTEGERS(input)[i];
}
void THNN_(Multiple_accGradParameters)(THNNState *state, THIndexTensor *input, THTensor *gradOutput,
                                       THTensor *gradWeight)
{
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THNN_RETURN_IF_META(state);
  for (int64_t i = 0; i < THNNTensor_numel(input); i++)
    TH_DATA(gradWeight)[0] += (real)INTEGERS(input)[i] * TH_DATA(gradOutput)[i];
}
"""


@pytest.fixture(params=["tag", "no tag"])
def own(request: pytest.FixtureRequest, write: Callable[..., Path]) -> LoadedModule:
    """With [LIKE input] and without, where only the kernel's request determines the size."""
    header = HEADER if request.param == "tag" else HEADER.replace(" [LIKE input]", "")
    return thnn.load(write(header, KERNEL, "Types"))


def plain(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return function


def compiled(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def call(*tensors: Tensor) -> Tensor:
        return function(*tensors)

    torch.compiler.reset()
    return torch.compile(call, fullgraph=True, dynamic=True, backend="aot_eager")


@pytest.mark.parametrize("how", [plain, compiled])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_and_gradients(
    own: LoadedModule, dtype: torch.dtype, how: Callable[..., Callable[..., Tensor]]
) -> None:
    magnitude, multiple = how(own.MagnitudeFunction.apply), how(own.MultipleFunction.apply)
    for size in ((3, 400), (2, 3, 5, 4)):
        x = torch.randn(size, dtype=dtype)
        if len(size) == 4:
            x = x.contiguous(memory_format=torch.channels_last)
        y = magnitude(x)
        assert (y.dtype, y.stride()) == (dtype, x.stride())
        assert torch.equal(y, x.abs())
        leaf = x.clone().requires_grad_()
        gradOutput = torch.randn_like(x)
        (gradient,) = torch.autograd.grad(magnitude(leaf), leaf, gradOutput)
        assert torch.equal(gradient, x.sign() * gradOutput)

        integers = torch.randint(-9, 9, size)
        weight = torch.tensor([0.5], dtype=dtype, requires_grad=True)
        product = multiple(integers, weight)
        assert torch.equal(product, 0.5 * integers.to(dtype))
        (gradient,) = torch.autograd.grad(product, weight, torch.ones_like(product))
        assert gradient.item() == integers.sum().item()


def test_meta_tensors_and_operators(own: LoadedModule) -> None:
    assert own.MagnitudeFunction.apply(torch.empty(2, 3, device="meta")).dtype is torch.float32
    weight = torch.ones(1, dtype=torch.float64)
    integers = torch.arange(6).reshape(2, 3)
    assert own.MultipleFunction.apply(integers.to("meta"), weight.to("meta")).dtype is torch.float64
    thnn.register_operators(own)
    tests = ("test_schema", "test_faketensor")
    for cls, arguments in (
        (own.MagnitudeFunction, (torch.randn(2, 3),)),
        (own.MultipleFunction, (integers, weight)),
    ):
        torch.library.opcheck(cls._operator, arguments, test_utils=tests)
