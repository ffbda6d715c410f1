#ifndef THNN_GEMM_TILES_H
#define THNN_GEMM_TILES_H

#include "gemm/microkernel.h"

/* The micro-kernel of products of bfloat16 in tiles (AMX): 16 rows of 16 pairs times 16 pairs of 16 columns in one
   instruction, TDPBF16PS. Its micro-tiles and panels have the sizes of microkernel.h, its b the layout, but the terms of
   a row of a are adjacent:

     a(r * Q + q, k + j) = a[r][q * pitch + offset[k] + j]      k a multiple of TILE_TERMS, j < TILE_TERMS

   Terms are pairs. Their number is a multiple of TILE_TERMS, to which packing adds zeros. If R is 1, up to GEMM_MR rows
   of a are read, though only Q of them are multiplied. */

#define TILE_TERMS 16

static inline int64_t wholeTiles(int64_t terms) { return ceilDivide(terms, TILE_TERMS) * TILE_TERMS; }

#if HAS_BFLOAT16_MICROKERNEL

/* True if products of pairs are computed in tiles. */
static inline bool multipliesTiles(void) { return thnn_grantsTiles(); }

/* Configure and release the tiles of the calling thread. Tiles of sums and of a get `rows` rows: GEMM_MR for
   tileMicrokernel, 16 for wholeTiles. */
void THNN_(configureTiles)(int rows);
void THNN_(releaseTiles)(void);

void THNN_(tileMicrokernel)(int R, int Q, int V, real *c, int64_t cStride, const real *initial,
                            int64_t initialStride, const real *const *a, int64_t pitch, KRange k, const real *b,
                            int64_t bStride);

/* Products of M = 1 or 2 tiles of 16 rows by N = 1 or 2 tiles of 16 columns, for a of bfloat16 at any address:

     sums[i * rowTile + j * columnTile + m * pitch + n] (+)=
         sum over k < 32 * steps of a[(16 * i + m) * aPitch + k] * b[j * bPitch + (k / 2) * 16 + n][k % 2]

   aPitch is even. */
void THNN_(wholeTiles)(int M, int N, real *sums, int64_t pitch, int64_t rowTile, int64_t columnTile,
                       bool accumulates, const uint16_t *a, int64_t aPitch, const real *b, int64_t bPitch,
                       int64_t steps);

#else

static inline bool multipliesTiles(void) { return false; }

#endif

/* A task calls these before and after its products, with true if they are computed in tiles. */
static inline void beginTiles(bool tiles)
{
#if HAS_BFLOAT16_MICROKERNEL
  if (tiles) THNN_(configureTiles)(GEMM_MR);
#else
  (void)tiles;
#endif
}

static inline void endTiles(bool tiles)
{
#if HAS_BFLOAT16_MICROKERNEL
  if (tiles) THNN_(releaseTiles)();
#else
  (void)tiles;
#endif
}

#endif
