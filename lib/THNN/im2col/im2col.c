#include "gemm/transpose.h"
#include "convolution/convolution.h"
#include "im2col/im2col.h"
#include "runtime/integer.h"

/* Folding, a task is a block of one large plane: some units, each a run of at most UNIT_REALS lanes. One tap after another goes through a block, which is so small that its source stays in L1. */
#define UNIT_REALS 4096
#define BLOCK_REALS 1024
/* Planes that are neighbours in memory, but not in lanes, are stored or read together. */
#define TOGETHER 16
/* After so many terms a sum is put aside and begins again at zero: a long sum is a sum of short ones. */
#define SUM_TERMS 128
#define MOST_LANES 16
/* Lanes of a target with a stride up to this are kept by residue, so that a tap of them is a run. */
#define MOST_PHASES 4

Taps THNN_(taps_make)(const Convolution *g, ConvolutionView small, ConvolutionView large)
{
  Taps t = {.batch = g->batch,
            .smallBatch = small.stride[0],
            .largeBatch = large.stride[0],
            .smallPlane = small.stride[1],
            .largePlane = large.stride[1],
            .planes = g->inputChannels,
            .small = small.data,
            .large = large.data};
  t.axis[0] = (TapAxis){.window = WINDOW_AXIS_TRIVIAL};
  for (int d = 0; d < 3; d++)
    t.axis[d + 1] =
        (TapAxis){.window = g->axis[d], .smallStep = small.stride[d + 2], .largeStep = large.stride[d + 2]};
  return t;
}

/* to[i * step] += from[i * fromStep] */
static inline void addRun(real *to, int64_t step, const real *from, int64_t fromStep, int64_t n)
{
  if (step == 1 && fromStep == 1) {
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < n; i++) to[i] += from[i];
  } else if (step == 1 && fromStep == 2) {
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < n; i++) to[i] += from[2 * i];
  } else {
    for (int64_t i = 0; i < n; i++) to[i * step] += from[i * fromStep];
  }
}

/* The coordinate on the other side of tap k, or -1. */
static inline int64_t across(const TapAxis *a, bool toSmall, int64_t at, int64_t k)
{
  if (toSmall) {
    const int64_t x = at * a->window.stride + k * a->window.dilation - a->window.padding;
    return x < a->window.input ? x : -1;
  }
  const int64_t q = at + a->window.padding - k * a->window.dilation;
  if (q < 0 || (a->window.stride > 1 && q % a->window.stride != 0)) return -1;
  const int64_t position = a->window.stride > 1 ? q / a->window.stride : q;
  return position < a->window.output ? position : -1;
}

/* A run of lanes of the target: which batch, which place on the first three axes, and where in the lanes. */
typedef struct Unit {
  int64_t n, at[3], first, count;
} Unit;

static Unit makeUnit(int64_t u, const int64_t *size, int64_t lanes)
{
  const int64_t pieces = (lanes + UNIT_REALS - 1) / UNIT_REALS;
  Unit unit;
  unit.first = u % pieces * UNIT_REALS;
  unit.count = MIN(lanes - unit.first, UNIT_REALS);
  u /= pieces;
  for (int d = 2; d >= 0; d--) {
    unit.at[d] = u % size[d];
    u /= size[d];
  }
  unit.n = u;
  return unit;
}

static inline void nextUnit(Unit *unit, const int64_t *size, int64_t lanes)
{
  unit->first += UNIT_REALS;
  if (unit->first >= lanes) {
    unit->first = 0;
    int d = 2;
    while (d >= 0 && ++unit->at[d] == size[d]) unit->at[d--] = 0;
    if (d < 0) unit->n++;
  }
  unit->count = MIN(lanes - unit->first, UNIT_REALS);
}

/* A block of units of one large plane, and where their sums are: lane i of a unit at i % phases * phase + i / phases. */
typedef struct Block {
  const Taps *t;
  Unit first;
  int64_t units, size[3], lanes, phases, phase;
} Block;

