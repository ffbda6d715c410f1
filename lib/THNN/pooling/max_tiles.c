/* The maximum of windows and adaptive regions in small planes. VL planes are transposed into a tile, so that lanes are
   planes. First the columns of each window are compared in every row, then the rows of each window. */

#include "pooling/max_tiles.h"
#include "gemm/transpose.h"
#include "pooling/forward.h"

#define TOGETHER 4 /* rows or columns, side by side */

/* The elements of one output along an axis: the inputs start, start + step, ... below end. The index of an input is the
   sum of its indices along the axes; along this one they begin at `index`. */
typedef struct TileWindow {
  int64_t start, end, index;
} TileWindow;

typedef struct TileAxis {
  TileWindow *windows;
  int64_t step, indexStep;
  bool hasEmpty; /* a window without inputs */
} TileAxis;

/* Pixels of VL planes: the rows of x that windows read, y with its indices, and the largest elements of the windows
   along the width in every row of x. */
typedef struct TileBuffers {
  TileAxis axis[WINDOW_AXES];
  int64_t width, height; /* size of y, and of x in the tile */
  real *x, *rows, *y;
  vlane *rowsAt, *yAt, *planes;
} TileBuffers;

/* The rows of a slice that windows read are first, first + step, ... */
typedef struct TileRows {
  int64_t first, step, count;
} TileRows;

static TileRows tileRows(const MaxTiles *f)
{
  const WindowAxis *h = &f->pooling->axis[1];
  int64_t step = f->areRegions ? 1 : h->stride;
  for (int64_t rest = h->dilation, next; step > 1 && rest > 0; rest = next)
    next = step % rest, step = rest; /* gcd */
  const int64_t first = (step - h->padding % step) % step;
  return (TileRows){first, step, (f->x.h - first + step - 1) / step};
}

static size_t tileBuffers(void *memory, const MaxTiles *f, const TileRows *read, TileBuffers *b)
{
  ScratchArena arena = {memory, 0};
  const PoolingImages *x = &f->x, *y = &f->y;
  const int64_t size[WINDOW_AXES] = {y->d, y->h, y->w};
  const double rows = (double)x->d * (double)read->count, outputs = (double)y->d * (double)y->h * (double)y->w;
  b->width = y->w, b->height = read->count;
  for (int a = 0; a < WINDOW_AXES; a++)
    b->axis[a].windows = arenaTake(&arena, (double)size[a], sizeof(TileWindow));
  b->x = arenaTake(&arena, rows * (double)x->w * VL, sizeof(real));
  b->rows = arenaTake(&arena, rows * (double)y->w * VL, sizeof(real));
  b->rowsAt = arenaTake(&arena, rows * (double)y->w * VL, sizeof(vlane));
  b->y = arenaTake(&arena, outputs * VL, sizeof(real));
  b->yAt = arenaTake(&arena, outputs * VL, sizeof(vlane));
  b->planes = arenaTake(&arena, outputs * VL, sizeof(vlane));
  return (size_t)arena.bytes;
}

static void findWindows(const MaxTiles *f, const TileRows *read, int a, TileAxis *axis)
{
  const WindowAxis *window = &f->pooling->axis[a];
  const int64_t weight = indexWeight(f->pooling, a);
  axis->step = f->areRegions ? 1 : window->dilation;
  axis->indexStep = f->pooling->index == INDEX_INPUT ? axis->step * weight : weight;
  axis->hasEmpty = false;
  for (int64_t o = 0; o < window->output; o++) {
    TileWindow *w = &axis->windows[o];
    if (f->areRegions) {
      const Region region = regionAdaptive(window, o);
      *w = (TileWindow){region.start, region.end, region.start * weight};
    } else {
      int64_t k, end;
      windowElements(window, o, &k, &end);
      const int64_t start = windowStart(window, o) + k * window->dilation;
      const int64_t index = f->pooling->index == INDEX_INPUT ? start * weight : k * weight;
      *w = (TileWindow){start, start + (end - k) * window->dilation, index};
    }
    axis->hasEmpty |= w->start >= w->end;
    if (a == 1) w->start = (w->start - read->first) / read->step, w->end = (w->end - read->first) / read->step;
  }
  if (a == 1) axis->step /= read->step;
}

