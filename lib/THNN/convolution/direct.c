#include "convolution/convolution.h"
#include "convolution/packing.h"
#include "convolution/direct.h"

#ifndef FEW_TILES

/* A tile of P outputs by Q vectors has P * Q sums, P weights and a vector of the source in registers. */
#define FEW_OUTPUTS 3
#if VBYTES == 64
#define FEW_VECTORS 8
#define FEW_TILES(X, P) X(P, 1) X(P, 2) X(P, 3) X(P, 4) X(P, 5) X(P, 6) X(P, 7) X(P, 8)
#else
#define FEW_VECTORS 4
#define FEW_TILES(X, P) X(P, 1) X(P, 2) X(P, 3) X(P, 4)
#endif

/* One load per vector: gcc would rather read it again for every output, and most reads cross a cache line. */
#ifdef __x86_64__
#define FEW_KEEP(x) __asm__("" : "+v"(x))
#else
#define FEW_KEEP(x)
#endif

/* A tile of R rows (1 or FEW_ROWS) by Q vectors: one of the source is loaded once for all taps of its column. */
#define FEW_ROWS 4
#define FEW_ROW_TAPS 7
/* Where registers are left, every other tap of a column has a sum of its own: two short sums err less than a long one. */
#define FEW_CHAINS (VBYTES == 64 ? 2 : 1)
#define FEW_ROW_TILES(X, K) X(K, 1, 1) X(K, 1, 2) X(K, 4, 1) X(K, 4, 2)

/* Sums that several strips are added to stay in L2, what is used once in L1. */
#define FEW_STRIP_BYTES ((int64_t)128 << 10)
#define FEW_SUM_BYTES ((int64_t)256 << 10)
#define FEW_ONCE_BYTES ((int64_t)20 << 10)

/* At most FEW_TERMS terms: some taps of some channels. */
typedef struct FewSteps {
  int64_t channels, taps, sourceChannel, weightChannel;
  int64_t source[FEW_TERMS], weight[FEW_TERMS]; /* of the taps */
} FewSteps;

#endif

/* sum[p][i] += sum over channels c, taps t of weight[p, c, t] * source[c, t, i]; where there is a bias, sum[p][i]
   begins as bias[p]. P and Q are constants in every caller, so that acc lives in registers; its length must be a
   literal. */
static inline __attribute__((always_inline)) void few(const int P, const int Q, real *sum, int64_t sumOutput,
                                                      const real *bias, const real *source, const real *weight,
                                                      int64_t weightOutput, const FewSteps *k)
{
  vreal acc[FEW_OUTPUTS * FEW_VECTORS];
#pragma GCC unroll 24
  for (int i = 0; i < P * Q; i++) acc[i] = (vreal){0};
  for (int64_t c = 0; c < k->channels; c++, source += k->sourceChannel, weight += k->weightChannel)
    for (int64_t t = 0; t < k->taps; t++) {
      const real *x = source + k->source[t], *w = weight + k->weight[t];
      real factor[FEW_OUTPUTS];
#pragma GCC unroll 3
      for (int p = 0; p < P; p++) factor[p] = w[p * weightOutput];
#pragma GCC unroll 8
      for (int q = 0; q < Q; q++) {
        vreal v = v_load(x + q * VL);
        FEW_KEEP(v);
#pragma GCC unroll 3
        for (int p = 0; p < P; p++) acc[p * Q + q] += factor[p] * v;
      }
    }
#pragma GCC unroll 3
  for (int p = 0; p < P; p++)
#pragma GCC unroll 8
    for (int q = 0; q < Q; q++) {
      real *to = sum + p * sumOutput + q * VL;
      v_store(to, (bias ? v_set1(bias[p]) : v_load(to)) + acc[p * Q + q]);
    }
}

typedef void (*FewTile)(real *sum, int64_t sumOutput, const real *bias, const real *source, const real *weight,
                        int64_t weightOutput, const FewSteps *k);

#define TILE(P, Q)                                                                                     \
  static void directTile_##P##x##Q(real *sum, int64_t sumOutput, const real *bias, const real *source, \
                                   const real *weight, int64_t weightOutput, const FewSteps *k)        \
  {                                                                                                    \
    few(P, Q, sum, sumOutput, bias, source, weight, weightOutput, k);                                  \
  }
FEW_TILES(TILE, 1)
FEW_TILES(TILE, 2)
FEW_TILES(TILE, 3)
#undef TILE

