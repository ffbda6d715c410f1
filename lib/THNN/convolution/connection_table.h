#ifndef THNN_CONVOLUTION_CONNECTION_TABLE_H
#define THNN_CONVOLUTION_CONNECTION_TABLE_H

#include "convolution/convolution.h"

/* Convolutions that join planes as a table says. A window slides over `large` planes and leaves `small` ones; row c of
   the table joins the small plane a and the large plane b by the filter weight[c]:

     small from large:  small[n,a,q] = bias[a] + sum over c, k of weight[c,k] * large[n,b,q * stride + k]
     large from small:  large[n,b,x] = bias[b] + sum over c, k of weight[c,k] * small[n,a,q], x = q * stride + k
     weights:           weight[c,k] += scale * sum over n, q of small[n,a,q] * large[n,b,q * stride + k]

   The geometry leads from large planes, its input, to small ones, without groups, padding or dilation. A ConvolutionView
   of filters has the connections in place of output planes, and no input planes. Nothing in here looks at a tensor or
   fails. */

/* Rows of two reals, which are whole numbers: column `small` names a small plane, the other one a large plane. */
typedef struct ConnectionTable {
  const void *data;
  int64_t rows, stride[2];
  int small;
} ConnectionTable;

/* The target is overwritten. No biases where their data is NULL. */
void THNN_(connected_small)(const Convolution *geometry, ConnectionTable table, ConvolutionView large,
                            ConvolutionView weight, ConvolutionView bias, ConvolutionView small);
void THNN_(connected_large)(const Convolution *geometry, ConnectionTable table, ConvolutionView small,
                            ConvolutionView weight, ConvolutionView bias, ConvolutionView large);

/* weight += scale * its gradient. */
void THNN_(connected_weight)(const Convolution *geometry, ConnectionTable table, ConvolutionView large,
                             ConvolutionView small, ConvolutionView weight, real scale);

#endif
