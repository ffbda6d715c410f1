#ifndef THNN_POOLING_REGION_LINES_H
#define THNN_POOLING_REGION_LINES_H

/* Regions of planes, a block of output rows at a time. First the rows of x that a row of y reads are combined column by
   column, with columns in lanes, into a line. Then lines are combined with themselves, shifted: element i of the prefix
   level of length k has the columns i to i + k - 1. Each region picks its element of the level of its length. Lengths
   differ by two at most; regions above LONGEST_PREFIX read the line itself. */

#include "pooling/geometry.h"
#include "pooling/lanes.h"
#include "pooling/regions.h"

#define LONGEST_PREFIX 16
#define PREFIX_LEVELS 3
#define BLOCK_ELEMENTS 1024

/* The rows first <= o < end of a slice of y, which read the same rows of x. */
typedef struct RegionRows {
  Region h;
  int64_t first, end;
} RegionRows;

typedef struct RegionLines {
  int64_t width, outputs;    /* columns of x and y */
  int64_t shortest, longest; /* region of a row */
  int64_t rows, pitch, size; /* of a block: lines, elements from line to line and from level to level */
  int64_t chunk, chunks;     /* rows of a slice of y that a unit of work has, and units of a slice */
  int64_t units, perTask;
  Region *columns, *heights; /* of the columns of y, and of its rows in a chunk */
  int32_t *pick;             /* for each column of y, its element from the line on */
  RegionRows *blocks;
} RegionLines;

/* `longest` and `shortest` are those of a row, `reads` the rows of x that a row of y reads. */
static inline RegionLines regionLines(const PoolingImages *x, const PoolingImages *y, int64_t shortest,
                                      int64_t longest, int64_t reads)
{
  RegionLines l = {.width = x->w, .outputs = y->w, .shortest = shortest, .longest = longest};
  l.pitch = (x->w + VL - 1) / VL * VL;
  l.rows = MIN(MAX(BLOCK_ELEMENTS / l.pitch, 1), y->h);
  l.size = l.rows * l.pitch + 2 * LONGEST_PREFIX;
  const double work = (double)y->h * ((double)x->w * (double)reads + (double)y->w);
  l.chunks = MIN((int64_t)(work / (4 * TASK_ELEMENTS)) + 1, y->h);
  l.chunk = ceilDivide(y->h, l.chunks);
  l.chunks = ceilDivide(y->h, l.chunk);
  l.units = y->n * y->c * y->d * l.chunks;
  l.perTask = rowsPerTask((int64_t)(work / (double)l.chunks) + 1);
  return l;
}

/* Levels of elements: the line and, unless regions read it, PREFIX_LEVELS more. */
static inline double regionLevels(const RegionLines *l)
{
  return (double)l->size * (l->longest > LONGEST_PREFIX ? 1 : 1 + PREFIX_LEVELS);
}

static inline void regionLinesTake(ScratchArena *arena, RegionLines *l)
{
  l->columns = arenaTake(arena, (double)l->outputs, sizeof(Region));
  l->heights = arenaTake(arena, (double)l->chunk, sizeof(Region));
  l->pick = arenaTake(arena, (double)l->outputs, sizeof(int32_t));
  l->blocks = arenaTake(arena, (double)l->rows, sizeof(RegionRows));
}

/* The level that has the length. */
static inline int64_t regionLevel(const RegionLines *l, int64_t length)
{
  return length == 1 ? 0 : length < l->shortest ? 1 : 1 + length - l->shortest;
}

static inline void regionPicks(RegionLines *l)
{
  for (int64_t j = 0; j < l->outputs; j++) {
    const Region r = l->columns[j];
    l->pick[j] = (int32_t)(regionLevel(l, r.end - r.start) * l->size + r.start);
  }
}

/* Collects a block from row o of a chunk of `count` rows on; returns its number of lines. */
static inline int64_t regionBlock(const RegionLines *l, int64_t o, int64_t count)
{
  int64_t n = 0;
  for (; o < count; o++) {
    const Region h = l->heights[o];
    if (n > 0 && h.start == l->blocks[n - 1].h.start && h.end == l->blocks[n - 1].h.end) {
      l->blocks[n - 1].end++;
      continue;
    }
    if (n == l->rows) break;
    l->blocks[n++] = (RegionRows){h, o, o + 1};
  }
  return n;
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
