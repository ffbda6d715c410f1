#include "normalization/batch_norm_fused.h"

#include "batch_norm/batch_norm.h"
#include "normalization/batch_norm_checks.h"

static int64_t valuesPerChannel(const THTensor *input)
{
  int64_t n = 1;
  for (int d = 0; d < input->ndim; d++) n *= d == 1 ? 1 : input->size[d];
  return n;
}

void THNN_(batchNormFusedUpdateOutput)(THNNState *state, THTensor *input, THTensor *residual, THTensor *output,
                                       THTensor *weight, THTensor *bias, THTensor *running_mean,
                                       THTensor *running_var, THTensor *save_mean, THTensor *save_std, bool train,
                                       double momentum, double eps, bool relu, double limit)
{
  CHECK_BATCH(input);
  CHECK_EPS(eps);
  CHECK_LIMIT(limit);
  const int64_t C = input->size[1];
  const NamedTensor tensors[] = {{"output", output},           {"save_mean", save_mean},
                                 {"save_std", save_std},       {"running_mean", running_mean},
                                 {"running_var", running_var}, {"input", input},
                                 {"weight", weight},           {"bias", bias},
                                 {"residual", residual}};
  checkVectors(state, tensors + 6, 2, C);
  checkVectors(state, tensors + 3, 2, C);
  checkStatistics(state, running_mean, running_var, save_mean, save_std, train);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(!train || valuesPerChannel(input) > 1, input,
             "expected more than 1 value per channel when training, got %lld in %s",
             (long long)valuesPerChannel(input), THNN_shape(input));
  if (residual != NULL) THNN_CHECK_SAME_SIZE(input, residual);

  THNN_RESIZE_LIKE(output, input);
  THNN_RESIZE_TO(save_mean, THNN_CONTIGUOUS, C);
  THNN_RESIZE_TO(save_std, THNN_CONTIGUOUS, C);
  if (train) {
    THNN_CHECK_DISTINCT_ADDRESSES(running_mean);
    THNN_CHECK_DISTINCT_ADDRESSES(running_var);
  }
  checkOverlap(state, tensors, 9, train ? 5 : 1, input);
  THNN_TAKES_HALF_OF(state, input);
  THNN_TAKES_HALF_OF(state, residual);
  THNN_TAKES_HALF_OF(state, output);
  THNN_RETURN_IF_META(state);

  BatchNorm batch;
  THNN_(batchNormInit)(&batch, input, residual, output, train);
  if (train) {
    const StatisticsOutputs to = {save_mean, save_std, running_mean, running_var, momentum, eps, true};
    const ChannelParameters parameters = {save_mean, save_std, NULL, weight, bias, eps, relu, limit};
    THNN_(batchNormForward)(&batch, &to, &parameters);
  } else {
    const ChannelParameters parameters = {running_mean, NULL, running_var, weight, bias, eps, relu, limit};
    THNN_(batchNormNormalize)(&batch, &parameters);
  }
}

void THNN_(batchNormFusedBackward)(THNNState *state, THTensor *input, THTensor *output, THTensor *gradOutput,
                                   THTensor *gradInput, THTensor *gradResidual, THTensor *gradWeight,
                                   THTensor *gradBias, THTensor *weight, THTensor *bias, THTensor *running_mean,
                                   THTensor *running_var, THTensor *save_mean, THTensor *save_std, bool train,
                                   double scale, double eps, bool relu, double limit)
{
  CHECK_BATCH(input);
  CHECK_EPS(eps);
  CHECK_LIMIT(limit);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  const bool adds = gradResidual != NULL;
  if (adds) THNN_CHECK_SAME_SIZE(input, output);
  const int64_t C = input->size[1];
  /* The first may overwrite gradOutput. */
  const NamedTensor tensors[] = {{adds ? "gradResidual" : "gradInput", adds ? gradResidual : gradInput},
                                 {"gradInput", adds ? gradInput : NULL},
                                 {"gradWeight", gradWeight},
                                 {"gradBias", gradBias},
                                 {"gradOutput", gradOutput},
                                 {"input", input},
                                 {"weight", weight},
                                 {"bias", bias},
                                 {"running_mean", running_mean},
                                 {"running_var", running_var},
                                 {"save_mean", save_mean},
                                 {"save_std", save_std},
                                 {"output", output}};
  checkVectors(state, tensors + 2, 2, C);
  checkVectors(state, tensors + 6, 6, C);
  checkStatistics(state, running_mean, running_var, save_mean, save_std, train);
  THNN_RETURN_IF_FAILED(state);

  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RESIZE_LIKE(gradResidual, input);
  THNN_CHECK_DISTINCT_ADDRESSES(gradWeight);
  THNN_CHECK_DISTINCT_ADDRESSES(gradBias);
  checkOverlap(state, tensors, 13, 4, gradOutput);
  THNN_TAKES_HALF_OF(state, input);
  THNN_TAKES_HALF_OF(state, output);
  THNN_TAKES_HALF_OF(state, gradResidual);
  THNN_TAKES_HALF_OF(state, gradOutput);
  THNN_TAKES_HALF_OF(state, gradInput);
  THNN_RETURN_IF_META(state);

  const bool recomputes = relu && !adds;
  const ChannelParameters parameters = {train ? save_mean : running_mean,
                                        train ? save_std : NULL,
                                        train ? NULL : running_var,
                                        weight,
                                        bias,
                                        eps,
                                        recomputes,
                                        limit};
  const bool sums = gradWeight != NULL || gradBias != NULL || (train && gradInput != NULL);
  Cut cut;
  if (adds) {
    THNN_(batchNormInit)(&cut.batch, output, gradOutput, gradResidual, sums);
    cut.relu = relu;
    cut.limit = limit;
  }
  BatchNorm batch;
  THNN_(batchNormInit)(&batch, sums || recomputes ? input : NULL, adds ? gradResidual : gradOutput, gradInput,
                       sums);
  if (sums) {
    const GradientOutputs to = {gradWeight, gradBias, scale, train};
    THNN_(batchNormBackward)(&batch, adds ? &cut : NULL, &to, &parameters);
    return;
  }
  if (adds) THNN_(batchNormCut)(&cut);
  if (gradInput != NULL) THNN_(batchNormGradInput)(&batch, &parameters, NULL, 1);
}
