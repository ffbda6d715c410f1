#include "convolution/geometry_checks.h"

void THNN_(convolutionCheckOutput)(THNNState *state, Convolution *g, const char *name)
{
  int64_t bytes = (int64_t)sizeof(real);
  bool fits = !__builtin_mul_overflow(bytes, g->batch > 1 ? g->batch : 1, &bytes) &&
              !__builtin_mul_overflow(bytes, g->outputChannels, &bytes);
  for (int d = WINDOW_AXES - g->dims; d < WINDOW_AXES; d++) {
    WindowAxis *a = g->axis + d;
    if (!windowOutputSize(a, false)) {
      fits = false;
      continue;
    }
    if (a->output == 0)
      return THNN_fail(state, THNN_VALUE_ERROR, name,
                       "no window fits: size %lld with %lld of padding on both sides, kernel %lld, dilation %lld",
                       (long long)a->input, (long long)a->padding, (long long)a->kernel, (long long)a->dilation);
    fits = fits && !__builtin_mul_overflow(bytes, a->output, &bytes);
  }
  if (!fits)
    THNN_fail(state, THNN_VALUE_ERROR, name,
              "more windows than memory can hold: size %lld x %lld, padding %lld x %lld",
              (long long)g->axis[1].input, (long long)g->axis[2].input, (long long)g->axis[1].padding,
              (long long)g->axis[2].padding);
}

ConvolutionView THNN_(convolutionImageView)(const THTensor *t)
{
  const int64_t *stride = t->stride + t->ndim - 3;
  return (ConvolutionView){.data = t->data,
                           .stride = {t->ndim == 4 ? t->stride[0] : 0, stride[0], 0, stride[1], stride[2]}};
}
