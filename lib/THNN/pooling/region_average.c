/* The mean of each adaptive region, and its gradient. Both are sums over regions: an input belongs to the outputs
   floor(i * outputs / inputs) to ceil((i + 1) * outputs / inputs) - 1, which are a region with the axes swapped. The
   mean is divided by the size of its region at the end, gradients by the sizes of theirs before they are added. */

#include "pooling/backward.h"
#include "pooling/forward.h"
#include "pooling/region_lines.h"

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

/* Divisor of element i of x along an axis. */
static int64_t gradientDivisor(const RegionSums *f, int a, int64_t i)
{
  const WindowAxis *axis = &f->axis[a];
  return regionSize(&(WindowAxis){.input = axis->output, .output = axis->input}, i);
}

#define SUM_VECTORS 4      /* that are added side by side */
#define PARTIAL_VECTORS 64 /* that are added to each of them */

static accreal sumOf(const real *x, int64_t n)
{
  if (n < VL) {
    real sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum;
  }
  accreal total = 0;
  for (int64_t i = 0; i < n;) {
    const int64_t end = MIN(n, i + SUM_VECTORS * PARTIAL_VECTORS * VL);
    vreal sum[SUM_VECTORS] = {{0}};
    for (; i + SUM_VECTORS * VL <= end; i += SUM_VECTORS * VL)
#pragma GCC unroll 4
      for (int v = 0; v < SUM_VECTORS; v++) {
        thnn_prefetchAhead(x + i + v * VL, VL * (int)sizeof *x);
        sum[v] += v_load(x + i + v * VL);
      }
    for (; i + VL <= end; i += VL) sum[0] += v_load(x + i);
    if (i < end) sum[1] += v_load_n(x + i, (int)(end - i)), i = end;
    total += v_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
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

/* 1 over the divisors of the gradients along each axis of x. */
static void takeWeights(ScratchArena *arena, const RegionSums *f, real **weight)
{
  weight[0] = arenaTake(arena, f->isGradient ? (double)f->x.d : 0, sizeof(real));
  weight[1] = arenaTake(arena, f->isGradient ? (double)f->x.h : 0, sizeof(real));
  weight[2] = arenaTake(arena, f->isGradient ? (double)(f->x.w + VL) : 0, sizeof(real));
}

static void findWeights(const RegionSums *f, real **weight)
{
  const int64_t size[WINDOW_AXES] = {f->x.d, f->x.h, f->x.w};
  for (int a = 0; a < WINDOW_AXES && f->isGradient; a++)
    for (int64_t i = 0; i < size[a]; i++) weight[a][i] = 1 / (real)gradientDivisor(f, a, i);
  for (int64_t i = 0; i < VL && f->isGradient; i++) weight[2][f->x.w + i] = 0;
}

/* --- planes --- */

typedef struct SumBuffers {
  RegionLines lines;
  real *line; /* sums: lines, then levels */
  real *weight[WINDOW_AXES];
  real *length; /* of the region of each column of y */
} SumBuffers;

static size_t sumBuffers(void *memory, const RegionSums *f, const RegionLines *lines, SumBuffers *b)
{
  ScratchArena arena = {memory, 0};
  b->lines = *lines;
  regionLinesTake(&arena, &b->lines);
  b->line = arenaTake(&arena, regionLevels(lines), sizeof(real));
  takeWeights(&arena, f, b->weight);
  b->length = arenaTake(&arena, (double)f->y.w, sizeof(real));
  return (size_t)arena.bytes;
}

#define PARTIAL_ROWS 64

/* The rows of a region, the columns of a row being `step` apart. */
typedef struct RegionSource {
  const real *plane;
  Region d, h;
  int64_t step;
} RegionSource;

/* The sum of each column of a region. */
static ALWAYS_INLINE void sumBlock(const int64_t *first, int vectors, int lanes, const RegionSums *f,
                                   const RegionSource *source, int64_t step, const SumBuffers *b, real *line,
                                   bool isGradient)
{
  const int64_t sd = f->x.sd, sh = f->x.sh;
  vreal total[MAX_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) total[v] = (vreal){0};
  for (int64_t k = source->d.start; k < source->d.end; k++)
    for (int64_t r = source->h.start; r < source->h.end;) {
      const real *row = source->plane + k * sd + r * sh;
      vreal sum[MAX_VECTORS];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) sum[v] = (vreal){0};
      for (const int64_t end = MIN(source->h.end, r + PARTIAL_ROWS); r < end; r++, row += sh) {
        const vreal weight = isGradient ? v_set1(b->weight[0][k] * b->weight[1][r]) : v_set1(1);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
          const vreal value = regionLoad(row, first[v], step, lanes);
          sum[v] += isGradient ? value * weight : value;
        }
      }
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) total[v] += sum[v];
    }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++)
    v_store(line + first[v], isGradient ? total[v] * v_load(b->weight[2] + first[v]) : total[v]);
}

