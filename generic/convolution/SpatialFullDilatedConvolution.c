#include "modules/SpatialFullDilatedConvolution.h"
#include "convolution/convolution_module.h"

static ConvolutionModule convolution(int kW, int kH, int dW, int dH, int padW, int padH, int dilationW,
                                     int dilationH, int adjW, int adjH)
{
  ConvolutionModule m = convolutionModuleMake(CONVOLUTION_TRANSPOSED, 2);
  CONVOLUTION_AXIS(&m, 1, kH, dH, padH, dilationH, adjH);
  CONVOLUTION_AXIS(&m, 2, kW, dW, padW, dilationW, adjW);
  return m;
}

void THNN_(SpatialFullDilatedConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                       THTensor *weight, THTensor *bias, THTensor *columns,
                                                       THTensor *ones, int kW, int kH, int dW, int dH, int padW,
                                                       int padH, int dilationW, int dilationH, int adjW, int adjH)
{
  (void)columns, (void)ones;
  ConvolutionModule m = convolution(kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH);
  THNN_(convolutionModuleUpdateOutput)(state, &m, input, output, weight, bias);
}

void THNN_(SpatialFullDilatedConvolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                          THTensor *gradInput, THTensor *weight,
                                                          THTensor *gradColumns, int kW, int kH, int dW, int dH,
                                                          int padW, int padH, int dilationW, int dilationH,
                                                          int adjW, int adjH)
{
  (void)gradColumns;
  ConvolutionModule m = convolution(kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH);
  THNN_(convolutionModuleUpdateGradInput)(state, &m, input, gradOutput, gradInput, weight);
}

void THNN_(SpatialFullDilatedConvolution_accGradParameters)(THNNState *state, THTensor *input,
                                                            THTensor *gradOutput, THTensor *gradWeight,
                                                            THTensor *gradBias, THTensor *columns, THTensor *ones,
                                                            int kW, int kH, int dW, int dH, int padW, int padH,
                                                            int dilationW, int dilationH, int adjW, int adjH,
                                                            accreal scale)
{
  (void)columns, (void)ones;
  ConvolutionModule m = convolution(kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH);
  THNN_(convolutionModuleAccGradParameters)(state, &m, input, gradOutput, gradWeight, gradBias, scale);
}
