#include "connection_table/connection_list.h"

#include "runtime/integer.h"

#define RADIX_BITS 11 /* bits per digit of the sort */
#define RADIX (1 << RADIX_BITS)

static inline uint64_t blockOf(const ConnectionList *list, const Connection *c)
{
  return (uint64_t)(c->major / list->majorBlock * list->minorBlocks + c->minor / list->minorBlock);
}

static inline uint64_t key(const ConnectionList *list, const Connection *c)
{
  return blockOf(list, c) * (uint64_t)list->majorBlock + (uint64_t)(c->major % list->majorBlock);
}

size_t THNN_(connectionListBytes)(const ConnectionTable *table)
{
  return (2 * sizeof(Connection) * (size_t)MIN(table->rows, TABLE_ROWS) + 63) & ~(size_t)63;
}

void THNN_(connectionListSort)(ConnectionList *list, const ConnectionTable *table, int64_t firstRow,
                               int majorColumn, size_t scratchBytes)
{
  Connection *entries = thnn_scratch(scratchBytes), *spare = entries + MIN(table->rows, TABLE_ROWS);
  const real *row = (const real *)table->data + firstRow * table->stride[0];
  const int64_t n = list->count;
  uint64_t most = 0;
  for (int64_t i = 0; i < n; i++, row += table->stride[0]) {
    entries[i] = (Connection){.major = (int32_t)row[majorColumn ? table->stride[1] : 0],
                              .minor = (int32_t)row[majorColumn ? 0 : table->stride[1]],
                              .row = (int32_t)i};
    most = MAX(most, key(list, entries + i));
  }
  for (int shift = 0; shift < 64 && most >> shift > 0; shift += RADIX_BITS) {
    int32_t start[RADIX + 1] = {0};
    for (int64_t i = 0; i < n; i++) start[(key(list, entries + i) >> shift & (RADIX - 1)) + 1]++;
    for (int i = 0; i < RADIX; i++) start[i + 1] += start[i];
    for (int64_t i = 0; i < n; i++) spare[start[key(list, entries + i) >> shift & (RADIX - 1)]++] = entries[i];
    Connection *sorted = spare;
    spare = entries;
    entries = sorted;
  }
  list->entries = entries;
}

const Connection *THNN_(connectionListBlock)(const ConnectionList *list, int64_t block)
{
  int64_t low = 0, high = list->count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (blockOf(list, list->entries + middle) < (uint64_t)block) low = middle + 1;
    else high = middle;
  }
  return list->entries + low;
}
