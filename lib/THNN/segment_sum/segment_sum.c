#include "segment_sum/segment_sum.h"

#include "runtime/integer.h"

#define READ_BLOCK 1024     /* entries that are read per task */
#define SEGMENT_BLOCK 64    /* sorted entries per task, more if a segment is longer */
#define RADIX_BITS 11       /* bits per digit of the sort */
#define COUNTED_KEYS 65536  /* keys whose entries are counted at a time */
#define COUNTED_ENTRIES 256 /* entries that are read at a time for counting */

/* A key and the position of its entry in the chunk, as one number: sorting the high bits stably sorts by key. */
typedef uint64_t Item;
#define POSITION_BITS 16
_Static_assert(SEGMENT_CHUNK <= 1 << POSITION_BITS, "positions fit POSITION_BITS");
static inline int64_t itemKey(Item item) { return (int64_t)(item >> POSITION_BITS); }

typedef struct Chunk {
  SegmentEntry *entries;
  Item *items, *swap;
  uint16_t *order; /* positions of the entries in sorted order */
  int64_t *counts; /* entries per key, of COUNTED_KEYS keys */
} Chunk;

static Chunk makeChunk(const Segments *s)
{
  const int64_t n = MIN(s->entries, SEGMENT_CHUNK);
  const size_t counts = s->byFrequency ? (size_t)MIN(s->keys, COUNTED_KEYS) : 0;
  char *memory = thnn_scratch((size_t)n * (sizeof(SegmentEntry) + 2 * sizeof(Item) + sizeof(uint16_t)) +
                              counts * sizeof(int64_t));
  Chunk chunk = {.entries = (SegmentEntry *)memory};
  chunk.items = (Item *)(chunk.entries + n);
  chunk.swap = chunk.items + n;
  chunk.counts = (int64_t *)(chunk.swap + n);
  chunk.order = (uint16_t *)(chunk.counts + counts);
  return chunk;
}

/* Sorts `count` items by key, least significant digit first; the result is in chunk->items. */
static void sortItems(Chunk *chunk, int64_t count, int64_t keys)
{
  const int bits = keys > 1 ? 64 - __builtin_clzll((uint64_t)(keys - 1)) : 0;
  const int passes = (int)ceilDivide(bits, RADIX_BITS), width = passes ? (int)ceilDivide(bits, passes) : 0;
  for (int pass = 0; pass < passes; pass++) {
    const int shift = POSITION_BITS + pass * width;
    const Item mask = ((Item)1 << width) - 1;
    int32_t next[1 << RADIX_BITS] = {0};
    for (int64_t i = 0; i < count; i++) next[chunk->items[i] >> shift & mask]++;
    int32_t sum = 0;
    for (Item digit = 0; digit <= mask; digit++) {
      const int32_t found = next[digit];
      next[digit] = sum;
      sum += found;
    }
    for (int64_t i = 0; i < count; i++) {
      const Item item = chunk->items[i];
      chunk->swap[next[item >> shift & mask]++] = item;
    }
    Item *const sorted = chunk->swap;
    chunk->swap = chunk->items;
    chunk->items = sorted;
  }
}

/* Processes the segments that begin in sorted items [first, end). */
static void processRange(const Chunk *chunk, int64_t count, int64_t first, int64_t end, SegmentFunction *process,
                         const void *context)
{
  const Item *items = chunk->items;
  int64_t i = first;
  while (i > 0 && i < end && itemKey(items[i]) == itemKey(items[i - 1])) i++;
  while (i < end) {
    int64_t next = i + 1;
    while (next < count && itemKey(items[next]) == itemKey(items[i])) next++;
    process(context, chunk->entries, chunk->order + i, next - i);
    i = next;
  }
}

/* A key and the first of the sorted items that do not precede it. */
typedef struct KeyPlace {
  int64_t key, item;
} KeyPlace;

/* The first key at or after `place` in the sequence of all keys and items, in which a key precedes its items. */
static KeyPlace keyPlace(const Chunk *chunk, int64_t count, int64_t place)
{
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (itemKey(chunk->items[middle]) + middle >= place) high = middle;
    else low = middle + 1;
  }
  return (KeyPlace){MAX(place - low, low > 0 ? itemKey(chunk->items[low - 1]) + 1 : 0), low};
}

/* Prepares the keys [firstKey, firstKey + keys), and processes the segments of `count` items. A task has adjacent keys,
   so that its segments find their prepared keys in the cache. */
