#include "runtime/caches.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/integer.h"

/* The largest part of a last-level cache that a CPU can fill: a virtual machine reports the whole cache of the socket,
   although CPUs that it does not see use the rest. */
#define MOST_PER_CPU ((int64_t)10 << 20)

static int64_t secondLevelBytes = (int64_t)1 << 20, lastLevelBytes = INT64_MAX;
static char error[160];

/* Returns the size of a cache, or 0 if it is unknown. Read from sysfs because sysconf adds up all last-level caches of
   a socket on some processors. */
static int64_t reportedBytes(const char *path)
{
  FILE *file = fopen(path, "r");
  long kibibytes = 0;
  if (file == NULL) return 0;
  if (fscanf(file, "%ldK", &kibibytes) != 1) kibibytes = 0;
  fclose(file);
  return MAX((int64_t)kibibytes, 0) * 1024;
}

__attribute__((constructor)) static void readSizes(void)
{
  const int64_t second = reportedBytes("/sys/devices/system/cpu/cpu0/cache/index2/size"),
                last = reportedBytes("/sys/devices/system/cpu/cpu0/cache/index3/size");
  if (second > 0) secondLevelBytes = second;
  if (last > 0) lastLevelBytes = MIN(last, MAX(sysconf(_SC_NPROCESSORS_ONLN), 1) * MOST_PER_CPU);
  const char *wanted = getenv("THNN_CACHE_BYTES");
  if (wanted == NULL || *wanted == 0) return;
  char *end;
  lastLevelBytes = strtoll(wanted, &end, 10);
  if (*end != 0 || lastLevelBytes < 0)
    snprintf(error, sizeof error, "THNN_CACHE_BYTES: expected a number of bytes, got '%.64s'", wanted);
}

int64_t thnn_secondLevelCacheBytes(void) { return secondLevelBytes; }

/* An eighth is left to other processes. */
bool thnn_exceedsLastLevelCache(int64_t bytes) { return bytes > lastLevelBytes - lastLevelBytes / 8; }

const char *thnn_cacheError(void) { return error[0] ? error : NULL; }
