#ifndef THNN_POOLING_POOLING_H
#define THNN_POOLING_POOLING_H

#include "runtime/kernel.h"

/* Windows that slide over images: what all pooling functions share. Geometry and views first; then, per element
   type, what their loops are made of, and the loops of window.c and window_backward.c.

   Work is done in runs of lanes, elements that are treated alike and lie side by side in memory:
     - channels-last tensors: the channels of one pixel. A tap of the window is another pixel.
     - otherwise: the pixels of one output row. A row of the image is first split into `stride` phases
       (phase q holds columns q, q + stride, q + 2*stride, ...), so that a tap of all these windows is a run
       as well, whatever the stride. Backward, a row is merged from its phases. Rows of other strides are
       gathered while they are split.
   Windows of 2 x 2 and 3 x 3 that halve an even image, the most frequent ones, are split and merged in registers. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/check.h"
#include "runtime/streaming.h"

/* One axis: output o sees inputs o*stride - pad + k*dilation for 0 <= k < kernel, as far as they exist. */
typedef struct THNNAxis {
  int64_t input, output, kernel, stride, pad, dilation;
} THNNAxis;

typedef struct THNNWindow {
  THNNAxis h, w;
} THNNWindow;

/* floor or ceil of (input + 2*pad - span) / stride, plus 1. In a `clipped` window function one that would start
   at or beyond input + pad is left out. Arguments are far from overflow, see THNN_CHECK_AXIS. */
static inline int64_t thnn_windowOutput(const THNNAxis *a, bool ceil_mode, bool clipped)
{
  int64_t room = a->input + 2 * a->pad - ((a->kernel - 1) * a->dilation + 1) + (ceil_mode ? a->stride - 1 : 0);
  int64_t output = (room >= 0 ? room / a->stride : -((-room + a->stride - 1) / a->stride)) + 1;
  return clipped && (output - 1) * a->stride >= a->input + a->pad ? output - 1 : output;
}

static inline int64_t thnn_windowStart(const THNNAxis *a, int64_t o) { return o * a->stride - a->pad; }

/* The taps *first <= k < *end of output o that exist; none if *first >= *end. */
static inline void thnn_windowTaps(const THNNAxis *a, int64_t o, int64_t *first, int64_t *end)
{
  int64_t start = thnn_windowStart(a, o), k = 0, n = a->kernel;
  if (start < 0) k = a->dilation == 1 ? -start : (-start + a->dilation - 1) / a->dilation;
  if (start + (n - 1) * a->dilation >= a->input)
    n = start >= a->input ? 0 : a->dilation == 1 ? a->input - start : (a->input - 1 - start) / a->dilation + 1;
  *first = k;
  *end = n;
}

/* The outputs *low <= o < *high that may see input i, from those of a smaller i (0 and 0 to begin with). With
   a dilation only those do for which thnn_windowSees. */
static inline void thnn_windowSlide(const THNNAxis *a, int64_t i, int64_t *low, int64_t *high)
{
  while (*high < a->output && thnn_windowStart(a, *high) <= i) ++*high;
  while (*low < *high && thnn_windowStart(a, *low) + (a->kernel - 1) * a->dilation < i) ++*low;
}

static inline bool thnn_windowSees(const THNNAxis *a, int64_t o, int64_t i)
{
  return a->dilation == 1 || (i - thnn_windowStart(a, o)) % a->dilation == 0;
}

/* Whether no tap of any output lies outside the input. */
static inline bool thnn_windowsInside(const THNNAxis *a)
{
  return a->pad == 0 && (a->output - 1) * a->stride + (a->kernel - 1) * a->dilation < a->input;
}

/* At most this many outputs see one input. */
static inline int64_t thnn_windowOverlap(const THNNAxis *a)
{
  int64_t n = (a->kernel - 1) * a->dilation / a->stride + 1;
  return n < a->output ? n : a->output;
}

/* By how much the sum of a window is divided along this axis: padding counts or does not, what lies beyond the
   padding never does; 1 for a window without any element. */
static inline int64_t thnn_windowDivisor(const THNNAxis *a, int64_t o, bool count_pad)
{
  int64_t start = thnn_windowStart(a, o), end = start + a->kernel, limit = a->input + (count_pad ? a->pad : 0);
  if (end > limit) end = limit;
  if (start < 0 && !count_pad) start = 0;
  return end > start ? end - start : 1;
}

