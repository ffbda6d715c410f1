#include "convolution/depthwise.h"
#include "simd/shuffle.h"

#include "convolution/packing.h"
#include "runtime/streaming.h"

/* The lanes of a vector are the channels of as many groups as fill it. The source is read in place, without packing: a
   row of target positions is divided into zones whose positions read the same kernel elements inside the source, and
   only those elements are visited. A source vector is loaded once per kernel element; for each channel of a group it is
   permuted, and multiplied by the weights of that channel in all groups. For gradWeight the lanes are source channels
   or gradients, whichever a group has more of, and the other vector is permuted.

   A zone is divided into micro-tiles of a few positions, and all vectors of a micro-tile are computed before the
   next micro-tile: memory is read in order, and elements that several kernel elements read are in L1. The memory that
   follows is prefetched: a page may hold only a few positions, and hardware prefetchers stop at its end. */

#define MAX_OUTPUTS 4               /* output channels of a group */
#define MAX_MULTIPLIER (3 * VL / 4) /* output channels of a group with one input channel */
#define TERMS 1024    /* most terms of a sum if groups of one channel fill three quarters of all lanes */
#define FEW_TERMS 128 /* most terms of other sums: channels of a group times kernel elements */
#define WEIGHT_BYTES ((int64_t)256 << 10) /* packed weights, or sums of gradWeight */
#define ACCUMULATORS 10                   /* kernel elements of gradWeight at a time */
#define REGISTER_POSITIONS 16             /* positions that gradWeight sums in registers */
#define PARTIAL_POSITIONS 256 /* positions of a partial sum, which is then added to a total in double */
#if VBYTES == 64
#define POSITIONS 8 /* positions of a micro-tile */
#else
#define POSITIONS 4
#endif
#define LANES (VBYTES / sizeof(real))

typedef struct DepthwisePlan {
  const Correlation *c;
  int64_t kernel[4], terms, rows;   /* rows of target positions */
  int64_t maxChannels, minChannels; /* the larger and the smaller of inChannels and outChannels */
  int64_t vectors, groupsPerVector;
  bool sameLanes; /* one channel and one output per group: no permutation */
} DepthwisePlan;

/* The positions of a row from the end of the previous zone to end - 1. On the last axis they read the source through
   the kernel elements low .. high - 1, and padding through the others. */
typedef struct Zone {
  int64_t end, low, high;
} Zone;

/* The kernel elements through which a row of positions, and a zone of it, read the source. */
typedef struct ElementTable {
  vlane identity[LANES], permutation[LANES][LANES]; /* permutation i selects channel i of each group */
  Zone zone[2 * TERMS + 2];
  int64_t zones;
  int64_t rows, rowElement[TERMS], rowOffset[TERMS]; /* kernel rows: first element, source offset */
  int64_t elements, element[TERMS], offset[TERMS];   /* elements: index, source offset from a position */
} ElementTable;

static bool fillsVectors(const Correlation *c, int64_t mostTerms)
{
  if (c->groups == 1 || c->inChannels > VL || c->inChannels < 1) return false;
  if (c->outChannels > (c->inChannels == 1 ? MAX_MULTIPLIER : MAX_OUTPUTS)) return false;
  /* At least a quarter of the lanes are in use. */
  if (4 * (VL / MAX(c->inChannels, c->outChannels)) * c->outChannels < VL) return false;
  double terms = (double)c->inChannels;
  for (int d = 0; d < 4; d++) terms *= (double)c->axis[d].kernel;
  return terms <= (double)mostTerms;
}

bool THNN_(depthwiseFillsVectors)(const Correlation *c) { return fillsVectors(c, FEW_TERMS); }

int64_t THNN_(depthwiseWork)(const Correlation *c) { return (int64_t)MIN(correlationProducts(c) / 8, 1e15); }

bool THNN_(depthwiseSuits)(const Correlation *c)
{
  /* With many terms, empty lanes cost more than direct convolution, whose lanes are positions. */
  const bool fewEmpty =
      c->inChannels == 1 && c->outChannels == 1 && 4 * c->groups >= 3 * ceilDivide(c->groups, VL) * VL;
  return c->sourceChannelStride == 1 && c->targetChannelStride == 1 &&
         fillsVectors(c, fewEmpty ? TERMS : FEW_TERMS);
}

