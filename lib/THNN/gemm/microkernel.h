#ifndef THNN_GEMM_MICROKERNEL_H
#define THNN_GEMM_MICROKERNEL_H

#include "runtime/kernel.h"

/* The one matrix product below convolutions and Linear: register tiles whose left operand is read in place.

     c[p][lane] = from[p][lane] + sum over k of a(p, k) * b[k][lane]

   The lanes of b and c are packed: V vectors of VL reals. The left operand is not packed. Its P = R * Q rows are
   R pointers with Q neighbouring reals behind each, and k steps through it by a table of offsets:

     a(r * Q + q, k) = a[r][at[k] + q]

   which is enough for a convolution to read its patches from the image where it lies (convolution.c). */

/* P is at most GEMM_ROWS: with V = 2, c, one row of b and an element of a fill the registers. */
#if VBYTES == 64
#define GEMM_ROWS 14
#else
#define GEMM_ROWS 6
#endif

/* A long sum is a sum of short ones, so that it errs less. After GEMM_CHAIN k a tile puts its sums away and begins again
   at zero; what all its chains are is added to memory, after GEMM_DEPTH k in most uses. */
#define GEMM_CHAIN 64
#define GEMM_DEPTH 256

/* What is needed later, to be asked for evenly while a tile computes, one line per k: so many in a row that lie `near`
   bytes apart, then the next row, `far` bytes from the end of the one before. */
typedef struct GemmAhead {
  const char *from;
  int64_t row, near, far;
} GemmAhead;

/* k from begin to end - 1. Chains end at multiples of GEMM_CHAIN wherever a tile begins, so that products with zero may
   be left out without a change of bits. */
typedef struct GemmSteps {
  const int32_t *at;
  int64_t begin, end;
} GemmSteps;

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
/* For functions that are written out for each number of sums, as they keep them in registers. */
#define UP_TO_9(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
#define REALS_PER_LINE ((int)(64 / sizeof(real)))

static inline int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t volume(const int64_t *count) { return count[0] * count[1] * count[2] * count[3]; }

/* A row of `width` pixels is cut into equal pieces where it is too wide for a tile. Where a tile has 6 rows its sums hide
   the latency of an FMA only if it is full: there each pixel is a row of one column, so that a tile goes on in the next
   row. SSE multiplies and adds apart and has more than this to wait for. */
static inline int64_t gemm_columns(int64_t width) { return VBYTES == 32 ? 1 : width; }

/* How many rows of `width` pixels one tile takes. */
static inline int gemm_rowsPerTile(int64_t width) { return width > GEMM_ROWS / 2 ? 1 : (int)(GEMM_ROWS / width); }

/* Pieces of memory that are read next. Each begins on a page of its own, where no prefetcher of the CPU has been: they
   are asked for part by part while there is other work. */
typedef struct Pieces {
  const real *from;
  int64_t count, stride, length;
} Pieces;

/* Parts are numbered 0 .. parts - 1. */
static inline void fetch(const Pieces *p, int64_t part, int64_t parts)
{
  for (int64_t i = part * p->count / parts; i < (part + 1) * p->count / parts; i++)
    for (int64_t x = 0; x < p->length; x += REALS_PER_LINE) __builtin_prefetch(p->from + i * p->stride + x);
}

/* The same, for tiles to ask for: each is a part and has so many steps. */
typedef struct Requests {
  Pieces pieces;
  int64_t part, parts, needed; /* parts 0 .. needed - 1 ask for all of it */
  GemmAhead ahead;             /* of the next part; row is 0 where tiles are too few */
  int64_t cut, cuts, cutBytes, nextBytes;
} Requests;

/* A row is a piece, or a line of every piece where that is longer. A part is some rows, or some of the cuts of a row. */
static inline Requests requests_make(Pieces p, int64_t parts, int64_t steps)
{
  Requests r = {.pieces = p, .parts = parts};
  if (p.count <= 0 || p.length <= 0 || steps <= 0) return r;
  const int64_t bytes = p.stride * (int64_t)sizeof(real);
  const bool aligned = ((uintptr_t)p.from | (uintptr_t)bytes) % 64 == 0;
  const int64_t lines = ceilDivide(p.length, REALS_PER_LINE) + !aligned;
  const bool byPiece = lines >= p.count;
  const int64_t row = byPiece ? lines : p.count, near = byPiece ? 64 : bytes, far = byPiece ? bytes : 64;
  const int64_t rows = MAX(steps / row, 1);
  r.cuts = ceilDivide(row, steps);
  r.needed = ceilDivide(byPiece ? p.count : lines, rows) * r.cuts;
  r.cutBytes = steps * near;
  r.nextBytes = rows * far - (r.cuts - 1) * r.cutBytes;
  if (r.needed <= parts) r.ahead = (GemmAhead){(const char *)p.from, row, near, far - row * near};
  return r;
}

static inline GemmAhead requests_next(Requests *r)
{
  const GemmAhead nothing = {0}, ahead = r->ahead;
  const int64_t part = r->part++;
  if (part >= r->needed) return nothing;
  if (ahead.row == 0) {
    fetch(&r->pieces, part, r->parts);
    return nothing;
  }
  const bool sameRow = ++r->cut < r->cuts;
  r->ahead.from += sameRow ? r->cutBytes : r->nextBytes;
  if (!sameRow) r->cut = 0;
  return ahead;
}

/* c has V * VL reals per row, and so has `from` unless fromStride is 0: then every row begins as from[0]. */
typedef void (*GemmTile)(real *c, const real *from, int64_t fromStride, const real *const *a, GemmSteps k,
                         const real *b, const GemmAhead *ahead);

/* The tile of R x Q rows and V = 1 or 2 vectors: R is 1, or what gemm_rowsPerTile says for Q. It asks for `ahead` or has
   none, which is faster. */
GemmTile THNN_(gemm_tile)(int R, int Q, int V, bool asks);

/* dst[j * dstStride + i] = src[i * srcStride + j] for i < rows and j < columns, in blocks of VL x VL. */
void THNN_(gemm_transpose)(real *dst, int64_t dstStride, const real *src, int64_t srcStride, int64_t rows,
                           int64_t columns);

#endif