/* (N, C, H, W), or (C, H, W) as N = 1, in the order of the sizes. Strides of dimensions of one element are 1. */
typedef struct THNNImages {
  int64_t n, c, h, w;
  int64_t sn, sc, sh, sw;
} THNNImages;

static inline THNNImages thnn_images(const THNNTensor *t)
{
  int64_t size[4] = {1, 1, 1, 1}, stride[4] = {1, 1, 1, 1};
  for (int d = 0; d < t->ndim; d++) {
    size[4 - t->ndim + d] = t->size[d];
    if (t->size[d] != 1) stride[4 - t->ndim + d] = t->stride[d];
  }
  return (THNNImages){size[0], size[1], size[2], size[3], stride[0], stride[1], stride[2], stride[3]};
}

/* Whether a run of this tensor should be the channels of a pixel. */
static inline bool thnn_channelsInside(const THNNImages *t) { return t->c > 1 && t->sc == 1; }

static inline int64_t thnn_plane(const THNNImages *t, int64_t plane)
{
  return plane / t->c * t->sn + plane % t->c * t->sc;
}

/* Checks the arguments that all 2-D windows have and finds the geometry; fails like THNN_CHECK. */
static inline void thnn_checkWindow(THNNState *state, const THNNTensor *input, int kW, int kH, int dW, int dH,
                                    int padW, int padH, bool ceil_mode, THNNWindow *window)
{
  THNN_CHECK(kW > 0, kW, "expected a kernel of at least 1, got %d", kW);
  THNN_CHECK(kH > 0, kH, "expected a kernel of at least 1, got %d", kH);
  THNN_CHECK(dW > 0, dW, "expected a stride of at least 1, got %d", dW);
  THNN_CHECK(dH > 0, dH, "expected a stride of at least 1, got %d", dH);
  THNN_CHECK(padW >= 0 && padW <= kW / 2, padW, "expected 0 <= padW <= kW / 2 = %d, got %d", kW / 2, padW);
  THNN_CHECK(padH >= 0 && padH <= kH / 2, padH, "expected 0 <= padH <= kH / 2 = %d, got %d", kH / 2, padH);
  THNN_CHECK(input->ndim == 4 || input->ndim == 3, input,
             "expected 4 dimensions (N, C, H, W) or 3 (C, H, W), got %s", THNN_shape(input));
  THNNImages x = thnn_images(input);
  THNN_CHECK(x.c > 0 && x.h > 0 && x.w > 0, input, "expected no empty dimension but N, got %s", THNN_shape(input));
  int64_t most = INT64_MAX / 16; /* bytes of a tensor, strides and sums of sizes stay below 2^63 */
  window->h = (THNNAxis){x.h, 0, kH, dH, padH, 1};
  window->w = (THNNAxis){x.w, 0, kW, dW, padW, 1};
  THNN_CHECK(x.h < most && x.w < most, input, "too large: %s", THNN_shape(input));
  window->h.output = thnn_windowOutput(&window->h, ceil_mode, padW > 0 || padH > 0);
  window->w.output = thnn_windowOutput(&window->w, ceil_mode, padW > 0 || padH > 0);
  THNN_CHECK(
      window->h.output > 0 && window->w.output > 0, input,
      "an image of %lld x %lld with kernel %d x %d, stride %d x %d and padding %d x %d has no output: it would "
      "be %lld x %lld",
      (long long)x.h, (long long)x.w, kH, kW, dH, dW, padH, padW, (long long)window->h.output,
      (long long)window->w.output);
  int64_t n = x.n;
  THNN_CHECK(!__builtin_mul_overflow(n, x.c, &n) && !__builtin_mul_overflow(n, window->h.output, &n) &&
                 !__builtin_mul_overflow(n, window->w.output, &n) && n < most,
             input, "%s gives an output too large to address", THNN_shape(input));
}

/* The size of what windows over `input` give. */
static inline const int64_t *thnn_windowsSize(const THNNTensor *input, const THNNWindow *window, int64_t size[4])
{
  for (int d = 0; d < input->ndim - 2; d++) size[d] = input->size[d];
  size[input->ndim - 2] = window->h.output;
  size[input->ndim - 1] = window->w.output;
  return size;
}

