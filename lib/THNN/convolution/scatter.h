#ifndef THNN_CONVOLUTION_SCATTER_H
#define THNN_CONVOLUTION_SCATTER_H

#include "convolution/convolution.h"

/* gradInput as a sum over the positions of gradOutput: each position adds its gradients, times the filters, to its
   window (col2im). The other algorithms gather: for each input coordinate they sum over kernel elements, most of which
   read padding if the kernel is as large as the image, and they compute the residue classes of a large stride one by
   one.

   With few output channels per group, multiples of rows of gradOutput or of weight are added to rows of gradInput.
   Otherwise products are summed over output channels by gemm(), in blocks of columns in shared scratch memory, and the
   columns are added. */

/* Computes gradInput and returns true, unless gathering is faster, which depends only on sizes and memory layout, or
   the process is out of memory. */
bool THNN_(scatterGradInput)(const Convolution *g, ConvolutionView gradOutput, ConvolutionView weight,
                             ConvolutionView bias, ConvolutionView gradInput);

#endif
