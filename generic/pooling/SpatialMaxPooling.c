#include "modules/SpatialMaxPooling.h"
#include "pooling/pooling.h"

void THNN_(SpatialMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                           THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW,
                                           int padH, bool ceil_mode)
{
  THNNWindow window;
  thnn_checkWindow(state, input, kW, kH, dW, dH, padW, padH, ceil_mode, &window);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_WINDOWS(output, input, &window);
  THNN_RESIZE_WINDOWS(indices, input, &window);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(indices, input);
  THNN_CHECK_NO_OVERLAP(indices, output);
  THNN_RETURN_IF_META(state);

  THNN_(windowMax)(&window, input, output, indices);
}

void THNN_(SpatialMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                              THTensor *gradInput, THIndexTensor *indices, int kW, int kH, int dW,
                                              int dH, int padW, int padH, bool ceil_mode)
{
  THNNWindow window;
  thnn_checkWindow(state, input, kW, kH, dW, dH, padW, padH, ceil_mode, &window);
  THNN_RETURN_IF_FAILED(state);
  thnn_checkWindowOutput(state, "gradOutput", gradOutput, input, &window);
  thnn_checkWindowOutput(state, "indices", indices, input, &window);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, indices);
  THNN_RETURN_IF_META(state);
  bool in_windows = THNN_(windowCheckIndices)(state, &window, indices);
  THNN_RETURN_IF_FAILED(state);

  THNN_(windowMaxBackward)(&window, in_windows, gradOutput, indices, gradInput);
}
