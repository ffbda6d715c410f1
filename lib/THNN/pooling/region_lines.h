#ifndef THNN_POOLING_REGION_LINES_H
#define THNN_POOLING_REGION_LINES_H

/* Regions of planes, a block of output rows at a time, in two steps. First the rows of x that a row of y reads are
   combined column by column, with columns in lanes, into a line. Then the lines of a block are transposed, so that
   lines are in lanes, the columns of each region are combined, and the results are transposed back. Columns are
   processed in tiles. */

#include "gemm/transpose.h"
#include "pooling/geometry.h"
#include "pooling/lanes.h"
#include "pooling/regions.h"

#define BLOCK_LINES 16
#define TILE_COLUMNS 128
#define LINE_PITCH \
  (TILE_COLUMNS + 16) /* not a power of two, so that the lines of a block lie in different cache sets */
#define LINE_VECTORS ((int)(BLOCK_LINES / VL))
#define CHUNK_ROWS 1024

/* The line of `rows` rows from row `first` on in each of `slices` slices from slice d on of plane (n, c) of y, which
   all read the same rows of x. */
typedef struct RegionLine {
  int64_t n, c, d, first, slices, rows;
  Region depth, height;
} RegionLine;

typedef struct RegionLines {
  const PoolingRegions *regions;
  const PoolingImages *x, *y;
  int64_t unitRows, unitsOfSlice; /* rows per unit of work, units per slice of y */
  int64_t units, perTask;         /* total units, units per task */
  int64_t count;                  /* lines of the block */
  RegionLine *block;
  Region *heights; /* height regions of a unit's rows */
  /* The tile: columns first <= j < end of y, with their regions. */
  Region *columns;
  int64_t first, end;
} RegionLines;

/* Divides the rows of y into units and tasks; `reads` bounds the number of rows of x that a row of y reads. */
static inline RegionLines regionLines(const PoolingRegions *regions, const PoolingImages *x,
                                      const PoolingImages *y)
{
  RegionLines l = {.regions = regions, .x = x, .y = y};
  const double reads = (double)regionLongest(regions, 0) * (double)regionLongest(regions, 1);
  const double work = (double)y->h * ((double)x->w * reads + (double)y->w);
  l.unitsOfSlice = MAX(MIN((int64_t)(work / (4 * TASK_ELEMENTS)) + 1, y->h), ceilDivide(y->h, CHUNK_ROWS));
  l.unitRows = ceilDivide(y->h, l.unitsOfSlice);
  l.unitsOfSlice = ceilDivide(y->h, l.unitRows);
  l.units = y->n * y->c * y->d * l.unitsOfSlice;
  /* A task begins with divisions for all of its regions, which take as long as thousands of elements. */
  l.perTask = rowsPerTask((int64_t)(work / (double)l.unitsOfSlice / 4) + 1);
  return l;
}

static inline void regionLinesTake(ScratchArena *arena, RegionLines *l)
{
  l->block = arenaTake(arena, BLOCK_LINES, sizeof(RegionLine));
  l->heights = arenaTake(arena, (double)l->unitRows, sizeof(Region));
  l->columns = arenaTake(arena, TILE_COLUMNS, sizeof(Region));
}

/* Memory of a tile: of all lines of a block, before or after transposition, or of their results. */
static inline void *regionTileTake(ScratchArena *arena)
{
  return arenaTake(arena, LINE_PITCH * BLOCK_LINES + VL, sizeof(real));
}

/* Makes the tile from column `first` on. The regions of adaptive columns are the same for each block. */
static inline void regionTile(RegionLines *l, int64_t first)
{
  if (l->first == first && l->end > first) return;
  const RegionLine *line = &l->block[0];
  const real sample = regionSample(l->regions, 2, line->n, line->c);
  l->first = first;
  l->end = MIN(l->y->w, first + TILE_COLUMNS);
  for (int64_t j = first; j < l->end; j++) l->columns[j - first] = regionOf(l->regions, 2, sample, j);
}

static inline bool sameSlice(const RegionLine *a, const RegionLine *b)
{
  return a->d == b->d && a->c == b->c && a->n == b->n;
}

static inline bool sameRegion(Region a, Region b) { return a.start == b.start && a.end == b.end; }

/* Calls compute(context) with blocks of the lines of a task. */
static inline void regionBlocks(RegionLines *l, int64_t task, void (*compute)(void *context), void *context)
{
  const PoolingRegions *regions = l->regions;
  const PoolingImages *y = l->y;
  const int64_t begin = task * l->perTask, end = MIN(l->units, begin + l->perTask);
  int64_t slice = begin / l->unitsOfSlice, part = begin % l->unitsOfSlice, plane = slice / y->d, d = slice % y->d;
  int64_t n = plane / y->c, c = plane % y->c;
  Region depth = {0, 0};
  for (int64_t unit = begin, slices; unit < end; unit += slices) {
    const int64_t top = part * l->unitRows, rows = MIN(l->unitRows, y->h - top);
    if (unit == begin || y->d > 1 || regions->samples)
      depth = regionOf(regions, 0, regionSample(regions, 0, n, c), d);
    slices = 1;
    if (l->unitsOfSlice == 1 && !regions->samples)
      while (unit + slices < end && d + slices < y->d && sameRegion(depth, regionOf(regions, 0, 0, d + slices)))
        slices++;
    if (unit == begin || l->unitsOfSlice > 1 || (regions->samples && d == 0)) {
      const real sample = regionSample(regions, 1, n, c);
      for (int64_t o = 0; o < rows; o++) l->heights[o] = regionOf(regions, 1, sample, top + o);
    }
    RegionLine *last = NULL;
    for (int64_t o = 0; o < rows; o++) {
      const Region height = l->heights[o];
      if (last && sameRegion(last->height, height)) {
        last->rows++;
        continue;
      }
      if (l->count == BLOCK_LINES) compute(context), l->count = 0;
      last = &l->block[l->count++];
      *last = (RegionLine){n, c, d, top + o, slices, 1, depth, height};
    }
    if (++part == l->unitsOfSlice) part = 0, d += slices;
    if (d < y->d) continue;
    d = 0;
    if (++c == y->c) c = 0, n++;
    if (regions->samples) { /* each plane has its own regions */
      compute(context);
      l->count = l->end = 0;
    }
  }
  if (l->count > 0) compute(context);
}

/* `lanes` elements from column i of a row on, `step` apart. */
static ALWAYS_INLINE vreal regionLoad(const real *row, int64_t i, int64_t step, int lanes)
{
  vreal x = {0};
  if (step == 1) {
    thnn_prefetchAhead(row + i, VL * (int)sizeof *row);
    return loadLanes(row + i, lanes);
  }
  for (int k = 0; k < lanes; k++) x[k] = row[(i + k) * step];
  return x;
}

#endif
