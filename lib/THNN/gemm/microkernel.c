#include "gemm/microkernel.h"

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

#endif

/* acc[p] += a(p, k) * b[lane] for every row p of a tile. */
static inline __attribute__((always_inline)) void step(const int R, const int Q, const int V, vreal *acc,
                                                       const real *const *line, int64_t at, const real *b)
{
  vreal w[2];
#pragma GCC unroll 2
  for (int v = 0; v < V; v++) w[v] = v_load(b + v * VL);
#pragma GCC unroll 14
  for (int r = 0; r < R; r++)
#pragma GCC unroll 14
    for (int q = 0; q < Q; q++) {
      const real x = line[r][at + q];
#pragma GCC unroll 2
      for (int v = 0; v < V; v++) acc[(r * Q + q) * V + v] += x * w[v];
    }
}

static inline __attribute__((always_inline)) void prefetchAhead(GemmAhead *a, int64_t row)
{
  __builtin_prefetch(a->from, 0, 2);
  a->from += a->near;
  if (--a->row > 0) return;
  a->from += a->far;
  a->row = row;
}

/* R, Q and V are constants in every caller, so that acc lives in registers; its length must be a literal. */
static inline __attribute__((always_inline)) void tile(const int R, const int Q, const int V, const bool asks,
                                                       real *c, const real *from, int64_t fromStride,
                                                       const real *const *a, GemmSteps k, const real *b,
                                                       const GemmAhead *request)
{
  static const real zero[GEMM_MAX_TILE * VBYTES / sizeof(real)];
  vreal acc[GEMM_MAX_TILE];
  real sum[GEMM_MAX_TILE * VBYTES / sizeof(real)]; /* of the chains before */
  const real *line[GEMM_ROWS], *before = zero;
  GemmAhead ahead = {0};
  if (asks) ahead = *request;
#pragma GCC unroll 28
  for (int p = 0; p < R * Q * V; p++) acc[p] = (vreal){0};
#pragma GCC unroll 14
  for (int r = 0; r < R; r++) line[r] = a[r];
  int64_t i = k.begin, end = k.begin - k.begin % GEMM_CHAIN;
  b += i * V * VL;
  for (;;) {
    end = MIN(end + GEMM_CHAIN, k.end);
#pragma GCC unroll 2
    for (; i < end; i++, b += V * VL) {
      if (asks) prefetchAhead(&ahead, request->row);
      step(R, Q, V, acc, line, k.at[i], b);
    }
    if (i == k.end) break;
#pragma GCC unroll 28
    for (int p = 0; p < R * Q * V; p++) {
      v_store(sum + p * VL, acc[p] + v_load(before + p * VL));
      acc[p] = (vreal){0};
    }
    before = sum;
  }
  if (before == sum) {
#pragma GCC unroll 28
    for (int p = 0; p < R * Q * V; p++) acc[p] += v_load(sum + p * VL);
  }
#pragma GCC unroll 14
  for (int p = 0; p < R * Q; p++)
#pragma GCC unroll 2
    for (int v = 0; v < V; v++)
      v_store(c + (p * V + v) * VL, acc[p * V + v] + v_load(from + p * fromStride + v * VL));
}

#define TILE(R, Q, V, asks)                                                                                      \
  static void tile_##R##x##Q##x##V##_##asks(real *c, const real *from, int64_t fromStride, const real *const *a, \
                                            GemmSteps k, const real *b, const GemmAhead *request)                \
  {                                                                                                              \
    tile(R, Q, V, asks, c, from, fromStride, a, k, b, request);                                                  \
  }
#define TILE_PAIR(R, Q, V) TILE(R, Q, V, 0) TILE(R, Q, V, 1)
GEMM_TILES(TILE_PAIR, 1)
GEMM_TILES(TILE_PAIR, 2)
#undef TILE

GemmTile THNN_(gemm_tile)(int R, int Q, int V, bool asks)
{
#define TILE(R, Q, V, asks) [asks][V - 1][R > 1][Q] = tile_##R##x##Q##x##V##_##asks,
  static const GemmTile table[2][2][2][GEMM_ROWS + 1] = {GEMM_TILES(TILE_PAIR, 1) GEMM_TILES(TILE_PAIR, 2)};
#undef TILE
#undef TILE_PAIR
  return table[asks][V - 1][R > 1][Q];
}

/* Inside of parts of 128 bits every instruction set shuffles fast. */
#define PART ((int)(16 / sizeof(real)))

/* The same parts of two vectors zipped: their lower halves (h = 0) or upper halves (h = PART / 2). Every second part of
   two vectors: the even ones (h = 0) or the odd ones (h = PART). */
#undef ZIP_PART
#undef ZIP
#undef WHOLE_PART
#undef UNZIP
#ifdef THNN_REAL_IS_FLOAT
#define ZIP_PART(i) i, VL + i, i + 1, VL + i + 1
#define WHOLE_PART(i) i, i + 1, i + 2, i + 3
#else
#define ZIP_PART(i) i, VL + i
#define WHOLE_PART(i) i, i + 1
#endif
#if VBYTES == 64
#define ZIP(h) ZIP_PART(h), ZIP_PART(h + PART), ZIP_PART(h + 2 * PART), ZIP_PART(h + 3 * PART)
#define UNZIP(h) WHOLE_PART(h), WHOLE_PART(h + 2 * PART), WHOLE_PART(h + 4 * PART), WHOLE_PART(h + 6 * PART)
#elif VBYTES == 32
#define ZIP(h) ZIP_PART(h), ZIP_PART(h + PART)
#define UNZIP(h) WHOLE_PART(h), WHOLE_PART(h + 2 * PART)
#else
#define ZIP(h) ZIP_PART(h)
#define UNZIP(h) WHOLE_PART(h)
#endif

