"""A bottleneck of a densenet that keeps no intermediate result, written for PyTorch 0.3.

One function does concatenation, batch normalization, relu and convolution. Its backward computes them again, with
Variables whose graph it differentiates.
"""

import torch
import torch._thnn
from torch import nn
from torch.autograd import Function, Variable
from torch.nn import functional as F
from torch.nn.parameter import Parameter


def relu_in_place(input):
    torch._thnn.type2backend[type(input)].Threshold_updateOutput(
        torch._thnn.type2backend[type(input)].library_state, input, input, 0, 0, True
    )
    return input


class ReLU(Function):
    """In place, on a tensor whose former values are not needed."""

    def forward(self, input):
        self.mark_dirty(input)
        output = relu_in_place(input)
        self.save_for_backward(output)
        return output

    def backward(self, grad_output):
        (output,) = self.saved_tensors
        grad_input = grad_output.clone()
        return grad_input.masked_fill_(output <= 0, 0)


class SharedAllocation:
    def __init__(self, kind):
        self.tensor = kind()

    def of_size(self, size):
        return self.tensor.resize_(size)


class Bottleneck(Function):
    def __init__(
        self, shared, running_mean, running_var, stride=1, padding=1, training=False, momentum=0.1, eps=1e-5
    ):
        self.shared = shared
        self.running_mean, self.running_var = running_mean, running_var
        self.stride, self.padding = stride, padding
        self.training, self.momentum, self.eps = training, momentum, eps

    def forward(self, bn_weight, bn_bias, conv_weight, *inputs):
        if self.training:
            self.prev_running_mean = self.running_mean.clone()
            self.prev_running_var = self.running_var.clone()
        size = list(inputs[0].size())
        size[1] = sum(input.size(1) for input in inputs)
        bn_input = self.shared.of_size(size)
        torch.cat(inputs, dim=1, out=bn_input)
        bn_output = F.batch_norm(
            Variable(bn_input), self.running_mean, self.running_var, Variable(bn_weight), Variable(bn_bias),
            training=self.training, momentum=self.momentum, eps=self.eps,
        )  # fmt: skip
        relu_output = relu_in_place(bn_output.data)
        self.save_for_backward(bn_weight, bn_bias, conv_weight, *inputs)
        conv_weight = Variable(conv_weight)
        return F.conv2d(Variable(relu_output), conv_weight, None, self.stride, self.padding).data

    def prepare_backward(self):
        bn_weight, bn_bias, conv_weight, *inputs = self.saved_tensors
        self.variables = [Variable(t, requires_grad=True) for t in (bn_weight, bn_bias, conv_weight, *inputs)]
        bn_weight, bn_bias, conv_weight, *inputs = self.variables
        bn_output = F.batch_norm(
            torch.cat(inputs, 1), self.prev_running_mean, self.prev_running_var, bn_weight, bn_bias,
            training=self.training, momentum=self.momentum, eps=self.eps,
        )  # fmt: skip
        return F.conv2d(ReLU()(bn_output), conv_weight, None, self.stride, self.padding)

    def backward(self, grad_output):
        grads = [None] * len(self.saved_tensors)
        if not any(self.needs_input_grad):
            return tuple(grads)
        self.prepare_backward().backward(grad_output)
        for i, needed in enumerate(self.needs_input_grad):
            if needed:
                grads[i] = self.variables[i].grad.data
        del self.variables
        return tuple(grads)


class Layer(nn.Module):
    def __init__(self, shared, channels, growth):
        super().__init__()
        self.shared = shared
        self.norm_weight = Parameter(torch.rand(channels) + 0.5)
        self.norm_bias = Parameter(torch.rand(channels) - 0.5)
        self.conv_weight = Parameter(torch.randn(growth, channels, 3, 3))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, features):
        function = Bottleneck(self.shared, self.running_mean, self.running_var, training=self.training)
        return function(self.norm_weight, self.norm_bias, self.conv_weight, *features)

    def plain_forward(self, features):
        y = F.batch_norm(
            torch.cat(features, 1), self.running_mean, self.running_var, self.norm_weight, self.norm_bias,
            training=self.training,
        )  # fmt: skip
        return F.conv2d(F.relu(y), self.conv_weight, padding=1)


class DenseBlock(nn.Module):
    def __init__(self, channels, growth, layers, kind):
        super().__init__()
        shared = SharedAllocation(kind)
        self.layers = nn.ModuleList([Layer(shared, channels + i * growth, growth) for i in range(layers)])

    def forward(self, x, plain=False):
        features = [x]
        for layer in self.layers:
            features.append((layer.plain_forward if plain else layer)(features))
        return torch.cat(features, 1)
