#include "modules/SpatialSubSampling.h"
#include "pooling/subsampling_module.h"

/* The checks of all three functions; sets the geometry. `weight` may be gradWeight. */
static void check(THNNState *state, Convolution *g, const THTensor *input, const THTensor *weight,
                  const char *weightName, int kW, int kH, int dW, int dH)
{
  if (input->ndim != 3 && input->ndim != 4)
    return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected 4 dimensions (N, C, H, W) or 3, got %s",
                     THNN_shape(input));
  const int64_t *size = input->size + (input->ndim - 3);
  *g = convolutionMake(2);
  g->batch = input->ndim == 4 ? input->size[0] : 1;
  g->inputChannels = g->outputChannels = size[0];
  g->axis[1] = (WindowAxis){.input = size[1], .kernel = kH, .stride = dH, .dilation = 1};
  g->axis[2] = (WindowAxis){.input = size[2], .kernel = kW, .stride = dW, .dilation = 1};
  THNN_(subSamplingCheck)(state, g, input, weight, weightName);
}

void THNN_(SpatialSubSampling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                            THTensor *bias, int kW, int kH, int dW, int dH)
{
  Convolution g;
  check(state, &g, input, weight, "weight", kW, kH, dW, dH);
  THNN_RETURN_IF_FAILED(state);
  THNN_(subSamplingUpdateOutput)(state, &g, input, output, weight, bias);
}

void THNN_(SpatialSubSampling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                               THTensor *gradInput, THTensor *weight, int kW, int kH, int dW,
                                               int dH)
{
  Convolution g;
  check(state, &g, input, weight, "weight", kW, kH, dW, dH);
  THNN_RETURN_IF_FAILED(state);
  THNN_(subSamplingUpdateGradInput)(state, &g, input, gradOutput, gradInput, weight);
}

void THNN_(SpatialSubSampling_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                 THTensor *gradWeight, THTensor *gradBias, int kW, int kH, int dW,
                                                 int dH, accreal scale)
{
  Convolution g;
  check(state, &g, input, gradWeight, "gradWeight", kW, kH, dW, dH);
  THNN_RETURN_IF_FAILED(state);
  THNN_(subSamplingAccGradParameters)(state, &g, input, gradOutput, gradWeight, gradBias, scale);
}
