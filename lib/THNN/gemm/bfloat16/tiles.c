/* The only file that is compiled with -mamx-bf16; without THNN_TILE_PRODUCTS it emulates the tiles. */

#include "gemm/tiles.h"

#define LANES 16 /* columns of a tile of sums, pairs of a row of a, rows of b */

#ifdef THNN_TILE_PRODUCTS

#define TILE_ZERO(t) _tile_zero(t)
#define TILE_STORE(t, to, stride) _tile_stored(t, to, (stride) * (int64_t)sizeof(real))
#define TILE_MULTIPLY(sum, a, b) _tile_dpbf16ps(sum, a, b)
/* To gcc the instruction reads no memory. */
#define TILE_LOAD(t, from, stride)   \
  __asm__ volatile("" ::: "memory"); \
  _tile_loadd(t, from, (stride) * (int64_t)sizeof(real))

void THNN_(configureTiles)(int rows)
{
  struct {
    uint8_t palette, start, reserved[14];
    uint16_t columnBytes[16];
    uint8_t rows[16];
  } __attribute__((aligned(64))) tiles = {.palette = 1};
  for (int t = 0; t < 8; t++) {
    tiles.columnBytes[t] = LANES * sizeof(real);
    tiles.rows[t] = (uint8_t)(t < 6 ? rows : TILE_TERMS);
  }
  __asm__ volatile("" ::: "memory");
  _tile_loadconfig(&tiles);
}

void THNN_(releaseTiles)(void) { _tile_release(); }

#else

#include <math.h>

static __thread float tile[8][LANES][LANES];
static __thread int tileRows; /* of tiles 0 to 5 */

