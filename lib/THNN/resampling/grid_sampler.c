/* The lanes are channels: a position is computed once for all of them. Planes are packed into pixels of several blocks
   of VL channels, unless the channels are innermost already or the planes exceed scratch memory. */

#include "resampling/grid_sampler.h"

#include "gemm/transpose.h"
#include "resampling/rows.h"

/* With at least FEW_SAMPLES samples, a task of the backward has all channels of a sample, otherwise one pass. */
#define FEW_SAMPLES 8
/* The largest size of the packed planes of a pass, unless a single block of VL channels is larger. */
#define PASS_BYTES 1048576
#define AXES 3
#define POINTS 64 /* positions computed at a time, in one row of the grid */
#define PACKED_BYTES \
  1966080 /* of packed planes; the rest of the scratch memory is for packed rows of the output */

/* Channels first to first + count - 1 of a sample, as pixels. */
typedef struct Pixels {
  real *data;
  int64_t count;
  int64_t lane, sd, sh, sw; /* strides; lane: of the channels */
} Pixels;

static Pixels pixelsOf(const ResampleImages *t, real *data, int64_t n, int64_t first, int64_t count)
{
  return (Pixels){data + n * t->sn + first * t->sc, count, t->c == 1 ? 1 : t->sc, t->sd, t->sh, t->sw};
}

static Pixels packedPixels(const ResampleImages *t, real *data, int64_t count)
{
  const int64_t pixel = ceilDivide(count, VL) * VL;
  return (Pixels){data, pixel, 1, t->h * t->w * pixel, t->w * pixel, pixel};
}

/* True if the blocks of a pixel are vectors in memory. */
static bool isWhole(const Pixels *p) { return p->lane == 1 && p->count % VL == 0; }

/* Pixels of output or gradOutput with blocks that are vectors in memory: in place, or packed. */
typedef struct Row {
  real *data;
  int64_t pixel; /* distance between pixels */
} Row;

static real *pixelsRow(const Pixels *p, int64_t d, int64_t h) { return p->data + d * p->sd + h * p->sh; }

/* Packs `columns` pixels of `count` channels; the lanes after the last channel become 0. */
static void packRow(const real *from, int64_t lane, int64_t step, int64_t columns, int64_t count, real *to)
{
  const int64_t pixel = ceilDivide(count, VL) * VL;
  if (count < pixel) memset(to, 0, (size_t)(columns * pixel) * sizeof(real));
  if (lane == 1 || step != 1)
    for (int64_t i = 0; i < columns; i++)
      for (int64_t c = 0; c < count; c++) to[i * pixel + c] = from[i * step + c * lane];
  else THNN_(transpose)(to, pixel, from, lane, count, columns);
}

static void unpackRow(const real *from, int64_t columns, int64_t count, real *to, int64_t lane, int64_t step)
{
  const int64_t pixel = ceilDivide(count, VL) * VL;
  if (lane == 1 || step != 1)
    for (int64_t i = 0; i < columns; i++)
      for (int64_t c = 0; c < count; c++) to[i * step + c * lane] = from[i * pixel + c];
  else THNN_(transpose)(to, lane, from, pixel, columns, count);
}

/* `columns` pixels from column w of a row on, packed unless their blocks are vectors in memory. */
static Row packedRow(const Pixels *p, int64_t d, int64_t h, int64_t w, int64_t columns, real *packed)
{
  real *from = pixelsRow(p, d, h) + w * p->sw;
  if (isWhole(p)) return (Row){from, p->sw};
  packRow(from, p->lane, p->sw, columns, p->count, packed);
  return (Row){packed, ceilDivide(p->count, VL) * VL};
}

typedef struct GridSampler {
  int axes;
  ResampleImages x, y;      /* input; output or gradOutput */
  ResampleImages gradInput; /* the sizes of x, but its own strides */
  const real *input, *grid;
  real *output, *toInput, *toGrid;                      /* output or gradOutput, gradInput, gradGrid */
  int64_t gridStride[AXES + 2], toGridStride[AXES + 2]; /* along N, D, H, W and the coordinate */
  int64_t blocks;                                       /* blocks of VL channels per pass */
  int64_t passes;                                       /* passes per task of the backward */
  bool packs;
} GridSampler;

/* Positions of a row of the grid; axes are depth, height, width. */
typedef struct Points {
  vlane index[AXES][POINTS];
  real fraction[AXES][POINTS];
  vlane inside[POINTS]; /* 1 if all pixels around the position are inside of the image, otherwise 0 */
} Points;

