#ifndef THNN_GEMM_MICROKERNEL_H
#define THNN_GEMM_MICROKERNEL_H

#include "gemm/prefetch.h"
#include "runtime/integer.h"
#include "runtime/dispatch.h"
#include "runtime/kernel.h"

/* The micro-kernel of all matrix products (convolutions, Linear), which computes one micro-tile in registers:

     c[m][n] = initial[m][n] + sum over k of a(m, k) * b[k][n]     m < MR = R * Q, n < NR = V * VL

   The rows of c are cStride reals apart, the rows of b bStride. a is not packed, so that a convolution can read its
   patches in place: its MR rows are R pointers to Q adjacent elements each, and a table of offsets leads from one k to
   the next:

     a(r * Q + q, k) = a[r][offset[k] + q] */

/* The largest micro-tile: its accumulators, a row of b and an element of a fill the registers. */
#if VBYTES == 64
#define GEMM_MR 14
#elif defined(__aarch64__) /* 32 registers; from 11 rows on gcc spills */
#define GEMM_MR 10
#else
#define GEMM_MR 6
#endif
#define GEMM_NR (2 * VL)
#define MICROTILE_REALS (GEMM_MR * GEMM_NR)

/* Terms of a K-block, at most. One call of the micro-kernel adds a K-block. */
#define GEMM_KC 256

/* Terms of a partial sum. Every PARTIAL_SUM_TERMS terms the accumulators are added to the total and cleared, which
   bounds the rounding error of long sums. */
#define PARTIAL_SUM_TERMS 128

/* Terms begin .. end - 1. Partial sums end at multiples of PARTIAL_SUM_TERMS regardless of where a range begins, so
   that leaving out terms that are zero does not change the result. */
typedef struct KRange {
  const int32_t *offset;
  int64_t begin, end;
} KRange;

/* The number of adjacent positions of an image row of `width` pixels that may share a row pointer. More than GEMM_MR
   positions are divided over several micro-tiles, each with Q positions and one row pointer. A micro-tile of 6 rows
   hides the latency of an FMA only if it is full: under AVX2 each pixel has its own pointer, so that a micro-tile can
   continue in the next image row. SSE multiplies and adds separately and has enough independent instructions. */
static inline int64_t adjacentPositions(int64_t width) { return VBYTES == 32 ? 1 : width; }

/* R, the number of row pointers of a micro-tile, for rows of `adjacent` adjacent elements. */
static inline int rowPointerCount(int64_t adjacent)
{
  return adjacent > GEMM_MR / 2 ? 1 : (int)(GEMM_MR / adjacent);
}

/* The rows of `initial` are initialStride reals apart; if that is 0, its first row is the initial value of all rows. */
typedef void (*Microkernel)(real *c, int64_t cStride, const real *initial, int64_t initialStride,
                            const real *const *a, KRange k, const real *b, int64_t bStride,
                            const PrefetchLines *lines);

/* The micro-kernel of R x Q rows and V = 1 or 2 vectors; R is 1 or rowPointerCount(Q). Without lines to prefetch, a
   micro-kernel that does not prefetch is faster. */
Microkernel THNN_(microkernel)(int R, int Q, int V, bool prefetches);

/* The same for products of bfloat16. A real of a and of b holds the bits of two terms, 2 k and 2 k + 1, in memory order;
   c and initial are float32. */
#if defined(THNN_BFLOAT16_PRODUCTS) && defined(THNN_REAL_IS_FLOAT) && VBYTES == 64
#define HAS_BFLOAT16_MICROKERNEL 1
Microkernel THNN_(bfloat16Microkernel)(int R, int Q, int V, bool prefetches);
#else
#define HAS_BFLOAT16_MICROKERNEL 0
#endif

/* The micro-kernel of pairs of bfloat16, or of `real`. */
static inline Microkernel microkernelOf(bool pairs, int R, int Q, int V, bool prefetches)
{
#if HAS_BFLOAT16_MICROKERNEL
  if (pairs) return THNN_(bfloat16Microkernel)(R, Q, V, prefetches);
#else
  (void)pairs;
#endif
  return THNN_(microkernel)(R, Q, V, prefetches);
}

/* True if products of tensors of this type are products of bfloat16. */
static inline bool multipliesPairs(int32_t type)
{
  return HAS_BFLOAT16_MICROKERNEL && type == THNN_TYPE_BFLOAT16 &&
         thnn_capability >= THNN_CAPABILITY_AVX512_BFLOAT16;
}

#endif
