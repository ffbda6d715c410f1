#include "modules/FullConvolution.h"
#include "convolution/convolution_module.h"

static ConvolutionModule convolution(THNNState *state, const THTensor *weight, int dT, int dW, int dH, int padT,
                                     int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT,
                                     int adjW, int adjH, int groups)
{
  /* The checks reject a weight with other dimensions. */
  const int dims = weight->ndim >= 3 && weight->ndim <= 5 ? weight->ndim - 2 : 2;
  ConvolutionModule m = convolutionModuleMake(CONVOLUTION_TRANSPOSED, dims);
  m.kernelOfWeight = true;
  m.groups = groups;
  CONVOLUTION_AXIS(&m, 0, 1, dT, padT, dilationT, adjT);
  CONVOLUTION_AXIS(&m, 1, 1, dH, padH, dilationH, adjH);
  CONVOLUTION_AXIS(&m, 2, 1, dW, padW, dilationW, adjW);
  THNN_(convolutionModuleCheckAxes)(state, &m);
  return m;
}

void THNN_(FullConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                         THTensor *bias, int dT, int dW, int dH, int padT, int padW, int padH,
                                         int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH,
                                         int groups)
{
  ConvolutionModule m = convolution(state, weight, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH,
                                    adjT, adjW, adjH, groups);
  THNN_RETURN_IF_FAILED(state);
  THNN_(convolutionModuleUpdateOutput)(state, &m, input, output, weight, bias);
}

void THNN_(FullConvolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                            THTensor *gradInput, THTensor *weight, int dT, int dW, int dH,
                                            int padT, int padW, int padH, int dilationT, int dilationW,
                                            int dilationH, int adjT, int adjW, int adjH, int groups)
{
  ConvolutionModule m = convolution(state, weight, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH,
                                    adjT, adjW, adjH, groups);
  THNN_RETURN_IF_FAILED(state);
  THNN_(convolutionModuleUpdateGradInput)(state, &m, input, gradOutput, gradInput, weight);
}

void THNN_(FullConvolution_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                              THTensor *gradWeight, THTensor *gradBias, int dT, int dW, int dH,
                                              int padT, int padW, int padH, int dilationT, int dilationW,
                                              int dilationH, int adjT, int adjW, int adjH, int groups,
                                              accreal scale)
{
  ConvolutionModule m = convolution(state, gradWeight, dT, dW, dH, padT, padW, padH, dilationT, dilationW,
                                    dilationH, adjT, adjW, adjH, groups);
  THNN_RETURN_IF_FAILED(state);
  THNN_(convolutionModuleAccGradParameters)(state, &m, input, gradOutput, gradWeight, gradBias, scale);
}
