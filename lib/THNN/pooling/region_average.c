/* The mean of each adaptive region, and its gradient. Both are sums over regions: an input belongs to the outputs
   floor(i * outputs / inputs) to ceil((i + 1) * outputs / inputs), which are a region with the axes swapped. The mean is
   divided by the size of its region at the end, gradients by the sizes of theirs before they are added. */

#include "pooling/backward.h"
#include "pooling/forward.h"
#include "pooling/regions.h"

/* Sums of elements of x, for each element of y. */
typedef struct RegionSums {
  WindowAxis axis[WINDOW_AXES]; /* of x and y: swapped for the gradient */
  bool isGradient;
  PoolingImages x, y;
  const real *from;
  real *to;
} RegionSums;

/* Number of elements in the region, in x, of output o of the forward. */
static int64_t regionSize(const WindowAxis *axis, int64_t o)
{
  const Region r = regionAdaptive(axis, o);
  return r.end - r.start;
}

/* What the element i of x along an axis is divided by. */
static int64_t gradientDivisor(const RegionSums *f, int a, int64_t i)
{
  const WindowAxis *axis = &f->axis[a];
  return regionSize(&(WindowAxis){.input = axis->output, .output = axis->input}, i);
}

/* Vectors of a partial sum. */
#define PARTIAL_VECTORS 64

static accreal sumOf(const real *x, int64_t n)
{
  if (n < 2 * VL) {
    real sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum;
  }
  accreal total = 0;
  for (int64_t i = 0; i < n;) {
    const int64_t end = MIN(n, i + 2 * PARTIAL_VECTORS * VL);
    vreal a = {0}, b = {0};
    for (; i + 2 * VL <= end; i += 2 * VL) {
      thnn_prefetchAhead(x + i, 2 * VL * (int)sizeof *x);
      a += v_load(x + i);
      b += v_load(x + i + VL);
    }
    if (i + VL <= end) a += v_load(x + i), i += VL;
    if (i < end && end == n) b += v_load_n(x + i, (int)(end - i)), i = end;
    total += v_sum(a + b);
  }
  return total;
}

/* Any strides. */
static void sumPlain(const RegionSums *f)
{
  const PoolingImages *x = &f->x, *y = &f->y;
  const int64_t rows = y->n * y->c * y->d * y->h;
  THNN_PARALLEL_FOR(row, rows, rows * MAX(x->w, y->w)) {
    const int64_t slice = row / y->h, plane = slice / y->d;
    const Region d = regionAdaptive(&f->axis[0], slice % y->d), h = regionAdaptive(&f->axis[1], row % y->h);
    const real *from = f->from + imagesPlane(x, plane);
    for (int64_t j = 0; j < y->w; j++) {
      const Region w = regionAdaptive(&f->axis[2], j);
      accreal sum = 0;
      for (int64_t a = d.start; a < d.end; a++)
        for (int64_t b = h.start; b < h.end; b++)
          for (int64_t c = w.start; c < w.end; c++) {
            const real value = from[a * x->sd + b * x->sh + c * x->sw];
            sum += f->isGradient ? value / ((accreal)gradientDivisor(f, 0, a) * (accreal)gradientDivisor(f, 1, b) *
                                            (accreal)gradientDivisor(f, 2, c))
                                 : value;
          }
      if (!f->isGradient)
        sum /= (accreal)(d.end - d.start) * (accreal)(h.end - h.start) * (accreal)(w.end - w.start);
      f->to[imagesSlice(y, slice) + row % y->h * y->sh + j * y->sw] = (real)sum;
    }
  }
}

typedef struct SumBuffers {
  real *line;      /* sums of the columns */
  real *weight;    /* of the columns of a gradient */
  Region *columns; /* of each element of a row of y */
} SumBuffers;

static size_t sumBuffers(void *memory, const RegionSums *f, SumBuffers *b)
{
  ScratchArena arena = {memory, 0};
  b->line = arenaTake(&arena, (double)f->x.w, sizeof(real));
  b->weight = arenaTake(&arena, (double)f->x.w, sizeof(real));
  b->columns = arenaTake(&arena, (double)f->y.w, sizeof(Region));
  return (size_t)arena.bytes;
}

