#include "modules/SpatialAveragePooling.h"
#include "pooling/pooling.h"

void THNN_(SpatialAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kW, int kH,
                                               int dW, int dH, int padW, int padH, bool ceil_mode,
                                               bool count_include_pad)
{
  THNNWindow window;
  thnn_checkWindow(state, input, kW, kH, dW, dH, padW, padH, ceil_mode, &window);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_WINDOWS(output, input, &window);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_RETURN_IF_META(state);

  THNN_(windowMean)(&window, count_include_pad, input, output);
}

void THNN_(SpatialAveragePooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                  THTensor *gradInput, int kW, int kH, int dW, int dH, int padW,
                                                  int padH, bool ceil_mode, bool count_include_pad)
{
  THNNWindow window;
  thnn_checkWindow(state, input, kW, kH, dW, dH, padW, padH, ceil_mode, &window);
  THNN_RETURN_IF_FAILED(state);
  thnn_checkWindowOutput(state, "gradOutput", gradOutput, input, &window);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_RETURN_IF_META(state);

  THNN_(windowMeanBackward)(&window, count_include_pad, gradOutput, gradInput);
}