#define TILE(P, Q) [P][Q] = directTile_##P##x##Q,
static const FewTile fewTiles[FEW_OUTPUTS + 1][FEW_VECTORS + 1] = {FEW_TILES(TILE, 1) FEW_TILES(TILE, 2)
                                                                       FEW_TILES(TILE, 3)};
#undef TILE

/* Some columns of a plane, one vector or two that are `vector` apart, less than VL where they overlap. */
typedef struct FewColumns {
  real *to;
  const real *source, *weight;
  real bias;
  int lanes; /* of a vector */
  int64_t rows, vector;
  int64_t toRow, sourceRow, weightRow; /* strides */
  int64_t ahead;                       /* from a store to one of a later group, which is asked for */
} FewColumns;

/* Every row is bias + the sum over channels, taps and K taps along the column, which is all: it goes where it belongs.
   The last tile overlaps with the one before. */
static inline __attribute__((always_inline)) void fewRows(const int K, const int R, const int Q,
                                                          const FewColumns *p, const FewSteps *k)
{
  for (int64_t y = 0; y < p->rows; y += R) {
    const int64_t first = MIN(y, p->rows - R);
    const real *source = p->source + first * p->sourceRow, *weight = p->weight;
    vreal acc[FEW_CHAINS * FEW_ROWS * 2];
#pragma GCC unroll 16
    for (int i = 0; i < FEW_CHAINS * R * Q; i++) acc[i] = v_set1(i < R * Q ? p->bias : 0);
    for (int64_t c = 0; c < k->channels; c++, source += k->sourceChannel, weight += k->weightChannel)
      for (int64_t t = 0; t < k->taps; t++) {
        const real *x = source + k->source[t], *w = weight + k->weight[t];
        vreal factor[FEW_ROW_TAPS];
#pragma GCC unroll 7
        for (int i = 0; i < K; i++) factor[i] = v_set1(w[i * p->weightRow]);
#pragma GCC unroll 10
        for (int row = 0; row < R + K - 1; row++, x += p->sourceRow)
#pragma GCC unroll 2
          for (int q = 0; q < Q; q++) {
            vreal v = v_load(x + q * p->vector);
            FEW_KEEP(v);
#pragma GCC unroll 7
            for (int i = MAX(row - R + 1, 0); i <= MIN(row, K - 1); i++)
              acc[((i + 1) % FEW_CHAINS * R + row - i) * Q + q] += factor[i] * v;
          }
      }
#pragma GCC unroll 8
    for (int i = 0; i < (FEW_CHAINS - 1) * R * Q; i++) acc[i] += acc[R * Q + i];
    real *to = p->to + first * p->toRow;
#pragma GCC unroll 4
    for (int r = 0; r < R; r++, to += p->toRow)
#pragma GCC unroll 2
      for (int q = 0; q < Q; q++) {
        __builtin_prefetch(to + q * p->vector + p->ahead, 1);
        if (p->lanes == VL) v_store(to + q * p->vector, acc[r * Q + q]);
        else v_store_n(to + q * p->vector, acc[r * Q + q], p->lanes);
      }
  }
}

typedef void (*FewRowTile)(const FewColumns *columns, const FewSteps *k);

#define TILE(K, R, Q)                                                                  \
  static void directRows_##K##x##R##x##Q(const FewColumns *columns, const FewSteps *k) \
  {                                                                                    \
    fewRows(K, R, Q, columns, k);                                                      \
  }
FEW_ROW_TILES(TILE, 3)
FEW_ROW_TILES(TILE, 5)
FEW_ROW_TILES(TILE, 7)
#undef TILE

#define TILE(K, R, Q) [K / 2][R > 1][Q - 1] = directRows_##K##x##R##x##Q,
static const FewRowTile fewRowTiles[FEW_ROW_TAPS / 2 + 1][2][2] = {FEW_ROW_TILES(TILE, 3) FEW_ROW_TILES(TILE, 5)
                                                                       FEW_ROW_TILES(TILE, 7)};
#undef TILE

