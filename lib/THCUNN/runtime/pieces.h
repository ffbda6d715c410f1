#ifndef THCUNN_RUNTIME_PIECES_H
#define THCUNN_RUNTIME_PIECES_H

#include "runtime/check.h"

/* THNN_BY_PIECES of lib/THNN/runtime/pieces.h on a device, whose kernels are compiled for the half types: runs the
   statement once, with the tensors themselves. */

typedef struct THNNPieceOf {
  THNNTensor *tensor;
} THNNPieceOf;

#define THNN_READ(tensor) {(THNNTensor *)(tensor)}
#define THNN_WRITTEN(tensor) {tensor}

#define THNN_BY_PIECES(state, t, dims, tensors, ...)                                                     \
  do {                                                                                                   \
    THNNTensor *t[sizeof(tensors) / sizeof *(tensors)];                                                  \
    for (size_t thnn_k = 0; thnn_k < sizeof t / sizeof *t; thnn_k++) t[thnn_k] = tensors[thnn_k].tensor; \
    (void)(dims);                                                                                        \
    __VA_ARGS__                                                                                          \
  } while (0)

#endif