static ALWAYS_INLINE void keepLarger(vreal x, vint here, vreal *best, vint *at)
{
  const vmask larger = m_or(v_gt(x, *best), v_ne(x, x));
  *best = v_sel(larger, x, *best);
  *at = vi_sel(larger, here, *at);
}

/* The maxima along the width of `rows` rows from a row of the tile on. */
static ALWAYS_INLINE void maxColumns(int rows, const TileBuffers *b, int64_t xWidth, int64_t row)
{
  const TileAxis *axis = &b->axis[2];
  const int64_t step = axis->step, xRow = xWidth * VL, yRow = b->width * VL;
  const real *x = b->x + row * xRow;
  real *to = b->rows + row * yRow;
  vlane *toAt = b->rowsAt + row * yRow;
  for (int64_t j = 0; j < b->width; j++) {
    const TileWindow w = axis->windows[j];
    if (w.start >= w.end) continue;
    vreal best[TOGETHER];
    vint at[TOGETHER], here = vi_set1((vlane)w.index);
#pragma GCC unroll 4
    for (int v = 0; v < rows; v++) best[v] = v_load(x + v * xRow + w.start * VL), at[v] = here;
    for (int64_t c = w.start + step; c < w.end; c += step) {
      here += vi_set1((vlane)axis->indexStep);
#pragma GCC unroll 4
      for (int v = 0; v < rows; v++) keepLarger(v_load(x + v * xRow + c * VL), here, &best[v], &at[v]);
    }
#pragma GCC unroll 4
    for (int v = 0; v < rows; v++) {
      v_store(to + v * yRow + j * VL, best[v]);
      vi_store(toAt + v * yRow + j * VL, at[v]);
    }
  }
}

/* The last rows may be compared twice, so that as many as possible are compared side by side; so may outputs below. */
static void maxOfRows(const TileBuffers *b, int64_t rows, int64_t xWidth)
{
  int64_t row = 0;
  for (; row + TOGETHER <= rows; row += TOGETHER) maxColumns(TOGETHER, b, xWidth, row);
  if (row < rows && rows > TOGETHER) maxColumns(TOGETHER, b, xWidth, rows - TOGETHER);
  else
    for (; row < rows; row++) maxColumns(1, b, xWidth, row);
}

/* The maxima of `columns` outputs of a row, from an output of the row on, whose windows have the rows of d and h. */
static ALWAYS_INLINE void maxRows(int columns, const TileBuffers *b, TileWindow d, TileWindow h, int64_t column,
                                  int64_t first)
{
  const int64_t dStep = b->axis[0].step, hStep = b->axis[1].step;
  const int64_t origin = ((d.start * b->height + h.start) * b->width + column) * VL;
  vreal best[TOGETHER];
  vint at[TOGETHER];
#pragma GCC unroll 4
  for (int v = 0; v < columns; v++) {
    best[v] = v_load(b->rows + origin + v * VL);
    at[v] = vi_set1((vlane)(d.index + h.index)) + vi_load(b->rowsAt + origin + v * VL);
  }
  for (int64_t k = d.start, dIndex = d.index; k < d.end; k += dStep, dIndex += b->axis[0].indexStep)
    for (int64_t r = h.start, hIndex = h.index; r < h.end; r += hStep, hIndex += b->axis[1].indexStep) {
      if (k == d.start && r == h.start) continue;
      const int64_t from = ((k * b->height + r) * b->width + column) * VL;
      const vint index = vi_set1((vlane)(dIndex + hIndex));
#pragma GCC unroll 4
      for (int v = 0; v < columns; v++)
        keepLarger(v_load(b->rows + from + v * VL), index + vi_load(b->rowsAt + from + v * VL), &best[v], &at[v]);
    }
#pragma GCC unroll 4
  for (int v = 0; v < columns; v++) {
    v_store(b->y + (first + column + v) * VL, best[v]);
    vi_store(b->yAt + (first + column + v) * VL, at[v]);
  }
}

