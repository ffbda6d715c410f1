#ifndef THNN_RUNTIME_STREAMING_H
#define THNN_RUNTIME_STREAMING_H

#include "runtime/caches.h"
#include "runtime/inline.h"

/* Two techniques for loops that read and write their operands once:

   - Software prefetching. A hardware prefetcher stops at a page (4 KiB) on some processors and, on all of them,
     where addresses jump, as from a plane of a channel to the next sample's plane.
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

#endif
