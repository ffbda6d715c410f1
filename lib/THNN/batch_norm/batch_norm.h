#ifndef THNN_BATCH_NORM_BATCH_NORM_H
#define THNN_BATCH_NORM_BATCH_NORM_H

#include "runtime/kernel.h"

/* Batch normalization in stages over tensors seen as channels x positions: moments, normalization, sums of gradients,
   input gradient. The fused forward and backward are these stages in one call.

   Reproducibility. Results have the same bits for any number of threads, and with or without non-temporal stores.
   Sums over positions depend on the memory layout: channels-first tensors are summed in vectors of positions,
   channels-last tensors in vectors of channels, so their moments and sums may differ in the last bits, and with them
   the results of training. Normalization and input gradient with given statistics have the same bits in every layout.
   Instruction sets differ in vector length and in fused multiply-add, hence their results in the last bits. */

typedef enum BatchNormLayout {
  LAYOUT_CHANNELS_FIRST, /* each channel of a sample is contiguous: NCHW */
  LAYOUT_CHANNELS_LAST,  /* the channels of a position are contiguous: NHWC, (N, C) */
  LAYOUT_STRIDED         /* any other layout, and operands whose layouts differ */
} BatchNormLayout;

/* One tensor, with strides along the joined dimensions of BatchNorm. */
typedef struct Operand {
  real *data;   /* NULL: absent */
  int32_t type; /* of the tensor; with a half type data is an address only (simd/half_lanes.h) */
  int64_t channelStride;
  int64_t stride[THNN_MAX_DIM];
} Operand;

/* Tensors of one size (N, C, ...). All dimensions but the channel are position dimensions, numbered in row-major order;
   adjacent ones are joined where the strides of every operand allow. The work is a grid of tiles of tileChannels
   channels x blockPositions positions, which depends only on sizes and layout. */
typedef struct BatchNorm {
  Operand x, g, out; /* input; gradOutput or, in the forward, the residual; output or gradInput */
  int64_t channels, positions;
  int dims;
  int64_t size[THNN_MAX_DIM];
  BatchNormLayout layout;
  int64_t tileChannels, channelTiles;     /* channels of a tile, number of tiles along the channels */
  int64_t blockPositions, positionBlocks; /* positions of a block, number of blocks */
  bool reduces;                           /* the stages sum over positions */
  bool prefetches;                        /* the operands are prefetched in software */
  bool nonTemporal;                       /* out is written with non-temporal stores, except in LAYOUT_STRIDED */
} BatchNorm;

/* Absent tensors are NULL; all others are of `real`, or of one half type. reduces: the stages sum over positions; tiles
   then hold as many positions of a channel as possible, so that a later stage finds them in the cache. Otherwise tiles
   follow the memory order. */
void THNN_(batchNormInit)(BatchNorm *batch, THTensor *x, THTensor *g, THTensor *out, bool reduces);

static inline real *elementOf(const THTensor *vector, int64_t c)
{
  return TH_DATA(vector) + c * vector->stride[0];
}

static inline accreal inverseDeviation(accreal variance, accreal eps)
{
  return variance + eps == 0 ? 0 : 1 / sqrt(variance + eps);
}

/* Two numbers per channel: mean and centred sum of squares, or the two sums of the backward. Channel c of C has
   data[stride * c] and data[stride * (C + c)]. */
typedef struct ChannelPairs {
  accreal *data;
  int64_t stride;
} ChannelPairs;

/* Vectors of C elements that normalization reads. */
typedef struct ChannelParameters {
  THTensor *mean;
  THTensor *inverseStd, *variance; /* one of the two is NULL; eps is added to the variance only */
  THTensor *weight, *bias;         /* NULL: 1 and 0 */
  accreal eps;
  bool relu;     /* min(limit, max(0, .)) follows */
  accreal limit; /* above 0; INFINITY: none */
} ChannelParameters;

/* The statistics that the forward writes; running_mean and running_var may be NULL. */
typedef struct StatisticsOutputs {
  THTensor *save_mean, *save_std, *running_mean, *running_var;
  accreal momentum, eps;
  bool unbiased; /* running_var is updated with squares / (n - 1), not squares / n */
} StatisticsOutputs;

/* The parameter gradients to which the backward adds; each may be NULL. */
typedef struct GradientOutputs {
  THTensor *gradWeight, *gradBias;
  accreal scale;
  bool train; /* gradInput depends on the sums */
} GradientOutputs;

/* The backward of the activation after a sum: out = g where min(limit, max(0, .)) has passed it, else 0; without relu out =
   g. x is the output of the activation, whose sign and limit tell the elements. */
typedef struct Cut {
  BatchNorm batch;
  bool relu;
  accreal limit; /* above 0; INFINITY: none */
} Cut;

/* Mean and centred sum of squares of each channel of x. */
void THNN_(batchNormMoments)(const BatchNorm *batch, ChannelPairs result);

/* Merges the moments of n adjacent values into those of the `count` previous values. */
void THNN_(batchNormRunMoments)(const real *x, int64_t n, accreal *mean, accreal *squares, int64_t count);

/* Merges the moments of otherCount values into those of `count` values, for `channels` channels (Chan, Golub, LeVeque
   1979). */
void THNN_(batchNormMergeMoments)(int64_t channels, accreal *mean, accreal *squares, accreal count,
                                  const accreal *otherMean, const accreal *otherSquares, accreal otherCount);

/* Writes the saved and running statistics from the moments of `count` values per channel. */
void THNN_(batchNormSaveStatistics)(const StatisticsOutputs *to, int64_t channels, ChannelPairs moments,
                                    accreal count);

/* out = (x - mean) * inverseStd * weight + bias, plus g if there is a residual, and with relu min(limit, max(0, .)) of
   it */
void THNN_(batchNormNormalize)(const BatchNorm *batch, const ChannelParameters *parameters);

/* sum(g) and sum(g * (x - mean)) of each channel. With relu, g counts only where the output is neither <= 0 nor at a
   finite limit. */
void THNN_(batchNormGradSums)(const BatchNorm *batch, const ChannelParameters *parameters, ChannelPairs result);

/* With sum = sum(g) and dot = sum(g * (x - mean)) over `count` values per channel:
     out = (g - sum / count - (x - mean) * inverseStd^2 * dot / count) * inverseStd * weight
   If sums is NULL, mean and inverseStd are constants: out = g * inverseStd * weight. */
void THNN_(batchNormGradInput)(const BatchNorm *batch, const ChannelParameters *parameters,
                               const ChannelPairs *sums, accreal count);

void THNN_(batchNormCut)(const Cut *cut);

/* All stages of the forward in training, and of the backward, whose g is cut->batch.out if there is a cut. Where one tile holds all positions of its channels, it
   stays in the cache from stage to stage. In the forward, parameters->mean and parameters->inverseStd are to->save_mean
   and to->save_std. */
void THNN_(batchNormForward)(const BatchNorm *batch, const StatisticsOutputs *to,
                             const ChannelParameters *parameters);
void THNN_(batchNormBackward)(const BatchNorm *batch, const Cut *cut, const GradientOutputs *to,
                              const ChannelParameters *parameters);

#endif
