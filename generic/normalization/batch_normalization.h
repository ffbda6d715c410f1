#ifndef THNN_GENERIC_NORMALIZATION_BATCH_NORMALIZATION_H
#define THNN_GENERIC_NORMALIZATION_BATCH_NORMALIZATION_H

/* What the functions of BatchNormalization and BatchNormalizationReLU share: checks, and the fused functions with and
   without relu. */

#include "batch_norm/batch_norm.h"

static inline void checkVector(THNNState *state, const char *name, const THTensor *vector, int64_t channels)
{
  if (vector != NULL && (vector->ndim != 1 || vector->size[0] != channels))
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected 1 dimension (%lld), one value per channel, got %s",
              (long long)channels, THNN_shape(vector));
}

/* Some vectors are needed in one mode only. */
static inline void checkGiven(THNNState *state, const char *name, const THTensor *vector, bool train)
{
  if (vector == NULL)
    THNN_fail(state, THNN_TYPE_ERROR, name, "expected a tensor in %s, got None",
              train ? "training" : "evaluation");
}

static inline int64_t valuesPerChannel(const THTensor *input)
{
  int64_t n = 1;
  for (int d = 0; d < input->ndim; d++) n *= d == 1 ? 1 : input->size[d];
  return n;
}

typedef struct Named {
  const char *name;
  THTensor *tensor;
} Named;

#define MOST_TENSORS 11

/* The first `written` of the tensors are written; the first of all may be the very same as `same`. */
static inline void checkOverlap(THNNState *state, const Named *tensors, int count, int written,
                                const THTensor *same)
{
  uintptr_t first[MOST_TENSORS], end[MOST_TENSORS];
  for (int i = 0; i < count; i++) {
    first[i] = end[i] = 0;
    if (tensors[i].tensor != NULL && tensors[i].tensor->ndim >= 0)
      THNNTensor_byteRange(tensors[i].tensor, &first[i], &end[i]);
  }
  for (int i = 0; i < written; i++)
    for (int j = i + 1; j < count; j++) {
      if (end[i] <= first[j] || end[j] <= first[i]) continue; /* nearly all: small batches would feel more */
      const Named a = tensors[i], b = tensors[j];
      bool view = i == 0 && b.tensor == same;
      if (THNN_overlaps(a.tensor, b.tensor, view))
        THNN_fail(state, THNN_VALUE_ERROR, a.name,
                  view ? "may be the same tensor as %s but must not share memory with it in any other way"
                       : "must not share memory with %s",
                  b.name);
    }
}

static inline void batchUpdateOutput(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                     THTensor *bias, THTensor *running_mean, THTensor *running_var,
                                     THTensor *save_mean, THTensor *save_std, bool train, double momentum,
                                     double eps, bool relu)
{
  THNN_CHECK(input->ndim >= 2, input, "expected 2 dimensions (N, C) or more, got %s", THNN_shape(input));
  THNN_CHECK(eps >= 0, eps, "expected a number that is not negative, got %g", eps);
  const int64_t C = input->size[1];
  checkVector(state, "weight", weight, C);
  checkVector(state, "bias", bias, C);
  checkVector(state, "running_mean", running_mean, C);
  checkVector(state, "running_var", running_var, C);
  checkGiven(state, train ? "save_mean" : "running_mean", train ? save_mean : running_mean, train);
  checkGiven(state, train ? "save_std" : "running_var", train ? save_std : running_var, train);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(!train || valuesPerChannel(input) > 1, input,
             "expected more than 1 value per channel when training, got %lld in %s",
             (long long)valuesPerChannel(input), THNN_shape(input));

  THNN_RESIZE_LIKE(output, input);
  THNN_RESIZE_TO(save_mean, THNN_CONTIGUOUS, C);
  THNN_RESIZE_TO(save_std, THNN_CONTIGUOUS, C);
  if (train) { /* sized already: this refuses vectors whose elements share an address */
    THNN_RESIZE_TO(running_mean, THNN_CONTIGUOUS, C);
    THNN_RESIZE_TO(running_var, THNN_CONTIGUOUS, C);
  }
  const Named tensors[] = {{"output", output},           {"save_mean", save_mean},
                           {"save_std", save_std},       {"running_mean", running_mean},
                           {"running_var", running_var}, {"input", input},
                           {"weight", weight},           {"bias", bias}};
  checkOverlap(state, tensors, 8, train ? 5 : 1, input);
  THNN_RETURN_IF_META(state);

  Batch batch;
  THNN_(Batch_init)(&batch, input, NULL, output, train);
  if (train) {
    const BatchStatistics to = {save_mean, save_std, running_mean, running_var, momentum, eps, true};
    const BatchVectors vectors = {save_mean, save_std, NULL, weight, bias, eps, relu};
    THNN_(Batch_forward)(&batch, &to, &vectors);
  } else {
    const BatchVectors vectors = {running_mean, NULL, running_var, weight, bias, eps, relu};
    THNN_(Batch_normalize)(&batch, &vectors);
  }
}

static inline void batchBackward(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                 THTensor *gradWeight, THTensor *gradBias, THTensor *weight, THTensor *bias,
                                 THTensor *running_mean, THTensor *running_var, THTensor *save_mean,
                                 THTensor *save_std, bool train, double scale, double eps, bool relu)
{
  THNN_CHECK(input->ndim >= 2, input, "expected 2 dimensions (N, C) or more, got %s", THNN_shape(input));
  THNN_CHECK(eps >= 0, eps, "expected a number that is not negative, got %g", eps);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  const int64_t C = input->size[1];
  checkVector(state, "gradWeight", gradWeight, C);
  checkVector(state, "gradBias", gradBias, C);
  checkVector(state, "weight", weight, C);
  checkVector(state, "bias", bias, C);
  checkVector(state, "running_mean", running_mean, C);
  checkVector(state, "running_var", running_var, C);
  checkVector(state, "save_mean", save_mean, C);
  checkVector(state, "save_std", save_std, C);
  checkGiven(state, train ? "save_mean" : "running_mean", train ? save_mean : running_mean, train);
  checkGiven(state, train ? "save_std" : "running_var", train ? save_std : running_var, train);
  THNN_RETURN_IF_FAILED(state);

  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RESIZE_TO(gradWeight, THNN_CONTIGUOUS, C); /* sized already, as above */
  THNN_RESIZE_TO(gradBias, THNN_CONTIGUOUS, C);
  const Named tensors[] = {{"gradInput", gradInput},
                           {"gradWeight", gradWeight},
                           {"gradBias", gradBias},
                           {"gradOutput", gradOutput},
                           {"input", input},
                           {"weight", weight},
                           {"bias", bias},
                           {"running_mean", running_mean},
                           {"running_var", running_var},
                           {"save_mean", save_mean},
                           {"save_std", save_std}};
  checkOverlap(state, tensors, 11, 3, gradOutput);
  THNN_RETURN_IF_META(state);

  const BatchVectors vectors = {train ? save_mean : running_mean,
                                train ? save_std : NULL,
                                train ? NULL : running_var,
                                weight,
                                bias,
                                eps,
                                relu};
  const bool sums = gradWeight != NULL || gradBias != NULL || (train && gradInput != NULL);
  Batch batch;
  THNN_(Batch_init)(&batch, sums || relu ? input : NULL, gradOutput, gradInput, sums);
  if (sums) {
    const BatchGradients to = {gradWeight, gradBias, scale, train};
    THNN_(Batch_backward)(&batch, &to, &vectors);
  } else if (gradInput != NULL) {
    THNN_(Batch_gradInput)(&batch, &vectors, NULL, 1);
  }
}

#endif
