#include "gemm/gemm.h"
#include "gemm/microkernel.h"
#include "gemm/transpose.h"
#include "runtime/streaming.h"

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
  return !p->accumulate && p->a.cStride[3] * (int64_t)sizeof(real) < NEAR_ROW;
}

/* True if c, of all groups, is written by non-temporal stores. */
static bool streamsResult(const Gemm *p)
{
  return !p->accumulate && thnn_exceedsLastLevelCache(elementCount(p->a.size) * elementCount(p->b.size) *
                                                      p->groups * (int64_t)sizeof(real));
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

/* Stores micro-tile number `tile` of every panel of a block. If the columns of c are contiguous, each row is stored
   across the whole block before the next one, which is fastest where all rows of c map to one cache set. */
static void storeTileRow(const Gemm *p, const Block *s, int64_t tile)
{
  const int64_t row = s->row[tile], rows = rowsOf(s, tile), nextPanel = s->tiles * MICROTILE_REALS;
  real *sum = s->sums + tile * MICROTILE_REALS;
  int64_t run;
  real *c = p->c + locate(p->b.size, p->b.cStride, s->firstColumn, &run);
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
  const real *from = f->data + locate(f->size, f->stride, i, &run);
  from += locate(p->kSize, f->kStride, k, &terms);
  if (run < n || terms < K) return (PrefetchRegion){0};
  if (f->stride[3] == 1) return (PrefetchRegion){from, K, f->kStride[3], n};
  return (PrefetchRegion){from, n, f->stride[3], f->kStride[3] == 1 ? K : 0};
}

static PrefetchRegion tileRegion(const Gemm *p, const Block *s, int64_t tile, int64_t k, int64_t K)
{
  return operandRegion(p, &p->a, s->row[tile], rowsOf(s, tile), k, K);
}

/* True if a row of `a` is contiguous, and not all rows map to one L1 set. */
static bool rowsAreReadable(const Gemm *p)
{
  return p->a.kStride[3] == 1 && elementCount(p->kSize) == p->kSize[3] &&
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
  return tiles <= IN_PLACE_TILES && b->stride[3] == 1 && elementCount(p->kSize) == p->kSize[3] &&
         (tiles == 1 || b->kStride[3] * (int64_t)sizeof(real) % 256 != 0);
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
        else row = f->data + locate(f->size, f->stride, s->row[tile] + r, &run) + k;
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
  int64_t run, terms;
  const real *data = a->data + locate(a->size, a->stride, first, &run);
  if (a->stride[3] == 1 && run >= s->row[tiles] - first) {
    for (int64_t i = 0; i < K; i += terms) {
      const real *from = data + locate(p->kSize, a->kStride, k + i, &terms);
      terms = MIN(MIN(terms, TERMS_AT_ONCE), K - i);
      for (int64_t tile = 0; tile < tiles; tile++)
        THNN_(copyMatrix)(packed + tile * TILE_A + i * GEMM_MR, GEMM_MR, 1, from + s->row[tile] - first,
                          a->kStride[3], 1, terms, rowsOf(s, tile));
    }
    return;
  }
  for (int64_t tile = 0; tile < tiles; tile++) {
    if (tile + 1 < tiles) {
      const PrefetchRegion next = tileRegion(p, s, tile + 1, k, K);
      prefetchPart(&next, 0, 1);
    }
    pack(packed + tile * TILE_A, GEMM_MR, a->data, (Range){p->kSize, a->kStride, k, K},
         (Range){a->size, a->stride, s->row[tile], rowsOf(s, tile)});
  }
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
  const bool inPlace = readsAInPlace(p, panels), inPlaceB = readsBInPlace(p, tiles);
  RowPointers pointers[TILES_OF_A];
  int32_t offset[GEMM_KC];
  for (int k = 0; k < GEMM_KC; k++) offset[k] = inPlace ? k : k * GEMM_MR;
  for (int64_t k = 0; k < terms || k == 0; k += GEMM_KC) { /* without terms, c is the bias */
    const int64_t K = MIN(GEMM_KC, terms - k);
    if (inPlace) setRowPointers(p, &block, k, pointers);
    else packA(p, packedA, &block, k, K);
    real *sum = block.sums;
    for (int64_t column = firstColumn; column < endColumn; column += GEMM_NR) {
      const int n = (int)MIN(GEMM_NR, endColumn - column), V = n > VL ? 2 : 1;
      const int64_t width = V * VL;
      int64_t run;
      const real *b = p->b.data + locate(p->b.size, p->b.stride, column, &run) + k * p->b.kStride[3];
      const bool unpacked = inPlaceB && n == width && run >= width;
      if (!unpacked) {
        b = packedB;
        if (n < width) memset(packedB, 0, sizeof(real) * (size_t)(K * width));
        pack(packedB, width, p->b.data, (Range){p->kSize, p->b.kStride, k, K},
             (Range){p->b.size, p->b.stride, column, n});
      }
      for (int64_t l = 0; k == 0 && l < width; l++)
        initial[l] = l < n && p->bias ? p->bias[(column + l) * p->b.biasStride] : 0;
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
              v_store(initial + r * width + v * VL, v_set1(p->bias[(row + r) * p->a.biasStride]));
        const real *packedRow = packedA + tile * TILE_A, *before = k ? sum : initial;
        const int64_t beforeStride = k || p->a.biasStride ? width : 0;
        if (inPlace && column == firstColumn && tile + 1 < tiles)
          prefetch = makePrefetchPlan(tileRegion(p, &block, tile + 1, k, K), 1, K);
        const PrefetchLines lines = nextPrefetch(&prefetch);
        THNN_(microkernel)(inPlace ? GEMM_MR : 1, inPlace ? 1 : rows, V, lines.run > 0)(
            sum, width, before, beforeStride, inPlace ? pointers[tile].row : &packedRow, (KRange){offset, 0, K}, b,
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
  const int64_t allRows = a->size[3], terms = p->kSize[3], endRow = firstRow(endTile, allRows),
                panels = ceilDivide(endColumn - firstColumn, GEMM_NR), panelReals = GEMM_NR * terms;
  real *packedA =
      thnn_scratch(sizeof(real) * (size_t)(TILE_A + MICROTILE_REALS + panels * (GEMM_NR + panelReals)));
  real *sums = packedA + TILE_A, *biases = sums + MICROTILE_REALS, *packedB = biases + panels * GEMM_NR;
  memset(packedB + (panels - 1) * panelReals, 0, sizeof(real) * (size_t)panelReals);
  memset(biases, 0, sizeof(real) * (size_t)(panels * GEMM_NR));
  for (int64_t i = 0; p->bias && i < endColumn - firstColumn; i++)
    biases[i] = p->bias[(firstColumn + i) * b->biasStride];
  for (int64_t panel = 0; panel < panels; panel++) {
    const int64_t column = firstColumn + panel * GEMM_NR, n = MIN(GEMM_NR, endColumn - column);
    pack(packedB + panel * panelReals, n > VL ? GEMM_NR : VL, b->data, (Range){p->kSize, b->kStride, 0, terms},
         (Range){b->size, b->stride, column, n});
  }
  int32_t inPlaceOffset[GEMM_KC], packedOffset[GEMM_KC];
  for (int k = 0; k < GEMM_KC; k++) {
    inPlaceOffset[k] = k;
    packedOffset[k] = k * GEMM_MR;
  }
  for (int64_t row = firstRow(firstTile, allRows), rows; row < endRow; row += rows) {
    rows = MIN(GEMM_MR, endRow - row);
    const bool inPlace = rows == GEMM_MR && rowsAreReadable(p);
    const real *pointers[GEMM_MR] = {packedA};
    if (inPlace)
      for (int64_t r = 0; r < GEMM_MR; r++) pointers[r] = a->data + (row + r) * a->stride[3];
    else
      pack(packedA, GEMM_MR, a->data, (Range){p->kSize, a->kStride, 0, terms},
           (Range){a->size, a->stride, row, rows});
    const int64_t ahead = row + GEMM_MR, next = MIN(GEMM_MR, endRow - ahead);
    PrefetchPlan prefetch = {0};
    if (next > 0) {
      const PrefetchRegion source = operandRegion(p, a, ahead, next, 0, terms),
                           result = {p->c + ahead * a->cStride[3] + firstColumn, next, a->cStride[3],
                                     endColumn - firstColumn};
      /* The longer rows; rows of a single panel are written in memory order, which hardware prefetches. */
      const bool prefetchesSource = panels == 1 || source.length > result.length;
      prefetch = makePrefetchPlan(prefetchesSource ? source : result, panels, terms);
    }
    for (int64_t panel = 0; panel < panels; panel++) {
      const int64_t column = firstColumn + panel * GEMM_NR, n = MIN(GEMM_NR, endColumn - column),
                    width = n > VL ? GEMM_NR : VL;
      real *c = p->c + row * a->cStride[3] + column;
      const bool whole = n == width;
      const PrefetchLines lines = nextPrefetch(&prefetch);
      THNN_(microkernel)(inPlace ? GEMM_MR : 1, inPlace ? 1 : (int)rows, (int)(width / VL), lines.run > 0)(
          whole ? c : sums, whole ? a->cStride[3] : width, biases + panel * GEMM_NR, 0, pointers,
          (KRange){inPlace ? inPlaceOffset : packedOffset, 0, terms}, packedB + panel * panelReals, width, &lines);
      for (int64_t r = 0; !whole && r < rows; r++)
        for (int64_t l = 0; l < n; l += VL)
          v_store_n(c + r * a->cStride[3] + l, v_load(sums + r * width + l), (int)MIN(VL, n - l));
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

void THNN_(gemm)(const Gemm *gemm)
{
  Gemm p = *gemm, swapped = p;
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
    one.a.data += group * p.a.groupStride;
    one.b.data += group * p.b.groupStride;
    one.c += group * p.cGroupStride;
    if (p.bias) one.bias += group * p.biasGroupStride;
    (inPlace ? multiplyInPlace : multiplyBlock)(&one, row * tiles / down, (row + 1) * tiles / down,
                                                column * panels / across * GEMM_NR,
                                                MIN((column + 1) * panels / across * GEMM_NR, columns));
  }
}
