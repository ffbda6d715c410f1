#ifndef THNN_POOLING_LANES_H
#define THNN_POOLING_LANES_H

/* int64 indices in lanes as wide as real, and rows in blocks of vectors. */

#include "runtime/kernel.h"
#include "simd/lanes.h"

/* 0, step, 2*step, ... */
static inline vint ramp(int64_t step)
{
  vint x;
  for (int i = 0; i < VL; i++) x[i] = (vlane)(i * step);
  return x;
}

/* An int64 is one lane of double, or two of float. */
#ifdef THNN_REAL_IS_FLOAT
static ALWAYS_INLINE void storeIndices(int64_t *index, vint x, int lanes)
{
  const vreal zero = {0};
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  storeZipped((real *)index, (vreal)x, zero, lanes);
#else
  storeZipped((real *)index, zero, (vreal)x, lanes);
#endif
}

static ALWAYS_INLINE vint loadIndices(const int64_t *index, int lanes)
{
  const real *p = (const real *)index;
  vreal a, b = {0};
  if (lanes == VL) {
    a = v_load(p);
    b = v_load(p + VL);
  } else {
    a = v_load_n(p, 2 * lanes < VL ? 2 * lanes : VL);
    if (2 * lanes > VL) b = v_load_n(p + VL, 2 * lanes - VL);
  }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return (vint)v_evens(a, b);
#else
  return (vint)v_odds(a, b);
#endif
}
#else
static ALWAYS_INLINE void storeIndices(int64_t *index, vint x, int lanes)
{
  storeLanes((real *)index, (vreal)x, lanes);
}

static ALWAYS_INLINE vint loadIndices(const int64_t *index, int lanes)
{
  return (vint)loadLanes((const real *)index, lanes);
}
#endif

static ALWAYS_INLINE void widenIndices(int64_t *to, const vlane *from, int64_t n)
{
  int64_t i = 0;
  for (; i <= n - VL; i += VL) storeIndices(to + i, vi_load(from + i), VL);
  if (i < n && n >= VL) storeIndices(to + n - VL, vi_load(from + n - VL), VL);
  else if (i < n) storeIndices(to, (vint)v_load_n((const real *)from, (int)n), (int)n);
}

/* Calls BLOCK(first, vectors, lanes, ...) until n lanes are covered; first[] has the first lane of each of 4, 2 or 1
   vectors. The last vector overlaps the previous one rather than end beyond n: values in the overlap are stored twice.
   If n < VL, there is one vector of n lanes. */
#define MAX_VECTORS 4
#define FOR_LANE_BLOCKS(n, BLOCK, ...)                             \
  do {                                                             \
    const int64_t n_ = (n), last_ = n_ - VL;                       \
    int64_t first_[MAX_VECTORS] = {0, VL, 2 * VL, 3 * VL};         \
    if (last_ < 0) {                                               \
      BLOCK(first_, 1, (int)n_, __VA_ARGS__);                      \
      break;                                                       \
    }                                                              \
    for (; n_ - first_[0] > 2 * VL; first_[0] += 4 * VL) {         \
      first_[1] = first_[0] + VL;                                  \
      first_[2] = first_[1] + VL < last_ ? first_[1] + VL : last_; \
      first_[3] = first_[2] + VL < last_ ? first_[2] + VL : last_; \
      BLOCK(first_, 4, VL, __VA_ARGS__);                           \
    }                                                              \
    if (n_ - first_[0] > VL) {                                     \
      first_[1] = last_;                                           \
      BLOCK(first_, 2, VL, __VA_ARGS__);                           \
    } else if (n_ > first_[0]) {                                   \
      first_[0] = last_;                                           \
      BLOCK(first_, 1, VL, __VA_ARGS__);                           \
    }                                                              \
  } while (0)

#endif
