#ifndef THCUNN_SEGMENT_SUM_SEGMENT_SUM_H
#define THCUNN_SEGMENT_SUM_SEGMENT_SUM_H

#include "segment_sum/rows.h"
#include "segment_sum/sort.h"

namespace thcunn
{

/* Sums over entries with equal keys, without atomics:

     target[E.target(key) + c * columnStride] += sum of E.factor(i) * source[E.source(i) + c * sourceStride]

   over the entries i of each key, in their order. A class of entries E has, beside key (sort.h), __device__ functions

     int64_t source(int64_t i) const;    offset of the row that is added
     Number factor(int64_t i) const;     multiplies the row
     int64_t target(int64_t key) const;  offset of the row that is added to

   The sorted items are divided into parts of equal length. A thread adds the items of a key in a part, and a second
   kernel adds these partial sums where a segment extends over several parts. So the order of additions depends only on
   the keys. */
template <class T, class E> struct SegmentSum {
  E entries;
  int64_t count, keys, columns;
  bool byFrequency; /* divide each sum by the number of entries of its key */
  const T *source;
  T *target;
  int64_t sourceStride, columnStride;
};

/* Entries whose rows a thread loads at a time. */
static const int ROWS_AT_A_TIME = 4;

template <class T, class E, int V> struct SegmentSummation {
  typedef typename Arithmetic<T>::type Number;
  typedef RowPart<T, V> Row;
  SegmentSum<T, E> s;
  SortedItems items;
  int partBits;
  Number *partials; /* two rows per part: the sums of its first and of its last segment */
  Divisor groups;   /* groups of V columns */

  /* Adds the items from `first` that have its key and are below `limit`; returns the number of items. */
  __device__ int64_t sumPart(int64_t first, int64_t limit, int64_t column, Row *sum) const
  {
    const int64_t key = items.key(first);
    sum->clear();
    for (int64_t i = first;; i += ROWS_AT_A_TIME) {
      Row row[ROWS_AT_A_TIME];
      Number factor[ROWS_AT_A_TIME];
      int present = 0;
#pragma unroll
      for (int k = 0; k < ROWS_AT_A_TIME; k++) {
        factor[k] = 0;
        row[k].clear();
        if (i + k < limit && items.key(i + k) == key) {
          const int64_t entry = items.position(i + k);
          factor[k] = s.entries.factor(entry);
          row[k].loadFrom(s.source + s.entries.source(entry) + column * s.sourceStride);
          present++;
        }
      }
#pragma unroll
      for (int k = 0; k < ROWS_AT_A_TIME; k++) sum->add(factor[k], row[k]);
      if (present < ROWS_AT_A_TIME) return i + present - first;
    }
  }

  __device__ void addToTarget(int64_t key, int64_t column, Row sum) const
  {
    T *const p = s.target + s.entries.target(key) + column * s.columnStride;
    if (s.byFrequency) sum.multiply(1 / (Number)(items.firstOf(key + 1) - items.firstOf(key)));
    Row result;
    result.loadFrom(p);
    result.add(1, sum);
    result.storeTo(p);
  }

  __device__ Number *partial(int64_t part, bool last, int64_t column) const
  {
    return partials + (2 * part + last) * s.columns + column;
  }

  /* Group `group` of columns, from item i to the end of its segment or part. */
  __device__ void sumFrom(int64_t i, int64_t group) const
  {
    const int64_t part = i >> partBits, partBegin = part << partBits, partEnd = (part + 1) << partBits;
    const int64_t limit = partEnd < items.count ? partEnd : items.count, key = items.key(i);
    const bool begins = items.begins(i);
    if (key == items.keys || (!begins && i != partBegin)) return;
    Row sum;
    const int64_t column = group * V, end = i + sumPart(i, limit, column, &sum);
    if (begins && (end < limit || limit == items.count || items.key(limit) != key)) {
      addToTarget(key, column, sum);
      return;
    }
    Number *const p = partial(part, i != partBegin, column);
#pragma unroll
    for (int e = 0; e < V; e++) p[e] = sum.value[e];
  }

  /* Adds the partial sums of the segment that begins in this part, if the segment extends beyond the part. */
  __device__ void join(int64_t part, int64_t group) const
  {
    const int64_t begin = part << partBits, end = (part + 1) << partBits;
    if (end >= items.count) return;
    const int64_t key = items.key(end);
    const bool last = items.key(begin) != key;
    if (key == items.keys || items.key(end - 1) != key || (!last && !items.begins(begin))) return;
    const int64_t column = group * V, lastPart = (items.firstOf(key + 1) - 1) >> partBits;
    Row sum;
    const Number *p = partial(part, last, column);
#pragma unroll
    for (int e = 0; e < V; e++) sum.value[e] = p[e];
#pragma unroll 4
    for (int64_t k = part + 1; k <= lastPart; k++) {
      p = partial(k, false, column);
#pragma unroll
      for (int e = 0; e < V; e++) sum.value[e] += p[e];
    }
    addToTarget(key, column, sum);
  }
};

/* With V columns per thread: 1, or Pack<T>::size if the rows of source and target consist of aligned packs. */
template <int V, class T, class E> void segmentSum(THNNState *state, const SegmentSum<T, E> &sum)
{
  if (sum.count == 0 || sum.columns == 0) return;
  typedef typename Arithmetic<T>::type Number;
  SegmentSummation<T, E, V> s = {sum, sortByKey(state, sum.entries, sum.count, sum.keys), 6, NULL,
                                 sum.columns / V};
  if (state->status != THNN_OK) return;
  /* A part has about as many items as there are parts, but from 64 to 4096, so that chains of additions are short, even
     if all items have one key. */
  while (s.partBits < 12 && sum.count >> 2 * s.partBits > 0) s.partBits++;
  const int64_t parts = (sum.count + ((int64_t)1 << s.partBits) - 1) >> s.partBits, groups = sum.columns / V;
  if (parts > 1) {
    s.partials = (Number *)scratch(state, 2 * parts * sum.columns * (int64_t)sizeof(Number));
    if (s.partials == NULL) return;
  }
  forEach(state, sum.count * groups, [=] __device__(int64_t i) {
    const int64_t item = s.groups.quotient(i);
    s.sumFrom(item, i - item * s.groups.divisor);
  });
  if (parts == 1) return;
  forEach(state, parts * groups, [=] __device__(int64_t i) {
    const int64_t part = s.groups.quotient(i);
    s.join(part, i - part * s.groups.divisor);
  });
}

} // namespace thcunn

#endif
