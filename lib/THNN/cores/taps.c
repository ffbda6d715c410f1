#include "convolution.h"
#include "taps.h"

/* A task is a block of one target plane (of all, where lanes are channels): some units, each a run of lanes. */
#define BLOCK_REALS 4096
/* After so many terms a sum is put aside and begins again at zero: a long sum is a sum of short ones. */
#define SUM_TERMS 128
#define MOST_LANES 64

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

Taps THNN_(taps_make)(const Convolution *g, ConvolutionView small, ConvolutionView large)
{
  Taps t = {.batch = g->batch,
            .smallBatch = small.stride[0],
            .largeBatch = large.stride[0],
            .smallPlane = small.stride[1],
            .largePlane = large.stride[1],
            .smallPlanes = g->outputPlanes,
            .largePlanes = g->inputPlanes,
            .small = small.data,
            .large = large.data,
            .connections = g->inputPlanes};
  t.axis[0] = (TapAxis){.small = 1, .large = 1, .taps = 1, .stride = 1, .dilation = 1};
  for (int d = 0; d < 3; d++)
    t.axis[d + 1] = (TapAxis){.small = g->outputSize[d],
                              .large = g->inputSize[d],
                              .taps = g->kernel[d],
                              .stride = g->stride[d],
                              .padding = g->padding[d],
                              .dilation = g->dilation[d],
                              .smallStep = small.stride[d + 2],
                              .largeStep = large.stride[d + 2]};
  return t;
}

/* Puts channels into the lanes where they are neighbours. */
static Taps V_(chooseLanes)(const Taps *given)
{
  Taps t = *given;
  if (t.hasTable || t.smallPlanes == 1 || t.smallPlane != 1 || t.largePlane != 1) return t;
  memmove(t.axis, t.axis + 1, 3 * sizeof t.axis[0]);
  t.axis[3] = (TapAxis){.small = t.smallPlanes,
                        .large = t.largePlanes,
                        .taps = 1,
                        .stride = 1,
                        .dilation = 1,
                        .smallStep = 1,
                        .largeStep = 1};
  t.weightLane = t.weightConnection;
  t.smallPlanes = t.largePlanes = t.connections = 1;
  return t;
}

/* Table entry: row `c`, the small plane or the large one. */
static inline int64_t V_(plane)(const Taps *t, int64_t c, bool small)
{
  if (!t->hasTable) return c;
  return (
      int64_t)((const real *)t->table)[c * t->tableStep[0] + (small == (t->smallColumn == 1)) * t->tableStep[1]];
}

/* to[i * step] += weight[i * weightStep] * from[i * fromStep] */
static inline void V_(addProducts)(real *to, int64_t step, const real *from, int64_t fromStep, const real *weight,
                                   int64_t weightStep, int64_t n)
{
  if (step == 1 && fromStep == 1 && weightStep == 0) {
    const real w = *weight;
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < n; i++) to[i] += w * from[i];
  } else if (step == 1 && fromStep == 1 && weightStep == 1) {
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < n; i++) to[i] += weight[i] * from[i];
  } else if (step == 1 && fromStep == 2 && weightStep == 0) {
    const real w = *weight;
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < n; i++) to[i] += w * from[2 * i];
  } else {
    for (int64_t i = 0; i < n; i++) to[i * step] += weight[i * weightStep] * from[i * fromStep];
  }
}

/* The coordinate on the other side of tap k, or -1. */
static inline int64_t V_(across)(const TapAxis *a, bool toSmall, int64_t at, int64_t k)
{
  if (toSmall) {
    const int64_t x = at * a->stride + k * a->dilation - a->padding;
    return x < a->large ? x : -1;
  }
  const int64_t q = at + a->padding - k * a->dilation;
  if (q < 0 || (a->stride > 1 && q % a->stride != 0)) return -1;
  const int64_t position = a->stride > 1 ? q / a->stride : q;
  return position < a->small ? position : -1;
}

/* A run of lanes of the target: which batch, which place on the first three axes, and where in the lanes. */
typedef struct V_(unit) {
  int64_t n, at[3], first, count;
} V_(unit);

