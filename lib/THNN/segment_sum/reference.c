#include "segment_sum/segment_sum.h"

static int64_t frequency(const Segments *s, int64_t key)
{
  int64_t found = 0;
  SegmentEntry entry;
  for (int64_t i = 0; i < s->entries; i++) {
    s->read(s->context, i, 1, &entry);
    found += entry.key == key;
  }
  return found;
}

void THNN_(segmentForEach)(const Segments *s, SegmentFunction *process, const void *context)
{
  const uint16_t order[1] = {0};
  for (int64_t i = 0; i < s->entries; i++) {
    SegmentEntry entry;
    s->read(s->context, i, 1, &entry);
    if (entry.key < 0) continue;
    if (s->byFrequency) entry.factor /= (double)frequency(s, entry.key);
    process(context, &entry, order, 1);
  }
}

static void addEntry(const void *context, const SegmentEntry *entry, const uint16_t *order, int64_t count)
{
  const SegmentSum *s = context;
  (void)order, (void)count;
  real *target = s->target + entry->key * s->rowStride;
  for (int64_t c = 0; c < s->columns; c++)
    target[c * s->columnStride] += (real)(entry->factor * s->source[entry->source + c * s->sourceStride]);
}

void THNN_(segmentSum)(const SegmentSum *s) { THNN_(segmentForEach)(&s->segments, addEntry, s); }