#define THNN_RESIZE_WINDOWS(tensor, input, window)                                                     \
  THNN_resize(state, #tensor, tensor, (input)->ndim, thnn_windowsSize(input, window, (int64_t[4]){0}), \
              THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS)

static inline void thnn_checkWindowOutput(THNNState *state, const char *name, const THNNTensor *t,
                                          const THNNTensor *input, const THNNWindow *window)
{
  int64_t size[4];
  thnn_windowsSize(input, window, size);
  bool same = t->ndim == input->ndim;
  for (int d = 0; d < input->ndim && same; d++) same = t->size[d] == size[d];
  if (!same)
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected the size of output, %s, got %s",
              THNN_shapeOf(input->ndim, size), THNN_shape(t));
}

/* How a row is laid out in scratch: column q + j*stride lies at q*pitch + left + j, and the places around the
   columns hold what padding counts as. Columns 0 to stride - 1 are at the beginning of a vector. */
typedef struct THNNPhases {
  int64_t stride, left, pitch;
} THNNPhases;

#define THNN_PHASES_ALIGN 16

static inline THNNPhases thnn_phases(int64_t stride, int64_t left, int64_t columns)
{
  left = (left + THNN_PHASES_ALIGN - 1) / THNN_PHASES_ALIGN * THNN_PHASES_ALIGN;
  return (THNNPhases){stride, left, left + (columns + THNN_PHASES_ALIGN) / THNN_PHASES_ALIGN * THNN_PHASES_ALIGN};
}

/* An input row, such that tap k of all outputs is the run that begins at thnn_phasesTap. */
static inline THNNPhases thnn_phasesOfInput(const THNNAxis *a)
{
  int64_t columns = (a->input + a->stride - 1) / a->stride;
  int64_t reach = a->output + (a->kernel - 1) * a->dilation / a->stride + 1;
  return thnn_phases(a->stride, (a->pad + a->stride - 1) / a->stride, reach > columns ? reach : columns);
}

static inline int64_t thnn_phasesTap(const THNNPhases *phases, const THNNAxis *a, int64_t k)
{
  int64_t column = phases->left * phases->stride - a->pad + k * a->dilation; /* >= 0 */
  return column % phases->stride * phases->pitch + column / phases->stride;
}

/* Backward, a row of outputs is one phase with margins such that those outputs that have the columns q,
   q + stride, ... as tap k are the run that begins at thnn_phasesSeen; -1 where no output has. */
static inline THNNPhases thnn_phasesOfOutput(const THNNAxis *a)
{
  int64_t reach = (a->input - 1) / a->stride + a->pad / a->stride + 3;
  return thnn_phases(1, (a->kernel - 1) * a->dilation / a->stride + 1, reach > a->output ? reach : a->output);
}

static inline int64_t thnn_phasesSeen(const THNNPhases *phases, const THNNAxis *a, int64_t q, int64_t k)
{
  int64_t place = phases->left * a->stride + q + a->pad - k * a->dilation; /* >= 0 */
  return place % a->stride ? -1 : place / a->stride;
}

/* The outputs that the inputs m*stride to m*stride + stride - 1 see are among m + *first to m + *last. */
static inline void thnn_phasesReach(const THNNPhases *phases, const THNNAxis *a, int64_t *first, int64_t *last)
{
  *first = INT64_MAX;
  *last = INT64_MIN;
  for (int64_t q = 0; q < a->stride && q < a->input; q++)
    for (int64_t k = 0; k < a->kernel; k++) {
      const int64_t place = thnn_phasesSeen(phases, a, q, k);
      if (place < 0) continue;
      if (place - phases->left < *first) *first = place - phases->left;
      if (place - phases->left > *last) *last = place - phases->left;
    }
  if (*first > *last) *first = *last = 0;
}

/* Rows are worked on in strips that fit the first-level cache: as many of `rows` as take about that many bytes,
   when the first one takes `span` lines and each further one `stride` more. */
#define THNN_STRIP_BYTES 24576

static inline int64_t thnn_strip(int64_t rows, int64_t span, int64_t stride, double line)
{
  double more = (THNN_STRIP_BYTES / line - (double)span) / (double)stride;
  return more < 1 ? 1 : more < (double)rows - 1 ? 1 + (int64_t)more : rows;
}