static void findPoints(const GridSampler *f, int64_t n, int64_t d, int64_t h, int64_t w, int count, Points *points)
{
  const int64_t size[AXES] = {f->x.d, f->x.h, f->x.w}, *s = f->gridStride;
  const real *at = f->grid + n * s[0] + d * s[1] + h * s[2] + w * s[3];
  if (f->axes == 2) {
    memset(points->index[0], 0, sizeof points->index[0]);
    memset(points->fraction[0], 0, sizeof points->fraction[0]);
  }
  for (int j = 0; j < count; j++) points->inside[j] = 1;
  for (int k = 0; k < f->axes; k++) {
    vlane *index = points->index[2 - k];
    real *fraction = points->fraction[2 - k], coordinate[POINTS];
    for (int j = 0; j < count; j++) coordinate[j] = at[j * s[3] + k * s[4]];
    for (int j = 0; j < count; j++) {
      index[j] = gridIndex(coordinate[j], size[2 - k], &fraction[j]);
      points->inside[j] &= index[j] >= 0 && index[j] + 1 < (vlane)size[2 - k];
    }
  }
}

/* A pixel next to a position: its weight, and the derivatives of the weight w.r.t. the position along each axis. */
typedef struct Corner {
  int64_t offset, target; /* in input and in gradInput */
  real weight, slope[AXES];
} Corner;

#define CORNERS 8

/* The pixels around position j that are inside of the image: all of them if `inside`. */
static ALWAYS_INLINE int findCorners(const GridSampler *f, int axes, bool inside, const Points *points, int j,
                                     const Pixels *x, const Pixels *target, Corner *corner)
{
  int n = 0;
#pragma GCC unroll 2
  for (int z = 0; z < axes - 1; z++) {
    const int64_t d = points->index[0][j] + z;
    if (!inside && (d < 0 || d >= f->x.d)) continue;
    const real fd = points->fraction[0][j], wd = z ? fd : 1 - fd;
#pragma GCC unroll 2
    for (int y = 0; y < 2; y++) {
      const int64_t h = points->index[1][j] + y;
      if (!inside && (h < 0 || h >= f->x.h)) continue;
      const real fh = points->fraction[1][j], wh = y ? fh : 1 - fh;
#pragma GCC unroll 2
      for (int i = 0; i < 2; i++) {
        const int64_t w = points->index[2][j] + i;
        if (!inside && (w < 0 || w >= f->x.w)) continue;
        const real fw = points->fraction[2][j], ww = i ? fw : 1 - fw;
        corner[n++] = (Corner){d * x->sd + h * x->sh + w * x->sw,
                               d * target->sd + h * target->sh + w * target->sw,
                               wd * wh * ww,
                               {z ? wh * ww : -wh * ww, y ? wd * ww : -wd * ww, i ? wd * wh : -wd * wh}};
      }
    }
  }
  return n;
}

/* Block b of a pixel. */
static ALWAYS_INLINE vreal loadBlock(const Pixels *p, bool whole, int64_t offset, int64_t b)
{
  const real *at = p->data + offset + b * VL * p->lane;
  const int64_t lanes = MIN(VL, p->count - b * VL);
  if (whole) return v_load(p->data + offset + b * VL);
  if (p->lane == 1) return v_load_n(at, (int)lanes);
  vreal x = {0};
  for (int64_t i = 0; i < lanes; i++) x[i] = at[i * p->lane];
  return x;
}

static ALWAYS_INLINE void addBlock(const Pixels *p, bool whole, int64_t offset, int64_t b, vreal x)
{
  real *at = p->data + offset + b * VL * (whole ? 1 : p->lane);
  const int64_t lanes = MIN(VL, p->count - b * VL);
  if (whole) v_store(at, v_load(at) + x);
  else if (p->lane == 1) v_store_n(at, v_load_n(at, (int)lanes) + x, (int)lanes);
  else
    for (int64_t i = 0; i < lanes; i++) at[i * p->lane] += x[i];
}

