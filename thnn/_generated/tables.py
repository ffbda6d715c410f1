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
    F('LookupTableBag_updateOutput', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THIndexTensor*', 'input', 'input', doc='row numbers (n), or (B, L) without offsets'),
        A('THIndexTensor*', 'offsets', 'input', is_optional=True, doc="position in input of each bag's first row number (B)"),
        A('THTensor*', 'output', 'output', doc='result (B, D)'),
        A('THTensor*', 'weight', 'parameter', doc='the table (rows, D)'),
        A('THIndexTensor*', 'bagSize', 'saved', doc='row numbers per bag without paddingValue (B)'),
        A('THIndexTensor*', 'maxIndices', 'saved', doc='in mode 2, rows of the maxima (B, D), -1 in an empty bag; otherwise (0, D)'),
        A('int', 'mode', 'scalar', default=0, doc='0 sum, 1 mean, 2 maximum'),
        A('bool', 'scaleGradByFreq', 'scalar', default=False, doc='of the backward'),
        A('int', 'paddingValue', 'scalar', default=-1, doc='row number that bags leave out; -1 for none'),
    ), 'LookupTableBag: sums, means or maxima of rows of a table, those of a bag of row numbers.\n\n  output[b,d] = sum, mean or maximum over i in bag b with input[i] != paddingValue of weight[input[i],d]\n\nBag b holds input[offsets[b]] to input[offsets[b+1] - 1], the last one the rest of input; without offsets, row b of\ninput. A bag without rows gives 0. NaN is the largest number. Of equal maxima the first gets the gradient.\n\nShapes: input (n) with offsets (B), or input (B, L) without; weight (rows, D); output (B, D).\nErrors: IndexError for a row number outside of the table, offsets that do not begin with 0, decrease or exceed n;\nValueError for an unknown mode, scaleGradByFreq with mode 2, sizes that do not fit. Source: torch.nn.EmbeddingBag.', 'tables'),
    F('LookupTableBag_accGradParameters', (
        A('THNNState*', 'state', 'state', doc='library state'),
        A('THIndexTensor*', 'input', 'input', doc='row numbers (n), or (B, L) without offsets'),
        A('THIndexTensor*', 'offsets', 'input', is_optional=True, doc="position in input of each bag's first row number (B)"),
        A('THTensor*', 'gradOutput', 'gradOutput', doc='gradient of the loss by output, sized as output'),
        A('THTensor*', 'gradWeight', 'gradParameter', is_modified=True, doc='sized as weight'),
        A('THIndexTensor*', 'bagSize', 'saved', doc='as the forward left it (B)'),
        A('THIndexTensor*', 'maxIndices', 'saved', doc='as the forward left it'),
        A('int', 'mode', 'scalar', doc='0 sum, 1 mean, 2 maximum'),
        A('bool', 'scaleGradByFreq', 'scalar', doc="divide each row's gradient by the number of occurrences of the row in input"),
        A('int', 'paddingValue', 'scalar', doc='row number that bags leave out; -1 for none'),
        A('accreal', 'scale', 'scalar', default=1.0, doc='factor of the gradients added'),
    ), 'Gradient of LookupTableBag by its table, accumulated: for each i in bag b with input[i] != paddingValue,\ngradWeight[input[i],d] += scale * gradOutput[b,d], divided by bagSize[b] for a mean and by the number of occurrences of\ninput[i] in input if scaleGradByFreq; for a maximum gradWeight[maxIndices[b,d],d] += scale * gradOutput[b,d].', 'tables'),
)
