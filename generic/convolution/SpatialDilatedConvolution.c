#include "modules/SpatialDilatedConvolution.h"
#include "convolution/convolution_module.h"

static ConvolutionModule convolution(int kW, int kH, int dW, int dH, int padW, int padH, int dilationW,
                                     int dilationH)
{
  ConvolutionModule m = convolutionModuleMake(CONVOLUTION_FILTERS, 2);
  CONVOLUTION_AXIS(&m, 1, kH, dH, padH, dilationH, 0);
  CONVOLUTION_AXIS(&m, 2, kW, dW, padW, dilationW, 0);
  return m;
}

void THNN_(SpatialDilatedConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                   THTensor *weight, THTensor *bias, THTensor *columns,
                                                   THTensor *ones, int kW, int kH, int dW, int dH, int padW,
                                                   int padH, int dilationW, int dilationH)
{
  (void)columns, (void)ones;
  ConvolutionModule m = convolution(kW, kH, dW, dH, padW, padH, dilationW, dilationH);
  THNN_(convolutionModuleUpdateOutput)(state, &m, input, output, weight, bias);
}

void THNN_(SpatialDilatedConvolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradInput, THTensor *weight, THTensor *gradColumns,
                                                      int kW, int kH, int dW, int dH, int padW, int padH,
                                                      int dilationW, int dilationH)
{
  (void)gradColumns;
  ConvolutionModule m = convolution(kW, kH, dW, dH, padW, padH, dilationW, dilationH);
  THNN_(convolutionModuleUpdateGradInput)(state, &m, input, gradOutput, gradInput, weight);
}

void THNN_(SpatialDilatedConvolution_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                        THTensor *gradWeight, THTensor *gradBias,
                                                        THTensor *columns, THTensor *ones, int kW, int kH, int dW,
                                                        int dH, int padW, int padH, int dilationW, int dilationH,
                                                        accreal scale)
{
  (void)columns, (void)ones;
  ConvolutionModule m = convolution(kW, kH, dW, dH, padW, padH, dilationW, dilationH);
  THNN_(convolutionModuleAccGradParameters)(state, &m, input, gradOutput, gradWeight, gradBias, scale);
}
