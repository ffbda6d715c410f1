#include "runtime/streaming.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/integer.h"

/* The largest part of an L3 cache that a CPU can fill: a virtual machine sees the whole cache of the socket, of which CPUs
   that it does not see use the rest. */
#define MOST_PER_CPU ((int64_t)16 << 20)

/* Nothing exceeds a cache of unknown size. */
static int64_t cacheBytes = INT64_MAX;
static char error[160];

/* Read from sysfs because sysconf adds up all L3 caches of a socket on some processors. */
__attribute__((constructor)) static void readCacheSize(void)
{
  const char *wanted = getenv("THNN_CACHE_BYTES");
  if (wanted != NULL && *wanted != 0) {
    char *end;
    cacheBytes = strtoll(wanted, &end, 10);
    if (*end != 0 || cacheBytes < 0)
      snprintf(error, sizeof error, "THNN_CACHE_BYTES: expected a number of bytes, got '%.64s'", wanted);
    return;
  }
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
  long kibibytes;
  if (file == NULL) return;
  if (fscanf(file, "%ldK", &kibibytes) == 1) {
    const int64_t reported = (int64_t)kibibytes * 1024,
                  usable = MAX(sysconf(_SC_NPROCESSORS_ONLN), 1) * MOST_PER_CPU;
    cacheBytes = MIN(reported, usable);
  }
  fclose(file);
}

/* An eighth is left to other processes. */
bool thnn_exceedsLastLevelCache(int64_t bytes) { return bytes > cacheBytes - cacheBytes / 8; }

const char *thnn_cacheError(void) { return error[0] ? error : NULL; }
