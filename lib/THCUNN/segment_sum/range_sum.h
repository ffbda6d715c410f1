#ifndef THCUNN_SEGMENT_SUM_RANGE_SUM_H
#define THCUNN_SEGMENT_SUM_RANGE_SUM_H

#include "runtime/warp.h"
#include "segment_sum/rows.h"

namespace thcunn
{

static const int TERMS_PER_SUM = 128;

/* True if a warp should take a range rather than a thread: there are so few threads that they do not occupy a GPU, and
   ranges are long, on average. */
static inline bool warpsTakeRanges(int64_t threads, int64_t ranges, int64_t entries)
{
  return threads < 16384 && entries / 128 >= ranges;
}

/* Sums over entries that follow each other:

     target[r * rowStride + c * columnStride] = bias[c] + R.scale(r) * sum of R.factor(i) * source[R.source(i) + c *
     sourceStride]

   over the entries i of range r. A class of ranges R has __device__ functions

     int64_t begin(int64_t r) const;      the first entry of range r, which ends before begin(r + 1)
     int64_t source(int64_t i) const;     offset of the row that is added, -1 if there is none
     Number factor(int64_t i) const;      multiplies the row
     Number scale(int64_t r) const;       multiplies the sum */
template <class T, class R> struct RangeSum {
  R ranges;
  int64_t entries, rows, columns;
  const T *source, *bias; /* bias may be NULL */
  T *target;
  int64_t sourceStride, biasStride, rowStride, columnStride;

  /* `lanes` threads add the entries of a range: this one adds every `lanes`-th entry, from entry `lane` on. Partial
     sums keep the rounding errors of long ranges small. */
  template <int V> __device__ void add(int64_t row, int64_t column, int lane, int lanes, RowPart<T, V> *sum) const
  {
    sum->clear();
    const int64_t end = ranges.begin(row + 1);
    for (int64_t i = ranges.begin(row) + lane; i < end;) {
      const int64_t partEnd = i + TERMS_PER_SUM * lanes < end ? i + TERMS_PER_SUM * lanes : end;
      RowPart<T, V> partial;
      partial.clear();
#pragma unroll 4
      for (; i < partEnd; i += lanes) {
        const int64_t from = ranges.source(i);
        RowPart<T, V> part;
        part.clear();
        if (from >= 0) part.loadFrom(source + from + column * sourceStride);
        partial.add(from >= 0 ? ranges.factor(i) : 0, part);
      }
      sum->add(1, partial);
    }
  }
  template <int V> __device__ void finish(int64_t row, int64_t column, RowPart<T, V> sum) const
  {
    sum.multiply(ranges.scale(row));
    if (bias) sum.value[0] += load(bias + column * biasStride);
    sum.storeTo(target + row * rowStride + column * columnStride);
  }
};

template <int V, class T, class R> void rangeSumByThreads(THNNState *state, const RangeSum<T, R> &sum)
{
  const Divisor groups(sum.columns / V);
  forEach(state, sum.rows * groups.divisor, [=] __device__(int64_t i) {
    const int64_t row = groups.quotient(i), column = (i - row * groups.divisor) * V;
    RowPart<T, V> total;
    sum.add(row, column, 0, 1, &total);
    sum.finish(row, column, total);
  });
}

template <int V, class T, class R> void rangeSumByWarps(THNNState *state, const RangeSum<T, R> &sum)
{
  const Divisor groups(sum.columns / V);
  forEach(state, sum.rows * groups.divisor * WARP, [=] __device__(int64_t i) {
    const int64_t warp = i / WARP, row = groups.quotient(warp), column = (warp - row * groups.divisor) * V;
    const int lane = (int)(i % WARP);
    RowPart<T, V> total;
    sum.add(row, column, lane, WARP, &total);
#pragma unroll
    for (int e = 0; e < V; e++) total.value[e] = sumOverWarp(total.value[e]);
    if (lane == 0) sum.finish(row, column, total);
  });
}

/* A thread or a warp per range and V columns. V is Pack<T>::size if there is no bias and the rows of source and target
   consist of aligned packs, otherwise 1. */
template <int V, class T, class R> void rangeSum(THNNState *state, const RangeSum<T, R> &sum)
{
  if (sum.columns == 0) return;
  const bool byWarps = warpsTakeRanges(sum.rows * (sum.columns / V), sum.rows, sum.entries);
  if (byWarps || (V == 1 && sum.columns < WARP / 2)) rangeSumByWarps<V>(state, sum);
  else rangeSumByThreads<V>(state, sum);
}

} // namespace thcunn

#endif
