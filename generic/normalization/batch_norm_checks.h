#ifndef THNN_GENERIC_NORMALIZATION_BATCH_NORM_CHECKS_H
#define THNN_GENERIC_NORMALIZATION_BATCH_NORM_CHECKS_H

/* Argument checks of the batch-normalization functions. A function lists its tensors under their names in THNN.h,
   written tensors first; the checks take the list or a part of it. */

#include "runtime/kernel.h"

typedef struct NamedTensor {
  const char *name;
  THTensor *tensor;
} NamedTensor;

#define MAX_NAMED_TENSORS 11

#define CHECK_BATCH(input) \
  THNN_CHECK((input)->ndim >= 2, input, "expected 2 dimensions (N, C) or more, got %s", THNN_shape(input))

#define CHECK_EPS(eps) THNN_CHECK((eps) >= 0, eps, "expected a number that is not negative, got %g", eps)

/* Each tensor is NULL or a vector with one element per channel. */
void THNN_(batchNormCheckVectors)(THNNState *state, const NamedTensor *vectors, int count, int64_t channels);

/* The statistics that the mode reads or writes are present. */
void THNN_(batchNormCheckStatistics)(THNNState *state, const THTensor *running_mean, const THTensor *running_var,
                                     const THTensor *save_mean, const THTensor *save_std, bool train);

/* The first `written` of the tensors share no memory with any other. The very first may be the same tensor as
   `inPlace`. */
void THNN_(batchNormCheckOverlap)(THNNState *state, const NamedTensor *tensors, int count, int written,
                                  const THTensor *inPlace);

#endif
