#ifndef THNN_GENERIC_POOLING_SUBSAMPLING_H
#define THNN_GENERIC_POOLING_SUBSAMPLING_H

/* What TemporalSubSampling and SpatialSubSampling share: all but their arguments. They fill a geometry whose dims tells
   the layout: 1 for (N, T, C), 2 for (N, C, H, W), each with or without N. A plane is a group of a convolution, all of
   whose taps have one weight. */

#include "convolution/sliding.h"
#include "im2col/im2col.h"

static ConvolutionView subSamplingView(const Convolution *g, const THTensor *t)
{
  if (g->dims == 2) return planeView(t);
  const int64_t *stride = t->stride + t->ndim - 2;
  return (ConvolutionView){.data = t->data,
                           .stride = {t->ndim == 3 ? t->stride[0] : 0, stride[1], 0, 0, stride[0]}};
}

/* One value per plane. */
static ConvolutionView subSamplingValues(const THTensor *t)
{
  return (ConvolutionView){.data = t->data, .group = t->stride[0]};
}

/* The size of the output, batch first. */
static void subSamplingSize(const Convolution *g, int64_t *size)
{
  const int64_t height = g->axis[1].output, width = g->axis[2].output;
  const int64_t images[4] = {g->batch, g->outputChannels, height, width},
                series[3] = {g->batch, width, g->outputChannels};
  memcpy(size, g->dims == 2 ? images : series, sizeof *size * (size_t)(g->dims + 2));
}

/* The rest of the checks that all three functions have in common. */
static void checkSubSampling(THNNState *state, Convolution *g, const THTensor *input, const THTensor *weight,
                             const char *weightName)
{
  for (int d = 3 - g->dims; d < 3; d++) {
    thnn_checkAtLeast(state, d == 1 ? "kH" : "kW", g->axis[d].kernel, 1);
    thnn_checkAtLeast(state, d == 1 ? "dH" : "dW", g->axis[d].stride, 1);
  }
  THNN_RETURN_IF_FAILED(state);
  if (g->inputChannels < 1)
    return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected planes, only N may be 0, got %s",
                     THNN_shape(input));
  g->groups = g->inputChannels;
  slide(state, g, "input");
  if (weight->ndim != 1 || weight->size[0] != g->inputChannels)
    THNN_fail(state, THNN_VALUE_ERROR, weightName, "expected one value per plane (%lld), got %s",
              (long long)g->inputChannels, THNN_shape(weight));
}

static void checkSubSamplingGradient(THNNState *state, const Convolution *g, const THTensor *input,
                                     const THTensor *gradOutput)
{
  int64_t size[4];
  subSamplingSize(g, size);
  thnn_checkGradOutput(state, gradOutput, input->ndim, size + (g->dims + 2 - input->ndim));
}

static void subSamplingOutput(THNNState *state, const Convolution *g, THTensor *input, THTensor *output,
                              THTensor *weight, THTensor *bias)
{
  THNN_CHECK(bias->ndim == 1 && bias->size[0] == g->inputChannels, bias,
             "expected one value per plane (%lld), got %s", (long long)g->inputChannels, THNN_shape(bias));
  int64_t size[4];
  subSamplingSize(g, size);
  const THNNLayout layout = THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS;
  THNN_resize(state, "output", output, input->ndim, size + (g->dims + 2 - input->ndim), layout);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_CHECK_NO_OVERLAP(output, bias);
  THNN_RETURN_IF_META(state);
  THNN_(convolutionOutput)(g, subSamplingView(g, input), subSamplingValues(weight), subSamplingValues(bias),
                           subSamplingView(g, output));
}

static void subSamplingGradInput(THNNState *state, const Convolution *g, THTensor *input, THTensor *gradOutput,
                                 THTensor *gradInput, THTensor *weight)
{
  checkSubSamplingGradient(state, g, input, gradOutput);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, weight);
  THNN_RETURN_IF_META(state);
  THNN_(convolutionGradInput)(g, subSamplingView(g, gradOutput), subSamplingValues(weight), (ConvolutionView){0},
                              subSamplingView(g, gradInput));
}

static void subSamplingGradParameters(THNNState *state, const Convolution *g, THTensor *input,
                                      THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                      accreal scale)
{
  checkSubSamplingGradient(state, g, input, gradOutput);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(gradBias->ndim == 1 && gradBias->size[0] == g->inputChannels, gradBias,
             "expected one value per plane (%lld), got %s", (long long)g->inputChannels, THNN_shape(gradBias));
  THNN_CHECK_ADDED_TO(gradWeight, gradBias, input, gradOutput);
  THNN_RETURN_IF_META(state);
  Taps taps = THNN_(taps_make)(g, subSamplingView(g, gradOutput), subSamplingView(g, input));
  taps.weight = gradWeight->data;
  taps.weightPlane = gradWeight->stride[0];
  THNN_(taps_weight)(&taps, (real)scale);
  THNN_(convolutionGradBias)(g, subSamplingView(g, gradOutput), subSamplingValues(gradBias), (real)scale);
}

#endif
