#include "gemm/microkernel.h"
#include "gemm/gemm.h"

/* Cut as follows, so that each piece stays in a cache while it is used:

     for each block of rows and panels
       for each GEMM_DEPTH terms k
         pack the rows, tile by tile, [k][row]           ROW_BYTES, second level; or read them in place
         for each panel of LANES lanes
           pack it, [k][lane]                            first level
           for each tile: multiply, add to its sums      SUM_BYTES, second level or beyond
       sums go to c

   Sums are packed, [row][lane], since the rows of c may all fall into one set of a cache. These cuts depend on sizes
   alone; only who computes a block depends on threads. */

#define LANES (2 * VL)
#define ROW_BYTES ((int64_t)576 << 10)
#define SUM_BYTES ((int64_t)1088 << 10)
#define IN_PLACE_PANELS 4
#define TILE_TERMS (GEMM_ROWS * GEMM_DEPTH)
#define TILE_SUMS (GEMM_ROWS * LANES)

/* Where element i of an index lies, and how many from there on follow each other with the last stride. */
static int64_t locate(const int64_t *count, const int64_t *stride, int64_t i, int64_t *run)
{
  int64_t at = i % count[3] * stride[3];
  *run = count[3] - i % count[3];
  i /= count[3];
  for (int d = 2; i > 0; i /= count[d], d--) at += i % count[d] * stride[d];
  return at;
}

/* to[i * toRow + j * toColumn] = from[i * fromRow + j * fromColumn] */
static void copy(real *to, int64_t toRow, int64_t toColumn, const real *from, int64_t fromRow, int64_t fromColumn,
                 int64_t rows, int64_t columns)
{
  if (toColumn == 1 && fromColumn == 1) {
    for (int64_t i = 0; i < rows; i++, to += toRow, from += fromRow) {
      int64_t j = 0;
      for (; j + VL <= columns; j += VL) v_store(to + j, v_load(from + j));
      if (j < columns) v_store_n(to + j, v_load_n(from + j, (int)(columns - j)), (int)(columns - j));
    }
  } else if (toColumn == 1 && fromRow == 1) {
    THNN_(gemm_transpose)(to, toRow, from, fromColumn, columns, rows);
  } else if (toRow == 1 && fromColumn == 1) {
    THNN_(gemm_transpose)(to, toColumn, from, fromRow, rows, columns);
  } else {
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < columns; j++) to[i * toRow + j * toColumn] = from[i * fromRow + j * fromColumn];
  }
}

/* Some of the values of an index, and its axes. */
typedef struct Range {
  const int64_t *count, *stride;
  int64_t start, length;
} Range;

/* packed[i * pitch + j] = data at (i, j), or the reverse. */
static void pack(real *packed, int64_t pitch, const real *data, Range rows, Range columns)
{
  for (int64_t i = 0, m; i < rows.length; i += m) {
    const real *from = data + locate(rows.count, rows.stride, rows.start + i, &m);
    m = MIN(m, rows.length - i);
    for (int64_t j = 0, n; j < columns.length; j += n) {
      const int64_t at = locate(columns.count, columns.stride, columns.start + j, &n);
      n = MIN(n, columns.length - j);
      copy(packed + i * pitch + j, pitch, 1, from + at, rows.stride[3], columns.stride[3], m, n);
    }
  }
}

static void unpack(const real *packed, int64_t pitch, real *data, Range rows, Range columns)
{
  for (int64_t i = 0, m; i < rows.length; i += m) {
    real *to = data + locate(rows.count, rows.stride, rows.start + i, &m);
    m = MIN(m, rows.length - i);
    for (int64_t j = 0, n; j < columns.length; j += n) {
      const int64_t at = locate(columns.count, columns.stride, columns.start + j, &n);
      n = MIN(n, columns.length - j);
      copy(to + at, rows.stride[3], columns.stride[3], packed + i * pitch + j, pitch, 1, m, n);
    }
  }
}

