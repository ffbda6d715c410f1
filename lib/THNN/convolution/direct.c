#include "convolution/direct.h"

#include "convolution/direct_kernels.h"
#include "convolution/position_runs.h"
#include "runtime/shared_scratch.h"

/* Limits of a packed tile and of the sums. If several blocks of channels are added to the sums, both stay in L2;
   if one block has all channels, in L1 (SINGLE_BLOCK_BYTES). */
#define PACKED_BYTES ((int64_t)128 << 10)
#define SUM_BYTES ((int64_t)256 << 10)
#define SINGLE_BLOCK_BYTES ((int64_t)20 << 10)

typedef struct DirectPlan {
  Correlation c;
  const ResidueClasses *classes;
  int64_t positions[4], kernel[4]; /* sizes of the whole target and kernel */
  int64_t tile[4];
  int64_t channels;       /* per call of a micro-kernel */
  int64_t packedChannels; /* per packed tile */
  int64_t combinations;   /* number of combinations of residue classes of the axes */
  bool byColumns;         /* computed by column kernels */
  PackedTile packed;
  /* Offsets of the kernel elements of all combinations, one after the other; of a row of them for column kernels. */
  int64_t *source, *weight;
} DirectPlan;

bool THNN_(directClasses)(const Convolution *g, ConvolutionView weight, ConvolutionView gradInput,
                          ResidueClasses *classes)
{
  classes[0] = (ResidueClasses){1, {{.positions = g->batch, .kernel = 1, .dilation = 1}}};
  for (int d = 0; d < 3; d++) {
    ResidueClasses *all = classes + d + 1;
    all->count = 0;
    const int64_t count = residueCount(g->axis + d);
    if (count > DIRECT_CLASSES) return false;
    for (int64_t i = 0; i < count; i++) {
      CorrelationAxis axis;
      int64_t coordinate, lastElement;
      if (!THNN_(residueAxis)(g->axis + d, i, &axis, &coordinate, &lastElement)) continue;
      all->item[all->count++] = (ResidueClass){.positions = axis.targetSize,
                                               .offset = axis.offset,
                                               .kernel = axis.kernel,
                                               .dilation = axis.dilation,
                                               .targetOffset = coordinate * gradInput.stride[d + 2],
                                               .weightOffset = lastElement * weight.stride[d + 2],
                                               .weightStride = axis.weightStride * weight.stride[d + 2]};
    }
  }
  return true;
}

void THNN_(directJoin)(Correlation *c, ResidueClasses *classes)
{
  for (int d = 0; d < 4; d++) {
    CorrelationAxis *axis = c->axis + d;
    ResidueClasses *all = classes + d;
    if (all->count == 1) {
      ResidueClass *r = all->item;
      axis->targetSize = r->positions;
      axis->offset = r->offset;
      axis->kernel = r->kernel;
      axis->dilation = r->dilation;
      r->offset = 0;
      r->dilation = 1;
      continue;
    }
    int64_t end = 0;
    axis->targetSize = 0;
    axis->offset = all->item[0].offset;
    for (int64_t i = 0; i < all->count; i++) axis->offset = MIN(axis->offset, all->item[i].offset);
    for (int64_t i = 0; i < all->count; i++) {
      ResidueClass *r = all->item + i;
      r->offset -= axis->offset;
      axis->targetSize = MAX(axis->targetSize, r->positions);
      end = MAX(end, r->offset + (r->kernel - 1) * r->dilation);
    }
    axis->kernel = end + 1;
    axis->dilation = 1;
  }
}

