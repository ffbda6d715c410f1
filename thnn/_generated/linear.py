"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
from thnn._header.model import Argument, Function

A, F = Argument, Function

FUNCTIONS: tuple[Function, ...] = (
    F('Linear_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input (N, I) or (I)'),
        A('THTensor*', 'output', 'output', doc='result (N, O) or (O)'),
        A('THTensor*', 'weight', 'parameter', doc='matrix (O, I)'),
        A('THTensor*', 'bias', 'parameter', is_optional=True, doc='vector (O)'),
        A('THTensor*', 'addBuffer', 'buffer', doc='unused'),
    ), 'Linear: output = input * weight^T + bias.\n\nShapes: input (N, I) or (I); weight (O, I); bias (O) or None; output (N, O) or (O).\nErrors: ValueError for other dimensions or sizes. Source: Torch7 nn.Linear.', 'linear', 'bilinear'),
    F('Linear_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input'),
        A('THTensor*', 'gradOutput', 'gradOutput', doc='gradient of the loss w.r.t. output, sized as output'),
        A('THTensor*', 'gradInput', 'gradInput', like='input', doc='gradient of the loss w.r.t. input'),
        A('THTensor*', 'weight', 'parameter', doc='matrix (O, I)'),
    ), 'Gradient of Linear w.r.t. its input: gradInput = gradOutput * weight.', 'linear'),
    F('Linear_accGradParameters', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input'),
        A('THTensor*', 'gradOutput', 'gradOutput', doc='gradient of the loss w.r.t. output, sized as output'),
        A('THTensor*', 'gradInput', 'gradInput', is_optional=True, doc='unused'),
        A('THTensor*', 'weight', 'parameter', doc='matrix (O, I)'),
        A('THTensor*', 'bias', 'parameter', is_optional=True, doc='vector (O)'),
        A('THTensor*', 'gradWeight', 'gradParameter', is_modified=True, doc='sized as weight'),
        A('THTensor*', 'gradBias', 'gradParameter', is_optional=True, is_modified=True, doc='sized as bias'),
        A('THTensor*', 'addBuffer', 'buffer', doc='unused'),
        A('accreal', 'scale', 'scalar', default=1.0, doc='factor of the gradients added'),
    ), 'Gradients of Linear w.r.t. its parameters, accumulated: gradWeight += scale * gradOutput^T * input and, where bias\nis given, gradBias += scale * the sum of gradOutput over N.', 'linear'),
)
