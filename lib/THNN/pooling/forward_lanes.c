/* Maximum and average in lanes. */

#include "pooling/forward.h"

static ALWAYS_INLINE vreal loadElement(const real *element, int64_t i, bool pairs, int lanes)
{
  return pairs ? loadEvens(element + 2 * i, lanes) : loadLanes(element + i, lanes);
}

/* The first of the largest elements of each lane; NaN is larger than any value, NaN included, as in torch. */
static ALWAYS_INLINE void maxBlock(const int64_t *first, int vectors, int lanes, const LaneRows *rows, bool pairs)
{
  const LaneRows s = *rows;
  const real *from = s.from;
  real *to = s.to;
  int64_t *index = s.index;
  vint origin[MAX_VECTORS]; /* the index, without the part of the kernel element */
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++)
    origin[v] = vi_set1((vlane)(s.indexBase + first[v] * s.indexPerLane)) + s.indexRamp;
  for (int64_t n = s.count; n > 0; n--) {
    vreal best[MAX_VECTORS];
    vint at[MAX_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      best[v] = loadElement(from + s.offset[0], first[v], pairs, lanes);
      at[v] = vi_set1(s.elementIndex[0]);
    }
    for (int64_t e = 1; e < s.elements; e++) {
      const real *element = from + s.offset[e];
      vint here = vi_set1(s.elementIndex[e]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) {
        vreal x = loadElement(element, first[v], pairs, lanes);
        vmask larger = m_or(v_gt(x, best[v]), v_ne(x, x));
        best[v] = v_sel(larger, x, best[v]);
        at[v] = vi_sel(larger, here, at[v]);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      storeLanes(to + first[v], best[v], lanes);
      storeIndices(index + first[v], at[v] + origin[v], lanes);
      origin[v] += vi_set1((vlane)s.indexPerRow);
    }
    from += s.fromStep;
    to += s.toStep;
    index += s.indexStep;
  }
}

void THNN_(poolingMaxLanes)(int64_t n, const LaneRows *rows) { FOR_LANE_BLOCKS(n, maxBlock, rows, false); }
void THNN_(poolingMaxPairs)(int64_t n, const LaneRows *rows) { FOR_LANE_BLOCKS(n, maxBlock, rows, true); }

/* The sum of the elements, one partial sum per row of the kernel: divided by the divisor or, for a scaled sum, times
   the scale plus the bias. */
static ALWAYS_INLINE void averageBlock(const int64_t *first, int vectors, int lanes, const LaneRows *rows,
                                       bool pairs)
{
  const LaneRows s = *rows;
  const real *from = s.from;
  real *to = s.to;
  vreal factor[MAX_VECTORS]; /* of each lane: the scale of a scaled sum, otherwise a factor of the divisor */
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++)
    factor[v] = s.scale         ? loadLanes(s.scale + first[v], lanes)
                : s.laneDivisor ? loadLanes(s.laneDivisor + first[v], lanes)
                                : v_set1(1);
  for (int64_t n = 0; n < s.count; n++) {
    vreal total[MAX_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) total[v] = (vreal){0};
    for (int64_t row = 0; row < s.elements; row += s.columns) {
      vreal sum[MAX_VECTORS];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) sum[v] = (vreal){0};
      for (int64_t e = row; e < row + s.columns; e++) {
        const real *element = from + s.offset[e];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sum[v] += loadElement(element, first[v], pairs, lanes);
      }
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) total[v] += sum[v];
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      const vreal result = s.scale ? total[v] * factor[v] + loadLanes(s.bias + first[v], lanes)
                                   : total[v] / (factor[v] * s.rowDivisor[n]);
      storeLanes(to + first[v], result, lanes);
    }
    from += s.fromStep;
    to += s.toStep;
  }
}

void THNN_(poolingAverageLanes)(int64_t n, const LaneRows *rows) { FOR_LANE_BLOCKS(n, averageBlock, rows, false); }
void THNN_(poolingAveragePairs)(int64_t n, const LaneRows *rows) { FOR_LANE_BLOCKS(n, averageBlock, rows, true); }
