#include "gemm.h"

#ifndef GEMM_TILES

#define GEMM_MAX_TILE (2 * GEMM_ROWS)

/* R, Q of every tile. */
#if GEMM_ROWS == 14
#define GEMM_LOW_TILES(X, V) X(1, 1, V) X(1, 2, V) X(1, 3, V) X(1, 4, V) X(1, 5, V) X(1, 6, V) X(1, 7, V)
#define GEMM_HIGH_TILES(X, V) X(1, 8, V) X(1, 9, V) X(1, 10, V) X(1, 11, V) X(1, 12, V) X(1, 13, V) X(1, 14, V)
#define GEMM_WIDE_TILES(X, V) X(2, 7, V) X(2, 6, V) X(2, 5, V) X(3, 4, V) X(4, 3, V) X(7, 2, V) X(14, 1, V)
#define GEMM_TILES(X, V) GEMM_LOW_TILES(X, V) GEMM_HIGH_TILES(X, V) GEMM_WIDE_TILES(X, V)
#else
#define GEMM_LOW_TILES(X, V) X(1, 1, V) X(1, 2, V) X(1, 3, V) X(1, 4, V) X(1, 5, V) X(1, 6, V)
#define GEMM_WIDE_TILES(X, V) X(2, 3, V) X(3, 2, V) X(6, 1, V)
#define GEMM_TILES(X, V) GEMM_LOW_TILES(X, V) GEMM_WIDE_TILES(X, V)
#endif

/* The lanes of two vectors taken alternately, lower halves (h = 0) or upper halves (h = lanes / 2). */
#define GEMM_ZIP_2(n, h) h, n + h
#define GEMM_ZIP_4(n, h) GEMM_ZIP_2(n, h), h + 1, n + h + 1
#define GEMM_ZIP_8(n, h) GEMM_ZIP_4(n, h), h + 2, n + h + 2, h + 3, n + h + 3
#define GEMM_ZIP_16(n, h) GEMM_ZIP_8(n, h), h + 4, n + h + 4, h + 5, n + h + 5, h + 6, n + h + 6, h + 7, n + h + 7
#define GEMM_ZIP_(n, h) GEMM_ZIP_##n(n, h)
#define GEMM_ZIP(n, h) GEMM_ZIP_(n, h)

#endif

/* R, Q and V are constants in every caller, so that acc lives in registers; its length must be a literal. */
static inline __attribute__((always_inline)) void V_(tile)(const int R, const int Q, const int V, real *c,
                                                           const real *from, int64_t fromStride,
                                                           const real *const *a, GemmSteps k, const real *b)
{
  vreal acc[GEMM_MAX_TILE];
  const real *row[GEMM_ROWS];
#pragma GCC unroll 28
  for (int i = 0; i < R * Q * V; i++) acc[i] = (vreal){0};
#pragma GCC unroll 14
  for (int r = 0; r < R; r++) row[r] = a[r];
#pragma GCC unroll 2
  for (int64_t i = 0; i < k.count; i++, b += V * VL) {
    const int64_t at = k.at[i];
    vreal w[2];
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) w[v] = v_load(b + v * VL);
#pragma GCC unroll 14
    for (int r = 0; r < R; r++)
#pragma GCC unroll 14
      for (int q = 0; q < Q; q++) {
        const real x = row[r][at + q];
#pragma GCC unroll 2
        for (int v = 0; v < V; v++) acc[(r * Q + q) * V + v] += x * w[v];
      }
  }
#pragma GCC unroll 14
  for (int p = 0; p < R * Q; p++)
#pragma GCC unroll 2
    for (int v = 0; v < V; v++)
      v_store(c + (p * V + v) * VL, acc[p * V + v] + v_load(from + p * fromStride + v * VL));
}

#define TILE(R, Q, V)                                                                                        \
  static void V_(tile_##R##x##Q##x##V)(real * c, const real *from, int64_t fromStride, const real *const *a, \
                                       GemmSteps k, const real *b)                                           \
  {                                                                                                          \
    V_(tile)(R, Q, V, c, from, fromStride, a, k, b);                                                         \
  }
GEMM_TILES(TILE, 1)
GEMM_TILES(TILE, 2)
#undef TILE

V_(gemm) THNN_(gemm_tile)(int R, int Q, int V)
{
#define TILE(R, Q, V) [V - 1][R > 1][Q] = V_(tile_##R##x##Q##x##V),
  static const V_(gemm) table[2][2][GEMM_ROWS + 1] = {GEMM_TILES(TILE, 1) GEMM_TILES(TILE, 2)};
#undef TILE
  return table[V - 1][R > 1][Q];
}

#if VBYTES == 64
#ifdef THNN_REAL_IS_FLOAT
#define LANES 16
#else
#define LANES 8
#endif
#elif VBYTES == 32
#ifdef THNN_REAL_IS_FLOAT
#define LANES 8
#else
#define LANES 4
#endif
#else
#ifdef THNN_REAL_IS_FLOAT
#define LANES 4
#else
#define LANES 2
#endif
#endif

/* Zipping row i with row i + VL / 2, for all i, log2(VL) times transposes a square. */
static inline __attribute__((always_inline)) void V_(transposeBlock)(real *dst, int64_t dstStride, const real *src,
                                                                     int64_t srcStride, int rows, int columns)
{
  vreal x[LANES], y[LANES];
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i++)
    x[i] = i >= rows          ? (vreal){0}
           : columns == LANES ? v_load(src + i * srcStride)
                              : v_load_n(src + i * srcStride, columns);
#pragma GCC unroll 4
  for (int n = 1; n < LANES; n *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < LANES / 2; i++) {
      y[2 * i] = __builtin_shufflevector(x[i], x[i + LANES / 2], GEMM_ZIP(LANES, 0));
      y[2 * i + 1] = __builtin_shufflevector(x[i], x[i + LANES / 2], GEMM_ZIP(LANES, LANES / 2));
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) x[i] = y[i];
  }
#pragma GCC unroll 16
  for (int j = 0; j < LANES; j++)
    if (j < columns) {
      if (rows == LANES) v_store(dst + j * dstStride, x[j]);
      else v_store_n(dst + j * dstStride, x[j], rows);
    }
}

void THNN_(gemm_transpose)(real *dst, int64_t dstStride, const real *src, int64_t srcStride, int64_t rows,
                           int64_t columns)
{
  for (int64_t i = 0; i < rows; i += LANES)
    for (int64_t j = 0; j < columns; j += LANES) {
      const int64_t m = rows - i, n = columns - j;
      real *to = dst + j * dstStride + i;
      const real *from = src + i * srcStride + j;
      if (m >= LANES && n >= LANES) V_(transposeBlock)(to, dstStride, from, srcStride, LANES, LANES);
      else
        V_(transposeBlock)(to, dstStride, from, srcStride, m < LANES ? (int)m : LANES, n < LANES ? (int)n : LANES);
    }
}

#undef LANES