static V_(unit) V_(makeUnit)(int64_t u, const int64_t *size, int64_t lanes, int64_t pieces)
{
  V_(unit) unit;
  unit.first = u % pieces * BLOCK_REALS;
  unit.count = MIN(lanes - unit.first, BLOCK_REALS);
  u /= pieces;
  for (int d = 2; d >= 0; d--) {
    unit.at[d] = u % size[d];
    u /= size[d];
  }
  unit.n = u;
  return unit;
}

/* Adds the products of one connection to the lanes of a unit. */
static void V_(addConnection)(const Taps *t, bool toSmall, const V_(unit) *unit, const real *source,
                              const real *weight, int64_t terms, real *lanes, real *aside)
{
  const TapAxis *a = t->axis, *last = t->axis + 3;
  const int64_t tapOfSource[4] = {toSmall ? 0 : a[0].smallTap, toSmall ? 0 : a[1].smallTap,
                                  toSmall ? 0 : a[2].smallTap, toSmall ? 0 : last->smallTap};
  source += unit->n * (toSmall ? t->largeBatch : t->smallBatch);
  weight += (unit->first) * t->weightLane;
  for (int64_t k0 = 0; k0 < a[0].taps; k0++) {
    const int64_t x0 = V_(across)(a, toSmall, unit->at[0], k0);
    if (x0 < 0) continue;
    for (int64_t k1 = 0; k1 < a[1].taps; k1++) {
      const int64_t x1 = V_(across)(a + 1, toSmall, unit->at[1], k1);
      if (x1 < 0) continue;
      for (int64_t k2 = 0; k2 < a[2].taps; k2++) {
        const int64_t x2 = V_(across)(a + 2, toSmall, unit->at[2], k2);
        if (x2 < 0) continue;
        const real *from = source + k0 * tapOfSource[0] + k1 * tapOfSource[1] + k2 * tapOfSource[2];
        from += x0 * (toSmall ? a[0].largeStep : a[0].smallStep);
        from += x1 * (toSmall ? a[1].largeStep : a[1].smallStep);
        from += x2 * (toSmall ? a[2].largeStep : a[2].smallStep);
        const real *w = weight + k0 * a[0].weightTap + k1 * a[1].weightTap + k2 * a[2].weightTap;
        for (int64_t k = 0; k < last->taps; k++, w += last->weightTap, from += tapOfSource[3]) {
          const int64_t first = k * last->dilation - last->padding; /* of the large coordinates */
          int64_t low, high;
          tap_positions(last, k, &low, &high);
          if (toSmall) {
            low = MAX(low, unit->first);
            high = MIN(high, unit->first + unit->count);
            if (low < high)
              V_(addProducts)(lanes + (low - unit->first), 1,
                              from + (low * last->stride + first) * last->largeStep,
                              last->stride * last->largeStep, w + (low - unit->first) * t->weightLane,
                              t->weightLane, high - low);
          } else {
            while (low < high && low * last->stride + first < unit->first) {
              const int64_t skip = (unit->first - first - low * last->stride + last->stride - 1) / last->stride;
              low = MIN(low + skip, high);
            }
            const int64_t end = unit->first + unit->count - first; /* q * stride < end */
            high = MIN(high, end <= 0 ? 0 : (end + last->stride - 1) / last->stride);
            const int64_t at = low * last->stride + first - unit->first;
            if (low < high)
              V_(addProducts)(lanes + at, last->stride, from + low * last->smallStep, last->smallStep,
                              w + at * t->weightLane, t->weightLane, high - low);
          }
        }
        terms += last->taps;
        if (terms >= SUM_TERMS) {
          for (int64_t i = 0; i < unit->count; i++) aside[i] += lanes[i];
          memset(lanes, 0, sizeof(real) * (size_t)unit->count);
          terms = 0;
        }
      }
    }
  }
}

