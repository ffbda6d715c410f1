#ifndef THNN_IM2COL_IM2COL_H
#define THNN_IM2COL_IM2COL_H

#include "convolution/convolution.h"

/* im2col and col2im, channel by channel, and gradWeight of subsampling, which has one weight per channel.

   The columns of an image have an element for each channel, window and, in im2col and col2im, kernel element:

     columns[n, c, k, q] <-> image[n, c, x]
     x = q * stride - padding + k * dilation, if x lies in the image */

typedef struct Im2col {
  WindowAxis axis[4]; /* input: of the image; output: of the columns. The last axis is vectorized. */
  int64_t batch, channels;
  void *image, *columns;
  int64_t imageStride[4], columnStride[4]; /* per coordinate, per position */
  int64_t kernelStride[4];                 /* of columns, per kernel element; 0 in subsamplingGradWeight */
  int64_t imageBatchStride, imageChannelStride, columnBatchStride, columnChannelStride;
} Im2col;

/* The windows of a convolution from image to columns. kernelStride is 0 unless the caller sets it. */
static inline Im2col im2colMake(const Convolution *g, ConvolutionView image, ConvolutionView columns)
{
  Im2col w = {.axis = {WINDOW_AXIS_TRIVIAL, g->axis[0], g->axis[1], g->axis[2]},
              .batch = g->batch,
              .channels = g->inputChannels,
              .image = image.data,
              .columns = columns.data,
              .imageBatchStride = image.stride[0],
              .imageChannelStride = image.stride[1],
              .columnBatchStride = columns.stride[0],
              .columnChannelStride = columns.stride[1]};
  for (int d = 1; d < 4; d++) {
    w.imageStride[d] = image.stride[d + 1];
    w.columnStride[d] = columns.stride[d + 1];
  }
  return w;
}

/* columns[n, c, k, q] = image[n, c, x], or 0 if x lies in the padding. */
void THNN_(im2col)(THNNState *state, const Im2col *windows);

/* image[n, c, x] = the sum of all columns[n, c, k, q] that im2col copies from x; the sum is added to image if `add`. */
void THNN_(col2im)(THNNState *state, const Im2col *windows, bool add);

/* gradWeight of subsampling: weight[c * weightStride] += scale * sum over n, q, k of columns[n, c, q] * image[n, c, x],
   where columns is gradOutput. */
void THNN_(subsamplingGradWeight)(const Im2col *windows, real *weight, int64_t weightStride, real scale);

#endif
