#include "gemm/gemm.h"
#include "gemm/microkernel.h"
#include "gemm/tiles.h"
#include "gemm/transpose.h"
#include "runtime/streaming.h"
#include "simd/half_lanes.h"

/* Blocking, so that every operand stays in a cache while it is reused:

     for each block of c                                      a task
       for each K-block of GEMM_KC terms
         pack the rows of a, [micro-tile][k][m]               A_BYTES, L2; or read them in place
         for each panel of GEMM_NR columns
           pack b, [k][n]                                     L1; or read it in place
           for each micro-tile: multiply, add to its sums     SUM_BYTES, L2 or beyond
       store the sums to c

   Sums are packed, [panel][micro-tile][m][n], because all rows of c may map to the same cache set; multiplyInPlace
   stores rows that are close together directly. The order of summation depends only on sizes; the number of threads
   decides only which task computes a part of c. */

#define A_BYTES ((int64_t)576 << 10)
#define SUM_BYTES ((int64_t)1088 << 10)
#define TILE_A (GEMM_MR * GEMM_KC) /* reals of a that are packed per micro-tile and K-block */
#define TILES_OF_A (A_BYTES / (TILE_A * (int64_t)sizeof(real)))

/* The additional cost of a row of c that two threads write parts of, in terms of a row of a micro-tile: the prefetcher
   of one core takes cache lines that the other core writes. Measured on an AMD EPYC (Zen 4) whose cores do not share a
   cache. */
#define SHARED_LINE_COST 576.0

/* Bytes between rows of c below which hardware prefetches the next row. */
#define NEAR_ROW 2048

/* The most bytes of packed b that stay in L2 while each micro-tile of rows is multiplied by all of b. */
#define MOST_B_BYTES ((int64_t)128 << 10)

/* Terms of a that are packed for all micro-tiles before the next terms: few, because their addresses may share an L1
   set. */
#define TERMS_AT_ONCE 8

/* Rows of a are read in place only if at most IN_PLACE_PANELS panels reuse them, b only if at most IN_PLACE_TILES
   micro-tiles do. */
#define IN_PLACE_PANELS 4
#define IN_PLACE_TILES 4

/* The offset of value i of an index that runs over four axes. *run is the number of values from i on within the last
   axis. */
static int64_t locate(const int64_t *size, const int64_t *stride, int64_t i, int64_t *run)
{
  int64_t at = i % size[3] * stride[3];
  *run = size[3] - i % size[3];
  i /= size[3];
  for (int d = 2; i > 0; i /= size[d], d--) at += i % size[d] * stride[d];
  return at;
}

/* Values start .. start + length - 1 of an index that runs over four axes. */
typedef struct Range {
  const int64_t *size, *stride;
  int64_t start, length;
} Range;

/* packed[i * pitch + j] = data[i][j] */
static void pack(real *packed, int64_t pitch, const real *data, Range rows, Range columns)
{
  for (int64_t i = 0, m; i < rows.length; i += m) {
    const real *from = data + locate(rows.size, rows.stride, rows.start + i, &m);
    m = MIN(m, rows.length - i);
    for (int64_t j = 0, n; j < columns.length; j += n) {
      const int64_t at = locate(columns.size, columns.stride, columns.start + j, &n);
      n = MIN(n, columns.length - j);
      THNN_(copyMatrix)(packed + i * pitch + j, pitch, 1, from + at, rows.stride[3], columns.stride[3], m, n);
    }
  }
}

/* How an operand is packed: COPY, elements of `real`, or pairs of bfloat16 that are adjacent in memory and so have the
   layout of float32; WIDEN, elements of a half type to float32; PAIR, two terms of bfloat16 that lie apart to a pair. */
enum { COPY, WIDEN, PAIR };

/* The address of an element of an operand. */
static const real *operandAt(const GemmOperand *f, int64_t offset)
{
  return (const real *)((const char *)f->data + offset * (f->conversion == COPY ? (int64_t)sizeof(real) : 2));
}

#ifdef THNN_REAL_IS_FLOAT

/* Packs the terms of one value i of an operand, as a row. */
static void packTerms(const GemmOperand *f, int32_t type, const Half *from, real *row, int64_t terms, bool single)
{
  const int64_t stride = f->kStride[3];
  if (f->conversion == WIDEN) {
    thnn_widenStrided(row, (const char *)from, stride * (int64_t)sizeof *from, type, terms);
    return;
  }
  const int64_t whole = terms - single;
  if (f->partnerStride == 1 && stride == 2) memcpy(row, from, sizeof *row * (size_t)whole);
  else
    for (int64_t k = 0; k < whole; k++) row[k] = pairOf(from + k * stride, from + k * stride + f->partnerStride);
  if (single) row[whole] = pairOf(from + whole * stride, NULL);
}

