#ifndef THNN_BATCH_NORM_TILE_H
#define THNN_BATCH_NORM_TILE_H

/* Internal to the core: a tile, and the loops over the elements of one tile (moments.c, grad_sums.c, apply.c). */

#include "batch_norm/batch_norm.h"
#include "runtime/integer.h"
#include "runtime/streaming.h"
#include "simd/half_lanes.h"
#include "simd/lanes.h"

/* Compiles a function once, so that all callers add in the same order; gcc would otherwise clone it for constant
   arguments. */
#ifdef __clang__
#define ONE_COPY __attribute__((noinline))
#else
#define ONE_COPY __attribute__((noinline, noclone))
#endif

/* Sums run in `real` over chunks of at most SUM_CHUNK positions (channels-last: SUM_CHUNK_CHANNELS_LAST), shifted by
   the mean of the previous positions. Chunks are merged in accreal: one pass over memory, with the error of two
   passes. */
#define SUM_CHUNK 16384
#define SUM_CHUNK_CHANNELS_LAST 256

/* The largest number of channels of a tile; arrays on the stack have this size. */
#define MAX_TILE_CHANNELS 512

/* The strided layout packs GATHER_POSITIONS positions of GATHER_CHANNELS channels; two such buffers fit into a
   first-level cache of 48 KiB. */
#define GATHER_CHANNELS 16
#define GATHER_POSITIONS ((int)(1344 / sizeof(real)))
#define GATHER_PITCH (GATHER_POSITIONS + (int)(64 / sizeof(real)))

/* THNN_PREFETCH_DISTANCE in elements. */
#define PREFETCH_DISTANCE ((int64_t)(THNN_PREFETCH_DISTANCE / sizeof(real)))

/* ---- vectors (C) ---- */

/* Loads n elements from `first` on, or `absent` n times if there is no vector. */
static inline void loadVector(const THTensor *vector, int64_t first, int64_t n, real absent, real *to)
{
  if (vector == NULL)
    for (int64_t j = 0; j < n; j++) to[j] = absent;
  else
    for (int64_t j = 0; j < n; j++) to[j] = *elementOf(vector, first + j);
}

/* Channels c up to cEnd x positions p up to pEnd. */
typedef struct Tile {
  int64_t c, cEnd, p, pEnd;
} Tile;

/* Tile number i; tiles of one position block are adjacent. */
static inline Tile tileAt(const BatchNorm *b, int64_t i)
{
  Tile tile = {i % b->channelTiles * b->tileChannels, 0, i / b->channelTiles * b->blockPositions, 0};
  tile.cEnd = MIN(tile.c + b->tileChannels, b->channels);
  tile.pEnd = MIN(tile.p + b->blockPositions, b->positions);
  return tile;
}

/* The activation of the normalized value: identity, max(0, .), or min(limit, max(0, .)). Loops are specialized for
   each, because the comparisons take time if the operands are in a cache. */
typedef enum Activation { IDENTITY, RELU, CLAMP, ACTIVATIONS } Activation;

/* The function from the elements of x, g or both to the element of out, by its activation. SCALE is the gradient with
   constant statistics, ADD the normalization with a residual g, CUT the gradient of the activation with output x. */
typedef enum ElementMap {
  NORMALIZE,
  NORMALIZE_RELU,
  NORMALIZE_CLAMP,
  SCALE,
  SCALE_RELU,
  SCALE_CLAMP,
  GRADIENT,
  GRADIENT_RELU,
  GRADIENT_CLAMP,
  ADD,
  ADD_RELU,
  ADD_CLAMP,
  CUT,
  CUT_RELU,
  CUT_CLAMP
} ElementMap;

static inline ElementMap mapWith(ElementMap map, Activation activation) { return (ElementMap)(map + activation); }
static ALWAYS_INLINE Activation activationOf(ElementMap map) { return (Activation)(map % ACTIVATIONS); }
static ALWAYS_INLINE bool readsX(ElementMap map) { return map != SCALE && map != CUT; }
static ALWAYS_INLINE bool readsG(ElementMap map) { return map >= SCALE; }

/* Per channel of a tile:
     y = (x - mean) * scale + bias, plus g in ADD;  gradient = g * scale + ((x - mean) * slope + constant)
   Aligned, since channels-last loops load vectors of coefficients for every row. */
typedef struct __attribute__((aligned(64))) Coefficients {
  real mean[MAX_TILE_CHANNELS], scale[MAX_TILE_CHANNELS], bias[MAX_TILE_CHANNELS], slope[MAX_TILE_CHANNELS],
      constant[MAX_TILE_CHANNELS];
  real limit; /* for CLAMP */
} Coefficients;

/* Mean and centred sum of squares of each channel of the tile. */
void THNN_(batchNormTileMoments)(const BatchNorm *b, Tile tile, accreal *mean, accreal *squares);

/* sum(g) and sum(g * (x - mean)) of each channel of the tile. */
void THNN_(batchNormTileGradSums)(const BatchNorm *b, Tile tile, const Coefficients *k, Activation activation,
                                  accreal *sum, accreal *dot);

/* Applies the map to the tile. It visits the last positions first in strided layout and, in channels-first layout, if
   the stages sum over positions or the runs are longer than SUM_CHUNK: a previous stage has read the end of the tile
   last, so that part is most likely still in the cache. */
void THNN_(batchNormTileApply)(const BatchNorm *b, Tile tile, ElementMap map, const Coefficients *k);

#endif