void THNN_(few_join)(Correlation *c, Residues *residues)
{
  for (int d = 0; d < 4; d++) {
    CorrelationAxis *axis = c->axis + d;
    Residues *all = residues + d;
    int64_t end = 0;
    axis->targetSize = 0;
    axis->offset = all->list[0].first;
    for (int64_t i = 0; i < all->count; i++) axis->offset = MIN(axis->offset, all->list[i].first);
    for (int64_t i = 0; i < all->count; i++) {
      Residue *r = all->list + i;
      r->first -= axis->offset;
      axis->targetSize = MAX(axis->targetSize, r->count);
      end = MAX(end, r->first + (r->taps - 1) * r->skip);
    }
    axis->kernel = end + 1;
    axis->dilation = 1;
  }
}

/* One run of positions, as long as vectors can be read without regard to rows. */
static bool isFlat(const Correlation *c) { return c->axis[2].stride == 1 && c->axis[3].stride == 1; }

bool THNN_(few_suits)(const Correlation *c)
{
  const CorrelationAxis *last = c->axis + 3;
  const int64_t taps[4] = {c->axis[0].kernel, c->axis[1].kernel, c->axis[2].kernel, last->kernel};
  const bool fewOfGroup = c->groups > 1 && c->outChannels <= FEW_OF_GROUP;
  const bool oneTap = taps[0] == 1 && taps[1] == 1 && taps[2] == 1 && taps[3] == 1;
  if (!fewOfGroup && (c->outChannels > VL / 2 || oneTap)) return false;
  /* Vectors for a row with positions in the lanes, and with outputs there, which come with less to do for each group. */
  const int64_t width = isFlat(c) ? last->targetSize + last->kernel - 1 : ceilDivide(last->targetSize, VL) * VL;
  const int64_t positions = c->outChannels * width,
                outputs = ceilDivide(c->outChannels, VL) * VL * last->targetSize;
  if (positions > (fewOfGroup ? outputs : outputs / 2)) return false;
  const int64_t one[4] = {1, 1, 1, MIN(last->targetSize, FEW_VECTORS * VL)};
  const PackedTile strip = packedTileLayout(c->axis, one, taps);
  return strip.residues <= FEW_TERMS && strip.channelPitch * (int64_t)sizeof(real) <= FEW_STRIP_BYTES;
}

typedef struct FewPlan {
  Correlation c;
  const Residues *residues;
  int64_t count[4], box[4], taps[4];
  int64_t channels; /* of a pass over a strip */
  int64_t stripChannels;
  int64_t kinds; /* combinations of residues */
  bool direct;   /* by fewRows: 3, 5 or 7 taps along dense columns, and rows that fill half of their vectors */
  PackedTile strip;
} FewPlan;

/* The runs of a box: how many and how long. */
static int64_t contiguousRuns(const Correlation *c, const int64_t *box)
{
  return box[0] * box[1] * (isFlat(c) ? 1 : box[2]);
}

static int64_t runLength(const Correlation *c, const PackedTile *strip, const int64_t *box)
{
  const int64_t positions = box[3] + (isFlat(c) ? (box[2] - 1) * strip->pitch[2] : 0);
  return ceilDivide(positions, VL) * VL;
}

static int64_t sumReals(const FewPlan *p, const int64_t *box)
{
  const PackedTile strip = packedTileLayout(p->c.axis, box, p->taps);
  return contiguousRuns(&p->c, box) * runLength(&p->c, &strip, box) * p->c.outChannels * p->kinds;
}

static bool boxFits(const FewPlan *p, const int64_t *box, int64_t stripBytes, int64_t sumBytes)
{
  const int64_t realBytes = sizeof(real);
  return packedTileLayout(p->c.axis, box, p->taps).channelPitch * p->stripChannels * realBytes <= stripBytes &&
         sumReals(p, box) * realBytes <= sumBytes;
}

