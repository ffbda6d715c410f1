#include "convolution/grad_weight.h"
#include "convolution/winograd.h"
#include "convolution/winograd_transforms.h"
#include "runtime/caches.h"

/* gradWeight by F(3x3,mxm): the m x m gradients of a Winograd tile are transformed to as many components as its patch.
   Per component, the products of both are summed over tiles, and the sums are transformed to kernel elements. A task
   owns some output and input channels and goes through all tiles. The lanes are input channels. */

#ifndef WINOGRAD
bool THNN_(winogradGradWeight)(const Correlation *c, GradWeightUpdate update)
{
  return (void)c, (void)update, false;
}
#else

/* A fallback unit, FALLBACK_OUT output and FALLBACK_IN input channels, is computed by the implicit GEMM if one of its
   sums is not finite. Tasks own whole units, so that the result does not depend on the number of threads. */
#define FALLBACK_OUT 16
#define FALLBACK_IN GEMM_NR

/* Tiles of a block, at most. Blocks depend only on sizes because the partial sums of WINOGRAD_PARTIAL_TILES tiles begin
   anew in each block. */
#define BLOCK_TILES(m) ((m) == 2 ? 64 : 32)

/* F(3x3,4x4) is used for sums over at least this many positions: with fewer its rounding errors exceed torch's. So they
   do for a volume with a dilation, for which torch has a separate gradWeight algorithm. */
#define POSITIONS_OF_4X4 2048

typedef struct Plan {
  Correlation c;
  int m, components;
  int64_t residues, tiles[4], block[4], blocks;               /* blocks: in all residue classes */
  int64_t out, in, outTasks, inTasks;                         /* channels of a task */
  int64_t patchReals, gradientReals, sumReals, gradientPitch; /* per component */
} Plan;

static int64_t taskBytes(const Plan *p, int64_t out, int64_t in)
{
  return p->components * (out * in + elementCount(p->block) * (out + in)) * (int64_t)sizeof(real);
}

/* Sets the numbers of channels of a task: of the numbers that fit the cache, the two with the fewest transforms,
   reduced so that all tasks are about equal. */
static void chooseTask(Plan *p, int64_t bytes)
{
  const int64_t outChannels = ceilDivide(p->c.outChannels, FALLBACK_OUT) * FALLBACK_OUT,
                inChannels = ceilDivide(p->c.inChannels, FALLBACK_IN) * FALLBACK_IN;
  double least = INFINITY;
  for (int64_t in = FALLBACK_IN; in <= inChannels; in += FALLBACK_IN)
    for (int64_t out = FALLBACK_OUT; out <= outChannels && (out == FALLBACK_OUT || taskBytes(p, out, in) <= bytes);
         out += FALLBACK_OUT) {
      const double cost = (double)inChannels * (double)ceilDivide(outChannels, out) +
                          (double)outChannels * (double)ceilDivide(inChannels, in);
      if (cost > least || taskBytes(p, out, in) > bytes) continue;
      least = cost;
      p->out = out;
      p->in = in;
    }
  p->out = ceilDivide(ceilDivide(outChannels, ceilDivide(outChannels, p->out)), FALLBACK_OUT) * FALLBACK_OUT;
  p->in = ceilDivide(ceilDivide(inChannels, ceilDivide(inChannels, p->in)), FALLBACK_IN) * FALLBACK_IN;
}

/* Makes tasks smaller until threads share them evenly. */
static void balance(Plan *p, int threads)
{
  for (;;) {
    p->outTasks = ceilDivide(p->c.outChannels, p->out);
    p->inTasks = ceilDivide(p->c.inChannels, p->in);
    const int64_t tasks = p->c.groups * p->outTasks * p->inTasks;
    if (tasks % threads == 0 || tasks >= 4 * threads) return;
    if (p->in > FALLBACK_IN && (p->in >= p->out || p->out == FALLBACK_OUT))
      p->in = (p->in / FALLBACK_IN + 1) / 2 * FALLBACK_IN;
    else if (p->out > FALLBACK_OUT) p->out = (p->out / FALLBACK_OUT + 1) / 2 * FALLBACK_OUT;
    else return;
  }
}

