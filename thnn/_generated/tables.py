"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
from thnn._header.model import Argument, Function

A, F = Argument, Function

FUNCTIONS: tuple[Function, ...] = (
    F('LookupTable_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THIndexTensor*', 'input', 'input', doc='row numbers (...)'),
        A('THTensor*', 'output', 'output', doc='the rows (..., D)'),
        A('THTensor*', 'weight', 'parameter', doc='the table (rows, D)'),
        A('bool', 'scaleGradByFreq', 'scalar', default=False, doc='of the backward'),
        A('int', 'paddingValue', 'scalar', default=-1, doc='of the backward'),
    ), 'LookupTable: rows of a table, an embedding.\n\n  output[i,d] = weight[input[i],d]\n\nShapes: input (...) of row numbers from 0; weight (rows, D); output (..., D).\nErrors: IndexError for a row number outside of the table, ValueError for a weight that is no matrix. Source:\nTorch7 nn.LookupTable, torch.nn.Embedding; the library of 2017 had the gradient only.', 'tables'),
    F('LookupTable_accGradParameters', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THIndexTensor*', 'input', 'input', doc='row numbers (...)'),
        A('THTensor*', 'gradOutput', 'gradOutput', doc='gradient of the loss by output, sized as output'),
        A('THTensor*', 'gradWeight', 'gradParameter', is_modified=True, doc='sized as weight'),
        A('THIntegerTensor*', 'count', 'buffer', doc='unused'),
        A('THTensor*', 'sorted', 'buffer', is_optional=True, doc='unused'),
        A('THIndexTensor*', 'indices', 'buffer', is_optional=True, doc='unused'),
        A('bool', 'scaleGradByFreq', 'scalar', doc="divide each row's gradient by the number of occurrences of the row in input"),
        A('int', 'paddingValue', 'scalar', doc='row number that gets no gradient; -1 for none'),
        A('accreal', 'scale', 'scalar', default=1.0, doc='factor of the gradients added'),
    ), 'Gradient of LookupTable by its table, accumulated: gradWeight[input[i],d] += scale * gradOutput[i,d] for each i with\ninput[i] != paddingValue, divided by the number of occurrences of input[i] in input if scaleGradByFreq.\n\nShapes: gradOutput (..., D) or (n, D), with n the number of indices; gradWeight (rows, D).', 'tables'),
    F('LookupTable_renorm', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THIndexTensor*', 'idx', 'input', doc='row numbers (...)'),
        A('THTensor*', 'weight', 'parameter', is_modified=True, doc='the table (rows, D)'),
        A('accreal', 'maxNorm', 'scalar', doc='largest norm of a row'),
        A('accreal', 'normType', 'scalar', doc='exponent of the norm, above 0'),
    ), 'Limits the norm of rows in place: every row that idx names, once however often it is named, is multiplied by\nmaxNorm / (norm + 1e-7) if its norm is above maxNorm; norm = (sum over d of |weight[row,d]|^normType)^(1 / normType),\nthe largest |weight[row,d]| for an infinite normType.\n\nShapes: idx (...) of row numbers from 0; weight (rows, D).\nErrors: IndexError for a row number outside of the table; ValueError for a weight that is no matrix, a normType not\nabove 0, a negative maxNorm.', 'tables'),
)