static DepthwisePlan makePlan(const Correlation *c)
{
  DepthwisePlan p = {.c = c, .rows = c->axis[0].targetSize * c->axis[1].targetSize * c->axis[2].targetSize};
  for (int d = 0; d < 4; d++) p.kernel[d] = c->axis[d].kernel;
  p.terms = elementCount(p.kernel) * c->inChannels;
  p.maxChannels = MAX(c->inChannels, c->outChannels);
  p.minChannels = MIN(c->inChannels, c->outChannels);
  p.groupsPerVector = VL / p.maxChannels;
  p.vectors = ceilDivide(c->groups, p.groupsPerVector);
  p.sameLanes = c->inChannels == 1 && c->outChannels == 1;
  return p;
}

/* Sets the zones of a row, and permutations of a vector with `count` lanes per group: permutation i has lane i of
   each group in all `width` lanes of that group. */
static void makeElementTable(const DepthwisePlan *p, int64_t width, int64_t count, ElementTable *w)
{
  const Correlation *c = p->c;
  for (int64_t l = 0; l < VL; l++) {
    w->identity[l] = (vlane)l;
    for (int64_t i = 0; i < count; i++)
      w->permutation[i][l] = (vlane)(l < p->groupsPerVector * width ? l / width * count + i : 0);
  }
  const CorrelationAxis *a = c->axis + 3;
  w->zones = 0;
  for (int64_t q = 0; q < a->targetSize; q++) {
    int64_t low, high;
    axisElements(a, q, &low, &high);
    Zone *s = w->zone + MAX(w->zones - 1, 0);
    if (w->zones == 0 || s->low != low || s->high != high) s = w->zone + w->zones++;
    *s = (Zone){q + 1, low, high};
  }
}

/* Lists the kernel rows that the row q of positions reads inside the source. */
static void findKernelRows(const DepthwisePlan *p, ElementTable *w, const int64_t *q)
{
  const Correlation *c = p->c;
  int64_t t[3] = {0};
  w->rows = 0;
  for (int64_t element = 0; element < elementCount(p->kernel);
       element += p->kernel[3], nextIndex(t, p->kernel, 3)) {
    int64_t offset = 0;
    bool inside = true;
    for (int d = 0; d < 3; d++) {
      const CorrelationAxis *a = c->axis + d;
      const int64_t x = a->offset + q[d] * a->stride + t[d] * a->dilation;
      inside = inside && x >= 0 && x < a->sourceSize;
      offset += t[d] * a->dilation * a->sourceStride;
    }
    if (!inside) continue;
    w->rowElement[w->rows] = element;
    w->rowOffset[w->rows++] = offset;
  }
}

/* Lists the elements of these kernel rows that a zone reads inside the source. */
static void findElements(const DepthwisePlan *p, ElementTable *w, const Zone *zone)
{
  const int64_t step = p->c->axis[3].dilation * p->c->axis[3].sourceStride;
  w->elements = 0;
  for (int64_t row = 0; row < w->rows; row++)
    for (int64_t i = zone->low; i < zone->high; i++) {
      w->element[w->elements] = w->rowElement[row] + i;
      w->offset[w->elements++] = w->rowOffset[row] + i * step;
    }
}

/* The source element that position 0 of row q reads through kernel element 0. */
static const real *rowSource(const Correlation *c, const int64_t *q)
{
  int64_t at = c->axis[3].offset * c->axis[3].sourceStride;
  for (int d = 0; d < 3; d++) at += (c->axis[d].offset + q[d] * c->axis[d].stride) * c->axis[d].sourceStride;
  return c->source + at;
}

static real *rowTarget(const Correlation *c, const int64_t *q)
{
  return c->target + q[0] * c->axis[0].targetStride + q[1] * c->axis[1].targetStride +
         q[2] * c->axis[2].targetStride;
}

/* Lanes in use of a source vector (channels) and a target vector (outputs). */
typedef struct VectorLanes {
  /* Not int: the compiler stores two as they are and loads them as one word, which waits for all earlier stores. */
  int64_t channels, outputs;
  int64_t sourceStep, targetStep; /* between positions */
  int64_t lastRow;                /* offset of the last source row that a position reads, which is prefetched */
} VectorLanes;

