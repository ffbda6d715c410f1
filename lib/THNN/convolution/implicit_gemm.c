#include "convolution/implicit_gemm.h"
#include "gemm/gemm.h"

/* Entries of a row table: the rows of an output tile, then repeats of the last row for an incomplete micro-tile. */
#define ROW_TABLE_SIZE (IMPLICIT_GEMM_ROWS + GEMM_MR)

/* A task's scratch memory, all packed, and tables for the current output tile and block of channels. A row is
   adjacentPositions() adjacent positions of an output tile. One row pointer of a micro-tile covers a row, or a part of
   it if the row has more than GEMM_MR positions (microkernel.h). */
typedef struct Workspace {
  real *input, *weights, *sums;
  real *channels;                      /* TILE_TERMS channels of an input tile, before they are innermost */
  int64_t channelPitch, positionPitch; /* of the packed input tile */
  int32_t offset[2][GEMM_KC]; /* offsets of terms, relative to a position; [1]: in the last, incomplete K-block */
  int64_t rowInput[ROW_TABLE_SIZE], rowTarget[ROW_TABLE_SIZE]; /* offsets of rows */
  int32_t rowKernel[ROW_TABLE_SIZE][2]; /* begin and end on the padded axis, in the first row of each micro-tile */
  int64_t contiguousRows;               /* in the target */
} Workspace;

/* --- epilogue ---------------------------------------------------------------------------------------------------- */

/* storePositions of a target of a half type. */
static void storeHalfPositions(const Correlation *c, const real *sum, int64_t width, real *target,
                               int64_t positions, int64_t lanes)
{
  const int64_t stride = c->axis[3].targetStride;
  const int32_t type = c->targetType;
  if (c->targetChannelStride == 1) {
    for (int64_t q = 0; q < positions; q++, sum += width)
      for (int64_t i = 0; i < lanes; i += VL)
        v_storeHalf(elementAt(target, q * stride + i, type), v_load(sum + i), type, (int)MIN(VL, lanes - i));
    return;
  }
  real row[2 * VBYTES / sizeof(real)][VBYTES / sizeof(real)]; /* [n][position] */
  THNN_(transpose)(row[0], VL, sum, width, positions, lanes);
  for (int64_t i = 0; i < lanes; i++) {
    const int64_t at = i * c->targetChannelStride;
    if (stride == 1) v_storeHalf(elementAt(target, at, type), v_load(row[i]), type, (int)positions);
    else
      for (int64_t q = 0; q < positions; q++) storeElement(target, at + q * stride, type, row[i][q]);
  }
}

void THNN_(storePositions)(const Correlation *c, const real *sum, int64_t width, real *target, int64_t positions,
                           int64_t lanes)
{
  const int64_t stride = c->axis[3].targetStride;
  if (isHalf(c->targetType)) {
    storeHalfPositions(c, sum, width, target, positions, lanes);
  } else if (c->targetChannelStride == 1) {
    for (int64_t q = 0; q < positions; q++, target += stride, sum += width) {
      int64_t i = 0;
      for (; i + VL <= lanes; i += VL) v_store(target + i, v_load(sum + i));
      if (i < lanes) v_store_n(target + i, v_load(sum + i), (int)(lanes - i));
    }
  } else if (stride == 1) {
    THNN_(transpose)(target, c->targetChannelStride, sum, width, positions, lanes);
  } else {
    real row[GEMM_NR * REALS_PER_LINE]; /* [n][position] */
    THNN_(transpose)(row, VL, sum, width, positions, lanes);
    for (int64_t i = 0; i < lanes; i++)
      for (int64_t q = 0; q < positions; q++) target[q * stride + i * c->targetChannelStride] = row[i * VL + q];
  }
}

/* Positions first .. end - 1 of an output tile are finished. Stores the positions that fill vectors or end a contiguous
   span of the target, and returns the first position that is not stored. */