/* One row of y, which begins at output `first`. */
static void maxOfRow(const TileBuffers *b, TileWindow d, TileWindow h, int64_t first)
{
  int64_t j = 0;
  if (d.start >= d.end || h.start >= h.end) return;
  for (; j + TOGETHER <= b->width; j += TOGETHER) maxRows(TOGETHER, b, d, h, j, first);
  if (j < b->width && b->width > TOGETHER) maxRows(TOGETHER, b, d, h, b->width - TOGETHER, first);
  else
    for (; j < b->width; j++) maxRows(1, b, d, h, j, first);
}

/* Transposes the rows of x that windows read. */
static void copyRows(const PoolingImages *x, const TileRows *read, int64_t channels, const real *input, real *to)
{
  if (read->step == 1) {
    THNN_(transpose)(to, VL, input, x->sc, channels, x->d * x->h * x->w);
    return;
  }
  for (int64_t k = 0; k < x->d; k++)
    for (int64_t r = 0; r < read->count; r++, to += x->w * VL)
      THNN_(transpose)(to, VL, input + k * x->sd + (read->first + r * read->step) * x->sh, x->sc, channels, x->w);
}

static void storeEmpty(const TileBuffers *b, const PoolingImages *y, real *output, int64_t *indices)
{
  for (int64_t k = 0, i = 0; k < y->d; k++)
    for (int64_t o = 0; o < y->h; o++)
      for (int64_t j = 0; j < y->w; j++, i++) {
        const TileWindow d = b->axis[0].windows[k], h = b->axis[1].windows[o], w = b->axis[2].windows[j];
        if (d.start >= d.end || h.start >= h.end || w.start >= w.end) output[i] = LOWEST, indices[i] = -1;
      }
}

bool THNN_(poolingMaxTiles)(const MaxTiles *f)
{
  MaxTiles merged = *f;
  if (imagesMergeSamples(&merged.x) && imagesMergeSamples(&merged.y) && imagesMergeSamples(&merged.index))
    f = &merged;
  const PoolingImages *x = &f->x, *y = &f->y, *index = &f->index;
  if (!planesAreDense(x) || !planesAreDense(y) || !planesAreDense(index) || x->c < VL / 2) return false;
  const TileRows read = tileRows(f);
  TileBuffers sizes;
  const size_t bytes = tileBuffers(NULL, f, &read, &sizes);
  if (bytes > TILE_BYTES) return false;
  const int64_t rows = x->d * read.count, from = rows * x->w, outputRows = y->d * y->h, to = outputRows * y->w;
  const int64_t groups = ceilDivide(x->c, VL), tiles = x->n * groups, perTask = rowsPerTask(VL * MAX(from, to));
  THNN_PARALLEL_FOR(task, ceilDivide(tiles, perTask), tiles * VL * MAX(from, to)) {
    TileBuffers b;
    tileBuffers(thnn_scratch(bytes), f, &read, &b);
    for (int a = 0; a < WINDOW_AXES; a++) findWindows(f, &read, a, &b.axis[a]);
    const bool hasEmpty = b.axis[0].hasEmpty || b.axis[1].hasEmpty || b.axis[2].hasEmpty;
    if (x->c % VL) memset(b.x, 0, sizeof(real) * (size_t)(from * VL)); /* lanes without a plane */
    const int64_t end = MIN(tiles, (task + 1) * perTask);
    for (int64_t tile = task * perTask; tile < end; tile++) {
      const int64_t n = tile / groups, c = tile % groups * VL, channels = MIN(VL, x->c - c);
      const real *input = f->input + n * x->sn + c * x->sc;
      real *output = f->output + n * y->sn + c * y->sc;
      int64_t *indices = f->indices + n * index->sn + c * index->sc;
      copyRows(x, &read, channels, input, b.x);
      maxOfRows(&b, rows, x->w);
      for (int64_t row = 0; row < outputRows; row++)
        maxOfRow(&b, b.axis[0].windows[row / y->h], b.axis[1].windows[row % y->h], row * y->w);
      THNN_(transpose)(output, y->sc, b.y, VL, to, channels);
      THNN_(transpose)((real *)b.planes, to, (const real *)b.yAt, VL, to, channels);
      for (int64_t k = 0; k < channels; k++) {
        widenIndices(indices + k * index->sc, b.planes + k * to, to);
        if (hasEmpty) storeEmpty(&b, y, output + k * y->sc, indices + k * index->sc);
      }
    }
  }
  return true;
}
