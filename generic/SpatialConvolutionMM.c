#include "../lib/THNN/cores/convolution.h"

/* Checks what the three functions have in common and fills the geometry; weight stands for gradWeight too. */
static void V_(checkSpatialConvolutionMM)(THNNState *state, Convolution *g, const THTensor *input,
                                          const THTensor *weight, const char *weightName, int kW, int kH, int dW,
                                          int dH, int padW, int padH)
{
  if (input->ndim != 3 && input->ndim != 4)
    return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected 4 dimensions (N, nInputPlane, H, W) or 3, got %s",
                     THNN_shape(input));
  const int64_t *size = input->size + (input->ndim - 3);
  if (size[0] < 1 || size[1] < 1 || size[2] < 1)
    return THNN_fail(state, THNN_VALUE_ERROR, "input",
                     "expected planes, rows and columns, only N may be 0, got %s", THNN_shape(input));
  if (weight->ndim != 4 && weight->ndim != 2)
    return THNN_fail(state, THNN_VALUE_ERROR, weightName,
                     "expected 4 dimensions (nOutputPlane, nInputPlane, kH, kW) or 2, got %s", THNN_shape(weight));
  *g = convolution_make(2);
  g->batch = input->ndim == 4 ? input->size[0] : 1;
  g->inputPlanes = size[0];
  g->outputPlanes = weight->size[0];
  g->inputSize[1] = size[1];
  g->inputSize[2] = size[2];
  g->kernel[1] = kH;
  g->kernel[2] = kW;
  g->stride[1] = dH;
  g->stride[2] = dW;
  g->padding[1] = padH;
  g->padding[2] = padW;
  THNN_(convolution_shape)(state, g);
  if (state->status > THNN_RESIZE) return;
  int64_t patch = (int64_t)kH * kW;
  const bool fits = !__builtin_mul_overflow(patch, size[0], &patch);
  if (weight->size[0] < 1 ||
      (weight->ndim == 4 ? weight->size[1] != size[0] || weight->size[2] != kH || weight->size[3] != kW
                         : !fits || weight->size[1] != patch))
    THNN_fail(state, THNN_VALUE_ERROR, weightName,
              "expected (nOutputPlane, %lld, %d, %d) or the last three as one, got %s", (long long)size[0], kH, kW,
              THNN_shape(weight));
}

static void V_(checkGradOutputSpatialConvolutionMM)(THNNState *state, const Convolution *g, const THTensor *input,
                                                    const THTensor *gradOutput)
{
  const int64_t expected[4] = {g->batch, g->outputPlanes, g->outputSize[1], g->outputSize[2]};
  const int ndim = input->ndim;
  if (gradOutput->ndim != ndim ||
      memcmp(gradOutput->size, expected + (4 - ndim), sizeof(int64_t) * (size_t)ndim) != 0)
    THNN_fail(state, THNN_VALUE_ERROR, "gradOutput", "expected the size of the output, %s, got %s",
              THNN_shapeOf(ndim, expected + (4 - ndim)), THNN_shape(gradOutput));
}

void THNN_(SpatialConvolutionMM_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                              THTensor *weight, THTensor *bias, THTensor *finput,
                                              THTensor *fgradInput, int kW, int kH, int dW, int dH, int padW,
                                              int padH)
{
  (void)finput, (void)fgradInput;
  Convolution g;
  V_(checkSpatialConvolutionMM)(state, &g, input, weight, "weight", kW, kH, dW, dH, padW, padH);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(bias == NULL || (bias->ndim == 1 && bias->size[0] == g.outputPlanes), bias,
             "expected one value per output plane (%lld), got %s", (long long)g.outputPlanes, THNN_shape(bias));
  const THNNLayout layout = THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS;
  if (input->ndim == 4) THNN_RESIZE_TO(output, layout, g.batch, g.outputPlanes, g.outputSize[1], g.outputSize[2]);
  else THNN_RESIZE_TO(output, THNN_CONTIGUOUS, g.outputPlanes, g.outputSize[1], g.outputSize[2]);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_CHECK_NO_OVERLAP(output, bias);
  THNN_RETURN_IF_META(state);
  THNN_(convolution_output)(&g, THNN_(convolution_images)(&g, input), THNN_(convolution_filters)(&g, weight),
                            bias ? TH_DATA(bias) : NULL, bias ? bias->stride[0] : 0,
                            THNN_(convolution_images)(&g, output));
}

void THNN_(SpatialConvolutionMM_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                 THTensor *gradInput, THTensor *weight, THTensor *finput,
                                                 THTensor *fgradInput, int kW, int kH, int dW, int dH, int padW,
                                                 int padH)
{
  (void)finput, (void)fgradInput;
  Convolution g;
  V_(checkSpatialConvolutionMM)(state, &g, input, weight, "weight", kW, kH, dW, dH, padW, padH);
  THNN_RETURN_IF_FAILED(state);
  V_(checkGradOutputSpatialConvolutionMM)(state, &g, input, gradOutput);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, weight);
  THNN_RETURN_IF_META(state);
  THNN_(convolution_gradInput)(&g, THNN_(convolution_images)(&g, gradOutput),
                               THNN_(convolution_filters)(&g, weight), THNN_(convolution_images)(&g, gradInput));
}

void THNN_(SpatialConvolutionMM_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                   THTensor *gradWeight, THTensor *gradBias, THTensor *finput,
                                                   THTensor *fgradInput, int kW, int kH, int dW, int dH, int padW,
                                                   int padH, accreal scale)
{
  (void)finput, (void)fgradInput;
  Convolution g;
  V_(checkSpatialConvolutionMM)(state, &g, input, gradWeight, "gradWeight", kW, kH, dW, dH, padW, padH);
  THNN_RETURN_IF_FAILED(state);
  V_(checkGradOutputSpatialConvolutionMM)(state, &g, input, gradOutput);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(gradBias == NULL || (gradBias->ndim == 1 && gradBias->size[0] == g.outputPlanes), gradBias,
             "expected one value per output plane (%lld), got %s", (long long)g.outputPlanes,
             THNN_shape(gradBias));
  /* They have their sizes; what is left to find is several elements at one address. */
  THNN_RESIZE_LIKE(gradWeight, gradWeight);
  if (gradBias) THNN_RESIZE_LIKE(gradBias, gradBias);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradWeight, input);
  THNN_CHECK_NO_OVERLAP(gradWeight, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradBias, input);
  THNN_CHECK_NO_OVERLAP(gradBias, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradBias, gradWeight);
  THNN_RETURN_IF_META(state);
  const ConvolutionView gradients = THNN_(convolution_images)(&g, gradOutput);
  THNN_(convolution_gradWeight)(&g, THNN_(convolution_images)(&g, input), gradients,
                                THNN_(convolution_filters)(&g, gradWeight), (real)scale);
  if (gradBias) THNN_(convolution_gradBias)(&g, gradients, TH_DATA(gradBias), gradBias->stride[0], (real)scale);
}
