#include "convolution/winograd.h"

#include <stdatomic.h>

#include "convolution/implicit_gemm.h"
#include "convolution/winograd_transforms.h"
#include "runtime/shared_scratch.h"
#include "runtime/caches.h"
#include "runtime/winograd.h"

bool THNN_(winogradSuits)(const Correlation *c)
{
#ifdef WINOGRAD
  if (!axisIsIdentity(c->axis)) return false;
  for (int d = 2; d < 4; d++)
    if (c->axis[d].kernel != 3 || c->axis[d].dilation % c->axis[d].stride != 0) return false;
  return thnn_winogradEnabled();
#else
  return (void)c, false;
#endif
}

#ifndef WINOGRAD
bool THNN_(winogradCorrelate)(const Correlation *c) { return (void)c, false; }
#else

/* Terms of a K-block, which keeps a component of a panel of weights in the first-level cache and is a level of the
   blocked summation. */
#define K_BLOCK 128

/* The limit of the tiles of a block is at least this, even if they exceed the cache, as far as scratch memory has room:
   with fewer, the weights are read too often. */
#define LEAST_TILES 32

#define COMPONENTS 16

/* The plan of a group. A task computes some panels of a block of tiles of a residue class. */
typedef struct Plan {
  Correlation c;
  int64_t residues, tiles[4], block[4];
  int64_t slices;                   /* of the kernel */
  int64_t blocks, panelParts;       /* of all residue classes; tasks of a block */
  int64_t panels, panelsTogether;   /* panels whose weights are transformed at a time */
  int64_t weightStride, panelReals; /* of a component and of a panel of transformed weights */
  int64_t patchReals, productReals; /* of a component, for the tiles of a block */
} Plan;

/* Reals of a component of a tile, for all slices of the kernel and all channels. */
static int64_t tilePatchReals(const Plan *p) { return p->slices * ceilDivide(p->c.inChannels, VL) * VL; }

/* Reals that a tile takes: its components for all channels, and its products for a panel. */
static int64_t tileReals(const Plan *p) { return COMPONENTS * (tilePatchReals(p) + GEMM_NR); }

/* An upper bound on the scratch memory of a block of at most `tiles` tiles. */
static int64_t blockBytes(const Plan *p, int64_t tiles)
{
  const int64_t inMicrotiles = ceilDivide(tiles, GEMM_MR) * GEMM_MR;
  const int64_t component = inMicrotiles * tilePatchReals(p) + tiles * GEMM_NR + 2 * REALS_PER_LINE;
  return (COMPONENTS * component + winogradStripReals(2, tiles)) * (int64_t)sizeof(real);
}

/* Makes blocks smaller until threads share them evenly. If they would become too small, tasks divide panels too. */
static void balance(Plan *p, int threads)
{
  for (;;) {
    p->blocks = p->residues * tileCount(p->tiles, p->block);
    if (p->blocks % threads == 0 || p->blocks >= 8 * threads) break;
    int d = 0;
    while (d < 4 && p->block[d] == 1) d++;
    if (d == 4) break;
    int64_t smaller[4];
    memcpy(smaller, p->block, sizeof smaller);
    smaller[d] = smallerTile(p->tiles[d], p->block[d]);
    if (elementCount(smaller) < LEAST_TILES) break;
    memcpy(p->block, smaller, sizeof smaller);
  }
  p->panelParts = p->blocks >= 8 * threads ? 1 : MIN(threads / gcd(p->blocks, threads), p->panels);
}