static ALWAYS_INLINE void samplePoint(const GridSampler *f, int axes, bool whole, bool inside,
                                      const Points *points, int j, const Pixels *x, int64_t blocks, const Row *row)
{
  Corner corner[CORNERS];
  const int n = findCorners(f, axes, inside, points, j, x, x, corner);
  for (int64_t b = 0; b < blocks; b++) {
    vreal sum = {0};
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) sum += loadBlock(x, whole, corner[k].offset, b) * corner[k].weight;
    v_store(row->data + j * row->pixel + b * VL, sum);
  }
}

/* Adds the gradients of position j to gradInput, and to `sums`, one row per axis: the sums over channels from which
   storeGradGrid computes gradGrid. gradInput or `sums` may be NULL. `row` has the gradients of the output. */
static ALWAYS_INLINE void differentiatePoint(const GridSampler *f, int axes, bool whole, bool inside,
                                             const Points *points, int j, const Pixels *x, const Pixels *gradInput,
                                             int64_t blocks, const Row *row, real (*sums)[POINTS])
{
  Corner corner[CORNERS];
  vreal product[CORNERS], slope[AXES] = {{0}};
  const int n = findCorners(f, axes, inside, points, j, x, gradInput ? gradInput : x, corner);
#pragma GCC unroll 8
  for (int k = 0; k < n; k++) product[k] = (vreal){0};
  for (int64_t b = 0; b < blocks; b++) {
    const vreal g = v_load(row->data + j * row->pixel + b * VL);
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) {
      if (gradInput) addBlock(gradInput, whole, corner[k].target, b, g * corner[k].weight);
      if (sums) product[k] += loadBlock(x, whole, corner[k].offset, b) * g;
    }
  }
  if (!sums) return;
#pragma GCC unroll 3
  for (int a = AXES - axes; a < AXES; a++) {
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) slope[a] += product[k] * corner[k].slope[a];
    sums[a][j] += v_sum(slope[a]);
  }
}

/* Calls FUNCTION(f, axes, whole, inside, points, j, ...) for each position, with constants for images whose blocks are
   vectors in memory. */
#define FOR_EACH_POINT(FUNCTION, isWhole, f, points, count, ...)                                \
  for (int j = 0; j < (count); j++) {                                                           \
    if (!(isWhole)) FUNCTION(f, (f)->axes, false, false, points, j, __VA_ARGS__);               \
    else if (!(points)->inside[j]) FUNCTION(f, (f)->axes, true, false, points, j, __VA_ARGS__); \
    else if ((f)->axes == 2) FUNCTION(f, 2, true, true, points, j, __VA_ARGS__);                \
    else FUNCTION(f, 3, true, true, points, j, __VA_ARGS__);                                    \
  }

static void samplePoints(const GridSampler *f, const Points *points, int count, const Pixels *x, int64_t blocks,
                         const Row *row)
{
  const bool whole = isWhole(x);
  FOR_EACH_POINT(samplePoint, whole, f, points, count, x, blocks, row)
}

static void differentiatePoints(const GridSampler *f, const Points *points, int count, const Pixels *x,
                                const Pixels *gradInput, int64_t blocks, const Row *row, real (*sums)[POINTS])
{
  const bool whole = isWhole(x) && (!gradInput || isWhole(gradInput));
  if (!gradInput) FOR_EACH_POINT(differentiatePoint, whole, f, points, count, x, NULL, blocks, row, sums)
  else if (!sums) FOR_EACH_POINT(differentiatePoint, whole, f, points, count, x, gradInput, blocks, row, NULL)
  else FOR_EACH_POINT(differentiatePoint, whole, f, points, count, x, gradInput, blocks, row, sums)
}

static void storeGradGrid(const GridSampler *f, int64_t n, int64_t d, int64_t h, int64_t w, int count,
                          real (*sums)[POINTS], bool add)
{
  const int64_t size[AXES] = {f->x.d, f->x.h, f->x.w}, *s = f->toGridStride;
  real *at = f->toGrid + n * s[0] + d * s[1] + h * s[2] + w * s[3];
  for (int k = 0; k < f->axes; k++)
    for (int j = 0; j < count; j++) {
      const real gradient = sums[2 - k][j] * ((real)(size[2 - k] - 1) / 2);
      real *to = at + j * s[3] + k * s[4];
      *to = add ? *to + gradient : gradient;
    }
}

/* The channels of a pass. */
typedef struct Pass {
  int64_t n, first, count;
  Pixels x, gradInput; /* packed or in place */
  real *row;           /* POINTS pixels of output or gradOutput */
} Pass;

