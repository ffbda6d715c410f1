#ifndef THNN_POOLING_LANES_H
#define THNN_POOLING_LANES_H

/* What the loops over windows share: vectors of elements that lie next to each other or in pairs, positions in lanes,
   rows laid out with margins. */

#include "pooling/pooling.h"

WINDOW_INLINE vreal loadLanes(const real *p, int lanes) { return lanes == VL ? v_load(p) : v_load_n(p, lanes); }
WINDOW_INLINE void storeLanes(real *p, vreal x, int lanes)
{
  if (lanes == VL) v_store(p, x);
  else v_store_n(p, x, lanes);
}

/* Of two vectors as one sequence: the even elements, the odd ones, and the even ones of the first and the odd ones
   of the second; and back, a0 b0 a1 b1 ... in two halves. And all but the first, with one of the second. */
#if VBYTES == 64 && defined(THNN_REAL_IS_FLOAT)
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define EVENS_ODDS 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31
#define LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define NEXT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#define PREVIOUS 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
#elif VBYTES == 64 || (VBYTES == 32 && defined(THNN_REAL_IS_FLOAT))
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15
#define EVENS_ODDS 0, 2, 4, 6, 9, 11, 13, 15
#define LOW 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH 4, 12, 5, 13, 6, 14, 7, 15
#define NEXT 1, 2, 3, 4, 5, 6, 7, 8
#define PREVIOUS 8, 0, 1, 2, 3, 4, 5, 6
#elif VBYTES == 32 || defined(THNN_REAL_IS_FLOAT)
#define EVENS 0, 2, 4, 6
#define ODDS 1, 3, 5, 7
#define EVENS_ODDS 0, 2, 5, 7
#define LOW 0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#define NEXT 1, 2, 3, 4
#define PREVIOUS 4, 0, 1, 2
#else
#define EVENS 0, 2
#define ODDS 1, 3
#define EVENS_ODDS 0, 3
#define LOW 0, 2
#define HIGH 1, 3
#define NEXT 1, 2
#define PREVIOUS 2, 0
#endif
static inline vreal evens(vreal a, vreal b) { return __builtin_shufflevector(a, b, EVENS); }
static inline vreal odds(vreal a, vreal b) { return __builtin_shufflevector(a, b, ODDS); }
static inline vreal interleaveLow(vreal a, vreal b) { return __builtin_shufflevector(a, b, LOW); }
static inline vreal interleaveHigh(vreal a, vreal b) { return __builtin_shufflevector(a, b, HIGH); }

static inline vreal next(vreal a) { return __builtin_shufflevector(a, (vreal){0}, NEXT); }

/* All but the last, behind the first one of b. */
static inline vreal previous(vreal a, vreal b) { return __builtin_shufflevector(a, b, PREVIOUS); }

/* p[0], p[2], ..., reading nothing beyond the last one. */
WINDOW_INLINE vreal loadPairs(const real *p, int lanes)
{
  vreal a, b = {0};
  if (lanes == VL) {
    a = v_load(p);
    b = v_load(p + VL - 1);
  } else {
    a = v_load_n(p, 2 * lanes - 1 < VL ? (2 * lanes - 1) * (lanes > 0) : VL);
    if (2 * lanes > VL) b = v_load_n(p + VL - 1, 2 * lanes - VL);
  }
  return __builtin_shufflevector(a, b, EVENS_ODDS);
}

/* x[0], y[0], x[1], y[1], ... */
WINDOW_INLINE void storePairs(real *p, vreal x, vreal y, int lanes)
{
  vreal low = interleaveLow(x, y), high = interleaveHigh(x, y);
  if (lanes == VL) {
    v_store(p, low);
    v_store(p + VL, high);
  } else {
    v_store_n(p, low, 2 * lanes < VL ? 2 * lanes : VL);
    if (2 * lanes > VL) v_store_n(p + VL, high, 2 * lanes - VL);
  }
}

/* Positions in a plane and in the padding around it are computed in lanes as wide as real; larger planes go the
   plain way. */