static void prepareAndProcess(const Segments *s, const Chunk *chunk, int64_t count, int64_t firstKey, int64_t keys,
                              SegmentFunction *process, const void *context)
{
  const int64_t places = keys + count;
  THNN_PARALLEL_FOR(task, ceilDivide(places, SEGMENT_BLOCK), places * s->work) {
    const KeyPlace first = keyPlace(chunk, count, task * SEGMENT_BLOCK),
                   end = keyPlace(chunk, count, MIN((task + 1) * SEGMENT_BLOCK, places));
    s->prepare(context, firstKey + first.key, firstKey + end.key);
    processRange(chunk, count, first.item, end.item, process, context);
  }
}

/* Reads entries [first, first + n), keeps the entries with keys in [firstKey, endKey) as items, and processes their
   segments. */
static void processChunk(const Segments *s, Chunk *chunk, int64_t first, int64_t n, int64_t firstKey,
                         int64_t endKey, SegmentFunction *process, const void *context)
{
  THNN_PARALLEL_FOR(block, ceilDivide(n, READ_BLOCK), n) {
    const int64_t i = block * READ_BLOCK;
    s->read(s->context, first + i, MIN(READ_BLOCK, n - i), chunk->entries + i);
  }
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    SegmentEntry *const entry = chunk->entries + i;
    if (entry->key < firstKey || entry->key >= endKey) continue;
    if (s->byFrequency) entry->factor /= (double)chunk->counts[entry->key - firstKey];
    chunk->items[count++] = (Item)(entry->key - firstKey) << POSITION_BITS | (Item)i;
  }
  sortItems(chunk, count, endKey - firstKey);
  for (int64_t i = 0; i < count; i++) chunk->order[i] = (uint16_t)chunk->items[i];
  if (s->prepare && first == 0) {
    prepareAndProcess(s, chunk, count, firstKey, endKey - firstKey, process, context);
    return;
  }
  THNN_PARALLEL_FOR(task, ceilDivide(count, SEGMENT_BLOCK), count * s->work)
    processRange(chunk, count, task * SEGMENT_BLOCK, MIN((task + 1) * SEGMENT_BLOCK, count), process, context);
}

/* The key of the segment to which an entry belongs, skipped or not. */
static int64_t segmentKey(int64_t key) { return key < 0 ? ~key : key; }

/* Processes the segments that begin in entries [begin, end) if the keys are sorted. */
static void processSorted(const Segments *s, int64_t begin, int64_t end, SegmentFunction *process,
                          const void *context)
{
  SegmentEntry entries[SEGMENT_BLOCK];
  uint16_t order[SEGMENT_BLOCK];
  int64_t key = -1;
  bool begun = false; /* true if the segment of `key` begins in this range */
  if (begin > 0) {
    s->read(s->context, begin - 1, 1, entries);
    key = segmentKey(entries[0].key);
  }
  for (int64_t first = begin, n; first < s->entries && (begun || first < end); first += n) {
    n = MIN(SEGMENT_BLOCK, s->entries - first);
    s->read(s->context, first, n, entries);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
      if (segmentKey(entries[i].key) != key) {
        if (count > 0) process(context, entries, order, count);
        count = 0;
        key = segmentKey(entries[i].key);
        begun = first + i < end;
        if (!begun) return;
      }
      if (begun && entries[i].key >= 0) order[count++] = (uint16_t)i;
    }
    if (count > 0) process(context, entries, order, count);
  }
}

static void countKeys(const Segments *s, int64_t *counts, int64_t firstKey, int64_t endKey)
{
  memset(counts, 0, sizeof *counts * (size_t)(endKey - firstKey));
  SegmentEntry entries[COUNTED_ENTRIES];
  for (int64_t first = 0; first < s->entries; first += COUNTED_ENTRIES) {
    const int64_t n = MIN(COUNTED_ENTRIES, s->entries - first);
    s->read(s->context, first, n, entries);
    for (int64_t i = 0; i < n; i++)
      if (entries[i].key >= firstKey && entries[i].key < endKey) counts[entries[i].key - firstKey]++;
  }
}

