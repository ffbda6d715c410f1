#ifndef THNN_CONVOLUTION_CONVOLUTION_H
#define THNN_CONVOLUTION_CONVOLUTION_H

#include "runtime/kernel.h"

/* Convolution in one, two or three dimensions, with stride, padding, dilation and groups: the three products
   that every convolution module is made of.

     output[n, o, y] = bias[o] + sum over i, k of
                       weight[o, i, k] * input[n, i, y * stride + k * dilation - padding]

   where o and i belong to the same group. Modules check their arguments, fill a Convolution, and describe
   their tensors as views; nothing in here looks at a tensor or fails (generic/convolution_modules.h). */

/* Lists are in the order depth, height, width, and begin with trivial entries when there are fewer dimensions. */
typedef struct Convolution {
  int dims;
  int64_t batch, groups, inputPlanes, outputPlanes;
  int64_t inputSize[3], outputSize[3], kernel[3], stride[3], padding[3], dilation[3];
} Convolution;

/* Strides of images: batch, plane, depth, height, width. Of filters: output plane, input plane of the group, depth,
   height, width. Of biases: plane. For filters and biases `group` leads from a group's first plane to the next one's. */
typedef struct ConvolutionView {
  void *data;
  int64_t stride[5], group;
} ConvolutionView;

/* One position on every axis, kernel and stride 1, one group: to be filled where it is more. */
static inline Convolution convolution_make(int dims)
{
  return (Convolution){.dims = dims,
                       .groups = 1,
                       .inputSize = {1, 1, 1},
                       .outputSize = {1, 1, 1},
                       .kernel = {1, 1, 1},
                       .stride = {1, 1, 1},
                       .dilation = {1, 1, 1}};
}

/* output is overwritten. No biases where their data is NULL. */
void THNN_(convolution_output)(const Convolution *geometry, ConvolutionView input, ConvolutionView weight,
                               ConvolutionView bias, ConvolutionView output);

/* gradInput is overwritten. As the output of a transposed convolution it may have biases, one per plane. */
void THNN_(convolution_gradInput)(const Convolution *geometry, ConvolutionView gradOutput, ConvolutionView weight,
                                  ConvolutionView bias, ConvolutionView gradInput);

/* gradWeight += scale * its gradient. */
void THNN_(convolution_gradWeight)(const Convolution *geometry, ConvolutionView input, ConvolutionView gradOutput,
                                   ConvolutionView gradWeight, real scale);

/* gradBias += scale * gradOutput summed over everything but planes. */
void THNN_(convolution_gradBias)(const Convolution *geometry, ConvolutionView gradOutput, ConvolutionView gradBias,
                                 real scale);

#endif
