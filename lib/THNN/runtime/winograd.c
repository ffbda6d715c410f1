#include "runtime/winograd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool enabled = true;
static int64_t secondLevelBytes = (int64_t)1 << 20;
static char error[160];

__attribute__((constructor)) static void readSettings(void)
{
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index2/size", "r");
  long kibibytes;
  if (file != NULL) {
    if (fscanf(file, "%ldK", &kibibytes) == 1 && kibibytes > 0) secondLevelBytes = (int64_t)kibibytes * 1024;
    fclose(file);
  }
  const char *wanted = getenv("THNN_WINOGRAD");
  if (wanted == NULL || *wanted == 0 || strcmp(wanted, "1") == 0) return;
  if (strcmp(wanted, "0") == 0) enabled = false;
  else snprintf(error, sizeof error, "THNN_WINOGRAD: expected 0 or 1, got '%.64s'", wanted);
}

bool thnn_winogradEnabled(void) { return enabled; }
const char *thnn_winogradError(void) { return error[0] ? error : NULL; }
int64_t thnn_secondLevelCacheBytes(void) { return secondLevelBytes; }