static int64_t storeFinished(const Correlation *c, const Workspace *w, const real *sum, int64_t width,
                             real *target, int64_t adjacent, int64_t lanes, int64_t first, int64_t end)
{
  const int64_t span = w->contiguousRows * adjacent;
  while (first < end) {
    const int64_t x = first < span ? first : first % span, n = MIN(VL, span - x);
    if (first + n > end) break;
    THNN_(storePositions)(c, sum + first * width, width,
                          elementAt(target,
                                    w->rowTarget[first / span * w->contiguousRows] + x * c->axis[3].targetStride,
                                    c->targetType),
                          n, lanes);
    first += n;
  }
  return first;
}

/* Prefetches the lines that a row of positions will be stored to. */
static inline void prefetchRow(const Correlation *c, const real *target, int64_t positions, int64_t lanes)
{
  if (c->targetChannelStride == 1) {
    for (int64_t q = 0; q < positions; q++)
      for (int64_t i = 0; i < lanes; i += REALS_PER_LINE)
        __builtin_prefetch(elementAt(target, q * c->axis[3].targetStride + i, c->targetType), 1);
  } else {
    /* One line per channel suffices: a row begins on the line on which the row before ends. */
    for (int64_t i = 0; i < lanes; i++)
      __builtin_prefetch(
          elementAt(target, (positions - 1) * c->axis[3].targetStride + i * c->targetChannelStride, c->targetType),
          1);
  }
}

/* --- micro-tiles ------------------------------------------------------------------------------------------------- */

/* Multiplies one panel of packed weights by the packed input tile. `begins`: the sums begin with the biases. `ends`:
   the sums are stored. Prefetches `next` meanwhile. */
static void multiplyPanel(const ImplicitGemmPlan *p, const Workspace *w, const Tile *output, const real *weights,
                          const WeightBlock *b, real *sums, bool begins, bool ends, PrefetchRegion next)
{
  const Correlation *c = &p->c;
  const int64_t channels = b->channels, elements = elementCount(b->kernel->size);
  const int64_t lanes = MIN(GEMM_NR, c->outChannels - b->outChannel);
  const int V = lanes > VL ? 2 : 1;
  const int64_t width = V * VL, adjacent = adjacentPositions(output->size[3]),
                rows = elementCount(output->size) / adjacent;
  const int together = rowPointerCount(adjacent);
  const int64_t tiles = together > 1 ? 1 : ceilDivide(adjacent, GEMM_MR); /* micro-tiles of a row */
  const int64_t narrow = adjacent / tiles, wider = adjacent % tiles;      /* `wider` tiles have narrow + 1 */
  real *target =
      elementAt(c->target, (b->group * c->outChannels + b->outChannel) * c->targetChannelStride, c->targetType);
  PrefetchPlan prefetch =
      makePrefetchPlan(next, MAX(ceilDivide(channels, p->kBlockChannels), 1) * ceilDivide(rows, together) * tiles,
                       MIN(p->kBlockChannels, channels) * elements);
  for (int64_t k = 0; k < channels || k == 0; k += p->kBlockChannels) {
    const int64_t n = MIN(p->kBlockChannels, paddedChannels(p, channels - k));
    const int32_t *offset = w->offset[n < p->kBlockChannels];
    const int64_t termsPerElement = n * elements / (p->paddedAxis < 0 ? 1 : p->kernelTile[p->paddedAxis]);
    const bool first = begins && k == 0, last = ends && k + n >= channels;
    const real *packed = weights + (1 + k * elements) * width;
    real *sum = sums;
    int64_t done = 0, stored = 0;
    for (int64_t row = 0; row < rows; row += together) {
      const int R = rows - row > 1 ? together : 1;
      for (int64_t tile = 0, x = 0, Q; tile < tiles; tile++, x += Q) {
        Q = narrow + (tile < wider);
        const real *a[GEMM_MR];
        for (int r = 0; r < R; r++)
          a[r] = w->input + k * w->channelPitch + w->rowInput[row + r] + x * w->positionPitch;
        /* Rows of one position that are adjacent in the target share cache lines, so only the last of them is
           prefetched. */
        for (int r = 0; last && r < R && row + r < rows; r++)
          if (adjacent > 1 || r + 1 == R || row + r + 1 == rows || c->targetChannelStride == 1 ||
              w->rowTarget[row + r + 1] - w->rowTarget[row + r] != c->axis[3].targetStride)
            prefetchRow(c, elementAt(target, w->rowTarget[row + r] + x * c->axis[3].targetStride, c->targetType),
                        Q, lanes);
        const KRange range = {offset, w->rowKernel[row][0] * termsPerElement,
                              w->rowKernel[row][1] * termsPerElement};
        const PrefetchLines lines = nextPrefetch(&prefetch);
        const real *before = first ? weights : sum;
        const int64_t beforeStride = first ? 0 : width;
#if HAS_BFLOAT16_MICROKERNEL
        if (p->tiles)
          THNN_(tileMicrokernel)(R, (int)Q, V, sum, width, before, beforeStride, a, w->positionPitch, range,
                                 packed, width);
        else
#endif
          microkernelOf(c->pairs, R, (int)Q, V, lines.run > 0)(sum, width, before, beforeStride, a, range, packed,
                                                               width, &lines);
        sum += R * Q * width;
        done = MIN(done + R * Q, rows * adjacent);
        if (last) stored = storeFinished(c, w, sums, width, target, adjacent, lanes, stored, done);
      }
    }
  }
}

