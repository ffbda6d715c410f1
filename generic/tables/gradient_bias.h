#ifndef THNN_TABLES_GRADIENT_BIAS_H
#define THNN_TABLES_GRADIENT_BIAS_H

#include "convolution/convolution.h"

/* gradBias[o] += scale * sum over n of gradOutput[n,o]: a convolution of one image with N pixels. */
static inline void addGradientBias(const THTensor *gradOutput, const THTensor *gradBias, double scale)
{
  Convolution g = convolutionMake(1);
  g.batch = 1;
  g.inputChannels = 1;
  g.outputChannels = gradOutput->size[1];
  g.axis[2].input = g.axis[2].output = gradOutput->size[0];
  const ConvolutionView gradients = {
      gradOutput->data, {[1] = gradOutput->stride[1], [4] = gradOutput->stride[0]}, 0};
  THNN_(convolutionGradBias)(&g, gradients, (ConvolutionView){gradBias->data, {gradBias->stride[0]}, 0},
                             (real)scale);
}

#endif
