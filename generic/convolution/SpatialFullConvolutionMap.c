#include "modules/SpatialFullConvolutionMap.h"
#include "convolution/connections.h"

void THNN_(SpatialFullConvolutionMap_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                   THTensor *weight, THTensor *bias, THTensor *connTable,
                                                   int nInputPlane, int nOutputPlane, int dW, int dH)
{
  connectionsOutput(state, true, input, output, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH);
}

void THNN_(SpatialFullConvolutionMap_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradInput, THTensor *weight, THTensor *bias,
                                                      THTensor *connTable, int nInputPlane, int nOutputPlane,
                                                      int dW, int dH)
{
  connectionsGradInput(state, true, input, gradOutput, gradInput, weight, bias, connTable, nInputPlane,
                       nOutputPlane, dW, dH);
}

void THNN_(SpatialFullConvolutionMap_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                        THTensor *gradWeight, THTensor *gradBias,
                                                        THTensor *connTable, int nInputPlane, int nOutputPlane,
                                                        int dW, int dH, accreal scale)
{
  connectionsGradParameters(state, true, input, gradOutput, gradWeight, gradBias, connTable, nInputPlane,
                            nOutputPlane, dW, dH, scale);
}
