#ifndef THNN_SIMD_LANES_H
#define THNN_SIMD_LANES_H

/* Loads and stores of the first lanes of vectors, 0 <= lanes <= VL, without a mask if lanes is VL, and of rows of any
   length. */

#include "simd/shuffle.h"

static ALWAYS_INLINE vreal loadLanes(const real *p, int lanes)
{
  return lanes == VL ? v_load(p) : v_load_n(p, lanes);
}
static ALWAYS_INLINE void storeLanes(real *p, vreal x, int lanes)
{
  if (lanes == VL) v_store(p, x);
  else v_store_n(p, x, lanes);
}

/* p[0], p[2], ...; reads nothing beyond the last of these. */
static ALWAYS_INLINE vreal loadEvens(const real *p, int lanes)
{
  vreal a, b = {0};
  if (lanes == VL) {
    a = v_load(p);
    b = v_load(p + VL - 1);
  } else {
    a = v_load_n(p, 2 * lanes - 1 < VL ? (2 * lanes - 1) * (lanes > 0) : VL);
    if (2 * lanes > VL) b = v_load_n(p + VL - 1, 2 * lanes - VL);
  }
  return v_evensOdds(a, b);
}

/* x[0], y[0], x[1], y[1], ... */
static ALWAYS_INLINE void storeZipped(real *p, vreal x, vreal y, int lanes)
{
  vreal low = v_zipLow(x, y), high = v_zipHigh(x, y);
  if (lanes == VL) {
    v_store(p, low);
    v_store(p + VL, high);
  } else {
    v_store_n(p, low, 2 * lanes < VL ? 2 * lanes : VL);
    if (2 * lanes > VL) v_store_n(p + VL, high, 2 * lanes - VL);
  }
}

/* Copy or fill n adjacent elements. */
static ALWAYS_INLINE void copyLanes(real *to, const real *from, int64_t n)
{
  int64_t i = 0;
  for (; i <= n - VL; i += VL) v_store(to + i, v_load(from + i));
  if (i < n && n >= VL) v_store(to + n - VL, v_load(from + n - VL));
  else if (i < n) v_store_n(to, v_load_n(from, (int)n), (int)n);
}

/* As above, with non-temporal stores except for the ends that are not whole vectors. */
static inline void streamLanes(real *to, const real *from, int64_t n)
{
  const int64_t head = (int64_t)(-(uintptr_t)to % VBYTES / sizeof(real));
  int64_t i = head < n ? head : n;
  v_store_n(to, v_load_n(from, (int)i), (int)i);
  for (; i <= n - VL; i += VL) v_stream(to + i, v_load(from + i));
  const int rest = (int)(n - i) & (VL - 1);
  v_store_n(to + i, v_load_n(from + i, rest), rest);
}

static ALWAYS_INLINE void fillLanes(real *to, real value, int64_t n)
{
  const vreal x = v_set1(value);
  int64_t i = 0;
  for (; i <= n - VL; i += VL) v_store(to + i, x);
  if (i < n && n >= VL) v_store(to + n - VL, x);
  else if (i < n) v_store_n(to, x, (int)n);
}

#endif
