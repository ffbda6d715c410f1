#ifndef THNN_GENERIC_CONVOLUTION_SLIDING_H
#define THNN_GENERIC_CONVOLUTION_SLIDING_H

/* The geometry of windows that slide over images, for the modules around lib/THNN/cores/taps.h, connected.h and
   untied.h: checks by the names that a function has for its arguments, sizes in 64-bit arithmetic, and views. */

#include "convolution/convolution.h"

/* Sets the output sizes from the rest, which has been checked; fails where nothing would be left or memory could not hold
   it. `name` is the argument whose size the windows slide over. */
static inline void slide(THNNState *state, Convolution *g, const char *name)
{
  int64_t elements = (int64_t)sizeof(real);
  bool fits = !__builtin_mul_overflow(elements, g->batch > 1 ? g->batch : 1, &elements) &&
              !__builtin_mul_overflow(elements, g->outputChannels, &elements);
  for (int d = 3 - g->dims; d < 3; d++) {
    WindowAxis *a = g->axis + d;
    if (!windowOutputSize(a, false)) {
      fits = false;
      continue;
    }
    if (a->output == 0)
      return THNN_fail(state, THNN_VALUE_ERROR, name,
                       "no window fits: size %lld with %lld of padding on both sides, kernel %lld, dilation %lld",
                       (long long)a->input, (long long)a->padding, (long long)a->kernel, (long long)a->dilation);
    fits = fits && !__builtin_mul_overflow(elements, a->output, &elements);
  }
  if (!fits)
    THNN_fail(state, THNN_VALUE_ERROR, name,
              "more windows than memory can hold: size %lld x %lld, padding %lld x %lld",
              (long long)g->axis[1].input, (long long)g->axis[2].input, (long long)g->axis[1].padding,
              (long long)g->axis[2].padding);
}

/* (N, C, H, W) or (C, H, W) */
static inline ConvolutionView planeView(const THTensor *t)
{
  const int64_t *stride = t->stride + t->ndim - 3;
  return (ConvolutionView){.data = t->data,
                           .stride = {t->ndim == 4 ? t->stride[0] : 0, stride[0], 0, stride[1], stride[2]}};
}

#endif
