#include "convolution/grad_weight.h"

/* A task's part of gradWeight, its scratch memory, and tables of its rows. */
typedef struct Task {
  Tile kernel;
  int64_t group, outChannel, channel;  /* the channels are the first ones of the task */
  int64_t panels, channels, rowGroups; /* counts */
  real *weight, *input, *gradients, *sums;
  int64_t gradientReals, sumReals; /* per panel */
  int64_t *rowWeight;              /* offsets of rows in gradWeight */
  int32_t *rowInput;               /* offsets of rows in the packed tile */
} Task;

/* Maps the index of a row in the order (channel, kernel element) to its index in the order of micro-tiles. */
static int64_t microtileOrder(const RowGroup *g, int64_t i)
{
  const int64_t element = i / g->inner, channel = element / g->outer, before = channel / g->R * g->R;
  const int64_t together = MIN(g->R, g->channels - before);
  return (before * g->outer + element % g->outer * together + channel - before) * g->inner + i % g->inner;
}

/* The element of the outermost kernel axis that a row, in the order of micro-tiles, belongs to. */
static int64_t outerElement(const RowGroup *g, int64_t row)
{
  const int64_t before = row / (g->R * g->outer * g->inner) * g->R, together = MIN(g->R, g->channels - before);
  return (row - before * g->outer * g->inner) / (together * g->inner);
}

static RowGroup taskRowGroup(const GradWeightPlan *p, const Task *t, int64_t residue)
{
  return rowGroupAt(&p->c, &p->packed, t->kernel.size, t->channels, residue);
}

static int64_t panelLanes(const Correlation *c, const Task *t, int64_t panel)
{
  return MIN(GEMM_NR, c->outChannels - t->outChannel - panel * GEMM_NR);
}

/* Sets, per element t of the outermost kernel axis, the positions begin[t] .. end[t] - 1 of an output tile that read
   the source and not only padding. */
static void positionsInside(const Correlation *c, const Tile *output, const Tile *kernel, int64_t *begin,
                            int64_t *end)
{
  const int d = outermostKernelAxis(c);
  int64_t inner = 1, around = 1;
  for (int i = 0; i < d; i++) around *= output->size[i];
  for (int i = d + 1; i < 4; i++) inner *= output->size[i];
  if (d == 3 || around > 1) { /* a range of the axis is not a range of positions */
    for (int64_t t = 0; t < (d == 3 ? 1 : kernel->size[d]); t++) {
      begin[t] = 0;
      end[t] = elementCount(output->size);
    }
    return;
  }
  const CorrelationAxis *a = c->axis + d;
  for (int64_t t = 0; t < kernel->size[d]; t++) {
    const int64_t x = a->offset + output->start[d] * a->stride + (kernel->start[d] + t) * a->dilation,
                  left = a->sourceSize - x;
    const int64_t low = x < 0 ? MIN(ceilDivide(-x, a->stride), output->size[d]) : 0,
                  high = left > 0 ? MIN(ceilDivide(left, a->stride), output->size[d]) : 0;
    begin[t] = low * inner;
    end[t] = MAX(low, high) * inner;
  }
}

/* Sets the offsets of all rows. */
static void locateRows(const GradWeightPlan *p, const Task *t)
{
  const Correlation *c = &p->c;
  for (int64_t residue = 0, firstRow = 0; residue < t->rowGroups; residue++) {
    const RowGroup group = taskRowGroup(p, t, residue);
    const int64_t size[4] = {t->kernel.size[0], t->kernel.size[1], t->kernel.size[2], group.lastSize};
    int64_t k[4] = {0};
    for (int64_t i = 0; i < group.rows; i++, nextIndex(k, size, 4)) {
      const int64_t ch = i / elementCount(size), element[4] = {k[0], k[1], k[2], k[3] + residue},
                    row = firstRow + microtileOrder(&group, i);
      t->rowInput[row] =
          (int32_t)(ch * p->packed.channelPitch + packedTileKernelOffset(&p->packed, c->axis, element));
      t->rowWeight[row] = ch * c->weightInStride;
      for (int d = 0; d < 4; d++) t->rowWeight[row] += element[d] * c->axis[d].weightStride;
    }
    firstRow += group.rows;
  }
}

