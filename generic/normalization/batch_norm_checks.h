#ifndef THNN_GENERIC_NORMALIZATION_BATCH_NORM_CHECKS_H
#define THNN_GENERIC_NORMALIZATION_BATCH_NORM_CHECKS_H

/* Argument checks of the batch-normalization functions. A function lists its tensors under their names in THNN.h,
   written tensors first; the checks take the list or a part of it. Inline: with constant counts the loops are unrolled,
   which speeds up calls with small tensors. */

#include "runtime/kernel.h"

typedef struct NamedTensor {
  const char *name;
  THTensor *tensor;
} NamedTensor;

#define MAX_NAMED_TENSORS 13

#define CHECK_BATCH(input) \
  THNN_CHECK((input)->ndim >= 2, input, "expected 2 dimensions (N, C) or more, got %s", THNN_shape(input))

#define CHECK_EPS(eps) THNN_CHECK((eps) >= 0, eps, "expected a number that is not negative, got %g", eps)

#define CHECK_LIMIT(limit) THNN_CHECK((limit) > 0, limit, "expected a number above 0, got %g", limit)

/* Fails unless each tensor is NULL or a vector with one element per channel. */
static inline void checkVectors(THNNState *state, const NamedTensor *vectors, int count, int64_t channels)
{
#pragma GCC unroll 6
  for (int i = 0; i < count; i++) {
    const THTensor *vector = vectors[i].tensor;
    if (vector != NULL && (vector->ndim != 1 || vector->size[0] != channels))
      THNN_fail(state, THNN_VALUE_ERROR, vectors[i].name,
                "expected 1 dimension (%lld), one value per channel, got %s", (long long)channels,
                THNN_shape(vector));
  }
}

static inline void checkPresent(THNNState *state, const char *name, const THTensor *vector, bool train)
{
  if (vector == NULL)
    THNN_fail(state, THNN_TYPE_ERROR, name, "expected a tensor in %s, got None",
              train ? "training" : "evaluation");
}

/* Fails unless the statistics that the mode reads or writes are present. */
static inline void checkStatistics(THNNState *state, const THTensor *running_mean, const THTensor *running_var,
                                   const THTensor *save_mean, const THTensor *save_std, bool train)
{
  checkPresent(state, train ? "save_mean" : "running_mean", train ? save_mean : running_mean, train);
  checkPresent(state, train ? "save_std" : "running_var", train ? save_std : running_var, train);
}

/* Fails if one of the first `written` tensors shares memory with another tensor; but tensor 0 may be the same view as
   `inPlace`. */
static inline void checkOverlap(THNNState *state, const NamedTensor *tensors, int count, int written,
                                const THTensor *inPlace)
{
  uintptr_t first[MAX_NAMED_TENSORS], end[MAX_NAMED_TENSORS];
  for (int i = 0; i < count; i++) {
    first[i] = end[i] = 0;
    if (tensors[i].tensor != NULL && tensors[i].tensor->ndim >= 0)
      THNNTensor_byteRange(tensors[i].tensor, &first[i], &end[i]);
  }
  for (int i = 0; i < written; i++)
    for (int j = i + 1; j < count; j++) {
      /* Byte ranges are nearly always disjoint; the exact test would slow down calls with small tensors. */
      if (end[i] <= first[j] || end[j] <= first[i]) continue;
      const NamedTensor a = tensors[i], b = tensors[j];
      const bool view = i == 0 && b.tensor == inPlace;
      if (THNN_overlaps(a.tensor, b.tensor, view))
        THNN_fail(state, THNN_VALUE_ERROR, a.name,
                  view ? "may be the same tensor as %s but must not share memory with it in any other way"
                       : "must not share memory with %s",
                  b.name);
    }
}

#endif
