"""A layer that pools regions of interest to one size, written for PyTorch 0.3."""

import torch
from torch._thnn import type2backend
from torch.autograd import Function


class AdaptiveMaxPool2d(Function):
    def __init__(self, out_w, out_h):
        super().__init__()
        self.out_w = out_w
        self.out_h = out_h

    def forward(self, input):
        output = input.new()
        self.indices = input.new().long()
        self.save_for_backward(input)
        self._backend = type2backend[type(input)]
        self._backend.SpatialAdaptiveMaxPooling_updateOutput(
            self._backend.library_state, input, output, self.indices, self.out_w, self.out_h
        )
        return output

    def backward(self, grad_output):
        (input,) = self.saved_tensors
        grad_input = grad_output.new()
        self._backend.SpatialAdaptiveMaxPooling_updateGradInput(
            self._backend.library_state, input, grad_output, grad_input, self.indices
        )
        return grad_input, None


def roi_pooling(input, rois, size=(7, 7), spatial_scale=1.0):
    output = []
    rois = rois.data.float()
    rois[:, 1:].mul_(spatial_scale)
    for roi in rois.long():
        image = input.narrow(0, roi[0], 1)[..., roi[2] : (roi[4] + 1), roi[1] : (roi[3] + 1)]
        output.append(AdaptiveMaxPool2d(size[0], size[1])(image))
    return torch.cat(output, 0)
