#include "runtime/algorithm.h"

#include <stdio.h>
#include <string.h>

#define MOST 8

static _Thread_local const char *used[MOST];
static _Thread_local int count;

void thnn_useAlgorithm(const char *name)
{
  for (int i = 0; i < count; i++)
    if (strcmp(used[i], name) == 0) return;
  if (count < MOST) used[count++] = name;
}

const char *THNN_takeAlgorithms(void)
{
  static _Thread_local char text[256];
  size_t length = 0;
  text[0] = 0;
  for (int i = 0; i < count && length < sizeof text; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i > 0 ? "," : "", used[i]);
  count = 0;
  return text;
}