/* Adds tap k to the sums of a block. */
static void addTap(const Block *b, const real *source, const int64_t *k, real *sums)
{
  const Taps *t = b->t;
  const TapAxis *a = t->axis, *last = a + 3;
  const int64_t start = k[3] * last->window.dilation - last->window.padding; /* of the large coordinates */
  int64_t all[2];
  tap_positions(last, k[3], all, all + 1);
  for (int d = 0; d < 4; d++) source += k[d] * a[d].smallTap;
  Unit unit = b->first;
  for (int64_t u = 0; u < b->units; u++, nextUnit(&unit, b->size, b->lanes), sums += b->phases * b->phase) {
    const real *from = source + unit.n * t->smallBatch;
    bool exists = true;
    for (int d = 0; d < 3 && exists; d++) {
      const int64_t q = across(a + d, false, unit.at[d], k[d]);
      exists = q >= 0;
      from += q * a[d].smallStep;
    }
    if (!exists) continue;
    int64_t low = all[0], high = all[1];
    if (unit.first > 0 || unit.count < b->lanes) { /* q * stride + start from unit.first to its end */
      const int64_t begin = unit.first - start, end = begin + unit.count;
      low = MAX(low, begin <= 0 ? 0 : (begin + last->window.stride - 1) / last->window.stride);
      high = MIN(high, end <= 0 ? 0 : (end + last->window.stride - 1) / last->window.stride);
    }
    if (low >= high) continue;
    const int64_t at = low * last->window.stride + start - unit.first;
    const int64_t place = b->phases > 1 ? at % b->phases * b->phase + at / b->phases : at;
    addRun(sums + place, b->phases > 1 ? 1 : last->window.stride, from + low * last->smallStep, last->smallStep,
           high - low);
  }
}

/* The lanes of a unit in order. */
static void finishUnit(const Block *b, int64_t count, const real *sums, const real *aside, real *line)
{
  if (b->phases == 1) {
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < count; i++) line[i] = aside[i] + sums[i];
  } else if (b->phases == 2) {
    const real *odd = sums + b->phase, *oddAside = aside + b->phase;
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < (count + 1) / 2; i++) { /* the line has room for one more */
      line[2 * i] = aside[i] + sums[i];
      line[2 * i + 1] = oddAside[i] + odd[i];
    }
  } else {
    for (int64_t i = 0; i < count; i++) {
      const int64_t place = i % b->phases * b->phase + i / b->phases;
      line[i] = aside[place] + sums[place];
    }
  }
}

void THNN_(taps_fold)(const Taps *t, bool add)
{
  const TapAxis *a = t->axis;
  Block all = {
      .t = t, .lanes = a[3].window.input, .phases = a[3].window.stride <= MOST_PHASES ? a[3].window.stride : 1};
  const int64_t pieces = (all.lanes + UNIT_REALS - 1) / UNIT_REALS, most = MIN(all.lanes, UNIT_REALS);
  int64_t units = t->batch * pieces, taps = 1;
  for (int d = 0; d < 3; d++) units *= all.size[d] = a[d].window.input;
  for (int d = 0; d < 4; d++) taps *= a[d].window.kernel;
  if (units * t->planes == 0) return;
  all.phase = (most + all.phases - 1) / all.phases;
  const int64_t step = a[3].largeStep, plane = t->largePlane;
  const int64_t together = plane == 1 && step != 1 && !add ? MIN(t->planes, TOGETHER) : 1;
  const int64_t groups = (t->planes + together - 1) / together, pitch = all.phases * all.phase;
  const int64_t each = MIN(MAX(BLOCK_REALS / together / pitch, 1), units), blocks = (units + each - 1) / each;
  THNN_PARALLEL_FOR(task, groups * blocks, units * t->planes * pitch * 2 * taps) {
    const int64_t begin = task % blocks * each, first = task / blocks * together;
    const int64_t planes = MIN(together, t->planes - first);
    Block block = all;
    block.units = MIN(each, units - begin);
    block.first = makeUnit(begin, all.size, all.lanes);
    const int64_t reals = block.units * pitch;
    real *sums = thnn_scratch(sizeof(real) * (size_t)(together * (2 * each * pitch + pitch + VL)));
    real *asides = sums + together * each * pitch, *lines = asides + together * each * pitch;
    memset(sums, 0, sizeof(real) * (size_t)(together * each * pitch) * 2);
    for (int64_t p = 0; p < planes; p++) {
      const real *source = (const real *)t->small + (first + p) * t->smallPlane;
      real *sum = sums + p * each * pitch, *aside = asides + p * each * pitch;
      int64_t k[4] = {0};
      for (int64_t tap = 0; tap < taps; tap++) {
        addTap(&block, source, k, sum);
        for (int d = 3; d >= 0 && ++k[d] == a[d].window.kernel; d--) k[d] = 0;
        if ((tap + 1) % SUM_TERMS != 0) continue;
        for (int64_t i = 0; i < reals; i++) aside[i] += sum[i];
        memset(sum, 0, sizeof(real) * (size_t)reals);
      }
    }
    Unit unit = block.first;
    for (int64_t u = 0; u < block.units; u++, nextUnit(&unit, all.size, all.lanes)) {
      real *to = (real *)t->large + unit.n * t->largeBatch + first * plane + unit.first * step;
      for (int d = 0; d < 3; d++) to += unit.at[d] * a[d].largeStep;
      for (int64_t p = 0; p < planes; p++) {
        const int64_t at = (p * each + u) * pitch;
        real *line = lines + p * (pitch + VL);
        finishUnit(&block, unit.count, sums + at, asides + at, line);
        if (add)
          for (int64_t i = 0; i < unit.count; i++) to[i * step] += line[i];
        else if (step == 1) memcpy(to + p * plane, line, sizeof(real) * (size_t)unit.count);
        else if (together == 1)
          for (int64_t i = 0; i < unit.count; i++) to[i * step] = line[i];
      }
      if (together > 1) THNN_(transpose)(to, step, lines, pitch + VL, planes, unit.count);
    }
  }
}