/* --- tasks ------------------------------------------------------------------------------------------------------- */

/* Sets `range` to the kernel elements of an axis that read the source, not padding, from this position. */
static void elementsInside(const CorrelationAxis *a, int64_t position, int32_t *range)
{
  const int64_t first = a->offset + position * a->stride, left = a->sourceSize - first;
  const int64_t begin = first < 0 ? MIN(ceilDivide(-first, a->dilation), a->kernel) : 0,
                end = left > 0 ? MIN(ceilDivide(left, a->dilation), a->kernel) : 0;
  range[0] = (int32_t)begin;
  range[1] = (int32_t)MAX(begin, end);
}

/* Sets the tables of rows for an output tile. */
static void locateRows(const ImplicitGemmPlan *p, const Tile *output, Workspace *w)
{
  const Correlation *c = &p->c;
  int64_t q[4] = {0};
  const int64_t adjacent = adjacentPositions(output->size[3]);
  const int64_t rows[4] = {output->size[0], output->size[1], output->size[2], output->size[3] / adjacent};
  w->contiguousRows = rows[3];
  for (int d = 2; d >= 0; d--) {
    if (output->size[d] == 1) continue;
    if (c->axis[d].targetStride != w->contiguousRows * adjacent * c->axis[3].targetStride) break;
    w->contiguousRows *= output->size[d];
  }
  const int64_t lastRow = elementCount(rows) - 1;
  for (int64_t row = 0; row <= lastRow; row++, nextIndex(q, rows, 4)) {
    w->rowInput[row] = packedTilePositionOffset(&p->packed, q) * w->positionPitch;
    w->rowTarget[row] = 0;
    for (int d = 0; d < 4; d++) w->rowTarget[row] += (output->start[d] + q[d]) * c->axis[d].targetStride;
    w->rowKernel[row][0] = 0;
    w->rowKernel[row][1] = 1;
    if (p->paddedAxis >= 0)
      elementsInside(c->axis + p->paddedAxis, output->start[p->paddedAxis] + q[p->paddedAxis], w->rowKernel[row]);
  }
  /* The last micro-tile repeats the last row; a micro-tile takes the union of its rows' ranges. */
  const int together = rowPointerCount(adjacent);
  for (int r = 1; r < together; r++) w->rowInput[lastRow + r] = w->rowInput[lastRow];
  for (int64_t row = 0; row <= lastRow; row += together)
    for (int64_t r = row; r < MIN(row + together, lastRow + 1); r++) {
      w->rowKernel[row][0] = MIN(w->rowKernel[row][0], w->rowKernel[r][0]);
      w->rowKernel[row][1] = MAX(w->rowKernel[row][1], w->rowKernel[r][1]);
    }
}

