#ifndef THNN_GENERIC_CONVOLUTION_CONNECTION_TABLE_MODULE_H
#define THNN_GENERIC_CONVOLUTION_CONNECTION_TABLE_MODULE_H

#include "runtime/kernel.h"

/* SpatialConvolutionMap and, transposed, SpatialFullConvolutionMap: a table says which input channel and which output
   channel each filter connects. The transposed module is the gradInput of a Convolution: its input is the Convolution's
   output. */

void THNN_(connectionTableUpdateOutput)(THNNState *state, bool transposed, THTensor *input, THTensor *output,
                                        THTensor *weight, THTensor *bias, THTensor *connTable, int nInputPlane,
                                        int nOutputPlane, int dW, int dH);

void THNN_(connectionTableUpdateGradInput)(THNNState *state, bool transposed, THTensor *input,
                                           THTensor *gradOutput, THTensor *gradInput, THTensor *weight,
                                           THTensor *bias, THTensor *connTable, int nInputPlane, int nOutputPlane,
                                           int dW, int dH);

void THNN_(connectionTableAccGradParameters)(THNNState *state, bool transposed, THTensor *input,
                                             THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                             THTensor *connTable, int nInputPlane, int nOutputPlane, int dW,
                                             int dH, accreal scale);

#endif
