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
};

template <class T> ClassRows<T> classRows(const THNNTensor *t)
{
  const bool batched = t->ndim == 2;
  ClassRows<T> r = {(T *)t->data, batched ? t->size[0] : 1, t->size[batched], batched ? t->stride[0] : 0,
                    t->stride[batched]};
  return r;
}

/* Stores the sum over all rows and classes of term(row, class), times `scale`, in the first element of `output`. */
template <class Number, class T, class Term>
void sumOverClasses(THNNState *state, const THNNTensor *output, const ClassRows<T> &scores, double scale,
                    Term term)
{
  const bool rowsAdjacent = scores.rowStride < scores.classStride && scores.rows > 1;
  const Divisor inner(rowsAdjacent ? scores.rows : scores.classes);
  const Number factor = (Number)scale;
  T *const result = (T *)output->data;
  sumRows<Number>(
      state, 1, scores.rows * scores.classes, true,
      [=] __device__(int64_t, int64_t i) -> Number {
        const int64_t outer = inner.quotient(i), rest = i - outer * inner.divisor;
        return rowsAdjacent ? term(rest, outer) : term(outer, rest);
      },
      [=] __device__(int64_t, Number sum) { store(result, sum * factor); });
}

} // namespace thcunn

#endif