/* Sets the offsets of terms, in the order of packWeights. */
static void locateTerms(const ImplicitGemmPlan *p, const WeightBlock *b, Workspace *w)
{
  const int64_t elements = elementCount(b->kernel->size);
  for (int last = 0; last < 2; last++) {
    const int64_t n = last ? paddedChannels(p, b->channels % p->kBlockChannels) : p->kBlockChannels;
    const int64_t inner = elements / kernelParts(p, b->kernel);
    int64_t t[4] = {0};
    for (int64_t i = 0; i < elements; i++, nextIndex(t, b->kernel->size, 4)) {
      const int64_t element = packedTileKernelOffset(&p->packed, p->c.axis, t);
      for (int64_t ch = 0; ch < n; ch++)
        w->offset[last][(i / inner * n + ch) * inner + i % inner] =
            (int32_t)(ch * w->channelPitch + element * w->positionPitch);
    }
  }
}

/* Packs the input tile of `channels` channels. */
static void packInput(const ImplicitGemmPlan *p, Workspace *w, const Tile *output, const Tile *kernel,
                      const real *source, int64_t channels)
{
  const Correlation *c = &p->c;
  if (!p->tiles) return THNN_(packTile)(c, &p->packed, output, kernel, source, channels, w->input);
#if HAS_BFLOAT16_MICROKERNEL
  const int64_t pitch = p->packed.channelPitch;
  for (int64_t i = 0; i < channels; i += TILE_TERMS) {
    const int64_t n = MIN(TILE_TERMS, channels - i);
    THNN_(packTile)(c, &p->packed, output, kernel, elementAt(source, i * c->sourceChannelStride, c->type), n,
                    w->channels);
    if (n < TILE_TERMS) memset(w->channels + n * pitch, 0, sizeof(real) * (size_t)((TILE_TERMS - n) * pitch));
    THNN_(transpose)(w->input + i, w->positionPitch, w->channels, pitch, TILE_TERMS, pitch);
  }
#endif
}

/* Computes panels firstPanel .. endPanel - 1 of output tiles firstTile .. endTile - 1. */
static void multiplyRange(const ImplicitGemmPlan *p, int64_t firstPanel, int64_t endPanel, int64_t firstTile,
                          int64_t endTile)
{
  const Correlation *c = &p->c;
  const int64_t panelsOfGroup = ceilDivide(c->outChannels, GEMM_NR);
  const int64_t weightReals = packedPanelReals(p, p->packedChannels),
                sumReals = microtileCount(p->outputTile) * MICROTILE_REALS;
  const int64_t inputReals = ceilDivide(packedTileReals(p, p->outputTile, p->packedChannels), VL) * VL;
  const int64_t weightPanels = p->weightsResident ? p->panelsTogether : 1,
                sumPanels = p->weightsResident ? 1 : p->panelsTogether;
  Workspace w;
  const int64_t channelReals = p->tiles ? TILE_TERMS * p->packed.channelPitch + VL : 0;
  w.input = thnn_scratch(sizeof(real) *
                         (size_t)(inputReals + weightReals * weightPanels + sumReals * sumPanels + channelReals));
  w.channelPitch = p->tiles ? 1 : p->packed.channelPitch;
  w.positionPitch = p->tiles ? wholeTiles(p->packedChannels) : 1;
  w.sums = w.input + inputReals;
  w.weights = w.sums + sumReals * sumPanels;
  w.channels = w.weights + weightReals * weightPanels;
  const int64_t channelBlocks = MAX(ceilDivide(c->inChannels, p->packedChannels), 1),
                blocks = channelBlocks * tileCount(p->kernelSize, p->kernelTile);

  for (int64_t panel = firstPanel, next; panel < endPanel; panel = next) {
    const int64_t group = panel / panelsOfGroup, firstOfGroup = group * panelsOfGroup;
    next = MIN(MIN(panel + p->panelsTogether, endPanel), firstOfGroup + panelsOfGroup);
    for (int64_t tile = firstTile; tile < endTile; tile++) {
      const Tile output = tileAt(p->outputSize, p->outputTile, tile);
      locateRows(p, &output, &w);
      for (int64_t block = 0; block < blocks; block++) {
        const Tile kernel = tileAt(p->kernelSize, p->kernelTile, block / channelBlocks);
        const int64_t channel = block % channelBlocks * p->packedChannels;
        WeightBlock b = {.group = group,
                         .channel = channel,
                         .channels = MIN(p->packedChannels, c->inChannels - channel),
                         .kernel = &kernel};
        locateTerms(p, &b, &w);
        const real *source =
            elementAt(c->source, (group * c->inChannels + channel) * c->sourceChannelStride, c->type);
        packInput(p, &w, &output, &kernel, source, b.channels);
        for (int64_t i = panel; i < next; i++) {
          b.outChannel = (i - firstOfGroup) * GEMM_NR;
          real *weights = w.weights + (p->weightsResident ? (i - panel) * weightReals : 0);
          if (!p->weightsResident || tile == firstTile)
            THNN_(packWeights)(p, &b, c->outChannels - b.outChannel > VL ? GEMM_NR : VL, weights);
          PrefetchRegion ahead = {0};
          if (!p->weightsResident && (i + 1 < next || block + 1 < blocks)) {
            WeightBlock after = b;
            after.outChannel = ((i + 1 < next ? i + 1 : panel) - firstOfGroup) * GEMM_NR;
            if (i + 1 == next) after.channel = (block + 1) % channelBlocks * p->packedChannels;
            ahead = THNN_(weightRegion)(c, &after);
          }
          multiplyPanel(p, &w, &output, weights, &b, w.sums + (p->weightsResident ? 0 : (i - panel) * sumReals),
                        block == 0, block == blocks - 1, ahead);
        }
      }
    }
  }
}

