#ifndef THNN_POOLING_TEXT_H
#define THNN_POOLING_TEXT_H

#include <stdio.h>

#include "pooling/pooling.h"

/* One value for each axis of the window, for error messages: "3 x 4" or "3, 4". */
typedef struct AxisText {
  char text[80];
} AxisText;

static inline AxisText axisText(const Pooling *pooling, const char *separator, const int64_t *values)
{
  AxisText result = {""};
  int n = 0;
  for (int a = WINDOW_AXES - pooling->axes; a < WINDOW_AXES; a++)
    n += snprintf(result.text + n, sizeof result.text - (size_t)n, "%s%lld", n ? separator : "",
                  (long long)values[a]);
  return result;
}

#endif
