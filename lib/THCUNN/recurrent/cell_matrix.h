#ifndef THCUNN_RECURRENT_CELL_MATRIX_H
#define THCUNN_RECURRENT_CELL_MATRIX_H

#include "runtime/loops.h"

namespace thcunn
{

/* A matrix of a recurrent cell: a row per sample, which consists of blocks of H columns, one per gate for example. */
template <class T> struct CellMatrix {
  T *data; /* NULL: zeros that are only read */
  int64_t rowStride, columnStride, blockStride;

  typedef typename Arithmetic<T>::type Number;

  __device__ T *at(int64_t row, int64_t column, int block) const
  {
    return data + row * rowStride + column * columnStride + block * blockStride;
  }
  __device__ Number read(int64_t row, int64_t column, int block = 0) const
  {
    return data == nullptr ? 0 : load(at(row, column, block));
  }
  __device__ void write(int64_t row, int64_t column, Number value, int block = 0) const
  {
    store(at(row, column, block), value);
  }
};

/* A tensor (N, B * H) or (B * H), or a bias (B * H) or (1, B * H), which is the same in every row, of B blocks of
   H = `columns` columns; NULL for an absent one. */
template <class T> CellMatrix<T> cellMatrix(const THNNTensor *t, int64_t columns)
{
  CellMatrix<T> m = {NULL, 0, 0, 0};
  if (t == NULL) return m;
  m.data = (T *)t->data;
  m.rowStride = t->ndim == 2 && t->size[0] > 1 ? t->stride[0] : 0;
  m.columnStride = t->stride[t->ndim - 1];
  m.blockStride = columns * m.columnStride;
  return m;
}

/* The loop over the elements of a state (N, H) or (H) in the order of its memory. */
struct CellLoop {
  int64_t rows, columns;
  bool rowsAdjacent;
  Divisor inner;

  CellLoop(const THNNTensor *state)
      : rows(state->ndim == 2 ? state->size[0] : 1), columns(state->size[state->ndim - 1]),
        rowsAdjacent(state->ndim == 2 && state->stride[0] < state->stride[1]), inner(rowsAdjacent ? rows : columns)
  {
  }
  int64_t count() const { return rows * columns; }
  __device__ void indices(int64_t i, int64_t *row, int64_t *column) const
  {
    const int64_t outer = inner.quotient(i), rest = i - outer * inner.divisor;
    *row = rowsAdjacent ? rest : outer;
    *column = rowsAdjacent ? outer : rest;
  }
};

} // namespace thcunn

#endif
