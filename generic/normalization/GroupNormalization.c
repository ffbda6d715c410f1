#include "modules/GroupNormalization.h"
#include "batch_norm/group_norm.h"
#include "normalization/batch_norm_checks.h"

/* The checks that both functions share. */
static void checkGroups(THNNState *state, const THTensor *input, int64_t numGroups)
{
  CHECK_BATCH(input);
  thnn_checkAtLeast(state, "numGroups", numGroups, 1);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(input->size[1] % numGroups == 0, numGroups,
             "expected a divisor of the number of channels, %lld, got %lld", (long long)input->size[1],
             (long long)numGroups);
}

void THNN_(GroupNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                            THTensor *bias, THTensor *save_mean, THTensor *save_std,
                                            int64_t numGroups, double eps)
{
  checkGroups(state, input, numGroups);
  THNN_RETURN_IF_FAILED(state);
  CHECK_EPS(eps);
  const NamedTensor tensors[] = {{"output", output}, {"save_mean", save_mean}, {"save_std", save_std},
                                 {"input", input},   {"weight", weight},       {"bias", bias}};
  checkVectors(state, tensors + 4, 2, input->size[1]);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(output, input);
  THNN_RESIZE_TO(save_mean, THNN_CONTIGUOUS, input->size[0], numGroups);
  THNN_RESIZE_TO(save_std, THNN_CONTIGUOUS, input->size[0], numGroups);
  checkOverlap(state, tensors, 6, 3, input);
  THNN_TAKES_HALF_OF(state, input);
  THNN_TAKES_HALF_OF(state, output);
  THNN_RETURN_IF_META(state);
  THNN_(groupNormForward)(input, output, weight, bias, save_mean, save_std, numGroups, eps);
}

void THNN_(GroupNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias,
                                        THTensor *weight, THTensor *save_mean, THTensor *save_std,
                                        int64_t numGroups, double scale)
{
  checkGroups(state, input, numGroups);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  const int64_t size[] = {input->size[0], numGroups};
  const NamedTensor tensors[] = {{"gradInput", gradInput},   {"gradWeight", gradWeight}, {"gradBias", gradBias},
                                 {"gradOutput", gradOutput}, {"input", input},           {"weight", weight},
                                 {"save_mean", save_mean},   {"save_std", save_std}};
  checkVectors(state, tensors + 1, 2, input->size[1]);
  checkVectors(state, tensors + 5, 1, input->size[1]);
  for (int i = 6; i < 8; i++)
    if (!THNNTensor_hasSize(tensors[i].tensor, 2, size))
      THNN_fail(state, THNN_VALUE_ERROR, tensors[i].name, "expected one number for each group, %s, got %s",
                THNN_shapeOf(2, size), THNN_shape(tensors[i].tensor));
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_DISTINCT_ADDRESSES(gradWeight);
  THNN_CHECK_DISTINCT_ADDRESSES(gradBias);
  checkOverlap(state, tensors, 8, 3, gradOutput);
  THNN_TAKES_HALF_OF(state, input);
  THNN_TAKES_HALF_OF(state, gradOutput);
  THNN_TAKES_HALF_OF(state, gradInput);
  THNN_RETURN_IF_META(state);
  THNN_(groupNormBackward)(input, gradOutput, gradInput, gradWeight, gradBias, weight, save_mean, save_std,
                           numGroups, scale);
}
