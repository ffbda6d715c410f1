#ifndef THNN_POOLING_FORWARD_H
#define THNN_POOLING_FORWARD_H

#include "pooling/geometry.h"
#include "pooling/lanes.h"

/* The arguments of a call: the maximum if `indices` is not NULL, otherwise the average. */
typedef struct PoolingForward {
  const Pooling *pooling;
  PoolingImages x, y, index; /* input, output, indices */
  IndexAxis indexAxis[WINDOW_AXES];
  const real *input;
  real *output;
  int64_t *indices;
  bool countPadding;
  const real *scale, *bias; /* of each channel, for a scaled sum instead of the average; otherwise NULL */
} PoolingForward;

/* True if poolingForwardRows reads the input where it lies: if no window leaves it, and kernel elements read adjacent
   columns or pairs. */
static inline bool readsInPlace(const PoolingForward *f)
{
  const WindowAxis *axis = f->pooling->axis;
  return f->x.sw == 1 && axis[2].stride <= 2 && windowIsInside(&axis[0]) && windowIsInside(&axis[1]) &&
         windowIsInside(&axis[2]);
}

#define LOWEST (-(sizeof(real) == 4 ? (real)FLT_MAX : (real)DBL_MAX))

/* Rows of lanes. Kernel element e of lane i is from[offset[e] + i], or from[offset[e] + 2*i] in pairs (stride 2,
   without a row layout); its index is indexBase + elementIndex[e] + i*indexPerLane. From row to row, `from`, `to` and
   `index` advance by fromStep, toStep and indexStep, and indices by indexPerRow. */
typedef struct LaneRows {
  int64_t count;
  const real *from;
  real *to;
  int64_t *index;
  int64_t fromStep, toStep, indexStep;
  int64_t indexBase, indexPerRow, indexPerLane;
  vint indexRamp;            /* ramp(indexPerLane) */
  int64_t elements, columns; /* elements of the kernel, elements of one row of the kernel */
  int64_t *offset;
  vlane *elementIndex;
  /* Factors of the average's divisor; laneDivisor may be NULL. In a scaled sum poolingForwardRows keeps the scale in
     the memory of laneDivisor. */
  real *rowDivisor, *laneDivisor;
  const real *scale, *bias; /* of each lane, for a scaled sum instead of the average; otherwise scale is NULL */
} LaneRows;

/* Compute n lanes, adjacent or in pairs. Four functions, because each loop needs all the registers. */
void THNN_(poolingMaxLanes)(int64_t n, const LaneRows *rows);
void THNN_(poolingMaxPairs)(int64_t n, const LaneRows *rows);
void THNN_(poolingAverageLanes)(int64_t n, const LaneRows *rows);
void THNN_(poolingAveragePairs)(int64_t n, const LaneRows *rows);

/* Each returns false, and computes nothing, if it does not support the geometry or the strides, or needs more than
   THNN_SCRATCH_LIMIT. */
bool THNN_(poolingForwardHalving)(const PoolingForward *f);
bool THNN_(poolingForwardRows)(const PoolingForward *f);
bool THNN_(poolingForwardChannelsLast)(const PoolingForward *f);

#endif