bool THNN_(directSuits)(const Correlation *c)
{
  const CorrelationAxis *last = c->axis + 3;
  const int64_t kernel[4] = {c->axis[0].kernel, c->axis[1].kernel, c->axis[2].kernel, last->kernel};
  const bool smallGroups = c->groups > 1 && c->outChannels <= DIRECT_GROUP_CHANNELS;
  const bool oneElement = kernel[0] == 1 && kernel[1] == 1 && kernel[2] == 1 && kernel[3] == 1;
  if (!smallGroups && (c->outChannels > VL / 2 || oneElement)) return false;
  /* The lanes that a row costs: `direct` if positions are vectorized, `product` if output channels are. Direct
     convolution must need at most half of the lanes of the product, or, if groups are small, no more than the product,
     because direct convolution has less overhead per group. */
  const int64_t width = correlationIsFlat(c) ? axisExtent(last, last->targetSize, last->kernel)
                                             : ceilDivide(last->targetSize, VL) * VL;
  const int64_t direct = c->outChannels * width, product = ceilDivide(c->outChannels, VL) * VL * last->targetSize;
  if (direct > (smallGroups ? product : product / 2)) return false;
  const int64_t one[4] = {1, 1, 1, MIN(last->targetSize, DIRECT_VECTORS * VL)};
  const PackedTile packed = packedTileLayout(c->axis, one, kernel);
  return packed.residues <= PACKED_TILE_RESIDUES && packed.channelPitch * (int64_t)sizeof(real) <= PACKED_BYTES;
}

static int64_t sumReals(const DirectPlan *p, const int64_t *tile)
{
  const PackedTile packed = packedTileLayout(p->c.axis, tile, p->kernel);
  return runCount(&p->c, tile) * runLength(&p->c, &packed, tile) * p->c.outChannels * p->combinations;
}

static bool tileFits(const DirectPlan *p, const int64_t *tile, int64_t packedBytes, int64_t sumBytes)
{
  const int64_t realBytes = sizeof(real);
  return packedTileLayout(p->c.axis, tile, p->kernel).channelPitch * p->packedChannels * realBytes <=
             packedBytes &&
         sumReals(p, tile) * realBytes <= sumBytes;
}

/* Sets the channels of a micro-kernel call and of a packed tile. Returns the kernel elements of the largest
   combination of residue classes. */
static int64_t planChannels(DirectPlan *p)
{
  const Correlation *c = &p->c;
  int64_t mostElements = 1;
  p->combinations = 1;
  for (int d = 0; d < 4; d++) {
    int64_t kernel = 0;
    for (int64_t i = 0; i < p->classes[d].count; i++) kernel = MAX(kernel, p->classes[d].item[i].kernel);
    mostElements *= kernel;
    p->combinations *= p->classes[d].count;
  }
  const bool fitsOneBlock = mostElements <= DIRECT_TERMS && c->inChannels <= DIRECT_TERMS / mostElements;
  p->channels = p->packedChannels =
      MAX(fitsOneBlock ? c->inChannels : MIN(PARTIAL_SUM_TERMS / mostElements, c->inChannels), 1);
  const int64_t tile[4] = {1, 1, 1, MIN(p->positions[3], VL)};
  while (p->channels > 1 && !tileFits(p, tile, PACKED_BYTES, SUM_BYTES))
    p->channels = p->packedChannels = (p->channels + 1) / 2;
  /* In channels-last layout at least a vector of channels is packed, since they share cache lines. */
  if (c->sourceChannelStride == 1)
    p->packedChannels = MAX(MIN(ceilDivide(VL, p->channels) * p->channels, c->inChannels), 1);
  if (!tileFits(p, tile, PACKED_BYTES, SUM_BYTES)) p->packedChannels = p->channels;
  return mostElements;
}

/* Column kernels require columns of 3, 5, 7 or more adjacent kernel elements, and rows that are contiguous in the
   target and, rounded up to whole vectors, have at most twice as many lanes as a row of positions and its halo. */
static bool columnKernelsSuit(const DirectPlan *p)
{
  const CorrelationAxis *rows = p->c.axis + 2, *last = p->c.axis + 3;
  const int64_t column = p->classes[2].item->kernel, width = ceilDivide(p->positions[3], VL) * VL;
  return p->combinations == 1 && rows->stride == 1 && rows->dilation == 1 && last->targetStride == 1 &&
         (column > DIRECT_COLUMN_ELEMENTS || (column % 2 == 1 && column > 1)) &&
         width <= 2 * axisExtent(last, p->positions[3], p->kernel[3]);
}

