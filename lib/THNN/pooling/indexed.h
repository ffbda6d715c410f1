#ifndef THNN_POOLING_INDEXED_H
#define THNN_POOLING_INDEXED_H

#include "pooling/pooling.h"

/* Elements of planes that indices name. `pooled` and the indices have the size of a pooling's output, `plane` the size
   of its input. Tensors may have any strides. */

/* Fails with an IndexError if an index, -1 included, is not the position of an input element. */
void THNN_(poolingRequireIndices)(THNNState *state, const Pooling *pooling, const THIndexTensor *indices);

/* plane: 0 except for the elements that an index names, which become the sum of the elements of `pooled` with that
   index (add), or the last of them. Indices have to be valid or -1, which is skipped; this is not checked. The elements
   of a plane of `pooled` are taken in row-major order. */
void THNN_(poolingScatter)(const Pooling *pooling, const THTensor *pooled, const THIndexTensor *indices,
                           THTensor *plane, bool add);

/* pooled: the element of `plane` that the index names; 0 for -1. Other indices have to be valid. */
void THNN_(poolingTake)(const Pooling *pooling, const THTensor *plane, const THIndexTensor *indices,
                        THTensor *pooled);

#endif