static void plan(Plan *p, int threads)
{
  winogradTiles(&p->c, p->m, p->tiles);
  winogradBlock(p->tiles, BLOCK_TILES(p->m), p->block);
  p->residues = winogradResidues(&p->c);
  p->blocks = p->residues * tileCount(p->tiles, p->block);
  p->components = winogradComponents(p->m);
  chooseTask(
      p, MIN(MAX(thnn_secondLevelCacheBytes(), (int64_t)1 << 20) * 7 / 8, (int64_t)THNN_SCRATCH_LIMIT * 5 / 8));
  balance(p, threads);
  const int64_t tiles = elementCount(p->block);
  p->patchReals = tiles * p->in + REALS_PER_LINE;
  p->gradientPitch = p->out + REALS_PER_LINE;
  p->gradientReals = tiles * p->gradientPitch + REALS_PER_LINE;
  p->sumReals = p->out * p->in + REALS_PER_LINE;
}

typedef struct Task {
  int64_t group, outChannel, channel, outChannels, channels;
  real *sums, *patches, *gradients, *strip;
} Task;

/* Transforms the gradients of a row of tiles, given by sets. */
static ALWAYS_INLINE void transformGradients(const int m, const real *strip, int64_t pitch,
                                             const WinogradRow set[2][2], real *gradients, int64_t componentStride,
                                             int64_t tileStride)
{
  const int n = m + 2;
  for (int64_t tile = 0; tile < set[0][0].tiles; tile++, strip += m * VL) {
    vreal column[24]; /* [component of the column][column] */
#pragma GCC unroll 4
    for (int x = 0; x < m; x++) {
      vreal y[4];
#pragma GCC unroll 4
      for (int i = 0; i < m; i++) y[i] = v_load(strip + i * pitch + x * VL);
      winogradGradient(m, y, 1, column + x, m);
    }
#pragma GCC unroll 6
    for (int i = 0; i < n; i++) {
      vreal component[6];
      winogradGradient(m, column + i * m, 1, component, 1);
#pragma GCC unroll 6
      for (int x = 0; x < n; x++) {
        const WinogradRow *of = &set[i == n - 1][x == n - 1];
        real *to = gradients + (of->first + tile) * tileStride + (n * i + x) * componentStride;
        if (tile < of->tiles) v_store(to, component[x]);
      }
    }
  }
}

/* Transforms the gradients of a block, [component][tile][output channel]. */
static void packGradients(const Plan *p, const Task *t, const Correlation *c, const Tile *block,
                          const WinogradTileSets *sets)
{
  const CorrelationAxis *height = c->axis + 2, *width = c->axis + 3;
  const int64_t pixels = p->m * block->size[3], firstX = p->m * block->start[3];
  for (int64_t o = 0; o < t->outChannels; o += VL) {
    const int64_t lanes = MIN(VL, t->outChannels - o);
    const real *channel = c->target + (t->group * c->outChannels + t->outChannel + o) * c->targetChannelStride;
    int64_t tile[2] = {0};
    for (int64_t i = 0; i < block->size[0] * block->size[1]; i++, nextIndex(tile, block->size, 2)) {
      const real *image = channel;
      for (int d = 0; d < 2; d++) image += (block->start[d] + tile[d]) * c->axis[d].targetStride;
      for (int64_t row = 0; row < block->size[2]; row++) {
        for (int64_t j = 0; j < p->m; j++) {
          const int64_t y = p->m * (block->start[2] + row) + j;
          const bool inside = y < height->targetSize;
          THNN_(winogradRow)(image + (inside ? y * height->targetStride : 0), width->targetStride,
                             c->targetChannelStride, inside ? width->targetSize : 0, firstX, pixels, lanes,
                             t->strip + j * pixels * VL);
        }
        WinogradRow set[2][2];
        for (int j = 0; j < 4; j++) set[j / 2][j % 2] = winogradRowOf(&sets->of[j / 2][j % 2], i, row);
        real *gradients = t->gradients + o;
        if (p->m == 2)
          transformGradients(2, t->strip, pixels * VL, set, gradients, p->gradientReals, p->gradientPitch);
        else transformGradients(4, t->strip, pixels * VL, set, gradients, p->gradientReals, p->gradientPitch);
      }
    }
  }
}

/* Adds the products of a block to the sums, [component][output channel][input channel]. */
static void multiply(const Plan *p, const Task *t, const WinogradTileSets *sets, bool accumulate)
{
  const int64_t microtiles = ceilDivide(t->outChannels, GEMM_MR);
  const int64_t together = ceilDivide(t->outChannels, microtiles);
  for (int i = 0; i < p->components; i++) {
    const int64_t tiles = winogradTilesWith(sets, p->m, i)->count;
    for (int64_t in = 0; in < t->channels; in += GEMM_NR)
      for (int64_t o = 0; o < t->outChannels; o += together) {
        const WinogradSum sum = {.c = t->sums + i * p->sumReals + o * p->in + in,
                                 .a = t->gradients + i * p->gradientReals + o,
                                 .b = t->patches + i * p->patchReals + in * tiles,
                                 .cStride = p->in,
                                 .aStride = p->gradientPitch,
                                 .bStride = tiles * VL,
                                 .terms = tiles,
                                 .accumulate = accumulate};
        THNN_(winogradSumKernel)((int)MIN(together, t->outChannels - o), t->channels - in > VL ? 2 : 1)(&sum);
      }
  }
}