/* Both sums: the source of one is the target of the other. */
static void V_(addUp)(const Taps *given, bool toSmall, const real *bias, int64_t biasStride, bool add)
{
  const Taps t = V_(chooseLanes)(given);
  const int64_t lanes = toSmall ? t.axis[3].small : t.axis[3].large;
  const int64_t pieces = (lanes + BLOCK_REALS - 1) / BLOCK_REALS, planes = toSmall ? t.smallPlanes : t.largePlanes;
  int64_t size[3], units = t.batch * pieces, taps = 1;
  for (int d = 0; d < 3; d++) units *= size[d] = toSmall ? t.axis[d].small : t.axis[d].large;
  for (int d = 0; d < 4; d++) taps *= t.axis[d].taps;
  if (units * planes == 0) return;
  const int64_t together = lanes < BLOCK_REALS ? MIN(BLOCK_REALS / lanes, units) : 1;
  const int64_t blocks = (units + together - 1) / together, pitch = MIN(lanes, BLOCK_REALS);
  const int64_t work = units * planes * pitch * (t.connections / planes + 1) * taps;
  THNN_PARALLEL_FOR(task, planes * blocks, work) {
    const int64_t plane = task / blocks, begin = task % blocks * together, end = MIN(begin + together, units);
    real *running = thnn_scratch(sizeof(real) * 2 * BLOCK_REALS), *aside = running + BLOCK_REALS;
    const size_t bytes = sizeof(real) * (size_t)((end - begin) * pitch);
    memset(running, 0, bytes);
    memset(aside, 0, bytes);
    int64_t terms = 0;
    for (int64_t c = t.hasTable ? 0 : plane; c < (t.hasTable ? t.connections : plane + 1); c++) {
      if (t.hasTable && V_(plane)(&t, c, toSmall) != plane) continue;
      const int64_t other = V_(plane)(&t, c, !toSmall);
      const real *source =
          toSmall ? (const real *)t.large + other * t.largePlane : (const real *)t.small + other * t.smallPlane;
      const bool full = terms + taps > SUM_TERMS;
      for (int64_t u = begin; u < end; u++) {
        const V_(unit) unit = V_(makeUnit)(u, size, lanes, pieces);
        real *row = running + (u - begin) * pitch, *rowAside = aside + (u - begin) * pitch;
        V_(addConnection)(&t, toSmall, &unit, source, (const real *)t.weight + c * t.weightConnection, terms, row,
                          rowAside);
        if (!full) continue;
        for (int64_t i = 0; i < unit.count; i++) rowAside[i] += row[i];
        memset(row, 0, sizeof(real) * (size_t)unit.count);
      }
      terms = full ? 0 : terms + taps;
    }
    for (int64_t u = begin; u < end; u++) {
      const V_(unit) unit = V_(makeUnit)(u, size, lanes, pieces);
      const real *row = running + (u - begin) * pitch, *rowAside = aside + (u - begin) * pitch;
      const int64_t step = toSmall ? t.axis[3].smallStep : t.axis[3].largeStep;
      real *to = toSmall ? (real *)t.small + plane * t.smallPlane + unit.n * t.smallBatch
                         : (real *)t.large + plane * t.largePlane + unit.n * t.largeBatch;
      for (int d = 0; d < 3; d++) to += unit.at[d] * (toSmall ? t.axis[d].smallStep : t.axis[d].largeStep);
      to += unit.first * step;
      /* Where lanes are channels, each has its bias. */
      const bool channels = t.smallPlanes != given->smallPlanes;
      const real *b = bias ? bias + (channels ? unit.first : plane) * biasStride : NULL;
      const int64_t biasStep = channels ? biasStride : 0;
      for (int64_t i = 0; i < unit.count; i++) {
        const real sum = rowAside[i] + row[i];
        to[i * step] = add ? to[i * step] + sum : b ? b[i * biasStep] + sum : sum;
      }
    }
  }
}

void THNN_(taps_small)(const Taps *taps, const real *bias, int64_t biasStride)
{
  V_(addUp)(taps, true, bias, biasStride, false);
}

void THNN_(taps_large)(const Taps *taps, const real *bias, int64_t biasStride)
{
  V_(addUp)(taps, false, bias, biasStride, false);
}

void THNN_(taps_fold)(const Taps *given, bool add)
{
  const real one = 1;
  Taps taps = *given;
  taps.weight = (void *)&one;
  V_(addUp)(&taps, false, NULL, 0, add);
}

