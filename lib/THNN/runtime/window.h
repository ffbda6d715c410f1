#ifndef THNN_RUNTIME_WINDOW_H
#define THNN_RUNTIME_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* The geometry of a sliding window along one axis, for convolution, unfolding, pooling and subsampling:

     output o reads inputs o * stride - padding + k * dilation, 0 <= k < kernel, as far as they exist. */
typedef struct WindowAxis {
  int64_t input, output, kernel, stride, padding, dilation;
} WindowAxis;

/* Axes of a window are ordered depth, height, width; fewer axes are preceded by trivial ones. */
#define WINDOW_AXES 3

/* An axis that the window does not slide along. */
#define WINDOW_AXIS_TRIVIAL ((WindowAxis){1, 1, 1, 1, 0, 1})

/* Input elements from the first to the last one that a window covers; false where 64 bits do not hold it. */
static inline bool windowSpan(const WindowAxis *axis, int64_t *span)
{
  return !__builtin_mul_overflow(axis->dilation, axis->kernel - 1, span) &&
         !__builtin_add_overflow(*span, 1, span);
}

/* Sets axis->output to floor or ceil((input + 2 * padding - span) / stride) + 1, not below 0; false where 64 bits do
   not hold it. */
static inline bool windowOutputSize(WindowAxis *axis, bool ceilMode)
{
  int64_t span, room;
  if (!windowSpan(axis, &span) || __builtin_mul_overflow(axis->padding, 2, &room) ||
      __builtin_add_overflow(room, axis->input, &room))
    return false;
  room -= span;
  if (room < 0) axis->output = ceilMode && room > -axis->stride ? 1 : 0;
  else if (ceilMode) axis->output = room / axis->stride + (room % axis->stride != 0) + 1;
  else axis->output = room / axis->stride + 1;
  return true;
}

/* The inverse, for a transposed convolution: sets axis->input to the elements that `output` windows reach, less the
   padding on both sides, plus outputPadding at the end; not below 0. False where 64 bits do not hold it. */
static inline bool windowInputSize(WindowAxis *axis, int64_t outputPadding)
{
  int64_t span, size;
  if (!windowSpan(axis, &span) || __builtin_mul_overflow(axis->output - 1, axis->stride, &size) ||
      __builtin_add_overflow(size, span, &size) || __builtin_add_overflow(size, outputPadding, &size))
    return false;
  axis->input = size > 2 * axis->padding ? size - 2 * axis->padding : 0;
  return true;
}

#endif
