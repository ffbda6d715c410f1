#ifndef THNN_CONVOLUTION_LOCALLY_CONNECTED_H
#define THNN_CONVOLUTION_LOCALLY_CONNECTED_H

#include "convolution/convolution.h"

/* Convolution whose every output position has filters of its own: one matrix per position times its patch. The
   weights are nearly all of the memory, so each pass reads them once for as many images as patches fit into scratch.
   Nothing in here looks at a tensor or fails. */

/* weight[y, x, o, i, kh, kw]: strides of the two axes of the position, the output plane, and the three of the tap. */
typedef struct UntiedFilters {
  void *data;
  int64_t position[2], output, tap[3];
} UntiedFilters;

/* output[n,o,y,x] = bias[o,y,x] + sum over i, k of weight[y,x,o,i,k] * patch of the input at (y, x). */
void THNN_(untied_output)(const Convolution *geometry, ConvolutionView input, UntiedFilters weight,
                          const real *bias, const int64_t *biasStride, ConvolutionView output);

/* gradInput is overwritten. */
void THNN_(untied_gradInput)(const Convolution *geometry, ConvolutionView gradOutput, UntiedFilters weight,
                             ConvolutionView gradInput);

/* += scale * gradient */
void THNN_(untied_gradWeight)(const Convolution *geometry, ConvolutionView input, ConvolutionView gradOutput,
                              UntiedFilters gradWeight, real scale);
void THNN_(untied_gradBias)(const Convolution *geometry, ConvolutionView gradOutput, real *gradBias,
                            const int64_t *gradBiasStride, real scale);

#endif
