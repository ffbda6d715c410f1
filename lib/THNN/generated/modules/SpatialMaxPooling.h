/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SPATIALMAXPOOLING_H
#define THNN_MODULES_SPATIALMAXPOOLING_H

#include "runtime/kernel.h"

void THNN_(SpatialMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode);
void THNN_(SpatialMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode);

#endif
