"""Kernels of a custom header in float16 and bfloat16."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import thnn

HEADER = """
TH_API void THNN_(Scaled_updateOutput)(
          THNNState *state,
          THTensor *input,
          THTensor *output,              // [OUT]
          THTensor *weight);
TH_API void THNN_(Scaled_updateGradInput)(
          THNNState *state,
          THTensor *input,
          THTensor *gradOutput,
          THTensor *gradInput,           // [OUT]
          THTensor *weight);
TH_API void THNN_(Scaled_accGradParameters)(
          THNNState *state,
          THTensor *input,
          THTensor *gradOutput,
          THTensor *gradWeight,
          accreal scale);
"""
# Plain loops over `real`; and a loop of map.h in a kernel that does not declare THNN_TAKES_HALF.
KERNEL = """
void THNN_(Scaled_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight)
{
  THNN_CHECK_DIM(input, 1, "(N)");
  THNN_RESIZE_LIKE(output, input);
  THNN_RETURN_IF_META(state);
  for (int64_t i = 0; i < input->size[0]; i++)
    TH_DATA(output)[i * output->stride[0]] = TH_DATA(input)[i * input->stride[0]] * TH_DATA(weight)[0];
}
void THNN_(Scaled_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                   THTensor *weight)
{
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_META(state);
  const real w = TH_DATA(weight)[0];
  THNN_MAP2(y, gradInput, g, gradOutput, g * w);
}
void THNN_(Scaled_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight,
                                     accreal scale)
{
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, NULL, input, gradOutput);
  THNN_RETURN_IF_META(state);
  double sum;
  THNN_SUM2(sum, x, input, g, gradOutput, x * g);
  TH_DATA(gradWeight)[0] += (real)(scale * sum);
}
"""


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_kernel_for_float_computes_half_types(write: Callable[..., Path], dtype: torch.dtype) -> None:
    own = thnn.load(write(HEADER, '#include "elementwise/map.h"\n' + KERNEL, "Scaled"))
    x = torch.linspace(-2, 3, 400).to(dtype)[::2].requires_grad_()
    w = torch.tensor([1.25], dtype=dtype, requires_grad=True)
    y = own.ScaledFunction.apply(x, w)
    factor = torch.linspace(0.5, 1.5, 200).to(dtype)
    y.backward(factor)
    exact = [t.detach().double() for t in (x, w, factor)]
    assert torch.equal(y, (exact[0] * exact[1]).to(dtype))
    assert torch.equal(x.grad, (exact[2] * exact[1]).to(dtype))
    assert torch.equal(w.grad, (exact[0] * exact[2]).sum(0, keepdim=True).to(dtype))
    name = {torch.float16: "torch.HalfTensor", torch.bfloat16: "torch.BFloat16Tensor"}[dtype]
    gradient = torch.ones(1, dtype=dtype)
    own.type2backend[name].Scaled_accGradParameters(0, x.detach(), factor, gradient, 2.0)
    assert torch.equal(gradient, (1 + 2 * (exact[0] * exact[2]).sum(0, keepdim=True)).to(dtype))