/* Sets the largest tile of positions that fits. */
static void chooseTile(DirectPlan *p, int64_t packedBytes, int64_t sumBytes)
{
  int64_t tile[4] = {1, 1, 1, p->positions[3]};
  while (tile[3] > VL && !tileFits(p, tile, packedBytes, sumBytes))
    tile[3] = smallerTile(ceilDivide(p->positions[3], VL), ceilDivide(tile[3], VL)) * VL;
  for (int d = 0; d < 3; d++) p->tile[d] = 1;
  p->tile[3] = MIN(tile[3], p->positions[3]);
  for (int d = 2; d >= 0 && p->tile[d + 1] == p->positions[d + 1]; d--) {
    memcpy(tile, p->tile, sizeof tile);
    for (tile[d] = p->positions[d]; tile[d] > 1 && !tileFits(p, tile, packedBytes, sumBytes);)
      tile[d] = smallerTile(p->positions[d], tile[d]);
    p->tile[d] = tile[d];
  }
}

/* The estimated time in multiply-adds of vectors. */
static double planCost(const DirectPlan *p)
{
  const Correlation *c = &p->c;
  const PackedTile packed = packedTileLayout(c->axis, p->tile, p->kernel);
  double terms = (double)c->inChannels;
  for (int d = 0; d < 4; d++) {
    double elements = 0;
    for (int64_t i = 0; i < p->classes[d].count; i++) elements += (double)p->classes[d].item[i].kernel;
    terms *= elements;
  }
  const double tiles = (double)c->groups * (double)tileCount(p->positions, p->tile);
  const double vectors = (double)runCount(c, p->tile) * (double)runLength(c, &packed, p->tile) / VL;
  /* Each micro-tile reads its own weights; a tile has a fixed cost. */
  return tiles * ((vectors + 1) * (double)c->outChannels * terms +
                  (double)packed.channelPitch * (double)c->inChannels / 2 + 200);
}

static void makePlan(DirectPlan *p, int threads)
{
  const Correlation *c = &p->c;
  for (int d = 0; d < 4; d++) {
    p->positions[d] = c->axis[d].targetSize;
    p->kernel[d] = c->axis[d].kernel;
  }
  const int64_t mostElements = planChannels(p);
  chooseTile(p, PACKED_BYTES, SUM_BYTES);
  const bool oneBlock = p->channels >= c->inChannels, tall = p->classes[2].item->kernel > DIRECT_COLUMN_ELEMENTS;
  p->byColumns = tall && oneBlock && p->tile[2] >= DIRECT_ROWS && columnKernelsSuit(p);
  if (!p->byColumns && oneBlock && mostElements <= DIRECT_TERMS) {
    /* One block of channels: tiles in L1, unless too much of them is halo. */
    const DirectPlan large = *p;
    chooseTile(p, SINGLE_BLOCK_BYTES, SINGLE_BLOCK_BYTES);
    p->byColumns = !tall && columnKernelsSuit(p);
    if (!p->byColumns && 1.25 * planCost(&large) < planCost(p)) *p = large;
  }
  /* Tiles are made smaller until threads have equal numbers of them. */
  for (;;) {
    const int64_t tasks = c->groups * tileCount(p->positions, p->tile);
    if (tasks % threads == 0 || tasks >= 8 * threads) break;
    int d = 0;
    while (d < 3 && p->tile[d] == 1) d++;
    if (d == 3) break;
    p->tile[d] = smallerTile(p->positions[d], p->tile[d]);
  }
  p->packed = packedTileLayout(c->axis, p->tile, p->kernel);
}

/* Sets r to the classes of a combination, given by their numbers, and `kernel` to its kernel elements, or to those of a
   row for column kernels. */
static void combinationAt(const DirectPlan *p, const int64_t *numbers, const ResidueClass **r, int64_t *kernel)
{
  for (int d = 0; d < 4; d++) {
    r[d] = p->classes[d].item + numbers[d];
    kernel[d] = d == 2 && p->byColumns ? 1 : r[d]->kernel;
  }
}

