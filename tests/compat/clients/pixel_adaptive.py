"""Pixel-adaptive convolution: a convolution whose filter is weighted per pixel, written for PyTorch 0.4."""

import torch as th
from torch._thnn import type2backend
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class PacConv2d(Function):
    @staticmethod
    def forward(ctx, input, kernel, weight, bias, padding):
        (bs, channels), (kh, kw) = input.size()[:2], weight.size()[-2:]
        ctx.geometry = (kh, kw, 1, 1, padding, padding, 1, 1)
        ctx.input_size = tuple(input.size()[-2:])
        ctx.backend = type2backend[input.type()]
        cols = input.new()
        ctx.backend.Im2Col_updateOutput(ctx.backend.library_state, input, cols, *ctx.geometry)
        columns = cols.view(bs, channels, kh * kw, *kernel.size()[-2:])
        ctx.save_for_backward(columns, kernel, weight)
        output = th.einsum("ijklm,iklm,ojk->iolm", columns, kernel, weight.view(-1, channels, kh * kw))
        return output + bias.view(1, -1, 1, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        columns, kernel, weight = ctx.saved_tensors
        flat = weight.view(weight.size(0), columns.size(1), -1)
        grad_columns = th.einsum("iolm,iklm,ojk->ijklm", grad_output, kernel, flat)
        grad_columns = grad_columns.contiguous().view(columns.size(0), -1, grad_output[0, 0].numel())
        grad_input = grad_output.new()
        ctx.backend.Im2Col_updateGradInput(
            ctx.backend.library_state, grad_columns, grad_input, *ctx.input_size, *ctx.geometry
        )
        grad_kernel = th.einsum("iolm,ijklm,ojk->iklm", grad_output, columns, flat)
        grad_weight = th.einsum("iolm,ijklm,iklm->ojk", grad_output, columns, kernel).view_as(weight)
        return grad_input, grad_kernel, grad_weight, grad_output.sum(dim=(0, 2, 3)), None
