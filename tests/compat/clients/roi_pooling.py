"""A layer that pools regions of interest to one size, written for PyTorch 0.3."""

import torch
from torch._thnn import type2backend
from torch.autograd import Function


class AdaptiveMaxPool2d(Function):
    @staticmethod
    def forward(ctx, input, out_w, out_h):
        output = input.new()
        indices = input.new().long()
        ctx.save_for_backward(input)
        ctx.indices = indices
        ctx.backend = type2backend[type(input)]
        ctx.backend.SpatialAdaptiveMaxPooling_updateOutput(
            ctx.backend.library_state, input, output, indices, out_w, out_h
        )
        return output

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.new()
        ctx.backend.SpatialAdaptiveMaxPooling_updateGradInput(
            ctx.backend.library_state, input, grad_output, grad_input, ctx.indices
        )
        return grad_input, None, None


def roi_pooling(input, rois, size=(7, 7), spatial_scale=1.0):
    output = []
    rois = rois.data.float()
    rois[:, 1:].mul_(spatial_scale)
    for roi in rois.long():
        image = input.narrow(0, int(roi[0]), 1)[..., roi[2] : (roi[4] + 1), roi[1] : (roi[3] + 1)]
        output.append(AdaptiveMaxPool2d.apply(image, size[0], size[1]))
    return torch.cat(output, 0)
