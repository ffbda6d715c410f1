#include "modules/SpatialConvolutionLocal.h"
#include "convolution/geometry_checks.h"
#include "locally_connected/locally_connected.h"

/* The checks that all three functions share. Sets the geometry. weight may be gradWeight. */
static void check(THNNState *state, Convolution *g, const THTensor *input, const THTensor *weight,
                  const char *weightName, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth,
                  int64_t inputHeight, int64_t outputWidth, int64_t outputHeight)
{
  if (input->ndim != 3 && input->ndim != 4)
    return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected 4 dimensions (N, nInputPlane, H, W) or 3, got %s",
                     THNN_shape(input));
  const int64_t *size = input->size + (input->ndim - 3);
  if (size[0] < 1 || size[1] < 1 || size[2] < 1)
    return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected no empty dimension but N, got %s",
                     THNN_shape(input));
  thnn_checkAtLeast(state, "kW", kW, 1);
  thnn_checkAtLeast(state, "kH", kH, 1);
  thnn_checkAtLeast(state, "dW", dW, 1);
  thnn_checkAtLeast(state, "dH", dH, 1);
  thnn_checkAtLeast(state, "padW", padW, 0);
  thnn_checkAtLeast(state, "padH", padH, 0);
  THNN_RETURN_IF_FAILED(state);
  if (inputWidth != size[2])
    return THNN_fail(state, THNN_VALUE_ERROR, "inputWidth", "expected the width of the input, %lld, got %lld",
                     (long long)size[2], (long long)inputWidth);
  if (inputHeight != size[1])
    return THNN_fail(state, THNN_VALUE_ERROR, "inputHeight", "expected the height of the input, %lld, got %lld",
                     (long long)size[1], (long long)inputHeight);
  if ((weight->ndim != 3 && weight->ndim != 6) || weight->size[weight->ndim / 3] < 1)
    return THNN_fail(state, THNN_VALUE_ERROR, weightName,
                     "expected 6 dimensions (oH, oW, nOutputPlane, nInputPlane, kH, kW) or 3 "
                     "(oH * oW, nOutputPlane, nInputPlane * kH * kW), got %s",
                     THNN_shape(weight));
  *g = convolutionMake(2);
  g->batch = input->ndim == 4 ? input->size[0] : 1;
  g->inputChannels = size[0];
  g->outputChannels = weight->size[weight->ndim / 3];
  g->axis[1] = (WindowAxis){.input = size[1], .kernel = kH, .stride = dH, .padding = padH, .dilation = 1};
  g->axis[2] = (WindowAxis){.input = size[2], .kernel = kW, .stride = dW, .padding = padW, .dilation = 1};
  THNN_(convolutionCheckOutput)(state, g, "input");
  THNN_RETURN_IF_FAILED(state);
  if (outputWidth != g->axis[2].output)
    return THNN_fail(state, THNN_VALUE_ERROR, "outputWidth", "expected %lld, got %lld",
                     (long long)g->axis[2].output, (long long)outputWidth);
  if (outputHeight != g->axis[1].output)
    return THNN_fail(state, THNN_VALUE_ERROR, "outputHeight", "expected %lld, got %lld",
                     (long long)g->axis[1].output, (long long)outputHeight);
  const int64_t oH = g->axis[1].output, oW = g->axis[2].output;
  const int64_t whole[6] = {oH, oW, g->outputChannels, size[0], kH, kW};
  int64_t flat[3] = {oH * oW, g->outputChannels, size[0]};
  const bool fits = !__builtin_mul_overflow(flat[2], (int64_t)kH * kW, flat + 2);
  const int64_t *expected = weight->ndim == 6 ? whole : flat;
  if (!fits || !THNNTensor_hasSize(weight, weight->ndim, expected))
    THNN_fail(state, THNN_VALUE_ERROR, weightName, "expected %s, got %s", THNN_shapeOf(weight->ndim, expected),
              THNN_shape(weight));
}

/* bias or gradBias: (nOutputPlane, oH, oW) */
static void checkBias(THNNState *state, const Convolution *g, const THTensor *bias, const char *name)
{
  const int64_t expected[3] = {g->outputChannels, g->axis[1].output, g->axis[2].output};
  if (!THNNTensor_hasSize(bias, 3, expected))
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected one value per output element, %s, got %s",
              THNN_shapeOf(3, expected), THNN_shape(bias));
}

