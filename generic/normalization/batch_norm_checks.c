#include "normalization/batch_norm_checks.h"

void THNN_(batchNormCheckVectors)(THNNState *state, const NamedTensor *vectors, int count, int64_t channels)
{
  for (int i = 0; i < count; i++) {
    const THTensor *vector = vectors[i].tensor;
    if (vector != NULL && (vector->ndim != 1 || vector->size[0] != channels))
      THNN_fail(state, THNN_VALUE_ERROR, vectors[i].name,
                "expected 1 dimension (%lld), one value per channel, got %s", (long long)channels,
                THNN_shape(vector));
  }
}

static void checkPresent(THNNState *state, const char *name, const THTensor *vector, bool train)
{
  if (vector == NULL)
    THNN_fail(state, THNN_TYPE_ERROR, name, "expected a tensor in %s, got None",
              train ? "training" : "evaluation");
}

void THNN_(batchNormCheckStatistics)(THNNState *state, const THTensor *running_mean, const THTensor *running_var,
                                     const THTensor *save_mean, const THTensor *save_std, bool train)
{
  checkPresent(state, train ? "save_mean" : "running_mean", train ? save_mean : running_mean, train);
  checkPresent(state, train ? "save_std" : "running_var", train ? save_std : running_var, train);
}

void THNN_(batchNormCheckOverlap)(THNNState *state, const NamedTensor *tensors, int count, int written,
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
      /* Nearly always disjoint; the exact test would cost small batches measurable time. */
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
