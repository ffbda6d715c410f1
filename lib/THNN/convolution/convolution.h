#ifndef THNN_CONVOLUTION_CONVOLUTION_H
#define THNN_CONVOLUTION_CONVOLUTION_H

#include "runtime/kernel.h"
#include "runtime/window.h"

/* Convolution in one, two or three dimensions, with stride, padding, dilation and groups: the three products that
   every convolution module consists of.

     output[n, o, y] = bias[o] + sum over i, k of
                       weight[o, i, k] * input[n, i, y * stride - padding + k * dilation]

   where o and i belong to the same group. Modules check their arguments, fill a Convolution and describe their tensors
   as views; the core sees no THTensor and cannot fail. */

/* With fewer than three dimensions the first axes are trivial: one input, one output, kernel 1. A transposed
   convolution is the gradInput of a Convolution: the module's input is the Convolution's output. */
typedef struct Convolution {
  int dims; /* spatial dimensions: 1, 2 or 3 */
  int32_t
      type; /* of all tensors: a half type, for products with convolutionTakesHalf(), or any other for `real` */
  int64_t batch, groups, inputChannels, outputChannels;
  WindowAxis axis[WINDOW_AXES];
} Convolution;

/* A strided view. Strides of images: batch, channel, depth, height, width. Strides of filters: output channel, input
   channel within the group, depth, height, width. Stride of biases: channel. For filters and biases `group` is the
   stride between groups. */
typedef struct ConvolutionView {
  void *data;
  int64_t stride[2 + WINDOW_AXES], group;
} ConvolutionView;

/* One group and trivial axes; the caller fills the rest. */
static inline Convolution convolutionMake(int dims)
{
  return (Convolution){
      .dims = dims, .groups = 1, .axis = {WINDOW_AXIS_TRIVIAL, WINDOW_AXIS_TRIVIAL, WINDOW_AXIS_TRIVIAL}};
}

typedef enum ConvolutionProduct {
  CONVOLUTION_OUTPUT,
  CONVOLUTION_GRAD_INPUT,
  CONVOLUTION_GRAD_WEIGHT
} ConvolutionProduct;

/* True if the core computes this product of tensors of geometry->type, a half type, with sums in float32. Otherwise the
   tensors have to be copied to float32. False if the type is not a half type. */
bool THNN_(convolutionTakesHalf)(const Convolution *geometry, ConvolutionProduct product);

/* output is overwritten. bias.data may be NULL. */
void THNN_(convolutionOutput)(const Convolution *geometry, ConvolutionView input, ConvolutionView weight,
                              ConvolutionView bias, ConvolutionView output);

/* gradInput is overwritten. As the output of a transposed convolution it may have biases, one per channel. */
void THNN_(convolutionGradInput)(const Convolution *geometry, ConvolutionView gradOutput, ConvolutionView weight,
                                 ConvolutionView bias, ConvolutionView gradInput);

/* gradWeight += scale * dL/dweight. If `overwrites`, gradWeight = dL/dweight: its memory is dense and not initialized,
   and scale is 1. */
void THNN_(convolutionGradWeight)(const Convolution *geometry, ConvolutionView input, ConvolutionView gradOutput,
                                  ConvolutionView gradWeight, real scale, bool overwrites);

/* gradBias += scale * gradOutput summed over batch and positions, of any element type. Reads type, batch, groups, outputChannels and the output
   sizes of the geometry. */
void THNN_(convolutionGradBias)(const Convolution *geometry, ConvolutionView gradOutput, ConvolutionView gradBias,
                                real scale);

#endif