/* As copyTerms, of a half type. */
static void convertTerms(const GemmOperand *f, int32_t type, real *packed, int64_t pitch, const Half *from,
                         int64_t terms, int64_t n, bool single)
{
  if (f->stride[3] == 1) {
    for (int64_t k = 0; k < terms; k++, packed += pitch, from += f->kStride[3])
      for (int64_t i = 0; i < n; i += VL) {
        const int lanes = (int)MIN(VL, n - i);
        const Half *partner = single && k == terms - 1 ? NULL : from + i + f->partnerStride;
        const vreal x =
            f->conversion == PAIR ? v_loadPairs(from + i, partner, lanes) : v_loadHalf(from + i, type, lanes);
        if (lanes == VL) v_store(packed + i, x);
        else v_store_n(packed + i, x, lanes);
      }
    return;
  }
  real rows[VBYTES / sizeof(real)][GEMM_KC];
  for (int64_t i = 0; i < n; i += VL) {
    const int64_t lanes = MIN(VL, n - i);
    for (int64_t l = 0; l < lanes; l++) packTerms(f, type, from + (i + l) * f->stride[3], rows[l], terms, single);
    THNN_(transpose)(packed + i, pitch, rows[0], GEMM_KC, lanes, terms);
  }
}

#endif

/* packed[k * pitch + i] = the element of term k and value i, for `terms` terms and n values from an address on, which
   are within the last axes. `single`: the last term is not a pair. */
static void copyTerms(const GemmOperand *f, int32_t type, real *packed, int64_t pitch, const real *from,
                      int64_t terms, int64_t n, bool single)
{
#ifdef THNN_REAL_IS_FLOAT
  if (f->conversion != COPY) return convertTerms(f, type, packed, pitch, (const Half *)from, terms, n, single);
#else
  (void)type, (void)single;
#endif
  THNN_(copyMatrix)(packed, pitch, 1, from, f->kStride[3], f->stride[3], terms, n);
}

typedef void CopyRun(const GemmOperand *f, int32_t type, real *packed, int64_t pitch, const real *from,
                     int64_t terms, int64_t n, bool single);

/* Copies terms k .. k + K - 1 of values i .. i + n - 1 in runs that are adjacent in the operand, to
   packed[k * termPitch + i * valuePitch], one of which is 1. */
static ALWAYS_INLINE void copyRuns(const Gemm *p, const GemmOperand *f, CopyRun *copy, real *packed,
                                   int64_t termPitch, int64_t valuePitch, int64_t k, int64_t K, int64_t i,
                                   int64_t n)
{
  for (int64_t x = 0, terms; x < K; x += terms) {
    int64_t left;
    const int64_t at = locate(p->kSize, f->kStride, k + x, &left);
    terms = MIN(left, K - x);
    for (int64_t j = 0, values; j < n; j += values) {
      const real *from = operandAt(f, at + locate(f->size, f->stride, i + j, &values));
      values = MIN(values, n - j);
      copy(f, p->type, packed + x * termPitch + j * valuePitch, MAX(termPitch, valuePitch), from, terms, values,
           p->oddTerms && terms == left);
    }
  }
}

#if HAS_BFLOAT16_MICROKERNEL

/* As copyTerms of pairs, but packed[i * pitch + k]. */
static void copyRows(const GemmOperand *f, int32_t type, real *packed, int64_t pitch, const real *from,
                     int64_t terms, int64_t n, bool single)
{
  if (f->conversion == COPY)
    return THNN_(copyMatrix)(packed, pitch, 1, from, f->stride[3], f->kStride[3], n, terms);
  const Half *half = (const Half *)from;
  if (f->stride[3] != 1) {
    for (int64_t i = 0; i < n; i++) packTerms(f, type, half + i * f->stride[3], packed + i * pitch, terms, single);
    return;
  }
  real columns[GEMM_KC * VL];
  for (int64_t i = 0; i < n; i += VL) {
    const int64_t lanes = MIN(VL, n - i);
    convertTerms(f, type, columns, VL, half + i, terms, lanes, single);
    THNN_(transpose)(packed + i * pitch, pitch, columns, VL, terms, lanes);
  }
}

/* Packs rows of a for tiles: packed[i * GEMM_KC + k], with zeros up to a whole number of tiles. */
static void packRows(const Gemm *p, real *packed, int64_t k, int64_t K, int64_t i, int64_t n)
{
  copyRuns(p, &p->a, copyRows, packed, 1, GEMM_KC, k, K, i, n);
  for (int64_t j = 0; j < n && K < wholeTiles(K); j++)
    memset(packed + j * GEMM_KC + K, 0, sizeof(real) * (size_t)(wholeTiles(K) - K));
}

#endif

/* Packs values i .. i + n - 1 of terms k .. k + K - 1, at most GEMM_KC, of an operand: packed[k * pitch + i]. */
static void packOperand(const Gemm *p, const GemmOperand *f, real *packed, int64_t pitch, int64_t k, int64_t K,
                        int64_t i, int64_t n)
{
  copyRuns(p, f, copyTerms, packed, pitch, 1, k, K, i, n);
}

/* data[i][j] = packed[i * pitch + j] */
static void unpack(const real *packed, int64_t pitch, real *data, Range rows, Range columns)
{
  for (int64_t i = 0, m; i < rows.length; i += m) {
    real *to = data + locate(rows.size, rows.stride, rows.start + i, &m);
    m = MIN(m, rows.length - i);
    for (int64_t j = 0, n; j < columns.length; j += n) {
      const int64_t at = locate(columns.size, columns.stride, columns.start + j, &n);
      n = MIN(n, columns.length - j);
      THNN_(copyMatrix)(to + at, rows.stride[3], columns.stride[3], packed + i * pitch + j, pitch, 1, m, n);
    }
  }
}

