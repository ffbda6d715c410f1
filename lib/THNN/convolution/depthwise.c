#include "gemm/microkernel.h"
#include "convolution/convolution.h"
#include "convolution/packing.h"
#include "convolution/depthwise.h"
#include "runtime/streaming.h"

/* Sources are read where they lie, without a copy or zeros around them: a row of target positions is cut into
   segments that meet the same taps, and only taps that exist are visited. A vector of the source is read once per tap.
   For each channel of a group its lanes are picked, and multiplied by the same tap and channel of all groups of the
   vector. For gradWeight lanes are those of the source or of the gradients, whichever has more of a group; of the
   others they are picked.

   A segment is gone through in tiles of a few positions, and all vectors of a tile come before the next tile: memory
   is read from one end to the other, and what the taps of a tile share is in L1. What comes then is asked for
   ahead of time: a page may be a few positions, and no prefetcher of a CPU crosses it. */

#define DEPTHWISE_OUTPUTS 4 /* of a group, at most */
#define DEPTHWISE_TERMS 128
#define DEPTHWISE_BYTES ((int64_t)256 << 10) /* packed weights, or sums of gradWeight */
#define DEPTHWISE_SUMS 10                    /* of gradWeight, at a time */
#define DEPTHWISE_RUN 16                     /* positions that are added in registers, */
#define DEPTHWISE_CHAIN 256                  /* and in all before they go to sums in double */
#if VBYTES == 64
#define DEPTHWISE_POSITIONS 8
#else
#define DEPTHWISE_POSITIONS 4
#endif
#define REALS (VBYTES / sizeof(real))

/* Lane l is lane i[l] of x. */
static inline vreal permute(vreal x, vint i)
{
#if VBYTES == 64
  return V_PS(permutexvar)((__m512i)i, x);
#elif VBYTES == 32
#ifdef THNN_REAL_IS_DOUBLE
  i = 2 * i + ((2 * i + 1) << 32); /* as lanes of half the width */
#endif
  return (vreal)_mm256_permutevar8x32_epi32((__m256i)x, (__m256i)i);
#else
  vreal picked;
  for (int l = 0; l < VL; l++) picked[l] = x[i[l]];
  return picked;
#endif
}

typedef struct Plan {
  const Correlation *c;
  int64_t taps[4], terms, rows;
  int64_t more, fewer;     /* channels and outputs of a group */
  int64_t vectors, groups; /* of all groups; of one vector */
  bool plain;              /* one channel, one output: lanes of the source are those of the target */
} Plan;

/* Taps low .. high - 1 of the last axis exist for positions up to end - 1. */
typedef struct Segment {
  int64_t end, low, high;
} Segment;

typedef struct Work {
  vlane same[REALS], pick[REALS][REALS]; /* lanes, and where they find what number i of their group is */
  Segment segment[2 * DEPTHWISE_TERMS + 2];
  int64_t segments;
  /* Rows of taps that exist at a row of positions: the first tap, and where its source is. */
  int64_t rows, rowTap[DEPTHWISE_TERMS], rowOffset[DEPTHWISE_TERMS];
  /* Taps that exist at a position: which, and where its source is from the position's own place. */
  int64_t taps, tap[DEPTHWISE_TERMS], offset[DEPTHWISE_TERMS];
} Work;

bool THNN_(depthwise_is)(const Correlation *c)
{
  if (c->groups == 1 || c->outputs > DEPTHWISE_OUTPUTS || c->channels > VL || c->channels < 1) return false;
  if (c->sourceChannel != 1 || c->targetChannel != 1) return false;
  if (4 * (VL / MAX(c->channels, c->outputs)) * c->outputs < VL) return false;
  double terms = (double)c->channels;
  for (int d = 0; d < 4; d++) terms *= (double)c->axis[d].taps;
  return terms <= DEPTHWISE_TERMS;
}

static Plan makePlan(const Correlation *c)
{
  Plan p = {.c = c, .rows = c->axis[0].count * c->axis[1].count * c->axis[2].count};
  for (int d = 0; d < 4; d++) p.taps[d] = c->axis[d].taps;
  p.terms = volume(p.taps) * c->channels;
  p.more = MAX(c->channels, c->outputs);
  p.fewer = MIN(c->channels, c->outputs);
  p.groups = VL / p.more;
  p.vectors = ceilDivide(c->groups, p.groups);
  p.plain = c->channels == 1 && c->outputs == 1;
  return p;
}

