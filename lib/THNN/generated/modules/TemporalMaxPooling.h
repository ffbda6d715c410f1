/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_TEMPORALMAXPOOLING_H
#define THNN_MODULES_TEMPORALMAXPOOLING_H

#include "runtime/kernel.h"

void THNN_(TemporalMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THIndexTensor *indices, int kW, int dW);
void THNN_(TemporalMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices, int kW, int dW);

#endif
