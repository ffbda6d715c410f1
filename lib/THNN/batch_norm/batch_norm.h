#ifndef THNN_BATCH_NORM_BATCH_NORM_H
#define THNN_BATCH_NORM_BATCH_NORM_H

#include "runtime/kernel.h"

/* Batch normalization in phases, over tensors seen as channels x positions. The fused functions of
   generic/BatchNormalization.c and whatever needs single phases are made of these. */

typedef enum THNNBatchLayout {
  THNN_BATCH_PLANES, /* one channel of one sample is a run of memory: NCHW and its like */
  THNN_BATCH_ROWS,   /* all channels of one position are a run of memory: channels-last, (N, C) */
  THNN_BATCH_STRIDED /* anything else, and tensors whose layouts differ */
} THNNBatchLayout;

/* Two numbers of each of C channels: mean and centred sum of squares, or the sums of the backward. Those of channel c
   are `stride` * c and `stride` * (C + c) elements from `data`. */
typedef struct THNNBatchPairs {
  accreal *data;
  int64_t stride;
} THNNBatchPairs;

typedef struct BatchView {
  real *data; /* NULL where the phase has no such tensor */
  int64_t channel;
  int64_t stride[THNN_MAX_DIM];
} BatchView;

/* Tensors of one size (N, C, ...). Positions, the dimensions other than the channel, are numbered in row
   order; those that every tensor allows are joined. The grid cuts the work into boxes of `width` channels x
   `block` positions, by size alone. */
typedef struct Batch {
  BatchView x, g, out;
  int64_t channels, positions;
  int dims;
  int64_t size[THNN_MAX_DIM];
  THNNBatchLayout layout;
  int64_t width, groups, block, blocks;
  bool reduces;
  bool large;  /* the operands are too large for the caches, see streaming.h ... */
  bool stream; /* ... and out goes past them */
} Batch;

/* `reduces`: the phases to come sum over positions, and what a box read should still be in the cache when it is
   read again; otherwise boxes follow memory. Absent tensors are NULL. */
void THNN_(Batch_init)(Batch *batch, THTensor *x, THTensor *g, THTensor *out, bool reduces);

/* What is known of each channel, vectors of C elements, and what the forward computes of it. */
typedef struct BatchVectors {
  THTensor *mean, *inverse; /* the inverse deviation, or ... */
  THTensor *variance;       /* ... NULL and the variance to make it of, with eps */
  THTensor *weight, *bias;  /* NULL: 1 and 0 */
  accreal eps;
  bool relu; /* max(0, .) follows */
} BatchVectors;

/* Where statistics go, and what turns into what; the running ones may be NULL. */
typedef struct BatchStatistics {
  THTensor *save_mean, *save_std, *running_mean, *running_var;
  accreal momentum, eps;
  bool unbiased;
} BatchStatistics;

/* Where the sums of the backward go, and whether gradInput takes them into account. */
typedef struct BatchGradients {
  THTensor *gradWeight, *gradBias;
  accreal scale;
  bool train;
} BatchGradients;

/* Mean and centred sum of squares of each channel of x. */
void THNN_(Batch_statistics)(const Batch *batch, THNNBatchPairs result);

/* Joins the statistics of `count` values with those of `otherCount` others (Chan, Golub, LeVeque 1979), for
   `channels` channels. */
void THNN_(Batch_merge)(int64_t channels, accreal *mean, accreal *squares, accreal count, const accreal *otherMean,
                        const accreal *otherSquares, accreal otherCount);

/* Statistics of `count` values per channel into the saved and running ones. */
void THNN_(Batch_saveStatistics)(const BatchStatistics *to, int64_t channels, THNNBatchPairs statistics,
                                 accreal count);

/* out = (x - mean) * inverse * weight + bias */
void THNN_(Batch_normalize)(const Batch *batch, const BatchVectors *vectors);

/* sum(g) and sum(g * (x - mean)) of each channel. */
void THNN_(Batch_gradSums)(const Batch *batch, const BatchVectors *vectors, THNNBatchPairs result);

/* With those sums, of `count` values per channel:
     out = (g - sum / count - (x - mean) * inverse^2 * dot / count) * inverse * weight
   With NULL, where mean and inverse are constants: out = g * inverse * weight. */
void THNN_(Batch_gradInput)(const Batch *batch, const BatchVectors *vectors, const THNNBatchPairs *sums,
                            accreal count);

/* All phases of the forward in training, and of the backward, each box staying in the cache from one phase to the
   next where it has its channels to itself. vectors->mean and ->inverse are what the statistics are saved to. */
void THNN_(Batch_forward)(const Batch *batch, const BatchStatistics *to, const BatchVectors *vectors);
void THNN_(Batch_backward)(const Batch *batch, const BatchGradients *to, const BatchVectors *vectors);

#endif
