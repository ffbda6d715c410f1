#ifndef THCUNN_BATCH_NORM_BATCH_NORM_H
#define THCUNN_BATCH_NORM_BATCH_NORM_H

#include "batch_norm/channels.h"

/* The stages of batch normalization. Each reads its tensors once, and the fused forward and backward are two stages:
   they read their inputs twice and write once, by one kernel if a block can have whole channels. Mean and centred sum
   of squares are computed per unit, and merged by Chan, Golub and LeVeque's formula, in `real`. */

namespace THNN_(batchNorm)
{

using namespace THNN_(channels);

/* Vectors (C) that normalization reads. */
struct ChannelParameters {
  ChannelVector mean;
  ChannelVector inverse,
      variance; /* the inverse deviation, or the variance, to which eps is added; the other is absent */
  ChannelVector weight, bias; /* absent: 1 and 0 */
  real eps;
  real limit; /* the largest output of relu; NaN: none */
};

/* Converts the limit of a C function, where infinity means none, to the limit of ChannelParameters, where NaN does: no
   output is at least NaN. */
static inline real limitOf(double limit) { return limit < (double)INFINITY ? (real)limit : (real)NAN; }

/* All vectors may be absent. */
struct MomentsOutputs {
  ChannelVector mean, squares; /* squares: the centred sum of squares */
  double *count;               /* one number, the values per channel */
  ChannelVector save_mean, save_std, running_mean, running_var;
  real momentum, eps;
  bool unbiased; /* running_var is updated with squares / (count - 1) */
};

struct GradientOutputs {
  ChannelVector sum, dot; /* sum(g) and sum(g * (x - mean)); each of the four vectors may be absent */
  ChannelVector gradWeight, gradBias;
  real scale;              /* the factor of the terms that are added to gradWeight and gradBias */
  bool newWeight, newBias; /* gradWeight, gradBias: not initialized; overwritten instead of added to */
};

/* The sums of GradientOutputs over `count` values per channel. */
struct GradientSums {
  ChannelVector sum, dot; /* absent: mean and inverse are constants */
  real count;
};

void moments(THNNState *state, THTensor *input, const MomentsOutputs &to);

/* Derives the remaining outputs from (mean, squares, count); errors call that triple `statistics`. */
void saveMoments(THNNState *state, int64_t channels, const MomentsOutputs &to);

/* output = (input - mean) * inverse * weight + bias, plus the residual unless that is NULL; with relu, min(limit,
   max(0, .)) of it. */
void normalize(THNNState *state, THTensor *input, THTensor *residual, THTensor *output,
               const ChannelParameters &parameters, bool relu);

/* gradSum = gradOutput where min(limit, max(0, .)) passed the sum before `output`, else 0; gradOutput without relu. */
void cutGradient(THNNState *state, THTensor *output, THTensor *gradOutput, THTensor *gradSum, real limit,
                 bool relu);

/* g is gradOutput; with relu, g is 0 where the normalized input is at most 0 or at least limit. */
void gradSums(THNNState *state, THTensor *input, THTensor *gradOutput, const ChannelParameters &parameters,
              const GradientOutputs &to, bool relu);

/* gradInput = (g - sum / count - (x - mean) * inverse^2 * dot / count) * inverse * weight */
void gradInput(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
               const ChannelParameters &parameters, const GradientSums &sums, bool relu);

/* Calls moments, then normalize; `parameters` may be the outputs of moments. */
void momentsAndNormalize(THNNState *state, THTensor *input, THTensor *residual, THTensor *output,
                         const MomentsOutputs &to, const ChannelParameters &parameters, bool relu);

/* gradSums and gradInput, whose sums may be the outputs of gradSums. */
void gradSumsAndInput(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                      const ChannelParameters &parameters, const GradientOutputs &to, const GradientSums &sums,
                      bool relu);

} // namespace THNN_(batchNorm)

#endif
