#ifndef THNN_CONVOLUTION_WINOGRAD_KERNELS_H
#define THNN_CONVOLUTION_WINOGRAD_KERNELS_H

#include "gemm/microkernel.h"

/* The micro-kernels of Winograd's products, one matrix product per component. They differ from the micro-kernel of the
   implicit GEMM in the left operand, which is one stream with constant distances between the rows of a micro-tile, and
   in shorter partial sums: the transforms enlarge rounding errors. */

/* Defined where Winograd's method is compiled: with AVX2, AVX-512 or NEON, not with SSE2. */
#if VBYTES > 16 || defined(__aarch64__)
#define WINOGRAD
#endif

/* Terms of a partial sum: of output and gradInput, and of gradWeight, whose terms are tiles. */
#define WINOGRAD_PARTIAL_TERMS 16
#define WINOGRAD_PARTIAL_TILES 16

/* c[v][m] (+)= sum over k of a[k / VL][m][k % VL] * b[k][v], where v are V vectors; m < R rows. a is aStride reals per
   VL terms, c is cStride reals per vector of a row. Per VL terms, `lines` cache lines from `next` on are prefetched. */
typedef struct WinogradProduct {
  real *c;
  const real *a, *b, *next;
  int64_t cStride, aStride, terms, lines;
  bool accumulate;
} WinogradProduct;

typedef void (*WinogradKernel)(const WinogradProduct *p);
WinogradKernel THNN_(winogradKernel)(int R, int V);

/* c[m][v] (+)= sum over tiles t of a[t][m] * b[v][t]; the rows of a, b and c are aStride, bStride and cStride reals
   apart, where a row of b is all tiles of a vector. `terms` are tiles. */
typedef struct WinogradSum {
  real *c;
  const real *a, *b;
  int64_t cStride, aStride, bStride, terms;
  bool accumulate;
} WinogradSum;

typedef void (*WinogradSumKernel)(const WinogradSum *p);
WinogradSumKernel THNN_(winogradSumKernel)(int R, int V);

#endif
