/* The mean of each adaptive region, and its gradient. Both are sums over regions: an input i belongs to the outputs
   floor(i * outputs / inputs) to ceil((i + 1) * outputs / inputs) - 1, the adaptive region i of the outputs divided
   into as many regions as there are inputs. For the mean, a sum is divided by the size of its region; for the gradient,
   each gradient is divided by the size of its region before it is added. */

#include "pooling/backward.h"
#include "pooling/forward.h"
#include "pooling/region_average.h"
#include "pooling/region_lines.h"

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

/* --- one region per plane --- */

#define SUM_VECTORS 4      /* sums side by side */
#define PARTIAL_VECTORS 64 /* vectors added to each of these sums */

/* Sums of n contiguous elements in lanes. */
static vreal sumOfRun(const real *x, int64_t n)
{
  vreal total = {0};
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
    total += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  return total;
}

#define SQUARE (VBYTES / sizeof(real) * VBYTES / sizeof(real))

/* Sums of VL planes are transposed, so that they are added, and divided, in lanes. */
static bool meanOfPlanes(const RegionSums *f)
{
  const PoolingImages *x = &f->x, *y = &f->y;
  if (f->isGradient || y->d * y->h * y->w != 1 || !planesAreDense(x)) return false;
  const int64_t size = x->d * x->h * x->w, planes = x->n * x->c, perTask = ceilDivide(rowsPerTask(size), VL) * VL;
  THNN_PARALLEL_FOR(task, ceilDivide(planes, perTask), planes * size) {
    real sum[SQUARE], lanes[SQUARE] = {0}, mean[VBYTES / sizeof(real)];
    const int64_t end = MIN(planes, (task + 1) * perTask);
    int64_t n = task * perTask / x->c, c = task * perTask % x->c;
    for (int64_t plane = task * perTask; plane < end; plane += VL) {
      const int count = (int)MIN(VL, end - plane);
      real *to[VBYTES / sizeof(real)];
      for (int i = 0; i < count; i++) {
        v_store(sum + i * VL, sumOfRun(f->from + n * x->sn + c * x->sc, size));
        to[i] = f->to + n * y->sn + c * y->sc;
        if (++c == x->c) c = 0, n++;
      }
      THNN_(transpose)(lanes, VL, sum, VL, count, VL);
      vreal total[2] = {{0}};
      for (int i = 0; i < VL; i++) total[i % 2] += v_load(lanes + i * VL);
      v_store(mean, (total[0] + total[1]) / v_set1((real)size));
      for (int i = 0; i < count; i++) *to[i] = mean[i];
    }
  }
  return true;
}

static bool meanOfPlanesGradient(const RegionSums *f)
{
  const PoolingImages *x = &f->x, *y = &f->y;
  if (!f->isGradient || x->d * x->h * x->w != 1 || !planesAreDense(y)) return false;
  const int64_t size = y->d * y->h * y->w, planes = y->n * y->c, perTask = rowsPerTask(size);
  THNN_PARALLEL_FOR(task, ceilDivide(planes, perTask), planes * size) {
    const int64_t end = MIN(planes, (task + 1) * perTask);
    for (int64_t plane = task * perTask; plane < end; plane++)
      fillLanes(f->to + imagesPlane(y, plane), f->from[imagesPlane(x, plane)] / (real)size, size);
  }
  return true;
}

/* --- planes --- */

typedef struct SumBuffers {
  const RegionSums *f;
  RegionLines lines;
  real *line, *transposed, *sum, *row; /* tiles; `sum` and `row` are results before and after transposition */
  real *weight[WINDOW_AXES];
} SumBuffers;

