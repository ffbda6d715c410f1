#ifndef THNN_BATCH_NORM_GROUP_NORM_H
#define THNN_BATCH_NORM_GROUP_NORM_H

#include "runtime/kernel.h"

/* Group normalization of tensors (N, C, ...) by the loops of batch normalization, over tiles of one sample. Absent
   tensors are NULL; vectors have C elements, statistics N x groups. groups divides C. The promises of batch_norm.h on
   reproducibility hold here, too. */

/* The mean or inverse deviation of a group of a sample. */
static inline real *statistic(const THTensor *statistics, int64_t n, int64_t group)
{
  return TH_DATA(statistics) + n * statistics->stride[0] + group * statistics->stride[1];
}

void THNN_(groupNormForward)(THTensor *x, THTensor *out, const THTensor *weight, const THTensor *bias,
                             const THTensor *save_mean, const THTensor *save_std, int64_t groups, accreal eps);

void THNN_(groupNormBackward)(THTensor *x, THTensor *g, THTensor *out, const THTensor *gradWeight,
                              const THTensor *gradBias, const THTensor *weight, const THTensor *save_mean,
                              const THTensor *save_std, int64_t groups, accreal scale);

#endif
