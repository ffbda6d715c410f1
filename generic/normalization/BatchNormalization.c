#include "modules/BatchNormalization.h"
#include "normalization/batch_normalization.h"

void THNN_(BatchNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                            THTensor *bias, THTensor *running_mean, THTensor *running_var,
                                            THTensor *save_mean, THTensor *save_std, bool train, double momentum,
                                            double eps)
{
  batchUpdateOutput(state, input, output, weight, bias, running_mean, running_var, save_mean, save_std, train,
                    momentum, eps, false);
}

void THNN_(BatchNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias,
                                        THTensor *weight, THTensor *running_mean, THTensor *running_var,
                                        THTensor *save_mean, THTensor *save_std, bool train, double scale,
                                        double eps)
{
  batchBackward(state, input, gradOutput, gradInput, gradWeight, gradBias, weight, NULL, running_mean, running_var,
                save_mean, save_std, train, scale, eps, false);
}

/* ---- phases ---- */

static THNNBatchPairs viewPairs(const THAccrealTensor *tensor)
{
  const THNNBatchPairs pairs = {TH_ACCREAL_DATA(tensor), tensor->stride[0]};
  return pairs;
}

static accreal *valuesOf(const THAccrealTensor *statistics)
{
  return TH_ACCREAL_DATA(statistics) + (statistics->size[0] - 1) * statistics->stride[0];
}

void THNN_(BatchNormalization_statistics)(THNNState *state, THTensor *input, THAccrealTensor *statistics)
{
  THNN_CHECK(input->ndim >= 2, input, "expected 2 dimensions (N, C) or more, got %s", THNN_shape(input));
  THNN_RESIZE_TO(statistics, THNN_CONTIGUOUS, 2 * input->size[1] + 1);
  THNN_CHECK_NO_OVERLAP(statistics, input);
  THNN_RETURN_IF_META(state);
  Batch batch;
  THNN_(Batch_init)(&batch, input, NULL, NULL, true);
  THNN_(Batch_statistics)(&batch, viewPairs(statistics));
  *valuesOf(statistics) = (accreal)batch.positions;
}

void THNN_(BatchNormalization_mergeStatistics)(THNNState *state, THAccrealTensor *parts,
                                               THAccrealTensor *statistics)
{
  THNN_CHECK_DIM(parts, 2, "(K, 2C + 1)");
  THNN_CHECK(parts->size[1] % 2 == 1, parts, "expected size (K, 2C + 1), got %s", THNN_shape(parts));
  THNN_RESIZE_TO(statistics, THNN_CONTIGUOUS, parts->size[1]);
  THNN_CHECK_NO_OVERLAP(statistics, parts);
  THNN_RETURN_IF_META(state);
  const int64_t C = parts->size[1] / 2, step = parts->stride[1];
  const accreal *part = TH_ACCREAL_DATA(parts);
  for (int64_t k = 0; k < parts->size[0]; k++) {
    const accreal count = part[k * parts->stride[0] + 2 * C * step];
    THNN_CHECK(count >= 0, parts, "expected numbers of values that are not negative, got %g in part %lld", count,
               (long long)k);
  }
  accreal *to = TH_ACCREAL_DATA(statistics), total = 0;
  const int64_t pitch = statistics->stride[0];
  for (int64_t c = 0; c < 2 * C; c++) to[c * pitch] = 0;
  for (int64_t k = 0; k < parts->size[0]; k++, part += parts->stride[0]) {
    const accreal count = part[2 * C * step];
    for (int64_t c = 0; c < C; c++)
      THNN_(Batch_merge)(1, to + c * pitch, to + (C + c) * pitch, total, part + c * step, part + (C + c) * step,
                         count);
    total += count;
  }
  *valuesOf(statistics) = total;
}

void THNN_(BatchNormalization_saveStatistics)(THNNState *state, THAccrealTensor *statistics, THTensor *save_mean,
                                              THTensor *save_std, THTensor *running_mean, THTensor *running_var,
                                              double momentum, double eps, bool unbiased)
{
  THNN_CHECK_DIM(statistics, 1, "(2C + 1)");
  THNN_CHECK(statistics->size[0] % 2 == 1, statistics, "expected size (2C + 1), got %s", THNN_shape(statistics));
  THNN_CHECK(eps >= 0, eps, "expected a number that is not negative, got %g", eps);
  const int64_t C = statistics->size[0] / 2;
  checkVector(state, "running_mean", running_mean, C);
  checkVector(state, "running_var", running_var, C);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_TO(save_mean, THNN_CONTIGUOUS, C);
  THNN_RESIZE_TO(save_std, THNN_CONTIGUOUS, C);
  THNN_RESIZE_TO(running_mean, THNN_CONTIGUOUS, C); /* sized already: refuses elements that share an address */
  THNN_RESIZE_TO(running_var, THNN_CONTIGUOUS, C);
  const Named tensors[] = {{"save_mean", save_mean},
                           {"save_std", save_std},
                           {"running_mean", running_mean},
                           {"running_var", running_var},
                           {"statistics", statistics}};
  checkOverlap(state, tensors, 5, 4, NULL);
  THNN_RETURN_IF_META(state);
  const accreal count = *valuesOf(statistics);
  THNN_CHECK(count > 1, statistics, "expected more than 1 value per channel, got %g", count);
  const BatchStatistics to = {save_mean, save_std, running_mean, running_var, momentum, eps, unbiased};
  THNN_(Batch_saveStatistics)(&to, C, viewPairs(statistics), count);
}