static void makeFewPlan(FewPlan *p, int threads)
{
  const Correlation *c = &p->c;
  int64_t most = 1;
  p->kinds = 1;
  for (int d = 0; d < 4; d++) {
    int64_t taps = 0;
    for (int64_t i = 0; i < p->residues[d].count; i++) taps = MAX(taps, p->residues[d].list[i].taps);
    most *= taps;
    p->kinds *= p->residues[d].count;
    p->count[d] = c->axis[d].targetSize;
    p->taps[d] = c->axis[d].kernel;
    p->box[d] = 1;
  }
  const bool atOnce = most <= FEW_TERMS && c->inChannels <= FEW_TERMS / most;
  p->channels = p->stripChannels = MAX(atOnce ? c->inChannels : MIN(PARTIAL_SUM_TERMS / most, c->inChannels), 1);
  int64_t box[4] = {1, 1, 1, MIN(p->count[3], VL)};
  while (p->channels > 1 && !boxFits(p, box, FEW_STRIP_BYTES, FEW_SUM_BYTES))
    p->channels = p->stripChannels = (p->channels + 1) / 2;
  /* Channels that are innermost in memory are copied a cache line at a time. */
  if (c->sourceChannelStride == 1)
    p->stripChannels = MIN(ceilDivide(VL, p->channels) * p->channels, c->inChannels);
  if (!boxFits(p, box, FEW_STRIP_BYTES, FEW_SUM_BYTES)) p->stripChannels = p->channels;
  const bool once = p->channels >= c->inChannels;
  const int64_t stripBytes = once ? FEW_ONCE_BYTES : FEW_STRIP_BYTES,
                sumBytes = once ? FEW_ONCE_BYTES : FEW_SUM_BYTES;
  box[3] = p->count[3];
  while (box[3] > VL && !boxFits(p, box, stripBytes, sumBytes))
    box[3] = smallerTile(ceilDivide(p->count[3], VL), ceilDivide(box[3], VL)) * VL;
  p->box[3] = MIN(box[3], p->count[3]);
  const Residue *rows = p->residues[2].list;
  const int64_t width = ceilDivide(p->count[3], VL) * VL;
  p->direct = once && most <= FEW_TERMS && p->kinds == 1 && c->axis[2].stride == 1 &&
              c->axis[3].targetStride == 1 && rows->skip == 1 && rows->taps % 2 == 1 && rows->taps > 1 &&
              rows->taps <= FEW_ROW_TAPS && width <= 2 * (p->count[3] + p->taps[3] - 1);
  for (int d = 2; d >= 0 && p->box[d + 1] == p->count[d + 1]; d--) {
    memcpy(box, p->box, sizeof box);
    for (box[d] = p->count[d]; box[d] > 1 && !boxFits(p, box, stripBytes, sumBytes);)
      box[d] = smallerTile(p->count[d], box[d]);
    p->box[d] = box[d];
  }
  for (;;) {
    const int64_t tasks = c->groups * tileCount(p->count, p->box);
    if (tasks % threads == 0 || tasks >= 8 * threads) break;
    int d = 0;
    while (d < 3 && p->box[d] == 1) d++;
    if (d == 3) break;
    p->box[d] = smallerTile(p->count[d], p->box[d]);
  }
  p->strip = packedTileLayout(c->axis, p->box, p->taps);
}

/* Adds the terms of channels first .. first + channels - 1, whose strip this is, for all residues. */
static void addStrip(const FewPlan *p, const Tile *box, int64_t group, int64_t first, int64_t channels,
                     const real *strip, real *sum)
{
  const Correlation *c = &p->c;
  const int64_t runs = contiguousRuns(c, box->size), length = runLength(c, &p->strip, box->size);
  const int64_t vectors = length / VL, tiles = ceilDivide(vectors, FEW_VECTORS);
  const int64_t runBox[3] = {box->size[0], box->size[1], isFlat(c) ? 1 : box->size[2]};
  int64_t kind[4] = {0}, kinds[4];
  for (int d = 0; d < 4; d++) kinds[d] = p->residues[d].count;
  FewSteps k = {.channels = channels, .sourceChannel = p->strip.channelPitch, .weightChannel = c->weightInStride};
  for (int64_t n = 0; n < p->kinds; n++, nextIndex(kind, kinds, 4)) {
    const Residue *r[4];
    int64_t taps[4], t[4] = {0};
    const real *weight = c->weight + group * c->weightGroupStride + first * c->weightInStride;
    for (int d = 0; d < 4; d++) {
      r[d] = p->residues[d].list + kind[d];
      taps[d] = r[d]->taps;
      weight += r[d]->weight;
    }
    for (int64_t done = 0; done < volume(taps); done += k.taps) {
      for (k.taps = 0; k.taps < FEW_TERMS && done + k.taps < volume(taps); k.taps++, nextIndex(t, taps, 4)) {
        int64_t seen[4];
        k.weight[k.taps] = 0;
        for (int d = 0; d < 4; d++) {
          seen[d] = r[d]->first + t[d] * r[d]->skip;
          k.weight[k.taps] += t[d] * r[d]->weightStep;
        }
        k.source[k.taps] = packedTileKernelOffset(&p->strip, c->axis, seen);
      }
      for (int64_t o = 0; o < c->outChannels; o += FEW_OUTPUTS) {
        const int64_t P = MIN(FEW_OUTPUTS, c->outChannels - o);
        real bias[FEW_OUTPUTS] = {0};
        for (int64_t i = 0; c->bias && i < P; i++)
          bias[i] = c->bias[group * c->biasGroupStride + (o + i) * c->biasOutStride];
        const real *begin = first == 0 && done == 0 ? bias : NULL;
        int64_t q[4] = {0};
        for (int64_t run = 0; run < runs; run++, nextIndex(q, runBox, 3)) {
          const real *from = strip + packedTilePositionOffset(&p->strip, c->axis, q);
          real *to = sum + ((n * c->outChannels + o) * runs + run) * length;
          for (int64_t tile = 0, v = 0; tile < tiles; tile++) {
            const int64_t end = (tile + 1) * vectors / tiles;
            fewTiles[P][end - v](to + v * VL, runs * length, begin, from + v * VL, weight + o * c->weightOutStride,
                                 c->weightOutStride, &k);
            v = end;
          }
        }
      }
    }
  }
}

