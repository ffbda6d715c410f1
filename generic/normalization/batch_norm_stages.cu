#include "modules/BatchNormalization.h"
#include "batch_norm/batch_norm.h"

using namespace THNN_(batchNorm);

/* The two vectors in 2C accreal numbers. Statistics have one more number: the values per channel. */
static ChannelVector first(const THAccrealTensor *pairs)
{
  return ChannelVector(TH_ACCREAL_DATA(pairs), pairs->stride[0]);
}
static ChannelVector second(const THAccrealTensor *pairs)
{
  const int64_t C = pairs->size[0] / 2, stride = pairs->stride[0];
  return ChannelVector(TH_ACCREAL_DATA(pairs) + C * stride, stride);
}
static accreal *countOf(const THAccrealTensor *statistics)
{
  return TH_ACCREAL_DATA(statistics) + (statistics->size[0] - 1) * statistics->stride[0];
}

void THNN_(BatchNormalization_statistics)(THNNState *state, THTensor *input, THAccrealTensor *statistics)
{
  MomentsOutputs to = {};
  to.mean = first(statistics);
  to.squares = second(statistics);
  moments(state, input, to);
  int64_t values = 1;
  for (int d = 0; d < input->ndim; d++) values *= d == 1 ? 1 : input->size[d];
  accreal *const count = countOf(statistics);
  thcunn::forEach(state, 1, [=] __device__(int64_t) { *count = (accreal)values; });
}

void THNN_(BatchNormalization_mergeStatistics)(THNNState *state, THAccrealTensor *parts,
                                               THAccrealTensor *statistics)
{
  const int64_t K = parts->size[0], C = parts->size[1] / 2;
  const thcunn::View<const accreal, 2> part = {TH_ACCREAL_DATA(parts), {parts->stride[0], parts->stride[1]}};
  const thcunn::View<accreal, 1> to = {TH_ACCREAL_DATA(statistics), {statistics->stride[0]}};
  const thcunn::NumberCheck check =
      thcunn::numberCheck(state, "parts", "expected counts of at least 0", "in part");
  /* The last thread has no channel; it stores the number of values. */
  thcunn::forEach(state, C + 1, [=] __device__(int64_t c) {
    accreal mean = 0, squares = 0, count = 0;
    for (int64_t k = 0; k < K; k++) {
      const int64_t meanAt[] = {k, c}, squaresAt[] = {k, C + c}, countAt[] = {k, 2 * C};
      accreal partCount = *part.at(countAt);
      if (!(partCount >= 0)) {
        check.refuse((float)partCount, k);
        partCount = (accreal)NAN;
      }
      if (partCount == 0) continue;
      const accreal fraction = partCount / (count + partCount);
      if (c < C) {
        const accreal delta = *part.at(meanAt) - mean;
        mean = fraction == 1 ? *part.at(meanAt) : mean + delta * fraction;
        squares += *part.at(squaresAt) + delta * (count * fraction) * delta;
      }
      count += partCount;
    }
    const int64_t meanAt[] = {c}, squaresAt[] = {C + c}, countAt[] = {2 * C};
    if (c < C) *to.at(meanAt) = mean, *to.at(squaresAt) = squares;
    else *to.at(countAt) = count;
  });
}

void THNN_(BatchNormalization_saveStatistics)(THNNState *state, THAccrealTensor *statistics, THTensor *save_mean,
                                              THTensor *save_std, THTensor *running_mean, THTensor *running_var,
                                              double momentum, double eps, bool unbiased)
{
  const MomentsOutputs to = {first(statistics), second(statistics), countOf(statistics), save_mean, save_std,
                             running_mean,      running_var,        (real)momentum,      (real)eps, unbiased};
  saveMoments(state, statistics->size[0] / 2, to);
}

void THNN_(BatchNormalization_normalize)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                         THTensor *bias, THTensor *save_mean, THTensor *save_std, bool relu,
                                         double limit)
{
  normalize(state, input, NULL, output, {save_mean, save_std, NULL, weight, bias, 0, limitOf(limit)}, relu);
}

void THNN_(BatchNormalization_gradSums)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *weight,
                                        THTensor *bias, THTensor *save_mean, THTensor *save_std,
                                        THAccrealTensor *sums, bool relu, double limit)
{
  const GradientOutputs to = {first(sums), second(sums), NULL, NULL, 0};
  gradSums(state, input, gradOutput, {save_mean, save_std, NULL, weight, bias, 0, limitOf(limit)}, to, relu);
}

void THNN_(BatchNormalization_gradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                         THTensor *gradInput, THTensor *weight, THTensor *bias,
                                         THTensor *save_mean, THTensor *save_std, THAccrealTensor *sums,
                                         double count, bool relu, double limit)
{
  GradientSums given = {};
  if (sums != NULL) given = {first(sums), second(sums), (real)count};
  THNN_(batchNorm)::gradInput(state, input, gradOutput, gradInput,
                              {save_mean, save_std, NULL, weight, bias, 0, limitOf(limit)}, given, relu);
}
