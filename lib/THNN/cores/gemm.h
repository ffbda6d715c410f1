/* The one matrix product below convolutions and Linear: register tiles whose left operand is read in place.

     c[p][lane] = from[p][lane] + sum over k of a(p, k) * b[k][lane]

   The lanes of b and c are packed: V vectors of VL reals. The left operand is not packed. Its P = R * Q rows are
   R pointers with Q neighbouring reals behind each, and k steps through it by a table of offsets:

     a(r * Q + q, k) = a[r][at[k] + q]

   which is enough for a convolution to read its patches from the image where it lies (convolution.c).

   Included once per element type, after generic.h. */

#ifndef THNN_CORES_GEMM_H
#define THNN_CORES_GEMM_H

/* P is at most GEMM_ROWS: with V = 2, c, one row of b and an element of a fill the registers. */
#if VBYTES == 64
#define GEMM_ROWS 14
#else
#define GEMM_ROWS 6
#endif

/* After so many k a tile is added to memory and begins again at zero: a long sum is a sum of short ones. */
#define GEMM_DEPTH 128

typedef struct GemmSteps {
  const int32_t *at;
  int64_t count;
} GemmSteps;

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static inline int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t volume(const int64_t *count) { return count[0] * count[1] * count[2] * count[3]; }

/* A row of `width` pixels is cut into equal pieces where it is too wide for a tile. If these have less than 5 pixels, as
   7 = 4 + 3 where a tile has 6 rows, so few sums don't hide the latency of an FMA: then each pixel is a row of one
   column. SSE multiplies and adds apart and has more than this to wait for. */
static inline int64_t gemm_columns(int64_t width)
{
  const bool cut = width > GEMM_ROWS && ceilDivide(width, ceilDivide(width, GEMM_ROWS)) < 5;
  return cut && VBYTES > 16 ? 1 : width;
}

/* How many rows of `width` pixels one tile takes. */
static inline int gemm_rowsPerTile(int64_t width) { return width > GEMM_ROWS / 2 ? 1 : (int)(GEMM_ROWS / width); }

#endif

/* c has V * VL reals per row, and so has `from` unless fromStride is 0: then every row begins as from[0]. */
typedef void (*V_(gemm))(real *c, const real *from, int64_t fromStride, const real *const *a, GemmSteps k,
                         const real *b);

/* The tile of R x Q rows and V = 1 or 2 vectors: R is 1, or what gemm_rowsPerTile says for Q. */
V_(gemm) THNN_(gemm_tile)(int R, int Q, int V);

/* dst[j * dstStride + i] = src[i * srcStride + j] for i < rows and j < columns, in blocks of VL x VL. */
void THNN_(gemm_transpose)(real *dst, int64_t dstStride, const real *src, int64_t srcStride, int64_t rows,
                           int64_t columns);
