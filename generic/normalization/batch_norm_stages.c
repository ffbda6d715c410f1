#include "modules/BatchNormalization.h"
#include "batch_norm/batch_norm.h"
#include "normalization/batch_norm_checks.h"

static ChannelPairs pairsOf(const THAccrealTensor *tensor)
{
  const ChannelPairs pairs = {TH_ACCREAL_DATA(tensor), tensor->stride[0]};
  return pairs;
}

/* The number of values per channel, the last element. */
static accreal *countOf(const THAccrealTensor *statistics)
{
  return TH_ACCREAL_DATA(statistics) + (statistics->size[0] - 1) * statistics->stride[0];
}

void THNN_(BatchNormalization_statistics)(THNNState *state, THTensor *input, THAccrealTensor *statistics)
{
  CHECK_BATCH(input);
  THNN_RESIZE_TO(statistics, THNN_CONTIGUOUS, 2 * input->size[1] + 1);
  THNN_CHECK_NO_OVERLAP(statistics, input);
  THNN_TAKES_HALF_OF(state, input);
  THNN_RETURN_IF_META(state);
  BatchNorm batch;
  THNN_(batchNormInit)(&batch, input, NULL, NULL, true);
  THNN_(batchNormMoments)(&batch, pairsOf(statistics));
  *countOf(statistics) = (accreal)batch.positions;
}

void THNN_(BatchNormalization_mergeStatistics)(THNNState *state, THAccrealTensor *parts,
                                               THAccrealTensor *statistics)
{
  THNN_CHECK_DIM(parts, 2, "(K, 2C + 1)");
  THNN_CHECK(parts->size[1] % 2 == 1, parts, "expected size (K, 2C + 1), got %s", THNN_shape(parts));
  THNN_RESIZE_TO(statistics, THNN_CONTIGUOUS, parts->size[1]);
  THNN_CHECK_NO_OVERLAP(statistics, parts);
  THNN_RETURN_IF_META(state);
  const int64_t C = parts->size[1] / 2, stride = parts->stride[1], partStride = parts->stride[0];
  const accreal *part = TH_ACCREAL_DATA(parts);
  for (int64_t k = 0; k < parts->size[0]; k++) {
    const accreal count = part[k * partStride + 2 * C * stride];
    THNN_CHECK(count >= 0, parts, "expected counts of at least 0, got %g in part %lld", count, (long long)k);
  }
  const ChannelPairs to = pairsOf(statistics);
  accreal *mean = to.data, *squares = mean + C * to.stride, total = 0;
  for (int64_t i = 0; i < 2 * C; i++) to.data[i * to.stride] = 0;
  for (int64_t k = 0; k < parts->size[0]; k++, part += partStride) {
    const accreal *partMean = part, *partSquares = part + C * stride;
    const accreal count = part[2 * C * stride];
    for (int64_t c = 0; c < C; c++)
      THNN_(batchNormMergeMoments)(1, mean + c * to.stride, squares + c * to.stride, total, partMean + c * stride,
                                   partSquares + c * stride, count);
    total += count;
  }
  *countOf(statistics) = total;
}

void THNN_(BatchNormalization_saveStatistics)(THNNState *state, THAccrealTensor *statistics, THTensor *save_mean,
                                              THTensor *save_std, THTensor *running_mean, THTensor *running_var,
                                              double momentum, double eps, bool unbiased)
{
  THNN_CHECK_DIM(statistics, 1, "(2C + 1)");
  THNN_CHECK(statistics->size[0] % 2 == 1, statistics, "expected size (2C + 1), got %s", THNN_shape(statistics));
  CHECK_EPS(eps);
  const int64_t C = statistics->size[0] / 2;
  const NamedTensor tensors[] = {{"save_mean", save_mean},
                                 {"save_std", save_std},
                                 {"running_mean", running_mean},
                                 {"running_var", running_var},
                                 {"statistics", statistics}};
  checkVectors(state, tensors + 2, 2, C);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_TO(save_mean, THNN_CONTIGUOUS, C);
  THNN_RESIZE_TO(save_std, THNN_CONTIGUOUS, C);
  THNN_CHECK_DISTINCT_ADDRESSES(running_mean);
  THNN_CHECK_DISTINCT_ADDRESSES(running_var);
  checkOverlap(state, tensors, 5, 4, NULL);
  THNN_RETURN_IF_META(state);
  const accreal count = *countOf(statistics);
  THNN_CHECK(count > 1, statistics, "expected more than 1 value per channel, got %g", count);
  const StatisticsOutputs to = {save_mean, save_std, running_mean, running_var, momentum, eps, unbiased};
  THNN_(batchNormSaveStatistics)(&to, C, pairsOf(statistics), count);
}

