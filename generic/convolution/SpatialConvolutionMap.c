#include "modules/SpatialConvolutionMap.h"
#include "convolution/connection_table_module.h"

void THNN_(SpatialConvolutionMap_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                               THTensor *weight, THTensor *bias, THTensor *connTable,
                                               int nInputPlane, int nOutputPlane, int dW, int dH)
{
  THNN_(connectionTableUpdateOutput)(state, false, input, output, weight, bias, connTable, nInputPlane,
                                     nOutputPlane, dW, dH);
}

void THNN_(SpatialConvolutionMap_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                  THTensor *gradInput, THTensor *weight, THTensor *bias,
                                                  THTensor *connTable, int nInputPlane, int nOutputPlane, int dW,
                                                  int dH)
{
  THNN_(connectionTableUpdateGradInput)(state, false, input, gradOutput, gradInput, weight, bias, connTable,
                                        nInputPlane, nOutputPlane, dW, dH);
}

void THNN_(SpatialConvolutionMap_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                    THTensor *gradWeight, THTensor *gradBias, THTensor *connTable,
                                                    int nInputPlane, int nOutputPlane, int dW, int dH,
                                                    accreal scale)
{
  THNN_(connectionTableAccGradParameters)(state, false, input, gradOutput, gradWeight, gradBias, connTable,
                                          nInputPlane, nOutputPlane, dW, dH, scale);
}
