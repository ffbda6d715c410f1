#include "modules/TemporalConvolution.h"
#include "convolution/convolution_module.h"

static ConvolutionModule convolution(int kW, int dW)
{
  ConvolutionModule m = convolutionModuleMake(CONVOLUTION_FRAMES, 1);
  m.framesFirst = true;
  CONVOLUTION_AXIS(&m, 2, kW, dW, 0, 1, 0);
  return m;
}

/* The arguments for frame sizes must agree with the tensors, whose dimensions the shared checks verify. */
static void checkFrames(THNNState *state, const THTensor *input, int inputFrameSize, const THTensor *weight,
                        int outputFrameSize)
{
  const int last = input->ndim - 1;
  THNN_CHECK((last != 1 && last != 2) || input->size[last] == inputFrameSize, input,
             "expected frames of inputFrameSize (%d), got %s", inputFrameSize, THNN_shape(input));
  THNN_CHECK(weight->ndim != 2 || weight->size[0] == outputFrameSize, weight,
             "expected outputFrameSize (%d) rows, got %s", outputFrameSize, THNN_shape(weight));
}

void THNN_(TemporalConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                             THTensor *bias, int kW, int dW, int inputFrameSize,
                                             int outputFrameSize)
{
  ConvolutionModule m = convolution(kW, dW);
  checkFrames(state, input, inputFrameSize, weight, outputFrameSize);
  THNN_RETURN_IF_FAILED(state);
  THNN_(convolutionModuleUpdateOutput)(state, &m, input, output, weight, bias);
}

void THNN_(TemporalConvolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                THTensor *gradInput, THTensor *weight, int kW, int dW)
{
  ConvolutionModule m = convolution(kW, dW);
  THNN_(convolutionModuleUpdateGradInput)(state, &m, input, gradOutput, gradInput, weight);
}

void THNN_(TemporalConvolution_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                  THTensor *gradWeight, THTensor *gradBias, int kW, int dW,
                                                  accreal scale)
{
  ConvolutionModule m = convolution(kW, dW);
  THNN_(convolutionModuleAccGradParameters)(state, &m, input, gradOutput, gradWeight, gradBias, scale);
}