static void plan(Plan *p, int threads)
{
  const Correlation *c = &p->c;
  const int64_t bytes = MIN(thnn_secondLevelCacheBytes() * 5 / 8, (int64_t)THNN_SCRATCH_LIMIT * 5 / 8);
  int64_t most = MAX(bytes / (tileReals(p) * (int64_t)sizeof(real)), LEAST_TILES);
  while (most > 1 && blockBytes(p, most) > (int64_t)THNN_SCRATCH_LIMIT) most--;
  p->panels = ceilDivide(c->outChannels, GEMM_NR);
  winogradBlock(p->tiles, most, p->block);
  balance(p, threads);
  /* Components are a cache line further apart than their size, which may be a multiple of a power of two, so that they
     map to different cache sets. */
  const int64_t tiles = elementCount(p->block), microtiles = ceilDivide(tiles, GEMM_MR);
  p->patchReals = ceilDivide(tiles, microtiles) * microtiles * tilePatchReals(p) + REALS_PER_LINE;
  p->productReals = tiles * GEMM_NR + REALS_PER_LINE;
  p->weightStride = p->slices * c->inChannels * GEMM_NR + REALS_PER_LINE;
  p->panelReals = COMPONENTS * p->weightStride;
  p->panelsTogether = MIN((int64_t)(THNN_SHARED_SCRATCH_LIMIT / sizeof(real)) / p->panelReals, p->panels);
}

/* Multiplies the patches of a block by a panel of weights, component by component. */
static void multiply(const Plan *p, const WinogradPatches *patches, const real *weights, int V, real *products)
{
  const int64_t channels = p->c.inChannels, padded = ceilDivide(channels, VL) * VL;
  const int64_t kBlocks = ceilDivide(channels, K_BLOCK); /* of a slice of the kernel */
  for (int i = 0; i < COMPONENTS; i++, weights += p->weightStride) {
    const WinogradTileSet *set = winogradTilesWith(&patches->tiles, 2, i);
    const int64_t tiles = set->count, together = set->together;
    /* The next component of the weights is prefetched. */
    const int64_t lines = tiles ? ceilDivide(VL * V * VL, ceilDivide(tiles, together) * REALS_PER_LINE) : 0;
    for (int64_t kBlock = 0; kBlock < p->slices * kBlocks; kBlock++)
      for (int64_t tile = 0; tile < tiles; tile += together) {
        const int64_t slice = kBlock / kBlocks, k = kBlock % kBlocks * K_BLOCK, terms = MIN(K_BLOCK, channels - k);
        const real *b = weights + (slice * channels + k) * V * VL;
        const WinogradProduct product = {
            .c = products + i * p->productReals + tile * VL,
            .a = patches->data + i * p->patchReals + tile * p->slices * padded + (slice * padded + k) * together,
            .b = b,
            .next = b + p->weightStride + tile / together * ceilDivide(terms, VL) * lines * REALS_PER_LINE,
            .cStride = tiles * VL,
            .aStride = together * VL,
            .terms = terms,
            .lines = lines,
            .accumulate = kBlock > 0};
        THNN_(winogradKernel)((int)MIN(together, tiles - tile), V)(&product);
      }
  }
}

/* The products of a row of tiles that are in a set. */
typedef struct ProductRow {
  const real *products; /* of component 0 */
  int64_t tiles;
} ProductRow;

/* Transforms a row of products to two rows of positions, [position][VL]. Products that a set lacks are 0, since no
   position inside the image reads them. Adds 0 times each position to *check, which becomes NaN unless all positions are
   finite. */
static inline void transformRow(const ProductRow set[2][2], int64_t componentStride, vreal bias, real *strip,
                                int64_t pitch, vreal *check)
{
  vreal zero = *check;
  for (int64_t tile = 0; tile < set[0][0].tiles; tile++, strip += 2 * VL) {
    vreal row[8]; /* [component of the column][column] */
#pragma GCC unroll 4
    for (int y = 0; y < 4; y++) {
      vreal m[4];
#pragma GCC unroll 4
      for (int x = 0; x < 4; x++) {
        const ProductRow *of = &set[y == 3][x == 3];
        m[x] = tile < of->tiles ? v_load(of->products + tile * VL + (4 * y + x) * componentStride) : (vreal){0};
      }
      winogradTarget(m, 1, row + 2 * y, 1);
    }
#pragma GCC unroll 2
    for (int x = 0; x < 2; x++) {
      vreal position[2];
      winogradTarget(row + x, 2, position, 1);
#pragma GCC unroll 2
      for (int y = 0; y < 2; y++) {
        const vreal value = position[y] + bias;
        v_store(strip + y * pitch + x * VL, value);
        zero += value * (real)0;
      }
    }
  }
  *check = zero;
}

