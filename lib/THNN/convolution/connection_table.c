#include "convolution/convolution.h"
#include "convolution/packing.h"
#include "convolution/connection_table.h"

/* Planes meet at random, so lanes are positions: vectors are read from a strip of some planes, which stays in L1, and
   multiplied by single weights. The rows of the table are sorted first, so that those of a strip and of a target plane
   come one after another.

   With step 1 all rows of a strip are one long row; what is computed between their ends is left out when they are
   stored. */

/* Rows of the table that are sorted at a time. Later ones add to the target. */
#define TABLE_ROWS 16384
#define CONNECTED_TERMS 128 /* of a sum in registers */
#define CONNECTED_STRIP_BYTES ((int64_t)40 << 10)
#define CONNECTED_SUM_BYTES ((int64_t)256 << 10)
#define CONNECTED_VECTORS 8                         /* sums in registers */
#define CONNECTED_TAPS 9                            /* sums of a weight's gradient in registers */
#define CONNECTED_BLOCK 16                          /* planes of a block of weights, at most */
#define CONNECTED_WEIGHT_BYTES ((int64_t)512 << 10) /* of the strips of such blocks */
#define CONNECTED_TOTALS ((int64_t)32768)           /* sums of weights in scratch memory */

#ifndef THNN_CONNECTION
#define THNN_CONNECTION
typedef struct Connection {
  int32_t major, minor, row;
} Connection;
#endif

/* Blocks of planes: a task has a block of major ones, and goes through the blocks of minor ones. */
typedef struct Plan {
  Correlation c;
  int64_t count[4], taps[4], box[4], boxTaps[4];
  int64_t majors, minors, minorBlocks;
  int64_t boxes;
  PackedTile strip;
  const Connection *list;
  int64_t connections;
  size_t listBytes, scratch; /* of a thread's scratch memory: where its work begins, behind the list; all of it */
  bool add;                  /* to the target */
} Plan;

/* --- the list of connections ------------------------------------------------------------------------------ */

static inline uint64_t Block(const Plan *p, const Connection *c)
{
  return (uint64_t)(c->major / p->majors * p->minorBlocks + c->minor / p->minors);
}

static inline uint64_t key(const Plan *p, const Connection *c)
{
  return Block(p, c) * (uint64_t)p->majors + (uint64_t)(c->major % p->majors);
}

#define DIGIT 11

/* Reads rows of the table from `first` on into the list and sorts them by block, by major plane in a block, and by
   row. */
static void makeList(Plan *p, const ConnectionTable *table, int64_t first, int majorColumn)
{
  Connection *list = thnn_scratch(p->scratch), *spare = list + MIN(table->rows, TABLE_ROWS);
  const real *entry = (const real *)table->data + first * table->stride[0];
  const int64_t n = p->connections;
  uint64_t most = 0;
  for (int64_t i = 0; i < n; i++, entry += table->stride[0]) {
    list[i] = (Connection){.major = (int32_t)entry[majorColumn ? table->stride[1] : 0],
                           .minor = (int32_t)entry[majorColumn ? 0 : table->stride[1]],
                           .row = (int32_t)i};
    most = MAX(most, key(p, list + i));
  }
  for (int shift = 0; shift < 64 && most >> shift > 0; shift += DIGIT) {
    int32_t place[(1 << DIGIT) + 1] = {0};
    for (int64_t i = 0; i < n; i++) place[(key(p, list + i) >> shift & ((1 << DIGIT) - 1)) + 1]++;
    for (int i = 0; i < 1 << DIGIT; i++) place[i + 1] += place[i];
    for (int64_t i = 0; i < n; i++) spare[place[key(p, list + i) >> shift & ((1 << DIGIT) - 1)]++] = list[i];
    Connection *sorted = spare;
    spare = list;
    list = sorted;
  }
  p->list = list;
}

/* Where connections of this block or later ones begin. */
static const Connection *beginPlane(const Plan *p, int64_t block)
{
  int64_t low = 0, high = p->connections;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (Block(p, p->list + middle) < (uint64_t)block) low = middle + 1;
    else high = middle;
  }
  return p->list + low;
}

static size_t listBytes(const ConnectionTable *table)
{
  return (2 * sizeof(Connection) * (size_t)MIN(table->rows, TABLE_ROWS) + 63) & ~(size_t)63;
}

/* --- small from large and large from small ---------------------------------------------------------------- */

/* One run of positions, as long as vectors can be read without regard to rows. */
static bool isFlat(const Correlation *c) { return c->axis[2].stride == 1 && c->axis[3].stride == 1; }

