/* The micro-tiles of all sizes, for a file that defines a micro-kernel. It defines before

     MULTIPLY_ADD(acc, x, w)   the vector acc + x * w, of the real x and the vector w

   Not a header of declarations: a file includes it once. */

#include "gemm/microkernel.h"

/* Accumulators of the largest micro-tile. */
#define MAX_VECTORS (2 * GEMM_MR)

/* R, Q and V of every micro-tile. */
#if GEMM_MR == 14
#define NARROW_TILES(X, V) X(1, 1, V) X(1, 2, V) X(1, 3, V) X(1, 4, V) X(1, 5, V) X(1, 6, V) X(1, 7, V)
#define WIDE_TILES(X, V) X(1, 8, V) X(1, 9, V) X(1, 10, V) X(1, 11, V) X(1, 12, V) X(1, 13, V) X(1, 14, V)
#define MULTI_ROW_TILES(X, V) X(2, 7, V) X(2, 6, V) X(2, 5, V) X(3, 4, V) X(4, 3, V) X(7, 2, V) X(14, 1, V)
#define MICROTILES(X, V) NARROW_TILES(X, V) WIDE_TILES(X, V) MULTI_ROW_TILES(X, V)
#elif GEMM_MR == 10
#define NARROW_TILES(X, V) X(1, 1, V) X(1, 2, V) X(1, 3, V) X(1, 4, V) X(1, 5, V)
#define WIDE_TILES(X, V) X(1, 6, V) X(1, 7, V) X(1, 8, V) X(1, 9, V) X(1, 10, V)
#define MULTI_ROW_TILES(X, V) X(2, 5, V) X(2, 4, V) X(3, 3, V) X(5, 2, V) X(10, 1, V)
#define MICROTILES(X, V) NARROW_TILES(X, V) WIDE_TILES(X, V) MULTI_ROW_TILES(X, V)
#else
#define NARROW_TILES(X, V) X(1, 1, V) X(1, 2, V) X(1, 3, V) X(1, 4, V) X(1, 5, V) X(1, 6, V)
#define MULTI_ROW_TILES(X, V) X(2, 3, V) X(3, 2, V) X(6, 1, V)
#define MICROTILES(X, V) NARROW_TILES(X, V) MULTI_ROW_TILES(X, V)
#endif

/* The rank-1 update acc[m] += a(m, k) * b[k] for one k. */
static ALWAYS_INLINE void rank1Update(const int R, const int Q, const int V, vreal *acc, const real *const *row,
                                      int64_t at, const real *b)
{
  vreal w[2];
#pragma GCC unroll 2
  for (int v = 0; v < V; v++) w[v] = v_load(b + v * VL);
#pragma GCC unroll 14
  for (int r = 0; r < R; r++)
#pragma GCC unroll 14
    for (int q = 0; q < Q; q++) {
      const real x = row[r][at + q];
#pragma GCC unroll 2
      for (int v = 0; v < V; v++) acc[(r * Q + q) * V + v] = MULTIPLY_ADD(acc[(r * Q + q) * V + v], x, w[v]);
    }
}

static ALWAYS_INLINE void prefetchLine(PrefetchLines *lines, int64_t run)
{
  __builtin_prefetch(lines->next, 0, 2);
  lines->next += lines->stride;
  if (--lines->run > 0) return;
  lines->next += lines->gap;
  lines->run = run;
}

/* Inlined with constant R, Q and V: acc must live in registers, so its length is a literal. */
static ALWAYS_INLINE void microtile(const int R, const int Q, const int V, const bool prefetches, real *c,
                                    int64_t cStride, const real *initial, int64_t initialStride,
                                    const real *const *a, KRange range, const real *b, int64_t bStride,
                                    const PrefetchLines *lines)
{
  static const real zero[MAX_VECTORS * VBYTES / sizeof(real)];
  vreal acc[MAX_VECTORS];
  real total[MAX_VECTORS * VBYTES / sizeof(real)]; /* of the previous partial sums */
  const real *row[GEMM_MR], *before = zero;
  PrefetchLines ahead = {0};
  if (prefetches) ahead = *lines;
#pragma GCC unroll 28
  for (int i = 0; i < R * Q * V; i++) acc[i] = (vreal){0};
#pragma GCC unroll 14
  for (int r = 0; r < R; r++) row[r] = a[r];
  if (initialStride)
#pragma GCC unroll 14
    for (int m = 0; m < R * Q; m++)
#pragma GCC unroll 2
      for (int v = 0; v < V; v++) __builtin_prefetch(initial + m * initialStride + v * VL);
  int64_t k = range.begin, end = range.begin - range.begin % PARTIAL_SUM_TERMS;
  b += k * bStride;
  for (;;) {
    end = MIN(end + PARTIAL_SUM_TERMS, range.end);
#pragma GCC unroll 2
    for (; k < end; k++, b += bStride) {
      if (prefetches) prefetchLine(&ahead, lines->run);
      rank1Update(R, Q, V, acc, row, range.offset[k], b);
    }
    if (k == range.end) break;
#pragma GCC unroll 28
    for (int i = 0; i < R * Q * V; i++) {
      v_store(total + i * VL, acc[i] + v_load(before + i * VL));
      acc[i] = (vreal){0};
    }
    before = total;
  }
  if (before == total) {
#pragma GCC unroll 28
    for (int i = 0; i < R * Q * V; i++) acc[i] += v_load(total + i * VL);
  }
#pragma GCC unroll 14
  for (int m = 0; m < R * Q; m++)
#pragma GCC unroll 2
    for (int v = 0; v < V; v++)
      v_store(c + m * cStride + v * VL, acc[m * V + v] + v_load(initial + m * initialStride + v * VL));
}

#define MICROTILE(R, Q, V, prefetches)                                                                      \
  static void microtile_##R##x##Q##x##V##_##prefetches(                                                     \
      real *c, int64_t cStride, const real *initial, int64_t initialStride, const real *const *a, KRange k, \
      const real *b, int64_t bStride, const PrefetchLines *lines)                                           \
  {                                                                                                         \
    microtile(R, Q, V, prefetches, c, cStride, initial, initialStride, a, k, b, bStride, lines);            \
  }
#define MICROTILE_PAIR(R, Q, V) MICROTILE(R, Q, V, 0) MICROTILE(R, Q, V, 1)
MICROTILES(MICROTILE_PAIR, 1)
MICROTILES(MICROTILE_PAIR, 2)
#undef MICROTILE

/* The micro-kernel of these sizes (microkernel.h). */
static Microkernel microtileOf(int R, int Q, int V, bool prefetches)
{
#define MICROTILE(R, Q, V, prefetches) [prefetches][V - 1][R > 1][Q] = microtile_##R##x##Q##x##V##_##prefetches,
  static const Microkernel table[2][2][2][GEMM_MR + 1] = {MICROTILES(MICROTILE_PAIR, 1)
                                                              MICROTILES(MICROTILE_PAIR, 2)};
#undef MICROTILE
#undef MICROTILE_PAIR
  return table[prefetches][V - 1][R > 1][Q];
}
