#include "segment_sum/segment_sum.h"

#include <stdlib.h>

/* The number of entries of each key, in memory that the caller frees. */
static int64_t *countEntries(const Segments *s)
{
  int64_t *counts = calloc((size_t)s->keys + 1, sizeof *counts);
  if (counts == NULL) abort();
  SegmentEntry entry;
  for (int64_t i = 0; i < s->entries; i++) {
    s->read(s->context, i, 1, &entry);
    if (entry.key >= 0) counts[entry.key]++;
  }
  return counts;
}

void THNN_(segmentForEach)(const Segments *s, SegmentFunction *process, const void *context)
{
  const uint16_t order[1] = {0};
  int64_t *counts = s->byFrequency ? countEntries(s) : NULL;
  for (int64_t i = 0; i < s->entries; i++) {
    SegmentEntry entry;
    s->read(s->context, i, 1, &entry);
    if (entry.key < 0) continue;
    if (s->byFrequency) entry.factor /= (double)counts[entry.key];
    process(context, &entry, order, 1);
  }
  free(counts);
}

void THNN_(addSegment)(const void *context, const SegmentEntry *entries, const uint16_t *order, int64_t count)
{
  const SegmentSum *s = context;
  for (int64_t i = 0; i < count; i++) {
    const SegmentEntry *entry = entries + order[i];
    real *target = s->target + entry->key * s->rowStride;
    for (int64_t c = 0; c < s->columns; c++)
      target[c * s->columnStride] += (real)(entry->factor * s->source[entry->source + c * s->sourceStride]);
  }
}

void THNN_(segmentSum)(const SegmentSum *s)
{
  for (int64_t i = 0; s->overwrites && i < s->segments.keys * s->columns; i++) s->target[i] = 0;
  THNN_(segmentForEach)(&s->segments, THNN_(addSegment), s);
}
