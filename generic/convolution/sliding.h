#ifndef THNN_GENERIC_CONVOLUTION_SLIDING_H
#define THNN_GENERIC_CONVOLUTION_SLIDING_H

/* The geometry of windows that slide over images, for the modules around lib/THNN/cores/taps.h, connected.h and
   untied.h: checks by the names that a function has for its arguments, sizes in 64-bit arithmetic, and views. */

#include "convolution/convolution.h"

static inline void checkAtLeast(THNNState *state, const char *name, int64_t value, int64_t least)
{
  if (value < least)
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected at least %lld, got %lld", (long long)least,
              (long long)value);
}

/* Fills outputSize from the rest, which has been checked; fails where nothing would be left or memory could not hold
   it. `name` is the argument whose size the windows slide over. */
static inline void slide(THNNState *state, Convolution *g, const char *name)
{
  int64_t elements = (int64_t)sizeof(real);
  bool fits = !__builtin_mul_overflow(elements, g->batch > 1 ? g->batch : 1, &elements) &&
              !__builtin_mul_overflow(elements, g->outputPlanes, &elements);
  for (int d = 3 - g->dims; d < 3; d++) {
    const int64_t reach = g->dilation[d] * (g->kernel[d] - 1) + 1; /* of ints: below 2^62 */
    int64_t padded;
    if (__builtin_add_overflow(g->inputSize[d], 2 * g->padding[d], &padded)) {
      fits = false;
      continue;
    }
    if (padded < reach)
      return THNN_fail(state, THNN_VALUE_ERROR, name,
                       "no window fits: size %lld with %lld of padding on both sides, kernel %lld, dilation %lld",
                       (long long)g->inputSize[d], (long long)g->padding[d], (long long)g->kernel[d],
                       (long long)g->dilation[d]);
    g->outputSize[d] = (padded - reach) / g->stride[d] + 1;
    fits = fits && !__builtin_mul_overflow(elements, g->outputSize[d], &elements);
  }
  if (!fits)
    THNN_fail(state, THNN_VALUE_ERROR, name,
              "more windows than memory can hold: size %lld x %lld, padding %lld x %lld",
              (long long)g->inputSize[1], (long long)g->inputSize[2], (long long)g->padding[1],
              (long long)g->padding[2]);
}

/* (N, C, H, W) or (C, H, W) */
static inline ConvolutionView planeView(const THTensor *t)
{
  const int64_t *stride = t->stride + t->ndim - 3;
  return (ConvolutionView){.data = t->data,
                           .stride = {t->ndim == 4 ? t->stride[0] : 0, stride[0], 0, stride[1], stride[2]}};
}

/* gradOutput against what the output must be, batch first; `dims` of that with batch. */
static inline void checkGradientSize(THNNState *state, const THTensor *input, const THTensor *gradOutput,
                                     const int64_t *size, int dims)
{
  const int ndim = input->ndim, skip = dims - ndim;
  if (gradOutput->ndim != ndim || memcmp(gradOutput->size, size + skip, sizeof *size * (size_t)ndim) != 0)
    THNN_fail(state, THNN_VALUE_ERROR, "gradOutput", "expected the size of the output, %s, got %s",
              THNN_shapeOf(ndim, size + skip), THNN_shape(gradOutput));
}

#endif