/* True if c is written, not added to, and its rows are so close that hardware prefetches the next one. */
static bool isNewAndNear(const Gemm *p)
{
  return !p->accumulate && p->a.cStride[3] * elementBytes(p->type) < NEAR_ROW;
}

/* True if c, of all groups, is written by non-temporal stores. */
static bool streamsResult(const Gemm *p)
{
  return !p->accumulate && !isHalf(p->type) &&
         thnn_exceedsLastLevelCache(elementCount(p->a.size) * elementCount(p->b.size) * p->groups *
                                    (int64_t)sizeof(real));
}

/* A block of c: some micro-tiles of rows by some columns, and its packed sums. */
typedef struct Block {
  real *sums;
  int64_t tiles, firstColumn, endColumn;
  int64_t row[TILES_OF_A + 1]; /* the first row of each micro-tile, and the end */
  bool streams;                /* c is written by non-temporal stores */
} Block;

/* The first row of micro-tile number `tile`. The `rows` rows of a are divided into micro-tiles of nearly equal
   heights. */
static int64_t firstRow(int64_t tile, int64_t rows) { return tile * rows / ceilDivide(rows, GEMM_MR); }

static int rowsOf(const Block *s, int64_t tile) { return (int)(s->row[tile + 1] - s->row[tile]); }

#ifdef THNN_REAL_IS_FLOAT

/* Stores n sums of a row of c, at distances of `stride`, to memory of a half type. */
static void storeHalfRow(const Gemm *p, Half *c, int64_t stride, const real *sum, int64_t n)
{
  for (int64_t i = 0; i < n; i += VL) {
    const int lanes = (int)MIN(VL, n - i);
    vreal x = v_load_n(sum + i, lanes);
    if (stride == 1) {
      if (p->accumulate) x = v_loadHalf(c + i, p->type, lanes) + p->scale * x;
      v_storeHalf(c + i, x, p->type, lanes);
      continue;
    }
    real lane[VBYTES / sizeof(real)];
    char *const to = (char *)(c + i * stride);
    const int64_t bytes = stride * (int64_t)sizeof *c;
    if (p->accumulate) {
      thnn_widenStrided(lane, to, bytes, p->type, lanes);
      x = v_load_n(lane, lanes) + p->scale * x;
    }
    v_store(lane, x);
    thnn_narrowStrided(to, bytes, lane, p->type, lanes);
  }
}

/* storeTileRow of a c of a half type. */
static void storeHalfTileRow(const Gemm *p, const Block *s, int64_t tile)
{
  const int64_t row = s->row[tile], rows = rowsOf(s, tile), nextPanel = s->tiles * MICROTILE_REALS;
  for (int64_t r = 0; r < rows; r++) {
    int64_t run;
    Half *const c = (Half *)p->c + locate(p->a.size, p->a.cStride, row + r, &run);
    const real *sum = s->sums + tile * MICROTILE_REALS;
    for (int64_t column = s->firstColumn; column < s->endColumn; column += GEMM_NR, sum += nextPanel) {
      const int64_t n = MIN(GEMM_NR, s->endColumn - column), width = n > VL ? GEMM_NR : VL;
      for (int64_t j = 0, values; j < n; j += values) {
        Half *to = c + locate(p->b.size, p->b.cStride, column + j, &values);
        values = MIN(values, n - j);
        storeHalfRow(p, to, p->b.cStride[3], sum + r * width + j, values);
      }
    }
  }
}

#endif

/* Stores micro-tile number `tile` of every panel of a block. If the columns of c are contiguous, each row is stored
   across the whole block before the next one, which is fastest where all rows of c map to one cache set. */
