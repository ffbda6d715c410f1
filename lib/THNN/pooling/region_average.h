#ifndef THNN_POOLING_REGION_AVERAGE_H
#define THNN_POOLING_REGION_AVERAGE_H

#include "pooling/geometry.h"
#include "pooling/regions.h"

/* For each element of y, a sum of elements of x. */
typedef struct RegionSums {
  PoolingRegions regions; /* regions of x and y: swapped for the gradient */
  const WindowAxis *axis;
  const Pooling *windows; /* sliding windows instead of adaptive regions, or NULL; for tiles only */
  bool countPadding;      /* count padding in the divisors of windows */
  bool isGradient, streams;
  PoolingImages x, y;
  const real *from;
  real *to;
} RegionSums;

/* Number of inputs of the forward in the region of output o. */
static inline int64_t regionSize(const WindowAxis *axis, int64_t o)
{
  const Region r = regionAdaptive(axis, o);
  return r.end - r.start;
}

/* Divisor of element i of x along an axis. */
static inline int64_t gradientDivisor(const RegionSums *f, int a, int64_t i)
{
  if (f->windows) return poolingDivisor(&f->windows->axis[a], i, f->countPadding);
  const WindowAxis *axis = &f->axis[a];
  return regionSize(&(WindowAxis){.input = axis->output, .output = axis->input}, i);
}

/* Sums in tiles of small planes (average_tiles.c). False, and nothing is computed, unless planes are small and dense
   and at least half as many as lanes. */
bool THNN_(poolingSumTiles)(const RegionSums *f);

#endif
