#ifndef THNN_POOLING_MAX_TILES_H
#define THNN_POOLING_MAX_TILES_H

#include "pooling/geometry.h"
#include "pooling/regions.h"

typedef struct MaxTiles {
  const Pooling *pooling;
  bool areRegions;           /* adaptive regions instead of windows */
  PoolingImages x, y, index; /* input, output, indices */
  const real *input;
  real *output;
  int64_t *indices;
} MaxTiles;

#define TILE_BYTES ((size_t)512 << 10) /* fits the second-level cache */

/* Returns false, and computes nothing, for planes that are not dense, for planes larger than a tile, and for less than
   half as many planes as lanes. The indices must fit into lanes. */
bool THNN_(poolingMaxTiles)(const MaxTiles *f);

#endif