static Task makeTask(const GradWeightPlan *p, int64_t index)
{
  const Correlation *c = &p->c;
  Task t = {.kernel = tileAt(p->kernelSize, p->kernelTile, index % p->kernelTasks)};
  index /= p->kernelTasks;
  t.channel = index % p->channelTasks * p->channels;
  t.channels = MIN(p->channels, c->inChannels - t.channel);
  index /= p->channelTasks;
  t.outChannel = index % p->panelTasks * p->panels * GEMM_NR;
  t.group = index / p->panelTasks;
  t.panels = ceilDivide(MIN(p->panels * GEMM_NR, c->outChannels - t.outChannel), GEMM_NR);
  t.rowGroups = rowGroupCount(c, &p->packed, t.kernel.size);
  t.weight = c->weight + t.group * c->weightGroupStride + t.outChannel * c->weightOutStride +
             t.channel * c->weightInStride;
  for (int d = 0; d < 4; d++) t.weight += t.kernel.start[d] * c->axis[d].weightStride;

  int64_t rows;
  t.sumReals = taskMicrotiles(p, p->channels, &rows) * MICROTILE_REALS;
  t.gradientReals = elementCount(p->outputTile) * GEMM_NR;
  const int64_t inputReals = p->packed.channelPitch * p->channels + VL;
  t.input = thnn_scratch(sizeof(real) * (size_t)(inputReals + (t.gradientReals + t.sumReals) * t.panels) +
                         (sizeof *t.rowWeight + sizeof *t.rowInput) * (size_t)rows);
  t.gradients = t.input + inputReals;
  t.sums = t.gradients + t.gradientReals * t.panels;
  t.rowWeight = (int64_t *)(t.sums + t.sumReals * t.panels);
  t.rowInput = (int32_t *)(t.rowWeight + rows);
  /* Lanes after the last output channel stay 0. */
  memset(t.gradients, 0, sizeof(real) * (size_t)(t.gradientReals * t.panels));
  locateRows(p, &t);
  return t;
}

/* Adds the products of output tile number `tile` to the sums. */
static void multiplyTile(const GradWeightPlan *p, const Task *t, int64_t tile)
{
  static const real zero[GEMM_NR];
  const Correlation *c = &p->c;
  const int64_t tiles = tileCount(p->outputSize, p->outputTile);
  const Tile output = tileAt(p->outputSize, p->outputTile, tile),
             after = tileAt(p->outputSize, p->outputTile, MIN(tile + 1, tiles - 1));
  const int64_t rows = output.size[0] * output.size[1] * output.size[2], terms = rows * output.size[3];
  int32_t offset[TILE_POSITIONS]; /* of each position */
  int64_t q[4] = {0};
  for (int64_t r = 0; r < rows; r++, nextIndex(q, output.size, 3)) {
    const int32_t first = (int32_t)packedTilePositionOffset(&p->packed, q);
    for (int32_t x = 0; x < output.size[3]; x++) offset[r * output.size[3] + x] = first + x;
  }
  THNN_(packTile)(c, &p->packed, &output, &t->kernel,
                  c->source + (t->group * c->inChannels + t->channel) * c->sourceChannelStride, t->channels,
                  t->input);
  int64_t insideBegin[GEMM_KC], insideEnd[GEMM_KC]; /* per element of the outermost kernel axis */
  positionsInside(c, &output, &t->kernel, insideBegin, insideEnd);
  for (int64_t panel = 0; panel < t->panels; panel++) {
    const int64_t lanes = panelLanes(c, t, panel), width = lanes > VL ? GEMM_NR : VL,
                  outChannel = t->group * c->outChannels + t->outChannel + panel * GEMM_NR;
    real *gradient = t->gradients + panel * t->gradientReals, *sum = t->sums + panel * t->sumReals;
    THNN_(packGradients)(c, &output, outChannel, lanes, width, gradient);
    PrefetchPlan prefetch = {0};
    for (int64_t residue = 0, firstRow = 0; residue < t->rowGroups; residue++) {
      const RowGroup group = taskRowGroup(p, t, residue);
      if (residue == 0)
        prefetch = makePrefetchPlan(THNN_(gradientRegion)(c, &after, outChannel, lanes),
                                    ceilDivide(group.rows, group.R), terms);
      for (int64_t row = 0; row < group.rows; row += group.R, sum += MICROTILE_REALS) {
        const int R = group.rows - row > 1 ? group.R : 1;
        const real *a[GEMM_MR];
        for (int r = 0; r < R; r++) a[r] = t->input + t->rowInput[firstRow + MIN(row + r, group.rows - 1)];
        const int64_t firstElement = outerElement(&group, row),
                      lastElement = outerElement(&group, MIN(row + R, group.rows) - 1);
        int64_t begin = insideBegin[firstElement], end = insideEnd[firstElement];
        for (int64_t element = firstElement + 1; element <= lastElement; element++) {
          begin = MIN(begin, insideBegin[element]);
          end = MAX(end, insideEnd[element]);
        }
        if (tile > 0 && begin == end) continue; /* the first tile initializes the sums */
        const KRange range = {offset, begin, end};
        const PrefetchLines lines = nextPrefetch(&prefetch);
        THNN_(microkernel)(R, group.Q, (int)(width / VL), lines.run > 0)(
            sum, width, tile ? sum : zero, tile ? width : 0, a, range, gradient, width, &lines);
      }
      firstRow += group.rows;
    }
  }
}

