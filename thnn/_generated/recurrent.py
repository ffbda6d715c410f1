"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
from thnn._header.model import Argument, Function

A, F = Argument, Function

FUNCTIONS: tuple[Function, ...] = (
    F('LSTMFused_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='gates of the input (N, 4H)'),
        A('THTensor*', 'hidden', 'input', is_modified=True, doc='gates of the hidden state (N, 4H)'),
        A('THTensor*', 'bias1', 'parameter', is_optional=True, doc='bias of input (4H)'),
        A('THTensor*', 'bias2', 'parameter', is_optional=True, doc='bias of hidden (4H)'),
        A('THTensor*', 'cell', 'input', doc='cell state (N, H)'),
        A('THTensor*', 'output', 'output', like='cell', doc='new hidden state (N, H)'),
        A('THTensor*', 'outputCell', 'output', like='cell', doc='new cell state (N, H)'),
    ), 'LSTMFused: the arithmetic of a long short-term memory cell after its two linear layers.\n\n  (i, f, g, o) = the four blocks of H columns of input + bias1 + hidden + bias2\n  outputCell = sigmoid(f) * cell + sigmoid(i) * tanh(g)\n  output     = sigmoid(o) * tanh(outputCell)\n\nhidden is overwritten with (sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)), which the backward takes as storage. The\nPython class LSTMFusedFunction does not modify its argument hidden, and returns (output, outputCell).\nShapes: input and hidden (N, 4H) or (4H); bias1 and bias2 (4H), (1, 4H) or None; cell, output and outputCell\n(N, H) or (H).\nErrors: ValueError for sizes that do not fit. Source: torch.nn.LSTMCell; the library of 2017 had it for CUDA only.', 'recurrent'),
    F('LSTMFused_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'storage', 'input', doc='hidden as the forward left it (N, 4H)'),
        A('THTensor*', 'gradInGates', 'gradInput', like='storage', doc='gradient of the loss by input and by hidden (N, 4H)'),
        A('THTensor*', 'cx', 'input', doc='cell, the state before (N, H)'),
        A('THTensor*', 'cy', 'output', doc='outputCell, the state after (N, H)'),
        A('THTensor*', 'gradOutput', 'gradOutput', is_optional=True, doc='gradient of the loss by output, None for zeros'),
        A('THTensor*', 'gradOutputCell', 'gradOutput', is_optional=True, doc='gradient of the loss by outputCell, None for zeros'),
        A('THTensor*', 'gradInputCx', 'gradInput', like='cx', doc='gradient of the loss by cell (N, H)'),
    ), 'Gradients of LSTMFused by its gates and by its cell state. The gradient by the gates is that by input and by hidden\nand, summed over the batch, that by each bias.', 'recurrent'),
    F('LSTMFused_cell', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='gates of the input (N, 4H)'),
        A('THTensor*', 'hidden', 'input', doc='gates of the hidden state (N, 4H)'),
        A('THTensor*', 'bias1', 'parameter', is_optional=True, doc='bias of input (4H)'),
        A('THTensor*', 'bias2', 'parameter', is_optional=True, doc='bias of hidden (4H)'),
        A('THTensor*', 'cell', 'input', doc='cell state (N, H)'),
        A('THTensor*', 'output', 'output', like='cell', doc='new hidden state (N, H)'),
        A('THTensor*', 'outputCell', 'output', like='cell', doc='new cell state (N, H)'),
        A('THTensor*', 'gates', 'output', is_optional=True, like='input', doc='storage of the backward (N, 4H), None in inference'),
    ), 'LSTMFused_updateOutput that does not change hidden: the activated gates are written to gates, unless it is None.', 'recurrent'),
    F('GRUFused_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'input', 'input', doc='gates of the input (N, 3H)'),
        A('THTensor*', 'hidden', 'input', doc='gates of the hidden state (N, 3H)'),
        A('THTensor*', 'bias1', 'parameter', is_optional=True, doc='bias of input (3H)'),
        A('THTensor*', 'bias2', 'parameter', is_optional=True, doc='bias of hidden (3H)'),
        A('THTensor*', 'hx', 'input', doc='hidden state (N, H)'),
        A('THTensor*', 'output', 'output', like='hx', doc='new hidden state (N, H)'),
        A('THTensor*', 'storage', 'saved', doc='values for the backward (N, 5H)'),
    ), 'GRUFused: the arithmetic of a gated recurrent unit after its two linear layers.\n\n  (r, z, n), (rh, zh, nh) = the three blocks of H columns of input + bias1 and of hidden + bias2\n  new    = tanh(n + sigmoid(r + rh) * nh)\n  output = new + sigmoid(z + zh) * (hx - new)\n\nstorage is (sigmoid(r + rh), sigmoid(z + zh), new, hx, nh), for the backward.\nShapes: input and hidden (N, 3H) or (3H); bias1 and bias2 (3H), (1, 3H) or None; hx and output (N, H) or (H); storage\n(N, 5H) or (5H), or (N * 5H) if it comes with that size.\nErrors: ValueError for sizes that do not fit. Source: torch.nn.GRUCell; the library of 2017 had it for CUDA only.', 'recurrent'),
    F('GRUFused_updateGradInput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THTensor*', 'gradInInput', 'gradInput', doc='gradient of the loss by input (N, 3H)'),
        A('THTensor*', 'gradInHidden', 'gradInput', doc='gradient of the loss by hidden (N, 3H)'),
        A('THTensor*', 'gradOutput', 'gradOutput', doc='gradient of the loss by output (N, H)'),
        A('THTensor*', 'gradInputHx', 'gradInput', like='gradOutput', doc='gradient of the loss by hx (N, H)'),
        A('THTensor*', 'storage', 'saved', doc='as the forward left it (N, 5H)'),
    ), 'Gradients of GRUFused by the gates of the input, by those of the hidden state (and, summed over the batch, by their\nbiases), and by the hidden state.', 'recurrent'),
)