static int64_t runs(const Correlation *c, const int64_t *box)
{
  return box[0] * box[1] * (isFlat(c) ? 1 : box[2]);
}

static int64_t runLength(const Plan *p, const PackedTile *strip, const int64_t *box)
{
  const int64_t positions = box[3] + (isFlat(&p->c) ? (box[2] - 1) * strip->pitch[2] : 0);
  return ceilDivide(positions, VL) * VL;
}

static bool boxFits(const Plan *p, const int64_t *box, int64_t minors)
{
  const int64_t realBytes = sizeof(real);
  const PackedTile strip = packedTileLayout(p->c.axis, box, p->boxTaps);
  return strip.channelPitch * minors * realBytes <= CONNECTED_STRIP_BYTES &&
         runs(&p->c, box) * runLength(p, &strip, box) * MIN(p->c.outChannels, 16) * realBytes <=
             CONNECTED_SUM_BYTES;
}

static void makePlan(Plan *p, const ConnectionTable *table)
{
  const Correlation *c = &p->c;
  const int64_t realBytes = sizeof(real);
  for (int d = 0; d < 4; d++) {
    p->count[d] = c->axis[d].targetSize;
    p->taps[d] = c->axis[d].kernel;
    p->box[d] = 1;
  }
  p->box[3] = MIN(p->count[3], CONNECTED_VECTORS * VL);
  THNN_(correlationSplitKernel)(c, p->boxTaps, &p->box[3]);
  p->minors = c->inChannels;
  while (p->minors > 1 && !boxFits(p, p->box, p->minors)) p->minors = (p->minors + 1) / 2;
  for (int d = 3; d >= 0 && (d == 3 || p->box[d + 1] == p->count[d + 1]); d--) {
    int64_t box[4];
    memcpy(box, p->box, sizeof box);
    for (box[d] = p->count[d]; box[d] > p->box[d] && !boxFits(p, box, p->minors);)
      box[d] = smallerTile(p->count[d], box[d]);
    p->box[d] = MAX(box[d], p->box[d]);
  }
  for (int d = 0; d < 3; d++)
    while (p->box[d] > 1 && tileCount(p->count, p->box) < 8) p->box[d] = smallerTile(p->count[d], p->box[d]);
  p->boxes = tileCount(p->count, p->box);
  p->strip = packedTileLayout(c->axis, p->box, p->boxTaps);
  const int64_t sums = runs(c, p->box) * runLength(p, &p->strip, p->box);
  p->majors = MAX(MIN(c->outChannels, CONNECTED_SUM_BYTES / (sums * realBytes)), 1);
  p->minorBlocks = ceilDivide(c->inChannels, p->minors);
  /* Vectors of the last run may be read beyond the strip. */
  const int64_t reals = p->strip.channelPitch * p->minors + (CONNECTED_VECTORS + 1) * VL + sums * p->majors;
  p->listBytes = listBytes(table);
  p->scratch = p->listBytes + (size_t)(reals * realBytes);
}