static float bfloat16(float pair, int element)
{
  uint32_t bits;
  memcpy(&bits, &pair, sizeof bits);
  bits = element ? bits & 0xffff0000 : bits << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* In the order of the instruction: the first elements of the pairs and the second ones are summed apart. */
static void multiply(int sum, int a, int b)
{
  for (int m = 0; m < tileRows; m++)
    for (int n = 0; n < LANES; n++) {
      float s[2] = {0};
      for (int k = 0; k < TILE_TERMS; k++)
        for (int i = 0; i < 2; i++) s[i] = fmaf(bfloat16(tile[a][m][k], i), bfloat16(tile[b][k][n], i), s[i]);
      tile[sum][m][n] += s[0] + s[1];
    }
}

static int rowsOf(int t) { return t < 6 ? tileRows : TILE_TERMS; }

static void load(int t, const void *from, int64_t stride)
{
  for (int i = 0; i < rowsOf(t); i++)
    memcpy(tile[t][i], (const char *)from + i * stride * (int64_t)sizeof(real), sizeof tile[t][i]);
}

static void store(int t, real *to, int64_t stride)
{
  for (int i = 0; i < rowsOf(t); i++) memcpy(to + i * stride, tile[t][i], sizeof tile[t][i]);
}

#define TILE_ZERO(t) memset(tile[t], 0, sizeof tile[t])
#define TILE_STORE(t, to, stride) store(t, to, stride)
#define TILE_MULTIPLY(sum, a, b) multiply(sum, a, b)
#define TILE_LOAD(t, from, stride) load(t, from, stride)

void THNN_(configureTiles)(int rows)
{
  tileRows = rows;
  memset(tile, 0, sizeof tile);
}

void THNN_(releaseTiles)(void) { memset(tile, 0xff, sizeof tile); } /* NaN */

#endif

/* Rows of a with several row pointers, copied to where one tile is loaded from. */
static ALWAYS_INLINE void gather(real *rows, int R, int Q, const real *const *a, int64_t pitch, int64_t at)
{
  for (int r = 0; r < R; r++)
    for (int q = 0; q < Q; q++, rows += LANES) memcpy(rows, a[r] + q * pitch + at, LANES * sizeof *rows);
}

/* Even and odd tiles of terms are summed in separate tiles, since an instruction waits for the sum before.

   Tiles 0 to 3: sums, [parity][vector]. 4, 5: a. 6, 7: b. */
static ALWAYS_INLINE void multiplyTiles(const bool gathers, const int R, const int Q, const int V, real *c,
                                        int64_t cStride, const real *initial, int64_t initialStride,
                                        const real *const *a, int64_t pitch, KRange range, const real *b,
                                        int64_t bStride)
{
  real rows[2][GEMM_MR][LANES] __attribute__((aligned(64)));
  real sums[4][GEMM_MR][LANES] __attribute__((aligned(64)));
  TILE_ZERO(0);
  TILE_ZERO(1);
  TILE_ZERO(2);
  TILE_ZERO(3);
  b += range.begin * bStride;
/* Tile numbers are literals. */
#define TERMS(copy, rowsTile, sum0, sum1)               \
  if (gathers) {                                        \
    gather(copy[0], R, Q, a, pitch, range.offset[k]);   \
    TILE_LOAD(rowsTile, copy[0], LANES);                \
  } else {                                              \
    TILE_LOAD(rowsTile, a[0] + range.offset[k], pitch); \
  }                                                     \
  TILE_LOAD(6, b, bStride);                             \
  TILE_MULTIPLY(sum0, rowsTile, 6);                     \
  if (V == 2) {                                         \
    TILE_LOAD(7, b + LANES, bStride);                   \
    TILE_MULTIPLY(sum1, rowsTile, 7);                   \
  }                                                     \
  k += TILE_TERMS, b += TILE_TERMS * bStride;
  for (int64_t k = range.begin; k < range.end;) {
    TERMS(rows[0], 4, 0, 1)
    if (k == range.end) break;
    TERMS(rows[1], 5, 2, 3)
  }
#undef TERMS
  TILE_STORE(0, sums[0][0], LANES);
  TILE_STORE(2, sums[2][0], LANES);
  if (V == 2) {
    TILE_STORE(1, sums[1][0], LANES);
    TILE_STORE(3, sums[3][0], LANES);
  }
  for (int m = 0; m < R * Q; m++)
    for (int v = 0; v < V; v++)
      for (int i = 0; i < LANES; i++)
        c[m * cStride + v * LANES + i] =
            (sums[v][m][i] + sums[2 + v][m][i]) + initial[m * initialStride + v * LANES + i];
}

void THNN_(tileMicrokernel)(int R, int Q, int V, real *c, int64_t cStride, const real *initial,
                            int64_t initialStride, const real *const *a, int64_t pitch, KRange k, const real *b,
                            int64_t bStride)
{
  if (R > 1) multiplyTiles(true, R, Q, V, c, cStride, initial, initialStride, a, pitch, k, b, bStride);
  else if (V == 1) multiplyTiles(false, 1, Q, 1, c, cStride, initial, initialStride, a, pitch, k, b, bStride);
  else multiplyTiles(false, 1, Q, 2, c, cStride, initial, initialStride, a, pitch, k, b, bStride);
}

/* Tiles 0 to 3: sums, [row tile][column tile]. 4, 5: a. 6, 7: b. */
static ALWAYS_INLINE void multiplyWholeTiles(const int M, const int N, real *sums, int64_t pitch, int64_t rowTile,
                                             int64_t columnTile, bool accumulates, const uint16_t *a,
                                             int64_t aPitch, const real *b, int64_t bPitch, int64_t steps)
{
/* Calls `apply` for the sums that M and N have. Tile numbers are literals. */
#define SUMS(apply)                          \
  apply(0, sums);                            \
  if (N == 2) {                              \
    apply(1, sums + columnTile);             \
  }                                          \
  if (M == 2) {                              \
    apply(2, sums + rowTile);                \
    if (N == 2) {                            \
      apply(3, sums + rowTile + columnTile); \
    }                                        \
  }
#define LOAD(t, at) TILE_LOAD(t, at, pitch)
#define ZERO(t, at) TILE_ZERO(t)
#define STORE(t, at) TILE_STORE(t, at, pitch)
  if (accumulates) {
    SUMS(LOAD)
  } else {
    SUMS(ZERO)
  }
  for (; steps > 0; steps--, a += 2 * LANES, b += TILE_TERMS * LANES) {
    TILE_LOAD(6, b, LANES);
    TILE_LOAD(4, a, aPitch / 2);
    TILE_MULTIPLY(0, 4, 6);
    if (N == 2) {
      TILE_LOAD(7, b + bPitch, LANES);
      TILE_MULTIPLY(1, 4, 7);
    }
    if (M == 2) {
      TILE_LOAD(5, a + LANES * aPitch, aPitch / 2);
      TILE_MULTIPLY(2, 5, 6);
      if (N == 2) {
        TILE_MULTIPLY(3, 5, 7);
      }
    }
  }
  SUMS(STORE)
#undef STORE
#undef ZERO
#undef LOAD
#undef SUMS
}

void THNN_(wholeTiles)(int M, int N, real *sums, int64_t pitch, int64_t rowTile, int64_t columnTile,
                       bool accumulates, const uint16_t *a, int64_t aPitch, const real *b, int64_t bPitch,
                       int64_t steps)
{
#define CALL(M, N) \
  multiplyWholeTiles(M, N, sums, pitch, rowTile, columnTile, accumulates, a, aPitch, b, bPitch, steps)
  if (M == 2 && N == 2) CALL(2, 2);
  else if (M == 2) CALL(2, 1);
  else if (N == 2) CALL(1, 2);
  else CALL(1, 1);
#undef CALL
}
