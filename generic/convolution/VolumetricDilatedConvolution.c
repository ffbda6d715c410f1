#include "modules/VolumetricDilatedConvolution.h"
#include "convolution/convolution_module.h"

static ConvolutionModule convolution(int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH,
                                     int dilationT, int dilationW, int dilationH)
{
  ConvolutionModule m = convolutionModuleMake(CONVOLUTION_FILTERS, 3);
  CONVOLUTION_AXIS(&m, 0, kT, dT, padT, dilationT, 0);
  CONVOLUTION_AXIS(&m, 1, kH, dH, padH, dilationH, 0);
  CONVOLUTION_AXIS(&m, 2, kW, dW, padW, dilationW, 0);
  return m;
}

void THNN_(VolumetricDilatedConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                      THTensor *weight, THTensor *bias, THTensor *columns,
                                                      THTensor *ones, int kT, int kW, int kH, int dT, int dW,
                                                      int dH, int padT, int padW, int padH, int dilationT,
                                                      int dilationW, int dilationH)
{
  (void)columns, (void)ones;
  ConvolutionModule m = convolution(kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH);
  THNN_(convolutionModuleUpdateOutput)(state, &m, input, output, weight, bias);
}

void THNN_(VolumetricDilatedConvolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                         THTensor *gradInput, THTensor *weight,
                                                         THTensor *gradColumns, int kT, int kW, int kH, int dT,
                                                         int dW, int dH, int padT, int padW, int padH,
                                                         int dilationT, int dilationW, int dilationH)
{
  (void)gradColumns;
  ConvolutionModule m = convolution(kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH);
  THNN_(convolutionModuleUpdateGradInput)(state, &m, input, gradOutput, gradInput, weight);
}

void THNN_(VolumetricDilatedConvolution_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                           THTensor *gradWeight, THTensor *gradBias,
                                                           THTensor *columns, THTensor *ones, int kT, int kW,
                                                           int kH, int dT, int dW, int dH, int padT, int padW,
                                                           int padH, int dilationT, int dilationW, int dilationH,
                                                           accreal scale)
{
  (void)columns, (void)ones;
  ConvolutionModule m = convolution(kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH);
  THNN_(convolutionModuleAccGradParameters)(state, &m, input, gradOutput, gradWeight, gradBias, scale);
}