static Pass passBegin(const GridSampler *f, int64_t n, int64_t pass, bool backward)
{
  const ResampleImages *x = &f->x;
  const int64_t volume = x->d * x->h * x->w, pixel = f->blocks * VL;
  Pass t = {.n = n, .first = pass * pixel};
  t.count = MIN(pixel, x->c - t.first);
  const int64_t planes = f->packs ? volume * pixel * (backward ? 2 : 1) : 0;
  real *memory = thnn_scratch((size_t)(planes + POINTS * pixel) * sizeof(real));
  t.row = memory + planes;
  t.x = pixelsOf(x, (real *)f->input, n, t.first, t.count);
  if (backward) t.gradInput = pixelsOf(&f->gradInput, f->toInput, n, t.first, t.count);
  if (!f->packs) return t;
  const Pixels from = t.x;
  t.x = packedPixels(x, memory, t.count);
  for (int64_t d = 0; d < x->d; d++)
    for (int64_t h = 0; h < x->h; h++)
      packRow(pixelsRow(&from, d, h), from.lane, from.sw, x->w, t.count, pixelsRow(&t.x, d, h));
  if (backward) t.gradInput = packedPixels(x, memory + volume * pixel, t.count);
  return t;
}

static void clearPixels(const ResampleImages *x, const Pixels *p)
{
  for (int64_t d = 0; d < x->d; d++)
    for (int64_t h = 0; h < x->h; h++) {
      real *row = pixelsRow(p, d, h);
      if (p->lane == 1 && p->sw == p->count) memset(row, 0, (size_t)(x->w * p->sw) * sizeof(real));
      else if (p->sw == 1)
        for (int64_t c = 0; c < p->count; c++) memset(row + c * p->lane, 0, (size_t)x->w * sizeof(real));
      else
        for (int64_t i = 0; i < x->w; i++)
          for (int64_t c = 0; c < p->count; c++) row[i * p->sw + c * p->lane] = 0;
    }
}

/* Runs the statements for every run of `count` positions from (d, h, w) on. */
#define FOR_POINTS(f, ...)                                \
  for (int64_t d = 0; d < (f)->y.d; d++)                  \
    for (int64_t h = 0; h < (f)->y.h; h++)                \
      for (int64_t w = 0; w < (f)->y.w; w += POINTS) {    \
        const int count = (int)MIN(POINTS, (f)->y.w - w); \
        __VA_ARGS__                                       \
      }

static void computeOutput(const GridSampler *f, int64_t n, int64_t pass)
{
  const Pass t = passBegin(f, n, pass, false);
  const int64_t blocks = ceilDivide(t.count, VL);
  const Pixels y = pixelsOf(&f->y, f->output, n, t.first, t.count);
  Points points;
  FOR_POINTS(f, {
    real *to = pixelsRow(&y, d, h) + w * y.sw;
    const Row row = isWhole(&y) ? (Row){to, y.sw} : (Row){t.row, blocks * VL};
    findPoints(f, n, d, h, w, count, &points);
    samplePoints(f, &points, count, &t.x, blocks, &row);
    if (row.data != to) unpackRow(row.data, count, t.count, to, y.lane, y.sw);
  })
}

/* gradInput of the channels of a pass, and gradGrid unless computeGradGrid computes it. */
static void computeGradients(const GridSampler *f, int64_t n, int64_t pass, bool withGrid)
{
  const Pass t = passBegin(f, n, pass, true);
  const int64_t blocks = ceilDivide(t.count, VL);
  const Pixels g = pixelsOf(&f->y, f->output, n, t.first, t.count);
  Points points;
  clearPixels(&f->x, &t.gradInput);
  FOR_POINTS(f, {
    real sums[AXES][POINTS] = {{0}};
    findPoints(f, n, d, h, w, count, &points);
    const Row row = packedRow(&g, d, h, w, count, t.row);
    differentiatePoints(f, &points, count, &t.x, &t.gradInput, blocks, &row, withGrid ? sums : NULL);
    if (withGrid) storeGradGrid(f, n, d, h, w, count, sums, pass > 0);
  })
  if (!f->packs) return;
  const Pixels to = pixelsOf(&f->gradInput, f->toInput, n, t.first, t.count);
  for (int64_t d = 0; d < f->x.d; d++)
    for (int64_t h = 0; h < f->x.h; h++)
      unpackRow(pixelsRow(&t.gradInput, d, h), f->x.w, t.count, pixelsRow(&to, d, h), to.lane, to.sw);
}