static void storeTileRow(const Gemm *p, const Block *s, int64_t tile)
{
#ifdef THNN_REAL_IS_FLOAT
  if (isHalf(p->type)) return storeHalfTileRow(p, s, tile);
#endif
  const int64_t row = s->row[tile], rows = rowsOf(s, tile), nextPanel = s->tiles * MICROTILE_REALS;
  real *sum = s->sums + tile * MICROTILE_REALS;
  int64_t run;
  real *c = (real *)p->c + locate(p->b.size, p->b.cStride, s->firstColumn, &run);
  if (p->b.cStride[3] == 1 && run >= s->endColumn - s->firstColumn) {
    real *after = c + locate(p->a.size, p->a.cStride, row, &run) - s->firstColumn;
    const int64_t allRows = elementCount(p->a.size);
    /* The next row is prefetched if it is far away, perhaps on another page; otherwise hardware prefetches it. */
    const bool near = isNewAndNear(p) && !s->streams;
    for (int64_t r = 0; r < rows; r++) {
      real *to = after;
      const real *from = sum;
      if (--run > 0) after += p->a.cStride[3];
      else if (row + r + 1 < allRows)
        after = c + locate(p->a.size, p->a.cStride, row + r + 1, &run) - s->firstColumn;
      int64_t column = s->firstColumn;
      if (near)
        for (; column + GEMM_NR <= s->endColumn; column += GEMM_NR, from += nextPanel) {
#pragma GCC unroll 2
          for (int v = 0; v < GEMM_NR; v += VL) v_store(to + column + v, v_load(from + r * GEMM_NR + v));
        }
      for (; column < s->endColumn; column += GEMM_NR, from += nextPanel) {
        const int n = (int)MIN(GEMM_NR, s->endColumn - column), width = n > VL ? GEMM_NR : VL;
        for (int v = 0; v < n; v += VL) {
          vreal x = v_load(from + r * width + v);
          const int m = MIN(VL, n - v);
          if (p->accumulate) x = v_load_n(to + column + v, m) + p->scale * x;
          if (s->streams && m == VL && (uintptr_t)(to + column + v) % VBYTES == 0) {
            v_stream(to + column + v, x);
            continue;
          }
          __builtin_prefetch(after + column + v, 1);
          if (m == VL) v_store(to + column + v, x);
          else v_store_n(to + column + v, x, m);
        }
      }
    }
  } else {
    for (int64_t column = s->firstColumn; column < s->endColumn; column += GEMM_NR, sum += nextPanel) {
      const int64_t n = MIN(GEMM_NR, s->endColumn - column), width = n > VL ? GEMM_NR : VL;
      const Range rowRange = {p->a.size, p->a.cStride, row, rows},
                  columnRange = {p->b.size, p->b.cStride, column, n};
      if (p->accumulate) {
        real before[MICROTILE_REALS];
        pack(before, width, p->c, rowRange, columnRange);
        for (int64_t i = 0; i < rows; i++)
          for (int64_t x = i * width; x < i * width + n; x++) sum[x] = before[x] + p->scale * sum[x];
      }
      unpack(sum, width, p->c, rowRange, columnRange);
    }
  }
}

/* The memory of elements i .. i + n - 1 and terms k .. k + K - 1 of an operand, for prefetching. Empty unless both
   ranges lie within the last axis. */
static PrefetchRegion operandRegion(const Gemm *p, const GemmOperand *f, int64_t i, int64_t n, int64_t k,
                                    int64_t K)
{
  if (K == 0) return (PrefetchRegion){0};
  int64_t run, terms;
  const int64_t offset = locate(f->size, f->stride, i, &run) + locate(p->kSize, f->kStride, k, &terms);
  const real *from = operandAt(f, offset);
  if (run < n || terms < K) return (PrefetchRegion){0};
  if (f->conversion == COPY)
    return f->stride[3] == 1 ? (PrefetchRegion){from, K, f->kStride[3], n}
                             : (PrefetchRegion){from, n, f->stride[3], f->kStride[3] == 1 ? K : 0};
  /* Two elements of a half type take a real. */
  const int64_t elements = f->conversion == PAIR ? 2 * K : K,
                stride = f->conversion == PAIR ? f->partnerStride : f->kStride[3];
  if (f->stride[3] == 1) return (PrefetchRegion){from, elements, stride / 2, ceilDivide(n, 2)};
  return (PrefetchRegion){from, n, f->stride[3] / 2, stride == 1 ? ceilDivide(elements, 2) : 0};
}

static PrefetchRegion tileRegion(const Gemm *p, const Block *s, int64_t tile, int64_t k, int64_t K)
{
  return operandRegion(p, &p->a, s->row[tile], rowsOf(s, tile), k, K);
}

/* True if a row of `a` is contiguous, and not all rows map to one L1 set. */
static bool rowsAreReadable(const Gemm *p)
{
  return p->a.conversion == COPY && p->a.kStride[3] == 1 && elementCount(p->kSize) == p->kSize[3] &&
         p->a.stride[3] * (int64_t)sizeof(real) % 4096 != 0;
}

/* Rows of `a` with contiguous terms are read in place if few panels would reuse the packed copy, but not if `a`
   has few rows: incomplete micro-tiles repeat a row. */
static bool readsAInPlace(const Gemm *p, int64_t panels)
{
  return panels <= IN_PLACE_PANELS && rowsAreReadable(p) && elementCount(p->a.size) >= 16 * GEMM_MR;
}

/* b with contiguous columns is read in place if few micro-tiles would reuse the packed copy, but not if its rows fill
   few L1 sets and are reused. */
static bool readsBInPlace(const Gemm *p, int64_t tiles)
{
  const GemmOperand *b = &p->b;
  return tiles <= IN_PLACE_TILES && b->conversion == COPY && b->stride[3] == 1 &&
         elementCount(p->kSize) == p->kSize[3] && (tiles == 1 || b->kStride[3] * (int64_t)sizeof(real) % 256 != 0);
}

/* The rows of a micro-tile that is read in place. */
typedef struct RowPointers {
  const real *row[GEMM_MR];
} RowPointers;

