#ifndef THNN_RUNTIME_CACHES_H
#define THNN_RUNTIME_CACHES_H

#include <stdbool.h>
#include <stdint.h>

/* The caches of the machine, as Linux reports them. */

/* Bytes of the second-level cache of a core; 1 MiB if it is unknown. */
int64_t thnn_secondLevelCacheBytes(void);

/* True if operands of `bytes` bytes in total exceed seven eighths of the last-level cache, which counts up to 16 MiB
   per CPU. The environment variable THNN_CACHE_BYTES overrides its size; with 0 all operands exceed the cache. No
   operand exceeds a cache of unknown size. */
bool thnn_exceedsLastLevelCache(int64_t bytes);

/* The message for an invalid THNN_CACHE_BYTES, or NULL. */
const char *thnn_cacheError(void);

#endif
