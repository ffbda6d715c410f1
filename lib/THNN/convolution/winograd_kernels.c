#include "convolution/winograd_kernels.h"

#ifdef WINOGRAD

#define MAX_VECTORS (2 * GEMM_MR)

/* Inlined with constant R and V, so that acc stays in registers. */
static ALWAYS_INLINE void product(const int R, const int V, const WinogradProduct *p)
{
  vreal acc[MAX_VECTORS];
  real total[MAX_VECTORS * VBYTES / sizeof(real)]; /* of the previous partial sums */
  const real *a = p->a, *b = p->b, *next = p->next;
  const int64_t terms = p->terms, aStride = p->aStride, lines = p->lines;
  bool begun = false;
#pragma GCC unroll 28
  for (int i = 0; i < R * V; i++) acc[i] = (vreal){0};
  for (int64_t k = 0;;) {
    const int64_t end = MIN(k + WINOGRAD_PARTIAL_TERMS, terms);
    for (; k < end; k += VL, a += aStride) {
      for (int64_t i = 0; i < lines; i++, next += 64 / sizeof(real)) __builtin_prefetch(next, 0, 2);
      const int64_t n = MIN(VL, end - k);
#pragma GCC unroll 2
      for (int64_t i = 0; i < n; i++, b += V * VL) {
        vreal w[2];
#pragma GCC unroll 2
        for (int v = 0; v < V; v++) w[v] = v_load(b + v * VL);
#pragma GCC unroll 14
        for (int r = 0; r < R; r++) {
          const real x = a[r * VL + i];
#pragma GCC unroll 2
          for (int v = 0; v < V; v++) acc[r * V + v] += x * w[v];
        }
      }
    }
    if (end == terms) break;
#pragma GCC unroll 28
    for (int i = 0; i < R * V; i++) {
      v_store(total + i * VL, begun ? acc[i] + v_load(total + i * VL) : acc[i]);
      acc[i] = (vreal){0};
    }
    begun = true;
  }
  if (begun) {
#pragma GCC unroll 28
    for (int i = 0; i < R * V; i++) acc[i] += v_load(total + i * VL);
  }
#pragma GCC unroll 14
  for (int r = 0; r < R; r++)
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) {
      real *c = p->c + v * p->cStride + r * VL;
      v_store(c, p->accumulate ? v_load(c) + acc[r * V + v] : acc[r * V + v]);
    }
}

static ALWAYS_INLINE void sum(const int R, const int V, const WinogradSum *p)
{
  vreal acc[MAX_VECTORS];
  real total[MAX_VECTORS * VBYTES / sizeof(real)]; /* of the previous partial sums */
  const real *a = p->a, *b = p->b;
  const int64_t aStride = p->aStride, bStride = p->bStride, terms = p->terms;
  bool begun = false;
  for (int64_t t = 0;;) {
    const int64_t end = MIN(t + WINOGRAD_PARTIAL_TILES, terms);
#pragma GCC unroll 28
    for (int i = 0; i < R * V; i++) acc[i] = (vreal){0};
#pragma GCC unroll 2
    for (; t < end; t++, a += aStride, b += VL) {
      vreal w[2];
#pragma GCC unroll 2
      for (int v = 0; v < V; v++) w[v] = v_load(b + v * bStride);
#pragma GCC unroll 14
      for (int r = 0; r < R; r++) {
        const real x = a[r];
#pragma GCC unroll 2
        for (int v = 0; v < V; v++) acc[r * V + v] += x * w[v];
      }
    }
    if (end == terms) break;
#pragma GCC unroll 28
    for (int i = 0; i < R * V; i++) v_store(total + i * VL, begun ? acc[i] + v_load(total + i * VL) : acc[i]);
    begun = true;
  }
  if (begun) {
#pragma GCC unroll 28
    for (int i = 0; i < R * V; i++) acc[i] += v_load(total + i * VL);
  }
#pragma GCC unroll 14
  for (int r = 0; r < R; r++)
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) {
      real *c = p->c + r * p->cStride + v * VL;
      v_store(c, p->accumulate ? v_load(c) + acc[r * V + v] : acc[r * V + v]);
    }
}

#define ROWS_TO_6(X, V) X(1, V) X(2, V) X(3, V) X(4, V) X(5, V) X(6, V)
#define ROWS_7_TO_10(X, V) X(7, V) X(8, V) X(9, V) X(10, V)
#if GEMM_MR == 14
#define ROWS(X, V) ROWS_TO_6(X, V) ROWS_7_TO_10(X, V) X(11, V) X(12, V) X(13, V) X(14, V)
#elif GEMM_MR == 10
#define ROWS(X, V) ROWS_TO_6(X, V) ROWS_7_TO_10(X, V)
#else
#define ROWS(X, V) ROWS_TO_6(X, V)
#endif

#define KERNEL(R, V)                                                            \
  static void product_##R##x##V(const WinogradProduct *p) { product(R, V, p); } \
  static void sum_##R##x##V(const WinogradSum *p) { sum(R, V, p); }
ROWS(KERNEL, 1)
ROWS(KERNEL, 2)

WinogradKernel THNN_(winogradKernel)(int R, int V)
{
#define ENTRY(R, V) [V - 1][R] = product_##R##x##V,
  static const WinogradKernel table[2][GEMM_MR + 1] = {ROWS(ENTRY, 1) ROWS(ENTRY, 2)};
#undef ENTRY
  return table[V - 1][R];
}

WinogradSumKernel THNN_(winogradSumKernel)(int R, int V)
{
#define ENTRY(R, V) [V - 1][R] = sum_##R##x##V,
  static const WinogradSumKernel table[2][GEMM_MR + 1] = {ROWS(ENTRY, 1) ROWS(ENTRY, 2)};
#undef ENTRY
  return table[V - 1][R];
}
#endif