void THNN_(BatchNormalization_normalize)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                         THTensor *bias, THTensor *save_mean, THTensor *save_std, bool relu)
{
  THNN_CHECK(input->ndim >= 2, input, "expected 2 dimensions (N, C) or more, got %s", THNN_shape(input));
  const Named tensors[] = {{"output", output}, {"input", input},         {"weight", weight},
                           {"bias", bias},     {"save_mean", save_mean}, {"save_std", save_std}};
  for (int i = 2; i < 6; i++) checkVector(state, tensors[i].name, tensors[i].tensor, input->size[1]);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(output, input);
  checkOverlap(state, tensors, 6, 1, input);
  THNN_RETURN_IF_META(state);
  const BatchVectors vectors = {save_mean, save_std, NULL, weight, bias, 0, relu};
  Batch batch;
  THNN_(Batch_init)(&batch, input, NULL, output, false);
  THNN_(Batch_normalize)(&batch, &vectors);
}

void THNN_(BatchNormalization_gradSums)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *weight,
                                        THTensor *bias, THTensor *save_mean, THTensor *save_std,
                                        THAccrealTensor *sums, bool relu)
{
  THNN_CHECK(input->ndim >= 2, input, "expected 2 dimensions (N, C) or more, got %s", THNN_shape(input));
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  const Named tensors[] = {{"sums", sums},        {"input", input}, {"gradOutput", gradOutput},
                           {"weight", weight},    {"bias", bias},   {"save_mean", save_mean},
                           {"save_std", save_std}};
  for (int i = 3; i < 7; i++) checkVector(state, tensors[i].name, tensors[i].tensor, input->size[1]);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_TO(sums, THNN_CONTIGUOUS, 2 * input->size[1]);
  checkOverlap(state, tensors, 7, 1, NULL);
  THNN_RETURN_IF_META(state);
  const BatchVectors vectors = {save_mean, save_std, NULL, weight, bias, 0, relu};
  Batch batch;
  THNN_(Batch_init)(&batch, input, gradOutput, NULL, true);
  THNN_(Batch_gradSums)(&batch, &vectors, viewPairs(sums));
}

void THNN_(BatchNormalization_gradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                         THTensor *gradInput, THTensor *weight, THTensor *bias,
                                         THTensor *save_mean, THTensor *save_std, THAccrealTensor *sums,
                                         double count, bool relu)
{
  THNN_CHECK(input->ndim >= 2, input, "expected 2 dimensions (N, C) or more, got %s", THNN_shape(input));
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  const Named tensors[] = {
      {"gradInput", gradInput}, {"gradOutput", gradOutput}, {"input", input},       {"weight", weight},
      {"bias", bias},           {"save_mean", save_mean},   {"save_std", save_std}, {"sums", sums}};
  for (int i = 3; i < 7; i++) checkVector(state, tensors[i].name, tensors[i].tensor, input->size[1]);
  THNN_RETURN_IF_FAILED(state);
  if (sums != NULL) {
    THNN_CHECK(sums->ndim == 1 && sums->size[0] == 2 * input->size[1], sums,
               "expected 1 dimension (%lld), two values per channel, got %s", 2 * (long long)input->size[1],
               THNN_shape(sums));
    THNN_CHECK(count > 0, count, "expected a number above 0, got %g", count);
  }
  THNN_RESIZE_LIKE(gradInput, input);
  checkOverlap(state, tensors, 8, 1, gradOutput);
  THNN_RETURN_IF_META(state);
  const BatchVectors vectors = {save_mean, save_std, NULL, weight, bias, 0, relu};
  const THNNBatchPairs pairs = sums != NULL ? viewPairs(sums) : (THNNBatchPairs){0};
  Batch batch;
  THNN_(Batch_init)(&batch, sums != NULL || relu ? input : NULL, gradOutput, gradInput, false);
  THNN_(Batch_gradInput)(&batch, &vectors, sums != NULL ? &pairs : NULL, count);
}
