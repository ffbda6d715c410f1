#include "gemm/transpose.h"
#include "runtime/integer.h"

/* Every instruction set shuffles fast within segments of 128 bits. */
#define SEGMENT ((int)(16 / sizeof(real)))

/* A lane list for __builtin_shufflevector(a, b, ...). ZIP interleaves the lower halves (h = 0) or the upper halves
   (h = SEGMENT / 2) of each segment of a and of the same segment of b. */
#ifdef THNN_REAL_IS_FLOAT
#define ZIP_SEGMENT(i) i, VL + i, i + 1, VL + i + 1
#else
#define ZIP_SEGMENT(i) i, VL + i
#endif
#if VBYTES == 64
#define ZIP(h) ZIP_SEGMENT(h), ZIP_SEGMENT(h + SEGMENT), ZIP_SEGMENT(h + 2 * SEGMENT), ZIP_SEGMENT(h + 3 * SEGMENT)
#elif VBYTES == 32
#define ZIP(h) ZIP_SEGMENT(h), ZIP_SEGMENT(h + SEGMENT)
#else
#define ZIP(h) ZIP_SEGMENT(h)
#endif

/* Loads one segment of each of the rows i, i + SEGMENT, i + 2 * SEGMENT ... An insertion from memory takes no shuffle,
   so this halves the number of shuffles compared with loading whole vectors. Row numbers are clamped to rows - 1. */
static ALWAYS_INLINE vreal loadSegments(const real *src, int64_t stride, int i, int rows)
{
#define SEGMENT_AT(p) (const float *)(src + MIN(i + (p) * SEGMENT, rows - 1) * stride)
#define PAIR(p) \
  _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(SEGMENT_AT(p))), _mm_loadu_ps(SEGMENT_AT(p + 1)), 1)
#if VBYTES == 64
  return (vreal)_mm512_insertf32x8(_mm512_castps256_ps512(PAIR(0)), PAIR(2), 1);
#elif VBYTES == 32
  return (vreal)PAIR(0);
#else
  return v_load(src + MIN(i, rows - 1) * stride);
#endif
#undef PAIR
#undef SEGMENT_AT
}

/* In SEGMENT vectors, the segments at one place of each vector form a square matrix. All these squares are transposed
   by zipping the vectors i and i + SEGMENT / 2, for all i < SEGMENT / 2, log2(SEGMENT) times. */
static ALWAYS_INLINE void transposeSegments(vreal *x)
{
  vreal y[SEGMENT];
#pragma GCC unroll 2
  for (int n = 1; n < SEGMENT; n *= 2) {
#pragma GCC unroll 2
    for (int i = 0; i < SEGMENT / 2; i++) {
      y[2 * i] = __builtin_shufflevector(x[i], x[i + SEGMENT / 2], ZIP(0));
      y[2 * i + 1] = __builtin_shufflevector(x[i], x[i + SEGMENT / 2], ZIP(SEGMENT / 2));
    }
#pragma GCC unroll 4
    for (int i = 0; i < SEGMENT; i++) x[i] = y[i];
  }
}

static ALWAYS_INLINE void storeRow(real *dst, vreal x, int n)
{
  if (n == VL) v_store(dst, x);
  else v_store_n(dst, x, n);
}

/* Transposes SEGMENT columns of up to VL rows. */
static ALWAYS_INLINE void transposeColumns(real *dst, int64_t dstStride, const real *src, int64_t srcStride,
                                           int rows)
{
  vreal x[SEGMENT];
#pragma GCC unroll 4
  for (int i = 0; i < SEGMENT; i++) x[i] = loadSegments(src, srcStride, i, rows);
  transposeSegments(x);
#pragma GCC unroll 4
  for (int i = 0; i < SEGMENT; i++) storeRow(dst + i * dstStride, x[i], rows);
}

static ALWAYS_INLINE void transposeRows(real *dst, int64_t dstStride, const real *src, int64_t srcStride, int rows,
                                        int64_t columns)
{
  int64_t j = 0;
  for (; j < columns && columns >= SEGMENT; j += SEGMENT) { /* the last segments overlap */
    const int64_t from = MIN(j, columns - SEGMENT);
    transposeColumns(dst + from * dstStride, dstStride, src + from, srcStride, rows);
  }
  for (; j < columns; j++)
    for (int i = 0; i < rows; i++) dst[j * dstStride + i] = src[i * srcStride + j];
}

void THNN_(transpose)(real *dst, int64_t dstStride, const real *src, int64_t srcStride, int64_t rows,
                      int64_t columns)
{
  for (int64_t i = 0; i < rows; i += VL) {
    const int64_t row =
        MIN(i, rows - VL); /* the last VL rows overlap with the rows before, which avoids masked stores */
    if (rows >= VL) transposeRows(dst + row, dstStride, src + row * srcStride, srcStride, VL, columns);
    else transposeRows(dst, dstStride, src, srcStride, (int)rows, columns);
  }
}

void THNN_(copyMatrix)(real *to, int64_t toRow, int64_t toColumn, const real *from, int64_t fromRow,
                       int64_t fromColumn, int64_t rows, int64_t columns)
{
  if (toColumn == 1 && fromColumn == 1) {
    for (int64_t i = 0; i < rows; i++, to += toRow, from += fromRow) {
      int64_t j = 0;
      for (; j + VL <= columns; j += VL) v_store(to + j, v_load(from + j));
      if (j < columns) v_store_n(to + j, v_load_n(from + j, (int)(columns - j)), (int)(columns - j));
    }
  } else if (toColumn == 1 && fromRow == 1) {
    THNN_(transpose)(to, toRow, from, fromColumn, columns, rows);
  } else if (toRow == 1 && fromColumn == 1) {
    THNN_(transpose)(to, toColumn, from, fromRow, rows, columns);
  } else {
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < columns; j++) to[i * toRow + j * toColumn] = from[i * fromRow + j * fromColumn];
  }
}