/* Row pointers of all micro-tiles of a block, at term k. Incomplete micro-tiles repeat their last row. */
static void setRowPointers(const Gemm *p, const Block *s, int64_t k, RowPointers *pointers)
{
  const GemmOperand *f = &p->a;
  int64_t run = 0;
  const real *row = NULL;
  for (int64_t tile = 0; tile < s->tiles; tile++)
    for (int r = 0; r < GEMM_MR; r++) {
      if (r < rowsOf(s, tile)) {
        if (--run > 0) row += f->stride[3];
        else row = (const real *)f->data + locate(f->size, f->stride, s->row[tile] + r, &run) + k;
      }
      pointers[tile].row[r] = row;
    }
}

/* Packs terms k .. k + K - 1 of all micro-tiles of a block. If the rows of a term are contiguous, a few terms are
   packed for all micro-tiles before the next ones: memory is then read in order, each cache line once. */
static void packA(const Gemm *p, real *packed, const Block *s, int64_t k, int64_t K)
{
  const GemmOperand *a = &p->a;
  const int64_t tiles = s->tiles, first = s->row[0];
#if HAS_BFLOAT16_MICROKERNEL
  for (int64_t tile = 0; p->tiles && tile < tiles; tile++)
    packRows(p, packed + tile * TILE_A, k, K, s->row[tile], rowsOf(s, tile));
  if (p->tiles) return;
#endif
  int64_t run, terms;
  const int64_t start = locate(a->size, a->stride, first, &run);
  if (a->stride[3] == 1 && run >= s->row[tiles] - first) {
    for (int64_t i = 0; i < K; i += terms) {
      int64_t left;
      const int64_t at = start + locate(p->kSize, a->kStride, k + i, &left);
      terms = MIN(MIN(left, TERMS_AT_ONCE), K - i);
      for (int64_t tile = 0; tile < tiles; tile++)
        copyTerms(a, p->type, packed + tile * TILE_A + i * GEMM_MR, GEMM_MR,
                  operandAt(a, at + s->row[tile] - first), terms, rowsOf(s, tile), p->oddTerms && terms == left);
    }
    return;
  }
  for (int64_t tile = 0; tile < tiles; tile++) {
    if (tile + 1 < tiles) {
      const PrefetchRegion next = tileRegion(p, s, tile + 1, k, K);
      prefetchPart(&next, 0, 1);
    }
    packOperand(p, a, packed + tile * TILE_A, GEMM_MR, k, K, s->row[tile], rowsOf(s, tile));
  }
}

/* Terms that micro-kernels multiply for a K-block of K terms. */
static int64_t multipliedTerms(const Gemm *p, int64_t K) { return p->tiles ? wholeTiles(K) : K; }

/* True if micro-kernels may read an operand of K terms in place. */
static bool isWhole(const Gemm *p, int64_t K) { return K == multipliedTerms(p, K); }

/* Packs n columns of b, with zeros up to `width` columns and to the terms that are multiplied. */
static void packB(const Gemm *p, real *packed, int64_t width, int64_t k, int64_t K, int64_t column, int64_t n)
{
  const int64_t terms = multipliedTerms(p, K), first = n < width ? 0 : K;
  memset(packed + first * width, 0, sizeof(real) * (size_t)((terms - first) * width));
  packOperand(p, &p->b, packed, width, k, K, column, n);
}

/* Multiplies the `rows` rows of a micro-tile, packed or read in place through GEMM_MR pointers, by V vectors of b. */
static inline void multiplyMicrotile(const Gemm *p, bool inPlace, int rows, int V, real *c, int64_t cStride,
                                     const real *initial, int64_t initialStride, const real *const *a, KRange k,
                                     const real *b, int64_t bStride, const PrefetchLines *lines)
{
  const int R = inPlace ? GEMM_MR : 1, Q = inPlace ? 1 : rows;
#if HAS_BFLOAT16_MICROKERNEL
  if (p->tiles)
    return THNN_(tileMicrokernel)(R, Q, V, c, cStride, initial, initialStride, a, GEMM_KC, k, b, bStride);
#endif
  microkernelOf(p->pairs, R, Q, V, lines->run > 0)(c, cStride, initial, initialStride, a, k, b, bStride, lines);
}

