#include "modules/TemporalSubSampling.h"
#include "pooling/subsampling_module.h"

/* The checks of all three functions; sets the geometry. `weight` may be gradWeight. */
static void check(THNNState *state, Convolution *g, const THTensor *input, const THTensor *weight,
                  const char *weightName, int kW, int dW)
{
  if (input->ndim != 2 && input->ndim != 3)
    return THNN_fail(state, THNN_VALUE_ERROR, "input",
                     "expected 2 dimensions (T, inputFrameSize) or 3 with a batch, got %s", THNN_shape(input));
  const int64_t *size = input->size + (input->ndim - 2);
  *g = convolutionMake(1);
  g->batch = input->ndim == 3 ? input->size[0] : 1;
  g->inputChannels = g->outputChannels = size[1];
  g->axis[2] = (WindowAxis){.input = size[0], .kernel = kW, .stride = dW, .dilation = 1};
  THNN_(subSamplingCheck)(state, g, input, weight, weightName);
}

void THNN_(TemporalSubSampling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                             THTensor *bias, int kW, int dW, int inputFrameSize)
{
  Convolution g;
  check(state, &g, input, weight, "weight", kW, dW);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(g.inputChannels == inputFrameSize, inputFrameSize, "expected %lld, the frame size of input, got %d",
             (long long)g.inputChannels, inputFrameSize);
  THNN_(subSamplingUpdateOutput)(state, &g, input, output, weight, bias);
}

void THNN_(TemporalSubSampling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                THTensor *gradInput, THTensor *weight, int kW, int dW)
{
  Convolution g;
  check(state, &g, input, weight, "weight", kW, dW);
  THNN_RETURN_IF_FAILED(state);
  THNN_(subSamplingUpdateGradInput)(state, &g, input, gradOutput, gradInput, weight);
}

void THNN_(TemporalSubSampling_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                  THTensor *gradWeight, THTensor *gradBias, int kW, int dW,
                                                  accreal scale)
{
  Convolution g;
  check(state, &g, input, gradWeight, "gradWeight", kW, dW);
  THNN_RETURN_IF_FAILED(state);
  THNN_(subSamplingAccGradParameters)(state, &g, input, gradOutput, gradWeight, gradBias, scale);
}
