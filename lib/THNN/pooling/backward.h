#ifndef THNN_POOLING_BACKWARD_H
#define THNN_POOLING_BACKWARD_H

#include "pooling/geometry.h"
#include "pooling/lanes.h"

/* Every input gathers the gradients of the outputs that read it, in row order: those whose index names it or, without
   indices, all of them weighted for the average. Nothing is cleared or added to in memory, and the sums are those of a
   scatter in row order. */
typedef struct PoolingBackward {
  const Pooling *pooling;
  PoolingImages g, index, x; /* gradOutput, indices, gradInput */
  const real *gradOutput;
  const int64_t *indices;
  real *gradInput;
  bool countPadding;
  bool streams; /* use non-temporal stores */
} PoolingBackward;

/* How an output's gradient counts: if its index is that of the lane (the input's), if its index is that of the source
   (the kernel element's), or weighted. Indices are int64 or already as wide as a lane. */
typedef enum GatherMode {
  GATHER_INPUT_INT64,
  GATHER_INPUT_LANE,
  GATHER_KERNEL_INT64,
  GATHER_KERNEL_LANE,
  GATHER_WEIGHTED
} GatherMode;

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

/* Rows of lanes with the same sources. The input's index of lane i is indexBase + i*indexPerLane; from row to row,
   pointers and index advance by the other steps. */
typedef struct GatherRows {
  int64_t count;
  const real *from;
  const void *fromIndex;
  real *to;
  int64_t fromStep, fromIndexStep, toStep;
  int64_t indexBase, indexPerRow, indexPerLane;
  vint indexRamp; /* ramp(indexPerLane) */
  bool streams;
} GatherRows;

void THNN_(poolingGather)(int64_t n, const GatherRows *rows, const GatherSources *sources, GatherMode mode);

/* Each returns false, and computes nothing, if it does not apply: to the geometry, to the strides, or because it needs
   more scratch memory than there is. Every index lies in its window. */
bool THNN_(poolingBackwardHalving)(const PoolingBackward *f);
bool THNN_(poolingBackwardRows)(const PoolingBackward *f);
bool THNN_(poolingBackwardChannelsLast)(const PoolingBackward *f);

#endif