static double dot(const real *a, int64_t aStep, const real *b, int64_t bStep, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n;) {
    const int64_t end = MIN(i + 128 * VL, n);
    real part = 0;
    if (aStep == 1 && bStep == 1) {
      THNN_PRAGMA(omp simd reduction(+ : part))
      for (int64_t j = i; j < end; j++) part += a[j] * b[j];
    } else if (aStep == 1 && bStep == 2) {
      THNN_PRAGMA(omp simd reduction(+ : part))
      for (int64_t j = i; j < end; j++) part += a[j] * b[2 * j];
    } else {
      THNN_PRAGMA(omp simd reduction(+ : part))
      for (int64_t j = i; j < end; j++) part += a[j * aStep] * b[j * bStep];
    }
    sum += (double)part;
    i = end;
  }
  return sum;
}

/* The sum over the batch, all positions and all taps of the products of a plane. */
static double sumProducts(const Taps *t, const real *small, const real *large, int64_t taps)
{
  const TapAxis *a = t->axis, *last = t->axis + 3;
  double sum = 0;
  for (int64_t tap = 0; tap < taps; tap++) {
    int64_t k[4], rest = tap, low[4], high[4];
    const real *from = large;
    for (int d = 3; d >= 0; d--) {
      k[d] = rest % a[d].window.kernel;
      rest /= a[d].window.kernel;
      tap_positions(a + d, k[d], low + d, high + d);
      from += (k[d] * a[d].window.dilation - a[d].window.padding) * a[d].largeStep;
    }
    const int64_t n3 = high[3] - low[3];
    if (n3 <= 0) continue;
    for (int64_t n = 0; n < t->batch; n++)
      for (int64_t q0 = low[0]; q0 < high[0]; q0++)
        for (int64_t q1 = low[1]; q1 < high[1]; q1++)
          for (int64_t q2 = low[2]; q2 < high[2]; q2++) {
            const real *g = small + n * t->smallBatch + q0 * a[0].smallStep + q1 * a[1].smallStep +
                            q2 * a[2].smallStep + low[3] * last->smallStep;
            const real *x = from + n * t->largeBatch + q0 * a[0].window.stride * a[0].largeStep +
                            q1 * a[1].window.stride * a[1].largeStep + q2 * a[2].window.stride * a[2].largeStep +
                            low[3] * last->window.stride * last->largeStep;
            sum += dot(g, last->smallStep, x, last->window.stride * last->largeStep, n3);
          }
  }
  return sum;
}