void THNN_(segmentForEach)(const Segments *s, SegmentFunction *process, const void *context)
{
  if (s->keys == 0 || (s->entries == 0 && s->prepare == NULL)) return;
  if (s->sorted) {
    THNN_PARALLEL_FOR(task, ceilDivide(s->entries, SEGMENT_BLOCK), s->entries * s->work)
      processSorted(s, task * SEGMENT_BLOCK, MIN((task + 1) * SEGMENT_BLOCK, s->entries), process, context);
    return;
  }
  Chunk chunk = makeChunk(s);
  const int64_t range = s->byFrequency ? MIN(s->keys, COUNTED_KEYS) : s->keys;
  for (int64_t firstKey = 0; firstKey < s->keys; firstKey += range) {
    const int64_t endKey = MIN(firstKey + range, s->keys);
    if (s->byFrequency) countKeys(s, chunk.counts, firstKey, endKey);
    int64_t first = 0;
    do processChunk(s, &chunk, first, MIN(SEGMENT_CHUNK, s->entries - first), firstKey, endKey, process, context);
    while ((first += SEGMENT_CHUNK) < s->entries);
  }
}

/* --- sums ------------------------------------------------------------------------------------------------- */

#define COLUMN_VECTORS 8 /* vectors of columns that are summed at a time */
#define PARTIAL_SUM 128  /* terms of a partial sum */

/* Adds the rows of a segment in columns [0, n), n <= vectors * VL, that are contiguous in source and target. */
static ALWAYS_INLINE void addColumns(int vectors, bool whole, int n, const real *source, real *target,
                                     const SegmentEntry *entries, const uint16_t *order, int64_t count)
{
  vreal total[COLUMN_VECTORS] = {{0}};
  for (int64_t first = 0; first < count; first += PARTIAL_SUM) {
    vreal partial[COLUMN_VECTORS] = {{0}};
    const int64_t end = MIN(first + PARTIAL_SUM, count);
    for (int64_t i = first; i < end; i++) {
      const SegmentEntry *entry = entries + order[i];
      const real *row = source + entry->source;
      const vreal factor = v_set1((real)entry->factor);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; v++) partial[v] += factor * (whole ? v_load(row + v * VL) : v_load_n(row, n));
    }
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++) total[v] += partial[v];
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++) {
    if (whole) v_store(target + v * VL, v_load(target + v * VL) + total[v]);
    else v_store_n(target, v_load_n(target, n) + total[v], n);
  }
}

static void addContiguous(const SegmentSum *s, real *target, const SegmentEntry *entries, const uint16_t *order,
                          int64_t count)
{
  int64_t c = 0;
  for (; c + COLUMN_VECTORS * VL <= s->columns; c += COLUMN_VECTORS * VL)
    addColumns(COLUMN_VECTORS, true, 0, s->source + c, target + c, entries, order, count);
  for (; c + 2 * VL <= s->columns; c += 2 * VL)
    addColumns(2, true, 0, s->source + c, target + c, entries, order, count);
  for (; c < s->columns; c += VL)
    addColumns(1, false, (int)MIN(VL, s->columns - c), s->source + c, target + c, entries, order, count);
}

static void addStrided(const SegmentSum *s, real *target, const SegmentEntry *entries, const uint16_t *order,
                       int64_t count)
{
  for (int64_t c = 0; c < s->columns; c++) {
    real total = 0;
    for (int64_t first = 0; first < count; first += PARTIAL_SUM) {
      real partial = 0;
      const int64_t end = MIN(first + PARTIAL_SUM, count);
      for (int64_t i = first; i < end; i++) {
        const SegmentEntry *entry = entries + order[i];
        partial += (real)entry->factor * s->source[entry->source + c * s->sourceStride];
      }
      total += partial;
    }
    target[c * s->columnStride] += total;
  }
}

void THNN_(addSegment)(const void *context, const SegmentEntry *entries, const uint16_t *order, int64_t count)
{
  const SegmentSum *s = context;
  real *const target = s->target + entries[order[0]].key * s->rowStride;
  const bool contiguous = (s->sourceStride == 1 && s->columnStride == 1) || s->columns == 1;
  (contiguous ? addContiguous : addStrided)(s, target, entries, order, count);
}

/* Sets the rows of keys [first, end) to 0. */
static void clearRows(const void *context, int64_t first, int64_t end)
{
  const SegmentSum *s = context;
  memset(s->target + first * s->columns, 0, sizeof(real) * (size_t)((end - first) * s->columns));
}

void THNN_(segmentSum)(const SegmentSum *s)
{
  if (s->columns == 0) return;
  Segments segments = s->segments;
  segments.work = s->columns;
  segments.prepare = s->overwrites ? clearRows : NULL;
  THNN_(segmentForEach)(&segments, THNN_(addSegment), s);
}
