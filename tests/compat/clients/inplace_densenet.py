"""A bottleneck of a densenet whose intermediate results share two storages, written for PyTorch 0.3.

The backward computes concatenation, batch normalization and relu again.
"""

import torch
import torch._thnn
from torch import nn
from torch.autograd import Function
from torch.nn import functional as F


class EfficientCat:
    def __init__(self, storage):
        self.storage = storage

    def forward(self, *inputs):
        size = list(inputs[0].size())
        size[1] = sum(input.size(1) for input in inputs)
        result = inputs[0].new(self.storage).resize_(size)
        torch.cat(inputs, dim=1, out=result)
        return result


class EfficientBatchNorm:
    def __init__(self, storage, running_mean, running_var, training, momentum, eps):
        self.storage = storage
        self.running_mean, self.running_var = running_mean, running_var
        self.training, self.momentum, self.eps = training, momentum, eps

    def forward(self, weight, bias, input):
        backend = torch._thnn.type2backend[input.type()]
        self.save_mean = self.running_mean.new(self.running_mean.size())
        self.save_std = self.running_var.new(self.running_var.size())
        output = input.new(self.storage).resize_as_(input)
        backend.BatchNormalization_updateOutput(
            backend.library_state, input, output, weight, bias, self.running_mean, self.running_var,
            self.save_mean, self.save_std, self.training, self.momentum, self.eps,
        )  # fmt: skip
        return output

    def recompute_forward(self, weight, bias, input):
        momentum, self.momentum = self.momentum, 0.0
        try:
            return self.forward(weight, bias, input)
        finally:
            self.momentum = momentum

    def backward(self, weight, bias, input, grad_output):
        backend = torch._thnn.type2backend[input.type()]
        grad_input = input.new(input.size())
        grad_weight, grad_bias = weight.new(weight.size()).zero_(), bias.new(bias.size()).zero_()
        backend.BatchNormalization_backward(
            backend.library_state, input, grad_output, grad_input, grad_weight, grad_bias, weight, self.running_mean,
            self.running_var, self.save_mean, self.save_std, self.training, 1.0, self.eps,
        )  # fmt: skip
        return grad_weight, grad_bias, grad_input


class EfficientReLU:
    def forward(self, input):
        backend = torch._thnn.type2backend[type(input)]
        backend.Threshold_updateOutput(backend.library_state, input, input, 0, 0, True)
        return input

    def backward(self, input, grad_output):
        grad_input = grad_output.clone()
        grad_input.masked_fill_(input <= 0, 0)
        return grad_input


class Bottleneck(Function):
    @staticmethod
    def forward(ctx, efficient_cat, efficient_bn, weight, bias, *inputs):
        ctx.cat, ctx.bn, ctx.relu = efficient_cat, efficient_bn, EfficientReLU()
        ctx.save_for_backward(weight, bias, *inputs)
        ctx.sizes = [input.size(1) for input in inputs]
        output = ctx.relu.forward(ctx.bn.forward(weight, bias, ctx.cat.forward(*inputs)))
        # The storage is shared by all layers, and so is written again before the backward.
        return output.clone()

    @staticmethod
    def backward(ctx, grad_output):
        weight, bias, *inputs = ctx.saved_tensors
        joined = ctx.cat.forward(*inputs)
        normalized = ctx.relu.forward(ctx.bn.recompute_forward(weight, bias, joined))
        grad = ctx.relu.backward(normalized, grad_output)
        grad_weight, grad_bias, grad_input = ctx.bn.backward(weight, bias, joined, grad)
        return None, None, grad_weight, grad_bias, *grad_input.split(ctx.sizes, 1)


class DenseBlock(nn.Module):
    def __init__(self, channels, growth, layers, storage):
        super().__init__()
        self.cat_storage, self.bn_storage = storage(0), storage(0)
        widths = [channels + i * growth for i in range(layers)]
        self.norms = nn.ModuleList([nn.BatchNorm2d(width) for width in widths])
        self.convs = nn.ModuleList([nn.Conv2d(width, growth, 3, padding=1, bias=False) for width in widths])

    def forward(self, x):
        features = [x]
        for norm, conv in zip(self.norms, self.convs):
            bn = EfficientBatchNorm(
                self.bn_storage, norm.running_mean, norm.running_var, self.training, norm.momentum, norm.eps
            )
            y = Bottleneck.apply(EfficientCat(self.cat_storage), bn, norm.weight, norm.bias, *features)
            features.append(conv(y))
        return torch.cat(features, 1)

    def plain_forward(self, x):
        features = [x]
        for norm, conv in zip(self.norms, self.convs):
            features.append(conv(F.relu(norm(torch.cat(features, 1)))))
        return torch.cat(features, 1)
