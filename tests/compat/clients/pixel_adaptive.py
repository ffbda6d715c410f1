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
        by_input, by_kernel, by_weight = ctx.needs_input_grad[:3]
        ctx.save_for_backward(
            columns if by_kernel or by_weight else None,
            kernel if by_input or by_weight else None,
            weight if by_input or by_kernel else None,
        )
        ctx.weight_size = weight.size()
        output = th.einsum("ijklm,iklm,ojk->iolm", columns, kernel, weight.view(-1, channels, kh * kw))
        return output if bias is None else output + bias.view(1, -1, 1, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        columns, kernel, weight = ctx.saved_tensors
        grad_input = grad_kernel = grad_weight = grad_bias = None
        out_channels, channels = ctx.weight_size[:2]
        if weight is not None:
            weight = weight.view(out_channels, channels, -1)
        if ctx.needs_input_grad[0]:
            grad_columns = th.einsum("iolm,iklm,ojk->ijklm", grad_output, kernel, weight)
            grad_columns = grad_columns.contiguous().view(len(grad_output), -1, grad_output[0, 0].numel())
            grad_input = grad_output.new()
            ctx.backend.Im2Col_updateGradInput(
                ctx.backend.library_state, grad_columns, grad_input, *ctx.input_size, *ctx.geometry
            )
        if ctx.needs_input_grad[1]:
            grad_kernel = th.einsum("iolm,ijklm,ojk->iklm", grad_output, columns, weight)
        if ctx.needs_input_grad[2]:
            grad_weight = th.einsum("iolm,ijklm,iklm->ojk", grad_output, columns, kernel)
            grad_weight = grad_weight.contiguous().view(ctx.weight_size)
        if ctx.needs_input_grad[3]:
            grad_bias = grad_output.sum(dim=(0, 2, 3))
        return grad_input, grad_kernel, grad_weight, grad_bias, None


class GaussKernel2d(Function):
    """exp(-|difference to the pixel in the middle|^2 / 2), for every pixel and kernel element."""

    @staticmethod
    def forward(ctx, input, kernel_size, padding):
        ctx.geometry = (kernel_size, kernel_size, 1, 1, padding, padding, 1, 1)
        (bs, channels), ctx.input_size = input.size()[:2], tuple(input.size()[2:])
        ctx.backend = type2backend[input.type()]
        cols = input.new()
        ctx.backend.Im2Col_updateOutput(ctx.backend.library_state, input, cols, *ctx.geometry)
        cols = cols.view(bs, channels, -1, *ctx.input_size)
        ctx.middle = cols.size(2) // 2
        difference = cols - cols[:, :, ctx.middle : ctx.middle + 1]
        output = th.exp(-0.5 * (difference * difference).sum(dim=1))
        ctx.save_for_backward(difference, output)
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        difference, output = ctx.saved_tensors
        grad = (-(grad_output * output)).unsqueeze(1) * difference
        grad[:, :, ctx.middle] -= grad.sum(dim=2)
        grad_input = grad_output.new()
        ctx.backend.Im2Col_updateGradInput(
            ctx.backend.library_state,
            grad.view(len(grad), -1, grad[0, 0, 0].numel()),
            grad_input,
            *ctx.input_size,
            *ctx.geometry,
        )
        return grad_input, None, None
