#include "connection_table/connection_list.h"
#include "convolution/position_runs.h"

/* gradWeight. Positions are vectorized. A task computes the filters between a block of input channels, which are
   major, and a block of output channels, which are minor; it packs tiles of the input once for all its connections. */

#define TILE_VECTORS 128                  /* vectors of positions whose products are summed in registers */
#define ACCUMULATORS 9                    /* kernel elements whose sums are in registers */
#define CHANNEL_BLOCK 16                  /* channels of a block, at most */
#define PACKED_BYTES ((int64_t)512 << 10) /* size of the packed tiles of input and gradOutput */
#define TOTALS ((int64_t)32768)           /* sums in double, in scratch memory */

typedef struct GradWeightPlan {
  Correlation c;
  int64_t positions[4], kernel[4]; /* sizes of the whole target and kernel */
  int64_t tile[4], kernelTile[4];
  int64_t tiles;
  PackedTile packed;
  ConnectionList list;
  size_t listBytes, scratchBytes;
} GradWeightPlan;

/* gradOutput is read in place if its rows are contiguous, otherwise from a packed tile. */
typedef struct Gradients {
  const real *data;
  int64_t channelStride, stride[3];
} Gradients;

static bool tileFits(const GradWeightPlan *p, const int64_t *tile)
{
  const int64_t realBytes = sizeof(real), vectors = tile[0] * tile[1] * tile[2] * ceilDivide(tile[3], VL);
  const int64_t reals = p->list.majorBlock * packedTileLayout(p->c.axis, tile, p->kernelTile).channelPitch +
                        p->list.minorBlock * elementCount(tile);
  return vectors <= TILE_VECTORS && reals * realBytes <= PACKED_BYTES;
}

static void makePlan(GradWeightPlan *p, const ConnectionTable *table)
{
  const Correlation *c = &p->c;
  const int64_t realBytes = sizeof(real);
  ConnectionList *list = &p->list;
  p->tile[3] = MIN(p->positions[3], 8 * VL);
  THNN_(correlationSplitKernel)(c, p->kernelTile, &p->tile[3]);
  list->majorBlock = MIN(ceilDivide(c->inChannels, 4), CHANNEL_BLOCK);
  list->minorBlock = MIN(ceilDivide(c->outChannels, 4), CHANNEL_BLOCK);
  while (list->majorBlock > 1 && !tileFits(p, p->tile)) list->majorBlock = (list->majorBlock + 1) / 2;
  for (int d = 3; d >= 0 && (d == 3 || p->tile[d + 1] == p->positions[d + 1]); d--) {
    int64_t tile[4];
    memcpy(tile, p->tile, sizeof tile);
    for (tile[d] = p->positions[d]; tile[d] > p->tile[d] && !tileFits(p, tile);)
      tile[d] = smallerTile(p->positions[d], tile[d]);
    p->tile[d] = MAX(tile[d], p->tile[d]);
  }
  p->tiles = tileCount(p->positions, p->tile);
  p->packed = packedTileLayout(c->axis, p->tile, p->kernelTile);
  list->minorBlocks = ceilDivide(c->outChannels, list->minorBlock);
  const int64_t reals = list->majorBlock * p->packed.channelPitch +
                        list->minorBlock * (elementCount(p->tile) + 2 * REALS_PER_LINE) + 2 * VL;
  p->listBytes = THNN_(connectionListBytes)(table);
  p->scratchBytes = p->listBytes + sizeof(double) * TOTALS + (size_t)(reals * realBytes);
}

/* sum[t] += the products of a tile for the E kernel elements at source[0] .. source[E - 1]. */
static ALWAYS_INLINE void products(const int E, const GradWeightPlan *p, const int64_t *tile, const real *packed,
                                   const Gradients *gradients, const real *gradient, const int64_t *source,
                                   double *sum)
{
  vreal acc[ACCUMULATORS];
#pragma GCC unroll 9
  for (int t = 0; t < E; t++) acc[t] = (vreal){0};
  int64_t q[4] = {0};
  for (int64_t row = tile[0] * tile[1] * tile[2]; row > 0; row--, nextIndex(q, tile, 3)) {
    const real *x = packed + packedTilePositionOffset(&p->packed, q), *g = gradient;
    for (int d = 0; d < 3; d++) g += q[d] * gradients->stride[d];
    int64_t i = 0;
    for (; i + VL <= tile[3]; i += VL) {
      const vreal y = v_load(g + i);
#pragma GCC unroll 9
      for (int t = 0; t < E; t++) acc[t] += y * v_load(x + i + source[t]);
    }
    if (i < tile[3]) {
      const int rest = (int)(tile[3] - i);
      const vreal y = v_load_n(g + i, rest);
#pragma GCC unroll 9
      for (int t = 0; t < E; t++) acc[t] += y * v_load_n(x + i + source[t], rest);
    }
  }
#pragma GCC unroll 9
  for (int t = 0; t < E; t++) sum[t] += (double)v_sum(acc[t]);
}

#define PRODUCTS(E)                                                            \
  case E:                                                                      \
    products(E, p, tile.size, x, &gradients, gradient, source + k, total + k); \
    break;

