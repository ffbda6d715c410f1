#include "modules/SpatialConvolutionMM.h"
#include "convolution/convolution_module.h"

static ConvolutionModule convolution(int kW, int kH, int dW, int dH, int padW, int padH)
{
  ConvolutionModule m = convolutionModuleMake(CONVOLUTION_FILTERS, 2);
  m.flattened = true;
  CONVOLUTION_AXIS(&m, 1, kH, dH, padH, 1, 0);
  CONVOLUTION_AXIS(&m, 2, kW, dW, padW, 1, 0);
  return m;
}

void THNN_(SpatialConvolutionMM_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                              THTensor *weight, THTensor *bias, THTensor *finput,
                                              THTensor *fgradInput, int kW, int kH, int dW, int dH, int padW,
                                              int padH)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(kW, kH, dW, dH, padW, padH);
  THNN_(convolutionModuleUpdateOutput)(state, &m, input, output, weight, bias);
}

void THNN_(SpatialConvolutionMM_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                 THTensor *gradInput, THTensor *weight, THTensor *finput,
                                                 THTensor *fgradInput, int kW, int kH, int dW, int dH, int padW,
                                                 int padH)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(kW, kH, dW, dH, padW, padH);
  THNN_(convolutionModuleUpdateGradInput)(state, &m, input, gradOutput, gradInput, weight);
}

void THNN_(SpatialConvolutionMM_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                   THTensor *gradWeight, THTensor *gradBias, THTensor *finput,
                                                   THTensor *fgradInput, int kW, int kH, int dW, int dH, int padW,
                                                   int padH, accreal scale)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(kW, kH, dW, dH, padW, padH);
  THNN_(convolutionModuleAccGradParameters)(state, &m, input, gradOutput, gradWeight, gradBias, scale);
}
