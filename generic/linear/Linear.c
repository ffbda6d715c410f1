#include "modules/Linear.h"
#include "convolution/convolution.h"

/* A linear layer is a 1-D convolution of one image with N pixels and a kernel of one element. */

/* The checks that all three functions share. Sets the geometry. weight may be gradWeight. */
static void check(THNNState *state, Convolution *g, const THTensor *input, const THTensor *weight,
                  const char *weightName)
{
  if (input->ndim != 1 && input->ndim != 2)
    return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected 2 dimensions (N, inputSize) or 1, got %s",
                     THNN_shape(input));
  const int64_t columns = input->size[input->ndim - 1];
  if (weight->ndim != 2 || weight->size[1] != columns)
    return THNN_fail(state, THNN_VALUE_ERROR, weightName,
                     "expected 2 dimensions (outputSize, %lld) for an input of %lld columns, got %s",
                     (long long)columns, (long long)columns, THNN_shape(weight));
  *g = convolutionMake(1);
  g->type = input->type;
  g->batch = 1;
  g->inputChannels = columns;
  g->outputChannels = weight->size[0];
  g->axis[2].input = g->axis[2].output = input->ndim == 2 ? input->size[0] : 1;
}

static void checkGradOutput(THNNState *state, const Convolution *g, const THTensor *input,
                            const THTensor *gradOutput)
{
  const int64_t size[2] = {g->axis[2].output, g->outputChannels};
  thnn_checkGradOutput(state, gradOutput, input->ndim, size + (2 - input->ndim));
}

static ConvolutionView imageView(const THTensor *t)
{
  return (ConvolutionView){t->data, {[1] = t->stride[t->ndim - 1], [4] = t->ndim == 2 ? t->stride[0] : 0}, 0};
}

static ConvolutionView weightView(const THTensor *t)
{
  return (ConvolutionView){t->data, {t->stride[0], t->stride[1]}, 0};
}

static ConvolutionView biasView(const THTensor *t)
{
  return t ? (ConvolutionView){t->data, {t->stride[0]}, 0} : (ConvolutionView){0};
}

void THNN_(Linear_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                THTensor *bias, THTensor *addBuffer)
{
  (void)addBuffer;
  Convolution g;
  check(state, &g, input, weight, "weight");
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(bias == NULL || (bias->ndim == 1 && bias->size[0] == g.outputChannels), bias,
             "expected one value per output (%lld), got %s", (long long)g.outputChannels, THNN_shape(bias));
  if (input->ndim == 2) THNN_RESIZE_TO(output, THNN_CONTIGUOUS, g.axis[2].output, g.outputChannels);
  else THNN_RESIZE_TO(output, THNN_CONTIGUOUS, g.outputChannels);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_CHECK_NO_OVERLAP(output, bias);
  if (THNN_(convolutionTakesHalf)(&g, CONVOLUTION_OUTPUT)) THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  THNN_(convolutionOutput)(&g, imageView(input), weightView(weight), biasView(bias), imageView(output));
}

void THNN_(Linear_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                   THTensor *weight)
{
  Convolution g;
  check(state, &g, input, weight, "weight");
  THNN_RETURN_IF_FAILED(state);
  checkGradOutput(state, &g, input, gradOutput);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, weight);
  if (THNN_(convolutionTakesHalf)(&g, CONVOLUTION_GRAD_INPUT)) THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  THNN_(convolutionGradInput)(&g, imageView(gradOutput), weightView(weight), (ConvolutionView){0},
                              imageView(gradInput));
}

void THNN_(Linear_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                     THTensor *weight, THTensor *bias, THTensor *gradWeight, THTensor *gradBias,
                                     THTensor *addBuffer, accreal scale)
{
  (void)gradInput, (void)addBuffer;
  Convolution g;
  check(state, &g, input, gradWeight, "gradWeight");
  THNN_RETURN_IF_FAILED(state);
  checkGradOutput(state, &g, input, gradOutput);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(THNNTensor_sameSize(weight, gradWeight), weight, "expected the size of gradWeight, %s, got %s",
             THNN_shape(gradWeight), THNN_shape(weight));
  THNN_CHECK(bias == NULL || (bias->ndim == 1 && bias->size[0] == g.outputChannels), bias,
             "expected one value per output (%lld), got %s", (long long)g.outputChannels, THNN_shape(bias));
  THNN_CHECK(bias == NULL || gradBias != NULL, gradBias, "expected a tensor, since bias is given");
  if (bias == NULL) gradBias = NULL;
  THNN_CHECK(gradBias == NULL || (gradBias->ndim == 1 && gradBias->size[0] == g.outputChannels), gradBias,
             "expected one value per output (%lld), got %s", (long long)g.outputChannels, THNN_shape(gradBias));
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, gradBias, input, gradOutput);
  const bool overwrites = scale == 1 && THNN_overwrites(state, gradWeight);
  if (THNN_(convolutionTakesHalf)(&g, CONVOLUTION_GRAD_WEIGHT)) THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const ConvolutionView gradients = imageView(gradOutput);
  THNN_(convolutionGradWeight)(&g, imageView(input), gradients, weightView(gradWeight), (real)scale, overwrites);
  if (gradBias) THNN_(convolutionGradBias)(&g, gradients, biasView(gradBias), (real)scale);
}
