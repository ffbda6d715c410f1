#include "modules/SpatialAveragePooling.h"
#include "pooling/pooling_checks.h"

void THNN_(SpatialAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kW, int kH,
                                               int dW, int dH, int padW, int padH, bool ceil_mode,
                                               bool count_include_pad)
{
  Pooling pooling;
  THNN_CHECK_POOLING(input, ceil_mode, &pooling, POOLING_AXIS(kW, dW, padW, 1), POOLING_AXIS(kH, dH, padH, 1));
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_POOLED(output, input, &pooling);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_RETURN_IF_META(state);

  THNN_(poolingAverage)(&pooling, count_include_pad, input, output);
}

void THNN_(SpatialAveragePooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                  THTensor *gradInput, int kW, int kH, int dW, int dH, int padW,
                                                  int padH, bool ceil_mode, bool count_include_pad)
{
  Pooling pooling;
  THNN_CHECK_POOLING(input, ceil_mode, &pooling, POOLING_AXIS(kW, dW, padW, 1), POOLING_AXIS(kH, dH, padH, 1));
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_POOLED(gradOutput, input, &pooling);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_RETURN_IF_META(state);

  THNN_(poolingAverageBackward)(&pooling, count_include_pad, gradOutput, gradInput);
}