/* One weight per channel, channels in the lanes. */
static void weightOfChannels(const Taps *t, real scale)
{
  const TapAxis *a = t->axis;
  const int64_t channels = a[3].window.output, tasks = (channels + MOST_LANES - 1) / MOST_LANES;
  const int64_t taps = a[0].window.kernel * a[1].window.kernel * a[2].window.kernel, gStep = a[2].smallStep,
                xStep = a[2].window.stride * a[2].largeStep;
  THNN_PARALLEL_FOR(task, tasks,
                    t->batch * channels * a[0].window.output * a[1].window.output * a[2].window.output * taps) {
    const int64_t first = task * MOST_LANES, count = MIN(channels - first, MOST_LANES);
    double sum[MOST_LANES] = {0};
    for (int64_t n = 0; n < t->batch; n++)
      for (int64_t tap = 0; tap < taps; tap++) {
        const int64_t k[3] = {tap / a[2].window.kernel / a[1].window.kernel,
                              tap / a[2].window.kernel % a[1].window.kernel, tap % a[2].window.kernel};
        int64_t low[3], high[3];
        for (int d = 0; d < 3; d++) tap_positions(a + d, k[d], low + d, high + d);
        for (int64_t q0 = low[0]; q0 < high[0]; q0++)
          for (int64_t q1 = low[1]; q1 < high[1]; q1++)
            for (int64_t q2 = low[2]; q2 < high[2];) {
              const int64_t q[3] = {q0, q1, q2}, end = MIN(q2 + SUM_TERMS, high[2]);
              const real *g = (const real *)t->small + n * t->smallBatch + first;
              const real *x = (const real *)t->large + n * t->largeBatch + first;
              for (int d = 0; d < 3; d++) {
                g += q[d] * a[d].smallStep;
                x += (q[d] * a[d].window.stride + k[d] * a[d].window.dilation - a[d].window.padding) *
                     a[d].largeStep;
              }
              real part[MOST_LANES] = {0};
              if (count == MOST_LANES) {
                for (; q2 < end; q2++, g += gStep, x += xStep) {
                  THNN_PRAGMA(omp simd)
                  for (int i = 0; i < MOST_LANES; i++) part[i] += g[i] * x[i];
                }
              } else {
                for (; q2 < end; q2++, g += gStep, x += xStep)
                  for (int64_t i = 0; i < count; i++) part[i] += g[i] * x[i];
              }
              for (int i = 0; i < MOST_LANES; i++) sum[i] += (double)part[i];
            }
      }
    real *weight = (real *)t->weight + first * t->weightLane;
    for (int64_t i = 0; i < count; i++) weight[i * t->weightLane] += (real)((double)scale * sum[i]);
  }
}

/* Puts channels into the lanes where they are neighbours. */
static Taps chooseLanes(const Taps *given)
{
  Taps t = *given;
  if (t.planes == 1 || t.smallPlane != 1 || t.largePlane != 1) return t;
  memmove(t.axis, t.axis + 1, 3 * sizeof t.axis[0]);
  t.axis[3] = (TapAxis){.window = {t.planes, t.planes, 1, 1, 0, 1}, .smallStep = 1, .largeStep = 1};
  t.weightLane = t.weightPlane;
  t.planes = 1;
  return t;
}

void THNN_(taps_weight)(const Taps *given, real scale)
{
  const Taps t = chooseLanes(given);
  if (t.planes != given->planes) {
    weightOfChannels(&t, scale);
    return;
  }
  int64_t taps = 1, positions = t.batch;
  for (int d = 0; d < 4; d++) {
    taps *= t.axis[d].window.kernel;
    positions *= t.axis[d].window.output;
  }
  if (positions == 0) return;
  THNN_PARALLEL_FOR(plane, t.planes, t.planes * taps * positions) {
    const double sum = sumProducts(&t, (const real *)t.small + plane * t.smallPlane,
                                   (const real *)t.large + plane * t.largePlane, taps);
    ((real *)t.weight)[plane * t.weightPlane] += (real)((double)scale * sum);
  }
}

static void unfoldRow(const TapAxis *a, const real *from, int64_t k, real *to)
{
  int64_t low, high;
  tap_positions(a, k, &low, &high);
  const int64_t step = a->smallStep, fromStep = a->window.stride * a->largeStep;
  if (from == NULL) low = high = 0;
  for (int64_t q = 0; q < low; q++) to[q * step] = 0;
  if (low < high) {
    from += (low * a->window.stride + k * a->window.dilation - a->window.padding) * a->largeStep;
    real *first = to + low * step;
    if (step == 1 && fromStep == 1) memcpy(first, from, sizeof(real) * (size_t)(high - low));
    else if (step == 1 && fromStep == 2)
      for (int64_t i = 0; i < high - low; i++) first[i] = from[2 * i];
    else
      for (int64_t i = 0; i < high - low; i++) first[i * step] = from[i * fromStep];
  }
  for (int64_t q = high; q < a->window.output; q++) to[q * step] = 0;
}