static double V_(dot)(const real *a, int64_t aStep, const real *b, int64_t bStep, int64_t n)
{
  double sum = 0;
  int64_t i = 0;
  if (aStep == 1 && bStep == 1) {
    while (i < n) {
      vreal part[2] = {{0}};
      const int64_t end = MIN(i + 128 * VL, n);
      for (; i + 2 * VL <= end; i += 2 * VL)
        for (int j = 0; j < 2; j++) part[j] += v_load(a + i + j * VL) * v_load(b + i + j * VL);
      for (; i < end; i += VL) {
        const int rest = (int)MIN(end - i, VL);
        part[0] += v_load_n(a + i, rest) * v_load_n(b + i, rest);
      }
      i = end;
      sum += (double)v_sum(part[0] + part[1]);
    }
    return sum;
  }
  for (; i < n; i++) sum += (double)(a[i * aStep] * b[i * bStep]);
  return sum;
}

/* The sum over the batch and all positions of the products for the taps first .. first + count - 1 of a connection. */
static double V_(sumProducts)(const Taps *t, const real *small, const real *large, int64_t first, int64_t count)
{
  const TapAxis *a = t->axis, *last = t->axis + 3;
  double sum = 0;
  for (int64_t tap = first; tap < first + count; tap++) {
    int64_t k[4], rest = tap, low[4], high[4];
    const real *from = large;
    for (int d = 3; d >= 0; d--) {
      k[d] = rest % a[d].taps;
      rest /= a[d].taps;
      tap_positions(a + d, k[d], low + d, high + d);
      from += (k[d] * a[d].dilation - a[d].padding) * a[d].largeStep;
    }
    const int64_t n3 = high[3] - low[3];
    if (n3 <= 0) continue;
    for (int64_t n = 0; n < t->batch; n++)
      for (int64_t q0 = low[0]; q0 < high[0]; q0++)
        for (int64_t q1 = low[1]; q1 < high[1]; q1++)
          for (int64_t q2 = low[2]; q2 < high[2]; q2++) {
            const real *g = small + n * t->smallBatch + q0 * a[0].smallStep + q1 * a[1].smallStep +
                            q2 * a[2].smallStep + low[3] * last->smallStep;
            const real *x = from + n * t->largeBatch + q0 * a[0].stride * a[0].largeStep +
                            q1 * a[1].stride * a[1].largeStep + q2 * a[2].stride * a[2].largeStep +
                            low[3] * last->stride * last->largeStep;
            sum += V_(dot)(g, last->smallStep, x, last->stride * last->largeStep, n3);
          }
  }
  return sum;
}

/* One weight per channel, channels in the lanes. */
static void V_(weightOfChannels)(const Taps *t, real scale)
{
  const TapAxis *a = t->axis;
  const int64_t channels = a[3].small, tasks = (channels + MOST_LANES - 1) / MOST_LANES;
  const int64_t taps = a[0].taps * a[1].taps * a[2].taps;
  THNN_PARALLEL_FOR(task, tasks, t->batch * channels * a[0].small * a[1].small * a[2].small * taps) {
    const int64_t first = task * MOST_LANES, count = MIN(channels - first, MOST_LANES);
    double sum[MOST_LANES] = {0};
    for (int64_t tap = 0; tap < taps; tap++) {
      const int64_t k[3] = {tap / a[2].taps / a[1].taps, tap / a[2].taps % a[1].taps, tap % a[2].taps};
      int64_t low[3], high[3];
      for (int d = 0; d < 3; d++) tap_positions(a + d, k[d], low + d, high + d);
      for (int64_t n = 0; n < t->batch; n++)
        for (int64_t q0 = low[0]; q0 < high[0]; q0++)
          for (int64_t q1 = low[1]; q1 < high[1]; q1++)
            for (int64_t q2 = low[2]; q2 < high[2]; q2++) {
              const int64_t q[3] = {q0, q1, q2};
              const real *g = (const real *)t->small + n * t->smallBatch + first;
              const real *x = (const real *)t->large + n * t->largeBatch + first;
              for (int d = 0; d < 3; d++) {
                g += q[d] * a[d].smallStep;
                x += (q[d] * a[d].stride + k[d] * a[d].dilation - a[d].padding) * a[d].largeStep;
              }
              THNN_PRAGMA(omp simd)
              for (int64_t i = 0; i < count; i++) sum[i] += (double)(g[i] * x[i]);
            }
    }
    real *weight = (real *)t->weight + first * t->weightLane;
    for (int64_t i = 0; i < count; i++) weight[i * t->weightLane] += (real)((double)scale * sum[i]);
  }
}

