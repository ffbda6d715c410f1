#ifndef THNN_GENERIC_UNFOLDING_UNFOLD_H
#define THNN_GENERIC_UNFOLDING_UNFOLD_H

/* Images (C, H, W) and their columns (C * kH * kW, oH * oW), each with or without a batch in front: what Im2Col, Col2Im
   and the unfolded functions share. */

#include "convolution/sliding.h"
#include "im2col/im2col.h"

/* The geometry of windows on images. */
static Convolution unfoldGeometry(int64_t batch, int64_t planes, int64_t height, int64_t width, int kH, int kW,
                                  int strideH, int strideW, int padH, int padW, int dilationH, int dilationW)
{
  Convolution g = convolution_make(2);
  g.batch = batch;
  g.inputPlanes = g.outputPlanes = planes;
  memcpy(g.inputSize + 1, (int64_t[]){height, width}, 2 * sizeof(int64_t));
  memcpy(g.kernel + 1, (int64_t[]){kH, kW}, 2 * sizeof(int64_t));
  memcpy(g.stride + 1, (int64_t[]){strideH, strideW}, 2 * sizeof(int64_t));
  memcpy(g.padding + 1, (int64_t[]){padH, padW}, 2 * sizeof(int64_t));
  memcpy(g.dilation + 1, (int64_t[]){dilationH, dilationW}, 2 * sizeof(int64_t));
  return g;
}

/* The size of the columns, batch first; fails where they are more than memory can hold. `name` is
   the argument that has the images. */
static void sizeOfColumns(THNNState *state, const Convolution *g, const char *name, int64_t *size)
{
  int64_t elements = (int64_t)sizeof(real);
  size[0] = g->batch;
  size[2] = g->outputSize[1] * g->outputSize[2];
  bool fits = !__builtin_mul_overflow(g->inputPlanes, g->kernel[1], &size[1]) &&
              !__builtin_mul_overflow(size[1], g->kernel[2], &size[1]);
  for (int d = 0; d < 3; d++)
    fits = fits && !__builtin_mul_overflow(elements, size[d] > 1 ? size[d] : 1, &elements);
  if (!fits)
    THNN_fail(state, THNN_VALUE_ERROR, name, "more columns than memory can hold: %lld planes, kernel %lld x %lld",
              (long long)g->inputPlanes, (long long)g->kernel[1], (long long)g->kernel[2]);
}

static Taps columnsTaps(const Convolution *g, const THTensor *columns, const THTensor *images)
{
  const int64_t row = columns->stride[columns->ndim - 2], position = columns->stride[columns->ndim - 1];
  const ConvolutionView small = {.data = columns->data,
                                 .stride = {columns->ndim == 3 ? columns->stride[0] : 0,
                                            g->kernel[1] * g->kernel[2] * row, 0, g->outputSize[2] * position,
                                            position}};
  Taps taps = THNN_(taps_make)(g, small, planeView(images));
  taps.axis[2].smallTap = g->kernel[2] * row;
  taps.axis[3].smallTap = row;
  return taps;
}

#endif