/* gradGrid of a row of the grid from all channels, for few samples: a task of computeGradients has one pass then. */
static void computeGradGrid(const GridSampler *f, int64_t n, int64_t d, int64_t h)
{
  const int64_t channels = f->x.c, group = 8 * VL;
  real *packed = thnn_scratch((size_t)(POINTS * group) * sizeof(real));
  Points points;
  for (int64_t w = 0; w < f->y.w; w += POINTS) {
    const int count = (int)MIN(POINTS, f->y.w - w);
    real sums[AXES][POINTS] = {{0}};
    findPoints(f, n, d, h, w, count, &points);
    for (int64_t first = 0; first < channels; first += group) {
      const int64_t some = MIN(group, channels - first);
      const Pixels x = pixelsOf(&f->x, (real *)f->input, n, first, some);
      const Pixels g = pixelsOf(&f->y, f->output, n, first, some);
      const Row row = packedRow(&g, d, h, w, count, packed);
      differentiatePoints(f, &points, count, &x, NULL, ceilDivide(some, VL), &row, sums);
    }
    storeGradGrid(f, n, d, h, w, count, sums, false);
  }
}

/* A task of the forward has one pass; for the backward see FEW_SAMPLES. */
static GridSampler makeSampler(int axes, const THTensor *input, const THTensor *grid, const THTensor *output,
                               bool backward)
{
  GridSampler f = {.axes = axes,
                   .x = resampleImages(axes, input),
                   .y = resampleImages(axes, output),
                   .input = TH_DATA(input),
                   .grid = TH_DATA(grid),
                   .output = TH_DATA(output)};
  for (int i = 0; i < axes + 2; i++) f.gridStride[i + (i > 0 && axes == 2)] = grid->stride[i];
  const int64_t blocks = ceilDivide(f.x.c, VL);
  const double bytes = (double)(f.x.d * f.x.h * f.x.w) * VBYTES * (backward ? 2 : 1);
  f.packs = f.x.c > 1 && f.x.sc != 1 && bytes < PACKED_BYTES;
  f.blocks = f.packs ? MAX(1, (int64_t)(PASS_BYTES / bytes)) : blocks;
  f.blocks = MIN(MIN(f.blocks, blocks), f.x.n < FEW_SAMPLES ? 1 : 16);
  f.passes = f.x.n < FEW_SAMPLES ? 1 : ceilDivide(blocks, f.blocks);
  return f;
}

void THNN_(gridSample)(THNNState *state __attribute__((unused)), int axes, const THTensor *input,
                       const THTensor *grid, THTensor *output)
{
  if (THNNTensor_numel(output) == 0) return;
  const GridSampler f = makeSampler(axes, input, grid, output, false);
  const int64_t passes = ceilDivide(ceilDivide(f.x.c, VL), f.blocks);
  THNN_PARALLEL_FOR(task, f.x.n * passes, THNNTensor_numel(output))
    computeOutput(&f, task / passes, task % passes);
}

void THNN_(gridSampleBackward)(THNNState *state __attribute__((unused)), int axes, const THTensor *input,
                               const THTensor *grid, const THTensor *gradOutput, THTensor *gradInput,
                               THTensor *gradGrid)
{
  if (THNNTensor_numel(gradInput) == 0) return;
  GridSampler f = makeSampler(axes, input, grid, gradOutput, true);
  f.gradInput = resampleImages(axes, gradInput);
  f.toInput = TH_DATA(gradInput);
  f.toGrid = TH_DATA(gradGrid);
  for (int i = 0; i < axes + 2; i++) f.toGridStride[i + (i > 0 && axes == 2)] = gradGrid->stride[i];
  const int64_t passes = ceilDivide(ceilDivide(f.x.c, VL), f.blocks), rows = f.y.d * f.y.h;
  const int64_t work = THNNTensor_numel(gradOutput), tasks = passes / f.passes;
  const bool withGrid = tasks == 1;
  THNN_PARALLEL_FOR(task, f.x.n * tasks, work)
    for (int64_t pass = 0; pass < f.passes; pass++)
      computeGradients(&f, task / tasks, task % tasks + pass, withGrid);
  if (withGrid) return;
  THNN_PARALLEL_FOR(task, f.x.n * rows, work) computeGradGrid(&f, task / rows, task % rows / f.y.h, task % f.y.h);
}
