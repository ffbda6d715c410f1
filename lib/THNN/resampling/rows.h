#ifndef THNN_RESAMPLING_ROWS_H
#define THNN_RESAMPLING_ROWS_H

/* Tensors as rows of pixels, tables of the sources of an axis, and weighted sums of rows, for forward and backward. */

#include "resampling/resampling.h"
#include "runtime/integer.h"
#include "runtime/streaming.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Taps that are summed at a time. */
#define ROW_TAPS 128

/* A tensor as planes of rows of pixels. A pixel is a run of `lanes` contiguous elements: all channels if both tensors are
   channels-last, otherwise one element. */
typedef struct ResampleImages {
  int64_t lanes;
  int64_t n, c, d, h, w;      /* c is 1 if the lanes are the channels */
  int64_t sn, sc, sd, sh, sw; /* strides; 0 for dimensions of one element */
} ResampleImages;

/* Dimensions are (N, C) and `axes` axes, N optional. */
static inline ResampleImages resampleImages(int axes, const THNNTensor *t)
{
  int64_t size[5] = {1, 1, 1, 1, 1}, stride[5] = {0};
  for (int d = 0; d < t->ndim; d++) {
    const int a = d < t->ndim - axes ? 2 - (t->ndim - axes) + d : 5 - t->ndim + d;
    size[a] = t->size[d];
    stride[a] = t->size[d] > 1 ? t->stride[d] : 0;
  }
  return (ResampleImages){1,         size[0],   size[1],   size[2],   size[3],  size[4],
                          stride[0], stride[1], stride[2], stride[3], stride[4]};
}

/* Makes the channels lanes if they are innermost in both tensors. */
static inline void joinLanes(ResampleImages *a, ResampleImages *b)
{
  if (a->c == 1 || a->sc != 1 || b->sc != 1) return;
  a->lanes = b->lanes = a->c;
  a->c = b->c = 1;
}

static inline int64_t rowCount(const ResampleImages *t) { return t->n * t->c * t->d * t->h; }

/* The place of a row; rows are numbered in the order of the dimensions. */
typedef struct RowPlace {
  int64_t n, c, d, h;
} RowPlace;

static inline RowPlace rowPlace(const ResampleImages *t, int64_t row)
{
  return (RowPlace){row / t->h / t->d / t->c, row / t->h / t->d % t->c, row / t->h % t->d, row % t->h};
}

static inline void nextRow(const ResampleImages *t, RowPlace *p)
{
  if (++p->h < t->h) return;
  p->h = 0;
  if (++p->d < t->d) return;
  p->d = 0;
  if (++p->c < t->c) return;
  p->c = 0;
  p->n++;
}

static inline int64_t planeOffset(const ResampleImages *t, const RowPlace *p)
{
  return p->n * t->sn + p->c * t->sc;
}
static inline int64_t rowOffset(const ResampleImages *t, const RowPlace *p)
{
  return planeOffset(t, p) + p->d * t->sd + p->h * t->sh;
}

/* The outputs of a padding that are no copies of the input of the same order: from <= o < end has input base + slope * o. */
typedef struct Border {
  int64_t from, end, base, slope;
} Border;

/* Outputs between the two borders are the inputs from borders[0].end - before on. */
static inline void findBorders(const ResampleAxis *axis, Border borders[2])
{
  const bool reflects = axis->kind == RESAMPLE_REFLECT;
  const int64_t last = axis->input - 1, before = axis->before;
  const int64_t first = MIN(MAX(before, 0), axis->output);
  const int64_t end = MAX(MIN(before + axis->input, axis->output), first);
  borders[0] = (Border){0, first, reflects ? before : 0, reflects ? -1 : 0};
  borders[1] = (Border){end, axis->output, reflects ? 2 * last + before : last, reflects ? -1 : 0};
}

/* Rows of a parallel task. */
static inline int64_t rowsPerTask(int64_t elements) { return elements < 32768 ? 32768 / elements : 1; }

/* --- tables of sources ---------------------------------------------------------------------------------------- */

/* The sources of outputs first to first + count - 1; empty for a padding, whose sources are cheap to compute. `high` is
   the weight of the second input, 0 if there is none. */
#define TABLE_POSITIONS 1024
typedef struct SourceTable {
  int64_t first, count;
  vlane index[TABLE_POSITIONS];
  real low[TABLE_POSITIONS], high[TABLE_POSITIONS];
} SourceTable;