/* A part of each of the rows i, i + PART, i + 2 * PART and so on. The last row stands in for rows beyond. */
static inline __attribute__((always_inline)) vreal parts(const real *src, int64_t stride, int i, int rows)
{
#define PLACE(p) (const float *)(src + MIN(i + (p) * PART, rows - 1) * stride)
#define PAIR(p) _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(PLACE(p))), _mm_loadu_ps(PLACE(p + 1)), 1)
#if VBYTES == 64
  return (vreal)_mm512_insertf32x8(_mm512_castps256_ps512(PAIR(0)), PAIR(2), 1);
#elif VBYTES == 32
  return (vreal)PAIR(0);
#else
  return v_load(src + MIN(i, rows - 1) * stride);
#endif
#undef PAIR
#undef PLACE
}

/* PART vectors of which every part is a square of its own: each is transposed when the vectors i and i + PART / 2, for
   all i, are zipped log2(PART) times. */
static inline __attribute__((always_inline)) void transposeParts(vreal *x)
{
  vreal y[PART];
#pragma GCC unroll 2
  for (int n = 1; n < PART; n *= 2) {
#pragma GCC unroll 2
    for (int i = 0; i < PART / 2; i++) {
      y[2 * i] = __builtin_shufflevector(x[i], x[i + PART / 2], ZIP(0));
      y[2 * i + 1] = __builtin_shufflevector(x[i], x[i + PART / 2], ZIP(PART / 2));
    }
#pragma GCC unroll 4
    for (int i = 0; i < PART; i++) x[i] = y[i];
  }
}

static inline __attribute__((always_inline)) void storeRow(real *dst, vreal x, int n)
{
  if (n == VL) v_store(dst, x);
  else v_store_n(dst, x, n);
}

/* PART columns. */
static inline __attribute__((always_inline)) void transposeFew(real *dst, int64_t dstStride, const real *src,
                                                               int64_t srcStride, int rows)
{
  vreal x[PART];
#pragma GCC unroll 4
  for (int i = 0; i < PART; i++) x[i] = parts(src, srcStride, i, rows);
  transposeParts(x);
#pragma GCC unroll 4
  for (int i = 0; i < PART; i++) storeRow(dst + i * dstStride, x[i], rows);
}

/* VL columns: every part is transposed, and then they are as elements of a square. */
static inline __attribute__((always_inline)) void transposeBlock(real *dst, int64_t dstStride, const real *src,
                                                                 int64_t srcStride, int rows)
{
  vreal x[VBYTES / sizeof(real)], y[VBYTES / sizeof(real)];
#pragma GCC unroll 16
  for (int i = 0; i < VL; i++) x[i] = v_load(src + MIN(i, rows - 1) * srcStride);
#pragma GCC unroll 4
  for (int i = 0; i < VL; i += PART) transposeParts(x + i);
#pragma GCC unroll 2
  for (int n = PART; n < VL; n *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < VL / 2; i++) {
      const vreal *even = x + i / PART * 2 * PART + i % PART, *odd = even + PART;
      y[i] = __builtin_shufflevector(*even, *odd, UNZIP(0));
      y[i + VL / 2] = __builtin_shufflevector(*even, *odd, UNZIP(PART));
    }
#pragma GCC unroll 16
    for (int i = 0; i < VL; i++) x[i] = y[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < VL; i++) storeRow(dst + i * dstStride, x[i], rows);
}

static inline __attribute__((always_inline)) void transposeRows(real *dst, int64_t dstStride, const real *src,
                                                                int64_t srcStride, int rows, int64_t columns)
{
  int64_t j = 0;
  for (; j + VL <= columns; j += VL) transposeBlock(dst + j * dstStride, dstStride, src + j, srcStride, rows);
  for (; j < columns && columns >= PART; j += PART) { /* the last ones overlap */
    const int64_t from = MIN(j, columns - PART);
    transposeFew(dst + from * dstStride, dstStride, src + from, srcStride, rows);
  }
  for (; j < columns; j++)
    for (int i = 0; i < rows; i++) dst[j * dstStride + i] = src[i * srcStride + j];
}

/* Few columns: the last VL rows overlap with those before, so that none is masked. */
static __attribute__((noinline)) void transposeNarrow(real *dst, int64_t dstStride, const real *src,
                                                      int64_t srcStride, int64_t rows, int64_t columns)
{
  for (int64_t i = 0; i < rows; i += VL) {
    const int64_t row = MIN(i, rows - VL);
    for (int64_t j = 0; j < columns; j += PART) {
      const int64_t column = MIN(j, columns - PART);
      transposeFew(dst + column * dstStride + row, dstStride, src + row * srcStride + column, srcStride, VL);
    }
  }
}

void THNN_(gemm_transpose)(real *dst, int64_t dstStride, const real *src, int64_t srcStride, int64_t rows,
                           int64_t columns)
{
  if (rows >= VL && columns >= PART && columns < VL) {
    transposeNarrow(dst, dstStride, src, srcStride, rows, columns);
    return;
  }
  for (; rows >= VL; rows -= VL, dst += VL, src += VL * srcStride)
    transposeRows(dst, dstStride, src, srcStride, VL, columns);
  if (rows > 0) transposeRows(dst, dstStride, src, srcStride, (int)rows, columns);
}
#undef PART