/* Computes micro-tiles firstTile .. endTile - 1 times columns firstColumn .. endColumn - 1. */
static void multiplyBlock(const Gemm *p, int64_t firstTile, int64_t endTile, int64_t firstColumn,
                          int64_t endColumn)
{
  const int64_t allRows = elementCount(p->a.size), terms = elementCount(p->kSize), tiles = endTile - firstTile,
                panels = ceilDivide(endColumn - firstColumn, GEMM_NR);
  real *packedA = thnn_scratch(
      sizeof(real) * (size_t)(tiles * TILE_A + GEMM_NR * GEMM_KC + (1 + tiles * panels) * MICROTILE_REALS));
  real *packedB = packedA + tiles * TILE_A, *initial = packedB + GEMM_NR * GEMM_KC;
  Block block;
  block.sums = initial + MICROTILE_REALS;
  block.tiles = tiles;
  block.firstColumn = firstColumn;
  block.endColumn = endColumn;
  block.streams = streamsResult(p);
  for (int64_t tile = 0; tile <= tiles; tile++) block.row[tile] = firstRow(firstTile + tile, allRows);
  const bool inPlace = readsAInPlace(p, panels) && isWhole(p, terms), inPlaceB = readsBInPlace(p, tiles);
  RowPointers pointers[TILES_OF_A];
  int32_t offset[GEMM_KC];
  for (int k = 0; k < GEMM_KC; k++) offset[k] = inPlace || p->tiles ? k : k * GEMM_MR;
  for (int64_t k = 0; k < terms || k == 0; k += GEMM_KC) { /* without terms, c is the bias */
    const int64_t K = MIN(GEMM_KC, terms - k);
    if (inPlace) setRowPointers(p, &block, k, pointers);
    else packA(p, packedA, &block, k, K);
    real *sum = block.sums;
    for (int64_t column = firstColumn; column < endColumn; column += GEMM_NR) {
      const int n = (int)MIN(GEMM_NR, endColumn - column), V = n > VL ? 2 : 1;
      const int64_t width = V * VL;
      int64_t run;
      const real *b = operandAt(&p->b, locate(p->b.size, p->b.stride, column, &run) + k * p->b.kStride[3]);
      const bool unpacked = inPlaceB && n == width && run >= width && isWhole(p, K);
      if (!unpacked) {
        b = packedB;
        packB(p, packedB, width, k, K, column, n);
      }
      for (int64_t l = 0; k == 0 && l < width; l++)
        initial[l] = l < n && p->bias ? loadElement(p->bias, (column + l) * p->b.biasStride, p->type) : 0;
      PrefetchPlan prefetch = {0};
      if (K > 0 && column + GEMM_NR < endColumn)
        prefetch = makePrefetchPlan(
            operandRegion(p, &p->b, column + GEMM_NR, MIN(GEMM_NR, endColumn - column - GEMM_NR), k, K), tiles, K);
      for (int64_t tile = 0; tile < tiles; tile++, sum += MICROTILE_REALS) {
        const int64_t row = block.row[tile];
        const int rows = rowsOf(&block, tile);
        if (k == 0 && p->a.biasStride)
          for (int64_t r = 0; r < rows; r++)
            for (int v = 0; v < V; v++)
              v_store(initial + r * width + v * VL,
                      v_set1(loadElement(p->bias, (row + r) * p->a.biasStride, p->type)));
        const real *packedRow = packedA + tile * TILE_A, *before = k ? sum : initial;
        const int64_t beforeStride = k || p->a.biasStride ? width : 0;
        if (inPlace && column == firstColumn && tile + 1 < tiles)
          prefetch = makePrefetchPlan(tileRegion(p, &block, tile + 1, k, K), 1, K);
        const PrefetchLines lines = nextPrefetch(&prefetch);
        multiplyMicrotile(p, inPlace, rows, V, sum, width, before, beforeStride,
                          inPlace ? pointers[tile].row : &packedRow, (KRange){offset, 0, multipliedTerms(p, K)}, b,
                          unpacked ? p->b.kStride[3] : width, &lines);
      }
    }
  }
  for (int64_t tile = 0; tile < tiles; tile++) storeTileRow(p, &block, tile);
}

/* True if micro-kernels should store to c itself: rows and columns of c are one axis each, columns are contiguous, rows
   are close, c is not streamed, b fits into L2, and more micro-tiles use it than would read it in place. */
static bool storesInPlace(const Gemm *p)
{
  const int64_t terms = elementCount(p->kSize), panels = ceilDivide(p->b.size[3], GEMM_NR);
  return isNewAndNear(p) && !streamsResult(p) && terms > 0 && terms <= GEMM_KC && p->kSize[3] == terms &&
         p->a.biasStride == 0 && p->a.size[3] == elementCount(p->a.size) &&
         p->a.size[3] > IN_PLACE_TILES * GEMM_MR && p->b.size[3] == elementCount(p->b.size) &&
         p->b.cStride[3] == 1 && terms * panels * GEMM_NR * (int64_t)sizeof(real) <= MOST_B_BYTES;
}

/* As multiplyBlock, for products with storesInPlace():

     pack b, [panel][k][n]                                    MOST_B_BYTES, L2
     for each micro-tile of rows
       pack the rows of a, [k][m]; or read them in place      L1
       for each panel: multiply, store to c

   Memory is written once, in order. */
