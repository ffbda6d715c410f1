#include "connection_table/connection_list.h"
#include "convolution/position_runs.h"

/* Output and gradInput. Channels are connected irregularly, so positions are vectorized: vectors are read from a packed
   tile of a block of source channels, which has at most PACKED_BYTES unless it is a single channel, and multiplied by
   single weights.

   A task computes a tile of positions and a block of target channels. Major channels of the list are target channels,
   minor channels are source channels. */

#define TERMS 128      /* most terms of a sum in registers */
#define ACCUMULATORS 8 /* vectors of positions in registers */
#define PACKED_BYTES ((int64_t)40 << 10)
#define SUM_BYTES ((int64_t)256 << 10)

typedef struct ConnectionPlan {
  Correlation c;
  int64_t positions[4], kernel[4]; /* sizes of the whole target and kernel */
  int64_t tile[4], kernelTile[4];
  int64_t tiles;
  PackedTile packed;
  ConnectionList list;
  /* Per thread: sums and packed tile follow the list, which only the calling thread has. */
  size_t listBytes, scratchBytes;
  bool add; /* add to the target, which has the results of earlier lists */
} ConnectionPlan;

static bool tileFits(const ConnectionPlan *p, const int64_t *tile, int64_t channels)
{
  const int64_t realBytes = sizeof(real);
  const PackedTile packed = packedTileLayout(p->c.axis, tile, p->kernelTile);
  return packed.channelPitch * channels * realBytes <= PACKED_BYTES &&
         runCount(&p->c, tile) * runLength(&p->c, &packed, tile) * MIN(p->c.outChannels, 16) * realBytes <=
             SUM_BYTES;
}

static void makePlan(ConnectionPlan *p, const ConnectionTable *table)
{
  const Correlation *c = &p->c;
  const int64_t realBytes = sizeof(real);
  ConnectionList *list = &p->list;
  for (int d = 0; d < 4; d++) {
    p->positions[d] = c->axis[d].targetSize;
    p->kernel[d] = c->axis[d].kernel;
    p->tile[d] = 1;
  }
  p->tile[3] = MIN(p->positions[3], ACCUMULATORS * VL);
  THNN_(correlationSplitKernel)(c, p->kernelTile, &p->tile[3]);
  list->minorBlock = c->inChannels;
  while (list->minorBlock > 1 && !tileFits(p, p->tile, list->minorBlock))
    list->minorBlock = (list->minorBlock + 1) / 2;
  for (int d = 3; d >= 0 && (d == 3 || p->tile[d + 1] == p->positions[d + 1]); d--) {
    int64_t tile[4];
    memcpy(tile, p->tile, sizeof tile);
    for (tile[d] = p->positions[d]; tile[d] > p->tile[d] && !tileFits(p, tile, list->minorBlock);)
      tile[d] = smallerTile(p->positions[d], tile[d]);
    p->tile[d] = MAX(tile[d], p->tile[d]);
  }
  /* At least 8 tiles for the threads, where possible. */
  for (int d = 0; d < 3; d++)
    while (p->tile[d] > 1 && tileCount(p->positions, p->tile) < 8)
      p->tile[d] = smallerTile(p->positions[d], p->tile[d]);
  p->tiles = tileCount(p->positions, p->tile);
  p->packed = packedTileLayout(c->axis, p->tile, p->kernelTile);
  const int64_t sums = runCount(c, p->tile) * runLength(c, &p->packed, p->tile);
  list->majorBlock = MAX(MIN(c->outChannels, SUM_BYTES / (sums * realBytes)), 1);
  list->minorBlocks = ceilDivide(c->inChannels, list->minorBlock);
  /* Vectors of the last run may be read beyond the packed tile. */
  const int64_t reals =
      p->packed.channelPitch * list->minorBlock + (ACCUMULATORS + 1) * VL + sums * list->majorBlock;
  p->listBytes = THNN_(connectionListBytes)(table);
  p->scratchBytes = p->listBytes + (size_t)(reals * realBytes);
}