/* Finished sums, one row of them, to every stride-th place. */
static inline void storeRow(real *to, int64_t stride, const real *from, int64_t count, int64_t ahead)
{
  int64_t x = 0;
  if (stride == 1) {
    for (; x + VL <= count; x += VL) {
      __builtin_prefetch(to + x + ahead, 1);
      v_store(to + x, v_load(from + x));
    }
    if (x < count) {
      __builtin_prefetch(to + x + ahead, 1);
      v_store_n(to + x, v_load(from + x), (int)(count - x));
    }
  } else if (stride == 2) {
    for (; x < count; x++) to[2 * x] = from[x];
  } else {
    for (; x < count; x++) to[x * stride] = from[x];
  }
}

static void storeSums(const FewPlan *p, const Tile *box, int64_t group, const real *sum)
{
  const Correlation *c = &p->c;
  const bool flat = isFlat(c);
  const int64_t length = runLength(c, &p->strip, box->size), stride = c->axis[3].targetStride;
  const int64_t plane = contiguousRuns(c, box->size) * length;
  const bool together =
      c->targetChannelStride == 1 && c->outChannels > 1; /* planes are innermost: a position at a time */
  int64_t kind[4] = {0}, kinds[4];
  for (int d = 0; d < 4; d++) kinds[d] = p->residues[d].count;
  for (int64_t n = 0; n < p->kinds; n++, nextIndex(kind, kinds, 4)) {
    int64_t count[4], start = 0; /* of the box, what there is of this kind */
    for (int d = 0; d < 4; d++) {
      const Residue *r = p->residues[d].list + kind[d];
      count[d] = MIN(box->size[d], r->count - box->start[d]);
      start += r->target + box->start[d] * c->axis[d].targetStride;
    }
    for (int64_t o = 0; o < (together ? 1 : c->outChannels); o++) {
      real *target = c->target + (group * c->outChannels + o) * c->targetChannelStride + start;
      for (int64_t i = 0; i < box->size[0]; i++)
        for (int64_t j = 0; j < box->size[1]; j++, sum += (flat ? 1 : box->size[2]) * length) {
          if (i >= count[0] || j >= count[1]) continue;
          real *to = target + i * c->axis[0].targetStride + j * c->axis[1].targetStride;
          const real *from = sum;
          for (int64_t row = 0; row < count[2]; row++) {
            if (together) THNN_(transpose)(to, stride, from, plane, c->outChannels, count[3]);
            else storeRow(to, stride, from, count[3], 2 * c->targetChannelStride);
            to += c->axis[2].targetStride;
            from += flat ? p->strip.pitch[2] : length;
          }
        }
    }
    if (together) sum += (c->outChannels - 1) * plane;
  }
}

