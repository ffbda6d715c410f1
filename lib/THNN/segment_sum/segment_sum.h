#ifndef THNN_SEGMENT_SUM_SEGMENT_SUM_H
#define THNN_SEGMENT_SUM_SEGMENT_SUM_H

#include "runtime/kernel.h"

/* Segment sums: entries with keys are sorted by key, stably, and the entries of each key (its segment) are processed in
   their order. Segments are processed in parallel; a sum adds its entries in their order, so results do not depend on
   the number of threads.

   Entries are sorted in chunks of SEGMENT_CHUNK: the memory needed is one chunk, and a segment that extends over chunks
   is processed in several parts, in order. Entries that come sorted (`sorted`) are not copied into chunks but read in
   blocks, and a segment has a part in each block over which it extends. */

#define SEGMENT_CHUNK 32768

typedef struct SegmentEntry {
  int64_t key;    /* row of the target; ~row, which is below 0, if the entry is skipped */
  int64_t source; /* for a segment sum: offset of the row that is added, in elements */
  double factor;  /* for a segment sum: multiplies the row that is added */
} SegmentEntry;

/* Reads entries [first, first + count). Called by several threads. */
typedef void SegmentReader(const void *context, int64_t first, int64_t count, SegmentEntry *entries);

/* Prepares the keys [first, end), before their first entries are processed. Called by several threads. */
typedef void SegmentPreparation(const void *context, int64_t first, int64_t end);

/* Processes a part of a segment: entries[order[i]] for i < count, all of the same key. */
typedef void SegmentFunction(const void *context, const SegmentEntry *entries, const uint16_t *order,
                             int64_t count);

typedef struct Segments {
  int64_t entries, keys; /* every key is below `keys` */
  bool sorted;           /* rows, also of skipped entries, do not decrease; not together with byFrequency */
  bool byFrequency;      /* divide the factor of each entry by the number of entries of its key */
  int64_t work;          /* elements that are processed per entry, for the choice of threads */
  SegmentReader *read;
  const void *context;
  SegmentPreparation *prepare; /* or NULL; shares the context of `process`; not together with `sorted` */
} Segments;

void THNN_(segmentForEach)(const Segments *segments, SegmentFunction *process, const void *context);

/* target[key * rowStride + c * columnStride] += the sum of entry.factor * source[entry.source + c * sourceStride] over
   the entries of key, for c < columns. */
typedef struct SegmentSum {
  Segments segments; /* `work` and `prepare` are set by segmentSum */
  bool overwrites;   /* the sums replace the target, whose rows are contiguous; rows without entries become 0 */
  int64_t columns;
  const real *source;
  real *target;
  int64_t sourceStride, rowStride, columnStride;
} SegmentSum;

void THNN_(segmentSum)(const SegmentSum *sum);

/* Adds a part of a segment to the target; `context` is a SegmentSum, whose segments it does not read. */
SegmentFunction THNN_(addSegment);

#endif
