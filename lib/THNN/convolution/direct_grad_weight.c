#include "convolution/direct.h"

/* gradWeight of groups with few channels. Positions are vectorized. A task computes one group: it packs tiles of the
   source, which stay in L1, and reads gradients in place. An entry of a filter is a kernel element of an input
   channel. */

#define MAX_ENTRIES 512 /* entries of a filter */
#define ACCUMULATORS 10

/* Limits of a packed tile: in L1, or in L2 where tiles in L1 would be mostly halo. A sum in registers has at most
   PARTIAL_VECTORS terms per lane, which a tile in L1 does not exceed. */
#define PACKED_BYTES ((int64_t)20 << 10)
#define LARGE_BYTES ((int64_t)128 << 10)
#define PARTIAL_VECTORS ((int64_t)(PACKED_BYTES / VBYTES))

typedef struct DirectGradWeightPlan {
  const Correlation *c;
  int64_t positions[4], kernel[4]; /* sizes of the whole target and kernel */
  int64_t tile[4];
  int64_t tiles, entries;
  PackedTile packed;
  int32_t offset[MAX_ENTRIES]; /* offset of each entry in the packed tile, relative to a position */
} DirectGradWeightPlan;

static int64_t packedBytes(const DirectGradWeightPlan *p, const int64_t *tile)
{
  return packedTileLayout(p->c->axis, tile, p->kernel).channelPitch * p->c->inChannels * (int64_t)sizeof(real);
}

bool THNN_(directSuitsGradWeight)(const Correlation *c)
{
  if (c->groups == 1 || c->outChannels > DIRECT_GROUP_CHANNELS) return false;
  double entries = (double)c->inChannels;
  for (int d = 0; d < 4; d++) entries *= (double)c->axis[d].kernel;
  if (entries > MAX_ENTRIES) return false;
  DirectGradWeightPlan p = {.c = c};
  for (int d = 0; d < 4; d++) p.kernel[d] = c->axis[d].kernel;
  const int64_t one[4] = {1, 1, 1, MIN(c->axis[3].targetSize, 4 * VL)};
  return packedTileLayout(c->axis, one, p.kernel).residues <= PACKED_TILE_RESIDUES &&
         packedBytes(&p, one) <= (entries > DIRECT_TERMS ? PACKED_BYTES : PACKED_TILE_BYTES);
}

static int64_t vectorsOf(const int64_t *tile) { return tile[0] * tile[1] * tile[2] * ceilDivide(tile[3], VL); }

static bool tileFits(const DirectGradWeightPlan *p, const int64_t *tile, int64_t bytes)
{
  return packedBytes(p, tile) <= bytes && vectorsOf(tile) <= PARTIAL_VECTORS;
}

/* Sets the largest tile of positions that fits. */
static void chooseTile(DirectGradWeightPlan *p, int64_t bytes)
{
  for (int d = 0; d < 4; d++) p->tile[d] = 1;
  for (int d = 3; d >= 0 && (d == 3 || p->tile[d + 1] == p->positions[d + 1]); d--) {
    /* Rows are divided at whole vectors. */
    const int64_t unit = d == 3 ? VL : 1;
    int64_t tile[4];
    memcpy(tile, p->tile, sizeof tile);
    for (tile[d] = p->positions[d]; tile[d] > unit && !tileFits(p, tile, bytes);)
      tile[d] = smallerTile(ceilDivide(p->positions[d], unit), ceilDivide(tile[d], unit)) * unit;
    p->tile[d] = tile[d];
  }
  p->packed = packedTileLayout(p->c->axis, p->tile, p->kernel);
  p->tiles = tileCount(p->positions, p->tile);
}

/* The estimated time in multiply-adds of vectors. */
static double planCost(const DirectGradWeightPlan *p)
{
  const Correlation *c = p->c;
  return (double)c->groups * (double)p->tiles *
         ((double)vectorsOf(p->tile) * (double)c->outChannels * (double)p->entries * 1.5 +
          (double)p->packed.channelPitch * (double)c->inChannels / 2 + 200);
}

static void makePlan(DirectGradWeightPlan *p)
{
  const Correlation *c = p->c;
  for (int d = 0; d < 4; d++) {
    p->positions[d] = c->axis[d].targetSize;
    p->kernel[d] = c->axis[d].kernel;
  }
  const int64_t elements = elementCount(p->kernel);
  p->entries = c->inChannels * elements;
  DirectGradWeightPlan large = *p;
  chooseTile(p, PACKED_BYTES);
  chooseTile(&large, LARGE_BYTES);
  if (1.25 * planCost(&large) < planCost(p)) *p = large;
  int64_t t[4] = {0};
  for (int64_t i = 0; i < elements; i++, nextIndex(t, p->kernel, 4))
    for (int64_t ch = 0; ch < c->inChannels; ch++)
      p->offset[ch * elements + i] =
          (int32_t)(ch * p->packed.channelPitch + packedTileKernelOffset(&p->packed, c->axis, t));
}

