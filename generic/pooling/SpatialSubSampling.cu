#include "modules/SpatialSubSampling.h"
#include "pooling/subsampling.h"

using namespace thcunn::pooling;

#define AXIS(kernel, stride) {0, 0, kernel, stride, 0, 1}

void THNN_(SpatialSubSampling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                            THTensor *bias, int kW, int kH, int dW, int dH)
{
  const WindowAxis window[] = {AXIS(kH, dH), AXIS(kW, dW)};
  const ScaledBy<Element> scaled = {weight, bias};
  sumForward<Element>(state, 2, window, Sliding(), scaled, input, output);
}

void THNN_(SpatialSubSampling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                               THTensor *gradInput, THTensor *weight, int kW, int kH, int dW,
                                               int dH)
{
  const WindowAxis window[] = {AXIS(kH, dH), AXIS(kW, dW)};
  const ScaledBy<Element> scaled = {weight, NULL};
  sumBackward<Element, 2>(state, window, Sliding(), scaled, gradOutput, gradInput);
}

void THNN_(SpatialSubSampling_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                 THTensor *gradWeight, THTensor *gradBias, int kW, int kH, int dW,
                                                 int dH, accreal scale)
{
  const WindowAxis window[] = {AXIS(kH, dH), AXIS(kW, dW)};
  scaleGradient<Element>(state, 2, window, input, gradOutput, gradWeight, gradBias, scale);
}
