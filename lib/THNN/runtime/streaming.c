#include "runtime/streaming.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Where nobody tells, nothing is streamed. */
static int64_t cache_bytes = INT64_MAX;
static char error[160];

/* Asked of the kernel: sysconf counts the caches of all sockets on some processors. */
__attribute__((constructor)) static void readCacheSize(void)
{
  const char *wanted = getenv("THNN_CACHE_BYTES");
  if (wanted != NULL && *wanted != 0) {
    char *end;
    cache_bytes = strtoll(wanted, &end, 10);
    if (*end != 0 || cache_bytes < 0)
      snprintf(error, sizeof error, "THNN_CACHE_BYTES: expected a number of bytes, got '%.64s'", wanted);
    return;
  }
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
  long kibibytes;
  if (file == NULL) return;
  if (fscanf(file, "%ldK", &kibibytes) == 1) cache_bytes = (int64_t)kibibytes * 1024;
  fclose(file);
}

/* Others have a part of it. */
bool thnn_outgrowsCaches(int64_t bytes) { return bytes > cache_bytes - cache_bytes / 8; }

const char *thnn_cacheError(void) { return error[0] ? error : NULL; }
