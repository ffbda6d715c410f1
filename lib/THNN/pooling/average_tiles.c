/* The mean of adaptive regions or sliding windows, and its gradient, in small planes. VL planes are transposed into a
   tile, so that lanes are planes; sums are separable, first along one axis, then along the others. */

#include "gemm/transpose.h"
#include "pooling/lanes.h"
#include "pooling/region_average.h"

typedef struct TileBuffers {
  real *x, *y;                  /* pixels of VL channels */
  real *sums;                   /* for the mean: rows of one region; for the gradient: columns of each region */
  Region *regions[WINDOW_AXES]; /* regions of y */
  real *divisors[WINDOW_AXES];  /* divisors of y, for the mean */
  real *weight;                 /* weights of the pixels of x, for the gradient */
} TileBuffers;

static size_t tileBuffers(void *memory, const RegionSums *f, TileBuffers *b)
{
  const int64_t rows = f->x.d * f->x.h, pixels = rows * f->x.w;
  ScratchArena arena = {memory, 0};
  b->x = arenaTake(&arena, (double)(pixels * VL), sizeof(real));
  b->y = arenaTake(&arena, (double)(f->y.d * f->y.h * f->y.w * VL), sizeof(real));
  b->sums = arenaTake(&arena, (double)(f->isGradient ? rows * f->y.w * VL : f->x.w * VL), sizeof(real));
  const int64_t size[WINDOW_AXES] = {f->y.d, f->y.h, f->y.w};
  for (int a = 0; a < WINDOW_AXES; a++) {
    b->regions[a] = arenaTake(&arena, (double)size[a], sizeof(Region));
    b->divisors[a] = arenaTake(&arena, (double)size[a], sizeof(real));
  }
  b->weight = arenaTake(&arena, f->isGradient ? (double)pixels : 0, sizeof(real));
  return (size_t)arena.bytes;
}

/* The regions of an axis of y and, for the mean, their divisors. */
static void findRegions(const RegionSums *f, int a, int64_t size, Region *regions, real *divisors)
{
  const WindowAxis *window = f->windows ? &f->windows->axis[a] : NULL;
  int64_t low = 0, high = 0;
  for (int64_t i = 0; i < size; i++) {
    if (window == NULL) {
      regions[i] = regionAdaptive(&f->axis[a], i);
    } else if (f->isGradient) {
      windowSlide(window, i, &low, &high);
      regions[i] = (Region){low, high};
    } else {
      const int64_t start = MAX(windowStart(window, i), 0), end = windowStart(window, i) + window->kernel;
      regions[i] = (Region){start, MAX(MIN(end, window->input), start)};
    }
    divisors[i] = (real)(window && !f->isGradient ? poolingDivisor(window, i, f->countPadding)
                                                  : regions[i].end - regions[i].start);
  }
}

/* 1 over the divisor of each gradient. */
static void findPixelWeights(const RegionSums *f, real *weight)
{
  for (int64_t k = 0; k < f->x.d; k++)
    for (int64_t r = 0; r < f->x.h; r++)
      for (int64_t c = 0; c < f->x.w; c++)
        *weight++ = 1 / (real)(gradientDivisor(f, 0, k) * gradientDivisor(f, 1, r) * gradientDivisor(f, 2, c));
}

static ALWAYS_INLINE void addRowVectors(int vectors, const real *from, int64_t size, int64_t h, Region slices,
                                        Region lines, real *to)
{
  vreal total[MAX_VECTORS] = {{0}};
  for (int64_t k = slices.start; k < slices.end; k++)
    for (int64_t r = lines.start; r < lines.end; r++) {
      const real *row = from + (k * h + r) * size;
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) total[v] += v_load(row + v * VL);
    }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) v_store(to + v * VL, total[v]);
}

/* The sum of the rows of a region, each of `pixels` pixels of VL lanes. `h` is the number of rows of a slice. */
static void addRows(const real *from, int64_t pixels, int64_t h, Region slices, Region lines, real *to)
{
  const int64_t size = pixels * VL;
  int64_t i = 0;
  for (; i + MAX_VECTORS * VL <= size; i += MAX_VECTORS * VL)
    addRowVectors(MAX_VECTORS, from + i, size, h, slices, lines, to + i);
  for (; i < size; i += VL) addRowVectors(1, from + i, size, h, slices, lines, to + i);
}

/* The sum of the columns of a region in one row. */
static ALWAYS_INLINE vreal addColumns(const real *row, Region columns)
{
  if (columns.start >= columns.end) return (vreal){0};
  vreal sum = v_load(row + columns.start * VL);
  for (int64_t c = columns.start + 1; c < columns.end; c++) sum += v_load(row + c * VL);
  return sum;
}

