"""Excitation back-propagation (marginal winning probabilities), written for PyTorch 0.3.

Each layer computes its usual output; the gradient that it returns is a probability over its inputs.
"""

from torch._thnn import type2backend
from torch.autograd import Function
from torch.nn._functions.thnn import auto


class EBConv2d(Function):
    @staticmethod
    def forward(ctx, input, weight, bias, pad):
        ctx.save_for_backward(input, weight)
        ctx.backend = type2backend[input.type()]
        ctx.geometry = (weight.size(3), weight.size(2), 1, 1, pad, pad)
        return EBConv2d.convolve(ctx, input, weight, bias)

    @staticmethod
    def convolve(ctx, input, weight, bias):
        output, columns, ones = input.new(), input.new(), input.new()
        ctx.backend.SpatialConvolutionMM_updateOutput(
            ctx.backend.library_state, input, output, weight, bias, columns, ones, *ctx.geometry
        )
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        positive = weight.clamp(min=0)
        norm = EBConv2d.convolve(ctx, input, positive, None)
        norm[norm == 0] = 1
        grad_input, columns, ones = input.new(), input.new(), input.new()
        ctx.backend.SpatialConvolutionMM_updateGradInput(
            ctx.backend.library_state,
            input,
            grad_output / norm,
            grad_input,
            positive,
            columns,
            ones,
            *ctx.geometry,
        )
        return grad_input * input, None, None, None


class EBAvgPool2d(Function):
    @staticmethod
    def forward(ctx, input, size):
        ctx.save_for_backward(input)
        ctx.backend = type2backend[type(input)]
        ctx.geometry = (size, size, size, size, 0, 0, False, True)
        output = input.new()
        ctx.backend.SpatialAveragePooling_updateOutput(
            ctx.backend.library_state, input, output, *ctx.geometry
        )
        return output

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        backend, state = ctx.backend, ctx.backend.library_state
        norm, grad_input = input.new(), input.new()
        backend.SpatialAveragePooling_updateOutput(state, input, norm, *ctx.geometry)
        norm[norm == 0] = 1
        backend.SpatialAveragePooling_updateGradInput(
            state, input, grad_output / norm, grad_input, *ctx.geometry
        )
        return grad_input * input, None


class EBLinear(Function):
    @staticmethod
    def forward(ctx, input, weight, bias):
        ctx.save_for_backward(input, weight)
        return input.mm(weight.t()) + bias

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        positive = weight.clamp(min=0)
        norm = input.mm(positive.t())
        norm[norm == 0] = 1
        return (grad_output / norm).mm(positive) * input, None, None


def excitation(image, parameters, winner):
    """The probability of each input pixel, and the scores."""
    conv_weight, conv_bias, linear_weight, linear_bias = parameters
    y = EBConv2d.apply(image, conv_weight, conv_bias, 1)
    y = auto.Threshold.apply(y, 0, 0, False)
    y = EBAvgPool2d.apply(y, 2)
    scores = EBLinear.apply(y.view(y.size(0), -1), linear_weight, linear_bias)
    prior = scores.new(scores.size()).zero_()
    prior[:, winner] = 1
    scores.backward(prior)
    return image.grad, scores
