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
  Convolution g = convolutionMake(2);
  g.batch = batch;
  g.inputChannels = g.outputChannels = planes;
  g.axis[1] =
      (WindowAxis){.input = height, .kernel = kH, .stride = strideH, .padding = padH, .dilation = dilationH};
  g.axis[2] =
      (WindowAxis){.input = width, .kernel = kW, .stride = strideW, .padding = padW, .dilation = dilationW};
  return g;
}

/* The size of the columns, batch first; fails where they are more than memory can hold. `name` is
   the argument that has the images. */
static void sizeOfColumns(THNNState *state, const Convolution *g, const char *name, int64_t *size)
{
  int64_t elements = (int64_t)sizeof(real);
  size[0] = g->batch;
  size[2] = g->axis[1].output * g->axis[2].output;
  bool fits = !__builtin_mul_overflow(g->inputChannels, g->axis[1].kernel, &size[1]) &&
              !__builtin_mul_overflow(size[1], g->axis[2].kernel, &size[1]);
  for (int d = 0; d < 3; d++)
    fits = fits && !__builtin_mul_overflow(elements, size[d] > 1 ? size[d] : 1, &elements);
  if (!fits)
    THNN_fail(state, THNN_VALUE_ERROR, name, "more columns than memory can hold: %lld planes, kernel %lld x %lld",
              (long long)g->inputChannels, (long long)g->axis[1].kernel, (long long)g->axis[2].kernel);
}

static Taps columnsTaps(const Convolution *g, const THTensor *columns, const THTensor *images)
{
  const int64_t row = columns->stride[columns->ndim - 2], position = columns->stride[columns->ndim - 1];
  const ConvolutionView small = {.data = columns->data,
                                 .stride = {columns->ndim == 3 ? columns->stride[0] : 0,
                                            g->axis[1].kernel * g->axis[2].kernel * row, 0,
                                            g->axis[2].output * position, position}};
  Taps taps = THNN_(taps_make)(g, small, planeView(images));
  taps.axis[2].smallTap = g->axis[2].kernel * row;
  taps.axis[3].smallTap = row;
  return taps;
}

#endif