/* Rows of tile number `tile` begin here. */
static int64_t rowOfTile(int64_t tile, int64_t rows) { return tile * rows / ceilDivide(rows, GEMM_ROWS); }

/* Where the sums of a block are, [panel][tile][row][lane]. */
typedef struct Sums {
  real *data;
  int64_t firstTile, tiles, firstLane, lastLane;
} Sums;

/* Finished sums of a tile to c, along the whole width of the block: where the rows of c share a cache set, a row at a
   time is what costs least. */
static void finish(const Product *p, const Sums *s, int64_t tile)
{
  const int64_t allRows = volume(p->rows.count), row = rowOfTile(s->firstTile + tile, allRows),
                rows = rowOfTile(s->firstTile + tile + 1, allRows) - row, next = s->tiles * TILE_SUMS;
  real *sum = s->data + tile * TILE_SUMS;
  int64_t run;
  real *c = p->c + locate(p->lanes.count, p->lanes.result, s->firstLane, &run);
  if (p->lanes.result[3] == 1 && run >= s->lastLane - s->firstLane) {
    for (int64_t r = 0; r < rows; r++) {
      real *to = c + locate(p->rows.count, p->rows.result, row + r, &run) - s->firstLane;
      const real *from = sum;
      const int64_t later = MIN(row + r + 1, allRows - 1); /* on another page */
      const real *after = c + locate(p->rows.count, p->rows.result, later, &run) - s->firstLane;
      for (int64_t lane = s->firstLane; lane < s->lastLane; lane += LANES, from += next) {
        const int n = (int)MIN(LANES, s->lastLane - lane), width = n > VL ? LANES : VL;
        for (int v = 0; v < n; v += VL) {
          vreal x = v_load(from + r * width + v);
          const int m = MIN(VL, n - v);
          if (p->add) x = v_load_n(to + lane + v, m) + p->scale * x;
          __builtin_prefetch(after + lane + v, 1);
          if (m == VL) v_store(to + lane + v, x);
          else v_store_n(to + lane + v, x, m);
        }
      }
    }
  } else {
    for (int64_t lane = s->firstLane; lane < s->lastLane; lane += LANES, sum += next) {
      const int64_t n = MIN(LANES, s->lastLane - lane), width = n > VL ? LANES : VL;
      const Range r = {p->rows.count, p->rows.result, row, rows}, l = {p->lanes.count, p->lanes.result, lane, n};
      if (p->add) {
        real before[TILE_SUMS];
        pack(before, width, p->c, r, l);
        for (int64_t i = 0; i < rows; i++)
          for (int64_t x = i * width; x < i * width + n; x++) sum[x] = before[x] + p->scale * sum[x];
      }
      unpack(sum, width, p->c, r, l);
    }
  }
}

/* n rows or lanes as they lie in memory, if they are whole there. */
static Pieces piecesOf(const Product *p, const Factor *f, int64_t i, int64_t n, int64_t k, int64_t K)
{
  int64_t run, terms;
  const real *from = f->data + locate(f->count, f->stride, i, &run);
  from += locate(p->depth, f->depth, k, &terms);
  if (run < n || terms < K) return (Pieces){0};
  if (f->stride[3] == 1) return (Pieces){from, K, f->depth[3], n};
  return (Pieces){from, n, f->stride[3], f->depth[3] == 1 ? K : 0};
}

static Pieces rowsOf(const Product *p, int64_t tile, int64_t k, int64_t K)
{
  const int64_t all = volume(p->rows.count), row = rowOfTile(tile, all);
  return piecesOf(p, &p->rows, row, rowOfTile(tile + 1, all) - row, k, K);
}

/* Rows whose terms follow each other in memory are read there, where few panels would share what is packed; not if all
   fall into one set of the first-level cache, and not if many tiles would lack rows. */
