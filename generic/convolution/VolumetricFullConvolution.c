#include "modules/VolumetricFullConvolution.h"
#include "convolution/convolution_module.h"

static ConvolutionModule convolution(int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH)
{
  ConvolutionModule m = convolutionModuleMake(CONVOLUTION_TRANSPOSED, 3);
  m.kernelOfWeight = true;
  CONVOLUTION_AXIS(&m, 0, 1, dT, pT, 1, aT);
  CONVOLUTION_AXIS(&m, 1, 1, dH, pH, 1, aH);
  CONVOLUTION_AXIS(&m, 2, 1, dW, pW, 1, aW);
  return m;
}

void THNN_(VolumetricFullConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                   THTensor *weight, THTensor *bias, THTensor *finput,
                                                   THTensor *fgradInput, int dT, int dW, int dH, int pT, int pW,
                                                   int pH, int aT, int aW, int aH)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(dT, dW, dH, pT, pW, pH, aT, aW, aH);
  THNN_(convolutionModuleUpdateOutput)(state, &m, input, output, weight, bias);
}

void THNN_(VolumetricFullConvolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradInput, THTensor *weight, THTensor *finput,
                                                      THTensor *fgradInput, int dT, int dW, int dH, int pT, int pW,
                                                      int pH, int aT, int aW, int aH)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(dT, dW, dH, pT, pW, pH, aT, aW, aH);
  THNN_(convolutionModuleUpdateGradInput)(state, &m, input, gradOutput, gradInput, weight);
}

void THNN_(VolumetricFullConvolution_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                        THTensor *gradWeight, THTensor *gradBias, THTensor *finput,
                                                        THTensor *fgradInput, int dT, int dW, int dH, int pT,
                                                        int pW, int pH, int aT, int aW, int aH, accreal scale)
{
  (void)finput, (void)fgradInput;
  ConvolutionModule m = convolution(dT, dW, dH, pT, pW, pH, aT, aW, aH);
  THNN_(convolutionModuleAccGradParameters)(state, &m, input, gradOutput, gradWeight, gradBias, scale);
}