static inline bool positionsFit(const THNNWindow *window)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const double rows = (double)h->input + 2 * (double)h->kernel * (double)h->dilation + (double)h->stride;
  const double columns = (double)w->input + 2 * (double)w->kernel * (double)w->dilation + (double)w->stride;
  return rows * columns < (sizeof(real) == 4 ? 0x1p30 : 0x1p62);
}

/* 0, step, 2*step, ... */
static inline vint ramp(int64_t step)
{
  vint x;
  for (int i = 0; i < VL; i++) x[i] = (vlane)(i * step);
  return x;
}

/* An int64 is one lane of double, or two of float. */
#ifdef THNN_REAL_IS_FLOAT
WINDOW_INLINE void storePositions(int64_t *index, vint at, int lanes)
{
  const vreal zero = {0};
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  storePairs((real *)index, (vreal)at, zero, lanes);
#else
  storePairs((real *)index, zero, (vreal)at, lanes);
#endif
}

WINDOW_INLINE vint loadPositions(const int64_t *index, int lanes)
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
  return (vint)evens(a, b);
#else
  return (vint)odds(a, b);
#endif
}
#else
WINDOW_INLINE void storePositions(int64_t *index, vint at, int lanes)
{
  storeLanes((real *)index, (vreal)at, lanes);
}

WINDOW_INLINE vint loadPositions(const int64_t *index, int lanes)
{
  return (vint)loadLanes((const real *)index, lanes);
}
#endif

static inline void fillWith(real *p, int64_t n, real value)
{
  for (int64_t i = 0; i < n; i++) p[i] = value;
}

/* The places around n columns in each of `lines` rows. */
static inline void fillMargins(const THNNPhases *phases, int64_t lines, int64_t n, real value, real *row)
{
  for (int64_t i = 0; i < lines; i++)
    for (int64_t q = 0; q < phases->stride; q++, row += phases->pitch) {
      const int64_t end = phases->left + (n > q ? (n - q - 1) / phases->stride + 1 : 0);
      fillWith(row, phases->left, value);
      fillWith(row + end, phases->pitch - end, value);
    }
}

/* n columns, each `step` from the last, to their places, times weight and their weights if there are any; the
   margins stay as they are. */
static inline void layOut(const THNNPhases *phases, const real *x, int64_t n, int64_t step, real weight,
                          const real *weights, real *row)
{
  const int64_t stride = phases->stride, even = n & ~(int64_t)1;
  row += phases->left;
  if (step == 1 && stride == 1 && n >= VL) {
    for (int64_t i = 0; i < n; i += VL) {
      const int64_t j = i < n - VL ? i : n - VL;
      thnn_prefetchAhead(x + j, VL * (int)sizeof *x);
      v_store(row + j, weights ? v_load(x + j) * (v_load(weights + j) * weight) : v_load(x + j));
    }
  } else if (step == 1 && stride == 2 && n >= 2 * VL && weights == NULL) {
    for (int64_t i = 0; i < even; i += 2 * VL) {
      const int64_t j = i < even - 2 * VL ? i : even - 2 * VL;
      vreal a = v_load(x + j), b = v_load(x + j + VL);
      thnn_prefetchAhead(x + j, 2 * VL * (int)sizeof *x);
      v_store(row + j / 2, evens(a, b));
      v_store(row + phases->pitch + j / 2, odds(a, b));
    }
    if (even < n) row[even / 2] = x[even];
  } else {
    for (int64_t q = 0; q < stride; q++)
      for (int64_t i = q, j = 0; i < n; i += stride, j++)
        row[q * phases->pitch + j] = weights ? x[i * step] * (weights[i] * weight) : x[i * step];
  }
}

/* Windows that halve an even image: of 2 inputs each, or of 3 of which the first is shared with the window before. */
static inline bool halves(const THNNAxis *a, int64_t kernel)
{
  return a->kernel == kernel && a->pad == kernel - 2 && a->stride == 2 && a->dilation == 1 &&
         a->input == 2 * a->output;
}

#endif