/* Computes row (d, h) of the means: adds the rows first. */
static void meansOfTileRow(const RegionSums *f, const TileBuffers *b, int64_t d, int64_t h, real *to)
{
  const real rows = b->divisors[0][d] * b->divisors[1][h];
  addRows(b->x, f->x.w, f->x.h, b->regions[0][d], b->regions[1][h], b->sums);
  for (int64_t j = 0; j < f->y.w; j++, to += VL)
    v_store(to, addColumns(b->sums, b->regions[2][j]) / v_set1(rows * b->divisors[2][j]));
}

/* The gradients, divided by the sizes of their regions, added along each row; the rows are added later. */
static void addGradientColumns(const RegionSums *f, const TileBuffers *b)
{
  const int64_t rows = f->x.d * f->x.h, pixels = rows * f->x.w;
  for (int64_t i = 0; i < pixels; i++) v_store(b->x + i * VL, v_load(b->x + i * VL) * b->weight[i]);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < f->y.w; j++)
      v_store(b->sums + (r * f->y.w + j) * VL, addColumns(b->x + r * f->x.w * VL, b->regions[2][j]));
}

bool THNN_(poolingSumTiles)(const RegionSums *f)
{
  RegionSums merged = *f;
  if (imagesMergeSamples(&merged.x) && imagesMergeSamples(&merged.y)) f = &merged;
  const PoolingImages *x = &f->x, *y = &f->y;
  if (!planesAreSmall(x) || !planesAreSmall(y) || x->c < VL / 2) return false;
  TileBuffers sizes;
  const size_t bytes = tileBuffers(NULL, f, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;
  const int64_t from = x->d * x->h * x->w, to = y->d * y->h * y->w, groups = ceilDivide(x->c, VL);
  const int64_t perTask = rowsPerTask(VL * MAX(from, to)), tiles = x->n * groups;
  THNN_PARALLEL_FOR(task, ceilDivide(tiles, perTask), tiles * VL * MAX(from, to)) {
    TileBuffers b;
    tileBuffers(thnn_scratch(bytes), f, &b);
    if (f->isGradient) findPixelWeights(f, b.weight);
    const int64_t size[WINDOW_AXES] = {y->d, y->h, y->w};
    for (int a = 0; a < WINDOW_AXES; a++) findRegions(f, a, size[a], b.regions[a], b.divisors[a]);
    if (x->c % VL) memset(b.x, 0, sizeof(real) * (size_t)(from * VL)); /* lanes without a channel */
    const int64_t end = MIN(tiles, (task + 1) * perTask);
    for (int64_t tile = task * perTask; tile < end; tile++) {
      const int64_t n = tile / groups, c = tile % groups * VL, channels = MIN(VL, x->c - c);
      THNN_(transpose)(b.x, VL, f->from + n * x->sn + c * x->sc, x->sc, channels, from);
      if (f->isGradient) addGradientColumns(f, &b);
      for (int64_t row = 0; row < y->d * y->h; row++) {
        const int64_t d = row / y->h, h = row % y->h;
        real *line = b.y + row * y->w * VL;
        if (f->isGradient) addRows(b.sums, y->w, x->h, b.regions[0][d], b.regions[1][h], line);
        else meansOfTileRow(f, &b, d, h, line);
      }
      THNN_(transpose)(f->to + n * y->sn + c * y->sc, y->sc, b.y, VL, to, channels);
    }
  }
  return true;
}

bool THNN_(poolingAverageTiles)(const Pooling *pooling, bool countPadding, const THTensor *input, THTensor *output)
{
  return THNN_(poolingSumTiles)(&(RegionSums){.windows = pooling,
                                              .countPadding = countPadding,
                                              .x = poolingImages(pooling, input),
                                              .y = poolingImages(pooling, output),
                                              .from = TH_DATA(input),
                                              .to = TH_DATA(output)});
}

bool THNN_(poolingAverageTilesBackward)(const Pooling *pooling, bool countPadding, const THTensor *gradOutput,
                                        THTensor *gradInput)
{
  return THNN_(poolingSumTiles)(&(RegionSums){.windows = pooling,
                                              .countPadding = countPadding,
                                              .isGradient = true,
                                              .x = poolingImages(pooling, gradOutput),
                                              .y = poolingImages(pooling, gradInput),
                                              .from = TH_DATA(gradOutput),
                                              .to = TH_DATA(gradInput)});
}