static bool isInPlace(const Product *p, int64_t panels)
{
  const Factor *f = &p->rows;
  return panels <= IN_PLACE_PANELS && f->depth[3] == 1 && volume(p->depth) == p->depth[3] &&
         f->stride[3] * (int64_t)sizeof(real) % 4096 != 0 && volume(f->count) >= 16 * GEMM_ROWS;
}

/* Where the rows of a tile begin; the last one stands in for rows beyond. */
static void rowsInPlace(const Product *p, int64_t row, int64_t rows, int64_t k, const real **a)
{
  int64_t run;
  const Factor *f = &p->rows;
  const real *first = f->data + locate(f->count, f->stride, row, &run) + k;
  for (int64_t r = 0; r < GEMM_ROWS; r++) {
    const int64_t inside = MIN(r, rows - 1);
    a[r] = inside < run ? first + inside * f->stride[3]
                        : f->data + locate(f->count, f->stride, row + inside, &(int64_t){0}) + k;
  }
}

/* Tiles first .. last - 1 times lanes from .. to - 1. */
static void Block(const Product *p, int64_t first, int64_t last, int64_t from, int64_t to)
{
  const int64_t allRows = volume(p->rows.count), depth = volume(p->depth), tiles = last - first,
                panels = ceilDivide(to - from, LANES);
  real *terms = thnn_scratch(sizeof(real) *
                             (size_t)(tiles * TILE_TERMS + LANES * GEMM_DEPTH + (1 + tiles * panels) * TILE_SUMS));
  real *panel = terms + tiles * TILE_TERMS, *start = panel + LANES * GEMM_DEPTH;
  const Sums sums = {start + TILE_SUMS, first, tiles, from, to};
  const bool inPlace = isInPlace(p, panels);
  int32_t step[GEMM_DEPTH];
  for (int k = 0; k < GEMM_DEPTH; k++) step[k] = inPlace ? k : k * GEMM_ROWS;
  for (int64_t k = 0; k < depth || k == 0; k += GEMM_DEPTH) { /* without terms c is its bias */
    const int64_t K = MIN(GEMM_DEPTH, depth - k);
    for (int64_t tile = 0; tile < tiles && !inPlace; tile++) {
      const int64_t row = rowOfTile(first + tile, allRows), rows = rowOfTile(first + tile + 1, allRows) - row;
      if (tile + 1 < tiles) {
        const Pieces next = rowsOf(p, first + tile + 1, k, K);
        fetch(&next, 0, 1);
      }
      pack(terms + tile * TILE_TERMS, GEMM_ROWS, p->rows.data, (Range){p->depth, p->rows.depth, k, K},
           (Range){p->rows.count, p->rows.stride, row, rows});
    }
    real *sum = sums.data;
    for (int64_t lane = from; lane < to; lane += LANES) {
      const int n = (int)MIN(LANES, to - lane), V = n > VL ? 2 : 1;
      const int64_t width = V * VL;
      if (n < width) memset(panel, 0, sizeof(real) * (size_t)(K * width));
      pack(panel, width, p->lanes.data, (Range){p->depth, p->lanes.depth, k, K},
           (Range){p->lanes.count, p->lanes.stride, lane, n});
      for (int64_t l = 0; k == 0 && l < width; l++)
        start[l] = l < n && p->bias ? p->bias[(lane + l) * p->lanes.bias] : 0;
      Requests next = {0};
      if (K > 0 && lane + LANES < to)
        next = requests_make(piecesOf(p, &p->lanes, lane + LANES, MIN(LANES, to - lane - LANES), k, K), tiles, K);
      for (int64_t tile = 0; tile < tiles; tile++, sum += TILE_SUMS) {
        const int64_t row = rowOfTile(first + tile, allRows);
        const int rows = (int)(rowOfTile(first + tile + 1, allRows) - row);
        if (k == 0 && p->rows.bias)
          for (int64_t r = 0; r < rows; r++)
            for (int v = 0; v < V; v++)
              v_store(start + r * width + v * VL, v_set1(p->bias[(row + r) * p->rows.bias]));
        const real *a[GEMM_ROWS] = {terms + tile * TILE_TERMS}, *before = k ? sum : start;
        const int64_t beforeStride = k || p->rows.bias ? width : 0;
        if (inPlace) rowsInPlace(p, row, rows, k, a);
        if (inPlace && lane == from && tile + 1 < tiles)
          next = requests_make(rowsOf(p, first + tile + 1, k, K), 1, K);
        const GemmAhead ahead = requests_next(&next);
        THNN_(gemm_tile)(inPlace ? GEMM_ROWS : 1, inPlace ? 1 : rows, V,
                         ahead.row > 0)(sum, before, beforeStride, a, (GemmSteps){step, 0, K}, panel, &ahead);
      }
    }
  }
  for (int64_t tile = 0; tile < tiles; tile++) finish(p, &sums, tile);
}

