"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
from thnn._header.model import Argument, Function

A, F = Argument, Function

FUNCTIONS: tuple[Function, ...] = (
    F('ClassNLLCriterion_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='log-probabilities (N, C) or (C)'),
        A('THIndexTensor*', 'target', 'target', doc='classes (N) or (1)'),
        A('THTensor*', 'output', 'output', doc='the loss, one element'),
        A('bool', 'sizeAverage', 'scalar', default=True, doc='divide by total_weight'),
        A('THTensor*', 'weights', 'parameter', is_optional=True, doc='one value per class (C)'),
        A('THTensor*', 'total_weight', 'saved', like='output', doc='sum of the weights of the targets, one element'),
        A('int64_t', 'ignore_index', 'scalar', default=-100, doc='targets of this value are ignored'),
    ), 'ClassNLLCriterion: negative log-likelihood of the target classes, the sum of -weights[t] * input[n, t] over the targets\nt = target[n] that are not ignore_index. If sizeAverage the loss is divided by total_weight, the sum of the weights[t],\nunless total_weight is 0.\n\nShapes: input (N, C) or (C), log-probabilities; target (N) or (1), or without dimensions, classes 0 <= t < C;\nweights (C) or None for 1 each; output and total_weight one element.\nErrors: IndexError for a target that is neither a class nor ignore_index; ValueError for sizes that do not fit.\nSource: Torch7 nn.ClassNLLCriterion.', 'criterion', 'constant'),
    F('ClassNLLCriterion_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='log-probabilities (N, C) or (C)'),
        A('THIndexTensor*', 'target', 'target', doc='classes (N) or (1)'),
        A('THTensor*', 'gradInput', 'gradInput', like='input', doc='gradient of the loss by input'),
        A('bool', 'sizeAverage', 'scalar', doc='divide by total_weight'),
        A('THTensor*', 'weights', 'parameter', is_optional=True, doc='one value per class (C)'),
        A('THTensor*', 'total_weight', 'saved', doc='as the forward left it'),
        A('int64_t', 'ignore_index', 'scalar', doc='targets of this value are ignored'),
    ), 'Gradient of ClassNLLCriterion by its input: -weights[t] at each target t, divided by total_weight if sizeAverage\n(for an input (C) that quotient is -1); 0 elsewhere and for ignored targets; 0 everywhere if total_weight is not\nabove 0.', 'criterion'),
    F('MSECriterion_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input, any shape'),
        A('THTensor*', 'target', 'target', doc='sized as input'),
        A('THTensor*', 'output', 'output', doc='the loss, one element'),
        A('bool', 'sizeAverage', 'scalar', default=True, doc='divide by the number of elements'),
    ), 'MSECriterion: sum of (input - target)^2, divided by the number of elements if sizeAverage.\n\nShapes: input and target of one size; output one element. Errors: ValueError for sizes that differ.', 'criterion'),
    F('MSECriterion_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input, any shape'),
        A('THTensor*', 'target', 'target', doc='sized as input'),
        A('THTensor*', 'gradInput', 'gradInput', like='input', doc='gradient of the loss by input'),
        A('bool', 'sizeAverage', 'scalar', doc='divide by the number of elements'),
    ), 'Gradient of MSECriterion by its input: 2 * (input - target), divided by the number of elements if sizeAverage.', 'criterion'),
    F('SmoothL1Criterion_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input, any shape'),
        A('THTensor*', 'target', 'target', doc='sized as input'),
        A('THTensor*', 'output', 'output', doc='the loss, one element'),
        A('bool', 'sizeAverage', 'scalar', default=True, doc='divide by the number of elements'),
    ), "SmoothL1Criterion: sum of 0.5 * d^2 where |d| < 1 and |d| - 0.5 elsewhere, d = input - target, divided by the number of\nelements if sizeAverage.\n\nShapes: input and target of one size; output one element. Errors: ValueError for sizes that differ.\nSource: Girshick 2015 (Huber's loss).", 'criterion'),
    F('SmoothL1Criterion_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input, any shape'),
        A('THTensor*', 'target', 'target', doc='sized as input'),
        A('THTensor*', 'gradInput', 'gradInput', like='input', doc='gradient of the loss by input'),
        A('bool', 'sizeAverage', 'scalar', doc='divide by the number of elements'),
    ), 'Gradient of SmoothL1Criterion by its input: d clamped to [-1, 1], divided by the number of elements if sizeAverage.', 'criterion'),
    F('BCECriterion_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input, any shape'),
        A('THTensor*', 'target', 'target', doc='sized as input'),
        A('THTensor*', 'output', 'output', doc='the loss, one element'),
        A('bool', 'sizeAverage', 'scalar', default=True, doc='divide by the number of elements'),
        A('THTensor*', 'weights', 'parameter', is_optional=True, doc='factor of each element, as many as input has'),
    ), 'BCECriterion: binary cross entropy, the sum of -weights * (target * log(input) + (1 - target) * log(1 - input)) with each\nlogarithm at least -100, divided by the number of elements (not by the sum of the weights) if sizeAverage.\n\nShapes: input and target of one size; weights with as many elements as input; output one element.\nErrors: ValueError for sizes that differ and for an input outside [0, 1], NaN included.', 'criterion'),
    F('BCECriterion_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input, any shape'),
        A('THTensor*', 'target', 'target', doc='sized as input'),
        A('THTensor*', 'gradInput', 'gradInput', like='input', doc='gradient of the loss by input'),
        A('bool', 'sizeAverage', 'scalar', doc='divide by the number of elements'),
        A('THTensor*', 'weights', 'parameter', is_optional=True, doc='factor of each element, as many as input has'),
    ), 'Gradient of BCECriterion by its input: weights * (input - target) / max(input * (1 - input), 1e-12), divided by the number of\nelements if sizeAverage.', 'criterion'),
    F('AbsCriterion_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input, any shape'),
        A('THTensor*', 'target', 'target', doc='sized as input'),
        A('THTensor*', 'output', 'output', doc='the loss, one element'),
        A('bool', 'sizeAverage', 'scalar', default=True, doc='divide by the number of elements'),
    ), 'AbsCriterion: sum of |input - target|, divided by the number of elements if sizeAverage.\n\nShapes: input and target of one size; output one element. Errors: ValueError for sizes that differ.', 'criterion'),
    F('AbsCriterion_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='input, any shape'),
        A('THTensor*', 'target', 'target', doc='sized as input'),
        A('THTensor*', 'gradInput', 'gradInput', like='input', doc='gradient of the loss by input'),
        A('bool', 'sizeAverage', 'scalar', doc='divide by the number of elements'),
    ), 'Gradient of AbsCriterion by its input: 1 where input >= target, else -1, divided by the number of elements if sizeAverage.', 'criterion'),
)
