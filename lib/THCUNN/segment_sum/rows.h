#ifndef THCUNN_SEGMENT_SUM_ROWS_H
#define THCUNN_SEGMENT_SUM_ROWS_H

#include "runtime/loops.h"

namespace thcunn
{

/* V elements of a row as numbers: one, or those of a Pack, which one instruction loads. */
template <class T, int V> struct RowPart {
  typedef typename Arithmetic<T>::type Number;
  Number value[V];

  __device__ void clear()
  {
#pragma unroll
    for (int e = 0; e < V; e++) value[e] = 0;
  }
  __device__ void loadFrom(const T *p)
  {
    if constexpr (V == 1) {
      value[0] = load(p);
    } else {
      const Pack<T> pack = *(const Pack<T> *)p;
#pragma unroll
      for (int e = 0; e < V; e++) value[e] = load(&pack.element[e]);
    }
  }
  __device__ void storeTo(T *p) const
  {
    if constexpr (V == 1) {
      store(p, value[0]);
    } else {
      Pack<T> pack;
#pragma unroll
      for (int e = 0; e < V; e++) store(&pack.element[e], value[e]);
      *(Pack<T> *)p = pack;
    }
  }
  __device__ void add(Number factor, const RowPart &other)
  {
#pragma unroll
    for (int e = 0; e < V; e++) value[e] += factor * other.value[e];
  }
  __device__ void multiply(Number factor)
  {
#pragma unroll
    for (int e = 0; e < V; e++) value[e] *= factor;
  }
};

/* True if the rows of a tensor, along its last dimension, consist of aligned packs. */
template <class T> bool hasPackedRows(const THNNTensor *t)
{
  const int last = t->ndim - 1;
  bool packed =
      t->stride[last] == 1 && t->size[last] % Pack<T>::size == 0 && (uintptr_t)t->data % sizeof(Pack<T>) == 0;
  for (int d = 0; d < last; d++) packed = packed && (t->size[d] <= 1 || t->stride[d] % Pack<T>::size == 0);
  return packed;
}

static const int LEADING_DIMS = 8;

/* Offsets by the leading dimensions of a tensor, merged where its strides allow. Indices are in row-major order. */
struct Leading {
  int ndim;
  int64_t count;
  Divisor size[LEADING_DIMS]; /* innermost first */
  int64_t stride[LEADING_DIMS];

  __device__ int64_t offset(int64_t index) const
  {
    int64_t offset = 0;
    for (int d = 0; d < ndim - 1; d++) {
      const int64_t q = size[d].quotient(index);
      offset += (index - q * size[d].divisor) * stride[d];
      index = q;
    }
    return offset + index * stride[ndim - 1];
  }
};

static inline Leading leadingMake(THNNState *state, const THNNTensor *tensor, int dimensions)
{
  Leading l;
  l.ndim = 0;
  l.count = 1;
  for (int d = dimensions - 1; d >= 0; d--) {
    const int64_t size = tensor->size[d], stride = tensor->stride[d];
    l.count *= size;
    if (size == 1) continue;
    const int outer = l.ndim - 1;
    if (l.ndim > 0 && stride == l.size[outer].divisor * l.stride[outer]) {
      l.size[outer] = Divisor(l.size[outer].divisor * size);
    } else if (l.ndim < LEADING_DIMS) {
      l.size[l.ndim] = Divisor(size);
      l.stride[l.ndim++] = stride;
    } else {
      THNN_fail(state, THNN_NOT_IMPLEMENTED, NULL, "a tensor has more than %d dimensions that cannot be merged",
                LEADING_DIMS);
    }
  }
  if (l.ndim == 0) {
    l.size[0] = Divisor(1);
    l.stride[l.ndim++] = 0;
  }
  return l;
}

/* The offsets of a Leading for kernels that need many: in scratch memory unless one stride gives them. */
struct Offsets {
  const int64_t *table;
  int64_t stride;

  __device__ int64_t at(int64_t index) const { return table ? table[index] : index * stride; }
};

static inline Offsets offsetsMake(THNNState *state, const THNNTensor *tensor, int dimensions)
{
  const Leading l = leadingMake(state, tensor, dimensions);
  Offsets offsets = {NULL, l.stride[0]};
  if (l.ndim == 1 || l.count == 0 || state->status != THNN_OK) return offsets;
  int64_t *const table = (int64_t *)scratch(state, l.count * (int64_t)sizeof(int64_t));
  forEach(state, l.count, [=] __device__(int64_t i) { table[i] = l.offset(i); });
  offsets.table = table;
  return offsets;
}

} // namespace thcunn

#endif