static ALWAYS_INLINE void transformSums(const int m, real *sums, int64_t componentStride, vreal *check)
{
  const int n = m + 2;
  vreal row[18], zero = *check; /* row: [component of the column][kernel element] */
#pragma GCC unroll 6
  for (int y = 0; y < n; y++) {
    vreal component[6];
#pragma GCC unroll 6
    for (int x = 0; x < n; x++) component[x] = v_load(sums + (n * y + x) * componentStride);
    winogradGradWeight(m, component, 1, row + 3 * y, 1);
  }
#pragma GCC unroll 3
  for (int x = 0; x < 3; x++) {
    vreal element[3];
    winogradGradWeight(m, row + x, 3, element, 1);
#pragma GCC unroll 3
    for (int y = 0; y < 3; y++) {
      v_store(sums + (3 * y + x) * componentStride, element[y]);
      zero += element[y] * (real)0;
    }
  }
  *check = zero;
}

/* Updates `channels` channels of an output channel of gradWeight; `sums` has the kernel elements sumReals apart. */
static void updateFilters(const Plan *p, const real *sums, int64_t channels, real *weight, GradWeightUpdate update)
{
  const Correlation *c = &p->c;
  const int64_t inStride = c->weightInStride, yStride = c->axis[2].weightStride, xStride = c->axis[3].weightStride;
  if (inStride == 9 && yStride == 3 && xStride == 1) {
    real filters[9 * FALLBACK_IN];
    THNN_(transpose)(filters, 9, sums, p->sumReals, 9, channels);
    for (int64_t i = 0; i < 9 * channels; i++) weight[i] = updatedEntry(update, weight[i], filters[i]);
    return;
  }
  for (int64_t i = 0; i < 9; i++) {
    real *to = weight + i / 3 * yStride + i % 3 * xStride;
    const real *from = sums + i * p->sumReals;
    if (inStride == 1)
      for (int64_t k = 0; k < channels; k++) to[k] = updatedEntry(update, to[k], from[k]);
    else
      for (int64_t k = 0; k < channels; k++) to[k * inStride] = updatedEntry(update, to[k * inStride], from[k]);
  }
}

/* Computes a fallback unit by the implicit GEMM. */
static void computeUnit(const Plan *p, int64_t group, int64_t outChannel, int64_t outChannels, int64_t channel,
                        int64_t channels, GradWeightUpdate update)
{
  GradWeightPlan unit = {.c = p->c};
  Correlation *c = &unit.c;
  c->source += (group * c->inChannels + channel) * c->sourceChannelStride;
  c->target += (group * c->outChannels + outChannel) * c->targetChannelStride;
  c->weight += group * c->weightGroupStride + outChannel * c->weightOutStride + channel * c->weightInStride;
  c->groups = 1;
  c->outChannels = outChannels;
  c->inChannels = channels;
  THNN_(gradWeightPlan)(&unit, 1);
  const int64_t tasks = gradWeightTasks(&unit);
  for (int64_t i = 0; i < tasks; i++) THNN_(gradWeightImplicitGemm)(&unit, i, update);
}

/* An upper bound on the fallback units of a task, whose sums are in scratch memory. */
#define MAX_FALLBACK_UNITS 256

/* Transforms the sums and updates gradWeight. Units with a sum that is not finite come last, because the implicit
   GEMM overwrites the scratch memory. */
static void storeTask(const Plan *p, const Task *t, GradWeightUpdate update)
{
  const Correlation *c = &p->c;
  bool finite[MAX_FALLBACK_UNITS];
  int64_t units = 0;
  for (int64_t o = 0; o < t->outChannels; o += FALLBACK_OUT)
    for (int64_t k = 0; k < t->channels; k += FALLBACK_IN, units++) {
      const int64_t endOut = MIN(o + FALLBACK_OUT, t->outChannels), channels = MIN(FALLBACK_IN, t->channels - k);
      vreal check = {0};
      for (int64_t i = o; i < endOut; i++)
        for (int64_t v = 0; v < channels; v += VL) {
          real *sums = t->sums + i * p->in + k + v;
          if (p->m == 2) transformSums(2, sums, p->sumReals, &check);
          else transformSums(4, sums, p->sumReals, &check);
        }
      finite[units] = v_sum(check) == 0;
      real *weight = c->weight + t->group * c->weightGroupStride + t->outChannel * c->weightOutStride +
                     (t->channel + k) * c->weightInStride;
      for (int64_t i = o; finite[units] && i < endOut; i++)
        updateFilters(p, t->sums + i * p->in + k, channels, weight + i * c->weightOutStride, update);
    }
  units = 0;
  for (int64_t o = 0; o < t->outChannels; o += FALLBACK_OUT)
    for (int64_t k = 0; k < t->channels; k += FALLBACK_IN)
      if (!finite[units++])
        computeUnit(p, t->group, t->outChannel + o, MIN(FALLBACK_OUT, t->outChannels - o), t->channel + k,
                    MIN(FALLBACK_IN, t->channels - k), update);
}