/* Of every group, `width` lanes pick from `count` ones. */
static void makeWork(const Plan *p, int64_t width, int64_t count, Work *w)
{
  const Correlation *c = p->c;
  for (int64_t l = 0; l < VL; l++) {
    w->same[l] = (vlane)l;
    for (int64_t i = 0; i < count; i++) w->pick[i][l] = (vlane)(l < p->groups * width ? l / width * count + i : 0);
  }
  const Axis *a = c->axis + 3;
  w->segments = 0;
  for (int64_t q = 0, x = a->first; q < a->count; q++, x += a->step) {
    /* Tap t sees x + t * skip. */
    const int64_t low = x < 0 ? MIN(ceilDivide(-x, a->skip), a->taps) : 0;
    const int64_t high = x < a->size ? MAX(MIN((a->size - 1 - x) / a->skip + 1, a->taps), low) : low;
    Segment *s = w->segment + MAX(w->segments - 1, 0);
    if (w->segments == 0 || s->low != low || s->high != high) s = w->segment + w->segments++;
    *s = (Segment){q + 1, low, high};
  }
}

static void findRows(const Plan *p, Work *w, const int64_t *q)
{
  const Correlation *c = p->c;
  int64_t t[3] = {0};
  w->rows = 0;
  for (int64_t tap = 0; tap < volume(p->taps); tap += p->taps[3], box_next(t, p->taps, 3)) {
    int64_t offset = 0;
    bool exists = true;
    for (int d = 0; d < 3; d++) {
      const Axis *a = c->axis + d;
      const int64_t x = a->first + q[d] * a->step + t[d] * a->skip;
      exists = exists && x >= 0 && x < a->size;
      offset += t[d] * a->skip * a->source;
    }
    if (!exists) continue;
    w->rowTap[w->rows] = tap;
    w->rowOffset[w->rows++] = offset;
  }
}

static void findTaps(const Plan *p, Work *w, const Segment *segment)
{
  const int64_t skip = p->c->axis[3].skip * p->c->axis[3].source;
  w->taps = 0;
  for (int64_t row = 0; row < w->rows; row++)
    for (int64_t i = segment->low; i < segment->high; i++) {
      w->tap[w->taps] = w->rowTap[row] + i;
      w->offset[w->taps++] = w->rowOffset[row] + i * skip;
    }
}

/* Where a row begins in the source and in the target. */
static const real *rowSource(const Correlation *c, const int64_t *q)
{
  int64_t at = c->axis[3].first * c->axis[3].source;
  for (int d = 0; d < 3; d++) at += (c->axis[d].first + q[d] * c->axis[d].step) * c->axis[d].source;
  return c->source + at;
}

static real *rowTarget(const Correlation *c, const int64_t *q)
{
  return c->target + q[0] * c->axis[0].target + q[1] * c->axis[1].target + q[2] * c->axis[2].target;
}

/* The vectors of a tile: of the source, channels lanes; of the target, outputs lanes. */
typedef struct Lanes {
  int channels, outputs;
  int64_t sourceStep, targetStep; /* from position to position */
  int64_t last;                   /* row of the source that a position sees, and that was not seen before */
} Lanes;

static inline Lanes makeLanes(const Plan *p, int64_t vector)
{
  const Correlation *c = p->c;
  const Axis *row = c->axis + 2, *column = c->axis + 3;
  const int64_t groups = MIN(p->groups, c->groups - vector * p->groups);
  return (Lanes){.channels = (int)(groups * c->channels),
                 .outputs = (int)(groups * c->outputs),
                 .sourceStep = column->step * column->source,
                 .targetStep = column->target,
                 .last = (row->taps - 1) * row->skip * row->source};
}

