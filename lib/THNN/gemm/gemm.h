#ifndef THNN_GEMM_GEMM_H
#define THNN_GEMM_GEMM_H

#include "runtime/kernel.h"

/* The product of two matrices, both with any strides:

     c[r][l] = bias[r or l] + sum over k of rows[r][k] * lanes[l][k]      or      c[r][l] += scale * that sum

   A convolution without taps is one: Linear and 1x1 convolutions, where positions are one index of output and
   gradInput, and the k of gradWeight. Positions run over several axes, so every index may. */

typedef struct Factor {
  const real *data;
  int64_t count[4];                   /* sizes of the axes of r or l, the last one fastest */
  int64_t stride[4], depth[4], group; /* in data: of these axes, of those of k, and from group to group */
  int64_t result[4];                  /* strides of the axes in c */
  int64_t bias;                       /* stride in bias; 0 in at least one of the two factors */
} Factor;

typedef struct Product {
  Factor rows, lanes; /* changes them where that is faster */
  int64_t depth[4];   /* sizes of the axes of k */
  int64_t groups;     /* so many products */
  real *c;
  const real *bias; /* or NULL */
  int64_t resultGroup, biasGroup;
  bool add; /* to c; otherwise scale is 1 */
  real scale;
} Product;

void THNN_(product)(const Product *product);

#endif