static size_t sumBuffers(void *memory, const RegionSums *f, const RegionLines *lines, SumBuffers *b)
{
  ScratchArena arena = {memory, 0};
  *b = (SumBuffers){.f = f, .lines = *lines};
  regionLinesTake(&arena, &b->lines);
  b->line = regionTileTake(&arena);
  b->transposed = regionTileTake(&arena);
  b->sum = regionTileTake(&arena);
  b->row = regionTileTake(&arena);
  takeWeights(&arena, f, b->weight);
  return (size_t)arena.bytes;
}

#define PARTIAL_ROWS 64

/* The sum of each column of a line from column x0 on, the columns of a row being `step` apart. */
static ALWAYS_INLINE void sumBlock(const int64_t *first, int vectors, int lanes, const SumBuffers *b,
                                   const RegionLine *source, int64_t x0, int64_t step, real *line, bool isGradient)
{
  const PoolingImages *x = &b->f->x;
  const real *plane = b->f->from + source->n * x->sn + source->c * x->sc + x0 * step;
  const int64_t sd = x->sd, sh = x->sh;
  vreal total[MAX_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) total[v] = (vreal){0};
  for (int64_t k = source->depth.start; k < source->depth.end; k++)
    for (int64_t r = source->height.start; r < source->height.end;) {
      const real *row = plane + k * sd + r * sh;
      vreal sum[MAX_VECTORS];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) sum[v] = (vreal){0};
      for (const int64_t end = MIN(source->height.end, r + PARTIAL_ROWS); r < end; r++, row += sh) {
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
    v_store(line + first[v], isGradient ? total[v] * v_load(b->weight[2] + x0 + first[v]) : total[v]);
}

static void sumLine(const SumBuffers *b, const RegionLine *source, int64_t x0, int64_t n, real *line)
{
  const int64_t step = b->f->x.sw;
  if (step != 1) FOR_LANE_BLOCKS(n, sumBlock, b, source, x0, step, line, b->f->isGradient);
  else if (b->f->isGradient) FOR_LANE_BLOCKS(n, sumBlock, b, source, x0, 1, line, true);
  else FOR_LANE_BLOCKS(n, sumBlock, b, source, x0, 1, line, false);
}

/* Adds the columns x0 to x1 - 1 of the transposed lines to the sums of the regions. */
static void sumColumns(const SumBuffers *b, int64_t x0, int64_t x1)
{
  const RegionLines *l = &b->lines;
  for (int64_t j = 0; j < l->end - l->first; j++) {
    const Region r = l->columns[j];
    const int64_t first = MAX(r.start, x0), end = MIN(r.end, x1);
    for (int v = 0; v < LINE_VECTORS && first < end; v++) {
      real *to = b->sum + j * BLOCK_LINES + v * VL;
      vreal sum = v_load(b->transposed + (first - x0) * BLOCK_LINES + v * VL);
      for (int64_t c = first + 1; c < end; c++) sum += v_load(b->transposed + (c - x0) * BLOCK_LINES + v * VL);
      v_store(to, first == r.start ? sum : v_load(to) + sum);
    }
  }
}

/* Divides the sums by the sizes of their regions. */
static void divideSums(const SumBuffers *b)
{
  const RegionLines *l = &b->lines;
  real size[BLOCK_LINES] = {0};
  for (int64_t i = 0; i < BLOCK_LINES; i++) {
    const RegionLine *line = &l->block[i < l->count ? i : 0];
    size[i] = (real)((line->depth.end - line->depth.start) * (line->height.end - line->height.start));
  }
  for (int64_t j = 0; j < l->end - l->first; j++) {
    const vreal length = v_set1((real)(l->columns[j].end - l->columns[j].start));
    for (int v = 0; v < LINE_VECTORS; v++) {
      real *to = b->sum + j * BLOCK_LINES + v * VL;
      v_store(to, v_load(to) / (v_load(size + v * VL) * length));
    }
  }
}

/* Stores successive copies of a row with non-temporal stores. `tile` has memory for n + VL elements and one more row;
   it holds repeats of the row, so that a vector can be read from any place of the row. */
static void streamCopies(const real *row, int64_t n, int64_t copies, real *tile, real *to)
{
  const int64_t all = copies * n, head = MIN((int64_t)(-(uintptr_t)to % VBYTES / sizeof(real)), all);
  for (int64_t i = 0; i < n + VL; i += n) copyLanes(tile + i, row, n);
  v_store_n(to, v_load_n(tile, (int)head), (int)head);
  int64_t i = head, place = head % n;
  for (const int64_t step = VL % n; i <= all - VL; i += VL) {
    v_stream(to + i, v_load(tile + place));
    place += step;
    if (place >= n) place -= n;
  }
  v_store_n(to + i, v_load_n(tile + place, (int)(all - i)), (int)(all - i));
}

/* Stores the rows of lines first <= i < end in slice d, to which `slice` points. */
static void storeSlice(const SumBuffers *b, int64_t first, int64_t end, real *slice)
{
  const PoolingImages *y = &b->f->y;
  const RegionLines *l = &b->lines;
  const int64_t n = l->end - l->first;
  for (int64_t i = first; i < end; i++) {
    const RegionLine *line = &l->block[i];
    const real *from = n == 1 ? b->sum + i : b->row + i * LINE_PITCH;
    real *to = slice + line->first * y->sh + l->first * y->sw;
    if (b->f->streams && n == y->w && rowsAreDense(y)) {
      streamCopies(from, n, line->rows, b->line, to);
      continue;
    }
    for (int64_t row = 0; row < line->rows; row++, to += y->sh) {
      if (y->sw == 1 && n > 1) copyLanes(to, from, n);
      for (int64_t j = 0; j < n && (y->sw != 1 || n == 1); j++) to[j * y->sw] = from[j];
    }
  }
}

static void storeRows(const SumBuffers *b)
{
  const PoolingImages *y = &b->f->y;
  const RegionLines *l = &b->lines;
  const bool dense = l->end - l->first == y->w && rowsAreDense(y);
  for (int64_t first = 0, end; first < l->count; first = end) {
    const RegionLine *line = &l->block[first], *last;
    for (end = first + 1; end < l->count && sameSlice(line, &l->block[end]);) end++;
    last = &l->block[end - 1];
    real *slice = b->f->to + line->n * y->sn + line->c * y->sc + line->d * y->sd;
    storeSlice(b, first, end, slice);
    for (int64_t d = 1; d < line->slices; d++)
      if (dense && !b->f->streams)
        copyLanes(slice + d * y->sd + line->first * y->w, slice + line->first * y->w,
                  (last->first + last->rows - line->first) * y->w);
      else storeSlice(b, first, end, slice + d * y->sd);
  }
}

static void sumLines(void *context)
{
  SumBuffers *b = context;
  const RegionSums *f = b->f;
  RegionLines *l = &b->lines;
  for (int64_t j = 0; j < f->y.w; j = l->end) {
    regionTile(l, j);
    const int64_t end = l->columns[l->end - j - 1].end;
    for (int64_t x0 = l->columns[0].start, x1; x0 < end; x0 = x1) {
      x1 = MIN(end, x0 + TILE_COLUMNS);
      for (int64_t i = 0; i < l->count; i++) sumLine(b, &l->block[i], x0, x1 - x0, b->line + i * LINE_PITCH);
      THNN_(transpose)(b->transposed, BLOCK_LINES, b->line, LINE_PITCH, l->count, x1 - x0);
      sumColumns(b, x0, x1);
    }
    if (!f->isGradient) divideSums(b);
    if (l->end - j > 1) THNN_(transpose)(b->row, LINE_PITCH, b->sum, BLOCK_LINES, l->end - j, l->count);
    storeRows(b);
  }
}

static bool sumPlanes(const RegionSums *f)
{
  const PoolingImages *y = &f->y;
  const RegionLines lines = regionLines(&f->regions, &f->x, y);
  SumBuffers sizes;
  const size_t bytes = sumBuffers(NULL, f, &lines, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;
  THNN_PARALLEL_FOR(task, ceilDivide(lines.units, lines.perTask), y->n * y->c * y->d * y->h * MAX(f->x.w, y->w)) {
    SumBuffers b;
    sumBuffers(thnn_scratch(bytes), f, &lines, &b);
    memset(b.transposed, 0, sizeof(real) * LINE_PITCH * BLOCK_LINES); /* lanes without a line */
    findWeights(f, b.weight);
    regionBlocks(&b.lines, task, sumLines, &b);
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
  const bool aligned =
      y->c % VL == 0 && (y->sn | y->sd | y->sh | y->sw) % VL == 0 && (uintptr_t)f->to % VBYTES == 0;
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * rowSize) {
    PixelBuffers b;
    pixelBuffers(thnn_scratch(bytes), f, &b);
    b.mean.rowDivisor = &b.divisor;
    findWeights(f, b.weight);
    for (int64_t j = 0; j < y->w; j++) b.columns[j] = regionAdaptive(&f->axis[2], j);
    GatherRows run = {.toStep = y->sw, .streams = f->streams && aligned};
    const int64_t end = MIN(rows, (task + 1) * perTask);
    for (int64_t row = task * perTask; row < end; row++) {
      const int64_t slice = row / y->h, o = row % y->h, n = slice / y->d, od = slice % y->d;
      const Region d = regionAdaptive(&f->axis[0], od), h = regionAdaptive(&f->axis[1], o);
      for (int64_t j = 0; j < y->w; j += run.count) {
        const Region w = b.columns[j];
        run.count = 1;
        while (f->isGradient && j + run.count < y->w && !memcmp(&w, &b.columns[j + run.count], sizeof w))
          run.count++;
        const real *from = f->from + n * x->sn + d.start * x->sd + h.start * x->sh + w.start * x->sw;
        real *to = f->to + n * y->sn + od * y->sd + o * y->sh + j * y->sw;
        listPixels(f, d, h, w, &b);
        b.mean.from = run.from = from, b.mean.to = run.to = to;
        if (f->isGradient) THNN_(poolingGather)(y->c, &run, &b.gradient, GATHER_WEIGHTED);
        else THNN_(poolingAverageLanes)(y->c, &b.mean);
      }
    }
  }
  return true;
}

static void regionSums(RegionSums *f)
{
  const bool channelsLast = imagesAreChannelsLast(&f->x) && imagesAreChannelsLast(&f->y);
  const bool done = channelsLast
                        ? sumChannelsLast(f)
                        : meanOfPlanes(f) || meanOfPlanesGradient(f) || THNN_(poolingSumTiles)(f) || sumPlanes(f);
  if (!done) sumPlain(f);
}

void THNN_(poolingRegionAverage)(const PoolingRegions *regions, const THTensor *input, THTensor *output)
{
  const Pooling *pooling = &regions->pooling;
  RegionSums f = {.x = poolingImages(pooling, input),
                  .y = poolingImages(pooling, output),
                  .from = TH_DATA(input),
                  .to = TH_DATA(output)};
  f.regions = *regions;
  f.axis = f.regions.pooling.axis;
  regionSums(&f);
}

void THNN_(poolingRegionAverageBackward)(const PoolingRegions *regions, const THTensor *gradOutput,
                                         THTensor *gradInput)
{
  const Pooling *pooling = &regions->pooling;
  RegionSums f = {.isGradient = true,
                  .streams = backwardStreams(gradInput, gradOutput, NULL),
                  .x = poolingImages(pooling, gradOutput),
                  .y = poolingImages(pooling, gradInput),
                  .from = TH_DATA(gradOutput),
                  .to = TH_DATA(gradInput)};
  f.regions = regionsInverse(regions);
  f.axis = f.regions.pooling.axis;
  regionSums(&f);
}
