#ifndef THNN_RUNTIME_STREAMING_H
#define THNN_RUNTIME_STREAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/inline.h"

/* Two techniques for loops that read and write their operands once:

   - Software prefetching. A hardware prefetcher stops at a page (4 KiB) on some processors and, on all of them,
     where addresses jump, as from one plane of a channel to that of the next sample.
   - Non-temporal stores (v_stream), if the operands exceed the last-level cache. They save reading the lines of the
     result before they are written. They are weakly ordered, so every function ends with a store fence
     (function_table.c). */

#define THNN_PREFETCH_DISTANCE 8192 /* bytes: two pages */

/* Prefetches `bytes` bytes at THNN_PREFETCH_DISTANCE from p. */
static ALWAYS_INLINE void thnn_prefetchAhead(const void *p, int bytes)
{
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch((const char *)p + THNN_PREFETCH_DISTANCE + i);
}
static ALWAYS_INLINE void thnn_prefetchAheadForWrite(void *p, int bytes)
{
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch((char *)p + THNN_PREFETCH_DISTANCE + i, 1);
}

/* True if operands of `bytes` bytes in total exceed seven eighths of the last-level cache. The size of that cache is the
   one that Linux reports, but at most 16 MiB for each CPU; the environment variable THNN_CACHE_BYTES overrides both, and
   with 0 all operands exceed the cache. */
bool thnn_exceedsLastLevelCache(int64_t bytes);

/* The message for an invalid THNN_CACHE_BYTES, or NULL. */
const char *thnn_cacheError(void);

#endif
