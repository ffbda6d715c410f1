#ifndef THNN_GEMM_PREFETCH_H
#define THNN_GEMM_PREFETCH_H

#include "runtime/integer.h"
#include "runtime/kernel.h"

/* Software prefetch of operands that are packed next. Their rows begin on different pages, and hardware prefetchers
   do not cross the end of a page. The lines are prefetched evenly while micro-tiles compute. */

#define REALS_PER_LINE ((int)(64 / sizeof(real)))

/* `count` rows of `length` reals, `stride` apart. */
typedef struct PrefetchRegion {
  const real *data;
  int64_t count, stride, length;
} PrefetchRegion;

/* Prefetches part number `part` of `parts` equal parts. */
static inline void prefetchPart(const PrefetchRegion *p, int64_t part, int64_t parts)
{
  for (int64_t i = part * p->count / parts; i < (part + 1) * p->count / parts; i++)
    for (int64_t x = 0; x < p->length; x += REALS_PER_LINE) __builtin_prefetch(p->data + i * p->stride + x);
}

/* Cache lines that one micro-tile prefetches, one per term k: runs of `run` lines `stride` bytes apart. `gap` is the
   distance from the end of a run to the next run. Nothing is prefetched if run is 0. */
typedef struct PrefetchLines {
  const char *next;
  int64_t run, stride, gap;
} PrefetchLines;

/* Distributes a region over `parts` micro-tiles; the first `neededParts` of them prefetch all of it. */
typedef struct PrefetchPlan {
  PrefetchRegion region;
  int64_t part, parts, neededParts;
  PrefetchLines lines;   /* lines of the next part; run is 0 if there are too few micro-tiles */
  int64_t chunk, chunks; /* a long run is divided into chunks of one part each */
  int64_t chunkBytes;    /* from a chunk to the next one of the same run */
  int64_t runBytes;      /* from the last chunk to the runs of the next part */
} PrefetchPlan;

/* Runs follow the longer dimension: the lines of a row, or one line of every row. */
static inline PrefetchPlan makePrefetchPlan(PrefetchRegion p, int64_t parts, int64_t linesPerPart)
{
  PrefetchPlan r = {.region = p, .parts = parts};
  if (p.count <= 0 || p.length <= 0 || linesPerPart <= 0) return r;
  const int64_t bytes = p.stride * (int64_t)sizeof(real);
  const bool aligned = ((uintptr_t)p.data | (uintptr_t)bytes) % 64 == 0;
  const int64_t lines = ceilDivide(p.length, REALS_PER_LINE) + !aligned;
  const bool alongRow = lines >= p.count;
  const int64_t run = alongRow ? lines : p.count, stride = alongRow ? 64 : bytes, next = alongRow ? bytes : 64;
  const int64_t runs = MAX(linesPerPart / run, 1);
  r.chunks = ceilDivide(run, linesPerPart);
  r.neededParts = ceilDivide(alongRow ? p.count : lines, runs) * r.chunks;
  r.chunkBytes = linesPerPart * stride;
  r.runBytes = runs * next - (r.chunks - 1) * r.chunkBytes;
  if (r.neededParts <= parts) r.lines = (PrefetchLines){(const char *)p.data, run, stride, next - run * stride};
  return r;
}

/* Returns the lines of the next micro-tile. If there are too few micro-tiles for the region, prefetches its next part
   at once and returns no lines. */
static inline PrefetchLines nextPrefetch(PrefetchPlan *r)
{
  const PrefetchLines nothing = {0}, lines = r->lines;
  const int64_t part = r->part++;
  if (part >= r->neededParts) return nothing;
  if (lines.run == 0) {
    prefetchPart(&r->region, part, r->parts);
    return nothing;
  }
  const bool sameRun = ++r->chunk < r->chunks;
  r->lines.next += sameRun ? r->chunkBytes : r->runBytes;
  if (!sameRun) r->chunk = 0;
  return lines;
}

#endif