void THNN_(taps_weight)(const Taps *given, real scale)
{
  const Taps t = V_(chooseLanes)(given);
  if (t.smallPlanes != given->smallPlanes) {
    V_(weightOfChannels)(&t, scale);
    return;
  }
  int64_t taps = 1, positions = t.batch;
  bool shared = true; /* one weight for all taps */
  for (int d = 0; d < 4; d++) {
    taps *= t.axis[d].taps;
    positions *= t.axis[d].small;
    shared = shared && t.axis[d].weightTap == 0;
  }
  if (positions == 0) return;
  const int64_t each = shared ? 1 : taps;
  THNN_PARALLEL_FOR(task, t.connections * each, t.connections * taps * positions) {
    const int64_t c = task / each, tap = task % each;
    const real *small = (const real *)t.small + V_(plane)(&t, c, true) * t.smallPlane;
    const real *large = (const real *)t.large + V_(plane)(&t, c, false) * t.largePlane;
    const double sum = V_(sumProducts)(&t, small, large, tap, shared ? taps : 1);
    real *weight = (real *)t.weight + c * t.weightConnection;
    for (int64_t d = 3, rest = tap; d >= 0; rest /= t.axis[d--].taps)
      weight += rest % t.axis[d].taps * t.axis[d].weightTap;
    *weight += (real)((double)scale * sum);
  }
}

static void V_(unfoldRow)(const TapAxis *a, const real *from, int64_t k, real *to)
{
  int64_t low, high;
  tap_positions(a, k, &low, &high);
  const int64_t step = a->smallStep, fromStep = a->stride * a->largeStep;
  if (from == NULL) low = high = 0;
  for (int64_t q = 0; q < low; q++) to[q * step] = 0;
  if (low < high) {
    from += (low * a->stride + k * a->dilation - a->padding) * a->largeStep;
    real *first = to + low * step;
    if (step == 1 && fromStep == 1) memcpy(first, from, sizeof(real) * (size_t)(high - low));
    else if (step == 1 && fromStep == 2)
      for (int64_t i = 0; i < high - low; i++) first[i] = from[2 * i];
    else
      for (int64_t i = 0; i < high - low; i++) first[i * step] = from[i * fromStep];
  }
  for (int64_t q = high; q < a->small; q++) to[q * step] = 0;
}

void THNN_(taps_unfold)(const Taps *t)
{
  const TapAxis *a = t->axis;
  int64_t taps = 1, positions = 1;
  for (int d = 0; d < 4; d++) {
    taps *= a[d].taps;
    positions *= a[d].small;
  }
  const int64_t tasks = t->batch * t->smallPlanes * taps;
  THNN_PARALLEL_FOR(task, tasks, tasks * positions) {
    int64_t k[4], rest = task;
    for (int d = 3; d >= 0; d--) {
      k[d] = rest % a[d].taps;
      rest /= a[d].taps;
    }
    const int64_t plane = rest % t->smallPlanes, n = rest / t->smallPlanes;
    const real *large = (const real *)t->large + n * t->largeBatch + plane * t->largePlane;
    real *small = (real *)t->small + n * t->smallBatch + plane * t->smallPlane;
    for (int d = 0; d < 4; d++) small += k[d] * a[d].smallTap;
    for (int64_t row = 0; row < a[0].small * a[1].small * a[2].small; row++) {
      const int64_t q[3] = {row / a[2].small / a[1].small, row / a[2].small % a[1].small, row % a[2].small};
      const real *from = large;
      real *to = small;
      for (int d = 0; d < 3; d++) {
        const int64_t x = V_(across)(a + d, true, q[d], k[d]);
        to += q[d] * a[d].smallStep;
        if (x < 0) from = NULL;
        if (from) from += x * a[d].largeStep;
      }
      V_(unfoldRow)(a + 3, from, k[3], to);
    }
  }
}
