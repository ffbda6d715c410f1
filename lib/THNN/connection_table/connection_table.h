#ifndef THNN_CONNECTION_TABLE_CONNECTION_TABLE_H
#define THNN_CONNECTION_TABLE_CONNECTION_TABLE_H

#include "convolution/convolution.h"

/* Convolutions with a connection table. Filter c connects one input channel i(c) with one output channel o(c):

     output[n, o, q]  = bias[o] + sum over all c with o(c) = o, and k, of weight[c, k] * input[n, i(c), q * stride + k]
     gradInput[n, i, x] = bias[i] + sum over all c with i(c) = i, k, and q with q * stride + k = x, of
                          weight[c, k] * gradOutput[n, o(c), q]
     gradWeight[c, k] += scale * sum over n, q of gradOutput[n, o(c), q] * input[n, i(c), q * stride + k]

   The geometry has one group, no padding and no dilation. A ConvolutionView of filters has connections in place of
   output channels and no input channels. */

/* Rows of two channel numbers, stored as reals: outputColumn holds o(c), the other column i(c). */
typedef struct ConnectionTable {
  const void *data;
  int64_t rows, stride[2];
  int outputColumn;
} ConnectionTable;

/* output is overwritten. bias.data may be NULL. */
void THNN_(connectionTableOutput)(const Convolution *geometry, ConnectionTable table, ConvolutionView input,
                                  ConvolutionView weight, ConvolutionView bias, ConvolutionView output);

/* gradInput is overwritten. As the output of a transposed convolution it may have biases, one per channel. */
void THNN_(connectionTableGradInput)(const Convolution *geometry, ConnectionTable table,
                                     ConvolutionView gradOutput, ConvolutionView weight, ConvolutionView bias,
                                     ConvolutionView gradInput);

/* gradWeight += scale * dL/dweight. */
void THNN_(connectionTableGradWeight)(const Convolution *geometry, ConnectionTable table, ConvolutionView input,
                                      ConvolutionView gradOutput, ConvolutionView gradWeight, real scale);

#endif
