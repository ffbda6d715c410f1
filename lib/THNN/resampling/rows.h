#ifndef THNN_RESAMPLING_ROWS_H
#define THNN_RESAMPLING_ROWS_H

/* Tensors as rows of pixels, and weighted sums of rows. */

#include "resampling/resampling.h"
#include "runtime/integer.h"
#include "runtime/streaming.h"

/* Taps that are summed at a time. */
#define ROW_TAPS 128

/* A tensor as planes of rows of pixels. A pixel is a run of `lanes` contiguous elements: all channels if both tensors
   are channels-last, otherwise one element. */
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

/* Rows of a parallel task. */
static inline int64_t rowsPerTask(int64_t elements) { return elements < 32768 ? 32768 / elements : 1; }

/* --- sums of rows --------------------------------------------------------------------------------------------- */

typedef struct RowTap {
  const real *row;
  real weight;
} RowTap;

/* The result is stored, added to the present value, or stored with non-temporal stores. Non-temporal stores are for
   whole aligned vectors. */
typedef enum StoreKind { STORE_PLAIN, STORE_ADD, STORE_STREAM } StoreKind;

static ALWAYS_INLINE void storeSum(real *to, vreal sum, StoreKind kind)
{
  if (kind == STORE_STREAM) v_stream(to, sum);
  else v_store(to, kind == STORE_ADD ? v_load(to) + sum : sum);
}

/* `vectors`, at most 4, is constant. */
static ALWAYS_INLINE void sumVectors(int vectors, int n, const RowTap *tap, int ahead, int64_t j, real *to,
                                     StoreKind kind)
{
  vreal sum[4];
  if (ahead > 0) thnn_prefetchAhead(tap[n - 1].row + j, vectors * VBYTES);
  if (ahead > 1 && n > 1) thnn_prefetchAhead(tap[n - 2].row + j, vectors * VBYTES);
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) sum[v] = v_load(tap[0].row + j + v * VL) * tap[0].weight;
  for (int k = 1; k < n; k++) {
    const real *row = tap[k].row + j;
    const vreal weight = v_set1(tap[k].weight);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) sum[v] += v_load(row + v * VL) * weight;
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) storeSum(to + j + v * VL, sum[v], kind);
}

static ALWAYS_INLINE void sumContiguous(int n, const RowTap *tap, int64_t count, int ahead, real *to,
                                        StoreKind kind)
{
  int64_t j = 0;
  for (; j + 4 * VL <= count; j += 4 * VL) sumVectors(4, n, tap, ahead, j, to, kind);
  if (j + 2 * VL <= count) {
    sumVectors(2, n, tap, ahead, j, to, kind);
    j += 2 * VL;
  }
  if (j + VL <= count) {
    sumVectors(1, n, tap, ahead, j, to, kind);
    j += VL;
  }
  if (j == count) return;
  if (j > 0 && kind == STORE_PLAIN) { /* overlaps the last vector, because a load after a masked store of the same
                                         elements waits for the cache */
    sumVectors(1, n, tap, ahead, count - VL, to, kind);
    return;
  }
  const int rest = (int)(count - j);
  vreal sum = v_load_n(tap[0].row + j, rest) * tap[0].weight;
  for (int k = 1; k < n; k++) sum += v_load_n(tap[k].row + j, rest) * tap[k].weight;
  v_store_n(to + j, kind == STORE_ADD ? v_load_n(to + j, rest) + sum : sum, rest);
}

/* to[j] = the weighted sum of element j of n >= 1 rows. The last `ahead` rows, 0 to 2, are prefetched: the other rows
   were among the last rows of an earlier sum. */
static inline void sumRows(int n, const RowTap *tap, int64_t count, int ahead, real *to, StoreKind kind)
{
  if (kind == STORE_STREAM) sumContiguous(n, tap, count, ahead, to, STORE_STREAM);
  else if (kind == STORE_ADD) sumContiguous(n, tap, count, ahead, to, STORE_ADD);
  else if (n == 1) sumContiguous(1, tap, count, ahead, to, STORE_PLAIN);
  else if (n == 2) sumContiguous(2, tap, count, ahead, to, STORE_PLAIN);
  else if (n == 4) sumContiguous(4, tap, count, ahead, to, STORE_PLAIN);
  else sumContiguous(n, tap, count, ahead, to, STORE_PLAIN);
}

#endif
