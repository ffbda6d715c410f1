#ifndef THNN_CRITERION_PAIR_ROWS_H
#define THNN_CRITERION_PAIR_ROWS_H

/* Pairs of rows, one of each of two matrices (N, D). */

#include "criterion/class_targets.h"

/* Terms of a row that are added in `real`; their sums are added in double. */
#define PAIR_BLOCK 256

#define CHECK_PAIRS(x, y)         \
  THNN_CHECK_DIM(x, 2, "(N, D)"); \
  THNN_CHECK_SAME_SIZE(x, y)

static inline void checkOnePerPair(THNNState *state, const THTensor *like, const char *name,
                                   const THTensor *vector)
{
  if (vector->ndim != 1 || vector->size[0] != like->size[0])
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected 1 dimension (%lld), a number for each pair of rows, got %s",
              (long long)like->size[0], THNN_shape(vector));
}

/* Requests the size of the gradient w.r.t. `of`, and checks it against the tensors that it is computed from. */
#define CHECK_PAIR_GRADIENT(gradient, of, other, third) \
  THNN_RESIZE_LIKE(gradient, of);                       \
  THNN_CHECK_NO_OVERLAP(gradient, of);                  \
  THNN_CHECK_NO_OVERLAP(gradient, other);               \
  THNN_CHECK_NO_OVERLAP(gradient, third)

/* Row n of a matrix and the distance between its elements. */
typedef struct Row {
  real *at;
  int64_t stride;
} Row;

static inline Row rowOf(const THTensor *matrix, int64_t n)
{
  return (Row){TH_DATA(matrix) + n * matrix->stride[0], matrix->stride[1]};
}

#endif
