#ifndef THNN_LOCALLY_CONNECTED_LOCALLY_CONNECTED_H
#define THNN_LOCALLY_CONNECTED_LOCALLY_CONNECTED_H

#include "convolution/convolution.h"

/* Locally connected layers: a 2-D convolution in which each output position has its own filters. */

/* The strides of weight[y, x, o, i, kh, kw]. */
typedef struct LocalFilters {
  void *data;
  int64_t positionStride[2], outputStride, inputStride, kernelStride[2];
} LocalFilters;

/* output[n, o, y, x] = bias[o, y, x] + sum over i, k of
                        weight[y, x, o, i, k] * input[n, i, (y, x) * stride - padding + k]. bias may be NULL. */
void THNN_(locallyConnectedOutput)(const Convolution *geometry, ConvolutionView input, LocalFilters weight,
                                   const real *bias, const int64_t *biasStride, ConvolutionView output);

/* gradInput is overwritten. */
void THNN_(locallyConnectedGradInput)(const Convolution *geometry, ConvolutionView gradOutput, LocalFilters weight,
                                      ConvolutionView gradInput);

/* gradWeight += scale * dL/dweight. */
void THNN_(locallyConnectedGradWeight)(const Convolution *geometry, ConvolutionView input,
                                       ConvolutionView gradOutput, LocalFilters gradWeight, real scale);

/* gradBias += scale * gradOutput summed over the batch. */
void THNN_(locallyConnectedGradBias)(const Convolution *geometry, ConvolutionView gradOutput, real *gradBias,
                                     const int64_t *gradBiasStride, real scale);

#endif