static inline void sourceTableFill(SourceTable *table, const ResampleAxis *axis, int64_t first)
{
  table->first = first;
  table->count = axisIsPadding(axis) ? 0 : MIN(axis->output - first, TABLE_POSITIONS);
  for (int64_t i = 0; i < table->count; i++) {
    const ResampleSource source = resampleSource(axis, first + i);
    table->index[i] = (vlane)source.index;
    table->low[i] = (real)(1 - source.fraction);
    table->high[i] = (real)source.fraction;
  }
}

typedef struct Source {
  int64_t index;
  real low, high;
} Source;

static inline Source sourceAt(const SourceTable *table, const ResampleAxis *axis, int64_t o)
{
  const uint64_t i = (uint64_t)(o - table->first);
  if (i < (uint64_t)table->count) return (Source){table->index[i], table->low[i], table->high[i]};
  const ResampleSource source = resampleSource(axis, o);
  return (Source){source.index, (real)(1 - source.fraction), (real)source.fraction};
}

/* --- sums of rows --------------------------------------------------------------------------------------------- */

typedef struct RowTap {
  const real *row;
  real weight;
} RowTap;

static ALWAYS_INLINE vreal sumOfTaps(int n, const RowTap *tap, int64_t j)
{
  /* Only the last row: the other rows were the last row of an earlier sum, which prefetched them. */
  thnn_prefetchAhead(tap[n - 1].row + j, VBYTES);
  vreal sum = v_load(tap[0].row + j) * tap[0].weight;
  for (int k = 1; k < n; k++) sum += v_load(tap[k].row + j) * tap[k].weight;
  return sum;
}

static ALWAYS_INLINE void sumContiguous(int n, const RowTap *tap, int64_t count, real *to, bool add)
{
  int64_t j = 0;
  for (; j + VL <= count; j += VL)
    v_store(to + j, add ? v_load(to + j) + sumOfTaps(n, tap, j) : sumOfTaps(n, tap, j));
  if (j == count) return;
  if (j > 0 &&
      !add) { /* overlaps the last vector, since a load of elements of a masked store waits for the cache */
    v_store(to + count - VL, sumOfTaps(n, tap, count - VL));
    return;
  }
  const int rest = (int)(count - j);
  vreal sum = add ? v_load_n(to + j, rest) : (vreal){0};
  for (int k = 0; k < n; k++) {
    const vreal product = v_load_n(tap[k].row + j, rest) * tap[k].weight;
    sum = k == 0 && !add ? product : sum + product;
  }
  v_store_n(to + j, sum, rest);
}

/* to[j] = the weighted sum of element j of n >= 1 rows, added to the present value if `add`. */
static inline void sumRows(int n, const RowTap *tap, int64_t count, int64_t stride, real *to, int64_t toStride,
                           bool add)
{
  if (count <= 0) return;
  if ((stride == 1 && toStride == 1) || count == 1) {
    if (n == 1 && count == 1 && !add) *to = *tap->row * tap->weight;
    else if (n == 1) sumContiguous(1, tap, count, to, add);
    else if (n == 2) sumContiguous(2, tap, count, to, add);
    else if (n == 4) sumContiguous(4, tap, count, to, add);
    else sumContiguous(n, tap, count, to, add);
    return;
  }
  for (int64_t j = 0; j < count; j++) {
    real sum = tap[0].row[j * stride] * tap[0].weight;
    for (int k = 1; k < n; k++) sum += tap[k].row[j * stride] * tap[k].weight;
    to[j * toStride] = add ? to[j * toStride] + sum : sum;
  }
}

/* The same for pixels of several lanes. */
static inline void sumPixels(int n, const RowTap *tap, int64_t count, int64_t lanes, int64_t stride, real *to,
                             int64_t toStride, bool add)
{
  if (lanes == 1) {
    sumRows(n, tap, count, stride, to, toStride, add);
  } else if (stride == lanes && toStride == lanes) {
    sumRows(n, tap, count * lanes, 1, to, 1, add);
  } else {
    RowTap pixel[ROW_TAPS];
    for (int64_t j = 0; j < count; j++) {
      for (int k = 0; k < n; k++) pixel[k] = (RowTap){tap[k].row + j * stride, tap[k].weight};
      sumRows(n, pixel, lanes, 1, to + j * toStride, 1, add);
    }
  }
}

#endif
