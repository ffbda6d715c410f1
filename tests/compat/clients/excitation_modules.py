"""Excitation back-propagation in place of the functions of a whole network, written for PyTorch 0.2.

The functions of convolutions are found in the header by name, as torch's own did then.
"""

import contextlib

import torch
import torch.nn.functional as F
from torch._thnn import type2backend
from torch._thnn.utils import THNN_H_PATH, parse_header
from torch.autograd import Function

functions = {function.name: function for function in parse_header(THNN_H_PATH)}


class EBLinear(Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        return output if bias is None else output + bias.unsqueeze(0).expand_as(output)

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, _ = ctx.saved_tensors
        weight = weight.clamp(min=0)
        grad_output = grad_output / (input.mm(weight.t()).abs() + 1e-10)
        return grad_output.mm(weight) * input, None, None


class ConvNd(Function):
    """A convolution by the functions of its module, whose arguments follow from their names."""

    def __init__(self, stride, padding, dilation):
        super().__init__()
        self.stride, self.padding, self.dilation = stride, padding, dilation

    def forward(self, input, weight, bias=None):
        self.save_for_backward(input, weight, bias)
        return self.update_output(input, weight, bias)

    def backward(self, grad_output):
        input, weight, bias = self.saved_tensors
        grad_input, grad_weight, grad_bias = None, None, None
        if self.needs_input_grad[0]:
            grad_input = self.grad_input(input, weight, grad_output)
        if any(self.needs_input_grad[1:]):
            grad_weight = weight.new().resize_as_(weight).zero_()
            if bias is not None and self.needs_input_grad[2]:
                grad_bias = bias.new().resize_as_(bias).zero_()
            self.call("accGradParameters", weight, input, grad_output, grad_weight, grad_bias)
        return grad_input, grad_weight, grad_bias

    def update_output(self, input, weight, bias):
        output = input.new()
        self.call("updateOutput", weight, input, output, weight, bias)
        return output

    def grad_input(self, input, weight, grad_output):
        grad_input = input.new()
        self.call("updateGradInput", weight, input, grad_output, grad_input, weight)
        return grad_input

    def call(self, phase, weight, input, *tensors):
        module = "SpatialConvolutionMM" if self.dilation == (1, 1) else "SpatialDilatedConvolution"
        function = functions[f"{module}_{phase}"]
        values = {
            "scale": 1,
            **dict(zip(("kH", "kW"), weight.size()[2:])),
            **dict(zip(("dH", "dW"), self.stride)),
            **dict(zip(("padH", "padW"), self.padding)),
            **dict(zip(("dilationH", "dilationW"), self.dilation)),
        }
        backend = type2backend[type(input)]
        rest = [
            values[a.name] if a.name in values else input.new()
            for a in function.arguments[2 + len(tensors) :]
        ]
        getattr(backend, function.name)(backend.library_state, input, *tensors, *rest)


class EBConvNd(ConvNd):
    def backward(self, grad_output):
        input, weight, _ = self.saved_tensors
        weight = weight.clamp(min=0)
        norm = self.update_output(input, weight, None).abs().add_(1e-10)
        grad_input = self.grad_input(input, weight, grad_output / norm)
        return grad_input * input, None, None


class EBAvgPool2d(Function):
    def __init__(self, kernel_size):
        super().__init__()
        self.arguments = (kernel_size, kernel_size, kernel_size, kernel_size, 0, 0, False, True)

    def forward(self, input):
        self.save_for_backward(input)
        self.backend, output = type2backend[type(input)], input.new()
        self.backend.SpatialAveragePooling_updateOutput(0, input, output, *self.arguments)
        return output

    def backward(self, grad_output):
        (input,) = self.saved_tensors
        norm, grad_input = input.new(), input.new()
        self.backend.SpatialAveragePooling_updateOutput(0, input, norm, *self.arguments)
        grad_output = grad_output / (norm + 1e-10)
        self.backend.SpatialAveragePooling_updateGradInput(0, input, grad_output, grad_input, *self.arguments)
        return grad_input * input


def conv2d(input, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, cls=EBConvNd):
    function = cls(stride, padding, dilation)
    return function(input, weight) if bias is None else function(input, weight, bias)


@contextlib.contextmanager
def excitation_functions():
    real = F.linear, F.conv2d, F.avg_pool2d
    F.linear, F.conv2d, F.avg_pool2d = EBLinear.apply, conv2d, lambda x, size, *_: EBAvgPool2d(size)(x)
    try:
        yield
    finally:
        F.linear, F.conv2d, F.avg_pool2d = real


def excitation_backprop(model, image, prior):
    """The probability of each input element; the first layer's input has to be positive."""
    with excitation_functions():
        output = model(image)
        (probability,) = torch.autograd.grad(output, image, prior)
    return probability