static void sumLine(const RegionSums *f, const RegionSource *source, const SumBuffers *b, real *line)
{
  const int64_t n = f->x.w;
  if (source->step != 1) FOR_LANE_BLOCKS(n, sumBlock, f, source, source->step, b, line, f->isGradient);
  else if (f->isGradient) FOR_LANE_BLOCKS(n, sumBlock, f, source, 1, b, line, true);
  else FOR_LANE_BLOCKS(n, sumBlock, f, source, 1, b, line, false);
}

static void sumLevels(const SumBuffers *b, int64_t lines)
{
  const RegionLines *l = &b->lines;
  const int64_t end = (lines - 1) * l->pitch + l->width;
  for (int64_t k = 1; k < l->longest; k++) {
    const real *from = b->line + regionLevel(l, k) * l->size, *shifted = b->line + k;
    real *to = b->line + regionLevel(l, k + 1) * l->size;
    for (int64_t i = 0; i < end; i += VL) v_store(to + i, v_load(from + i) + v_load(shifted + i));
  }
}

/* Writes the rows of y of a block; `y` is the first row of the chunk. */
static void sumPicks(const RegionSums *f, const SumBuffers *b, int64_t lines, int64_t depth, real *y)
{
  const RegionLines *l = &b->lines;
  const int64_t outputs = l->outputs, step = f->y.sw;
  for (int64_t n = 0; n < lines; n++) {
    const RegionRows *rows = &l->blocks[n];
    const real *restrict line = b->line + n * l->pitch;
    const real *restrict length = b->length;
    const int32_t *restrict pick = l->pick;
    const real size = (real)(depth * (rows->h.end - rows->h.start));
    real *restrict to = y + rows->first * f->y.sh;
    if (f->isGradient && f->x.w == 1 && step == 1 && (f->y.h == 1 || f->y.sh == outputs)) {
      const real value = line[0];
      for (int64_t j = 0; j < (rows->end - rows->first) * outputs; j++) to[j] = value;
      continue;
    }
    if (l->longest > LONGEST_PREFIX) {
      for (int64_t j = 0; j < outputs; j++) {
        const accreal sum = sumOf(line + l->columns[j].start, l->columns[j].end - l->columns[j].start);
        to[j * step] = (real)(f->isGradient ? sum : sum / ((accreal)size * (accreal)length[j]));
      }
    } else if (f->isGradient && step == 1) {
#pragma GCC unroll 4
      for (int64_t j = 0; j < outputs; j++) to[j] = line[pick[j]];
    } else if (f->isGradient) {
      for (int64_t j = 0; j < outputs; j++) to[j * step] = line[pick[j]];
    } else {
      for (int64_t j = 0; j < outputs; j++) to[j * step] = line[pick[j]] / (size * length[j]);
    }
    for (int64_t o = rows->first + 1; o < rows->end; o++) {
      real *restrict copy = y + o * f->y.sh;
      if (step == 1)
        for (int64_t j = 0; j < outputs; j++) copy[j] = to[j];
      else
        for (int64_t j = 0; j < outputs; j++) copy[j * step] = to[j * step];
    }
  }
}

/* The sum of a region as wide as the plane, whose rows are contiguous. */
static accreal sumRuns(const RegionSums *f, const real *plane, Region d, Region h)
{
  accreal sum = 0;
  for (int64_t k = d.start; k < d.end; k++)
    sum += sumOf(plane + k * f->x.sd + h.start * f->x.sh, (h.end - h.start) * f->x.w);
  return sum;
}