/* Some rows of columns of neighbouring planes, which are brought into rows first. */
static void unfoldChannels(const Taps *t, int64_t n, int64_t plane, int64_t planes, int64_t firstRow,
                           int64_t endRow)
{
  const TapAxis *a = t->axis, *last = a + 3;
  TapAxis lines = *last;
  lines.largeStep = 1;
  const int64_t pitch = last->window.input + VL,
                taps = a[0].window.kernel * a[1].window.kernel * a[2].window.kernel;
  real *memory = thnn_scratch(sizeof(real) * (size_t)(TOGETHER * pitch));
  for (int64_t row = firstRow; row < endRow; row++) {
    const int64_t q[3] = {row / a[2].window.output / a[1].window.output,
                          row / a[2].window.output % a[1].window.output, row % a[2].window.output};
    for (int64_t tap = 0; tap < taps; tap++) {
      const int64_t k[3] = {tap / a[2].window.kernel / a[1].window.kernel,
                            tap / a[2].window.kernel % a[1].window.kernel, tap % a[2].window.kernel};
      const real *from = (const real *)t->large + n * t->largeBatch + plane;
      real *to = (real *)t->small + n * t->smallBatch + plane * t->smallPlane;
      bool exists = true;
      for (int d = 0; d < 3; d++) {
        const int64_t x = across(a + d, true, q[d], k[d]);
        exists = exists && x >= 0;
        from += x * a[d].largeStep;
        to += q[d] * a[d].smallStep + k[d] * a[d].smallTap;
      }
      if (exists) THNN_(transpose)(memory, pitch, from, last->largeStep, last->window.input, planes);
      for (int64_t p = 0; p < planes; p++, to += t->smallPlane)
        for (int64_t k3 = 0; k3 < last->window.kernel; k3++)
          unfoldRow(&lines, exists ? memory + p * pitch : NULL, k3, to + k3 * last->smallTap);
    }
  }
}

void THNN_(taps_unfold)(const Taps *t)
{
  const TapAxis *a = t->axis;
  int64_t taps = 1, positions = 1;
  for (int d = 0; d < 4; d++) {
    taps *= a[d].window.kernel;
    positions *= a[d].window.output;
  }
  const int64_t planes = t->planes, work = t->batch * planes * taps * positions;
  const int64_t rows = a[0].window.output * a[1].window.output * a[2].window.output;
  if (t->largePlane == 1 && a[3].largeStep != 1 && planes > 1 && a[3].window.input <= UNIT_REALS) {
    const int64_t groups = (planes + TOGETHER - 1) / TOGETHER, pieces = (rows + TOGETHER - 1) / TOGETHER;
    THNN_PARALLEL_FOR(task, t->batch * groups * pieces, work) {
      const int64_t plane = task / pieces % groups * TOGETHER, row = task % pieces * TOGETHER;
      unfoldChannels(t, task / pieces / groups, plane, MIN(TOGETHER, planes - plane), row,
                     MIN(row + TOGETHER, rows));
    }
    return;
  }
  THNN_PARALLEL_FOR(task, t->batch * planes * taps, work) {
    int64_t k[4], rest = task;
    for (int d = 3; d >= 0; d--) {
      k[d] = rest % a[d].window.kernel;
      rest /= a[d].window.kernel;
    }
    const int64_t plane = rest % planes, n = rest / planes;
    const real *large = (const real *)t->large + n * t->largeBatch + plane * t->largePlane;
    real *small = (real *)t->small + n * t->smallBatch + plane * t->smallPlane;
    for (int d = 0; d < 4; d++) small += k[d] * a[d].smallTap;
    for (int64_t row = 0; row < rows; row++) {
      const int64_t q[3] = {row / a[2].window.output / a[1].window.output,
                            row / a[2].window.output % a[1].window.output, row % a[2].window.output};
      const real *from = large;
      real *to = small;
      for (int d = 0; d < 3; d++) {
        const int64_t x = across(a + d, true, q[d], k[d]);
        to += q[d] * a[d].smallStep;
        if (x < 0) from = NULL;
        if (from) from += x * a[d].largeStep;
      }
      unfoldRow(a + 3, from, k[3], to);
    }
  }
}
