#include "runtime/winograd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool enabled = true;
static char error[160];

__attribute__((constructor)) static void readSetting(void)
{
  const char *wanted = getenv("THNN_WINOGRAD");
  if (wanted == NULL || *wanted == 0 || strcmp(wanted, "1") == 0) return;
  if (strcmp(wanted, "0") == 0) enabled = false;
  else snprintf(error, sizeof error, "THNN_WINOGRAD: expected 0 or 1, got '%.64s'", wanted);
}

bool thnn_winogradEnabled(void) { return enabled; }
const char *thnn_winogradError(void) { return error[0] ? error : NULL; }
