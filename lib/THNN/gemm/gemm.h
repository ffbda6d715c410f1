#ifndef THNN_GEMM_GEMM_H
#define THNN_GEMM_GEMM_H

#include "runtime/kernel.h"

/* Matrix product of operands with any strides:

     c[m][n] = bias[m or n] + sum over k of a[m][k] * b[n][k]      or      c[m][n] += scale * sum over k of ...

   Convolutions with a 1x1 kernel and Linear are such products. Their positions (batch, depth, height, width) form one
   index, m of output and gradInput or k of gradWeight, so each index runs over up to four axes, the last one
   fastest.

   Operands of a half type are multiplied as float32, into which packing converts them; bfloat16 as pairs of terms, where
   the CPU has the instruction. Sums are float32, and c is rounded once. */

/* One of the two factors. Its index m or n is called i here. */
typedef struct GemmOperand {
  const void *data;                           /* of Gemm.type */
  int64_t size[4];                            /* axes of i */
  int64_t stride[4], kStride[4], groupStride; /* in data, along the axes of i and of k, and between groups */
  int64_t cStride[4];                         /* in c, along the axes of i */
  int64_t biasStride;                         /* 0 in at least one of the operands */
  /* Set by gemm(): how packing converts elements (gemm.c), and the stride between the two terms of a pair. */
  int32_t conversion;
  int64_t partnerStride;
} GemmOperand;

typedef struct Gemm {
  GemmOperand a, b; /* gemm() swaps them where that is faster */
  int64_t kSize[4]; /* axes of k */
  int64_t groups;   /* independent products */
  int32_t type;     /* of a, b, c and bias: a half type, or any other for `real` */
  void *c;
  const void *bias; /* or NULL */
  int64_t cGroupStride, biasGroupStride;
  bool accumulate; /* c += scale * product; otherwise scale is 1 */
  real scale;
  /* Set by gemm(): terms are pairs; they are multiplied in tiles; the last pair of the last axis of k is a single
     term. */
  bool pairs, tiles, oddTerms;
} Gemm;

void THNN_(gemm)(const Gemm *gemm);

#endif
