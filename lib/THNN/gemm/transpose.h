#ifndef THNN_GEMM_TRANSPOSE_H
#define THNN_GEMM_TRANSPOSE_H

#include "runtime/kernel.h"

/* dst[j * dstStride + i] = src[i * srcStride + j] for i < rows and j < columns. */
void THNN_(transpose)(real *dst, int64_t dstStride, const real *src, int64_t srcStride, int64_t rows,
                      int64_t columns);

/* to[i * toRow + j * toColumn] = from[i * fromRow + j * fromColumn] for i < rows and j < columns. */
void THNN_(copyMatrix)(real *to, int64_t toRow, int64_t toColumn, const real *from, int64_t fromRow,
                       int64_t fromColumn, int64_t rows, int64_t columns);

#endif
