#include "modules/VolumetricConvolutionMM.h"
#include "convolution/convolution_module.h"

static ConvolutionModule convolution(int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH)
{
  ConvolutionModule m = convolutionModuleMake(CONVOLUTION_FILTERS, 3);
  m.flattened = true;
  CONVOLUTION_AXIS(&m, 0, kT, dT, pT, 1, 0);
  CONVOLUTION_AXIS(&m, 1, kH, dH, pH, 1, 0);
  CONVOLUTION_AXIS(&m, 2, kW, dW, pW, 1, 0);
  return m;
}

void THNN_(VolumetricConvolutionMM_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                 THTensor *weight, THTensor *bias, THTensor *finput, int kT,
                                                 int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH)
{
  (void)finput;
  ConvolutionModule m = convolution(kT, kW, kH, dT, dW, dH, pT, pW, pH);
  THNN_(convolutionModuleUpdateOutput)(state, &m, input, output, weight, bias);
}

void THNN_(VolumetricConvolutionMM_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                    THTensor *gradInput, THTensor *weight, THTensor *finput,
                                                    THTensor *fgradInput, int kT, int kW, int kH, int dT, int dW,
                                                    int dH, int pT, int pW, int pH)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(kT, kW, kH, dT, dW, dH, pT, pW, pH);
  THNN_(convolutionModuleUpdateGradInput)(state, &m, input, gradOutput, gradInput, weight);
}

void THNN_(VolumetricConvolutionMM_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradWeight, THTensor *gradBias, THTensor *finput,
                                                      int kT, int kW, int kH, int dT, int dW, int dH, int pT,
                                                      int pW, int pH, accreal scale)
{
  (void)finput;
  ConvolutionModule m = convolution(kT, kW, kH, dT, dW, dH, pT, pW, pH);
  THNN_(convolutionModuleAccGradParameters)(state, &m, input, gradOutput, gradWeight, gradBias, scale);
}
