#ifndef THNN_CONVOLUTION_DEPTHWISE_PLANES_H
#define THNN_CONVOLUTION_DEPTHWISE_PLANES_H

#include "convolution/convolution.h"

/* Depthwise convolution of channels-first images by the algorithm of depthwise.h, for which images are transposed in
   cache: a few planes to channels-last in scratch memory, and the planes of the result back. Direct convolution, whose
   lanes are positions, leaves most of them empty where rows are short, and gathers them where the stride is not 1.

   The functions return false, and compute nothing, if direct convolution is faster, which depends only on sizes and
   memory layout, or if the process is out of memory. Arguments as in convolution.h. */

bool THNN_(depthwisePlanesOutput)(const Convolution *geometry, ConvolutionView input, ConvolutionView weight,
                                  ConvolutionView bias, ConvolutionView output);

bool THNN_(depthwisePlanesGradInput)(const Convolution *geometry, ConvolutionView gradOutput,
                                     ConvolutionView weight, ConvolutionView bias, ConvolutionView gradInput);

bool THNN_(depthwisePlanesGradWeight)(const Convolution *geometry, ConvolutionView input,
                                      ConvolutionView gradOutput, ConvolutionView gradWeight, real scale);

#endif
