#ifndef THNN_POOLING_POOLING_H
#define THNN_POOLING_POOLING_H

#include "runtime/kernel.h"
#include "runtime/window.h"

/* Maximum and average of windows sliding along one to three axes, and their gradients. Tensors may have any strides.

   The lanes of vectors are elements that are contiguous in memory:
     - channels-last tensors: the channels of one pixel. Each kernel element reads another pixel.
     - other layouts: the pixels of one output row. A row of the input is first split into the residues of the stride
       (row_layout.h), so that the pixels that one kernel element reads are contiguous for any stride.
   The other axes are loops. The most frequent windows, 2x2 and 3x3 with stride 2, have separate loops (halving.c).
   Other windows in small planes are computed in tiles, whose lanes are planes (max_tiles.c, average_tiles.c). Averages
   of windows side by side are computed as adaptive regions (regions.h). The gradients of maxima are scattered, one
   element after the other (indexed.c), in channels-last tensors only if windows are large. */

/* How the int64 index of a maximum encodes its place: the input element (d, h, w), or the kernel element (kd, kh, kw)
   that reads it. The index is -1 if the window has no element in the input. */
typedef enum PoolingIndex {
  INDEX_INPUT,        /* (d * H + h) * W + w */
  INDEX_KERNEL,       /* (kd * kH + kh) * kW + kw */
  INDEX_KERNEL_PACKED /* kd + (kh << 8) + (kw << 16); kernels up to 256 along each axis */
} PoolingIndex;

typedef struct Pooling {
  int axes;                     /* number of window axes: the last ones of `axis` */
  WindowAxis axis[WINDOW_AXES]; /* depth, height, width */
  PoolingIndex index;
} Pooling;

/* Sizes of input and output: (N, C, D, H, W) for three axes, (N, C, H, W) for two, and (N, W, C) for one; N may be
   missing. */

/* output and indices: the first of the largest elements of each window. NaN counts as larger than any value, another
   NaN included, so that the last NaN wins. A window without elements gives the lowest finite value and -1. */
void THNN_(poolingMax)(const Pooling *pooling, const THTensor *input, THTensor *output, THIndexTensor *indices);

/* Fails with an IndexError if an index other than -1 names no input element, in its window or elsewhere. Returns true
   only if all indices are known to lie in their windows. */
bool THNN_(poolingCheckIndices)(THNNState *state, const Pooling *pooling, const THIndexTensor *indices);

/* gradInput: for each input, the sum of the elements of gradOutput with the index of that input. `inWindows` is the
   result of poolingCheckIndices. */
void THNN_(poolingMaxBackward)(const Pooling *pooling, bool inWindows, const THTensor *gradOutput,
                               const THIndexTensor *indices, THTensor *gradInput);

/* output: the sum of each window divided by the product of its poolingDivisor along every axis; and the gradient. The
   axes must have dilation 1. */
void THNN_(poolingAverage)(const Pooling *pooling, bool countPadding, const THTensor *input, THTensor *output);
void THNN_(poolingAverageBackward)(const Pooling *pooling, bool countPadding, const THTensor *gradOutput,
                                   THTensor *gradInput);

/* output: the sum of each window times the scale of its channel, plus its bias; and the gradient of the sums. Windows
   may not leave the input. False, and nothing is computed, if a window or a row exceeds the scratch memory. */
bool THNN_(poolingScaledSum)(const Pooling *pooling, const THTensor *input, const real *scale, const real *bias,
                             THTensor *output);
bool THNN_(poolingScaledSumBackward)(const Pooling *pooling, const THTensor *gradOutput, const real *scale,
                                     THTensor *gradInput);

/* The number of elements of a window along one axis that the average counts: elements in the padding if countPadding,
   elements beyond the padding never. At least 1, which avoids a division by 0. */
static inline int64_t poolingDivisor(const WindowAxis *axis, int64_t o, bool countPadding)
{
  int64_t start = windowStart(axis, o), end = start + axis->kernel;
  const int64_t limit = axis->input + (countPadding ? axis->padding : 0);
  if (end > limit) end = limit;
  if (start < 0 && !countPadding) start = 0;
  return end > start ? end - start : 1;
}

#endif
