#include "modules/SpatialConvolutionMap.h"
#include "convolution/connections.h"

void THNN_(SpatialConvolutionMap_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                               THTensor *weight, THTensor *bias, THTensor *connTable,
                                               int nInputPlane, int nOutputPlane, int dW, int dH)
{
  connectionsOutput(state, false, input, output, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH);
}

void THNN_(SpatialConvolutionMap_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                  THTensor *gradInput, THTensor *weight, THTensor *bias,
                                                  THTensor *connTable, int nInputPlane, int nOutputPlane, int dW,
                                                  int dH)
{
  connectionsGradInput(state, false, input, gradOutput, gradInput, weight, bias, connTable, nInputPlane,
                       nOutputPlane, dW, dH);
}

void THNN_(SpatialConvolutionMap_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                    THTensor *gradWeight, THTensor *gradBias, THTensor *connTable,
                                                    int nInputPlane, int nOutputPlane, int dW, int dH,
                                                    accreal scale)
{
  connectionsGradParameters(state, false, input, gradOutput, gradWeight, gradBias, connTable, nInputPlane,
                            nOutputPlane, dW, dH, scale);
}