static inline vreal loadEach(const real *from, int64_t stride, int n)
{
  vreal x = {0};
  for (int i = 0; i < n; i++) x[i] = from[i * stride];
  return x;
}

/* Adds the products of a tile to the sums of T entries. */
static ALWAYS_INLINE void products(const int T, const DirectGradWeightPlan *p, const Tile *tile,
                                   const real *packed, const int32_t *offset, const real *gradient, double *sum)
{
  const Correlation *c = p->c;
  const int64_t stride = c->axis[3].targetStride, width = tile->size[3];
  const int64_t sourceRow = p->packed.stride[2] * p->packed.pitch[2];
  const int64_t prefetch = c->outChannels * c->targetChannelStride; /* the same position of the next group */
  vreal acc[ACCUMULATORS];
  const real *from[ACCUMULATORS];
#pragma GCC unroll 10
  for (int t = 0; t < T; t++) {
    acc[t] = (vreal){0};
    from[t] = packed + offset[t];
  }
  int64_t q[4] = {0};
  for (int64_t slice = tile->size[0] * tile->size[1]; slice > 0; slice--, nextIndex(q, tile->size, 2)) {
    int64_t x = packedTilePositionOffset(&p->packed, q);
    const real *g = gradient + q[0] * c->axis[0].targetStride + q[1] * c->axis[1].targetStride;
    for (int64_t row = 0; row < tile->size[2]; row++, x += sourceRow, g += c->axis[2].targetStride)
      for (int64_t i = 0; i < width; i += VL) {
        /* Lanes beyond the row are 0 in both factors, because the packed tile may hold NaN there. */
        const int n = (int)MIN(VL, width - i);
        const vreal y = stride == 1 ? v_load_n(g + i, n) : loadEach(g + i * stride, stride, n);
        __builtin_prefetch(g + i * stride + prefetch);
#pragma GCC unroll 10
        for (int t = 0; t < T; t++) acc[t] += y * v_load_n(from[t] + x + i, n);
      }
  }
#pragma GCC unroll 10
  for (int t = 0; t < T; t++) sum[t] += (double)v_sum(acc[t]);
}

#define PRODUCTS(T)                                                       \
  case T:                                                                 \
    products(T, p, &tile, packed, p->offset + k, gradient, total[o] + k); \
    break;

static void gradWeightTask(const DirectGradWeightPlan *p, int64_t group, real scale)
{
  const Correlation *c = p->c;
  const int64_t elements = elementCount(p->kernel);
  real *packed = thnn_scratch((size_t)packedBytes(p, p->tile) + 4 * VBYTES); /* vectors reach beyond its end */
  const Tile kernel = {.size = {p->kernel[0], p->kernel[1], p->kernel[2], p->kernel[3]}};
  const int64_t together = ceilDivide(p->entries, ceilDivide(p->entries, ACCUMULATORS));
  double total[DIRECT_GROUP_CHANNELS][MAX_ENTRIES] = {{0}};
  for (int64_t b = 0; b < p->tiles; b++) {
    const Tile tile = tileAt(p->positions, p->tile, b);
    THNN_(packTile)(c, &p->packed, &tile, &kernel, c->source + group * c->inChannels * c->sourceChannelStride,
                    c->inChannels, packed);
    for (int64_t o = 0; o < c->outChannels; o++) {
      const real *gradient = c->target + (group * c->outChannels + o) * c->targetChannelStride;
      for (int d = 0; d < 4; d++) gradient += tile.start[d] * c->axis[d].targetStride;
      for (int64_t k = 0; k < p->entries; k += together) {
        switch (MIN(together, p->entries - k)) {
          UP_TO_9(PRODUCTS)
          PRODUCTS(10)
        }
      }
    }
  }
  for (int64_t o = 0; o < c->outChannels; o++) {
    real *weight = c->weight + group * c->weightGroupStride + o * c->weightOutStride;
    int64_t t[4] = {0};
    for (int64_t i = 0; i < elements; i++, nextIndex(t, p->kernel, 4))
      for (int64_t ch = 0; ch < c->inChannels; ch++) {
        real *to = weight + ch * c->weightInStride;
        for (int d = 0; d < 4; d++) to += t[d] * c->axis[d].weightStride;
        *to += (real)((double)scale * total[o][ch * elements + i]);
      }
  }
}

void THNN_(directGradWeight)(const Correlation *c, real scale)
{
  DirectGradWeightPlan p = {.c = c};
  makePlan(&p);
  const double work =
      (double)(c->groups * c->outChannels) * (double)elementCount(p.positions) * (double)p.entries / 8;
  THNN_PARALLEL_FOR(group, c->groups, (int64_t)MIN(work, 1e15)) gradWeightTask(&p, group, scale);
}

double THNN_(directGradWeightCost)(const Correlation *c)
{
  DirectGradWeightPlan p = {.c = c};
  makePlan(&p);
  return planCost(&p);
}