/* P positions of one vector. `full`: no lane is empty. `plain`: lanes of the source are those of the target. */
static inline __attribute__((always_inline)) void Sums(const int P, const bool full, const bool plain,
                                                       const Work *w, int64_t channels, Lanes lanes,
                                                       const real *source, const real *weight, real *target)
{
  vreal acc[DEPTHWISE_POSITIONS], x[DEPTHWISE_POSITIONS];
#pragma GCC unroll 8
  for (int i = 0; i < P; i++) acc[i] = v_load(weight); /* the biases come first */
  weight += VL;
#pragma GCC unroll 8
  for (int i = 0; i < P; i++) {
    thnn_prefetchAhead(source + i * lanes.sourceStep + lanes.last, VBYTES);
    thnn_prefetchAheadForWrite(target + i * lanes.targetStep, VBYTES);
  }
  for (int64_t t = 0; t < w->taps; t++) {
    const real *from = source + w->offset[t], *factor = weight + w->tap[t] * channels * VL;
#pragma GCC unroll 8
    for (int i = 0; i < P; i++)
      x[i] = full ? v_load(from + i * lanes.sourceStep) : v_load_n(from + i * lanes.sourceStep, lanes.channels);
    for (int64_t ch = 0; ch < channels; ch++, factor += VL) {
      const vreal f = v_load(factor);
      const vint pick = vi_load(w->pick[ch]);
#pragma GCC unroll 8
      for (int i = 0; i < P; i++) acc[i] += f * (plain ? x[i] : permute(x[i], pick));
      if (plain) break;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < P; i++) {
    if (full) v_store(target + i * lanes.targetStep, acc[i]);
    else v_store_n(target + i * lanes.targetStep, acc[i], lanes.outputs);
  }
}

#define SUMS(P)                                                                      \
  case P:                                                                            \
    if (!full) Sums(P, false, false, w, c->channels, lanes, from, weight, to);       \
    else if (p->plain) Sums(P, true, true, w, c->channels, lanes, from, weight, to); \
    else Sums(P, true, false, w, c->channels, lanes, from, weight, to);              \
    break;

/* n positions of some vectors. */
static void sumTile(const Plan *p, const Work *w, int n, const real *from, const real *weight, real *to,
                    int64_t firstVector, int64_t endVector)
{
  const Correlation *c = p->c;
  from += firstVector * p->groups * c->channels;
  to += firstVector * p->groups * c->outputs;
  for (int64_t v = firstVector; v < endVector; v++) {
    const Lanes lanes = makeLanes(p, v);
    const bool full = lanes.channels == VL && lanes.outputs == VL;
    switch (n) {
      SUMS(1)
      SUMS(2)
      SUMS(3)
      SUMS(4)
#if DEPTHWISE_POSITIONS == 8
      SUMS(5)
      SUMS(6)
      SUMS(7)
      SUMS(8)
#endif
    }
    from += p->groups * c->channels;
    to += p->groups * c->outputs;
    weight += (p->terms + 1) * VL;
  }
}

/* [vector][bias, terms][lane] */
static void packWeights(const Plan *p, int64_t firstVector, int64_t endVector, real *packed)
{
  const Correlation *c = p->c;
  for (int64_t v = firstVector; v < endVector; v++, packed += (p->terms + 1) * VL) {
    const Lanes lanes = makeLanes(p, v);
    memset(packed, 0, sizeof(real) * VL * (size_t)(p->terms + 1));
    for (int l = 0; l < lanes.outputs; l++) {
      const int64_t group = v * p->groups + l / c->outputs, output = l % c->outputs;
      const real *weight = c->weight + group * c->weightGroup + output * c->weightOutput;
      if (c->bias) packed[l] = c->bias[group * c->biasGroup + output * c->biasOutput];
      real *to = packed + VL + l;
      int64_t t[4] = {0};
      for (int64_t i = volume(p->taps); i > 0; i--, box_next(t, p->taps, 4)) {
        const real *from = weight;
        for (int d = 0; d < 4; d++) from += t[d] * c->axis[d].weight;
        for (int64_t ch = 0; ch < c->channels; ch++, to += VL) *to = from[ch * c->weightChannel];
      }
    }
  }
}

static void correlateRows(const Plan *p, int64_t firstVector, int64_t endVector, int64_t firstRow, int64_t endRow)
{
  const Correlation *c = p->c;
  const int64_t count[3] = {c->axis[0].count, c->axis[1].count, c->axis[2].count};
  const int64_t most = MAX(DEPTHWISE_BYTES / ((p->terms + 1) * VBYTES), 1),
                together = MIN(most, endVector - firstVector);
  Work w;
  makeWork(p, c->outputs, c->channels, &w);
  real *packed = thnn_scratch((size_t)(together * (p->terms + 1) * VBYTES));
  for (int64_t v = firstVector; v < endVector; v += together) {
    const int64_t end = MIN(v + together, endVector);
    packWeights(p, v, end, packed);
    for (int64_t row = firstRow; row < endRow; row++) {
      const int64_t q[3] = {row / (count[1] * count[2]), row / count[2] % count[1], row % count[2]};
      const real *from = rowSource(c, q);
      real *to = rowTarget(c, q);
      findRows(p, &w, q);
      int64_t x = 0;
      for (const Segment *s = w.segment; s < w.segment + w.segments; s++) {
        findTaps(p, &w, s);
        for (int n; x < s->end; x += n) {
          const int64_t left = s->end - x;
          n = (int)ceilDivide(left, ceilDivide(left, DEPTHWISE_POSITIONS));
          sumTile(p, &w, n, from + x * c->axis[3].step * c->axis[3].source, packed, to + x * c->axis[3].target, v,
                  end);
        }
      }
    }
  }
}

void THNN_(depthwise_correlate)(const Correlation *c)
{
  const Plan p = makePlan(c);
  const double terms =
      (double)(c->groups * c->outputs) * (double)(p.rows * c->axis[3].count) * (double)p.terms / 8;
  const int64_t work = (int64_t)MIN(terms, 1e15);
  const int threads = thnn_threads(1 << 20, work);
  const bool byRows = p.rows >= threads; /* which a series does not have */
  const int64_t all = byRows ? p.rows : p.vectors, parts = MIN(all, threads);
  THNN_PARALLEL_FOR(i, parts, work) {
    const int64_t first = i * all / parts, end = (i + 1) * all / parts;
    if (byRows) correlateRows(&p, 0, p.vectors, first, end);
    else correlateRows(&p, first, end, 0, p.rows);
  }
}

/* Adds the products of n positions to T taps of one vector, the first of which is `first` of those that exist.
   `full`: no lane is empty, and the source has as many as the gradients. */
static inline __attribute__((always_inline)) void products(const int T, const bool full, const Work *w,
                                                           Lanes lanes, vint pickSource, vint pickGradient,
                                                           int64_t first, int n, const real *source,
                                                           const real *gradient, real *sum)
{
  vreal acc[DEPTHWISE_SUMS];
  const real *x[DEPTHWISE_SUMS];
#pragma GCC unroll 10
  for (int t = 0; t < T; t++) {
    acc[t] = (vreal){0};
    x[t] = source + w->offset[first + t];
  }
  for (int64_t i = 0; i < n; i++, gradient += lanes.targetStep) {
    const vreal g = permute(full ? v_load(gradient) : v_load_n(gradient, lanes.outputs), pickGradient);
#pragma GCC unroll 10
    for (int t = 0; t < T; t++) {
      const real *from = x[t] + i * lanes.sourceStep;
      acc[t] += g * (full ? v_load(from) : permute(v_load_n(from, lanes.channels), pickSource));
    }
  }
#pragma GCC unroll 10
  for (int t = 0; t < T; t++) {
    real *to = sum + w->tap[first + t] * VL;
    v_store(to, v_load(to) + acc[t]);
  }
}

#define PRODUCTS(T)                                                                                   \
  case T:                                                                                             \
    if (full) products(T, true, w, lanes, pickSource, pickGradient, first, n, source, gradient, sum); \
    else products(T, false, w, lanes, pickSource, pickGradient, first, n, source, gradient, sum);     \
    break;

/* n positions of some vectors, all taps that exist. */
static void addTile(const Plan *p, const Work *w, int n, const real *source, const real *gradient, real *sum,
                    int64_t firstVector, int64_t endVector)
{
  const Correlation *c = p->c;
  const int64_t taps = volume(p->taps);
  source += firstVector * p->groups * c->channels;
  gradient += firstVector * p->groups * c->outputs;
  for (int64_t v = firstVector; v < endVector; v++) {
    const Lanes lanes = makeLanes(p, v);
    const bool full = lanes.channels == VL && lanes.outputs == VL;
    for (int i = 0; i < n; i++) {
      thnn_prefetchAhead(source + i * lanes.sourceStep + lanes.last, VBYTES);
      thnn_prefetchAhead(gradient + i * lanes.targetStep, VBYTES);
    }
    for (int64_t i = 0; i < p->fewer; i++, sum += taps * VL) {
      const vint pickSource = vi_load(p->more == c->channels ? w->same : w->pick[i]);
      const vint pickGradient = vi_load(p->more == c->channels ? w->pick[i] : w->same);
      for (int64_t first = 0, end; first < w->taps; first = end) {
        end = MIN(first + DEPTHWISE_SUMS, w->taps);
        switch (end - first) {
          UP_TO_9(PRODUCTS)
          PRODUCTS(10)
        }
      }
    }
    source += p->groups * c->channels;
    gradient += p->groups * c->outputs;
  }
}

static void addVectors(const Plan *p, real scale, int64_t firstVector, int64_t endVector)
{
  const Correlation *c = p->c;
  const int64_t count[3] = {c->axis[0].count, c->axis[1].count, c->axis[2].count};
  const int64_t each = volume(p->taps) * VL, sums = (endVector - firstVector) * p->fewer * each;
  Work w;
  makeWork(p, p->more, p->fewer, &w);
  double *total = thnn_scratch((sizeof(double) + sizeof(real)) * (size_t)sums);
  real *sum = (real *)(total + sums);
  memset(total, 0, (sizeof(double) + sizeof(real)) * (size_t)sums);
  int64_t q[3] = {0}, chain = 0;
  for (int64_t row = 0; row < p->rows; row++, box_next(q, count, 3)) {
    const real *source = rowSource(c, q), *gradient = rowTarget(c, q);
    findRows(p, &w, q);
    int64_t x = 0;
    for (const Segment *s = w.segment; s < w.segment + w.segments; s++) {
      findTaps(p, &w, s);
      for (int n; x < s->end; x += n) {
        const int64_t left = s->end - x;
        n = (int)ceilDivide(left, ceilDivide(left, DEPTHWISE_RUN));
        addTile(p, &w, n, source + x * c->axis[3].step * c->axis[3].source, gradient + x * c->axis[3].target, sum,
                firstVector, endVector);
        chain += n;
        if (chain < DEPTHWISE_CHAIN && (x + n < c->axis[3].count || row + 1 < p->rows)) continue;
        for (int64_t i = 0; i < sums; i++) {
          total[i] += (double)sum[i];
          sum[i] = 0;
        }
        chain = 0;
      }
    }
  }
  for (int64_t v = firstVector; v < endVector; v++)
    for (int64_t i = 0; i < p->fewer; i++, total += each)
      for (int64_t l = 0; l < MIN(p->groups, c->groups - v * p->groups) * p->more; l++) {
        const int64_t channel = p->more == c->channels ? l % p->more : i,
                      output = p->more == c->channels ? i : l % p->more;
        real *weight = c->weight + (v * p->groups + l / p->more) * c->weightGroup + output * c->weightOutput +
                       channel * c->weightChannel;
        int64_t t[4] = {0};
        for (int64_t tap = 0; tap < volume(p->taps); tap++, box_next(t, p->taps, 4)) {
          real *to = weight;
          for (int d = 0; d < 4; d++) to += t[d] * c->axis[d].weight;
          *to += (real)((double)scale * total[tap * VL + l]);
        }
      }
}

/* Each task has some vectors: nothing is added over tasks. */
void THNN_(depthwise_gradWeight)(const Correlation *c, real scale)
{
  const Plan p = makePlan(c);
  const double terms =
      (double)(c->groups * c->outputs) * (double)(p.rows * c->axis[3].count) * (double)p.terms / 8;
  const int64_t work = (int64_t)MIN(terms, 1e15);
  const int64_t each = volume(p.taps) * p.fewer * VL * (int64_t)(sizeof(real) + sizeof(double));
  const int64_t most = MAX(DEPTHWISE_BYTES / each, 1);
  const int64_t tasks = MAX(ceilDivide(p.vectors, most), thnn_threads(p.vectors, work));
  THNN_PARALLEL_FOR(i, tasks, work) addVectors(&p, scale, i * p.vectors / tasks, (i + 1) * p.vectors / tasks);
}