void THNN_(BatchNormalization_normalize)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                         THTensor *bias, THTensor *save_mean, THTensor *save_std, bool relu,
                                         double limit)
{
  CHECK_BATCH(input);
  CHECK_LIMIT(limit);
  const NamedTensor tensors[] = {{"output", output}, {"input", input},         {"weight", weight},
                                 {"bias", bias},     {"save_mean", save_mean}, {"save_std", save_std}};
  checkVectors(state, tensors + 2, 4, input->size[1]);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(output, input);
  checkOverlap(state, tensors, 6, 1, input);
  THNN_TAKES_HALF_OF(state, input);
  THNN_TAKES_HALF_OF(state, output);
  THNN_RETURN_IF_META(state);
  const ChannelParameters parameters = {save_mean, save_std, NULL, weight, bias, 0, relu, limit};
  BatchNorm batch;
  THNN_(batchNormInit)(&batch, input, NULL, output, false);
  THNN_(batchNormNormalize)(&batch, &parameters);
}

void THNN_(BatchNormalization_gradSums)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *weight,
                                        THTensor *bias, THTensor *save_mean, THTensor *save_std,
                                        THAccrealTensor *sums, bool relu, double limit)
{
  CHECK_BATCH(input);
  CHECK_LIMIT(limit);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  const NamedTensor tensors[] = {{"sums", sums},        {"input", input}, {"gradOutput", gradOutput},
                                 {"weight", weight},    {"bias", bias},   {"save_mean", save_mean},
                                 {"save_std", save_std}};
  checkVectors(state, tensors + 3, 4, input->size[1]);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_TO(sums, THNN_CONTIGUOUS, 2 * input->size[1]);
  checkOverlap(state, tensors, 7, 1, NULL);
  THNN_TAKES_HALF_OF(state, input);
  THNN_TAKES_HALF_OF(state, gradOutput);
  THNN_RETURN_IF_META(state);
  const ChannelParameters parameters = {save_mean, save_std, NULL, weight, bias, 0, relu, limit};
  BatchNorm batch;
  THNN_(batchNormInit)(&batch, input, gradOutput, NULL, true);
  THNN_(batchNormGradSums)(&batch, &parameters, pairsOf(sums));
}

void THNN_(BatchNormalization_gradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                         THTensor *gradInput, THTensor *weight, THTensor *bias,
                                         THTensor *save_mean, THTensor *save_std, THAccrealTensor *sums,
                                         double count, bool relu, double limit)
{
  CHECK_BATCH(input);
  CHECK_LIMIT(limit);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  const NamedTensor tensors[] = {
      {"gradInput", gradInput}, {"gradOutput", gradOutput}, {"input", input},       {"weight", weight},
      {"bias", bias},           {"save_mean", save_mean},   {"save_std", save_std}, {"sums", sums}};
  checkVectors(state, tensors + 3, 4, input->size[1]);
  THNN_RETURN_IF_FAILED(state);
  if (sums != NULL) {
    THNN_CHECK(sums->ndim == 1 && sums->size[0] == 2 * input->size[1], sums,
               "expected 1 dimension (%lld), two values per channel, got %s", 2 * (long long)input->size[1],
               THNN_shape(sums));
    THNN_CHECK(count > 0, count, "expected a number above 0, got %g", count);
  }
  THNN_RESIZE_LIKE(gradInput, input);
  checkOverlap(state, tensors, 8, 1, gradOutput);
  THNN_TAKES_HALF_OF(state, input);
  THNN_TAKES_HALF_OF(state, gradOutput);
  THNN_TAKES_HALF_OF(state, gradInput);
  THNN_RETURN_IF_META(state);
  const ChannelParameters parameters = {save_mean, save_std, NULL, weight, bias, 0, relu, limit};
  const ChannelPairs pairs = sums != NULL ? pairsOf(sums) : (ChannelPairs){0};
  BatchNorm batch;
  THNN_(batchNormInit)(&batch, sums != NULL || relu ? input : NULL, gradOutput, gradInput, false);
  THNN_(batchNormGradInput)(&batch, &parameters, sums != NULL ? &pairs : NULL, count);
}