static void gradWeightTask(const GradWeightPlan *p, int64_t task, real scale)
{
  const Correlation *c = &p->c;
  const ConnectionList *list = &p->list;
  const int64_t major = task / list->minorBlocks * list->majorBlock,
                minor = task % list->minorBlocks * list->minorBlock;
  const Connection *begin = THNN_(connectionListBlock)(list, task),
                   *end = THNN_(connectionListBlock)(list, task + 1);
  double *totals = (double *)((char *)thnn_scratch(p->scratchBytes) + p->listBytes);
  real *packed = (real *)(totals + TOTALS),
       *packedGradients = packed + list->majorBlock * p->packed.channelPitch + VL;
  Gradients gradients = {.data = c->target + minor * c->targetChannelStride,
                         .channelStride = c->targetChannelStride};
  Correlation copy = {.source = c->target, .sourceChannelStride = c->targetChannelStride};
  for (int d = 0; d < 4; d++) {
    copy.axis[d] = (CorrelationAxis){.targetSize = p->positions[d],
                                     .sourceSize = p->positions[d],
                                     .stride = 1,
                                     .kernel = 1,
                                     .dilation = 1,
                                     .sourceStride = c->axis[d].targetStride};
    if (d < 3) gradients.stride[d] = c->axis[d].targetStride;
  }
  const Tile one = {.size = {1, 1, 1, 1}};
  const PackedTile copyLayout = packedTileLayout(copy.axis, p->tile, one.size);
  const bool inPlace = c->axis[3].targetStride == 1;
  if (!inPlace) {
    gradients = (Gradients){.data = packedGradients, .channelStride = copyLayout.channelPitch};
    memcpy(gradients.stride, copyLayout.pitch, sizeof gradients.stride);
  }
  for (int64_t i = 0; i < tileCount(p->kernel, p->kernelTile); i++) {
    const Tile kernel = tileAt(p->kernel, p->kernelTile, i);
    const int64_t elements = elementCount(kernel.size),
                  together = ceilDivide(elements, ceilDivide(elements, ACCUMULATORS));
    int64_t source[KERNEL_TILE_ELEMENTS], element[KERNEL_TILE_ELEMENTS];
    kernelOffsets(c, &p->packed, &kernel, source, element);
    for (const Connection *next, *at = begin; at < end; at = next) {
      next = at + MIN(end - at, TOTALS / elements);
      memset(totals, 0, sizeof(double) * (size_t)((next - at) * elements));
      for (int64_t b = 0; b < p->tiles; b++) {
        const Tile tile = tileAt(p->positions, p->tile, b);
        THNN_(packTile)(c, &p->packed, &tile, &kernel, c->source + major * c->sourceChannelStride,
                        MIN(list->majorBlock, c->inChannels - major), packed);
        const real *first = gradients.data;
        if (inPlace)
          for (int d = 0; d < 4; d++) first += tile.start[d] * c->axis[d].targetStride;
        else
          THNN_(packTile)(&copy, &copyLayout, &tile, &one, c->target + minor * c->targetChannelStride,
                          MIN(list->minorBlock, c->outChannels - minor), packedGradients);
        for (const Connection *j = at; j < next; j++) {
          const real *x = packed + (j->major - major) * p->packed.channelPitch;
          const real *gradient = first + (j->minor - minor) * gradients.channelStride;
          double *total = totals + (j - at) * elements;
          for (int64_t k = 0; k < elements; k += together) switch (MIN(together, elements - k)) {
              UP_TO_9(PRODUCTS)
            }
        }
      }
      for (const Connection *j = at; j < next; j++)
        for (int64_t k = 0; k < elements; k++)
          c->weight[j->row * c->weightOutStride + element[k]] +=
              (real)((double)scale * totals[(j - at) * elements + k]);
    }
  }
}

void THNN_(connectionTableGradWeight)(const Convolution *g, ConnectionTable table, ConvolutionView input,
                                      ConvolutionView gradOutput, ConvolutionView gradWeight, real scale)
{
  GradWeightPlan p = {.c = THNN_(correlationForward)(g, input, gradWeight, gradOutput)};
  const Correlation c = p.c;
  for (int d = 0; d < 4; d++) {
    p.positions[d] = c.axis[d].targetSize;
    p.kernel[d] = c.axis[d].kernel;
    p.tile[d] = 1;
  }
  if (elementCount(p.positions) == 0) return;
  makePlan(&p, &table);
  for (int64_t row = 0; row < table.rows; row += TABLE_ROWS) {
    p.list.count = MIN(table.rows - row, TABLE_ROWS);
    p.c.weight = c.weight + row * c.weightOutStride;
    THNN_(connectionListSort)(&p.list, &table, row, !table.outputColumn, p.scratchBytes);
    const double work = (double)elementCount(p.positions) * (double)(p.list.count * elementCount(p.kernel));
    THNN_PARALLEL_FOR(task, ceilDivide(c.inChannels, p.list.majorBlock) * p.list.minorBlocks,
                      (int64_t)MIN(work / 8, 1e15))
      gradWeightTask(&p, task, scale);
  }
}
