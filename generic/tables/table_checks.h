#ifndef THNN_TABLES_TABLE_CHECKS_H
#define THNN_TABLES_TABLE_CHECKS_H

#include "runtime/integer.h"
#include "runtime/kernel.h"

/* Helpers of the table functions: leading dimensions of any strides, checks of row numbers, and sets of rows. */

/* The leading dimensions of a tensor, merged where their strides allow; an index counts in row-major order. */
typedef struct Leading {
  int ndim;
  int64_t count;
  int64_t size[THNN_MAX_DIM], stride[THNN_MAX_DIM]; /* innermost first */
} Leading;

static inline Leading leadingMake(const THNNTensor *tensor, int dimensions)
{
  Leading l = {.count = 1};
  for (int d = dimensions - 1; d >= 0; d--) {
    const int64_t size = tensor->size[d], stride = tensor->stride[d];
    l.count *= size;
    if (size == 1) continue;
    if (l.ndim > 0 && stride == l.size[l.ndim - 1] * l.stride[l.ndim - 1]) l.size[l.ndim - 1] *= size;
    else l.size[l.ndim] = size, l.stride[l.ndim++] = stride;
  }
  return l;
}

static inline int64_t leadingOffset(const Leading *l, int64_t index)
{
  if (l->ndim == 1) return index * l->stride[0];
  int64_t offset = 0;
  for (int d = 0; d < l->ndim; d++) {
    offset += index % l->size[d] * l->stride[d];
    index /= l->size[d];
  }
  return offset;
}

/* Fails with IndexError at the first element that is not in [first, end). */
void THNN_(checkIndices)(THNNState *state, const char *name, const THIndexTensor *indices, int64_t first,
                         int64_t end);

/* Sets of at most MARKED_ROWS rows, as bits in scratch memory. */
#define MARKED_ROWS ((int64_t)1 << 23)
#define MARK_BITS 64

static inline uint64_t *marksMake(int64_t rows)
{
  const size_t bytes = sizeof(uint64_t) * (size_t)ceilDivide(rows, MARK_BITS);
  return memset(thnn_scratch(bytes), 0, bytes);
}

static inline void marksAdd(uint64_t *marks, int64_t row)
{
  marks[row / MARK_BITS] |= (uint64_t)1 << row % MARK_BITS;
}

/* for (int64_t row : the rows in a word of marks) */
#define FOR_MARKED_ROWS(row, marks, word)                                         \
  for (uint64_t thnn_bits = (marks)[word]; thnn_bits; thnn_bits &= thnn_bits - 1) \
    for (int64_t row = (word) * MARK_BITS + __builtin_ctzll(thnn_bits), thnn_once = 1; thnn_once; thnn_once = 0)

#endif
