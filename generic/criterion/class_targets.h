#ifndef THNN_CRITERION_CLASS_TARGETS_H
#define THNN_CRITERION_CLASS_TARGETS_H

/* Checks of criteria whose targets are class numbers, and their scores (N, C) or (C) as rows. */

#include "runtime/integer.h"
#include "runtime/kernel.h"

/* The sum over the items of a task is one partial sum; task t of T has the items from
   t * count / T to (t + 1) * count / T - 1. */
#define MAX_TASKS 1024

static inline int64_t firstOfTask(int64_t task, int64_t tasks, int64_t count) { return task * count / tasks; }

/* Scores (N, C) or (C), one sample. */
typedef struct Rows {
  int64_t rows, classes, rowStride, classStride;
} Rows;

static inline Rows rowsOf(const THTensor *tensor)
{
  const bool batched = tensor->ndim == 2;
  return (Rows){batched ? tensor->size[0] : 1, tensor->size[batched], batched ? tensor->stride[0] : 0,
                tensor->stride[batched]};
}

static inline void checkRows(THNNState *state, const THTensor *input)
{
  THNN_CHECK(input->ndim == 1 || input->ndim == 2, input, "expected 2 dimensions (N, C) or 1 (C), got %s",
             THNN_shape(input));
}

static inline void checkWeights(THNNState *state, const THTensor *weights, int64_t classes)
{
  THNN_CHECK(weights == NULL || (weights->ndim == 1 && weights->size[0] == classes), weights,
             "expected 1 dimension (%lld), a weight for each class, got %s", (long long)classes,
             THNN_shape(weights));
}

/* A class for each row. */
static inline void checkClassOfRows(THNNState *state, const THTensor *input, const THIndexTensor *target,
                                    const THTensor *weights)
{
  checkRows(state, input);
  THNN_RETURN_IF_FAILED(state);
  if (input->ndim == 2)
    THNN_CHECK(target->ndim == 1 && target->size[0] == input->size[0], target,
               "expected 1 dimension (%lld), a class for each row of input, got %s", (long long)input->size[0],
               THNN_shape(target));
  else
    THNN_CHECK(target->ndim <= 1 && THNNTensor_numel(target) == 1, target, "expected one class, got %s",
               THNN_shape(target));
  checkWeights(state, weights, input->size[input->ndim - 1]);
}

#endif
