#ifndef THNN_POOLING_BACKWARD_H
#define THNN_POOLING_BACKWARD_H

#include "pooling/geometry.h"
#include "pooling/lanes.h"

/* The arguments of a call. Every input gathers the gradients of the outputs that read it, in row order: the gradients
   with the index of the input or, if `indices` is NULL, all gradients weighted for the average. The sums have the same
   bits as in a scatter in row order (indexed.h), which takes less time in planes except for 2x2 and 3x3 stride-2
   pooling. */
typedef struct PoolingBackward {
  const Pooling *pooling;
  PoolingImages g, index, x; /* gradOutput, indices, gradInput */
  const real *gradOutput;
  const int64_t *indices;
  real *gradInput;
  bool countPadding;
  const real *scale; /* of each channel, for a scaled sum instead of the average; otherwise NULL */
  bool streams;      /* use non-temporal stores */
} PoolingBackward;

/* True if gradInput is written by non-temporal stores: if the operands of forward and backward together exceed the
   last-level cache. The forward never uses such stores: the next function reads the output, and the backward the
   indices. No vector of gradInput is aligned if its elements are not. */
static inline bool backwardStreams(const THTensor *gradInput, const THTensor *gradOutput,
                                   const THIndexTensor *indices)
{
  int64_t bytes = (THNNTensor_numel(gradInput) + THNNTensor_numel(gradOutput)) * (int64_t)sizeof(real);
  if (indices) bytes += THNNTensor_numel(indices) * (int64_t)sizeof(int64_t);
  return thnn_exceedsLastLevelCache(2 * bytes) && (uintptr_t)gradInput->data % sizeof(real) == 0;
}

/* Which gradients a lane adds: the gradients whose index equals the lane's (INPUT: the input element) or the source's
   (KERNEL: the kernel element), or all gradients, weighted. */
typedef enum GatherMode { GATHER_INPUT, GATHER_KERNEL, GATHER_WEIGHTED } GatherMode;

/* The outputs that the lanes gather from: source t of lane i has the gradient from[offset[t] + i] and the index
   fromIndex[indexOffset[t] + i]. */
typedef struct GatherSources {
  int64_t count;
  int64_t *offset, *indexOffset;
  vlane *kernelIndex;
  real *weight;
} GatherSources;

static inline void gatherSourcesTake(ScratchArena *arena, double count, GatherSources *s)
{
  s->offset = arenaTake(arena, count, sizeof(int64_t));
  s->indexOffset = arenaTake(arena, count, sizeof(int64_t));
  s->kernelIndex = arenaTake(arena, count, sizeof(vlane));
  s->weight = arenaTake(arena, count, sizeof(real));
}

/* Rows of lanes with the same sources. indexBase is the input element of the lanes; from row to row it advances by
   indexPerRow, and pointers by their steps. */
typedef struct GatherRows {
  int64_t count;
  const real *from;
  const int64_t *fromIndex;
  real *to;
  int64_t fromStep, fromIndexStep, toStep;
  int64_t indexBase, indexPerRow;
  const real *scale; /* of the lanes of a weighted sum, or NULL */
  bool streams;
} GatherRows;

void THNN_(poolingGather)(int64_t n, const GatherRows *rows, const GatherSources *sources, GatherMode mode);

/* Each returns false, and computes nothing, if it does not support the geometry or the strides, or needs more than
   THNN_SCRATCH_LIMIT. Every index must lie in its window. */
bool THNN_(poolingBackwardHalving)(const PoolingBackward *f);
bool THNN_(poolingBackwardChannelsLast)(const PoolingBackward *f);

/* Without indices. */
bool THNN_(poolingBackwardRows)(const PoolingBackward *f);

#endif