/* sum[i] += the terms of n connections at the positions of V vectors. */
static ALWAYS_INLINE void addTerms(const int V, real *sum, const real *packed, int64_t channelPitch,
                                   const Connection *list, int64_t n, const real *weight, int64_t filterStride,
                                   const int64_t *source, const int64_t *element, int64_t elements, int32_t first)
{
  vreal acc[ACCUMULATORS];
#pragma GCC unroll 8
  for (int v = 0; v < V; v++) acc[v] = (vreal){0};
  for (int64_t i = 0; i < n; i++) {
    const real *x = packed + (list[i].minor - first) * channelPitch, *w = weight + list[i].row * filterStride;
    for (int64_t t = 0; t < elements; t++) {
      const vreal factor = v_set1(w[element[t]]);
#pragma GCC unroll 8
      for (int v = 0; v < V; v++) acc[v] += factor * v_load(x + source[t] + v * VL);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < V; v++) v_store(sum + v * VL, v_load(sum + v * VL) + acc[v]);
}

#define ADD_TERMS(V)                                                                                    \
  case V:                                                                                               \
    addTerms(V, to, from, channelPitch, list, n, weight, c->weightOutStride, source, element, elements, \
             firstMinor);                                                                               \
    break;

/* Adds n connections of one target channel over a tile. The packed tile begins with source channel firstMinor. source
   and element are the offsets of the kernel elements in the packed tile and in a filter. */
static void addConnections(const ConnectionPlan *p, const int64_t *tile, const real *packed, int32_t firstMinor,
                           const Connection *list, int64_t n, const int64_t *source, const int64_t *element,
                           int64_t elements, real *sum)
{
  const Correlation *c = &p->c;
  const real *weight = c->weight;
  const int64_t channelPitch = p->packed.channelPitch, length = runLength(c, &p->packed, tile),
                vectors = length / VL;
  const int64_t microtiles = ceilDivide(vectors, ACCUMULATORS),
                runs[3] = {tile[0], tile[1], correlationIsFlat(c) ? 1 : tile[2]};
  int64_t q[4] = {0};
  for (int64_t run = runs[0] * runs[1] * runs[2]; run > 0; run--, nextIndex(q, runs, 3), sum += length)
    for (int64_t m = 0, v = 0; m < microtiles; m++) {
      const int64_t end = (m + 1) * vectors / microtiles;
      const real *from = packed + packedTilePositionOffset(&p->packed, q) + v * VL;
      real *to = sum + v * VL;
      switch (end - v) {
        ADD_TERMS(1)
        ADD_TERMS(2)
        ADD_TERMS(3)
        ADD_TERMS(4)
        ADD_TERMS(5)
        ADD_TERMS(6)
        ADD_TERMS(7)
        ADD_TERMS(8)
      }
      v = end;
    }
}

/* Stores one row of positions of some target channels; their sums are `pitch` apart. */
static void storeRow(const ConnectionPlan *p, const real *sum, int64_t pitch, real *target, int64_t channels,
                     int64_t positions)
{
  const int64_t channelStride = p->c.targetChannelStride, positionStride = p->c.axis[3].targetStride;
  if (!p->add && positionStride == 1) {
    for (int64_t o = 0; o < channels; o++, sum += pitch, target += channelStride) {
      int64_t i = 0;
      for (; i + VL <= positions; i += VL) v_store(target + i, v_load(sum + i));
      if (i < positions) v_store_n(target + i, v_load(sum + i), (int)(positions - i));
    }
  } else if (!p->add && channelStride == 1) {
    THNN_(transpose)(target, positionStride, sum, pitch, channels, positions);
  } else {
    for (int64_t o = 0; o < channels; o++)
      for (int64_t i = 0; i < positions; i++) {
        real *to = target + o * channelStride + i * positionStride;
        *to = p->add ? *to + sum[o * pitch + i] : sum[o * pitch + i];
      }
  }
}

/* Adds all connections of a block of target channels over a tile. The sums of two channels are `pitch` apart. */
static void addBlock(const ConnectionPlan *p, const Tile *tile, int64_t block, real *packed, real *sums,
                     int64_t pitch)
{
  const Correlation *c = &p->c;
  const ConnectionList *list = &p->list;
  const int32_t minorBlock = (int32_t)list->minorBlock;
  const int64_t firstMajor = block * list->majorBlock;
  const Connection *begin = THNN_(connectionListBlock)(list, block * list->minorBlocks),
                   *end = THNN_(connectionListBlock)(list, (block + 1) * list->minorBlocks);
  for (int64_t i = 0; i < tileCount(p->kernel, p->kernelTile); i++) {
    const Tile kernel = tileAt(p->kernel, p->kernelTile, i);
    const int64_t elements = elementCount(kernel.size), most = MAX(TERMS / elements, 1);
    int64_t source[KERNEL_TILE_ELEMENTS], element[KERNEL_TILE_ELEMENTS];
    kernelOffsets(c, &p->packed, &kernel, source, element);
    for (const Connection *next, *at = begin; at < end; at = next) {
      const int32_t minor = at->minor - at->minor % minorBlock;
      if (at == begin || at[-1].minor < minor || at[-1].minor >= minor + minorBlock)
        THNN_(packTile)(c, &p->packed, tile, &kernel, c->source + minor * c->sourceChannelStride,
                        MIN(minorBlock, c->inChannels - minor), packed);
      for (next = at + 1; next < end && next - at < most && next->major == at->major && next->minor >= minor &&
                          next->minor < minor + minorBlock;)
        next++;
      addConnections(p, tile->size, packed, minor, at, next - at, source, element, elements,
                     sums + (at->major - firstMajor) * pitch);
    }
  }
}

static void correlateTask(const ConnectionPlan *p, int64_t task)
{
  const Correlation *c = &p->c;
  const Tile tile = tileAt(p->positions, p->tile, task % p->tiles);
  const int64_t block = task / p->tiles, first = block * p->list.majorBlock,
                channels = MIN(p->list.majorBlock, c->outChannels - first);
  const int64_t length = runLength(c, &p->packed, tile.size), pitch = runCount(c, tile.size) * length;
  real *sums = (real *)((char *)thnn_scratch(p->scratchBytes) + p->listBytes),
       *packed = sums + pitch * p->list.majorBlock;
  for (int64_t o = 0; o < channels; o++) {
    const real bias = c->bias && !p->add ? c->bias[(first + o) * c->biasOutStride] : 0;
    for (int64_t i = 0; i < pitch; i += VL) v_store(sums + o * pitch + i, v_set1(bias));
  }
  addBlock(p, &tile, block, packed, sums, pitch);
  int64_t q[4] = {0};
  for (int64_t row = tile.size[0] * tile.size[1] * tile.size[2]; row > 0; row--, nextIndex(q, tile.size, 3)) {
    real *target = c->target + first * c->targetChannelStride + tile.start[3] * c->axis[3].targetStride;
    for (int d = 0; d < 3; d++) target += (tile.start[d] + q[d]) * c->axis[d].targetStride;
    const int64_t run = (q[0] * tile.size[1] + q[1]) * (correlationIsFlat(c) ? 1 : tile.size[2]);
    const int64_t at = correlationIsFlat(c) ? run * length + q[2] * p->packed.pitch[2] : (run + q[2]) * length;
    storeRow(p, sums + at, pitch, target, channels, tile.size[3]);
  }
}

static void correlate(Correlation c, const ConnectionTable *table, int targetColumn)
{
  ConnectionPlan p = {.c = c};
  if (elementCount((int64_t[]){c.axis[0].targetSize, c.axis[1].targetSize, c.axis[2].targetSize,
                               c.axis[3].targetSize}) == 0)
    return;
  makePlan(&p, table);
  for (int64_t row = 0; row < table->rows || row == 0; row += TABLE_ROWS) {
    p.list.count = MIN(table->rows - row, TABLE_ROWS);
    p.add = row > 0;
    p.c.weight = c.weight + row * c.weightOutStride;
    THNN_(connectionListSort)(&p.list, table, row, targetColumn, p.scratchBytes);
    const double work =
        (double)elementCount(p.positions) * (double)(p.list.count * elementCount(p.kernel) + c.outChannels);
    THNN_PARALLEL_FOR(task, p.tiles * ceilDivide(c.outChannels, p.list.majorBlock), (int64_t)MIN(work / 8, 1e15))
      correlateTask(&p, task);
  }
}

void THNN_(connectionTableOutput)(const Convolution *g, ConnectionTable table, ConvolutionView input,
                                  ConvolutionView weight, ConvolutionView bias, ConvolutionView output)
{
  Correlation c = THNN_(correlationForward)(g, input, weight, output);
  c.bias = bias.data;
  c.biasOutStride = bias.stride[0];
  correlate(c, &table, table.outputColumn);
}

void THNN_(connectionTableGradInput)(const Convolution *g, ConnectionTable table, ConvolutionView gradOutput,
                                     ConvolutionView weight, ConvolutionView bias, ConvolutionView gradInput)
{
  Correlation backward = THNN_(correlationBackward)(g, gradOutput, weight, bias, gradInput);
  backward.weightOutStride = weight.stride[0]; /* between connections */
  int64_t residues[3], residue[3] = {0};
  bool reachesAll = true; /* every residue class is reached by a kernel element */
  for (int d = 0; d < 3; d++) {
    residues[d] = residueCount(g->axis + d);
    reachesAll = reachesAll && residues[d] == g->axis[d].stride;
  }
  if (!reachesAll) { /* a correlation without connections: only the biases */
    ConnectionTable none = table;
    none.rows = 0;
    Correlation c = backward;
    for (int d = 0; d < 3; d++)
      c.axis[d + 1] = (CorrelationAxis){.targetSize = g->axis[d].input,
                                        .sourceSize = g->axis[d].input,
                                        .stride = 1,
                                        .kernel = 1,
                                        .dilation = 1,
                                        .targetStride = gradInput.stride[d + 2]};
    correlate(c, &none, !table.outputColumn);
  }
  for (int64_t n = residues[0] * residues[1] * residues[2]; n > 0; n--, nextIndex(residue, residues, 3)) {
    Correlation c = backward;
    if (!THNN_(correlationOfResidue)(&c, g, residue, weight, gradInput)) continue;
    THNN_(correlationSimplify)(&c);
    correlate(c, &table, !table.outputColumn);
  }
}