/* Stores vector v of the VL output channels of a panel from outChannel on. */
static void store(const Plan *p, const Correlation *c, const Tile *block, const WinogradTileSets *sets,
                  const real *products, int v, int64_t outChannel, real *strip, vreal *check)
{
  const int64_t lanes = MIN(VL, c->outChannels - outChannel), pitch = 2 * block->size[3] * VL;
  const int64_t positions = MIN(2 * block->size[3], c->axis[3].targetSize - 2 * block->start[3]);
  vreal bias = {0};
  for (int64_t i = 0; c->bias && i < lanes; i++) bias[i] = c->bias[(outChannel + i) * c->biasOutStride];
  int64_t tile[4] = {0};
  for (int64_t image = 0; image < block->size[0] * block->size[1]; image++, nextIndex(tile, block->size, 2)) {
    real *target = c->target + outChannel * c->targetChannelStride;
    for (int d = 0; d < 2; d++) target += (block->start[d] + tile[d]) * c->axis[d].targetStride;
    for (int64_t row = 0; row < block->size[2]; row++) {
      ProductRow from[2][2];
      for (int i = 0; i < 4; i++) {
        const WinogradTileSet *s = &sets->of[i / 2][i % 2];
        const WinogradRow tiles = winogradRowOf(s, image, row);
        from[i / 2][i % 2] = (ProductRow){products + (v * s->count + tiles.first) * VL, tiles.tiles};
      }
      transformRow(from, p->productReals, bias, strip, pitch, check);
      for (int64_t i = 0; i < 2; i++) {
        const int64_t y = 2 * (block->start[2] + row) + i;
        if (y >= c->axis[2].targetSize) break;
        real *to = target + y * c->axis[2].targetStride + 2 * block->start[3] * c->axis[3].targetStride;
        for (int64_t x = 0; x < positions; x += VL, to += VL * c->axis[3].targetStride) {
          const int64_t n = MIN(VL, positions - x);
          THNN_(storePositions)(c, strip + i * pitch + x * VL, VL, to, n, lanes);
        }
      }
    }
  }
}

/* Computes panels begin .. end - 1 of a block; `weights` begins with panel `begin`. Returns false if a position is not
   finite. */
static bool computeBlock(const Plan *p, int64_t index, int64_t begin, int64_t end, const real *weights)
{
  /* The classes of one block are adjacent tasks, because they read and write the same cache lines. */
  const Correlation c = winogradResidue(&p->c, index % p->residues);
  const Tile block = tileAt(p->tiles, p->block, index / p->residues);
  real *patches = thnn_scratch(sizeof(real) * (size_t)(COMPONENTS * (p->patchReals + p->productReals) +
                                                       winogradStripReals(2, p->block[3])));
  real *products = patches + COMPONENTS * p->patchReals, *strip = products + COMPONENTS * p->productReals;
  const WinogradPatches layout = {patches, p->patchReals, winogradTileSets(&c, 2, &block, GEMM_MR)};
  THNN_(winogradPatches)(&c, 2, &block, c.source, c.inChannels, &layout, strip);
  vreal check = {0};
  for (int64_t panel = begin; panel < end; panel++, weights += p->panelReals) {
    const int64_t outChannel = panel * GEMM_NR;
    const int V = c.outChannels - outChannel > VL ? 2 : 1;
    multiply(p, &layout, weights, V, products);
    for (int v = 0; v < V; v++)
      store(p, &c, &block, &layout.tiles, products, v, outChannel + v * VL, strip, &check);
  }
  return v_sum(check) == 0;
}

