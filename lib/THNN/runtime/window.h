#ifndef THNN_RUNTIME_WINDOW_H
#define THNN_RUNTIME_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* The geometry of a sliding window along one axis, for convolution, unfolding, pooling and subsampling:

     output o reads inputs o * stride - padding + k * dilation, 0 <= k < kernel, if they exist. */
typedef struct WindowAxis {
  int64_t input, output, kernel, stride, padding, dilation;
} WindowAxis;

/* Axes of a window are ordered depth, height, width; if a window has fewer axes, trivial ones precede them. */
#define WINDOW_AXES 3

/* An axis that the window does not slide along. */
#define WINDOW_AXIS_TRIVIAL ((WindowAxis){1, 1, 1, 1, 0, 1})

/* Sets *span to the number of input elements from the first to the last one that a window reads; false on 64-bit
   overflow. */
static inline bool windowSpan(const WindowAxis *axis, int64_t *span)
{
  return !__builtin_mul_overflow(axis->dilation, axis->kernel - 1, span) &&
         !__builtin_add_overflow(*span, 1, span);
}

/* Sets *positions to floor or ceil((input + 2 * padding - span) / stride) + 1, below 1 if the window does not fit into
   the padded input; false on 64-bit overflow. */
static inline bool windowPositions(const WindowAxis *axis, bool ceilMode, int64_t *positions)
{
  int64_t span, room;
  if (!windowSpan(axis, &span) || __builtin_mul_overflow(axis->padding, 2, &room) ||
      __builtin_add_overflow(room, axis->input, &room))
    return false;
  room -= span;
  const int64_t rest = room % axis->stride;
  *positions = room / axis->stride + (ceilMode ? rest > 0 : -(rest < 0)) + 1;
  return true;
}

/* Sets axis->output to the number of positions of the window, at least 0; false on 64-bit overflow. */
static inline bool windowOutputSize(WindowAxis *axis, bool ceilMode)
{
  if (!windowPositions(axis, ceilMode, &axis->output)) return false;
  if (axis->output < 0) axis->output = 0;
  return true;
}

/* The inverse, for a transposed convolution: sets axis->input to the number of elements that `output` windows cover,
   less the padding on both sides, plus outputPadding at the end; at least 0. False on 64-bit overflow. */
static inline bool windowInputSize(WindowAxis *axis, int64_t outputPadding)
{
  int64_t span, size;
  if (!windowSpan(axis, &span) || __builtin_mul_overflow(axis->output - 1, axis->stride, &size) ||
      __builtin_add_overflow(size, span, &size) || __builtin_add_overflow(size, outputPadding, &size))
    return false;
  axis->input = size > 2 * axis->padding ? size - 2 * axis->padding : 0;
  return true;
}

/* The first input of output o; negative in the padding. */
static inline int64_t windowStart(const WindowAxis *axis, int64_t o) { return o * axis->stride - axis->padding; }

/* Drops the last output if its window starts beyond the input, which happens if the output size was rounded up. */
static inline void windowDropOutside(WindowAxis *axis)
{
  if (windowStart(axis, axis->output - 1) >= axis->input) axis->output--;
}

/* The kernel elements *first <= k < *end of output o that lie in the input; none if *first >= *end. */
static inline void windowElements(const WindowAxis *axis, int64_t o, int64_t *first, int64_t *end)
{
  int64_t start = windowStart(axis, o), k = 0, n = axis->kernel;
  if (start < 0) k = axis->dilation == 1 ? -start : (-start + axis->dilation - 1) / axis->dilation;
  if (start + (n - 1) * axis->dilation >= axis->input)
    n = start >= axis->input  ? 0
        : axis->dilation == 1 ? axis->input - start
                              : (axis->input - 1 - start) / axis->dilation + 1;
  *first = k;
  *end = n;
}

/* Advances the range *low <= o < *high, the outputs whose windows cover an input, from a smaller input to input i; both
   start as 0. With a dilation, windowReads decides which outputs of the range read i. */
static inline void windowSlide(const WindowAxis *axis, int64_t i, int64_t *low, int64_t *high)
{
  while (*high < axis->output && windowStart(axis, *high) <= i) ++*high;
  while (*low < *high && windowStart(axis, *low) + (axis->kernel - 1) * axis->dilation < i) ++*low;
}

static inline bool windowReads(const WindowAxis *axis, int64_t o, int64_t i)
{
  return axis->dilation == 1 || (i - windowStart(axis, o)) % axis->dilation == 0;
}

/* True if every kernel element of every output lies in the input. */
static inline bool windowIsInside(const WindowAxis *axis)
{
  return axis->padding == 0 &&
         (axis->output - 1) * axis->stride + (axis->kernel - 1) * axis->dilation < axis->input;
}

/* True if output o reads input o and no other input. */
static inline bool windowIsIdentity(const WindowAxis *axis)
{
  return axis->kernel == 1 && axis->stride == 1 && axis->padding == 0;
}

/* The largest number of outputs whose windows cover one input: an upper bound on the number of outputs that read it. */
static inline int64_t windowOverlap(const WindowAxis *axis)
{
  int64_t n = (axis->kernel - 1) * axis->dilation / axis->stride + 1;
  return n < axis->output ? n : axis->output;
}

/* The outputs *begin <= o < *end whose kernel element k lies in the input. */
static inline void windowOutputs(const WindowAxis *axis, int64_t k, int64_t *begin, int64_t *end)
{
  const int64_t first = k * axis->dilation - axis->padding, room = axis->input - first, stride = axis->stride;
  *begin = first >= 0 ? 0 : stride == 1 ? -first : (-first + stride - 1) / stride;
  *end = room <= 0 ? 0 : stride == 1 ? room : (room + stride - 1) / stride;
  if (*end > axis->output) *end = axis->output;
  if (*begin > *end) *begin = *end;
}

/* The input that kernel element k of output o reads; negative if it lies in the padding. */
static inline int64_t windowInputAt(const WindowAxis *axis, int64_t o, int64_t k)
{
  const int64_t i = o * axis->stride + k * axis->dilation - axis->padding;
  return i < axis->input ? i : -1;
}

/* The output whose kernel element k reads input i, or -1. */
static inline int64_t windowOutputAt(const WindowAxis *axis, int64_t i, int64_t k)
{
  const int64_t shifted = i + axis->padding - k * axis->dilation;
  if (shifted < 0 || (axis->stride > 1 && shifted % axis->stride != 0)) return -1;
  const int64_t o = axis->stride > 1 ? shifted / axis->stride : shifted;
  return o < axis->output ? o : -1;
}

#endif
