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

/* With fewer tiles, a task that reads all weights would wait for memory. */
#define LEAST_TILES 32

#define COMPONENTS 16

/* The plan of a group. There are two schedules. By blocks: a task keeps the patches of a block of tiles in its cache
   and multiplies them by the weights of all panels, which the threads share. By panels: the threads share the patches
   of a block, and a task keeps the products of a panel in its cache and transforms the weights of a K-block at a
   time. */
typedef struct Plan {
  Correlation c;
  int64_t residues, tiles[4], block[4];
  int64_t slices;             /* slices of the kernel */
  int64_t blocks;             /* blocks of all residue classes */
  int64_t panels, panelParts; /* panelParts: tasks of a block */
  bool byPanels;
  int64_t weightStride, panelReals; /* transformed weights: reals per component, reals per panel */
  int64_t patchReals, productReals; /* reals per component, for the tiles of a block */
} Plan;

/* Reals of a component of a tile, for all slices of the kernel and all channels. */
static int64_t tilePatchReals(const Plan *p) { return p->slices * ceilDivide(p->c.inChannels, VL) * VL; }

/* Reals of a component of the patches of `tiles` tiles. Components are a cache line further apart than their size,
   which may be a multiple of a power of two, so that they map to different cache sets. */
static int64_t patchReals(const Plan *p, int64_t tiles)
{
  const int64_t microtiles = ceilDivide(tiles, GEMM_MR);
  return ceilDivide(tiles, microtiles) * microtiles * tilePatchReals(p) + REALS_PER_LINE;
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

/* True if each thread should own panels, of all blocks: then it reads only weights that it has transformed, and none
   from the cache of another core, but transforms all patches. Per channel this adds (threads - 1) * tiles patches and
   saves reading outChannels filters from another core. On an AMD EPYC (Zen 4) whose cores share no cache that is
   faster; on one whose cores share a cache it takes as long up to this limit, and longer above. */
static bool ownsPanels(const Plan *p, int threads)
{
  return p->panels % threads == 0 && (threads - 1) * p->residues * elementCount(p->tiles) <= 3 * p->c.outChannels;
}

/* The schedule is by panels if the weights exceed the cache and all tiles fit a block, so that weights are transformed
   where they are used, once; and if the patches or the weights are too many for the schedule by blocks. */
static void plan(Plan *p, int threads)
{
  const Correlation *c = &p->c;
  const int64_t cache = MIN(thnn_secondLevelCacheBytes(), (int64_t)THNN_SCRATCH_LIMIT) / (int64_t)sizeof(real);
  const int64_t shared = THNN_SHARED_SCRATCH_LIMIT / sizeof(real), productsOfTile = COMPONENTS * GEMM_NR;
  p->panels = ceilDivide(c->outChannels, GEMM_NR);
  p->weightStride = p->slices * c->inChannels * GEMM_NR + REALS_PER_LINE;
  const int64_t most = cache * 5 / 8 / (COMPONENTS * tilePatchReals(p) + productsOfTile);
  int64_t mostByPanels = cache * 3 / 8 / productsOfTile;
  while (COMPONENTS * patchReals(p, mostByPanels) > shared) mostByPanels--;
  const int64_t weights = p->panels * COMPONENTS * p->weightStride;
  const bool inOneBlock = p->residues * elementCount(p->tiles) <= mostByPanels;
  p->byPanels = (weights > cache && inOneBlock) || weights > shared || most < LEAST_TILES;
  winogradBlock(p->tiles, p->byPanels ? mostByPanels : most, p->block);
  p->blocks = p->residues * tileCount(p->tiles, p->block);
  if (p->byPanels) p->weightStride = K_BLOCK * GEMM_NR + REALS_PER_LINE;
  else if (ownsPanels(p, threads)) p->panelParts = threads;
  else balance(p, threads);
  p->patchReals = patchReals(p, elementCount(p->block));
  p->productReals = elementCount(p->block) * GEMM_NR + REALS_PER_LINE;
  p->panelReals = COMPONENTS * p->weightStride;
}

/* Multiplies component i of the patches of a block by a K-block of a panel of weights, `terms` channels of a slice from
   channel k on. In the schedule by blocks the next component of the weights is prefetched. */
static void multiply(const Plan *p, const WinogradPatches *patches, int i, int64_t slice, int64_t k, int64_t terms,
                     const real *weights, int V, real *products)
{
  const WinogradTileSet *set = winogradTilesWith(&patches->tiles, 2, i);
  const int64_t padded = ceilDivide(p->c.inChannels, VL) * VL, vectors = ceilDivide(terms, VL);
  const int64_t tiles = set->count, together = set->together;
  if (tiles == 0) return;
  const int64_t microtiles = ceilDivide(tiles, together);
  const int64_t lines = p->byPanels ? 0 : ceilDivide(VL * V * VL, microtiles * REALS_PER_LINE);
  for (int64_t microtile = 0, tile = 0; tile < tiles; microtile++, tile += together) {
    const WinogradProduct product = {
        .c = products + i * p->productReals + tile * VL,
        .a = patches->data + i * p->patchReals + tile * p->slices * padded + (slice * padded + k) * together,
        .b = weights,
        .next = weights + p->weightStride + microtile * vectors * lines * REALS_PER_LINE,
        .cStride = tiles * VL,
        .aStride = together * VL,
        .terms = terms,
        .lines = lines,
        .accumulate = slice + k > 0};
    THNN_(winogradKernel)((int)MIN(together, tiles - tile), V)(&product);
  }
}

/* Transforms the products of a row of tiles, given by sets, to two rows of positions, [position][VL]. Products that a
   set lacks count as 0, because no position inside the image reads them. Adds 0 times each position to *check, which
   becomes NaN unless all positions are finite. */
static inline void transformRow(const WinogradRow set[2][2], const real *products, int64_t componentStride,
                                vreal bias, real *strip, int64_t pitch, vreal *check)
{
  vreal zero = *check;
  for (int64_t tile = 0; tile < set[0][0].tiles; tile++, strip += 2 * VL) {
    vreal row[8]; /* [component of the column][column] */
#pragma GCC unroll 4
    for (int y = 0; y < 4; y++) {
      vreal m[4];
#pragma GCC unroll 4
      for (int x = 0; x < 4; x++) {
        const WinogradRow *of = &set[y == 3][x == 3];
        const real *from = products + (of->first + tile) * VL + (4 * y + x) * componentStride;
        m[x] = tile < of->tiles ? v_load(from) : (vreal){0};
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
      WinogradRow set[2][2];
      for (int i = 0; i < 4; i++) {
        const WinogradTileSet *s = &sets->of[i / 2][i % 2];
        set[i / 2][i % 2] = winogradRowOf(s, image, row);
        set[i / 2][i % 2].first += v * s->count;
      }
      transformRow(set, products, p->productReals, bias, strip, pitch, check);
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

/* Vectors of output channels of a panel. */
static int panelVectors(const Correlation *c, int64_t panel)
{
  return c->outChannels - panel * GEMM_NR > VL ? 2 : 1;
}

/* Stores a panel. */
static void storePanel(const Plan *p, const Correlation *c, const Tile *block, const WinogradTileSets *sets,
                       const real *products, int64_t panel, real *strip, vreal *check)
{
  for (int v = 0; v < panelVectors(c, panel); v++)
    store(p, c, block, sets, products, v, panel * GEMM_NR + v * VL, strip, check);
}

/* Computes panels begin .. end - 1 of a block; `weights` are all panels. Returns false if a position is not finite. */
static bool computeBlock(const Plan *p, int64_t index, int64_t begin, int64_t end, const real *weights)
{
  /* The classes of one block are adjacent tasks, because they read and write the same cache lines. */
  const Correlation c = winogradResidue(&p->c, index % p->residues);
  const Tile block = tileAt(p->tiles, p->block, index / p->residues);
  real *patches = thnn_scratch(sizeof(real) * (size_t)(COMPONENTS * (p->patchReals + p->productReals) +
                                                       winogradStripReals(2, p->block[3])));
  real *products = patches + COMPONENTS * p->patchReals, *strip = products + COMPONENTS * p->productReals;
  const WinogradPatches layout = {patches, p->patchReals, winogradTileSets(&c, 2, &block, GEMM_MR)};
  const int64_t channels = c.inChannels;
  THNN_(winogradPatches)(&c, 2, &block, c.source, channels, 0, p->slices * ceilDivide(channels, VL), &layout,
                         strip);
  vreal check = {0};
  for (int64_t panel = begin; panel < end; panel++) {
    const int V = panelVectors(&c, panel);
    for (int i = 0; i < COMPONENTS; i++) {
      const real *component = weights + panel * p->panelReals + i * p->weightStride;
      for (int64_t slice = 0; slice < p->slices; slice++)
        for (int64_t k = 0; k < channels; k += K_BLOCK)
          multiply(p, &layout, i, slice, k, MIN(K_BLOCK, channels - k),
                   component + (slice * channels + k) * V * VL, V, products);
    }
    storePanel(p, &c, &block, &layout.tiles, products, panel, strip, &check);
  }
  return v_sum(check) == 0;
}

/* Computes a panel of a block, whose patches are transformed. Returns false if a position is not finite. */
static bool computePanel(const Plan *p, const Correlation *c, const Tile *block, const WinogradPatches *patches,
                         int64_t panel)
{
  real *weights = thnn_scratch(
      sizeof(real) * (size_t)(p->panelReals + COMPONENTS * p->productReals + winogradStripReals(2, p->block[3])));
  real *products = weights + p->panelReals, *strip = products + COMPONENTS * p->productReals;
  for (int64_t slice = 0; slice < p->slices; slice++)
    for (int64_t k = 0; k < c->inChannels; k += K_BLOCK) {
      const int64_t terms = MIN(K_BLOCK, c->inChannels - k);
      THNN_(winogradWeights)(c, panel, slice, k, k + terms, p->weightStride, weights);
      for (int i = 0; i < COMPONENTS; i++)
        multiply(p, patches, i, slice, k, terms, weights + i * p->weightStride, panelVectors(c, panel), products);
    }
  vreal check = {0};
  storePanel(p, c, block, &patches->tiles, products, panel, strip, &check);
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

/* The schedule by blocks; returns false if a position is not finite. */
static bool computeByBlocks(const Plan *p, real *weights, int64_t work)
{
  const Correlation *c = &p->c;
  const int64_t chunk = 32, chunks = ceilDivide(c->inChannels, chunk);
  THNN_PARALLEL_FOR(i, p->panels * p->slices * chunks, p->panels * p->panelReals) {
    const int64_t panel = i / (p->slices * chunks), slice = i / chunks % p->slices, begin = i % chunks * chunk,
                  end = MIN(begin + chunk, c->inChannels);
    THNN_(winogradWeights)(c, panel, slice, begin, end, p->weightStride,
                           weights + panel * p->panelReals +
                               (slice * c->inChannels + begin) * panelVectors(c, panel) * VL);
  }
  atomic_bool finite = true;
  THNN_PARALLEL_FOR(i, p->blocks * p->panelParts, work) {
    const int64_t part = i / p->blocks, begin = part * p->panels / p->panelParts,
                  end = (part + 1) * p->panels / p->panelParts;
    if (!computeBlock(p, i % p->blocks, begin, end, weights)) finite = false;
  }
  return finite;
}

/* The schedule by panels; returns false if a position is not finite. */
static bool computeByPanels(const Plan *p, real *patches, int64_t work)
{
  const int64_t channelBlocks = p->slices * ceilDivide(p->c.inChannels, VL);
  atomic_bool finite = true;
  for (int64_t i = 0; i < p->blocks; i++) {
    const Correlation c = winogradResidue(&p->c, i % p->residues);
    const Tile block = tileAt(p->tiles, p->block, i / p->residues);
    const WinogradPatches layout = {patches, p->patchReals, winogradTileSets(&c, 2, &block, GEMM_MR)};
    THNN_PARALLEL_FOR(k, channelBlocks, COMPONENTS * p->patchReals) {
      real *strip = thnn_scratch(sizeof(real) * (size_t)winogradStripReals(2, p->block[3]));
      THNN_(winogradPatches)(&c, 2, &block, c.source, c.inChannels, k, k + 1, &layout, strip);
    }
    THNN_PARALLEL_FOR(panel, p->panels, work / p->blocks) {
      if (!computePanel(p, &c, &block, &layout, panel)) finite = false;
    }
  }
  return finite;
}

bool THNN_(winogradCorrelate)(const Correlation *c)
{
  if (!THNN_(winogradSuits)(c) || !winogradPays(c, winogradLeastTiles(c))) return false;
  Plan p = {.c = *c, .residues = winogradResidues(c), .slices = c->axis[1].kernel};
  winogradTiles(c, 2, p.tiles);
  const int64_t work = p.residues * elementCount(p.tiles) * p.slices * c->inChannels * c->outChannels;
  plan(&p, thnn_threads(1 << 20, work));
  real *shared = thnn_sharedScratch(sizeof(real) *
                                    (size_t)(p.byPanels ? COMPONENTS * p.patchReals : p.panels * p.panelReals));
  if (shared == NULL) return false;
  p.c.groups = 1;
  for (int64_t group = 0; group < c->groups; group++) {
    if (!(p.byPanels ? computeByPanels : computeByBlocks)(&p, shared, work)) repairImages(&p.c);
    p.c.source += c->inChannels * c->sourceChannelStride;
    p.c.target += c->outChannels * c->targetChannelStride;
    p.c.weight += c->weightGroupStride;
    if (p.c.bias) p.c.bias += c->biasGroupStride;
  }
  return true;
}
#endif
