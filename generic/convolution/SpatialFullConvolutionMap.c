#include "modules/SpatialFullConvolutionMap.h"
#include "convolution/connection_table_module.h"

void THNN_(SpatialFullConvolutionMap_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                   THTensor *weight, THTensor *bias, THTensor *connTable,
                                                   int nInputPlane, int nOutputPlane, int dW, int dH)
{
  THNN_(connectionTableUpdateOutput)(state, true, input, output, weight, bias, connTable, nInputPlane,
                                     nOutputPlane, dW, dH);
}

void THNN_(SpatialFullConvolutionMap_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradInput, THTensor *weight, THTensor *bias,
                                                      THTensor *connTable, int nInputPlane, int nOutputPlane,
                                                      int dW, int dH)
{
  THNN_(connectionTableUpdateGradInput)(state, true, input, gradOutput, gradInput, weight, bias, connTable,
                                        nInputPlane, nOutputPlane, dW, dH);
}

void THNN_(SpatialFullConvolutionMap_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                        THTensor *gradWeight, THTensor *gradBias,
                                                        THTensor *connTable, int nInputPlane, int nOutputPlane,
                                                        int dW, int dH, accreal scale)
{
  THNN_(connectionTableAccGradParameters)(state, true, input, gradOutput, gradWeight, gradBias, connTable,
                                          nInputPlane, nOutputPlane, dW, dH, scale);
}