/* A pointwise convolution as a matrix product: positions times output channels. */
static void multiplyPointwise(const Correlation *c)
{
  Gemm p = {.a = {.data = c->source,
                  .kStride = {[3] = c->sourceChannelStride},
                  .groupStride = c->inChannels * c->sourceChannelStride},
            .b = {.data = c->weight,
                  .size = {1, 1, 1, c->outChannels},
                  .stride = {[3] = c->weightOutStride},
                  .kStride = {[3] = c->weightInStride},
                  .groupStride = c->weightGroupStride,
                  .cStride = {[3] = c->targetChannelStride},
                  .biasStride = c->biasOutStride},
            .kSize = {1, 1, 1, c->inChannels},
            .groups = c->groups,
            .type = c->type,
            .c = c->target,
            .bias = c->bias,
            .cGroupStride = c->outChannels * c->targetChannelStride,
            .biasGroupStride = c->biasGroupStride,
            .scale = 1};
  for (int d = 0; d < 4; d++) {
    p.a.size[d] = c->axis[d].targetSize;
    p.a.stride[d] = c->axis[d].sourceStride;
    p.a.cStride[d] = c->axis[d].targetStride;
  }
  THNN_(gemm)(&p);
}

void THNN_(implicitGemm)(const Correlation *correlation)
{
  if (correlationIsPointwise(correlation)) return multiplyPointwise(correlation);
  ImplicitGemmPlan p = {.c = *correlation};
  const Correlation *c = &p.c;
  /* 16 is the cost of storing a sum, in multiply-adds. Without input channels only the bias is stored. */
  double cost = (double)(c->groups * c->outChannels) * (double)(c->inChannels + 16);
  for (int d = 0; d < 4; d++) cost *= (double)c->axis[d].targetSize * (double)c->axis[d].kernel;
  if (cost == 0) return;
  const int64_t work = (int64_t)MIN(cost / 16, 1e15);
  THNN_(implicitGemmPlan)(&p, thnn_threads(1 << 20, work));
  const int64_t parts = MIN(p.splitsPanels ? p.panels : p.outputTiles, thnn_threads(1 << 20, work));
  THNN_PARALLEL_FOR(i, parts, work) {
    beginTiles(p.tiles);
    if (p.splitsPanels) multiplyRange(&p, i * p.panels / parts, (i + 1) * p.panels / parts, 0, p.outputTiles);
    else multiplyRange(&p, 0, p.panels, i * p.outputTiles / parts, (i + 1) * p.outputTiles / parts);
    endTiles(p.tiles);
  }
}
