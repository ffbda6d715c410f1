#include "modules/TemporalSubSampling.h"
#include "pooling/subsampling.h"

using namespace thcunn::pooling;

#define AXIS(kernel, stride) {0, 0, kernel, stride, 0, 1}

void THNN_(TemporalSubSampling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                             THTensor *bias, int kW, int dW, int inputFrameSize)
{
  const WindowAxis window[] = {AXIS(kW, dW)};
  const ScaledBy<Element> scaled = {weight, bias};
  sumForward<Element>(state, 1, window, Sliding(), scaled, input, output);
}

void THNN_(TemporalSubSampling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                THTensor *gradInput, THTensor *weight, int kW, int dW)
{
  const WindowAxis window[] = {AXIS(kW, dW)};
  const ScaledBy<Element> scaled = {weight, NULL};
  sumBackward<Element, 1>(state, window, Sliding(), scaled, gradOutput, gradInput);
}

void THNN_(TemporalSubSampling_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                  THTensor *gradWeight, THTensor *gradBias, int kW, int dW,
                                                  accreal scale)
{
  const WindowAxis window[] = {AXIS(kW, dW)};
  scaleGradient<Element>(state, 1, window, input, gradOutput, gradWeight, gradBias, scale);
}
