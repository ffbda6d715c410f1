#include "modules/SpatialSubSampling.h"
#include "pooling/subsampling.h"

/* Checks what the three functions have in common and fills the geometry; weight stands for gradWeight too. */
static void checkSpatialSubSampling(THNNState *state, Convolution *g, const THTensor *input,
                                    const THTensor *weight, const char *weightName, int kW, int kH, int dW, int dH)
{
  if (input->ndim != 3 && input->ndim != 4)
    return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected 4 dimensions (N, C, H, W) or 3, got %s",
                     THNN_shape(input));
  const int64_t *size = input->size + (input->ndim - 3);
  *g = convolution_make(2);
  g->batch = input->ndim == 4 ? input->size[0] : 1;
  g->inputPlanes = g->outputPlanes = size[0];
  g->inputSize[1] = size[1];
  g->inputSize[2] = size[2];
  g->kernel[1] = kH;
  g->kernel[2] = kW;
  g->stride[1] = dH;
  g->stride[2] = dW;
  checkSubSampling(state, g, input, weight, weightName);
}

void THNN_(SpatialSubSampling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                            THTensor *bias, int kW, int kH, int dW, int dH)
{
  Convolution g;
  checkSpatialSubSampling(state, &g, input, weight, "weight", kW, kH, dW, dH);
  THNN_RETURN_IF_FAILED(state);
  subSamplingOutput(state, &g, input, output, weight, bias);
}

void THNN_(SpatialSubSampling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                               THTensor *gradInput, THTensor *weight, int kW, int kH, int dW,
                                               int dH)
{
  Convolution g;
  checkSpatialSubSampling(state, &g, input, weight, "weight", kW, kH, dW, dH);
  THNN_RETURN_IF_FAILED(state);
  subSamplingGradInput(state, &g, input, gradOutput, gradInput, weight);
}

void THNN_(SpatialSubSampling_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                 THTensor *gradWeight, THTensor *gradBias, int kW, int kH, int dW,
                                                 int dH, accreal scale)
{
  Convolution g;
  checkSpatialSubSampling(state, &g, input, gradWeight, "gradWeight", kW, kH, dW, dH);
  THNN_RETURN_IF_FAILED(state);
  subSamplingGradParameters(state, &g, input, gradOutput, gradWeight, gradBias, scale);
}