/* line += weight * weights * x, elements of x being `step` apart; `weights` NULL: line += x. */
static void addRow(int64_t n, const real *restrict x, int64_t step, real weight, const real *restrict weights,
                   real *restrict line)
{
  if (step != 1) {
    for (int64_t i = 0; i < n; i++) line[i] += weights ? x[i * step] * (weight * weights[i]) : x[i * step];
  } else if (weights) {
    for (int64_t i = 0; i < n; i++) line[i] += x[i] * (weight * weights[i]);
  } else {
    for (int64_t i = 0; i < n; i++) line[i] += x[i];
  }
}

/* The sums of the columns of the rows of a region. */
static void sumRows(const RegionSums *f, const real *from, Region d, Region h, const SumBuffers *b)
{
  memset(b->line, 0, sizeof *b->line * (size_t)f->x.w);
  for (int64_t k = d.start; k < d.end; k++) {
    const real slice = f->isGradient ? (real)gradientDivisor(f, 0, k) : 1;
    for (int64_t r = h.start; r < h.end; r++) {
      const real weight = f->isGradient ? 1 / (slice * (real)gradientDivisor(f, 1, r)) : 1;
      addRow(f->x.w, from + k * f->x.sd + r * f->x.sh, f->x.sw, weight, f->isGradient ? b->weight : NULL, b->line);
    }
  }
}

/* The sum of a region as wide as the plane, whose rows are contiguous. */
static accreal sumRuns(const RegionSums *f, const real *from, Region d, Region h)
{
  accreal sum = 0;
  for (int64_t k = d.start; k < d.end; k++)
    sum += sumOf(from + k * f->x.sd + h.start * f->x.sh, (h.end - h.start) * f->x.w);
  return sum;
}

static bool sumPlanes(const RegionSums *f)
{
  const PoolingImages *x = &f->x, *y = &f->y;
  SumBuffers sizes;
  const size_t bytes = sumBuffers(NULL, f, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;
  const bool whole = y->w == 1 && !f->isGradient && x->sw == 1 && (x->h == 1 || x->sh == x->w);
  const int64_t rows = y->n * y->c * y->d * y->h;
  const int64_t rowSize = y->w + x->w * ceilDivide(x->d, y->d) * ceilDivide(x->h, y->h);
  const int64_t perTask = rowsPerTask(rowSize);
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * rowSize) {
    SumBuffers b;
    sumBuffers(thnn_scratch(bytes), f, &b);
    for (int64_t i = 0; i < x->w && f->isGradient; i++) b.weight[i] = 1 / (real)gradientDivisor(f, 2, i);
    for (int64_t j = 0; j < y->w; j++) b.columns[j] = regionAdaptive(&f->axis[2], j);
    const int64_t end = MIN(rows, (task + 1) * perTask);
    Region lastH = {0}, lastD = {0}, d = {0};
    const real *last = NULL; /* the row before, if it is of the same plane */
    for (int64_t row = task * perTask, slice = -1, o = 0; row < end; row++, o++) {
      if (slice < 0 || o == y->h) {
        slice = row / y->h, o = row % y->h;
        d = regionAdaptive(&f->axis[0], slice % y->d);
        if (slice % y->d == 0) last = NULL;
      }
      const Region h = regionAdaptive(&f->axis[1], o);
      real *to = f->to + imagesSlice(y, slice) + o * y->sh;
      const real *from = f->from + imagesPlane(x, slice / y->d);
      const accreal size = (accreal)(d.end - d.start) * (accreal)(h.end - h.start);
      if (last && h.start == lastH.start && h.end == lastH.end && d.start == lastD.start && d.end == lastD.end) {
        if (y->sw == 1) memcpy(to, last, sizeof *to * (size_t)y->w);
        for (int64_t j = 0; j < y->w && y->sw != 1; j++) to[j * y->sw] = last[j * y->sw];
      } else if (whole) {
        *to = (real)(sumRuns(f, from, d, h) / (size * (accreal)x->w));
      } else {
        sumRows(f, from, d, h, &b);
        for (int64_t j = 0; j < y->w; j++) {
          const Region w = b.columns[j];
          const accreal sum = sumOf(b.line + w.start, w.end - w.start);
          to[j * y->sw] = f->isGradient ? (real)sum : (real)(sum / (size * (accreal)(w.end - w.start)));
        }
      }
      last = to, lastH = h, lastD = d;
    }
  }
  return true;
}

typedef struct PixelBuffers {
  LaneRows mean;
  GatherSources gradient;
  real divisor;
} PixelBuffers;