static void multiplyInPlace(const Gemm *p, int64_t firstTile, int64_t endTile, int64_t firstColumn,
                            int64_t endColumn)
{
  const GemmOperand *a = &p->a, *b = &p->b;
  const int64_t perReal = (int64_t)sizeof(real) / elementBytes(p->type); /* elements of c */
  const int64_t allRows = a->size[3], terms = p->kSize[3], endRow = firstRow(endTile, allRows),
                panels = ceilDivide(endColumn - firstColumn, GEMM_NR), multiplied = multipliedTerms(p, terms),
                panelReals = GEMM_NR * multiplied;
  real *packedA =
      thnn_scratch(sizeof(real) * (size_t)(TILE_A + MICROTILE_REALS + panels * (GEMM_NR + panelReals)));
  real *sums = packedA + TILE_A, *biases = sums + MICROTILE_REALS, *packedB = biases + panels * GEMM_NR;
  memset(biases, 0, sizeof(real) * (size_t)(panels * GEMM_NR));
  for (int64_t i = 0; p->bias && i < endColumn - firstColumn; i++)
    biases[i] = loadElement(p->bias, (firstColumn + i) * b->biasStride, p->type);
  for (int64_t panel = 0; panel < panels; panel++) {
    const int64_t column = firstColumn + panel * GEMM_NR, n = MIN(GEMM_NR, endColumn - column);
    packB(p, packedB + panel * panelReals, n > VL ? GEMM_NR : VL, 0, terms, column, n);
  }
  int32_t inPlaceOffset[GEMM_KC], packedOffset[GEMM_KC];
  for (int k = 0; k < GEMM_KC; k++) {
    inPlaceOffset[k] = k;
    packedOffset[k] = p->tiles ? k : k * GEMM_MR;
  }
  for (int64_t row = firstRow(firstTile, allRows), rows; row < endRow; row += rows) {
    rows = MIN(GEMM_MR, endRow - row);
    const bool inPlace = rows == GEMM_MR && rowsAreReadable(p) && isWhole(p, terms);
    const real *pointers[GEMM_MR] = {packedA};
    if (inPlace)
      for (int64_t r = 0; r < GEMM_MR; r++) pointers[r] = operandAt(a, (row + r) * a->stride[3]);
#if HAS_BFLOAT16_MICROKERNEL
    else if (p->tiles) packRows(p, packedA, 0, terms, row, rows);
#endif
    else packOperand(p, a, packedA, GEMM_MR, 0, terms, row, rows);
    const int64_t ahead = row + GEMM_MR, next = MIN(GEMM_MR, endRow - ahead);
    PrefetchPlan prefetch = {0};
    if (next > 0) {
      const PrefetchRegion source = operandRegion(p, a, ahead, next, 0, terms),
                           result = {elementAt(p->c, ahead * a->cStride[3] + firstColumn, p->type), next,
                                     a->cStride[3] / perReal, (endColumn - firstColumn) / perReal};
      /* The longer rows; rows of a single panel are written in memory order, which hardware prefetches. */
      const bool prefetchesSource = panels == 1 || source.length > result.length;
      prefetch = makePrefetchPlan(prefetchesSource ? source : result, panels, terms);
    }
    for (int64_t panel = 0; panel < panels; panel++) {
      const int64_t column = firstColumn + panel * GEMM_NR, n = MIN(GEMM_NR, endColumn - column),
                    width = n > VL ? GEMM_NR : VL;
      real *c = elementAt(p->c, row * a->cStride[3] + column, p->type);
      const bool whole = n == width && !isHalf(p->type);
      const PrefetchLines lines = nextPrefetch(&prefetch);
      multiplyMicrotile(p, inPlace, (int)rows, (int)(width / VL), whole ? c : sums, whole ? a->cStride[3] : width,
                        biases + panel * GEMM_NR, 0, pointers,
                        (KRange){inPlace ? inPlaceOffset : packedOffset, 0, multiplied},
                        packedB + panel * panelReals, width, &lines);
      if (whole) continue;
      for (int64_t r = 0; r < rows; r++) {
        real *to = elementAt(c, r * a->cStride[3], p->type);
#ifdef THNN_REAL_IS_FLOAT
        if (isHalf(p->type)) {
          storeHalfRow(p, (Half *)to, 1, sums + r * width, n);
          continue;
        }
#endif
        for (int64_t l = 0; l < n; l += VL) v_store_n(to + l, v_load(sums + r * width + l), (int)MIN(VL, n - l));
      }
    }
  }
}

/* The estimated time of the product per term, in multiply-adds. A micro-tile of few rows waits for its own
   accumulators. A copy costs more if it transposes: packing does if the last axis of the operand's index i is strided,
   storing does if the columns of c are strided. An operand that is read in place is not copied. */
static double orientationCost(const Gemm *p)
{
  const int64_t columns = elementCount(p->b.size), panels = ceilDivide(columns, GEMM_NR);
  const double m = (double)elementCount(p->a.size), n = (double)columns,
               padded = (double)(ceilDivide(columns, VL) * VL), terms = (double)MAX(elementCount(p->kSize), 1);
  const double packingA = readsAInPlace(p, panels) ? 2.0 * (double)panels * m : (p->a.stride[3] == 1 ? 2 : 8) * m;
  const double packingB =
      readsBInPlace(p, ceilDivide(elementCount(p->a.size), GEMM_MR)) ? 0 : (p->b.stride[3] == 1 ? 2 : 8) * n;
  return MAX(m, 4) * padded + packingA + packingB + (p->b.cStride[3] == 1 ? 2 : 10) * m * n / terms;
}

