#ifndef THCUNN_GEMM_BATCHED_PRODUCT_H
#define THCUNN_GEMM_BATCHED_PRODUCT_H

/* Many products of matrices whose elements are given by functions. P describes the products, as a class with

     typedef ... Number;                                         type of the arithmetic
     static const bool LEFT_TERMS_ADJACENT, RIGHT_TERMS_ADJACENT;  terms are adjacent in memory, not rows or columns
     int64_t batches, rows, columns;
     int64_t terms(int64_t b) const;
     Number left(int64_t b, int64_t row, int64_t t) const;
     Number right(int64_t b, int64_t t, int64_t column) const;
     void finish(int64_t b, int64_t row, int64_t column, Number sum) const;   stores the sum of left * right over t

   whose functions are __device__. A block computes a tile of one product, from tiles of both matrices in shared memory.
   Neighbouring threads finish neighbouring rows. */

#include "runtime/loops.h"

namespace thcunn
{

static const int PRODUCT_TILE = 32;  /* rows and columns of a block */
static const int PRODUCT_TERMS = 16; /* terms in shared memory at a time */
static const int PRODUCT_HALF = PRODUCT_TILE / 2;

/* A thread sums two rows by two columns. */
template <class P>
__global__ void __launch_bounds__(THREADS) batchedProductKernel(P p, Divisor rowTiles, Divisor columnTiles)
{
  static_assert(PRODUCT_HALF * PRODUCT_HALF == THREADS, "a thread sums four elements");
  typedef typename P::Number Number;
  THCUNN_SHARED(Number, left, [PRODUCT_TERMS][PRODUCT_TILE + 1]);
  THCUNN_SHARED(Number, right, [PRODUCT_TERMS][PRODUCT_TILE + 1]);
  const int64_t tile = columnTiles.quotient(blockIdx.x), b = rowTiles.quotient(tile);
  const int64_t firstRow = (tile - b * rowTiles.divisor) * PRODUCT_TILE;
  const int64_t firstColumn = (blockIdx.x - tile * columnTiles.divisor) * PRODUCT_TILE;
  const int64_t terms = p.terms(b);
  const int x = threadIdx.x % PRODUCT_HALF, y = threadIdx.x / PRODUCT_HALF;
  Number sum[2][2] = {{0, 0}, {0, 0}};
  for (int64_t first = 0; first < terms; first += PRODUCT_TERMS) {
    for (int e = (int)threadIdx.x; e < PRODUCT_TERMS * PRODUCT_TILE; e += THREADS) {
      const int outer[2] = {e / PRODUCT_TILE, e / PRODUCT_TERMS}, inner[2] = {e % PRODUCT_TILE, e % PRODUCT_TERMS};
      const int t = P::LEFT_TERMS_ADJACENT ? inner[1] : outer[0],
                row = P::LEFT_TERMS_ADJACENT ? outer[1] : inner[0];
      const int s = P::RIGHT_TERMS_ADJACENT ? inner[1] : outer[0],
                column = P::RIGHT_TERMS_ADJACENT ? outer[1] : inner[0];
      const bool isRow = firstRow + row < p.rows && first + t < terms;
      const bool isColumn = firstColumn + column < p.columns && first + s < terms;
      left[t][row] = isRow ? p.left(b, firstRow + row, first + t) : 0;
      right[s][column] = isColumn ? p.right(b, first + s, firstColumn + column) : 0;
    }
    __syncthreads();
    const int count = terms - first < PRODUCT_TERMS ? (int)(terms - first) : PRODUCT_TERMS;
    Number part[2][2] = {{0, 0}, {0, 0}}; /* two short sums have a smaller rounding error than one long sum */
    for (int t = 0; t < count; t++) {
      const Number l[2] = {left[t][x], left[t][x + PRODUCT_HALF]},
                   r[2] = {right[t][y], right[t][y + PRODUCT_HALF]};
#pragma unroll
      for (int i = 0; i < 4; i++) part[i / 2][i % 2] += l[i / 2] * r[i % 2];
    }
#pragma unroll
    for (int i = 0; i < 4; i++) sum[i / 2][i % 2] += part[i / 2][i % 2];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int64_t row = firstRow + x + i / 2 * PRODUCT_HALF, column = firstColumn + y + i % 2 * PRODUCT_HALF;
    if (row < p.rows && column < p.columns) p.finish(b, row, column, sum[i / 2][i % 2]);
  }
}

template <class P> void batchedProduct(THNNState *state, const P &p)
{
  if (p.batches == 0 || p.rows == 0 || p.columns == 0 || state->status != THNN_OK) return;
  const int64_t rowTiles = (p.rows + PRODUCT_TILE - 1) / PRODUCT_TILE;
  const int64_t columnTiles = (p.columns + PRODUCT_TILE - 1) / PRODUCT_TILE;
  if (p.batches > 0x7fffffff / rowTiles / columnTiles) {
    THNN_fail(state, THNN_NOT_IMPLEMENTED, NULL,
              "%lld products of %lld rows and %lld columns are more than a launch can have", (long long)p.batches,
              (long long)p.rows, (long long)p.columns);
    return;
  }
  THCUNN_LAUNCH(batchedProductKernel<P>, (unsigned)(p.batches * rowTiles * columnTiles), THREADS, streamOf(state))
  (p, Divisor(rowTiles), Divisor(columnTiles));
}

} // namespace thcunn

#endif