/* Sets the offsets of all kernel elements. Returns false if there is too little memory for them. */
static bool makeOffsets(DirectPlan *p)
{
  int64_t elements = 1, classes[4], i[4] = {0};
  for (int d = 0; d < 4; d++) {
    int64_t kernels = 0;
    classes[d] = p->classes[d].count;
    for (int64_t j = 0; j < classes[d]; j++) kernels += p->classes[d].item[j].kernel;
    if (kernels > (int64_t)(THNN_SHARED_SCRATCH_LIMIT / (2 * sizeof(int64_t))) / elements) return false;
    elements *= kernels;
  }
  p->source = thnn_sharedScratch(2 * sizeof(int64_t) * (size_t)elements);
  if (p->source == NULL) return false;
  p->weight = p->source + elements;
  int64_t *source = p->source, *weight = p->weight;
  for (int64_t n = 0; n < p->combinations; n++, nextIndex(i, classes, 4)) {
    const ResidueClass *r[4];
    int64_t kernel[4], t[4] = {0};
    combinationAt(p, i, r, kernel);
    for (int64_t left = elementCount(kernel); left > 0; left--, nextIndex(t, kernel, 4)) {
      int64_t coordinate[4], offset = 0;
      for (int d = 0; d < 4; d++) {
        coordinate[d] = r[d]->offset + t[d] * r[d]->dilation;
        offset += r[d]->weightOffset + t[d] * r[d]->weightStride;
      }
      *source++ = packedTileKernelOffset(&p->packed, p->c.axis, coordinate);
      *weight++ = offset;
    }
  }
  return true;
}

/* Adds `channels` channels of a group, from channel `first` on, to the sums of all combinations of residue classes.
   `packed` is the packed tile of these channels. */
static void addChannels(const DirectPlan *p, const Tile *tile, int64_t group, int64_t first, int64_t channels,
                        const real *packed, real *sum)
{
  const Correlation *c = &p->c;
  const int64_t runs = runCount(c, tile->size), length = runLength(c, &p->packed, tile->size);
  const int64_t vectors = length / VL, microtiles = ceilDivide(vectors, DIRECT_VECTORS);
  const int64_t runSize[3] = {tile->size[0], tile->size[1], correlationIsFlat(c) ? 1 : tile->size[2]};
  int64_t i[4] = {0}, classes[4];
  for (int d = 0; d < 4; d++) classes[d] = p->classes[d].count;
  DirectTerms k = {.channels = channels,
                   .sourceChannelStride = p->packed.channelPitch,
                   .weightChannelStride = c->weightInStride,
                   .source = p->source,
                   .weight = p->weight};
  const real *weight = c->weight + group * c->weightGroupStride + first * c->weightInStride;
  for (int64_t n = 0; n < p->combinations; n++, nextIndex(i, classes, 4)) {
    const ResidueClass *r[4];
    int64_t kernel[4];
    combinationAt(p, i, r, kernel);
    for (int64_t done = 0; done < elementCount(kernel);
         done += k.elements, k.source += k.elements, k.weight += k.elements) {
      k.elements = MIN(DIRECT_TERMS, elementCount(kernel) - done);
      for (int64_t o = 0; o < c->outChannels; o += DIRECT_OUTPUTS) {
        const int64_t P = MIN(DIRECT_OUTPUTS, c->outChannels - o);
        real bias[DIRECT_OUTPUTS] = {0};
        for (int64_t b = 0; c->bias && b < P; b++)
          bias[b] = c->bias[group * c->biasGroupStride + (o + b) * c->biasOutStride];
        const real *begin = first == 0 && done == 0 ? bias : NULL;
        int64_t q[4] = {0};
        for (int64_t run = 0; run < runs; run++, nextIndex(q, runSize, 3)) {
          const real *from = packed + packedTilePositionOffset(&p->packed, q);
          real *to = sum + ((n * c->outChannels + o) * runs + run) * length;
          for (int64_t m = 0, v = 0; m < microtiles; m++) {
            const int64_t end = (m + 1) * vectors / microtiles;
            THNN_(directKernels)[P][end - v](to + v * VL, runs * length, begin, from + v * VL,
                                             weight + o * c->weightOutStride, c->weightOutStride, &k);
            v = end;
          }
        }
      }
    }
  }
}

