#ifndef THNN_CONVOLUTION_DIRECT_KERNELS_H
#define THNN_CONVOLUTION_DIRECT_KERNELS_H

#include "convolution/direct.h"

/* The micro-kernels of direct convolution. */

/* A micro-tile of P output channels by Q vectors of positions has P * Q sums, P weights and one source vector in
   registers. */
#define DIRECT_OUTPUTS 3
#if VBYTES == 64
#define DIRECT_VECTORS 8
#else
#define DIRECT_VECTORS 4
#endif

/* The terms of a sum, at most DIRECT_TERMS: kernel elements of some channels. */
typedef struct DirectTerms {
  int64_t channels, elements, sourceChannelStride, weightChannelStride;
  const int64_t *source, *weight; /* offsets of the kernel elements */
} DirectTerms;

/* Adds the terms to sums, one row per output channel, sumStride apart; the rows of weight are weightStride apart. Sums
   start as bias[p] if bias is given. */
typedef void (*DirectKernel)(real *sum, int64_t sumStride, const real *bias, const real *source,
                             const real *weight, int64_t weightStride, const DirectTerms *k);

/* Indexed by P and Q. */
extern const DirectKernel THNN_(directKernels)[DIRECT_OUTPUTS + 1][DIRECT_VECTORS + 1];

/* Column kernels compute a micro-tile of R rows of positions, 1 or DIRECT_ROWS, by 1 or 2 vectors. They load a source
   vector once for all kernel elements of its column. */
#define DIRECT_ROWS 4
#define DIRECT_COLUMN_ELEMENTS 7 /* most elements of a column at a time */

/* Rows of positions of one slice, one or two vectors wide. */
typedef struct DirectColumn {
  real *to;
  const real *source, *weight;
  real bias;
  int lanes; /* lanes of a vector that are stored */
  int64_t rows;
  int64_t elements;     /* elements per column */
  int64_t vectorStride; /* between the two vectors; less than VL where they overlap */
  int64_t toRowStride, sourceRowStride, weightRowStride;
  int64_t prefetch; /* offset from a store to the store of a later channel, whose line is prefetched */
} DirectColumn;

/* Stores bias + all terms. The elements of `k` are the columns of the kernel. */
typedef void (*DirectColumnKernel)(const DirectColumn *column, const DirectTerms *k);

/* Indexed by kernel elements of a column, or 0 for any larger number; rows >= DIRECT_ROWS, two vectors. */
extern const DirectColumnKernel THNN_(directColumnKernels)[DIRECT_COLUMN_ELEMENTS + 1][2][2];

#endif