static size_t pixelBuffers(void *memory, const RegionSums *f, PixelBuffers *b)
{
  ScratchArena arena = {memory, 0};
  double elements = 1;
  for (int a = 0; a < WINDOW_AXES; a++)
    elements *= (double)(f->axis[a].input / f->axis[a].output + (f->axis[a].input % f->axis[a].output ? 2 : 0));
  *b = (PixelBuffers){.mean = {.count = 1}};
  b->mean.offset = arenaTake(&arena, elements, sizeof(int64_t));
  gatherSourcesTake(&arena, elements, &b->gradient);
  return (size_t)arena.bytes;
}

/* Lists the pixels of a region, relative to the first one, with their weights. */
static void listPixels(const RegionSums *f, Region d, Region h, Region w, PixelBuffers *b)
{
  const PoolingImages *x = &f->x;
  int64_t n = 0;
  for (int64_t k = d.start; k < d.end; k++)
    for (int64_t r = h.start; r < h.end; r++)
      for (int64_t c = w.start; c < w.end; c++, n++) {
        b->gradient.offset[n] = b->mean.offset[n] =
            (k - d.start) * x->sd + (r - h.start) * x->sh + (c - w.start) * x->sw;
        if (f->isGradient)
          b->gradient.weight[n] = 1 / ((real)gradientDivisor(f, 0, k) * (real)gradientDivisor(f, 1, r) *
                                       (real)gradientDivisor(f, 2, c));
      }
  b->gradient.count = b->mean.elements = n;
  b->mean.columns = w.end - w.start;
  b->divisor = (real)n;
}

/* Lanes are channels. */
static bool sumChannelsLast(const RegionSums *f)
{
  const PoolingImages *x = &f->x, *y = &f->y;
  PixelBuffers sizes;
  const size_t bytes = pixelBuffers(NULL, f, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;
  const int64_t rows = y->n * y->d * y->h, rowSize = y->c * (x->w * ceilDivide(x->h, y->h) + y->w);
  const int64_t perTask = rowsPerTask(rowSize);
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * rowSize) {
    PixelBuffers b;
    pixelBuffers(thnn_scratch(bytes), f, &b);
    b.mean.rowDivisor = &b.divisor;
    const int64_t end = MIN(rows, (task + 1) * perTask);
    for (int64_t row = task * perTask; row < end; row++) {
      const int64_t slice = row / y->h, o = row % y->h, n = slice / y->d, od = slice % y->d;
      const Region d = regionAdaptive(&f->axis[0], od), h = regionAdaptive(&f->axis[1], o);
      for (int64_t j = 0; j < y->w; j++) {
        const Region w = regionAdaptive(&f->axis[2], j);
        const real *from = f->from + n * x->sn + d.start * x->sd + h.start * x->sh + w.start * x->sw;
        real *to = f->to + n * y->sn + od * y->sd + o * y->sh + j * y->sw;
        listPixels(f, d, h, w, &b);
        b.mean.from = from, b.mean.to = to;
        if (f->isGradient)
          THNN_(poolingGather)(y->c, &(GatherRows){.count = 1, .from = from, .to = to}, &b.gradient,
                               GATHER_WEIGHTED);
        else THNN_(poolingAverageLanes)(y->c, &b.mean);
      }
    }
  }
  return true;
}

static void regionSums(RegionSums *f)
{
  const bool channelsLast = imagesAreChannelsLast(&f->x) && imagesAreChannelsLast(&f->y);
  const bool done = channelsLast ? sumChannelsLast(f) : sumPlanes(f);
  if (!done) sumPlain(f);
}

void THNN_(poolingRegionAverage)(const PoolingRegions *regions, const THTensor *input, THTensor *output)
{
  const Pooling *pooling = &regions->pooling;
  RegionSums f = {.x = poolingImages(pooling, input),
                  .y = poolingImages(pooling, output),
                  .from = TH_DATA(input),
                  .to = TH_DATA(output)};
  memcpy(f.axis, pooling->axis, sizeof f.axis);
  regionSums(&f);
}

void THNN_(poolingRegionAverageBackward)(const PoolingRegions *regions, const THTensor *gradOutput,
                                         THTensor *gradInput)
{
  const Pooling *pooling = &regions->pooling;
  RegionSums f = {.isGradient = true,
                  .x = poolingImages(pooling, gradOutput),
                  .y = poolingImages(pooling, gradInput),
                  .from = TH_DATA(gradOutput),
                  .to = TH_DATA(gradInput)};
  for (int a = 0; a < WINDOW_AXES; a++)
    f.axis[a] = (WindowAxis){.input = pooling->axis[a].output, .output = pooling->axis[a].input};
  regionSums(&f);
}