/* Stores one row of sums with a stride. `prefetch` is the offset from a store to the store of a later channel. */
static inline void storeRow(real *to, int64_t stride, const real *from, int64_t count, int64_t prefetch)
{
  int64_t x = 0;
  if (stride == 1) {
    for (; x + VL <= count; x += VL) {
      __builtin_prefetch(to + x + prefetch, 1);
      v_store(to + x, v_load(from + x));
    }
    if (x < count) {
      __builtin_prefetch(to + x + prefetch, 1);
      v_store_n(to + x, v_load_n(from + x, (int)(count - x)), (int)(count - x));
    }
  } else if (stride == 2) {
    for (; x < count; x++) to[2 * x] = from[x];
  } else {
    for (; x < count; x++) to[x * stride] = from[x];
  }
}

static void storeSums(const DirectPlan *p, const Tile *tile, int64_t group, const real *sum)
{
  const Correlation *c = &p->c;
  const bool flat = correlationIsFlat(c);
  const int64_t length = runLength(c, &p->packed, tile->size), stride = c->axis[3].targetStride;
  const int64_t channelPitch = runCount(c, tile->size) * length;
  const bool transposed = c->targetChannelStride == 1 && c->outChannels > 1; /* channels-last */
  int64_t i[4] = {0}, classes[4];
  for (int d = 0; d < 4; d++) classes[d] = p->classes[d].count;
  for (int64_t n = 0; n < p->combinations; n++, nextIndex(i, classes, 4)) {
    int64_t size[4], start = 0; /* positions of the tile that these residue classes have */
    for (int d = 0; d < 4; d++) {
      const ResidueClass *r = p->classes[d].item + i[d];
      size[d] = MIN(tile->size[d], r->positions - tile->start[d]);
      start += r->targetOffset + tile->start[d] * c->axis[d].targetStride;
    }
    for (int64_t o = 0; o < (transposed ? 1 : c->outChannels); o++) {
      real *target = c->target + (group * c->outChannels + o) * c->targetChannelStride + start;
      for (int64_t a = 0; a < tile->size[0]; a++)
        for (int64_t b = 0; b < tile->size[1]; b++, sum += (flat ? 1 : tile->size[2]) * length) {
          if (a >= size[0] || b >= size[1]) continue;
          real *to = target + a * c->axis[0].targetStride + b * c->axis[1].targetStride;
          const real *from = sum;
          for (int64_t row = 0; row < size[2]; row++) {
            if (transposed) THNN_(transpose)(to, stride, from, channelPitch, c->outChannels, size[3]);
            else storeRow(to, stride, from, size[3], 2 * c->targetChannelStride);
            to += c->axis[2].targetStride;
            from += flat ? p->packed.pitch[2] : length;
          }
        }
    }
    if (transposed) sum += (c->outChannels - 1) * channelPitch;
  }
}

