#ifndef THNN_RECURRENT_CELL_ROWS_H
#define THNN_RECURRENT_CELL_ROWS_H

#include "runtime/integer.h"
#include "runtime/kernel.h"
#include "simd/vector_math.h"

/* Matrices of a recurrent cell: a row per sample, of one or more blocks of H columns, one per gate for example. Cells
   are computed in tiles of at most CELL_TILE columns of a row. A tile is used in place if it is contiguous and of whole
   groups, otherwise through a buffer, so that an element's bits do not depend on its position. */

#define CELL_TILE 256
#define CELL_GROUP 16

typedef struct CellMatrix {
  real *data; /* NULL: zeros that are only read */
  int64_t rowStride, columnStride;
} CellMatrix;

/* A tensor (N, columns) or (columns), or a bias (columns) or (1, columns), which is the same in every row; NULL if
   absent. */
static inline CellMatrix cellMatrix(const THTensor *t)
{
  if (t == NULL) return (CellMatrix){0};
  return (CellMatrix){TH_DATA(t), t->ndim == 2 && t->size[0] > 1 ? t->stride[0] : 0, t->stride[t->ndim - 1]};
}

static inline real *cellAddress(const CellMatrix *m, int64_t row, int64_t column)
{
  return m->data + row * m->rowStride + column * m->columnStride;
}

static inline int cellPadded(int count) { return (count + CELL_GROUP - 1) & -CELL_GROUP; }

static inline bool cellInPlace(const CellMatrix *m, int count)
{
  return m->columnStride == 1 && count % CELL_GROUP == 0;
}

/* Columns [first, first + count) of a row, in place or copied to the buffer of CELL_TILE elements. */
static inline const real *cellLoad(const CellMatrix *m, int64_t row, int64_t first, int count, real *buffer)
{
  static const real zeros[CELL_TILE];
  if (m->data == NULL) return zeros;
  const real *from = cellAddress(m, row, first);
  if (cellInPlace(m, count)) return from;
  for (int i = 0; i < count; i++) buffer[i] = from[i * m->columnStride];
  for (int i = count; i < cellPadded(count); i++) buffer[i] = 0;
  return buffer;
}

/* The destination of a tile: the matrix itself, or the buffer, which cellStore copies into it. */
static inline real *cellTarget(const CellMatrix *m, int64_t row, int64_t first, int count, real *buffer)
{
  return cellInPlace(m, count) ? m->data + row * m->rowStride + first : buffer;
}
static inline void cellStore(const CellMatrix *m, int64_t row, int64_t first, int count, const real *buffer)
{
  if (cellInPlace(m, count)) return;
  real *to = cellAddress(m, row, first);
  for (int i = 0; i < count; i++) to[i * m->columnStride] = buffer[i];
}

/* True for (N, blocks * H) if state is (N, H), for (blocks * H) if state is (H). */
static inline bool cellFits(const THTensor *t, const THTensor *state, int blocks)
{
  if (t->ndim != state->ndim) return false;
  if (t->ndim == 2 && t->size[0] != state->size[0]) return false;
  return t->size[t->ndim - 1] == blocks * state->size[state->ndim - 1];
}

static inline bool cellBiasFits(const THTensor *bias, const THTensor *state, int blocks)
{
  if (bias == NULL) return true;
  const int64_t columns = blocks * state->size[state->ndim - 1];
  return (bias->ndim == 1 || (bias->ndim == 2 && bias->size[0] == 1)) && bias->size[bias->ndim - 1] == columns;
}

#define CELL_CHECK_STATE(state_)                                                                                  \
  THNN_CHECK((state_)->ndim == 1 || (state_)->ndim == 2, state_, "expected 2 dimensions (N, H) or 1 (H), got %s", \
             THNN_shape(state_))

#define CELL_CHECK(tensor, state_, blocks)                                                                  \
  THNN_CHECK(cellFits(tensor, state_, blocks), tensor,                                                      \
             "expected the size of %s, %s, with %d times its columns, got %s", #state_, THNN_shape(state_), \
             blocks, THNN_shape(tensor))

#define CELL_CHECK_BIAS(bias, state_, blocks)                                    \
  THNN_CHECK(cellBiasFits(bias, state_, blocks), bias,                           \
             "expected (%lld) or (1, %lld), %d times the columns of %s, got %s", \
             (long long)((blocks) * (state_)->size[(state_)->ndim - 1]),         \
             (long long)((blocks) * (state_)->size[(state_)->ndim - 1]), blocks, #state_, THNN_shape(bias))

/* A loop over the tiles: columns [first, first + count) of row `row`. */
#define CELL_FOR_TILES(row, first, count, rows, columns, work)                                              \
  const int64_t thnn_perRow = ceilDivide(columns, CELL_TILE);                                               \
  THNN_PARALLEL_FOR(thnn_tile, (rows) * thnn_perRow, work)                                                  \
    for (int64_t row = thnn_tile / thnn_perRow, first = thnn_tile % thnn_perRow * CELL_TILE, thnn_once = 1, \
                 count = MIN(CELL_TILE, (columns) - first);                                                 \
         thnn_once; thnn_once = 0)

/* y = (x + b) + (h + c); y may be h. */
static inline void cellSum(real *y, const real *x, const real *h, const real *b, const real *c, int n)
{
#pragma omp simd
  for (int i = 0; i < n; i++) y[i] = (x[i] + b[i]) + (h[i] + c[i]);
}

#endif
