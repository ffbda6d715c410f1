#include "modules/TemporalRowConvolution.h"
#include "convolution/convolution_module.h"

static ConvolutionModule convolution(int kW, int dW, int padW, bool featFirst)
{
  ConvolutionModule m = convolutionModuleMake(CONVOLUTION_ROWS, 1);
  m.framesFirst = !featFirst;
  CONVOLUTION_AXIS(&m, 2, kW, dW, padW, 1, 0);
  return m;
}

void THNN_(TemporalRowConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                THTensor *weight, THTensor *bias, THTensor *finput,
                                                THTensor *fgradInput, int kW, int dW, int padW, bool featFirst)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(kW, dW, padW, featFirst);
  THNN_(convolutionModuleUpdateOutput)(state, &m, input, output, weight, bias);
}

void THNN_(TemporalRowConvolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                   THTensor *gradInput, THTensor *weight, THTensor *finput,
                                                   THTensor *fgradInput, int kW, int dW, int padW, bool featFirst)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(kW, dW, padW, featFirst);
  THNN_(convolutionModuleUpdateGradInput)(state, &m, input, gradOutput, gradInput, weight);
}

void THNN_(TemporalRowConvolution_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                     THTensor *gradWeight, THTensor *gradBias, THTensor *finput,
                                                     THTensor *fgradInput, int kW, int dW, int padW,
                                                     bool featFirst, accreal scale)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(kW, dW, padW, featFirst);
  THNN_(convolutionModuleAccGradParameters)(state, &m, input, gradOutput, gradWeight, gradBias, scale);
}