/* Scratch is cut into pieces; the first pass, with `memory` NULL, adds up the bytes. */
typedef struct THNNPieces {
  char *memory;
  int64_t bytes;
} THNNPieces;

/* `count` is a double because the product of absurd sizes does not fit an integer. */
static inline void *thnn_piece(THNNPieces *pieces, double count, size_t size)
{
  char *piece = pieces->memory ? pieces->memory + pieces->bytes : NULL;
  double bytes = count * (double)size + 64;
  pieces->bytes += bytes < 1e12 ? (int64_t)bytes / 64 * 64 : (int64_t)1e12;
  return piece;
}

/* Work is cut into tasks of about this many elements. */
#define THNN_WINDOW_TASK 16384

static inline int64_t thnn_perTask(int64_t elements)
{
  return elements < THNN_WINDOW_TASK ? THNN_WINDOW_TASK / elements : 1;
}

#define WINDOW_VECTORS 4

/* Whether gradInput goes past the caches: if what it is computed from and what the forward before it had are too
   large for them together. Results of the forward do not, as their backward reads them again. */
static inline bool thnn_windowStreams(size_t element, const THNNTensor *large, const THNNTensor *small,
                                      const THNNTensor *indices)
{
  int64_t bytes = (THNNTensor_numel(large) + THNNTensor_numel(small)) * (int64_t)element;
  if (indices) bytes += THNNTensor_numel(indices) * (int64_t)sizeof(int64_t);
  return thnn_exceedsLastLevelCache(2 * bytes);
}

/* Calls BLOCK(first, vectors, lanes, ...) all over n lanes. `first` tells where 4, 2 or 1 vectors begin; the last
   one rather overlaps the one before than ends beyond n, as the same value may be written twice. Fewer lanes
   than a vector has come as one vector of so many lanes. */
#define WINDOW_RUN(n, BLOCK, ...)                                  \
  do {                                                             \
    const int64_t n_ = (n), last_ = n_ - VL;                       \
    int64_t first_[WINDOW_VECTORS] = {0, VL, 2 * VL, 3 * VL};      \
    if (last_ < 0) {                                               \
      BLOCK(first_, 1, (int)n_, __VA_ARGS__);                      \
      break;                                                       \
    }                                                              \
    for (; n_ - first_[0] > 2 * VL; first_[0] += 4 * VL) {         \
      first_[1] = first_[0] + VL;                                  \
      first_[2] = first_[1] + VL < last_ ? first_[1] + VL : last_; \
      first_[3] = first_[2] + VL < last_ ? first_[2] + VL : last_; \
      BLOCK(first_, 4, VL, __VA_ARGS__);                           \
    }                                                              \
    if (n_ - first_[0] > VL) {                                     \
      first_[1] = last_;                                           \
      BLOCK(first_, 2, VL, __VA_ARGS__);                           \
    } else if (n_ > first_[0]) {                                   \
      first_[0] = last_;                                           \
      BLOCK(first_, 1, VL, __VA_ARGS__);                           \
    }                                                              \
  } while (0)

/* In a function of its own a loop has the registers to itself. */
#define WINDOW_APART static __attribute__((noinline))
#define WINDOW_INLINE static inline __attribute__((always_inline))

/* output and indices: the largest element of each window and its position h*W + w in its plane. */
void THNN_(windowMax)(const THNNWindow *window, const THTensor *input, THTensor *output, THIndexTensor *indices);

/* Whether every index is -1 or in its window; fails if one is not even in its plane. */
bool THNN_(windowCheckIndices)(THNNState *state, const THNNWindow *window, const THIndexTensor *indices);

/* gradInput: each gradOutput added at its index; -1 is skipped. `in_windows` as the check found. */
void THNN_(windowMaxBackward)(const THNNWindow *window, bool in_windows, const THTensor *gradOutput,
                              const THIndexTensor *indices, THTensor *gradInput);

/* output: the sum of each window by the product of its thnn_windowDivisor; and the gradient of that. */
void THNN_(windowMean)(const THNNWindow *window, bool count_pad, const THTensor *input, THTensor *output);
void THNN_(windowMeanBackward)(const THNNWindow *window, bool count_pad, const THTensor *gradOutput,
                               THTensor *gradInput);

#endif
