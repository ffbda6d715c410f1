#include "pooling/subsampling_module.h"

#include "convolution/geometry_checks.h"
#include "im2col/im2col.h"
#include "pooling/pooling.h"

static ConvolutionView imageView(const Convolution *g, const THTensor *t)
{
  if (g->dims == 2) return THNN_(convolutionImageView)(t);
  const int64_t *stride = t->stride + t->ndim - 2;
  return (ConvolutionView){.data = t->data,
                           .stride = {t->ndim == 3 ? t->stride[0] : 0, stride[1], 0, 0, stride[0]}};
}

/* A vector with one value per channel. */
static ConvolutionView channelView(const THTensor *t)
{
  return (ConvolutionView){.data = t->data, .group = t->stride[0]};
}

/* The size of the output, batch first. */
static void outputSize(const Convolution *g, int64_t *size)
{
  const int64_t height = g->axis[1].output, width = g->axis[2].output;
  const int64_t images[4] = {g->batch, g->outputChannels, height, width},
                sequences[3] = {g->batch, width, g->outputChannels};
  memcpy(size, g->dims == 2 ? images : sequences, sizeof *size * (size_t)(g->dims + 2));
}

void THNN_(subSamplingCheck)(THNNState *state, Convolution *g, const THTensor *input, const THTensor *weight,
                             const char *weightName)
{
  for (int d = 3 - g->dims; d < 3; d++) {
    thnn_checkAtLeast(state, d == 1 ? "kH" : "kW", g->axis[d].kernel, 1);
    thnn_checkAtLeast(state, d == 1 ? "dH" : "dW", g->axis[d].stride, 1);
  }
  THNN_RETURN_IF_FAILED(state);
  if (g->inputChannels < 1)
    return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected at least one channel, got %s", THNN_shape(input));
  g->groups = g->inputChannels;
  THNN_(convolutionCheckOutput)(state, g, "input");
  if (weight->ndim != 1 || weight->size[0] != g->inputChannels)
    THNN_fail(state, THNN_VALUE_ERROR, weightName, "expected one value per channel (%lld), got %s",
              (long long)g->inputChannels, THNN_shape(weight));
}

/* The pooling that has the windows of the images. */
static Pooling poolingOf(const Convolution *g)
{
  return (Pooling){.axes = 2, .axis = {WINDOW_AXIS_TRIVIAL, g->axis[1], g->axis[2]}};
}

static void checkGradOutput(THNNState *state, const Convolution *g, const THTensor *input,
                            const THTensor *gradOutput)
{
  int64_t size[4];
  outputSize(g, size);
  thnn_checkGradOutput(state, gradOutput, input->ndim, size + (g->dims + 2 - input->ndim));
}

void THNN_(subSamplingUpdateOutput)(THNNState *state, const Convolution *g, THTensor *input, THTensor *output,
                                    THTensor *weight, THTensor *bias)
{
  THNN_CHECK(bias->ndim == 1 && bias->size[0] == g->inputChannels, bias,
             "expected one value per channel (%lld), got %s", (long long)g->inputChannels, THNN_shape(bias));
  int64_t size[4];
  outputSize(g, size);
  const THNNLayout layout = THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS;
  THNN_resize(state, "output", output, input->ndim, size + (g->dims + 2 - input->ndim), layout);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_CHECK_NO_OVERLAP(output, bias);
  THNN_RETURN_IF_META(state);
  const Pooling pooling = poolingOf(g);
  if (g->dims == 2 && weight->stride[0] == 1 && bias->stride[0] == 1 &&
      THNN_(poolingScaledSum)(&pooling, input, TH_DATA(weight), TH_DATA(bias), output))
    return;
  THNN_(convolutionOutput)(g, imageView(g, input), channelView(weight), channelView(bias), imageView(g, output));
}

void THNN_(subSamplingUpdateGradInput)(THNNState *state, const Convolution *g, THTensor *input,
                                       THTensor *gradOutput, THTensor *gradInput, THTensor *weight)
{
  checkGradOutput(state, g, input, gradOutput);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, weight);
  THNN_RETURN_IF_META(state);
  const Pooling pooling = poolingOf(g);
  if (g->dims == 2 && weight->stride[0] == 1 &&
      THNN_(poolingScaledSumBackward)(&pooling, gradOutput, TH_DATA(weight), gradInput))
    return;
  THNN_(convolutionGradInput)(g, imageView(g, gradOutput), channelView(weight), (ConvolutionView){0},
                              imageView(g, gradInput));
}

void THNN_(subSamplingAccGradParameters)(THNNState *state, const Convolution *g, THTensor *input,
                                         THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                         accreal scale)
{
  checkGradOutput(state, g, input, gradOutput);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(gradBias->ndim == 1 && gradBias->size[0] == g->inputChannels, gradBias,
             "expected one value per channel (%lld), got %s", (long long)g->inputChannels, THNN_shape(gradBias));
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, gradBias, input, gradOutput);
  THNN_RETURN_IF_META(state);
  const Im2col windows = im2colMake(g, imageView(g, input), imageView(g, gradOutput));
  THNN_(subsamplingGradWeight)(&windows, TH_DATA(gradWeight), gradWeight->stride[0], (real)scale);
  THNN_(convolutionGradBias)(g, imageView(g, gradOutput), channelView(gradBias), (real)scale);
}