/* The correlation of one image. */
static Correlation imageOf(const Correlation *all, int64_t image)
{
  Correlation c = *all;
  for (int d = 1; d >= 0; d--) {
    const int64_t at = image % c.axis[d].targetSize;
    image /= c.axis[d].targetSize;
    c.target += at * c.axis[d].targetStride;
    c.axis[d].offset += at * c.axis[d].stride;
    c.axis[d].targetSize = 1;
  }
  return c;
}

static bool targetIsFinite(const Correlation *c)
{
  real check = 0;
  for (int64_t o = 0; o < c->outChannels; o++)
    for (int64_t y = 0; y < c->axis[2].targetSize; y++) {
      const real *row = c->target + o * c->targetChannelStride + y * c->axis[2].targetStride;
      for (int64_t x = 0; x < c->axis[3].targetSize; x++) check += row[x * c->axis[3].targetStride] * 0;
    }
  return check == 0;
}

/* Computes the images with a position that is not finite by the implicit GEMM: components mix the coordinates of a
   patch, so that a NaN, and a difference that overflows, also reach positions whose windows do not contain them. Whole
   images are computed again, since blocks depend on the number of threads. */
static void repairImages(const Correlation *c)
{
  for (int64_t i = 0; i < c->axis[0].targetSize * c->axis[1].targetSize; i++) {
    const Correlation image = imageOf(c, i);
    if (!targetIsFinite(&image)) THNN_(implicitGemm)(&image);
  }
}

static void computeGroup(const Plan *p, real *weights, int64_t work)
{
  const Correlation *c = &p->c;
  atomic_bool finite = true;
  for (int64_t first = 0; first < p->panels; first += p->panelsTogether) {
    const int64_t panels = MIN(p->panelsTogether, p->panels - first), chunk = 32,
                  chunks = ceilDivide(c->inChannels, chunk);
    THNN_PARALLEL_FOR(i, panels * p->slices * chunks, p->slices * c->inChannels * panels * GEMM_NR * COMPONENTS) {
      const int64_t panel = i / (p->slices * chunks), slice = i / chunks % p->slices, begin = i % chunks * chunk,
                    end = MIN(begin + chunk, c->inChannels);
      THNN_(winogradWeights)(c, first + panel, slice, begin, end, p->weightStride,
                             weights + panel * p->panelReals);
    }
    const int64_t parts = MIN(p->panelParts, panels);
    THNN_PARALLEL_FOR(i, p->blocks * parts, work) {
      const int64_t part = i % parts, begin = part * panels / parts, end = (part + 1) * panels / parts;
      if (!computeBlock(p, i / parts, first + begin, first + end, weights + begin * p->panelReals)) finite = false;
    }
  }
  if (!finite) repairImages(c);
}

bool THNN_(winogradCorrelate)(const Correlation *c)
{
  if (!THNN_(winogradSuits)(c) || !winogradPays(c)) return false;
  Plan p = {.c = *c, .residues = winogradResidues(c), .slices = c->axis[1].kernel};
  winogradTiles(c, 2, p.tiles);
  const int64_t work = p.residues * elementCount(p.tiles) * p.slices * c->inChannels * c->outChannels;
  plan(&p, thnn_threads(1 << 20, work));
  real *weights = thnn_sharedScratch(sizeof(real) * (size_t)(p.panelsTogether * p.panelReals));
  if (weights == NULL) return false;
  p.c.groups = 1;
  for (int64_t group = 0; group < c->groups; group++) {
    computeGroup(&p, weights, work);
    p.c.source += c->inChannels * c->sourceChannelStride;
    p.c.target += c->outChannels * c->targetChannelStride;
    p.c.weight += c->weightGroupStride;
    if (p.c.bias) p.c.bias += c->biasGroupStride;
  }
  return true;
}
#endif
