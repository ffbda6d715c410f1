#include "modules/VolumetricConvolution.h"
#include "convolution/convolution_module.h"

static ConvolutionModule convolution(int dT, int dW, int dH, int pT, int pW, int pH)
{
  ConvolutionModule m = convolutionModuleMake(CONVOLUTION_FILTERS, 3);
  m.kernelOfWeight = true;
  CONVOLUTION_AXIS(&m, 0, 1, dT, pT, 1, 0);
  CONVOLUTION_AXIS(&m, 1, 1, dH, pH, 1, 0);
  CONVOLUTION_AXIS(&m, 2, 1, dW, pW, 1, 0);
  return m;
}

void THNN_(VolumetricConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                               THTensor *weight, THTensor *bias, THTensor *finput,
                                               THTensor *fgradInput, int dT, int dW, int dH, int pT, int pW,
                                               int pH)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(dT, dW, dH, pT, pW, pH);
  THNN_(convolutionModuleUpdateOutput)(state, &m, input, output, weight, bias);
}

void THNN_(VolumetricConvolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                  THTensor *gradInput, THTensor *weight, THTensor *finput, int dT,
                                                  int dW, int dH, int pT, int pW, int pH)
{
  (void)finput;
  ConvolutionModule m = convolution(dT, dW, dH, pT, pW, pH);
  THNN_(convolutionModuleUpdateGradInput)(state, &m, input, gradOutput, gradInput, weight);
}

void THNN_(VolumetricConvolution_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                    THTensor *gradWeight, THTensor *gradBias, THTensor *finput,
                                                    THTensor *fgradInput, int dT, int dW, int dH, int pT, int pW,
                                                    int pH, accreal scale)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(dT, dW, dH, pT, pW, pH);
  THNN_(convolutionModuleAccGradParameters)(state, &m, input, gradOutput, gradWeight, gradBias, scale);
}