static bool sumPlanes(const RegionSums *f)
{
  const PoolingImages *x = &f->x, *y = &f->y;
  const int64_t shortest = MAX(x->w / y->w, 1);
  const RegionLines lines = regionLines(x, y, shortest, regionAdaptiveLongest(&f->axis[2]),
                                        regionAdaptiveLongest(&f->axis[0]) * regionAdaptiveLongest(&f->axis[1]));
  SumBuffers sizes;
  const size_t bytes = sumBuffers(NULL, f, &lines, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;
  const bool whole = y->w == 1 && !f->isGradient && x->sw == 1 && (x->h == 1 || x->sh == x->w);
  THNN_PARALLEL_FOR(task, ceilDivide(lines.units, lines.perTask), y->n * y->c * y->d * y->h * MAX(x->w, y->w)) {
    SumBuffers b;
    sumBuffers(thnn_scratch(bytes), f, &lines, &b);
    RegionLines *l = &b.lines;
    if (!whole) memset(b.line, 0, (size_t)regionLevels(l) * sizeof *b.line);
    findWeights(f, b.weight);
    for (int64_t j = 0; j < y->w; j++) {
      l->columns[j] = regionAdaptive(&f->axis[2], j);
      b.length[j] = (real)(l->columns[j].end - l->columns[j].start);
    }
    if (l->longest <= LONGEST_PREFIX) regionPicks(l);
    const int64_t first = task * l->perTask, end = MIN(l->units, first + l->perTask);
    for (int64_t unit = first; unit < end; unit++) {
      const int64_t slice = unit / l->chunks, top = unit % l->chunks * l->chunk, count = MIN(l->chunk, y->h - top);
      if (unit == first || l->chunks > 1)
        for (int64_t o = 0; o < count; o++) l->heights[o] = regionAdaptive(&f->axis[1], top + o);
      const Region d = regionAdaptive(&f->axis[0], slice % y->d);
      const real *from = f->from + imagesPlane(x, slice / y->d);
      real *to = f->to + imagesSlice(y, slice) + top * y->sh;
      for (int64_t o = 0; o < count && whole; o++) {
        const Region h = l->heights[o];
        to[o * y->sh] =
            (real)(sumRuns(f, from, d, h) / ((accreal)((d.end - d.start) * (h.end - h.start)) * (accreal)x->w));
      }
      for (int64_t o = 0, found; o < count && !whole; o = l->blocks[found - 1].end) {
        found = regionBlock(l, o, count);
        for (int64_t i = 0; i < found; i++)
          sumLine(f, &(RegionSource){from, d, l->blocks[i].h, x->sw}, &b, b.line + i * l->pitch);
        if (l->longest <= LONGEST_PREFIX) sumLevels(&b, found);
        sumPicks(f, &b, found, d.end - d.start, to);
      }
    }
  }
  return true;
}

/* --- channels-last images --- */

typedef struct PixelBuffers {
  LaneRows mean;
  GatherSources gradient;
  Region *columns;
  real *weight[WINDOW_AXES];
  real divisor;
} PixelBuffers;

static size_t pixelBuffers(void *memory, const RegionSums *f, PixelBuffers *b)
{
  ScratchArena arena = {memory, 0};
  double elements = 1;
  for (int a = 0; a < WINDOW_AXES; a++) elements *= (double)regionAdaptiveLongest(&f->axis[a]);
  *b = (PixelBuffers){.mean = {.count = 1}};
  b->mean.offset = arenaTake(&arena, elements, sizeof(int64_t));
  gatherSourcesTake(&arena, elements, &b->gradient);
  b->columns = arenaTake(&arena, (double)f->y.w, sizeof(Region));
  takeWeights(&arena, f, b->weight);
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
        if (f->isGradient) b->gradient.weight[n] = b->weight[0][k] * b->weight[1][r] * b->weight[2][c];
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
    findWeights(f, b.weight);
    for (int64_t j = 0; j < y->w; j++) b.columns[j] = regionAdaptive(&f->axis[2], j);
    const int64_t end = MIN(rows, (task + 1) * perTask);
    for (int64_t row = task * perTask; row < end; row++) {
      const int64_t slice = row / y->h, o = row % y->h, n = slice / y->d, od = slice % y->d;
      const Region d = regionAdaptive(&f->axis[0], od), h = regionAdaptive(&f->axis[1], o);
      for (int64_t j = 0; j < y->w; j++) {
        const Region w = b.columns[j];
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