/* A box at once, where no sum is left for another pass. */
static void correlateRows(const FewPlan *p, const Tile *box, int64_t group, const real *strip)
{
  const Correlation *c = &p->c;
  const Residue *r[4];
  const real *weight = c->weight + group * c->weightGroupStride;
  real *target = c->target + group * c->outChannels * c->targetChannelStride;
  int64_t taps[4], t[4] = {0};
  for (int d = 0; d < 4; d++) {
    r[d] = p->residues[d].list;
    taps[d] = d == 2 ? 1 : r[d]->taps;
    weight += r[d]->weight;
    target += r[d]->target + box->start[d] * c->axis[d].targetStride;
  }
  FewSteps k = {.channels = c->inChannels,
                .taps = volume(taps),
                .sourceChannel = p->strip.channelPitch,
                .weightChannel = c->weightInStride};
  for (int64_t i = 0; i < k.taps; i++, nextIndex(t, taps, 4)) {
    int64_t seen[4];
    for (int d = 0; d < 4; d++) {
      seen[d] = r[d]->first + t[d] * r[d]->skip;
      k.weight[i] += t[d] * r[d]->weightStep;
    }
    k.source[i] = packedTileKernelOffset(&p->strip, c->axis, seen);
  }
  const int64_t width = box->size[3], vectors = ceilDivide(width, VL), last = MAX(width - VL, 0);
  FewColumns columns = {.lanes = (int)MIN(width, VL),
                        .rows = box->size[2],
                        .toRow = c->axis[2].targetStride,
                        .sourceRow = p->strip.pitch[2],
                        .weightRow = r[2]->weightStep,
                        .ahead = 2 * c->targetChannelStride};
  int64_t q[4] = {0};
  for (int64_t plane = box->size[0] * box->size[1]; plane > 0; plane--, nextIndex(q, box->size, 2)) {
    const real *from = strip + packedTilePositionOffset(&p->strip, c->axis, q);
    real *to = target + q[0] * c->axis[0].targetStride + q[1] * c->axis[1].targetStride;
    for (int64_t o = 0; o < c->outChannels; o++, to += c->targetChannelStride) {
      columns.weight = weight + o * c->weightOutStride;
      columns.bias = c->bias ? c->bias[group * c->biasGroupStride + o * c->biasOutStride] : 0;
      for (int64_t v = 0; v < vectors; v += 2) {
        const int64_t x = MIN(v * VL, last);
        columns.to = to + x;
        columns.source = from + x;
        columns.vector = MIN((v + 1) * VL, last) - x;
        fewRowTiles[r[2]->taps / 2][columns.rows >= FEW_ROWS][v + 1 < vectors](&columns, &k);
      }
    }
  }
}

static void fewTask(const FewPlan *p, int64_t group, int64_t piece)
{
  const Correlation *c = &p->c;
  const Tile box = tileAt(p->count, p->box, piece),
             taps = {.size = {p->taps[0], p->taps[1], p->taps[2], p->taps[3]}};
  const int64_t stripReals = p->strip.channelPitch * p->stripChannels + VL, sums = sumReals(p, p->box);
  real *strip = thnn_scratch(sizeof(real) * (size_t)(stripReals + sums)), *sum = strip + stripReals;
  for (int64_t first = 0; first < c->inChannels || first == 0; first += p->stripChannels) {
    const int64_t channels = MIN(p->stripChannels, c->inChannels - first);
    THNN_(packTile)(c, &p->strip, &box, &taps,
                    c->source + (group * c->inChannels + first) * c->sourceChannelStride, channels, strip);
    if (p->direct) return correlateRows(p, &box, group, strip);
    for (int64_t ch = 0; ch < channels || ch == 0; ch += p->channels)
      addStrip(p, &box, group, first + ch, MIN(p->channels, channels - ch), strip + ch * p->strip.channelPitch,
               sum);
  }
  storeSums(p, &box, group, sum);
}

void THNN_(few_correlate)(const Correlation *correlation, const Residues *residues)
{
  FewPlan p = {.c = *correlation, .residues = residues};
  double terms = (double)(p.c.groups * p.c.outChannels) * (double)(p.c.inChannels + 1);
  for (int d = 0; d < 4; d++) {
    double axis = 0;
    for (int64_t i = 0; i < residues[d].count; i++)
      axis += (double)residues[d].list[i].count * (double)residues[d].list[i].taps;
    terms *= axis;
  }
  if (terms == 0) return;
  const int64_t work = (int64_t)MIN(terms / 16, 1e15);
  makeFewPlan(&p, thnn_threads(1 << 20, work));
  /* Group by group within a box: what strip_fill and storeRow ask for ahead of time is what comes next. */
  const int64_t tasks = p.c.groups * tileCount(p.count, p.box);
  THNN_PARALLEL_FOR(i, tasks, work) fewTask(&p, i % p.c.groups, i / p.c.groups);
}