/* Computes and stores a tile of one group by column kernels, from all channels at once, without sums in memory. */
static void correlateColumns(const DirectPlan *p, const Tile *tile, int64_t group, const real *packed)
{
  const Correlation *c = &p->c;
  const ResidueClass *rows = p->classes[2].item;
  const real *weight = c->weight + group * c->weightGroupStride;
  real *target = c->target + group * c->outChannels * c->targetChannelStride;
  DirectTerms k = {.channels = c->inChannels,
                   .elements = 1,
                   .sourceChannelStride = p->packed.channelPitch,
                   .weightChannelStride = c->weightInStride,
                   .source = p->source,
                   .weight = p->weight};
  for (int d = 0; d < 4; d++) {
    const ResidueClass *r = p->classes[d].item;
    target += r->targetOffset + tile->start[d] * c->axis[d].targetStride;
    if (d != 2) k.elements *= r->kernel;
  }
  const int64_t width = tile->size[3], vectors = ceilDivide(width, VL), last = MAX(width - VL, 0);
  DirectColumn column = {.lanes = (int)MIN(width, VL),
                         .rows = tile->size[2],
                         .elements = rows->kernel,
                         .toRowStride = c->axis[2].targetStride,
                         .sourceRowStride = p->packed.pitch[2],
                         .weightRowStride = rows->weightStride,
                         .prefetch = 2 * c->targetChannelStride};
  int64_t q[4] = {0};
  for (int64_t slice = tile->size[0] * tile->size[1]; slice > 0; slice--, nextIndex(q, tile->size, 2)) {
    const real *from = packed + packedTilePositionOffset(&p->packed, q);
    real *to = target + q[0] * c->axis[0].targetStride + q[1] * c->axis[1].targetStride;
    for (int64_t o = 0; o < c->outChannels; o++, to += c->targetChannelStride) {
      column.weight = weight + o * c->weightOutStride;
      column.bias = c->bias ? c->bias[group * c->biasGroupStride + o * c->biasOutStride] : 0;
      for (int64_t v = 0; v < vectors; v += 2) {
        const int64_t x = MIN(v * VL, last);
        column.to = to + x;
        column.source = from + x;
        column.vectorStride = MIN((v + 1) * VL, last) - x;
        THNN_(directColumnKernels)[rows->kernel > DIRECT_COLUMN_ELEMENTS ? 0 : rows->kernel]
                                  [column.rows >= DIRECT_ROWS][v + 1 < vectors](&column, &k);
      }
    }
  }
}

static void correlateTask(const DirectPlan *p, int64_t group, int64_t tileIndex)
{
  const Correlation *c = &p->c;
  const Tile tile = tileAt(p->positions, p->tile, tileIndex),
             kernel = {.size = {p->kernel[0], p->kernel[1], p->kernel[2], p->kernel[3]}};
  const int64_t packedReals = p->packed.channelPitch * p->packedChannels + VL, sums = sumReals(p, p->tile);
  real *packed = thnn_scratch(sizeof(real) * (size_t)(packedReals + sums)), *sum = packed + packedReals;
  for (int64_t first = 0; first < c->inChannels || first == 0; first += p->packedChannels) {
    const int64_t channels = MIN(p->packedChannels, c->inChannels - first);
    THNN_(packTile)(c, &p->packed, &tile, &kernel,
                    c->source + (group * c->inChannels + first) * c->sourceChannelStride, channels, packed);
    if (p->byColumns) return correlateColumns(p, &tile, group, packed);
    for (int64_t ch = 0; ch < channels || ch == 0; ch += p->channels)
      addChannels(p, &tile, group, first + ch, MIN(p->channels, channels - ch),
                  packed + ch * p->packed.channelPitch, sum);
  }
  storeSums(p, &tile, group, sum);
}

bool THNN_(directCorrelate)(const Correlation *correlation, const ResidueClasses *classes)
{
  DirectPlan p = {.c = *correlation, .classes = classes};
  double products = (double)(p.c.groups * p.c.outChannels) * (double)(p.c.inChannels + 1);
  for (int d = 0; d < 4; d++) {
    double axis = 0;
    for (int64_t i = 0; i < classes[d].count; i++)
      axis += (double)classes[d].item[i].positions * (double)classes[d].item[i].kernel;
    products *= axis;
  }
  if (products == 0) return true;
  const int64_t work = (int64_t)MIN(products / 16, 1e15);
  makePlan(&p, thnn_threads(1 << 20, work));
  if (!makeOffsets(&p)) return false;
  /* Groups change faster than tiles: packTile and storeRow prefetch for the groups that follow. */
  const int64_t tasks = p.c.groups * tileCount(p.positions, p.tile);
  THNN_PARALLEL_FOR(i, tasks, work) correlateTask(&p, i % p.c.groups, i / p.c.groups);
  return true;
}

double THNN_(directCost)(const Correlation *correlation, const ResidueClasses *classes)
{
  DirectPlan p = {.c = *correlation, .classes = classes};
  makePlan(&p, 1);
  return planCost(&p);
}
