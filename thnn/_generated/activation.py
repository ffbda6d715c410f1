"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
from thnn._header.model import Argument, Function

A, F = Argument, Function

FUNCTIONS: tuple[Function, ...] = (
    F('Threshold_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', is_modified=True, doc='input, any shape; overwritten if inplace'),
        A('THTensor*', 'output', 'output', like='input', doc='result'),
        A('accreal', 'threshold', 'scalar', doc='values above it are kept'),
        A('accreal', 'val', 'scalar', doc='replaces the other values'),
        A('bool', 'inplace', 'scalar', default=False, doc='write the result into input'),
    ), 'Threshold: output = val where input <= threshold, else input. Any shape. With threshold and val 0 this is ReLU.\nNaN is not at or below the threshold: it stays NaN.\nErrors: ValueError if inplace and val > threshold, where the backward could no longer tell the two cases apart.\nSource: Torch7 nn.Threshold.', 'activation'),
    F('Threshold_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input'),
        A('THTensor*', 'gradOutput', 'gradOutput', is_modified=True, doc='sized as output; overwritten if inplace'),
        A('THTensor*', 'gradInput', 'gradInput', like='input', doc='gradient of the loss by input'),
        A('accreal', 'threshold', 'scalar', doc='values above it are kept'),
        A('accreal', 'val', 'scalar', doc='replaces the other values'),
        A('bool', 'inplace', 'scalar', doc='write the result into gradOutput'),
    ), 'Gradient of Threshold by its input: 0 where input <= threshold, else gradOutput.', 'activation'),
    F('LeakyReLU_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', is_modified=True, doc='input, any shape; overwritten if inplace'),
        A('THTensor*', 'output', 'output', like='input', doc='result'),
        A('accreal', 'negval', 'scalar', doc='slope where input is not positive'),
        A('bool', 'inplace', 'scalar', default=False, doc='write the result into input'),
    ), 'LeakyReLU: output = input where input > 0, else negval * input. Any shape.\nSource: Maas, Hannun and Ng 2013.', 'activation'),
    F('LeakyReLU_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input'),
        A('THTensor*', 'gradOutput', 'gradOutput', is_modified=True, doc='sized as output; overwritten if inplace'),
        A('THTensor*', 'gradInput', 'gradInput', like='input', doc='gradient of the loss by input'),
        A('accreal', 'negval', 'scalar', doc='slope where input is not positive'),
        A('bool', 'inplace', 'scalar', doc='write the result into gradOutput'),
    ), 'Gradient of LeakyReLU by its input: gradOutput where input > 0, else negval * gradOutput.', 'activation'),
    F('Sigmoid_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input, any shape'),
        A('THTensor*', 'output', 'output', like='input', doc='result'),
    ), 'Sigmoid: output = 1 / (1 + exp(-input)). Any shape.', 'activation'),
    F('Sigmoid_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', is_optional=True, doc='unused'),
        A('THTensor*', 'gradOutput', 'gradOutput', doc='gradient of the loss by output, sized as output'),
        A('THTensor*', 'gradInput', 'gradInput', like='gradOutput', doc='gradient of the loss by input'),
        A('THTensor*', 'output', 'output', doc='result of the forward'),
    ), 'Gradient of Sigmoid by its input: gradOutput * output * (1 - output).', 'activation'),
    F('Tanh_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input, any shape'),
        A('THTensor*', 'output', 'output', like='input', doc='result'),
    ), 'Tanh: output = tanh(input). Any shape.', 'activation'),
    F('Tanh_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', is_optional=True, doc='unused'),
        A('THTensor*', 'gradOutput', 'gradOutput', doc='gradient of the loss by output, sized as output'),
        A('THTensor*', 'gradInput', 'gradInput', like='gradOutput', doc='gradient of the loss by input'),
        A('THTensor*', 'output', 'output', doc='result of the forward'),
    ), 'Gradient of Tanh by its input: gradOutput * (1 - output^2).', 'activation'),
    F('SoftMax_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input (C), (N, C), (C, H, W) or (N, C, H, W)'),
        A('THTensor*', 'output', 'output', like='input', doc='result'),
    ), 'SoftMax: output = exp(input) / sum over channels of exp(input), computed after subtracting the maximum.\n\nShapes: input (C), (N, C), (C, H, W) or (N, C, H, W). Errors: ValueError for other dimensions.\nSource: Torch7 nn.SoftMax.', 'activation'),
    F('SoftMax_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='sized as output; its values are not read'),
        A('THTensor*', 'gradOutput', 'gradOutput', doc='gradient of the loss by output, sized as output'),
        A('THTensor*', 'gradInput', 'gradInput', like='input', doc='gradient of the loss by input'),
        A('THTensor*', 'output', 'output', doc='result of the forward'),
    ), 'Gradient of SoftMax by its input: output * (gradOutput - sum over channels of gradOutput * output).', 'activation'),
    F('LogSoftMax_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input (C), (N, C), (C, H, W) or (N, C, H, W)'),
        A('THTensor*', 'output', 'output', like='input', doc='result'),
    ), 'LogSoftMax: output = input - log(sum over channels of exp(input)), the logarithm of SoftMax.\n\nShapes: input (C), (N, C), (C, H, W) or (N, C, H, W). Errors: ValueError for other dimensions.\nSource: Torch7 nn.LogSoftMax.', 'activation'),
    F('LogSoftMax_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='sized as output; its values are not read'),
        A('THTensor*', 'gradOutput', 'gradOutput', doc='gradient of the loss by output, sized as output'),
        A('THTensor*', 'gradInput', 'gradInput', like='input', doc='gradient of the loss by input'),
        A('THTensor*', 'output', 'output', doc='result of the forward'),
    ), 'Gradient of LogSoftMax by its input: gradOutput - exp(output) * sum over channels of gradOutput.', 'activation'),
)
