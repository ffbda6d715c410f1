#include "modules/VolumetricDilatedMaxPooling.h"
#include "pooling/pooling_checks.h"

void THNN_(VolumetricDilatedMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                     THIndexTensor *indices, int kT, int kW, int kH, int dT,
                                                     int dW, int dH, int pT, int pW, int pH, int dilationT,
                                                     int dilationW, int dilationH, bool ceilMode)
{
  Pooling pooling;
  THNN_CHECK_POOLING(input, ceilMode, &pooling, POOLING_AXIS(kW, dW, pW, dilationW),
                     POOLING_AXIS(kH, dH, pH, dilationH), POOLING_AXIS(kT, dT, pT, dilationT));
  pooling.index = INDEX_KERNEL_PACKED;
  THNN_CHECK(kT <= 256 && kW <= 256 && kH <= 256, indices, "a kernel of more than 256 does not fit the indices");
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

void THNN_(VolumetricDilatedMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                        THTensor *gradInput, THIndexTensor *indices, int kT,
                                                        int kW, int kH, int dT, int dW, int dH, int pT, int pW,
                                                        int pH, int dilationT, int dilationW, int dilationH,
                                                        bool ceilMode)
{
  Pooling pooling;
  THNN_CHECK_POOLING(input, ceilMode, &pooling, POOLING_AXIS(kW, dW, pW, dilationW),
                     POOLING_AXIS(kH, dH, pH, dilationH), POOLING_AXIS(kT, dT, pT, dilationT));
  pooling.index = INDEX_KERNEL_PACKED;
  THNN_CHECK(kT <= 256 && kW <= 256 && kH <= 256, indices, "a kernel of more than 256 does not fit the indices");
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