/* About how long it takes, in multiply-adds. A tile of few rows waits for its own sums. Copies cost more where they
   transpose: rows and panels whose innermost index is k, and results whose innermost is not l. */
static double cost(const Factor *rows, const Factor *lanes, int64_t depth)
{
  const double r = (double)volume(rows->count), l = (double)volume(lanes->count),
               padded = (double)(ceilDivide(volume(lanes->count), VL) * VL);
  return MAX(r, 4) * padded + (rows->stride[3] == 1 ? 2 : 8) * r + (lanes->stride[3] == 1 ? 2 : 8) * l +
         (lanes->result[3] == 1 ? 2 : 10) * r * l / (double)depth;
}

void THNN_(product)(const Product *product)
{
  Product p = *product;
  const int64_t depth = MAX(volume(p.depth), 1);
  if (cost(&p.lanes, &p.rows, depth) < cost(&p.rows, &p.lanes, depth)) {
    p.rows = product->lanes;
    p.lanes = product->rows;
  }
  const int64_t lanes = volume(p.lanes.count), panels = ceilDivide(lanes, LANES),
                tiles = ceilDivide(volume(p.rows.count), GEMM_ROWS);
  const double terms = (double)p.groups * (double)tiles * (double)lanes * (double)depth;
  if (terms == 0) return;
  const int64_t work = (int64_t)MIN(terms, 1e15);
  /* Threads share tiles and panels so that the slowest has least to do. Each packs all that it reads. */
  const int threads = thnn_threads(1 << 20, work);
  const int64_t mostTiles = ROW_BYTES / (TILE_TERMS * (int64_t)sizeof(real));
  int64_t down = 1, across = 1;
  double least = INFINITY;
  for (int64_t i = 1; i <= threads && p.groups % threads != 0; i++) {
    const int64_t j = threads / i, t = ceilDivide(tiles, i), n = ceilDivide(panels, j);
    const double cost = (double)(t * n * GEMM_ROWS + 4 * t + 8 * n * ceilDivide(t, mostTiles));
    if (cost >= least) continue;
    least = cost;
    down = MIN(i, tiles);
    across = MIN(j, panels);
  }
  down = MIN(ceilDivide(ceilDivide(tiles, mostTiles), down) * down, tiles);
  const int64_t mostPanels = SUM_BYTES / (ceilDivide(tiles, down) * TILE_SUMS * (int64_t)sizeof(real));
  across = MIN(ceilDivide(ceilDivide(panels, mostPanels), across) * across, panels);
  THNN_PARALLEL_FOR(i, p.groups * down * across, work) {
    const int64_t group = i / (down * across), row = i / across % down, column = i % across;
    Product one = p;
    one.rows.data += group * p.rows.group;
    one.lanes.data += group * p.lanes.group;
    one.c += group * p.resultGroup;
    if (p.bias) one.bias += group * p.biasGroup;
    Block(&one, row * tiles / down, (row + 1) * tiles / down, column * panels / across * LANES,
          MIN((column + 1) * panels / across * LANES, lanes));
  }
}
