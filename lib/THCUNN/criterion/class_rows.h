#ifndef THCUNN_CRITERION_CLASS_ROWS_H
#define THCUNN_CRITERION_CLASS_ROWS_H

#include "runtime/loops.h"

namespace thcunn
{

/* Scores, their gradients or class numbers: (N, C), or (C) of one sample. */
template <class T> struct ClassRows {
  T *data;
  int64_t rows, classes, rowStride, classStride;

  __device__ T *at(int64_t row, int64_t c) const { return data + row * rowStride + c * classStride; }
  bool hasAdjacentClasses() const { return rows == 1 || classStride <= rowStride; }
};

template <class T> ClassRows<T> classRows(const THNNTensor *t)
{
  const bool batched = t->ndim == 2;
  ClassRows<T> r = {(T *)t->data, batched ? t->size[0] : 1, t->size[batched], batched ? t->stride[0] : 0,
                    t->stride[batched]};
  return r;
}

/* Temporary memory for one number per row; storeSum stores their sum times `scale` in the first element of `output`. */
template <class Number> Number *rowSums(THNNState *state, int64_t rows)
{
  return (Number *)scratch(state, (rows > 0 ? rows : 1) * (int64_t)sizeof(Number));
}
template <class Number, class T>
void storeSum(THNNState *state, const Number *sums, int64_t rows, double scale, T *output)
{
  const Number factor = (Number)scale;
  sumRow<Number>(
      state, rows, [=] __device__(int64_t, int64_t row) -> Number { return sums[row]; },
      [=] __device__(int64_t, Number sum) { store(output, sum * factor); });
}

} // namespace thcunn

#endif