static void computeTask(const Plan *p, int64_t index, GradWeightUpdate update)
{
  Task t = {.channel = index % p->inTasks * p->in,
            .outChannel = index / p->inTasks % p->outTasks * p->out,
            .group = index / (p->inTasks * p->outTasks)};
  t.channels = MIN(p->in, p->c.inChannels - t.channel);
  t.outChannels = MIN(p->out, p->c.outChannels - t.outChannel);
  const int64_t sumReals = p->components * p->sumReals, patchReals = p->components * p->patchReals,
                gradientReals = p->components * p->gradientReals,
                stripReals = winogradStripReals(p->m, p->block[3]);
  t.sums = thnn_scratch(sizeof(real) * (size_t)(sumReals + patchReals + gradientReals + stripReals));
  t.patches = t.sums + sumReals;
  t.gradients = t.patches + patchReals;
  t.strip = t.gradients + gradientReals;
  for (int64_t i = 0; i < p->blocks; i++) {
    const Correlation c = winogradResidue(&p->c, i % p->residues);
    const Tile block = tileAt(p->tiles, p->block, i / p->residues);
    const WinogradPatches layout = {t.patches, p->patchReals,
                                    winogradTileSets(&c, p->m, &block, elementCount(block.size))};
    THNN_(winogradPatches)(&c, p->m, &block,
                           c.source + (t.group * c.inChannels + t.channel) * c.sourceChannelStride, t.channels, 0,
                           ceilDivide(t.channels, VL), &layout, t.strip);
    packGradients(p, &t, &c, &block, &layout.tiles);
    multiply(p, &t, &layout.tiles, i > 0);
  }
  storeTask(p, &t, update);
}

/* In double, sums over at most this many positions are left to the implicit GEMM, whose algorithm for few positions
   (grad_weight_unfolded.c) is faster with many channels. */
#define FEW_POSITIONS (sizeof(real) == sizeof(double) ? 512 : 0)

static int64_t positionsOf(const Correlation *c)
{
  return c->axis[0].targetSize * c->axis[1].targetSize * c->axis[2].targetSize * c->axis[3].targetSize;
}

/* gradWeight of slice t of the kernel, from the target slices for which it reads a slice of the source. */
static void computeSlice(const Correlation *c, int64_t t, GradWeightUpdate update)
{
  Plan p = {.c = *c};
  const bool isDilatedVolume = c->axis[1].kernel > 1 && (c->axis[1].dilation > 1 || winogradResidues(c) > 1);
  CorrelationAxis *depth = p.c.axis + 1;
  int64_t begin, end;
  axisPositions(depth, t, &begin, &end);
  if (end == begin) return;
  p.c.weight += t * depth->weightStride;
  p.c.target += begin * depth->targetStride;
  depth->offset += t * depth->dilation + begin * depth->stride;
  depth->targetSize = end - begin;
  depth->kernel = depth->dilation = 1;
  p.m = positionsOf(&p.c) >= POSITIONS_OF_4X4 && !isDilatedVolume ? 4 : 2;
  winogradTiles(&p.c, 2, p.tiles);
  const int64_t work = winogradResidues(c) * elementCount(p.tiles) * c->inChannels * c->outChannels * c->groups;
  plan(&p, thnn_threads(1 << 20, work));
  THNN_PARALLEL_FOR(i, c->groups * p.outTasks * p.inTasks, work) computeTask(&p, i, update);
}

bool THNN_(winogradGradWeight)(const Correlation *c, GradWeightUpdate update)
{
  if (!THNN_(winogradSuits)(c) || !winogradPays(c, WINOGRAD_LEAST_TILES)) return false;
  if (positionsOf(c) <= FEW_POSITIONS) return false;
  for (int64_t t = 0; t < c->axis[1].kernel; t++) computeSlice(c, t, update);
  return true;
}
#endif