/* sum[i] += the terms of n connections at the positions of V vectors */
static inline __attribute__((always_inline)) void addTerms(const int V, real *sum, const real *strip,
                                                           int64_t plane, const Connection *list, int64_t n,
                                                           const real *weight, int64_t filter,
                                                           const int64_t *source, const int64_t *tap, int64_t taps,
                                                           int32_t first)
{
  vreal acc[CONNECTED_VECTORS];
#pragma GCC unroll 8
  for (int v = 0; v < V; v++) acc[v] = (vreal){0};
  for (int64_t i = 0; i < n; i++) {
    const real *x = strip + (list[i].minor - first) * plane, *w = weight + list[i].row * filter;
    for (int64_t t = 0; t < taps; t++) {
      const vreal factor = v_set1(w[tap[t]]);
#pragma GCC unroll 8
      for (int v = 0; v < V; v++) acc[v] += factor * v_load(x + source[t] + v * VL);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < V; v++) v_store(sum + v * VL, v_load(sum + v * VL) + acc[v]);
}

#define TERMS(V)                                                                              \
  case V:                                                                                     \
    addTerms(V, to, from, plane, list, n, weight, c->weightOutStride, source, tap, T, minor); \
    break;

/* The terms of n connections of one target plane over a box, of whose planes from `minor` on this is the strip. */
static void addConnections(const Plan *p, const int64_t *box, const real *strip, int32_t minor,
                           const Connection *list, int64_t n, const int64_t *source, const int64_t *tap, int64_t T,
                           real *sum)
{
  const Correlation *c = &p->c;
  const real *weight = c->weight;
  const int64_t plane = p->strip.channelPitch, length = runLength(p, &p->strip, box), vectors = length / VL;
  const int64_t tiles = ceilDivide(vectors, CONNECTED_VECTORS), runs[3] = {box[0], box[1], isFlat(c) ? 1 : box[2]};
  int64_t q[4] = {0};
  for (int64_t run = runs[0] * runs[1] * runs[2]; run > 0; run--, nextIndex(q, runs, 3), sum += length)
    for (int64_t tile = 0, v = 0; tile < tiles; tile++) {
      const int64_t end = (tile + 1) * vectors / tiles;
      const real *from = strip + packedTilePositionOffset(&p->strip, c->axis, q) + v * VL;
      real *to = sum + v * VL;
      switch (end - v) {
        TERMS(1)
        TERMS(2)
        TERMS(3)
        TERMS(4)
        TERMS(5)
        TERMS(6)
        TERMS(7)
        TERMS(8)
      }
      v = end;
    }
}

/* One row of positions of some target planes. */
static void storeRow(const Plan *p, const real *sum, int64_t length, real *target, int64_t planes,
                     int64_t positions)
{
  const int64_t plane = p->c.targetChannelStride, step = p->c.axis[3].targetStride;
  if (!p->add && step == 1) {
    for (int64_t o = 0; o < planes; o++, sum += length, target += plane) {
      int64_t i = 0;
      for (; i + VL <= positions; i += VL) v_store(target + i, v_load(sum + i));
      if (i < positions) v_store_n(target + i, v_load(sum + i), (int)(positions - i));
    }
  } else if (!p->add && plane == 1) {
    THNN_(transpose)(target, step, sum, length, planes, positions);
  } else {
    for (int64_t o = 0; o < planes; o++)
      for (int64_t i = 0; i < positions; i++) {
        real *to = target + o * plane + i * step;
        *to = p->add ? *to + sum[o * length + i] : sum[o * length + i];
      }
  }
}

static void correlateTask(const Plan *p, int64_t task)
{
  const Correlation *c = &p->c;
  const Tile box = tileAt(p->count, p->box, task % p->boxes);
  const int64_t group = task / p->boxes, first = group * p->majors,
                majors = MIN(p->majors, c->outChannels - first);
  const int64_t length = runLength(p, &p->strip, box.size), each = runs(c, box.size) * length;
  real *sums = (real *)((char *)thnn_scratch(p->scratch) + p->listBytes), *strip = sums + each * p->majors;
  for (int64_t o = 0; o < majors; o++) {
    const real bias = c->bias && !p->add ? c->bias[(first + o) * c->biasOutStride] : 0;
    for (int64_t i = 0; i < each; i += VL) v_store(sums + o * each + i, v_set1(bias));
  }
  const Connection *begin = beginPlane(p, group * p->minorBlocks),
                   *end = beginPlane(p, (group + 1) * p->minorBlocks);
  for (int64_t piece = 0; piece < tileCount(p->taps, p->boxTaps); piece++) {
    const Tile taps = tileAt(p->taps, p->boxTaps, piece);
    const int64_t T = volume(taps.size), most = MAX(CONNECTED_TERMS / T, 1);
    int64_t source[KERNEL_TILE_ELEMENTS], tap[KERNEL_TILE_ELEMENTS], t[4] = {0};
    for (int64_t i = 0; i < T; i++, nextIndex(t, taps.size, 4)) {
      source[i] = packedTileKernelOffset(&p->strip, c->axis, t);
      tap[i] = 0;
      for (int d = 0; d < 4; d++) tap[i] += (taps.start[d] + t[d]) * c->axis[d].weightStride;
    }
    for (const Connection *next, *at = begin; at < end; at = next) {
      const int32_t minor = at->minor - at->minor % (int32_t)p->minors;
      if (at == begin || at[-1].minor < minor || at[-1].minor >= minor + p->minors)
        THNN_(packTile)(c, &p->strip, &box, &taps, c->source + minor * c->sourceChannelStride,
                        MIN(p->minors, c->inChannels - minor), strip);
      for (next = at + 1; next < end && next - at < most && next->major == at->major && next->minor >= minor &&
                          next->minor < minor + p->minors;)
        next++;
      addConnections(p, box.size, strip, minor, at, next - at, source, tap, T, sums + (at->major - first) * each);
    }
  }
  int64_t q[4] = {0};
  for (int64_t row = box.size[0] * box.size[1] * box.size[2]; row > 0; row--, nextIndex(q, box.size, 3)) {
    real *target = c->target + first * c->targetChannelStride + box.start[3] * c->axis[3].targetStride;
    for (int d = 0; d < 3; d++) target += (box.start[d] + q[d]) * c->axis[d].targetStride;
    const int64_t run = (q[0] * box.size[1] + q[1]) * (isFlat(c) ? 1 : box.size[2]);
    const int64_t at = isFlat(c) ? run * length + q[2] * p->strip.pitch[2] : (run + q[2]) * length;
    storeRow(p, sums + at, each, target, majors, box.size[3]);
  }
}

static void correlate(Correlation c, const ConnectionTable *table, int targetColumn)
{
  Plan p = {.c = c};
  if (volume((int64_t[]){c.axis[0].targetSize, c.axis[1].targetSize, c.axis[2].targetSize,
                         c.axis[3].targetSize}) == 0)
    return;
  makePlan(&p, table);
  for (int64_t row = 0; row < table->rows || row == 0; row += TABLE_ROWS) {
    p.connections = MIN(table->rows - row, TABLE_ROWS);
    p.add = row > 0;
    p.c.weight = c.weight + row * c.weightOutStride;
    makeList(&p, table, row, targetColumn);
    const double work = (double)volume(p.count) * (double)(p.connections * volume(p.taps) + c.outChannels);
    THNN_PARALLEL_FOR(task, p.boxes * ceilDivide(c.outChannels, p.majors), (int64_t)MIN(work / 8, 1e15))
      correlateTask(&p, task);
  }
}

void THNN_(connected_small)(const Convolution *g, ConnectionTable table, ConvolutionView large,
                            ConvolutionView weight, ConvolutionView bias, ConvolutionView small)
{
  Correlation c = THNN_(correlationForward)(g, large, weight, small);
  c.bias = bias.data;
  c.biasOutStride = bias.stride[0];
  correlate(c, &table, table.small);
}

/* Large coordinates residue + m * stride meet the taps residue + j * stride, for which they see the small ones m - j. */
void THNN_(connected_large)(const Convolution *g, ConnectionTable table, ConvolutionView small,
                            ConvolutionView weight, ConvolutionView bias, ConvolutionView large)
{
  Correlation all = {.groups = 1,
                     .inChannels = g->outputChannels,
                     .outChannels = g->inputChannels,
                     .source = small.data,
                     .target = large.data,
                     .weight = weight.data,
                     .sourceChannelStride = small.stride[1],
                     .targetChannelStride = large.stride[1],
                     .weightOutStride = weight.stride[0],
                     .bias = bias.data,
                     .biasOutStride = bias.stride[0]};
  int64_t residues[3], r[3] = {0};
  bool reached = true;
  for (int d = -1; d < 3; d++) {
    const int64_t count = d < 0 ? g->batch : g->axis[d].input;
    all.axis[d + 1] = (CorrelationAxis){.targetSize = count,
                                        .sourceSize = count,
                                        .stride = 1,
                                        .kernel = 1,
                                        .dilation = 1,
                                        .sourceStride = small.stride[d < 0 ? 0 : d + 2],
                                        .targetStride = large.stride[d < 0 ? 0 : d + 2]};
    if (d < 0) continue;
    residues[d] = MIN(g->axis[d].stride, g->axis[d].kernel);
    reached = reached && residues[d] == g->axis[d].stride;
  }
  if (!reached) {
    ConnectionTable none = table;
    none.rows = 0;
    correlate(all, &none, !table.small);
  }
  for (int64_t n = volume((int64_t[]){1, residues[0], residues[1], residues[2]}); n > 0;
       n--, nextIndex(r, residues, 3)) {
    Correlation c = all;
    for (int d = 0; d < 3; d++) {
      CorrelationAxis *axis = c.axis + d + 1;
      const int64_t stride = g->axis[d].stride, taps = (g->axis[d].kernel - r[d] + stride - 1) / stride;
      axis->targetSize = r[d] < g->axis[d].input ? (g->axis[d].input - r[d] + stride - 1) / stride : 0;
      axis->sourceSize = g->axis[d].output;
      axis->offset = 1 - taps;
      axis->kernel = taps;
      axis->weightStride = -stride * weight.stride[d + 2];
      axis->targetStride *= stride;
      c.target += r[d] * large.stride[d + 2];
      c.weight += (r[d] + (taps - 1) * stride) * weight.stride[d + 2];
    }
    THNN_(correlationSimplify)(&c);
    correlate(c, &table, !table.small);
  }
}

/* --- weights ---------------------------------------------------------------------------------------------- */

/* Gradients are read where they lie if their rows are contiguous, otherwise from a strip of their own. */
typedef struct Gradients {
  const real *data;
  int64_t plane, pitch[3];
} Gradients;

static int64_t vectors(const int64_t *box) { return box[0] * box[1] * box[2] * ceilDivide(box[3], VL); }

static bool weightBoxFits(const Plan *p, const int64_t *box)
{
  const int64_t realBytes = sizeof(real),
                planes = p->majors * packedTileLayout(p->c.axis, box, p->boxTaps).channelPitch +
                         p->minors * volume(box);
  return vectors(box) <= CONNECTED_TERMS && planes * realBytes <= CONNECTED_WEIGHT_BYTES;
}

/* sum[t] = the products of a box for the taps source[0] .. source[T - 1] */
static inline __attribute__((always_inline)) void products(const int T, const Plan *p, const int64_t *box,
                                                           const real *strip, const Gradients *gradients,
                                                           const real *gradient, const int64_t *source,
                                                           double *sum)
{
  vreal acc[CONNECTED_TAPS];
#pragma GCC unroll 9
  for (int t = 0; t < T; t++) acc[t] = (vreal){0};
  int64_t q[4] = {0};
  for (int64_t row = box[0] * box[1] * box[2]; row > 0; row--, nextIndex(q, box, 3)) {
    const real *x = strip + packedTilePositionOffset(&p->strip, p->c.axis, q), *g = gradient;
    for (int d = 0; d < 3; d++) g += q[d] * gradients->pitch[d];
    int64_t i = 0;
    for (; i + VL <= box[3]; i += VL) {
      const vreal y = v_load(g + i);
#pragma GCC unroll 9
      for (int t = 0; t < T; t++) acc[t] += y * v_load(x + i + source[t]);
    }
    if (i < box[3]) {
      const int rest = (int)(box[3] - i);
      const vreal y = v_load_n(g + i, rest);
#pragma GCC unroll 9
      for (int t = 0; t < T; t++) acc[t] += y * v_load_n(x + i + source[t], rest);
    }
  }
#pragma GCC unroll 9
  for (int t = 0; t < T; t++) sum[t] += (double)v_sum(acc[t]);
}

#define PRODUCTS(T)                                                           \
  case T:                                                                     \
    products(T, p, box.size, x, &gradients, gradient, source + k, total + k); \
    break;

static void weightTask(const Plan *p, int64_t task, real scale)
{
  const Correlation *c = &p->c;
  const int64_t major = task / p->minorBlocks * p->majors, minor = task % p->minorBlocks * p->minors;
  const Connection *end = beginPlane(p, task + 1);
  double *totals = (double *)((char *)thnn_scratch(p->scratch) + p->listBytes);
  real *strip = (real *)(totals + CONNECTED_TOTALS), *copied = strip + p->majors * p->strip.channelPitch + VL;
  Gradients gradients = {.data = c->target + minor * c->targetChannelStride, .plane = c->targetChannelStride};
  Correlation copy = {.source = c->target, .sourceChannelStride = c->targetChannelStride};
  for (int d = 0; d < 4; d++) {
    copy.axis[d] = (CorrelationAxis){.targetSize = p->count[d],
                                     .sourceSize = p->count[d],
                                     .stride = 1,
                                     .kernel = 1,
                                     .dilation = 1,
                                     .sourceStride = c->axis[d].targetStride};
    if (d < 3) gradients.pitch[d] = c->axis[d].targetStride;
  }
  const Tile one = {.size = {1, 1, 1, 1}};
  PackedTile copyStrip = packedTileLayout(copy.axis, p->box, one.size);
  const bool inPlace = c->axis[3].targetStride == 1;
  if (!inPlace) {
    gradients = (Gradients){.data = copied, .plane = copyStrip.channelPitch};
    memcpy(gradients.pitch, copyStrip.pitch, sizeof gradients.pitch);
  }
  for (int64_t piece = 0; piece < tileCount(p->taps, p->boxTaps); piece++) {
    const Tile taps = tileAt(p->taps, p->boxTaps, piece);
    const int64_t T = volume(taps.size), together = ceilDivide(T, ceilDivide(T, CONNECTED_TAPS));
    int64_t source[KERNEL_TILE_ELEMENTS], tap[KERNEL_TILE_ELEMENTS], t[4] = {0};
    for (int64_t i = 0; i < T; i++, nextIndex(t, taps.size, 4)) {
      source[i] = packedTileKernelOffset(&p->strip, c->axis, t);
      tap[i] = 0;
      for (int d = 0; d < 4; d++) tap[i] += (taps.start[d] + t[d]) * c->axis[d].weightStride;
    }
    for (const Connection *next, *at = beginPlane(p, task); at < end; at = next) {
      next = at + MIN(end - at, CONNECTED_TOTALS / T);
      memset(totals, 0, sizeof(double) * (size_t)((next - at) * T));
      for (int64_t b = 0; b < p->boxes; b++) {
        const Tile box = tileAt(p->count, p->box, b);
        THNN_(packTile)(c, &p->strip, &box, &taps, c->source + major * c->sourceChannelStride,
                        MIN(p->majors, c->inChannels - major), strip);
        const real *first = gradients.data;
        if (inPlace)
          for (int d = 0; d < 4; d++) first += box.start[d] * c->axis[d].targetStride;
        else
          THNN_(packTile)(&copy, &copyStrip, &box, &one, c->target + minor * c->targetChannelStride,
                          MIN(p->minors, c->outChannels - minor), copied);
        for (const Connection *i = at; i < next; i++) {
          const real *x = strip + (i->major - major) * p->strip.channelPitch;
          const real *gradient = first + (i->minor - minor) * gradients.plane;
          double *total = totals + (i - at) * T;
          for (int64_t k = 0; k < T; k += together) switch (MIN(together, T - k)) {
              UP_TO_9(PRODUCTS)
            }
        }
      }
      for (const Connection *i = at; i < next; i++)
        for (int64_t k = 0; k < T; k++)
          c->weight[i->row * c->weightOutStride + tap[k]] += (real)((double)scale * totals[(i - at) * T + k]);
    }
  }
}

void THNN_(connected_weight)(const Convolution *g, ConnectionTable table, ConvolutionView large,
                             ConvolutionView small, ConvolutionView weight, real scale)
{
  Plan p = {.c = THNN_(correlationForward)(g, large, weight, small)};
  const Correlation c = p.c;
  const int64_t realBytes = sizeof(real);
  for (int d = 0; d < 4; d++) {
    p.count[d] = c.axis[d].targetSize;
    p.taps[d] = c.axis[d].kernel;
    p.box[d] = 1;
  }
  if (volume(p.count) == 0) return;
  p.box[3] = MIN(p.count[3], 8 * VL);
  THNN_(correlationSplitKernel)(&c, p.boxTaps, &p.box[3]);
  p.majors = MIN(ceilDivide(c.inChannels, 4), CONNECTED_BLOCK);
  p.minors = MIN(ceilDivide(c.outChannels, 4), CONNECTED_BLOCK);
  while (p.majors > 1 && !weightBoxFits(&p, p.box)) p.majors = (p.majors + 1) / 2;
  for (int d = 3; d >= 0 && (d == 3 || p.box[d + 1] == p.count[d + 1]); d--) {
    int64_t box[4];
    memcpy(box, p.box, sizeof box);
    for (box[d] = p.count[d]; box[d] > p.box[d] && !weightBoxFits(&p, box);)
      box[d] = smallerTile(p.count[d], box[d]);
    p.box[d] = MAX(box[d], p.box[d]);
  }
  p.boxes = tileCount(p.count, p.box);
  p.strip = packedTileLayout(c.axis, p.box, p.boxTaps);
  p.minorBlocks = ceilDivide(c.outChannels, p.minors);
  const int64_t reals = p.majors * p.strip.channelPitch + p.minors * (volume(p.box) + 2 * REALS_PER_LINE) + 2 * VL;
  p.listBytes = listBytes(&table);
  p.scratch = p.listBytes + sizeof(double) * CONNECTED_TOTALS + (size_t)(reals * realBytes);
  for (int64_t row = 0; row < table.rows; row += TABLE_ROWS) {
    p.connections = MIN(table.rows - row, TABLE_ROWS);
    p.c.weight = c.weight + row * c.weightOutStride;
    makeList(&p, &table, row, !table.small);
    const double work = (double)volume(p.count) * (double)(p.connections * volume(p.taps));
    THNN_PARALLEL_FOR(task, ceilDivide(c.inChannels, p.majors) * p.minorBlocks, (int64_t)MIN(work / 8, 1e15))
      weightTask(&p, task, scale);
  }
}
