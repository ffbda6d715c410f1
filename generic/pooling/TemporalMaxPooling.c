#include "modules/TemporalMaxPooling.h"
#include "pooling/pooling_checks.h"

void THNN_(TemporalMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                            THIndexTensor *indices, int kW, int dW)
{
  Pooling pooling;
  THNN_CHECK_POOLING(input, false, &pooling, POOLING_AXIS(kW, dW, 0, 1));
  pooling.index = INDEX_KERNEL;
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_POOLED(output, input, &pooling);
  THNN_RESIZE_POOLED(indices, input, &pooling);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(indices, input);
  THNN_CHECK_NO_OVERLAP(indices, output);
  THNN_RETURN_IF_META(state);

  THNN_(poolingMax)(&pooling, input, output, indices);
}

void THNN_(TemporalMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                               THTensor *gradInput, THIndexTensor *indices, int kW, int dW)
{
  Pooling pooling;
  THNN_CHECK_POOLING(input, false, &pooling, POOLING_AXIS(kW, dW, 0, 1));
  pooling.index = INDEX_KERNEL;
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_POOLED(gradOutput, input, &pooling);
  THNN_CHECK_POOLED(indices, input, &pooling);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, indices);
  THNN_RETURN_IF_META(state);
  const bool inWindow = THNN_(poolingCheckIndices)(state, &pooling, indices);
  THNN_RETURN_IF_FAILED(state);

  THNN_(poolingMaxBackward)(&pooling, inWindow, gradOutput, indices, gradInput);
}