#if HAS_BFLOAT16_MICROKERNEL
/* True if the pairs of an operand are float32 at even distances. */
static bool pairsAreAdjacent(const Gemm *p, const GemmOperand *f)
{
  bool adjacent = f->kStride[3] == 1 && p->kSize[3] % 2 == 0 && (uintptr_t)f->data % sizeof(real) == 0 &&
                  (p->groups == 1 || f->groupStride % 2 == 0);
  for (int d = 0; d < 4; d++) {
    adjacent = adjacent && (f->size[d] == 1 || f->stride[d] % 2 == 0);
    if (d < 3) adjacent = adjacent && (p->kSize[d] == 1 || f->kStride[d] % 2 == 0);
  }
  return adjacent;
}

/* Makes the terms of an operand pairs. */
static void joinTerms(const Gemm *p, GemmOperand *f)
{
  if (!pairsAreAdjacent(p, f)) {
    f->conversion = PAIR;
    f->partnerStride = f->kStride[3];
    f->kStride[3] *= 2;
    return;
  }
  for (int d = 0; d < 4; d++) {
    f->stride[d] /= 2;
    if (d < 3) f->kStride[d] /= 2;
  }
  f->groupStride /= 2;
}
#endif

/* Sets the fields of the product that its element type determines. */
static void setConversions(Gemm *p)
{
  p->a.conversion = p->b.conversion = isHalf(p->type) ? WIDEN : COPY;
  p->pairs = p->tiles = p->oddTerms = false;
#if HAS_BFLOAT16_MICROKERNEL
  if (!multipliesPairs(p->type)) return;
  p->a.conversion = p->b.conversion = COPY;
  joinTerms(p, &p->a);
  joinTerms(p, &p->b);
  p->pairs = true;
  p->tiles = multipliesTiles();
  p->oddTerms = p->kSize[3] % 2 == 1;
  p->kSize[3] = ceilDivide(p->kSize[3], 2);
#endif
}

void THNN_(gemm)(const Gemm *gemm)
{
  Gemm p = *gemm;
  setConversions(&p);
  Gemm swapped = p;
  swapped.a = p.b;
  swapped.b = p.a;
  if (orientationCost(&swapped) < orientationCost(&p)) p = swapped;
  if (p.bias == NULL) p.a.biasStride = p.b.biasStride = 0;
  const int64_t columns = elementCount(p.b.size), panels = ceilDivide(columns, GEMM_NR),
                tiles = ceilDivide(elementCount(p.a.size), GEMM_MR);
  const double terms = (double)MAX(elementCount(p.kSize), 1);
  const double products = (double)p.groups * (double)tiles * (double)columns * terms;
  if (products == 0) return;
  const int64_t work = (int64_t)MIN(products, 1e15);
  /* A grid of down x across blocks, chosen so that the largest block costs least; if the rows of c have the columns of
     all groups, a thread has the same rows in each group. Each block packs its own operands; then blocks are divided
     until packed a and sums are within A_BYTES and SUM_BYTES. */
  const int threads = thnn_threads(1 << 20, work);
  const bool groupsShareRows = p.groups > 1 && p.b.cStride[3] == 1 && p.cGroupStride == columns;
  int64_t down = 1, across = 1;
  double least = INFINITY;
  if (groupsShareRows) down = MIN(threads, tiles);
  for (int64_t i = 1; i <= threads && !groupsShareRows && p.groups % threads != 0; i++) {
    const int64_t j = threads / i, t = ceilDivide(tiles, i), n = ceilDivide(panels, j);
    double cost = (double)(t * n * GEMM_MR + 4 * t + 8 * n * ceilDivide(t, TILES_OF_A));
    if (j > 1 && p.b.cStride[3] == 1) cost += SHARED_LINE_COST / terms * (double)(t * GEMM_MR);
    if (i > 1 && p.a.cStride[3] == 1) cost += SHARED_LINE_COST / terms * (double)(n * GEMM_NR);
    if (cost >= least) continue;
    least = cost;
    down = MIN(i, tiles);
    across = MIN(j, panels);
  }
  down = MIN(ceilDivide(ceilDivide(tiles, TILES_OF_A), down) * down, tiles);
  const int64_t panelsOfSums = SUM_BYTES / (ceilDivide(tiles, down) * MICROTILE_REALS * (int64_t)sizeof(real));
  across = MIN(ceilDivide(ceilDivide(panels, panelsOfSums), across) * across, panels);
  const bool inPlace = storesInPlace(&p);
  const int64_t outer = groupsShareRows ? down : 1, inner = down / outer * across;
  THNN_PARALLEL_FOR(i, outer * p.groups * inner, work) {
    const int64_t group = i / inner % p.groups, column = i % across;
    const int64_t row = groupsShareRows ? i / inner / p.groups : i / across % down;
    Gemm one = p;
    one.a.data = operandAt(&p.a, group * p.a.groupStride);
    one.b.data = operandAt(&p.b, group * p.b.groupStride);
    one.c = elementAt(p.c, group * p.cGroupStride, p.type);
    if (p.bias) one.bias = elementAt(p.bias, group * p.biasGroupStride, p.type);
    beginTiles(p.tiles);
    (inPlace ? multiplyInPlace : multiplyBlock)(&one, row * tiles / down, (row + 1) * tiles / down,
                                                column * panels / across * GEMM_NR,
                                                MIN((column + 1) * panels / across * GEMM_NR, columns));
    endTiles(p.tiles);
  }
}
