#ifndef THNN_POOLING_FORWARD_H
#define THNN_POOLING_FORWARD_H

#include "pooling/geometry.h"
#include "pooling/lanes.h"

/* The maximum if there are indices, the average otherwise. */
typedef struct PoolingForward {
  const Pooling *pooling;
  PoolingImages x, y, index; /* input, output, indices */
  IndexAxis indexAxis[WINDOW_AXES];
  const real *input;
  real *output;
  int64_t *indices;
  bool countPadding;
} PoolingForward;

#define LOWEST (-(sizeof(real) == 4 ? (real)FLT_MAX : (real)DBL_MAX))

/* Rows of lanes. Kernel element e of lane i is from[offset[e] + i], or from[offset[e] + 2*i] for pairs, and its index is
   indexBase + elementIndex[e] + i*indexPerLane; from row to row, pointers and index advance by the other steps. */
typedef struct LaneRows {
  int64_t count;
  const real *from;
  real *to;
  int64_t *index;
  int64_t fromStep, toStep, indexStep;
  int64_t indexBase, indexPerRow, indexPerLane;
  vint indexRamp;            /* ramp(indexPerLane) */
  int64_t elements, columns; /* of the kernel, and those of one row of the kernel */
  int64_t *offset;
  vlane *elementIndex;
  real *rowDivisor, *laneDivisor; /* of the average; laneDivisor may be NULL */
} LaneRows;

/* n lanes, without and with pairs. Each is a function of its own because its loop needs all the registers. */
void THNN_(poolingMaxLanes)(int64_t n, const LaneRows *rows);
void THNN_(poolingMaxPairs)(int64_t n, const LaneRows *rows);
void THNN_(poolingAverageLanes)(int64_t n, const LaneRows *rows);
void THNN_(poolingAveragePairs)(int64_t n, const LaneRows *rows);

/* Each returns false, and computes nothing, if it does not apply: to the geometry, to the strides, or because it needs
   more scratch memory than there is. */
bool THNN_(poolingForwardHalving)(const PoolingForward *f);
bool THNN_(poolingForwardRows)(const PoolingForward *f);
bool THNN_(poolingForwardChannelsLast)(const PoolingForward *f);

#endif