static void checkGradOutput(THNNState *state, const Convolution *g, const THTensor *input,
                            const THTensor *gradOutput)
{
  const int64_t size[4] = {g->batch, g->outputChannels, g->axis[1].output, g->axis[2].output};
  thnn_checkGradOutput(state, gradOutput, input->ndim, size + (4 - input->ndim));
}

static LocalFilters filterView(const Convolution *g, const THTensor *t)
{
  const int64_t *s = t->stride;
  if (t->ndim == 6) return (LocalFilters){t->data, {s[0], s[1]}, s[2], s[3], {s[4], s[5]}};
  return (LocalFilters){t->data,
                        {g->axis[2].output * s[0], s[0]},
                        s[1],
                        g->axis[1].kernel * g->axis[2].kernel * s[2],
                        {g->axis[2].kernel * s[2], s[2]}};
}

void THNN_(SpatialConvolutionLocal_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                 THTensor *weight, THTensor *bias, THTensor *finput,
                                                 THTensor *fgradInput, int kW, int kH, int dW, int dH, int padW,
                                                 int padH, int64_t inputWidth, int64_t inputHeight,
                                                 int64_t outputWidth, int64_t outputHeight)
{
  (void)finput, (void)fgradInput;
  Convolution g;
  check(state, &g, input, weight, "weight", kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth,
        outputHeight);
  THNN_RETURN_IF_FAILED(state);
  checkBias(state, &g, bias, "bias");
  THNN_RETURN_IF_FAILED(state);
  const int64_t size[4] = {g.batch, g.outputChannels, g.axis[1].output, g.axis[2].output};
  const THNNLayout layout = THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS;
  THNN_resize(state, "output", output, input->ndim, size + (4 - input->ndim), layout);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_CHECK_NO_OVERLAP(output, bias);
  THNN_RETURN_IF_META(state);
  THNN_(locallyConnectedOutput)(&g, THNN_(convolutionImageView)(input), filterView(&g, weight), TH_DATA(bias),
                                bias->stride, THNN_(convolutionImageView)(output));
}

void THNN_(SpatialConvolutionLocal_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                    THTensor *gradInput, THTensor *weight, THTensor *finput,
                                                    THTensor *fgradInput, int kW, int kH, int dW, int dH, int padW,
                                                    int padH, int64_t inputWidth, int64_t inputHeight,
                                                    int64_t outputWidth, int64_t outputHeight)
{
  (void)finput, (void)fgradInput;
  Convolution g;
  check(state, &g, input, weight, "weight", kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth,
        outputHeight);
  THNN_RETURN_IF_FAILED(state);
  checkGradOutput(state, &g, input, gradOutput);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, weight);
  THNN_RETURN_IF_META(state);
  THNN_(locallyConnectedGradInput)(&g, THNN_(convolutionImageView)(gradOutput), filterView(&g, weight),
                                   THNN_(convolutionImageView)(gradInput));
}

void THNN_(SpatialConvolutionLocal_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradWeight, THTensor *gradBias, THTensor *finput,
                                                      THTensor *fgradInput, int kW, int kH, int dW, int dH,
                                                      int padW, int padH, int64_t inputWidth, int64_t inputHeight,
                                                      int64_t outputWidth, int64_t outputHeight, accreal scale)
{
  (void)finput, (void)fgradInput;
  Convolution g;
  check(state, &g, input, gradWeight, "gradWeight", kW, kH, dW, dH, padW, padH, inputWidth, inputHeight,
        outputWidth, outputHeight);
  THNN_RETURN_IF_FAILED(state);
  checkGradOutput(state, &g, input, gradOutput);
  checkBias(state, &g, gradBias, "gradBias");
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, gradBias, input, gradOutput);
  THNN_RETURN_IF_META(state);
  THNN_(locallyConnectedGradWeight)(&g, THNN_(convolutionImageView)(input),
                                    THNN_(convolutionImageView)(gradOutput), filterView(&g, gradWeight),
                                    (real)scale);
  THNN_(locallyConnectedGradBias)(&g, THNN_(convolutionImageView)(gradOutput), TH_DATA(gradBias), gradBias->stride,
                                  (real)scale);
}