static inline VectorLanes vectorLanes(const DepthwisePlan *p, int64_t vector)
{
  const Correlation *c = p->c;
  const CorrelationAxis *row = c->axis + 2, *column = c->axis + 3;
  const int64_t groups = MIN(p->groupsPerVector, c->groups - vector * p->groupsPerVector);
  return (VectorLanes){.channels = groups * c->inChannels,
                       .outputs = groups * c->outChannels,
                       .sourceStep = column->stride * column->sourceStride,
                       .targetStep = column->targetStride,
                       .lastRow = (row->kernel - 1) * row->dilation * row->sourceStride};
}

/* Computes P positions of one vector: the sums of the table's elements first .. end - 1, which are added to the target
   unless `first` is 0. full: all lanes are in use. */
static ALWAYS_INLINE void sumPositions(const int P, const bool full, const bool sameLanes, const ElementTable *w,
                                       int64_t first, int64_t end, int64_t channels, VectorLanes lanes,
                                       const real *source, const real *weight, real *target)
{
  vreal acc[POSITIONS], x[POSITIONS];
#pragma GCC unroll 8
  for (int i = 0; i < P; i++) acc[i] = first == 0 ? v_load(weight) : (vreal){0}; /* biases precede the weights */
  weight += VL;
#pragma GCC unroll 8
  for (int i = 0; i < P; i++) {
    thnn_prefetchAhead(source + i * lanes.sourceStep + lanes.lastRow, VBYTES);
    thnn_prefetchAheadForWrite(target + i * lanes.targetStep, VBYTES);
  }
  for (int64_t t = first; t < end; t++) {
    const real *from = source + w->offset[t], *factor = weight + w->element[t] * channels * VL;
#pragma GCC unroll 8
    for (int i = 0; i < P; i++)
      x[i] =
          full ? v_load(from + i * lanes.sourceStep) : v_load_n(from + i * lanes.sourceStep, (int)lanes.channels);
    for (int64_t ch = 0; ch < channels; ch++, factor += VL) {
      const vreal f = v_load(factor);
      const vint order = vi_load(w->permutation[ch]);
#pragma GCC unroll 8
      for (int i = 0; i < P; i++) acc[i] += f * (sameLanes ? x[i] : v_lookup(x[i], order));
      if (sameLanes) break;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < P; i++) {
    real *to = target + i * lanes.targetStep;
    if (first > 0) acc[i] += full ? v_load(to) : v_load_n(to, (int)lanes.outputs);
    if (full) v_store(to, acc[i]);
    else v_store_n(to, acc[i], (int)lanes.outputs);
  }
}

#define SUMS(P)                                                                                                \
  case P:                                                                                                      \
    if (!full) sumPositions(P, false, false, w, first, end, c->inChannels, lanes, from, weight, to);           \
    else if (p->sameLanes) sumPositions(P, true, true, w, first, end, c->inChannels, lanes, from, weight, to); \
    else sumPositions(P, true, false, w, first, end, c->inChannels, lanes, from, weight, to);                  \
    break;

/* Computes a micro-tile of n positions of some vectors. inParts: sums have more than FEW_TERMS terms. */
static ALWAYS_INLINE void sumVectors(const bool inParts, const DepthwisePlan *p, const ElementTable *w, int n,
                                     const real *from, const real *weight, real *to, int64_t firstVector,
                                     int64_t endVector)
{
  const Correlation *c = p->c;
  from += firstVector * p->groupsPerVector * c->inChannels;
  to += firstVector * p->groupsPerVector * c->outChannels;
  for (int64_t v = firstVector; v < endVector; v++) {
    const VectorLanes lanes = vectorLanes(p, v);
    const bool full = lanes.channels == VL && lanes.outputs == VL;
    int64_t first = 0;
    do {
      const int64_t end = inParts ? MIN(first + PARTIAL_SUM_TERMS, w->elements) : w->elements;
      switch (n) {
        SUMS(1)
        SUMS(2)
        SUMS(3)
        SUMS(4)
#if POSITIONS == 8
        SUMS(5)
        SUMS(6)
        SUMS(7)
        SUMS(8)
#endif
      }
      first = end;
    } while (inParts && first < w->elements);
    from += p->groupsPerVector * c->inChannels;
    to += p->groupsPerVector * c->outChannels;
    weight += (p->terms + 1) * VL;
  }
}

static void sumMicrotile(const DepthwisePlan *p, const ElementTable *w, int n, const real *from,
                         const real *weight, real *to, int64_t firstVector, int64_t endVector)
{
  sumVectors(false, p, w, n, from, weight, to, firstVector, endVector);
}

static void sumLongMicrotile(const DepthwisePlan *p, const ElementTable *w, int n, const real *from,
                             const real *weight, real *to, int64_t firstVector, int64_t endVector)
{
  sumVectors(true, p, w, n, from, weight, to, firstVector, endVector);
}

/* Packs biases and weights as [vector][bias, terms][lane]. */
static void packWeights(const DepthwisePlan *p, int64_t firstVector, int64_t endVector, real *packed)
{
  const Correlation *c = p->c;
  for (int64_t v = firstVector; v < endVector; v++, packed += (p->terms + 1) * VL) {
    const VectorLanes lanes = vectorLanes(p, v);
    memset(packed, 0, sizeof(real) * VL * (size_t)(p->terms + 1));
    for (int l = 0; l < lanes.outputs; l++) {
      const int64_t group = v * p->groupsPerVector + l / c->outChannels, output = l % c->outChannels;
      const real *weight = c->weight + group * c->weightGroupStride + output * c->weightOutStride;
      if (c->bias) packed[l] = c->bias[group * c->biasGroupStride + output * c->biasOutStride];
      real *to = packed + VL + l;
      int64_t t[4] = {0};
      for (int64_t i = elementCount(p->kernel); i > 0; i--, nextIndex(t, p->kernel, 4)) {
        const real *from = weight;
        for (int d = 0; d < 4; d++) from += t[d] * c->axis[d].weightStride;
        for (int64_t ch = 0; ch < c->inChannels; ch++, to += VL) *to = from[ch * c->weightInStride];
      }
    }
  }
}

static void correlateTask(const DepthwisePlan *p, int64_t firstVector, int64_t endVector, int64_t firstRow,
                          int64_t endRow)
{
  const Correlation *c = p->c;
  const int64_t count[3] = {c->axis[0].targetSize, c->axis[1].targetSize, c->axis[2].targetSize};
  const int64_t most = MAX(WEIGHT_BYTES / ((p->terms + 1) * VBYTES), 1),
                together = MIN(most, endVector - firstVector);
  ElementTable w;
  makeElementTable(p, c->outChannels, c->inChannels, &w);
  real *packed = thnn_scratch((size_t)(together * (p->terms + 1) * VBYTES));
  for (int64_t v = firstVector; v < endVector; v += together) {
    const int64_t end = MIN(v + together, endVector);
    packWeights(p, v, end, packed);
    for (int64_t row = firstRow; row < endRow; row++) {
      const int64_t q[3] = {row / (count[1] * count[2]), row / count[2] % count[1], row % count[2]};
      const real *from = rowSource(c, q);
      real *to = rowTarget(c, q);
      findKernelRows(p, &w, q);
      int64_t x = 0;
      for (const Zone *s = w.zone; s < w.zone + w.zones; s++) {
        findElements(p, &w, s);
        for (int n; x < s->end; x += n) {
          const int64_t left = s->end - x;
          n = (int)ceilDivide(left, ceilDivide(left, POSITIONS));
          (p->terms > FEW_TERMS ? sumLongMicrotile
                                : sumMicrotile)(p, &w, n, from + x * c->axis[3].stride * c->axis[3].sourceStride,
                                                packed, to + x * c->axis[3].targetStride, v, end);
        }
      }
    }
  }
}

/* Correlations of the same groups that write different elements. */
#define SET_SIZE 27 /* the residue classes of a stride of 3 along each axis */
typedef struct CorrelationSet {
  Correlation correlation[SET_SIZE];
  int64_t count;
} CorrelationSet;

/* Computes them together: each thread owns the same part of every target, because neighbouring pixels of another thread
   would cause false sharing, and one parallel region costs less than many. */
static void correlateSet(const CorrelationSet *s)
{
  DepthwisePlan plan[SET_SIZE];
  int64_t work = 0, rows = 0;
  for (int64_t k = 0; k < s->count; k++) {
    plan[k] = makePlan(s->correlation + k);
    work += THNN_(depthwiseWork)(s->correlation + k);
    rows = MAX(rows, plan[k].rows);
  }
  const int threads = thnn_threads(1 << 20, work);
  const bool byRows = rows >= threads; /* a 1-D input has few rows */
  const int64_t parts = MIN(byRows ? rows : plan->vectors, threads);
  THNN_PARALLEL_FOR(i, parts, work) {
    for (const DepthwisePlan *p = plan; p < plan + s->count; p++) {
      const int64_t all = byRows ? p->rows : p->vectors, first = i * all / parts, end = (i + 1) * all / parts;
      if (byRows) correlateTask(p, 0, p->vectors, first, end);
      else correlateTask(p, first, end, 0, p->rows);
    }
  }
}

void THNN_(depthwiseCorrelate)(const Correlation *c)
{
  correlateSet(&(CorrelationSet){.correlation = {*c}, .count = 1});
}

static void addToSet(const Correlation *c, void *set)
{
  CorrelationSet *s = set;
  if (correlationProducts(c) == 0) return THNN_(correlationFill)(c);
  s->correlation[s->count++] = *c;
  if (s->count < SET_SIZE) return;
  correlateSet(s);
  s->count = 0;
}

void THNN_(depthwiseGradInput)(const Correlation *backward, const Convolution *g, ConvolutionView weight,
                               ConvolutionView gradInput)
{
  CorrelationSet set;
  set.count = 0;
  THNN_(correlateResidues)(backward, g, weight, gradInput, addToSet, &set);
  if (set.count > 0) correlateSet(&set);
}

/* Adds the products of n positions to the sums of T kernel elements of one vector, from number `first` of the table on.
   full: all lanes of both vectors are in use. */
static ALWAYS_INLINE void products(const int T, const bool full, const ElementTable *w, VectorLanes lanes,
                                   vint sourceOrder, vint gradientOrder, int64_t first, int n, const real *source,
                                   const real *gradient, real *sum)
{
  vreal acc[ACCUMULATORS];
  const real *x[ACCUMULATORS];
#pragma GCC unroll 10
  for (int t = 0; t < T; t++) {
    acc[t] = (vreal){0};
    x[t] = source + w->offset[first + t];
  }
  for (int64_t i = 0; i < n; i++, gradient += lanes.targetStep) {
    const vreal g = v_lookup(full ? v_load(gradient) : v_load_n(gradient, (int)lanes.outputs), gradientOrder);
#pragma GCC unroll 10
    for (int t = 0; t < T; t++) {
      const real *from = x[t] + i * lanes.sourceStep;
      acc[t] += g * (full ? v_load(from) : v_lookup(v_load_n(from, (int)lanes.channels), sourceOrder));
    }
  }
#pragma GCC unroll 10
  for (int t = 0; t < T; t++) {
    real *to = sum + w->element[first + t] * VL;
    v_store(to, v_load(to) + acc[t]);
  }
}

#define PRODUCTS(T)                                                                                     \
  case T:                                                                                               \
    if (full) products(T, true, w, lanes, sourceOrder, gradientOrder, first, n, source, gradient, sum); \
    else products(T, false, w, lanes, sourceOrder, gradientOrder, first, n, source, gradient, sum);     \
    break;

/* Adds a micro-tile of n positions of some vectors to the sums of all kernel elements of the table. */
static void addMicrotile(const DepthwisePlan *p, const ElementTable *w, int n, const real *source,
                         const real *gradient, real *sum, int64_t firstVector, int64_t endVector)
{
  const Correlation *c = p->c;
  const int64_t elements = elementCount(p->kernel);
  source += firstVector * p->groupsPerVector * c->inChannels;
  gradient += firstVector * p->groupsPerVector * c->outChannels;
  for (int64_t v = firstVector; v < endVector; v++) {
    const VectorLanes lanes = vectorLanes(p, v);
    const bool full = lanes.channels == VL && lanes.outputs == VL;
    for (int i = 0; i < n; i++) {
      thnn_prefetchAhead(source + i * lanes.sourceStep + lanes.lastRow, VBYTES);
      thnn_prefetchAhead(gradient + i * lanes.targetStep, VBYTES);
    }
    for (int64_t i = 0; i < p->minChannels; i++, sum += elements * VL) {
      const vint sourceOrder = vi_load(p->maxChannels == c->inChannels ? w->identity : w->permutation[i]);
      const vint gradientOrder = vi_load(p->maxChannels == c->inChannels ? w->permutation[i] : w->identity);
      for (int64_t first = 0, end; first < w->elements; first = end) {
        end = MIN(first + ACCUMULATORS, w->elements);
        switch (end - first) {
          UP_TO_9(PRODUCTS)
          PRODUCTS(10)
        }
      }
    }
    source += p->groupsPerVector * c->inChannels;
    gradient += p->groupsPerVector * c->outChannels;
  }
}

static void gradWeightTask(const DepthwisePlan *p, real scale, int64_t firstVector, int64_t endVector)
{
  const Correlation *c = p->c;
  const int64_t count[3] = {c->axis[0].targetSize, c->axis[1].targetSize, c->axis[2].targetSize};
  const int64_t sumReals = elementCount(p->kernel) * VL,
                sums = (endVector - firstVector) * p->minChannels * sumReals;
  /* Direct convolution, the alternative for large kernels, sums less in float. */
  const int64_t most = p->terms > FEW_TERMS ? PARTIAL_POSITIONS / 8 : PARTIAL_POSITIONS;
  ElementTable w;
  makeElementTable(p, p->maxChannels, p->minChannels, &w);
  double *total = thnn_scratch((sizeof(double) + sizeof(real)) * (size_t)sums);
  real *sum = (real *)(total + sums);
  memset(total, 0, (sizeof(double) + sizeof(real)) * (size_t)sums);
  int64_t q[3] = {0}, summed = 0; /* positions of the current partial sum */
  for (int64_t row = 0; row < p->rows; row++, nextIndex(q, count, 3)) {
    const real *source = rowSource(c, q), *gradient = rowTarget(c, q);
    findKernelRows(p, &w, q);
    int64_t x = 0;
    for (const Zone *s = w.zone; s < w.zone + w.zones; s++) {
      findElements(p, &w, s);
      for (int n; x < s->end; x += n) {
        const int64_t left = s->end - x;
        n = (int)ceilDivide(left, ceilDivide(left, REGISTER_POSITIONS));
        addMicrotile(p, &w, n, source + x * c->axis[3].stride * c->axis[3].sourceStride,
                     gradient + x * c->axis[3].targetStride, sum, firstVector, endVector);
        summed += n;
        if (summed < most && (x + n < c->axis[3].targetSize || row + 1 < p->rows)) continue;
        for (int64_t i = 0; i < sums; i++) {
          total[i] += (double)sum[i];
          sum[i] = 0;
        }
        summed = 0;
      }
    }
  }
  for (int64_t v = firstVector; v < endVector; v++)
    for (int64_t i = 0; i < p->minChannels; i++, total += sumReals)
      for (int64_t l = 0; l < MIN(p->groupsPerVector, c->groups - v * p->groupsPerVector) * p->maxChannels; l++) {
        const int64_t channel = p->maxChannels == c->inChannels ? l % p->maxChannels : i,
                      output = p->maxChannels == c->inChannels ? i : l % p->maxChannels;
        real *weight = c->weight + (v * p->groupsPerVector + l / p->maxChannels) * c->weightGroupStride +
                       output * c->weightOutStride + channel * c->weightInStride;
        int64_t t[4] = {0};
        for (int64_t element = 0; element < elementCount(p->kernel); element++, nextIndex(t, p->kernel, 4)) {
          real *to = weight;
          for (int d = 0; d < 4; d++) to += t[d] * c->axis[d].weightStride;
          *to += (real)((double)scale * total[element * VL + l]);
        }
      }
}

/* A task owns the gradWeight of some vectors, so nothing is reduced over tasks. */
void THNN_(depthwiseGradWeight)(const Correlation *c, real scale)
{
  const DepthwisePlan p = makePlan(c);
  const int64_t work = THNN_(depthwiseWork)(c);
  const int64_t bytesPerVector =
      elementCount(p.kernel) * p.minChannels * VL * (int64_t)(sizeof(real) + sizeof(double));
  const int64_t most = MAX(WEIGHT_BYTES / bytesPerVector, 1);
  const int64_t tasks = MAX(ceilDivide(p.vectors, most), thnn_threads(p.vectors, work));
  THNN_PARALLEL_FOR(i, tasks, work) gradWeightTask(&p, scale, i * p.vectors / tasks, (i + 1) * p.vectors / tasks);
}