/* Updates gradWeight by sums, [entry][n]: weight[at[e]] by entry e. */
static void storeEntries(const Correlation *c, const real *sums, int64_t width, const int64_t *at, int64_t entries,
                         int64_t lanes, real *weight, GradWeightUpdate update)
{
  if (c->weightOutStride == 1) {
    for (int64_t e = 0; e < entries; e++)
      for (int64_t i = 0; i < lanes; i++)
        weight[at[e] + i] = updatedEntry(update, weight[at[e] + i], sums[e * width + i]);
    return;
  }
  bool contiguous = true;
  for (int64_t e = 1; e < entries; e++) contiguous = contiguous && at[e] == at[0] + e;
  real column[GEMM_NR][TILE_POSITIONS];
  THNN_(transpose)(column[0], TILE_POSITIONS, sums, width, entries, lanes);
  for (int64_t i = 0; i < lanes; i++) {
    real *to = weight + i * c->weightOutStride;
    int64_t e = 0;
    for (; contiguous && e + VL <= entries; e += VL) updateEntries(update, to + at[e], v_load(column[i] + e), VL);
    for (; e < entries; e++) to[at[e]] = updatedEntry(update, to[at[e]], column[i][e]);
  }
}

/* Updates gradWeight by the sums of a panel, in the order (channel, kernel element), which most weights have in
   memory. */
static void storePanel(const GradWeightPlan *p, const Task *t, int64_t panel, GradWeightUpdate update)
{
  const Correlation *c = &p->c;
  const int64_t elementStride = p->packed.residues * c->axis[3].weightStride;
  const int64_t lanes = panelLanes(c, t, panel), width = lanes > VL ? GEMM_NR : VL;
  const real *sum = t->sums + panel * t->sumReals;
  for (int64_t residue = 0, firstRow = 0; residue < t->rowGroups; residue++) {
    const RowGroup group = taskRowGroup(p, t, residue);
    const int64_t rowsAtOnce = TILE_POSITIONS / group.Q;
    for (int64_t i = 0; i < group.rows; i += rowsAtOnce) {
      real ordered[TILE_POSITIONS * GEMM_NR];
      int64_t at[TILE_POSITIONS], entries = 0;
      for (int64_t r = i; r < MIN(i + rowsAtOnce, group.rows); r++) {
        const int64_t row = microtileOrder(&group, r);
        const real *from = sum + row / group.R * MICROTILE_REALS + row % group.R * group.Q * width;
        memcpy(ordered + entries * width, from, sizeof(real) * (size_t)(group.Q * width));
        for (int q = 0; q < group.Q; q++) at[entries++] = t->rowWeight[firstRow + row] + q * elementStride;
      }
      storeEntries(c, ordered, width, at, entries, lanes, t->weight + panel * GEMM_NR * c->weightOutStride,
                   update);
    }
    sum += ceilDivide(group.rows, group.R) * MICROTILE_REALS;
    firstRow += group.rows;
  }
}

void THNN_(gradWeightImplicitGemm)(const GradWeightPlan *p, int64_t index, GradWeightUpdate update)
{
  const Task t = makeTask(p, index);
  const int64_t tiles = tileCount(p->outputSize, p->outputTile);
  for (int64_t tile = 0; tile < tiles; tile++) multiplyTile(p, &t, tile);
  for (int64_t panel = 0; panel < t.panels; panel++) storePanel(p, &t, panel, update);
}
