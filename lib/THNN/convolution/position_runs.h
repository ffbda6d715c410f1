#ifndef THNN_CONVOLUTION_POSITION_RUNS_H
#define THNN_CONVOLUTION_POSITION_RUNS_H

#include "convolution/packing.h"

/* Runs of positions, for micro-kernels that vectorize positions and read them from a packed tile.

   A run is one row of positions. In a flat correlation, whose stride is 1 in height and width, the rows of a packed
   tile follow each other in memory and a run is a whole slice. Then results are also computed between the last position
   of a row and the first of the next, where windows cross the end of a packed row. Storing the rows leaves them out.
   The length of a run is rounded up to whole vectors. */

static inline bool correlationIsFlat(const Correlation *c)
{
  return c->axis[2].stride == 1 && c->axis[3].stride == 1;
}

/* The number of runs of a tile of positions. */
static inline int64_t runCount(const Correlation *c, const int64_t *tile)
{
  return tile[0] * tile[1] * (correlationIsFlat(c) ? 1 : tile[2]);
}

static inline int64_t runLength(const Correlation *c, const PackedTile *packed, const int64_t *tile)
{
  const int64_t positions = tile[3] + (correlationIsFlat(c) ? (tile[2] - 1) * packed->pitch[2] : 0);
  return ceilDivide(positions, VL) * VL;
}

/* Sets the offsets of the elements of a kernel tile: `source` in the packed tile, relative to a position, and `weight`
   in a filter. */
static inline void kernelOffsets(const Correlation *c, const PackedTile *packed, const Tile *kernel,
                                 int64_t *source, int64_t *weight)
{
  int64_t t[4] = {0};
  for (int64_t i = 0; i < elementCount(kernel->size); i++, nextIndex(t, kernel->size, 4)) {
    source[i] = packedTileKernelOffset(packed, c->axis, t);
    weight[i] = 0;
    for (int d = 0; d < 4; d++) weight[i] += (kernel->start[d] + t[d]) * c->axis[d].weightStride;
  }
}

#endif
