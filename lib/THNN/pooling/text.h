#ifndef THNN_POOLING_TEXT_H
#define THNN_POOLING_TEXT_H

#include <stdio.h>

#include "pooling/pooling.h"

/* "3 x 4" for error messages: one value for each axis of the window, in the order of the axes. */
typedef struct AxisText {
  char text[64];
} AxisText;

static inline AxisText axisText(const Pooling *pooling, const int64_t *values)
{
  AxisText result = {""};
  int n = 0;
  for (int a = WINDOW_AXES - pooling->axes; a < WINDOW_AXES; a++)
    n += snprintf(result.text + n, sizeof result.text - (size_t)n, "%s%lld", n ? " x " : "", (long long)values[a]);
  return result;
}

#endif
