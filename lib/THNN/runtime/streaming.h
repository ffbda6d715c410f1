#ifndef THNN_RUNTIME_STREAMING_H
#define THNN_RUNTIME_STREAMING_H

#include <stdbool.h>
#include <stdint.h>

/* Memory that is passed through once. Two things help a loop that goes over more than the caches hold:

   - fetching ahead of itself (__builtin_prefetch), because what a processor fetches by itself ends with the page,
     4 KiB, on some of them, and on all with the plane of a channel;
   - v_stream for results that nothing will find in a cache, which saves reading their lines before they are
     written. The barrier at the end of a parallel region orders such stores. */

/* How far ahead: two pages. */
#define THNN_FETCH_BYTES 8192

/* Fetches so many bytes ahead of p, to read them or to write them. */
static inline __attribute__((always_inline)) void thnn_fetchAhead(const void *p, int bytes)
{
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch((const char *)p + THNN_FETCH_BYTES + i);
}
static inline __attribute__((always_inline)) void thnn_fetchAheadToWrite(void *p, int bytes)
{
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch((char *)p + THNN_FETCH_BYTES + i, 1);
}

/* Whether operands of so many bytes together push each other out of the last cache. THNN_CACHE_BYTES in the
   environment says how large that is where the kernel does not know; with 0 everything is streamed. */
bool thnn_outgrowsCaches(int64_t bytes);

/* What is wrong with THNN_CACHE_BYTES, or NULL. */
const char *thnn_cacheError(void);

#endif
